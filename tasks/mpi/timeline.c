/* timeline.c - what a task's timeline is made of: its calls, with the computation before each and the waits
 * in it, and the messages that it receives.
 *
 * A call lasts from when its operation is fetched to when the next one is, as in calls.csv; it is handed over
 * when it is over. Waits that follow each other without a gap are one. When a message was sent, its receiver
 * knows from the network: from the message itself, or from that which announced it (RTS), and keeps it until
 * the receive is complete. One-sided messages are received when they arrive.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

/* Messages of a program are named by their source and number, those of collectives by all of this. */
struct under_way {
    uint32_t source, sequence; /* source: + 1 */
    int32_t comm, tag;
    uint32_t start, collective;
    ker_time sent, arrived;
};

KER_TABLE_KEY(static, under_way_kind, struct under_way, collective);

static struct under_way under_way_key(const struct task_wire *wire)
{
    return (struct under_way){.source = wire->source + 1,
                              .sequence = wire->sequence,
                              .comm = wire->comm,
                              .tag = wire->tag,
                              .start = wire->start,
                              .collective = wire->flags & TASK_WIRE_COLLECTIVE};
}

void task_line_init(struct task_mpi *mpi, struct task_state *task)
{
    if (!mpi->timeline || !stats_timeline_has(mpi->timeline, task->job, task->task))
        return;
    *KER_PUSH(mpi->line, mpi->lines, mpi->line_room) = (struct task_line){0};
    task->line = mpi->lines;
}

static struct task_line *line_of(const struct task_mpi *mpi, const struct task_state *task)
{
    return &mpi->line[task->line - 1];
}

void task_lines_release(struct task_mpi *mpi)
{
    for (uint32_t i = 0; i < mpi->lines; i++) {
        for (uint32_t k = 0; k < mpi->line[i].streams; k++)
            free(mpi->line[i].stream[k].wait);
        free(mpi->line[i].stream);
        ker_table_release(&mpi->line[i].under_way);
    }
    free(mpi->line);
}

/* ---- calls ---- */

/* Of the current stream. How many streams there are is known when the task begins. */
static struct task_line_call *line_call(const struct task_mpi *mpi, const struct task_state *task)
{
    struct task_line *line = line_of(mpi, task);
    if (!line->stream) {
        line->streams = task_stream_count(task);
        line->stream = ker_alloc(line->streams * sizeof *line->stream);
        for (uint32_t i = 0; i < line->streams; i++)
            line->stream[i].call = (struct stats_call){.group = task->job, .task = task->task, .stream = i};
    }
    return &line->stream[task_stream_current(task)];
}

static void call_end(const struct task_mpi *mpi, struct task_line_call *own, ker_time now)
{
    struct stats_call *call = &own->call;
    if (!call->function)
        return;
    call->end = now;
    call->wait = own->wait;
    call->waits = own->waits;
    stats_timeline_call(mpi->timeline, call);
    call->function = NULL;
    call->before = now;
    own->waits = 0;
}

void task_line_end(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    call_end(mpi, line_call(mpi, task), now);
}

/* What an op says of messages: which it moves itself, those of a request that it makes, and collectives. */
static void arguments_take(struct stats_call *call, const struct task_op *op)
{
    bool message = (op->kind >= TASK_OP_SEND && op->kind <= TASK_OP_RECV_INIT) ||
                   op->kind == TASK_OP_PSEND_INIT || op->kind == TASK_OP_PRECV_INIT,
         probe = op->kind >= TASK_OP_PROBE && op->kind <= TASK_OP_MPROBE,
         collective = op->kind >= TASK_OP_COLLECTIVE && op->kind <= TASK_OP_COLLECTIVE_INIT,
         onesided = task_op_onesided(op);
    call->peer = call->tag = call->comm = STATS_CALL_NOBODY;
    if (message || probe || collective || onesided)
        call->comm = op->comm;
    if (message || probe || onesided)
        call->tag = op->tag;
    if (message || probe || onesided || collective)
        call->peer = op->peer;
}

/* Of the op that the stream is in; where it begins is known. */
static void call_take(struct task_line_call *own, const struct task_op *op)
{
    struct stats_call *call = &own->call;
    call->function = task_calls_function(op);
    call->bytes = op->bytes;
    arguments_take(call, op);
}

void task_line_next(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    if (task->op.kind == TASK_OP_TAKES) /* the call continues */
        return;
    struct task_line_call *own = line_call(mpi, task);
    if (!own->begun)
        own->call.before = now;
    own->begun = true;
    call_end(mpi, own, now);
    own->call.begin = now;
    call_take(own, &task->op);
    if (own->call.function)
        own->call.number = line_of(mpi, task)->calls++;
}

void task_line_wait(const struct task_mpi *mpi, struct task_state *task, ker_time begin, ker_time end)
{
    struct task_line_call *own = line_call(mpi, task);
    if (end == begin || !own->call.function)
        return;
    struct stats_wait wait = {begin, end}, *last = own->waits ? &own->wait[own->waits - 1] : NULL;
    if (mpi->waits)
        task_waits_mainly(mpi, task, &wait);
    if (!last || last->end != begin) {
        *KER_PUSH(own->wait, own->waits, own->wait_room) = wait;
        return;
    }
    if (end - begin < last->end - last->begin)
        wait = *last;
    *last = (struct stats_wait){last->begin, end, wait.cause, wait.task};
}

