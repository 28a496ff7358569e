/* allprof.c - traces in the format "liballprof": a folder of text files, one per task.
 *
 * All files show together which communicators there are, so they are read before it is known where tasks
 * live: the ranks share them out (task t to rank t mod ranks); so few that one rank will simulate all are
 * rank 0's. Rank 0 gathers what concerns communicators, resolves it, and all ranks learn which communicators
 * there are and which event came to which.
 */
#include "traces/allprof/allprof.h"

#include "traces/foreign/foreign.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct allprof_trace {
    struct allprof_rules rules;
    struct allprof_file *spare;
    struct allprof_comms comms; /* its list of communicators is the program's */
};

uint32_t allprof_alone = TASK_FEW;

static void reads_release(struct allprof_read *read, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        trace_code_release(&read[i].code);
        free(read[i].events.event);
        allprof_tallies_release(&read[i].tallies);
    }
    free(read);
}

static void trace_close(struct foreign_trace *to)
{
    struct allprof_trace *trace = to->own;
    allprof_file_free(trace->spare);
    allprof_comms_release(&trace->comms);
    free(trace);
}

static enum ker_status files_read(const struct foreign_trace *of, struct trace_store *store,
                                  const struct allprof_together *t, uint32_t rank, struct ker_error *error)
{
    struct allprof_trace *trace = of->own;
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < t->count && status == KER_OK; i++) {
        struct allprof_read *read = &t->read[i];
        struct allprof_scan scan = {0};
        read->task = rank + i * t->readers;
        read->code.store = store;
        status = allprof_parse(&read->code, &read->taken, &scan, &trace->rules, of->path, read->task, error);
        read->events = scan.events;
        read->tallies = scan.tallies;
    }
    allprof_file_free(trace->spare);
    trace->spare = NULL;
    return status ?: trace_store_status(store, error);
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
static void reads_hold(struct trace_tasks *held, const struct allprof_together *t)
{
    *held = (struct trace_tasks){ker_alloc((t->count + (size_t)1) * sizeof *held->task), t->count};
    for (uint32_t i = 0; i < t->count; i++) {
        held->task[i] =
            (struct trace_task){.task = t->read[i].task, .code = t->read[i].code, .taken = t->read[i].taken};
        t->read[i].code = (struct trace_code){0};
        comms_note(&held->task[i], t->uses);
    }
}

static enum ker_status tasks_gather(struct foreign_trace *to, struct trace_store *store,
                                    struct trace_tasks *held, struct ker_comm *comm, struct ker_error *error)
{
    struct allprof_trace *trace = to->own;
    struct allprof_uses uses = {0};
    uint32_t rank = (uint32_t)ker_comm_rank(comm),
             readers = to->tasks <= allprof_alone ? 1 : (uint32_t)ker_comm_size(comm),
             count = rank < readers ? (to->tasks + readers - 1 - rank) / readers : 0;
    struct allprof_together together = {.read = ker_alloc((count + (size_t)1) * sizeof *together.read),
                                        .count = count,
                                        .tasks = to->tasks,
                                        .readers = readers,
                                        .compared = !to->times,
                                        .folder = to->path,
                                        .comm = comm,
                                        .uses = &uses,
                                        .comms = &trace->comms};
    enum ker_status status = ker_comm_worst(comm, files_read(to, store, &together, rank, error));
    if (status == KER_OK) {
        status = allprof_resolve(&together, error);
        to->unfit = status != KER_OK;
    }
    if (status == KER_OK)
        reads_hold(held, &together);
    to->comm = trace->comms.comm;
    to->comms = trace->comms.comm ? trace->comms.count : 1;
    trace->comms.comm = NULL;
    reads_release(together.read, count);
    allprof_uses_release(&uses);
    return status;
}

/* All ranks must see the same number of files before they share them out, and each file with the same size,
 * since each is read by one rank. */
