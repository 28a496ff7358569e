/* ior.c - tasks write and read files as the benchmark IOR does it.
 *
 * A file has segments, a segment a block of each task, in their order, and a block transfers. A task accesses
 * its blocks transfer by transfer; with jobs[].strided all its blocks in one call. Each of the phases, write
 * and read, is: a barrier, open, the accesses, close, which waits until what was written is on the devices.
 * What is measured of a phase is the time from the first task's begin to the last one's end.
 *
 * Invariant: a task is the number of its phase and of the operation in it; next() only continues.
 */
#include "tasks/programs/programs.h"
#include "traces/traces.h"

#include <stdlib.h>
#include <string.h>

struct own_task {
    struct trace_two_phase_at at;
    uint64_t step; /* of the phase: barrier, open, accesses, close */
    ker_time began, now;
    uint32_t task, phase;
    bool timed, again;
    uint64_t words[STORE_WORDS];
};

struct task_program {
    uint32_t tasks, shift, file, phases;
    uint64_t transfer, block, segments;
    bool reads[2]; /* of each phase */
    bool own_files, strided, collective;
    struct trace_two_phase two;
    struct task_measured measured;
    uint64_t phase_bytes[2];
    const char *phase_name[2];
    struct task_called called;
    struct task_comm world;
    struct own_task *own, *before;
    uint32_t own_count;
};

static uint64_t accesses(const struct task_program *p)
{
    return p->strided ? 1 : p->segments * (p->block / p->transfer);
}

/* ---- reading ---- */

static enum ker_status sizes_read(struct task_program *p, const struct ker_config *config, const char *path,
                                  struct ker_error *error)
{
    const char *block = TASK_KEY(path, "block");
    p->transfer = ker_config_bytes(config, TASK_KEY(path, "transfer"));
    p->block = ker_config_has(config, block) ? ker_config_bytes(config, block) : p->transfer;
    p->segments = (uint64_t)ker_config_int(config, TASK_KEY(path, "segments"));
    if (p->block % p->transfer)
        return ker_config_fail(config, error, block, "is no multiple of jobs[].transfer (%llu bytes)",
                               (unsigned long long)p->transfer);
    if (p->strided && p->segments > STORE_RUN_MOST)
        return ker_config_fail(config, error, TASK_KEY(path, "segments"),
                               "at most %u blocks go in one call (jobs[].strided)", STORE_RUN_MOST);
    if ((__uint128_t)p->tasks * p->segments * p->block > INT64_MAX)
        return ker_config_fail(config, error, TASK_KEY(path, "segments"),
                               "make a file of more than 2^63 bytes");
    return KER_OK;
}

static void phases_read(struct task_program *p, const struct ker_config *config, const char *path)
{
    const char *key = TASK_KEY(path, "mode");
    bool reads = ker_config_is(config, key, "read");
    p->phases = ker_config_is(config, key, "both") ? 2 : 1;
    p->reads[0] = reads;
    p->reads[1] = true;
    for (uint32_t i = 0; i < p->phases; i++) {
        p->phase_bytes[i] = p->tasks * p->segments * p->block;
        p->phase_name[i] = p->reads[i] ? "read" : "write";
    }
    p->measured = (struct task_measured){.name = "ior",
                                         .sizes = p->phases,
                                         .iterations = 1,
                                         .bytes = p->phase_bytes,
                                         .label = p->phase_name,
                                         .span = true};
}

static enum ker_status ior_open(struct task_program **opened, const struct ker_config *config,
                                const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *p = *opened = ker_alloc(sizeof *p);
    (void)comm;
    if (!store_wanted(config))
        return ker_config_fail(config, error, TASK_KEY(path, "program"),
                               "\"ior\" needs file servers: storage.servers.count = 4 or "
                               "storage.servers.nodes = \"0-3\"");
    bool given = ker_config_has(config, TASK_KEY(path, "tasks"));
    p->tasks = given ? (uint32_t)ker_config_int(config, TASK_KEY(path, "tasks")) : 1;
    p->own_files = ker_config_is(config, TASK_KEY(path, "file"), "task");
    p->strided = ker_config_bool(config, TASK_KEY(path, "strided"));
    p->collective = ker_config_bool(config, TASK_KEY(path, "collective_io"));
    p->world = (struct task_comm){(int32_t)p->tasks, NULL};
    p->called = (struct task_called){STORE_CLIENT, "program"};
    p->file = task_file_number(config, path);
    uint32_t per_node = (uint32_t)ker_config_int(config, TASK_KEY(path, "tasks_per_node"));
    per_node = per_node ? per_node : 1;
    p->shift = ker_config_bool(config, TASK_KEY(path, "reorder")) ? per_node % p->tasks : 0;
    if (p->own_files && p->collective)
        return ker_config_fail(config, error, TASK_KEY(path, "collective_io"),
                               "is for a file that all tasks share: jobs[].file = \"shared\"");
    enum ker_status status = sizes_read(p, config, path, error);
    if (!status && p->collective)
        status = trace_two_phase_init(&p->two, config, p->tasks, per_node, error);
    phases_read(p, config, path);
    return status;
}

