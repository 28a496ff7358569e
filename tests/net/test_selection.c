/* test_selection.c - path selection among the paths up of a fat tree: what each rule promises.
 *
 * Two levels: 16 leaves of 8 nodes, 8 tops. Bit complement: everything goes up, and every leaf has 8 paths
 * for it.
 */
#include "tests/equal_bits.h"
#include "tests/run_marssim.h"

#define SYSTEM                                                                                               \
    "topology: { kind = \"fat_tree\"; down = [8, 16]; up = [1, 8]; bandwidth = \"10 GB/s\"; latency = \"20 " \
    "ns\"; };\n"                                                                                             \
    "switch: { channels = 2; buffer = \"8 KiB\"; output_queue = \"2 KiB\"; };\n"                             \
    "adapter: { packet_size = \"1000 B\"; header = \"0 B\"; };\n"

#define COMPLEMENT                                                                                           \
    "traffic: { pattern = \"bit_complement\"; load = 0.6; size = \"3000 B\"; messages = 100; };\n"
#define UNIFORM "traffic: { pattern = \"uniform\"; load = 0.9; size = \"20 kB\"; messages = 20; };\n"

static void run_with(struct run *r, const char *traffic, const char *keys)
{
    run_format(r, SYSTEM "%srouting: { algorithm = \"adaptive\"; %s };\n", traffic, keys);
    assert_int_equal(run_int(r, "packets_delivered"), run_int(r, "packets_injected"));
}

static void run_selection(struct run *r, const char *keys)
{
    run_with(r, COMPLEMENT, keys);
}

/* How many of the 8 paths up each leaf uses, over all leaves; the packets on the busiest and the idlest. */
struct ups {
    int used;
    uint64_t most, least;
};

static struct ups ups_count(const struct run *r)
{
    int count;
    struct ups ups = {0, 0, UINT64_MAX};
    struct run_link *links = run_links(r, &count);
    for (int i = 0; i < count; i++) {
        if (strcmp(links[i].from_kind, "switch") || strcmp(links[i].to_kind, "switch") || links[i].from >= 16)
            continue;
        ups.used += links[i].packets > 0;
        ups.most = links[i].packets > ups.most ? links[i].packets : ups.most;
        ups.least = links[i].packets < ups.least ? links[i].packets : ups.least;
    }
    free(links);
    return ups;
}

/* Every packet for itself spreads over all paths and overtakes; a flow that sticks to one path (static or
 * not) never does. */
static void what_sticks_keeps_its_order(void **state)
{
    static const struct {
        const char *keys;
        bool ordered;
    } rules[] = {
        {"selection = \"both\";", false},
        {"selection = \"random\";", false},
        {"selection = \"two\";", false},
        {"selection = \"two\"; pinning = \"flow\";", true},
        {"selection = \"both\"; pinning = \"flow\";", true},
        {"selection = \"queue\"; pinning = \"flow\";", true},
        {"selection = \"random\"; pinning = \"flow\";", true},
        {"selection = \"round_robin\"; pinning = \"flow\";", true},
        {"selection = \"destination\"; pinning = \"flow\";", true},
    };
    struct run r;
    run_init(&r);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        run_with(&r, UNIFORM, rules[i].keys);
        if (rules[i].ordered)
            assert_int_equal(run_int(&r, "out_of_order_packets"), 0);
        else
            assert_true(run_int(&r, "out_of_order_packets") > 0);
    }
    run_release(&r);
}

/* With pinning = "message" the packets of each message stay in order, which is what the count is about. */
static void messages_stay_whole(void **state)
{
    struct run r;
    run_init(&r);
    run_with(&r, UNIFORM, "selection = \"both\"; pinning = \"message\";");
    assert_int_equal(run_int(&r, "out_of_order_packets"), 0);
    run_release(&r);
}

/* Bit complement sends the 8 nodes of a leaf to 8 nodes of one other leaf: 8 flows of 300 packets up from
 * each leaf. */
