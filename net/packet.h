/* packet.h - a packet is an event of the engine: one cache line that travels from component to component. */
#pragma once

#include "kernel/engine/engine.h"

/* The same memory as struct ker_event. While a packet waits in a switch its header keeps what the switch
 * needs. */
struct net_packet {
    ker_time time;   /* of arrival: head (cut-through) after the pipeline delay; at a node: the tail */
    uint32_t next;   /* in transit: the component; waiting: the next packet of its queue */
    uint16_t port;   /* of arrival */
    uint8_t channel; /* of arrival, priority class included: class x channels + virtual channel */
    uint8_t flags;
    uint32_t source, destination; /* nodes */
    ker_time created;             /* the message was handed to the adapter */
    ker_time injected;            /* the packet's head left the adapter */
    uint64_t address;             /* of the destination, as the topology packs it */
    uint16_t bytes;               /* on the wire */
    uint16_t index; /* in its message: the lower bits, see net_packet_index; of the first: the service and,
                               from bit 8 on, enum net_part */
    uint32_t state : 24, hops : 8; /* of the routing algorithm; switches passed */
    uint32_t
        extension; /* with NET_FIRST: struct net_extension, when there is one; else the upper bits of index */
    uint32_t message; /* number at its source */
};
_Static_assert(sizeof(struct net_packet) == sizeof(struct ker_event), "a packet is an event");

enum {
    NET_LAST = 0x01,   /* last packet of its message */
    NET_FIRST = 0x02,  /* first one */
    NET_ROUTED = 0x08, /* `next` says where it is forwarded from here: output << 16 | first channel << 8 |
                          channels that are alike */
    NET_EMPTY = 0x04,  /* no payload (without a header it still takes one byte on the wire) */
    NET_DETOUR = 0x10, /* it has taken one; only where detours are counted */
    NET_MARKED = 0x20, /* by a switch: there is congestion on its path */
    NET_BEHIND = NET_ROUTED, /* in a queue of a switch, with net->looks: it came where others wait */
    NET_LANDED = NET_ROUTED, /* to an adapter: its message has it already, index is how early it came */
    NET_NOTICE = 0x40,       /* of congestion, between adapters: index is the method's */
};

/* The number of a packet in its message; that of the first is 0. */
static inline uint64_t net_packet_index(const struct net_packet *p)
{
    return p->flags & NET_FIRST ? 0 : (uint64_t)p->extension << 16 | p->index;
}

/* Is it all of its message? */
static inline bool net_packet_alone(const struct net_packet *p)
{
    return (p->flags & (NET_FIRST | NET_LAST)) == (NET_FIRST | NET_LAST);
}

#define NET_MAX_PACKET 65535u /* bytes on the wire */
#define NET_MAX_CHANNELS 16u  /* priority classes x virtual channels */

/* What the receiver must know of a message of several packets or with an envelope. Half of it is kept where
 * the upper words of the envelope are zero. */
struct net_extension {
    uint64_t bytes : 48, service : 8, part : 8;
    uint64_t envelope[6];
    uint64_t spare;
};
_Static_assert(sizeof(struct net_extension) == KER_EXTENSION_BYTES, "the engine carries so much");
