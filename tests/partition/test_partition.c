/* Partition: every method on small graphs whose best cut is known, bad files, more ranks than vertices, and
 * the time METIS takes for a large torus. */
#include "partition/partition.h"
#include "tests/refusal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A torus of up to three dimensions, each with its delay; an extent of 1 has no edges, one of 2 has a single
 * edge. */
static struct part_graph torus_new(const uint32_t extent[3], const ker_time delay[3])
{
    uint32_t stride[3] = {1, extent[0], extent[0] * extent[1]}, vertices = stride[2] * extent[2];
    struct part_graph graph = {.vertices = vertices};
    graph.first = ker_alloc((vertices + 1) * sizeof *graph.first);
    graph.to = ker_alloc(6 * (size_t)vertices * sizeof *graph.to);
    graph.delay = ker_alloc(6 * (size_t)vertices * sizeof *graph.delay);
    graph.load = ker_alloc(vertices * sizeof *graph.load);
    graph.group = ker_alloc(vertices * sizeof *graph.group);
    uint64_t end = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        graph.first[v] = end;
        graph.load[v] = 1;
        graph.group[v] = v / stride[2];
        for (int d = 0; d < 3; d++) {
            uint32_t at = v / stride[d] % extent[d], base = v - at * stride[d];
            for (uint32_t step = 1; step < extent[d] && step <= 2; step++) {
                uint32_t to = step == 1 ? (at + 1) % extent[d] : (at + extent[d] - 1) % extent[d];
                graph.to[end] = base + to * stride[d];
                graph.delay[end++] = delay[d];
                if (extent[d] == 2)
                    break;
            }
        }
    }
    graph.first[vertices] = end;
    return graph;
}

static struct ker_config *config_new(const char *text)
{
    const struct ker_option *const tables[] = {part_options, NULL};
    struct ker_config *config = NULL;
    struct ker_error error = {0};
    if (ker_config_parse(&config, "test.cfg", text, NULL, 0, tables, &error) != KER_OK)
        fail_msg("%s", error.text);
    return config;
}

static struct part_result split(const struct part_graph *graph, uint32_t ranks, const char *text)
{
    struct ker_config *config = config_new(text);
    struct part_result result;
    struct ker_error error = {0};
    if (part_graph_split(&result, graph, ranks, config, &error) != KER_OK)
        fail_msg("%s", error.text);
    ker_config_free(config);
    return result;
}

static void assert_all_ranks_used(const struct part_result *result, uint32_t vertices)
{
    uint32_t *count = ker_alloc(result->ranks * sizeof *count);
    for (uint32_t v = 0; v < vertices; v++) {
        assert_true(result->rank[v] < result->ranks);
        count[result->rank[v]]++;
    }
    for (uint32_t r = 0; r < result->ranks; r++)
        assert_true(count[r] > 0);
    free(count);
}

static void test_one_rank_cuts_nothing(void **state)
{
    struct part_graph graph = torus_new((uint32_t[]){4, 4, 4}, (ker_time[]){50, 50, 50});
    struct part_result result = split(&graph, 1, "");
    assert_int_equal(result.ranks, 1);
    assert_int_equal(result.cut_edges, 0);
    assert_true(result.lookahead == KER_TIME_MAX);
    assert_true(result.imbalance == 1.0);
    part_result_release(&result);
    part_graph_release(&graph);
}

static void test_linear_halves_a_torus(void **state)
{
    /* 4 x 4 x 8 in two: slabs z = 0..3 and 4..7 of 64 vertices. Cut: the 16 links between z = 3 and 4, and
     * the 16 that wrap from 7 to 0. */
    struct part_graph graph = torus_new((uint32_t[]){4, 4, 8}, (ker_time[]){20, 30, 50});
    struct part_result result = split(&graph, 2, "partition: { method = \"linear\"; };");
    for (uint32_t v = 0; v < graph.vertices; v++)
        assert_int_equal(result.rank[v], v / 64);
    assert_int_equal(result.cut_edges, 32);
    assert_int_equal(result.lookahead, 50);
    assert_true(result.imbalance == 1.0);
    part_result_release(&result);
    part_graph_release(&graph);
}

