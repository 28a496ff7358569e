/* ideal.c - see ideal.h. */
#include "traces/store/ideal.h"

#include <stdlib.h>

/* Messages that have been sent with a key and not received, or who waits for one. */
struct queue {
    uint64_t key;         /* + 1 */
    uint32_t first, last; /* in the pool; KER_NONE: there are none, but */
    uint32_t waits;       /* a task */
};
static const struct ker_table_kind queues = KER_TABLE_U64(struct queue);

struct message {
    uint32_t next;
    int64_t sent;
};

struct ideal_task {
    struct trace_event *event;
    size_t count, at;
    size_t room;
    uint64_t computed; /* by the last event */
    int64_t now;
    bool waits, ended;
};

struct trace_ideal {
    struct ideal_task *task;
    uint32_t tasks;
    const double *factor;
    int64_t *begun;
    struct ker_table queue;
    KER_POOL(struct message) message;
    uint32_t *ready; /* tasks that may continue */
    size_t readies, room;
};

struct trace_ideal *trace_ideal_new(uint32_t tasks, const double *factor, int64_t *begun)
{
    struct trace_ideal *d = ker_alloc(sizeof *d);
    d->task = ker_alloc(tasks * sizeof *d->task);
    d->tasks = tasks;
    d->factor = factor;
    d->begun = begun;
    d->message.free = KER_NONE;
    return d;
}

void trace_ideal_give(struct trace_ideal *d, uint32_t task, const struct trace_event *event, size_t count)
{
    struct ideal_task *t = &d->task[task];
    KER_RESERVE(t->event, t->room, count);
    memcpy(t->event, event, count * sizeof *event);
    t->count = count;
    t->at = 0;
    *KER_PUSH(d->ready, d->readies, d->room) = task;
}

static void message_send(struct trace_ideal *d, uint64_t key, int64_t now)
{
    bool is_new;
    struct queue *q = ker_table_add(&queues, &d->queue, &key, &is_new);
    uint32_t m = KER_POOL_TAKE(&d->message, NULL);
    d->message.at[m] = (struct message){KER_NONE, now};
    if (is_new)
        *q = (struct queue){key, KER_NONE, m, KER_NONE};
    if (q->first == KER_NONE)
        q->first = m;
    else
        d->message.at[q->last].next = m;
    q->last = m;
    if (q->waits == KER_NONE)
        return;
    *KER_PUSH(d->ready, d->readies, d->room) = q->waits;
    d->task[q->waits].waits = false;
    q->waits = KER_NONE;
}

/* False: there is no message yet, and the task will be ready when there is. */
static bool message_receive(struct trace_ideal *d, uint64_t key, uint32_t task)
{
    struct ideal_task *t = &d->task[task];
    bool is_new;
    struct queue *q = ker_table_add(&queues, &d->queue, &key, &is_new);
    if (is_new || q->first == KER_NONE) {
        *q = (struct queue){key, KER_NONE, KER_NONE, task};
        t->waits = true;
        return false;
    }
    uint32_t m = q->first;
    t->now = d->message.at[m].sent > t->now ? d->message.at[m].sent : t->now;
    q->first = d->message.at[m].next;
    KER_POOL_GIVE(&d->message, m);
    if (q->first == KER_NONE)
        ker_table_drop(&queues, &d->queue, q);
    return true;
}

static void task_run(struct trace_ideal *d, uint32_t task)
{
    struct ideal_task *t = &d->task[task];
    for (; t->at < t->count; t->at++) {
        const struct trace_event *e = &t->event[t->at];
        uint64_t computed = e->at >> 2, more = computed - t->computed;
        t->now += d->factor ? (int64_t)((double)more * d->factor[task]) : (int64_t)more;
        t->computed = computed;
        enum trace_event_kind kind = e->at & 3;
        if (kind == TRACE_RECEIVES && !message_receive(d, e->key | 1, task))
            return;
        if (kind == TRACE_SENDS)
            message_send(d, e->key | 1, t->now);
        else if (kind >= TRACE_BEGINS && t->now > d->begun[e->key])
            d->begun[e->key] = t->now;
        t->ended = kind == TRACE_ENDS;
    }
}

/* Nobody can continue: what tasks wait for does not come, or not in the order of these rules. */
static void waits_end(struct trace_ideal *d)
{
    for (uint32_t i = 0; i < d->tasks; i++) {
        struct ideal_task *t = &d->task[i];
        if (!t->waits)
            continue;
        uint64_t key = t->event[t->at++].key | 1;
        ker_table_drop(&queues, &d->queue, ker_table_find(&queues, &d->queue, &key));
        t->waits = false;
        *KER_PUSH(d->ready, d->readies, d->room) = i;
    }
}

bool trace_ideal_run(struct trace_ideal *d, uint8_t *wants)
{
    for (;;) {
        bool wanted = false, waited = false;
        while (d->readies)
            task_run(d, d->ready[--d->readies]);
        for (uint32_t i = 0; i < d->tasks; i++) {
            wants[i] = !d->task[i].waits && !d->task[i].ended;
            wanted |= wants[i];
            waited |= d->task[i].waits;
        }
        if (wanted || !waited)
            return wanted;
        waits_end(d);
    }
}

void trace_ideal_release(struct trace_ideal *d)
{
    for (uint32_t i = 0; i < d->tasks; i++)
        free(d->task[i].event);
    free(d->task);
    free(d->ready);
    ker_table_release(&d->queue);
    KER_POOL_RELEASE(&d->message);
    free(d);
}
