/* allprof.c - the program "trace": a folder of liballprof text traces, one file per task.
 *
 * open() shares the files out among the ranks (task t to rank t mod ranks) and reads them; so few that one
 * rank will simulate all are rank 0's. Rank 0 gathers
 * what concerns communicators, resolves it, and tells all ranks which communicators there are and which event
 * came to which. What was read of tasks that live on another rank goes there in hand(). Between the
 * collective calls in open() the ranks learn whether one of them has failed, so that none waits for it.
 */
#include "traces/allprof/allprof.h"

#include "traces/store/own.h"
#include "traces/traces.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct task_program {
    char *folder;
    uint32_t tasks;
    struct allprof_rules rules;
    uint64_t memory; /* for operations */
    struct trace_store store;
    struct allprof_file *spare;
    uint32_t rank, ranks;    /* of those that read in open() */
    struct trace_tasks held; /* what was read; a note is the communicator of each event: int32_t */
    struct allprof_comms comms;
    struct trace_own *own;
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

static void reads_release(struct allprof_read *read, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        trace_code_release(&read[i].code);
        free(read[i].events.event);
        allprof_tallies_release(&read[i].tallies);
    }
    free(read);
}

static void allprof_close(struct task_program *program)
{
    if (!program)
        return;
    trace_own_release(&program->own, &program->own_count);
    trace_tasks_release(&program->held);
    allprof_file_free(program->spare);
    trace_store_release(&program->store);
    allprof_comms_release(&program->comms);
    free(program->folder);
    free(program);
}

static enum ker_status files_read(struct task_program *program, struct allprof_read *read, uint32_t count,
                                  struct ker_error *error)
{
    enum ker_status status = KER_OK;
    trace_store_init(&program->store, program->memory,
                     program->rules.pins ? allprof_form_pins : allprof_form);
    for (uint32_t i = 0; i < count && status == KER_OK; i++) {
        struct allprof_scan scan = {0};
        read[i].task = program->rank + i * program->ranks;
        read[i].code.store = &program->store;
        status = allprof_parse(&read[i].code, &read[i].taken, &scan, &program->rules, program->folder,
                               read[i].task, error);
        read[i].events = scan.events;
        read[i].tallies = scan.tallies;
    }
    allprof_file_free(program->spare);
    program->spare = NULL;
    return status ? status : trace_store_status(&program->store, error);
}

/* Which communicator each event of the task is; none: the world of all. */
static void comms_note(struct trace_task *held, const struct allprof_uses *uses)
{
    const struct allprof_use *use = uses->use + uses->first[held->task];
    uint64_t count = uses->first[held->task + 1] - uses->first[held->task];
    bool others = false;
    for (uint64_t i = 0; i < count; i++)
        others = others || use[i].comm > 0;
    if (!others)
        return;
    int32_t *comm = ker_alloc(count * sizeof *comm);
    for (uint64_t i = 0; i < count; i++)
        comm[i] = use[i].comm;
    held->note = (uint8_t *)comm;
    held->note_bytes = count * sizeof *comm;
}

/* What the replay needs of what was read. */
static void reads_hold(struct task_program *program, struct allprof_read *read, uint32_t count,
                       const struct allprof_uses *uses)
{
    program->held = (struct trace_tasks){ker_alloc((count + (size_t)1) * sizeof *program->held.task), count};
    for (uint32_t i = 0; i < count; i++) {
        program->held.task[i] =
            (struct trace_task){.task = read[i].task, .code = read[i].code, .taken = read[i].taken};
        read[i].code = (struct trace_code){0};
        comms_note(&program->held.task[i], uses);
    }
}

/* Collective. */
static enum ker_status files_resolve(struct task_program *program, struct ker_comm *comm,
                                     struct ker_error *error)
{
    uint32_t count = read_count(program);
    struct allprof_uses uses = {0};
    struct allprof_together together = {.read = ker_alloc((count + (size_t)1) * sizeof *together.read),
                                        .count = count,
                                        .tasks = program->tasks,
                                        .readers = program->ranks,
                                        .folder = program->folder,
                                        .comm = comm,
                                        .uses = &uses,
                                        .comms = &program->comms};
    enum ker_status status = ker_comm_worst(comm, files_read(program, together.read, count, error));
    if (status == KER_OK)
        status = allprof_resolve(&together, error);
    if (status == KER_OK)
        reads_hold(program, together.read, count, &uses);
    reads_release(together.read, count);
    allprof_uses_release(&uses);
    return status;
}

static void allprof_read_keys(struct task_program *program, const struct ker_config *config, const char *path)
{
    program->folder = ker_format("%s", ker_config_file(config, TASK_KEY(path, "trace")));
    program->rules.mpich = ker_config_is(config, TASK_KEY(path, "mpi_library"), "mpich");
    program->rules.unlisted_bytes = ker_config_bytes(config, TASK_KEY(path, "unlisted_bytes"));
    program->rules.finalize_gap = ker_config_bool(config, TASK_KEY(path, "finalize_gap"));
    program->rules.counts = task_calls_wanted(config, true);
    program->rules.poll_gap = ker_config_time(config, TASK_KEY(path, "poll_gap"));
    program->rules.pinning_time = ker_config_time(config, TASK_KEY(path, "pinning_time"));
    program->rules.pinning_per_byte = ker_config_time(config, TASK_KEY(path, "pinning_per_byte"));
    program->rules.pins = program->rules.pinning_time || program->rules.pinning_per_byte;
    program->rules.inputs = ker_config_inputs(config);
    program->rules.spare = &program->spare;
    program->memory = ker_config_bytes(config, TASK_KEY(path, "trace_memory"));
}

