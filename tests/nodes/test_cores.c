/* test_cores.c - computations that share a node's cores and memory, to the picosecond, derived by hand.
 *
 * Each task is a job of its own that computes once: T on the traced machine, drawing b from memory when
 * alone.
 */
#include "tests/run_marssim.h"

#define MACHINE                                                                                              \
    "topology = { kind = \"star\"; nodes = 2; bandwidth = \"10 GB/s\"; latency = \"100 ns\"; };\n"           \
    "node = { cores = 4; %s };\n"

struct task {
    const char *time, *draws, *start, *more;
};

/* When each of the jobs ended; ends with a time NULL. */
static void finish(const char *node, const struct task *task, int64_t *at)
{
    char text[4096];
    int length = snprintf(text, sizeof text, MACHINE "jobs = (", node), count = 0;
    for (; task[count].time; count++)
        length += snprintf(
            text + length, sizeof text - (size_t)length,
            "%s{ program = \"stencil\"; extents = [1]; steps = 1; share = true; compute_time = \"%s\"; "
            "start = \"%s\"; %s%s%s %s }",
            count ? ",\n" : " ", task[count].time, task[count].start ? task[count].start : "0 ns",
            task[count].draws ? "memory_bandwidth = \"" : "", task[count].draws ? task[count].draws : "",
            task[count].draws ? "\";" : "", task[count].more ? task[count].more : "");
    snprintf(text + length, sizeof text - (size_t)length, " );\n");
    struct run r;
    run_init(&r);
    run_go(&r, text);
    for (int i = 0; i < count; i++)
        at[i] = json_integer_value(
            json_object_get(json_array_get(run_value(&r, "jobs"), (size_t)i), "finish_ps"));
    run_release(&r);
}

#define CONTROLLER "controller_bandwidth = \"30 GB/s\";"

/* Alone 20 GB/s of 30 are there: 1 us. Two have 15 each: 20,000 bytes take 1.333333... us, rounded up. On the
 * other node nobody is slowed. Without memory nobody is either. */
static void two_on_one_controller(void **state)
{
    int64_t at[4];
    finish(CONTROLLER, (struct task[]){{"1 us", "20 GB/s"}, {0}}, at);
    assert_int_equal(at[0], 1000000);
    finish(CONTROLLER,
           (struct task[]){{"1 us", "20 GB/s"},
                           {"1 us", "20 GB/s"},
                           {"1 us", "20 GB/s", .more = "first_node = 1;"},
                           {"1 us"},
                           {0}},
           at);
    assert_int_equal(at[0], 1333334);
    assert_int_equal(at[1], 1333334);
    assert_int_equal(at[2], 1000000);
    assert_int_equal(at[3], 1000000);
}

/* A moves 30 kB and wants 30 GB/s, B 20 kB and 20, from 0.5 us on; C 5 kB and 5, from 1 us on.
 *   0.0 to 0.5: A 30: 15 kB are left.
 *   0.5 to 1.0: A and B 15 each: A has 7.5 kB left, B 12.5.
 *   1.0 to 1.6: C has 5, A and B 12.5 each: A ends after 0.6 us. B has 5 kB left, C 2.
 *   from 1.6: B 20, and ends after 0.25 us, at 1.85, when its computing has long ended; C has had all it
 *   wanted and ends at 2.0. */
static void three_at_different_times(void **state)
{
    int64_t at[3];
    finish(
        CONTROLLER,
        (struct task[]){{"1 us", "30 GB/s"}, {"1 us", "20 GB/s", "500 ns"}, {"1 us", "5 GB/s", "1 us"}, {0}},
        at);
    assert_int_equal(at[0], 1600000);
    assert_int_equal(at[1], 1850000);
    assert_int_equal(at[2], 2000000);
}

