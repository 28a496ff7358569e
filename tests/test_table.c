/* test_table.c - routing tables: the compressed store against plain arrays; what the makers of tables
 * promise, on all kinds of topologies. */
#include "tests/route_walk.h"

#include "routing/tables/make.h"

#include <unistd.h>

/* ---- the store ---- */

struct plain { /* what the store is compared with */
    uint32_t switches, nodes, *set, *layer;
};

static uint32_t random_set(struct route_table *table, uint32_t *random)
{
    struct route_hop hop[3];
    uint32_t count = test_random(random) % 4; /* 0: no path */
    for (uint32_t i = 0; i < count; i++)
        hop[i] =
            (struct route_hop){(uint16_t)(test_random(random) % 3), (uint8_t)(test_random(random) % 2), 0};
    return route_table_set_of(table, hop, count);
}

/* Rows with runs, so that blocks are shared by rows, levels and places. */
static void plain_fill(struct plain *plain, struct route_table *table, uint32_t *random)
{
    for (uint32_t s = 0; s < plain->switches; s++) {
        uint32_t set = 0, layer = 0;
        for (uint32_t n = 0; n < plain->nodes; n++) {
            if (n == 0 || test_random(random) % 40 == 0) {
                set = random_set(table, random);
                layer = test_random(random) % 3;
            }
            plain->set[s * plain->nodes + n] = set;
            plain->layer[s * plain->nodes + n] = layer;
        }
        if (s % 3 == 2) /* the same row again */
            for (uint32_t n = 0; n < plain->nodes; n++) {
                plain->set[s * plain->nodes + n] = plain->set[(s - 1) * plain->nodes + n];
                plain->layer[s * plain->nodes + n] = plain->layer[(s - 1) * plain->nodes + n];
            }
    }
}

static void columns_fill(struct route_trie *trie, const uint32_t *value)
{
    for (uint32_t first = 0; first < trie->endpoints; first += ROUTE_TRIE_BLOCK) {
        uint32_t *column = route_trie_columns(trie);
        for (uint32_t s = 0; s < trie->switches; s++)
            for (uint32_t i = 0; i < ROUTE_TRIE_BLOCK && first + i < trie->endpoints; i++)
                column[s * ROUTE_TRIE_BLOCK + i] = value[s * trie->endpoints + first + i];
        route_trie_advance(trie);
    }
}

static void plain_compare(const struct plain *plain, const struct route_table *table,
                          const uint32_t *switch_rank, uint32_t rank)
{
    for (uint32_t s = 0; s < plain->switches; s++)
        for (uint32_t n = 0; n < plain->nodes; n++) {
            bool own = switch_rank[s] == rank;
            assert_int_equal(route_table_set(table, s, n), own ? plain->set[s * plain->nodes + n] : 0);
            assert_int_equal(route_table_layer(table, s, n), own ? plain->layer[s * plain->nodes + n] : 0);
        }
}

static void store_try(uint32_t switches, uint32_t nodes, bool columns, uint32_t *random)
{
    struct route_table *table = route_table_new(switches, nodes);
    uint32_t size = switches * nodes, *rank = ker_alloc(switches * sizeof *rank);
    struct plain plain = {switches, nodes, ker_alloc(size * sizeof(uint32_t)),
                          ker_alloc(size * sizeof(uint32_t))};
    plain_fill(&plain, table, random);
    if (columns) {
        columns_fill(&table->hops, plain.set);
        route_table_layers_begin(table);
        columns_fill(&table->layers, plain.layer);
    } else {
        for (uint32_t s = switches; s-- > 0;) {
            route_table_row(table, s, plain.set + s * nodes);
            route_table_layer_row(table, s, plain.layer + s * nodes);
        }
    }
    route_table_finish(table);
    plain_compare(&plain, table, rank, 0);
    uint64_t before = route_table_bytes(table);
    for (uint32_t s = 0; s < switches; s++)
        rank[s] = test_random(random) % 3;
    route_table_keep(table, rank, 1);
    plain_compare(&plain, table, rank, 1);
    assert_true(route_table_bytes(table) <=
                before + 6 * ROUTE_TRIE_BLOCK * sizeof(uint32_t)); /* an empty row more */
    for (uint32_t s = 0; s < switches; s++)                        /* nothing is left */
        rank[s] = 0;
    route_table_keep(table, rank, 1);
    plain_compare(&plain, table, rank, 1);
    route_table_free(table);
    free(plain.set);
    free(plain.layer);
    free(rank);
}

