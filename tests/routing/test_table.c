/* test_table.c - what the makers of routing tables promise, on all kinds of topologies. */
#include "tests/routing/tables.h"

/* The topology with a generated table, and with just as many channels as it needs. */
static struct route_topology *topology_with(const char *system, const char *routing)
{
    char *text = ker_format("%srouting: { %s }; ", system, routing);
    struct route_topology *topology = topology_make(text, CHANNELS);
    uint32_t needed = route_summarise(topology)->channels;
    route_free(topology);
    topology = topology_make(text, needed);
    struct ker_error error = {0};
    bool complete;
    if (route_check_deadlock(topology, UINT64_MAX, &complete, &error))
        fail_msg("%s\n%s", text, error.text);
    assert_true(complete);
    struct route_topology *refused;
    if (needed > 1)
        assert_int_equal(topology_try(&refused, text, needed - 1, &error), KER_BAD_INPUT);
    free(text);
    return topology;
}

static void every_pair(const struct route_topology *topology, bool shortest)
{
    uint32_t nodes = route_summarise(topology)->endpoints, random = 4711;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++) {
            if (a == b)
                continue;
            uint32_t links = walk_packet(topology, a, b, route_summarise(topology)->channels, &random);
            if (shortest)
                assert_int_equal(links, route_distance(topology, a, b));
            else
                assert_true(links >= route_distance(topology, a, b));
        }
}

static void all_systems(const char *routing, bool shortest, uint32_t most_channels)
{
    for (int i = 0; i < SYSTEMS; i++) {
        struct route_topology *topology = topology_with(systems[i], routing);
        print_message("  %-50s %u channels\n", route_summarise(topology)->text,
                      route_summarise(topology)->channels);
        assert_true(route_summarise(topology)->channels <= most_channels);
        /* the closed form of the hierarchical topology is the direct path: one of three groups may be shorter
         */
        bool direct = strcmp(route_summarise(topology)->topology, "hierarchical") == 0;
        if (!direct)
            every_pair(topology, shortest);
        else
            every_pair_reached(topology);
        route_free(topology);
    }
}

static void shortest_is_shortest(void **state)
{
    all_systems("algorithm = \"shortest\";", true, CHANNELS);
}

static void one_path_is_shortest(void **state)
{
    all_systems("algorithm = \"shortest\"; paths = \"one\";", true, CHANNELS);
}

static void updown_needs_one_channel(void **state)
{
    all_systems("algorithm = \"updown\";", false, 1);
    all_systems("algorithm = \"updown\"; paths = \"one\"; root = 0;", false, 1);
}

static void layered_is_shortest(void **state)
{
    all_systems("algorithm = \"layered\";", true, 8);
}

/* Paths up and down a tree are the shortest, whatever the number of tops. */
static void updown_of_a_tree_is_shortest(void **state)
{
    struct route_topology *topology = topology_with(TREE, "algorithm = \"updown\";");
    every_pair(topology, true);
    route_free(topology);
}

/* Many pods: from switches at all levels nearly all nodes are at one distance, but only the tops are roots.
 */
static void updown_of_many_pods_is_shortest(void **state)
{
    struct route_topology *topology = topology_with(
        TOPOLOGY("fat_tree", "down = [1, 2, 25]; up = [1, 2, 2]; " LINKS), "algorithm = \"updown\";");
    every_pair(topology, true);
    route_free(topology);
}

/* A node on a spine makes it no leaf: all spines stay roots, and packets between leaves have all of them to
 * choose from. */
static void updown_finds_the_top(void **state)
{
    enum { LEAVES = 12, SPINES = 6, NODES = 10 };
    char path[] = "/tmp/test_table_XXXXXX", config[200];
    FILE *out = fdopen(mkstemp(path), "w");
    for (int i = 0; i < LEAVES + SPINES; i++)
        fprintf(out, "switch s%d\n", i);
    for (int i = 0; i < LEAVES * NODES; i++)
        fprintf(out, "node n%d s%d 10ns 1GB/s\n", i, i / NODES);
    fprintf(out, "node manager s%d 10ns 1GB/s\n", LEAVES);
    for (int i = 0; i < LEAVES * SPINES; i++)
        fprintf(out, "link s%d s%d 10ns 1GB/s\n", i / SPINES, LEAVES + i % SPINES);
    fclose(out);
    snprintf(config, sizeof config, "topology: { kind = \"file\"; file = \"%s\"; };", path);
    struct route_topology *topology = topology_with(config, "algorithm = \"updown\";");
    every_pair(topology, true);
    struct route_packet packet = {
        .source = 0, .destination = NODES, .address = route_address(topology, NODES)};
    struct route_choice choices[ROUTE_MAX_CHOICES];
    assert_int_equal(route_function(topology)(topology, 0, 0, &packet, choices), SPINES);
    route_free(topology);
    unlink(path);
}

