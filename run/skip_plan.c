/* skip_plan.c - which steps are simulated, and which are not.
 *
 * A phase has run.skip.windows windows. What counts in them (not the warm-up, found by MSER, and not the
 * first period behind a gap) is seen in pieces of equal length, a few periods of steps each; from how these
 * vary follows how many make the interval as narrow as is asked for, and each window has its share of them.
 * It is made longer as long as it has not. Behind it, what is left of the job that ends first, without the
 * windows to come, is skipped in equal parts, one before each. When most of the steps would have to be
 * simulated, none are skipped.
 *
 * Invariant: what jobs skip together takes them the same time, by their means, but for half a period of
 * steps.
 */
#include "run/skip.h"

#include "tasks/jobs/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PERIODS 2   /* in a piece */
#define LONG_RUN 400      /* a piece has one of this many of the job's periods */
#define LEAST_COUNTED 10  /* periods, in a phase */
#define MOST_SHARE 0.5    /* simulated: more is no gain */
#define TRIED_SHARE 0.15  /* before that is known */
#define SAME_TIME 0.05    /* pieces differ by no more: means vary from look to look */
#define LOOKS 3           /* before a set time: by then jobs may have been released */
#define RESONANCES 3      /* of steps of two jobs */
#define BEATS 3           /* that are seen, one in a window */
#define LEAST_TOGETHER 30 /* steps of the slower job */
#define MOST_TOGETHER 0.33
#define UNCOUNTED 1     /* periods behind a gap */
#define MOST_WINDOWS 16 /* of a job of whose steps something is known, if no more are asked for */
#define FAR 3           /* windows */
#define WARM_UP 2       /* room for it in the first window; more if it is longer */

/* May another phase come? */
static bool more_phases(const struct run_skip *skip)
{
    uint32_t run = 0, pending = 0;
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        run += run_skip_runs(&skip->job[i]);
        pending += skip->job[i].pending;
    }
    return run > 1 || pending || run_skip_bound(skip) < KER_TIME_MAX;
}

/* Nothing more is skipped in this phase. */
void run_skip_refuse(struct run_skip_state *state, const char *format, ...)
{
    KER_FORMATTED(state->why, format);
    state->over = true;
}

static const char *name_of(const struct run_skip *skip, const struct run_skip_job *job)
{
    return task_jobs_get(skip->jobs, job->job)->name;
}

static uint32_t periods_of(const struct run_skip_job *job)
{
    return job->steps / job->period;
}

/* In a piece of a job that is alone. */
static uint32_t piece_periods(const struct run_skip_job *job)
{
    uint32_t share = (periods_of(job) + LONG_RUN - 1) / LONG_RUN;
    return share > LEAST_PERIODS ? share : LEAST_PERIODS;
}

static uint32_t skipped_of(const struct run_skip *skip, const struct run_skip_job *job)
{
    uint32_t skipped = 0;
    for (uint32_t w = 0; w < skip->state.windows; w++)
        skipped += job->skipped[w];
    return skipped;
}

/* The number of the last step whose end is noted: that of the job's last but one. */
static uint32_t last_number(const struct run_skip *skip, const struct run_skip_job *job)
{
    return job->steps - skipped_of(skip, job) - 2;
}

static void await(const struct run_skip *skip, struct run_skip_job *job, uint64_t number)
{
    uint32_t last = last_number(skip, job);
    job->awaited = number < last ? (uint32_t)number : last;
}

/* A window that begins with these steps of the jobs, and has a piece at least. */
static void window_begin(struct run_skip *skip, uint32_t phase)
{
    uint32_t w = skip->state.windows++;
    bool first = w == 0 || skip->state.phase[w - 1] != phase;
    skip->state.phase[w] = phase;
    if (first)
        skip->state.spans = skip->windows;
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        struct run_skip_job *job = &skip->job[i];
        if (first)
            job->piece = piece_periods(job);
        if (run_skip_runs(job))
            await(skip, job,
                  job->number[w] + (uint64_t)job->period * (job->piece + (first ? WARM_UP : UNCOUNTED)));
    }
}

uint64_t run_skip_least(const struct run_skip *skip, const struct run_skip_job *job)
{
    uint64_t periods = skip->windows * (uint64_t)(piece_periods(job) + UNCOUNTED) + WARM_UP;
    return skip->first + periods * job->period;
}

