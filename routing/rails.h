/* rails.h - private to routing/: endpoints with several adapters. */
#pragma once

#include "routing/topology.h"

/* A topology around `inner`, which it owns from then on, where node.adapters endpoints are a host
 * (topology.rails); route_free frees both. Refused where they cannot be; then inner stays the caller's. */
enum ker_status route_rails_new(struct route_topology **, struct route_topology *inner,
                                const struct ker_config *, struct ker_error *);
/* After the inner topology has its algorithm and channels: the same for the outer one. */
void route_rails_adopt(struct route_topology *);
/* For route_own() of the inner topology: a switch is this rank's when it is in any plane; malloc'ed. */
uint32_t *route_rails_ranks(const struct route_topology *, const uint32_t *switch_rank, uint32_t rank);
/* Of a host, its first adapter's endpoint of the inner topology. */
uint32_t route_rails_node(const struct route_topology *, uint32_t host);
