/* test_dragonfly.c - what dragonfly routing has to achieve, by running marssim: 72 nodes, 9 groups of 4
 * switches with 2 nodes each, one link per pair of groups, all links alike (p = h = 2, a = 4).
 *
 * Adversarial traffic, every node to the next group: the one link between two groups is shared by a p = 8
 * nodes, so direct routes get 1/8. Detours alone cross two of the 8 links out of a group: 8 / (2 x 8) = 1/2
 * at most; with the direct link also used, 9 / 16 = 0.5625.
 */
#include "tests/equal_bits.h"
#include "tests/run_marssim.h"

/* The load accepted; *latency (may be NULL) in ns. */
static double accepted(const char *routing, const char *pattern, double load, double *latency)
{
    struct run r;
    run_init(&r);
    run_format(
        &r,
        "topology: { kind = \"hierarchical\"; groups = [4, 9]; nodes_per_switch = 2; bandwidth = \"10 "
        "GB/s\";\n"
        "            latency = [\"10 ns\", \"100 ns\"]; };\n"
        "routing: { %s };\n"
        "switch: { channels = 10; buffer = \"16 KiB\"; output_queue = \"4 KiB\"; delay = \"20 ns\"; };\n"
        "adapter: { packet_size = \"512 B\"; header = \"0 B\"; };\n"
        "traffic: { pattern = \"%s\"; load = %g; size = \"512 B\"; };\n"
        "run: { warmup = \"60 us\"; measure = \"60 us\"; drain = false; };\n"
        "output: { links = false; histograms = false; };\n",
        routing, pattern, load);
    double value = run_real(&r, "accepted_load");
    if (latency)
        *latency = run_real(&r, "packet_latency_ps.mean") / 1000;
    run_release(&r);
    return value;
}

static void adversarial_minimal(void **state)
{
    assert_within(accepted("algorithm = \"minimal\";", "adversarial", 0.5, NULL), 0.125, 0.00125);
    assert_within(accepted("algorithm = \"minimal\";", "adversarial", 0.12, NULL), 0.12,
                  0.0024); /* 96 % of the bound */
}

/* Through the first switch of the third group, packets for the next group all take the same local link from
 * where the link of one source comes in to where that to the next group leaves: with links dealt to the
 * switches in turn these are 4 of 12 links, each with two such flows of 8/7 of the load, and a quarter of
 * what the switch's groups send and receive besides. By a switch drawn there, or anywhere, that does not
 * happen. */
static void adversarial_valiant(void **state)
{
    double group = accepted("algorithm = \"valiant\"; valiant = \"group\";", "adversarial", 0.7, NULL);
    double by_switch = accepted("algorithm = \"valiant\"; valiant = \"switch\";", "adversarial", 0.7, NULL);
    double any = accepted("algorithm = \"valiant\"; valiant = \"any\";", "adversarial", 0.7, NULL);
    assert_within(group, 0.35, 0.04);
    assert_within(by_switch, 0.46, 0.04);
    assert_within(any, 0.53, 0.04); /* 1/9 of the packets goes directly and 1/9 by the destination's group:
                                       above 1/2 is possible */
    assert_within(accepted("algorithm = \"valiant\"; valiant = \"switch\";", "adversarial", 0.4, NULL), 0.4,
                  0.008);
}

static void adversarial_adaptive(void **state)
{
    static const char *const algorithms[] = {"ugal", "par", "ugal_piggyback"};
    for (int i = 0; i < 3; i++) {
        char routing[128];
        snprintf(routing, sizeof routing, "algorithm = \"%s\"; valiant = \"switch\";", algorithms[i]);
        double most = accepted(routing, "adversarial", 0.7, NULL);
        print_message("%s: %.3f\n", algorithms[i], most);
        assert_in_range(most * 1000, i == 0 ? 450 : 480, 5625 / 10);
        assert_within(accepted(routing, "adversarial", 0.4, NULL), 0.4, 0.008);
    }
}

/* Uniform traffic: detours are of no use. At half load the latency stays near that of minimal routing, within
 * 10 %; nearly all of 0.9 is accepted. */
static void uniform(void **state)
{
    static const char *const algorithms[] = {"ugal", "par", "ugal_piggyback"};
    double minimal, latency;
    assert_within(accepted("algorithm = \"minimal\";", "uniform", 0.5, &minimal), 0.5, 0.005);
    for (int i = 0; i < 3; i++) {
        char routing[128];
        snprintf(routing, sizeof routing, "algorithm = \"%s\"; valiant = \"switch\";", algorithms[i]);
        accepted(routing, "uniform", 0.5, &latency);
        print_message("%s: %.0f ns, minimal %.0f ns\n", algorithms[i], latency, minimal);
        assert_within(latency, minimal, minimal / 10);
        assert_within(accepted(routing, "uniform", 0.9, NULL), 0.9, 0.018);
    }
}

/* Every algorithm under full load: the same bits on 1, 2 and 3 ranks, in another order of cells. */
static void equal_on_ranks(void **state)
{
    static const char *const rules[] = {
        "algorithm = \"valiant\"; valiant = \"group\";",
        "algorithm = \"valiant\"; valiant = \"any\";",
        "algorithm = \"indirect\"; detours = 3;",
        "algorithm = \"indirect\"; detours = 2; indirect = \"adaptive\"; valiant = \"switch\";",
        "algorithm = \"ugal\"; candidates = 2; valiant = \"group\";",
        "algorithm = \"par\"; valiant = \"switch\"; selection = \"credits\";",
        "algorithm = \"ugal_piggyback\"; watch_high = \"200 ns\"; watch_low = \"50 ns\";",
    };
    static const struct {
        int ranks;
        const char *order;
    } variants[] = {{1, "backward"}, {2, "shuffled"}, {3, "backward"}};
    struct run r;
    char where[512], one[128], other[128], command[512];
    run_init(&r);
    snprintf(one, sizeof one, "%s/out", r.folder);
    snprintf(other, sizeof other, "%s/other", r.folder);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        run_format(
            &r,
            "topology: { kind = \"hierarchical\"; groups = [3, 2, 5]; links = [1, 1, 2]; attach = "
            "[\"switch\", \"group\"];\n"
            "            nodes_per_switch = 2; bandwidth = \"10 GB/s\"; latency = [\"7 ns\", \"10 ns\", \"50 "
            "ns\"]; };\n"
            "routing: { %s };\n"
            "switch: { channels = 5; buffer = \"2 KiB\"; output_queue = \"1 KiB\"; delay = \"20 ns\"; };\n"
            "adapter: { packet_size = \"512 B\"; header = \"0 B\"; };\n"
            "traffic: { pattern = \"adversarial\"; shift = 2; load = 0.8; size = \"512 B\"; };\n"
            "run: { warmup = \"0 ns\"; end = \"15 us\"; };\n",
            rules[i]);
        for (size_t v = 0; v < sizeof variants / sizeof *variants; v++) {
            snprintf(command, sizeof command,
                     "mpirun -n %d '%s' --quiet -o %s %s/test.cfg partition.oversubscribe=true "
                     "engine.cell_order=%s >%s/log 2>&1",
                     variants[v].ranks, getenv("MARSSIM"), other, r.folder, variants[v].order, r.folder);
            if (system(command))
                fail_msg("%s failed", command);
            if (!equal_results(one, other, where))
                fail_msg("%s on %d ranks: %s", rules[i], variants[v].ranks, where);
        }
    }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adversarial_minimal),  cmocka_unit_test(adversarial_valiant),
        cmocka_unit_test(adversarial_adaptive), cmocka_unit_test(uniform),
        cmocka_unit_test(equal_on_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
