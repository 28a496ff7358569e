/* ends.c - from where to where a proof walks.
 *
 * Where only switches matter, one endpoint of each stands for all: as source the first, as destination the
 * last, so that paths inside a switch are there, too. By a table, one stands for those that have the same
 * entries (route_algorithm.alike). Destinations come in no order, so that those that are walked when work
 * runs out are a sample.
 */
#include "routing/proof/check.h"

#include "routing/topology.h"

#include <stdlib.h>

static bool stands_for(const struct route_topology *topology, uint32_t a, uint32_t b)
{
    const struct route_algorithm *algorithm = topology->algorithm;
    if (algorithm->by_switch)
        return true;
    return algorithm->alike && !topology->faults && algorithm->alike(topology, a, b);
}

void route_ends_choose(const struct route_topology *topology, uint32_t **source, uint32_t *sources,
                       uint32_t **destination, uint32_t *destinations)
{
    uint32_t endpoints = topology->summary.endpoints, from = 0, to = 0;
    uint32_t *last =
        ker_alloc(topology->summary.switches * sizeof *last); /* 1 + the place of its last destination */
    bool one = stands_for(topology, 0, 0);
    *source = ker_alloc(endpoints * sizeof **source);
    *destination = ker_alloc(endpoints * sizeof **destination);
    for (uint32_t endpoint = 0; endpoint < endpoints; endpoint++) {
        uint32_t at;
        uint16_t port;
        route_attachment(topology, endpoint, &at, &port);
        if (!one || !last[at])
            (*source)[from++] = endpoint;
        if (!last[at] || !stands_for(topology, (*destination)[last[at] - 1], endpoint))
            last[at] = ++to;
        (*destination)[last[at] - 1] = endpoint;
    }
    for (uint32_t i = to; i > 1; i--) {
        uint32_t j = ker_random_below(route_mix(i, 5), i), other = (*destination)[j];
        (*destination)[j] = (*destination)[i - 1];
        (*destination)[i - 1] = other;
    }
    *sources = from;
    *destinations = to;
    free(last);
}
