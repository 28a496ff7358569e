/* wires.h - private to routing/: the living links between the switches of any topology, as plain arrays, for
 * what visits a whole network: makers of tables, and checks. */
#pragma once

#include "routing/topology.h"

#define ROUTE_NO_WIRE UINT32_MAX

/* Link i, begin[s] <= i < begin[s + 1], leads from switch s to another; those of a switch are in the order
 * of its ports. The other direction is a link of its own. */
struct route_wires {
    uint32_t switches, endpoints, links, most; /* most: links of one switch */
    uint32_t *begin;                           /* switches + 1 */
    uint32_t *from, *to, *reverse;             /* per link */
    uint16_t *port;                            /* at from */
    uint8_t *class;                            /* of its struct route_link */
    uint32_t *endpoint_switch;                 /* per endpoint */
    uint16_t *endpoint_port;
    uint32_t *endpoints_at; /* per switch */
};

void route_wires_make(struct route_wires *, const struct route_topology *);
void route_wires_release(struct route_wires *);
/* The link at this port, ROUTE_NO_WIRE if none leads from there to a switch. */
uint32_t route_wires_at(const struct route_wires *, uint32_t switch_id, uint32_t port);

/* Dependencies of links: a packet that came by link a, and holds a buffer behind it, may wait for link b of
 * the switch a leads to. */
struct route_waits {
    const struct route_wires *wires;
    uint32_t words; /* per link: a bit for each link of the switch it leads to */
    uint64_t *bit;
};

void route_waits_init(struct route_waits *, const struct route_wires *);
void route_waits_release(struct route_waits *);
bool route_waits_cyclic(const struct route_waits *);
