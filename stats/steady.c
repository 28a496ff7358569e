/* steady.c - warm-up, batch means, windows, trend.
 *
 * Each of the two intervals is fooled by something: that of batches by what changes slowly over all values,
 * that of windows, of which there are few, by chance. The larger one is taken.
 */
#include "stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#define LEAST_BATCHES 10
#define MANY_BATCHES 20
#define MOST_CORRELATION 0.2
#define TREND_LEVEL 0.99
#define TOO_FEW 1.5 /* their deviation is taken for so much more */

uint32_t stats_mser(const double *value, uint32_t n)
{
    uint32_t best = 0;
    double least = INFINITY;
    for (uint32_t from = 0; from <= n / 2 && from < n; from++) {
        uint32_t left = n - from;
        double mean = gsl_stats_mean(value + from, 1, left),
               error = gsl_stats_tss_m(value + from, 1, left, mean) / ((double)left * left);
        if (error < least) {
            least = error;
            best = from;
        }
    }
    return best;
}

double stats_student(double level, uint32_t freedom)
{
    return freedom ? gsl_cdf_tdist_Pinv(1 - (1 - level) / 2, freedom) : INFINITY;
}

/* The last batches of this many values: those at the beginning that are left over belong to none. */
static uint32_t batches_make(const struct stats_windows *w, uint32_t size, double *mean)
{
    uint32_t count = w->values / size, from = w->values - count * size;
    for (uint32_t i = 0; i < count; i++)
        mean[i] = gsl_stats_mean(w->value + from + i * size, 1, size);
    return count;
}

static double correlation_of(const double *mean, uint32_t count)
{
    double all = gsl_stats_mean(mean, 1, count), squares = gsl_stats_tss_m(mean, 1, count, all), sum = 0;
    for (uint32_t i = 1; i < count; i++)
        sum += (mean[i - 1] - all) * (mean[i] - all);
    return squares > 0 ? sum / squares : 0;
}

static bool trend_of(const double *mean, uint32_t count)
{
    double *number = ker_alloc(count * sizeof *number), c0, c1, v00, v01, v11, squares;
    for (uint32_t i = 0; i < count; i++)
        number[i] = i;
    gsl_fit_linear(number, 1, mean, 1, count, &c0, &c1, &v00, &v01, &v11, &squares);
    free(number);
    return fabs(c1) > stats_student(TREND_LEVEL, count - 2) * sqrt(v11);
}

static double half_of(const double *mean, uint32_t count, double level)
{
    return stats_batch_halfwidth(mean, (int)count, level) * fabs(gsl_stats_mean(mean, 1, count));
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* What batches of one size say counts, and of larger ones what makes the interval wider: so correlation over
 * long spans is seen, too. */
static void batches_count(const double *mean, uint32_t size, uint32_t count, double level,
                          struct stats_steady *s)
{
    double half = half_of(mean, count, level);
    if (s->batches && half <= s->half)
        return;
    s->batch = size;
    s->batches = count;
    s->correlation = correlation_of(mean, count);
    s->sigma = gsl_stats_sd(mean, 1, count) * sqrt(size);
    s->half = half;
}

/* Fills in what batches say: from the first size on at which they are correlated neither way; or else of the
 * largest at which they are not positively. */
static void batches_see(const struct stats_windows *w, double level, struct stats_steady *s)
{
    double *mean = ker_alloc((w->values + 1ull) * sizeof *mean), least, most;
    bool found = false;
    for (uint32_t size = 1; w->values / size >= LEAST_BATCHES; size *= 2) {
        uint32_t count = batches_make(w, size, mean);
        double correlation = correlation_of(mean, count);
        s->trend |= trend_of(mean, count);
        if (!found && correlation >= MOST_CORRELATION)
            continue;
        if (!found && count >= MANY_BATCHES)
            s->batches = 0; /* smaller ones were correlated negatively, and that is no chance */
        found |= fabs(correlation) < MOST_CORRELATION;
        batches_count(mean, size, count, level, s);
    }
    if (!s->batches) {
        gsl_stats_minmax(&least, &most, w->value, 1, w->values);
        s->half = most - least; /* no less is known */
        s->sigma = w->values < LEAST_BATCHES ? TOO_FEW * s->deviation : s->half;
    }
    free(mean);
}

/* And what windows say. */
static void windows_see(const struct stats_windows *w, double level, struct stats_steady *s)
{
    double *mean = ker_alloc((w->windows + 1ull) * sizeof *mean);
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->windows; i++)
        if (w->begin[i + 1] > w->begin[i])
            mean[count++] = gsl_stats_mean(w->value + w->begin[i], 1, w->begin[i + 1] - w->begin[i]);
    if (count > 1)
        s->sigma = larger(s->sigma, gsl_stats_sd(mean, 1, count) * sqrt((double)w->values / count));
    s->apart = count > 1 ? half_of(mean, count, level) : INFINITY;
    s->half = larger(s->half, s->apart);
    free(mean);
}

struct stats_steady stats_steady(const struct stats_windows *w, double level)
{
    struct stats_steady s = {0};
    if (w->values < 2) {
        s.half = s.sigma = s.apart = INFINITY;
        return s;
    }
    s.mean = gsl_stats_mean(w->value, 1, w->values);
    s.deviation = gsl_stats_sd_m(w->value, 1, w->values, s.mean);
    batches_see(w, level, &s);
    windows_see(w, level, &s);
    return s;
}