/* Two domains, each with its controller: cores 0 and 1, 2 and 3. The first three tasks take cores 0, 1, 2. */
static void two_domains(void **state)
{
    int64_t at[3];
    finish(CONTROLLER "domains = 2;",
           (struct task[]){{"1 us", "20 GB/s"}, {"1 us", "20 GB/s"}, {"1 us", "20 GB/s"}, {0}}, at);
    assert_int_equal(at[0], 1333334);
    assert_int_equal(at[1], 1333334);
    assert_int_equal(at[2], 1000000);
}

/* A core that draws 10 GB/s at most needs 2 us for 20 kB. A processor twice as fast needs 0.5 us, and draws
 * 40 GB/s, of which there are 30: 0.666667 us. One that is infinitely fast takes no time. */
static void what_a_core_draws(void **state)
{
    int64_t at[1];
    finish("core_bandwidth = \"10 GB/s\";", (struct task[]){{"1 us", "20 GB/s"}, {0}}, at);
    assert_int_equal(at[0], 2000000);
    finish(CONTROLLER, (struct task[]){{"1 us", "20 GB/s", .more = "processor_factor = 0.5;"}, {0}}, at);
    assert_int_equal(at[0], 666667);
    finish(CONTROLLER, (struct task[]){{"1 us", "20 GB/s", .more = "processor_factor = 0.0;"}, {0}}, at);
    assert_int_equal(at[0], 0);
}

/* 20 kB in 1 us, with a factor of each part:
 *   memory 2: 40 kB at 30 GB/s, 1.333333... us, rounded up.
 *   memory 0.5: 10 kB are there before computing has ended, 1 us; with processor 0.25, they need 40 GB/s and
 *   have 30: 0.333333... us.
 *   memory 0: only computing is left, at any bandwidth.
 *   processor 0, memory 1: 20 kB at 30 GB/s, 0.666666... us; two at a time have 15 each.
 *   processor so small that nothing of 1 us is left: the same.
 * 10^6 s of computing that is infinitely fast move 2 x 10^16 bytes in 666,666.6... s. */
static void factors_of_both_parts(void **state)
{
    static const struct {
        const char *factors;
        int64_t end;
    } of[] = {{"memory_factor = 2.0;", 1333334},
              {"memory_factor = 0.5;", 1000000},
              {"memory_factor = 0.5; processor_factor = 0.25;", 333334},
              {"memory_factor = 0.0; processor_factor = 0.25;", 250000},
              {"memory_factor = 1.0; processor_factor = 0.0;", 666667},
              {"processor_factor = 1e-9;", 666667},
              {"memory_factor = 0.0; processor_factor = 0.0;", 0}};
    int64_t at[2];
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        finish(CONTROLLER, (struct task[]){{"1 us", "20 GB/s", .more = of[i].factors}, {0}}, at);
        assert_int_equal(at[0], of[i].end);
    }
    const struct task infinite = {"1 us", "20 GB/s", .more = "memory_factor = 1.0; processor_factor = 0.0;"};
    finish(CONTROLLER, (struct task[]){infinite, infinite, {0}}, at);
    assert_int_equal(at[0], 1333334);
    assert_int_equal(at[1], 1333334);
    finish(CONTROLLER,
           (struct task[]){{"1000000 s", "20 GB/s", .more = "memory_factor = 1.0; processor_factor = 0.0;"},
                           {0}},
           at);
    assert_int_equal(at[0], 666666666666666667);
}

/* Cores 0 and 1 at half the speed, 2 and 3 at one and a half: 1 us takes 2, 2/3 (rounded up). The slow ones
 * draw 10 GB/s each in place of 20. */
static void cores_of_two_speeds(void **state)
{
    int64_t at[4];
    finish("core_speeds = [0.5, 1.5];", (struct task[]){{"1 us"}, {"1 us"}, {"1 us"}, {"3 us"}, {0}}, at);
    assert_int_equal(at[0], 2000000);
    assert_int_equal(at[2], 666667);
    assert_int_equal(at[3], 2000000);
    finish("controller_bandwidth = \"20 GB/s\"; core_speeds = [0.5, 1.5];",
           (struct task[]){{"1 us", "20 GB/s"}, {"1 us", "20 GB/s"}, {0}}, at);
    assert_int_equal(at[0], 2000000);
    assert_int_equal(at[1], 2000000);
}

