/* test_physics_queue.c - queueing theory on one output, and fairness: M/D/1, Little, round robin, random
 * ties.
 *
 * Tolerances come from the samples: several seeds are independent runs, and the mean of their means lies
 * within t s / sqrt(n) of the true one with the level chosen, t of Student's distribution with n - 1 degrees
 * of freedom (GSL).
 */
#include "tests/run_marssim.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

/* ---- M/D/1 ---- */

enum { SEEDS = 10 };

/* Four sources 100 times as fast as the output, so that their own links neither delay nor smooth the Poisson
 * streams noticeably; 1,000 bytes take w = 100 ns at the output, 1 ns at a source. */
static const char fan_file[] = "switch s\nnode t s 1ns 10GB/s\nnode a s 1ns 1000GB/s\nnode b s 1ns 1000GB/s\n"
                               "node c s 1ns 1000GB/s\nnode d s 1ns 1000GB/s\n";

static void fan_run(struct run *r, double rho, int seed)
{
    run_format(r,
               "topology: { kind = \"file\"; file = \"fan.txt\"; };\n"
               "switch: { channels = 4; buffer = \"1 MiB\"; output_queue = \"1 MiB\"; delay = \"50 ns\"; };\n"
               "adapter: { packet_size = \"1000 B\"; header = \"0 B\"; };\n"
               "traffic: { pattern = \"incast\"; target = 0; interval = \"%.3f ns\"; size = \"1000 B\"; };\n"
               "run: { warmup = \"200 us\"; measure = \"%.0f us\"; seed = %d; };\n",
               4 * 100 / rho, 10000 / rho, seed); /* 100,000 packets */
}

/* Pollaczek and Khinchine: mean wait rho w / (2 (1 - rho)); the rest of the latency is 1 + 50 + 1 + 100 ns.
 * The tolerance is the confidence interval of 99 %, and must itself be small enough to mean something. */
static void wait_check(struct run *r, double rho, double widest)
{
    double wait_ns[SEEDS], utilisation[SEEDS];
    for (int i = 0; i < SEEDS; i++) {
        int count;
        fan_run(r, rho, i + 1);
        wait_ns[i] = run_real(r, "packet_latency_ps.mean") / 1000 - 152;
        struct run_link *links = run_links(r, &count);
        utilisation[i] = links[0].utilisation; /* switch 0 port 0 to node 0 */
        assert_string_equal(links[0].to_kind, "node");
        assert_int_equal(links[0].to, 0);
        free(links);
    }
    double expected = rho * 100 / (2 * (1 - rho)), mean = gsl_stats_mean(wait_ns, 1, SEEDS);
    double tolerance = gsl_cdf_tdist_Pinv(0.995, SEEDS - 1) * gsl_stats_sd(wait_ns, 1, SEEDS) / sqrt(SEEDS);
    print_message("rho %.1f: mean wait %.2f ns, M/D/1 %.2f, tolerance %.2f\n", rho, mean, expected,
                  tolerance);
    assert_true(tolerance < widest * expected);
    assert_within(mean, expected, tolerance);
    /* the output is busy for the fraction rho of the time: 100,000 Poisson arrivals a run, 5 sigma */
    assert_within(gsl_stats_mean(utilisation, 1, SEEDS), rho, 5 * rho / sqrt(100000.0 * SEEDS));
}

/* Two senders fill an output queue that takes 65 ms to drain: more than 32 bits of picoseconds. */
static void a_long_wait_is_told(void **state)
{
    struct run r;
    int count;
    run_init(&r);
    run_go(
        &r,
        "topology: { kind = \"star\"; nodes = 3; bandwidth = \"1 MB/s\"; latency = \"100 ns\"; };\n"
        "switch: { output_queue = \"64 KiB\"; }; adapter: { packet_size = \"512 B\"; header = \"0 B\"; };\n"
        "traffic: { pattern = \"incast\"; load = 1; size = \"512 B\"; }; run: { end = \"400 ms\"; };\n");
    struct run_link *links = run_links(&r, &count);
    assert_string_equal(links[0].to_kind, "node");
    assert_in_range(links[0].queue_max_bytes, 60000, 65536);
    free(links);
    run_release(&r);
}

static void wait_follows_m_d_1(void **state)
{
    struct run r;
    run_init(&r);
    run_write(&r, "fan.txt", fan_file);
    wait_check(&r, 0.3, 0.02);
    wait_check(&r, 0.6, 0.02);
    wait_check(&r, 0.8, 0.04);
    wait_check(&r, 0.9, 0.08);
    run_release(&r);
}

/* Little: the mean number waiting is rate x mean wait. links.csv counts it in two places: in the output's
 * queue and, for a moment, in the inputs' buffers; reading a packet out of an input takes 1 ns of it. */
