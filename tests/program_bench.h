/* program_bench.h - for tests of generators: a program from its settings, with all its tasks. The test names
 * the program before it includes this: PROGRAM, and static const struct
 * task_program_class *class. */
#ifndef TESTS_PROGRAM_BENCH_H
#define TESTS_PROGRAM_BENCH_H

#include "tasks/jobs/jobs.h"

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

#endif
