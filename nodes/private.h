/* private.h - the state of nodes; private to nodes/. */
#ifndef NODES_PRIVATE_H
#define NODES_PRIVATE_H

#include "nodes/nodes.h"

/* A message on its way inside a node: to the adapter's doorbell, or copied to the node itself. */
struct node_delayed {
    uint32_t next; /* of the node's, or of the free ones; index + 1, 0: none */
    uint16_t service;
    uint8_t priority, queue;
    bool has_envelope;
    uint32_t destination;
    ker_time due, created;
    uint64_t bytes, cookie;
    struct net_envelope envelope;
};

struct node_system {
    struct node_model model;
    const struct node_services *services;
    struct ker_engine *engine;
    struct net_network *network;
    uint32_t nodes;
    struct node_delayed *delayed; /* pool */
    uint32_t delayed_free, delayed_room;
};

/* One cache line with up to three services. */
struct node {
    struct node_system *system;
    struct net_adapter *adapter;
    uint32_t id, self; /* self: the component */
    uint32_t delayed;  /* in order of (due, insertion); index + 1, 0: none */
    bool steps;        /* some service has steps to do */
    void *state[];     /* of the services */
};

/* The services that timers name: the node's own, then those of nodes.h from NODE_SERVICE on. */
enum { NODE_TIMER_DELAYED, NODE_TIMER_ADAPTER, NODE_TIMER_START, NODE_TIMER_SERVICE };

/* A timer's key is (time, component, service, number): the engine orders a component's timers of an instant
 * by port, then channel. */
static inline uint32_t node_timer_key(uint32_t service, uint32_t number)
{
    return service << 16 | number;
}

void node_timer_post(const struct node *, ker_time when, uint32_t service, uint32_t number);

/* delay.c */
void node_delayed_keep(struct node *, const struct node_delayed *); /* in the list; no timer */
void node_delayed_add(struct node *, ker_time due, const struct node_delayed *);
/* Hands over the first that is due; false: none is. */
bool node_delayed_deliver(struct node *, ker_time now);

#endif
