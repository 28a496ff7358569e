/* test_traffic_laws.c - when synthetic traffic creates messages, how many, and of what size. */
#include "tests/tasks/traffic_bench.h"

/* Creation of message number `count` - 1. */
static ker_time last_creation(struct bench *b, uint32_t node, uint32_t count)
{
    struct task_traffic_node n;
    struct net_offer offer = {0};
    ker_time before = 0;
    task_traffic_node_init(b->traffic, &n, node);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(task_traffic_next(&n, &offer));
        assert_true(offer.created >= before);
        before = offer.created;
    }
    return before;
}

static void test_poisson(void **state)
{
    /* 512 B of payload in one packet with 0 B of header at 0.25 of 25 GB/s: 512 / 6.25e9 s = 81,920 ps. The
     * mean of 40,000 exponential gaps has the deviation 81,920 / 200 = 410 ps; 4 of them. */
    struct bench b = bench_good(TORUS("4, 4"), "traffic = { pattern = \"uniform\"; load = 0.25; };\n");
    double mean = (double)last_creation(&b, 5, 40000) / 40000;
    assert_true(fabs(mean - 81920) < 4 * 410);
    assert_true(fabs(task_traffic_offered(b.traffic, 25000000000u) - 0.25) < 1e-12);
    bench_close(&b);
}

static void test_periodic_is_exact(void **state)
{
    /* 1000 B (2 packets, 24 B of header each: 1048 B on the wire) at 0.7 of 25 GB/s: 1048 / 17.5e9 s =
     * 59,885.714... ps. After 700,000 messages of one node the sum is exact to 700,000 / 2^32 ps: 700,000 x
     * 1048 / 17.5e9 s = 41,920,000,000 ps. */
    struct bench b = bench_good(
        TORUS("4, 4"),
        "adapter = { header = \"24 B\"; };\n"
        "traffic = { pattern = \"uniform\"; load = 0.7; arrival = \"periodic\"; size = 1000; };\n");
    ker_time first = last_creation(&b, 5, 1), last = last_creation(&b, 5, 700001);
    assert_true(first < 59886);
    assert_in_range(last - first, 41920000000 - 1, 41920000000 + 1);
    /* Of the wire bytes 1000 / 1048 are payload. */
    assert_true(fabs(task_traffic_offered(b.traffic, 25000000000u) - 0.7 * 1000 / 1048) < 1e-12);
    /* Phases differ from node to node. */
    assert_true(last_creation(&b, 5, 1) != last_creation(&b, 6, 1));
    bench_close(&b);
}

static void test_burst(void **state)
{
    /* Mean gap 1 us; inside a burst 512 B / 25 GB/s = 20,480 ps. A pause of mean 10 x (1,000,000 - 20,480) ps
     * follows a message with chance 0.1. Variance of a gap: p E[off^2] - (p E[off])^2 = (2 x 10 - 1)
     * 979,520^2: deviation 4.27 us; of the mean over 90,000: 14.2 ns; 4 of them. */
    struct bench b = bench_good(
        TORUS("4, 4"), "traffic = { pattern = \"uniform\"; interval = \"1 us\"; arrival = \"burst\"; "
                       "burst_length = 10.0; };\n");
    double mean = (double)last_creation(&b, 5, 90000) / 90000;
    assert_true(fabs(mean - 1e6) < 4 * 14200);
    bench_close(&b);
}

/* A slot is 512 B / 25 GB/s = 20,480 ps, and one in four has a message, the first slot, at 0, included. Gaps
 * are 1 + k slots, k with the chance (3/4)^k / 4: mean 4, deviation sqrt(12) = 3.46 slots; 4 of them for
 * 40,000. */
static void test_bernoulli(void **state)
{
    struct bench b = bench_good(
        TORUS("4, 4"), "traffic = { pattern = \"uniform\"; load = 0.25; arrival = \"bernoulli\"; };\n");
    uint32_t at_zero = 0;
    for (uint32_t node = 0; node < 16; node++) {
        struct task_traffic_node n;
        struct net_offer offer;
        ker_time before = -1;
        task_traffic_node_init(b.traffic, &n, node);
        for (int i = 0; i < 1000; i++) {
            assert_true(task_traffic_next(&n, &offer));
            assert_int_equal(offer.created % 20480, 0);
            assert_true(offer.created > before);
            before = offer.created;
            at_zero += before == 0;
        }
    }
    assert_in_range(at_zero, 1, 10); /* 4 of 16 nodes; five deviations of 1.7 below are none */
    double mean = (double)last_creation(&b, 5, 40000) / 40000;
    assert_true(fabs(mean - 81920) < 4 * 3.46 * 20480 / 200);
    bench_close(&b);
    /* At load 1 there is a message in every slot. */
    b = bench_good(TORUS("4"),
                   "traffic = { pattern = \"uniform\"; load = 1.0; arrival = \"bernoulli\"; };\n");
    assert_int_equal(last_creation(&b, 1, 1001), 20480 * 1000);
    bench_close(&b);
    b = bench_good(TORUS("4"), "traffic = { pattern = \"uniform\"; interval = \"10 ns\"; arrival = "
                               "\"bernoulli\"; slot = \"10 ns\"; };\n");
    assert_int_equal(last_creation(&b, 1, 1001), 10000 * 1000);
    bench_close(&b);
}

