/* process.c - what events do: LogGOPS as in T. Hoefler, T. Schneider, A. Lumsdaine: LogGOPSim (HPDC 2010).
 *
 * A message of s bytes that is sent at t takes the sender's cpu until t + o + (s-1) O and its adapter until t
 * + g + (s-1) G, and is at the receiver at t + o + L; from t' on, when cpu and adapter are free there, it
 * takes the cpu for o + (s-1) max(O, G) and the adapter for g + (s-1) G, whether somebody waits for it or
 * not. A message of more than S bytes is done at its sender when it is matched.
 *
 * Rendezvous: LOGGOPS_INSTANT, as in that tool: the sender goes on in the instant of matching, which costs
 * nothing and takes no time. LOGGOPS_WRITE: a request of one byte, an answer of one byte from the receiver's
 * cpu, then the message from the sender's cpu, which is done when it has left. LOGGOPS_READ: a request, then
 * the receiver's adapter fetches the message from the sender's adapter, L each way, without the sender's cpu.
 */
#include "tasks/loggops/model.h"

/* ---- operations become free ---- */

/* When an operation can be taken at the earliest, as far as is known. */
static ker_time op_time(struct loggops_system *s, const struct loggops_process *p, const struct graph_op *op,
                        ker_time now)
{
    ker_time time = loggops_later(now, *loggops_cpu(s, p, op->cpu));
    return op->kind == GRAPH_SEND ? loggops_later(time, *loggops_sending(s, p, op->nic)) : time;
}

static void op_put(struct loggops_system *s, struct loggops_process *p, uint32_t number,
                   const ker_time *cause, ker_time now)
{
    const struct graph_op *op = &p->task->op[number];
    uint32_t index = loggops_event_new(s, p, cause, LOGGOPS_OPERATION);
    struct loggops_event *e = loggops_event_at(s, index);
    e->time = op_time(s, p, op, p->ready ? loggops_later(now, p->ready[number]) : now);
    e->op = number;
    loggops_queue_put(s, &loggops_group_of(s, p)->queue, index);
}

/* What waits for something that has happened at `when`. */
static void release(struct loggops_system *s, struct loggops_process *p, uint32_t first, uint32_t count,
                    ker_time when)
{
    struct loggops_released *r = &s->released[p != s->current];
    KER_RESERVE(r->op, r->room, r->count + count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t dependent = p->task->dependent[first + i];
        if (p->ready)
            p->ready[dependent] = loggops_later(p->ready[dependent], when);
        if (--p->task->op[dependent].before == 0)
            r->op[r->count++] = dependent;
    }
}

static void op_begun(struct loggops_system *s, struct loggops_process *p, uint32_t number, ker_time when)
{
    const struct graph_op *op = &p->task->op[number];
    release(s, p, op->first, op->on_begin, when);
}

static void op_done(struct loggops_system *s, struct loggops_process *p, uint32_t number, ker_time when)
{
    const struct graph_op *op = &p->task->op[number];
    release(s, p, op->first + op->on_begin, op->on_done, when);
    p->done++;
}

/* What has become free of a process, by kind: sends, receives, calculations. */
static void released_put(struct loggops_system *s, struct loggops_process *p, struct loggops_released *r,
                         const ker_time *cause, ker_time now)
{
    if (r->count == 1) {
        op_put(s, p, r->op[0], cause, now);
    } else {
        for (unsigned kind = GRAPH_SEND; kind <= GRAPH_CALCULATION; kind++)
            for (uint32_t i = 0; i < r->count; i++)
                if (p->task->op[r->op[i]].kind == kind)
                    op_put(s, p, r->op[i], cause, now);
    }
    r->count = 0;
}

void loggops_begin(struct loggops_system *s, struct loggops_process *p, ker_time start)
{
    static const ker_time nothing[LOGGOPS_GENERATIONS] = {-1, -1, -1};
    struct loggops_released *r = &s->released[0];
    for (uint32_t i = 0; i < p->task->ops; i++)
        if (p->task->op[i].before == 0)
            *KER_PUSH(r->op, r->count, r->room) = i;
    released_put(s, p, r, nothing, start);
}

/* ---- messages ---- */

struct now {
    ker_time time, cause[LOGGOPS_GENERATIONS]; /* of what this instant causes */
};

