/* test_path.c - critical paths that are known by hand (output.critical_path). A path is
 * written as it happens, from the start on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops_by_hand.h"
#include "tasks/mpi/path.h"
#include "tasks/mpi/state.h"

#define OUTPUT(room) "output: { waits = true; critical_path = \"" room "\"; };"
#define ROOM OUTPUT("1 MB")

/* ---- what is expected ---- */

struct part {
    uint32_t task, from;
    const char *function;
    enum task_path_kind kind;
    ker_time time;
};
#define IN(function, task, from, kind, time)                                                                 \
    {                                                                                                        \
        task, from, function, TASK_PATH_##kind, time                                                         \
    }
#define COMPUTES(task, time) IN("", task, task, COMPUTATION, time)

struct seen {
    struct task_path_step step[64];
    uint32_t steps;
};

static void see(void *context, const struct task_path_step *step)
{
    struct seen *seen = context;
    assert_true(seen->steps < 64);
    assert_int_equal(step->number, seen->steps);
    if (seen->steps)
        assert_int_equal(step->end, seen->step[seen->steps - 1].begin);
    seen->step[seen->steps++] = *step;
}

static struct task_path_result walk(struct fake_net *net, struct seen *seen, struct task_names *functions)
{
    struct task_path_result result;
    struct ker_comm *alone = ker_comm_alone();
    struct task_path_source source = task_path_tasks(net->mpi, 1, 0);
    task_path_functions(&source, functions, alone);
    task_path_walk(&source, alone, functions, &(struct task_path_visitor){see, seen}, &result);
    ker_comm_release(alone);
    return result;
}

static void assert_path(struct fake_net *net, const struct part *part, uint32_t parts)
{
    struct seen seen = {0};
    struct task_names functions = {0};
    struct task_path_result result = walk(net, &seen, &functions);
    ker_time at = 0;
    assert_true(result.there && result.whole);
    for (uint32_t i = 0; i < seen.steps; i++) {
        const struct task_path_step *step = &seen.step[seen.steps - 1 - i];
        assert_true(i < parts);
        assert_int_equal(step->begin, at);
        assert_int_equal(step->task, part[i].task);
        assert_int_equal(step->from, part[i].from);
        assert_string_equal(functions.name[step->function], part[i].function);
        assert_int_equal(step->kind, part[i].kind);
        assert_int_equal(step->end - step->begin, part[i].time);
        at = step->end;
    }
    assert_int_equal(seen.steps, parts);
    assert_int_equal(at, result.finish);
    task_names_release(&functions);
}
#define ASSERT_PATH(net, ...)                                                                                \
    assert_path(net, (const struct part[]){__VA_ARGS__},                                                     \
                sizeof((const struct part[]){__VA_ARGS__}) / sizeof(struct part))

static void open_with(struct fake_net *net, uint32_t tasks, uint32_t per_node, const char *settings)
{
    struct ker_error error = {0};
    fake_open(net, tasks, per_node, settings);
    assert_int_equal(task_mpi_path_read(net->mpi, net->config, tasks, &error), KER_OK);
}

#define PLAY(net, ...) fake_play(net, (const struct task_op *const[]){__VA_ARGS__})
#define OPS(...) ((const struct task_op[]){__VA_ARGS__})

/* ---- messages ---- */

/* Task 0 computes 5 us; the others hand on what they get. Task 3, which computes for long, has it by then. */
static void test_chain(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 4, 1, ROOM);
    PLAY(&net, OPS(COMPUTE(5 * KER_US), SEND(1, 100), END),
         OPS(RECV(0, 100), COMPUTE(KER_US), SEND(2, 200), END),
         OPS(COMPUTE(2 * KER_US), RECV(1, 200), COMPUTE(9 * KER_US), END), OPS(COMPUTE(8 * KER_US), END));
    ASSERT_PATH(&net, COMPUTES(0, 5 * KER_US), IN("MPI_Recv", 1, 0, TRANSFER, WAY(100)), COMPUTES(1, KER_US),
                IN("MPI_Recv", 2, 1, TRANSFER, WAY(200)), COMPUTES(2, 9 * KER_US));
    fake_close(&net);
}

