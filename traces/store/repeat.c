/* repeat.c - the steps of all tasks of a trace, and where each of them is.
 *
 * Tasks find where their steps begin by themselves; together they look whether these are the same steps: as
 * many of them, complete, and of kinds that repeat. All that is compared between tasks are sums, so that it
 * is the same however tasks are distributed.
 */
#include "traces/store/repeat_measure.h"

#include <stdlib.h>
#include <string.h>

#define MOST_KINDS 16 /* of steps */
#define LEAST_MARKS 3 /* with fewer it is a part of the run that is marked */
#define MOST 0.5      /* of the operations: what repeats in as much of them is taken */
#define SLACK 2       /* tasks may see a step more at either end of what repeats */

/* ---- where steps begin ---- */

static struct trace_places marks_find(const struct trace_repeat *r, const struct trace_repeat_task *task,
                                      const struct task_comm *comms, uint32_t all)
{
    struct trace_places places = {0};
    struct trace_walk w;
    bool some = false; /* the store names all calls that it has */
    for (uint32_t i = 1; task->code && i <= TRACE_NAMES && task->code->name[i]; i++)
        some |= strcmp(task->code->name[i], "MPI_Pcontrol") == 0;
    if (!some)
        return places;
    trace_walk_begin(&w, r, task, comms, all);
    while (trace_walk_next(&w))
        if (w.mark) {
            trace_places_add(&places, w.begin);
            places.line = w.line;
        }
    trace_walk_end(&w);
    return places;
}

/* Of own tasks; and the fewest and most steps of any task. */
struct found {
    struct trace_places *places;
    int64_t least, most;
    double covered;      /* part of the operations from the first step's beginning to the last one's */
    uint32_t task, line; /* of the first with the fewest; where its last step begins */
};

static void found_release(struct found *f, uint32_t tasks)
{
    for (uint32_t i = 0; f->places && i < tasks; i++)
        free(f->places[i].place);
    free(f->places);
    f->places = NULL;
}

/* period: of each own task; NULL: by marks. */
static struct found found_by(const struct trace_repeat *r, const struct task_comm *comms, uint32_t all,
                             uint32_t (*period)[REPEAT_SORTS], enum trace_repeat_sort sort,
                             struct ker_comm *comm)
{
    struct found f = {.places = ker_alloc((r->tasks + 1ull) * sizeof *f.places)};
    int64_t least = INT64_MAX, line = 0;
    uint64_t bytes[2] = {0};
    for (uint32_t i = 0; i < r->tasks; i++) {
        const struct trace_repeat_task *t = &r->task[i];
        f.places[i] = period ? trace_period_places(r, t, comms, all, sort, period[i][sort])
                             : marks_find(r, t, comms, all);
        int64_t count = f.places[i].count, named = count << 32 | t->task;
        f.most = count > f.most ? count : f.most;
        bytes[0] += count ? f.places[i].place[count].at - f.places[i].place[1].at : 0;
        bytes[1] += t->total;
        if (named < least) {
            least = named;
            line = f.places[i].line;
        }
    }
    int64_t own = least;
    ker_comm_min_i64(comm, &least, 1);
    ker_comm_max_i64(comm, &f.most, 1);
    line = own == least ? line : 0;
    ker_comm_max_i64(comm, &line, 1);
    ker_comm_sum_u64(comm, bytes, 2);
    f.covered = (double)bytes[0] / (double)bytes[1];
    f.least = least >> 32;
    f.task = (uint32_t)least;
    f.line = (uint32_t)line;
    return f;
}

static const char *const by[REPEAT_SORTS] = {"the same messages and collectives, with the same bytes",
                                             "the same messages and collectives", "the same messages"};