/* Sends something: `sample` says what. */
static void post(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                 const struct loggops_event *sample, uint32_t to, ker_time arrival)
{
    uint32_t index = loggops_event_new(s, p, now->cause, (enum loggops_kind)sample->kind);
    struct loggops_event *e = loggops_event_at(s, index);
    e->time = arrival;
    e->bytes = sample->bytes;
    e->tag = sample->tag;
    e->op = sample->op;
    e->match = sample->match;
    e->cpu = sample->cpu;
    e->nic = sample->nic;
    loggops_deliver(s, index, to);
}

/* The sender of a message that had to wait goes on in this instant. */
static void sender_free(struct loggops_system *s, const struct now *now, const struct loggops_event *m)
{
    if (m->bytes <= s->set.eager)
        return;
    struct loggops_process *p = &s->process[m->origin - s->first];
    ker_time *cpu = loggops_cpu(s, p, m->cpu), *nic = loggops_sending(s, p, m->nic);
    *cpu = loggops_later(*cpu, now->time);
    *nic = loggops_later(*nic, now->time);
    s->other = p;
    op_done(s, p, m->op, now->time);
}

/* A message, or the request of one, has met its receive. */
static void matched(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                    const struct loggops_event *m, uint32_t receive)
{
    if (m->kind == LOGGOPS_MESSAGE) {
        sender_free(s, now, m);
        op_done(s, p, receive, loggops_later(now->time, *loggops_cpu(s, p, m->cpu)));
        return;
    }
    struct loggops_event answer = *m;
    answer.kind = s->set.rendezvous == LOGGOPS_READ ? LOGGOPS_FETCH : LOGGOPS_CLEAR;
    answer.match = receive;
    loggops_cpu_take(s, p, m->cpu, loggops_later(*loggops_cpu(s, p, m->cpu), now->time) + s->set.overhead);
    post(s, p, now, &answer, m->origin, *loggops_cpu(s, p, m->cpu) + s->set.latency);
}

static bool fits(const struct graph_op *receive, uint32_t source, uint32_t tag)
{
    return (receive->peer == source || receive->peer == GRAPH_ANY) &&
           (receive->tag == tag || receive->tag == GRAPH_ANY || tag == GRAPH_ANY);
}

static void list_append(struct loggops_system *s, struct loggops_list *l, uint32_t index)
{
    loggops_event_at(s, index)->next = KER_NONE;
    if (l->first == KER_NONE)
        l->first = index;
    else
        loggops_event_at(s, l->last)->next = index;
    l->last = index;
}

static void list_remove(struct loggops_system *s, struct loggops_list *l, uint32_t previous, uint32_t index)
{
    uint32_t next = loggops_event_at(s, index)->next;
    if (previous == KER_NONE)
        l->first = next;
    else
        loggops_event_at(s, previous)->next = next;
    if (l->last == index)
        l->last = previous;
}

/* The source of a message as the job's tasks are numbered. */
static uint32_t source_of(const struct loggops_system *s, uint32_t process)
{
    uint32_t job = loggops_job_of(s, process);
    return process - s->job[job].first;
}

/* The event is kept when nothing fits. */
static void receive_begin(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                          uint32_t index)
{
    uint32_t number = loggops_event_at(s, index)->op, previous = KER_NONE;
    const struct graph_op *op = &p->task->op[number];
    op_begun(s, p, number, now->time);
    for (uint32_t i = p->unexpected.first; i != KER_NONE; previous = i, i = loggops_event_at(s, i)->next) {
        struct loggops_event m = *loggops_event_at(s, i);
        if (!fits(op, source_of(s, m.origin), m.tag))
            continue;
        list_remove(s, &p->unexpected, previous, i);
        KER_POOL_GIVE(&s->events, i);
        KER_POOL_GIVE(&s->events, index);
        matched(s, p, now, &m, number);
        return;
    }
    list_append(s, &p->posted, index);
}

