/* replay.c - the replay of traces that marstrace has written.
 *
 * open() joins the communicators of all tasks (comms.c). prepare() reads each call of this rank's tasks once,
 * checks it, and puts what it is in the replay into the store (traces/store); next() takes it from
 * there. So nothing is found wrong in mid-run, and nothing of the trace stays in memory or open. When the run
 * begins again with its tasks elsewhere, hand() brings them there as they were read.
 */
#include "traces/replay/files.h"
#include "traces/replay/program.h"
#include "traces/traces.h"

#include <stdlib.h>
#include <string.h>

static void own_release(struct task_program *program)
{
    for (uint32_t i = 0; i < program->base.own_count; i++)
        replay_neighbours_free(program->neighbours[i]);
    free(program->neighbours);
    program->neighbours = NULL;
    trace_program_leave(&program->base);
}

static void replay_close(struct task_program *program)
{
    if (!program)
        return;
    own_release(program);
    for (uint32_t i = 0; i < program->kept_count; i++)
        free(program->kept[i]);
    trace_program_release(&program->base);
    replay_comms_release(&program->comms);
    replay_order_release(&program->order);
    replay_joint_free(program->joint);
    replay_counters_release(&program->rules);
    mars_trace_close(program->trace);
    free(program->path);
    free(program);
}

