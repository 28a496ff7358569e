/* The generators fft, wavefront and sparse: order of the calls, who sends what to whom, whole steps that must
 * match, and what is refused. */
#include "tests/replay.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct ker_kind task_program_fft, task_program_wavefront, task_program_sparse;
static const char *program;
static const struct task_program_class *class; /* of it */

#define PROGRAM program
#include "tests/tasks/program_bench.h"

static void program_choose(const struct ker_kind *kind)
{
    program = kind->name;
    class = kind->operations;
}

static struct task_op next(struct bench *b, uint32_t task)
{
    struct task_op op;
    assert_true(class->next(b->program, task, &op));
    return op;
}

static void expect_compute(struct bench *b, uint32_t task, ker_time time)
{
    struct task_op op = next(b, task);
    assert_int_equal(op.kind, TASK_OP_COMPUTE);
    assert_int_equal(op.time, time);
}

static void expect_alltoall(struct bench *b, uint32_t task, int32_t comm, uint64_t bytes)
{
    struct task_op op = next(b, task);
    assert_int_equal(op.kind, TASK_OP_COLLECTIVE);
    assert_int_equal(op.collective, TASK_COLL_ALLTOALL);
    assert_int_equal(op.comm, comm);
    assert_int_equal(op.bytes, bytes);
}

static void expect_end(struct bench *b, uint32_t task)
{
    assert_int_equal(next(b, task).kind, TASK_OP_FINALIZE);
}

static void test_fft(void **state)
{
    struct bench b;
    int32_t count;
    program_choose(&task_program_fft);
    /* 8 x 6 x 4 points of 16 bytes are 3072 bytes, of 4 x 3 tasks 256 each: 64 for each of a row of 4, 86
     * (rounded up) for each of a column of 3. Task 6 is in row 1 and column 2: communicators 2 and 1 + 3 + 2.
     * 7 ps in six parts: i ends at 7 i / 6. */
    bench_good(&b, "points = [8, 6, 4]; grid = [4, 3]; steps = 1; compute_time = \"7 ps\";");
    expect_compute(&b, 6, 1);
    expect_alltoall(&b, 6, 2, 64);
    expect_compute(&b, 6, 1);
    expect_alltoall(&b, 6, 6, 86);
    expect_compute(&b, 6, 1);
    expect_compute(&b, 6, 1);
    expect_alltoall(&b, 6, 6, 86);
    expect_compute(&b, 6, 1);
    expect_alltoall(&b, 6, 2, 64);
    expect_compute(&b, 6, 2);
    expect_end(&b, 6);
    assert_int_equal(class->comms(b.program, &count)[2].size, 4);
    assert_int_equal(count, 1 + 3 + 4);
    bench_close(&b);
    /* 10 x 10 points of 8 bytes on 3 tasks: 267 each, 89 for each. */
    bench_good(&b, "points = [10, 10]; grid = [3]; element_bytes = \"8\"; inverse = false; steps = 2;");
    for (int step = 0; step < 2; step++)
        expect_alltoall(&b, 1, 0, 89);
    expect_end(&b, 1);
    class->comms(b.program, &count);
    assert_int_equal(count, 1);
    bench_close(&b);
    bench_exchange("points = [8, 6, 4]; grid = [4, 3]; steps = 2; allreduce_every = 1;", 0, 0);
    bench_exchange("points = [8, 8, 8]; grid = [1, 1]; steps = 4000000000; allreduce_every = 1;", 0, 0);
}

static void expect_message(struct bench *b, uint32_t task, bool send, int32_t peer, uint64_t bytes)
{
    struct task_op op = next(b, task);
    assert_int_equal(op.kind, send ? TASK_OP_SEND : TASK_OP_RECV);
    assert_int_equal(op.peer, peer);
    assert_int_equal(op.bytes, bytes);
}

static void test_wavefront(void **state)
{
    struct bench b;
    program_choose(&task_program_wavefront);
    /* Task 4 is in the middle of 3 x 3: 1 north of it, 3 west, 5 east, 7 south. Two sweeps from each corner:
     * from the west and north, the east and north, the west and south, the east and south; in two blocks. */
    bench_good(&b,
               "grid = [3, 3]; blocks = 2; steps = 1; bytes = [\"10\", \"20\"]; compute_time = \"16 ns\";");
    for (int sweep = 0; sweep < 8; sweep++)
        for (int block = 0; block < 2; block++) {
            bool east = sweep / 2 % 2, south = sweep / 4;
            expect_message(&b, 4, false, east ? 5 : 3, 10);
            expect_message(&b, 4, false, south ? 7 : 1, 20);
            expect_compute(&b, 4, 1000);
            expect_message(&b, 4, true, east ? 3 : 5, 10);
            expect_message(&b, 4, true, south ? 1 : 7, 20);
        }
    expect_end(&b, 4);
    bench_close(&b);
    /* Each of the 4 neighbours in rows and 6 in columns of 3 x 2 sends in half of the 8 x 5 blocks. */
    bench_exchange("grid = [3, 2]; blocks = 5; steps = 2; bytes = [\"10\", \"20\"]; allreduce_every = 2;",
                   2 * 40 * (4 + 3), 2 * 40 * (4 * 10 + 3 * 20));
    bench_exchange("grid = [1, 1]; blocks = 5; steps = 3; compute_time = \"1 us\";", 0, 0);
}

