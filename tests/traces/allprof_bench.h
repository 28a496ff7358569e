/* allprof_bench.h - liballprof traces written by a test, and what the reader makes of them. */
#pragma once

#include "tasks/jobs/jobs.h"
#include "tests/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cmocka.h>

extern const struct task_program_class task_allprof_class;

static const struct task_program_class *class; /* of it */

struct bench {
    char folder[64];
    uint32_t files;
    struct ker_comm *comm;
    struct ker_config *config;
    struct task_program *program;
    struct ker_error error;
    enum ker_status status;
};

static inline void bench_init(struct bench *b)
{
    *b = (struct bench){0};
    strcpy(b->folder, P_tmpdir "/test_allprof.XXXXXX");
    assert_non_null(mkdtemp(b->folder));
}

static inline char *bench_path(const struct bench *b, uint32_t task, const char *suffix)
{
    return ker_format("%s/pmpi-trace-rank-%u.txt%s", b->folder, task, suffix);
}

static inline void text_write(const char *path, const void *text, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
}

static inline void bench_raw(struct bench *b, const char *text)
{
    char *path = bench_path(b, b->files++, "");
    text_write(path, text, strlen(text));
    free(path);
}

#define BANNER "# htor's PMPI Tracer 1.0 Output File\n"
#define HEAD BANNER "# time: then\n\nMPI_Init:-:1:2:100\n"
#define TAIL "MPI_Finalize:100000:-\n"

/* The trace of the next task, between MPI_Init (line 4, ends at 100 us) and MPI_Finalize. */
static inline void bench_task(struct bench *b, const char *lines)
{
    char *text = ker_format(HEAD "%s" TAIL, lines);
    bench_raw(b, text);
    free(text);
}

static inline enum ker_status bench_open(struct bench *b, const char *folder, const char *more)
{
    const struct ker_option *tables[] = {task_job_options, NULL};
    char *text = ker_format("jobs = ( { program = \"trace\"; trace = \"%s\"; %s } );", folder, more);
    assert_int_equal(ker_config_parse(&b->config, "test.cfg", text, NULL, 0, tables, &b->error), KER_OK);
    free(text);
    b->comm = ker_comm_alone();
    b->status = class->open(&b->program, b->config, "jobs[0]", b->comm, &b->error);
    if (b->status != KER_OK)
        return b->status;
    uint32_t tasks = class->tasks(b->program), *own = ker_alloc(tasks * sizeof *own);
    for (uint32_t i = 0; i < tasks; i++)
        own[i] = i;
    b->status = class->prepare(b->program, own, tasks, &b->error);
    free(own);
    return b->status;
}

static inline void bench_good(struct bench *b)
{
    if (bench_open(b, b->folder, "") != KER_OK)
        print_error("%s\n", b->error.text);
    assert_int_equal(b->status, KER_OK);
}

static inline void bench_close(struct bench *b)
{
    class->close(b->program);
    if (b->comm)
        ker_comm_release(b->comm);
    ker_config_free(b->config);
    for (uint32_t i = 0; i < b->files; i++) {
        char *path = bench_path(b, i, ""), *packed = bench_path(b, i, ".zst");
        unlink(path);
        unlink(packed);
        free(path);
        free(packed);
    }
    rmdir(b->folder);
}

static inline struct task_op next_op(struct bench *b, uint32_t task)
{
    struct task_op op;
    assert_true(class->next(b->program, task, &op));
    return op;
}

/* The next operation that is no computation. */
static inline struct task_op next_call(struct bench *b, uint32_t task, unsigned kind)
{
    struct task_op op;
    do
        op = next_op(b, task);
    while (op.kind == TASK_OP_COMPUTE);
    if (op.kind != kind)
        print_error("line %u: %s\n", op.line, op.call);
    assert_int_equal(op.kind, kind);
    return op;
}

static inline void expect_end(struct bench *b, uint32_t task)
{
    struct task_op op;
    next_call(b, task, TASK_OP_FINALIZE);
    assert_false(class->next(b->program, task, &op));
}

#define WORLD "7000000,0,1"
/* These tests have receives without sends; where one is cancelled, that is not refused. Here it is a null
 * request's. */
#define LOOSE "MPI_Cancel:99000:4242:99000\n"
#define IRECV(peer, request) "MPI_Irecv:200:1:4:1,4,4:" peer ":5:" WORLD ":" request ":200\n"
#define BARRIER(group) "MPI_Barrier:300:" group ":301\n"
#define SPLIT(group, colour, key, variable)                                                                  \
    "MPI_Comm_split:300:" group ":" colour ":" key ":" variable ":301\n"
