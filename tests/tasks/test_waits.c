/* test_waits.c - what waits are due to (output.waits), by hand. Parts of a wait that are not named are 0, so
 * that the named ones are all of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ops_by_hand.h"
#include "tasks/mpi/state.h"

#define WAITS "output: { waits = true; };"

static struct task_parts parts_of(const struct fake_net *net, uint32_t task)
{
    uint32_t count;
    struct task_waited_in *all = task_waits_sorted(net->mpi, &net->mpi->task[task], net->now, &count),
                          sum = {0};
    for (uint32_t i = 0; i < count; i++)
        task_waits_join(&sum, &all[i]);
    free(all);
    return sum.parts;
}

/* And that they are what tasks.csv has. */
static void assert_parts(const struct fake_net *net, uint32_t task, const struct task_parts *expected)
{
    struct task_parts got = parts_of(net, task);
    struct task_row row = fake_row(net, task);
    uint64_t sum = 0;
    for (int i = 0; i < TASK_PARTS; i++) {
        if (got.part[i] != expected->part[i])
            print_message("part %d of task %u\n", i, task);
        assert_int_equal(got.part[i], expected->part[i]);
        sum += got.part[i];
    }
    assert_int_equal(sum, row.wait + row.send_wait);
    assert_int_equal(got.waits, expected->waits);
}

#define PARTS(n, ...) (&(struct task_parts){.waits = n, .part = {__VA_ARGS__}})
#define IS(part, time) [TASK_PART_##part] = (uint64_t)(time)

static void play(struct fake_net *net, const struct task_op *a, const struct task_op *b)
{
    fake_play(net, (const struct task_op *const[]){a, b});
}

/* Task 0 computes 5 us, then sends: for so long the receiver has waited for it, then for the message. */
static void test_eager_late_sender(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    play(&net, (const struct task_op[]){COMPUTE(5 * KER_US), SEND(1, 100), END},
         (const struct task_op[]){RECV(0, 100), END});
    assert_parts(&net, 1, PARTS(1, IS(LATE_SENDER, 5 * KER_US), IS(TRANSFER, WAY(100))));
    assert_parts(&net, 0, PARTS(1, IS(SENDING, LEAVES(100))));
    fake_close(&net);
}

/* The doorbell's 300 ns are a part of the way: the sender acted before. */
static void test_doorbell(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS "node: { doorbell = \"300 ns\"; send_overhead = \"200 ns\"; };");
    play(&net, (const struct task_op[]){SEND(1, 100), END}, (const struct task_op[]){RECV(0, 100), END});
    assert_parts(&net, 1, PARTS(1, IS(LATE_SENDER, 200 * KER_NS), IS(TRANSFER, WAY(100) + 300 * KER_NS)));
    fake_close(&net);
}

/* Sent before the wait began: what is left of the way is waited for. */
static void test_rest_of_the_way(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    play(&net, (const struct task_op[]){SEND(1, 100), END},
         (const struct task_op[]){IRECV(0, 100), COMPUTE(300 * KER_NS), WAIT, END});
    assert_parts(&net, 1, PARTS(1, IS(TRANSFER, WAY(100) - 300 * KER_NS)));
    fake_close(&net);
}

/* RTS at 0, READ at WAY(0), DATA at 2 WAY(0), FIN when that is here. The receiver was there first. */
static void test_rendezvous(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    play(&net, (const struct task_op[]){SEND(1, BIG), END}, (const struct task_op[]){RECV(0, BIG), END});
    assert_parts(&net, 1, PARTS(1, IS(HANDSHAKE, 2 * WAY(0)), IS(TRANSFER, WAY(BIG))));
    assert_parts(&net, 0, PARTS(1, IS(HANDSHAKE, 3 * WAY(0)), IS(TRANSFER, WAY(BIG))));
    fake_close(&net);
}

/* The receive comes 20 us late: so long the sender has waited for it, then READ, DATA, FIN. The receiver
 * itself has acted last: it waits for READ and DATA only. */
static void test_rendezvous_late_receiver(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    play(&net, (const struct task_op[]){SEND(1, BIG), END},
         (const struct task_op[]){COMPUTE(20 * KER_US), RECV(0, BIG), END});
    assert_parts(&net, 0,
                 PARTS(1, IS(LATE_RECEIVER, 20 * KER_US), IS(HANDSHAKE, 2 * WAY(0)), IS(TRANSFER, WAY(BIG))));
    assert_parts(&net, 1, PARTS(1, IS(HANDSHAKE, WAY(0)), IS(TRANSFER, WAY(BIG))));
    fake_close(&net);
}

/* CTS in place of READ; the send ends when DATA has left. */
static void test_rendezvous_write(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS "mpi: { rendezvous = \"write\"; };");
    play(&net, (const struct task_op[]){SEND(1, BIG), END},
         (const struct task_op[]){COMPUTE(20 * KER_US), RECV(0, BIG), END});
    assert_parts(&net, 0,
                 PARTS(1, IS(LATE_RECEIVER, 20 * KER_US), IS(HANDSHAKE, WAY(0)), IS(SENDING, LEAVES(BIG))));
    assert_parts(&net, 1, PARTS(1, IS(HANDSHAKE, WAY(0)), IS(TRANSFER, WAY(BIG))));
    fake_close(&net);
}

