/* test_table_share_ranks.c - tables that several ranks make together are those that one makes alone, row by
 * row of the switches of a rank, and no rank waits for one that has failed. */
#include "tests/route_walk.h"

#include "routing/tables/table.h"
#include "routing/topology.h"

#include <unistd.h>

static struct ker_comm *comm;

static enum ker_status make(struct route_topology **topology, const char *text, struct ker_comm *with,
                            struct ker_error *error)
{
    const struct ker_option *const tables[] = {route_options, NULL};
    struct ker_config *config = NULL;
    *topology = NULL;
    *error = (struct ker_error){0};
    assert_int_equal(ker_config_parse(&config, "test.cfg", text, NULL, 0, tables, error), KER_OK);
    enum ker_status status = route_new_shared(topology, config, 100, with, error);
    ker_config_free(config);
    return status;
}

static const struct route_table *table_of(const struct route_topology *topology)
{
    return topology->inner ? topology->inner->table : topology->table;
}

static void rows_compare(const struct route_topology *shared, const struct route_topology *alone,
                         const uint32_t *rank)
{
    const struct route_table *a = table_of(shared), *b = table_of(alone);
    assert_int_equal(a->switches, b->switches);
    assert_int_equal(a->endpoints, b->endpoints);
    assert_int_equal(a->classes, b->classes);
    assert_int_equal(a->spread, b->spread);
    assert_int_equal(a->adaptive, b->adaptive);
    for (uint32_t s = 0; s < a->switches; s++)
        for (uint32_t n = 0; n < a->endpoints && rank[s] == (uint32_t)ker_comm_rank(comm); n++) {
            const struct route_hop *x, *y;
            uint32_t count = route_table_hops(a, s, n, &x);
            assert_int_equal(count, route_table_hops(b, s, n, &y));
            assert_memory_equal(x, y, count * sizeof *x);
            assert_int_equal(route_table_layer(a, s, n), route_table_layer(b, s, n));
        }
}

/* Switches are given to ranks by `deal`: in runs, in turn, at random, all to the last rank. */
static void system_check(const char *system, const char *routing, int deal)
{
    struct route_topology *shared, *alone;
    struct ker_error error;
    char *text = ker_format("%srouting: { %s }; ", system, routing);
    uint32_t size = (uint32_t)ker_comm_size(comm), random = 12345;
    assert_int_equal(make(&alone, text, NULL, &error), KER_OK);
    assert_int_equal(make(&shared, text, comm, &error), KER_OK);
    const struct route_summary *a = route_summarise(shared), *b = route_summarise(alone);
    assert_int_equal(a->channels, b->channels);
    assert_int_equal(a->adaptive, b->adaptive);
    uint32_t *rank = ker_alloc(a->switches * sizeof *rank);
    for (uint32_t s = 0; s < a->switches; s++)
        rank[s] = deal == 0   ? (uint32_t)((uint64_t)s * size / a->switches)
                  : deal == 1 ? s % size
                  : deal == 2 ? test_random(&random) % size
                              : size - 1;
    route_own(shared, rank, (uint32_t)ker_comm_rank(comm));
    rows_compare(shared, alone, rank);
    free(rank);
    free(text);
    route_free(shared);
    route_free(alone);
}

static void equal_to_one_rank(void **state)
{
    static const char *const systems[] = {
        TOPOLOGY("torus", "extents = [7, 8, 9]; " LINKS),
        TOPOLOGY("fat_tree", "down = [8, 6, 12]; up = [1, 3, 2]; " LINKS),
        TOPOLOGY("hierarchical", "groups = [5, 27]; nodes_per_switch = 3; " LINKS),
        TOPOLOGY("hierarchical", "groups = [5, 27]; nodes_per_switch = 40; " LINKS),
        TOPOLOGY("torus",
                 "extents = [7, 9]; nodes_per_switch = 5; " LINKS) "faults: { link_rate = 0.1; switch_rate = "
                                                                   "0.03; unreachable = \"drop\"; }; ",
        TOPOLOGY("fat_tree", "down = [3, 4]; up = [1, 2]; " LINKS), /* too few nodes to be shared */
        TOPOLOGY(
            "torus",
            "extents = [4, 15]; nodes_per_switch = 6; rails = \"plane\"; " LINKS) "node: { adapters = 2; }; ",
    };
    static const char *const routings[] = {"algorithm = \"shortest\";",
                                           "algorithm = \"updown\";",
                                           "algorithm = \"shortest\"; weights = \"latency\";",
                                           "algorithm = \"shortest\"; paths = \"one\";",
                                           "algorithm = \"updown\"; paths = \"one\";",
                                           "algorithm = \"layered\";"};
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 6; k++)
            if (k != 5 || i != 3)
                system_check(systems[i], routings[k], (i + k) % 4);
}

/* More than 64 blocks of 64 nodes, so that shares go in several chunks; with few ranks. With one path shares
 * begin where loads begin again, at 16,384 nodes, and elsewhere. */
static void several_chunks(void **state)
{
    system_check(TOPOLOGY("torus", "extents = [6, 5, 4]; nodes_per_switch = 110; " LINKS),
                 "algorithm = \"shortest\";", 2);
    system_check(TOPOLOGY("fat_tree", "down = [64, 5, 17]; up = [1, 2, 3]; " LINKS),
                 "algorithm = \"updown\";", 0);
    system_check(TOPOLOGY("torus", "extents = [5, 5]; nodes_per_switch = 340; " LINKS),
                 "algorithm = \"layered\"; weights = \"latency\";", 1);
    system_check(TOPOLOGY("torus", "extents = [5, 5]; nodes_per_switch = 1400; " LINKS),
                 "algorithm = \"shortest\"; paths = \"one\";", 1);
}

/* The weights of links are missing on the last rank, and others on rank 0 than on the others: no table, or
 * one that nobody shares. */
static void files_that_differ(void **state)
{
    struct route_topology *topology;
    struct ker_error error;
    int rank = ker_comm_rank(comm), size = ker_comm_size(comm);
    char *file = ker_format("/tmp/marssim-share-%d-%d", (int)getpid(), rank);
    char *text =
        ker_format("%srouting: { algorithm = \"shortest\"; weights = \"file\"; weight_file = \"%s\"; }; ",
                   TOPOLOGY("torus", "extents = [8, 8, 6]; " LINKS), file);
    for (int differ = 0; differ < 2; differ++) {
        FILE *out = fopen(file, "w");
        assert_non_null(out);
        fprintf(out, "link 0 1 %d\n", differ && rank == 0 ? 5 : 3);
        fclose(out);
        if (!differ && rank == size - 1)
            unlink(file);
        enum ker_status status = make(&topology, text, comm, &error);
        assert_int_equal(status, differ ? KER_OK : KER_BAD_INPUT);
        if (differ && size > 1)
            assert_null(table_of(topology)->shared);
        if (differ)
            route_free(topology);
    }
    unlink(file);
    free(file);
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_to_one_rank),
        cmocka_unit_test(several_chunks),
        cmocka_unit_test(files_that_differ),
    };
    struct ker_error error = {0};
    if (ker_comm_init(&comm, &argc, &argv, &error))
        return 2;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ker_comm_release(comm);
    return failed;
}