void run_skip_begin(struct run_skip *skip)
{
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        const struct run_skip_job *job = &skip->job[i];
        skip->job[i].number[0] = job->pending ? 0 : skip->first;
        if ((double)run_skip_least(skip, job) <= MOST_SHARE * job->steps)
            continue;
        run_skip_refuse(&skip->state,
                        "job `%s` has only %u steps, in periods of %u: %u windows would be most of them",
                        name_of(skip, job), job->steps, job->period, skip->windows);
        skip->state.over = true;
    }
    if (!skip->state.over)
        window_begin(skip, 0);
}

/* ---- what was seen ---- */

/* Of the windows of the phase: from the first to one behind the last. */
static void phase_windows(const struct run_skip *skip, uint32_t phase, uint32_t *from, uint32_t *to)
{
    for (*from = 0; *from < skip->state.windows && skip->state.phase[*from] != phase;)
        (*from)++;
    for (*to = *from; *to < skip->state.windows && skip->state.phase[*to] == phase;)
        (*to)++;
}

/* Divides the values from `from` on into pieces of about this length. */
static void pieces_cut(struct stats_windows *seen, uint32_t from, uint32_t length)
{
    uint32_t count = seen->values - from, pieces = count / length ? count / length : 1;
    for (uint32_t p = 0; count && p < pieces; p++)
        seen->begin[seen->windows++] = from + (uint32_t)((uint64_t)count * p / pieces);
}

/* What these steps take over an ideal network, by their numbers, beyond the mean of all, in ps. */
static double known_of(const struct run_skip *skip, uint32_t i, const struct run_skip_ends *ends,
                       uint32_t from, uint32_t to)
{
    const struct task_steps *steps = skip->known[i];
    return steps ? (double)(ends->known[to] - ends->known[from]) - task_steps_mean(steps) * (to - from) : 0;
}

struct stats_windows run_skip_seen(const struct run_skip *skip, uint32_t i, uint32_t phase, uint32_t piece,
                                   const struct run_skip_ends *ends, struct run_skip_means *means)
{
    const struct run_skip_job *job = &skip->job[i];
    uint32_t from, to, period = job->period, most = ends->count / period + 1, skipped = 0;
    phase_windows(skip, phase, &from, &to);
    struct stats_windows seen = {.begin = ker_alloc((most + 1ull) * sizeof *seen.begin),
                                 .value = ker_alloc(most * sizeof *seen.value)};
    uint8_t *kind = ker_alloc(most * sizeof *kind);
    for (uint32_t w = 0; w < to; w++) {
        skipped += job->skipped[w];
        uint32_t end = w + 1 < skip->state.windows ? job->number[w + 1] : ends->count, first = seen.values,
                 at = job->number[w] + (w > from ? UNCOUNTED * period : 0);
        for (; w >= from && at + period < end && at + period < ends->count; at += period) {
            double time = (double)(ends->last[at + period] - ends->last[at]);
            kind[seen.values] =
                skip->kinds[i].kinds ? (uint8_t)run_skip_kind(&skip->kinds[i], at + 1 + skipped) : 0;
            seen.value[seen.values++] = time - known_of(skip, i, ends, at + 1, at + period + 1);
        }
        uint32_t warm = w == from ? stats_mser(seen.value, seen.values) : 0;
        seen.values -= warm;
        memmove(seen.value + first, seen.value + first + warm, (seen.values - first) * sizeof *seen.value);
        memmove(kind + first, kind + first + warm, (seen.values - first) * sizeof *kind);
        if (w >= from)
            pieces_cut(&seen, first, piece);
    }
    seen.begin[seen.windows] = seen.values;
    if (skip->kinds[i].kinds)
        run_skip_kinds_take(&skip->kinds[i], skip->level, &seen, kind, means);
    free(kind);
    return seen;
}

void run_skip_seen_release(struct stats_windows *seen)
{
    free(seen->begin);
    free(seen->value);
}

/* ---- the plan ---- */

/* What one job says. */
struct view {
    struct stats_steady steady;
    struct run_skip_means means;
    uint32_t before, now; /* periods that count: in windows before, in the last one */
    uint32_t wanted;      /* in the last one, for its share of what is needed */
    uint32_t ended;       /* steps */
    double share;         /* that is simulated */
    double left;          /* ps: what is to come, by the mean */
};

/* Pieces that make the interval narrow enough, in this many windows. Those of a trace count by their own
 * means, too, however wide an interval these make. */