static void ior_close(struct task_program *p)
{
    if (!p)
        return;
    trace_two_phase_release(&p->two);
    KER_FREE(p->measured.time, p->own, p->before, p);
}

static uint32_t ior_tasks(const struct task_program *p)
{
    return p->tasks;
}

static const struct task_comm *ior_comms(const struct task_program *p, int32_t *count)
{
    *count = 1;
    return &p->world;
}

static bool ior_service(const struct task_program *p, uint32_t index, struct task_called *called)
{
    *called = p->called;
    return index == 0;
}

static enum ker_status ior_prepare(struct task_program *p, const uint32_t *own_tasks, uint32_t count,
                                   struct ker_error *error)
{
    (void)error;
    p->own = ker_alloc(count * sizeof *p->own);
    p->before = ker_alloc(count * sizeof *p->before);
    p->own_count = count;
    for (uint32_t i = 0; i < count; i++)
        p->own[i].task = own_tasks[i];
    p->measured.time = ker_alloc(p->phases * sizeof *p->measured.time);
    for (uint32_t i = 0; i < p->phases; i++)
        p->measured.time[i].first = KER_TIME_MAX;
    return KER_OK;
}

/* ---- what a task does ---- */

/* The pieces of an access. */
static struct store_run run_of(const struct task_program *p, uint32_t task, bool reads, uint64_t access)
{
    uint32_t of = reads ? (task + p->shift) % p->tasks : task, tasks = p->own_files ? 1 : p->tasks;
    uint64_t first = p->own_files ? 0 : of * p->block, stride = tasks * p->block;
    if (p->strided)
        return (struct store_run){first, p->block, stride, (uint32_t)p->segments};
    uint64_t each = p->block / p->transfer;
    return (struct store_run){first + access / each * stride + access % each * p->transfer, p->transfer, 0,
                              1};
}

struct access {
    const struct task_program *program;
    uint64_t number;
    bool reads;
};

static uint64_t access_below(const void *context, uint32_t task, uint64_t x)
{
    const struct access *a = context;
    struct store_run run = run_of(a->program, task, a->reads, a->number);
    return store_run_below(&run, x);
}

static bool file_op(const struct task_program *p, struct own_task *own, enum store_op what, const char *call,
                    struct task_op *op)
{
    bool reads = p->reads[own->phase];
    uint32_t of = reads ? (own->task + p->shift) % p->tasks : own->task;
    uint64_t length = p->segments * p->block * (p->own_files ? 1 : p->tasks);
    struct store_call c = {.op = what,
                           .file = p->file + (p->own_files ? of : 0),
                           .run = {0, 0, 0, 1},
                           .exists = p->reads[0] ? length : 0};
    if (what == STORE_READ || what == STORE_WRITE)
        c.run = run_of(p, own->task, reads, own->step - 2);
    store_call_words(&c, own->words);
    op->kind = TASK_OP_CALL;
    op->call = call;
    op->words = own->words;
    return true;
}

static bool access_op(const struct task_program *p, struct own_task *own, struct task_op *op)
{
    bool reads = p->reads[own->phase];
    if (!p->collective) {
        return file_op(p, own, reads ? STORE_READ : STORE_WRITE,
                       reads ? "MPI_File_read_at" : "MPI_File_write_at", op);
    }
    struct access access = {p, own->step - 2, reads};
    struct store_run first = run_of(p, 0, false, access.number),
                     last = run_of(p, p->tasks - 1, false, access.number);
    struct trace_two_phase_call call = {.shared = &p->two,
                                        .file = p->file,
                                        .writes = !reads,
                                        .low = first.offset,
                                        .high = store_run_end(&last),
                                        .below = access_below,
                                        .context = &access};
    if (trace_two_phase_next(&call, &own->at, own->task, own->words, op))
        return true;
    own->at = (struct trace_two_phase_at){0};
    return false;
}

/* The operation at the task's step; false: the step has no further one. */
static bool step_op(const struct task_program *p, struct own_task *own, struct task_op *op)
{
    if (own->step == 0) {
        op->kind = TASK_OP_COLLECTIVE;
        op->collective = TASK_COLL_BARRIER;
        op->call = "MPI_Barrier";
        return true;
    }
    if (own->step == 1) {
        own->timed = true;
        own->began = own->now;
        return file_op(p, own, STORE_OPEN, "MPI_File_open", op);
    }
    if (own->step - 2 < accesses(p))
        return access_op(p, own, op);
    return file_op(p, own, STORE_CLOSE, "MPI_File_close", op);
}