/* Four cores of two threads that together do 1.25 times what one does; 5 tasks: the first and the fifth share
 * core 0. From 0.5 us on each continues at 0.625: the first has 0.5 us left, which take 0.8 us; the fifth has
 * then done 0.5 of its 1.0 us, and has the core alone for the rest: 0.5 + 0.8 + 0.5 us. */
static void hardware_threads(void **state)
{
    int64_t at[5];
    finish("threads = 2; thread_throughput = 1.25;",
           (struct task[]){{"1 us"}, {"1 us"}, {"1 us"}, {"1 us"}, {"1 us", .start = "500 ns"}, {0}}, at);
    assert_int_equal(at[0], 1300000);
    assert_int_equal(at[1], 1000000);
    assert_int_equal(at[4], 1800000);
}

/* Two tasks, each on a core, send 8,000 bytes to and fro; and, where it has a time, one computes beside them.
 */
#define PING_PONG                                                                                            \
    "topology = { kind = \"star\"; nodes = 2; bandwidth = \"10 GB/s\"; latency = \"100 ns\"; };\n"           \
    "node = { memory_latency = \"200 ns\"; memory_bandwidth = \"10 GB/s\"; %s };\n"                          \
    "jobs = ( { program = \"pingpong\"; bytes = \"8 kB\"; steps = 1; share = true; tasks_per_node = 2; } "   \
    "%s );\n"
static void ping_pong(const char *node, const char *more, int64_t *at)
{
    struct run r;
    run_init(&r);
    run_format(&r, PING_PONG, node, more);
    for (size_t i = 0; i < 2; i++)
        at[i] = json_integer_value(json_object_get(json_array_get(run_value(&r, "jobs"), i), "finish_ps"));
    run_release(&r);
}
static int64_t there_and_back(const char *node)
{
    int64_t at[2];
    ping_pong(node, "", at);
    return at[0];
}

/* A copy by itself moves 10 GB/s: 8 kB take 0.8 us, and 0.2 before. It reads and writes: of a controller of
 * 30 GB/s it takes 20. One of 10 has 5 for each: 1.6 us. Twice copied it is 1.6 us with 30. */
static void copies_in_one_domain(void **state)
{
    assert_int_equal(there_and_back("cores = 2; controller_bandwidth = \"30 GB/s\";"), 2 * 1000000);
    assert_int_equal(there_and_back("cores = 2; controller_bandwidth = \"10 GB/s\";"), 2 * 1800000);
    assert_int_equal(there_and_back("cores = 2; single_copy_size = \"8001 B\";"), 2 * 1800000);
    assert_int_equal(there_and_back("cores = 2; single_copy_size = \"8000 B\";"), 2 * 1000000);
}

#define SOCKETS "cores = 2; sockets = 2; controller_bandwidth = \"16 GB/s\"; socket_latency = \"50 ns\"; "
/* Between two sockets a single copy reads at one controller and writes at the other: 10 GB/s, unless the link
 * has 8: 1 us. Double: the first copy stays in the sender's domain, whose controller has 8 for it, 1 us; the
 * second goes over the link. */
static void copies_between_sockets(void **state)
{
    assert_int_equal(there_and_back(SOCKETS), 2 * (250000 + 800000));
    assert_int_equal(there_and_back(SOCKETS "socket_bandwidth = \"8 GB/s\";"), 2 * (250000 + 1000000));
    assert_int_equal(
        there_and_back(SOCKETS "socket_bandwidth = \"8 GB/s\"; single_copy_latency = \"30 ns\";"),
        2 * (280000 + 1000000));
    assert_int_equal(there_and_back(SOCKETS "socket_bandwidth = \"8 GB/s\"; single_copy_latency = \"30 ns\"; "
                                            "single_copy_size = \"1 MB\";"),
                     2 * (250000 + 1000000 + 1000000));
    assert_int_equal(there_and_back("cores = 4; domains = 4; sockets = 2; domain_latency = \"70 ns\";"),
                     2 * (270000 + 800000));
}

