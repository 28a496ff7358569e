/* test_dma.c - adapters that read and write memory, beside computations and each other, to the picosecond,
 * derived by hand.
 *
 * 25 packets of 4,000 bytes without headers go over links of 10 GB/s, 400 ns each, from node 0 to node 1 and
 * back; computations are on node 0. Times are beside those of the same run without node.lane_bandwidth. A bus
 * has 16 lanes of 1 GB/s. A packet is read while it is sent, which costs no time where 10 GB/s are there; it
 * is written when it is there, the last one in 250 ns at the 16 GB/s of the bus.
 */
#include "tests/run_marssim.h"

#define LANES "lane_bandwidth = \"1 GB/s\"; "

/* When the pingpong has ended (of two pairs both), and in at[] when each of the jobs behind it. node: keys of
 * node; pairs: places of the tasks. */
static int64_t go(const char *node, const char *places, const char *jobs, int64_t *at)
{
    char text[4096], folder[80];
    struct run r;
    run_init(&r);
    snprintf(folder, sizeof folder, "%s/places", r.folder);
    run_write(&r, "places", places);
    int tasks = 0;
    for (const char *p = places; *p; p++)
        tasks += *p == '\n';
    snprintf(
        text, sizeof text,
        "topology = { kind = \"star\"; nodes = 2; bandwidth = \"10 GB/s\"; latency = \"100 ns\"; };\n"
        "adapter = { header = \"0 B\"; packet_size = \"4000 B\"; };\n"
        "mpi: { eager_limit = \"1 MB\"; };\n"
        "node = { cores = 4; %s };\n"
        "jobs = ( { program = \"pingpong\"; tasks = %d; bytes = [100000]; steps = 1; placement = \"file\"; "
        "placement_file = \"places\"; }%s );\n",
        node, tasks, jobs);
    run_go(&r, text);
    json_t *all = run_value(&r, "jobs");
    int64_t end = json_integer_value(json_object_get(json_array_get(all, 0), "finish_ps"));
    for (size_t i = 1; i < json_array_size(all); i++)
        at[i - 1] = json_integer_value(json_object_get(json_array_get(all, i), "finish_ps"));
    run_release(&r);
    return end;
}

#define PAIR "0 0\n1 0\n"
#define COMPUTE(time)                                                                                        \
    ", { program = \"stencil\"; extents = [1]; steps = 1; first_node = 0; compute_time = \"" time            \
    "\"; memory_bandwidth = \"25 GB/s\"; }"
#define CONTROLLER(rate) "controller_bandwidth = \"" rate "\"; "

/* The time of the same without DMA. */
static int64_t base(const char *node, const char *places)
{
    return go(node, places, "", NULL);
}

/* Alone the stream costs the last packet in each direction. A computation that wants 25 of 30 GB/s takes its
 * 5 us while the stream goes past memory. Together the stream has the 10 that it wants, as 15 are its share,
 * and the computation has 20: 125 kB take 6.25 us. The stream does not feel it. */
static void stream_beside_computation(void **state)
{
    int64_t at[1], usual = base("", PAIR);
    assert_int_equal(go(LANES CONTROLLER("30 GB/s"), PAIR, "", NULL), usual + 2 * 250000);
    go(CONTROLLER("30 GB/s"), PAIR, COMPUTE("5 us"), at);
    assert_int_equal(at[0], 5000000);
    assert_int_equal(go(LANES CONTROLLER("30 GB/s"), PAIR, COMPUTE("5 us"), at), usual + 2 * 250000);
    assert_int_equal(at[0], 6250000);
}

/* Of 12 GB/s the stream and two computations have 4 each. A packet is read in 1 us: the last one begins at 24
 * us, and not at 9.6. On node 1 it is written at 12 GB/s, in 0.333333... us. Back it goes at full speed: the
 * packets are written in 1 us each, the last one is there 25 us after the first one has come, and not 9.6. */
static void stream_is_slowed(void **state)
{
    int64_t at[2], usual = base("", PAIR);
    assert_int_equal(go(LANES CONTROLLER("12 GB/s"), PAIR, COMPUTE("100 us") COMPUTE("100 us"), at),
                     usual + 14400000 + 333334 + 15400000);
}

/* Two adapters on one bus: each packet takes 500 ns there, as both want 10 of 16 GB/s: the last ones begin at
 * 12 us, and not at 9.6; both are written in 500 ns. With a bus for each nothing is short. */
static void two_on_one_bus(void **state)
{
    const char *places = "0 0\n0 2\n1 0\n1 2\n";
    int64_t usual = base("adapters = 2; rail = \"nearest\"; ", places);
    assert_int_equal(go(LANES "adapters = 2; rail = \"nearest\"; ", places, "", NULL),
                     usual + 2 * (2400000 + 500000));
    assert_int_equal(go(LANES "adapters = 2; rail = \"nearest\"; buses = 2; ", places, "", NULL),
                     usual + 2 * 250000);
}

/* Half the lanes: 8 GB/s, 500 ns for each packet, as above. */
static void fewer_lanes(void **state)
{
    int64_t usual = base("", PAIR);
    assert_int_equal(go(LANES "bus_lanes = 8; ", PAIR, "", NULL), usual + 2 * (2400000 + 500000));
}

/* The adapter is on socket 0, the tasks' memory on socket 1, behind a link of 5 GB/s: 800 ns for each packet,
 * at both ends: the last one begins at 19.2 us, and is written in 800 ns. Where only node 0's task is on
 * socket 1, the way there has its last packet written in 250 ns; in transit back packets come each 400 ns and
 * are written in 800: 20 us after the first has come, and not 9.6. */
static void far_socket(void **state)
{
    const char *sockets = "sockets = 2; socket_bandwidth = \"5 GB/s\"; ";
    char with[200];
    snprintf(with, sizeof with, LANES "%s", sockets);
    int64_t usual = base(sockets, PAIR);
    assert_int_equal(go(with, "0 2\n1 2\n", "", NULL), usual + 2 * (9600000 + 800000));
    assert_int_equal(go(with, "0 2\n1 0\n", "", NULL), usual + 9600000 + 250000 + 10400000);
    assert_int_equal(go(with, PAIR, "", NULL), usual + 2 * 250000);
}

/* A message from a task to another one on its node: bus, 100 kB at the 10 GB/s of the adapter's link, bus,
 * interrupt; over a bus of 4 GB/s 25 us. In one domain it is read and written: of 12 GB/s 6 are for each,
 * 16.666666... us. */
static void loopback(void **state)
{
    const char *places = "0 0\n0 1\n", *ways = "bus_latency = \"300 ns\"; interrupt_latency = \"501 ps\"; ";
    char with[300];
    snprintf(with, sizeof with, LANES "loopback = true; doorbell = \"20 ns\"; %s", ways);
    assert_int_equal(go(with, places, "", NULL), 2 * (20000 + 300000 + 10000000 + 300000 + 501));
    snprintf(with, sizeof with, LANES "loopback = true; bus_lanes = 4; %s", ways);
    assert_int_equal(go(with, places, "", NULL), 2 * (300000 + 25000000 + 300000 + 501));
    snprintf(with, sizeof with, LANES "loopback = true; " CONTROLLER("12 GB/s"));
    assert_int_equal(go(with, places, "", NULL), 2 * 16666667);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stream_beside_computation),
        cmocka_unit_test(stream_is_slowed),
        cmocka_unit_test(two_on_one_bus),
        cmocka_unit_test(fewer_lanes),
        cmocka_unit_test(far_socket),
        cmocka_unit_test(loopback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
