/* distances.h - private to routing/: how far switches are from many others, 64 of these at a time. */
#ifndef ROUTING_DISTANCES_H
#define ROUTING_DISTANCES_H

#include "routing/wires.h"

#define ROUTE_DISTANCES_SOURCES 64

/* Called for every switch and distance, nearest first: it is this many links from the sources of the bits. */
typedef void route_distances_take(void *context, uint32_t distance, uint32_t switch_id, uint64_t sources);

/* From the switches first .. first + ROUTE_DISTANCES_SOURCES - 1, as far as there are so many, up to a
 * distance. Costs about links x (longest distance + 1), for all of them together. */
void route_distances(const struct route_wires *, uint32_t first, uint32_t most, route_distances_take *,
                     void *context);

#endif
