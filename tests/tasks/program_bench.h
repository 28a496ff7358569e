/* program_bench.h - for tests of generators: a program from its settings, with all its tasks; its exchange,
 * and settings that are refused. The test names the program before it includes this: PROGRAM, and static
 * const struct task_program_class *class. */
#pragma once

#include "tasks/jobs/jobs.h"
#include "tests/replay.h"

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
    *b = (struct bench){0};
    char *text = ker_format("jobs = ( { program = \"%s\"; %s } );", PROGRAM, settings);
    b->status = ker_config_parse(&b->config, "test.cfg", text, NULL, 0, tables, &b->error);
    free(text);
    if (b->status != KER_OK)
        return;
    b->comm = ker_comm_alone();
    b->status = class->open(&b->program, b->config, "jobs[0]", b->comm, &b->error);
    if (b->status != KER_OK)
        return;
    uint32_t tasks = class->tasks(b->program), *own = ker_alloc(tasks * sizeof *own);
    for (uint32_t i = 0; i < tasks; i++)
        own[i] = i;
    assert_int_equal(class->prepare(b->program, own, tasks, &b->error), KER_OK);
    free(own);
}

static void bench_good(struct bench *b, const char *settings)
{
    bench_open(b, settings);
    if (b->status)
        print_error("%s\n", b->error.text);
    assert_int_equal(b->status, KER_OK);
}

static void bench_close(struct bench *b)
{
    class->close(b->program);
    if (b->comm)
        ker_comm_release(b->comm);
    if (b->config)
        ker_config_free(b->config);
}

/* Everything matches, eager and by rendezvous, in both orders; messages and bytes are as expected. The replay
 * counts point-to-point messages only. */
static void bench_exchange(const char *settings, uint64_t messages, uint64_t bytes)
{
    struct bench b;
    bench_good(&b, settings);
    for (int mode = 0; mode < 4; mode++) {
        struct replay_result result;
        replay_run(&result, class, b.program, mode & 1 ? 0 : UINT64_MAX, mode >> 1);
        if (!result.ended)
            print_error("%s\n", result.waiting);
        assert_true(result.ended);
        assert_int_equal(result.messages, messages);
        assert_int_equal(result.bytes, bytes);
        assert_int_equal(result.unreceived, 0);
        assert_int_equal(result.left, 0);
    }
    bench_close(&b);
}

static void bench_refused(const char *settings, const char *text)
{
    struct bench b;
    bench_open(&b, settings);
    assert_int_equal(b.status, KER_BAD_INPUT);
    if (!strstr(b.error.text, text))
        print_error("%s\n", b.error.text);
    assert_non_null(strstr(b.error.text, text));
    bench_close(&b);
}
