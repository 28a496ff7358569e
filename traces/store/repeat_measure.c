/* repeat_measure.c - what all tasks do in each step, and when these would end over an ideal network.
 *
 * Each rank reads its own tasks, as far as one rank, which runs them over the ideal network (ideal.h), wants
 * to have them: tasks that wait for others there are not read on. So a part of each task is in memory, and
 * no rank waits for an answer but for what is to be read next.
 */
#include "traces/store/repeat_measure.h"
#include "traces/store/ideal.h"

#include <stdlib.h>
#include <string.h>

#define AT_ONCE (1u << 17) /* events of all tasks, about */
#define AT_LEAST 16        /* of a task */

/* What is read: of all ranks the same. */
struct plan {
    const struct trace_repeat *repeat;
    const struct task_gap *gap;
    uint32_t gaps, last; /* number of the step that is not read */
};

/* An own task, as far as it has been read. */
struct reading {
    struct trace_walk walk;
    uint32_t step, number, gap, open; /* number: of those that are read */
    uint64_t full, before;            /* collectives of all tasks: until now, and until the step began */
    bool ended;
};

static void fault_note(struct trace_measure *m, uint32_t task, enum trace_fault what, uint32_t step,
                       uint32_t line)
{
    if (m->fault.what == TRACE_FAULT_NONE || task < m->fault.task)
        m->fault = (struct trace_faults){task, what, step, line};
}

static void step_measure(struct trace_measure *m, const struct trace_walk *w, uint32_t step)
{
    m->kind[step] += ker_hash(w->hash + ker_hash((uint64_t)w->task + 1));
    m->pairs[step] += w->pairs;
    m->receivers[step] += w->receivers;
    if (step == 0 || step + 1 >= m->steps)
        return;
    m->any |= w->any;
    if (w->unknown)
        fault_note(m, (uint32_t)w->task, TRACE_FAULT_UNKNOWN, step, w->line);
}

/* A task begins its step, after so many collectives of all tasks in the one before. */
static void full_note(struct trace_measure *m, uint32_t step, int64_t calls)
{
    if (step == 1) {
        m->full_least = -calls > m->full_least ? -calls : m->full_least;
        m->full_most = calls > m->full_most ? calls : m->full_most;
    } else if (calls > m->full_step) {
        m->full_step = calls;
    }
}

/* A step is over, and the next begins, or one behind a gap; false: the operation that has been read is of
 * neither. m: struct trace_measure, or NULL. */
static bool step_next(struct trace_measure *m, const struct plan *plan, const struct trace_repeat_task *t,
                      struct reading *at, struct trace_events *events)
{
    struct trace_walk *w = &at->walk;
    ker_time now = plan->repeat->marked ? w->computed : w->computed_before;
    at->ended = ++at->number == plan->last;
    trace_event_add(events, at->number, at->ended ? TRACE_ENDS : TRACE_BEGINS, now);
    at->step++;
    if (at->gap < plan->gaps && plan->gap[at->gap].from == at->step) {
        at->step = plan->gap[at->gap++].to;
        trace_walk_seek(w, t->place[at->step], now);
        return false;
    }
    if (m) {
        full_note(m, at->step, (int64_t)(at->full - at->before));
        at->before = at->full;
        if (at->open)
            fault_note(m, t->task, TRACE_FAULT_OPEN, at->step, w->line);
    }
    return !at->ended;
}

/* Reads on until there are that many events more, or the task ends. */
static void read_on(struct trace_measure *m, const struct plan *plan, const struct trace_repeat_task *t,
                    struct reading *at, struct trace_events *events, size_t most)
{
    struct trace_walk *w = &at->walk;
    const struct trace_repeat *r = plan->repeat;
    size_t begin = events->count;
    while (events->count - begin < most && trace_walk_next(w)) {
        uint64_t place = r->marked ? w->begin.at : w->before.at;
        if (at->step + 1 < r->steps.count && place >= t->place[at->step + 1].at &&
            !step_next(m, plan, t, at, events)) {
            if (at->ended)
                return;
            continue;
        }
        for (size_t i = 0; i < w->events.count; i++)
            *KER_PUSH(events->event, events->count, events->room) = w->events.event[i];
        if (m && (w->posts || w->unknown))
            step_measure(m, w, at->step);
        at->open = w->open;
        at->full = w->full;
    }
    at->ended = events->count - begin < most;
    if (at->ended)
        trace_event_add(events, at->number + 1, TRACE_ENDS, w->computed);
}

/* Rank 0 has what all ranks have read, each task's events behind {0: task, how many}. */
static void ideal_take(struct trace_ideal *ideal, const struct trace_event *all, size_t count)
{
    for (size_t i = 0; i < count; i += 1 + all[i].at)
        trace_ideal_give(ideal, (uint32_t)all[i].key, &all[i + 1], all[i].at);
}