/* Of a step: who receives from whom is who sends to whom. Returns the messages. */
static uint64_t sparse_step(struct bench *b, uint32_t tasks, uint32_t degree, uint32_t *first)
{
    uint64_t messages = 0, sent = 0, received = 0;
    for (uint32_t t = 0; t < tasks; t++)
        for (struct task_op op = next(b, t); op.kind != TASK_OP_WAITALL; op = next(b, t)) {
            bool send = op.kind == TASK_OP_ISEND;
            assert_true(op.tag >= 0 && (uint32_t)op.tag < degree && op.peer != (int32_t)t);
            assert_true(op.bytes >= 100 && op.bytes <= 300);
            uint64_t from = send ? t : (uint32_t)op.peer, to = send ? (uint32_t)op.peer : t;
            uint64_t what = ker_hash(from << 40 | to << 16 | (uint64_t)op.tag << 10 | op.bytes);
            *(send ? &sent : &received) += what;
            messages += send;
            if (t == 0 && send && op.tag == 0)
                *first = (uint32_t)op.peer;
        }
    assert_int_equal(sent, received);
    return messages;
}

static void test_sparse(void **state)
{
    struct bench b;
    uint32_t first[4] = {0};
    program_choose(&task_program_sparse);
    for (int anew = 0; anew < 2; anew++) {
        char *settings =
            ker_format("tasks = 50; degree = 6; steps = 4; bytes = [\"100\", \"300\"]; partners = "
                       "\"%s\";",
                       anew ? "step" : "job");
        bench_good(&b, settings);
        for (int step = 0; step < 4; step++) {
            uint64_t messages = sparse_step(&b, 50, 6, &first[step]);
            assert_true(messages > 280 && messages <= 300); /* about one in fifty would be to itself */
        }
        assert_int_equal(first[0] == first[1] && first[1] == first[2] && first[2] == first[3], !anew);
        bench_close(&b);
        free(settings);
    }
    bench_exchange("tasks = 1; steps = 3; allreduce_every = 1;", 0, 0);
    /* Of two tasks a permutation swaps them, or does not: 2 or no messages. */
    bench_good(&b, "tasks = 2; degree = 30; steps = 1; bytes = \"100\";");
    uint64_t messages = sparse_step(&b, 2, 30, first);
    assert_true(messages % 2 == 0 && messages > 10 && messages < 50);
    bench_close(&b);
}

static void test_refused(void **state)
{
    static const struct {
        const struct ker_kind *kind;
        const char *settings, *text;
    } bad[] = {
        {&task_program_fft, "points = [8, 8, 8];", "jobs[0].grid: is missing; for example grid = [16, 8]"},
        {&task_program_fft, "grid = [2, 2];", "jobs[0].points: is missing"},
        {&task_program_fft, "grid = [2, 2]; points = [8];", "has 1 value; a transform has 2 or 3"},
        {&task_program_fft, "grid = [2, 2]; points = [8, 8];",
         "jobs[0].grid: has two values; a transform of 2"},
        {&task_program_fft, "grid = [4]; points = [8, 8, 8];",
         "jobs[0].grid: has one value; a transform of 3"},
        {&task_program_fft, "grid = [1, 1]; points = [1000000, 1000000, 1000000];", "more than 2^50 points"},
        {&task_program_wavefront, "grid = [4];", "has 1 value; columns and rows"},
        {&task_program_wavefront, "grid = [100000, 100000];", "more than 2^31 - 1 tasks"},
        {&task_program_wavefront, "grid = [2, 2]; bytes = [\"1\", \"2\", \"3\"];",
         "bytes: has 3 values; one, or"},
        {&task_program_sparse, "degree = 3;", "jobs[0].tasks: is missing"},
        {&task_program_sparse, "tasks = 8; bytes = [\"2\", \"1\"];", "the first value is the least"},
        {&task_program_sparse, "tasks = 8; bytes = [\"1\", \"2\", \"3\"];",
         "has 3 values; one, or the least"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        program_choose(bad[i].kind);
        bench_refused(bad[i].settings, bad[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fft),
        cmocka_unit_test(test_wavefront),
        cmocka_unit_test(test_sparse),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
