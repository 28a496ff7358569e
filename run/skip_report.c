/* skip_report.c - what skipping has come to: `skip` of summary.json, steps.csv.
 *
 * A job's time is what was simulated of it, and for each step that was skipped the mean of those that count.
 */
#include "run/skip.h"

#include "tasks/jobs/jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t job, number, step, window;
    int64_t end;
};

static uint64_t row_key(const void *row_)
{
    const struct row *row = row_;
    return (uint64_t)row->job << 32 | row->number;
}

/* clang-format off */
#define COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = task_jobs_text) \
    COLUMN(step, "", U32, SAME, row->step, "which one of the job's, from 0 on") \
    COLUMN(window, "", U32, SAME, row->window, "the span of simulated steps that it is of, from 0 on") \
    COLUMN(end_ps, "ps", TIME, SAME, row->end, "simulated time when the last task had ended it")
STATS_SCHEMA(run_steps_schema, struct row, COLUMNS, row_key, "steps",
             "One row per step that was simulated (run.skip.enabled), of jobs that may skip some.")
/* clang-format on */

static void steps_add(struct stats_table *table, const struct run_skip *skip, uint32_t i,
                      const struct run_skip_ends *ends)
{
    const struct run_skip_job *job = &skip->job[i];
    struct row row = {.job = job->job};
    for (uint32_t n = 0, skipped = 0; n < ends->count; n++) {
        while (row.window + 1 < skip->state.windows && n >= job->number[row.window + 1])
            skipped += job->skipped[++row.window];
        row.number = n;
        row.step = n + skipped;
        row.end = ends->last[n];
        stats_table_add(table, &row);
    }
}

/* ---- the estimate ---- */

#define MANY_WINDOWS 5  /* whose means say enough alone */
#define LEAST_KNOWN 0.2 /* of what was asked for: half of an interval of a trace, at least */

/* Half of the interval of the mean of periods that were skipped, so many times. It is not narrower than what
 * was asked for: windows that have ended when they varied little are too sure of it (Chow & Robbins, "On the
 * asymptotic theory of fixed-width sequential confidence intervals for the mean", Annals of Mathematical
 * Statistics 36, 1965). */
static double half_of(const struct run_skip *skip, uint32_t i, uint32_t phase,
                      const struct stats_steady *steady, double times, double values)
{
    /* the mean is not known better than that, and what was skipped varies about it, too */
    double asked = skip->precision * fabs(steady->mean), more = sqrt(1 + values / times),
           half = steady->half * (steady->batches ? more : 1);
    if (!skip->known[i])
        return fmax(half, asked);
    /* What a traced machine was besides changes slowly, and much, and is alike in all of a window, so that
     * the windows' own means count; and where they agree in the rest of what is known, tasks may still wait
     * for others elsewhere than they did there. */
    uint32_t windows;
    double apart = run_skip_apart(skip, i, phase, &skip->ends[i], &windows) * more;
    bool alone = !steady->batches && windows >= MANY_WINDOWS;
    return fmax(fmax(alone ? 0 : half, apart), LEAST_KNOWN * asked);
}

/* By how much longer than as many mean steps those take over an ideal network that these windows have
 * skipped: by all steps there, and by those that were simulated, which are not as far apart behind a gap. */
static double known_skipped(const struct run_skip *skip, uint32_t i, uint32_t from, uint32_t to)
{
    const struct run_skip_job *job = &skip->job[i];
    const struct task_steps *steps = skip->known[i];
    const struct run_skip_ends *ends = &skip->ends[i];
    uint32_t before = 0, skipped = 0, first = job->number[from];
    if (!steps)
        return 0;
    for (uint32_t w = 0; w < to; w++) {
        before += w < from ? run_skip_before(skip, i, w) : 0;
        skipped += run_skip_before(skip, i, w);
    }
    uint32_t last = to < skip->state.windows ? job->number[to] : UINT32_MAX;
    if (last > ends->count) /* the end of the last step is not noted */
        last = ends->count + (ends->count + skipped + 1 == job->steps);
    int64_t all = steps->known[last + skipped] - steps->known[first + before];
    return (double)(all - (ends->known[last] - ends->known[first])) -
           task_steps_mean(steps) * (skipped - before);
}

