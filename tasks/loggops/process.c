/* process.c - what events do: LogGOPS as in T. Hoefler, T. Schneider, A. Lumsdaine: LogGOPSim (HPDC 2010).
 *
 * A message of s bytes that is sent at t takes the sender's cpu until t + o + (s-1) O and its adapter until t
 * + g + (s-1) G, and is at the receiver at t + o + L; from t' on, when cpu and adapter are free there, it
 * takes the cpu for o + (s-1) max(O, G) and the adapter for g + (s-1) G, whether somebody waits for it or
 * not. A message of more than S bytes is done at its sender when it is matched.
 *
 * Rendezvous: LOGGOPS_INSTANT, as in that tool: the sender continues in the instant of matching, which costs
 * nothing and takes no time. LOGGOPS_WRITE: a request of one byte, an answer of one byte from the receiver's
 * cpu, then the message from the sender's cpu, which is done when it has left. LOGGOPS_READ: a request, then
 * the receiver's adapter fetches the message from the sender's adapter, L in each direction, without the
 * sender's cpu.
 */
#include "tasks/loggops/model.h"

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

/* The sender of a message that had to wait continues in this instant. */
static void sender_free(struct loggops_system *s, const struct now *now, const struct loggops_event *m)
{
    if (m->bytes <= s->set.eager)
        return;
    struct loggops_process *p = &s->process[m->origin - s->first];
    ker_time *cpu = loggops_cpu(s, p, m->cpu), *nic = loggops_sending(s, p, m->nic);
    *cpu = loggops_later(*cpu, now->time);
    *nic = loggops_later(*nic, now->time);
    if (__builtin_expect(s->records != NULL, 0))
        loggops_record_notified(s, p, m, now->time, s->first + (uint32_t)(s->current - s->process));
    s->other = p;
    loggops_op_done(s, p, m->op, now->time);
}

/* A message, or the request of one, has met its receive; notified: what its sender is notified by, mostly
 * itself.
 */
static void matched(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                    const struct loggops_event *m, const struct loggops_event *notified, uint32_t receive)
{
    if (m->kind == LOGGOPS_MESSAGE) {
        ker_time received = loggops_later(now->time, *loggops_cpu(s, p, m->cpu));
        if (__builtin_expect(s->records != NULL, 0))
            loggops_record_received(s, p, m, received);
        sender_free(s, now, notified);
        loggops_op_done(s, p, receive, received);
        return;
    }
    struct loggops_event answer = *m;
    answer.kind = s->set.rendezvous == LOGGOPS_READ ? LOGGOPS_FETCH : LOGGOPS_CLEAR;
    answer.match = receive;
    const struct loggops_parameters *set = loggops_between(s, loggops_rank(s, p), m->origin);
    loggops_cpu_work(s, p, m->cpu, loggops_later(*loggops_cpu(s, p, m->cpu), now->time), set->overhead, 0);
    post(s, p, now, &answer, m->origin, *loggops_cpu(s, p, m->cpu) + set->latency);
}

static void receive_begin(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                          uint32_t number)
{
    struct graph_op room;
    const struct graph_op *op = loggops_op(s, p, number, &room);
    loggops_op_begun(s, p, op, now->time);
    uint32_t message = loggops_match_receive(s, p, number, op);
    if (message == KER_NONE)
        return;
    struct loggops_event m = *loggops_event_at(s, message), notified = m;
    KER_POOL_GIVE(&s->events, message);
    if (__builtin_expect(s->set.faults & LOGGOPS_OWN_SIZES, 0)) {
        notified.bytes = op->amount;
        notified.cpu = op->cpu;
        notified.nic = op->nic;
    } else {
        bool waits = m.bytes > s->set.eager, else_waits = op->amount > s->set.eager;
        s->unlike[2] += waits != else_waits || (waits && (m.cpu != op->cpu || m.nic != op->nic));
    }
    matched(s, p, now, &m, &notified, number);
}

/* A message, or the request of one, has been taken in. */
static void message_match(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                          uint32_t index)
{
    uint32_t receive;
    if (!loggops_match_message(s, p, index, &receive))
        return;
    struct loggops_event m = *loggops_event_at(s, index);
    KER_POOL_GIVE(&s->events, index);
    matched(s, p, now, &m, &m, receive);
}

/* ---- one event ---- */

static ker_time program_possible(struct loggops_system *s, struct loggops_process *p,
                                 const struct loggops_event *e)
{
    unsigned needs = loggops_needs(e);
    ker_time time = needs & LOGGOPS_CPU ? loggops_later(e->time, *loggops_cpu(s, p, 0)) : e->time;
    if (needs & LOGGOPS_SENDING)
        return loggops_later(time, *loggops_sending(s, p, 0));
    return needs & LOGGOPS_RECEIVING ? loggops_later(time, *loggops_receiving(s, p, 0)) : time;
}

