/* quantity.c - one measured quantity: count, sums, extremes, histogram; and batch means.
 *
 * Everything kept is an integer, so merging is addition and its order does not matter. Sums of 128 bits
 * travel between ranks as four limbs of 32 bits in 64-bit words: below 2^32 ranks no carry is lost.
 *
 * Mean, deviation and percentiles are computed from the merged integers only, each in one fixed order. For
 * the deviation the squares are taken about m = floor(sum / count): D = squares - 2 m sum + count m^2. The
 * true D lies between 0 and `squares`, so arithmetic modulo 2^128 gives it exactly, and nothing cancels in
 * floating point.
 *
 * Invariant: count is the sum of the bins, and minimum <= maximum whenever count > 0.
 */
#include "stats/stats.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#define LIMBS 4 /* of 32 bits, of one 128-bit sum */
#define MILLION 1000000u
#define LAST_BIN (STATS_BINS - 65) /* of UINT64_MAX: the table is one octave larger than 64 bits need */

typedef unsigned __int128 u128;

uint64_t stats_bin_low(unsigned bin)
{
    if (bin < 128)
        return bin;
    if (bin > LAST_BIN)
        return UINT64_MAX;
    unsigned shift = (bin - 128) / 64 + 1;
    return (uint64_t)(64 + (bin - 128) % 64) << shift;
}

/* Largest value of the bin. */
static uint64_t bin_high(unsigned bin)
{
    return bin >= LAST_BIN ? UINT64_MAX : stats_bin_low(bin + 1) - 1;
}

void stats_quantity_init(struct stats_quantity *q)
{
    q->count = 0;
    q->sum = q->squares = 0;
    q->minimum = UINT64_MAX;
    q->maximum = 0;
    /* Fresh pages are zero already, and reading them costs no memory while writing does. */
    for (unsigned i = 0; i < STATS_BINS; i++)
        if (q->bin[i])
            q->bin[i] = 0;
}

void stats_quantity_join(struct stats_quantity *q, const struct stats_quantity *other)
{
    if (!other->count)
        return;
    q->count += other->count;
    q->sum += other->sum;
    q->squares += other->squares;
    if (other->minimum < q->minimum)
        q->minimum = other->minimum;
    if (other->maximum > q->maximum)
        q->maximum = other->maximum;
    unsigned last = stats_bin(other->maximum);
    for (unsigned i = stats_bin(other->minimum); i <= last; i++)
        q->bin[i] += other->bin[i];
}

static void limbs_split(uint64_t *limb, u128 value)
{
    for (int i = 0; i < LIMBS; i++)
        limb[i] = (uint32_t)(value >> (32 * i));
}

static u128 limbs_join(const uint64_t *limb)
{
    u128 value = 0;
    for (int i = 0; i < LIMBS; i++)
        value += (u128)limb[i] << (32 * i);
    return value;
}

/* Maps unsigned order to signed order, for ker_comm_max_i64. */
static int64_t signed_order(uint64_t value)
{
    return (int64_t)(value ^ (UINT64_C(1) << 63));
}
static uint64_t unsigned_order(int64_t value)
{
    return (uint64_t)value ^ (UINT64_C(1) << 63);
}

/* Two collectives: the extremes first, since they say which bins can be in use at all. */
void stats_quantity_merge(struct stats_quantity *q, struct ker_comm *comm)
{
    if (ker_comm_size(comm) == 1)
        return;
    int64_t extreme[2] = {signed_order(~q->minimum), signed_order(q->maximum)};
    ker_comm_max_i64(comm, extreme, 2);
    uint64_t minimum = ~unsigned_order(extreme[0]), maximum = unsigned_order(extreme[1]);
    if (minimum > maximum)
        return; /* nobody counted anything */

    unsigned first = stats_bin(minimum), bins = stats_bin(maximum) - first + 1;
    size_t words = 1 + 2 * LIMBS + bins;
    uint64_t *word = ker_alloc(words * sizeof *word);
    word[0] = q->count;
    limbs_split(word + 1, q->sum);
    limbs_split(word + 1 + LIMBS, q->squares);
    memcpy(word + 1 + 2 * LIMBS, q->bin + first, bins * sizeof *word);
    ker_comm_sum_u64(comm, word, words);
    if (ker_comm_rank(comm) == 0) {
        q->count = word[0];
        q->sum = limbs_join(word + 1);
        q->squares = limbs_join(word + 1 + LIMBS);
        q->minimum = minimum;
        q->maximum = maximum;
        memcpy(q->bin + first, word + 1 + 2 * LIMBS, bins * sizeof *word);
    }
    free(word);
}