/* One block, exactly one, one more than one; two and three levels. */
static void store_answers_as_filled(void **state)
{
    static const uint32_t nodes[] = {1, 2, 63, 64, 65, 127, 500, 4095, 4096, 4097, 9000};
    uint32_t random = 12345;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        for (int columns = 0; columns < 2; columns++)
            store_try(1 + test_random(&random) % 12, nodes[i], columns, &random);
}

/* Sets are equal when paths and order are. */
static void sets_are_stored_once(void **state)
{
    struct route_table *table = route_table_new(1, 1);
    const struct route_hop a[] = {{1, 0, 0}, {2, 0, 0}}, b[] = {{2, 0, 0}, {1, 0, 0}},
                           c[] = {{1, 0, 0}, {2, 1, 0}};
    uint32_t one = route_table_set_of(table, a, 2), other = route_table_set_of(table, b, 2);
    assert_int_equal(route_table_set_of(table, NULL, 0), 0);
    assert_int_equal(route_table_set_of(table, a, 2), one);
    assert_int_not_equal(other, one);
    assert_int_not_equal(route_table_set_of(table, c, 2), one);
    assert_int_not_equal(route_table_set_of(table, a, 1), one);
    for (uint16_t i = 0; i < 20000; i++) { /* grows */
        const struct route_hop d[] = {{i, 0, 0}, {(uint16_t)(i + 7), 3, 0}, {5, 1, 0}};
        route_table_set_of(table, d, 3);
    }
    const struct route_hop *hop;
    assert_int_equal(route_table_set_of(table, a, 2), one);
    assert_int_equal(route_table_set_hops(table, other, &hop), 2);
    assert_true(hop[0].port == 2 && hop[1].port == 1);
    assert_true(table->adaptive);
    route_table_free(table);
}

/* 500 switches with the same row of 5,000 nodes need little more than one. */
static void equal_rows_cost_nothing(void **state)
{
    struct route_table *table = route_table_new(500, 5000);
    uint32_t *row = ker_alloc(5000 * sizeof *row), random = 7;
    for (uint32_t i = 0; i < 5000; i++)
        row[i] = random_set(table, &random);
    for (uint32_t s = 0; s < 500; s++)
        route_table_row(table, s, row);
    route_table_finish(table);
    assert_in_range(route_table_bytes(table), 20000, 40000);
    route_table_free(table);
    free(row);
}

/* ---- makers ---- */

#define TORUS TOPOLOGY("torus", "extents = [4, 3, 5]; nodes_per_switch = 2; " LINKS)
#define MESH TOPOLOGY("torus", "extents = [5, 4]; wrap = false; " LINKS)
#define TREE TOPOLOGY("fat_tree", "down = [4, 4, 3]; up = [1, 2, 4]; " LINKS)
#define DRAGONFLY TOPOLOGY("hierarchical", "groups = [4, 9]; links = 2; nodes_per_switch = 2; " LINKS)
#define PERCS TOPOLOGY("hierarchical", "groups = [4, 3, 2]; attach = [\"switch\", \"group\"]; " LINKS)
#define STAR TOPOLOGY("star", "nodes = 5; " LINKS)
#define GRAPH(name) TOPOLOGY("file", "file = \"" name "\"; ")
static const char *const systems[] = {TORUS,
                                      MESH,
                                      TREE,
                                      DRAGONFLY,
                                      PERCS,
                                      STAR,
                                      GRAPH("marssim-table-1"),
                                      GRAPH("marssim-table-2"),
                                      GRAPH("marssim-table-3")};
#define SYSTEMS ((int)(sizeof systems / sizeof *systems))

/* Random connected graphs: a tree, and some links more, some of them parallel; nodes everywhere, and not in
 * the order of switches. */
