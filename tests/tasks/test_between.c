/* test_between.c - collectives between two groups that do not block, or are persistent: groups of 1 to 5
 * tasks on a network of constant latency (fake_net.h). All comes to its end with nothing left over, messages
 * and bytes are those of the schedules (tasks/mpi/collectives/between.c), and times are by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"

#define MOST 10
#define WAY(b) (KER_US + (ker_time)((b) + 32) * 40)
#define N 1000 /* bytes */

static int32_t members[MOST];

/* Communicators 1 and 2 are the groups: the first `a` tasks, and the `b` others. */
static void groups_open(struct fake_net *net, int32_t a, int32_t b, const char *settings)
{
    fake_open(net, (uint32_t)(a + b), 1, settings);
    for (int32_t i = 0; i < a + b; i++)
        members[i] = i;
    net->program.comm[1] = (struct task_comm){a, members, 2};
    net->program.comm[2] = (struct task_comm){b, members + a, 1};
    net->program.comms = 3;
}

static bool is_rooted(unsigned collective)
{
    return collective == TASK_COLL_BCAST || collective == TASK_COLL_REDUCE ||
           collective == TASK_COLL_GATHER || collective == TASK_COLL_GATHERV ||
           collective == TASK_COLL_SCATTER || collective == TASK_COLL_SCATTERV;
}

/* A call of a task; the root is the last one of all, or of the first group (root = a - 1). */
static struct task_op call_of(unsigned collective, int32_t a, int32_t b, int32_t task, int32_t root)
{
    static const uint64_t counts[MOST] = {N, N, N, N, N, N, N, N, N, N};
    bool second = task >= a, aside = is_rooted(collective) && task != root && (root >= a) == second;
    struct task_op op = {.kind = TASK_OP_ICOLLECTIVE,
                         .collective = (uint8_t)collective,
                         .comm = second ? 2 : 1,
                         .bytes = N,
                         .bytes2 = N,
                         .request = 7,
                         .call = "MPI_Isomething"};
    op.peer = !is_rooted(collective) ? 0
              : !aside               ? root
              : second               ? (task == a ? a + 1 : a)
                                     : (task == 0 ? 1 : 0);
    op.request_count = (uint32_t)(second ? a : b);
    if (collective == TASK_COLL_ALLTOALLV || (collective == TASK_COLL_SCATTERV && task == root))
        op.send_bytes = counts;
    if (collective == TASK_COLL_ALLTOALLV || collective == TASK_COLL_ALLGATHERV ||
        (collective == TASK_COLL_GATHERV && task == root))
        op.receive_bytes = counts;
    if (collective == TASK_COLL_REDUCE_SCATTER) {
        op.receive_bytes = counts;
        op.request_count = (uint32_t)(second ? b : a);
    }
    return op;
}

/* What the schedule sends in all. A vector of Reduce_scatter has N for each task of the group. */
static void expected(unsigned collective, int32_t a, int32_t b, int32_t root, uint64_t *messages,
                     uint64_t *bytes)
{
    uint64_t m = (uint64_t)a, n = (uint64_t)b;
    switch (collective) {
    case TASK_COLL_BARRIER:
    case TASK_COLL_ALLREDUCE:
        *messages = (m + n) + 2 + (m - 1) + (n - 1);
        *bytes = collective == TASK_COLL_BARRIER ? 0 : *messages * N;
        break;
    case TASK_COLL_REDUCE_SCATTER:
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        *messages = (m + n) + (m - 1) + (n - 1);
        *bytes = (m * m + n * n + m - 1 + n - 1) * N;
        break;
    default:
        *messages = is_rooted(collective) ? (root < a ? n : m) : 2 * m * n;
        *bytes = *messages * N;
    }
}

static bool between_groups(unsigned collective)
{
    return collective <= TASK_COLL_REDUCE_SCATTER_BLOCK;
}

