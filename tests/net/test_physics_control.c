/* test_physics_control.c - what control messages and priority classes wait for at an adapter, to the
 * picosecond.
 *
 * A star of two nodes, links of 12.5 GB/s and 100 ns, switch delay 50 ns, packets of at most 4,096 bytes of
 * payload and 32 of header. From an adapter's link to the other adapter a packet takes PATH = 100 + 50 + 100
 * ns beside its own bytes, a control message (32 bytes, C = 2.56 ns) L = 252.56 ns, a full packet occupies a
 * link for W = 330.24 ns. A message of 64 KiB is 16 of those: DATA = 16 W.
 */
#include "tests/run_marssim.h"

#define PATH_PS 250000
#define C_PS 2560
#define L_PS (PATH_PS + C_PS)
#define W_PS 330240
#define DATA_PS (16 * W_PS)

static const char machine[] =
    "topology: { kind = \"star\"; nodes = 2; bandwidth = \"12.5 GB/s\"; latency = \"100 ns\"; };\n";

/* A trace in which both tasks exchange 64 KiB (Irecv, Isend, Waitall), task 1 `skew_ns` later: traces count
 * microseconds, so computation is made a thousand times faster. */
static void trace_write(struct run *r, int rank, int skew_ns)
{
    char name[64], text[1024];
    int t = rank ? skew_ns : 0;
    snprintf(text, sizeof text,
             "# htor's PMPI Tracer 1.0 Output File\nMPI_Init:-:1:2:0\nMPI_Comm_rank:0:9,%d,2:5:0\n"
             "MPI_Irecv:%d:1000:65536:1,1,1:%d:0:9,%d,2:2000:%d\nMPI_Isend:%d:1000:65536:1,1,1:%d:0:9,%d,2:"
             "2008:%d\n"
             "MPI_Waitall:%d:2:2000:0:%d\nMPI_Finalize:%d:-\n",
             rank, t, 1 - rank, rank, t, t, 1 - rank, rank, t, t, t, t);
    snprintf(name, sizeof name, "pmpi-trace-rank-%d.txt", rank);
    run_write(r, name, text);
}

static int64_t job_finish(const struct run *r, size_t job)
{
    return json_integer_value(json_object_get(json_array_get(run_value(r, "jobs"), job), "finish_ps"));
}

static int64_t exchange(struct run *r, int skew_ns, const char *settings)
{
    trace_write(r, 0, skew_ns);
    trace_write(r, 1, skew_ns);
    run_format(r, "%s%s\njobs: ( { program = \"trace\"; trace = \".\"; processor_factor = 0.001; } );\n",
               machine, settings);
    return job_finish(r, 0);
}

#define WRITE "mpi: { rendezvous = \"write\"; };"
#define READ "mpi: { rendezvous = \"read\"; };"

/* Task 1 enters at d, later than the RTS of task 0 is there (L). At d it sends CTS, and its own RTS C later.
 * From d + L on task 0 sends data; the RTS comes at d + L + C, and its CTS leaves behind the packet that is
 * in transit: at d + L + W, arrives L later, and the data of task 1 take DATA + PATH. Both directions are
 * busy at the same time: with one queue in order the CTS would wait for all data. Task 0 sends RTS and CTS,
 * so does task 1; they wait 0, W - C and 0, C. */
static void skewed_write(void **state)
{
    struct run r;
    run_init(&r);
    int64_t d = 505000;
    assert_int_equal(exchange(&r, 505, WRITE), d + 2 * L_PS + W_PS + DATA_PS + PATH_PS);
    assert_int_equal(run_int(&r, "control_wait_ps.count"), 4);
    assert_int_equal(run_int(&r, "control_wait_ps.max"), W_PS - C_PS);
    assert_within(run_real(&r, "control_wait_ps.mean"), W_PS / 4.0, 1e-6);
    assert_int_equal(exchange(&r, 505, WRITE "adapter: { control = \"in_order\"; };"),
                     d + 2 * L_PS + 2 * DATA_PS + PATH_PS);
    assert_int_equal(run_int(&r, "control_wait_ps.max"), DATA_PS - C_PS);
    /* fair: a new flow gets its turn last, behind one more packet of data */
    assert_int_equal(exchange(&r, 505, WRITE "adapter: { control = \"fair\"; };"),
                     d + 2 * L_PS + 2 * W_PS + DATA_PS + PATH_PS);
    run_release(&r);
}

/* Read: READ in place of CTS, and the end is the FIN of the message that arrives last, L later: the sender of
 * data waits for it. The FIN of the other message goes between the packets of data, C more. Data that are
 * read are in no send queue, so READ need not wait for them in order either; nothing else is sent. */
static void skewed_read(void **state)
{
    static const char *const settings[] = {
        READ, "", READ "adapter: { control = \"in_order\"; queues = \"fifo\"; };",
        "adapter: { queues = \"fifo\"; };", "adapter: { scheduling = \"fifo\"; };"};
    struct run r;
    run_init(&r);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        int64_t more =
            i == 2 ? W_PS
                   : 0; /* in order the read and the send queue take turns, the new one last, as with fair */
        assert_int_equal(exchange(&r, 505, settings[i]),
                         505000 + 3 * L_PS + W_PS + C_PS + more + DATA_PS + PATH_PS);
    }
    /* RTS, READ and FIN, twice */
    assert_int_equal(run_int(&r, "control_wait_ps.count"), 6);
    run_release(&r);
}

