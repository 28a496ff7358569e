/* steps.h - the steps of a program that repeat, of which a run need not simulate all (run.skip).
 *
 * Behind a gap, tasks continue with a later step than the next one. Nothing else changes: what is in flight,
 * what tasks have not received yet, and how far they are apart are behind it what they were before it. Steps
 * that are simulated have numbers of their own, without gaps. When they end is kept in integers, by maximum
 * and sum over the tasks of a rank, so that ranks can be joined in any order.
 */
#pragma once

#include "kernel/base/base.h"

#include <stdbool.h>

struct task_step_end {
    uint64_t tasks; /* own tasks that have ended it */
    uint64_t sum;   /* of when they did, modulo 2^64: differences of two steps are what counts */
    int64_t last;   /* of them, in ps */
};

/* Steps that are not simulated: tasks that have ended step from - 1 continue with `to`. */
struct task_gap {
    uint32_t from, to;
};

struct task_steps {
    uint32_t count;  /* of a task */
    uint32_t period; /* > 0: what a step does depends on its number modulo this, and on what is drawn */
    /* Where that is by what steps do: of what kind each is, malloc'ed; or by whether its number and 1 is a
     * multiple of these; NULL and 0: it is not known. */
    uint16_t *kind;
    uint32_t every[2];
    uint32_t begun; /* the latest that an own task has begun */
    uint32_t from,
        to; /* the last gap: a task that has ended step from - 1 continues with `to`; 0: there is none */
    uint32_t skipped; /* in the gaps before it */
    int64_t *known;   /* of traces, else NULL, malloc'ed: when steps begin over an ideal network, as below */
    double before, after; /* parts of the operations before step 1, and in the last one */
    const char *by;       /* what a step is: "marks (MPI_Pcontrol)" */
    const char *why;      /* period 0: there are no steps that may be skipped, because the job ...; or NULL */
    struct task_step_end *end; /* of those simulated, by number */
    uint32_t ends, room;
};

static inline uint32_t task_steps_next(const struct task_steps *s, uint32_t step)
{
    return step + 1 == s->from ? s->to : step + 1;
}

/* Of a step of this or the last window. */
static inline uint32_t task_steps_number(const struct task_steps *s, uint32_t step)
{
    return step - s->skipped - (step >= s->to ? s->to - s->from : 0);
}

/* The other way round. */
static inline uint32_t task_steps_of(const struct task_steps *s, uint32_t number)
{
    uint32_t step = number + s->skipped;
    return s->to && step >= s->from ? step + s->to - s->from : step;
}

static inline bool task_steps_have_kinds(const struct task_steps *s)
{
    return s->kind || s->every[0];
}
static inline uint32_t task_steps_kind(const struct task_steps *s, uint32_t step)
{
    return s->kind ? s->kind[step] : ((step + 1) % s->every[0] == 0) + 2 * ((step + 1) % s->every[1] == 0);
}

/* What other tasks have noted of the step. */
static inline void task_steps_join(struct task_step_end *to, const struct task_step_end *from)
{
    to->tasks += from->tasks;
    to->sum += from->sum;
    to->last = from->last > to->last ? from->last : to->last;
}

/* What a step takes over an ideal network, in ps: the mean of those that may be skipped. */
static inline double task_steps_mean(const struct task_steps *s)
{
    return (double)(s->known[s->count - 1] - s->known[1]) / (s->count - 2.0);
}

void task_steps_release(struct task_steps *);
void task_steps_begin(struct task_steps *); /* before any task: no gaps, no ends */
void task_steps_room(struct task_steps *, uint32_t ends);
/* An own task has ended the steps from `step` to the one before `next`, which it has begun. */
void task_steps_ended(struct task_steps *, uint32_t step, uint32_t next, ker_time now);
/* The steps from `from` on, which no task has begun on any rank, continue with `to`. */
void task_steps_skip(struct task_steps *, uint32_t from, uint32_t to);
