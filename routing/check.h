/* check.h - private to routing/: dependency graphs of channels. A set of channels that may wait for each
 * other is free of deadlock when the graph has no cycle (Dally and Seitz, 1987). */
#ifndef ROUTING_CHECK_H
#define ROUTING_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What route_pick answers in a check: one combination of draws after the other. Start with zeros, ask the route function, advance,
 * ask again, until there is no other combination. */
#define ROUTE_ORACLE_PICKS 32
struct route_oracle {
    int picks;
    uint32_t salt[ROUTE_ORACLE_PICKS], count[ROUTE_ORACLE_PICKS], value[ROUTE_ORACLE_PICKS];
};
bool route_oracle_advance(struct route_oracle *);

struct route_dependencies { /* a set of edges; start with zeros */
    uint64_t *edge;         /* open addressing; free: UINT64_MAX */
    size_t size, count;
};

/* A packet that holds channel `from` may wait for channel `to`; both below UINT32_MAX. */
void route_dependencies_add(struct route_dependencies *, uint32_t from, uint32_t to);
/* Channels are 0..channels-1. With a cycle, *channel is one in it or reached from it. */
bool route_dependencies_cyclic(const struct route_dependencies *, uint32_t channels, uint32_t *channel);
void route_dependencies_release(struct route_dependencies *);

#endif
