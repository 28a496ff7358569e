/* test_fabric_tables.c - forwarding tables of InfiniBand clusters, as OpenSM writes them. */
#include "tests/routing/fabric_bench.h"

static __attribute__((noinline)) char *plant_tables(const struct plant *p, int opensm, plant_port *port,
                                                    const void *context)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    plant_write_tables(p, out, opensm, port, context);
    fclose(out);
    return text;
}

/* d-mod-k as fat_tree.c has it: up by the destination's last digit. */
static int tree_port(const void *context, int s, int node, int path)
{
    int half = *(const int *)context, leaf = node / half;
    if (s >= half)
        return leaf + 1;
    return s == leaf ? node % half + 1 : half + 1 + (node + path) % half;
}

/* ---- forwarding tables ---- */

struct rows {
    uint32_t switches, width; /* width: nodes * paths */
    uint16_t *port;
};

static void keep_row(void *context, const struct route_opensm_row *row)
{
    struct rows *rows = context;
    for (uint32_t i = 0; i < rows->width; i++)
        rows->port[(size_t)row->switch_id * rows->width + i] = row->port[i];
}

static enum ker_status tables_try(const struct route_topology *topology, uint32_t paths, uint32_t path,
                                  const char *text, struct rows *rows, struct ker_error *error)
{
    *error = (struct ker_error){0};
    rows->switches = topology->subnet->switches;
    rows->width = topology->subnet->endpoints * paths;
    rows->port = calloc((size_t)rows->switches * rows->width, sizeof *rows->port);
    const struct route_opensm_text of = {topology, topology->subnet, paths, path, "tables",
                                         text,     strlen(text)};
    return route_opensm_parse(&of, keep_row, rows, error);
}

/* Both forms, each path of two: what the generator wrote is what is read. */
static void test_tables(void **state)
{
    int half = 4;
    struct plant p = tree_plant(half);
    p.lmc = 1;
    char *dump = plant_text(&p);
    struct route_topology *topology = fabric_make(dump, "", 1);
    assert_int_equal(route_opensm_paths(topology->subnet), 2);
    for (int opensm = 0; opensm < 2; opensm++) {
        char *text = plant_tables(&p, opensm, tree_port, &half);
        assert_true(route_opensm_recognise(text, strlen(text)));
        assert_false(route_opensm_recognise(dump, strlen(dump)));
        for (uint32_t path = 0; path < 4; path++) { /* 3: all, in one row */
            uint32_t paths = path == 3 ? 2 : 1;
            struct rows rows;
            struct ker_error error;
            if (tables_try(topology, paths, path, text, &rows, &error))
                fail_msg("%s", error.text);
            for (int s = 0; s < 2 * half; s++)
                for (int node = 0; node < half * half; node++)
                    for (uint32_t k = 0; k < paths; k++)
                        assert_int_equal(rows.port[(size_t)s * rows.width + (uint32_t)node * paths + k],
                                         tree_port(&half, s, node, path == 3 ? (int)k : (int)(path % 2)));
            free(rows.port);
        }
        free(text);
    }
    route_free(topology);
    free(dump);
    free(p.cable);
}

/* Of the small fabric above. Lines: tables at 1 and 12. */
static const char small_tables[] =
    "Unicast lids [0x0-0x9] of switch Lid 1 guid 0x00000000000000a0 (left):\n"
    "  Lid  Out   Destination\n"
    "       Port     Info \n"
    "0x0001 000 : (Switch portguid 0x00000000000000a0: 'left')\n"
    "0x0002 007 : (Switch portguid 0x00000000000000b0: 'right')\n"
    "0x0004 001 : (Channel Adapter portguid 0x0000000000000011: 'node1 HCA-1')\n"
    "0x0005 001 : (path #2 out of 2: portguid 0x0000000000000011)\n"
    "0x0006 002 : (Channel Adapter portguid 0x0000000000000021: 'node2 HCA-1')\n"
    "0x0007 002\n"
    "0x0008 007 : (Channel Adapter portguid 0x0000000000000031: 'node3 HCA-1')\n"
    "0x0009 008\n"
    "8 valid lids dumped \n"
    "Unicast lids [0x0-0x9] of switch DR path slid 0; dlid 0; 0,7 guid 0x00000000000000b0 (right):\n"
    "0x0004 007\n"
    "0x0005 008\n"
    "0x0006 007\n"
    "0x0007 008\n"
    "0x0008 001\n"
    "0x0009 001\n"
    "0x0044 255\n"
    "7 valid lids dumped \n"
    "Multicast mlids [0xc000-0xc3ff] of switch Lid 1 guid 0x00000000000000a0 (left):\n"
    "            0                   1\n"
    "     Ports: 0 1 2 3 4 5 6 7 8\n"
    " MLid\n"
    "0xc000        x x\n"
    "1 valid mlids dumped \n";