/* One queue for all destinations, control apart or not; and a class of its own does what a queue of its own
 * does. */
static void other_queues(void **state)
{
    struct run r;
    run_init(&r);
    int64_t good = 505000 + 2 * L_PS + W_PS + DATA_PS + PATH_PS;
    assert_int_equal(exchange(&r, 505, WRITE "adapter: { queues = \"fifo\"; };"), good);
    assert_int_equal(exchange(&r, 505, WRITE "adapter: { queues = \"fifo\"; control = \"fair\"; };"),
                     good + W_PS);
    assert_int_equal(exchange(&r, 505, WRITE "adapter: { queues = \"fifo\"; control = \"in_order\"; };"),
                     good - W_PS + DATA_PS);
    assert_int_equal(exchange(&r, 505, WRITE "adapter: { scheduling = \"fifo\"; };"), good);
    assert_int_equal(exchange(&r, 505, WRITE "adapter: { scheduling = \"fifo\"; control = \"fair\"; };"),
                     good - W_PS + DATA_PS);
    assert_int_equal(
        exchange(&r, 505,
                 "mpi: { rendezvous = \"write\"; control_priority = 1; };\nswitch: { classes = 2; };\n"
                 "adapter: { control = \"in_order\"; };"),
        good);
    run_release(&r);
}

/* Nobody enters so late that the directions follow each other: beside the skew itself an exchange takes at
 * most one packet more than without (PATH + 2 L + DATA; read: + L, and C for a FIN), whatever the skew. In
 * order and written there is a cliff at L. */
static void no_cliff(void **state)
{
    struct run r;
    run_init(&r);
    for (int skew = 0; skew <= 1100; skew += skew > 230 && skew < 270 ? 3 : 37) {
        int64_t d = skew * 1000, least = d + 2 * L_PS + DATA_PS + PATH_PS;
        int64_t write = exchange(&r, skew, WRITE), read = exchange(&r, skew, READ);
        int64_t in_order = exchange(&r, skew, WRITE "adapter: { control = \"in_order\"; };");
        assert_true(write >= least && write <= least + W_PS);
        assert_true(read >= least + L_PS && read <= least + L_PS + W_PS + C_PS);
        if (skew > 256)
            assert_int_equal(in_order, least + DATA_PS);
    }
    run_release(&r);
}

/* The adapter hands up the messages of a source in the order of each class and queue: on a star, where
 * nothing overtakes but at the adapter, that changes nothing. Numbers over all of a pair's messages would
 * keep the CTS back until the data before it are there. */
static void resequenced(void **state)
{
    static const char *const control[] = {"first", "fair", "in_order"}, *const rendezvous[] = {"read",
                                                                                               "write"};
    struct run r;
    char settings[160];
    run_init(&r);
    for (int i = 0; i < 12; i++) {
        snprintf(settings, sizeof settings,
                 "adapter: { control = \"%s\"; resequence = false; };\nmpi: { rendezvous = \"%s\"; "
                 "control_priority = %d; };\n"
                 "switch: { classes = 2; };",
                 control[i % 3], rendezvous[i / 3 % 2], i / 6);
        int64_t plain = exchange(&r, 400, settings);
        char *word = strstr(settings, "false;");
        memcpy(word, "true; ", 6);
        assert_int_equal(exchange(&r, 400, settings), plain);
        assert_int_equal(run_int(&r, "resequencing.messages_held"), 0);
    }
    run_release(&r);
}

/* An 8-byte ping-pong of class 1 from 100 us on, behind a message of 10 MB and class 0 between the same
 * nodes, which takes 800 us. The data begin at 2 L and take W a packet: the first ping leaves with the next
 * packet's end after 100 us. A round trip takes 2 (PATH + 3.2 ns) = 506.4 ns; the ping after it is handed
 * over then, when the second packet of data since is in flight (3.2 + 2 W = 663.68 ns), and leaves behind
 * that. At the switch it follows that packet immediately, so that it waits nowhere else. Ten round trips, the
 * last one without a further wait. */
static void ping_pong_of_a_class(void **state)
{
    static const char *const adapter[] = {"", "adapter: { queues = \"fifo\"; };",
                                          "adapter: { scheduling = \"fifo\"; };",
                                          "adapter: { control = \"in_order\"; };"};
    const int64_t ping = 3200, first = 2 * L_PS + 302ll * W_PS, again = ping + 2 * W_PS,
                  last = 2 * (PATH_PS + ping);
    assert_true(first >= 100000000 && first - W_PS < 100000000);
    struct run r;
    run_init(&r);
    for (size_t i = 0; i < sizeof adapter / sizeof *adapter; i++) {
        run_format(&r,
                   "%s%s\nswitch: { classes = 2; };\nnode: { cores = 2; };\n"
                   "jobs: ( { program = \"pingpong\"; bytes = \"10 MB\"; share = true; steps = 1; },\n"
                   "        { program = \"pingpong\"; bytes = \"8 B\"; share = true; steps = 10; priority = "
                   "1; start = "
                   "\"100 us\"; } );\n",
                   machine, adapter[i]);
        assert_int_equal(job_finish(&r, 1), first + 9 * again + last);
    }
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skewed_write), cmocka_unit_test(skewed_read), cmocka_unit_test(other_queues),
        cmocka_unit_test(no_cliff),     cmocka_unit_test(resequenced), cmocka_unit_test(ping_pong_of_a_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