/* Adds what a job has skipped in these windows, which are of one phase. */
static void phase_add(const struct run_skip *skip, uint32_t i, uint32_t from, uint32_t to, uint32_t skipped,
                      struct run_skip_estimate *e)
{
    const struct run_skip_job *job = &skip->job[i];
    struct run_skip_means means;
    struct stats_windows seen =
        run_skip_seen(skip, i, skip->state.phase[from], job->piece, &skip->ends[i], &means);
    double times = (double)skipped / job->period, values = seen.values;
    e->steady = stats_steady(&seen, skip->level);
    run_skip_seen_release(&seen);
    e->time += e->steady.mean * times + known_skipped(skip, i, from, to) +
               run_skip_kinds_add(skip, i, from, to, times, values, &means, &e->half);
    e->half += half_of(skip, i, skip->state.phase[from], &e->steady, times, values) * times;
}

/* A job that had not begun is later by what the others have skipped: by the first of them. */
static void waited_add(const struct run_skip *skip, uint32_t i, uint32_t from, uint32_t to,
                       struct run_skip_estimate *e)
{
    for (uint32_t other = 0; other < skip->state.jobs && skip->job[i].number[to - 1] == 0 && to > 1;
         other++) {
        struct run_skip_estimate its = {0};
        uint32_t skipped = 0;
        for (uint32_t w = from; w < to; w++)
            skipped += run_skip_before(skip, other, w);
        if (!skipped)
            continue;
        phase_add(skip, other, from, to, skipped, &its);
        e->time += its.time;
        e->half += its.half;
        return;
    }
}

static struct run_skip_estimate estimate_of(const struct run_skip *skip, uint32_t i)
{
    const struct run_skip_job *job = &skip->job[i];
    struct run_skip_estimate e = {.simulated = skip->ends[i].count};
    uint32_t before = 0; /* skipped steps */
    for (uint32_t w = 0; w < skip->state.windows;) {
        uint32_t phase = skip->state.phase[w], from = w, skipped = 0;
        for (; w < skip->state.windows && skip->state.phase[w] == phase; w++)
            skipped += run_skip_before(skip, i, w);
        before += skipped;
        if (!skipped) {
            waited_add(skip, i, from, w, &e);
            continue;
        }
        phase_add(skip, i, from, w, skipped, &e);
        e.windows += w - from;
    }
    e.simulated += e.simulated + before + 1 == job->steps; /* the end of the last step is not noted */
    e.steps = e.simulated + before;
    return e;
}

/* Where the simulated clock stands still: series and timelines have nothing of these steps. */
static json_t *gaps_json(const struct run_skip *skip, uint32_t i, const struct run_skip_ends *ends)
{
    const struct run_skip_job *job = &skip->job[i];
    json_t *gaps = json_array();
    uint32_t before = 0;
    for (uint32_t w = 1; w < skip->state.windows; w++) {
        uint32_t number = job->number[w], gap = run_skip_before(skip, i, w);
        if (gap)
            json_array_append_new(gaps, json_pack("{s:I, s:I, s:I}", "simulated_ps",
                                                  (json_int_t)ends->last[number - 1], "step",
                                                  (json_int_t)number + before, "steps", (json_int_t)gap));
        before += gap;
    }
    return gaps;
}

/* Of a job of which steps were skipped, and its entry in "jobs", whose time is the estimated one. */
static json_t *estimate_json(const struct run_skip *skip, uint32_t i, const struct run_skip_estimate *e,
                             const struct run_skip_ends *ends, const json_t *job)
{
    const json_t *finish = json_object_get(job, "finish_ps");
    double time = json_number_value(finish);
    json_t *o =
        json_pack("{s:f, s:I, s:I, s:f, s:I, s:I, s:I, s:f, s:b}", "level", skip->level, "steps",
                  (json_int_t)skip->job[i].steps, "simulated_steps", (json_int_t)e->simulated, "step_ps",
                  e->steady.mean / skip->job[i].period, "windows", (json_int_t)e->windows, "batch",
                  (json_int_t)e->steady.batch * skip->job[i].period, "batches", (json_int_t)e->steady.batches,
                  "correlation", e->steady.correlation, "trend", e->steady.trend);
    if (json_is_integer(finish)) {
        json_object_set_new(o, "simulated_finish_ps", json_integer((json_int_t)(time - round(e->time))));
        json_object_set_new(o, "low_ps", json_integer((json_int_t)(time - e->half)));
        json_object_set_new(o, "high_ps", json_integer((json_int_t)(time + e->half)));
    }
    json_object_set_new(o, "gaps", gaps_json(skip, i, ends));
    return o;
}