static void graph_write(int number)
{
    uint32_t random = 99u * (uint32_t)number, switches = 10u + 15u * (uint32_t)number,
             more = 5u + 20u * (uint32_t)number;
    char *name = ker_format("marssim-table-%d", number), *seen = ker_alloc(switches * switches);
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    for (uint32_t i = 0; i < switches; i++)
        fprintf(out, "switch s%u\n", i);
    for (uint32_t i = 0; i < 2 * switches; i++)
        fprintf(out, "node n%u s%u 10ns 25GB/s\n", i, i < switches ? i : test_random(&random) % switches);
    for (uint32_t i = 1; i < switches + more; i++) {
        uint32_t a = i < switches ? i : test_random(&random) % switches,
                 b = test_random(&random) % (i < switches ? i : switches);
        if (a == b || seen[a * switches + b])
            continue;
        seen[a * switches + b] = seen[b * switches + a] = 1;
        fprintf(out, "link s%u s%u %uns 25GB/s %u\n", a, b, 10 + 10 * (test_random(&random) % 4),
                1 + test_random(&random) % 2);
    }
    assert_int_equal(fclose(out), 0);
    free(seen);
    free(name);
}

/* The files of this test, in a folder of its own: others may run the same test at the same time. */
static int graphs_write(void **state)
{
    static char folder[] = "/tmp/marssim-table-XXXXXX";
    *state = mkdtemp(folder);
    if (!*state || chdir(*state) != 0)
        return -1;
    for (int i = 1; i <= 3; i++)
        graph_write(i);
    return 0;
}

static int graphs_remove(void **state)
{
    for (int i = 1; i <= 3; i++) {
        char *name = ker_format("marssim-table-%d", i);
        remove(name);
        free(name);
    }
    return rmdir(*state);
}

#define CHANNELS 24

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

static void every_pair_reached(const struct route_topology *topology)
{
    uint32_t nodes = route_summarise(topology)->endpoints, random = 4712;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++)
            if (a != b)
                walk_packet(topology, a, b, CHANNELS, &random);
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
    all_systems("algorithm = \"shortest\"; ways = \"one\";", true, CHANNELS);
}

static void updown_needs_one_channel(void **state)
{
    all_systems("algorithm = \"updown\";", false, 1);
    all_systems("algorithm = \"updown\"; ways = \"one\"; root = 0;", false, 1);
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
            topology_with(trees[i / 2], i % 2 ? "algorithm = \"updown\"; ways = \"one\";"
                                              : "algorithm = \"shortest\"; ways = \"one\";");
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

/* ---- text ---- */

#define TABLE "marssim-table-text"
#define FROM_TABLE "algorithm = \"table\"; table = \"" TABLE "\";"

/* Both answer alike for all packets from all sources, along one of the paths. */
static void same_routes(const struct route_topology *one, const struct route_topology *other)
{
    uint32_t nodes = route_summarise(one)->endpoints, random = 31;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++) {
            struct route_packet packet = {.source = a,
                                          .destination = b,
                                          .draw = test_random(&random),
                                          .address = route_address(one, b)};
            struct route_choice x[ROUTE_MAX_CHOICES], y[ROUTE_MAX_CHOICES];
            struct route_peer peer = {0};
            uint32_t at, state = 0;
            route_attachment(one, a, &at, &packet.in_port);
            for (; peer.kind != ROUTE_ENDPOINT && a != b;
                 packet.hops++, packet.in_port = peer.port, at = peer.id) {
                int count = route_function(one)(one, route_coordinate(one, at), at, &packet, x);
                uint32_t kept = packet.state;
                packet.state = state;
                assert_int_equal(route_function(other)(other, route_coordinate(other, at), at, &packet, y),
                                 count);
                for (int i = 0; i < count; i++) {
                    assert_int_equal(x[i].port, y[i].port);
                    assert_int_equal(x[i].channel, y[i].channel);
                    assert_int_equal(x[i].first_channel, y[i].first_channel);
                    assert_int_equal(x[i].channel_count, y[i].channel_count);
                }
                int pick = (int)(test_random(&random) % (uint32_t)count);
                packet.state = kept;
                packet.state = x[pick].state;
                state = y[pick].state;
                route_port(one, at, x[pick].port, &peer);
                packet.in_channel = x[pick].channel;
            }
        }
}