static void folder_register(const struct foreign_trace *trace)
{
    char text[96];
    uint64_t bytes, digest = allprof_folder_sizes(trace->path, trace->tasks, &bytes);
    snprintf(text, sizeof text, "%u files, %llu bytes, sizes %016llx", trace->tasks,
             (unsigned long long)bytes, (unsigned long long)digest);
    ker_input_add_text(trace->inputs, trace->path, text);
}

static enum ker_status trace_open(struct foreign_trace *to, struct ker_error *error)
{
    const struct ker_config *config = to->config;
    const char *job = to->job;
    struct allprof_trace *trace = ker_alloc(sizeof *trace);
    to->own = trace;
    trace->rules = (struct allprof_rules){
        .mpich = ker_config_is(config, TASK_KEY(job, "mpi_library"), "mpich"),
        .unlisted_bytes = ker_config_bytes(config, TASK_KEY(job, "unlisted_bytes")),
        .finalize_gap = ker_config_bool(config, TASK_KEY(job, "finalize_gap")),
        .counts = to->counts,
        .times = to->times,
        .poll_gap = ker_config_time(config, TASK_KEY(job, "poll_gap")),
        .pinning_time = ker_config_time(config, TASK_KEY(job, "pinning_time")),
        .pinning_per_byte = ker_config_time(config, TASK_KEY(job, "pinning_per_byte")),
        .inputs = to->inputs,
        .spare = &trace->spare,
    };
    trace->rules.pins = trace->rules.pinning_time || trace->rules.pinning_per_byte;
    to->form = trace->rules.pins ? allprof_form_pins : allprof_form;
    enum ker_status status = allprof_folder_count(to->path, &to->tasks, error);
    if (status == KER_OK)
        folder_register(to);
    return status;
}

static char *file_of(const struct foreign_trace *trace, uint32_t task)
{
    return allprof_file_path(trace->path, task);
}

static const struct foreign_reader reader = {
    .name = "liballprof",
    .doubt = (const char *const[]){NULL},
    .times = true,
    .calls = true,
    .lists = true,
    .open = trace_open,
    .gather = tasks_gather,
    .close = trace_close,
    .file = file_of,
};

static const struct ker_option options[] = {
    {"jobs[].mpi_library", KER_TYPE_CHOICE, "openmpi", NULL, NULL, "openmpi|mpich",
     "trace: the MPI library of the traced run; it decides what -1 and -2 mean as a rank."},
    {"jobs[].unlisted_bytes", KER_TYPE_BYTES, "0", NULL, "1 TiB", NULL,
     "trace: bytes between each two tasks of an Alltoallv (Gatherv, ...) whose counts the trace does not "
     "list."},
    {"jobs[].finalize_gap", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "trace: is the time before MPI_Finalize computation? By default it is left out: the tracer synchronises "
     "its clocks and writes its files then."},
    {"jobs[].poll_gap", KER_TYPE_TIME, "10 us", NULL, "1000000 s", NULL,
     "trace: time from a test (or Iprobe) that found nothing to the next call, when that is a test of the "
     "same requests (or the same Iprobe), is waiting and left out if it is not longer than this; longer ones "
     "are computation. 0: none is left out."},
    {"jobs[].pinning_time", KER_TYPE_TIME, "0 ns", NULL, "1 s", NULL,
     "trace (liballprof): computation before a call for each of its buffers of which some bytes stood in no "
     "buffer before: the adapter pins memory that it has not seen. To the nanosecond."},
    {"jobs[].pinning_per_byte", KER_TYPE_TIME, "0 ns", NULL, "1 us", NULL,
     "trace (liballprof): and for each of these bytes; a call's sum is cut to nanoseconds."},
    {0},
};

FOREIGN_CLASS(, task_allprof_class, reader, .taken = trace_program_taken);

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
    .operations = &(const struct trace_format){&task_allprof_class, score, &reader},
    .options = KER_OPTIONS(options, trace_store_options)};
