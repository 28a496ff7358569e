/* test_rails.c - nodes with several adapters: what two planes carry, what a small message takes, the order of
 * MPI's messages, and where
 * adapters hang.
 *
 * Equal results on any number of ranks are the matter of test_equal_bits, whose random systems have rails.
 */
#include "tests/run_marssim.h"

#include "tests/route_walk.h"

/* 10 GB/s: 100 ps a byte. No headers, and buffers that never fill. */
#define NETWORK                                                                                              \
    "topology = { kind = \"star\"; nodes = 4; bandwidth = \"10 GB/s\"; latency = \"100 ns\"; %s };\n"        \
    "adapter = { header = \"0 B\"; packet_size = \"1000 B\"; };\n"                                           \
    "switch = { buffer = \"1 MiB\"; output_queue = \"1 MiB\"; delay = \"0 ns\"; };\n"
/* Node 0 to 1, 1 to 2, ...: one message of each at the same time, more or less. */
#define STREAM                                                                                               \
    "traffic = { pattern = \"shift\"; arrival = \"periodic\"; interval = \"1 ns\"; size = \"%s\"; messages " \
    "= %d; };\n"

static json_int_t run_time(const char *rails, const char *node, const char *size, int messages)
{
    char text[1024];
    struct run r;
    run_init(&r);
    snprintf(text, sizeof text, NETWORK STREAM "node = { %s };\n", rails, size, messages, node);
    run_go(&r, text);
    json_int_t time = run_int(&r, "simulated_time_ps");
    run_release(&r);
    return time;
}

/* 100 messages of 100 kB from each node: 10 us each on one link, 1 ms in all; messages are created within
 * the first 100 ns. The last byte is 2 x 100 ns behind. Two adapters take half of the time, give or take a
 * packet (100 ns) and the arrivals' phase (1 ns). */
static void test_two_planes_twice_the_rate(void **state)
{
    json_int_t one = run_time("", "", "100 kB", 100);
    assert_in_range(one, 1000200000, 1000500000);
    static const char *const rail[] = {"round_robin", "least", "stripe"};
    for (int i = 0; i < 3; i++) {
        char node[64];
        snprintf(node, sizeof node, "adapters = 2; rail = \"%s\";", rail[i]);
        json_int_t two = run_time("rails = \"plane\";", node, "100 kB", 100);
        assert_in_range(two, 500200000, 500500000);
        two = run_time("rails = \"same\";", node, "100 kB", 100);
        assert_in_range(two, 500200000, 500500000);
    }
    /* one core, one adapter */
    assert_in_range(run_time("", "adapters = 2; rail = \"fixed\";", "100 kB", 100), 1000200000, 1000500000);
    /* two cores, in turn */
    assert_in_range(run_time("", "adapters = 2; cores = 2; rail = \"fixed\";", "100 kB", 100), 500200000,
                    500500000);
}

/* One message of 1 MB: whole it takes 100 us on a link; in parts a quarter of that on each of four. */
static void test_stripe_is_faster_at_once(void **state)
{
    json_int_t whole = run_time("", "adapters = 4; rail = \"round_robin\";", "1 MB", 1);
    json_int_t parts = run_time("", "adapters = 4; rail = \"stripe\";", "1 MB", 1);
    json_int_t short_of =
        run_time("", "adapters = 4; rail = \"stripe\"; stripe_size = \"1000001 B\";", "1 MB", 1);
    assert_in_range(whole, 100200000, 100402000);
    assert_in_range(parts, 25200000, 25402000);
    assert_int_equal(short_of, whole);
}

#define PINGPONG "jobs = ( { program = \"pingpong\"; tasks = 2; bytes = [\"%s\"]; steps = 10; } );\n"

static json_int_t pingpong_time(const char *node, const char *size)
{
    char text[1024];
    struct run r;
    run_init(&r);
    snprintf(text, sizeof text, NETWORK PINGPONG "node = { %s };\n", "", size, node);
    run_go(&r, text);
    json_int_t time = run_int(&r, "simulated_time_ps");
    run_release(&r);
    return time;
}