static void back_and_forth(const char *system, const char *routing, uint32_t channels)
{
    struct ker_error error = {0};
    char *text = ker_format("%srouting: { %s }; ", system, routing),
         *again = ker_format("%srouting: { %s }; ", system, FROM_TABLE);
    struct route_topology *made = topology_make(text, channels);
    if (route_table_write(made, TABLE, &error))
        fail_msg("%s", error.text);
    struct route_topology *read = topology_make(again, channels);
    assert_int_equal(route_summarise(read)->channels, route_summarise(made)->channels);
    assert_int_equal(route_summarise(read)->adaptive, route_summarise(made)->adaptive);
    same_routes(made, read);
    route_free(made);
    route_free(read);
    free(text);
    free(again);
    remove(TABLE);
}

/* Four channels more than needed: classes of more than one channel come out right, too. */
static void written_tables_are_read_back(void **state)
{
    static const char *const routings[] = {"algorithm = \"shortest\"; ways = \"one\";",
                                           "algorithm = \"shortest\";", "algorithm = \"updown\";",
                                           "algorithm = \"layered\";"};
    for (int i = 0; i < SYSTEMS; i++)
        for (int k = 0; k < 4; k++)
            back_and_forth(systems[i], routings[k], CHANNELS);
    back_and_forth(TREE, "algorithm = \"d_mod_k\";", 3);
    back_and_forth(TREE, "algorithm = \"minimal\";", 1);
    back_and_forth(MESH, "algorithm = \"minimal\";", 4);
    back_and_forth(STAR, "algorithm = \"minimal\";", 2);
    back_and_forth(PERCS, "algorithm = \"minimal\";", 8);
}

/* d-mod-k takes few lines: 3 leaves x 4 x 4 have 2 and 4 parents; 1,000 nodes make hardly more. */
static void tables_are_short(void **state)
{
    struct ker_error error = {0};
    struct route_topology *topology =
        topology_make(TOPOLOGY("fat_tree", "down = [10, 10, 10]; up = [1, 10, 10]; " LINKS), 1);
    assert_int_equal(route_table_write(topology, TABLE, &error), KER_OK);
    FILE *in = fopen(TABLE, "r");
    assert_non_null(in);
    int lines = 0;
    for (int c = getc(in); c != EOF; c = getc(in))
        lines += c == '\n';
    fclose(in);
    /* 300 switches: 100 leaves with 10 paths up, 100 with 10 up and 10 down, 100 with 10 down; 2 for the
     * section, 6 for the file */
    assert_in_range(lines, 1000, 100 * (10 + 20 + 10) + 2 * 300 + 8);
    route_free(topology);
    remove(TABLE);
}

struct refusal {
    const char *text, *part; /* part of the message */
};

