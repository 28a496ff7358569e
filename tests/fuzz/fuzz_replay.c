/* fuzz_replay.c - libFuzzer target for the replay of marstrace's traces: the bytes are the definitions and
 * calls of one task (mars_frames.h). Whatever they are, the replay returns an error with a text, or
 * operations with valid ranks and communicators, as many times as they are asked for. */
#include "storage/storage.h"
#include "tasks/jobs/jobs.h"
#include "tasks/mpi/mpi.h"
#include "tests/fuzz/mars_frames.h"
#include "traces/traces.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct task_program_class *const class = &task_replay_class;
static char path[64]; /* one file per process, on a memory file system where there is one */
static struct ker_comm *alone;
static struct ker_config *config[4]; /* clock, unknown, trace_memory, progress, wildcards, storage */

static void begin(void)
{
    const struct ker_option *tables[] = {task_job_options, mpi_options, store_options,
                                         trace_two_phase_options, NULL};
    strcpy(path, access("/dev/shm", W_OK) == 0 ? "/dev/shm/fuzz.XXXXXX" : P_tmpdir "/fuzz.XXXXXX");
    int file = mkstemp(path);
    ker_assert(file >= 0);
    close(file);
    alone = ker_comm_alone();
    for (int i = 0; i < 4; i++) {
        struct ker_error error = {0};
        char *text =
            ker_format("jobs = ( { program = \"trace\"; trace = \"%s\"; clock = \"%s\"; unknown = "
                       "\"%s\"; trace_memory = \"%s\"; wildcards = \"%s\"; unknown_views = \"%s\"; } ); "
                       "mpi = { progress = \"%s\"; };%s",
                       path, i & 1 ? "cpu" : "wall", i & 2 ? "error" : "compute", i & 1 ? "0 B" : "1 MiB",
                       i & 2 ? "simulated" : "traced", i & 2 ? "error" : "contiguous",
                       i & 1 ? "calls" : "adapter", i < 3 ? "storage = { servers = { count = 2; }; };" : "");
        ker_assert(ker_config_parse(&config[i], "fuzz.cfg", text, NULL, 0, tables, &error) == KER_OK);
        free(text);
    }
}

static uint64_t ops_check(struct task_program *program)
{
    struct task_op op;
    int32_t comms;
    uint64_t count = 0;
    unsigned last = TASK_OP_COUNT; /* but for the end of the first of several threads */
    const struct task_comm *comm = class->comms(program, &comms);
    while (class->next(program, 0, &op)) {
        ker_assert(op.kind < TASK_OP_COUNT && op.call && op.time >= 0);
        ker_assert(op.comm >= 0 && op.comm < comms);
        bool found = op.peer <= TASK_FOUND && op.peer > TASK_FOUND - TASK_FOUND_MOST;
        ker_assert(op.kind != TASK_OP_SEND || found || (op.peer >= -2 && op.peer < comm[op.comm].size));
        for (unsigned i = 0; op.kind == TASK_OP_CALL && i < STORE_WORDS; i++)
            count += op.words[i] & 1;
        ker_assert(op.kind != TASK_OP_CALL || store_call_of(op.words).run.count > 0);
        for (uint32_t i = 0; op.requests && i < op.request_count; i++)
            count += op.requests[i] & 1;
        count += 2;
        last = op.kind;
    }
    ker_assert(last == TASK_OP_FINALIZE || last == TASK_OP_ABORT);
    return count;
}

/* The steps of a program without others, and whether they are passed. */
static void steps_check(struct task_program *program)
{
    struct task_op op;
    class->find_steps(program, NULL, alone);
    const struct task_steps *steps = class->steps(program);
    ker_assert(steps->period ? !steps->why && steps->count > 2 : steps->why && steps->why[0]);
    do
        class->at(program, 0, 0);
    while (class->next(program, 0, &op));
    ker_assert(!steps->period || steps->begun + 1 == steps->count);
}

static void file_write(const uint8_t *data, size_t size)
{
    int file = open(path, O_WRONLY | O_TRUNC);
    ker_assert(file >= 0 && write(file, data, size) == (ssize_t)size);
    close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t framed[FRAMED_BYTES];
    if (!path[0])
        begin();
    size_t bytes = frames_make(framed, data, size);
    if (!bytes)
        return 0;
    file_write(framed, bytes);
    struct task_program *program = NULL;
    struct ker_error error = {0};
    enum ker_status status = class->open(&program, config[size & 3], "jobs[0]", alone, &error);
    if (status == KER_OK && class->tasks(program) == 1)
        status = class->hand(program, &(uint32_t){0}, 1, alone, &error);
    if (status == KER_OK && class->tasks(program) == 1)
        status = class->prepare(program, &(uint32_t){0}, 1, &error);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
    if (status == KER_OK && class->tasks(program) == 1)
        ker_assert(ops_check(program) == ops_check(program)), steps_check(program);
    class->close(program);
    return 0;
}