static void played(unsigned collective, int32_t a, int32_t b, int32_t root, bool persistent,
                   const char *settings)
{
    struct fake_net net;
    struct task_op ops[MOST][9];
    uint64_t messages, bytes, sent = 0, sent_bytes = 0, got = 0, starts = persistent ? 2 : 1;
    groups_open(&net, a, b, settings);
    for (int32_t t = 0; t < a + b; t++) {
        struct task_op *op = ops[t];
        uint32_t n = 0;
        op[n++] = call_of(collective, a, b, t, root);
        if (persistent)
            op[0].kind = TASK_OP_COLLECTIVE_INIT;
        for (uint64_t i = 0; i < starts; i++) {
            if (persistent)
                op[n++] = (struct task_op){.kind = TASK_OP_START, .request = 7, .call = "MPI_Start"};
            op[n++] = (struct task_op){.kind = TASK_OP_WAIT, .request = 7, .call = "MPI_Wait"};
        }
        if (persistent)
            op[n++] =
                (struct task_op){.kind = TASK_OP_REQUEST_FREE, .request = 7, .call = "MPI_Request_free"};
        op[n++] = (struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"};
        net.program.ops[t] = op;
    }
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    assert_int_equal(task_mpi_unfinished(net.mpi), 0);
    assert_int_equal(net.mpi->request.live, 0);
    assert_int_equal(net.mpi->message.live, 0);
    assert_int_equal(net.mpi->run.live, 0);
    for (int32_t t = 0; t < a + b; t++) {
        sent += fake_row(&net, (uint32_t)t).messages_sent;
        sent_bytes += fake_row(&net, (uint32_t)t).bytes_sent;
        got += fake_row(&net, (uint32_t)t).bytes_received;
    }
    expected(collective, a, b, root, &messages, &bytes);
    assert_int_equal(sent, starts * messages);
    assert_int_equal(sent_bytes, starts * bytes);
    assert_int_equal(got, starts * bytes);
    fake_close(&net);
}

static void test_all(void **state)
{
    (void)state;
    static const char *const settings[] = {"", "mpi: { eager_limit = \"1 B\"; };",
                                           "mpi: { progress = \"calls\"; eager_limit = \"1 B\"; };"};
    for (unsigned collective = 0; collective < TASK_COLL_COUNT; collective++)
        for (int32_t a = 1; between_groups(collective) && a <= 5; a++)
            for (int32_t b = 1; b <= 5; b++)
                for (int i = 0; i < 3; i++) {
                    played(collective, a, b, a + b - 1, i % 2, settings[i]);
                    played(collective, a, b, a - 1, !(i % 2), settings[i]);
                }
}

/* The second task of the first group calls MPI_Ibarrier at C, all others at 0: nobody leaves before C. */
static void test_barrier(void **state)
{
    (void)state;
    const ker_time c = 10 * KER_US;
    struct fake_net net;
    struct task_op ops[5][4];
    groups_open(&net, 2, 3, "");
    for (int32_t t = 0; t < 5; t++) {
        struct task_op *op = ops[t];
        if (t == 1)
            *op++ = (struct task_op){.kind = TASK_OP_COMPUTE, .time = c, .call = "computation"};
        *op++ = call_of(TASK_COLL_BARRIER, 2, 3, t, 0);
        *op++ = (struct task_op){.kind = TASK_OP_WAIT, .request = 7, .call = "MPI_Wait"};
        *op++ = (struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"};
        net.program.ops[t] = ops[t];
    }
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    /* Task 1 tells 2, the leader of the others, at C + WAY(0). 2 tells 0, and, when that has left, 1. When 0
     * knows it, at C + 2 WAY(0), it tells 3 and 4. Each leader has ended when what it sends last has left. */
    const ker_time left = 32 * 40;
    assert_int_equal(fake_row(&net, 0).finish, c + 2 * WAY(0) + left);
    assert_int_equal(fake_row(&net, 1).finish, c + 2 * WAY(0) + left);
    assert_int_equal(fake_row(&net, 2).finish, c + WAY(0) + 2 * left);
    assert_int_equal(fake_row(&net, 3).finish, c + 3 * WAY(0));
    assert_int_equal(fake_row(&net, 4).finish, c + 3 * WAY(0));
    fake_close(&net);
}

/* A broadcast while the root computes; and calls of both groups' own communicators between them, which must
 * not be taken for each other. */
static void test_overlap(void **state)
{
    (void)state;
    const ker_time c = 10 * KER_US;
    struct fake_net net;
    struct task_op ops[3][5];
    groups_open(&net, 1, 2, "");
    for (int32_t t = 0; t < 3; t++) {
        ops[t][0] = call_of(TASK_COLL_BCAST, 1, 2, t, 0);
        ops[t][1] = call_of(TASK_COLL_BARRIER, 1, 2, t, 0);
        ops[t][1].comm = 0;
        ops[t][1].kind = TASK_OP_COLLECTIVE;
        ops[t][2] = (struct task_op){.kind = TASK_OP_COMPUTE, .time = c, .call = "computation"};
        ops[t][3] = (struct task_op){.kind = TASK_OP_WAIT, .request = 7, .call = "MPI_Wait"};
        ops[t][4] = (struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"};
        net.program.ops[t] = ops[t];
    }
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    for (uint32_t t = 0; t < 3; t++) /* the barrier of three tasks has two rounds */
        assert_int_equal(fake_row(&net, t).finish, 2 * WAY(0) + c);
    fake_close(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_overlap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