/* From when on what the event needs is free. */
static ker_time possible(struct loggops_system *s, struct loggops_process *p, const struct loggops_event *e)
{
    if (e->kind == LOGGOPS_OPERATION)
        return e->tag == GRAPH_RECEIVE ? e->time : loggops_op_time(s, p, e->tag, e->cpu, e->nic, e->time);
    if (e->kind == LOGGOPS_FETCH)
        return loggops_later(e->time, *loggops_sending(s, p, e->nic));
    if (e->kind == LOGGOPS_LEFT)
        return e->time;
    if (e->kind >= LOGGOPS_START)
        return program_possible(s, p, e);
    ker_time time = loggops_later(e->time, *loggops_cpu(s, p, e->cpu));
    return e->kind == LOGGOPS_CLEAR ? loggops_later(time, *loggops_sending(s, p, e->nic))
                                    : loggops_later(time, *loggops_receiving(s, p, e->nic));
}

static void send_begin(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                       uint32_t number, const struct graph_op *op)
{
    bool waits = op->amount > s->set.eager, asks = waits && s->set.rendezvous != LOGGOPS_INSTANT;
    struct loggops_event m = {.kind = asks ? LOGGOPS_REQUEST : LOGGOPS_MESSAGE,
                              .bytes = op->amount,
                              .tag = op->tag,
                              .op = number,
                              .cpu = op->cpu,
                              .nic = op->nic};
    uint32_t to = op->peer + s->job[p->job].first;
    ker_time arrival = loggops_transmit(s, p, op->cpu, op->nic, now->time, asks ? 1 : op->amount, to);
    s->messages++;
    post(s, p, now, &m, to, arrival);
    loggops_op_begun(s, p, op, now->time);
    if (!waits)
        loggops_op_done(s, p, number, *loggops_cpu(s, p, op->cpu));
}

/* Of the process's own operations. */
static void operation(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                      uint32_t number, enum graph_kind kind)
{
    struct graph_op room;
    if (kind == GRAPH_RECEIVE) {
        receive_begin(s, p, now, number);
        return;
    }
    const struct graph_op *op = loggops_op(s, p, number, &room);
    if (kind == GRAPH_SEND) {
        send_begin(s, p, now, number, op);
        return;
    }
    loggops_cpu_work(s, p, op->cpu, now->time, (ker_time)op->amount, 0);
    loggops_op_begun(s, p, op, now->time);
    loggops_op_done(s, p, number, *loggops_cpu(s, p, op->cpu));
}

/* Of what has come: rendezvous after its request. */
static void rendezvous(struct loggops_system *s, struct loggops_process *p, const struct now *now,
                       const struct loggops_event *e)
{
    struct loggops_event m = *e;
    const struct loggops_parameters *set = loggops_between(s, loggops_rank(s, p), e->origin);
    switch (e->kind) {
    case LOGGOPS_CLEAR: /* taken in, and the message sent */
        m.kind = LOGGOPS_DATA;
        post(s, p, now, &m, e->origin,
             loggops_transmit(s, p, e->cpu, e->nic, now->time + set->overhead, e->bytes, e->origin));
        loggops_op_done(s, p, e->op, *loggops_cpu(s, p, e->cpu));
        break;
    case LOGGOPS_FETCH:
        m.kind = LOGGOPS_DATA;
        *loggops_sending(s, p, e->nic) = now->time + set->gap + loggops_bytes(&set->per_byte, e->bytes);
        post(s, p, now, &m, e->origin, now->time + set->latency);
        break;
    case LOGGOPS_DATA:
        loggops_take_in(s, p, e, e->bytes);
        if (__builtin_expect(s->records != NULL, 0))
            loggops_record_received(s, p, e, *loggops_cpu(s, p, e->cpu));
        loggops_op_done(s, p, e->match, *loggops_cpu(s, p, e->cpu));
        m.kind = LOGGOPS_LEFT;
        if (s->set.rendezvous == LOGGOPS_READ)
            post(s, p, now, &m, e->origin,
                 now->time + set->overhead + set->latency + loggops_bytes(&set->per_byte, e->bytes));
        break;
    default:
        loggops_cpu_take(s, p, e->cpu, loggops_later(*loggops_cpu(s, p, e->cpu), now->time));
        loggops_op_done(s, p, e->op, now->time);
    }
}

static void run_advance(const struct loggops_system *s, struct loggops_event *e)
{
    e->op += e->step;
    e->number++;
    if (__builtin_expect(s->counted, 0))
        e->cause[loggops_serial_at(s)]++;
    e->more--;
}