static uint32_t pieces_needed(const struct run_skip *skip, uint32_t i, const struct view *v, uint32_t windows)
{
    const struct run_skip_job *job = &skip->job[i];
    uint32_t n = windows, most = periods_of(job) / job->piece;
    for (; n < most; n++) {
        double half = stats_student(skip->level, (skip->known[i] ? windows : n) - 1) * v->steady.sigma /
                      sqrt((double)n * job->piece);
        if (n * job->piece >= LEAST_COUNTED && half * sqrt(1 - v->share) <= skip->precision * v->steady.mean)
            break;
    }
    return n;
}

double run_skip_apart(const struct run_skip *skip, uint32_t i, uint32_t phase,
                      const struct run_skip_ends *ends, uint32_t *windows)
{
    struct run_skip_means means;
    struct stats_windows whole = run_skip_seen(skip, i, phase, UINT32_MAX, ends, &means);
    double half = stats_steady(&whole, skip->level).apart;
    *windows = whole.windows;
    run_skip_seen_release(&whole);
    return half;
}

/* Of a trace whose batches depend on each other: by its windows, which are far apart. */
static double sigma_apart(const struct run_skip *skip, uint32_t i, uint32_t phase,
                          const struct run_skip_ends *ends, double values)
{
    uint32_t windows;
    double half = run_skip_apart(skip, i, phase, ends, &windows);
    return half / stats_student(skip->level, windows - 1) * sqrt(values);
}

/* span: that counts at least, in ps. */
static struct view view_of(const struct run_skip *skip, uint32_t i, uint32_t phase, double span,
                           const struct run_skip_ends *ends)
{
    const struct run_skip_job *job = &skip->job[i];
    uint32_t from, to;
    phase_windows(skip, phase, &from, &to);
    struct view v = {.ended = ends->count};
    struct stats_windows seen = run_skip_seen(skip, i, phase, job->piece, ends, &v.means);
    v.steady = stats_steady(&seen, skip->level);
    if (skip->known[i] && !v.steady.batches && to - from > 2)
        v.steady.sigma = sigma_apart(skip, i, phase, ends, seen.values);
    v.now = (ends->count - job->number[to - 1]) / job->period;
    v.now = v.now < seen.values ? v.now : seen.values;
    v.before = seen.values - v.now;
    v.share = (double)ends->count / job->steps;
    v.left = (job->steps - 1.0 - job->begun) / job->period * v.steady.mean;
    uint32_t needed = pieces_needed(skip, i, &v, skip->state.spans) * job->piece,
             come = skip->state.spans - (to - from) + 1;
    double together = ceil(span / v.steady.mean);
    needed = together > needed ? (uint32_t)fmin(together, periods_of(job)) : needed;
    v.wanted = v.before < needed ? (needed - v.before + come - 1) / come : 0;
    v.wanted = v.wanted > job->piece ? v.wanted : job->piece;
    bool long_enough = skip->known[i] && to - from > 1; /* the windows' means have their own interval */
    if (v.steady.trend && seen.values >= LEAST_COUNTED && v.wanted <= v.now && !long_enough)
        v.wanted = v.now + job->piece;
    run_skip_seen_release(&seen);
    return v;
}

/* Jobs that have ended their steps are left alone, and a phase begins for the others, or because all begins
 * `anew`; false: neither. */
static bool phase_begin(struct run_skip *skip, const struct run_skip_ends *ends, bool anew)
{
    bool any = false;
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        struct run_skip_job *job = &skip->job[i];
        bool ends_now = run_skip_runs(job) && ends[i].count > last_number(skip, job);
        job->ended |= ends_now;
        anew |= ends_now;
        any |= run_skip_runs(job);
    }
    if (!anew)
        return false;
    if (skip->state.windows == RUN_WINDOWS || (!any && !more_phases(skip))) {
        skip->state.over = true;
        return true;
    }
    for (uint32_t i = 0; i < skip->state.jobs && any; i++)
        skip->job[i].number[skip->state.windows] = ends[i].count;
    if (any)
        window_begin(skip, skip->state.phase[skip->state.windows - 1] + 1);
    return true;
}

