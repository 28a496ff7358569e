/* programs.c - processes that run programs of MPI, or message-driven ones: the LogGOPS model in the place of
 * a node and its adapters.
 *
 * The MPI model asks for its task's processor and hands over messages; both are events of the process, which
 * wait for cpu and adapter like those of graphs, and in the same order. What a task asks for comes one after
 * the other: the next is in the queue when the one before has begun. What has been granted takes its
 * time, and at the end of it the MPI model is notified of; what it asks for then has the cause of that which
 * has ended, as in a graph an operation has that of what has released it.
 *
 * What of MPI takes what (wire.h): messages with their payload, and RTS, take cpu and adapter on both sides,
 * as the messages of graphs; answers, and notifications, take the cpus alone. What a task reads from
 * another's memory its adapter sends, without a cpu, and L away; what reports that it has been read takes
 * nothing but L. So does one-sided communication take the cpu of its origin only. All that message-driven
 * programs send takes cpu and adapter on both sides.
 */
#include "tasks/loggops/model.h"

#include "kernel/engine/post.h"
#include "tasks/mpi/wire.h"

#include <string.h>

struct way {
    uint8_t out, in; /* what it needs */
    bool own;        /* its task asks for it, and continues when it has left */
    bool direct;     /* it is there when it says, and is no message */
};

#define CPU LOGGOPS_CPU
#define BOTH_OUT (LOGGOPS_CPU | LOGGOPS_SENDING)
#define BOTH_IN (LOGGOPS_CPU | LOGGOPS_RECEIVING)

static bool is_mpi(const struct loggops_member *m)
{
    return m->service == &task_mpi_service;
}

static struct way way_of(const struct loggops_member *m, const struct net_envelope *envelope)
{
    static const struct way ways[] = {
        [TASK_WIRE_EAGER] = {BOTH_OUT, BOTH_IN, true},
        [TASK_WIRE_RTS] = {BOTH_OUT, BOTH_IN | LOGGOPS_AT_ONCE, true},
        [TASK_WIRE_CTS] = {CPU, CPU | LOGGOPS_SENDING | LOGGOPS_AT_ONCE, false},
        [TASK_WIRE_READ] = {CPU, LOGGOPS_SENDING | LOGGOPS_AT_ONCE, false},
        [TASK_WIRE_DATA] = {BOTH_OUT, BOTH_IN, false},
        [TASK_WIRE_FIN] = {0, LOGGOPS_AT_ONCE, false},
        [TASK_WIRE_ACK] = {CPU, CPU, false},
        [TASK_WIRE_PINIT] = {BOTH_OUT, BOTH_IN | LOGGOPS_AT_ONCE, true},
        [TASK_WIRE_PSTART] = {CPU, CPU, false},
        [TASK_WIRE_PART] = {BOTH_OUT, BOTH_IN, true},
        [TASK_WIRE_PUT] = {BOTH_OUT, LOGGOPS_RECEIVING, true},
        [TASK_WIRE_GET] = {CPU, LOGGOPS_SENDING | LOGGOPS_AT_ONCE, true},
        [TASK_WIRE_FETCH] = {BOTH_OUT, LOGGOPS_RECEIVING, true},
        [TASK_WIRE_ANSWER] = {LOGGOPS_SENDING, LOGGOPS_RECEIVING, false},
        [TASK_WIRE_DONE] = {0, LOGGOPS_AT_ONCE, false},
        [TASK_WIRE_LOCK] = {CPU, LOGGOPS_AT_ONCE, true},
        [TASK_WIRE_GRANT] = {0, LOGGOPS_AT_ONCE, false},
        [TASK_WIRE_UNLOCK] = {CPU, LOGGOPS_AT_ONCE, true},
        [TASK_WIRE_POST] = {CPU, LOGGOPS_AT_ONCE, true},
        [TASK_WIRE_COMPLETE] = {CPU, LOGGOPS_AT_ONCE, true},
        [TASK_WIRE_ENTER] = {0, LOGGOPS_AT_ONCE, .direct = true},
        [TASK_WIRE_LEAVE] = {0, LOGGOPS_AT_ONCE, .direct = true},
    };
    struct task_wire wire;
    if (!is_mpi(m))
        return ways[TASK_WIRE_EAGER];
    memcpy(&wire, envelope, sizeof wire);
    struct way way = ways[wire.kind];
    if (wire.flags & TASK_WIRE_SOFTWARE && way.in == LOGGOPS_RECEIVING)
        way.in = BOTH_IN;
    if (wire.kind == TASK_WIRE_DATA && m->system->set.rendezvous == LOGGOPS_READ)
        way.out = LOGGOPS_SENDING;
    return way;
}

