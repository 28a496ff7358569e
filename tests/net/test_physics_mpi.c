/* test_physics_mpi.c - MPI messages by hand, to the picosecond: ping-pong eager and rendezvous, one step of a
 * stencil.
 *
 * All on a star of 10 GB/s links, 7 ns each, switch delay 50 ns, packets of at most 1,000 bytes of payload
 * and 24 of header, no overheads of the processor unless said. A message of one packet of b bytes on the wire
 * takes T(b) = 7 + 50 + 7 ns + b / (10 bytes per ns); k full packets before the last add k x 102.4 ns (the
 * injection link sends them back to back, and all links are alike).
 */
#include "kernel/base/random.h"
#include "tests/run_marssim.h"

static const char machine[] =
    "topology: { kind = \"star\"; nodes = 32; bandwidth = \"10 GB/s\"; latency = \"7 ns\"; };\n"
    "switch: { channels = 4; delay = \"50 ns\"; };\n"
    "adapter: { packet_size = \"1000 B\"; header = \"24 B\"; };\n";

enum {
    EMPTY_PS = 64000 + 2400,              /* T(24): RTS, CTS */
    FULL_PS = 64000 + 102400,             /* T(1,024) */
    LONG_PS = 2 * 102400 + 64000 + 52400, /* 2,500 bytes: 1,024 + 1,024 + 524 */
};

/* A trace as liballprof writes it, without any time between calls: `rounds` round trips of `bytes`. */
static void trace_write(struct run *r, int rank, int rounds, int bytes)
{
    char name[64], text[8192];
    int n = snprintf(text, sizeof text,
                     "# htor's PMPI Tracer 1.0 Output File\nMPI_Init:-:1:2:0\nMPI_Comm_rank:0:9,%d,2:5:0\n"
                     "MPI_Comm_size:0:9,%d,2:6:0\n",
                     rank, rank);
    for (int i = 0; i < 2 * rounds; i++) {
        bool send = i % 2 == rank;
        n += snprintf(text + n, sizeof text - (size_t)n, "MPI_%s:0:1000:%d:1,1,1:%d:1:9,%d,2:%s0\n",
                      send ? "Send" : "Recv", bytes, 1 - rank, rank, send ? "" : "2000:");
    }
    snprintf(text + n, sizeof text - (size_t)n, "MPI_Finalize:0:-\n");
    snprintf(name, sizeof name, "pmpi-trace-rank-%d.txt", rank);
    run_write(r, name, text);
}

static int64_t finish_of(const struct run *r)
{
    json_t *job = json_array_get(run_value(r, "jobs"), 0);
    assert_true(json_is_integer(json_object_get(job, "finish_ps")));
    return json_integer_value(json_object_get(job, "finish_ps"));
}

static int64_t ping_pong(int rounds, int bytes, const char *settings)
{
    struct run r;
    run_init(&r);
    trace_write(&r, 0, rounds, bytes);
    trace_write(&r, 1, rounds, bytes);
    run_format(&r, "%s%s\njobs: ( { program = \"trace\"; trace = \".\"; } );\n", machine, settings);
    int64_t finish_ps = finish_of(&r);
    run_release(&r);
    return finish_ps;
}

/* Five round trips are ten messages one after the other; the last receiver ends when the last message is
 * here. */
static void ping_pong_eager(void **state)
{
    assert_int_equal(ping_pong(5, 1000, ""), 10 * FULL_PS);
    assert_int_equal(ping_pong(5, 0, ""), 10 * EMPTY_PS);
    assert_int_equal(ping_pong(5, 2500, ""), 10 * LONG_PS);
}

/* Above the limit: a request, an answer (the receive is posted already), then the data: two headers and a
 * message. Read: each of the nine requests after the first leaves behind the FIN of the message before (2.4
 * ns), and the last sender waits for its FIN. */
static void ping_pong_rendezvous(void **state)
{
    const char *write = "mpi: { eager_limit = \"999 B\"; rendezvous = \"write\"; };",
               *read = "mpi: { eager_limit = \"999 B\"; };";
    assert_int_equal(ping_pong(5, 1000, write), 10 * (2 * EMPTY_PS + FULL_PS));
    assert_int_equal(ping_pong(5, 2500, write), 10 * (2 * EMPTY_PS + LONG_PS));
    assert_int_equal(ping_pong(5, 999, write), 10 * (64000 + 102300));
    assert_int_equal(ping_pong(5, 1000, read), 10 * (2 * EMPTY_PS + FULL_PS) + 9 * 2400 + EMPTY_PS);
    assert_int_equal(ping_pong(5, 2500, read), 10 * (2 * EMPTY_PS + LONG_PS) + 9 * 2400 + EMPTY_PS);
}

/* Overheads o_s before each send and o_r after each receive are processor time in the chain: each of the ten
 * messages costs o_s + T + o_r. The doorbell delays what goes out, RTS, but not the adapter's own answers. */