static void test_linear_follows_load(void **state)
{
    /* Loads 3 1 1 1 in two of 3 each: the first vertex alone. Its middle lies at 1.5 of 6 (rank 0), the
     * others' at 3.5, 4.5, 5.5 (rank 1). */
    struct part_graph graph = torus_new((uint32_t[]){4, 1, 1}, (ker_time[]){10, 10, 10});
    graph.load[0] = 3;
    struct part_result result = split(&graph, 2, "partition: { method = \"linear\"; };");
    assert_int_equal(result.rank[0], 0);
    for (uint32_t v = 1; v < 4; v++)
        assert_int_equal(result.rank[v], 1);
    assert_true(result.imbalance == 1.0);
    part_result_release(&result);
    part_graph_release(&graph);
}

static void test_metis_prefers_long_links(void **state)
{
    /* z is the long dimension (500 ps) and 1/10 of it the next: planes are kept together, so that the
     * lookahead is 500, and 32 planes of 8 x 8 fit 16 cells a rank: 2 cuts of 64 links each. */
    struct part_graph graph = torus_new((uint32_t[]){8, 8, 32}, (ker_time[]){10, 50, 500});
    struct part_result result = split(&graph, 2, "");
    assert_int_equal(result.lookahead, 500);
    assert_int_equal(result.cut_edges, 128);
    assert_true(result.imbalance == 1.0);
    part_result_release(&result);
    /* With 4 ranks only 8 planes a rank: contraction stops at the lines along x (256 of them, 64 a rank), 50
     * is cut or 500. */
    result = split(&graph, 4, "");
    assert_true(result.lookahead >= 50);
    assert_true(result.imbalance <= 1.05);
    part_result_release(&result);
    part_graph_release(&graph);
}

static void test_one_class_is_never_contracted(void **state)
{
    /* Contracting it would leave one cell, and one rank with everything. 8 x 8 x 8 in two has a cut of 2
     * x 64. */
    struct part_graph graph = torus_new((uint32_t[]){8, 8, 8}, (ker_time[]){50, 50, 50});
    struct part_result result = split(&graph, 2, "");
    assert_true(result.imbalance <= 1.02);
    assert_in_range(result.cut_edges, 128, 180); /* METIS is a heuristic: within 40 % of the best */
    part_result_release(&result);
    part_graph_release(&graph);
}

static void test_metis_is_deterministic(void **state)
{
    struct part_graph graph = torus_new((uint32_t[]){9, 7, 11}, (ker_time[]){30, 50, 70});
    struct part_result one = split(&graph, 5, "partition: { seed = 7; };");
    srand(99); /* METIS draws from its own seed, whatever was drawn before */
    struct part_result two = split(&graph, 5, "partition: { seed = 7; };");
    assert_memory_equal(one.rank, two.rank, graph.vertices * sizeof *one.rank);
    part_result_release(&one);
    part_result_release(&two);
    part_graph_release(&graph);
}

static void test_more_ranks_than_vertices(void **state)
{
    struct part_graph graph = torus_new((uint32_t[]){5, 4, 1}, (ker_time[]){50, 50, 50});
    const char *const texts[] = {"", "partition: { method = \"linear\"; };",
                                 "partition: { method = \"natural\"; };",
                                 "partition: { method = \"random\"; };"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct part_result result = split(&graph, 32, texts[i]);
        assert_int_equal(result.ranks, 20);
        assert_all_ranks_used(&result, graph.vertices);
        part_result_release(&result);
    }
    part_graph_release(&graph);
}

