/* test_source.c - routes decided at the source (routing.decided): the same as switch by switch where nothing
 * depends on a switch's state, exact times with header bytes for each switch, refusals of what a source
 * cannot know. */
#include "tests/run_marssim.h"

/* Both ways of running a configuration; the results are the same, number for number. */
static void compare(const char *more)
{
    struct run a, b;
    run_init(&a);
    run_init(&b);
    static const char text[] =
        "topology: { bandwidth = \"10 GB/s\"; latency = \"50 ns\"; %s decided = \"%s\"; };\n"
        "switch: { channels = 8; };\nadapter: { packet_size = \"512 B\"; };\n"
        "traffic: { pattern = \"uniform\"; load = 0.7; size = \"1200 B\"; };\nrun: { end = \"20 us\"; };\n";
    run_format(&a, text, more, "switches");
    run_format(&b, text, more, "source");
    assert_true(run_int(&a, "packets_delivered") > 1000);
    json_t *x = json_object_get(a.summary, "result"), *y = json_object_get(b.summary, "result");
    if (!json_equal(x, y))
        fail_msg("%s: results differ", more);
    run_release(&a);
    run_release(&b);
}

static void test_same_results(void **state)
{
    compare("kind = \"torus\"; extents = [4, 4]; }; routing: { algorithm = \"minimal\";");
    compare("kind = \"torus\"; extents = [4, 4]; }; routing: { algorithm = \"valiant\";");
    compare("kind = \"fat_tree\"; down = [4, 4]; up = [1, 3]; }; routing: { algorithm = \"random\";");
    compare("kind = \"fat_tree\"; down = [4, 4]; up = [1, 3]; }; routing: { algorithm = \"adaptive\"; "
            "selection = \"destination\";");
    compare("kind = \"fat_tree\"; down = [4, 4]; up = [1, 3]; }; routing: { algorithm = \"adaptive\"; "
            "selection = \"flow\";");
    compare("kind = \"hierarchical\"; groups = [4, 5]; nodes_per_switch = 2; }; routing: { algorithm = "
            "\"ugal\"; selection = \"random\";");
    compare("kind = \"hierarchical\"; groups = [4, 5]; nodes_per_switch = 2; }; routing: { algorithm = "
            "\"par\"; selection = \"random\";");
}

/* A line of 5 switches, one packet of 100 bytes and 20 of header from end to end, 1 GB/s (1 ns per byte),
 * links and switches of 50 ns. With 4 bytes for each of the 5 switches there are 140 bytes on the wire. The
 * head crosses 6 links and 5 switches, 550 ns, and the tail is 140 ns behind it. What is delivered is the
 * payload. */
static void test_exact_time(void **state)
{
    struct run r;
    run_init(&r);
    for (int hop_bytes = 0; hop_bytes <= 8; hop_bytes += 4) {
        run_format(
            &r,
            "topology: { kind = \"torus\"; extents = [5]; wrap = false; bandwidth = \"1 GB/s\"; latency = "
            "\"50 ns\"; };\n"
            "routing: { decided = \"source\"; hop_bytes = \"%d B\"; };\n"
            "adapter: { header = \"20 B\"; packet_size = \"256 B\"; };\nswitch: { delay = \"50 ns\"; };\n"
            "traffic: { pattern = \"incast\"; first_node = 0; last_node = 4; target = 4; senders = 1; "
            "messages = 1;"
            " load = 0.01; size = \"100 B\"; };\n",
            hop_bytes);
        assert_int_equal(run_int(&r, "packets_delivered"), 1);
        assert_int_equal(run_int(&r, "hops.max"), 6);
        assert_int_equal(run_int(&r, "packet_latency_ps.max"), 550000 + (120 + 5 * hop_bytes) * 1000);
        assert_int_equal(run_int(&r, "bytes_delivered"), 100);
    }
    run_release(&r);
}

/* A message of several packets via random switches, each packet with a header of its own length,
 * arrives whole. */
