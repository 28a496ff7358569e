/* replay.c - the replay of traces that marstrace has written.
 *
 * open() joins the communicators of all tasks (comms.c). prepare() reads each call of this rank's tasks once,
 * checks it, and puts what it is in the replay into the store (tasks/traces/store); next() takes it from
 * there. So nothing is found wrong in mid-run, and nothing of the trace stays in memory or open. When the run
 * begins again with its tasks elsewhere, hand() brings them there as they were read.
 */
#include "tasks/traces/replay/replay.h"
#include "tasks/traces/store/hand.h"
#include "tasks/traces/trace.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_NAMES 100 /* a store has few, and all those of calls.c come besides */

struct own_task {
    struct trace_task *held;
    struct trace_reader reader;
    struct replay_neighbours *neighbours;
    uint64_t before; /* the last call of next(): where it read */
};

struct task_program {
    char *path;
    struct ker_inputs *inputs;
    struct mars_trace *trace; /* until prepare() */
    uint32_t tasks;
    struct replay_rules rules;
    struct replay_comms comms;
    struct replay_order order; /* until the ranks have agreed */
    bool agreed;
    uint64_t memory; /* for operations */
    struct trace_store store;
    struct trace_tasks held; /* a note is what is known of neighbours, while the task is on its way */
    struct own_task *own;
    uint32_t own_count;
    char *kept[KEPT_NAMES]; /* of functions that are computation here */
    uint32_t kept_count;
};

static void own_release(struct task_program *program)
{
    for (uint32_t i = 0; i < program->own_count; i++) {
        trace_reader_release(&program->own[i].reader);
        replay_neighbours_free(program->own[i].neighbours);
    }
    free(program->own);
    program->own = NULL;
    program->own_count = 0;
}

static void replay_close(struct task_program *program)
{
    if (!program)
        return;
    own_release(program);
    trace_tasks_release(&program->held);
    for (uint32_t i = 0; i < program->kept_count; i++)
        free(program->kept[i]);
    trace_store_release(&program->store);
    replay_comms_release(&program->comms);
    replay_order_release(&program->order);
    mars_trace_close(program->trace);
    free(program->path);
    free(program);
}