/* Odd sizes, odd loads, few vertices a rank: no rank may stay empty, and nothing may end the program. */
static void test_small_and_odd(void **state)
{
    struct ker_stream stream;
    ker_stream_init(&stream, 1, KER_PURPOSE_TEST, 0);
    for (int round = 0; round < 200; round++) {
        uint32_t extent[3];
        ker_time delay[3];
        for (int d = 0; d < 3; d++) {
            extent[d] = 1 + ker_stream_below(&stream, 7);
            delay[d] = 1 + ker_stream_below(&stream, 200);
        }
        struct part_graph graph = torus_new(extent, delay);
        for (uint32_t v = 0; v < graph.vertices; v++)
            graph.load[v] = 1 + ker_stream_below(&stream, round % 2 ? 1000000000 : 4);
        static const char *const methods[] = {"metis", "natural", "linear", "random"};
        const char *method = methods[round % 4];
        bool draws = strcmp(method, "metis") == 0 || strcmp(method, "random") == 0;
        char *text = draws ? ker_format("partition: { method = \"%s\"; seed = %d; };", method, round)
                           : ker_format("partition: { method = \"%s\"; };", method);
        struct part_result result = split(&graph, 1 + ker_stream_below(&stream, 40), text);
        assert_all_ranks_used(&result, graph.vertices);
        part_result_release(&result);
        part_graph_release(&graph);
        free(text);
    }
}

static void test_natural_keeps_groups(void **state)
{
    /* 6 planes of 12 on 4 ranks: middles at 0.5 .. 5.5 of 6, times 4/6: ranks 0 1 1 2 3 3. */
    struct part_graph graph = torus_new((uint32_t[]){4, 3, 6}, (ker_time[]){50, 50, 50});
    struct part_result result = split(&graph, 4, "partition: { method = \"natural\"; };");
    static const uint32_t expected[6] = {0, 1, 1, 2, 3, 3};
    for (uint32_t v = 0; v < graph.vertices; v++)
        assert_int_equal(result.rank[v], expected[v / 12]);
    assert_true(result.imbalance == 4.0 * 24 / 72); /* two planes of 12 where the mean is 18 */
    part_result_release(&result);
    part_graph_release(&graph);
}

static void test_random_is_balanced(void **state)
{
    struct part_graph graph = torus_new((uint32_t[]){8, 8, 8}, (ker_time[]){50, 50, 50});
    struct part_result one = split(&graph, 4, "partition: { method = \"random\"; };");
    struct part_result two = split(&graph, 4, "partition: { method = \"random\"; seed = 2; };");
    assert_true(one.imbalance == 1.0); /* 512 equal loads in a random order, cut into four runs of 128 */
    assert_memory_not_equal(one.rank, two.rank, graph.vertices * sizeof *one.rank);
    /* 3 of 4 links are cut, on the mean: 1152 of 1536, with a deviation of about sqrt(1536 x 3/16) = 17. */
    assert_in_range(one.cut_edges, 1152 - 6 * 17, 1152 + 6 * 17);
    part_result_release(&one);
    part_result_release(&two);
    part_graph_release(&graph);
}

/* Splits by a file of this text; returns the status, with the error's text in `error`. */
static enum ker_status split_by_file(const struct part_graph *graph, const char *content,
                                     struct part_result *result, struct ker_error *error)
{
    char path[] = "/tmp/test_partition.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
    char *text = ker_format("partition: { method = \"file\"; file = \"%s\"; };", path);
    struct ker_config *config = config_new(text);
    *error = (struct ker_error){0};
    enum ker_status status = part_graph_split(result, graph, 3, config, error);
    ker_config_free(config);
    free(text);
    unlink(path);
    return status;
}