/* What the current stream is in when the run ends lasts until then. */
static void stream_finish(struct task_mpi *mpi, struct task_state *task, ker_time end)
{
    struct task_line_call *own = line_call(mpi, task);
    struct stats_call *call = &own->call;
    if (!own->begun || task->stage == TASK_STAGE_DONE || end < call->begin)
        return;
    if (task->blocked && end > task->blocked_since)
        task_line_wait(mpi, task, task->blocked_since, end);
    if (call->function) {
        task_line_end(mpi, task, end);
    } else {
        call->begin = call->end = end;
        call->number = line_of(mpi, task)->calls;
        stats_timeline_call(mpi->timeline, call);
    }
}

static void line_finish(struct task_mpi *mpi, struct task_state *task, ker_time end)
{
    uint32_t current = task_stream_current(task);
    for (uint32_t i = 0; i < line_of(mpi, task)->streams; i++) {
        task_stream_select(task, i);
        stream_finish(mpi, task, end);
    }
    task_stream_select(task, current);
}

void task_mpi_timeline_end(struct task_mpi *mpi, ker_time end)
{
    for (uint32_t i = 0; i < mpi->tasks; i++)
        if (mpi->task[i].line)
            line_finish(mpi, &mpi->task[i], end);
}

/* ---- messages ---- */

static void message_record(struct task_mpi *mpi, struct task_state *task, uint32_t source,
                           const struct task_wire *wire, ker_time sent, ker_time arrived, ker_time now)
{
    stats_timeline_message(mpi->timeline, &(struct stats_message){.group = task->job,
                                                                  .source = source,
                                                                  .destination = task->task,
                                                                  .number = line_of(mpi, task)->messages++,
                                                                  .sent = sent,
                                                                  .arrived = arrived,
                                                                  .received = now,
                                                                  .bytes = wire->bytes,
                                                                  .tag = wire->tag,
                                                                  .comm = wire->comm});
}

void task_line_arrived(struct task_mpi *mpi, struct task_state *task, ker_time now, ker_time sent,
                       const struct task_wire *wire)
{
    uint32_t source = wire->kind == TASK_WIRE_ANSWER ? wire->destination : wire->source;
    if (!stats_timeline_messages(mpi->timeline, wire->flags & TASK_WIRE_COLLECTIVE) ||
        !stats_timeline_has(mpi->timeline, task->job, source))
        return;
    if (wire->kind == TASK_WIRE_EAGER || wire->kind == TASK_WIRE_RTS) {
        bool is_new;
        struct under_way key = under_way_key(wire),
                         *u = ker_table_add(&under_way_kind, &line_of(mpi, task)->under_way, &key, &is_new);
        *u = key;
        u->sent = sent;
        u->arrived = now;
    } else if (wire->kind == TASK_WIRE_PART || wire->kind == TASK_WIRE_PUT || wire->kind == TASK_WIRE_FETCH ||
               wire->kind == TASK_WIRE_ANSWER) {
        message_record(mpi, task, source, wire, sent, now, now);
    }
}

/* Where nobody has noted that it was sent, it is not recorded. */
void task_line_received(struct task_mpi *mpi, struct task_state *task, ker_time now,
                        const struct task_wire *wire)
{
    struct under_way key = under_way_key(wire),
                     *u = ker_table_find(&under_way_kind, &line_of(mpi, task)->under_way, &key);
    if (!u)
        return;
    message_record(mpi, task, wire->source, wire, u->sent, wire->kind == TASK_WIRE_DATA ? now : u->arrived,
                   now);
    ker_table_drop(&under_way_kind, &line_of(mpi, task)->under_way, u);
}

/* ---- saved state ---- */

static int under_way_compare(const void *a, const void *b)
{
    return memcmp(a, b, offsetof(struct under_way, sent));
}

static void under_ways_state(struct task_line *line, struct ker_chunk *c)
{
    struct under_way **sorted =
        c->loads
            ? NULL
            : (struct under_way **)ker_table_sorted(&under_way_kind, &line->under_way, under_way_compare);
    uint32_t count = ker_chunk_count(c, line->under_way.count, sizeof(struct under_way));
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct under_way one = sorted ? *sorted[i] : (struct under_way){0};
        bool is_new;
        KER_CHUNK(c, one);
        c->bad |= one.source == 0;
        if (c->loads && !c->bad)
            *(struct under_way *)ker_table_add(&under_way_kind, &line->under_way, &one, &is_new) = one;
    }
    free(sorted);
}

/* Which call continues need not be that of the op (TASK_OP_TAKES). */
static void call_state(struct task_mpi *mpi, struct task_line_call *own, struct ker_chunk *c)
{
    own->call.function = task_function_state(mpi, own->call.function, c);
    KER_CHUNK(c, own->call.bytes, own->call.peer, own->call.tag, own->call.comm);
    own->begun = ker_chunk_bool(c, own->begun);
    KER_CHUNK(c, own->call.before, own->call.begin, own->call.number);
    uint32_t waits = ker_chunk_count(c, own->waits, sizeof *own->wait);
    KER_RESERVE(own->wait, own->wait_room, waits);
    for (own->waits = 0; own->waits < waits && !c->bad; own->waits++)
        KER_CHUNK(c, own->wait[own->waits]);
}

void task_line_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    struct task_line *line = line_of(mpi, task);
    KER_CHUNK(c, line->calls, line->messages);
    for (uint32_t i = 0; i < task_stream_count(task) && !c->bad; i++) {
        task_stream_select(task, i);
        call_state(mpi, line_call(mpi, task), c);
    }
    task_stream_select(task, 0);
    under_ways_state(line, c);
}