/* The window goes on for half as many periods again, at most; false: all of the rest is simulated. */
static bool extend(struct run_skip *skip, const struct view *views, uint32_t windows)
{
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        struct run_skip_job *job = &skip->job[i];
        const struct view *v = &views[i];
        if (!run_skip_runs(job) || v->wanted <= v->now)
            continue;
        double all = v->before + (double)v->wanted * (skip->state.spans - windows + 1);
        if (v->share > TRIED_SHARE && all > MOST_SHARE * periods_of(job)) {
            run_skip_refuse(
                &skip->state,
                "%.0f of %u steps of job `%s` would have to be simulated, in pieces of %u, which vary by "
                "%.2g %%%s",
                fmin(all * job->period, job->steps), job->steps, name_of(skip, job), job->piece * job->period,
                100 * v->steady.sigma / sqrt(job->piece) / v->steady.mean,
                v->steady.trend ? " and have a trend" : "");
            return false;
        }
        uint32_t more = v->wanted - v->now, most = v->now / 2 + 1;
        await(skip, job, v->ended + (uint64_t)job->period * (more < most ? more : most));
    }
    return true;
}

/* Skips this time, in whole periods of each job; false: it is less than two of one. */
static bool gap_make(struct run_skip *skip, const struct view *views, double time)
{
    uint32_t w = skip->state.windows, running = 0;
    double skipped = 0;
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        if (run_skip_runs(&skip->job[i]) && time < 2 * views[i].steady.mean)
            return false;
        running += run_skip_runs(&skip->job[i]);
    }
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        struct run_skip_job *job = &skip->job[i];
        uint32_t periods = run_skip_runs(job) ? (uint32_t)(time / views[i].steady.mean) : 0;
        if (running == 1 && periods > 2) /* or jobs would skip different times */
            periods -= run_skip_kinds_align(&skip->kinds[i], &views[i].means,
                                            job->begun + periods + UNCOUNTED + 2, periods - 2);
        job->number[w] = job->pending ? 0 : job->begun + 1 - skipped_of(skip, job);
        job->skipped[w] = periods * job->period;
        skipped = fmax(skipped, periods * views[i].steady.mean);
    }
    skip->state.skipped += skip->state.gap[w] = (ker_time)round(skipped);
    window_begin(skip, skip->state.phase[w - 1]);
    return true;
}

/* Of the job that ends first, whose end begins a phase; of the others nothing is awaited. */
static void await_end(struct run_skip *skip, const struct view *views)
{
    struct run_skip_job *first = NULL;
    double left = INFINITY;
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        struct run_skip_job *job = &skip->job[i];
        if (!run_skip_runs(job))
            continue;
        job->awaited = 0;
        if (views[i].left < left) {
            left = views[i].left;
            first = job;
        }
    }
    skip->state.over = !more_phases(skip);
    if (first)
        await(skip, first, UINT32_MAX);
}

/* All windows have what they need so far. */
static void go_on(struct run_skip *skip, const struct view *views, uint32_t windows, ker_time at)
{
    double left = INFINITY, length = 0;
    if (run_skip_bound(skip) < KER_TIME_MAX)
        left = (double)(run_skip_bound(skip) - at - skip->state.skipped - LOOKS * skip->interval);
    bool kinds = false;
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        const struct view *v = &views[i];
        if (!run_skip_runs(&skip->job[i]))
            continue;
        left = fmin(left, v->left);
        length = fmax(length, (v->wanted + UNCOUNTED + 1) * v->steady.mean);
        kinds |= skip->kinds[i].kinds > 0;
    }
    /* the last one began where a kind came, which may be far from the end */
    skip->state.spans += windows == skip->state.spans && kinds && left > FAR * length;
    uint32_t come = skip->state.spans - windows;
    if (come == 0 || skip->state.windows == RUN_WINDOWS || !gap_make(skip, views, left / come - length))
        await_end(skip, views);
}

/* How long until two jobs with steps of these times have been in all phases to each other: n steps of one and
 * m of the other, m = 1, 2, 3, differ by a little, and by that the phase advances. */
static double beat_of(double a, double b)
{
    double quick = fmin(a, b), slow = fmax(a, b), longest = 0;
    for (int m = 1; m <= RESONANCES; m++) {
        double slip = fabs(round(m * slow / quick) * quick - m * slow);
        longest = fmax(longest, quick * slow / fmax(slip, 1));
    }
    return longest;
}

/* Jobs that run at once: for how long they have to be seen; and the two that need it. 0: one is alone. */
static double together_span(const struct run_skip *skip, const struct view *views, uint32_t pair[2])
{
    double span = 0;
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        for (uint32_t j = i + 1; j < skip->state.jobs; j++) {
            if (!run_skip_runs(&skip->job[i]) || !run_skip_runs(&skip->job[j]))
                continue;
            double a = views[i].steady.mean, b = views[j].steady.mean,
                   time = fmax(BEATS * beat_of(a, b), LEAST_TOGETHER * fmax(a, b));
            if (time <= span)
                continue;
            span = time;
            pair[0] = i;
            pair[1] = j;
        }
    return span;
}