/* A message, or the request of one, has been taken in. */
static void message_match(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                          uint32_t index)
{
    const struct loggops_event m = *loggops_event_at(s, index);
    uint32_t previous = KER_NONE, source = source_of(s, m.origin);
    for (uint32_t i = p->posted.first; i != KER_NONE; previous = i, i = loggops_event_at(s, i)->next) {
        uint32_t number = loggops_event_at(s, i)->op;
        if (!fits(&p->task->op[number], source, m.tag))
            continue;
        list_remove(s, &p->posted, previous, i);
        KER_POOL_GIVE(&s->events, i);
        KER_POOL_GIVE(&s->events, index);
        matched(s, p, now, &m, number);
        return;
    }
    list_append(s, &p->unexpected, index);
}

/* ---- one event ---- */

/* From when on what the event needs is free. */
static ker_time possible(struct loggops_system *s, struct loggops_process *p, const struct loggops_event *e)
{
    if (e->kind == LOGGOPS_OPERATION) {
        const struct graph_op *op = &p->task->op[e->op];
        return op->kind == GRAPH_RECEIVE ? e->time : op_time(s, p, op, e->time);
    }
    if (e->kind == LOGGOPS_FETCH)
        return loggops_later(e->time, *loggops_sending(s, p, e->nic));
    if (e->kind == LOGGOPS_LEFT)
        return e->time;
    ker_time time = loggops_later(e->time, *loggops_cpu(s, p, e->cpu));
    return e->kind == LOGGOPS_CLEAR ? loggops_later(time, *loggops_sending(s, p, e->nic))
                                    : loggops_later(time, *loggops_receiving(s, p, e->nic));
}

static void send_begin(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                       uint32_t number)
{
    const struct graph_op *op = &p->task->op[number];
    bool waits = op->amount > s->set.eager, asks = waits && s->set.rendezvous != LOGGOPS_INSTANT;
    struct loggops_event m = {.kind = asks ? LOGGOPS_REQUEST : LOGGOPS_MESSAGE,
                              .bytes = op->amount,
                              .tag = op->tag,
                              .op = number,
                              .cpu = op->cpu,
                              .nic = op->nic};
    uint32_t to = op->peer + s->job[loggops_job_of(s, loggops_rank(s, p))].first;
    ker_time arrival = loggops_transmit(s, p, op->cpu, op->nic, now->time, asks ? 1 : op->amount);
    s->messages++;
    post(s, p, now, &m, to, arrival);
    op_begun(s, p, number, now->time);
    if (!waits)
        op_done(s, p, number, *loggops_cpu(s, p, op->cpu));
}

/* Of the process's own operations; a receive keeps its event. */
static void operation(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                      uint32_t index)
{
    uint32_t number = loggops_event_at(s, index)->op;
    const struct graph_op *op = &p->task->op[number];
    if (op->kind == GRAPH_RECEIVE) {
        receive_begin(s, p, now, index);
        return;
    }
    KER_POOL_GIVE(&s->events, index);
    if (op->kind == GRAPH_SEND) {
        send_begin(s, p, now, number);
        return;
    }
    loggops_cpu_take(s, p, op->cpu, now->time + (ker_time)op->amount);
    op_begun(s, p, number, now->time);
    op_done(s, p, number, *loggops_cpu(s, p, op->cpu));
}

/* Of what has come: rendezvous after its request. */
static void rendezvous(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                       const struct loggops_event *e)
{
    struct loggops_event m = *e;
    switch (e->kind) {
    case LOGGOPS_CLEAR: /* taken in, and the message sent */
        m.kind = LOGGOPS_DATA;
        post(s, p, now, &m, e->origin,
             loggops_transmit(s, p, e->cpu, e->nic, now->time + s->set.overhead, e->bytes));
        op_done(s, p, e->op, *loggops_cpu(s, p, e->cpu));
        break;
    case LOGGOPS_FETCH:
        m.kind = LOGGOPS_DATA;
        *loggops_sending(s, p, e->nic) = now->time + s->set.gap + loggops_bytes(&s->set.per_byte, e->bytes);
        post(s, p, now, &m, e->origin, now->time + s->set.latency);
        break;
    case LOGGOPS_DATA:
        loggops_take_in(s, p, e, e->bytes);
        op_done(s, p, e->match, *loggops_cpu(s, p, e->cpu));
        m.kind = LOGGOPS_LEFT;
        if (s->set.rendezvous == LOGGOPS_READ)
            post(s, p, now, &m, e->origin,
                 now->time + s->set.overhead + s->set.latency + loggops_bytes(&s->set.per_byte, e->bytes));
        break;
    default:
        loggops_cpu_take(s, p, e->cpu, loggops_later(*loggops_cpu(s, p, e->cpu), now->time));
        op_done(s, p, e->op, now->time);
    }
}