static void shares_of_the_paths_up(void **state)
{
    struct run r;
    struct ups ups;
    run_init(&r);
    run_selection(&r, "selection = \"round_robin\";");
    ups = ups_count(&r);
    assert_int_equal(ups.used, 128);
    assert_true(ups.most - ups.least <= 1); /* in turn: 2,400 packets on 8 paths */
    run_selection(&r, "selection = \"random\";");
    ups = ups_count(&r);
    assert_int_equal(ups.used, 128);
    assert_within((double)ups.most, 300, 5 * 16.2); /* binomial: 2,400 draws of 1/8, 128 paths */
    assert_within((double)ups.least, 300, 5 * 16.2);
    run_selection(&r, "selection = \"both\";");
    ups = ups_count(&r);
    assert_within((double)ups.most, 300, 40); /* adaptive levels out better than chance does */
    assert_within((double)ups.least, 300, 40);
    run_selection(&r, "selection = \"two\";");
    ups = ups_count(&r);
    assert_within((double)ups.most, 300, 40);
    assert_within((double)ups.least, 300, 40);
    run_selection(&r, "selection = \"destination\";");
    ups = ups_count(&r);
    assert_true(ups.used < 128 && ups.most % 300 == 0); /* whole flows, some of which share a path */
    run_release(&r);
}

/* A hysteresis that nothing exceeds pins packets to the path taken first; a small one lies between that and
 * none. */
static void hysteresis_holds_flows(void **state)
{
    struct run r;
    run_init(&r);
    run_with(&r, UNIFORM, "selection = \"both\";");
    int64_t none = run_int(&r, "out_of_order_packets");
    run_with(&r, UNIFORM, "selection = \"both\"; hysteresis = \"200 ns\";");
    int64_t some = run_int(&r, "out_of_order_packets");
    run_with(&r, UNIFORM, "selection = \"both\"; hysteresis = \"1 ms\";");
    int64_t all = run_int(&r, "out_of_order_packets");
    assert_true(none > some && some > all);
    run_release(&r);
}

/* In a network in step, near saturation: the better of two drawn paths beats one drawn path, and the best of
 * all, which everybody takes. */
static void two_paths_are_enough(void **state)
{
    static const char *const rules[] = {"two", "random", "both"};
    double latency[3];
    struct run r;
    run_init(&r);
    for (int i = 0; i < 3; i++) {
        run_format(&r,
                   "topology: { kind = \"fat_tree\"; down = [8, 8, 8]; up = [1, 8, 8]; bandwidth = \"1000 "
                   "GB/s\"; latency = \"1 ns\"; };\n"
                   "switch: { buffer = \"16000 B\"; output_queue = \"4000 B\"; delay = \"2 ns\"; };\n"
                   "adapter: { packet_size = \"1000 B\"; header = \"0 B\"; };\n"
                   "traffic: { pattern = \"bit_reverse\"; load = 0.9; size = \"1000 B\"; };\n"
                   "routing: { algorithm = \"adaptive\"; selection = \"%s\"; };\n"
                   "run: { warmup = \"1 us\"; measure = \"2 us\"; drain = false; };\n",
                   rules[i]);
        latency[i] = run_real(&r, "packet_latency_ps.mean");
    }
    assert_true(latency[0] < 0.9 * latency[1]);
    assert_true(latency[0] < 0.85 * latency[2]);
    run_release(&r);
}

/* The same bits on 1, 2 and 3 ranks. */
static void equal_on_ranks(void **state)
{
    static const char *const rules[] = {
        "selection = \"both\"; threshold = \"100 ns\"; hysteresis = \"100 ns\";",
        "selection = \"credits\"; pinning = \"message\";",
        "selection = \"queue\"; pinning = \"flow\";",
        "selection = \"two\"; threshold = \"100 ns\"; hysteresis = \"100 ns\";",
        "selection = \"round_robin\";",
        "selection = \"round_robin\"; pinning = \"message\";",
        "selection = \"destination\";",
        "selection = \"flow\";",
        "selection = \"random\"; pinning = \"flow\";",
    };
    struct run r;
    char where[512], one[128], other[128], command[512];
    run_init(&r);
    snprintf(one, sizeof one, "%s/out", r.folder);
    snprintf(other, sizeof other, "%s/ranks", r.folder);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int ranks = 2; ranks <= 3; ranks++) {
            run_selection(&r, rules[i]);
            snprintf(command, sizeof command,
                     "mpirun -n %d '%s' --quiet -o %s %s/test.cfg partition.oversubscribe=true "
                     "engine.cell_order=%s >%s/log 2>&1",
                     ranks, getenv("MARSSIM"), other, r.folder, ranks == 2 ? "shuffled" : "backward",
                     r.folder);
            if (system(command))
                fail_msg("%s failed", command);
            if (!equal_results(one, other, where))
                fail_msg("%s on %d ranks: %s", rules[i], ranks, where);
        }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_sticks_keeps_its_order), cmocka_unit_test(messages_stay_whole),
        cmocka_unit_test(shares_of_the_paths_up),      cmocka_unit_test(hysteresis_holds_flows),
        cmocka_unit_test(two_paths_are_enough),        cmocka_unit_test(equal_on_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
