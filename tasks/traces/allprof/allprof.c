/* allprof.c - the program "trace": a folder of liballprof text traces, one file per task.
 *
 * open() shares the files out among the ranks (task t to rank t mod ranks) and reads them; so few that one
 * rank will simulate all are rank 0's. Rank 0 gathers
 * what concerns communicators, resolves it, and tells all ranks which communicators there are and which event
 * came to which. What was read of tasks that live on another rank is dropped in prepare(), and read there.
 * Between the collective calls in open() the ranks learn whether one of them has failed, so that none waits
 * for it.
 */
#include "tasks/traces/allprof/allprof.h"

#include "tasks/tasks.h"
#include "tasks/traces/trace.h"

#include <stdlib.h>
#include <string.h>

struct own_task {
    struct trace_code code;
    struct task_taken taken;
    int32_t *comm; /* of each event; NULL: the world of all */
    struct trace_reader reader;
    uint64_t before; /* the last call of next(): where it read, and the line */
    uint32_t before_line;
};

struct task_program {
    char *folder;
    uint32_t tasks;
    struct allprof_rules rules;
    uint64_t memory; /* for operations */
    struct trace_store store;
    struct allprof_file *spare;
    uint32_t rank, ranks;      /* of those that read in open() */
    struct allprof_read *read; /* until prepare(): of tasks rank, rank + ranks, ... */
    struct allprof_uses uses;  /* likewise */
    struct allprof_comms comms;
    struct own_task *own;
    uint32_t own_count;
};

uint32_t allprof_alone = TASK_FEW;

/* How many tasks' files this rank reads in open(). */
static uint32_t read_count(const struct task_program *program)
{
    return program->rank < program->ranks
               ? (program->tasks + program->ranks - 1 - program->rank) / program->ranks
               : 0;
}

static void read_release(struct task_program *program)
{
    for (uint32_t i = 0; program->read && i < read_count(program); i++) {
        trace_code_release(&program->read[i].code);
        free(program->read[i].events.event);
        allprof_tallies_release(&program->read[i].tallies);
    }
    free(program->read);
    program->read = NULL;
    allprof_file_free(program->spare);
    program->spare = NULL;
}

static void allprof_close(struct task_program *program)
{
    if (!program)
        return;
    for (uint32_t i = 0; i < program->own_count; i++) {
        trace_code_release(&program->own[i].code);
        trace_reader_release(&program->own[i].reader);
        free(program->own[i].comm);
    }
    free(program->own);
    read_release(program);
    trace_store_release(&program->store);
    allprof_comms_release(&program->comms);
    allprof_uses_release(&program->uses);
    free(program->folder);
    free(program);
}

static enum ker_status files_read(struct task_program *program, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    uint32_t count = read_count(program);
    program->read = ker_alloc(count * sizeof *program->read);
    trace_store_init(&program->store, program->memory, allprof_form);
    for (uint32_t i = 0; i < count && status == KER_OK; i++) {
        struct allprof_scan scan = {0};
        struct allprof_read *read = &program->read[i];
        read->task = program->rank + i * program->ranks;
        read->code.store = &program->store;
        status = allprof_parse(&read->code, &read->taken, &scan, &program->rules, program->folder, read->task,
                               error);
        read->events = scan.events;
        read->tallies = scan.tallies;
    }
    return status ? status : trace_store_status(&program->store, error);
}

/* Collective. */
static enum ker_status comms_find(struct task_program *program, struct ker_comm *comm,
                                  struct ker_error *error)
{
    enum ker_status status = ker_comm_worst(comm, files_read(program, error));
    if (status != KER_OK)
        return status;
    struct allprof_together together = {.read = program->read,
                                        .count = read_count(program),
                                        .tasks = program->tasks,
                                        .readers = program->ranks,
                                        .folder = program->folder,
                                        .comm = comm,
                                        .uses = &program->uses,
                                        .comms = &program->comms};
    return allprof_resolve(&together, error);
}