static enum ker_status trace_open(struct task_program *program, struct ker_error *error)
{
    struct mars_error why = {0};
    if (!mars_trace_open(&program->trace, program->path, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    uint32_t tasks = program->tasks = mars_trace_tasks(program->trace);
    if (tasks == 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: a trace without tasks", program->path);
    char text[32];
    snprintf(text, sizeof text, "%u tasks", tasks);
    ker_input_add_text(program->inputs, program->path, text);
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
    program->rules.unknown = ker_config_is(config, TASK_KEY(path, "unknown"), "compute");
    enum ker_status status = ker_comm_worst(comm, trace_open(program, error));
    if (status == KER_OK) /* all see the same number of tasks before they share them out */
        status = ker_comm_worst(comm, ker_inputs_agree(program->inputs, comm, error));
    if (status == KER_OK)
        status = replay_comms_find(&program->comms, program->trace, program->path, comm, error);
    trace_store_init(&program->store, program->memory, (struct trace_form){.unit = KER_NS});
    replay_order_init(&program->order, program->comms.count);
    return status;
}

static uint32_t replay_tasks(const struct task_program *program)
{
    return program->tasks;
}

static const struct task_comm *replay_comms(const struct task_program *program, int32_t *count)
{
    *count = program->comms.count;
    return program->comms.comm;
}

/* ---- a task's calls ---- */

/* Names live as long as their task is open; those of operations as long as the program. */
static const char *name_keep(struct task_program *program, const char *name)
{
    for (uint32_t i = 0; i < program->kept_count; i++)
        if (strcmp(program->kept[i], name) == 0)
            return program->kept[i];
    if (program->kept_count == KEPT_NAMES)
        return "other calls";
    return program->kept[program->kept_count++] = ker_format("%s", name);
}

/* What marstrace --profile prints. */
static void record_count(struct trace_called *called, struct replay_task *t)
{
    const struct mars_record *r = &t->record;
    size_t place = ker_hash((uintptr_t)r->function) >> 58; /* of 64 */
    if (t->counted[place].function != r->function) {
        t->counted[place].function = r->function;
        t->counted[place].index = trace_called_find(called, r->function->name, strlen(r->function->name));
    }
    struct task_call *call = &called->call[t->counted[place].index];
    call->calls += r->polls;
    call->bytes += r->polls * mars_record_bytes(r);
    call->time_ns += r->duration_ns;
}

/* The computation before a call, and the call. */
static enum ker_status record_put(struct task_program *program, struct own_task *own, struct replay_task *t,
                                  bool *ends, struct ker_error *error)
{
    bool some;
    struct task_op op;
    bool counts = program->rules.counts && !*ends;
    for (t->part = 0, t->parts = 1; t->part < t->parts; t->part++) {
        enum ker_status status = replay_translate(t, &op, &some, program->path, error);
        if (status != KER_OK)
            return status;
        ker_time gap = t->part ? 0 : replay_gap(t);
        if (*ends) /* what follows MPI_Finalize is none of the job's, but checked */
            continue;
        if (gap > 0)
            trace_code_compute(&own->held->code, (uint64_t)(gap / program->store.form.unit));
        if (some) {
            replay_order_add(&program->order, &op);
            replay_requests_name(t, &op);
            if (strcmp(op.call, t->record.function->name) != 0) /* MPI_Send_c, or what computes here */
                op.call = name_keep(program, t->record.function->name);
            trace_code_put(&own->held->code, &op);
        }
        *ends = some && (op.kind == TASK_OP_FINALIZE || op.kind == TASK_OP_ABORT);
    }
    if (counts)
        record_count(&own->held->code.called, t);
    return KER_OK;
}

/* A trace may say anything: what is longer than any simulation is cut. */
static void time_add(ker_time *sum, uint64_t ns)
{
    const uint64_t most = (uint64_t)TRACE_GAP_MOST / 1000;
    uint64_t all = (uint64_t)(*sum / 1000) + (ns < most ? ns : most);
    *sum = (ker_time)(all < most ? all : most) * 1000;
}

/* What is left out of the time before the record. In a trace of one clock, time away from the processor is
 * what a converter knew to be no computation: waiting between polls, or the tracer's work at the end. */
static void taken_add(struct task_taken *taken, const struct replay_task *t, bool one_clock)
{
    const struct mars_record *r = &t->record;
    time_add(&taken->poll_gap, r->rest_ns);
    if (!one_clock || !t->rules->cpu || t->read <= 1)
        return;
    bool last = strcmp(r->function->name, "MPI_Finalize") == 0;
    time_add(last ? &taken->finalize_gap : &taken->poll_gap, r->away_ns);
}

/* All calls of a task, and what is left out of its time. */
static enum ker_status calls_read(struct task_program *program, struct own_task *own, struct replay_task *t,
                                  struct ker_error *error)
{
    struct mars_error why = {0};
    struct mars_stream *stream;
    enum ker_status status = KER_OK;
    const char *clock = mars_task_info(t->trace, "clock");
    bool ends = false, one_clock = clock && strcmp(clock, "wall") == 0;
    if (!mars_stream_open(&stream, t->trace, 0, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    while (status == KER_OK && mars_stream_next(stream, &t->record, &why)) {
        t->read++;
        taken_add(&own->held->taken, t, one_clock);
        status = record_put(program, own, t, &ends, error);
    }
    mars_stream_close(stream);
    bool died = !ends && (program->comms.aborts || program->rules.died);
    if (died)
        trace_code_put(&own->held->code,
                       &(struct task_op){.kind = TASK_OP_ABORT, .call = "the end of its trace"});
    trace_code_end(&own->held->code);
    if (status == KER_OK && why.text[0])
        status = ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    if (status == KER_OK && !ends && !died)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: task %u did not come to MPI_Finalize: it died, or the trace was cut; "
                          "jobs[].died = \"end\" replays it up to there",
                          program->path, t->trace->number);
    return status;
}

static enum ker_status task_prepare(struct task_program *program, struct own_task *own, uint32_t task,
                                    struct ker_error *error)
{
    struct mars_error why = {0};
    struct replay_task t = {.rules = &program->rules, .comms = program->comms.comm};
    if (!mars_task_open(&t.trace, program->trace, task, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    t.comm = replay_comms_of(&program->comms, t.trace);
    t.pairs = replay_pairs(t.trace);
    own->held->code.store = &program->store;
    t.neighbours = own->neighbours = replay_neighbours_new(t.trace, t.comm, t.comms, program->path, error);
    enum ker_status status = t.neighbours ? KER_OK : KER_BAD_INPUT;
    if (status == KER_OK && t.trace->threads > 1)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: %u threads of task %u have called MPI; a task can only be replayed with one",
                          program->path, t.trace->threads, task);
    replay_order_begin(&program->order);
    if (status == KER_OK)
        status = calls_read(program, own, &t, error);
    replay_order_end(&program->order, t.comms, t.comm, t.trace->comms);
    mars_task_close(t.trace);
    replay_requests_release(&t);
    free(t.comm);
    free(t.list[0]);
    free(t.list[1]);
    free(t.window);
    free(t.made);
    free(t.request);
    return status;
}

static enum ker_status replay_hand(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                   struct ker_comm *comm, struct ker_error *error)
{
    for (uint32_t i = 0; i < program->own_count; i++) {
        struct own_task *own = &program->own[i];
        own->held->note = replay_neighbours_pack(own->neighbours, &own->held->note_bytes);
    }
    own_release(program);
    trace_tasks_hand(&program->held, &program->store, own_tasks, count, program->tasks, comm);
    return trace_store_status(&program->store, error);
}

/* What was handed over is complete; all else is read. */
static enum ker_status own_prepare(struct task_program *program, struct own_task *own, uint32_t task,
                                   struct ker_error *error)
{
    enum ker_status status = KER_OK;
    own->held = trace_tasks_find(&program->held, task);
    ker_assert(own->held);
    if (own->held->code.total)
        own->neighbours = replay_neighbours_unpack(own->held->note, own->held->note_bytes);
    else
        status = task_prepare(program, own, task, error);
    free(own->held->note);
    own->held->note = NULL;
    own->held->note_bytes = 0;
    own->reader.code = &own->held->code;
    if (status == KER_OK)
        trace_reader_seek(&own->reader, 0, 0);
    return status;
}

static enum ker_status replay_prepare(struct task_program *program, const uint32_t *own_tasks, uint32_t count,
                                      struct ker_error *error)
{
    enum ker_status status = KER_OK;
    program->own = ker_alloc(count * sizeof *program->own);
    program->own_count = count;
    for (uint32_t i = 0; i < count && status == KER_OK; i++)
        status = own_prepare(program, &program->own[i], own_tasks[i], error);
    mars_trace_close(program->trace);
    program->trace = NULL;
    return status ? status : trace_store_status(&program->store, error);
}

/* Where a task was ended, what it had still to call is not known. */
static enum ker_status replay_agree(struct task_program *program, struct ker_comm *comm,
                                    struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (!program->agreed && !program->comms.aborts && !program->rules.died)
        status = replay_order_agree(&program->order, program->comms.comm, comm, program->path, error);
    replay_order_release(&program->order);
    program->agreed = true;
    return status;
}

static bool replay_next(struct task_program *program, uint32_t number, struct task_op *op)
{
    struct own_task *own = &program->own[number];
    own->before = trace_reader_position(&own->reader);
    if (trace_reader_next(&own->reader, op))
        return true;
    trace_reader_seek(&own->reader, 0, 0); /* a background job that starts again */
    return false;
}

/* The trace is the same, so the operations are. */
static void replay_position(struct task_program *program, uint32_t number, struct ker_chunk *c)
{
    struct own_task *own = &program->own[number];
    uint64_t before = ker_chunk_u64(c, own->before);
    ker_chunk_same(c, own->held->code.total);
    c->bad |= before > own->held->code.total;
    if (!c->loads || c->bad)
        return;
    own->before = before;
    trace_reader_seek(&own->reader, before, 0);
}

static const struct task_neighbours *replay_neighbours(const struct task_program *program, uint32_t number,
                                                       int32_t comm)
{
    return replay_neighbours_of(program->own[number].neighbours, comm);
}

static struct task_taken replay_taken(const struct task_program *program, uint32_t number)
{
    return program->own[number].held->taken;
}

static bool replay_call_of(const struct task_program *program, uint32_t number, uint32_t index,
                           struct task_call *call)
{
    return trace_called_get(&program->own[number].held->code.called, index, call);
}

const struct ker_option task_replay_options[] = {
    {.key = "jobs[].clock",
     .type = KER_TYPE_CHOICE,
     .fallback = "cpu",
     .choices = "cpu|wall",
     .meaning =
         "trace (mars): what computation is: the time between two calls that the task was running on a "
         "processor, or all of it."},
    {.key = "jobs[].died",
     .type = KER_TYPE_CHOICE,
     .fallback = "error",
     .choices = "error|end",
     .meaning = "trace (mars): tasks that did not come to MPI_Finalize are refused, or end where their "
                "traces do, and "
                "the job with them, as after MPI_Abort."},
    {.key = "jobs[].unknown",
     .type = KER_TYPE_CHOICE,
     .fallback = "error",
     .choices = "error|compute",
     .meaning =
         "trace (mars): calls that cannot be replayed are refused, or taken as computation of the time "
         "that they took."},
    {.key = NULL},
};

const struct task_program_class task_replay_class = {
    .collective = true,
    .open = replay_open,
    .tasks = replay_tasks,
    .comms = replay_comms,
    .hand = replay_hand,
    .prepare = replay_prepare,
    .agree = replay_agree,
    .next = replay_next,
    .close = replay_close,
    .position = replay_position,
    .neighbours = replay_neighbours,
    .taken = replay_taken,
    .call = replay_call_of,
};
