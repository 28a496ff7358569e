/* test_calls.c - what is counted of each function: calls, bytes, simulated time and wait, by hand.
 *
 * The network is that of fake_net.h: a message of n bytes leaves after (n + 32) x 40 ps and arrives 1 us
 * later.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"

#define WIRE(bytes) ((ker_time)((bytes) + 32) * 40)
#define OVERHEADS "node: { send_overhead = \"300 ns\"; receive_overhead = \"200 ns\"; };"

static void play(struct fake_net *net, const struct task_op *const *ops, uint64_t events)
{
    for (uint32_t i = 0; i < net->program.tasks; i++)
        net->program.ops[i] = ops[i];
    fake_start(net);
    fake_run(net, events);
}

static struct task_counted counted(const struct fake_net *net, uint32_t task, const char *function)
{
    uint32_t count;
    struct task_counted *all = task_calls_sorted(&net->mpi->task[task], net->now, &count), found = {0};
    for (uint32_t i = 0; i < count; i++) {
        assert_true(i == 0 || strcmp(all[i - 1].function, all[i].function) < 0);
        if (strcmp(all[i].function, function) == 0)
            found = all[i];
    }
    free(all);
    return found;
}

static void assert_counted(const struct fake_net *net, uint32_t task, const char *function, uint64_t calls,
                           uint64_t bytes, ker_time simulated, ker_time wait)
{
    struct task_counted c = counted(net, task, function);
    assert_int_equal(c.calls, calls);
    assert_int_equal(c.bytes, bytes);
    assert_int_equal(c.simulated, simulated);
    assert_int_equal(c.wait, wait);
}

/* Task 0 computes 1 us, sends 100 bytes (300 ns of overhead, then blocked until they have left) twice. Task 1
 * receives the first, blocked from 0 until it is there, then pays 200 ns; meanwhile the second has come, as
 * it left 300 ns + WIRE(100) = 305.28 ns after the first: it is taken 105.28 ns after the overhead was paid,
 * and costs its own. Then a computation of 7 ns that stands for a call. */
static void test_overheads_and_waits(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, OVERHEADS);
    net.job.counts_calls = true;
    const struct task_op send = {.kind = TASK_OP_SEND, .peer = 1, .bytes = 100, .call = "MPI_Send"},
                         receive = {.kind = TASK_OP_RECV, .peer = 0, .bytes = 100, .call = "MPI_Recv"},
                         end = {.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"};
    const struct task_op a[] = {
        {.kind = TASK_OP_COMPUTE, .time = KER_US, .call = "computation"}, send, send, end};
    const struct task_op b[] = {
        receive,
        receive,
        {.kind = TASK_OP_COMPUTE, .time = 7 * KER_NS, .is_call = true, .call = "MPI_Pack"},
        end};
    play(&net, (const struct task_op *const[]){a, b}, UINT64_MAX);
    ker_time each = 300 * KER_NS + WIRE(100);
    assert_counted(&net, 0, "MPI_Send", 2, 200, 2 * each, 2 * WIRE(100));
    assert_counted(&net, 0, "computation", 0, 0, 0, 0);
    assert_counted(&net, 0, "MPI_Finalize", 1, 0, 0, 0);
    ker_time wait = 2 * KER_US + each + (each - 200 * KER_NS);
    assert_counted(&net, 1, "MPI_Recv", 2, 200, wait + 400 * KER_NS, wait);
    assert_counted(&net, 1, "MPI_Pack", 1, 0, 7 * KER_NS, 0);
    fake_close(&net);
}

/* The run ends when the second message has left: what is in flight counts up to there. */
static void test_cut_at_the_end(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    net.job.counts_calls = true;
    char again[] = "MPI_Send"; /* another address of the same name */
    const struct task_op a[] = {{.kind = TASK_OP_SEND, .peer = 1, .bytes = 100, .call = "MPI_Send"},
                                {.kind = TASK_OP_SEND, .peer = 1, .bytes = 200, .call = again},
                                {.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"}};
    const struct task_op b[] = {{.kind = TASK_OP_RECV, .peer = 0, .bytes = 100, .call = "MPI_Recv"},
                                {.kind = TASK_OP_RECV, .peer = 0, .bytes = 200, .call = "MPI_Recv"},
                                {.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"}};
    play(&net, (const struct task_op *const[]){a, b}, 2);
    assert_counted(&net, 0, "MPI_Send", 2, 300, WIRE(100) + WIRE(200), WIRE(100) + WIRE(200));
    assert_counted(&net, 1, "MPI_Recv", 1, 100, WIRE(100) + WIRE(200), WIRE(100) + WIRE(200));
    fake_close(&net);
}

/* Nobody wants them: nothing is there. */
static void test_not_counted(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 1, 1, "");
    const struct task_op a[] = {{.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"}};
    play(&net, (const struct task_op *const[]){a}, UINT64_MAX);
    assert_null(net.mpi->task[0].calls);
    fake_close(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overheads_and_waits),
        cmocka_unit_test(test_cut_at_the_end),
        cmocka_unit_test(test_not_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
