/* ops.c - operations of a graph become free, and become events.
 *
 * Of a graph from a file each operation counts what it still waits for. Of a pattern that is computed nothing
 * is kept of an operation but while some of what it waits for is done, and some is not: then it is in a
 * list of its process. Lists are short: what is near in a pattern is done at about the same time; what is
 * found comes to the front.
 *
 * Operations of one kind, cpu and adapter that become free in one instant for one time, with numbers that
 * follow each other in equal steps, are one event, a run. Its operations have the place in the order of
 * events that each would have by itself: there is no other event's place between them.
 */
#include "tasks/loggops/model.h"

uint32_t loggops_ops(const struct loggops_system *s, const struct loggops_process *p)
{
    if (p->task)
        return p->task->ops;
    const struct loggops_job *j = &s->job[p->job];
    return graph_pattern_ops(j->pattern, loggops_rank(s, p) - j->first);
}

ker_time loggops_finish(struct loggops_system *s, const struct loggops_process *p)
{
    ker_time finish = s->job[p->job].start;
    for (unsigned cpu = 0; cpu < s->cpus; cpu++)
        finish = *loggops_cpu(s, p, cpu) > finish ? *loggops_cpu(s, p, cpu) : finish;
    return loggops_unfinished(s, p) ? KER_TIME_MAX : finish;
}

/* ---- what operations wait for ---- */

/* Of a pattern: one dependency less; true: that was the last. */
static bool left_take(struct loggops_system *s, struct loggops_process *p, uint32_t number, uint32_t before)
{
    uint32_t previous = KER_NONE;
    if (before == 1)
        return true;
    for (uint32_t i = p->left; i != KER_NONE; previous = i, i = s->left.at[i].next) {
        struct loggops_left *l = &s->left.at[i];
        if (l->op != number)
            continue;
        if (previous != KER_NONE) {
            s->left.at[previous].next = l->next;
            l->next = p->left;
            p->left = i;
        }
        if (--l->count > 0)
            return false;
        p->left = l->next;
        KER_POOL_GIVE(&s->left, i);
        return true;
    }
    uint32_t new = KER_POOL_TAKE(&s->left, NULL);
    s->left.at[new] = (struct loggops_left){.op = number, .count = before - 1, .next = p->left};
    p->left = new;
    return false;
}

static void free_add(struct loggops_released *r, uint32_t number, const struct graph_op *op)
{
    *KER_PUSH(r->op, r->count, r->room) = (struct loggops_free){number, op->kind, op->cpu, op->nic};
}

static void release_computed(struct loggops_system *s, struct loggops_process *p, uint32_t number,
                             const struct graph_op *op)
{
    struct loggops_released *r = &s->released[p != s->current];
    const struct loggops_job *j = &s->job[p->job];
    uint32_t task = loggops_rank(s, p) - j->first;
    for (uint32_t i = 0; i < op->on_done; i++) {
        struct graph_op dependent;
        uint32_t which = graph_pattern_dependent(j->pattern, task, number, i);
        graph_pattern_op(j->pattern, task, which, &dependent);
        if (left_take(s, p, which, dependent.before))
            free_add(r, which, &dependent);
    }
}

/* What waits for something that has happened at `when`. */
static void release(struct loggops_system *s, struct loggops_process *p, uint32_t first, uint32_t count,
                    ker_time when)
{
    struct loggops_released *r = &s->released[p != s->current];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = p->task->dependent[first + i];
        struct graph_op *op = &p->task->op[number];
        if (p->ready)
            p->ready[number] = loggops_later(p->ready[number], when);
        if (--op->before == 0)
            free_add(r, number, op);
    }
}

void loggops_op_begun(struct loggops_system *s, struct loggops_process *p, const struct graph_op *op,
                      ker_time when)
{
    if (p->task && op->on_begin)
        release(s, p, op->first, op->on_begin, when);
}

void loggops_op_done(struct loggops_system *s, struct loggops_process *p, uint32_t number, ker_time when)
{
    struct graph_op room;
    const struct graph_op *op = loggops_op(s, p, number, &room);
    if (!p->task)
        release_computed(s, p, number, op);
    else if (op->on_done)
        release(s, p, op->first + op->on_begin, op->on_done, when);
    p->done++;
}

/* ---- events of them ---- */