static void test_small_tables(void **state)
{
    struct route_topology *topology = fabric_make(small, "", 1);
    static const uint16_t expected[] = {1, 1, 2, 2, 7, 8, 7, 8, 7, 8, 1, 1};
    struct rows rows;
    struct ker_error error;
    if (tables_try(topology, 2, 0, small_tables, &rows, &error))
        fail_msg("%s", error.text);
    assert_memory_equal(rows.port, expected, sizeof expected);
    free(rows.port);
    route_free(topology);
}

/* A topology that goes by tables, both from texts. */
static enum ker_status table_try(struct route_topology **topology, const char *dump, const char *tables,
                                 const char *more, struct ker_error *error)
{
    char path[] = "/tmp/test_lfts_XXXXXX", routing[256];
    int file = mkstemp(path);
    assert_int_equal(write(file, tables, strlen(tables)), strlen(tables));
    close(file);
    snprintf(routing, sizeof routing, "routing: { algorithm = \"table\"; table = \"%s\"; %s};", path, more);
    enum ker_status status = fabric_try(topology, dump, "", routing, 1, error);
    unlink(path);
    return status;
}

static void test_bad_tables(void **state)
{
    static const struct edit edits[] = {
        {"Unicast lids [0x0-0x9] of switch Lid 1", "# nothing", "4", "outside a table"},
        {"guid 0x00000000000000a0 (", "(", "1", "a table begins like this"},
        {"guid 0x00000000000000a0 (", "guid 0x00000000000000a1 (", "1",
         "the fabric has no switch of GUID 0x00000000000000a1"},
        {"0,7 guid 0x00000000000000b0", "0 guid 0x00000000000000a0", "13",
         "switch \"left\" has a table in line 1 already"},
        {"0x0004 001", "0x0004 003", "6", "port 3 of switch \"left\" leads nowhere"},
        {"0x0004 001", "0x0004 009", "6", "port 9 of switch \"left\", which has 8"},
        {"0x0004 001", "0x0004 002", "6",
         "LID 0x0004 is of \"node1 HCA-1\", but port 2 of switch \"left\" leads to \"node2 HCA-1\""},
        {"0x0004 001", "0x0004 000", "6", "port 0, the switch's own management"},
        {"0x0004 001", "0x0004 256", "6", "port 256"},
        {"0x0004 001", "0x0004 255", "1",
         "the table of switch \"left\" has no port for LID 0x0004, of \"node1 HCA-1\", though packets to it "
         "come by; 1 such entry is missing"},
        {"0x0004 001", "0x0004:001", "6", "makes no sense"},
        {"0x0004 001", "0x0004", "6", "makes no sense"},
        {"0x0004 001", "0xzz04 001", "6", "makes no sense"},
        {"0x0004 001", "0xc004 001", "6", "LIDs are 0x1 to 0xbfff"},
        {"0x0004 001", "0x0000 001", "6", "LIDs are 0x1 to 0xbfff"},
        {"0x0009 008", "0x0008 008", "11", "LID 0x0008 has a port in line 10 already"},
        {"0x0009 008\n", "", "11", "8 LIDs are announced, but the table (line 1) has 7"},
        {"0x0009 008\n8 valid", "7 valid", "1", "has no port for LID 0x0009, of \"node3 HCA-1\""},
        {"portguid 0x0000000000000011: 'n", "portguid 0x0000000000000012: 'n", "6",
         "dumps of different times"},
        {"8 valid lids dumped \n", "", "12", "the table of switch \"left\", begun in line 1, ends without"},
        {"0x0006 007", NULL, "15", "the table of switch \"right\", begun in line 13, ends without"},
        {"Unicast lids [0x0-0x9] of switch DR", NULL, "12",
         "switch \"right\", GUID 0x00000000000000b0, has no table here, though packets to "
         "\"node1 HCA-1\" come by it; was the dump cut off?"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct route_topology *topology;
        struct ker_error error;
        char *text = edited(small_tables, &edits[i]);
        enum ker_status status = table_try(&topology, small, text, "lmc_path = -1; ", &error);
        check_message(&edits[i], status, error.text);
        free(text);
    }
}

/* What no packet meets may be missing or wrong: on a line of three switches nothing comes by the one at the
 * end, which has no nodes. What dump_fts leaves out is told. */
static int line_port(const void *context, int s, int node, int path)
{
    int leaf = node / 2, bad = *(const int *)context;
    return s == 2 ? bad : s == leaf ? 1 + node % 2 : 3;
}

static void test_unreached(void **state)
{
    static const int ports[] = {255, 0, 1, 4,
                                77}; /* none; management; back to switch 1; no cable; no such port */
    struct plant p = {.switches = 3, .ports = 4, .adapters = 4, .adapter_ports = 1};
    for (int a = 0; a < 4; a++)
        plant_join(&p, a / 2, 1 + a % 2, 1, a, 1, "4xQDR");
    plant_join(&p, 0, 3, 0, 1, 3, "4xQDR");
    plant_join(&p, 1, 4, 0, 2, 1, "4xQDR");
    char *dump = plant_text(&p);
    for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
        struct route_topology *topology;
        struct ker_error error;
        char *tables = plant_tables(&p, 0, line_port, &ports[i]);
        if (table_try(&topology, dump, tables, "", &error))
            fail_msg("%s", error.text);
        check_pairs(topology, 1, 1);
        route_free(topology);
        char *last = strstr(tables, "Unicast lids [0x0-0x7] of switch Lid 3");
        assert_non_null(last);
        *last = 0; /* no section at all */
        assert_int_equal(table_try(&topology, dump, tables, "", &error), KER_OK);
        route_free(topology);
        free(tables);
    }
    free(dump);
    free(p.cable);
}