/* The latency of a small message is that of one adapter, whatever takes it. */
static void test_small_messages_as_before(void **state)
{
    json_int_t one = pingpong_time("", "8 B");
    static const char *const rail[] = {"fixed", "round_robin", "least", "stripe"};
    for (int i = 0; i < 4; i++) {
        char node[64];
        snprintf(node, sizeof node, "adapters = 2; rail = \"%s\";", rail[i]);
        assert_int_equal(pingpong_time(node, "8 B"), one);
    }
    /* a large one goes twice as fast in parts: 1 MB a time, 100 us or 50 us, and RTS, READ, FIN alike */
    json_int_t whole = pingpong_time("", "1 MB"),
               parts = pingpong_time("adapters = 2; rail = \"stripe\";", "1 MB");
    assert_in_range((whole - parts) / 1000, 20 * 49000, 20 * 51000);
}

static json_int_t messages_of(const struct run *r)
{
    return run_int(r, "messages_delivered");
}

/* matrix.csv has a row for each of the four pairs. */
static void matrix_check(const struct run *r, unsigned messages, unsigned bytes)
{
    char path[96], line[128];
    unsigned from, to, count, sum, rows = 0;
    snprintf(path, sizeof path, "%s/out/matrix.csv", r->folder);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_non_null(fgets(line, sizeof line, in));
    for (; fgets(line, sizeof line, in); rows++) {
        assert_int_equal(sscanf(line, "%u,%u,%u,%u", &from, &to, &count, &sum), 4);
        assert_int_equal(to, (from + 1) % 4);
        assert_int_equal(count, messages);
        assert_int_equal(sum, bytes);
    }
    fclose(in);
    assert_int_equal(rows, 4);
}

/* Parts are no messages: counts, sizes and the matrix have the messages of the traffic. */
static void test_parts_are_not_counted(void **state)
{
    char text[1024];
    struct run r;
    run_init(&r);
    snprintf(text, sizeof text,
             NETWORK STREAM "node = { adapters = 3; rail = \"stripe\"; };\noutput = { matrix = true; };\n",
             "", "100 kB", 5);
    run_go(&r, text);
    assert_int_equal(messages_of(&r), 20);
    assert_int_equal(run_int(&r, "bytes_delivered"), 20 * 100000);
    assert_int_equal(run_int(&r, "message_latency_ps.count"), 20);
    matrix_check(&r, 5, 500000);
    run_release(&r);
}

/* ---- where adapters hang ---- */

static void check_hang(const char *text, uint32_t adapters, void (*look)(const struct route_topology *))
{
    struct route_topology *t = topology_make(text, 0);
    const struct route_summary *sum = route_summarise(t);
    assert_int_equal(sum->adapters, adapters);
    for (uint32_t e = 0; e < sum->endpoints; e++) { /* both ends of a link say the same */
        uint32_t s;
        uint16_t port;
        struct route_peer peer;
        route_attachment(t, e, &s, &port);
        route_port(t, s, port, &peer);
        assert_int_equal(peer.kind, ROUTE_ENDPOINT);
        assert_int_equal(peer.id, e);
    }
    uint32_t random = 7;
    for (uint32_t e = 0; e < sum->endpoints; e++) /* adapters of the same number reach each other */
        for (uint32_t to = e % adapters; to < sum->endpoints; to += adapters)
            if (to != e)
                assert_int_equal(walk_packet(t, e, to, sum->configured, &random), route_distance(t, e, to));
    look(t);
    route_free(t);
}

static uint32_t switch_at(const struct route_topology *t, uint32_t endpoint)
{
    uint32_t s;
    uint16_t port;
    route_attachment(t, endpoint, &s, &port);
    return s;
}

/* Copies of 9 switches: host h at switch h / 2 of each. */
static void look_planes(const struct route_topology *t)
{
    assert_int_equal(route_hosts(route_summarise(t)), 18);
    assert_int_equal(route_summarise(t)->switches, 27);
    for (uint32_t e = 0; e < 54; e++)
        assert_int_equal(switch_at(t, e), e % 3 * 9 + e / 3 / 2);
}