/* By progress in calls the CTS lies there until the sender, which computes 50 us after its Isend, calls
 * again: until then the receiver has waited for the sender, and from then on for DATA. */
static void test_progress_in_calls(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS "mpi: { rendezvous = \"write\"; progress = \"calls\"; };");
    play(&net,
         (const struct task_op[]){
             {.kind = TASK_OP_ISEND, .peer = 1, .bytes = BIG, .request = 1, .call = "MPI_Isend"},
             COMPUTE(50 * KER_US),
             WAIT,
             END},
         (const struct task_op[]){RECV(0, BIG), END});
    assert_parts(&net, 1, PARTS(1, IS(LATE_SENDER, 50 * KER_US), IS(TRANSFER, WAY(BIG))));
    assert_parts(&net, 0, PARTS(1, IS(SENDING, LEAVES(BIG))));
    fake_close(&net);
}

/* A synchronous send waits for the receive, and for the acknowledgement. */
static void test_synchronous(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    play(&net, (const struct task_op[]){SSEND(1, 100), END},
         (const struct task_op[]){COMPUTE(20 * KER_US), RECV(0, 100), END});
    assert_parts(&net, 0, PARTS(1, IS(LATE_RECEIVER, 20 * KER_US), IS(HANDSHAKE, WAY(0))));
    assert_parts(&net, 1, PARTS(0, 0));
    fake_close(&net);
}

/* Three messages have come before their receives: the RTS of BIG finds its own after looking at three posted
 * ones, 10 ns each, and READ goes out so much later. */
static void test_matching(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS "mpi: { match_time = \"10 ns\"; };");
    const struct task_op tagged[] = {
        {.kind = TASK_OP_IRECV, .peer = 0, .bytes = 8, .tag = 5, .request = 5, .call = "MPI_Irecv"},
        {.kind = TASK_OP_IRECV, .peer = 0, .bytes = 8, .tag = 6, .request = 6, .call = "MPI_Irecv"},
        RECV(0, BIG),
        {.kind = TASK_OP_CANCEL, .request = 5, .call = "MPI_Cancel"},
        {.kind = TASK_OP_CANCEL, .request = 6, .call = "MPI_Cancel"},
        END};
    play(&net, (const struct task_op[]){SEND(1, BIG), END}, tagged);
    assert_parts(&net, 1,
                 PARTS(1, IS(HANDSHAKE, 2 * WAY(0)), IS(TRANSFER, WAY(BIG)), IS(MATCHING, 30 * KER_NS)));
    assert_parts(&net, 0,
                 PARTS(1, IS(HANDSHAKE, 3 * WAY(0)), IS(TRANSFER, WAY(BIG)), IS(MATCHING, 30 * KER_NS)));
    fake_close(&net);
}

/* A barrier of two tasks is one message in each direction: task 0 waits 7 us until task 1 enters, and for its
 * message, which is here WAY(0) later. That of task 0 was there: task 1 waits only until its own has left. */
static void test_barrier(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    play(&net, (const struct task_op[]){BARRIER, END},
         (const struct task_op[]){COMPUTE(7 * KER_US), BARRIER, END});
    struct task_parts got = parts_of(&net, 0);
    assert_int_equal(got.part[TASK_PART_LATE_PARTICIPANTS], 7 * KER_US);
    assert_int_equal(got.part[TASK_PART_LATE_SENDER], 0);
    assert_int_equal(got.part[TASK_PART_TRANSFER] + got.part[TASK_PART_SENDING], WAY(0));
    uint32_t count;
    struct task_waited_in *all = task_waits_sorted(net.mpi, &net.mpi->task[0], 0, &count);
    assert_int_equal(count, 1);
    assert_string_equal(all[0].function, "MPI_Barrier");
    assert_int_equal(all[0].skew, 7 * KER_US);
    assert_int_equal(all[0].skew_most, 7 * KER_US);
    free(all);
    fake_close(&net);
}

/* Four tasks, of which task 3 enters last, at 9 us. Whatever the algorithm, all know of that when it is over,
 * nobody waits for it longer than until then, and the parts are all of the wait. */
static void test_barrier_of_four(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 4, 1, WAITS);
    const struct task_op early[] = {BARRIER, END}, late[] = {COMPUTE(9 * KER_US), BARRIER, END};
    fake_play(&net, (const struct task_op *const[]){early, early, early, late});
    for (uint32_t i = 0; i < 4; i++) {
        struct task_parts got = parts_of(&net, i);
        struct task_row row = fake_row(&net, i);
        uint64_t sum = 0;
        for (int k = 0; k < TASK_PARTS; k++)
            sum += got.part[k];
        assert_int_equal(sum, row.wait);
        assert_int_equal(got.part[TASK_PART_LATE_SENDER] + got.part[TASK_PART_OTHER], 0);
        assert_true(got.part[TASK_PART_LATE_PARTICIPANTS] <= 9 * KER_US);
        uint32_t count;
        struct task_waited_in *all = task_waits_sorted(net.mpi, &net.mpi->task[i], 0, &count);
        assert_int_equal(all[0].skew, i < 3 ? 9 * KER_US : 0); /* all know of the last one when it is over */
        free(all);
    }
    fake_close(&net);
}