static bool ior_next(struct task_program *p, uint32_t number, struct task_op *op)
{
    struct own_task *own = &p->own[number];
    p->before[number] = *own;
    while (own->phase < p->phases) {
        memset(op, 0, sizeof *op);
        bool inside = p->collective && own->step > 1 && own->step - 2 < accesses(p),
             found = step_op(p, own, op);
        if (!inside || !found)
            own->step++;
        if (own->step > accesses(p) + 2) {
            own->step = 0;
            own->phase++;
        }
        if (found)
            return true;
    }
    memset(op, 0, sizeof *op);
    if (own->phase > p->phases) { /* it starts again */
        *own = (struct own_task){.task = own->task, .now = own->now, .again = true};
        return false;
    }
    own->phase++;
    op->kind = TASK_OP_FINALIZE;
    op->call = "MPI_Finalize";
    return true;
}

/* A phase is over when the task looks for what comes behind its close. */
static void ior_at(struct task_program *p, uint32_t number, ker_time now)
{
    struct own_task *own = &p->own[number];
    own->now = now;
    if (!own->timed || own->step != 0 || own->again)
        return;
    own->timed = false;
    struct task_measured_time *t = &p->measured.time[own->phase - 1];
    ker_time took = now - own->began;
    t->longest = took > t->longest ? took : t->longest;
    t->first = own->began < t->first ? own->began : t->first;
    t->last = now > t->last ? now : t->last;
    t->tasks++;
}

static struct task_measured *ior_measured(struct task_program *p)
{
    return &p->measured;
}

static bool ior_done(const struct task_program *p, uint32_t number, uint64_t *so_far, uint64_t *all)
{
    if (number >= p->own_count)
        return false;
    const struct own_task *own = &p->own[number];
    *all = p->phases * (accesses(p) + 3);
    *so_far = own->phase < p->phases ? own->phase * (accesses(p) + 3) + own->step : *all;
    return true;
}

static void ior_position(struct task_program *p, uint32_t number, struct ker_chunk *c)
{
    struct own_task *at = &p->before[number];
    at->task = p->own[number].task;
    KER_CHUNK(c, at->step, at->began, at->now, at->phase);
    at->timed = ker_chunk_bool(c, at->timed);
    at->again = ker_chunk_bool(c, at->again);
    trace_two_phase_save(&at->at, c);
    c->bad |= at->phase > p->phases + 1 || at->step > accesses(p) + 2;
    if (c->loads && !c->bad)
        p->own[number] = *at;
}

static const struct ker_option ior_options[] = {
    {"jobs[].transfer", KER_TYPE_BYTES, "1 MiB", "1 B", "1024 TiB", NULL,
     "ior: what a call writes or reads."},
    {"jobs[].block", KER_TYPE_BYTES, NULL, "1 B", "1024 TiB", NULL,
     "ior: what a task has of a segment, a multiple of jobs[].transfer; absent: the same."},
    {"jobs[].segments", KER_TYPE_INT, "1", "1", "1000000000000", NULL,
     "ior: segments of the file; each has a block of each task."},
    {"jobs[].mode", KER_TYPE_CHOICE, "write", NULL, NULL, "write|read|both",
     "ior: what the tasks do; what is only read is there."},
    {"jobs[].file", KER_TYPE_CHOICE, "shared", NULL, NULL, "shared|task",
     "ior: one file of all tasks, or one for each."},
    {"jobs[].path", KER_TYPE_STRING, "", NULL, NULL, NULL,
     "ior: jobs of the same path have the same file; without one each has its own."},
    {"jobs[].collective_io", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "ior: collective calls, in two phases (storage.collective)."},
    {"jobs[].strided", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "ior: a task has all its blocks in one call, as with a strided datatype, in place of transfers."},
    {"jobs[].reorder", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "ior: tasks read what those of the next node have written."},
    {0},
};

const struct ker_kind task_program_ior = {
    .name = "ior",
    .meaning = "tasks write and read files on the servers of storage, as the benchmark IOR does it",
    .operations =
        &(const struct task_program_class){
            .open = ior_open,
            .tasks = ior_tasks,
            .comms = ior_comms,
            .prepare = ior_prepare,
            .next = ior_next,
            .close = ior_close,
            .at = ior_at,
            .measured = ior_measured,
            .done = ior_done,
            .position = ior_position,
            .service = ior_service,
        },
    .options = KER_OPTIONS(ior_options)};
