/* test_traffic.c - whom synthetic traffic sends to: formulas of the patterns, distributions of what is drawn,
 * and what is refused. */
#include "tests/tasks/traffic_bench.h"

static void expect_partners(const char *topology, const char *pattern, const uint32_t *expected,
                            uint32_t nodes)
{
    char *text = ker_format("traffic = { pattern = \"%s\"; load = 0.5; };\n", pattern);
    struct bench b = bench_good(topology, text);
    for (uint32_t node = 0; node < nodes; node++) {
        struct task_traffic_node n;
        struct net_offer offer;
        task_traffic_node_init(b.traffic, &n, node);
        if (expected[node] == node) {
            assert_false(task_traffic_next(&n, &offer));
            continue;
        }
        assert_true(task_traffic_next(&n, &offer));
        assert_int_equal(offer.destination, expected[node]);
    }
    bench_close(&b);
    free(text);
}

static void test_formulas(void **state)
{
    /* Tornado in a dimension of k: + ceil(k/2) - 1; k = 5: + 2, k = 3: + 1. Node = x + 5 y. */
    uint32_t tornado[15], transpose[9], complement[8];
    for (uint32_t i = 0; i < 15; i++)
        tornado[i] = (i % 5 + 2) % 5 + 5 * ((i / 5 + 1) % 3);
    expect_partners(TORUS("5, 3"), "tornado", tornado, 15);
    /* Transpose on 3x3: (x, y) to (y, x); the diagonal does not send. */
    for (uint32_t i = 0; i < 9; i++)
        transpose[i] = i / 3 + 3 * (i % 3);
    expect_partners(TORUS("3, 3"), "transpose", transpose, 9);
    /* On a ring of 9 there is no second coordinate: the numbers form a square of 3x3, which is the same. */
    expect_partners(TORUS("9"), "transpose", transpose, 9);
    /* 8 nodes: all three bits complemented. */
    for (uint32_t i = 0; i < 8; i++)
        complement[i] = ~i & 7;
    expect_partners(TORUS("2, 2, 2"), "bit_complement", complement, 8);
}

/* By the bits of 8 nodes, by hand; of 6 nodes the perfect shuffle, 0 1 2 | 3 4 5 to 0 3 1 4 2 5: node i goes
 * to place 2 i mod 5. */
static void test_formulas_on_bits(void **state)
{
    static const uint32_t reverse[] = {0, 4, 2, 6, 1, 5, 3, 7}, shuffle[] = {0, 2, 4, 6, 1, 3, 5, 7},
                          cards[] = {0, 2, 4, 1, 3, 5};
    expect_partners(TORUS("8"), "bit_reverse", reverse, 8);
    expect_partners(TORUS("8"), "shuffle", shuffle, 8);
    expect_partners(TORUS("6"), "shuffle", cards, 6);
    struct bench b = bench_good(TORUS("10"), "traffic = { pattern = \"shift\"; shift = 13; load = 0.5; };\n");
    for (uint32_t node = 0; node < 10; node++) {
        struct task_traffic_node n;
        struct net_offer offer;
        task_traffic_node_init(b.traffic, &n, node);
        assert_true(task_traffic_next(&n, &offer));
        assert_int_equal(offer.destination, (node + 13) % 10);
    }
    bench_close(&b);
}

