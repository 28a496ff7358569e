/* test_streams.c - tasks with several streams: times by hand on a network of constant latency, one stream
 * that waits for another's requests and operations, and what is left when they cannot continue.
 *
 * A message of n bytes takes W(n) = 1 us + (n + 32) x 40 ps to arrive, and L(n) = (n + 32) x 40 ps until it
 * has left (fake_net.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"

#define L(bytes) (((ker_time)(bytes) + 32) * 40)
#define W(bytes) (KER_US + L(bytes))
#define CALL(text) .call = "MPI_" text
#define COMPUTE(t)                                                                                           \
    {                                                                                                        \
        .kind = TASK_OP_COMPUTE, .time = (t), .call = "computation"                                          \
    }
#define SEND(to, t, n)                                                                                       \
    {                                                                                                        \
        .kind = TASK_OP_SEND, .peer = to, .tag = t, .bytes = n, CALL("Send")                                 \
    }
#define ISEND(to, t, n, r)                                                                                   \
    {                                                                                                        \
        .kind = TASK_OP_ISEND, .peer = to, .tag = t, .bytes = n, .request = r, CALL("Isend")                 \
    }
#define RECV(from, t, n)                                                                                     \
    {                                                                                                        \
        .kind = TASK_OP_RECV, .peer = from, .tag = t, .bytes = n, CALL("Recv")                               \
    }
#define IRECV(from, t, n, r)                                                                                 \
    {                                                                                                        \
        .kind = TASK_OP_IRECV, .peer = from, .tag = t, .bytes = n, .request = r, CALL("Irecv")               \
    }
#define WAIT(r)                                                                                              \
    {                                                                                                        \
        .kind = TASK_OP_WAIT, .request = r, CALL("Wait")                                                     \
    }
#define GREQUEST(r)                                                                                          \
    {                                                                                                        \
        .kind = TASK_OP_GREQUEST, .request = r, CALL("Grequest_start")                                       \
    }
#define COMPLETE(r)                                                                                          \
    {                                                                                                        \
        .kind = TASK_OP_GREQUEST_COMPLETE, .request = r, CALL("Grequest_complete")                           \
    }
#define STATUS(r)                                                                                            \
    {                                                                                                        \
        .kind = TASK_OP_STATUS, .request = r, CALL("Request_get_status")                                     \
    }
#define BARRIER(c)                                                                                           \
    {                                                                                                        \
        .kind = TASK_OP_COLLECTIVE, .collective = TASK_COLL_BARRIER, .comm = c, CALL("Barrier")              \
    }
#define AFTER(s, n)                                                                                          \
    {                                                                                                        \
        .kind = TASK_OP_AFTER, .peer = s, .bytes = n, .call = "another thread"                               \
    }
#define BEGUN(s, n)                                                                                          \
    {                                                                                                        \
        .kind = TASK_OP_AFTER, .peer = s, .bytes = n, .mode = 1, .call = "another thread"                    \
    }
#define END                                                                                                  \
    {                                                                                                        \
        .kind = TASK_OP_FINALIZE, CALL("Finalize")                                                           \
    }

/* Task 0 has the first lists, task 1 the one behind. */
struct play {
    struct fake_net net;
    struct task_row row[2];
};

static void play(struct play *p, const struct task_op *const *ops, uint32_t streams, const char *settings)
{
    fake_open(&p->net, 2, 1, settings);
    fake_streams(&p->net, streams);
    p->net.program.ops[0] = ops[0];
    p->net.program.ops[1] = ops[streams];
    for (uint32_t s = 1; s < streams; s++)
        p->net.program.ops[1 + s] = ops[s];
    fake_start(&p->net);
    fake_run(&p->net, UINT64_MAX);
    task_rows(p->net.mpi, p->net.now, p->row);
}

static void finished(struct play *p)
{
    assert_int_equal(task_mpi_unfinished(p->net.mpi), 0);
    assert_int_equal(p->net.mpi->request.live, 0);
    assert_int_equal(p->net.mpi->message.live, 0);
    assert_int_equal(p->net.mpi->run.live, 0);
    fake_close(&p->net);
}

/* Two streams compute at the same time, 3 and 5 us; each sends 1000 bytes then, with eager sends that end
 * when the last byte has left. The other task receives the later one first: 5 us + W. The first stream is
 * done at 3 us + L, the task when its second is. */
