/* test_mpi.c - the MPI model over a network made of a list of events (fake_net.h): what each call means and
 * costs.
 *
 * A message of n bytes leaves after (n + 32) x 40 ps and arrives 1 us later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"
#include "tests/tasks/task_rows.h"

#define WIRE(bytes) ((ker_time)((bytes) + 32) * 40)
#define HEADER WIRE(0) /* 1.28 ns */
#define END                                                                                                  \
    {                                                                                                        \
        .kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"                                                     \
    }
#define SEND(to, t, n)                                                                                       \
    {                                                                                                        \
        .kind = TASK_OP_SEND, .peer = to, .tag = t, .bytes = n, .call = "MPI_Send"                           \
    }
#define RECV(from, t, n)                                                                                     \
    {                                                                                                        \
        .kind = TASK_OP_RECV, .peer = from, .tag = t, .bytes = n, .call = "MPI_Recv", .line = 7              \
    }
#define ISEND(to, t, n, r)                                                                                   \
    {                                                                                                        \
        .kind = TASK_OP_ISEND, .peer = to, .tag = t, .bytes = n, .request = r, .call = "MPI_Isend"           \
    }
#define IRECV(from, t, n, r)                                                                                 \
    {                                                                                                        \
        .kind = TASK_OP_IRECV, .peer = from, .tag = t, .bytes = n, .request = r, .call = "MPI_Irecv"         \
    }
#define WAIT(r)                                                                                              \
    {                                                                                                        \
        .kind = TASK_OP_WAIT, .request = r, .call = "MPI_Wait"                                               \
    }
#define COMPUTE(t)                                                                                           \
    {                                                                                                        \
        .kind = TASK_OP_COMPUTE, .time = t                                                                   \
    }
#define LIST(k, list, n)                                                                                     \
    {                                                                                                        \
        .kind = k, .requests = list, .request_count = n, .call = "MPI_Waitall"                               \
    }

/* All requests, messages and collectives have been given back. */
static void assert_clean(const struct fake_net *net)
{
    assert_int_equal(task_mpi_unfinished(net->mpi), 0);
    assert_int_equal(net->mpi->request.live, 0);
    assert_int_equal(net->mpi->message.live, 0);
    assert_int_equal(net->mpi->run.live, 0);
    assert_int_equal(net->mpi->names.count, 0);
}

/* Eager: the send ends when the bytes have left, the receive when they are there. */
static void test_eager(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    const struct task_op a[] = {SEND(1, 5, 1000), END}, b[] = {RECV(0, 5, 1000), END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 0).finish, WIRE(1000));
    assert_int_equal(fake_row(&net, 0).send_wait, WIRE(1000));
    assert_int_equal(fake_row(&net, 1).finish, WIRE(1000) + KER_US);
    assert_int_equal(fake_row(&net, 1).wait, WIRE(1000) + KER_US);
    assert_int_equal(fake_row(&net, 1).bytes_received, 1000);
    assert_int_equal(net.sents, 1);
    assert_int_equal(net.touched, WIRE(1000) + KER_US);
    assert_clean(&net);
    fake_close(&net);
}

/* Rendezvous, the receiver computes 10 us first: RTS waits for it; then CTS, then the data. The sender is
 * done when these have left: 10 us + header + 1 us (CTS) + WIRE(n); the receiver 1 us later. Read: READ in
 * place of CTS, and the sender is done when FIN is there, a header and 1 us after the data. */
static void test_rendezvous(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        struct fake_net net;
        fake_open(&net, 2, 1, read ? "" : "mpi: { rendezvous = \"write\"; };");
        const struct task_op a[] = {SEND(1, 5, 8193), END},
                             b[] = {COMPUTE(10 * KER_US), RECV(0, 5, 8193), END};
        fake_play(&net, (const struct task_op *const[]){a, b});
        ker_time left = 10 * KER_US + HEADER + KER_US + WIRE(8193);
        assert_int_equal(fake_row(&net, 0).finish, read ? left + KER_US + HEADER + KER_US : left);
        assert_int_equal(fake_row(&net, 1).finish, left + KER_US);
        assert_int_equal(fake_row(&net, 1).compute, 10 * KER_US);
        assert_int_equal(fake_row(&net, 1).wait, left + KER_US - 10 * KER_US);
        assert_int_equal(net.sents, 3 + read);
        assert_int_equal(fake_row(&net, 0).messages_sent, 1);
        assert_clean(&net);
        fake_close(&net);
    }
}