/* On a ring of three switches with a node each: port 0 is the node's, 1 and 2 lead on and back. */
#define RING TOPOLOGY("torus", "extents = [3]; " LINKS)
#define HEAD "switches 3\nnodes 3\n"
#define GOOD HEAD "switch 0\nto 1 via 1\nto 2 via 2\nswitch 1\nto rest via 1\nswitch 2\nto rest via 1\nend\n"
static const struct refusal refusals[] = {
    {"", "text:1: the last line of a table is \"end\"; was the file cut off?"},
    {HEAD "switch 0\nto 1",
     "text:4: \"via\" and ports are expected here, but the file ends; was it cut off?"},
    {HEAD "switch 0\nto 1\n\n", "text:4: \"via\" and ports are expected here, but the line ends"},
    {HEAD "switch 0\nto 1 via 1\n", "text:4: the last line of a table is \"end\"; was the file cut off?"},
    {"end\n", "text:1: \"switches\" is missing"},
    {"switches 4\n", "text:1: the table is for 4 switches, but this torus has 3"},
    {"switches 3\nnodes 2\n", "text:2: the table is for 2 nodes, but this torus has 3"},
    {"switches 3\nswitches 3\n", "text:2: the number of switches is given twice"},
    {"switches x\n", "text:1: a number is expected here, not \"x\""},
    {"switches 99999999999\n", "text:1: a number is expected here"},
    {"switch 0\n", "text:1: \"switches\" and \"nodes\" have to come before the first switch"},
    {HEAD "to 1 via 1\n", "text:3: there has to be a line \"switch NUMBER\" before this"},
    {HEAD "swich 1\n",
     "text:3: a line begins with switches, nodes, channels, switch, to, layer or end, not \"swich 1\""},
    {HEAD "switch 3\n", "text:3: there is no switch 3; switches have numbers 0 to 2"},
    {HEAD "switch 1\nswitch 1\n", "text:4: switch 1 was already begun in line 3"},
    {HEAD "switch 1 2\n", "text:3: the line should end before \"2\""},
    {HEAD "switch 0\nchannels 2\n", "text:4: \"channels\" has to come before the first switch"},
    {HEAD "channels 0\n", "text:3: 0 channels; 1 to 251 are possible"},
    {HEAD "switch 0\nto 3 via 1\n", "text:4: there is no node 3; nodes have numbers 0 to 2"},
    {HEAD "switch 0\nto 1-4000000000 via 1\n", "text:4: there is no node 4000000000"},
    {HEAD "switch 0\nto 2-1 via 1\n", "text:4: the range 2-1 ends before it begins"},
    {HEAD "switch 0\nto 1-2/0 via 1\n",
     "text:4: the step of a range, at least 1, is expected here, not \"0 via 1\""},
    {HEAD "switch 0\nto 0-2/2:3 via 1\n", "text:4: how many in a row, from 1 to the step, is expected here"},
    {HEAD "switch 0\nto 1,,2 via 1\n", "text:4: destinations are expected here"},
    {HEAD "switch 0\nto 1 2 via 1\n", "text:4: \"via\" and ports are expected here, not \"2 via 1\""},
    {HEAD "switch 0\nto 1x via 1\n", "text:4: a comma or a blank is expected here"},
    {HEAD "switch 0\nto 1 via\n ", "text:4: a port is expected here, but the line ends"},
    {HEAD "switch 0\nto 1 via 3\n", "text:4: switch 0 has no port 3; its ports have numbers 0 to 2"},
    {HEAD "switch 0\nto 1 via 0\n", "text:4: port 0 of switch 0 leads to node 0, not to node 1"},
    {HEAD "switch 0\nto 0 via 1\n",
     "text:4: node 0 is at port 0 of this switch and needs no other path; it may be left out"},
    {HEAD "switch 0\nto 1 via 1 1\n", "text:4: port 1 is named twice"},
    {HEAD "switch 0\nto 1 via 1\nto 1-2 via 2\n", "text:5: node 1 was already named in line 4"},
    {HEAD "switch 0\nto 1 via 1@x\n",
     "text:4: behind @ the number of a class of channels, layer, hops or any is expected, not \"x\""},
    {HEAD "channels 2\nswitch 0\nto 1 via 1@2\n",
     "text:5: there is no class 2 of channels; as this file says, 0 to 1 are possible"},
    {HEAD "switch 0\nto 1 via 1@253\n", "text:4: there is no class 253 of channels; 0 to 251 are possible"},
    {HEAD "switch 0\nto 1 via 1@7\nto 2 via 2\nswitch 1\nto rest via 1\nswitch 2\nto rest via 1\nend\n",
     "\"table\" needs 8 virtual channels on this torus"},
    {HEAD "channels 2\nswitch 0\nlayer 2 to 1\n", "text:5: there is no layer 2; 0 to 1 are possible"},
    {HEAD "switch 0\nlayer 0 via 1\n", "text:4: \"to\" and destinations are expected here"},
    {GOOD "switch 1\n", "text:11: nothing may follow \"end\""},
    {HEAD "switch 0\nto 1 via 1\nswitch 1\nto rest via 1\nswitch 2\nto rest via 1\nend\n",
     "text:3: switch 0 has no path to node 2, though packets to it come here; 1 such path is missing in all"},
    {HEAD "switch 0\nto rest via 1\nend\n", "text:5: switch 1 has no path to node 0, though packets to it "
                                            "come here; 4 such paths are missing in all"},
    {HEAD "switch 0\nto rest via 1\nswitch 1\nto rest via 2\nswitch 2\nto rest via 1\nend\n",
     "text:4: packets to node 2 go in a circle: through switches 0, 1, 0 again"},
};