/* The receive comes later than the message: it has no part in the path. */
static void test_late_receive(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    PLAY(&net, OPS(COMPUTE(5 * KER_US), SEND(1, 100), END), OPS(COMPUTE(20 * KER_US), RECV(0, 100), END));
    ASSERT_PATH(&net, COMPUTES(1, 20 * KER_US));
    fake_close(&net);
}

/* Overheads are calls; the search among posted receives is one, too. */
static void test_overheads(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1,
              ROOM "node: { doorbell = \"300 ns\"; send_overhead = \"200 ns\"; "
                   "receive_overhead = \"100 ns\"; };");
    PLAY(&net, OPS(COMPUTE(KER_US), SEND(1, 100), END), OPS(RECV(0, 100), COMPUTE(KER_US), END));
    ASSERT_PATH(&net, COMPUTES(0, KER_US), IN("MPI_Send", 0, 0, CALL, 200 * KER_NS),
                IN("MPI_Recv", 1, 0, TRANSFER, WAY(100) + 300 * KER_NS),
                IN("MPI_Recv", 1, 1, CALL, 100 * KER_NS), COMPUTES(1, KER_US));
    fake_close(&net);
}

/* What a task does while its own message is in flight is not on the path; the time until it has left is. */
static void test_sending(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    PLAY(&net, OPS(COMPUTE(KER_US), ISEND(1, 8000), COMPUTE(100 * KER_NS), WAIT, COMPUTE(5 * KER_US), END),
         OPS(RECV(0, 8000), END));
    ASSERT_PATH(&net, COMPUTES(0, KER_US), IN("MPI_Wait", 0, 0, SENDING, LEAVES(8000)),
                COMPUTES(0, 5 * KER_US));
    fake_close(&net);
}

/* RTS, READ, data, FIN: the sender ends last. */
static void test_rendezvous(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    PLAY(&net, OPS(COMPUTE(3 * KER_US), SEND(1, BIG), END), OPS(RECV(0, BIG), END));
    ASSERT_PATH(&net, COMPUTES(0, 3 * KER_US), IN("MPI_Send", 0, 0, HANDSHAKE, WAY(0)),
                IN("MPI_Send", 0, 1, HANDSHAKE, WAY(0)), IN("MPI_Send", 0, 0, TRANSFER, WAY(BIG)),
                IN("MPI_Send", 0, 1, HANDSHAKE, WAY(0)));
    fake_close(&net);
}

/* The receive comes 20 us late: the path is that of the receiver, which then computes on. */
static void test_rendezvous_late_receiver(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    PLAY(&net, OPS(SEND(1, BIG), END), OPS(COMPUTE(20 * KER_US), RECV(0, BIG), COMPUTE(4 * KER_US), END));
    ASSERT_PATH(&net, COMPUTES(1, 20 * KER_US), IN("MPI_Recv", 1, 1, HANDSHAKE, WAY(0)),
                IN("MPI_Recv", 1, 0, TRANSFER, WAY(BIG)), COMPUTES(1, 4 * KER_US));
    fake_close(&net);
}

/* CTS in place of READ; what ends the send is that the data has left. */
static void test_rendezvous_write(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM "mpi: { rendezvous = \"write\"; };");
    PLAY(&net, OPS(SEND(1, BIG), COMPUTE(9 * KER_US), END), OPS(COMPUTE(20 * KER_US), RECV(0, BIG), END));
    ASSERT_PATH(&net, COMPUTES(1, 20 * KER_US), IN("MPI_Send", 0, 1, HANDSHAKE, WAY(0)),
                IN("MPI_Send", 0, 0, SENDING, LEAVES(BIG)), COMPUTES(0, 9 * KER_US));
    fake_close(&net);
}

/* The sender computes after its Isend and answers the CTS only then: its computation is on the path. */
static void test_progress_in_calls(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM "mpi: { rendezvous = \"write\"; progress = \"calls\"; };");
    PLAY(&net, OPS(ISEND(1, BIG), COMPUTE(50 * KER_US), WAIT, END), OPS(RECV(0, BIG), END));
    ASSERT_PATH(&net, COMPUTES(0, 50 * KER_US), IN("MPI_Recv", 1, 0, TRANSFER, WAY(BIG)));
    fake_close(&net);
}