/* A synchronous eager send ends with the ACK of the match at 10 us; a buffered rendezvous at once; both leave
 * nothing behind. */
static void test_modes(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    const struct task_op a[] = {
        {.kind = TASK_OP_SEND, .peer = 1, .tag = 1, .bytes = 8, .mode = TASK_MODE_SYNCHRONOUS},
        {.kind = TASK_OP_SEND, .peer = 1, .tag = 2, .bytes = 99999, .mode = TASK_MODE_BUFFERED},
        END};
    const struct task_op b[] = {COMPUTE(10 * KER_US), RECV(0, 1, 8), RECV(0, 2, 99999), END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 0).finish, 10 * KER_US + HEADER + KER_US);
    assert_int_equal(fake_row(&net, 1).bytes_received, 8 + 99999);
    assert_clean(&net);
    fake_close(&net);
}

/* send_overhead 300 ns before each send, doorbell 100 ns until the adapter knows, receive_overhead 200 ns
 * after each receive; computation halved. */
static void test_overheads(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1,
              "node: { send_overhead = \"300 ns\"; receive_overhead = \"200 ns\"; doorbell = \"100 ns\"; };");
    net.job.processor_factor = 0.5;
    const struct task_op a[] = {COMPUTE(1001), SEND(1, 0, 100), END}, b[] = {RECV(0, 0, 100), END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    ker_time left = 501 + 400 * KER_NS + WIRE(100); /* 500.5 ps round up */
    assert_int_equal(fake_row(&net, 0).compute, 501);
    assert_int_equal(fake_row(&net, 0).finish, left);
    assert_int_equal(fake_row(&net, 1).finish, left + KER_US + 200 * KER_NS);
    assert_int_equal(fake_row(&net, 1).wait, left + KER_US);
    assert_clean(&net);
    fake_close(&net);
}

/* Tasks of one node: 200 ns + bytes at 10 GB/s (100 ps a byte), nothing on the network. Rendezvous takes
 * three of them. */
static void test_inside_a_node(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 2, "");
    const struct task_op a[] = {SEND(1, 0, 1000), SEND(1, 0, 100000), END};
    const struct task_op b[] = {RECV(0, 0, 1000), RECV(0, 0, 100000), END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    ker_time first = 200 * KER_NS + 100 * KER_NS;
    assert_int_equal(net.sents, 0);
    assert_int_equal(fake_row(&net, 0).finish,
                     first + 4 * 200 * KER_NS + 10 * KER_US); /* RTS, READ, data, FIN */
    assert_int_equal(fake_row(&net, 1).finish, first + 3 * 200 * KER_NS + 10 * KER_US);
    assert_clean(&net);
    fake_close(&net);
}

/* To oneself: a posted receive, Sendrecv, and MPI_PROC_NULL; eager and rendezvous. */
static void test_self_and_null(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 1, 1, "");
    const struct task_op a[] = {IRECV(0, 1, 100000, 11),
                                SEND(0, 1, 100000),
                                WAIT(11),
                                {.kind = TASK_OP_SENDRECV,
                                 .peer = 0,
                                 .tag = 2,
                                 .bytes = 50000,
                                 .peer2 = TASK_ANY,
                                 .tag2 = TASK_ANY,
                                 .bytes2 = 50000},
                                SEND(0, 3, 10),
                                RECV(0, TASK_ANY, 10),
                                SEND(TASK_PROC_NULL, 0, 5),
                                RECV(TASK_PROC_NULL, TASK_ANY, 5),
                                ISEND(TASK_PROC_NULL, 0, 5, 11),
                                WAIT(11),
                                WAIT(12345), /* a null request */
                                END};
    fake_play(&net, (const struct task_op *const[]){a});
    assert_int_equal(fake_row(&net, 0).messages_received, 3);
    assert_clean(&net);
    fake_close(&net);
}