static void file_write(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define FILE_TRAFFIC(range)                                                                                  \
    "traffic = { pattern = \"permutation\"; permutation_file = \"/tmp/marssim-permutation.txt\"; load = "    \
    "0.5; " range " };\n"

static void test_permutation_file(void **state)
{
    static const uint32_t partner[] = {3, 1, 0, 2};
    file_write("/tmp/marssim-permutation.txt", "# four nodes\n7\n-   # silent\n4\n\n6\n");
    struct bench b = bench_good(TORUS("4, 4"), FILE_TRAFFIC("first_node = 4; last_node = 7;"));
    assert_int_equal(task_traffic_senders(b.traffic), 3);
    for (uint32_t node = 0; node < 4; node++) {
        struct task_traffic_node n;
        struct net_offer offer;
        task_traffic_node_init(b.traffic, &n, 4 + node);
        assert_int_equal(task_traffic_next(&n, &offer), node != 1);
        if (node != 1)
            assert_int_equal(offer.destination, 4 + partner[node]);
    }
    bench_close(&b);
}

static void test_permutation_file_wrong(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {{"4\n5\n6\n", "of 3 nodes, but 4"},
                 {"4\n5\n6\n7\n4\n", ".txt:5: there are only 4"},
                 {"4\n5\n4\n7\n", ".txt:3: node 4 is the destination of line 1"},
                 {"8\n", "4 to 7"},
                 {"3\n", "4 to 7"},
                 {"99999999999\n", "4 to 7"},
                 {"x\n", "\"x\" is no node"},
                 {"-5\n", "too much"},
                 {"4 5\n", "too much"},
                 {"", "of 0 nodes"},
                 {"4\n5\n6\n7\n", "nobody sends"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file_write("/tmp/marssim-permutation.txt", cases[i].text);
        struct bench b = bench_open(TORUS("4, 4"), FILE_TRAFFIC("first_node = 4; last_node = 7;"), 1, 1);
        if (b.status != KER_BAD_INPUT || !strstr(b.error.text, cases[i].word))
            fail_msg("case %zu: %s", i, b.error.text);
        bench_close(&b);
    }
    remove("/tmp/marssim-permutation.txt");
    struct bench b = bench_open(TORUS("4, 4"), FILE_TRAFFIC(""), 1, 1);
    assert_int_equal(b.status, KER_BAD_INPUT);
    assert_non_null(strstr(b.error.text, "cannot be read"));
    bench_close(&b);
}

static void test_formulas_without_grid(void **state)
{
    /* A star is no grid: tornado by numbers, ceil(7/2) - 1 = 3 on. */
    uint32_t tornado[7];
    for (uint32_t i = 0; i < 7; i++)
        tornado[i] = (i + 3) % 7;
    expect_partners(
        "topology = { kind = \"star\"; nodes = 7; bandwidth = \"25 GB/s\"; latency = \"30 ns\"; };\n",
        "tornado", tornado, 7);
}

static void test_group(void **state)
{
    /* Nodes 4..7 of 16, mirrored: 4 + (3 - i). Others are not in the group. */
    struct bench b = bench_good(
        TORUS("4, 4"),
        "traffic = { pattern = \"bit_complement\"; load = 1.0; first_node = 4; last_node = 7; };\n");
    assert_false(task_traffic_has(b.traffic, 3));
    assert_true(task_traffic_has(b.traffic, 4));
    assert_true(task_traffic_has(b.traffic, 7));
    assert_false(task_traffic_has(b.traffic, 8));
    for (uint32_t node = 4; node < 8; node++) {
        struct task_traffic_node n;
        struct net_offer offer;
        task_traffic_node_init(b.traffic, &n, node);
        assert_true(task_traffic_next(&n, &offer));
        assert_int_equal(offer.destination, 11 - node);
    }
    bench_close(&b);
}

static void test_neighbour(void **state)
{
    /* 4x3 torus, node 0 = (0, 0): x+ 1, x- 3, y+ 4, y- 8, and round again. */
    struct bench b = bench_good(TORUS("4, 3"), "traffic = { pattern = \"neighbour\"; load = 0.5; };\n");
    static const uint32_t expected[8] = {1, 3, 4, 8, 1, 3, 4, 8};
    struct task_traffic_node n;
    task_traffic_node_init(b.traffic, &n, 0);
    for (int i = 0; i < 8; i++) {
        struct net_offer offer;
        assert_true(task_traffic_next(&n, &offer));
        assert_int_equal(offer.destination, expected[i]);
    }
    bench_close(&b);
}

static void test_permutation_is_one(void **state)
{
    struct bench b = bench_good(TORUS("7, 11"), "traffic = { pattern = \"permutation\"; load = 0.5; };\n");
    bool seen[77] = {false};
    for (uint32_t node = 0; node < 77; node++) {
        uint32_t to = b.traffic->pattern->partner(b.traffic, node);
        assert_true(to < 77);
        assert_int_not_equal(to, node);
        assert_false(seen[to]);
        seen[to] = true;
    }
    bench_close(&b);
    for (uint32_t size = 1; size < 70; size++) {
        struct task_permutation p;
        task_permutation_init(&p, 5, KER_PURPOSE_TEST, 0, size);
        for (uint32_t i = 0; i < size; i++)
            assert_int_equal(task_permutation_find(&p, task_permutation_at(&p, i)), i);
    }
}

static void test_incast(void **state)
{
    /* 3 senders among the 8 others of target 4, numbered from node 5 on: floor(i 8 / 3) = 0, 2, 5: nodes 5,
     * 7, (4+1+5) mod 9 = 1. */
    struct bench b = bench_good(
        TORUS("3, 3"), "traffic = { pattern = \"incast\"; load = 0.5; target = 4; senders = 3; };\n");
    for (uint32_t node = 0; node < 9; node++) {
        uint32_t to = b.traffic->pattern->partner(b.traffic, node);
        assert_int_equal(to, node == 5 || node == 7 || node == 1 ? 4 : TASK_NOBODY);
    }
    /* Each sends half its bandwidth: 3 of 9 nodes at 0.5, no headers. */
    assert_int_equal(task_traffic_senders(b.traffic), 3);
    assert_true(fabs(task_traffic_offered(b.traffic, 25000000000u) - 3 * 0.5 / 9) < 1e-12);
    bench_close(&b);
    for (uint32_t senders = 1; senders <= 8; senders++) {
        char *text = ker_format("traffic = { pattern = \"incast\"; load = 0.5; senders = %u; };\n", senders);
        b = bench_good(TORUS("3, 3"), text);
        assert_int_equal(task_traffic_senders(b.traffic), senders);
        bench_close(&b);
        free(text);
    }
}

static void test_phases(void **state)
{
    struct bench b = bench_good(TORUS("5"), "traffic = { pattern = \"all_to_all\"; };\n");
    /* Node 3 of 5, k = 1..4 and again: 4, 0, 1, 2, 4. */
    static const uint32_t expected[5] = {4, 0, 1, 2, 4};
    assert_int_equal(b.traffic->outstanding, 1);
    struct task_traffic_node n;
    task_traffic_node_init(b.traffic, &n, 3);
    for (int i = 0; i < 5; i++) {
        struct net_offer offer;
        assert_true(task_traffic_next(&n, &offer));
        assert_int_equal(offer.destination, expected[i]);
    }
    bench_close(&b);
}

/* Destinations of `messages` messages of one node. */
static void count_destinations(struct bench *b, uint32_t node, uint32_t messages, uint32_t *count)
{
    struct task_traffic_node n;
    task_traffic_node_init(b->traffic, &n, node);
    for (uint32_t i = 0; i < messages; i++) {
        struct net_offer offer;
        assert_true(task_traffic_next(&n, &offer));
        count[offer.destination]++;
    }
}

static void test_uniform_chi_square(void **state)
{
    /* 63 destinations, 63,000 messages: 1000 each expected. Chi-square has 62 degrees of freedom: mean 62,
     * deviation sqrt(124) = 11; the seed is fixed, and 5 deviations would be a broken generator: below 117.
     */
    struct bench b = bench_good(TORUS("8, 8"), "traffic = { pattern = \"uniform\"; load = 0.5; };\n");
    uint32_t count[64] = {0};
    count_destinations(&b, 17, 63000, count);
    assert_int_equal(count[17], 0);
    double chi = 0;
    for (int i = 0; i < 64; i++)
        if (i != 17)
            chi += (count[i] - 1000.0) * (count[i] - 1000.0) / 1000;
    assert_true(chi < 117);
    bench_close(&b);
}

static void test_self(void **state)
{
    /* 4 nodes, self allowed: of 4/3 x 30,000 drawn messages a quarter stays: about 10,000 dropped, deviation
     * of the negative binomial sqrt(30000 x 0.25) / 0.75 = 115; 5 of them. */
    struct bench b =
        bench_good(TORUS("4"), "traffic = { pattern = \"uniform\"; load = 0.5; self = true; };\n");
    uint32_t count[4] = {0};
    count_destinations(&b, 2, 30000, count);
    assert_int_equal(count[2], 0);
    assert_in_range(b.traffic->dropped, 10000 - 577, 10000 + 577);
    bench_close(&b);
}

static void test_hotspot(void **state)
{
    /* 20 % to nodes 3 and 9, half each, and uniform hits on top: P(3) = 0.1 + 0.8 / 15 = 0.15333, of 60,000:
     * 9200, deviation sqrt(60000 x 0.153 x 0.847) = 88; 5 of them. */
    struct bench b = bench_good(
        TORUS("4, 4"),
        "traffic = { pattern = \"hotspot\"; load = 0.5; hotspots = [3, 9]; hotspot_fraction = 0.2; };\n");
    uint32_t count[16] = {0};
    count_destinations(&b, 0, 60000, count);
    assert_in_range(count[3], 9200 - 440, 9200 + 440);
    assert_in_range(count[9], 9200 - 440, 9200 + 440);
    bench_close(&b);
}

static void test_hotspot_senders(void **state)
{
    /* 16 nodes, 3 and 9 hot, 5 of the 15 others of node 3 send: numbers 0, 3, 6, 9, 12 from node 4 on, that
     * is 4, 7, 10, 13, 0. They send half to hot nodes; all else goes to the 13 nodes (14 from a hot one) that
     * are neither hot nor the sender: 20,000 of them 1538 each, deviation 38; 6 of them. */
    struct bench b = bench_good(
        TORUS("4, 4"),
        "traffic = { pattern = \"hotspot\"; load = 0.5; hotspots = [3, 9, 3]; hotspot_fraction = 0.5; "
        "hotspot_senders = 5; };\n");
    for (uint32_t node = 0; node < 16; node++) {
        bool sends = node == 4 || node == 7 || node == 10 || node == 13 || node == 0,
             hot = node == 3 || node == 9;
        uint32_t count[16] = {0}, cold = sends ? 10000 : 20000;
        count_destinations(&b, node, 20000, count);
        assert_int_equal(count[node], 0);
        for (uint32_t to = 0; to < 16; to++) {
            double expected = to == 3 || to == 9 ? 0 : (double)cold / (hot ? 14 : 13);
            if (sends && (to == 3 || to == 9)) /* 3 is named twice */
                expected = to == 3 ? 10000.0 * 2 / 3 : 10000.0 / 3;
            if (to != node)
                assert_in_range(count[to], expected - 6 * sqrt(expected), expected + 6 * sqrt(expected));
        }
    }
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const struct {
        const char *traffic, *word;
    } cases[] = {
        {"traffic = { load = 0.5; };\n", "traffic.pattern"},
        {"traffic = { pattern = \"uniform\"; };\n", "traffic.load"},
        {"traffic = { pattern = \"uniform\"; load = 0.5; interval = \"1 ns\"; };\n", "not both"},
        {"traffic = { pattern = \"uniform\"; load = 0.0; };\n", "more than 0"},
        {"traffic = { pattern = \"gups\"; load = 0.5; outstanding = 4; };\n",
         "it is for traffic.outstanding = 0"},
        {"traffic = { pattern = \"uniform\"; load = 0.5; first_node = 8; };\n", "0 to 7"},
        {"traffic = { pattern = \"uniform\"; load = 0.5; first_node = 7; };\n", "two nodes"},
        {"traffic = { pattern = \"transpose\"; load = 0.5; last_node = 4; };\n", "square"},
        {"traffic = { pattern = \"hotspot\"; load = 0.5; hotspots = [9]; };\n", "node 9"},
        {"traffic = { pattern = \"incast\"; load = 0.5; senders = 8; };\n", "only 7"},
        {"traffic = { pattern = \"uniform\"; load = 0.5; size_law = \"list\"; };\n", "traffic.sizes"},
        {"traffic = { pattern = \"uniform\"; load = 0.5; size_law = \"list\"; sizes = [8, 9]; size_weights = "
         "[1.0]; };\n",
         "1 weights"},
        {"traffic = { pattern = \"uniform\"; load = 0.5; arrival = \"burst\"; burst_load = 0.4; };\n",
         "mean load"},
        {"traffic = { pattern = \"uniform\"; load = 0.5; start = \"2 ns\"; stop = \"1 ns\"; };\n",
         "traffic.start"},
        {"traffic = { pattern = \"tornado\"; load = 0.5; };\n", "nobody sends"},
        {"traffic = { pattern = \"bit_reverse\"; load = 0.5; last_node = 6; };\n",
         "traffic.last_node = 3 the first 4"},
        {"traffic = { pattern = \"shuffle\"; load = 0.5; last_node = 6; };\n", "even number"},
        {"traffic = { pattern = \"shuffle\"; load = 0.5; last_node = 1; };\n", "nobody sends"},
        {"traffic = { pattern = \"shift\"; load = 0.5; shift = 16; };\n", "leads back"},
        {"traffic = { pattern = \"uniform\"; load = 1.1; arrival = \"bernoulli\"; };\n",
         "lower traffic.load"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* A tornado in dimensions of 2 goes nowhere: ceil(2/2) - 1 = 0. */
        struct bench b = bench_open(TORUS("2, 2, 2"), cases[i].traffic, 1, 1);
        if (b.status != KER_BAD_INPUT || !strstr(b.error.text, cases[i].word))
            print_error("case %zu: %s\n", i, b.error.text);
        assert_int_equal(b.status, KER_BAD_INPUT);
        assert_non_null(strstr(b.error.text, cases[i].word));
        assert_null(b.traffic);
        bench_close(&b);
    }
}

static void test_absent(void **state)
{
    struct bench b = bench_open(TORUS("4"), "", 1, 1);
    assert_int_equal(b.status, KER_OK);
    assert_null(b.traffic);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formulas),
        cmocka_unit_test(test_formulas_without_grid),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_neighbour),
        cmocka_unit_test(test_permutation_is_one),
        cmocka_unit_test(test_incast),
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_uniform_chi_square),
        cmocka_unit_test(test_self),
        cmocka_unit_test(test_hotspot),
        cmocka_unit_test(test_hotspot_senders),
        cmocka_unit_test(test_formulas_on_bits),
        cmocka_unit_test(test_permutation_file),
        cmocka_unit_test(test_permutation_file_wrong),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