static void test_two_compute(void **state)
{
    struct play p;
    (void)state;
    const struct task_op a[] = {COMPUTE(3 * KER_US), SEND(1, 1, 1000), END},
                         b[] = {COMPUTE(5 * KER_US), SEND(1, 2, 1000), END},
                         c[] = {RECV(0, 2, 1000), RECV(0, 1, 1000), END};
    play(&p, (const struct task_op *const[]){a, b, c}, 2, "");
    assert_int_equal(p.row[0].finish, 5 * KER_US + L(1000));
    assert_int_equal(p.row[0].compute, 8 * KER_US);
    assert_int_equal(p.row[0].send_wait, 2 * L(1000));
    assert_int_equal(p.row[1].finish, 5 * KER_US + W(1000));
    assert_int_equal(p.row[1].wait, 5 * KER_US + W(1000));
    finished(&p);
}

/* The overheads of two streams are paid side by side: the receives of messages that came at W(8) and W(16)
 * cost 50 ns each, and end at these times + 50 ns. */
static void test_overheads(void **state)
{
    struct play p;
    (void)state;
    const struct task_op a[] = {RECV(1, 1, 8), END}, b[] = {RECV(1, 2, 16), END},
                         c[] = {ISEND(0, 1, 8, 1), ISEND(0, 2, 16, 2), WAIT(1), WAIT(2), END};
    play(&p, (const struct task_op *const[]){a, b, c}, 2, "node: { receive_overhead = \"50 ns\"; };");
    assert_int_equal(p.row[0].finish, W(16) + 50 * KER_NS);
    assert_int_equal(p.row[0].wait, W(8) + W(16));
    finished(&p);
}

/* One stream makes the receive after 2 us of computation, the other waits for it, from its making on: the
 * message came at W(100) < 2 us, so the wait ends at 2 us. A third one asks for its state meanwhile, from
 * 500 ns on, and is told at the same time. */
static void test_request_of_another(void **state)
{
    struct play p;
    (void)state;
    const struct task_op a[] = {COMPUTE(2 * KER_US), IRECV(1, 1, 100, 7), COMPUTE(KER_US), END},
                         b[] = {AFTER(0, 1), WAIT(7), COMPUTE(3 * KER_US), END},
                         c[] = {COMPUTE(500 * KER_NS), AFTER(0, 1), STATUS(7), END},
                         d[] = {SEND(0, 1, 100), END};
    play(&p, (const struct task_op *const[]){a, b, c, d}, 3, "");
    assert_int_equal(p.row[0].finish, 5 * KER_US);
    assert_int_equal(p.row[0].wait, 2 * KER_US + 1500 * KER_NS);
    finished(&p);
}

/* The same, but the message comes last, at 4 us + W(100): two streams wait for one request. */
static void test_two_wait_for_one(void **state)
{
    struct play p;
    (void)state;
    const struct task_op a[] = {IRECV(1, 1, 100, 7), END},
                         b[] = {AFTER(0, 1), STATUS(7), COMPUTE(KER_US), END},
                         c[] = {AFTER(0, 1), WAIT(7), COMPUTE(2 * KER_US), END},
                         d[] = {COMPUTE(4 * KER_US), SEND(0, 1, 100), END};
    play(&p, (const struct task_op *const[]){a, b, c, d}, 3, "");
    assert_int_equal(p.row[0].finish, 6 * KER_US + W(100));
    assert_int_equal(p.row[0].wait, 2 * (4 * KER_US + W(100)));
    finished(&p);
}

/* A generalised request is complete when the program says so, here another stream at 3 us; one that is
 * complete before the wait costs nothing. Nobody completes the last one: the wait is for ever. */
static void test_generalised(void **state)
{
    struct play p;
    struct task_mpi_wait rows[2];
    (void)state;
    const struct task_op a[] = {GREQUEST(7), WAIT(7), COMPUTE(KER_US), GREQUEST(8), COMPLETE(8),
                                WAIT(8),     END},
                         b[] = {AFTER(0, 1), COMPUTE(3 * KER_US), COMPLETE(7), END}, c[] = {END};
    play(&p, (const struct task_op *const[]){a, b, c}, 2, "node: { receive_overhead = \"50 ns\"; };");
    assert_int_equal(p.row[0].finish, 4 * KER_US);
    assert_int_equal(p.row[0].wait, 3 * KER_US);
    finished(&p);
    const struct task_op never[] = {GREQUEST(7), WAIT(7), END};
    play(&p, (const struct task_op *const[]){never, c, c}, 2, "");
    assert_int_equal(task_mpi_waiting(p.net.mpi, NULL, rows, 2), 1);
    assert_string_equal(rows[0].awaited, "a generalised request, not completed");
    fake_close(&p.net);
}