/* Beside a computation of 20 kB in 1 us. With 30 GB/s the copy has its 10, which takes 20, and the
 * computation 10: to 0.2 us 4 kB at 20 GB/s; to 1.0 us 8 kB at 10; to 1.2 us, while the answer waits, 4 kB; 4
 * kB more in 0.4 us. With 24 GB/s both have 8 (24 / 3), and the copy takes 1 us: to 0.2 us 4 kB; to 1.2 us 8
 * kB; to 1.4 us 4 kB; the last 4 kB at 8 GB/s in 0.5 us, at 1.9 us. The answer has 4 kB left then, at 10
 * GB/s. */
static void copy_against_computation(void **state)
{
    static const char beside[] =
        ", { program = \"stencil\"; extents = [1]; steps = 1; share = true; compute_time = \"1 us\"; "
        "memory_bandwidth = \"20 GB/s\"; }";
    int64_t at[2];
    ping_pong("cores = 3; controller_bandwidth = \"30 GB/s\";", beside, at);
    assert_int_equal(at[0], 2000000);
    assert_int_equal(at[1], 1600000);
    ping_pong("cores = 3; controller_bandwidth = \"24 GB/s\";", beside, at);
    assert_int_equal(at[0], 2300000);
    assert_int_equal(at[1], 1900000);
}

/* When a pingpong of 100 kB between two nodes has ended, with these keys of node and of mpi. */
static int64_t pingpong(const char *node, const char *mpi, int64_t *moved)
{
    char text[1024];
    struct run r;
    run_init(&r);
    snprintf(text, sizeof text,
             MACHINE "mpi: { eager_limit = \"1 MB\"; eager_completion = \"buffered\"; %s };\n"
                     "jobs = ( { program = \"pingpong\"; tasks = 2; bytes = [100000]; steps = 1; } );\n",
             node, mpi);
    run_go(&r, text);
    const json_t *inside = json_object_get(json_object_get(r.summary, "result"), "node");
    *moved =
        inside ? json_integer_value(json_object_get(json_object_get(inside, "controllers"), "bytes")) : 0;
    int64_t at = json_integer_value(run_value(&r, "simulated_time_ps"));
    run_release(&r);
    return at;
}

/* A buffered send copies 100 kB at 10 GB/s, 10 us, which reads and writes 200 kB: of 12 GB/s that takes
 * 16.666666... us. One in each direction. */
static void buffered_copies(void **state)
{
    int64_t moved, usual = pingpong("", "", &moved);
    assert_int_equal(pingpong("", "copies = \"buffered\";", &moved), usual + 2 * 10000000);
    assert_int_equal(pingpong(CONTROLLER, "copies = \"buffered\";", &moved), usual + 2 * 10000000);
    assert_int_equal(moved, 2 * 200000);
    assert_int_equal(pingpong("controller_bandwidth = \"12 GB/s\";", "copies = \"buffered\";", &moved),
                     usual + 2 * 16666667);
    assert_int_equal(moved, 2 * 200000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffered_copies),          cmocka_unit_test(two_on_one_controller),
        cmocka_unit_test(three_at_different_times), cmocka_unit_test(two_domains),
        cmocka_unit_test(what_a_core_draws),        cmocka_unit_test(factors_of_both_parts),
        cmocka_unit_test(cores_of_two_speeds),      cmocka_unit_test(hardware_threads),
        cmocka_unit_test(copies_in_one_domain),     cmocka_unit_test(copies_between_sockets),
        cmocka_unit_test(copy_against_computation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