static enum ker_status trace_open(struct task_program *program, struct ker_error *error)
{
    struct mars_error why = {0};
    if (!mars_trace_open(&program->trace, program->path, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    uint32_t tasks = program->base.tasks = mars_trace_tasks(program->trace);
    if (tasks == 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: a trace without tasks", program->path);
    char text[96];
    uint64_t bytes, digest = mars_trace_digest(program->trace, &bytes);
    snprintf(text, sizeof text, "%u tasks, %llu bytes, blocks %016llx", tasks, (unsigned long long)bytes,
             (unsigned long long)digest);
    ker_input_add_text(program->inputs, program->path, text);
    return KER_OK;
}

/* Calls on files travel where there is something that they can travel to. */
static enum ker_status io_read(struct replay_rules *rules, const struct ker_config *config, const char *path,
                               struct ker_error *error)
{
    const char *key = TASK_KEY(path, "io");
    bool there = store_wanted(config);
    int64_t per_node = ker_config_int(config, TASK_KEY(path, "tasks_per_node"));
    rules->io = ker_config_has(config, key) ? ker_config_is(config, key, "modelled") : there;
    if (!rules->io)
        return KER_OK;
    if (!there)
        return ker_config_fail(config, error, key,
                               "\"modelled\" needs file servers: storage.servers.count = 4 or "
                               "storage.servers.nodes = \"0-3\"");
    rules->contiguous = ker_config_is(config, TASK_KEY(path, "unknown_views"), "contiguous");
    rules->per_node = per_node ? (uint32_t)per_node : 1;
    rules->aggregators = (uint64_t)ker_config_int(config, "storage.collective.aggregators");
    rules->buffer = ker_config_bytes(config, "storage.collective.buffer");
    return KER_OK;
}

static enum ker_status replay_open(struct task_program **opened, const struct ker_config *config,
                                   const char *path, struct ker_comm *comm, struct ker_error *error)
{
    struct task_program *program = ker_alloc(sizeof *program);
    *opened = program;
    program->path = ker_format("%s", ker_config_file(config, TASK_KEY(path, "trace")));
    program->inputs = ker_config_inputs(config);
    program->memory = ker_config_bytes(config, TASK_KEY(path, "trace_memory"));
    program->rules.cpu = ker_config_is(config, TASK_KEY(path, "clock"), "cpu");
    program->rules.counts = task_calls_wanted(config, true);
    program->rules.died = ker_config_is(config, TASK_KEY(path, "died"), "end");
    program->rules.polls = !ker_config_is(config, "mpi.progress", "adapter");
    program->rules.traced = ker_config_is(config, TASK_KEY(path, "calls"), "traced");
    program->rules.simulated = ker_config_is(config, TASK_KEY(path, "wildcards"), "simulated");
    program->rules.unknown = ker_config_is(config, TASK_KEY(path, "unknown"), "compute");
    replay_counters_read(&program->rules, config, path);
    enum ker_status status = ker_comm_worst(comm, trace_open(program, error));
    status = status ?: io_read(&program->rules, config, path, error);
    if (status == KER_OK && ker_comm_rank(comm) == 0 && mars_trace_cut(program->trace))
        ker_warn("%s", mars_trace_cut(program->trace));
    if (status == KER_OK) /* all see the same number of tasks before they share them out */
        status = ker_comm_worst(comm, ker_inputs_agree(program->inputs, comm, error));
    status = status ?: replay_comms_find(&program->comms, program->trace, program->path, comm, error);
    if (status == KER_OK && program->rules.io)
        status = replay_joint_find(&program->joint, &program->rules, &program->comms, program->trace,
                                   program->path, comm, error);
    if (status == KER_OK && program->joint)
        replay_joint_lengths(program->joint, config);
    program->rules.joint = program->joint;
    trace_store_init(&program->base.store, program->memory, (struct trace_form){.unit = KER_NS});
    replay_order_init(&program->order, program->comms.count);
    program->base.comm = program->comms.comm;
    program->base.comms = program->comms.count;
    return status;
}

/* ---- a task's calls ---- */

/* Also what it has called on the doubles of communicators. */
static void order_end(struct task_program *program, const struct replay_task *t)
{
    replay_order_end(&program->order, t->comms, t->comm, t->trace->comms);
    for (uint32_t i = 0; t->files && i < t->trace->comms; i++)
        t->comm[i] = t->comm[i] < 0 ? -1 : replay_joint_comm(program->joint, t->comm[i]);
    if (t->files)
        replay_order_end(&program->order, t->comms, t->comm, t->trace->comms);
}

static void task_release(struct replay_task *t)
{
    replay_files_free(t->files);
    mars_task_close(t->trace);
    replay_requests_release(t);
    replay_found_release(&t->found);
    free(t->dependent);
    replay_threads_free(t->threads);
    free(t->comm);
    free(t->list[0]);
    free(t->list[1]);
    free(t->shape);
    free(t->window);
    free(t->made);
    replay_active_release(t);
}

static enum ker_status task_prepare(struct task_program *program, struct trace_own *own,
                                    struct replay_neighbours **neighbours, struct ker_error *error)
{
    uint32_t task = own->held->task;
    struct mars_error why = {0};
    struct replay_task t = {.rules = &program->rules, .comms = program->comms.comm};
    if (!mars_task_open(&t.trace, program->trace, task, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    const char *waits = mars_task_info(t.trace, "waits");
    if (program->rules.traced && !(waits && strcmp(waits, "removed") == 0)) {
        mars_task_close(t.trace);
        return ker_fail(
            error, KER_BAD_INPUT,
            "%s: jobs[].calls = \"traced\" needs a trace without waits: marsconv --to mars --no-waits %s NEW",
            program->path, program->path);
    }
    t.comm = replay_comms_of(&program->comms, t.trace);
    t.pairs = replay_pairs(t.trace);
    t.files = program->joint ? replay_files_new(&t) : NULL;
    t.repeats = !program->rules.traced && !program->rules.simulated && !program->rules.counters && !t.files &&
                t.trace->threads == 1 && !t.pairs && !replay_generalises(t.trace);
    own->held->code.store = &program->base.store;
    t.neighbours = *neighbours = replay_neighbours_new(t.trace, t.comm, t.comms, program->path, error);
    enum ker_status status = t.neighbours ? KER_OK : KER_BAD_INPUT;
    status = status ?: replay_counters_find(&t, program->path, error);
    if (status == KER_OK && t.trace->threads > 1)
        status = replay_threads_new(&t, program->comms.count, program->path, error);
    if (t.threads)
        trace_own_others(own, t.threads->count - 1);
    replay_order_begin(&program->order, task, t.comms);
    status = status ?: replay_calls_read(program, own, &t, error);
    program->combines |= t.combines;
    order_end(program, &t);
    task_release(&t);
    return status;
}

/* How many other threads, where they begin, and the neighbours. */
static void note_pack(struct trace_own *own, struct replay_neighbours *of)
{
    struct ker_bytes note = {0};
    uint64_t others = own->others;
    size_t bytes;
    uint8_t *neighbours = replay_neighbours_pack(of, &bytes);
    ker_bytes_add(&note, &others, sizeof others);
    for (uint32_t i = 0; i < own->others; i++)
        ker_bytes_add(&note, &own->other[i].start, sizeof own->other[i].start);
    ker_bytes_add(&note, neighbours, bytes);
    free(neighbours);
    own->held->note = note.byte;
    own->held->note_bytes = note.used;
}

static struct replay_neighbours *note_unpack(struct trace_own *own)
{
    const uint8_t *at = own->held->note;
    uint64_t others;
    memcpy(&others, at, sizeof others);
    at += sizeof others;
    trace_own_others(own, (uint32_t)others);
    for (uint32_t i = 0; i < own->others; i++, at += sizeof(uint64_t))
        memcpy(&own->other[i].start, at, sizeof own->other[i].start);
    return replay_neighbours_unpack(at, own->held->note_bytes - (size_t)(at - own->held->note));
}

static enum ker_status replay_hand(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                   struct ker_comm *comm, struct ker_error *error)
{
    for (uint32_t i = 0; i < program->base.own_count; i++)
        note_pack(&program->base.own[i], program->neighbours[i]);
    own_release(program);
    trace_tasks_hand(&program->base.held, &program->base.store, own_tasks, count, program->base.tasks, comm);
    return trace_store_status(&program->base.store, error);
}

/* What was handed over is complete; all else is read. */
static enum ker_status own_prepare(struct task_program *program, uint32_t number, uint32_t task,
                                   struct ker_error *error)
{
    struct trace_own *own = &program->base.own[number];
    enum ker_status status = KER_OK;
    own->held = trace_tasks_find(&program->base.held, task);
    ker_assert(own->held);
    if (own->held->code.total)
        program->neighbours[number] = note_unpack(own);
    else
        status = task_prepare(program, own, &program->neighbours[number], error);
    free(own->held->note);
    own->held->note = NULL;
    own->held->note_bytes = 0;
    if (status == KER_OK)
        trace_program_begin(&program->base, number);
    return status;
}

static enum ker_status replay_prepare(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                      struct ker_error *error)
{
    enum ker_status status = KER_OK;
    trace_program_room(&program->base, count);
    program->neighbours = ker_alloc((count + 1ull) * sizeof(void *));
    for (uint32_t i = 0; i < count && status == KER_OK; i++)
        status = own_prepare(program, i, own_tasks[i], error);
    mars_trace_close(program->trace);
    program->trace = NULL;
    return status ?: trace_store_status(&program->base.store, error);
}

/* Where a task was ended, what it had still to call is not known. */
static enum ker_status replay_agree(struct task_program *program, struct ker_comm *comm,
                                    struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (!program->agreed && !program->comms.aborts && !program->rules.died)
        status = replay_order_agree(&program->order, program->comms.comm, comm, program->path,
                                    "marsconv --check names the calls", error);
    replay_order_release(&program->order);
    program->agreed = true;
    return status;
}

static const struct task_neighbours *replay_neighbours(const struct task_program *program, uint32_t number,
                                                       int32_t comm)
{
    return replay_neighbours_of(program->neighbours[trace_program_of(program, number)->task], comm);
}

static bool replay_service(const struct task_program *program, uint32_t index, struct task_called *called)
{
    *called = (struct task_called){STORE_CLIENT, "io"};
    return index == 0 && program->rules.joint != NULL;
}

static const struct ker_option options[] = {
    {"jobs[].clock", KER_TYPE_CHOICE, "cpu", NULL, NULL, "cpu|wall",
     "trace (mars): what computation is: the time between two calls that the task was running on a "
     "processor, or all of it."},
    {"jobs[].calls", KER_TYPE_CHOICE, "modelled", NULL, NULL, "modelled|traced",
     "trace (mars): what a call of MPI costs the processor: what node and mpi keys say, or what the trace "
     "says it took, less what the network takes now; the trace must be without waits (marsconv --no-waits). "
     "See docs/traces.md."},
    {"jobs[].wildcards", KER_TYPE_CHOICE, "traced", NULL, NULL, "traced|simulated",
     "trace (mars): from whom receives from any source, and probes for one, take their message: from whom "
     "the trace found, or from who comes first in the simulation; calls that depend on it then name that "
     "one, too. See docs/traces.md."},
    {"jobs[].memory_counters", KER_TYPE_STRING | KER_TYPE_LIST, NULL, NULL, NULL, NULL,
     "trace (mars): what computations move in memory is what these hardware counters of the trace counted "
     "(MARSTRACE_COUNTERS, \"PAPI_L3_TCM\"), together, times jobs[].memory_line; in the place of "
     "jobs[].memory_bandwidth.",
     .belongs = "node.controller_bandwidth or node.core_bandwidth"},
    {"jobs[].memory_line", KER_TYPE_BYTES, "64 B", "1 B", "1 MiB", NULL,
     "trace (mars): bytes that are moved for each that was counted.", .belongs = "jobs[].memory_counters"},
    {"jobs[].io", KER_TYPE_CHOICE, NULL, NULL, NULL, "modelled|traced",
     "trace (mars): calls on files travel to the servers of storage, or take the time that they took on the "
     "traced machine; absent: they travel where there is storage. See docs/storage.md."},
    {"jobs[].unknown_views", KER_TYPE_CHOICE, "error", NULL, NULL, "error|contiguous",
     "trace (mars): a view of a file of which the trace does not say where it has holes, as older ones do "
     "not, is refused, or taken as if it had none."},
    {"jobs[].died", KER_TYPE_CHOICE, "error", NULL, NULL, "error|end",
     "trace (mars): tasks that did not come to MPI_Finalize are refused, or end where their traces do, and "
     "the job with them, as after MPI_Abort."},
    {0},
};

static uint8_t replay_combines(const struct task_program *program)
{
    return program->combines;
}

const struct task_program_class task_replay_class = {
    TRACE_PROGRAM,
    .open = replay_open,
    .hand = replay_hand,
    .prepare = replay_prepare,
    .agree = replay_agree,
    .combines = replay_combines,
    .service = replay_service,
    .close = replay_close,
    .streams = trace_program_streams,
    .neighbours = replay_neighbours,
    .taken = trace_program_taken,
    .traced = replay_traced,
};

static int score(const char *path)
{
    return trace_score(path, mars_trace_known(path), TRACE_SCORE_MAGIC, ".mars");
}

const struct ker_kind trace_format_mars = {
    .name = "mars",
    .meaning = "traces of marstrace: a folder, or a file NAME.mars",
    .operations = &(const struct trace_format){&task_replay_class, score, NULL},
    .options = KER_OPTIONS(options, trace_unknown_options, trace_store_options)};
