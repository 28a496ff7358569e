/* skip.c - run.skip: steps that repeat are not simulated again.
 *
 * The run looks at multiples of run.check_interval, where all ranks are at one simulated time, whether all
 * tasks of the jobs that skip have ended the steps that are awaited. Then one rank plans by when the steps
 * ended (skip_plan.c), and all get its plan: steps to be awaited next, or steps to be skipped. These begin
 * behind the latest step that any task has begun, so that no task has to return; the state of network, MPI
 * and nodes is what it was (traces/steps.h).
 *
 * Invariant: while steps are skipped no task is before a window but the last one: a plan is made only when
 * all tasks have ended some of its steps.
 */
#include "run/skip.h"

#include "run/checkpoint.h"

#include "tasks/jobs/jobs.h"

#include <stdlib.h>
#include <string.h>

const struct ker_option run_skip_options[] = {
    {"run.skip.enabled", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Of programs that repeat steps, only some are simulated, and results say which times are estimated, "
     "with "
     "an interval: docs/skipping.md.",
     "network.model!=loggops"},
    {"run.skip.precision", KER_TYPE_REAL, "0.01", "0.000001", "0.5", NULL,
     "Steps are simulated until their spread makes the interval at most this fraction of a job's time on "
     "either side; it may end wider where windows differ, which the summary says.",
     "run.skip.enabled=true"},
    {"run.skip.level", KER_TYPE_REAL, "0.95", "0.5", "0.9999", NULL, "Level of that interval.",
     "run.skip.enabled=true"},
    {"run.skip.windows", KER_TYPE_INT, "3", "2", "32", NULL,
     "Spans of steps that are simulated at least: the first, the last, and some between them.",
     "run.skip.enabled=true"},
    {"run.skip.first", KER_TYPE_INT, "0", "0", "1000000000", NULL,
     "Steps that are simulated before any is counted, beside those that are found to be warm-up.",
     "run.skip.enabled=true"},
    {0},
};

/* ---- what cannot be skipped, whatever its steps take ---- */

/* Keys of what happens at set times, or is looked for in what was simulated. */
static const char *key_refused(const struct ker_config *c)
{
    static const char *const keys[] = {"run.end",     "run.packets",      "run.confidence",
                                       "run.measure", "traffic.messages", "node.noise.file"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ker_config_means_key(c, keys[i]) && ker_config_has(c, keys[i]))
            return keys[i];
    return ker_config_time(c, "run.warmup") > 0 ? "run.warmup" : NULL;
}

static void job_add(struct run_skip *skip, uint32_t number, const struct task_job *job,
                    const struct task_steps *steps)
{
    const char *refused = steps ? steps->why : "has no steps that are known";
    if (job->background)
        refused = "runs in the background, and may disturb the others";
    if (refused) {
        run_skip_refuse(&skip->state, "job `%s` %s", job->name, refused);
        return;
    }
    skip->known[skip->state.jobs] = steps->known ? steps : NULL;
    run_skip_kinds_make(&skip->kinds[skip->state.jobs], steps);
    bool kinds = skip->kinds[skip->state.jobs].kinds > 0;
    skip->job[skip->state.jobs++] = (struct run_skip_job){.job = number,
                                                          .tasks = job->tasks,
                                                          .steps = steps->count,
                                                          .period = kinds ? 1 : steps->period,
                                                          .start = job->start,
                                                          .pending = job->held};
}

/* How long it takes until what takes cores away has come once. */
static ker_time noise_recurs(const struct ker_config *c)
{
    static const char *const keys[] = {"node.noise.period", "node.noise.gap"};
    ker_time longest = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ker_config_means_key(c, keys[i]) && ker_config_time(c, keys[i]) > longest)
            longest = ker_config_time(c, keys[i]);
    return longest;
}

/* Of what is collected event by event, skipped steps have nothing. */
static void lost_warn(const struct ker_config *c)
{
    static const char *const keys[] = {"output.timeline", "output.critical_path", "output.period"};
    char text[128] = "";
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ker_config_means_key(c, keys[i]) && ker_config_has(c, keys[i])) {
            size_t length = strlen(text);
            snprintf(text + length, sizeof text - length, "%s%s", length ? ", " : "", keys[i]);
        }
    if (*text)
        ker_warn("run.skip: what %s collect is of the simulated steps only, in simulated time", text);
}

