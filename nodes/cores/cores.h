/* cores.h - what runs on the cores of a node and moves bytes through its memory: loads. Private to nodes/,
 * and only of nodes with more than the simple model (node_model.works).
 *
 * A load is a piece of work. It has a compute part, which goes on at the speed of its core, and a flow
 * (flow.h); it has ended when both have. Speeds and rates change when a load of the node starts or a part of
 * one ends. Within an instant loads come and go as they like: speeds and rates are found once, at its end, as
 * they count from there on.
 */
#ifndef NODES_CORES_H
#define NODES_CORES_H

#include "nodes/cores/flow.h"
#include "nodes/nodes.h"

struct node_load {
    uint32_t next; /* of the node's; KER_NONE: it is the last */
    uint32_t number, core;
    uint8_t service;
    uint32_t speed;         /* of the compute part, in NODE_SPEED */
    unsigned __int128 left; /* of the compute part: ps x NODE_SPEED */
    uint64_t needs;         /* rate that its flow needs to keep up with the compute part at NODE_SPEED */
    ker_time began, until;  /* until: the compute part has ended then; KER_TIME_MAX: it has not */
    struct node_flow flow;
};

/* What the nodes of a rank share. */
struct node_memory {
    KER_POOL(struct node_load) loads;
    uint32_t resources;
    struct node_resource *resource; /* the controllers, by domain */
    struct node_flow **flow;        /* while rates are found */
    uint32_t flows;                 /* room */
};

/* Of a node. */
struct node_cores {
    uint32_t first;     /* of its loads; KER_NONE: none */
    bool changed;       /* some part of a load has started or ended in this instant */
    ker_time since;     /* its loads stand at this time */
    ker_time armed;     /* a timer is set for this time, none for an earlier one; KER_TIME_MAX: none */
    uint16_t *busy;     /* by core: loads that compute there */
    node_bytes moved[]; /* by resource */
};

/* cores.c */
struct node_memory *node_memory_new(const struct node_model *, const struct node_structure *);
void node_memory_free(struct node_memory *);
void node_cores_attach(struct node *);
void node_cores_release(struct node *);
/* The node's timer. */
void node_cores_due(struct node *, ker_time now);
/* Tells the service of a load that has ended by now; false: none has. */
bool node_cores_deliver(struct node *, ker_time now);
/* At the end of an instant. */
void node_cores_act(struct node *, ker_time now);

/* cores_state.c */
void node_cores_state(struct node *, struct ker_chunk *);

#endif