/* What is known of all jobs: the run has ended with the last of them. */
struct whole {
    double finish, low, high;
    uint64_t steps, simulated; /* weighted by tasks */
};

static void whole_add(struct whole *all, const struct run_skip_job *job, const struct run_skip_estimate *e,
                      const json_t *entry, ker_time at)
{
    const json_t *end = json_object_get(entry, "finish_ps");
    double finish = json_is_integer(end) ? json_number_value(end) : (double)at + e->time;
    all->high = fmax(all->high, finish + e->half);
    all->low = fmax(all->low, finish - e->half);
    all->finish = fmax(all->finish, finish);
    all->steps += (uint64_t)e->steps * job->tasks;
    all->simulated += (uint64_t)e->simulated * job->tasks;
}

static json_t *whole_json(const struct run_skip *skip, const struct whole *all)
{
    bool skipped = all->simulated < all->steps;
    json_t *o = json_pack("{s:b, s:f}", "skipped", skipped, "share_simulated",
                          all->steps ? (double)all->simulated / (double)all->steps : 1);
    if (skipped)
        json_object_update_new(o, json_pack("{s:I, s:I, s:I, s:f, s:f, s:i, s:s}", "time_ps",
                                            (json_int_t)all->finish, "low_ps", (json_int_t)all->low,
                                            "high_ps", (json_int_t)all->high, "level", skip->level,
                                            "precision", skip->precision, "windows", (int)skip->state.windows,
                                            "sums", "estimated"));
    const char *why = *skip->state.why ? skip->state.why : skipped ? NULL : "the jobs ended first";
    if (why)
        json_object_set_new(o, "reason", json_string(why));
    return o;
}

void run_skip_measure(struct run *run)
{
    struct run_skip *skip = run->skip;
    if (!skip || !skip->state.jobs)
        return;
    uint32_t jobs = task_system_jobs(run->tasks);
    ker_comm_broadcast(run->comm, &skip->state, sizeof skip->state); /* to ranks that have slept */
    ker_comm_broadcast(run->comm, skip->job, skip->state.jobs * sizeof *skip->job);
    skip->growth = (struct stats_growth){.job = ker_alloc(jobs * sizeof *skip->growth.job), .jobs = jobs};
    for (uint32_t i = 0; i < jobs; i++)
        skip->growth.job[i] = (struct stats_part){1, 1, 0};
    skip->ends = ker_alloc(skip->state.jobs * sizeof *skip->ends);
    skip->estimate = ker_alloc(skip->state.jobs * sizeof *skip->estimate);
    for (uint32_t i = 0; i < skip->state.jobs; i++)
        skip->ends[i] = run_skip_ends(run, run->comm, i, true);
    for (uint32_t i = 0; i < skip->state.jobs; i++) {
        const struct run_skip_job *job = &skip->job[i];
        skip->estimate[i] = estimate_of(skip, i);
        const struct run_skip_estimate *e = &skip->estimate[i];
        uint32_t begun = e->steps < job->steps; /* half a step, when the run ends before the job */
        if (e->simulated)
            skip->growth.job[job->job] = (struct stats_part){
                2ull * e->steps + begun, 2ull * e->simulated + begun, (uint64_t)round(e->time)};
        if (e->simulated < e->steps)
            run->folder.growth = &skip->growth;
    }
    skip->growth.whole = skip->growth.job[0]; /* until it is known; tables of one job do not name it */
}

static uint64_t integer_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* Other traffic grows by the time that it has. */
static void traffic_add(struct run *run, ker_time at, uint64_t carried, struct stats_part *sent)
{
    ker_time begin = ker_config_time(run->config, "traffic.start");
    bool stops = ker_config_has(run->config, "traffic.stop"); /* nothing was skipped before it */
    uint64_t traffic = carried > sent->seen ? carried - sent->seen : 0, seen = (uint64_t)(at - begin);
    struct stats_part part = {seen + (stops ? 0 : run->folder.growth->later), seen, 0};
    sent->all += (uint64_t)stats_grown(traffic, &part);
    sent->seen += traffic;
}

