/* test_physics_zero_load.c - one packet in an empty network: its latency to the picosecond, on every
 * topology.
 *
 * By hand, for a packet that crosses links 1..n (1 the injection, n the ejection link) and n-1 switches, with
 * the link latencies l_i, the packet's serialisation w_i on link i, and the switches' delay D
 * (docs/network-model.md):
 *
 *   cut-through        sum l_i + (n-1) D + w_n + sum over switches of max(0, w_i - w_(i+1))
 *   store and forward  sum l_i + (n-1) D + sum w_i
 *
 * The max is the wait of a fast output for a slow input: it starts so that it never runs dry. All packets
 * here are 1,000 bytes of payload and 24 of header. 1,024 bytes take 25,600 ps at 40 GB/s, 51,200 at 20,
 * 102,400 at 10.
 */
#include "tests/run_marssim.h"

#define UNEQUAL_TURN_PS 51200

struct zero_load_case {
    const char *name, *topology; /* the topology's group of keys */
    int channels;
    int from, to; /* nodes, from < to */
    int links;
    int64_t cut_through_ps, store_and_forward_ps; /* with D = 50,000 ps */
};

#define NODES "node_bandwidth = \"10 GB/s\"; node_latency = \"1 ns\";"

static const struct zero_load_case cases[] = {
    /* latencies 7+7 ns, one switch 50, then 102.4 (twice when stored) */
    {"star", "kind = \"star\"; nodes = 4; bandwidth = \"10 GB/s\"; latency = \"7 ns\";", 1, 0, 3, 2,
     14000 + 50000 + 102400, 14000 + 50000 + 2 * 102400},
    /* 1,024 / 3e9 s = 341,333.3 ps, rounded to 341,333 */
    {"star, rounded", "kind = \"star\"; nodes = 2; bandwidth = \"3 GB/s\"; latency = \"1 ps\";", 1, 0, 1, 2,
     2 + 50000 + 341333, 2 + 50000 + 2 * 341333},
    /* 0 = (0,0) to 10 = (2,2) in a 4x4 torus: two links in x, two in y, five switches, all links alike */
    {"torus", "kind = \"torus\"; extents = [4, 4]; bandwidth = \"10 GB/s\"; latency = \"3 ns\";", 2, 0, 10, 6,
     6 * 3000 + 5 * 50000 + 102400, 6 * 3000 + 5 * 50000 + 6 * 102400},
    /* 0 = (0,0) to 15 = (3,3): the short path round crosses both wrap-around links: 1 + 1 */
    {"torus, wrapped", "kind = \"torus\"; extents = [4, 4]; bandwidth = \"10 GB/s\"; latency = \"3 ns\";", 2,
     0, 15, 4, 4 * 3000 + 3 * 50000 + 102400, 4 * 3000 + 3 * 50000 + 4 * 102400},
    /* node 25.6, x 102.4 twice, y 51.2 twice, node 25.6; faster outputs wait 51.2 (x to y) and 25.6 (y to
     * node). An adaptive path may turn out of x twice (x y x y, x y y x): UNEQUAL_TURN_PS more. */
    {"torus, unequal",
     "kind = \"torus\"; extents = [4, 4]; bandwidth = [\"10 GB/s\", \"20 GB/s\"]; latency = [\"3 ns\", \"5 "
     "ns\"];"
     "node_bandwidth = \"40 GB/s\"; node_latency = \"1 ns\";",
     2, 0, 10, 6, 2 * 1000 + 2 * 3000 + 2 * 5000 + 5 * 50000 + 25600 + 51200 + 25600,
     2 * 1000 + 2 * 3000 + 2 * 5000 + 5 * 50000 + 2 * 25600 + 2 * 102400 + 2 * 51200},
    /* 0 = (0,0) to 11 = (3,2) in an open 4x3 grid: 3 + 2 links, six switches */
    {"mesh", "kind = \"torus\"; extents = [4, 3]; wrap = false; bandwidth = \"10 GB/s\"; latency = \"3 ns\";",
     1, 0, 11, 7, 7 * 3000 + 6 * 50000 + 102400, 7 * 3000 + 6 * 50000 + 7 * 102400},
    /* three dimensions, two nodes a switch: 0 at (0,0,0) to 2*26+1 = 53 at (2,2,2), 2 + 2 + 2 links, seven
       switches */
    {"mesh 3-D",
     "kind = \"torus\"; extents = [3, 3, 3]; wrap = false; nodes_per_switch = 2; bandwidth = \"20 GB/s\"; "
     "latency = \"4 ns\";",
     1, 0, 53, 8, 8 * 4000 + 7 * 50000 + 51200, 8 * 4000 + 7 * 50000 + 8 * 51200},
    /* up 2, down 2 levels: five switches; all links 10 GB/s */
    {"fat tree",
     "kind = \"fat_tree\"; down = [2, 2, 2]; up = [1, 2, 2]; bandwidth = \"10 GB/s\"; latency = \"2 ns\";", 1,
     0, 7, 6, 6 * 2000 + 5 * 50000 + 102400, 6 * 2000 + 5 * 50000 + 6 * 102400},
    /* the same leaf: one switch; the same pod (0 and 3): three */
    {"fat tree, one leaf",
     "kind = \"fat_tree\"; down = [2, 2, 2]; up = [1, 2, 2]; bandwidth = \"10 GB/s\"; latency = \"2 ns\";", 1,
     0, 1, 2, 2 * 2000 + 50000 + 102400, 2 * 2000 + 50000 + 2 * 102400},
    {"fat tree, one pod",
     "kind = \"fat_tree\"; down = [2, 2, 2]; up = [1, 2, 2]; bandwidth = \"10 GB/s\"; latency = \"2 ns\";", 1,
     0, 3, 4, 4 * 2000 + 3 * 50000 + 102400, 4 * 2000 + 3 * 50000 + 4 * 102400},
    /* tapered to 40, 20, 10 GB/s: 25.6, 51.2, 102.4 up, 102.4, 51.2, 25.6 down; on the path down the outputs
       are faster */
    {"fat tree, tapered",
     "kind = \"fat_tree\"; down = [2, 2, 2]; up = [1, 2, 2]; bandwidth = \"40 GB/s\"; taper = [0.5, 0.5];"
     "latency = [\"1 ns\", \"2 ns\", \"3 ns\"];",
     1, 0, 7, 6, 2 * (1000 + 2000 + 3000) + 5 * 50000 + 25600 + (102400 - 51200) + (51200 - 25600),
     2 * (1000 + 2000 + 3000) + 5 * 50000 + 2 * (25600 + 51200 + 102400)},
    /* Boards of 2 switches, 3 boards, one link per pair of boards. Board 0's link to board 1 (one place
     * further, k = 0) is on its switch 0, board 1's to board 0 (two places further, k = 1) on its switch 1.
     * So node 1 to node 2: level 1, level 2, level 1; four switches. */
    {"hierarchical, 2 levels",
     "kind = \"hierarchical\"; groups = [2, 3]; bandwidth = [\"20 GB/s\", \"10 GB/s\"]; latency = [\"10 "
     "ns\", \"200 ns\"];"
     "node_bandwidth = \"40 GB/s\"; node_latency = \"1 ns\";",
     2, 1, 2, 5, 2 * 1000 + 2 * 10000 + 200000 + 4 * 50000 + 25600 + 51200 + 25600,
     2 * 1000 + 2 * 10000 + 200000 + 4 * 50000 + 2 * 25600 + 2 * 51200 + 102400},
    /* node 0 to node 3: both switches hold the link: level 2 alone */
    {"hierarchical, 2 levels, direct",
     "kind = \"hierarchical\"; groups = [2, 3]; bandwidth = [\"20 GB/s\", \"10 GB/s\"]; latency = [\"10 "
     "ns\", \"200 ns\"];"
     "node_bandwidth = \"40 GB/s\"; node_latency = \"1 ns\";",
     2, 0, 3, 3, 2 * 1000 + 200000 + 2 * 50000 + 102400, 2 * 1000 + 200000 + 2 * 50000 + 2 * 25600 + 102400},
    /* 2 switches a board, 2 boards a rack, 2 racks; the only link of each pair is on the first switch of each
     * side. Node 3 to node 7 (last switch of each rack): l1, l2, l3, l2, l1; six switches. */
    {"hierarchical, 3 levels",
     "kind = \"hierarchical\"; groups = [2, 2, 2]; bandwidth = [\"40 GB/s\", \"20 GB/s\", \"10 GB/s\"];"
     "latency = [\"10 ns\", \"30 ns\", \"200 ns\"]; node_bandwidth = \"40 GB/s\"; node_latency = \"1 ns\";",
     4, 3, 7, 7,
     2 * 1000 + 2 * 10000 + 2 * 30000 + 200000 + 6 * 50000 + 25600 + (102400 - 51200) + (51200 - 25600),
     2 * 1000 + 2 * 10000 + 2 * 30000 + 200000 + 6 * 50000 + 4 * 25600 + 2 * 51200 + 102400},
    /* PERCS: a link between every two switches of different boards: node 3 (board 1) to node 5 (rack 1, board
     * 0, switch 1): l2 straight to the first switch of the rack, l3, l1 on the other side */
    {"hierarchical, 3 levels, by switch",
     "kind = \"hierarchical\"; groups = [2, 2, 2]; attach = [\"switch\", \"group\"]; bandwidth = \"10 GB/s\";"
     "latency = [\"10 ns\", \"30 ns\", \"200 ns\"]; node_latency = \"1 ns\";",
     4, 3, 5, 5, 2 * 1000 + 10000 + 30000 + 200000 + 4 * 50000 + 102400,
     2 * 1000 + 10000 + 30000 + 200000 + 4 * 50000 + 5 * 102400},
    /* 0 = (0,0) to 11 = (2,3): one link in each dimension */
    {"HyperX",
     "kind = \"hyperx\"; extents = [3, 4]; bandwidth = \"10 GB/s\"; latency = [\"10 ns\", \"30 ns\"];" NODES,
     1, 0, 11, 4, 2 * 1000 + 10000 + 30000 + 3 * 50000 + 102400,
     2 * 1000 + 10000 + 30000 + 3 * 50000 + 4 * 102400},
    /* 3 = (3, 0) to 16 = (0, 4): the link that closes the ring of x ends half way round y */
    {"twisted torus",
     "kind = \"torus\"; extents = [4, 8]; twist = true; bandwidth = \"10 GB/s\"; latency = [\"10 ns\", \"30 "
     "ns\"];" NODES,
     2, 3, 16, 3, 2 * 1000 + 10000 + 2 * 50000 + 102400, 2 * 1000 + 10000 + 2 * 50000 + 3 * 102400},
    /* (0, 0, 0) to (1, 0, 1): y = 0 is not m x + c = 1, but (0, 0, 1) is joined to both, as 1 is in X = {1,
       4} */
    {"slim fly",
     "kind = \"slim_fly\"; q = 5; bandwidth = \"10 GB/s\"; latency = [\"10 ns\", \"200 ns\"];" NODES, 2, 0,
     26, 4, 2 * 1000 + 10000 + 200000 + 3 * 50000 + 102400,
     2 * 1000 + 10000 + 200000 + 3 * 50000 + 4 * 102400},
    /* (1, 0, 0) and (0, 0, 1): the product is 0 */
    {"PolarFly, linked", "kind = \"polarfly\"; q = 3; bandwidth = \"10 GB/s\"; latency = \"20 ns\";" NODES, 2,
     0, 12, 3, 2 * 1000 + 20000 + 2 * 50000 + 102400, 2 * 1000 + 20000 + 2 * 50000 + 3 * 102400},
    /* (1, 0, 1) and (0, 0, 1): it is 1 */
    {"PolarFly", "kind = \"polarfly\"; q = 3; bandwidth = \"10 GB/s\"; latency = \"20 ns\";" NODES, 2, 1, 12,
     4, 2 * 1000 + 2 * 20000 + 3 * 50000 + 102400, 2 * 1000 + 2 * 20000 + 3 * 50000 + 4 * 102400},
    /* up, to the last group, down */
    {"dragonfly+",
     "kind = \"dragonfly_plus\"; leaves = 2; spines = 2; h = 2; bandwidth = \"10 GB/s\"; latency = [\"10 "
     "ns\", "
     "\"200 ns\"];" NODES,
     1, 0, 9, 5, 2 * 1000 + 2 * 10000 + 200000 + 4 * 50000 + 102400,
     2 * 1000 + 2 * 10000 + 200000 + 4 * 50000 + 5 * 102400},
    /* groups of 2 x 2, one global link each: that of group 0 to group 4 is on its switch 3, on switch 0
     * there; row and column in both groups */
    {"dragonfly with rows",
     "kind = \"dragonfly\"; p = 1; a = 4; rows = 2; h = 1; bandwidth = \"10 GB/s\"; latency = [\"10 ns\", "
     "\"30 ns\", "
     "\"200 ns\"];" NODES,
     3, 0, 19, 7, 2 * 1000 + 2 * 10000 + 2 * 30000 + 200000 + 6 * 50000 + 102400,
     2 * 1000 + 2 * 10000 + 2 * 30000 + 200000 + 6 * 50000 + 7 * 102400},
    /* a, left, middle, right, c: 25.6, then 102.4, 25.6, 102.4. The middle output is faster than its input
     * and waits 76.8; the last is slower than its own and starts at once. */
    {"file, slow fast slow", "kind = \"file\"; file = \"line.txt\";", 4, 0, 1, 4,
     1000 + 5000 + 6000 + 1000 + 3 * 50000 + 102400 + 76800,
     1000 + 5000 + 6000 + 1000 + 3 * 50000 + 2 * 25600 + 2 * 102400},
};