/* 14 switches and 51 nodes: LIDs 1 to 65. The last but one is 64, and with 13 switches the last. */
static int star_port(const void *context, int s, int node, int path)
{
    return s == 0 ? 20 + node : 1;
}

static void test_last_lid(void **state)
{
    for (int switches = 13; switches <= 14; switches++) {
        struct plant p = {.switches = switches, .ports = 80, .adapters = 51, .adapter_ports = 1};
        struct route_topology *topology;
        struct ker_error error;
        for (int s = 1; s < switches; s++)
            plant_join(&p, 0, s, 0, s, 1, "4xQDR");
        for (int a = 0; a < 51; a++)
            plant_join(&p, 0, 20 + a, 1, a, 1, "4xQDR");
        char *dump = plant_text(&p), *tables = plant_tables(&p, 0, star_port, NULL);
        const struct edit last = {
            switches == 13 ? "0x0040 070 " : "0x0041 070 ", switches == 13 ? "0x0040 255 " : "0x0041 255 ",
            "1", switches == 13 ? "dump_fts leaves that one out" : "1 such entry is missing in all"};
        char *text = edited(tables, &last);
        check_message(&last, table_try(&topology, dump, text, "", &error), error.text);
        assert_true((strstr(error.text, "dump_fts") != NULL) == (switches == 13));
        free(text);
        free(tables);
        free(dump);
        free(p.cable);
    }
}

/* How often a packet from leaf 0 to a node takes each port. */
static void count_ports(const struct route_topology *topology, uint32_t node, uint32_t used[32])
{
    memset(used, 0, 32 * sizeof *used);
    for (uint32_t i = 0; i < 400; i++) {
        struct route_packet packet = {.address = route_address(topology, node),
                                      .destination = node,
                                      .chance = ker_random_bits(5, 1, 1, i).word[0]};
        struct route_choice choice;
        assert_int_equal(
            route_function(topology)(topology, route_coordinate(topology, 0), 0, &packet, &choice), 1);
        used[choice.port]++;
    }
}

/* Nodes with 4 LIDs: one of them as chosen, or all; always the path that the tables say, and without a circle
 * of waiting. */
