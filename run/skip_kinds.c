/* skip_kinds.c - steps of a long period, most of which are alike: each kind has a mean of its own.
 *
 * An Allreduce in every hundredth step would make a period of a hundred steps. In place of whole periods
 * steps count by themselves then, as if each were of the mean kind; those that are skipped have the means of
 * their kinds. What a step takes depends on what the one before it did, too, since tasks wait for others.
 */
#include "run/skip.h"

#include <math.h>

#define LONG_PERIOD 8 /* a shorter one is seen as a whole */

static uint32_t pair_of(const struct task_steps *steps, uint32_t step)
{
    return task_steps_kind(steps, step ? step - 1 : 0) << 16 | task_steps_kind(steps, step);
}

uint32_t run_skip_kind(const struct run_skip_kinds *k, uint32_t step)
{
    uint32_t kind = 0;
    for (uint32_t pair = pair_of(k->steps, step); kind < k->kinds && k->pair[kind] != pair;)
        kind++;
    return kind;
}

void run_skip_kinds_make(struct run_skip_kinds *k, const struct task_steps *steps)
{
    *k = (struct run_skip_kinds){.steps = steps};
    if (!task_steps_have_kinds(steps) || steps->period < LONG_PERIOD)
        return;
    for (uint32_t step = 1; step + 1 < steps->count; step++) {
        uint32_t kind = run_skip_kind(k, step);
        if (kind == RUN_KINDS) {
            k->kinds = 0;
            return;
        }
        if (kind == k->kinds)
            k->pair[k->kinds++] = pair_of(steps, step);
        k->share[kind] += 1 / (steps->count - 2.0);
    }
}

void run_skip_kinds_take(const struct run_skip_kinds *k, double level, struct stats_windows *seen,
                         const uint8_t *kind, struct run_skip_means *m)
{
    double all = 0, squares[RUN_KINDS] = {0};
    *m = (struct run_skip_means){0};
    for (uint32_t v = 0; v < seen->values; v++)
        m->count[kind[v]]++;
    for (uint32_t v = 0; v < seen->values; v++) {
        all += seen->value[v] / seen->values;
        m->mean[kind[v]] += seen->value[v] / m->count[kind[v]];
    }
    for (uint32_t i = 0; i < k->kinds; i++) {
        m->mean[i] = m->count[i] ? m->mean[i] : all;
        m->all += k->share[i] * m->mean[i];
    }
    for (uint32_t v = 0; v < seen->values; v++) {
        double rest = seen->value[v] - m->mean[kind[v]];
        squares[kind[v]] += rest * rest;
        seen->value[v] = m->all + rest;
    }
    for (uint32_t i = 0; i < k->kinds; i++) { /* of one that was seen once, or never, nothing is known */
        double n = m->count[i];
        m->half[i] = n > 1 ? stats_student(level, m->count[i] - 1) * sqrt(squares[i] / (n - 1) / n) : m->all;
    }
}

/* Steps that are skipped in these windows are of a kind. */
static double steps_of(const struct run_skip *skip, uint32_t i, uint32_t kind, uint32_t from, uint32_t to)
{
    const struct run_skip_job *job = &skip->job[i];
    uint32_t before = 0, steps = 0;
    for (uint32_t w = 0; w < to; w++) {
        uint32_t gap = run_skip_before(skip, i, w), first = job->number[w] + before;
        for (uint32_t step = first; w >= from && step < first + gap; step++)
            steps += run_skip_kind(&skip->kinds[i], step) == kind;
        before += gap;
    }
    return steps;
}

double run_skip_kinds_add(const struct run_skip *skip, uint32_t i, uint32_t from, uint32_t to, double skipped,
                          double values, const struct run_skip_means *m, double *half)
{
    double time = 0, squares = 0;
    for (uint32_t kind = 0; kind < skip->kinds[i].kinds; kind++) {
        double steps = steps_of(skip, i, kind, from, to), more = steps - skipped * m->count[kind] / values;
        time += (steps - skipped * skip->kinds[i].share[kind]) * m->mean[kind];
        squares +=
            more > 0 ? more * m->half[kind] * more * m->half[kind] : 0; /* seen more seldom than others */
    }
    *half += sqrt(squares);
    return time;
}

uint32_t run_skip_kinds_align(const struct run_skip_kinds *k, const struct run_skip_means *m, uint32_t step,
                              uint32_t most)
{
    uint32_t seldom = 0;
    for (uint32_t kind = 1; kind < k->kinds; kind++)
        if (m->count[kind] < m->count[seldom] ||
            (m->count[kind] == m->count[seldom] && k->share[kind] > k->share[seldom]))
            seldom = kind;
    for (uint32_t back = 0; k->kinds && back <= most; back++)
        if (run_skip_kind(k, step - back) == seldom)
            return back;
    return 0;
}
