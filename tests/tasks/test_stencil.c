/* The stencil generator: order of neighbours and calls, rims, message sizes, and whole exchanges that must
 * match. */
#include "tests/replay.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct ker_kind task_program_stencil;
static const struct task_program_class *class; /* of it */

#define PROGRAM "stencil"
#include "tests/tasks/program_bench.h"

static void expect_message(struct bench *b, uint32_t task, unsigned kind, int32_t peer, int32_t tag,
                           uint64_t bytes)
{
    struct task_op op;
    assert_true(class->next(b->program, task, &op));
    assert_int_equal(op.kind, kind);
    assert_int_equal(op.peer, peer);
    assert_int_equal(op.tag, tag);
    assert_int_equal(op.bytes, bytes);
}

static void test_order(void **state)
{
    struct bench b;
    bench_good(&b, "extents = [4, 3]; bytes = [\"1 KiB\", \"64\"]; steps = 2; compute_time = \"5 us\"; "
                   "allreduce_every = 2;");
    /* Task 6 of 4 x 3 is at (2, 1): neighbours 5, 7 in the first dimension, 2, 10 in the second. A receive
     * from direction 0 (from 5) takes what 5 sends in its direction 1. */
    expect_message(&b, 6, TASK_OP_IRECV, 5, 1, 1024);
    expect_message(&b, 6, TASK_OP_IRECV, 7, 0, 1024);
    expect_message(&b, 6, TASK_OP_IRECV, 2, 3, 64);
    expect_message(&b, 6, TASK_OP_IRECV, 10, 2, 64);
    expect_message(&b, 6, TASK_OP_ISEND, 5, 0, 1024);
    expect_message(&b, 6, TASK_OP_ISEND, 7, 1, 1024);
    expect_message(&b, 6, TASK_OP_ISEND, 2, 2, 64);
    expect_message(&b, 6, TASK_OP_ISEND, 10, 3, 64);
    struct task_op op;
    assert_true(class->next(b.program, 6, &op));
    assert_int_equal(op.kind, TASK_OP_WAITALL);
    assert_int_equal(op.request_count, 8);
    assert_true(class->next(b.program, 6, &op));
    assert_int_equal(op.kind, TASK_OP_COMPUTE);
    assert_int_equal(op.time, 5 * KER_US);
    /* No Allreduce after the first step, one after the second. */
    for (int i = 0; i < 10; i++) {
        assert_true(class->next(b.program, 6, &op));
        assert_int_not_equal(op.kind, TASK_OP_COLLECTIVE);
    }
    assert_true(class->next(b.program, 6, &op));
    assert_int_equal(op.kind, TASK_OP_COLLECTIVE);
    assert_int_equal(op.collective, TASK_COLL_ALLREDUCE);
    assert_int_equal(op.bytes, 8);
    assert_true(class->next(b.program, 6, &op));
    assert_int_equal(op.kind, TASK_OP_FINALIZE);
    assert_false(class->next(b.program, 6, &op));
    /* Task 0 at (0, 0): round the rings to 3 and 8. */
    expect_message(&b, 0, TASK_OP_IRECV, 3, 1, 1024);
    expect_message(&b, 0, TASK_OP_IRECV, 1, 0, 1024);
    expect_message(&b, 0, TASK_OP_IRECV, 8, 3, 64);
    bench_close(&b);
}

static void test_exchange(void **state)
{
    /* 27 tasks x 6 neighbours x 3 steps. */
    bench_exchange("extents = [3, 3, 3]; steps = 3; bytes = \"10\";", 27 * 6 * 3, 27 * 6 * 3 * 10);
    /* 27 x 26, once; 2 x 2 x 2: 8 x 26, several between the same two tasks, but those that lead back to the
     * task itself are left out: none, for every offset differs from 0 modulo 2 in some dimension. */
    bench_exchange("extents = [3, 3, 3]; steps = 1; bytes = \"10\"; neighbours = \"all\";", 27 * 26,
                   27 * 26 * 10);
    bench_exchange("extents = [2, 2, 2]; steps = 1; bytes = \"10\"; neighbours = \"all\";", 8 * 26,
                   8 * 26 * 10);
    /* Open: (4 - 1) x 3 + 4 x (3 - 1) = 17 pairs, both directions. */
    bench_exchange("extents = [4, 3]; steps = 1; bytes = \"1\"; periodic = false;", 34, 34);
    /* A ring of 4 in the first, open in the second dimension: 3 x 4 + 4 x 2 = 20 pairs. */
    bench_exchange("extents = [4, 3]; steps = 1; bytes = [\"1\", \"100\"]; periodic = [true, false];", 40,
                   24 + 16 * 100);
    /* All, open, 2 x 2: 4 sides of 1 or 100 bytes (2 each) and 2 diagonals of 1, both directions. */
    bench_exchange(
        "extents = [2, 2]; steps = 1; bytes = [\"1\", \"100\"]; periodic = false; neighbours = \"all\";", 12,
        2 * (2 * 1 + 2 * 100 + 2 * 1));
    /* One task has no neighbour but itself. */
    bench_exchange("extents = [1]; steps = 5; allreduce_every = 1;", 0, 0);
    bench_exchange("extents = [2]; steps = 1; bytes = \"1\";", 4, 4);
    bench_exchange("extents = [2, 1, 2, 2, 1, 2, 2, 3]; steps = 1; bytes = \"1\"; compute_time = \"1 us\";",
                   96 * 12, 96 * 12);
}

/* Four billion steps of nothing: the test would not end if each were gone through. */
static void test_empty_steps(void **state)
{
    static const char *const settings[] = {
        "extents = [1]; steps = 4000000000;",
        "extents = [1, 1]; steps = 4000000000; allreduce_every = 1; compute_time = \"1 s\"; processor_factor "
        "= 0.0;",
        "extents = [1]; steps = 4000000000; compute_time = \"1 ps\"; processor_factor = 0.4;",
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct bench b;
        struct task_op op;
        bench_good(&b, settings[i]);
        assert_true(class->next(b.program, 0, &op));
        assert_int_equal(op.kind, TASK_OP_FINALIZE);
        assert_false(class->next(b.program, 0, &op));
        bench_close(&b);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *settings, *text;
    } bad[] = {
        {"steps = 1;", "jobs[0].extents: is missing"},
        {"extents = [2, 2, 2, 2, 2, 2, 2, 2, 2];", "1 to 8 dimensions"},
        {"extents = [100000, 100000];", "more than 2^31 - 1 tasks"},
        {"extents = [2, 2, 2]; bytes = [\"1\", \"2\"];",
         "bytes: has 2 values; one for all or one for each of the 3 dimensions"},
        {"extents = [2, 2, 2]; periodic = [true, false];", "periodic: has 2 values"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bench_refused(bad[i].settings, bad[i].text);
}

int main(void)
{
    class = task_program_stencil.operations;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_empty_steps),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