static void test_paths(void **state)
{
    int half = 4;
    struct plant p = tree_plant(half);
    p.lmc = 2;
    char *dump = plant_text(&p), *tables = plant_tables(&p, 0, tree_port, &half);
    for (int path = -1; path < 6; path++) {
        struct route_topology *topology;
        struct ker_error error;
        char more[64];
        uint32_t used[32];
        bool complete;
        snprintf(more, sizeof more, "lmc_path = %d; ", path);
        if (table_try(&topology, dump, tables, more, &error))
            fail_msg("%s", error.text);
        check_pairs(topology, 1, 4);
        count_ports(topology, 9, used); /* in leaf 2, so that ports half + 1 + (9 + path) % half are right */
        for (int k = 0; k < half; k++)
            if (path < 0) /* 100 each; five standard deviations are 44 */
                assert_in_range(used[half + 1 + k], 56, 144);
            else
                assert_int_equal(used[half + 1 + k], k == (9 + path % 4) % half ? 400 : 0);
        assert_int_equal(route_check_deadlock(topology, 10000000, &complete, &error), KER_OK);
        assert_true(complete);
        route_free(topology);
    }
    free(tables);
    free(dump);
    free(p.cable);
}

static int clockwise(const void *context, int s, int node, int path)
{
    return s == node ? 3 : 1;
}

static int short_path(const void *context, int s, int node, int path)
{
    return s == node ? 3 : (node - s + 4) % 4 == 1 ? 1 : (s + node) % 2 ? 2 : s % 2 ? 1 : 2;
}

/* On a ring of four switches all paths clockwise wait for each other with one channel. With the short paths
 * it depends: between opposite switches 0 and 2 go by port 2, 1 and 3 by port 1, so that each round has
 *  two separate pairs of links, and no circle. */
static void test_deadlock(void **state)
{
    struct plant p = {.switches = 4, .ports = 4, .adapters = 4, .adapter_ports = 1};
    struct route_topology *topology;
    struct ker_error error;
    for (int s = 0; s < 4; s++) {
        plant_join(&p, s, 1, 0, (s + 1) % 4, 2, "4xQDR");
        plant_join(&p, s, 3, 1, s, 1, "4xQDR");
    }
    char *dump = plant_text(&p), *circle = plant_tables(&p, 1, clockwise, NULL),
         *fine = plant_tables(&p, 1, short_path, NULL);
    assert_int_equal(table_try(&topology, dump, circle, "", &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "routing.allow_deadlock"));
    assert_int_equal(table_try(&topology, dump, circle, "allow_deadlock = true; ", &error), KER_OK);
    route_free(topology);
    if (table_try(&topology, dump, fine, "", &error))
        fail_msg("%s", error.text);
    check_pairs(topology, 1, 1);
    route_free(topology);
    free(dump);
    free(circle);
    free(fine);
    free(p.cable);
}

/* A circle, and how it is told; tables for something that is no fabric; and errors that come through. */
static void test_bad_table_files(void **state)
{
    static const struct edit loop = {
        "0x0008 001", "0x0008 007", "1",
        "LID 0x0008, of \"node3 HCA-1\", leads in a circle: \"left\" port 7, \"right\" port 7, and again"};
    static const struct edit port = {"0x0008 001", "0x0008 009", "18",
                                     "port 9 of switch \"right\", which has 8"};
    struct route_topology *topology;
    struct ker_error error;
    char *text = edited(small_tables, &loop), path[] = "/tmp/test_lfts_XXXXXX", config[256];
    check_message(&loop, table_try(&topology, small, text, "", &error), error.text);
    check_message(&loop, table_try(&topology, small, text, "lmc_path = -1; ", &error), error.text);
    assert_int_equal(table_try(&topology, small, text, "lmc_path = 1; ", &error),
                     KER_OK); /* the other LID does not */
    route_free(topology);
    free(text);
    text = edited(small_tables, &port);
    check_message(&port, table_try(&topology, small, text, "", &error), error.text);
    free(text);

    int file = mkstemp(path);
    assert_int_equal(write(file, small_tables, sizeof small_tables - 1), sizeof small_tables - 1);
    close(file);
    snprintf(config, sizeof config,
             TOPOLOGY("star", "nodes = 4; " LINKS) "routing: { algorithm = \"table\"; table = \"%s\"; };",
             path);
    assert_int_equal(topology_try(&topology, config, 1, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "is a file of OpenSM's"));
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables),          cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_bad_tables),      cmocka_unit_test(test_unreached),
        cmocka_unit_test(test_last_lid),        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_bad_table_files), cmocka_unit_test(test_deadlock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
