/* private.h - the state of nodes; private to nodes/. */
#pragma once

#include "kernel/engine/engine.h"
#include "nodes/cores/cores.h"
#include "nodes/nodes.h"

/* A message in transit inside a node: to the adapter's doorbell, or copied to the node itself; or from the
 * adapter, when its queue is NODE_COMES: then core is the node that it comes from, cookie when it was
 * created. */
#define NODE_COMES 0xff
struct node_delayed {
    uint32_t next; /* of the node's list; KER_NONE: it is the last */
    uint8_t service, priority, queue;
    bool has_envelope;
    uint32_t destination, core;
    ker_time due, created;
    uint64_t bytes, cookie;
    struct net_envelope envelope;
};

/* A message in parts, at its receiver or at its sender. */
struct node_stripe {
    uint32_t node, source, number; /* key: node + 1; its source */
    uint32_t parts;                /* that are still to come, or to leave */
    uint64_t bytes, cookie;        /* that are here; the service's */
};

/* Open-loop messages of a node, see offer.c. */
struct node_source {
    struct net_offer next;
    bool has, ended;
};
struct node_queue {
    uint32_t first, last;
};
struct node_queued {
    uint32_t next;
    struct net_offer offer;
};
struct node_offers {
    struct node_source *source; /* by service */
    struct node_queue *queue;   /* by adapter */
};

struct node_system {
    struct node_model model;
    const struct node_noise *noise;    /* NULL: none */
    size_t adapter_at, adapter_stride; /* bytes from a node to its first adapter, and on to the next */
    struct ker_table stripes;
    KER_POOL(struct node_queued) queued;
    const struct node_services *services;
    struct ker_engine *engine;
    struct net_carrier carrier;
    struct net_network *network;
    uint32_t nodes;
    uint32_t offers_at; /* of struct node.state; 0: there are none */
    bool several;       /* adapters, or the path to one takes time: see rail.c */
    KER_POOL(struct node_delayed) delayed;
    struct node_memory *memory; /* NULL: the simple model */
    struct ker_class class;
    struct net_message *fresh; /* direct ones to the node whose instant it is */
    uint32_t fresh_count, fresh_room;
};

/* One cache line with up to four services. */
struct node {
    struct node_system *system;
    uint32_t id, self; /* self: the component */
    uint32_t delayed;  /* in order of (due, insertion), or KER_NONE */
    uint32_t messages; /* number of the next */
    uint32_t turn;     /* of adapters or cores */
    uint16_t steps;    /* services that have steps to do: a bit each */
    uint16_t loaded;   /* services whose state came from a checkpoint: a bit each */
    void *state[]; /* of the services; behind them struct node_cores and node_offers, where there are some */
};

/* Of a message, whose service is as node_send has it. */
static inline uint32_t node_receiver_of(uint32_t service)
{
    return service & (NODE_MAX_SERVICES - 1);
}
static inline uint32_t node_sender_of(uint32_t service)
{
    return node_receiver_of(service ^ service >> 4);
}

/* The i-th of this rank. */
static inline struct node *node_of(const struct node_system *system, uint32_t i)
{
    return system->carrier.node(system->network, i);
}

static inline struct node_cores *node_cores(const struct node *n)
{
    return n->state[n->system->services->count];
}

/* NULL: one adapter, and one open-loop source at most. */
static inline struct node_offers *node_offers(const struct node *n)
{
    return n->system->offers_at ? n->state[n->system->offers_at] : NULL;
}

/* The services that timers name: the node's own, then those of nodes.h from NODE_SERVICE on. */
enum {
    NODE_TIMER_DELAYED,
    NODE_TIMER_ADAPTER,
    NODE_TIMER_START,
    NODE_TIMER_READS, /* in ADAPTER's place, where adapters read memory */
    NODE_TIMER_CORES,
    NODE_TIMER_SERVICE
};

/* A timer's key is (time, component, service, number): the engine orders a component's timers of an instant
 * by port, then channel. */
static inline uint32_t node_timer_key(uint32_t service, uint32_t number)
{
    return service << 16 | number;
}

/* timer.c: a wake-up of the service at `when`, with this number. */
void node_timer_post(const struct node *, ker_time when, uint32_t service, uint32_t number);

static inline const struct node_structure *node_structure_of(const struct node *n)
{
    return node_structure_at(n->system->model.kinds, n->id);
}

static inline struct net_adapter *node_adapter(const struct node *n, uint32_t adapter)
{
    size_t at = n->system->adapter_at;
    if (__builtin_expect(adapter != 0, 0))
        at += adapter * n->system->adapter_stride;
    return (struct net_adapter *)(void *)((char *)(uintptr_t)n + at);
}

