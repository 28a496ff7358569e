/* check.h - private to routing/: dependency graphs of channels. A set of channels that may wait for each
 * other is free of deadlock when the graph has no cycle (Dally and Seitz, 1987). */
#ifndef ROUTING_CHECK_H
#define ROUTING_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
