/* The weather generator: order of the calls, neighbours at rings and poles, communicators, and whole steps
 * that must match. */
#include "tests/replay.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct ker_kind task_program_weather;
static const struct task_program_class *class; /* of it */

#define PROGRAM "weather"
#include "tests/tasks/program_bench.h"

static void expect_message(struct bench *b, uint32_t task, unsigned kind, int32_t peer, int32_t tag)
{
    struct task_op op;
    assert_true(class->next(b->program, task, &op));
    assert_int_equal(op.kind, kind);
    assert_int_equal(op.peer, peer);
    assert_int_equal(op.tag, tag);
    assert_int_equal(op.bytes, 1000);
}

static void expect_compute(struct bench *b, uint32_t task, ker_time time)
{
    struct task_op op;
    assert_true(class->next(b->program, task, &op));
    assert_int_equal(op.kind, TASK_OP_COMPUTE);
    assert_int_equal(op.time, time);
}

static void expect_collective(struct bench *b, uint32_t task, unsigned collective, int32_t comm,
                              uint64_t bytes)
{
    struct task_op op;
    assert_true(class->next(b->program, task, &op));
    assert_int_equal(op.kind, TASK_OP_COLLECTIVE);
    assert_int_equal(op.collective, collective);
    assert_int_equal(op.comm, comm);
    assert_int_equal(op.bytes, bytes);
}

static void test_order(void **state)
{
    struct bench b;
    bench_good(&b, "grid = [4, 3]; steps = 2; halo_bytes = \"1000\"; transpose_bytes = \"1201\"; "
                   "compute_time = \"5 ns\";"
                   "allreduce_every = 2; allreduce_bytes = \"64\";");
    for (int step = 0; step < 2; step++) {
        struct task_op op;
        /* Task 3 of 4 columns and 3 rows is at column 3, row 0: west 2, east round the ring 0, no north,
         * south 7. What comes from the west was sent eastward (1), from the east westward (0), from the south
         * northward (2). */
        expect_message(&b, 3, TASK_OP_IRECV, 2, 1);
        expect_message(&b, 3, TASK_OP_IRECV, 0, 0);
        expect_message(&b, 3, TASK_OP_IRECV, 7, 2);
        expect_message(&b, 3, TASK_OP_ISEND, 2, 0);
        expect_message(&b, 3, TASK_OP_ISEND, 0, 1);
        expect_message(&b, 3, TASK_OP_ISEND, 7, 3);
        assert_true(class->next(b.program, 3, &op));
        assert_int_equal(op.kind, TASK_OP_WAITALL);
        assert_int_equal(op.request_count, 6);
        /* 5 ns in halves of whole picoseconds; row 0 is communicator 1, column 3 is 1 + 3 rows + 3; 1201
         * bytes in 4 blocks of 301, in 3 blocks of 401, rounded up. */
        expect_compute(&b, 3, 2500);
        expect_collective(&b, 3, TASK_COLL_ALLTOALL, 1, 301);
        expect_collective(&b, 3, TASK_COLL_ALLTOALL, 7, 401);
        expect_compute(&b, 3, 2500);
        expect_collective(&b, 3, TASK_COLL_ALLTOALL, 7, 401);
        expect_collective(&b, 3, TASK_COLL_ALLTOALL, 1, 301);
        if (step == 1)
            expect_collective(&b, 3, TASK_COLL_ALLREDUCE, 0, 64);
    }
    struct task_op op;
    assert_true(class->next(b.program, 3, &op));
    assert_int_equal(op.kind, TASK_OP_FINALIZE);
    assert_false(class->next(b.program, 3, &op));
    expect_message(&b, 3, TASK_OP_IRECV, 2, 1); /* a background job that starts again */
    bench_close(&b);
}

static void test_communicators(void **state)
{
    struct bench b;
    int32_t count;
    bench_good(&b, "grid = [4, 3];");
    const struct task_comm *comm = class->comms(b.program, &count);
    assert_int_equal(count, 1 + 3 + 4);
    assert_int_equal(comm[0].size, 12);
    for (int32_t task = 0; task < 12; task++) {
        assert_int_equal(comm[1 + task / 4].size, 4);
        assert_int_equal(task_comm_rank(&comm[1 + task / 4], task), task % 4);
        assert_int_equal(comm[4 + task % 4].size, 3);
        assert_int_equal(task_comm_rank(&comm[4 + task % 4], task), task / 4);
    }
    bench_close(&b);
}

static void test_exchange(void **state)
{
    /* 4 x 3: 12 pairs west to east, 4 x 2 north to south, both directions, 3 steps. */
    bench_exchange("grid = [4, 3]; steps = 3; halo_bytes = \"10\"; allreduce_every = 2;", 3 * 40, 3 * 400);
    /* A ring of two: west and east is the same neighbour, twice; one row has no poles to speak of. */
    bench_exchange("grid = [2, 1]; steps = 1; halo_bytes = \"10\";", 4, 40);
    bench_exchange("grid = [1, 5]; steps = 1; halo_bytes = \"10\";", 8, 80);
    bench_exchange(
        "grid = [1, 1]; steps = 2; halo_bytes = \"10\"; allreduce_every = 1; compute_time = \"1 us\";", 0, 0);
    bench_exchange("grid = [5, 4]; steps = 2; halo_bytes = \"0\"; transpose_bytes = \"10\";", 0, 0);
    bench_exchange("grid = [5, 4]; steps = 2; halo_bytes = \"1\"; transpose_bytes = \"0\";", 2 * 70, 2 * 70);
}

static void test_refused(void **state)
{
    static const struct {
        const char *settings, *text;
    } bad[] = {
        {"steps = 1;", "jobs[0].grid: is missing"},
        {"grid = [4];", "has 1 value; columns and rows"},
        {"grid = [2, 2, 2];", "has 3 values; columns and rows"},
        {"grid = [100000, 100000];", "more than 2^31 - 1 tasks"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bench_refused(bad[i].settings, bad[i].text);
}

/* Four billion steps of nothing, or nearly: the test would not end if each were gone through. */
static void test_empty_steps(void **state)
{
    struct bench b;
    struct task_op op;
    static const char *const settings[] = {
        "grid = [1, 1]; allreduce_every = 1; steps = 4000000000;",
        "grid = [2, 2]; halo_bytes = \"0\"; transpose_bytes = \"0\"; steps = 4000000000;",
        "grid = [2, 2]; halo_bytes = \"0\"; transpose_bytes = \"0\"; compute_time = \"1 s\"; "
        "processor_factor = 0.0; steps = 4000000000;",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        bench_good(&b, settings[i]);
        assert_true(class->next(b.program, 0, &op));
        assert_int_equal(op.kind, TASK_OP_FINALIZE);
        assert_false(class->next(b.program, 0, &op));
        assert_true(class->next(b.program, 0, &op)); /* begins again */
        assert_int_equal(op.kind, TASK_OP_FINALIZE);
        bench_close(&b);
    }
    /* After steps 1,000,000,000, 2,000,000,000, 3,000,000,000. */
    bench_good(&b, "grid = [2, 2]; halo_bytes = \"0\"; transpose_bytes = \"0\"; steps = 3999999999; "
                   "allreduce_every = 1000000000;");
    for (int i = 0; i < 3; i++)
        expect_collective(&b, 3, TASK_COLL_ALLREDUCE, 0, 8);
    assert_true(class->next(b.program, 3, &op));
    assert_int_equal(op.kind, TASK_OP_FINALIZE);
    bench_close(&b);
}

int main(void)
{
    class = task_program_weather.operations;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty_steps),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_communicators), cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
