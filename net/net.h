/* net.h - packets, links, switches, adapters: the network as components of the engine.
 *
 * A node component consists of its adapter (here) and a client above it (nodes/, tasks/), joined by ordinary calls. The
 * client hands messages to the adapter; the adapter cuts them into packets, injects them, and reassembles
 * what arrives. This header is what a client sees.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include "kernel/kernel.h"
#include "routing/routing.h"
#include "stats/stats.h"

struct net_node; /* one node component, opaque */

/* What the receiving client needs to know of a message, opaque to the network; it costs no simulated bytes. */
struct net_envelope {
    uint64_t word[6];
};

struct net_message {
    uint32_t source, destination; /* nodes */
    uint64_t bytes;               /* payload */
    ker_time created;             /* when it was handed to the source's adapter */
    struct net_envelope envelope;
};

/* What open-loop traffic gives the adapter, message by message, so that the source queue needs no memory. */
struct net_offer {
    ker_time created; /* not decreasing from offer to offer; may lie in the future; KER_TIME_MAX: no more */
    uint32_t destination;
    uint64_t bytes;
};

/* The client above an adapter. All functions run at the node's instant `now`. Any may be NULL but arrived. */
struct net_client {
    const char *name;
    /* Once, at time 0, before anything else. */
    void (*start)(struct net_node *, ker_time now);
    /* The last byte of a message is here. */
    void (*arrived)(struct net_node *, ker_time now, const struct net_message *);
    /* The last byte of the message sent with this cookie has left the adapter (source buffer reusable). */
    void (*sent)(struct net_node *, ker_time now, uint64_t cookie);
    /* A timer set by net_timer. */
    void (*timer)(struct net_node *, ker_time now, uint32_t timer);
    /* Open-loop source: the next message; called again when the one before has been injected. false: none. */
    bool (*offer)(struct net_node *, struct net_offer *);
};

/* Hands a message to the adapter at now. destination must not be the node itself. bytes may be 0 (one packet of header only).
 * priority < number of classes. The envelope may be NULL. */
void net_send(struct net_node *, ker_time now, uint32_t destination, uint64_t bytes, const struct net_envelope *,
              uint64_t cookie, unsigned priority);
/* Calls client->timer(node, when, timer) at `when` > now (or == now: in the same instant's act phase is not
 * possible, so when must be > now). Cannot be cancelled; the client ignores stale ones. timer < 65536; two timers of one node at one
 * instant with the same number are both delivered. */
void net_timer(struct net_node *, ker_time when, uint32_t timer);

uint32_t net_node_id(const struct net_node *);
void *net_node_client(const struct net_node *); /* the client's state for this node */
/* Something visible in the model happened: simulated_time_ps is the latest of these (deliveries are counted by the network itself). */
void net_node_touch(struct net_node *, ker_time when);

#endif
