/* flow.h - flows: what moves bytes inside a node, and how flows share what they use.
 *
 * A flow is the memory part of a computation, a copy, the stream of an adapter: it has bytes to move, a rate
 * that it has at most by itself, and resources that it uses (memory controllers, links between
 * sockets, buses). Of a resource it takes its rate once or several times: a copy inside one domain reads and
 * writes there, and takes twice its rate of the controller.
 *
 * Rates are max-min fair: no flow can have more without one that has no more than it having less. Found by
 * filling (Bertsekas and Gallager, Data Networks, 2nd edition, 6.5.2): the resource that has least for each
 * of its flows gives them that, unless some flow wants no more than this by itself; then what is left is
 * shared by the others in the same way.
 *
 * Everything is an integer: rates in bytes per second, rounded down (but at least 1), what is left in bytes x
 * 10^12, so that a rate times picoseconds is exact. What comes out does not depend on the order of the flows.
 */
#ifndef NODES_CORES_FLOW_H
#define NODES_CORES_FLOW_H

#include "kernel/base/base.h"

#define NODE_FLOW_USES 8

typedef unsigned __int128 node_bytes; /* bytes x 10^12 */
#define NODE_BYTE ((node_bytes)1000000000000u)

struct node_flow {
    node_bytes left;     /* 0: it has ended, or there was nothing to move */
    uint64_t most, rate; /* at most by itself, > 0; now: 0 until it has been shared */
    uint16_t uses;
    struct node_flow_use {
        uint16_t resource, times; /* each resource once */
    } use[NODE_FLOW_USES];
};

struct node_resource {
    uint64_t capacity;     /* bytes per second, > 0 */
    uint64_t room, wanted; /* while rates are found: what is left; of the flows that have none yet */
};

/* It takes its rate from this table resource (more often, if it does already). */
void node_flow_through(struct node_flow *, uint32_t resource, uint32_t times);

/* Sets the rates of all; changes their order. O(flows x (resources + different `most`)), in practice 2 or 3
 * times the flows. */
void node_flows_share(struct node_flow **flow, uint32_t flows, struct node_resource *, uint32_t resources);

/* Moves it on by so much time at its rate; returns what it has moved. */
static inline node_bytes node_flow_advance(struct node_flow *flow, ker_time time)
{
    node_bytes moved = (node_bytes)flow->rate * (uint64_t)time;
    moved = moved < flow->left ? moved : flow->left;
    flow->left -= moved;
    return moved;
}

/* How long it takes at its rate > 0, rounded up. */
static inline ker_time node_flow_takes(const struct node_flow *flow)
{
    const ker_time latest = 9000000 * KER_S; /* behind any run's end */
    node_bytes time = (flow->left + flow->rate - 1) / flow->rate;
    return time < (node_bytes)latest ? (ker_time)time : latest;
}

#endif