/* Three switches at a time share 2 x 3 adapters: hosts 2 g and 2 g + 1. */
static void look_spread(const struct route_topology *t)
{
    assert_int_equal(route_hosts(route_summarise(t)), 6);
    for (uint32_t e = 0; e < 18; e++)
        assert_int_equal(switch_at(t, e), e / 3 / 2 * 3 + e % 3);
}

static void look_same(const struct route_topology *t)
{
    assert_int_equal(route_hosts(route_summarise(t)), 9);
    for (uint32_t e = 0; e < 18; e++)
        assert_int_equal(switch_at(t, e), e / 2);
}

#define TORUS(rails)                                                                                         \
    TOPOLOGY("torus", "extents = [3, 3]; nodes_per_switch = 2; rails = \"" rails "\"; " LINKS)

static void test_where_adapters_hang(void **state)
{
    check_hang(TORUS("plane") "node: { adapters = 3; };", 3, look_planes);
    check_hang(TORUS("spread") "node: { adapters = 3; };", 3, look_spread);
    check_hang(TORUS("same") "node: { adapters = 2; };", 2, look_same);
    check_hang(TORUS("plane") "node: { adapters = 3; }; routing: { algorithm = \"updown\"; };", 3,
               look_planes);
}

/* A plane whose links at a node all fail is passed over: nothing is lost but what was in flight. */
static void test_a_plane_fails(void **state)
{
    struct run r;
    run_init(&r);
    run_format(&r,
               NETWORK STREAM "node = { adapters = 2; rail = \"round_robin\"; };\n"
                              "faults = { unreachable = \"drop\"; list = ( { switch = 1; } ); };\n",
               "", "10 kB", 20);
    assert_int_equal(messages_of(&r), 80);
    assert_int_equal(run_int(&r, "lost_packets.not_sent"), 0);
    run_release(&r);
}

/* Every message of node 0 is for node 1, to which one plane has no route: its adapter there waits for
 * messages that never come, without drawing those of all time. */
static void test_nothing_for_a_plane(void **state)
{
    struct run r;
    run_init(&r);
    run_format(&r,
               NETWORK "traffic = { pattern = \"shift\"; load = 0.3; size = \"1 kB\"; };\n"
                       "node = { adapters = 2; cores = 2; rail = \"%s\"; };\n"
                       "faults = { unreachable = \"drop\"; list = ( { switch = 1; } ); };\n"
                       "run = { packets = 500; check_interval = \"1 us\"; };\n",
               "rails = \"plane\";", "fixed");
    assert_true(run_int(&r, "packets_delivered") >= 500);
    run_release(&r);
}

/* A node is cut off with all its adapters, and the proof walks no paths from plane to plane. 16 and 17: the
 * adapters of node 8. */
static void test_a_node_fails(void **state)
{
    struct ker_error error;
    struct route_topology *t;
    static const char text[] = TORUS(
        "plane") "node: { adapters = 2; }; faults: { unreachable = \"drop\"; list = ({ node = %s; }); };";
    char *system = ker_format(text, "8");
    t = topology_make(system, 4);
    for (uint32_t e = 0; e < 36; e++) {
        uint32_t s;
        uint16_t port;
        route_attachment(t, e, &s, &port);
        assert_true(route_port_down(t, s, port) == (e == 16 || e == 17 ? 0 : KER_TIME_MAX));
    }
    bool complete;
    if (route_check_deadlock(t, UINT64_MAX, &complete, &error))
        fail_msg("%s", error.text);
    assert_true(complete);
    route_free(t);
    free(system);
    system = ker_format(text, "18");
    assert_int_equal(topology_try(&t, system, 4, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "there is no node 18; they go from 0 to 17"));
    free(system);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_planes_twice_the_rate), cmocka_unit_test(test_stripe_is_faster_at_once),
        cmocka_unit_test(test_small_messages_as_before),  cmocka_unit_test(test_parts_are_not_counted),
        cmocka_unit_test(test_where_adapters_hang),       cmocka_unit_test(test_a_plane_fails),
        cmocka_unit_test(test_nothing_for_a_plane),       cmocka_unit_test(test_a_node_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