/* The only path of the table is that of the closed form, on every switch that is passed. */
static void one_path_on_a_tree_is_d_mod_k(void **state)
{
    static const char *const trees[] = {TREE, TOPOLOGY("fat_tree", "radix = 8; levels = 3; " LINKS),
                                        TOPOLOGY("fat_tree", "down = [6, 5]; up = [1, 3]; " LINKS)};
    for (int i = 0; i < 6; i++) {
        struct route_topology *topology =
            topology_with(trees[i / 2], i % 2 ? "algorithm = \"updown\"; paths = \"one\";"
                                              : "algorithm = \"shortest\"; paths = \"one\";");
        struct route_topology *closed = topology_with(trees[i / 2], "algorithm = \"minimal\";");
        uint32_t nodes = route_summarise(topology)->endpoints;
        for (uint32_t a = 0; a < nodes; a++)
            for (uint32_t b = 0; b < nodes; b++) {
                struct route_packet packet = {
                    .source = a, .destination = b, .address = route_address(closed, b)};
                struct route_choice one[ROUTE_MAX_CHOICES], other[ROUTE_MAX_CHOICES];
                struct route_peer peer = {0};
                uint32_t at;
                route_attachment(topology, a, &at, &packet.in_port);
                for (; peer.kind != ROUTE_ENDPOINT && a != b;
                     packet.hops++, packet.in_port = peer.port, at = peer.id) {
                    assert_int_equal(route_function(topology)(topology, 0, at, &packet, one), 1);
                    assert_int_equal(
                        route_function(closed)(closed, route_coordinate(closed, at), at, &packet, other), 1);
                    assert_int_equal(one->port, other->port);
                    assert_int_equal(one->channel, other->channel);
                    route_port(topology, at, one->port, &peer);
                }
            }
        route_free(topology);
        route_free(closed);
    }
}

/* Three switches in a triangle; the direct link from a to c takes longer than the path over b. */
static void weights_make_detours(void **state)
{
    static const char graph[] = "switch a\nswitch b\nswitch c\nnode 0 a 10ns 1GB/s\nnode 1 c 10ns 1GB/s\n"
                                "link a b 10ns 1GB/s\nlink b c 10ns 1GB/s\nlink a c 30ns 1GB/s\n";
    FILE *out = fopen("marssim-table-1", "w");
    assert_non_null(out);
    fputs(graph, out);
    assert_int_equal(fclose(out), 0);
    uint32_t random = 1;
    struct route_topology *topology =
        topology_with(systems[6], "algorithm = \"shortest\"; weights = \"latency\";");
    assert_int_equal(walk_packet(topology, 0, 1, 1, &random), 4);
    assert_int_equal(walk_packet(topology, 1, 0, 1, &random), 4);
    route_free(topology);
    topology = topology_with(systems[6], "algorithm = \"shortest\";");
    assert_int_equal(walk_packet(topology, 0, 1, 1, &random), 3);
    route_free(topology);
    graph_write(1);
}

/* ---- sizes ---- */

/* 65,536 nodes; TABLE_SIZES=1 takes a minute, TABLE_SIZES=2 with the torus several: TABLE_SIZES=1
 * build/release/tests/test_table. The limits are some times what was measured. */
static void large_tables_are_small(void **state)
{
    static const struct {
        const char *system, *routing;
        uint64_t most;
    } large[] = {
        {TOPOLOGY("fat_tree", "down = [32, 32, 64]; up = [1, 32, 32]; " LINKS), "algorithm = \"shortest\";",
         1 << 20},
        {TOPOLOGY("fat_tree", "down = [32, 32, 64]; up = [1, 32, 32]; " LINKS),
         "algorithm = \"shortest\"; paths = \"one\";", 16 << 20},
        {TOPOLOGY("hierarchical",
                  "groups = [8, 4, 64]; nodes_per_switch = 32; attach = [\"switch\", \"group\"]; " LINKS),
         "algorithm = \"shortest\";", 1 << 20},
        {TOPOLOGY("torus", "extents = [32, 32, 64]; " LINKS), "algorithm = \"shortest\";", 500 << 20},
    };
    const char *asked = getenv("TABLE_SIZES");
    if (!asked)
        skip();
    for (int i = 0; i < atoi(asked) + 2 && i < 4; i++) {
        char *text = ker_format("%srouting: { %s }; ", large[i].system, large[i].routing);
        struct route_topology *topology = topology_make(text, 100);
        print_message("  %s: %llu bytes\n", route_summarise(topology)->text,
                      (unsigned long long)route_bytes(topology));
        assert_true(route_bytes(topology) <= large[i].most);
        route_free(topology);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shortest_is_shortest),         cmocka_unit_test(one_path_is_shortest),
        cmocka_unit_test(updown_needs_one_channel),     cmocka_unit_test(layered_is_shortest),
        cmocka_unit_test(updown_of_a_tree_is_shortest), cmocka_unit_test(updown_of_many_pods_is_shortest),
        cmocka_unit_test(updown_finds_the_top),         cmocka_unit_test(one_path_on_a_tree_is_d_mod_k),
        cmocka_unit_test(weights_make_detours),         cmocka_unit_test(large_tables_are_small),
    };
    return cmocka_run_group_tests(tests, graphs_write, graphs_remove);
}
