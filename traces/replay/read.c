/* read.c - a task's calls become its operations in the store, once, before the run.
 *
 * One stream of calls, or those of several threads in one order (threads.c): then each thread's operations
 * are written beside the others', and stand one thread after the other in the end. Calls are counted,
 * too.
 */
#include "traces/replay/program.h"

#include <stdlib.h>
#include <string.h>

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

/* The first `wanted` of what has been found are waited for. */
static void later_put(struct replay_task *t, struct trace_code *code, uint32_t wanted)
{
    struct replay_later *l = &t->later;
    for (; l->put < wanted; l->put++)
        trace_code_put(
            code, &(struct task_op){.kind = TASK_OP_WAIT, .request = l->request[l->put], .call = l->call});
    if (l->put == l->count)
        *l = (struct replay_later){0};
}

/* The peer of an operation that depends on one, so far back among all that its call has found. */
static int32_t found_get(struct replay_task *t, struct trace_code *code, int32_t back)
{
    uint32_t number = t->found.count - (uint32_t)back, put = t->found.count;
    if (t->later.count && t->later.put < number)
        later_put(t, code, number);
    if (t->later.count)
        put = t->later.put;
    return TASK_FOUND - (int32_t)(put - number);
}

/* A receive from any source, or a probe, takes the source of the trace, or hands it to calls that depend on
 * it: these name it in the place of the rank that they had. Between threads nothing depends. */
static void source_name(struct replay_task *t, struct trace_code *code, struct task_op *op)
{
    bool exchange = op->kind == TASK_OP_SENDRECV,
         probe = op->kind >= TASK_OP_PROBE && op->kind <= TASK_OP_MPROBE;
    bool simulated = t->rules->simulated && !t->threads;
    int32_t *source = exchange ? &op->peer2 : &op->peer, *tag = exchange ? &op->tag2 : &op->tag, came;
    if (op->kind == TASK_OP_IRECV && op->peer == TASK_ANY) {
        bool pair = t->parts > 1;
        op->mode = !simulated ? TASK_RECEIVE_LATER : pair ? TASK_RECEIVE_PLAIN : TASK_RECEIVE_FINDS;
    } else if ((op->kind == TASK_OP_RECV || exchange || probe) && *source == TASK_ANY) {
        bool known =
            replay_source_get(t, op->comm, mars_number(&t->record, MARS_FIELD_from, MARS_FROM_NOBODY),
                              mars_number(&t->record, MARS_FIELD_got_tag, 0), source, &came);
        if (known && simulated)
            *source = TASK_ANY;
        if (known && simulated && !exchange)
            op->mode = TASK_RECEIVE_FINDS;
        if (known && !simulated)
            *tag = came;
    }
    if (simulated && t->depends.back >= 0)
        op->peer = found_get(t, code, t->depends.back);
    else
        later_put(t, code, t->later.count);
}

static void later_split(struct replay_task *t, struct task_op *op)
{
    uint32_t kept = 0, next = 1;
    if (!replay_splits(t))
        return;
    t->later = (struct replay_later){.count = t->found.count, .put = 1, .call = op->call};
    for (uint32_t i = 0; i < t->later.count; i++)
        t->later.request[i] = t->list[0][t->found.done[i]];
    for (uint32_t i = 0; i < op->request_count; i++)
        if (next < t->later.count && t->found.done[next] == i)
            next++;
        else
            t->list[0][kept++] = t->list[0][i];
    op->request_count = kept;
    op->kind = kept == 1 ? TASK_OP_WAIT : TASK_OP_WAITALL;
    op->request = t->list[0][0];
}

/* An operation, behind what it waits for of other threads. */
static void op_put(struct task_program *program, struct trace_code *code, struct replay_task *t,
                   struct task_op *op)
{
    struct task_op after, complete;
    int32_t peer = op->peer;
    replay_order_add(&program->order, op);
    source_name(t, code, op);
    replay_requests_name(t, op);
    later_split(t, op);
    if (strcmp(op->call, t->record.function->name) != 0) /* MPI_Send_c, or what computes here */
        op->call = name_keep(program, t->record.function->name);
    if (t->threads) {
        replay_threads_turn(t, op);
        while (replay_threads_after(t, &after))
            trace_code_put(code, &after);
        replay_threads_put(t, op);
    }
    while (replay_requests_general(t, &complete))
        trace_code_put(code, &complete);
    uint64_t at = trace_code_put(code, op);
    replay_requests_put(t, op, code, at);
    if (op->peer <= TASK_FOUND)
        *KER_APPEND(t->dependent, t->dependents) = (struct replay_pending){code, at, peer, t->depends.class};
}

