/* steps.c - when steps end, and which of them are skipped.
 *
 * Invariant: no task is before a gap but the last one, so that one is enough to number the steps of all
 * tasks.
 */
#include "traces/steps.h"

#include <stdlib.h>
#include <string.h>

void task_steps_release(struct task_steps *s)
{
    free(s->end);
    free(s->known);
    free(s->kind);
    s->end = NULL;
    s->known = NULL;
    s->kind = NULL;
    s->ends = s->room = 0;
}

void task_steps_begin(struct task_steps *s)
{
    s->begun = s->from = s->to = s->skipped = s->ends = 0;
}

void task_steps_room(struct task_steps *s, uint32_t ends)
{
    if (ends <= s->ends)
        return;
    KER_RESERVE(s->end, s->room, ends);
    memset(s->end + s->ends, 0, (ends - s->ends) * sizeof *s->end);
    s->ends = ends;
}

void task_steps_ended(struct task_steps *s, uint32_t step, uint32_t next, ker_time now)
{
    for (; step < next && step < s->count; step = task_steps_next(s, step)) {
        uint32_t number = task_steps_number(s, step);
        task_steps_room(s, number + 1);
        task_steps_join(&s->end[number], &(struct task_step_end){1, (uint64_t)now, now});
    }
}

void task_steps_skip(struct task_steps *s, uint32_t from, uint32_t to)
{
    ker_assert(from > s->begun && from < to && to < s->count && from > s->to);
    s->skipped += s->to - s->from;
    s->from = from;
    s->to = to;
}