/* By marks, or by what repeats most often. */
static struct found steps_find(struct trace_repeat *r, const struct task_comm *comms, uint32_t all,
                               struct ker_comm *comm)
{
    struct found best = found_by(r, comms, all, NULL, 0, comm);
    int64_t least[REPEAT_SORTS] = {INT64_MAX, INT64_MAX, INT64_MAX};
    r->marked = best.most >= LEAST_MARKS;
    r->steps.by = "marks (MPI_Pcontrol)";
    if (r->marked)
        return best;
    uint32_t(*period)[REPEAT_SORTS] = ker_alloc((r->tasks + 1ull) * sizeof *period);
    for (uint32_t i = 0; i < r->tasks; i++) {
        trace_periods_find(r, &r->task[i], comms, all, period[i]);
        for (enum trace_repeat_sort sort = 0; sort < REPEAT_SORTS; sort++)
            least[sort] = period[i][sort] < least[sort] ? period[i][sort] : least[sort];
    }
    ker_comm_min_i64(comm, least, REPEAT_SORTS);
    for (enum trace_repeat_sort sort = 0; sort < REPEAT_SORTS && best.covered < MOST; sort++) {
        if (!least[sort])
            continue;
        struct found other = found_by(r, comms, all, period, sort, comm);
        bool better = other.least > best.least;
        found_release(better ? &best : &other, r->tasks);
        if (better) {
            best = other;
            r->steps.by = by[sort];
        }
    }
    free(period);
    return best;
}

/* ---- the steps of all ---- */

static void __attribute__((format(printf, 2, 3))) refuse(struct trace_repeat *r, const char *format, ...)
{
    KER_FORMATTED(r->why, format);
    r->steps.why = r->why;
    r->steps.period = 0;
}

static void fault_say(struct trace_repeat *r, const struct trace_faults *f)
{
    if (f->what == TRACE_FAULT_OPEN)
        refuse(r, "has a request open where step %lld of task %lld begins", (long long)f->step,
               (long long)f->task);
    else
        refuse(r,
               "has calls that are more than messages and collectives, or complete some request of several, "
               "in step %lld of task %lld",
               (long long)f->step, (long long)f->task);
    r->why_task = (uint32_t)f->task;
    r->why_line = (uint32_t)f->line;
}

/* Steps that do the same are of one kind; NULL: they are of many, or of one. */
static uint16_t *kinds_find(const struct trace_measure *m)
{
    uint64_t kind[MOST_KINDS];
    uint16_t *of = ker_alloc(m->steps * sizeof *of);
    uint32_t kinds = 0;
    for (uint32_t step = 1; step + 1 < m->steps && kinds <= MOST_KINDS; step++) {
        while (of[step] < kinds && kind[of[step]] != m->kind[step])
            of[step]++;
        if (of[step] == kinds && kinds++ < MOST_KINDS)
            kind[of[step]] = m->kind[step];
    }
    if (kinds > 1 && kinds <= MOST_KINDS)
        return of;
    free(of);
    return NULL;
}

/* The shortest period of the steps' kinds. Without one it is that of all, or, where these are of many kinds,
 * 1, as if they were alike. */
static uint32_t kinds_period(const struct trace_measure *m, const uint16_t *kind)
{
    for (uint32_t period = 1; period <= (m->steps - 2) / 2; period++) {
        uint32_t step = 1;
        while (step + period + 1 < m->steps && m->kind[step] == m->kind[step + period])
            step++;
        if (step + period + 1 >= m->steps)
            return period;
    }
    return kind ? m->steps : 1;
}

static void steps_judge(struct trace_repeat *r, struct trace_measure *m)
{
    const uint64_t *left = m->any ? m->receivers : m->pairs;
    if (m->fault.what) {
        fault_say(r, &m->fault);
        return;
    }
    for (uint32_t step = 1; step + 1 < m->steps; step++)
        if (left[step]) {
            refuse(r, "sends messages in step %u, or begins collectives, that are of another one elsewhere",
                   step);
            return;
        }
    if (m->full_most + m->full_least > m->full_step) {
        refuse(r, "has tasks that repeat something else at different times");
        return;
    }
    r->steps.kind = kinds_find(m);
    r->steps.period = kinds_period(m, r->steps.kind);
    r->steps.known = m->begun;
    m->begun = NULL;
}