/* What is of no job grows as what jobs and other traffic have sent does. */
void run_skip_whole(struct run *run, ker_time at, const json_t *jobs, const json_t *result)
{
    struct stats_growth *g = run->folder.growth;
    struct stats_part sent = {0};
    for (uint32_t i = 0; g && i < g->jobs; i++) {
        const json_t *job = json_array_get(jobs, i);
        const struct stats_part *part = &g->job[i], back = {part->seen, part->all, 0};
        uint64_t all = integer_of(job, "bytes") + integer_of(job, "messages"),
                 finish = integer_of(job, "finish_ps"); /* 0: it has no end */
        sent.all += all;
        sent.seen += (uint64_t)stats_grown(all, &back);
        finish = finish ? finish : (uint64_t)at + part->later;
        if (finish > (uint64_t)at + g->later)
            g->later = finish - (uint64_t)at;
    }
    if (!g)
        return;
    if (task_system_load(run->tasks) > 0)
        traffic_add(run, at, integer_of(result, "bytes_injected") + integer_of(result, "messages_delivered"),
                    &sent);
    g->whole = sent.seen ? sent : (struct stats_part){(uint64_t)at + g->later, (uint64_t)at, 0};
}

/* Sums of what the network has carried, of calls on files, of memory. */
void run_skip_sums(const struct stats_part *part, json_t *of)
{
    static const char *const sums[] = {/* clang-format off */
        "packets_injected", "packets_delivered", "bytes_injected", "bytes_delivered", "messages_delivered",
        "count", "marked_packets", "notices_sent", "notices_received", "out_of_order_packets", "no_way",
        "dead_switch", "not_sent", "lost_head_life", "lost_packet_life", "messages_held", "minimal",
        "detour", "calls", "time_ps", "span_ps", "bytes"}; /* clang-format on */
    const char *key;
    json_t *value;
    json_object_foreach(of, key, value)
    {
        bool sum = false;
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
            sum |= strcmp(key, sums[i]) == 0;
        if (json_is_object(value))
            run_skip_sums(part, value);
        else if (sum && json_is_integer(value))
            json_integer_set(value, (json_int_t)stats_grown((stats_cell)json_integer_value(value), part));
    }
}

json_t *run_skip_report(struct run *run, json_t *jobs)
{
    const struct run_skip *skip = run->skip;
    if (!skip)
        return NULL;
    struct whole all = {0};
    struct stats_table *table = stats_table_new(&run_steps_schema, skip->jobs, 0);
    for (uint32_t i = 0; i < skip->state.jobs && run->control; i++) {
        const struct run_skip_estimate *e = &skip->estimate[i];
        json_t *job = json_array_get(jobs, skip->job[i].job);
        steps_add(table, skip, i, &skip->ends[i]);
        if (job && e->time > 0) {
            json_object_set_new(job, "estimated", estimate_json(skip, i, e, &skip->ends[i], job));
            run_skip_sums(&skip->growth.job[skip->job[i].job], json_object_get(job, "io"));
        }
        if (job)
            whole_add(&all, &skip->job[i], e, job, run->ended_at);
    }
    if (run->control && skip->state.jobs)
        stats_table_write(table, &run->folder, &run->error);
    stats_table_free(table);
    return run->control ? whole_json(skip, &all) : NULL;
}

void run_skip_print(const struct run *run)
{
    const struct run_skip *skip = run->skip;
    if (skip && skip->state.over)
        stats_wrapped_write(stdout, "skip", 11, skip->state.why);
    for (uint32_t i = 0; skip && !skip->state.over && i < skip->state.jobs; i++) {
        const struct run_skip_job *job = &skip->job[i];
        uint64_t least = run_skip_least(skip, job);
        const char *by = task_system_steps(run->tasks, job->job)->by;
        char *text = ker_format(
            "of %u steps of job `%s`%s%s at least %llu are simulated (%.2g %%); more, where they vary",
            job->steps, task_jobs_get(skip->jobs, job->job)->name, by ? ", known by " : "", by ? by : "",
            (unsigned long long)least, 100.0 * (double)least / job->steps);
        stats_wrapped_write(stdout, i ? "" : "skip", 11, text);
        free(text);
    }
}
