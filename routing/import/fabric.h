/* fabric.h - private to routing/: an InfiniBand subnet as ibnetdiscover and OpenSM describe it
 * (docs/fabric.md).
 *
 * A fabric dump becomes a route_graph, as an edge list does, and a route_subnet, which says who is who:
 * forwarding tables name switches by GUID and destinations by LID. Switches and endpoints are numbered as in
 * the graph.
 */
#ifndef ROUTING_FABRIC_H
#define ROUTING_FABRIC_H

#include "routing/topologies/graph.h"

#include <stdbool.h>

#define ROUTE_LID_MAX 0xbfff /* unicast */

struct route_subnet_switch {
    uint64_t guid;
    uint32_t lid, ports, line; /* its ports are 1..ports; the line of the dump */
    uint32_t name;             /* where it begins in route_subnet.names */
};

struct route_subnet_endpoint { /* a port of a channel adapter */
    uint64_t guid;             /* of the port, 0: the dump does not say */
    uint32_t lid, line;        /* its LIDs are lid .. lid + 2^lmc - 1; lid 0: it has none */
    uint32_t name;             /* of the adapter: its ports share it */
    uint8_t lmc, port;
};

struct route_subnet {
    uint32_t switches, endpoints;
    uint32_t left_out; /* routers and the switches' own aggregation nodes: their cables are left out, too */
    uint32_t loops, loop_line;    /* ends of cables from a device to itself, left out, too; the first line */
    uint32_t passed, passed_line; /* lines that are not a dump's: how many, the first */
    struct route_subnet_switch *at_switch;
    struct route_subnet_endpoint *endpoint;
    char *names; /* each ends with a zero */
};

/* What a dump does not say. */
struct route_fabric_defaults {
    ker_time latency, node_latency;
    uint64_t rate, node_rate; /* of links of unknown speed; 0: they are refused */
};

/* Reads and checks a whole dump. Release graph and subnet also after an error. */
enum ker_status route_fabric_parse(struct route_graph *graph, struct route_subnet *subnet,
                                   const struct route_fabric_defaults *, const char *name, const char *text,
                                   size_t length, struct ker_error *error);
void route_subnet_release(struct route_subnet *subnet);

/* Rates per direction after encoding, in bytes per second: of "4xFDR" 6,818,181,818. 0: not a width and
 * speed. */
uint64_t route_fabric_rate(const char *text, size_t length);

#endif
