/* series.h - inside net/: what is collected of links for output.series.links, beyond their totals.
 *
 * The totals of a link stand in its port or adapter and cost the same whether series are wanted or not: a
 * period is the difference of two totals, and what has not ended at its end is counted up to there. Only the
 * time without credits is counted for series alone.
 */
#ifndef NET_SERIES_H
#define NET_SERIES_H

#include "net/network.h"

/* Of one direction of a link. Times are picoseconds of the measured span. */
struct net_link_series {
    uint64_t packets, bytes, busy, queue_time, stall; /* totals at the end of the last period */
    uint64_t queue_max;                               /* of the periods that are over */
    uint64_t stalled; /* packets could have left but for credits; without the time since: */
    ker_time since;   /* KER_TIME_MAX: it does not lack credits now */
};

struct net_series {
    struct stats_series *links; /* NULL: not in periods */
    bool periods;               /* links are wanted in periods */
};

/* Does an output, or an adapter, lack credits now, and could it send if it had them? It is asked whenever
 * that may have changed: at a grant, a credit, a new packet, and when an input becomes free. */
static inline void net_stall_note(const struct net_network *net, struct net_link_series *l, bool lacks,
                                  ker_time now)
{
    if (lacks && l->since == KER_TIME_MAX)
        l->since = now;
    if (lacks || l->since == KER_TIME_MAX)
        return;
    l->stalled += net_measured_part(net, l->since, now - l->since);
    l->since = KER_TIME_MAX;
}

/* Up to `at`, which nothing has passed. */
static inline uint64_t net_stall_until(const struct net_network *net, const struct net_link_series *l,
                                       ker_time at)
{
    return l->stalled + (l->since < at ? net_measured_part(net, l->since, at - l->since) : 0);
}

/* Of the outputs of a switch, or of an adapter; NULL when links are not collected. */
static inline struct net_link_series *net_series_new(struct net_network *net, uint32_t outputs)
{
    if (!net->series)
        return NULL;
    struct net_link_series *l = ker_arena_take(&net->arena, sizeof *l * (outputs + 1u));
    for (uint32_t i = 0; i < outputs; i++)
        l[i] = (struct net_link_series){.since = KER_TIME_MAX};
    return l;
}

/* Saved state of `outputs` of them; nothing when links are not collected. */
void net_series_state(struct net_link_series *, uint32_t outputs, struct ker_chunk *);

#endif