/* What has made it is its sending. */
static inline void message_count(struct loggops_system *s, const struct loggops_event *e)
{
    s->came++;
    s->bytes += e->bytes;
    s->latency += (uint64_t)(e->time - e->cause[s->set.faults & LOGGOPS_UNTIMED ? 1 : 0]);
}

/* An operation of a run leaves the event, which continues with those that follow. */
static void event_handle(struct loggops_system *s, struct loggops_process *p, uint32_t index)
{
    s->handled++;
    if (loggops_event_at(s, index)->kind >= LOGGOPS_START) {
        loggops_program_event(s, p, index);
        return;
    }
    const struct loggops_event e = *loggops_event_at(s, index);
    struct now now = {e.time, {e.time, e.cause[0], e.cause[1]}};
    s->current = p;
    if (__builtin_expect(s->records != NULL, 0))
        loggops_record_event(s, p, &e);
    if (e.kind == LOGGOPS_OPERATION) {
        if (e.more)
            run_advance(s, loggops_event_at(s, index));
        else
            KER_POOL_GIVE(&s->events, index);
        operation(s, p, &now, e.op, (enum graph_kind)e.tag);
    } else if (e.kind == LOGGOPS_MESSAGE || e.kind == LOGGOPS_REQUEST) {
        loggops_take_in(s, p, &e, e.kind == LOGGOPS_REQUEST ? 1 : e.bytes);
        if (e.kind == LOGGOPS_MESSAGE)
            message_count(s, &e);
        message_match(s, p, &now, index);
    } else {
        KER_POOL_GIVE(&s->events, index);
        if (e.kind == LOGGOPS_DATA)
            message_count(s, &e);
        rendezvous(s, p, &now, &e);
    }
    bool other_first = s->released[1].count && s->other < p; /* by rank: they are counted */
    if (other_first)
        loggops_released_put(s, s->other, &s->released[1], now.cause, now.time);
    if (s->released[0].count)
        loggops_released_put(s, p, &s->released[0], now.cause, now.time);
    if (s->released[1].count)
        loggops_released_put(s, s->other, &s->released[1], now.cause, now.time);
}

/* ---- events that wait for a cpu or an adapter ---- */

/* Of which events have to wait for the same; NULL: of a kind that never waits. */
static struct loggops_blocked *blocked_of(struct loggops_system *s, struct loggops_process *p,
                                          const struct loggops_event *e)
{
    struct loggops_blocked *own = &s->blocked[(size_t)(p - s->process) * s->resources];
    unsigned pairs = s->cpus * s->nics;
    if (e->kind == LOGGOPS_OPERATION && e->tag == GRAPH_RECEIVE)
        return NULL;
    if (e->kind == LOGGOPS_OPERATION)
        return own + (e->tag == GRAPH_CALCULATION ? e->cpu : s->cpus + e->cpu * s->nics + e->nic);
    if (e->kind >= LOGGOPS_START)
        return loggops_needs(e) ? own + loggops_needs(e) : NULL;
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
    e->heads = 1;
    e->time = free_at;
    loggops_queue_put(s, queue, index);
}

/* The event is about to be handled: what it held back comes next. */
static uint32_t blocked_next(struct loggops_system *s, struct loggops_process *p, uint32_t index)
{
    struct loggops_blocked *b = blocked_of(s, p, loggops_event_at(s, index));
    if (!b || b->first != index)
        return KER_NONE;
    b->first = b->rest == KER_NONE ? KER_NONE : loggops_queue_take(s, &b->rest);
    if (b->first != KER_NONE)
        loggops_event_at(s, b->first)->heads = 1;
    return b->first;
}

/* What is left of a run keeps its place before all that it holds back. */
static void run_put(struct loggops_system *s, struct loggops_process *p, uint32_t *queue, uint32_t index,
                    ker_time now)
{
    struct loggops_event *e = loggops_event_at(s, index);
    ker_time free_at = possible(s, p, e);
    if (free_at > now)
        event_block(s, p, queue, index, free_at);
    else
        loggops_queue_put(s, queue, index);
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
        if (e->kind == LOGGOPS_OPERATION && e->more) {
            event_handle(s, p, index);
            run_put(s, p, &g->queue, index, now);
            continue;
        }
        uint32_t next = e->heads ? blocked_next(s, p, index) : KER_NONE;
        event_handle(s, p, index);
        if (next != KER_NONE) {
            e = loggops_event_at(s, next);
            e->time = now;
            e->time = possible(s, p, e);
            loggops_queue_put(s, &g->queue, next);
        }
    }
}
