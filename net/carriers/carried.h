/* carried.h - what carriers of whole messages are made of: messages.c and coordinator.c. Private to
 * net/carriers/.
 */
#pragma once

#include "net/carriers/messages.h"

#include "kernel/engine/post.h"

#define VERSION 4

/* A message in flight: struct ker_event. The envelope is the event's extension. */
struct carried {
    ker_time time;
    uint32_t component;
    uint16_t port;
    uint8_t channel, flags;
    uint32_t source, destination;
    ker_time created;
    uint64_t bytes;
    uint32_t number;
    uint8_t service, part;
    uint16_t wants_left; /* its source wants to know when it has left */
    uint64_t unused;
    uint32_t extension, more;
};
_Static_assert(sizeof(struct carried) == sizeof(struct ker_event), "a message is an event");

#define FLAG_LEFT 1 /* not a message: the message of this number has left its source, which this goes to */

struct leaving {
    uint32_t next, number;
    uint8_t service, part;
    ker_time when; /* KER_TIME_MAX: that is not known yet */
    uint64_t cookie;
};

struct held {
    uint32_t next;
    ker_time when;
    struct net_message message;
};

struct net_adapter {
    struct net_network *net;
    void *node;
    uint32_t id, self;
    uint32_t leaving, held; /* the first, or KER_NONE */
    bool exhausted;         /* no open-loop source, or it has ended */
    bool has;               /* `offer` waits for its time */
    ker_time wake, last;    /* a wake-up is on its way for then; the last byte so far has left */
    struct net_offer offer;
};

struct net_network {
    struct net_law law;
    struct net_phases phases;
    const struct route_topology *topology;
    struct ker_engine *engine;
    struct net_host host;
    struct ker_class class;
    struct part_layout layout;
    uint32_t group, count;           /* of the nodes; on this rank */
    struct coordinator *coordinator; /* with law.decide, on the rank where it lives; else NULL */
    uint32_t coordinator_group;
    ker_time ask; /* from node to coordinator: half a latency, a quarter of it for flows; 0: there is none */
    struct net_adapter **adapters;
    char *block;
    size_t block_bytes;
    const struct carried **fresh; /* of the instant that is being handled */
    uint32_t fresh_count, fresh_room;
    KER_POOL(struct leaving) leaving;
    KER_POOL(struct held) held;
    struct net_totals totals;
    uint64_t handed;                                /* payload of send inside the measured span */
    struct stats_quantity latency, size, bandwidth; /* bandwidth: bytes per second */
    ker_time span;                                  /* measured, for carrier.csv */
    bool histograms, used, used_asked;              /* which files are wanted; carrier.csv by its key */
};

/* What is asked of the coordinator, until it has answered. */
struct going {
    uint32_t next; /* of the free ones */
    bool taken;
    ker_time asked;
    struct carried message;
    struct net_envelope envelope;
};

struct coordinator {
    struct net_network *net;
    uint32_t self;
    ker_time wake; /* a wake-up is on its way for then */
    struct going *going;
    uint32_t count, free; /* places; the first free one or KER_NONE */
};

#define NET_COORDINATOR "messages_coordinator" /* its class */

/* Room for a message, or for a word on one, at this component at this time. */
struct carried *net_carried_post(const struct net_network *, struct part_member to, ker_time when);
/* A message's envelope is the extension of its event; zeroes where there is none. */
void net_envelope_put(const struct net_network *, struct carried *, const struct net_envelope *);
struct net_envelope net_envelope_take(const struct net_network *, const struct carried *);
/* net_network.fresh, into the order (source, number); words on own messages first. */
void net_carried_sort(struct net_network *);

void net_coordinator_group_add(struct net_network *, struct part_groups *);
void net_coordinator_make(struct net_network *); /* on the rank where it lives */
void net_coordinator_free(struct coordinator *); /* takes NULL */
void net_coordinator_state(struct coordinator *, struct ker_chunk *);