static const char line_file[] = "switch left\nswitch middle\nswitch right\n"
                                "node a left 1ns 40GB/s\nnode c right 1ns 10GB/s\n"
                                "link left middle 5ns 10GB/s\nlink middle right 6ns 40GB/s\n";

/* One packet from the group's first node to its last: an incast with one sender. */
static void case_run(struct run *r, const struct zero_load_case *c, const char *routing,
                     const char *forwarding, double speedup)
{
    run_write(r, "line.txt", line_file);
    run_format(r,
               "topology: { %s };\nrouting: { algorithm = \"%s\"; };\n"
               "switch: { channels = %d; delay = \"50 ns\"; forwarding = \"%s\"; speedup = %g; };\n"
               "adapter: { packet_size = \"1000 B\"; header = \"24 B\"; };\n"
               "traffic: { pattern = \"incast\"; first_node = %d; last_node = %d; target = %d; senders = 1; "
               "messages = 1;"
               " load = 0.01; size = \"1000 B\"; };\n",
               c->topology, routing, routing[0] == 'a' ? c->channels + 2 : c->channels, forwarding, speedup,
               c->from, c->to, c->to);
}

static void case_check(const struct run *r, const struct zero_load_case *c, int64_t expected_ps,
                       bool adaptive)
{
    int64_t latency_ps = run_int(r, "packet_latency_ps.max");
    if (adaptive && strcmp(c->name, "torus, unequal") == 0 && latency_ps == expected_ps + UNEQUAL_TURN_PS)
        expected_ps = latency_ps;
    assert_int_equal(run_int(r, "packets_delivered"), 1);
    if (run_int(r, "hops.max") != c->links || latency_ps != expected_ps)
        fail_msg("%s: %lld ps over %lld links, not %lld ps over %d", c->name, (long long)latency_ps,
                 (long long)run_int(r, "hops.max"), (long long)expected_ps, c->links);
    /* there was no queue at the source, and the message is one packet */
    assert_int_equal(run_int(r, "total_latency_ps.max"), latency_ps);
    assert_int_equal(run_int(r, "message_latency_ps.max"), latency_ps);
}