/* Pieces are as long for all jobs, in time, and not shorter than what comes again and again beside their
 * steps: in a part of a beat the means are those of a phase of one job to the other. */
static void pieces_fit(struct run_skip *skip, const struct view *views)
{
    uint32_t pair[2];
    double time = fmax((double)skip->recurs, together_span(skip, views, pair) / BEATS), shorter = INFINITY;
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        if (run_skip_runs(&skip->job[i])) {
            time = fmax(time, piece_periods(&skip->job[i]) * views[i].steady.mean);
            shorter = fmin(shorter, periods_of(&skip->job[i]) * views[i].steady.mean);
        }
    time = fmax((double)skip->recurs, fmin(time, MOST_TOGETHER / BEATS * shorter));
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        struct run_skip_job *job = &skip->job[i];
        double piece = fmin(ceil(time / views[i].steady.mean * (1 - SAME_TIME)), periods_of(job));
        if (!run_skip_runs(job) || piece == job->piece)
            continue;
        job->piece = (uint32_t)fmax(piece, LEAST_PERIODS);
    }
}

/* Is it too long for these jobs? */
static bool together_refused(struct run_skip *skip, const struct view *views, double span,
                             const uint32_t pair[2])
{
    char a[32], b[32], c[32];
    const struct run_skip_job *first = &skip->job[pair[0]], *second = &skip->job[pair[1]];
    double x = views[pair[0]].steady.mean, y = views[pair[1]].steady.mean;
    bool tried = views[pair[0]].share > TRIED_SHARE && views[pair[1]].share > TRIED_SHARE;
    if (span == 0 || !tried || span <= MOST_TOGETHER * fmin(periods_of(first) * x, periods_of(second) * y))
        return false;
    run_skip_refuse(
        &skip->state,
        "jobs `%s` and `%s` are not steady together: one beat of their steps of %s and %s takes %s",
        name_of(skip, first), name_of(skip, second), ker_print_time(a, (ker_time)x),
        ker_print_time(b, (ker_time)y), ker_print_time(c, (ker_time)fmin(beat_of(x, y), 1e18)));
    return true;
}

/* How many windows there are to be, for the fewest steps: more of them make the interval of their means
 * narrower, and each has steps that do not count. begun: those that there are; the last one is the last. */
static void spans_choose(struct run_skip *skip, const struct view *views, uint32_t begun)
{
    uint32_t from = begun < skip->windows ? skip->windows : begun + 1;
    double least = INFINITY;
    for (uint32_t windows = from; begun < skip->state.spans && (windows <= MOST_WINDOWS || windows == from);
         windows++) {
        double cost = 0;
        for (uint32_t i = 0; i < skip->state.jobs; i++)
            if (run_skip_runs(&skip->job[i]))
                cost += pieces_needed(skip, i, &views[i], windows) * skip->job[i].piece + windows * UNCOUNTED;
        if (cost < least)
            skip->state.spans = windows;
        least = fmin(least, cost);
    }
}

static void views_make(struct run_skip *skip, uint32_t phase, double span, const struct run_skip_ends *ends,
                       struct view *views)
{
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        if (run_skip_runs(&skip->job[i]))
            views[i] = view_of(skip, i, phase, span, &ends[i]);
}

void run_skip_plan(struct run_skip *skip, const struct run_skip_ends *ends, ker_time at, bool anew)
{
    if (phase_begin(skip, ends, anew))
        return;
    uint32_t phase = skip->state.phase[skip->state.windows - 1], from, to;
    phase_windows(skip, phase, &from, &to);
    struct view *views = ker_alloc((skip->state.jobs + 1ull) * sizeof *views);
    bool more = false;
    uint32_t pair[2] = {0};
    views_make(skip, phase, 0, ends, views);
    pieces_fit(skip, views);
    double span = together_span(skip, views, pair);
    spans_choose(skip, views, to - from);
    views_make(skip, phase, span, ends, views);
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        more |= run_skip_runs(&skip->job[i]) && views[i].now < views[i].wanted;
    more &= to - from < skip->state.spans;
    if (together_refused(skip, views, span, pair) || (more && !extend(skip, views, to - from)))
        await_end(skip, views);
    else if (!more)
        go_on(skip, views, to - from, at);
    free(views);
}