/* How much of the operations is in no step that may be skipped. */
static void parts_find(struct trace_repeat *r, struct ker_comm *comm)
{
    uint64_t bytes[3] = {0};
    for (uint32_t i = 0; i < r->tasks; i++) {
        const struct trace_repeat_task *t = &r->task[i];
        bytes[0] += t->place[1].at;
        bytes[1] += t->total - t->place[r->steps.count - 1].at;
        bytes[2] += t->total;
    }
    ker_comm_sum_u64(comm, bytes, 3);
    r->steps.before = (double)bytes[0] / (double)bytes[2];
    r->steps.after = (double)bytes[1] / (double)bytes[2];
}

/* Are there as many of all tasks? */
static bool counts_judge(struct trace_repeat *r, const struct found *f)
{
    if (r->marked && f->least != f->most) {
        refuse(r, "has %lld marks of steps (MPI_Pcontrol) in one task, and only %lld in task %u",
               (long long)f->most, (long long)f->least, f->task);
        r->why_task = f->task;
        r->why_line = f->line;
    } else if (f->least < LEAST_MARKS && r->graph)
        refuse(r,
               "is a graph in which task %u does not repeat what it does between places where all before is "
               "done before anything behind begins",
               f->task);
    else if (f->least < LEAST_MARKS)
        refuse(r, "has no marks of steps (MPI_Pcontrol), and its tasks do not repeat what they do");
    else if (f->most - f->least > SLACK)
        refuse(r,
               "has no marks of steps (MPI_Pcontrol), and its tasks repeat what they do %lld to %lld times",
               (long long)f->least, (long long)f->most);
    return !*r->why;
}

struct trace_repeat *trace_repeat_new(struct trace_repeat *r, uint32_t tasks)
{
    trace_repeat_release(r);
    r->task = ker_alloc((tasks + 1ull) * sizeof *r->task);
    r->tasks = tasks;
    return r;
}

void trace_repeat_find(struct trace_repeat *r, const struct task_comm *comms, uint32_t all,
                       const double *factor, struct ker_comm *comm)
{
    uint64_t threads = 0;
    r->comms = comms;
    r->all = all;
    r->factor = factor ? ker_alloc(all * sizeof *r->factor) : NULL;
    if (factor)
        memcpy(r->factor, factor, all * sizeof *factor);
    for (uint32_t i = 0; i < r->tasks; i++)
        threads |= r->task[i].total == 0;
    ker_comm_or_u64(comm, &threads, 1);
    if (threads) {
        refuse(r, "has tasks with several threads");
        return;
    }
    struct found f = steps_find(r, comms, all, comm);
    if (counts_judge(r, &f)) {
        for (uint32_t i = 0; i < r->tasks; i++) {
            r->task[i].place = f.places[i].place;
            r->task[i].place[0] = (struct trace_place){0};
            f.places[i].place = NULL;
        }
        r->steps.count = (uint32_t)f.least + 1;
        parts_find(r, comm);
        struct trace_measure m = trace_measure_make(r, comm);
        steps_judge(r, &m);
        trace_measure_release(&m);
    }
    found_release(&f, r->tasks);
}

void trace_repeat_release(struct trace_repeat *r)
{
    for (uint32_t i = 0; i < r->tasks; i++)
        free(r->task[i].place);
    free(r->task);
    free(r->factor);
    task_steps_release(&r->steps);
    *r = (struct trace_repeat){0};
}

/* ---- in the run ---- */

const struct trace_place *trace_repeat_at(struct trace_repeat *r, uint32_t own, uint64_t at, ker_time now)
{
    struct task_steps *s = &r->steps;
    struct trace_repeat_task *t = &r->task[own];
    while (s->period && t->step + 1 < s->count && at >= t->place[t->step + 1].at) {
        uint32_t next = task_steps_next(s, t->step);
        task_steps_ended(s, t->step, next, now);
        bool gap = next != t->step + 1;
        t->step = next;
        s->begun = next > s->begun ? next : s->begun;
        if (gap)
            return &t->place[next];
    }
    return NULL;
}

void trace_repeat_moved(struct trace_repeat *r, uint32_t own, uint64_t at)
{
    struct trace_repeat_task *t = &r->task[own];
    t->step = KER_BISECT(i, 1, r->steps.period ? r->steps.count : 0, t->place[i].at <= at) - 1;
}