static void test_synchronous(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    PLAY(&net, OPS(SSEND(1, 100), END), OPS(COMPUTE(20 * KER_US), RECV(0, 100), END));
    ASSERT_PATH(&net, COMPUTES(1, 20 * KER_US), IN("MPI_Ssend", 0, 1, HANDSHAKE, WAY(0)));
    fake_close(&net);
}

/* The RTS is looked for among three posted receives, 10 ns each: READ goes out so much later. */
static void test_matching(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM "mpi: { match_time = \"10 ns\"; };");
    const struct task_op tagged[] = {
        {.kind = TASK_OP_IRECV, .peer = 0, .bytes = 8, .tag = 5, .request = 5, .call = "MPI_Irecv"},
        {.kind = TASK_OP_IRECV, .peer = 0, .bytes = 8, .tag = 6, .request = 6, .call = "MPI_Irecv"},
        RECV(0, BIG),
        {.kind = TASK_OP_CANCEL, .request = 5, .call = "MPI_Cancel"},
        {.kind = TASK_OP_CANCEL, .request = 6, .call = "MPI_Cancel"},
        END};
    PLAY(&net, OPS(SEND(1, BIG), END), tagged);
    ASSERT_PATH(&net, IN("MPI_Send", 0, 0, HANDSHAKE, WAY(0)), IN("MPI_Send", 0, 1, MATCHING, 30 * KER_NS),
                IN("MPI_Send", 0, 1, HANDSHAKE, WAY(0)), IN("MPI_Send", 0, 0, TRANSFER, WAY(BIG)),
                IN("MPI_Send", 0, 1, HANDSHAKE, WAY(0)));
    fake_close(&net);
}

/* Two tasks on a node. */
static void test_in_node(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 2, ROOM "node: { cores = 2; memory_latency = \"500 ns\"; };");
    PLAY(&net, OPS(COMPUTE(KER_US), SEND(1, 0), END), OPS(RECV(0, 0), COMPUTE(KER_US), END));
    ASSERT_PATH(&net, COMPUTES(0, KER_US), IN("MPI_Recv", 1, 0, IN_NODE, 500 * KER_NS), COMPUTES(1, KER_US));
    fake_close(&net);
}

/* ---- collectives ---- */

/* Task 2 enters the barrier last: it makes the end, by one message to each of the others at most. */
static void test_late_participant(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    PLAY(&net, OPS(BARRIER, COMPUTE(KER_US), END), OPS(COMPUTE(7 * KER_US), BARRIER, END));
    ASSERT_PATH(&net, COMPUTES(1, 7 * KER_US), IN("MPI_Barrier", 0, 1, TRANSFER, WAY(0)),
                COMPUTES(0, KER_US));
    fake_close(&net);
}

/* A barrier of three that does not block: task 2, which enters last, reports to task 0, whose adapter
 * releases it while task 0 computes. */
static void test_nonblocking(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 3, 1, ROOM);
    PLAY(&net, OPS(IBARRIER, COMPUTE(8500 * KER_NS), WAIT, END),
         OPS(IBARRIER, COMPUTE(2 * KER_US), WAIT, END),
         OPS(COMPUTE(7 * KER_US), IBARRIER, WAIT, COMPUTE(KER_NS), END));
    ASSERT_PATH(&net, COMPUTES(2, 7 * KER_US), IN("MPI_Wait", 2, 2, TRANSFER, WAY(0)),
                IN("MPI_Wait", 2, 0, TRANSFER, WAY(0)), COMPUTES(2, KER_NS));
    fake_close(&net);
}

/* ---- one-sided ---- */

/* The target is late with its post; the window is open by that message, closed by the one of the origin. */
static void test_one_sided(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    static const uint64_t other[2] = {0, 1};
    PLAY(&net,
         OPS({.kind = TASK_OP_WIN_START,
              .tag = 1,
              .requests = &other[1],
              .request_count = 1,
              .call = "MPI_Win_start"},
             {.kind = TASK_OP_PUT, .tag = 1, .peer = 1, .bytes = 100, .call = "MPI_Put"},
             {.kind = TASK_OP_WIN_COMPLETE, .tag = 1, .call = "MPI_Win_complete"}, END),
         OPS(COMPUTE(20 * KER_US),
             {.kind = TASK_OP_WIN_POST,
              .tag = 1,
              .requests = &other[0],
              .request_count = 1,
              .call = "MPI_Win_post"},
             {.kind = TASK_OP_WIN_WAIT, .tag = 1, .call = "MPI_Win_wait"}, END));
    ASSERT_PATH(&net, COMPUTES(1, 20 * KER_US), IN("MPI_Win_start", 0, 1, HANDSHAKE, WAY(0)),
                IN("MPI_Win_complete", 0, 0, TRANSFER, WAY(100)),
                IN("MPI_Win_complete", 0, 1, HANDSHAKE, WAY(0)), IN("MPI_Win_wait", 1, 0, HANDSHAKE, WAY(0)));
    fake_close(&net);
}