static void event_handle(struct loggops_system *s, struct loggops_process *p, uint32_t index)
{
    const struct loggops_event e = *loggops_event_at(s, index);
    struct now now = {e.time, {e.time, e.cause[0], e.cause[1]}};
    s->handled++;
    s->current = p;
    if (e.kind == LOGGOPS_OPERATION) {
        operation(s, p, &now, index);
    } else if (e.kind == LOGGOPS_MESSAGE || e.kind == LOGGOPS_REQUEST) {
        loggops_take_in(s, p, &e, e.kind == LOGGOPS_REQUEST ? 1 : e.bytes);
        message_match(s, p, &now, index);
    } else {
        KER_POOL_GIVE(&s->events, index);
        rendezvous(s, p, &now, &e);
    }
    if (s->released[0].count)
        released_put(s, p, &s->released[0], now.cause, now.time);
    if (s->released[1].count)
        released_put(s, s->other, &s->released[1], now.cause, now.time);
}

/* ---- events that wait for a cpu or an adapter ---- */

/* Of which events have to wait for the same; NULL: of a kind that never waits. */
static struct loggops_blocked *blocked_of(struct loggops_system *s, struct loggops_process *p,
                                          const struct loggops_event *e)
{
    struct loggops_blocked *own = &s->blocked[(size_t)(p - s->process) * s->resources];
    unsigned pairs = s->cpus * s->nics;
    if (e->kind == LOGGOPS_OPERATION) {
        const struct graph_op *op = &p->task->op[e->op];
        if (op->kind == GRAPH_RECEIVE)
            return NULL;
        return own + (op->kind == GRAPH_CALCULATION ? op->cpu : s->cpus + op->cpu * s->nics + op->nic);
    }
    if (e->kind == LOGGOPS_LEFT)
        return NULL;
    if (e->kind == LOGGOPS_FETCH)
        return own + s->cpus + 2 * pairs + e->nic;
    return own + s->cpus + (e->kind == LOGGOPS_CLEAR ? 0 : pairs) + e->cpu * s->nics + e->nic;
}

/* The event cannot be handled before `free_at`. Behind another one that waits for the same it need not be
 * looked at before that one is gone: until then that is true. */
static void event_block(struct loggops_system *s, struct loggops_process *p, uint32_t *queue, uint32_t index,
                        ker_time free_at)
{
    struct loggops_event *e = loggops_event_at(s, index);
    struct loggops_blocked *b = blocked_of(s, p, e);
    if (b->first != KER_NONE && b->first != index && loggops_behind(e, loggops_event_at(s, b->first))) {
        e->time = 0;
        loggops_queue_put(s, &b->rest, index);
        return;
    }
    b->first = index;
    e->time = free_at;
    loggops_queue_put(s, queue, index);
}

/* The event is about to be handled: what it held back comes next. */
static uint32_t blocked_next(struct loggops_system *s, struct loggops_blocked *b, uint32_t index)
{
    if (!b || b->first != index)
        return KER_NONE;
    b->first = b->rest == KER_NONE ? KER_NONE : loggops_queue_take(s, &b->rest);
    return b->first;
}

void loggops_group_run(struct loggops_group *g, ker_time until)
{
    struct loggops_system *s = g->system;
    while (g->queue != KER_NONE && loggops_event_at(s, g->queue)->time <= until) {
        uint32_t index = loggops_queue_take(s, &g->queue);
        struct loggops_event *e = loggops_event_at(s, index);
        struct loggops_process *p = &s->process[e->process];
        ker_time now = e->time, free_at = possible(s, p, e);
        if (free_at > now) {
            event_block(s, p, &g->queue, index, free_at);
            continue;
        }
        uint32_t next = blocked_next(s, blocked_of(s, p, e), index);
        event_handle(s, p, index);
        if (next != KER_NONE) {
            e = loggops_event_at(s, next);
            e->time = now;
            e->time = possible(s, p, e);
            loggops_queue_put(s, &g->queue, next);
        }
    }
}