static struct loggops_process *process_of(const struct loggops_member *m)
{
    return &m->system->process[m->process];
}

static uint32_t event_make(const struct loggops_member *m, const ker_time *cause, ker_time time,
                           enum loggops_kind kind)
{
    struct loggops_system *s = m->system;
    uint32_t index = loggops_event_new(s, process_of(m), cause, kind);
    struct loggops_event *e = loggops_event_at(s, index);
    e->time = time;
    e->bytes = 0;
    e->tag = e->op = e->match = 0;
    e->cpu = e->nic = 0;
    return index;
}

static void event_put(const struct loggops_member *m, uint32_t index)
{
    loggops_queue_put(m->system, &loggops_group_of(m->system, process_of(m))->queue, index);
}

/* Behind what the task has asked for before. */
static void own_put(struct loggops_member *m, uint32_t index)
{
    struct loggops_system *s = m->system;
    if (!m->asks) {
        m->asks = true;
        event_put(m, index);
        return;
    }
    loggops_event_at(s, index)->next = KER_NONE;
    if (m->own.first == KER_NONE)
        m->own.first = index;
    else
        loggops_event_at(s, m->own.last)->next = index;
    m->own.last = index;
}

/* What the task has asked for first has begun. */
static void own_next(struct loggops_member *m, ker_time now, const ker_time *cause)
{
    struct loggops_system *s = m->system;
    uint32_t index = m->own.first;
    m->asks = index != KER_NONE;
    if (!m->asks)
        return;
    struct loggops_event *e = loggops_event_at(s, index);
    m->own.first = e->next;
    e->time = loggops_later(loggops_later(e->time, now), *loggops_cpu(s, process_of(m), 0));
    memcpy(e->cause, cause, sizeof e->cause);
    event_put(m, index);
}

/* Another event, when it ends. */
static struct loggops_event *ends(struct loggops_member *m, ker_time when, const ker_time *cause,
                                  enum loggops_kind kind)
{
    uint32_t index = event_make(m, cause, when, kind);
    event_put(m, index);
    return loggops_event_at(m->system, index);
}

/* ---- messages leave ---- */

/* A message takes the cpu from `from` on, until it is free. */
static void cpu_taken(struct loggops_member *m, ker_time from)
{
    m->until = *loggops_cpu(m->system, process_of(m), 0);
    m->messages += m->until - from;
}

/* It begins at e->time to take what it needs, and is in transit. */
static void hand_over(struct loggops_member *m, const struct loggops_event *e, const ker_time *cause)
{
    struct loggops_system *s = m->system;
    struct loggops_process *p = process_of(m);
    struct loggops_held *held = &s->programs->held.at[e->op];
    struct way way = way_of(m, &held->envelope);
    const struct loggops_parameters *set = loggops_between(s, loggops_rank(s, p), e->match);
    uint64_t bytes = held->bytes, cookie = held->cookie;
    ker_time left = e->time + loggops_bytes(&set->per_byte, bytes), arrival = e->time + set->latency;
    if (way.direct) {
        arrival = e->time;
    } else if (way.out == BOTH_OUT) {
        arrival = loggops_transmit(s, p, 0, 0, e->time, bytes, e->match);
    } else if (way.out == CPU) {
        loggops_cpu_work(s, p, 0, e->time, set->overhead, 0);
        arrival += set->overhead;
    } else if (way.out) {
        *loggops_sending(s, p, 0) = left + set->gap;
    }
    if (way.out & CPU) {
        left = *loggops_cpu(s, p, 0);
        cpu_taken(m, e->time);
    }
    if (way.own)
        own_next(m, e->time, cause);
    if (cookie)
        ends(m, left, cause, LOGGOPS_SENT)->bytes = cookie;
    s->messages += !way.direct;
    held = &s->programs->held.at[e->op];
    held->unhindered = arrival - (e->time - held->created);
    uint32_t index = event_make(m, cause, arrival, LOGGOPS_COMES);
    struct loggops_event *message = loggops_event_at(s, index);
    message->bytes = bytes;
    message->tag = way.in;
    message->op = e->op;
    loggops_deliver(s, index, e->match);
}