static void ping_pong_overheads(void **state)
{
    assert_int_equal(
        ping_pong(5, 1000, "node: { send_overhead = \"300 ns\"; receive_overhead = \"200 ns\"; };"),
        10 * (300000 + FULL_PS + 200000));
    assert_int_equal(ping_pong(5, 1000, "node: { doorbell = \"40 ns\"; };"), 10 * (40000 + FULL_PS));
    assert_int_equal(
        ping_pong(
            5, 1000,
            "mpi: { eager_limit = \"0 B\"; rendezvous = \"write\"; };\nnode: { doorbell = \"40 ns\"; };"),
        10 * (40000 + 2 * EMPTY_PS + FULL_PS));
}

/* Tasks 0 and 1: Isend and Irecv of 1,000 bytes at time 0, this many microseconds of computation, Wait. */
static int64_t overlap(int sender_us, int receiver_us, const char *settings)
{
    struct run r;
    run_init(&r);
    for (int rank = 0; rank < 2; rank++) {
        char name[64], text[1024];
        int us = rank ? receiver_us : sender_us;
        snprintf(text, sizeof text,
                 "# htor's PMPI Tracer 1.0 Output File\nMPI_Init:-:1:2:0\nMPI_Comm_rank:0:9,%d,2:5:0\n"
                 "MPI_Comm_size:0:9,%d,2:6:0\nMPI_I%s:0:1000:1000:1,1,1:%d:1:9,%d,2:4000:0\n"
                 "MPI_Wait:%d:4000:5000:%d\nMPI_Finalize:%d:-\n",
                 rank, rank, rank ? "recv" : "send", 1 - rank, rank, us, us, us);
        snprintf(name, sizeof name, "pmpi-trace-rank-%d.txt", rank);
        run_write(&r, name, text);
    }
    run_format(&r, "%s%s\njobs: ( { program = \"trace\"; trace = \".\"; } );\n", machine, settings);
    int64_t finish_ps = finish_of(&r);
    run_release(&r);
    return finish_ps;
}

#define PROGRESS(rendezvous, progress)                                                                       \
    "mpi: { eager_limit = \"999 B\"; rendezvous = \"" rendezvous "\"; progress = \"" progress "\"; };"

/* A rendezvous during computations of 10 us (or more on one side) that the message would fit into many times.
 * The adapter: it is over long before them. Calls: the receiver's Wait finds the RTS at 10 us. Read: READ,
 * served by the sender's adapter, the data, and FIN, which the sender waits for. Write: CTS and the data, if
 * the sender is in its Wait by then; else the data leave when it comes to it. A thread at the receiver acts
 * on the RTS and on the data, at the sender (write) on the CTS: 300 ns each, which the computation is over
 * later. */
static void progress_of_a_rendezvous(void **state)
{
    const int64_t us = 1000000;
    assert_int_equal(overlap(10, 10, PROGRESS("read", "adapter")), 10 * us);
    assert_int_equal(overlap(10, 10, PROGRESS("write", "adapter")), 10 * us);
    assert_int_equal(overlap(10, 10, PROGRESS("read", "calls")), 10 * us + EMPTY_PS + FULL_PS + EMPTY_PS);
    assert_int_equal(overlap(30, 10, PROGRESS("read", "calls")), 30 * us);
    assert_int_equal(overlap(10, 10, PROGRESS("write", "calls")), 10 * us + EMPTY_PS + FULL_PS);
    assert_int_equal(overlap(30, 10, PROGRESS("write", "calls")), 30 * us + FULL_PS);
    assert_int_equal(overlap(10, 30, PROGRESS("write", "calls")), 30 * us + EMPTY_PS + FULL_PS);
    const char *read =
                   "mpi: { eager_limit = \"999 B\"; progress = \"thread\"; progress_cost = \"300 ns\"; };",
               *write = "mpi: { eager_limit = \"999 B\"; rendezvous = \"write\"; progress = \"thread\"; "
                        "progress_cost = \"300 ns\"; };";
    assert_int_equal(overlap(10, 10, read), 10 * us + 2 * 300000);
    assert_int_equal(overlap(20, 10, read), 20 * us);
    assert_int_equal(overlap(20, 10, write), 20 * us + 300000);
}

static int64_t stencil(const char *extents, int steps, const char *job, const char *settings)
{
    struct run r;
    run_init(&r);
    run_format(
        &r,
        "%s%s\njobs: ( { program = \"stencil\"; extents = [%s]; bytes = \"1000 B\"; steps = %d; %s } );\n",
        machine, settings, extents, steps, job);
    int64_t finish_ps = finish_of(&r);
    run_release(&r);
    return finish_ps;
}

/* Two tasks, open line: each sends one message and waits for one; both at once, every link has one packet per
 * direction. Steps follow each other; computation is added to each. */
static void stencil_of_two(void **state)
{
    assert_int_equal(stencil("2", 1, "periodic = false;", ""), FULL_PS);
    assert_int_equal(stencil("2", 3, "periodic = false; compute_time = \"1 us\";", ""),
                     3 * (FULL_PS + 1000000));
}