static void all_read(struct trace_measure *m, const struct plan *plan, struct reading *at,
                     struct trace_ideal *ideal, struct ker_comm *comm)
{
    const struct trace_repeat *r = plan->repeat;
    uint32_t all = r->all;
    size_t most = AT_ONCE / all > AT_LEAST ? AT_ONCE / all : AT_LEAST;
    struct trace_events events = {0};
    uint8_t *wants = ker_alloc(all + 1ull);
    memset(wants, true, all + 1ull);
    for (; wants[all]; ker_comm_broadcast(comm, wants, all + 1ull)) {
        events.count = 0;
        for (uint32_t i = 0; i < r->tasks; i++) {
            if (!wants[r->task[i].task])
                continue;
            size_t head = events.count;
            trace_event_add(&events, r->task[i].task, 0, 0);
            read_on(m, plan, &r->task[i], &at[i], &events, most);
            events.event[head].at = events.count - head - 1;
        }
        void *taken;
        size_t *offset;
        ker_comm_gather(comm, events.event, events.count * sizeof *events.event, &taken, &offset);
        if (ideal) {
            ideal_take(ideal, taken, offset[ker_comm_size(comm)] / sizeof *events.event);
            wants[all] = trace_ideal_run(ideal, wants);
        }
        free(taken);
        free(offset);
    }
    free(wants);
    free(events.event);
}

/* Of all ranks: when the steps begin that are read, and, behind the last, the end. */
static int64_t *ideal_run(struct trace_measure *m, const struct plan *plan, struct ker_comm *comm)
{
    const struct trace_repeat *r = plan->repeat;
    size_t times = r->steps.count + 1ull;
    struct reading *at = ker_alloc((r->tasks + 1ull) * sizeof *at);
    int64_t *begun = ker_alloc(times * sizeof *begun);
    struct trace_ideal *ideal = ker_comm_rank(comm) == 0 ? trace_ideal_new(r->all, r->factor, begun) : NULL;
    for (uint32_t i = 0; i < r->tasks; i++) {
        trace_walk_begin(&at[i].walk, r, &r->task[i], r->comms, r->all);
        at[i].walk.waits = true;
    }
    all_read(m, plan, at, ideal, comm);
    for (uint32_t i = 0; i < r->tasks; i++)
        trace_walk_end(&at[i].walk);
    free(at);
    if (ideal)
        trace_ideal_release(ideal);
    ker_comm_broadcast(comm, begun, times * sizeof *begun);
    return begun;
}

int64_t *trace_repeat_ideal(const struct trace_repeat *r, const struct task_gap *gap, uint32_t gaps,
                            uint32_t last, struct ker_comm *comm)
{
    return ideal_run(NULL, &(struct plan){r, gap, gaps, last}, comm);
}

/* Of all ranks. */
static void measure_join(struct trace_measure *m, struct ker_comm *comm)
{
    int64_t most[] = {m->full_least, m->full_most, m->full_step};
    struct trace_faults *f = &m->fault;
    int64_t first = f->what ? f->task : INT64_MAX, fault[] = {f->what, f->step, f->line};
    ker_comm_sum_u64(comm, m->kind, m->steps);
    ker_comm_sum_u64(comm, m->pairs, m->steps);
    ker_comm_sum_u64(comm, m->receivers, m->steps);
    ker_comm_or_u64(comm, &m->any, 1);
    ker_comm_max_i64(comm, most, 3);
    ker_comm_min_i64(comm, &first, 1);
    if (!f->what || f->task != first)
        fault[0] = fault[1] = fault[2] = 0;
    ker_comm_max_i64(comm, fault, 3);
    m->full_least = most[0];
    m->full_most = most[1];
    m->full_step = most[2];
    m->fault = (struct trace_faults){first, fault[0], fault[1], fault[2]};
}

struct trace_measure trace_measure_make(const struct trace_repeat *r, struct ker_comm *comm)
{
    uint32_t steps = r->steps.count;
    struct trace_measure m = {.steps = steps,
                              .full_least = INT64_MIN,
                              .kind = ker_alloc(steps * sizeof *m.kind),
                              .pairs = ker_alloc(steps * sizeof *m.pairs),
                              .receivers = ker_alloc(steps * sizeof *m.receivers)};
    m.begun = ideal_run(&m, &(struct plan){.repeat = r, .last = UINT32_MAX}, comm);
    measure_join(&m, comm);
    return m;
}

void trace_measure_release(struct trace_measure *m)
{
    KER_FREE(m->kind, m->pairs, m->receivers, m->begun);
}