/* ---- what the MPI model asks for ---- */

/* Of what is no answer the cpu and the adapter decide when it leaves. */
static void own_send(struct loggops_member *m, ker_time when, const struct loggops_event *e)
{
    uint32_t index = event_make(m, m->system->programs->cause, when, LOGGOPS_HAND);
    struct loggops_event *own = loggops_event_at(m->system, index);
    own->tag = e->tag;
    own->op = e->op;
    own->match = e->match;
    m->stepped = true;
    own_put(m, index);
}

/* An answer leaves as soon as what it needs is free, before anything that waits. */
static void program_send(struct node *net, ker_time now, uint32_t service, const struct node_message *message)
{
    struct loggops_member *m = (struct loggops_member *)(void *)net;
    struct loggops_system *s = m->system;
    struct way way = way_of(m, message->envelope);
    (void)service;
    uint32_t held = KER_POOL_TAKE(&s->programs->held, NULL);
    struct loggops_event e = {
        .time = now + message->delay, .tag = way.out, .op = held, .match = message->destination};
    s->programs->held.at[held] = (struct loggops_held){.envelope = *message->envelope,
                                                       .bytes = message->bytes,
                                                       .cookie = message->cookie,
                                                       .created = way.direct ? now : e.time};
    if (way.own) {
        own_send(m, e.time, &e);
        return;
    }
    if (way.out & CPU)
        e.time = loggops_later(e.time, *loggops_cpu(s, process_of(m), 0));
    else if (way.out)
        e.time = loggops_later(e.time, *loggops_sending(s, process_of(m), 0));
    hand_over(m, &e, s->programs->cause);
}

static void program_timer(struct node *net, ker_time when, uint32_t service, uint32_t number)
{
    struct loggops_member *m = (struct loggops_member *)(void *)net;
    (void)service;
    uint32_t index = event_make(m, m->system->programs->cause, when, LOGGOPS_TIMER);
    loggops_event_at(m->system, index)->op = number;
    event_put(m, index);
}

static ker_time *program_latest(struct node *net)
{
    return &((struct loggops_member *)(void *)net)->system->engine->last_action;
}

static bool program_work(struct node *net, ker_time now, uint32_t service, uint32_t number,
                         const struct node_work *work)
{
    struct loggops_member *m = (struct loggops_member *)(void *)net;
    ker_time time = work->compute;
    (void)service;
    ker_time from = loggops_later(now, *loggops_cpu(m->system, process_of(m), 0));
    bool stepped = m->stepped;
    m->stepped = false;
    if (time == 0 && !m->asks && (from == now || !stepped))
        return true;
    uint32_t index = event_make(m, m->system->programs->cause, from, LOGGOPS_WORK);
    struct loggops_event *e = loggops_event_at(m->system, index);
    e->op = number;
    e->bytes = (uint64_t)time;
    own_put(m, index);
    return false;
}

/* Behind all messages that have been sent by now and come before the cpu is free. */
static void program_turn(struct node *net, ker_time now, uint32_t service, uint32_t number)
{
    struct loggops_member *m = (struct loggops_member *)(void *)net;
    const ker_time *before = m->system->programs->cause,
                   cause[LOGGOPS_GENERATIONS] = {now, before[0], before[1]};
    (void)service;
    ker_time from = loggops_later(now, *loggops_cpu(m->system, process_of(m), 0));
    uint32_t index = event_make(m, cause, from, LOGGOPS_WORK);
    struct loggops_event *e = loggops_event_at(m->system, index);
    e->op = number;
    e->tag = LOGGOPS_CPU;
    own_put(m, index);
}

