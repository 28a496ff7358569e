/* run.h - of random systems: how the run ends, and what it writes. */
#pragma once

#include "tests/random_system/traffic.h"

enum random_end { END_TIME, END_MEASURE, END_PACKETS, END_CONFIDENCE, END_ITSELF };

static void end_confidence(struct random_system *r, double ns, double unit)
{
    put_real(r, "confidence", 0.2, 0.2, 0.001, 1);
    put_real(r, "confidence_level", 0.95, 0.95, 0.5, 0.9999);
    put_ps(r, "batch", 3 * unit);
    put_ps(r, "end", 1500 * ns);
}

/* What ends a run with traffic in time; without any it is over when the jobs are. */
static void random_end(struct random_system *r, enum random_end end, double unit, bool traffic)
{
    double ns = random_span(r);
    random_key(r, "length");
    if (end == END_TIME)
        put_ps(r, "end", r->extreme ? (double)spread(r, 101 * ns, 3000 * ns) : 1000 * ns);
    else if (end == END_PACKETS)
        put_ps(r, "end", 4000 * ns);
    else if (end == END_CONFIDENCE)
        end_confidence(r, ns, unit);
    else if (end == END_MEASURE || !r->jobs)
        put_ps(r, "measure", (end == END_MEASURE ? 700 : 1000) * ns);
    else if (traffic) /* jobs may take very long beside it */
        put_ps(r, "end", 20000 * ns);
    if (end == END_MEASURE)
        put_flag(r, "drain", 60);
    if (end == END_PACKETS)
        put_whole(r, "packets", RANDOM_PACKETS / 2, RANDOM_PACKETS / 2, 1, RANDOM_PACKETS);
}

/* What is collected: each kind for itself, in periods where there are any. */
static void random_series(struct random_system *r, bool periods)
{
    static const char *const kinds[] = {"links",         "switches", "adapters", "channels",  "latency",
                                        "matrix",        "jobs",     "tasks",    "traffic",   "functions",
                                        "communicators", "cores",    "storage",  "congestion"};
    bool calls = !r->calls_off;
    fprintf(r->out, "    series: {\n");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bool total = i<5, of_jobs = i> 5 && i < 13, of_calls = i == 9 || i == 10;
        bool some = random_flag(r, kinds[i], r->all || i == 13 ? 90 : 50);
        if (!some || (!periods && !total) || (r->whole && (i <= 5 || i == 13)) || (of_jobs && !r->jobs) ||
            (of_calls && !calls) || (i == 12 && !r->storage) || (i == 13 && !r->a10))
            continue;
        fprintf(r->out, "        %s = \"%s\";\n", kinds[i],
                periods && (!total || chance(r, 70)) ? "periods" : "total");
    }
    fprintf(r->out, "    };\n");
}

static void random_timeline(struct random_system *r, double unit)
{
    static const char *const formats[] = {"perfetto", "paraver"};
    random_key(r, "timeline");
    uint32_t first = draw(r, 2), count = 1 + draw(r, 2);
    fprintf(r->out, "    timeline = [\"%s\"%s%s%s];\n", formats[first], count > 1 ? ", \"" : "",
            count > 1 ? formats[(first + 1) % 2] : "", count > 1 ? "\"" : "");
    put_size(r, "timeline_bytes", 1 << 22, 1 << 22, 1 << 21, 1 << 24);
    if (random_flag(r, "lines of links", 60) || !r->jobs)
        put_text(r, "timeline_links", "all");
    if (random_flag(r, "a span", 50))
        put_ps(r, "timeline_from", (double)spread(r, 1, unit));
    put_choice(r, "timeline_messages", LIST("none", "program", "all"));
}

/* Of tasks, beyond tables of their own. */
static void random_waits(struct random_system *r)
{
    if (!put_flag(r, "waits", r->all ? 80 : 30))
        return;
    if (random_flag(r, "a path", 50))
        put_size(r, "critical_path", 1 << 20, 1 << 20, 1 << 17, 1 << 22);
}

static void random_output(struct random_system *r, bool ends, double unit)
{
    r->all = getenv("RANDOM_SYSTEM_ALL") != NULL;
    group_begin(r, "output");
    if (random_flag(r, "preset", 10) && !r->whole)
        put_text(r, "preset", "page");
    put_flag(r, "links", 95);
    put_flag(r, "histograms", 95);
    bool matrix = put_flag(r, "matrix", r->whole && !r->jobs ? 0 : 30);
    if (r->jobs)
        put_flag(r, "tasks", 95);
    if (r->jobs && !r->whole)
        put_flag(r, "links_by_job", r->all ? 90 : 40);
    if (r->jobs && random_flag(r, "own calls", 60)) /* absent: of traces */
        r->calls_off = !put_flag(r, "calls", 70);
    if (matrix && r->whole)
        put_text(r, "matrix_levels", "task");
    else if (matrix && random_flag(r, "levels", 50))
        fprintf(r->out, "    matrix_levels = [\"node\", \"board\", \"rack\"%s];\n",
                r->jobs ? ", \"task\"" : "");
    /* without a run.end a wild system may last for hours of simulated time, and a trace lasts long */
    random_key(r, "period");
    bool periods = chance(r, r->all ? 90 : 25) && (ends || !(r->wild || (r->trace && !r->skips)));
    if (periods)
        put_ps(r, "period", r->extreme ? (double)spread(r, unit, 100 * unit) : (r->skips ? 100 : 7) * unit);
    if (random_flag(r, "series", r->all ? 100 : 40))
        random_series(r, periods);
    put_flag(r, "hdf5", 20);
    if (r->jobs) {
        random_waits(r);
        put_flag(r, "cores", 30);
    }
    if (random_flag(r, "timelines", r->all ? 40 : 10) && (r->jobs || !r->whole))
        random_timeline(r, unit);
    group_end(r);
}

static void random_run(struct random_system *r, bool traffic)
{
    double ns = random_span(r), unit = floor(20 * ns); /* of what happens again and again, so that it meets */
    group_begin(r, "run");
    put_whole(r, "seed", 0, 999, 0, 1ull << 62);
    put_ps(r, "warmup", random_flag(r, "warmup", 50) && !r->skips ? 100 * ns : 0);
    random_key(r, "check_interval");
    put_ps(r, "check_interval", r->extreme ? (double)spread(r, unit, 1e4 * unit) : 2 * unit);
    random_key(r, "end");
    enum random_end end = (enum random_end)draw(r, 5);
    if (r->skips) {
        end = END_ITSELF;
        fprintf(r->out, "    skip: { enabled = true; precision = 0.5; level = 0.5; windows = 2; };\n");
    }
    random_end(r, end, unit, traffic);
    group_end(r);
    random_output(r, end != END_MEASURE && end != END_ITSELF, unit);
}
