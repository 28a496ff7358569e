/* run.h - of random systems: how the run ends, and what it writes. */
#ifndef TESTS_RANDOM_SYSTEM_RUN_H
#define TESTS_RANDOM_SYSTEM_RUN_H

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

static void random_output(struct random_system *r, bool ends, double unit)
{
    group_begin(r, "output");
    put_flag(r, "links", 95);
    put_flag(r, "histograms", 95);
    put_flag(r, "matrix", 30);
    if (r->jobs)
        put_flag(r, "tasks", 95);
    if (r->jobs && random_flag(r, "own calls", 60)) /* absent: of traces */
        put_flag(r, "calls", 70);
    /* a trace lasts long, and without a run.end a wild system may last for hours of simulated time */
    random_key(r, "period");
    if (!r->trace && chance(r, 25) && (ends || !r->wild))
        put_ps(r, "period", r->extreme ? (double)spread(r, unit, 100 * unit) : 7 * unit);
    group_end(r);
}

static void random_run(struct random_system *r, bool traffic)
{
    double ns = random_span(r), unit = floor(20 * ns); /* of what happens again and again, so that it meets */
    group_begin(r, "run");
    put_whole(r, "seed", 0, 999, 0, 1ull << 62);
    put_ps(r, "warmup", random_flag(r, "warmup", 50) ? 100 * ns : 0);
    random_key(r, "check_interval");
    put_ps(r, "check_interval", r->extreme ? (double)spread(r, unit, 1e4 * unit) : 2 * unit);
    random_key(r, "end");
    enum random_end end = (enum random_end)draw(r, 5);
    random_end(r, end, unit, traffic);
    group_end(r);
    random_output(r, end != END_MEASURE && end != END_ITSELF, unit);
}

#endif