/* Begun is not done: the receive has begun at 0, and is done at W(8) + 2 us. */
static void test_begun(void **state)
{
    struct play p;
    (void)state;
    const struct task_op a[] = {RECV(1, 1, 8), END}, b[] = {BEGUN(0, 1), COMPUTE(1), END},
                         c[] = {AFTER(0, 1), COMPUTE(1), END},
                         d[] = {COMPUTE(2 * KER_US), SEND(0, 1, 8), END};
    play(&p, (const struct task_op *const[]){a, b, c, d}, 3, "");
    assert_int_equal(p.row[0].finish, 2 * KER_US + W(8) + 1);
    assert_int_equal(p.row[0].wait, 2 * (2 * KER_US + W(8)));
    finished(&p);
}

/* Barriers of two communicators at a time: in each, both tasks send a message of no bytes and wait for the
 * other's, W(0). The second stream of task 0 begins 1 us later; task 1 takes them one after the other. */
static void test_collectives(void **state)
{
    struct play p;
    (void)state;
    const struct task_op a[] = {BARRIER(0), COMPUTE(KER_US), BARRIER(0), END},
                         b[] = {COMPUTE(KER_US), BARRIER(1), END},
                         c[] = {BARRIER(0), BARRIER(1), BARRIER(0), END};
    play(&p, (const struct task_op *const[]){a, b, c}, 2, "");
    /* Task 1 is out of the first at W, sends for the second then, and has what came at 1 us + W. */
    assert_int_equal(p.row[1].finish, W(0) + KER_US + W(0));
    /* Its last message went at 1 us + W(0), and is here W(0) later. */
    assert_int_equal(p.row[0].finish, KER_US + 2 * W(0));
    finished(&p);
}

/* One cannot continue: the table says which stream of which task waits for what. */
static void test_deadlock(void **state)
{
    struct play p;
    struct task_mpi_wait rows[4];
    (void)state;
    const struct task_op a[] = {COMPUTE(5), RECV(1, 9, 8), END}, b[] = {AFTER(0, 1), END},
                         c[] = {COMPUTE(1), END}, d[] = {END};
    play(&p, (const struct task_op *const[]){a, b, c, d}, 3, "");
    assert_int_equal(task_mpi_unfinished(p.net.mpi), 1);
    assert_int_equal(task_mpi_waiting(p.net.mpi, NULL, rows, 4), 2);
    assert_int_equal(rows[0].stream, 0);
    assert_int_equal(rows[0].streams, 3);
    assert_int_equal(rows[0].since, 5);
    assert_string_equal(rows[0].awaited, "receive from task 1, tag 9, 8 bytes");
    assert_int_equal(rows[1].stream, 1);
    assert_string_equal(rows[1].awaited, "thread 0, which is to end 1 calls");
    assert_int_equal(p.row[0].finish, KER_TIME_MAX);
    fake_close(&p.net);
}

/* The abort of one stream, after 3 us, is the end of all. */
static void test_abort(void **state)
{
    struct play p;
    struct task_mpi_abort first = {0};
    (void)state;
    const struct task_op a[] = {COMPUTE(KER_US), RECV(1, 9, 8), END},
                         b[] = {COMPUTE(3 * KER_US),
                                {.kind = TASK_OP_ABORT, .outcome = 1, .tag = 42, CALL("Abort")}},
                         c[] = {COMPUTE(9 * KER_US), END}, d[] = {END};
    play(&p, (const struct task_op *const[]){a, b, c, d}, 3, "");
    assert_int_equal(task_mpi_unfinished(p.net.mpi), 0);
    assert_int_equal(p.row[0].finish, 3 * KER_US);
    assert_int_equal(task_mpi_aborted(p.net.mpi, 0), 1);
    task_mpi_aborts(p.net.mpi, &first);
    assert_true(first.there && first.called && first.code == 42 && first.time == 3 * KER_US);
    fake_close(&p.net);
}

/* In "calls" a large message is moved while any of the streams is in a call: RTS comes at W(0), when the
 * second one has been in its barrier for a moment, and READ, the data, FIN and the other task's part of the
 * barrier follow, though the first stream computes until 9 us. */
static void test_progress(void **state)
{
    struct play p;
    (void)state;
    const struct task_op a[] = {IRECV(1, 1, 100000, 7), COMPUTE(9 * KER_US), WAIT(7), END},
                         b[] = {COMPUTE(KER_US), BARRIER(0), END},
                         c[] = {ISEND(0, 1, 100000, 5), WAIT(5), BARRIER(0), END};
    play(&p, (const struct task_op *const[]){a, b, c}, 2, "mpi: { progress = \"calls\"; };");
    assert_int_equal(p.row[0].finish, 4 * W(0) + W(100000));
    finished(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_compute),
        cmocka_unit_test(test_overheads),
        cmocka_unit_test(test_request_of_another),
        cmocka_unit_test(test_two_wait_for_one),
        cmocka_unit_test(test_begun),
        cmocka_unit_test(test_generalised),
        cmocka_unit_test(test_collectives),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_abort),
        cmocka_unit_test(test_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