static ker_time program_messages(const struct node *net, ker_time at)
{
    const struct loggops_member *m = (const struct loggops_member *)(const void *)net;
    return m->messages - (m->until > at ? m->until - at : 0);
}

/* A receive is an operation of its own: what comes next has its cause. */
static void program_posted(struct node *net, ker_time now)
{
    struct loggops_member *m = (struct loggops_member *)(void *)net;
    ker_time *cause = m->system->programs->cause;
    m->stepped = true;
    memmove(cause + 1, cause, (LOGGOPS_GENERATIONS - 1) * sizeof *cause);
    cause[0] = now;
}

void loggops_outside(struct task_mpi_outside *outside)
{
    outside->send = program_send;
    outside->timer = program_timer;
    outside->latest = program_latest;
    outside->work = program_work;
    outside->posted = program_posted;
    outside->turn = program_turn;
    outside->messages = program_messages;
}

/* ---- what it is notified of ---- */

/* What tasks can do now they do. */
static void settle(struct loggops_member *m, ker_time now)
{
    while (m->service->step && m->service->step(m->tasks, (struct node *)(void *)m, now))
        ;
}

static bool is_fin(const struct net_envelope *envelope)
{
    struct task_wire wire;
    memcpy(&wire, envelope, sizeof wire);
    return wire.kind == TASK_WIRE_FIN;
}

static void came(struct loggops_member *m, const struct loggops_event *e)
{
    struct loggops_system *s = m->system;
    struct loggops_held held = s->programs->held.at[e->op];
    KER_POOL_GIVE(&s->programs->held, e->op);
    const struct net_parts parts = {.links = (uint64_t)(held.unhindered - held.created)};
    struct net_message message = {.source = e->match,
                                  .destination = m->system->first + m->process,
                                  .bytes = held.bytes,
                                  .created = held.created,
                                  .envelope = held.envelope,
                                  .parts = &parts};
    if (!way_of(m, &held.envelope).direct) {
        s->came++;
        s->bytes += held.bytes;
        s->latency += (uint64_t)(e->time - held.created);
    }
    if (is_mpi(m) && is_fin(&held.envelope))
        memcpy(m->read, s->programs->cause, sizeof m->read);
    m->service->arrived(m->tasks, (struct node *)(void *)m, e->time, &message);
}

/* What the processor did in between is the LogGOPS model's affair. */
static const struct node_worked none;

/* ---- what is granted: `cause` is of what it makes happen ---- */

static void work_begins(struct loggops_member *m, const struct loggops_event *e, const ker_time *cause)
{
    struct loggops_system *s = m->system;
    if (e->bytes == 0) {
        own_next(m, e->time, cause);
        m->service->worked(m->tasks, (struct node *)(void *)m, e->time, e->op, &none);
        return;
    }
    loggops_cpu_work(s, process_of(m), 0, e->time, (ker_time)e->bytes, 0);
    own_next(m, e->time, cause);
    ends(m, *loggops_cpu(s, process_of(m), 0), cause, LOGGOPS_WORKED)->op = e->op;
}

/* A message takes what it needs; the MPI model learns of it when it is in, or at once. */
static void take_in(struct loggops_member *m, struct loggops_event *e, const ker_time *cause)
{
    struct loggops_system *s = m->system;
    struct loggops_process *p = process_of(m);
    unsigned needs = e->tag & ~LOGGOPS_AT_ONCE;
    const struct loggops_parameters *set = loggops_between(s, loggops_rank(s, p), e->origin);
    ker_time until = e->time + loggops_bytes(&set->per_byte, e->bytes);
    if (needs == BOTH_IN)
        loggops_take_in(s, p, e, e->bytes);
    else if (needs & CPU)
        loggops_cpu_work(s, p, 0, e->time, set->overhead, 0);
    else if (needs & LOGGOPS_RECEIVING)
        *loggops_receiving(s, p, 0) = until + set->gap;
    if (needs & CPU)
        cpu_taken(m, e->time);
    e->match = e->origin;
    if (e->tag & LOGGOPS_AT_ONCE) {
        memcpy(s->programs->cause, cause, sizeof s->programs->cause);
        came(m, e);
        return;
    }
    if (needs & CPU)
        until = *loggops_cpu(s, p, 0);
    s->programs->held.at[e->op].unhindered += until - e->time;
    struct loggops_event *end = ends(m, until, cause, LOGGOPS_CAME);
    end->op = e->op;
    end->match = e->match;
}