/* ---- threads ---- */

/* A thread of task 0 computes 5 us and sends; when that is done, the other one computes 2 us and sends. */
static void test_threads(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    fake_streams(&net, 2);
    net.program.ops[2] = OPS(COMPUTE(5 * KER_US), SEND(1, 0), END);
    PLAY(&net,
         OPS({.kind = TASK_OP_AFTER, .peer = 1, .bytes = 1, .call = "threads"}, COMPUTE(2 * KER_US),
             SEND(1, 100), END),
         OPS(RECV(0, 100), RECV(0, 100), END));
    ASSERT_PATH(&net, COMPUTES(0, 5 * KER_US), IN("MPI_Send", 0, 0, SENDING, LEAVES(0)),
                COMPUTES(0, 2 * KER_US), IN("MPI_Recv", 1, 0, TRANSFER, WAY(100)));
    fake_close(&net);
}

/* ---- what is known ---- */

/* 40 exchanges, room for the last 16 pieces of each task. */
static void test_forgotten(void **state)
{
    (void)state;
    struct fake_net net;
    struct task_op a[121], b[121];
    for (uint32_t i = 0; i < 120; i += 3) {
        const struct task_op there[] = {COMPUTE(KER_US), SEND(1, 0), RECV(1, 0)},
                             back[] = {RECV(0, 0), COMPUTE(2 * KER_US), SEND(0, 0)};
        memcpy(&a[i], there, sizeof there);
        memcpy(&b[i], back, sizeof back);
    }
    a[120] = b[120] = (struct task_op)END;
    open_with(&net, 2, 1, OUTPUT("1800 B"));
    assert_int_equal(net.mpi->path->most, 16);
    PLAY(&net, a, b);
    struct seen seen = {0};
    struct task_names functions = {0};
    struct task_path_result result = walk(&net, &seen, &functions);
    ker_time round = 3 * KER_US + 2 * WAY(0);
    assert_int_equal(result.finish, 40 * round);
    assert_true(result.there && !result.whole);
    assert_int_equal(result.from, seen.step[seen.steps - 1].begin);
    assert_true(result.from > 30 * round && result.from < 38 * round);
    task_names_release(&functions);
    fake_close(&net);
}

/* A job that has not ended has no path. */
static void test_unfinished(void **state)
{
    (void)state;
    struct fake_net net;
    open_with(&net, 2, 1, ROOM);
    PLAY(&net, OPS(RECV(1, 0), END), OPS(COMPUTE(KER_US), END));
    struct seen seen = {0};
    struct task_names functions = {0};
    struct task_path_result result = walk(&net, &seen, &functions);
    assert_false(result.there);
    assert_int_equal(seen.steps, 0);
    task_names_release(&functions);
    fake_close(&net);
}

static void test_too_little(void **state)
{
    (void)state;
    struct fake_net net;
    struct ker_error error = {0};
    fake_open(&net, 100, 1, OUTPUT("80 kB"));
    assert_int_equal(task_mpi_path_read(net.mpi, net.config, 100, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "give 89600 B"));
    fake_close(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_late_receive),
        cmocka_unit_test(test_overheads),
        cmocka_unit_test(test_sending),
        cmocka_unit_test(test_rendezvous),
        cmocka_unit_test(test_rendezvous_late_receiver),
        cmocka_unit_test(test_rendezvous_write),
        cmocka_unit_test(test_progress_in_calls),
        cmocka_unit_test(test_synchronous),
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_in_node),
        cmocka_unit_test(test_late_participant),
        cmocka_unit_test(test_nonblocking),
        cmocka_unit_test(test_one_sided),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_forgotten),
        cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_too_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