static double mean_size(struct bench *b, uint32_t count, double *packets)
{
    struct task_traffic_node n;
    struct net_offer offer;
    double sum = 0;
    *packets = 0;
    task_traffic_node_init(b->traffic, &n, 0);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(task_traffic_next(&n, &offer));
        sum += (double)offer.bytes / count;
        *packets += (offer.bytes ? ceil((double)offer.bytes / 512) : 1) / count;
    }
    return sum;
}

static void test_sizes(void **state)
{
    static const struct {
        const char *keys;
        double bytes, packets, deviation;
    } cases[] = {
        /* 3/4 x 64 + 1/4 x 2048 = 560; packets 3/4 + 4/4 = 1.75; deviation 1984 x sqrt(3)/4 = 859 */
        {"size_law = \"list\"; sizes = [\"64 B\", \"2048 B\"]; size_weights = [3.0, 1.0];", 560, 1.75, 859},
        /* 1..1024: 512.5; half of them one packet, half two: 1.5; deviation 1024 / sqrt(12) = 296 */
        {"size_law = \"uniform\"; size_maximum = 1024;", 512.5, 1.5, 296},
        /* 0..512: 256, one packet always; deviation 513 / sqrt(12) = 148 */
        {"size_law = \"uniform\"; size_minimum = 0; size_maximum = 512;", 256, 1, 148},
        /* geometric of mean 512: packets 1 / (1 - (511/512)^512) = 1.581077; deviation about 512 */
        {"size_law = \"exponential\"; size = 512;", 512, 1.581077, 512},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = ker_format("traffic = { pattern = \"uniform\"; load = 0.5; %s };\n", cases[i].keys);
        struct bench b = bench_good(TORUS("4, 4"), text);
        double packets, bytes = mean_size(&b, 40000, &packets);
        assert_true(fabs(b.traffic->size.mean_bytes - cases[i].bytes) < 1e-9);
        assert_true(fabs(b.traffic->size.mean_packets - cases[i].packets) < 1e-5);
        /* Four deviations of the mean of 40,000. */
        assert_true(fabs(bytes - cases[i].bytes) < 4 * cases[i].deviation / 200);
        assert_true(fabs(packets - cases[i].packets) < 0.04);
        bench_close(&b);
        free(text);
    }
}

static void test_limits(void **state)
{
    /* 3 messages, then none, whenever asked. */
    struct bench b =
        bench_good(TORUS("4"), "traffic = { pattern = \"uniform\"; load = 0.5; messages = 3; };\n");
    struct task_traffic_node n;
    struct net_offer offer;
    task_traffic_node_init(b.traffic, &n, 0);
    for (int i = 0; i < 3; i++)
        assert_true(task_traffic_next(&n, &offer));
    assert_false(task_traffic_next(&n, &offer));
    assert_false(task_traffic_next(&n, &offer));
    bench_close(&b);
    /* Period 1 ns between 100 ns and 110 ns, random phase below 1 ns: 10 messages. */
    b = bench_good(
        TORUS("4"),
        "traffic = { pattern = \"uniform\"; interval = \"1 ns\"; arrival = \"periodic\"; start = \"100 ns\"; "
        "stop = \"110 ns\"; };\n");
    task_traffic_node_init(b.traffic, &n, 1);
    for (int i = 0; i < 10; i++) {
        assert_true(task_traffic_next(&n, &offer));
        assert_in_range(offer.created, 100000 + 1000 * i, 100000 + 1000 * i + 999);
    }
    assert_false(task_traffic_next(&n, &offer));
    assert_false(task_traffic_next(&n, &offer));
    bench_close(&b);
}

static void test_closed_loop_counts_cores(void **state)
{
    struct bench b = bench_open(TORUS("4"), "traffic = { pattern = \"gups\"; outstanding = 3; };\n", 4, 1);
    assert_int_equal(b.status, KER_OK);
    assert_int_equal(b.traffic->outstanding * node_model_cores(b.traffic->model, 0), 12);
    assert_int_equal(b.traffic->size.bytes, 8);
    assert_true(task_traffic_offered(b.traffic, 1000) == 0);
    bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_periodic_is_exact),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_bernoulli),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_closed_loop_counts_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
