/* parts.h - inside net/: where the latency of packets and messages goes (output.series.latency).
 *
 * A packet carries the time that it has spent on links between switches: it is added to the destination's
 * address as the topology packs it, and the route functions are called with the address made again. All else
 * is known when it arrives. What remains is the switches', so that the parts add up to the latency.
 */
#pragma once

#include "net/network.h"

/* Sums over measured packets, or messages, in picoseconds. */
struct net_parts_sum {
    uint64_t count;
    struct net_parts part;
    uint64_t resequencing;
};

struct net_latency_parts {
    struct net_parts packet;              /* of the packet that is being delivered */
    struct net_parts_sum sum[2], last[2]; /* of packets, messages; at the end of the last period */
    bool periods;
    struct stats_series *series; /* NULL: not in periods */
};

/* The destination's address, as route functions want it. */
static inline uint64_t net_packet_address(const struct net_network *net, const struct net_packet *p)
{
    return __builtin_expect(net->parts != NULL, 0) ? route_address(net->topology, p->destination)
                                                   : p->address;
}

/* Of the message that the packet completes. */
static inline const struct net_parts *net_parts_now(const struct net_network *net)
{
    return net->part_now;
}

/* It leaves a switch for another. */
static inline void net_parts_link(struct net_packet *p, const struct net_link_class *link, uint64_t wire)
{
    p->address += (uint64_t)link->latency + wire;
}

/* A limited sink keeps a packet for so long: it is carried where nobody looks any more. */
static inline void net_parts_sink_put(struct net_packet *p, uint64_t wait)
{
    p->destination = (uint32_t)wait;
    p->state = (uint32_t)(wait >> 32) & 0xffffffu;
}

static inline uint64_t net_parts_sink_take(struct net_packet *p, uint32_t destination)
{
    uint64_t wait = (uint64_t)p->state << 32 | p->destination;
    p->destination = destination;
    return wait;
}

/* parts.c. Before the run: the network's route functions are called so. */
void net_parts_routes(struct net_network *);
/* A packet has arrived, and was kept by the sink for so long: net->parts->packet, which is counted when it is
 * measured. */
void net_parts_arrived(const struct net_adapter *, ker_time now, const struct net_packet *, uint64_t sink);
/* A message is handed up now, and measured. */
void net_parts_message(struct net_network *, ker_time now, const struct net_message *);
void net_parts_state(struct net_network *, struct ker_chunk *);
json_t *net_parts_report(struct net_network *, struct ker_comm *); /* collective */
void net_parts_rows(struct net_network *, ker_time at);            /* of a period, where they are wanted */

extern const struct stats_schema net_latency_series_schema;