static void test_file(void **state)
{
    struct part_graph graph = torus_new((uint32_t[]){4, 1, 1}, (ker_time[]){50, 50, 50});
    struct part_result result;
    struct ker_error error;
    assert_int_equal(split_by_file(&graph, "# by hand\n2\n\n 0 # first\n1\r\n2", &result, &error), KER_OK);
    static const uint32_t expected[4] = {2, 0, 1, 2};
    assert_memory_equal(result.rank, expected, sizeof expected);
    assert_int_equal(result.cut_edges, 3); /* of the ring 0-1-2-3-0 all but 3-0 */
    part_result_release(&result);

    static const struct {
        const char *content, *wanted;
    } bad[] = {
        {"0\n1\n2\n", "3 ranks for the 4 vertices"},
        {"0\n1\n2\n0\n1\n", ":5: more ranks than the 4 vertices"},
        {"0\n1\n3\n0\n", ":3: rank 3 does not exist; this run can use ranks 0 to 2"},
        {"0\nx\n", ":2: 'x' is no rank"},
        {"0\n-1\n", ":2: '-1' is no rank"},
        {"0\n1 2\n", ":2: '1 2' is no rank"},
        {"99999999999999999999\n", ":1: '99999999999999999999' is no rank"},
        {"", "0 ranks for the 4 vertices"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_refused(split_by_file(&graph, bad[i].content, &result, &error), &error, bad[i].wanted);
        assert_null(result.rank);
    }
    part_graph_release(&graph);
}

static void test_file_missing(void **state)
{
    struct part_graph graph = torus_new((uint32_t[]){4, 1, 1}, (ker_time[]){50, 50, 50});
    static const char *const texts[] = {"partition: { method = \"file\"; };",
                                        "partition: { method = \"file\"; file = \"/no/such/file\"; };"};
    for (size_t i = 0; i < 2; i++) {
        struct ker_config *config = config_new(texts[i]);
        struct part_result result;
        struct ker_error error = {0};
        assert_int_equal(part_graph_split(&result, &graph, 2, config, &error), KER_BAD_INPUT);
        assert_non_null(strstr(error.text, "partition.file"));
        ker_config_free(config);
    }
    part_graph_release(&graph);
}

static void test_large_torus_is_quick(void **state)
{
    /* 131,072 switches, an eighth of the 1,048,576 that --check has to divide in 20 s: METIS needs about 0.1
     * s for them; ten times that is a defect, also on a slow machine. */
    struct part_graph graph = torus_new((uint32_t[]){64, 64, 32}, (ker_time[]){50, 50, 50});
    clock_t begin = clock();
    struct part_result result = split(&graph, 2, "");
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    assert_true(result.imbalance <= 1.02);
#ifndef __SANITIZE_ADDRESS__
    assert_true(seconds < 2);
#endif
    (void)seconds;
    part_result_release(&result);
    part_graph_release(&graph);
}

static void test_binding_alone(void **state)
{
    /* One rank: never oversubscribed, bound or not. */
    assert_true(part_cores() >= 1);
    struct ker_comm *comm = ker_comm_alone();
    static const char *const texts[] = {"", "partition: { bind = \"no\"; };",
                                        "partition: { bind = \"yes\"; };"};
    for (size_t i = 0; i < 3; i++) {
        struct ker_config *config = config_new(texts[i]);
        struct part_seats seats = part_bind(comm, config);
        assert_false(seats.yield);
        assert_int_equal(seats.working, 1);
        ker_config_free(config);
    }
    assert_int_equal(part_cores(), 1); /* bound to one processor now */
    ker_comm_release(comm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_rank_cuts_nothing),
        cmocka_unit_test(test_linear_halves_a_torus),
        cmocka_unit_test(test_linear_follows_load),
        cmocka_unit_test(test_metis_prefers_long_links),
        cmocka_unit_test(test_one_class_is_never_contracted),
        cmocka_unit_test(test_metis_is_deterministic),
        cmocka_unit_test(test_more_ranks_than_vertices),
        cmocka_unit_test(test_small_and_odd),
        cmocka_unit_test(test_natural_keeps_groups),
        cmocka_unit_test(test_random_is_balanced),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_file_missing),
        cmocka_unit_test(test_large_torus_is_quick),
        cmocka_unit_test(test_binding_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