void loggops_program_event(struct loggops_system *s, struct loggops_process *p, uint32_t index)
{
    struct loggops_event e = *loggops_event_at(s, index);
    struct loggops_member *m = &s->programs->member[p - s->process];
    struct node *node = (struct node *)(void *)m;
    const ker_time cause[LOGGOPS_GENERATIONS] = {e.time, e.cause[0], e.cause[1]};
    KER_POOL_GIVE(&s->events, index);
    memcpy(s->programs->cause, e.cause, sizeof e.cause);
    switch (e.kind) {
    case LOGGOPS_START:
        m->service->start(m->tasks, node, e.time);
        break;
    case LOGGOPS_TIMER:
        m->service->timer(m->tasks, node, e.time, e.op);
        break;
    case LOGGOPS_WORK:
        work_begins(m, &e, cause);
        break;
    case LOGGOPS_WORKED:
        m->service->worked(m->tasks, node, e.time, e.op, &none);
        break;
    case LOGGOPS_HAND:
        hand_over(m, &e, cause);
        break;
    case LOGGOPS_SENT:
        m->service->sent(m->tasks, node, e.time, e.bytes);
        break;
    case LOGGOPS_COMES:
        take_in(m, &e, cause);
        break;
    default:
        /* A task that waited for this and for a FIN that came meanwhile continues because of what began last.
         */
        if (m->read[0] > e.cause[0])
            memcpy(s->programs->cause, m->read, sizeof m->read);
        came(m, &e);
    }
    settle(m, e.time);
}

/* ---- for the program ---- */

void loggops_program_begin(struct loggops_system *s, struct loggops_process *p, ker_time at)
{
    static const ker_time nothing[LOGGOPS_GENERATIONS] = {-1, -1, -1};
    const struct loggops_member *m = &s->programs->member[p - s->process];
    event_put(m, event_make(m, nothing, at, LOGGOPS_START));
}

void loggops_programs_begin(struct loggops_system *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (loggops_is_program(s, &s->process[i]))
            loggops_program_begin(s, &s->process[i], 0);
}

struct net_totals task_loggops_totals(const struct loggops_system *s)
{
    return (struct net_totals){.packets_injected = s->messages,
                               .packets_delivered = s->came,
                               .bytes_delivered = s->bytes,
                               .messages_delivered = s->came,
                               .measured_packets = s->came,
                               .latency_sum = s->latency};
}

/* A process of this rank by its local index, before there are any. */
static bool runs_program(const struct loggops_system *s, uint32_t index)
{
    return s->job[loggops_job_of(s, s->first + index)].mpi;
}

uint32_t *task_loggops_nodes(const struct loggops_system *s, uint32_t *count)
{
    uint32_t *nodes = ker_alloc((s->count + 1u) * sizeof *nodes);
    *count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (runs_program(s, i))
            nodes[(*count)++] = s->first + i;
    return nodes;
}

void task_loggops_members(struct loggops_system *s, void *const *state, const struct node_services *services)
{
    uint32_t count = services->count;
    s->programs->member = ker_alloc((s->count + 1u) * sizeof *s->programs->member);
    for (uint32_t i = 0, node = 0; i < s->count; i++) {
        struct loggops_member *m = &s->programs->member[i];
        *m = (struct loggops_member){
            .system = s, .process = i, .own = {KER_NONE, KER_NONE}, .read = {-1, -1, -1}};
        if (!runs_program(s, i))
            continue;
        uint32_t which = 0; /* a task has one program */
        while (!state[(size_t)node * count + which])
            which++;
        m->service = services->at[which].service;
        m->tasks = state[(size_t)node++ * count + which];
    }
}