void run_skip_make(struct run *run)
{
    const struct ker_config *c = run->config;
    if (!ker_config_bool(c, "run.skip.enabled"))
        return;
    struct run_skip *skip = ker_alloc(sizeof *skip);
    run->skip = skip;
    skip->interval = run->interval;
    skip->jobs = task_jobs_of(run->tasks);
    skip->precision = ker_config_real(c, "run.skip.precision");
    skip->level = ker_config_real(c, "run.skip.level");
    skip->windows = (uint32_t)ker_config_int(c, "run.skip.windows");
    skip->first = (uint32_t)ker_config_int(c, "run.skip.first");
    skip->recurs = noise_recurs(c);
    skip->changed = run->resumed && run->resumed->former && run->resumed->changes;
    uint32_t jobs = task_system_jobs(run->tasks);
    skip->job = ker_alloc((jobs + 1ull) * sizeof *skip->job);
    skip->known = ker_alloc((jobs + 1ull) * sizeof *skip->known);
    skip->kinds = ker_alloc((jobs + 1ull) * sizeof *skip->kinds);
    task_system_find_steps(run->tasks, run->comm);
    const char *key = key_refused(c);
    for (uint32_t job = 0; job < jobs && !skip->state.over; job++)
        job_add(skip, job, task_jobs_get(task_jobs_of(run->tasks), job), task_system_steps(run->tasks, job));
    run_skip_sets_make(run);
    if (key)
        run_skip_refuse(&skip->state, "%s is given", key);
    else if (!skip->state.jobs && !skip->state.over)
        run_skip_refuse(&skip->state, "there is no job that the run waits for");
    if (!skip->state.over)
        run_skip_begin(skip);
    if (!skip->state.over && run->control)
        lost_warn(c);
}

void run_skip_free(struct run_skip *skip)
{
    if (!skip)
        return;
    run_skip_ends_release(skip->ends, skip->state.jobs);
    free(skip->estimate);
    free(skip->set);
    stats_growth_release(&skip->growth);
    KER_FREE(skip->job, skip->known, skip->kinds, skip);
}

/* ---- looks ---- */

/* The engine asks before jobs are looked at. */
ker_time run_skip_interval(const struct run *run)
{
    const struct run_skip *skip = run->skip; /* a fork is looked at once */
    bool over = skip ? skip->state.over && !skip->changed : !ker_config_bool(run->config, "run.skip.enabled");
    return over ? 0 : run->interval;
}

/* The steps before a window that are skipped: none, where `to` is `from`. */
static struct task_gap gap_before(const struct run_skip_job *job, uint32_t window)
{
    uint32_t from = job->number[window];
    for (uint32_t w = 1; w < window; w++)
        from += job->skipped[w];
    return (struct task_gap){from, from + job->skipped[window]};
}

/* Collective: when the steps that are simulated begin over an ideal network, up to this one; NULL: nothing
 * was skipped, and the run is over. */
static int64_t *known_find(const struct run *run, struct ker_comm *comm, uint32_t i, uint32_t last)
{
    const struct run_skip *skip = run->skip;
    const struct run_skip_job *job = &skip->job[i];
    struct task_gap gap[RUN_WINDOWS];
    uint32_t gaps = 0;
    for (uint32_t w = 1; w < skip->state.windows; w++)
        if (job->skipped[w])
            gap[gaps++] = gap_before(job, w);
    return gaps || last < UINT32_MAX ? task_system_ideal(run->tasks, job->job, gap, gaps, last, comm) : NULL;
}

struct run_skip_ends run_skip_ends(const struct run *run, struct ker_comm *comm, uint32_t i, bool over)
{
    const struct run_skip_job *job = &run->skip->job[i];
    const struct task_steps *steps = task_system_steps(run->tasks, job->job);
    int64_t most = steps->ends;
    ker_comm_max_i64(comm, &most, 1);
    struct run_skip_ends ends = {.last = ker_alloc(((size_t)most + 1) * sizeof *ends.last)};
    uint64_t *ended = ker_alloc(((size_t)most + 1) * sizeof *ended);
    for (uint32_t n = 0; n < steps->ends; n++) {
        ends.last[n] = steps->end[n].last;
        ended[n] = steps->end[n].tasks;
    }
    ker_comm_max_i64(comm, ends.last, (size_t)most);
    ker_comm_sum_u64(comm, ended, (size_t)most);
    while (ends.count < most && ended[ends.count] == job->tasks)
        ends.count++;
    free(ended);
    if (run->skip->known[i])
        ends.known = known_find(run, comm, i, over ? UINT32_MAX : ends.count ? ends.count : 1);
    return ends;
}

void run_skip_ends_release(struct run_skip_ends *ends, uint32_t jobs)
{
    for (uint32_t i = 0; ends && i < jobs; i++) {
        free(ends[i].last);
        free(ends[i].known);
    }
    free(ends);
}