static void test_whole_messages(void **state)
{
    struct run r;
    run_init(&r);
    run_go(
        &r,
        "topology: { kind = \"torus\"; extents = [4, 4]; bandwidth = \"10 GB/s\"; latency = \"50 ns\"; };\n"
        "routing: { algorithm = \"valiant\"; decided = \"source\"; hop_bytes = \"3 B\"; };\n"
        "adapter: { packet_size = \"256 B\"; };\n"
        "traffic: { pattern = \"uniform\"; load = 0.3; size = \"1000 B\"; messages = 50; };\n");
    assert_int_equal(run_int(&r, "messages_delivered"), 16 * 50);
    assert_int_equal(run_int(&r, "packets_delivered"), 16 * 50 * 4);
    assert_int_equal(run_int(&r, "bytes_delivered"), 16 * 50 * 1000);
    run_release(&r);
}

/* What was in transit to a link when that went down keeps to its path and is lost; what is sent later goes
 * around. Decided by the switches, nothing is lost. */
static void test_faults(void **state)
{
    static const char *const decided[] = {"switches", "source"};
    for (int i = 0; i < 2; i++) {
        struct run r;
        run_init(&r);
        run_format(&r,
                   "topology: { kind = \"torus\"; extents = [4, 4]; bandwidth = \"10 GB/s\"; latency = \"500 "
                   "ns\"; };\n"
                   "routing: { decided = \"%s\"; };\nadapter: { packet_size = \"256 B\"; };\n"
                   "faults: { list = ( { link = [0, 1]; at = \"10 us\"; }, { link = [5, 9]; at = \"12 us\"; "
                   "} ); };\n"
                   "traffic: { pattern = \"uniform\"; load = 0.5; size = \"256 B\"; messages = 200; };\n",
                   decided[i]);
        int64_t delivered = run_int(&r, "packets_delivered"), lost = 16 * 200 - delivered;
        if (i == 0)
            assert_int_equal(lost, 0);
        else
            assert_in_range(lost, 1, 200);
        run_release(&r);
    }
}

/* The refusal's text has these words. */
static void refused(const char *more, const char *words)
{
    char command[1024], line[1024] = "";
    struct run r;
    run_init(&r);
    run_write(
        &r, "test.cfg",
        "topology: { kind = \"torus\"; extents = [4, 4]; bandwidth = \"10 GB/s\"; latency = \"50 ns\"; };\n"
        "traffic: { pattern = \"uniform\"; load = 0.1; size = \"256 B\"; };\nrun: { end = \"1 us\"; };\n");
    snprintf(command, sizeof command, "'%s' --quiet -o %s/out %s/test.cfg %s 2>&1", getenv("MARSSIM"),
             r.folder, r.folder, more);
    FILE *in = popen(command, "r");
    assert_non_null(in);
    if (!fgets(line, sizeof line, in))
        line[0] = '\0';
    int status = pclose(in);
    if (!strstr(line, words) || status != 2 << 8)
        fail_msg("%s: status %d, %s", more, status, line);
    run_release(&r);
}

static void test_refusals(void **state)
{
    refused("routing.hop_bytes=2B", "means nothing with routing.decided = \"switches\"");
    refused("routing.decided=source routing.algorithm=adaptive", "chooses by the state of the switches");
    refused("routing.decided=source routing.algorithm=adaptive routing.selection=round_robin",
            "chooses by the state of the switches");
    refused("routing.decided=source routing.algorithm=adaptive routing.selection=random",
            "only when there is room behind them");
    refused("routing.decided=source routing.hop_bytes=16B switch.buffer=6KiB",
            "routing.hop_bytes for up to 255 switches");
    refused("routing.decided=source routing.hop_bytes=16B adapter.packet_size=63000B switch.buffer=1MiB",
            "at most 65535");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_results),   cmocka_unit_test(test_exact_time),
        cmocka_unit_test(test_whole_messages), cmocka_unit_test(test_faults),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
