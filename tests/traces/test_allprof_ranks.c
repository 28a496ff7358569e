/* The reader of traces on several ranks: the same communicators everywhere, and errors on one rank end all.
 */
#include "tasks/jobs/jobs.h"
#include "traces/allprof/allprof.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct task_program_class task_allprof_class;
static const struct task_program_class *class; /* of it */
static struct ker_comm *ranks;                 /* MPI starts once in a process */

static struct ker_config *config_of(const char *folder)
{
    const struct ker_option *tables[] = {task_job_options, NULL};
    struct ker_config *config;
    struct ker_error error = {0};
    char *text = ker_format("jobs = ( { program = \"trace\"; trace = \"%s\"; } );", folder);
    assert_int_equal(ker_config_parse(&config, "test.cfg", text, NULL, 0, tables, &error), KER_OK);
    free(text);
    return config;
}

static int64_t mix(int64_t digest, int64_t value)
{
    return (int64_t)((uint64_t)digest * 1000003 + (uint64_t)value);
}

/* Every communicator's members and every own task's operations. */
static void test_same(void **state)
{
    struct ker_config *config = config_of("tests/traces/npb-ft.S-4");
    struct task_program *program;
    struct ker_error error = {0};
    assert_int_equal(class->open(&program, config, "jobs[0]", ranks, &error), KER_OK);
    assert_int_equal(class->tasks(program), 4);
    int32_t count;
    const struct task_comm *comms = class->comms(program, &count);
    assert_int_equal(count, 6); /* the world, one of four tasks, four of one */
    int64_t digest[2] = {0, 0};
    for (int32_t i = 0; i < count; i++)
        for (int32_t rank = 0; rank < comms[i].size; rank++)
            digest[0] = mix(digest[0], task_comm_task(&comms[i], rank));
    digest[1] = -digest[0];
    int64_t own = digest[0];
    ker_comm_max_i64(ranks, digest, 2);
    assert_int_equal(digest[0], own);
    assert_int_equal(digest[1], -own);
    uint32_t own_tasks[4], owned = 0;
    for (uint32_t task = 0; task < 4; task++)
        if ((int)task % ker_comm_size(ranks) == ker_comm_rank(ranks))
            own_tasks[owned++] = task;
    assert_int_equal(class->hand(program, own_tasks, owned, ranks, &error), KER_OK);
    assert_int_equal(class->prepare(program, own_tasks, owned, &error), KER_OK);
    uint64_t alltoalls = 0;
    struct task_op op;
    for (uint32_t i = 0; i < owned; i++)
        while (class->next(program, i, &op))
            alltoalls += op.kind == TASK_OP_COLLECTIVE && op.collective == TASK_COLL_ALLTOALL;
    ker_comm_sum_u64(ranks, &alltoalls, 1);
    assert_int_equal(alltoalls, 32);
    class->close(program);
    ker_config_free(config);
}

/* What a task does, as a number. */
static int64_t ops_digest(struct task_program *program, uint32_t own)
{
    struct task_op op;
    int64_t digest = 0;
    while (class->next(program, own, &op)) {
        digest = mix(mix(mix(digest, op.kind), op.comm), (int64_t)op.time);
        digest = mix(mix(mix(digest, (int64_t)op.bytes), op.peer), op.line);
        digest = mix(digest, op.call[strlen(op.call) / 2]);
    }
    struct task_call call;
    for (uint32_t i = 0; class->call(program, own, i, &call); i++)
        digest = mix(mix(digest, (int64_t)call.calls),
                     (int64_t)(call.bytes + call.time_ns + strlen(call.function)));
    return mix(digest, (int64_t) class->taken(program, own).finalize_gap);
}

