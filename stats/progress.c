/* progress.c - one line on the terminal that says how far the run is.
 *
 * On a terminal the line is rewritten at most five times a second, by the wall clock; else a new one is
 * written every ten seconds. Between, a call costs one look at the clock. Speed is that of the last interval,
 * the time left is extrapolated from the whole run: simulated time per second changes less over a run than
 * from one fifth of a second to the next. A run that ends with its jobs is as far as their tasks are in their
 * steps or traces.
 */
#include "stats/progress.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define INTERVAL_S 0.2
#define LINES_S 10.0 /* where lines stay: in a log */

struct stats_progress {
    bool active, terminal, shown;
    ker_time end;
    double (*done)(const void *context);
    const void *context;
    double begun;           /* below 0: not yet looked at */
    double start_s, last_s; /* wall clock */
    uint64_t last_events;
};

struct stats_progress *stats_progress_new(bool quiet, ker_time end, double (*done)(const void *),
                                          const void *context)
{
    struct stats_progress *progress = ker_alloc(sizeof *progress);
    progress->active = !quiet;
    progress->terminal = isatty(STDERR_FILENO);
    progress->end = end;
    progress->done = done;
    progress->context = context;
    progress->begun = -1;
    progress->start_s = progress->last_s = ker_clock_s();
    return progress;
}

static void print_duration(char *buffer, size_t size, double seconds)
{
    long s = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000;
    if (s < 60)
        snprintf(buffer, size, "%ld s", s);
    else if (s < 3600)
        snprintf(buffer, size, "%ld min %ld s", s / 60, s % 60);
    else
        snprintf(buffer, size, "%ld h %ld min", s / 3600, s % 3600 / 60);
}

char *stats_progress_line(char *buffer, size_t size, const struct stats_pace *pace)
{
    char now[32], end[32], left[48];
    const char *unit = pace->events_per_s >= 1e6 ? "M" : "k";
    double rate = pace->events_per_s / (pace->events_per_s >= 1e6 ? 1e6 : 1e3);
    ker_print_time(now, pace->now);
    int used = snprintf(buffer, size, "  %s", now);
    used += snprintf(buffer + used, size - (size_t)used, pace->end < KER_TIME_MAX ? " of %s" : " simulated",
                     ker_print_time(end, pace->end));
    if (pace->done >= 0)
        used += snprintf(buffer + used, size - (size_t)used, "  %d %%", (int)(100 * pace->done));
    used += snprintf(buffer + used, size - (size_t)used, "  %.3g %s events/s", rate, unit);
    double since = pace->done - pace->begun;
    if (pace->done >= 0 && since > 0.01 && (size_t)used < size) { /* before that any estimate is a guess */
        print_duration(left, sizeof left, pace->elapsed_s * (1 - pace->done) / since);
        snprintf(buffer + used, size - (size_t)used, "  about %s left", left);
    }
    return buffer;
}

/* The run is over when the time is, or the jobs are done. */
static double share_done(const struct stats_progress *p, ker_time now)
{
    double time = p->end < KER_TIME_MAX && p->end > 0 ? (double)now / (double)p->end : -1;
    double work = p->done ? p->done(p->context) : -1;
    double most = time > work ? time : work;
    return most < 1 ? most : 1;
}

void stats_progress_show(struct stats_progress *progress, ker_time now, uint64_t events)
{
    if (!progress->active)
        return;
    if (progress->begun < 0)
        progress->begun = fmax(share_done(progress, now), 0);
    double wall_s = ker_clock_s(), step_s = wall_s - progress->last_s;
    if (step_s < (progress->terminal ? INTERVAL_S : LINES_S))
        return;
    struct stats_pace pace = {
        .now = now,
        .end = progress->end,
        .done = share_done(progress, now),
        .begun = progress->begun,
        .elapsed_s = wall_s - progress->start_s,
        .events_per_s = (double)(events - progress->last_events) / step_s,
    };
    char line[80];
    fprintf(stderr, progress->terminal ? "\r%s\033[K" : "marssim:%s\n",
            stats_progress_line(line, sizeof line, &pace) + (progress->terminal ? 0 : 1));
    fflush(stderr);
    progress->shown = progress->terminal;
    progress->last_s = wall_s;
    progress->last_events = events;
}

void stats_progress_free(struct stats_progress *progress)
{
    if (!progress)
        return;
    if (progress->shown)
        fputs("\r\033[K", stderr);
    free(progress);
}