static enum ker_status allprof_read_keys(struct task_program *program, const struct ker_config *config,
                                         const char *path, struct ker_error *error)
{
    const char *trace = TASK_KEY(path, "trace"), *library = TASK_KEY(path, "mpi_library");
    enum ker_status status = KER_OK;
    if (ker_config_has(config, trace))
        program->folder = ker_format("%s", ker_config_file(config, trace));
    else
        status = ker_config_fail(config, error, trace,
                                 "the folder of the trace is missing (pmpi-trace-rank-0.txt, ...)");
    program->rules.mpich = strcmp(ker_config_string(config, library), "mpich") == 0;
    program->rules.unlisted_bytes = ker_config_bytes(config, TASK_KEY(path, "unlisted_bytes"));
    program->rules.finalize_gap = ker_config_bool(config, TASK_KEY(path, "finalize_gap"));
    program->rules.counts = task_calls_wanted(config, true);
    program->rules.poll_gap = ker_config_time(config, TASK_KEY(path, "poll_gap"));
    program->rules.inputs = ker_config_inputs(config);
    program->rules.spare = &program->spare;
    program->memory = ker_config_bytes(config, TASK_KEY(path, "trace_memory"));
    return status;
}

/* All ranks must see the same number of files before they share them out. */
static void folder_register(const struct task_program *program)
{
    char text[32];
    snprintf(text, sizeof text, "%u files", program->tasks);
    ker_input_add_text(program->rules.inputs, program->folder, text);
}

static enum ker_status allprof_open(struct task_program **opened, const struct ker_config *config,
                                    const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    program->rank = (uint32_t)ker_comm_rank(comm);
    enum ker_status status = allprof_read_keys(program, config, path, error);
    if (status == KER_OK)
        status = allprof_folder_count(program->folder, &program->tasks, error);
    if (status == KER_OK)
        folder_register(program);
    program->ranks = program->tasks <= allprof_alone ? 1 : (uint32_t)ker_comm_size(comm);
    status = ker_comm_worst(comm, status);
    if (status == KER_OK)
        status = ker_comm_worst(comm, ker_inputs_agree(program->rules.inputs, comm, error));
    if (status != KER_OK)
        return status;
    return comms_find(program, comm, error);
}

static uint32_t allprof_tasks(const struct task_program *program)
{
    return program->tasks;
}

static const struct task_comm *allprof_comms(const struct task_program *program, int32_t *count)
{
    *count = program->comms.count;
    return program->comms.comm;
}

/* A file whose task another rank was given in open(): it must say the same as it did there. */
static enum ker_status task_read(struct task_program *program, struct own_task *own, uint32_t task,
                                 struct ker_error *error)
{
    struct allprof_scan scan = {0};
    own->code.store = &program->store;
    enum ker_status status =
        allprof_parse(&own->code, &own->taken, &scan, &program->rules, program->folder, task, error);
    const struct allprof_use *use = program->uses.use + program->uses.first[task];
    uint64_t count = program->uses.first[task + 1] - program->uses.first[task];
    for (uint64_t i = 0; i < count && status == KER_OK; i++)
        if (i >= scan.events.count || scan.events.event[i].line != use[i].line)
            status = allprof_line_fail(program->folder, task, use[i].line, error,
                                       "the file has changed while it was read");
    if (status == KER_OK && scan.events.count > count)
        status = allprof_line_fail(program->folder, task, scan.events.event[count].line, error,
                                   "the file has changed while it was read");
    allprof_scan_release(&scan);
    return status ? status : trace_store_status(&program->store, error);
}

/* Which communicator each event of the task is. */
static int32_t *comms_map(const struct allprof_uses *uses, uint32_t task)
{
    const struct allprof_use *use = uses->use + uses->first[task];
    uint64_t count = uses->first[task + 1] - uses->first[task];
    bool others = false;
    for (uint64_t i = 0; i < count; i++)
        others = others || use[i].comm > 0;
    if (!others)
        return NULL;
    int32_t *comm = ker_alloc(count * sizeof *comm);
    for (uint64_t i = 0; i < count; i++)
        comm[i] = use[i].comm;
    return comm;
}