/* Do adapters read and write memory through what else happens there? */
static inline bool node_has_dma(const struct node_model *model)
{
    return model->rates.bus != UINT64_MAX;
}
/* How many adapters it has, the first ones of the topology's; and of those that another node has, too. */
static inline uint32_t node_adapters(const struct node *n)
{
    const struct node_model *model = &n->system->model;
    return __builtin_expect(model->uneven, 0) ? node_structure_of(n)->adapters : model->adapters;
}
static inline uint32_t node_adapters_to(const struct node *n, uint32_t node)
{
    uint32_t own = node_adapters(n), there = own;
    if (__builtin_expect(n->system->model.uneven, 0))
        there = node_structure_at(n->system->model.kinds, node)->adapters;
    return own < there ? own : there;
}
/* Is there a path between memory and adapters that takes time? */
static inline bool node_has_path(const struct node_model *model)
{
    return model->bus_latency || model->interrupt_latency || model->socket_latency || node_has_dma(model);
}

/* rail.c: of nodes with several adapters */
void node_rail_send(struct node *, ker_time now, struct net_send *, uint32_t core);
/* How long the message takes to the adapter, which is chosen: *core is NODE_BY_ADAPTER of it, or as it was
 * for a message in parts, of which all adapters are notified at once. */
ker_time node_rail_path(struct node *, ker_time now, const struct net_send *, uint32_t *core);
/* From the memory of a core's socket to the adapter. */
ker_time node_path_to(const struct node *, uint32_t core, uint32_t adapter);
/* delay.c: the same for several == true, via the bus. */
void node_path_send(struct node *, ker_time now, struct net_send *, uint32_t core);
/* number.c: the number of the next message, with its job; envelope: NULL, it has none. */
uint32_t node_number_by_job(struct node *, uint32_t service, const struct net_envelope *);
static inline uint32_t node_number(struct node *n, uint32_t service, const struct net_envelope *envelope)
{
    if (__builtin_expect(n->system->model.by_job, 0))
        return node_number_by_job(n, service, envelope);
    return n->messages++;
}
/* To the adapter, or one of them; send->destination is a node. */
static inline void node_inject(struct node *n, ker_time now, struct net_send *send, uint32_t core)
{
    send->number = node_number(n, send->service, send->envelope);
    if (__builtin_expect(n->system->several, 0))
        node_path_send(n, now, send, core);
    else
        n->system->carrier.send(node_adapter(n, 0), now, send);
}

void node_rail_offer(struct node *, struct net_offer *, uint32_t asking);
/* A part has left, or is here. true: the last; then *cookie is the service's, m the whole message. */
bool node_stripe_sent(struct node *, uint64_t *cookie);
bool node_stripe_arrived(struct node *, ker_time now, struct net_message *m);
extern const struct ker_table_kind node_stripe_kind;
/* Made, of this many parts, when it is not there. */
struct node_stripe *node_stripe_find(struct node *, uint32_t source, uint32_t number, uint32_t parts);

/* Has the adapter a core that sends by it? */
bool node_adapter_serves(const struct node *, uint32_t adapter);

/* direct.c: node_message.direct, and what has come of them: events of this port. */
#define NODE_PORT_DIRECT UINT16_MAX
void node_direct_send(struct node *, ker_time now, uint32_t service, const struct node_message *);
void node_direct_arrived(struct node *, const struct ker_event *);
/* system->fresh, of one instant, in its order; returns how many, and none is left. */
uint32_t node_direct_sort(struct node_system *);

/* queue.c */
void node_queue_put(struct node *, uint32_t adapter, const struct net_offer *);
void node_queue_take(struct node *, uint32_t adapter, struct net_offer *); /* there is one */

/* offer.c */
void node_offers_init(struct node *);
void node_offers_release(struct node *);
bool node_offer_next(struct node *, uint32_t adapter, struct net_offer *);

/* delay.c */
void node_delayed_keep(struct node *, const struct node_delayed *); /* in the list; no timer */
void node_delayed_add(struct node *, ker_time due, const struct node_delayed *);
/* Hands over the first that is due, or begins to copy it; false: none is. */
bool node_delayed_deliver(struct node *, ker_time now);
/* Of a message that is being copied: it has left its sender; it is there. */
void node_delayed_left(struct node *, ker_time now, uint32_t index);
void node_delayed_copied(struct node *, ker_time now, uint32_t index);
/* Of one that has passed through an adapter and back: its sender is notified, it is there after
 * node_loop_back. */
void node_delayed_looped(struct node *, ker_time now, uint32_t index);
void node_delayed_state(struct ker_chunk *, struct node_delayed *);
