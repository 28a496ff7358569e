/* batches.c - batch means: the mean latency of the packets that were delivered in each run.batch.
 *
 * From the means of equal spans of time, which depend on each other little when the spans are long, follows
 * the confidence interval of the mean (stats_batch_halfwidth). A batch without packets counts as none.
 */
#include "run/stages.h"

#include <math.h>
#include <stdlib.h>

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
    struct net_totals t = net_network_totals(run->network);
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
    KER_CHUNK(c, b->delivered);
    KER_CHUNK(c, b->latency);
}

/* What run.confidence has come to: the half-width, null with fewer than two batches. */
json_t *run_batches_json(const struct run *run)
{
    double width = halfwidth(run);
    return json_pack("{s:f, s:i, s:o}", "level", ker_config_real(run->config, "run.confidence_level"),
                     "batches", run->batches->count, "half_width",
                     isfinite(width) ? json_real(width) : json_null());
}