/* One more of the run that ends with `last`, if it fits there. */
static bool run_add(struct loggops_system *s, struct loggops_event *run, uint32_t last,
                    const struct loggops_free *op, ker_time time)
{
    uint32_t step = op->op - last;
    if (run->time != time || run->cpu != op->cpu || run->nic != op->nic || run->tag != op->kind ||
        (run->more && step != run->step))
        return false;
    run->step = step;
    run->more++;
    s->serial++;
    return true;
}

/* A new event of one operation. */
static inline uint32_t run_begin(struct loggops_system *s, struct loggops_process *p,
                                 const struct loggops_free *op, const ker_time *cause, ker_time time)
{
    uint32_t run = loggops_event_new(s, p, cause, LOGGOPS_OPERATION);
    struct loggops_event *e = loggops_event_at(s, run);
    e->time = time;
    e->op = op->op;
    e->step = e->more = 0;
    e->tag = op->kind;
    e->cpu = op->cpu;
    e->nic = op->nic;
    return run;
}

static inline ker_time free_time(struct loggops_system *s, const struct loggops_process *p,
                                 const struct loggops_free *op, ker_time now)
{
    if (__builtin_expect(s->set.faults & LOGGOPS_UNTIMED,
                         0)) /* what its cpu and adapter have is all that counts */
        return loggops_op_time(s, p, op->kind, op->cpu, op->nic, s->job[p->job].start);
    if (__builtin_expect(p->ready == NULL, 1))
        return loggops_op_time(s, p, op->kind, op->cpu, op->nic, now);
    ker_time time = loggops_op_time(s, p, op->kind, op->cpu, op->nic, loggops_later(now, p->ready[op->op]));
    s->unlike[0] += time != loggops_op_time(s, p, op->kind, op->cpu, op->nic, s->job[p->job].start);
    return time;
}

static void kind_put(struct loggops_system *s, struct loggops_process *p, const struct loggops_released *r,
                     unsigned kind, const ker_time *cause, ker_time now)
{
    uint32_t *queue = &loggops_group_of(s, p)->queue, run = KER_NONE;
    for (uint32_t i = 0, last = 0; i < r->count; i++) {
        const struct loggops_free *op = &r->op[i];
        if (op->kind != kind)
            continue;
        ker_time time = free_time(s, p, op, now);
        if (run != KER_NONE && run_add(s, loggops_event_at(s, run), last, op, time)) {
            p->number++;
        } else {
            if (run != KER_NONE)
                loggops_queue_put(s, queue, run);
            run = run_begin(s, p, op, cause, time);
        }
        last = op->op;
    }
    if (run != KER_NONE)
        loggops_queue_put(s, queue, run);
}

static inline void one_put(struct loggops_system *s, struct loggops_process *p, const struct loggops_free *op,
                           const ker_time *cause, ker_time now)
{
    loggops_queue_put(s, &loggops_group_of(s, p)->queue,
                      run_begin(s, p, op, cause, free_time(s, p, op, now)));
}

/* Most release one operation, or two of different kinds. */
void loggops_released_put(struct loggops_system *s, struct loggops_process *p, struct loggops_released *r,
                          const ker_time *cause, ker_time now)
{
    const struct loggops_free *op = r->op;
    if (r->count == 1) {
        one_put(s, p, op, cause, now);
    } else if (r->count == 2 && op[0].kind != op[1].kind) {
        unsigned first = op[0].kind > op[1].kind;
        one_put(s, p, op + first, cause, now);
        one_put(s, p, op + 1 - first, cause, now);
    } else {
        for (unsigned kind = GRAPH_SEND; kind <= GRAPH_CALCULATION; kind++)
            kind_put(s, p, r, kind, cause, now);
    }
    r->count = 0;
}

void loggops_begin(struct loggops_system *s, struct loggops_process *p, ker_time start)
{
    static const ker_time nothing[LOGGOPS_GENERATIONS] = {-1, -1, -1};
    struct loggops_released *r = &s->released[0];
    uint32_t ops = loggops_ops(s, p);
    if (!p->task)
        ops = graph_pattern_first(s->job[p->job].pattern, ops);
    for (uint32_t i = 0; i < ops; i++) {
        struct graph_op room;
        const struct graph_op *op = loggops_op(s, p, i, &room);
        if (op->before == 0)
            free_add(r, i, op);
    }
    loggops_released_put(s, p, r, nothing, start);
}
