/* closed.h - private to topologies of closed forms that route by paths.h: what they have in common.
 *
 * Switches come in blocks of `block`, of which the first `leaves` have `nodes` nodes each: on ports 0, 1,
 * ..., and numbered switch by switch. An address is the switch, and the port << 32; a coordinate is the
 * switch.
 */
#pragma once

#include "routing/paths.h"

struct closed {
    struct route_topology topology;
    uint32_t nodes, block, leaves;
};

static inline const struct closed *closed_of(const struct route_topology *topology)
{
    return (const struct closed *)topology;
}

/* Behind block, leaves and nodes: counts switches, endpoints and links (those between switches, and one for
 * each endpoint). ports: the most of a switch. */
enum ker_status closed_count(struct closed *, const struct ker_config *, uint64_t switches, uint64_t links,
                             uint64_t ports, struct ker_error *);
/* The same, and reads topology.bandwidth and latency, a value for all or one for each of these classes, ended
 * by NULL, and those of node links. */
enum ker_status closed_make(struct closed *, const struct ker_config *, const char *const *classes,
                            uint64_t switches, uint64_t links, uint64_t ports, struct ker_error *);
/* Is this a port to a node? Then *peer is. Else it is cleared, and its kind ROUTE_SWITCH. */
bool closed_node_port(const struct route_topology *, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer);

uint32_t closed_ports(const struct route_topology *, uint32_t switch_id); /* as many at each switch */
void closed_attachment(const struct route_topology *, uint32_t endpoint, uint32_t *switch_id, uint16_t *port);
uint64_t closed_address(const struct route_topology *, uint32_t endpoint);
uint64_t closed_coordinate(const struct route_topology *, uint32_t switch_id);
uint32_t closed_hops(const struct route_topology *, uint32_t from, uint32_t to);

/* topology.q, a prime power; slim: one of 4 w - 1, 4 w, 4 w + 1 with w at least 1. */
extern const struct ker_option route_prime_power_options[];
enum ker_status route_prime_power_read(const struct ker_config *, bool slim, uint32_t *q, struct ker_error *);

#define CLOSED_OPERATIONS(closed_forms, distance)                                                            \
    .steps = (closed_forms), .attachment = closed_attachment, .address = closed_address,                     \
    .coordinate = closed_coordinate, .hops = (distance)
