/* test_resequence.c - packets and messages that overtake each other: what is counted, and what a resequencing
 * adapter does about it. */
#include "tests/equal_bits.h"
#include "tests/run_marssim.h"

/* Two paths between two switches, the second 1000 ns longer. Messages of one packet take turns. */
#define FORK                                                                                                 \
    "topology: { kind = \"file\"; file = \"fork.txt\"; };\n"                                                 \
    "routing: { algorithm = \"adaptive\"; selection = \"round_robin\"; };\n"                                 \
    "switch: { channels = 4; buffer = \"64 KiB\"; };\n"

static void fork_run(struct run *r, const char *adapter, const char *traffic)
{
    run_write(r, "fork.txt",
              "switch s\nswitch v\nswitch w\nswitch u\nnode a s 10ns 10GB/s\nnode b u 10ns 10GB/s\n"
              "link s v 10ns 10GB/s\nlink v u 10ns 10GB/s\nlink s w 510ns 10GB/s\nlink w u 510ns 10GB/s\n");
    run_format(r,
               FORK "adapter: { packet_size = \"100 B\"; header = \"0 B\"; %s };\ntraffic: { pattern = "
                    "\"incast\"; target = 1; %s };\n",
               adapter, traffic);
}

/* A message each 100 ns. Each second one takes the short path and overtakes the one before it by 1000 - 100
 * ns: so long it is kept, 500 of 1000 of them (the first, when it takes the short path, has none before it).
 * 900 / 200 = 4.5: five of 100 bytes at once. Packets are not out of order: that is within a message. */
static void message_waits_for_its_turn(void **state)
{
    struct run r;
    int64_t least, most;
    run_init(&r);
    fork_run(&r, "resequence = false;",
             "interval = \"100 ns\"; arrival = \"periodic\"; size = \"100 B\"; messages = 1000;");
    least = run_int(&r, "message_latency_ps.min");
    most = run_int(&r, "message_latency_ps.max");
    assert_int_equal(most - least, 1000000);
    assert_int_equal(run_int(&r, "out_of_order_packets"), 0);
    fork_run(&r, "resequence = true;",
             "interval = \"100 ns\"; arrival = \"periodic\"; size = \"100 B\"; messages = 1000;");
    assert_within(run_real(&r, "resequencing.messages_held"), 500, 1);
    assert_int_equal(run_int(&r, "resequencing.wait_ps.min"), 900000);
    assert_int_equal(run_int(&r, "resequencing.wait_ps.max"), 900000);
    assert_within(run_real(&r, "resequencing.bytes_max"), 500, 0);
    assert_int_equal(run_int(&r, "messages_delivered"), 1000);
    assert_int_equal(run_int(&r, "message_latency_ps.max"), most);
    /* all but the first that took the short path wait for 900 */
    assert_true(run_int(&r, "message_latency_ps.p50") >= least + 900000);
    run_release(&r);
}

/* Messages of 8 packets, 10 ns each, 4 on either way: those on the short path come first, 1, 2, 3 (and 4,
 * when the first packet took the long one) ahead of what is next in order. */
static void extent_is_counted(void **state)
{
    struct run r;
    run_init(&r);
    fork_run(&r, "resequence = true;",
             "interval = \"10 us\"; arrival = \"periodic\"; size = \"800 B\"; messages = 100;");
    /* either 0 2 4 6 1 3 5 7: packets 2, 4, 6 come 1, 3, 5 ahead of 1, or 1 3 5 7 0 2 4 6: 1, 3, 5, 7 come 1,
     * 3, 5, 7 ahead of 0. Each message has an even number of packets: all begin alike. */
    int64_t early = run_int(&r, "out_of_order_packets");
    assert_true(early == 300 || early == 400);
    assert_int_equal(run_int(&r, "reordering_extent_packets.count"), early);
    assert_int_equal(run_int(&r, "reordering_extent_packets.min"), 1);
    assert_int_equal(run_int(&r, "reordering_extent_packets.max"), early == 300 ? 5 : 7);
    assert_within(run_real(&r, "reordering_extent_packets.mean"), early == 300 ? 3 : 4, 1e-9);
    assert_int_equal(run_int(&r, "resequencing_bytes_max"), early == 300 ? 300 : 400);
    assert_int_equal(run_int(&r, "resequencing.messages_held"), 0);
    run_release(&r);
}

#define TREE                                                                                                 \
    "topology: { kind = \"fat_tree\"; down = [8, 16]; up = [1, 8]; bandwidth = \"10 GB/s\"; latency = \"20 " \
    "ns\"; };\n"                                                                                             \
    "switch: { channels = 2; buffer = \"8 KiB\"; output_queue = \"2 KiB\"; };\n"                             \
    "traffic: { pattern = \"permutation\"; load = 0.8; size_law = \"list\"; sizes = [\"100 B\", \"1000 "     \
    "B\", \"20 kB\"]; messages = 60; };\n"

/* Random paths on a fat tree: resequencing changes when messages are handed up, nothing about packets. One
 * path per flow: nothing is ever out of order, and resequencing has nothing to do. */
static void tree_is_resequenced(void **state)
{
    static const char *const unchanged[] = {"packet_latency_ps", "out_of_order_packets",
                                            "reordering_extent_packets", "messages_delivered", "hops"};
    struct run r;
    char where[512];
    run_init(&r);
    for (int flow = 0; flow < 2; flow++) {
        json_t *before = NULL;
        for (int resequence = 0; resequence < 2; resequence++) {
            run_format(&r,
                       TREE "adapter: { packet_size = \"1000 B\"; header = \"0 B\"; resequence = %s; };\n"
                            "routing: { algorithm = \"adaptive\"; selection = \"%s\"; %s };\n",
                       resequence ? "true" : "false", flow ? "flow" : "random",
                       flow ? "pinning = \"flow\";" : "");
            json_t *result = json_object_get(r.summary, "result");
            if (!resequence) {
                before = json_incref(result);
                continue;
            }
            for (size_t i = 0; i < sizeof unchanged / sizeof *unchanged; i++)
                if (!equal_json(json_object_get(before, unchanged[i]), json_object_get(result, unchanged[i]),
                                unchanged[i], where))
                    fail_msg("%s", where);
            double mean =
                json_number_value(json_object_get(json_object_get(before, "message_latency_ps"), "mean"));
            int64_t held = run_int(&r, "resequencing.messages_held"),
                    early = run_int(&r, "out_of_order_packets");
            print_message("%s: %" PRId64 " packets early, %" PRId64
                          " messages held, message latency %.0f ns, %.0f without\n",
                          flow ? "by flow" : "random", early, held,
                          run_real(&r, "message_latency_ps.mean") / 1000, mean / 1000);
            if (flow) {
                assert_int_equal(early, 0);
                assert_int_equal(held, 0);
                assert_within(run_real(&r, "message_latency_ps.mean"), mean, 0);
            } else {
                assert_true(early > 1000 && held > 500);
                /* what is held adds up to what the mean grows by; all messages are measured */
                double added = run_real(&r, "resequencing.wait_ps.mean") * (double)held /
                               run_real(&r, "messages_delivered");
                assert_within(run_real(&r, "message_latency_ps.mean") - mean, added, 1);
            }
        }
        json_decref(before);
    }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(message_waits_for_its_turn),
        cmocka_unit_test(extent_is_counted),
        cmocka_unit_test(tree_is_resequenced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
