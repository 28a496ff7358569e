/* test_mpi_partitioned.c - partitioned communication: times by hand on a network of constant latency.
 *
 * A message of b bytes takes WAY(b) = 1 us + (b + 32) x 40 ps to arrive and b x 40 ps until it has left
 * (fake_net.h). An announcement, and a start told to the sender, have 0 bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_net.h"
#include "tasks/mpi/state.h"

#define CALL(name) .call = "MPI_" name
#define WAY(b) (KER_US + (ker_time)((b) + 32) * 40)
#define LEAVES(b) ((ker_time)((b) + 32) * 40)
#define C (10 * KER_US)

#define PSEND(to, t, n, b, r)                                                                                \
    {                                                                                                        \
        .kind = TASK_OP_PSEND_INIT, .peer = (to), .tag = (t), .bytes2 = (n), .bytes = (b), .request = (r),   \
        CALL("Psend_init")                                                                                   \
    }
#define PRECV(from, t, n, b, r)                                                                              \
    {                                                                                                        \
        .kind = TASK_OP_PRECV_INIT, .peer = (from), .tag = (t), .bytes2 = (n), .bytes = (b), .request = (r), \
        CALL("Precv_init")                                                                                   \
    }
#define PREADY(first, n, r)                                                                                  \
    {                                                                                                        \
        .kind = TASK_OP_PREADY, .tag2 = (first), .bytes2 = (n), .request = (r), CALL("Pready_range")         \
    }
#define PARRIVED(i, r)                                                                                       \
    {                                                                                                        \
        .kind = TASK_OP_PARRIVED, .tag2 = (i), .outcome = 1, .request = (r), CALL("Parrived")                \
    }
#define START(r)                                                                                             \
    {                                                                                                        \
        .kind = TASK_OP_START, .request = (r), CALL("Start")                                                 \
    }
#define WAIT(r)                                                                                              \
    {                                                                                                        \
        .kind = TASK_OP_WAIT, .request = (r), CALL("Wait")                                                   \
    }
#define FREE(r)                                                                                              \
    {                                                                                                        \
        .kind = TASK_OP_REQUEST_FREE, .request = (r), CALL("Request_free")                                   \
    }
#define COMPUTE(t)                                                                                           \
    {                                                                                                        \
        .kind = TASK_OP_COMPUTE, .time = (t), .call = "computation"                                          \
    }
#define END                                                                                                  \
    {                                                                                                        \
        .kind = TASK_OP_FINALIZE, CALL("Finalize")                                                           \
    }

static void assert_clean(const struct fake_net *net)
{
    assert_int_equal(task_mpi_unfinished(net->mpi), 0);
    assert_int_equal(net->mpi->request.live, 0);
    assert_int_equal(net->mpi->message.live, 0);
    assert_int_equal(net->mpi->partitioned.live, 0);
}

/* Two tasks; when the second has come to its end, and the first. */
static void play(const char *config, const struct task_op *a, const struct task_op *b, ker_time first,
                 ker_time second)
{
    struct fake_net net;
    fake_open(&net, 2, 1, config);
    fake_play(&net, (const struct task_op *const[]){a, b});
    assert_int_equal(fake_row(&net, 0).finish, first);
    assert_int_equal(fake_row(&net, 1).finish, second);
    assert_clean(&net);
    fake_close(&net);
}

/* Two partitions of 1,000 bytes are ready at C, two at 2 C. Half of the receiver's buffer has come one way
 * after C: one of its two partitions, or two of its four, and the third only one way after 2 C. Divided in
 * three, the first third has come with the second message; the second needs the third message. */
static void test_partitions(void **state)
{
    (void)state;
    const struct task_op send[] = {PSEND(1, 3, 4, 4000, 7),
                                   START(7),
                                   COMPUTE(C),
                                   PREADY(0, 2, 7),
                                   COMPUTE(C),
                                   PREADY(2, 2, 7),
                                   WAIT(7),
                                   FREE(7),
                                   END};
    const struct {
        uint32_t partitions, asked;
        ker_time time;
    } cases[] = {{2, 0, C + WAY(1000)},          {2, 1, 2 * C + WAY(1000)}, {4, 0, C + WAY(1000)},
                 {4, 1, C + WAY(1000)},          {4, 2, 2 * C + WAY(1000)}, {3, 0, C + WAY(1000)},
                 {3, 1, 2 * C + WAY(1000)},      {1, 0, 2 * C + WAY(1000)}, {4000, 1999, C + WAY(1000)},
                 {4000, 2000, 2 * C + WAY(1000)}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct task_op receive[] = {PRECV(0, 3, cases[i].partitions, 4000, 1),
                                          START(1),
                                          PARRIVED((int32_t)cases[i].asked, 1),
                                          COMPUTE(5 * C),
                                          PARRIVED(0, 1),
                                          WAIT(1),
                                          PARRIVED(0, 1),
                                          FREE(1),
                                          END};
        play("", send, receive, 2 * C + LEAVES(1000), cases[i].time + 5 * C);
    }
}