static void cases_check(const char *routing, const char *forwarding, double speedup)
{
    struct run r;
    run_init(&r);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        case_run(&r, &cases[i], routing, forwarding, speedup);
        case_check(&r, &cases[i],
                   forwarding[0] == 'c' ? cases[i].cut_through_ps : cases[i].store_and_forward_ps,
                   routing[0] == 'a');
    }
    run_release(&r);
}

static void cut_through_is_the_sum(void **state)
{
    cases_check("minimal", "cut_through", 2);
}

static void store_and_forward_is_the_sum(void **state)
{
    cases_check("minimal", "store_and_forward", 2);
}

/* In an empty network the crossbar's speed does not matter, nor the choice among shortest paths but for turns
 * to other speeds. */
static void adaptive_and_slow_crossbar_are_the_same(void **state)
{
    cases_check("adaptive", "cut_through", 1);
}

/* 2,500 bytes are packets of 1,024, 1,024 and 524 bytes on the wire. Over links of one speed the last starts
 * when the first two have left, 2 x 102,400 ps, and then goes as in an empty network: star 14,000 + 50,000 +
 * 52,400 ps. */
static void message_of_three_packets(void **state)
{
    struct run r;
    run_init(&r);
    run_go(&r,
           "topology: { kind = \"star\"; nodes = 2; bandwidth = \"10 GB/s\"; latency = \"7 ns\"; };\n"
           "switch: { channels = 1; delay = \"50 ns\"; };\n"
           "adapter: { packet_size = \"1000 B\"; header = \"24 B\"; };\n"
           "traffic: { pattern = \"incast\"; target = 1; messages = 1; load = 0.01; size = \"2500 B\"; };\n");
    assert_int_equal(run_int(&r, "packets_delivered"), 3);
    assert_int_equal(run_int(&r, "packet_latency_ps.max"), 14000 + 50000 + 102400);
    assert_int_equal(run_int(&r, "packet_latency_ps.min"), 14000 + 50000 + 52400);
    assert_int_equal(run_int(&r, "message_latency_ps.max"), 2 * 102400 + 14000 + 50000 + 52400);
    run_release(&r);
}

/* An empty message is one packet of the header: 24 bytes, 2,400 ps; without a header it is one byte, 100 ps.
 */
static void empty_message(void **state)
{
    struct run r;
    run_init(&r);
    for (int header = 0; header <= 24; header += 24) {
        run_format(&r,
                   "topology: { kind = \"star\"; nodes = 2; bandwidth = \"10 GB/s\"; latency = \"7 ns\"; };\n"
                   "switch: { channels = 1; delay = \"50 ns\"; };\n"
                   "adapter: { packet_size = \"1000 B\"; header = \"%d B\"; };\n"
                   "traffic: { pattern = \"incast\"; target = 1; messages = 1; interval = \"1 us\"; size = "
                   "\"0 B\"; };\n",
                   header);
        assert_int_equal(run_int(&r, "packet_latency_ps.max"), 14000 + 50000 + (header ? 2400 : 100));
        assert_int_equal(run_int(&r, "bytes_delivered"), 0);
    }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_through_is_the_sum),
        cmocka_unit_test(store_and_forward_is_the_sum),
        cmocka_unit_test(adaptive_and_slow_crossbar_are_the_same),
        cmocka_unit_test(message_of_three_packets),
        cmocka_unit_test(empty_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
