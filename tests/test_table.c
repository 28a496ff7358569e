/* test_table.c - routing tables: the compressed store against plain arrays; what the makers of tables promise, on all kinds of
 * topologies. */
#include "tests/route_walk.h"

#include "routing/table.h"

/* ---- the store ---- */

struct plain { /* what the store is compared with */
    uint32_t switches, nodes, *set, *layer;
};

static uint32_t random_set(struct route_table *table, uint32_t *random)
{
    struct route_way way[3];
    uint32_t count = test_random(random) % 4; /* 0: no way */
    for (uint32_t i = 0; i < count; i++)
        way[i] = (struct route_way){(uint16_t)(test_random(random) % 3), (uint8_t)(test_random(random) % 2), 0};
    return route_table_set_of(table, way, count);
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
    for (uint32_t first = 0; first < trie->nodes; first += ROUTE_TRIE_BLOCK) {
        uint32_t *column = route_trie_columns(trie);
        for (uint32_t s = 0; s < trie->switches; s++)
            for (uint32_t i = 0; i < ROUTE_TRIE_BLOCK && first + i < trie->nodes; i++)
                column[s * ROUTE_TRIE_BLOCK + i] = value[s * trie->nodes + first + i];
        route_trie_advance(trie);
    }
}

static void plain_compare(const struct plain *plain, const struct route_table *table, const uint32_t *switch_rank, uint32_t rank)
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
    struct plain plain = {switches, nodes, ker_alloc(size * sizeof(uint32_t)), ker_alloc(size * sizeof(uint32_t))};
    plain_fill(&plain, table, random);
    if (columns) {
        columns_fill(&table->ways, plain.set);
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
    assert_true(route_table_bytes(table) <= before + 6 * ROUTE_TRIE_BLOCK * sizeof(uint32_t)); /* an empty row more */
    for (uint32_t s = 0; s < switches; s++) /* nothing is left */
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

/* Sets are equal when ways and order are. */
static void sets_are_stored_once(void **state)
{
    struct route_table *table = route_table_new(1, 1);
    const struct route_way a[] = {{1, 0, 0}, {2, 0, 0}}, b[] = {{2, 0, 0}, {1, 0, 0}}, c[] = {{1, 0, 0}, {2, 1, 0}};
    uint32_t one = route_table_set_of(table, a, 2), other = route_table_set_of(table, b, 2);
    assert_int_equal(route_table_set_of(table, NULL, 0), 0);
    assert_int_equal(route_table_set_of(table, a, 2), one);
    assert_int_not_equal(other, one);
    assert_int_not_equal(route_table_set_of(table, c, 2), one);
    assert_int_not_equal(route_table_set_of(table, a, 1), one);
    for (uint16_t i = 0; i < 20000; i++) { /* grows */
        const struct route_way d[] = {{i, 0, 0}, {(uint16_t)(i + 7), 3, 0}, {5, 1, 0}};
        route_table_set_of(table, d, 3);
    }
    const struct route_way *way;
    assert_int_equal(route_table_set_of(table, a, 2), one);
    assert_int_equal(route_table_set_ways(table, other, &way), 2);
    assert_true(way[0].port == 2 && way[1].port == 1);
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
static const char *const systems[] = {TORUS, MESH, TREE, DRAGONFLY, PERCS, STAR, GRAPH("/tmp/marssim-table-1"),
                                      GRAPH("/tmp/marssim-table-2"), GRAPH("/tmp/marssim-table-3")};
#define SYSTEMS ((int)(sizeof systems / sizeof *systems))

/* Random connected graphs: a tree, and some links more, some of them parallel; nodes everywhere, and not in the order of switches. */
static void graph_write(int number)
{
    uint32_t random = 99u * (uint32_t)number, switches = 10u + 15u * (uint32_t)number, more = 5u + 20u * (uint32_t)number;
    char *name = ker_format("/tmp/marssim-table-%d", number), *seen = ker_alloc(switches * switches);
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    for (uint32_t i = 0; i < switches; i++)
        fprintf(out, "switch s%u\n", i);
    for (uint32_t i = 0; i < 2 * switches; i++)
        fprintf(out, "node n%u s%u 10ns 25GB/s\n", i, i < switches ? i : test_random(&random) % switches);
    for (uint32_t i = 1; i < switches + more; i++) {
        uint32_t a = i < switches ? i : test_random(&random) % switches, b = test_random(&random) % (i < switches ? i : switches);
        if (a == b || seen[a * switches + b])
            continue;
        seen[a * switches + b] = seen[b * switches + a] = 1;
        fprintf(out, "link s%u s%u %uns 25GB/s %u\n", a, b, 10 + 10 * (test_random(&random) % 4), 1 + test_random(&random) % 2);
    }
    assert_int_equal(fclose(out), 0);
    free(seen);
    free(name);
}

static int graphs_write(void **state)
{
    for (int i = 1; i <= 3; i++)
        graph_write(i);
    return 0;
}

static int graphs_remove(void **state)
{
    for (int i = 1; i <= 3; i++) {
        char *name = ker_format("/tmp/marssim-table-%d", i);
        remove(name);
        free(name);
    }
    return 0;
}

#define CHANNELS 24

/* The shape with a generated table, and with just as many channels as it needs. */
static struct route_shape *shape_with(const char *system, const char *routing)
{
    char *text = ker_format("%srouting: { %s }; ", system, routing);
    struct route_shape *shape = shape_make(text, CHANNELS);
    uint32_t needed = route_summarise(shape)->channels;
    route_free(shape);
    shape = shape_make(text, needed);
    struct ker_error error = {0};
    bool complete;
    if (route_check_deadlock(shape, UINT64_MAX, &complete, &error))
        fail_msg("%s\n%s", text, error.text);
    assert_true(complete);
    struct route_shape *refused;
    if (needed > 1)
        assert_int_equal(shape_try(&refused, text, needed - 1, &error), KER_BAD_INPUT);
    free(text);
    return shape;
}

static void every_pair(const struct route_shape *shape, bool shortest)
{
    uint32_t nodes = route_summarise(shape)->nodes, random = 4711;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++) {
            if (a == b)
                continue;
            uint32_t links = walk_packet(shape, a, b, route_summarise(shape)->channels, &random);
            if (shortest)
                assert_int_equal(links, route_distance(shape, a, b));
            else
                assert_true(links >= route_distance(shape, a, b));
        }
}

static void every_pair_reached(const struct route_shape *shape)
{
    uint32_t nodes = route_summarise(shape)->nodes, random = 4712;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++)
            if (a != b)
                walk_packet(shape, a, b, route_summarise(shape)->channels, &random);
}