/* A ring of four on a star: each task injects two packets back to back, 102.4 ns apart. Each is sent two, one
 * from each side: task t sends to t-1 first, so at time 0 every task is sent one first packet (by t+1) and
 * 102.4 ns later one second packet (by t-1). Nothing collides at the ejection links: the step takes 102.4 ns
 * + T. */
static void stencil_ring(void **state)
{
    assert_int_equal(stencil("4", 1, "", ""), 102400 + FULL_PS);
    assert_int_equal(stencil("4", 3, "", ""), 3 * (102400 + FULL_PS));
}

/* Rendezvous in the ring of four. Two RTS (24 bytes, 2.4 ns) leave each task back to back and arrive at 66.4
 * and 68.8 ns. Each is answered by a CTS at once (the receives are posted); they are back at 132.8 and 135.2
 * ns. The first data leave at 132.8, the second when the link is free, 102.4 later: the last byte is there at
 * 132.8 + 102.4 + T(1,024). Read: the answers are READ, and the sender of that message waits for its FIN. */
static void stencil_ring_rendezvous(void **state)
{
    const char *write = "mpi: { eager_limit = \"0 B\"; rendezvous = \"write\"; };",
               *read = "mpi: { eager_limit = \"0 B\"; };";
    assert_int_equal(stencil("4", 1, "", write), 2 * EMPTY_PS + 102400 + FULL_PS);
    assert_int_equal(stencil("4", 1, "", read), 2 * EMPTY_PS + 102400 + FULL_PS + EMPTY_PS);
}

/* 3x3x3 torus, six faces: six packets in one go; direction by direction everyone receives exactly one packet
 * per time slot. 5 x 102.4 ns + T. */
static void stencil_three_dimensions(void **state)
{
    assert_int_equal(stencil("3, 3, 3", 1, "", ""), 5 * 102400 + FULL_PS);
}

/* One task that computes 1 us in each of 4 steps, with a jitter of up to 300 ns: a draw of 64 bits each, by
 * seed, task and number, mapped to 0..300,000 ps. The second job's are others, and so are another seed's;
 * without compute_time the jitter remains. */
static void jitter_by_hand(void **state)
{
    struct run r;
    run_init(&r);
    for (uint64_t seed = 1; seed <= 2; seed++) {
        run_format(&r,
                   "%sjobs: ( { program = \"stencil\"; extents = [1]; steps = 4; compute_time = \"1 us\"; "
                   "compute_jitter = \"300 ns\"; },\n"
                   "{ program = \"stencil\"; extents = [1]; steps = 4; first_node = 1; compute_jitter = "
                   "\"300 ns\"; } );\n"
                   "run: { seed = %d; };\n",
                   machine, (int)seed);
        for (uint64_t job = 0; job < 2; job++) {
            int64_t expected = job == 0 ? 4 * 1000000 : 0;
            for (uint64_t i = 0; i < 4; i++) {
                struct ker_bits bits = ker_random_bits(seed, KER_PURPOSE_JITTER, 0, job << 32 | i);
                uint64_t draw = (uint64_t)bits.word[0] << 32 | bits.word[1];
                expected += (int64_t)((unsigned __int128)draw * 300001 >> 64);
            }
            json_t *finish = json_object_get(json_array_get(run_value(&r, "jobs"), job), "finish_ps");
            assert_int_equal(json_integer_value(finish), expected);
        }
    }
    run_release(&r);
}

/* A trace's computations have a jitter where they last at least as long: the 10 us before the barrier one of
 * 10 us, none of 10001 ns. */
static void jitter_of_a_trace(void **state)
{
    struct run r;
    int64_t finish[3];
    run_init(&r);
    run_write(&r, "pmpi-trace-rank-0.txt",
              "# htor's PMPI Tracer 1.0 Output File\nMPI_Init:-:1:1:0\nMPI_Comm_rank:5:9,0,1:5:5\n"
              "MPI_Barrier:10:9,0,1:10\nMPI_Finalize:10:-\n");
    static const char *const jitter[] = {"0 ns", "10 us", "10001 ns"};
    for (int i = 0; i < 3; i++) {
        run_format(&r, "%sjobs: ( { program = \"trace\"; trace = \".\"; compute_jitter = \"%s\"; } );\n",
                   machine, jitter[i]);
        finish[i] = finish_of(&r);
    }
    assert_int_equal(finish[0], finish[2]);
    assert_true(finish[1] > finish[0] && finish[1] <= finish[0] + 10000000);
    run_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ping_pong_eager),         cmocka_unit_test(ping_pong_rendezvous),
        cmocka_unit_test(ping_pong_overheads),     cmocka_unit_test(progress_of_a_rendezvous),
        cmocka_unit_test(stencil_of_two),          cmocka_unit_test(stencil_ring),
        cmocka_unit_test(stencil_ring_rendezvous), cmocka_unit_test(stencil_three_dimensions),
        cmocka_unit_test(jitter_by_hand),          cmocka_unit_test(jitter_of_a_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
