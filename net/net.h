/* net.h - packets, links, switches, adapters: the network as components of the engine.
 *
 * A switch is a component. An adapter is part of one: of a node, which nodes/ makes and registers with the
 * engine, and which hands down what comes to its adapters (net_adapter_*). The adapter cuts messages into
 * packets, injects them, and reassembles what arrives; what it has to say is handed up through struct
 * net_host.
 */
#pragma once

#include "partition/partition.h"
#include "routing/routing.h"
#include "stats/stats.h"

struct net_adapter; /* opaque */

/* Rounded up to whole cache lines: what is in a component's memory begins with one. */
static inline size_t net_lines(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* What the receiving service needs to know of a message, opaque to the network; it costs no simulated bytes.
 * While the message is in flight it takes 32 bytes of memory less where the last three words are zero. */
struct net_envelope {
    uint64_t word[6];
};

/* Where the latency of a packet went, or of the packet that completed a message: picoseconds (net/parts.c).
 * switch_wait is a part of switches; contention of switch_wait and source_queue. All 0 when it is not
 * collected (output.series.latency). */
struct net_parts {
    uint64_t source_queue, injection, switches, links, ejection, switch_wait, contention;
};

struct net_message {
    uint32_t source, destination; /* endpoints */
    uint64_t bytes;               /* payload */
    ker_time created;             /* when it was handed to the source's adapter */
    uint32_t number;              /* struct net_send's, unless adapters resequence */
    uint8_t service;              /* the node's: from which of its services, and to which */
    uint8_t part;                 /* enum net_part */
    struct net_envelope envelope;
    const struct net_parts *parts; /* NULL: not collected; good until the message has been handed up */
};

/* A message may be one of the parts of a larger one. The first part stands for it in counts of messages, and
 * where a fault takes it; parts that arrive are not counted as messages (net_adapter_whole). */
enum net_part { NET_WHOLE, NET_FIRST_PART, NET_FURTHER_PART };

/* What open-loop traffic gives the adapter, message by message, so that the source queue needs no memory. */
struct net_offer {
    ker_time created; /* not decreasing from offer to offer; may lie in the future; KER_TIME_MAX: no more */
    uint32_t destination, priority;
    uint64_t bytes;
    uint32_t number;       /* as in struct net_send; the node gives it */
    uint8_t service, part; /* likewise */
    bool none;             /* there is nothing yet for this adapter: it asks again at `created` */
};

/* Saved state of an offer that is there: all but `none`. */
void net_offer_state(struct ker_chunk *, struct net_offer *);

/* With output.links_by_job the lower bits of a message's number say which job it is of; NET_JOB_OTHERS: of
 * one behind the first ones, or of none. */
#define NET_JOB_BITS 4
#define NET_JOB_OTHERS 15u

/* Which of its queues the adapter puts a message into. */
enum net_queue {
    NET_QUEUE_SEND,    /* messages in the order in which they are handed over */
    NET_QUEUE_CONTROL, /* short ones that others wait for; adapter.control says what they wait for */
    NET_QUEUE_READ,    /* what another node reads: served by the adapter outside the send queue's order */
};

struct net_send {
    uint32_t destination;                /* not the endpoint itself */
    uint64_t bytes;                      /* 0: one packet of header only */
    const struct net_envelope *envelope; /* may be NULL */
    uint64_t cookie;                     /* != 0: net_host.sent is called with it */
    uint32_t number;                     /* unique among what the source has in flight */
    uint8_t service, part;               /* part: enum net_part */
    uint8_t priority;                    /* less than the number of classes */
    uint8_t queue;                       /* enum net_queue */
};

/* ---- between the adapter and the node that it is part of ---- */

/* What nodes/ hands down: the component, and what its adapters report to it. state: of the node. */
struct net_host {
    const struct ker_class *class;
    size_t bytes;   /* of its state; its adapters are behind it */
    bool shares;    /* an arrival that completes nothing matters to it, too */
    bool deaf;      /* arrived() does nothing */
    bool sole;      /* nothing is sent but what offer() says, which is never `none` */
    uint32_t timer; /* the timers of its adapter p have the key timer + p: port x 256 + channel */
    void *context;
    /* The node of this number, as component `self` of the engine; its adapters, one every `stride` bytes. */
    void (*init)(void *context, void *state, uint32_t id, uint32_t self, struct net_adapter *, size_t stride);
    /* The last byte of a message is here. */
    void (*arrived)(void *state, ker_time now, const struct net_message *);
    /* The last byte of the message sent with this cookie has left the adapter (source buffer reusable). */
    void (*sent)(void *state, ker_time now, uint32_t service, enum net_part, uint64_t cookie);
    /* Its last byte will have left at `when`, before anything can end the run: true, sent() need not be
     * called. At the end of an instant, and nothing may be sent. NULL: it does not want to know. */
    bool (*leaves)(void *state, ker_time when, uint32_t service, enum net_part, uint64_t cookie);
    /* Open-loop source of adapter `port`: the next message; called again when the one before has been
     * injected. false: none. Only after net_adapter_offers. */
    bool (*offer)(void *state, uint32_t port, struct net_offer *);
    /* A fault has taken the first packet of a message with an envelope, on the rank where that happens; the
     * message will not arrive. Later packets carry no envelope: of their loss nobody is notified. */
    void (*lost)(void *context, uint32_t service, const struct net_envelope *);
    /* Packets take time between memory and adapter (NULL, or both; node.lane_bandwidth): this many bytes of
     * payload are read from `memory` (net_send_from) or NET_NO_MEMORY, or written to that of the service that
     * the message is for, with its envelope, or NULL where that is not known. alone: picoseconds that this
     * takes at least. Until net_adapter_read or net_adapter_written the adapter sends no other packet of a
     * message, or writes no other one. */
    void (*read)(void *state, ker_time now, uint32_t port, uint32_t memory, uint64_t bytes, ker_time alone);
    void (*write)(void *state, ker_time now, uint32_t port, uint32_t service, const struct net_envelope *,
                  uint64_t bytes, ker_time alone);
};

#define NET_NO_MEMORY UINT16_MAX /* net_carrier.send_from */
#define NET_PORT_ADAPTER 0xff    /* of an arrival's port: which adapter; of credits and wake-ups it is all */

/* ---- for the program ---- */

/* When what is created is measured, when open-loop sources stop, and the smallest payload that a packet will
 * have. */
struct net_phases {
    ker_time measure_from, measure_to, stop;
    uint64_t least_payload;
    /* The group of keys of a node, "node" or that of its kind, "nodes[2]", the same pointer for all of one;
     * NULL: nobody knows. */
    const char *(*keys_of)(const void *kinds, uint32_t node);
    const void *kinds;
    /* With output.links_by_job, else 0: how many jobs there are, and their names. */
    uint32_t jobs;
    const char *(*job_name)(const void *names, uint32_t job);
    const void *job_names;
};

/* Sums for conditions while running; local to this rank. */
struct net_totals {
    uint64_t packets_injected, packets_delivered, bytes_injected, bytes_delivered,
        messages_delivered;                                     /* payload */
    uint64_t measured_injected_bytes, measured_delivered_bytes; /* payload, inside the measured span */
    uint64_t packet_hops, hops_sum, hops_max, out_of_order;
    uint64_t packets_lost; /* inside the network; what an adapter never sent is none of the injected ones */
    uint64_t packets_withheld, packets_dropped; /* dropped: they waited too long; of the lost ones */
    uint64_t
        cnps_under_way; /* sent less received or lost, modulo 2^64: only the sum over the ranks is a number */
    uint64_t measured_packets,
        latency_sum; /* delivered packets that are measured, their network latencies in all */
};

/* As a share of all nodes' injection bandwidth over the span, by one fixed computation; null where there is
 * none. */
json_t *net_load_json(const struct route_topology *, uint64_t bytes, ker_time span);

#include "net/carrier.h"

/* Of the family "network.model": switches, links, adapters; latency and bandwidth. */
extern const struct ker_kind net_packet_model, net_simple_model, net_links_model, net_bus_model,
    net_pmac_model, net_flow_model;
extern const struct stats_schema *const net_tables[]; /* all tables of net/, NULL at the end */
extern const struct ker_option net_options[];         /* switch.*, adapter.*, of routing.* what switches do */
extern const struct ker_option net_congestion_options[]; /* congestion.* */

/* walk.c: the route of a message, hop by hop, as a packet that met no other would take it. Who is shown the
 * links from one endpoint to another: out of `port` of a switch, or (switch KER_NONE) from the source. */
struct net_walker {
    void (*link)(void *context, uint32_t switch_id, uint16_t port, const struct route_link *);
    void *context;
};
/* The first choices of the routing that are no detours. chance: as in struct route_packet. */
void net_walk(const struct route_topology *, uint32_t from, uint32_t to, uint64_t chance,
              const struct net_walker *);

/* Service levels (jobs[].priority and the like), and the classes that messages of them are in. */
#define NET_LEVELS 16
#define NET_NO_LANE 15u /* of a level that has none */
struct net_levels {
    uint8_t lane[2][NET_LEVELS]; /* at switches, at adapters */
    bool mapped;                 /* by a map; else the levels themselves */
};
enum ker_status net_levels_read(struct net_levels *, const struct ker_config *, struct ker_error *);
/* The class of the level that the key gives, less than switch.classes. */
enum ker_status net_levels_class(const struct net_levels *, uint8_t *class, const struct ker_config *,
                                 const char *key, struct ker_error *);
/* Both, for one key. */
enum ker_status net_class_read(uint8_t *class, const struct ker_config *, const char *key,
                               struct ker_error *);

/* Bytes of header of every packet, without routing.hop_bytes. */
uint32_t net_packet_header(const struct ker_config *);