/* Messages that overtake each other must still be matched in the order of their sends: the answers to 20
 * messages with one tag, each third eager and synchronous, the others by rendezvous, go out in the order of
 * the sequence, to receives in the order of their posting (new indices grow). Once everything jitters, once
 * control messages overtake all that goes before them. */
static void no_overtaking(const char *settings, ker_time jitter, ker_time control_latency)
{
    struct fake_net net;
    fake_open(&net, 2, 1, settings);
    net.jitter = jitter;
    net.control_latency = control_latency;
    struct task_op a[42], b[42];
    uint64_t names[20];
    for (int i = 0; i < 20; i++) {
        names[i] = (uint64_t)i + 100;
        a[i] = (struct task_op)ISEND(1, 3, i % 3 ? 101 : 100, names[i]);
        a[i].mode = i % 3 ? TASK_MODE_STANDARD : TASK_MODE_SYNCHRONOUS;
        b[i] = (struct task_op)IRECV(i % 3 ? 0 : TASK_ANY, i % 2 ? 3 : TASK_ANY, 1, names[i]);
    }
    a[20] = b[20] = (struct task_op)LIST(TASK_OP_WAITALL, names, 20);
    a[21] = b[21] = (struct task_op)END;
    fake_play(&net, (const struct task_op *const[]){a, b});
    uint32_t sequence = 0, receiver = 0;
    bool overtook = false;
    for (size_t i = 0; i < net.sents; i++) {
        struct task_wire wire;
        memcpy(&wire, &net.sent[i].envelope, sizeof wire);
        if (wire.kind != TASK_WIRE_CTS && wire.kind != TASK_WIRE_READ && wire.kind != TASK_WIRE_ACK)
            continue;
        assert_int_equal(wire.sequence, sequence++);
        assert_true(wire.receiver > receiver);
        receiver = wire.receiver;
        overtook |= i > 0 && net.sent[i].time == net.sent[i - 1].time; /* held back, then taken together */
    }
    assert_int_equal(sequence, 20);
    assert_true(overtook);
    assert_clean(&net);
    fake_close(&net);
}

static void test_no_overtaking(void **state)
{
    (void)state;
    no_overtaking("mpi: { eager_limit = 100; rendezvous = \"read\"; };", 5 * KER_US, 0);
    no_overtaking("mpi: { eager_limit = 100; rendezvous = \"write\"; };", 5 * KER_US, 0);
    no_overtaking("mpi: { eager_limit = 100; rendezvous = \"read\"; };", 0, 1);
    no_overtaking("mpi: { eager_limit = 100; rendezvous = \"write\"; };", 5 * KER_US, 1);
}

/* Waitany takes one request per call, Waitsome those that are there, Waitall the rest; a test that is known
 * to have failed costs nothing, one that is known to have succeeded waits, one of unknown outcome takes what
 * is there. */