double stats_deviation(u128 sum, u128 squares, uint64_t count)
{
    if (!count)
        return 0;
    u128 about = sum / count, far = squares - 2 * about * sum + about * about * count;
    double rest = (double)(uint64_t)(sum % count) / (double)count;
    double variance = (double)far / (double)count - rest * rest;
    return variance > 0 ? sqrt(variance) : 0;
}

double stats_quantity_deviation(const struct stats_quantity *q)
{
    return stats_deviation(q->sum, q->squares, q->count);
}

/* The place-th of `count` values (from 1) that lie in low..high: the middle of its share. */
static uint64_t interpolate(uint64_t low, uint64_t high, uint64_t place, uint64_t count)
{
    u128 width = (u128)(high - low) + 1;
    return low + (uint64_t)(((u128)place * 2 - 1) * width / ((u128)count * 2));
}

uint64_t stats_quantity_percentile(const struct stats_quantity *q, double fraction)
{
    if (!q->count)
        return 0;
    ker_assert(fraction >= 0 && fraction <= 1);
    u128 scaled = (u128)q->count * (uint64_t)llround(fraction * MILLION);
    uint64_t place = (uint64_t)((scaled + MILLION - 1) / MILLION);
    if (place <= 1)
        return q->minimum;
    if (place >= q->count)
        return q->maximum;

    unsigned bin = stats_bin(q->minimum);
    for (; place > q->bin[bin]; bin++)
        place -= q->bin[bin];
    uint64_t low = stats_bin_low(bin), high = bin_high(bin);
    if (low < q->minimum)
        low = q->minimum;
    if (high > q->maximum)
        high = q->maximum;
    return interpolate(low, high, place, q->bin[bin]);
}

json_t *stats_text_json(const char *text)
{
    json_t *string = json_string(text);
    char *plain = string ? NULL : ker_format("%s", text);
    for (char *at = plain; at && *at; at++)
        if ((unsigned char)*at > 127)
            *at = '?';
    string = string ? string : json_string(plain);
    free(plain);
    return string;
}

json_t *stats_ratio_json(double part, double of)
{
    return of > 0 ? json_real(part / of) : json_null();
}

static void set_value(json_t *object, const char *key, const struct stats_quantity *q, uint64_t value)
{
    json_object_set_new(object, key, q->count ? json_integer((json_int_t)value) : json_null());
}

json_t *stats_quantity_json(const struct stats_quantity *q)
{
    json_t *object = json_object();
    json_object_set_new(object, "count", json_integer((json_int_t)q->count));
    json_object_set_new(object, "mean", stats_ratio_json((double)q->sum, (double)q->count));
    json_object_set_new(object, "deviation", q->count ? json_real(stats_quantity_deviation(q)) : json_null());
    set_value(object, "min", q, q->minimum);
    set_value(object, "max", q, q->maximum);
    set_value(object, "p50", q, stats_quantity_percentile(q, 0.5));
    set_value(object, "p90", q, stats_quantity_percentile(q, 0.9));
    set_value(object, "p99", q, stats_quantity_percentile(q, 0.99));
    set_value(object, "p999", q, stats_quantity_percentile(q, 0.999));
    return object;
}

/* Law & Kelton, Simulation Modeling and Analysis, "batch means": t(1 - (1 - confidence) / 2, n - 1) s /
 * sqrt(n). */
double stats_batch_halfwidth(const double *batch_mean, int batches, double confidence)
{
    if (batches < 2)
        return INFINITY;
    size_t n = (size_t)batches;
    double mean = gsl_stats_mean(batch_mean, 1, n);
    if (mean == 0)
        return INFINITY;
    double deviation = gsl_stats_sd_m(batch_mean, 1, n, mean);
    double t = gsl_cdf_tdist_Pinv(1 - (1 - confidence) / 2, (double)(n - 1));
    return t * deviation / sqrt((double)n) / fabs(mean);
}