/* The operations that do not depend after all have their own ranks again. */
static void depends_end(struct replay_task *t)
{
    for (uint32_t i = 0; i < t->dependents; i++)
        if (!replay_found_trusts(&t->found, t->dependent[i].class))
            trace_code_set_peer(t->dependent[i].code, t->dependent[i].at, t->dependent[i].peer, NULL);
}

/* Whom the record depends on, of the task's calls so far. */
static void depends_find(struct replay_task *t)
{
    t->depends = (struct replay_depends){-1, 0, false};
    if (t->threads || !t->rules->simulated)
        return;
    t->depends = replay_found_next(&t->found, &t->record);
    if (!t->depends.not_before || !t->dependents)
        return;
    const struct replay_pending *last = &t->dependent[--t->dependents];
    trace_code_set_peer(last->code, last->at, last->peer, NULL);
}

/* What the call takes by itself. One that is no operation is computation of that time. */
static void takes_put(struct trace_code *code, const struct replay_task *t, const struct task_op *op)
{
    struct task_op takes = {.kind = TASK_OP_TAKES, .time = replay_duration(t)};
    if (takes.time == 0 || (op && (op->kind == TASK_OP_COMPUTE || op->kind >= TASK_OP_FINALIZE)))
        return;
    takes.call = op ? op->call : NULL;
    if (op)
        trace_code_put(code, &takes);
    else
        trace_code_compute(code, (uint64_t)(takes.time / code->store->form.unit));
}

/* A trace may say anything: what is longer than any simulation is cut. */
static void time_add(ker_time *sum, uint64_t ns)
{
    const uint64_t most = (uint64_t)TRACE_GAP_MOST / 1000;
    uint64_t all = (uint64_t)(*sum / 1000) + (ns < most ? ns : most);
    *sum = (ker_time)(all < most ? all : most) * 1000;
}