/* Collective, by job: have all tasks ended what is awaited? Malloc'ed. */
static bool *awaited_ended(struct run *run)
{
    struct run_skip *skip = run->skip;
    uint64_t *ended = ker_alloc(skip->state.jobs * sizeof *ended);
    bool *all = ker_alloc(skip->state.jobs * sizeof *all);
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        const struct task_steps *steps = task_system_steps(run->tasks, skip->job[i].job);
        uint32_t awaited = skip->job[i].awaited;
        ended[i] = awaited < steps->ends ? steps->end[awaited].tasks : 0;
    }
    ker_comm_sum_u64(run->working, ended, skip->state.jobs);
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        all[i] = ended[i] == skip->job[i].tasks;
    free(ended);
    return all;
}

/* Collective: the last step of each job that any of its tasks has begun. */
static void begun_find(struct run *run)
{
    struct run_skip *skip = run->skip;
    int64_t *begun = ker_alloc(skip->state.jobs * sizeof *begun);
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        begun[i] = task_system_steps(run->tasks, skip->job[i].job)->begun;
    ker_comm_max_i64(run->working, begun, skip->state.jobs);
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        skip->job[i].begun = (uint32_t)begun[i];
    free(begun);
}

/* The tasks of this rank have the gap before a window. */
static void gap_take(struct task_steps *steps, const struct run_skip_job *job, uint32_t window)
{
    struct task_gap gap = gap_before(job, window);
    if (gap.to > gap.from)
        task_steps_skip(steps, gap.from, gap.to);
}

/* A fork is a beginning like that of a job. Jobs that come with it have not begun; what it has that cannot be
 * skipped beside, was found before. */
static void fork_begin(struct run_skip *skip, const struct run_skip_state *made, uint32_t jobs)
{
    skip->state.jobs = made->jobs;
    for (uint32_t i = jobs; i < made->jobs; i++)
        skip->job[i].pending = true;
    skip->state.forked = true;
    skip->state.last = skip->state.over || made->over;
    skip->state.over = false;
    if (made->over)
        memcpy(skip->state.why, made->why, sizeof made->why);
}

void run_skip_state(struct run *run, struct ker_chunk *c)
{
    struct run_skip *skip = run->skip;
    const struct run_skip_state made = skip->state;
    uint32_t jobs = ker_chunk_u32(c, made.jobs); /* with a fork there may be more */
    c->bad |= jobs > made.jobs || (jobs < made.jobs && !skip->changed);
    if (c->bad)
        return;
    KER_CHUNK(c, skip->state);
    ker_chunk_bytes(c, skip->job, jobs * sizeof *skip->job);
    c->bad |=
        c->loads && (skip->state.windows == 0 || skip->state.windows > RUN_WINDOWS) && !skip->state.over;
    if (!c->loads || c->bad)
        return;
    if (skip->changed && skip->state.windows > 0)
        fork_begin(skip, &made, jobs);
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        const struct run_skip_job *job = &skip->job[i];
        struct task_steps *steps = task_system_steps(run->tasks, job->job);
        for (uint32_t w = 1; w < skip->state.windows && w < RUN_WINDOWS; w++)
            gap_take(steps, job, w);
    }
    task_system_earlier(run->tasks, skip->state.skipped);
    run_skip_end_warn(run);
}

/* Collective: one rank plans for all. */
static void plan(struct run *run, ker_time at, bool anew)
{
    struct run_skip *skip = run->skip;
    uint32_t jobs = skip->state.jobs;
    struct run_skip_ends *ends = ker_alloc(jobs * sizeof *ends);
    begun_find(run);
    for (uint32_t i = 0; i < jobs; i++)
        ends[i] = run_skip_ends(run, run->working, i, false);
    if (ker_comm_rank(run->working) == 0)
        run_skip_plan(skip, ends, at, anew);
    run_skip_ends_release(ends, jobs);
    ker_comm_broadcast(run->working, &skip->state, sizeof skip->state);
    ker_comm_broadcast(run->working, skip->job, jobs * sizeof *skip->job);
}

void run_skip_look(struct run *run, ker_time at)
{
    struct run_skip *skip = run->skip;
    if (skip->state.over)
        return;
    bool *ended = awaited_ended(run), forked = skip->state.forked;
    enum run_skip_due due = run_skip_due(skip, run, at, ended);
    free(ended);
    uint32_t windows = skip->state.windows;
    ker_time skipped = skip->state.skipped;
    if (due != RUN_SKIP_NOTHING)
        plan(run, at, due == RUN_SKIP_RENEW);
    if (forked && due == RUN_SKIP_RENEW) {
        skip->state.forked = false;
        skip->state.over |= skip->state.last;
    }
    for (uint32_t i = 0; i < skip->state.jobs && skip->state.windows > windows; i++)
        gap_take(task_system_steps(run->tasks, skip->job[i].job), &skip->job[i], windows);
    task_system_earlier(run->tasks, skip->state.skipped - skipped);
}
