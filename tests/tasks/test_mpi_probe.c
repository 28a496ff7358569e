/* test_mpi_probe.c - messages that probes have taken out of the queue, and requests that are looked at only,
 * over a network made of a list of events (fake_net.h).
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
#define HEADER WIRE(0)
/* clang-format off */
#define END {.kind = TASK_OP_FINALIZE}
#define BSEND(to, t, n) {.kind = TASK_OP_SEND, .mode = TASK_MODE_BUFFERED, .peer = to, .tag = t, .bytes = n}
#define RECV(from, t, n) {.kind = TASK_OP_RECV, .peer = from, .tag = t, .bytes = n}
#define COMPUTE(t) {.kind = TASK_OP_COMPUTE, .time = t}
#define MPROBE(from, t, m) {.kind = TASK_OP_MPROBE, .peer = from, .tag = t, .message = m, .outcome = 1}
#define MRECV(m, n) {.kind = TASK_OP_MRECV, .message = m, .bytes = n}
#define IMRECV(m, n, r) {.kind = TASK_OP_IMRECV, .message = m, .bytes = n, .request = r}
#define STATUS(r) {.kind = TASK_OP_STATUS, .request = r}
#define WAIT(r) {.kind = TASK_OP_WAIT, .request = r}
/* clang-format on */

static void assert_clean(const struct fake_net *net)
{
    assert_int_equal(task_mpi_unfinished(net->mpi), 0);
    assert_int_equal(net->mpi->request.live, 0);
    assert_int_equal(net->mpi->message.live, 0);
}

/* The announcement of a large message is there at a header and 1 us: the probe ends. The message is asked for
 * when it is received, 10 us later: READ takes a header and 1 us, the data its bytes and 1 us. */
static void test_rendezvous(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    const struct task_op a[] = {BSEND(1, 5, 8193), END},
                         b[] = {MPROBE(TASK_ANY, TASK_ANY, 7), COMPUTE(10 * KER_US), MRECV(7, 9000), END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 1).finish,
                     (HEADER + KER_US) + 10 * KER_US + (HEADER + KER_US) + WIRE(8193) + KER_US);
    assert_int_equal(fake_row(&net, 1).bytes_received, 8193);
    assert_clean(&net);
    fake_close(&net);
}

static const struct task_state *state_of(const struct fake_net *net, uint32_t task)
{
    return &net->mpi->task[task];
}

/* Two messages of one tag: the probe takes the first, so the receive takes the second, though it is called
 * before the first is received. The first is rendezvous, the second is not: it is there at WIRE(100) after
 * the first's header. */
static void test_taken(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    const struct task_op a[] = {BSEND(1, 5, 20000), BSEND(1, 5, 100), END}, b[] = {MPROBE(0, 5, 1),
                                                                                   RECV(0, 5, 100),
                                                                                   COMPUTE(KER_US),
                                                                                   IMRECV(1, 20000, 9),
                                                                                   STATUS(9),
                                                                                   WAIT(9),
                                                                                   END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    ker_time second = WIRE(100) + KER_US; /* the fake network sends at once, whatever is in flight */
    assert_int_equal(fake_row(&net, 1).finish, second + KER_US + (HEADER + KER_US) + WIRE(20000) + KER_US);
    assert_int_equal(fake_row(&net, 1).messages_received, 2);
    assert_int_equal(fake_row(&net, 1).bytes_received, 20100);
    assert_int_equal(state_of(&net, 1)->queues->held.first, 0);
    assert_clean(&net);
    fake_close(&net);
}

/* From nobody: the probe ends at once, and so does the receive; a probe that found nothing waits for nothing;
 * a null request has its status. */
static void test_nobody(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 1, 1, "");
    struct task_op none = MPROBE(0, 5, 3);
    none.outcome = 0;
    const struct task_op a[] = {
        MPROBE(TASK_PROC_NULL, 5, 1), MRECV(1, 10), IMRECV(2, 10, 4), STATUS(4), WAIT(4), none, END};
    fake_play(&net, (const struct task_op *const[]){a});
    assert_int_equal(fake_row(&net, 0).finish, 0);
    assert_int_equal(fake_row(&net, 0).messages_received, 0);
    assert_clean(&net);
    fake_close(&net);
}

/* Looking at a request waits for it, and leaves it to be waited for; of a persistent one, to be started
 * again.
 */
static void test_status(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "node: { receive_overhead = \"200 ns\"; };");
    const struct task_op a[] = {COMPUTE(5 * KER_US), BSEND(1, 1, 64), COMPUTE(5 * KER_US), BSEND(1, 1, 64),
                                END};
    const struct task_op b[] = {{.kind = TASK_OP_RECV_INIT, .peer = 0, .tag = 1, .bytes = 64, .request = 8},
                                STATUS(8),
                                {.kind = TASK_OP_START, .request = 8},
                                STATUS(8),
                                STATUS(8),
                                WAIT(8),
                                {.kind = TASK_OP_START, .request = 8},
                                STATUS(8),
                                WAIT(8),
                                {.kind = TASK_OP_REQUEST_FREE, .request = 8},
                                END};
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 1).wait, 10 * KER_US + WIRE(64) + KER_US - 200 * KER_NS);
    assert_int_equal(fake_row(&net, 1).finish, 10 * KER_US + WIRE(64) + KER_US + 200 * KER_NS);
    assert_clean(&net);
    fake_close(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rendezvous),
        cmocka_unit_test(test_taken),
        cmocka_unit_test(test_nobody),
        cmocka_unit_test(test_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
