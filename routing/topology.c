/* topology.c - the questions of routing.h to a topology: each is passed on to its kind.
 *
 * This file knows no kind and nothing else of routing/, so that all its other files may ask.
 */
#include "routing/topology.h"

const struct route_summary *route_summarise(const struct route_topology *topology)
{
    return &topology->summary;
}

uint32_t route_ports(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->kind->ports(topology, switch_id);
}

void route_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                struct route_peer *peer)
{
    topology->kind->port(topology, switch_id, port, peer);
}

void route_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                      uint16_t *port)
{
    topology->kind->attachment(topology, endpoint, switch_id, port);
}

uint64_t route_address(const struct route_topology *topology, uint32_t endpoint)
{
    return topology->kind->address(topology, endpoint);
}

uint64_t route_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->kind->coordinate(topology, switch_id);
}

route_next_function *route_function(const struct route_topology *topology)
{
    return topology->algorithm->next;
}

route_next_function *route_decided_function(const struct route_topology *topology)
{
    return topology->algorithm->decided;
}

route_hop_function *route_hop_function_of(const struct route_topology *topology)
{
    return topology->algorithm->hop;
}

route_straight_function *route_straight_function_of(const struct route_topology *topology)
{
    return topology->algorithm->straight;
}

route_range_function *route_range_function_of(const struct route_topology *topology)
{
    return topology->algorithm->range;
}

route_pair_function *route_pair_function_of(const struct route_topology *topology)
{
    return topology->algorithm->pair;
}

route_away_function *route_away_function_of(const struct route_topology *topology)
{
    return topology->algorithm->away;
}

struct route_states route_away_states(const struct route_topology *topology)
{
    return topology->algorithm->away_states;
}

uint32_t route_distance(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    return from == to ? 0 : 2 + topology->kind->hops(topology, from, to);
}

uint32_t route_group(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->kind->group(topology, switch_id);
}

uint32_t route_groups(const struct route_topology *topology)
{
    return topology->kind->groups(topology);
}

uint32_t route_board(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->kind->board ? topology->kind->board(topology, switch_id) : switch_id;
}

uint32_t *route_groups_of_nodes(const struct route_topology *topology, bool boards)
{
    uint32_t adapters = topology->summary.adapters, nodes = route_hosts(&topology->summary),
             *group = ker_alloc(nodes * sizeof *group);
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t at;
        uint16_t port;
        route_attachment(topology, node * adapters, &at, &port);
        group[node] = boards ? route_board(topology, at) : route_group(topology, at);
    }
    return group;
}

int route_grid(const struct route_topology *topology, uint32_t extents[8])
{
    return topology->kind->grid ? topology->kind->grid(topology, extents) : 0;
}

void route_coordinates(const struct route_topology *topology, uint32_t endpoint, uint32_t at[8])
{
    if (topology->kind->coordinates)
        topology->kind->coordinates(topology, endpoint, at);
}

uint32_t route_watch(const struct route_topology *topology, uint32_t switch_id, uint32_t port)
{
    return topology->kind->watch ? topology->kind->watch(topology, switch_id, port) : 0;
}

uint32_t route_watched(const struct route_topology *topology)
{
    return topology->kind->watched ? topology->kind->watched(topology) : 0;
}

uint32_t route_load(const struct route_topology *topology, uint32_t switch_id)
{
    if (topology->kind->load)
        return topology->kind->load(topology, switch_id);
    uint32_t ports = route_ports(topology, switch_id), used = 0;
    for (uint32_t i = 0; i < ports; i++) {
        struct route_peer peer;
        route_port(topology, switch_id, i, &peer);
        used += peer.kind != ROUTE_NOTHING;
    }
    return used ? used : 1;
}
