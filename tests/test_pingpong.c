/* The pingpong generator: order of calls, partners, refusals, and that everything matches. */
#include "tasks/jobs/jobs.h"
#include "tests/replay.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

extern const struct ker_kind task_program_pingpong;
static const struct task_program_class *class; /* of it */

struct bench {
    struct ker_comm *comm;
    struct ker_config *config;
    struct task_program *program;
    struct ker_error error;
    enum ker_status status;
};

static void bench_open(struct bench *b, const char *settings)
{
    const struct ker_option *tables[] = {task_job_options, NULL};
    *b = (struct bench){.comm = ker_comm_alone()};
    char *text = ker_format("jobs = ( { program = \"pingpong\"; %s } );", settings);
    assert_int_equal(ker_config_parse(&b->config, "test.cfg", text, NULL, 0, tables, &b->error), KER_OK);
    free(text);
    b->status = class->open(&b->program, b->config, "jobs[0]", b->comm, &b->error);
    if (b->status != KER_OK)
        return;
    uint32_t tasks = class->tasks(b->program), *own = ker_alloc(tasks * sizeof *own);
    for (uint32_t i = 0; i < tasks; i++)
        own[i] = i;
    assert_int_equal(class->prepare(b->program, own, tasks, &b->error), KER_OK);
    free(own);
}

static void bench_close(struct bench *b)
{
    class->close(b->program);
    ker_config_free(b->config);
    ker_comm_release(b->comm);
}

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
    bench_open(&b, "tasks = 4; bytes = \"1 KiB\"; steps = 2;");
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
    static const struct {
        const char *settings;
        uint64_t messages;
    } cases[] = {{"steps = 5; bytes = \"8\";", 10}, {"tasks = 6; steps = 7; bytes = \"8\";", 42}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bench b;
        bench_open(&b, cases[i].settings);
        for (int mode = 0; mode < 4; mode++) {
            struct replay_result result;
            replay_run(&result, class, b.program, mode & 1 ? 0 : UINT64_MAX, mode >> 1);
            assert_true(result.ended);
            assert_int_equal(result.messages, cases[i].messages);
            assert_int_equal(result.bytes, 8 * cases[i].messages);
            assert_int_equal(result.unreceived, 0);
            assert_int_equal(result.left, 0);
        }
        bench_close(&b);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *settings, *text;
    } bad[] = {
        {"tasks = 3;", "jobs[0].tasks: is 3; a pingpong has an even number of tasks"},
        {"bytes = [\"8\", \"16\"];", "jobs[0].bytes: is a list"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bench b;
        bench_open(&b, bad[i].settings);
        assert_int_equal(b.status, KER_BAD_INPUT);
        if (!strstr(b.error.text, bad[i].text))
            print_error("%s\n", b.error.text);
        assert_non_null(strstr(b.error.text, bad[i].text));
        bench_close(&b);
    }
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