static void all_systems(const char *routing, bool shortest, uint32_t most_channels)
{
    for (int i = 0; i < SYSTEMS; i++) {
        struct route_shape *shape = shape_with(systems[i], routing);
        print_message("  %-50s %u channels\n", route_summarise(shape)->text, route_summarise(shape)->channels);
        assert_true(route_summarise(shape)->channels <= most_channels);
        /* the closed form of the hierarchical topology is the direct way: one of three groups may be shorter */
        bool direct = strcmp(route_summarise(shape)->topology, "hierarchical") == 0;
        if (!direct)
            every_pair(shape, shortest);
        else
            every_pair_reached(shape);
        route_free(shape);
    }
}

static void shortest_is_shortest(void **state)
{
    all_systems("algorithm = \"shortest\";", true, CHANNELS);
}

static void one_way_is_shortest(void **state)
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

/* Ways up and down a tree are the shortest, whatever the number of tops. */
static void updown_of_a_tree_is_shortest(void **state)
{
    struct route_shape *shape = shape_with(TREE, "algorithm = \"updown\";");
    every_pair(shape, true);
    route_free(shape);
}

/* The only way of the table is that of the closed form, on every switch that is passed. */
static void one_way_on_a_tree_is_d_mod_k(void **state)
{
    static const char *const trees[] = {TREE, TOPOLOGY("fat_tree", "radix = 8; levels = 3; " LINKS),
                                        TOPOLOGY("fat_tree", "down = [6, 5]; up = [1, 3]; " LINKS)};
    for (int i = 0; i < 6; i++) {
        struct route_shape *shape = shape_with(trees[i / 2], i % 2 ? "algorithm = \"updown\"; ways = \"one\";"
                                                                   : "algorithm = \"shortest\"; ways = \"one\";");
        struct route_shape *closed = shape_with(trees[i / 2], "algorithm = \"minimal\";");
        uint32_t nodes = route_summarise(shape)->nodes;
        for (uint32_t a = 0; a < nodes; a++)
            for (uint32_t b = 0; b < nodes; b++) {
                struct route_packet packet = {.source = a, .destination = b, .address = route_address(closed, b)};
                struct route_choice one[ROUTE_MAX_CHOICES], other[ROUTE_MAX_CHOICES];
                struct route_peer peer = {0};
                uint32_t at;
                route_attachment(shape, a, &at, &packet.in_port);
                for (; peer.kind != ROUTE_NODE && a != b; packet.hops++, packet.in_port = peer.port, at = peer.id) {
                    assert_int_equal(route_function(shape)(shape, 0, at, &packet, one), 1);
                    assert_int_equal(route_function(closed)(closed, route_here(closed, at), at, &packet, other), 1);
                    assert_int_equal(one->port, other->port);
                    assert_int_equal(one->channel, other->channel);
                    route_port(shape, at, one->port, &peer);
                }
            }
        route_free(shape);
        route_free(closed);
    }
}

/* Three switches in a triangle; the direct link from a to c takes longer than the way over b. */
static void weights_make_detours(void **state)
{
    static const char graph[] = "switch a\nswitch b\nswitch c\nnode 0 a 10ns 1GB/s\nnode 1 c 10ns 1GB/s\n"
                                "link a b 10ns 1GB/s\nlink b c 10ns 1GB/s\nlink a c 30ns 1GB/s\n";
    FILE *out = fopen("/tmp/marssim-table-1", "w");
    assert_non_null(out);
    fputs(graph, out);
    assert_int_equal(fclose(out), 0);
    uint32_t random = 1;
    struct route_shape *shape = shape_with(systems[6], "algorithm = \"shortest\"; weights = \"latency\";");
    assert_int_equal(walk_packet(shape, 0, 1, 1, &random), 4);
    assert_int_equal(walk_packet(shape, 1, 0, 1, &random), 4);
    route_free(shape);
    shape = shape_with(systems[6], "algorithm = \"shortest\";");
    assert_int_equal(walk_packet(shape, 0, 1, 1, &random), 3);
    route_free(shape);
    graph_write(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_answers_as_filled),
        cmocka_unit_test(sets_are_stored_once),
        cmocka_unit_test(equal_rows_cost_nothing),
        cmocka_unit_test(shortest_is_shortest),
        cmocka_unit_test(one_way_is_shortest),
        cmocka_unit_test(updown_needs_one_channel),
        cmocka_unit_test(layered_is_shortest),
        cmocka_unit_test(updown_of_a_tree_is_shortest),
        cmocka_unit_test(one_way_on_a_tree_is_d_mod_k),
        cmocka_unit_test(weights_make_detours),
    };
    return cmocka_run_group_tests(tests, graphs_write, graphs_remove);
}