/* As one message it leaves when the last partition is ready, whatever their order. */
static void test_whole(void **state)
{
    (void)state;
    const struct task_op send[] = {PSEND(1, 3, 4, 4000, 7),
                                   START(7),
                                   COMPUTE(C),
                                   PREADY(2, 2, 7),
                                   COMPUTE(C),
                                   PREADY(0, 2, 7),
                                   WAIT(7),
                                   FREE(7),
                                   END};
    const struct task_op receive[] = {
        PRECV(0, 3, 2, 4000, 1), START(1), PARRIVED(1, 1), WAIT(1), FREE(1), END};
    play("mpi: { partitioned = \"whole\"; };", send, receive, 2 * C + LEAVES(4000), 2 * C + WAY(4000));
    play("mpi: { partitioned = \"whole\"; }; node: { send_overhead = \"1 us\"; receive_overhead = \"2 us\"; "
         "};",
         send, receive, 2 * C + 2 * KER_US + LEAVES(4000), 2 * C + 2 * KER_US + WAY(4000) + 2 * KER_US);
}

/* The announcement costs one overhead, each message another: of two that are ready together, both are paid
 * before they leave. */
static void test_overheads(void **state)
{
    (void)state;
    const struct task_op send[] = {PSEND(1, 3, 4, 4000, 7),
                                   START(7),
                                   COMPUTE(C),
                                   PREADY(0, 2, 7),
                                   COMPUTE(C),
                                   PREADY(2, 2, 7),
                                   WAIT(7),
                                   FREE(7),
                                   END};
    const struct task_op receive[] = {PRECV(0, 3, 4, 4000, 1), START(1), WAIT(1), FREE(1), END};
    play("node: { send_overhead = \"1 us\"; receive_overhead = \"2 us\"; };", send, receive,
         2 * C + 5 * KER_US + LEAVES(1000), 2 * C + 5 * KER_US + WAY(1000) + 2 * KER_US);
    /* By size: the announcement 100 ns, each of 1,000 bytes 2 us; at the receiver 4,000 bytes 3 us. */
    play("node: { send_overhead = [\"100 ns\", \"2 us:1 kB\"]; receive_overhead = [\"0 ns\", \"3 us:4 kB\"]; "
         "};",
         send, receive, 2 * C + 8 * KER_US + 100 * KER_NS + LEAVES(1000),
         2 * C + 8 * KER_US + 100 * KER_NS + WAY(1000) + 3 * KER_US);
}

/* The receiver starts at C only: what is ready before leaves when that is known; each further start waits for
 * the receiver again. */
static void test_late_receiver(void **state)
{
    (void)state;
    const struct task_op send[] = {
        PSEND(1, 3, 2, 2000, 7), START(7),        PREADY(0, 2, 7), WAIT(7), START(7),
        PREADY(1, 1, 7),         PREADY(0, 1, 7), WAIT(7),         FREE(7), END};
    const struct task_op receive[] = {
        COMPUTE(C), PRECV(0, 3, 1, 2000, 1), START(1), WAIT(1), COMPUTE(C), START(1), WAIT(1), FREE(1), END};
    const ker_time begun = C + WAY(0) + WAY(1000) + C;
    play("", send, receive, begun + WAY(0) + LEAVES(1000), begun + WAY(0) + WAY(1000));
}

/* Announcements are paired in their order for each tag, whatever the order of the tags, and not found by
 * MPI_Probe or a receive; nobody's requests complete at once. */
static void test_pairs(void **state)
{
    (void)state;
    const struct task_op send[] = {PSEND(1, 3, 1, 1000, 1),
                                   PSEND(1, 4, 1, 2000, 2),
                                   PSEND(1, 3, 1, 3000, 3),
                                   PSEND(TASK_PROC_NULL, 3, 1, 3000, 4),
                                   START(4),
                                   PREADY(0, 1, 4),
                                   WAIT(4),
                                   START(3),
                                   PREADY(0, 1, 3),
                                   WAIT(3),
                                   COMPUTE(C),
                                   START(1),
                                   START(2),
                                   PREADY(0, 1, 1),
                                   PREADY(0, 1, 2),
                                   WAIT(2),
                                   WAIT(1),
                                   FREE(1),
                                   FREE(2),
                                   FREE(3),
                                   FREE(4),
                                   END};
    const struct task_op receive[] = {PRECV(0, 4, 1, 2000, 2),
                                      PRECV(0, 3, 1, 1000, 1),
                                      PRECV(0, 3, 1, 3000, 3),
                                      START(1),
                                      START(2),
                                      START(3),
                                      WAIT(3),
                                      COMPUTE(3 * C),
                                      PARRIVED(0, 2),
                                      WAIT(2),
                                      WAIT(1),
                                      FREE(1),
                                      FREE(2),
                                      FREE(3),
                                      END};
    const ker_time third = 2 * WAY(0) + LEAVES(3000);
    play("", send, receive, third + C + LEAVES(2000), 2 * WAY(0) + WAY(3000) + 3 * C);
}

