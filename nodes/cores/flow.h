/* flow.h - flows: what moves bytes inside a node, and how flows share what they go through.
 *
 * A flow is the memory part of a computation, a copy, the stream of an adapter: it has bytes to move, a rate
 * that it has at most by itself, and resources that it goes through (memory controllers, links between
 * sockets, buses). Rates are max-min fair (kernel/base/share.h).
 */
#pragma once

#include "kernel/base/base.h"

#define NODE_FLOW_USES 8

typedef ker_moved node_bytes; /* bytes x 10^12 */
#define NODE_BYTE KER_MOVED_BYTE

struct node_flow {
    node_bytes left;     /* 0: it has ended, or there was nothing to move */
    uint64_t most, rate; /* at most by itself, > 0; now: 0 until it has been shared */
    uint16_t uses;
    struct ker_share_use use[NODE_FLOW_USES];
};

/* It takes its rate so many times of this resource (more often, if it does already). */
void node_flow_through(struct node_flow *, uint32_t resource, uint32_t times);

/* Sets the rates of all. */
void node_flows_share(struct node_flow **flow, uint32_t flows, struct ker_shared *, uint32_t resources);

/* Moves it on by so much time at its rate; returns what it has moved. */
static inline node_bytes node_flow_advance(struct node_flow *flow, ker_time time)
{
    node_bytes moved = (node_bytes)flow->rate * (uint64_t)time;
    moved = moved < flow->left ? moved : flow->left;
    flow->left -= moved;
    return moved;
}

static inline ker_time node_flow_takes(const struct node_flow *flow)
{
    return ker_moved_takes(flow->left, flow->rate);
}
