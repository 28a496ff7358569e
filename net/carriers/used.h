/* used.h - what buses and links of nodes have carried: carrier.csv. Private to net/carriers/. */
#pragma once

#include "net/net.h"

/* Of all buses, or of the links of a node in one direction. Times inside the measured span only, waits of
 * messages that are asked for in it. */
struct net_used {
    uint64_t messages, bytes;
    uint64_t busy, wait; /* sums, in picoseconds: of each of them; of each message, before it begins */
    ker_time wait_most;
};

enum net_used_kind { NET_USED_BUSES, NET_USED_OUT, NET_USED_IN };

/* A message could have begun at `from`, begins at `begin`, and takes this long. */
static inline void net_used_add(struct net_used *u, const struct net_phases *span, ker_time from,
                                ker_time begin, ker_time length, uint64_t bytes)
{
    ker_time end = ker_time_later(begin, length),
             first = begin > span->measure_from ? begin : span->measure_from,
             last = ker_time_min(end, span->measure_to);
    if (last > first)
        u->busy += (uint64_t)(last - first);
    if (from < span->measure_from || from >= span->measure_to)
        return;
    u->messages++;
    u->bytes += bytes;
    u->wait += (uint64_t)(begin - from);
    u->wait_most = begin - from > u->wait_most ? begin - from : u->wait_most;
}

static inline void net_used_state(struct ker_chunk *c, struct net_used *u)
{
    KER_CHUNK(c, u->messages, u->bytes, u->busy, u->wait, u->wait_most);
}

/* A table of them, and its rows; node: KER_NONE, of buses. */
struct stats_table *net_used_table(ker_time span);
void net_used_row(struct stats_table *, enum net_used_kind, uint32_t node, uint32_t count,
                  const struct net_used *);
extern const struct stats_schema net_used_schema;