static void text_write(const char *text)
{
    FILE *out = fopen(TABLE, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void what_is_wrong_is_said(void **state)
{
    struct route_topology *topology;
    struct ker_error error;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        text_write(refusals[i].text);
        assert_int_equal(topology_try(&topology, RING "routing: { " FROM_TABLE " }; ", 4, &error),
                         KER_BAD_INPUT);
        if (!strstr(error.text, refusals[i].part))
            fail_msg("%s\ngives: %s\ninstead of: %s", refusals[i].text, error.text, refusals[i].part);
    }
    text_write(GOOD);
    topology = topology_make(RING "routing: { " FROM_TABLE " }; ", 4);
    every_pair_reached(topology);
    route_free(topology);
    remove(TABLE);
}

/* Round a ring of four in one direction: each link waits for the next. With two classes, or by hops, none
 * does. */
static void deadlock_is_refused_unless_allowed(void **state)
{
    static const char ring[] = TOPOLOGY("torus", "extents = [4]; " LINKS),
                      *const good[] = {
                          "switches 4\nnodes 4\nswitch 0\nto rest via 1@hops\nswitch 1\nto rest via "
                          "1@hops\nswitch 2\nto rest via 1@hops\n"
                          "switch 3\nto rest via 1@hops\nend\n",
                          "switches 4\nnodes 4\nswitch 0\nto rest via 1@1\nswitch 1\nto 0 via 1\nto rest via "
                          "1@1\nswitch 2\nto 0-1 via 1\nto 3 via 1@1\n"
                          "switch 3\nto rest via 1\nend\n",
                      };
    struct route_topology *topology;
    struct ker_error error;
    char *text = ker_format("%srouting: { %s }; ", ring, FROM_TABLE),
         *allowed = ker_format("%srouting: { %s allow_deadlock = true; }; ", ring, FROM_TABLE);
    text_write("switches 4\nnodes 4\nswitch 0\nto rest via 1\nswitch 1\nto rest via 1\nswitch 2\nto rest via "
               "1\nswitch 3\nto rest via 1\nend\n");
    assert_int_equal(topology_try(&topology, text, 3, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "can deadlock"));
    assert_non_null(strstr(error.text, "routing.allow_deadlock = true runs it all the same"));
    topology = topology_make(allowed, 3);
    every_pair_reached(topology);
    route_free(topology);
    for (int i = 0; i < 2; i++) {
        text_write(good[i]);
        topology = topology_make(text, 3);
        assert_int_equal(route_summarise(topology)->channels, i == 0 ? 3 : 2);
        every_pair_reached(topology);
        route_free(topology);
    }
    free(text);
    free(allowed);
    remove(TABLE);
}

static void what_no_table_can_say_is_refused(void **state)
{
    static const char *const texts[][2] = {
        {TORUS "routing: { algorithm = \"minimal\"; }; ", "depend on where a packet comes from"},
        {TORUS ADAPTIVE, "some of its paths may only be taken when there is room at once"},
        {TREE "routing: { algorithm = \"s_mod_k\"; }; ", "depend on the source"},
    };
    for (int i = 0; i < 3; i++) {
        struct ker_error error = {0};
        struct route_topology *topology = topology_make(texts[i][0], 8);
        assert_int_equal(route_table_write(topology, TABLE, &error), KER_BAD_INPUT);
        if (!strstr(error.text, texts[i][1]))
            fail_msg("%s", error.text);
        route_free(topology);
    }
}

/* Like the latencies of weights_make_detours: 3 for the direct link. */
static void weights_from_a_file(void **state)
{
    static const char routing[] =
        TOPOLOGY("torus", "extents = [3]; " LINKS) "routing: { algorithm = \"shortest\"; weights = \"file\"; "
                                                   "weight_file = \"" TABLE "\"; }; ";
    static const struct refusal wrong[] = {
        {"link 0 3 1\n", "text:1: no link joins switches 0 and 3"},
        {"# x\nport 0 0 2\n", "text:2: no link leads from port 0 of switch 0 to another switch"},
        {"link 3 0 1\n", "text:1: the number of a switch is expected here"},
        {"link 0 1 0\n", "text:1: a weight, at least 1, is expected here, not \"0\""},
        {"link 0 1 1 1\n", "text:1: the line should end before \"1\""},
        {"node 0 1 1\n", "text:1: a line reads: link SWITCH SWITCH WEIGHT, or: port SWITCH PORT WEIGHT"},
    };
    uint32_t random = 5;
    struct ker_error error;
    struct route_topology *topology;
    text_write("link 0 1 3 # both directions\n");
    topology = topology_make(routing, 3);
    assert_int_equal(walk_packet(topology, 0, 1, 3, &random), 4);
    assert_int_equal(walk_packet(topology, 1, 0, 3, &random), 4);
    route_free(topology);
    text_write("port 0 1 3\n"); /* from 0 to 1 */
    topology = topology_make(routing, 3);
    assert_int_equal(walk_packet(topology, 0, 1, 3, &random), 4);
    assert_int_equal(walk_packet(topology, 1, 0, 3, &random), 3);
    route_free(topology);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        text_write(wrong[i].text);
        assert_int_equal(topology_try(&topology, routing, 3, &error), KER_BAD_INPUT);
        if (!strstr(error.text, wrong[i].part))
            fail_msg("%s\ngives: %s", wrong[i].text, error.text);
    }
    remove(TABLE);
}