static void test_waits(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    static const uint64_t names[] = {1, 2, 3, 4, 99};
    const struct task_op a[] = {
        SEND(1, 3, 1), COMPUTE(KER_MS), SEND(1, 1, 1), SEND(1, 2, 1), COMPUTE(KER_MS), SEND(1, 4, 1), END};
    const struct task_op b[] = {
        IRECV(0, 1, 1, 1),
        IRECV(0, 2, 1, 2),
        IRECV(0, 3, 1, 3),
        IRECV(0, 4, 1, 4),
        {.kind = TASK_OP_TESTALL, .requests = names, .request_count = 5, .outcome = 0},
        {.kind = TASK_OP_TESTANY, .requests = names, .request_count = 5, .outcome = -1},
        LIST(TASK_OP_WAITANY, names, 5),
        {.kind = TASK_OP_TEST, .request = 1, .outcome = 1},
        LIST(TASK_OP_WAITSOME, names, 5),
        {.kind = TASK_OP_TESTALL, .requests = names, .request_count = 5, .outcome = -1},
        LIST(TASK_OP_WAITALL, names, 5),
        LIST(TASK_OP_WAITANY, names, 5), /* nothing left: returns */
        END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    /* a: each send takes WIRE(1): leaves at w, then 1 ms later w2, w3, then 1 ms later the last. */
    ker_time last = 4 * WIRE(1) + 2 * KER_MS;
    assert_int_equal(fake_row(&net, 0).finish, last);
    assert_int_equal(fake_row(&net, 1).finish, last + KER_US);
    assert_clean(&net);
    fake_close(&net);
}

static void test_persistent(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    static const uint64_t names[] = {1, 2};
    struct task_op a[] = {{.kind = TASK_OP_SEND_INIT, .peer = 1, .tag = 1, .bytes = 10, .request = 1},
                          {.kind = TASK_OP_RECV_INIT, .peer = 1, .tag = 2, .bytes = 20000, .request = 2},
                          WAIT(1), /* inactive: returns */
                          LIST(TASK_OP_STARTALL, names, 2),
                          LIST(TASK_OP_WAITALL, names, 2),
                          LIST(TASK_OP_STARTALL, names, 2),
                          LIST(TASK_OP_WAITALL, names, 2),
                          {.kind = TASK_OP_START, .request = 1},
                          {.kind = TASK_OP_REQUEST_FREE, .request = 1}, /* active: ends by itself */
                          {.kind = TASK_OP_REQUEST_FREE, .request = 2},
                          END};
    const struct task_op b[] = {RECV(0, 1, 10),    SEND(0, 2, 20000), RECV(0, 1, 10),
                                SEND(0, 2, 20000), RECV(0, 1, 10),    END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 0).messages_sent, 3);
    assert_int_equal(fake_row(&net, 1).messages_received, 3);
    assert_clean(&net);
    fake_close(&net);
}

/* A cancelled receive completes and takes no message; a probe waits for the message and leaves it; a lost
 * handle (the same name again) ends by itself. */
static void test_cancel_probe_lost(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    const struct task_op a[] = {SEND(1, 9, 10), SEND(1, 9, 10), SEND(1, 8, 20000), END};
    const struct task_op b[] = {IRECV(0, 9, 10, 1),
                                {.kind = TASK_OP_CANCEL, .request = 1},
                                WAIT(1),
                                {.kind = TASK_OP_PROBE, .peer = 0, .tag = 9},
                                {.kind = TASK_OP_IPROBE, .peer = 0, .tag = 77, .outcome = 0},
                                IRECV(0, 9, 10, 2),
                                IRECV(0, 9, 10, 2),
                                WAIT(2),
                                {.kind = TASK_OP_IPROBE, .peer = TASK_ANY, .tag = 8, .outcome = 1},
                                RECV(0, 8, 20000),
                                END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 1).messages_received, 3);
    assert_clean(&net);
    fake_close(&net);
}

