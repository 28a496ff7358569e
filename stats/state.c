/* state.c - what has been counted, saved and loaded. Loading adds to what is there: sums are exact in any
 * order, so it does not matter how many ranks have counted, nor which rank takes their sums. */
#include "stats/stats.h"

#include <stdlib.h>

/* Bins that are not empty, each with its number. */
static void bins_state(struct ker_chunk *c, struct stats_quantity *q)
{
    uint32_t used = 0;
    for (uint32_t i = 0; !c->loads && i < STATS_BINS; i++)
        used += q->bin[i] != 0;
    used = ker_chunk_count(c, used, sizeof(uint16_t) + sizeof *q->bin);
    for (uint32_t i = 0; c->loads && i < used; i++) {
        uint16_t bin = 0;
        KER_CHUNK(c, bin);
        uint64_t count = ker_chunk_u64(c, 0);
        c->bad |= bin >= STATS_BINS;
        if (!c->bad)
            q->bin[bin] = count;
    }
    for (uint16_t i = 0; !c->loads && i < STATS_BINS; i++)
        if (q->bin[i]) {
            KER_CHUNK(c, i, q->bin[i]);
        }
}

void stats_quantity_state(struct ker_chunk *c, struct stats_quantity *q)
{
    struct stats_quantity *one = c->loads ? ker_alloc(sizeof *one) : q;
    KER_CHUNK(c, one->count, one->sum, one->squares, one->minimum, one->maximum);
    bins_state(c, one);
    if (!c->loads)
        return;
    c->bad |= one->count && one->minimum > one->maximum;
    if (!c->bad)
        stats_quantity_join(q, one);
    free(one);
}