/* Who describes the weights of a network need not know which of its links are broken. Node, 0, 2, 1, node: 4
 * links. */
static void weights_of_a_link_that_is_down(void **state)
{
    static const char routing[] =
        TOPOLOGY("torus", "extents = [3]; " LINKS) "routing: { algorithm = \"shortest\"; weights = \"file\"; "
                                                   "weight_file = \"" TABLE "\"; }; "
                                                   "faults: { list = ({ link = [0, 1]; }); };";
    uint32_t random = 6;
    text_write("link 0 1 1\nlink 1 0 2\nport 0 1 3\nlink 0 2 9\n");
    struct route_topology *topology = topology_make(routing, 3);
    assert_int_equal(walk_packet(topology, 0, 1, 3, &random), 4);
    route_free(topology);
    struct ker_error error;
    text_write("link 0 1 1\nport 0 0 2\n");
    assert_int_equal(topology_try(&topology, routing, 3, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "text:2: no link leads from port 0 of switch 0 to another switch"));
    remove(TABLE);
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
         "algorithm = \"shortest\"; ways = \"one\";", 16 << 20},
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
        cmocka_unit_test(store_answers_as_filled),
        cmocka_unit_test(sets_are_stored_once),
        cmocka_unit_test(equal_rows_cost_nothing),
        cmocka_unit_test(shortest_is_shortest),
        cmocka_unit_test(one_path_is_shortest),
        cmocka_unit_test(updown_needs_one_channel),
        cmocka_unit_test(layered_is_shortest),
        cmocka_unit_test(updown_of_a_tree_is_shortest),
        cmocka_unit_test(updown_of_many_pods_is_shortest),
        cmocka_unit_test(updown_finds_the_top),
        cmocka_unit_test(one_path_on_a_tree_is_d_mod_k),
        cmocka_unit_test(weights_make_detours),
        cmocka_unit_test(written_tables_are_read_back),
        cmocka_unit_test(tables_are_short),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(deadlock_is_refused_unless_allowed),
        cmocka_unit_test(what_no_table_can_say_is_refused),
        cmocka_unit_test(weights_from_a_file),
        cmocka_unit_test(weights_of_a_link_that_is_down),
        cmocka_unit_test(large_tables_are_small),
    };
    return cmocka_run_group_tests(tests, graphs_write, graphs_remove);
}