static enum ker_status allprof_prepare(struct task_program *program, const uint32_t *own_tasks,
                                       uint32_t count, struct ker_error *error)
{
    program->own = ker_alloc(count * sizeof *program->own);
    program->own_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct own_task *own = &program->own[i];
        uint32_t task = own_tasks[i];
        if (task % program->ranks == program->rank) {
            struct allprof_read *read = &program->read[task / program->ranks];
            own->code = read->code;
            own->taken = read->taken;
            read->code = (struct trace_code){0};
        } else {
            enum ker_status status = task_read(program, own, task, error);
            if (status != KER_OK)
                return status;
        }
        own->comm = comms_map(&program->uses, task);
        own->reader.code = &own->code;
        own->reader.comm = own->comm;
        trace_reader_seek(&own->reader, 0, 0);
    }
    read_release(program);
    allprof_uses_release(&program->uses);
    return KER_OK;
}

static bool allprof_next(struct task_program *program, uint32_t own, struct task_op *op)
{
    struct own_task *task = &program->own[own];
    task->before = trace_reader_position(&task->reader);
    task->before_line = task->reader.line;
    if (trace_reader_next(&task->reader, op))
        return true;
    trace_reader_seek(&task->reader, 0, 0); /* a background job that starts again */
    return false;
}

/* The files are the same, so the operations are. */
static void allprof_position(struct task_program *program, uint32_t own, struct ker_chunk *c)
{
    struct own_task *task = &program->own[own];
    uint64_t before = ker_chunk_u64(c, task->before);
    ker_chunk_same(c, task->code.total);
    KER_CHUNK(c, task->before_line);
    c->bad |= before > task->code.total;
    if (!c->loads || c->bad)
        return;
    task->before = before;
    trace_reader_seek(&task->reader, before, task->before_line);
}

static struct task_taken allprof_taken(const struct task_program *program, uint32_t own)
{
    return program->own[own].taken;
}

static bool allprof_call_of(const struct task_program *program, uint32_t own, uint32_t index,
                            struct task_call *call)
{
    return trace_called_get(&program->own[own].code.called, index, call);
}

const struct ker_option task_allprof_options[] = {
    {.key = "jobs[].mpi_library",
     .type = KER_TYPE_CHOICE,
     .fallback = "openmpi",
     .choices = "openmpi|mpich",
     .meaning = "trace: the MPI library of the traced run; it decides what -1 and -2 mean as a rank."},
    {.key = "jobs[].unlisted_bytes",
     .type = KER_TYPE_BYTES,
     .fallback = "0",
     .maximum = "1 TiB",
     .meaning = "trace: bytes between each two tasks of an Alltoallv (Gatherv, ...) whose counts the trace "
                "does not list."},
    {.key = "jobs[].finalize_gap",
     .type = KER_TYPE_BOOL,
     .fallback = "false",
     .meaning = "trace: is the time before MPI_Finalize computation? By default it is left out: the tracer "
                "synchronises its "
                "clocks and writes its files then."},
    {.key = "jobs[].poll_gap",
     .type = KER_TYPE_TIME,
     .fallback = "10 us",
     .maximum = "1000000 s",
     .meaning = "trace: time from a test (or Iprobe) that found nothing to the next call, when that is a "
                "test of the same requests "
                "(or the same Iprobe), is waiting and left out if it is not longer than this; longer ones "
                "are computation. 0: none "
                "is left out."},
    {.key = NULL},
};

const struct task_program_class task_allprof_class = {
    .collective = true,
    .open = allprof_open,
    .tasks = allprof_tasks,
    .comms = allprof_comms,
    .prepare = allprof_prepare,
    .next = allprof_next,
    .close = allprof_close,
    .position = allprof_position,
    .taken = allprof_taken,
    .call = allprof_call_of,
};