/* All ranks must see the same number of files before they share them out, and each file with the same size,
 * since each is read by one rank. */
static void folder_register(const struct task_program *program)
{
    char text[96];
    uint64_t bytes, digest = allprof_folder_sizes(program->folder, program->tasks, &bytes);
    snprintf(text, sizeof text, "%u files, %llu bytes, sizes %016llx", program->tasks,
             (unsigned long long)bytes, (unsigned long long)digest);
    ker_input_add_text(program->rules.inputs, program->folder, text);
}

static enum ker_status allprof_open(struct task_program **opened, const struct ker_config *config,
                                    const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    program->rank = (uint32_t)ker_comm_rank(comm);
    allprof_read_keys(program, config, path);
    enum ker_status status = allprof_folder_count(program->folder, &program->tasks, error);
    if (status == KER_OK)
        folder_register(program);
    program->ranks = program->tasks <= allprof_alone ? 1 : (uint32_t)ker_comm_size(comm);
    status = ker_comm_worst(comm, status);
    if (status == KER_OK)
        status = ker_comm_worst(comm, ker_inputs_agree(program->rules.inputs, comm, error));
    if (status != KER_OK)
        return status;
    return files_resolve(program, comm, error);
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

/* Collective. */
static enum ker_status allprof_hand(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                    struct ker_comm *comm, struct ker_error *error)
{
    trace_own_release(&program->own, &program->own_count);
    trace_tasks_hand(&program->held, &program->store, own_tasks, count, program->tasks, comm);
    return trace_store_status(&program->store, error);
}

static enum ker_status allprof_prepare(struct task_program *program, const uint32_t *own_tasks,
                                       uint32_t count, struct ker_error *error)
{
    (void)error;
    program->own = ker_alloc(count * sizeof *program->own);
    program->own_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct trace_own *own = &program->own[i];
        own->held = trace_tasks_find(&program->held, own_tasks[i]);
        ker_assert(own->held && own->held->code.total);
        own->reader.code = &own->held->code;
        own->reader.comm = (const int32_t *)(const void *)own->held->note;
        trace_reader_seek(&own->reader, 0, 0);
    }
    return KER_OK;
}

static bool allprof_next(struct task_program *program, uint32_t own, struct task_op *op)
{
    return trace_own_next(&program->own[own], op);
}

static bool allprof_done(const struct task_program *program, uint32_t number, uint64_t *so_far, uint64_t *all)
{
    if (number >= program->own_count)
        return false;
    *so_far = program->own[number].before;
    *all = program->own[number].held->code.total;
    return true;
}

static void allprof_position(struct task_program *program, uint32_t own, struct ker_chunk *c)
{
    trace_own_position(&program->own[own], c);
}

static struct task_taken allprof_taken(const struct task_program *program, uint32_t own)
{
    return program->own[own].held->taken;
}

static bool allprof_call_of(const struct task_program *program, uint32_t own, uint32_t index,
                            struct task_call *call)
{
    return trace_called_get(&program->own[own].held->code.called, index, call);
}

static const struct ker_option options[] = {
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
    {.key = "jobs[].pinning_time",
     .type = KER_TYPE_TIME,
     .fallback = "0 ns",
     .maximum = "1 s",
     .meaning = "trace (liballprof): computation before a call for each of its buffers of which some bytes "
                "stood in no "
                "buffer before: the adapter pins memory that it has not seen. To the nanosecond."},
    {.key = "jobs[].pinning_per_byte",
     .type = KER_TYPE_TIME,
     .fallback = "0 ns",
     .maximum = "1 us",
     .meaning = "trace (liballprof): and for each of these bytes; a call's sum is cut to nanoseconds."},
    {.key = NULL},
};

const struct task_program_class task_allprof_class = {
    .collective = true,
    .open = allprof_open,
    .tasks = allprof_tasks,
    .comms = allprof_comms,
    .hand = allprof_hand,
    .prepare = allprof_prepare,
    .next = allprof_next,
    .close = allprof_close,
    .position = allprof_position,
    .done = allprof_done,
    .taken = allprof_taken,
    .call = allprof_call_of,
};

static int is_task_file(const struct dirent *entry)
{
    return strncmp(entry->d_name, "pmpi-trace-rank-", 16) == 0;
}

/* What is wrong with a folder that is nobody's, or with one that is not there, its reader says. */
static int score(const char *path)
{
    struct dirent **entry;
    struct stat is;
    int count = scandir(path, &entry, is_task_file, NULL);
    for (int i = 0; i < count; i++)
        free(entry[i]);
    if (count >= 0)
        free(entry);
    return count > 0                                     ? TRACE_SCORE_MAGIC
           : stat(path, &is) != 0 || S_ISDIR(is.st_mode) ? TRACE_SCORE_REST
                                                         : TRACE_SCORE_NONE;
}

const struct ker_kind trace_format_liballprof = {
    .name = "liballprof",
    .meaning =
        "text traces of liballprof: a folder with one file pmpi-trace-rank-N.txt (or .txt.zst) per task",
    .operations = &(const struct trace_format){&task_allprof_class, score, NULL},
    .options = KER_OPTIONS(options, trace_store_options)};
