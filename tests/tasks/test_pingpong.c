/* The pingpong generator: order of calls, partners, refusals, and that everything matches. */
#include "tests/replay.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct ker_kind task_program_pingpong;
static const struct task_program_class *class; /* of it */

#define PROGRAM "pingpong"
#include "tests/tasks/program_bench.h"

static void expect(struct bench *b, uint32_t task, unsigned kind, int32_t peer)
{
    struct task_op op;
    assert_true(class->next(b->program, task, &op));
    assert_int_equal(op.kind, kind);
    if (kind == TASK_OP_FINALIZE)
        return;
    assert_int_equal(op.peer, peer);
    assert_int_equal(op.bytes, 1024);
}

static void test_order(void **state)
{
    struct bench b;
    bench_good(&b, "tasks = 4; bytes = \"1 KiB\"; steps = 2;");
    struct task_op op;
    for (int again = 0; again < 2; again++) { /* after its end a program starts again */
        for (int step = 0; step < 2; step++) {
            expect(&b, 1, TASK_OP_SEND, 3);
            expect(&b, 1, TASK_OP_RECV, 3);
            expect(&b, 3, TASK_OP_RECV, 1);
            expect(&b, 3, TASK_OP_SEND, 1);
        }
        expect(&b, 1, TASK_OP_FINALIZE, 0);
        expect(&b, 3, TASK_OP_FINALIZE, 0);
        assert_false(class->next(b.program, 1, &op));
        assert_false(class->next(b.program, 3, &op));
    }
    bench_close(&b);
}

/* Two messages per pair and step, eager and rendezvous, and no task is left waiting. */
static void test_exchange(void **state)
{
    bench_exchange("steps = 5; bytes = \"8\";", 10, 80);
    bench_exchange("tasks = 6; steps = 7; bytes = \"8\";", 42, 8 * 42);
}

static void test_refused(void **state)
{
    static const struct {
        const char *settings, *text;
    } bad[] = {
        {"tasks = 3;", "jobs[0].tasks: is 3; a pingpong has an even number of tasks"},
        {"bytes = [\"8\", \"16\"];", "jobs[0].bytes: is a list"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        bench_refused(bad[i].settings, bad[i].text);
}

int main(void)
{
    class = task_program_pingpong.operations;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_exchange),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
