/* series.c - the samples of each point, and how many there are to be. */
#include "tools/marsbench/measure.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <stdlib.h>

uint64_t bench_size(const struct bench_settings *s, uint32_t index)
{
    uint64_t bytes = s->least > 1 ? s->least << index : index ? (uint64_t)4 << index : 1;
    return bytes <= s->most ? bytes : 0;
}

size_t bench_turns(const struct bench_run *run, double seconds)
{
    double turns = run->settings->seconds / fmax(seconds, 1e-8);
    return turns < 5 ? 5 : turns > BENCH_MOST_TURNS ? BENCH_MOST_TURNS : (size_t)turns;
}

void bench_spin(double seconds)
{
    for (double end = MPI_Wtime() + seconds; MPI_Wtime() < end;)
        continue;
}

void bench_take(struct bench_run *run, const struct bench_point *p, const double *sample, size_t samples)
{
    if (run->rank != 0 || samples == 0)
        return;
    struct bench_series *s = NULL;
    for (size_t i = 0; i < run->count && !s; i++)
        if (bench_curve_order(&run->series[i].point, p) == 0 && run->series[i].point.bytes == p->bytes)
            s = &run->series[i];
    if (!s) {
        s = KER_APPEND(run->series, run->count);
        *s = (struct bench_series){.point = *p, .least = INFINITY};
    }
    double least = INFINITY;
    s->sample = ker_realloc(s->sample, (s->samples + samples) * sizeof *sample);
    for (size_t i = 0; i < samples; i++) {
        s->sample[s->samples++] = sample[i];
        least = fmin(least, sample[i]);
    }
    s->point.starts++;
    s->least = fmin(s->least, least);
    s->most = fmax(s->most, least);
}

void bench_points_make(struct bench_run *run, struct bench_points *points)
{
    for (size_t i = 0; i < run->count; i++) {
        struct bench_series *s = &run->series[i];
        gsl_sort(s->sample, 1, s->samples);
        s->point.iterations = s->samples;
        s->point.min_us = s->sample[0];
        s->point.median_us = s->sample[s->samples / 2];
        s->point.p90_us = s->sample[(size_t)(0.9 * (double)(s->samples - 1))];
        s->point.spread = s->least > 0 ? s->most / s->least - 1 : 0;
        *KER_PUSH(points->point, points->count, points->room) = s->point;
        free(s->sample);
    }
    free(run->series);
}