/* A receive that nobody matches does not keep MPI_Finalize; a message in flight does. */
static void test_finalize(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    const struct task_op a[] = {IRECV(1, 9, 10, 1), ISEND(1, 0, 1000, 2), END}, b[] = {RECV(0, 0, 1000), END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(task_mpi_unfinished(net.mpi), 0);
    assert_int_equal(fake_row(&net, 0).finish, WIRE(1000));
    fake_close(&net);
}

/* Two tasks that receive first wait for ever; the table says who for whom. */
static void test_deadlock(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 3, 1, "");
    static const uint64_t names[] = {5, 6};
    const struct task_op a[] = {COMPUTE(3), RECV(1, 4, 10), END};
    const struct task_op b[] = {IRECV(0, 4, 10, 5), ISEND(2, 1, 9000, 6), LIST(TASK_OP_WAITALL, names, 2),
                                END};
    const struct task_op c[] = {
        {.kind = TASK_OP_COLLECTIVE, .collective = TASK_COLL_BARRIER, .call = "MPI_Barrier"}, END};
    fake_play(&net, (const struct task_op *const[]){a, b, c});
    struct task_mpi_wait rows[3];
    assert_int_equal(task_mpi_waiting(net.mpi, NULL, NULL, 0), 3);
    assert_int_equal(task_mpi_waiting(net.mpi, NULL, rows, 3), 3);
    assert_string_equal(rows[0].call, "MPI_Recv");
    assert_string_equal(rows[0].awaited, "receive from task 1, tag 4, 10 bytes");
    assert_int_equal(rows[0].line, 7);
    assert_int_equal(rows[0].since, 3);
    assert_string_equal(rows[1].awaited,
                        "2 requests, the first: receive from task 0, tag 4, 10 bytes, not matched");
    assert_int_equal(rows[2].node, 2);
    assert_string_equal(
        rows[2].awaited,
        "barrier call 1 of 3 tasks by dissemination, communicator 0, round 1: from task 1 to task 0");
    /* Never finished; the call they are in counts to the end of the run. */
    assert_int_equal(fake_row(&net, 0).finish, KER_TIME_MAX);
    assert_int_equal(fake_row(&net, 0).passes, 0);
    assert_true(net.now > 3);
    assert_int_equal(fake_row(&net, 0).wait, net.now - 3);
    assert_int_equal(fake_row(&net, 1).wait, net.now);
    fake_close(&net);
}

/* A background job that restarts runs on; its passes do not count as unfinished. */
static void test_restart(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 1, 1, "");
    net.job.background = net.job.restart = true;
    net.job.start = 7;
    static const struct task_op a[] = {COMPUTE(1000), END};
    net.program.ops[0] = a;
    fake_start(&net);
    fake_run(&net, 5); /* the start and four ends of computations */
    assert_int_equal(net.now, 7 + 4 * 1000);
    assert_int_equal(task_mpi_unfinished(net.mpi), 0);
    assert_int_equal(fake_row(&net, 0).passes, 4);
    assert_int_equal(fake_row(&net, 0).finish, 7 + 4 * 1000); /* of the last pass */
    assert_int_equal(fake_row(&net, 0).compute, 4000);        /* of all passes; the fifth has just begun */
    struct task_row row;
    task_rows(net.mpi, net.now + 300, &row);
    assert_int_equal(row.compute, 4300);
    fake_close(&net);
}

/* Zero-time ops make no events: 100,000 computations of nothing, and then the end, at time 0. */
static void test_zero_time(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 1, 1, "");
    net.job.processor_factor = 0;
    struct task_op *a = ker_alloc(100001 * sizeof *a);
    for (int i = 0; i < 100000; i++)
        a[i] = (struct task_op)COMPUTE(KER_S);
    a[100000] = (struct task_op)END;
    net.program.ops[0] = a;
    fake_start(&net);
    assert_int_equal(net.number, 0);
    assert_int_equal(fake_row(&net, 0).finish, 0);
    free(a);
    fake_close(&net);
}

/* Workload S keeps 6 sends and 6 receives per task. */
static void test_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct task_state) + sizeof(struct task_mpi_node) <= 528);
    assert_true(sizeof(struct task_state) + sizeof(struct task_mpi_node) + 12 * sizeof(struct task_request) +
                    8 * sizeof(struct task_peer) <=
                1200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eager),         cmocka_unit_test(test_rendezvous),
        cmocka_unit_test(test_modes),         cmocka_unit_test(test_overheads),
        cmocka_unit_test(test_inside_a_node), cmocka_unit_test(test_self_and_null),
        cmocka_unit_test(test_no_overtaking), cmocka_unit_test(test_waits),
        cmocka_unit_test(test_persistent),    cmocka_unit_test(test_cancel_probe_lost),
        cmocka_unit_test(test_finalize),      cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_restart),       cmocka_unit_test(test_zero_time),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