#define TASKS 8
/* Tasks from `first` on live on rank `first` (of those there are) and so on round; of 99 all on rank 0. */
static void tasks_move(struct task_program *program, uint32_t first, int64_t digest[TASKS])
{
    struct ker_error error = {0};
    uint32_t own[TASKS], count = 0, size = (uint32_t)ker_comm_size(ranks);
    memset(digest, 0, TASKS * sizeof *digest);
    for (uint32_t task = 0; task < TASKS; task++)
        if ((first == 99 ? 0 : (task * 3 + first) % size) == (uint32_t)ker_comm_rank(ranks))
            own[count++] = task;
    assert_int_equal(class->hand(program, own, count, ranks, &error), KER_OK);
    assert_int_equal(class->prepare(program, own, count, &error), KER_OK);
    for (uint32_t i = 0; i < count; i++)
        digest[own[i]] = ops_digest(program, i);
    ker_comm_sum_u64(ranks, (uint64_t *)digest, TASKS);
}

/* Handed over again and again, tasks do the same, whether their operations are in memory or in a file. */
static void test_moved(void **state)
{
    int64_t digest[2][TASKS], now[TASKS];
    for (int memory = 0; memory < 2; memory++) {
        struct ker_config *config =
            config_of(memory ? "tests/traces/npb-is.S-8" : "tests/traces/npb-is.S-8\"; trace_memory = \"0 B");
        struct task_program *program;
        struct ker_error error = {0};
        assert_int_equal(class->open(&program, config, "jobs[0]", ranks, &error), KER_OK);
        tasks_move(program, 0, digest[memory]);
        for (uint32_t first = 1; first < 4; first++) {
            tasks_move(program, first == 3 ? 99 : first, now);
            assert_memory_equal(now, digest[memory], sizeof now);
        }
        class->close(program);
        ker_config_free(config);
    }
    assert_memory_equal(digest[0], digest[1], sizeof now);
    assert_int_not_equal(digest[0][0], digest[0][1]);
}

/* The file of task 1 is bad: whoever reads it has the error, and nobody waits for ever. */
static void test_error(void **state)
{
    char folder[64] = P_tmpdir "/test_allprof.XXXXXX", *path[2];
    if (ker_comm_rank(ranks) == 0)
        assert_non_null(mkdtemp(folder));
    ker_comm_broadcast(ranks, folder, sizeof folder);
    for (int i = 0; i < 2; i++) {
        path[i] = ker_format("%s/pmpi-trace-rank-%d.txt", folder, i);
        FILE *file = ker_comm_rank(ranks) == 0 ? fopen(path[i], "w") : NULL;
        if (file) {
            fputs("# htor's PMPI Tracer\nMPI_Init:-:1:2:3\n", file);
            fputs(i == 0 ? "MPI_Finalize:4:-\n" : "MPI_Send\n", file);
            fclose(file);
        }
    }
    char done = 0;
    ker_comm_broadcast(ranks, &done, 1);
    struct ker_config *config = config_of(folder);
    struct task_program *program;
    struct ker_error error = {0};
    enum ker_status status = class->open(&program, config, "jobs[0]", ranks, &error);
    assert_int_equal(status, KER_BAD_INPUT); /* on all ranks; one has the text */
    if (1 % ker_comm_size(ranks) == ker_comm_rank(ranks))
        assert_non_null(strstr(error.text, "pmpi-trace-rank-1.txt:3: MPI_Send without start and end"));
    else
        assert_int_equal(error.status, KER_OK);
    class->close(program);
    ker_config_free(config);
    ker_comm_broadcast(ranks, &done, 1);
    for (int i = 0; i < 2; i++) {
        if (ker_comm_rank(ranks) == 0)
            unlink(path[i]);
        free(path[i]);
    }
    if (ker_comm_rank(ranks) == 0)
        rmdir(folder);
}

int main(int argc, char **argv)
{
    class = &task_allprof_class;
    allprof_alone = 0;
    struct ker_error error = {0};
    if (ker_comm_init(&ranks, &argc, &argv, &error) != KER_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_error),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    ker_comm_release(ranks);
    return failed;
}
