/* skip_clock.c - what happens at set times, and jobs that begin and end.
 *
 * Two clocks: the simulated one, and that of the whole run, which is later by what was skipped. The start of
 * a job is a time of the whole run: nothing is skipped across it, and behind it all begins anew. Faults, and
 * when traffic begins and ends, are on the simulated clock: nothing is skipped before the last of them, so
 * that both clocks are one until then.
 */
#include "run/skip.h"

#include "tasks/jobs/jobs.h"

#include <stdlib.h>

static void settled_by(struct run_skip *skip, ker_time time)
{
    skip->settled = time > skip->settled ? time : skip->settled;
}

void run_skip_sets_make(struct run *run)
{
    static const char *const keys[] = {"traffic.start", "traffic.stop"};
    struct run_skip *skip = run->skip;
    skip->set = ker_alloc((skip->state.jobs + 1ull) * sizeof *skip->set);
    if (run->topology && route_fault_summarise(run->topology))
        settled_by(skip, route_fault_summarise(run->topology)->last);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ker_config_means_key(run->config, keys[i]) && ker_config_has(run->config, keys[i]))
            settled_by(skip, ker_config_time(run->config, keys[i]));
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        if (skip->job[i].start > skip->settled)
            skip->set[skip->sets++] = skip->job[i].start;
    if (skip->settled > 0)
        skip->set[skip->sets++] = skip->settled;
    qsort(skip->set, skip->sets, sizeof *skip->set, ker_order_i64);
}

/* All that it waits for is over: it has begun, or does so at once. */
static bool begins(const struct run_skip *skip, const struct run_skip_job *job, ker_time whole)
{
    const struct task_job *own = task_jobs_get(skip->jobs, job->job);
    bool now = job->pending && job->start <= whole;
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        for (uint32_t k = 0; k < own->afters; k++)
            now &= skip->job[i].job != own->after[k] || skip->job[i].ended;
    return now;
}

enum run_skip_due run_skip_due(struct run_skip *skip, const struct run *run, ker_time at, const bool *ended)
{
    ker_time whole = at + skip->state.skipped;
    bool anew = skip->state.forked, all = whole >= skip->settled, any = false;
    for (; skip->state.passed < skip->sets && skip->set[skip->state.passed] <= whole; skip->state.passed++)
        anew = true;
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        struct run_skip_job *job = &skip->job[i];
        bool joins = job->pending && ended[i];
        job->pending &= !joins;
        anew |= joins;
        all &= job->pending ? !begins(skip, job, whole) : ended[i];
        any |= run_skip_runs(job);
    }
    return anew && any ? RUN_SKIP_RENEW : all && any ? RUN_SKIP_PLAN : RUN_SKIP_NOTHING;
}

ker_time run_skip_bound(const struct run_skip *skip)
{
    return skip->state.passed < skip->sets ? skip->set[skip->state.passed] : KER_TIME_MAX;
}

void run_skip_end_warn(const struct run *run)
{
    char end[32], skipped[32], whole[32];
    ker_time more = run->skip->state.skipped;
    if (run->control && more > 0 && run->end < KER_TIME_MAX - more)
        ker_warn(
            "run.end: %s is on the simulated clock; with the %s that this run has skipped it is about %s "
            "of the whole run, and nothing more is skipped before it",
            ker_print_time(end, run->end), ker_print_time(skipped, more),
            ker_print_time(whole, run->end + more));
}

/* Have all jobs that have a gap before the window passed it? */
static bool passed(const struct run *run, uint32_t window)
{
    bool all = true;
    for (uint32_t i = 0; i < run->skip->state.jobs; i++) {
        const struct run_skip_job *job = &run->skip->job[i];
        const struct task_steps *steps = task_system_steps(run->tasks, job->job);
        if (!job->skipped[window])
            continue;
        uint32_t last = job->number[window] - 1; /* before the gap */
        uint64_t ended = last < steps->ends ? steps->end[last].tasks : 0;
        ker_comm_sum_u64(run->working, &ended, 1);
        all &= ended == job->tasks;
    }
    return all;
}

ker_time run_skip_since(struct run *run)
{
    struct run_skip_state *state = run->skip ? &run->skip->state : NULL;
    ker_time skipped = 0;
    while (state && state->marked < state->windows &&
           (!state->gap[state->marked] || passed(run, state->marked)))
        skipped += state->gap[state->marked++];
    return skipped;
}

ker_time run_skip_until(const struct run *run)
{
    ker_time quiet = ker_engine_quiet(run->engine);
    return !run->skip || run->skip->state.over || quiet > KER_TIME_MAX / 2 ? KER_TIME_MAX
                                                                           : quiet + 2 * run->interval;
}