/* A barrier that does not block: its end is told in a wait, which began when it was entered. */
static void test_barrier_in_the_background(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    play(&net, (const struct task_op[]){IBARRIER, COMPUTE(KER_US), WAIT, END},
         (const struct task_op[]){COMPUTE(7 * KER_US), BARRIER, END});
    assert_parts(&net, 0, PARTS(1, IS(LATE_PARTICIPANTS, 6 * KER_US), IS(TRANSFER, WAY(0))));
    fake_close(&net);
}

/* In transit: an eager message from its send to its arrival, the data of a rendezvous without the
 * handshake. 100 is of the class from 64 to below 128, the seventh; BIG from 65,536, the seventeenth. */
static void test_rates(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    play(&net, (const struct task_op[]){SEND(1, 100), SEND(1, BIG), SEND(1, 100), SEND(1, 0), END},
         (const struct task_op[]){RECV(0, 100), RECV(0, BIG), RECV(0, 100), RECV(0, 0), END});
    const struct task_waited *w = &net.mpi->waited[1];
    const struct task_rate expected[] = {
        {0, 1, 0, (uint64_t)WAY(0)}, {7, 2, 200, (uint64_t)(2 * WAY(100))}, {17, 1, BIG, (uint64_t)WAY(BIG)}};
    assert_int_equal(w->rates, 3);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(w->rate[i].class, expected[i].class);
        assert_int_equal(w->rate[i].messages, expected[i].messages);
        assert_int_equal(w->rate[i].bytes, expected[i].bytes);
        assert_int_equal(w->rate[i].time, expected[i].time);
    }
    assert_int_equal(net.mpi->waited[0].rates, 0);
    fake_close(&net);
}

/* The run ends while the receiver waits: nobody knows for what. */
static void test_open_at_the_end(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, WAITS);
    const struct task_op a[] = {COMPUTE(5 * KER_US), SEND(1, 100), END}, b[] = {RECV(0, 100), END};
    net.program.ops[0] = a;
    net.program.ops[1] = b;
    fake_start(&net);
    fake_run(&net, 1);
    assert_parts(&net, 1, PARTS(1, IS(OTHER, 5 * KER_US)));
    fake_close(&net);
}

/* Nobody asks: nothing is there. */
static void test_off(void **state)
{
    (void)state;
    struct fake_net net;
    fake_open(&net, 2, 1, "");
    play(&net, (const struct task_op[]){SEND(1, BIG), END}, (const struct task_op[]){RECV(0, BIG), END});
    assert_null(net.mpi->waited);
    fake_close(&net);
}

/* cause.h's formula: a wait of 100 from 1000 on; what had passed before is taken from the handshake first,
 * contention is by how much sooner it had ended. */
static void test_divide(void **state)
{
    (void)state;
    struct task_cause cause = {
        .late = TASK_PART_LATE_SENDER, .origin = 1010, .contention = 20, .transfer = 30, .matching = 5};
    struct task_parts parts = {0};
    task_cause_divide(&cause, 1000, 1100, &parts);
    assert_memory_equal(&parts,
                        PARTS(1, IS(LATE_SENDER, 10), IS(CONTENTION, 20), IS(TRANSFER, 30), IS(MATCHING, 5),
                              IS(HANDSHAKE, 35)),
                        sizeof parts);
    parts = (struct task_parts){0};
    task_cause_divide(&cause, 1060, 1100, &parts);
    assert_memory_equal(&parts, PARTS(1, IS(CONTENTION, 20), IS(TRANSFER, 20)), sizeof parts);
    parts = (struct task_parts){0};
    task_cause_divide(&cause, 1090, 1100, &parts);
    assert_memory_equal(&parts, PARTS(1, IS(CONTENTION, 10)), sizeof parts);
    cause.collective = true;
    cause.entered = 1004;
    parts = (struct task_parts){0};
    task_cause_divide(&cause, 1000, 1100, &parts);
    assert_int_equal(parts.part[TASK_PART_LATE_PARTICIPANTS], 4);
    assert_int_equal(parts.part[TASK_PART_COLLECTIVE_STEPS], 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eager_late_sender),
        cmocka_unit_test(test_doorbell),
        cmocka_unit_test(test_rest_of_the_way),
        cmocka_unit_test(test_rendezvous),
        cmocka_unit_test(test_rendezvous_late_receiver),
        cmocka_unit_test(test_rendezvous_write),
        cmocka_unit_test(test_progress_in_calls),
        cmocka_unit_test(test_synchronous),
        cmocka_unit_test(test_matching),
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_barrier_of_four),
        cmocka_unit_test(test_barrier_in_the_background),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_open_at_the_end),
        cmocka_unit_test(test_off),
        cmocka_unit_test(test_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