static void queues_follow_little(void **state)
{
    struct run r;
    int count;
    run_init(&r);
    run_write(&r, "fan.txt", fan_file);
    fan_run(&r, 0.8, 1);
    double waiting = 0, rate_per_ns = 0.8 / 100;
    double wait_ns = run_real(&r, "packet_latency_ps.mean") / 1000 - 152;
    struct run_link *links = run_links(&r, &count);
    for (int i = 0; i < count; i++)
        waiting += links[i].queue_mean_packets +
                   (strcmp(links[i].from_kind, "switch") ? 0 : links[i].input_mean_packets);
    assert_within(waiting, rate_per_ns * (wait_ns + 1), 0.02 * rate_per_ns * wait_ns);
    free(links);
    run_release(&r);
}

/* ---- fairness ---- */

static const struct run_link *injection_of(const struct run_link *links, int count, unsigned node)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(links[i].from_kind, "node") && links[i].from == node)
            return &links[i];
    fail_msg("node %u has no injection link", node);
    return NULL;
}

static void incast_shares(struct run *r, const char *topology, uint64_t near, uint64_t far,
                          uint64_t tolerance)
{
    int count;
    run_format(r,
               "topology: { %s bandwidth = \"10 GB/s\"; latency = \"10 ns\"; };\nswitch: { channels = 4; };\n"
               "adapter: { packet_size = \"1000 B\"; header = \"0 B\"; };\n"
               "traffic: { pattern = \"incast\"; target = 0; load = 1.0; size = \"1000 B\"; };\n"
               "run: { warmup = \"500 us\"; measure = \"1 ms\"; drain = false; };\n",
               topology);
    struct run_link *links = run_links(r, &count);
    for (unsigned node = 1; node < 16; node++)
        assert_within((double)injection_of(links, count, node)->packets, (double)(node < 4 ? near : far),
                      (double)tolerance);
    free(links);
}

/* 1 ms at 100 ns a packet is 10,000 packets for the target. Star: each of 15 senders gets 1/15 of them, 667.
 * Fat tree with d-mod-k: the target's leaf has four busy inputs, its three other nodes and the one up-link
 * all others share, so 2,500 for a near node and 2,500 / 12 = 208 for a far one; four at a time may still lie
 * in a buffer. Four channels: turns go by input, not by (input, channel), and taking the channel with most
 * room must not favour anybody. */
static void round_robin_is_fair(void **state)
{
    struct run r;
    run_init(&r);
    incast_shares(&r, "kind = \"star\"; nodes = 16;", 667, 667, 4);
    incast_shares(&r, "kind = \"fat_tree\"; down = [4, 4]; up = [1, 4];", 2500, 208, 4);
    run_release(&r);
}

/* The random arbiter is fair on average: a sender's share of 10,000 draws among 15 is binomial, 667 +- 5
 * sigma. */
static void random_arbiter_is_fair_on_average(void **state)
{
    struct run r;
    int count;
    run_init(&r);
    run_go(&r, "topology: { kind = \"star\"; nodes = 16; bandwidth = \"10 GB/s\"; latency = \"10 ns\"; };\n"
               "switch: { channels = 4; arbitration = \"random\"; };\n"
               "adapter: { packet_size = \"1000 B\"; header = \"0 B\"; };\n"
               "traffic: { pattern = \"incast\"; target = 0; load = 1.0; size = \"1000 B\"; };\n"
               "run: { warmup = \"500 us\"; measure = \"1 ms\"; drain = false; };\n");
    struct run_link *links = run_links(&r, &count);
    for (unsigned node = 1; node < 16; node++)
        assert_within((double)injection_of(links, count, node)->packets, 667, 5 * sqrt(667));
    free(links);
    run_release(&r);
}

/* ---- ties ---- */

/* In a ring of four the opposite node is two links away both directions: each packet draws. Of n, n/2 +- 4
 * sqrt(n)/2 go in each direction. */
static void opposite_nodes_of_a_ring_are_reached_in_both_directions(void **state)
{
    struct run r;
    int count;
    run_init(&r);
    run_go(&r,
           "topology: { kind = \"torus\"; extents = [4]; bandwidth = \"10 GB/s\"; latency = \"10 ns\"; };\n"
           "switch: { channels = 2; };\nadapter: { packet_size = \"1000 B\"; header = \"0 B\"; };\n"
           "traffic: { pattern = \"incast\"; target = 2; first_node = 0; last_node = 2; senders = 1; "
           "messages = 10000;"
           " load = 0.1; size = \"1000 B\"; };\n");
    struct run_link *links = run_links(&r, &count);
    uint64_t hops = 0, packets = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(links[i].from_kind, "switch") || links[i].from != 0 || !strcmp(links[i].to_kind, "node"))
            continue;
        assert_within((double)links[i].packets, 5000, 4 * sqrt(10000) / 2);
        packets += links[i].packets;
        hops++;
    }
    assert_int_equal(hops, 2);
    assert_int_equal(packets, 10000);
    free(links);
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_follows_m_d_1),
        cmocka_unit_test(queues_follow_little),
        cmocka_unit_test(a_long_wait_is_told),
        cmocka_unit_test(round_robin_is_fair),
        cmocka_unit_test(random_arbiter_is_fair_on_average),
        cmocka_unit_test(opposite_nodes_of_a_ring_are_reached_in_both_directions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