/* The sender computes from 0 to C and is told of the receiver's start meanwhile: by mpi.progress the adapter
 * sends what is ready, or the task in its next call, or a thread, which takes its time from the task. */
static void test_progress(void **state)
{
    (void)state;
    const struct task_op send[] = {
        PSEND(1, 3, 2, 2000, 7), START(7), PREADY(0, 2, 7), COMPUTE(C), WAIT(7), FREE(7), END};
    const struct task_op receive[] = {PRECV(0, 3, 1, 2000, 1), START(1), WAIT(1), FREE(1), END};
    play("", send, receive, C, 2 * WAY(0) + WAY(1000));
    play("mpi: { progress = \"calls\"; };", send, receive, C + LEAVES(1000), C + WAY(1000));
    play("mpi: { progress = \"thread\"; progress_cost = \"300 ns\"; };", send, receive, C + 300 * KER_NS,
         2 * WAY(0) + WAY(1000));
}

/* Several streams of a task: one waits for the send while another one says that it is ready. */
static void test_streams(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    fake_streams(&net, 2);
    const struct task_op first[] = {PSEND(1, 3, 1, 1000, 7), START(7), WAIT(7), FREE(7), END},
                         second[] = {COMPUTE(C), PREADY(0, 1, 7), END},
                         receive[] = {
                             PRECV(0, 3, 2, 1000, 1), START(1), PARRIVED(1, 1), WAIT(1), FREE(1), END};
    net.program.ops[0] = first;
    net.program.ops[1] = receive;
    net.program.ops[2] = second;
    fake_start(&net);
    fake_run(&net, UINT64_MAX);
    assert_int_equal(fake_row(&net, 0).finish, C + LEAVES(1000));
    assert_int_equal(fake_row(&net, 1).finish, C + WAY(1000));
    assert_clean(&net);
    fake_close(&net);
}

/* Random partitions, starts and orders, with messages that overtake each other: all comes, and all at once
 * on a network without jitter as with. */
static void test_random(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 200; seed++) {
        struct ker_stream draw;
        ker_stream_init(&draw, seed, KER_PURPOSE_TEST, 77);
        uint32_t n = 1 + ker_stream_below(&draw, 9), m = 1 + ker_stream_below(&draw, 9),
                 starts = 1 + ker_stream_below(&draw, 4), ops = 0, gets = 0;
        struct task_op send[64] = {PSEND(1, 0, n, (uint64_t)n * m * 10, 1)},
                       receive[64] = {PRECV(0, 0, m, (uint64_t)n * m * 10, 1)};
        ops = gets = 1;
        for (uint32_t s = 0; s < starts; s++) {
            uint32_t first = ker_stream_below(&draw, n);
            send[ops++] = (struct task_op)START(1);
            if (first < n)
                send[ops++] = (struct task_op)PREADY((int32_t)first, n - first, 1);
            if (ker_stream_below(&draw, 2))
                send[ops++] = (struct task_op)COMPUTE(ker_stream_below(&draw, 5000) * 1000ll);
            for (uint32_t i = first; i-- > 0;)
                send[ops++] = (struct task_op)PREADY((int32_t)i, 1, 1);
            send[ops++] = (struct task_op)WAIT(1);
            receive[gets++] = (struct task_op)START(1);
            receive[gets++] = (struct task_op)PARRIVED((int32_t)ker_stream_below(&draw, m), 1);
            receive[gets++] = (struct task_op)WAIT(1);
        }
        send[ops++] = receive[gets++] = (struct task_op)FREE(1);
        send[ops++] = receive[gets++] = (struct task_op)END;
        struct fake_net net;
        fake_open(&net, 2, 1 + seed % 2, seed % 3 ? "" : "mpi: { partitioned = \"whole\"; };");
        net.jitter = seed % 5 ? 3 * KER_US : 0;
        fake_play(&net, (const struct task_op *const[]){send, receive});
        assert_clean(&net);
        assert_int_equal(fake_row(&net, 1).bytes_received, (uint64_t)n * m * 10 * starts);
        assert_int_equal(fake_row(&net, 1).messages_received, seed % 3 ? n * starts : starts);
        fake_close(&net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_partitions),    cmocka_unit_test(test_whole),  cmocka_unit_test(test_overheads),
        cmocka_unit_test(test_late_receiver), cmocka_unit_test(test_pairs),  cmocka_unit_test(test_progress),
        cmocka_unit_test(test_streams),       cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
