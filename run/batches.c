/* batches.c - batch means: the mean latency of the packets that were delivered in each run.batch.
 *
 * From the means of equal spans of time, which depend on each other little when the spans are long, follows
 * the confidence interval of the mean (stats_batch_halfwidth). A batch without packets counts as none.
 *
 * Steady is what has, in the first and the last third of its batches, means that differ by no more than a
 * twentieth, or by no more than three standard errors of their difference, by how the last third varies:
 * while a network fills, the first one varies more.
 */
#include "run/stages.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_STEADY 9
#define LEAST_BATCHES 10 /* fewer end no run: their interval is tight by chance too often */

struct run_batches {
    double *mean;
    int count, room;
    uint64_t delivered, latency; /* of all ranks, at the last batch's end */
};

struct run_batches *run_batches_new(void)
{
    return ker_alloc(sizeof(struct run_batches));
}

void run_batches_free(struct run_batches *b)
{
    if (b)
        free(b->mean);
    free(b);
}

ker_time run_batches_interval(const struct run *run)
{
    return run->batch;
}

void run_batches_add(struct run *run, ker_time at)
{
    struct run_batches *b = run->batches;
    struct net_totals t = run_totals(run);
    uint64_t v[2] = {t.measured_packets, t.latency_sum};
    ker_comm_sum_u64(run->working, v, 2);
    if (at > run->warmup && v[0] > b->delivered) {
        *KER_PUSH(b->mean, b->count, b->room) = (double)(v[1] - b->latency) / (double)(v[0] - b->delivered);
    }
    b->delivered = v[0];
    b->latency = v[1];
}

static double halfwidth(const struct run *run)
{
    return stats_batch_halfwidth(run->batches->mean, run->batches->count,
                                 ker_config_real(run->config, "run.confidence_level"));
}

bool run_batches_tight(struct run *run, ker_time at)
{
    return run->batches->count >= LEAST_BATCHES &&
           halfwidth(run) <= ker_config_real(run->config, "run.confidence");
}

/* Saved state: the same on every rank. */
void run_batches_state(struct run_batches *b, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, (uint32_t)b->count, sizeof *b->mean);
    if (c->loads) {
        KER_RESERVE(b->mean, b->room, count);
        b->count = (int)count;
    }
    ker_chunk_bytes(c, b->mean, sizeof *b->mean * count);
    KER_CHUNK(c, b->delivered, b->latency);
}

static double mean_of(const double *value, int count, double *variance)
{
    double sum = 0, square = 0;
    for (int i = 0; i < count; i++)
        sum += value[i];
    for (int i = 0; i < count; i++)
        square += (value[i] - sum / count) * (value[i] - sum / count);
    *variance = square / (count - 1);
    return sum / count;
}

/* Was the mean latency the same at the beginning of the measured span and at its end? Warns when not; without
 * enough batches for a statement nothing is added. */
static void steady_add(const struct run *run, json_t *confidence)
{
    const struct run_batches *b = run->batches;
    if (b->count < LEAST_STEADY)
        return;
    int third = b->count / 3;
    double of_first, of_last, first = mean_of(b->mean, third, &of_first),
                              last = mean_of(b->mean + b->count - third, third, &of_last);
    double error = sqrt(2 * of_last / third), by = fabs(last - first);
    bool steady = by <= 3 * error || by <= 0.05 * fmax(first, last);
    char a[32], c[32], warmup[32];
    if (!steady)
        ker_warn("the measured span was not steady: packets took %s in its first third and %s in its last; "
                 "choose a longer run.warmup than %s, unless the network is saturated",
                 ker_print_time(a, (ker_time)first), ker_print_time(c, (ker_time)last),
                 ker_print_time(warmup, run->warmup));
    json_object_set_new(confidence, "steady", json_boolean(steady));
    json_object_set_new(confidence, "first_third_ps", json_real(first));
    json_object_set_new(confidence, "last_third_ps", json_real(last));
}

/* What run.confidence has come to: the half-width, null with fewer than two batches. */
json_t *run_batches_json(const struct run *run)
{
    double width = halfwidth(run);
    json_t *confidence =
        json_pack("{s:f, s:i, s:o}", "level", ker_config_real(run->config, "run.confidence_level"), "batches",
                  run->batches->count, "half_width", isfinite(width) ? json_real(width) : json_null());
    steady_add(run, confidence);
    return confidence;
}