/* The computation before a call, and the call; code: of its thread. */
static enum ker_status record_put(struct task_program *program, struct trace_code *code,
                                  struct trace_task *held, struct replay_task *t, bool *ends,
                                  struct ker_error *error)
{
    bool some = false;
    struct task_op op;
    uint64_t request = 0;
    bool counts = program->rules.counts && !*ends;
    depends_find(t);
    for (t->part = 0, t->parts = 1; t->part < t->parts; t->part++) {
        enum ker_status status = replay_translate(t, &op, &some, program->path, error);
        if (status != KER_OK)
            return status;
        if (*ends) /* what follows MPI_Finalize is none of the job's, but checked */
            continue;
        uint64_t bytes = t->part ? 0 : replay_counters_moved(t);
        if (bytes)
            trace_code_put(code, &(struct task_op){.kind = TASK_OP_COMPUTE,
                                                   .mode = TASK_COMPUTE_MOVES,
                                                   .time = replay_gap(t),
                                                   .bytes = bytes,
                                                   .call = "computation"});
        else if (t->part == 0)
            trace_code_compute(code, replay_gap_ns(t));
        request = op.request;
        if (some)
            op_put(program, code, t, &op);
        if (some && op.kind == TASK_OP_COMPUTE)
            time_add(&held->taken.files, t->record.duration_ns);
        if (program->rules.traced && t->part + 1 == t->parts)
            takes_put(code, t, some ? &op : NULL);
        *ends = some && (op.kind == TASK_OP_FINALIZE || op.kind == TASK_OP_ABORT);
    }
    if (t->repeats && t->record.fresh)
        replay_shape_keep(t, code, some ? &op : NULL, request);
    if (counts) /* what marstrace --profile prints */
        trace_called_add(&held->code.called, replay_called(t, &held->code), t->record.polls,
                         mars_record_bytes(&t->record), t->record.duration_ns);
    return KER_OK;
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

/* A task while its calls are read. */
struct reading {
    struct task_program *program;
    struct trace_task *held;
    bool one_clock;
    struct trace_code *other; /* of several threads: the operations of those but the first */
    bool *ends;               /* of each thread */
};

/* Of several threads. */
static enum ker_status record_read(void *context, struct replay_task *t, struct ker_error *error)
{
    struct reading *r = context;
    uint32_t thread = t->threads->now;
    taken_add(&r->held->taken, t, r->one_clock);
    if (thread && strcmp(t->record.function->name, "MPI_Finalize") == 0)
        return ker_fail(error, KER_BAD_INPUT,
                        "%s: thread %u of task %u calls MPI_Finalize: MPI wants the first one to",
                        r->program->path, thread, t->trace->number);
    return record_put(r->program, thread ? &r->other[thread - 1] : &r->held->code, r->held, t,
                      &r->ends[thread], error);
}

static enum ker_status records_read(struct reading *r, struct replay_task *t, struct ker_error *error)
{
    struct mars_error why = {0};
    struct mars_stream *stream;
    enum ker_status status = KER_OK;
    if (!mars_stream_open(&stream, t->trace, 0, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    bool repeats = t->repeats;
    while (status == KER_OK && mars_stream_next(stream, &t->record, &why)) {
        t->read++;
        if (t->record.rest_ns | t->record.away_ns)
            taken_add(&r->held->taken, t, r->one_clock);
        struct replay_shape *shape = repeats ? replay_shape_of(t) : NULL;
        if (shape) {
            status = replay_shape_put(t, shape, &r->held->code, r->program->path, error);
            continue;
        }
        status = record_put(r->program, &r->held->code, r->held, t, r->ends, error);
        repeats = t->repeats && !*r->ends;
    }
    mars_stream_close(stream);
    if (status == KER_OK && why.text[0])
        status = ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    return status;
}

/* The end of a task that did not come to MPI_Finalize, behind all that its threads have done. */
static void died_put(struct trace_code *code, struct replay_task *t)
{
    struct task_op after;
    if (t->threads)
        replay_threads_join(t);
    while (t->threads && replay_threads_after(t, &after))
        trace_code_put(code, &after);
    trace_code_put(code, &(struct task_op){.kind = TASK_OP_ABORT, .call = "the end of its trace"});
}

/* Operations of several threads stand one thread after the other, each with its end. */
static void threads_join(struct trace_own *own, struct trace_code *other)
{
    const struct task_op end = {.kind = TASK_OP_END, .call = "the end of a thread"};
    trace_code_put(&own->held->code, &end);
    for (uint32_t i = 0; i < own->others; i++) {
        trace_code_put(&other[i], &end);
        own->other[i].start = trace_code_append(&own->held->code, &other[i]);
        trace_code_release(&other[i]);
    }
}

enum ker_status replay_calls_read(struct task_program *program, struct trace_own *own, struct replay_task *t,
                                  struct ker_error *error)
{
    const char *clock = mars_task_info(t->trace, "clock");
    struct reading r = {program, own->held, clock && strcmp(clock, "wall") == 0,
                        ker_alloc(((size_t)own->others + 1) * sizeof *r.other),
                        ker_alloc(((size_t)own->others + 1) * sizeof *r.ends)};
    for (uint32_t i = 0; i < own->others; i++)
        r.other[i] = (struct trace_code){.store = &program->base.store, .beside = true};
    enum ker_status status = t->threads
                                 ? replay_threads_read(t, &(struct replay_reading){&r, record_read}, error)
                                 : records_read(&r, t, error);
    depends_end(t);
    bool ends = r.ends[0], died = !ends && (program->comms.aborts || program->rules.died);
    if (died)
        died_put(&own->held->code, t);
    if (own->others)
        threads_join(own, r.other);
    trace_code_end(&own->held->code);
    free(r.other);
    free(r.ends);
    if (status == KER_OK && !ends && !died)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: task %u did not come to MPI_Finalize: it died, or the trace was cut; "
                          "jobs[].died = \"end\" replays it up to there",
                          program->path, t->trace->number);
    return status;
}
