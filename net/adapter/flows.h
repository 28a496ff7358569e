/* flows.h - what an adapter has to send: messages in flows, flows in rings, one ring per level. Private to
 * adapter.c, and inline, as every message passes here.
 *
 * A flow holds the messages of one destination, priority class and queue (enum net_queue), first in, first
 * out; with adapter.queues = "fifo" it holds those of all destinations. The flows of a level form a ring in
 * which they take turns; a node keeps the one served last. Levels are served from the highest to the lowest:
 * first by class, and within a class, with adapter.control = "first", control messages before the others. The
 * bits of `waiting` say which levels have a flow. Invariant: a flow in a ring has a message.
 */
#ifndef NET_FLOWS_H
#define NET_FLOWS_H

#include "net/network.h"

/* ---- rings ---- */

/* The flow of this level that was served last; all others come before it. */
static inline uint32_t *flow_last(struct net_adapter *a, unsigned level)
{
    return &a->credit[a->net->set.rings + level];
}

static inline unsigned flow_level(const struct net_network *net, const struct net_outgoing *o)
{
    return o->priority * 2u + (o->queue == NET_QUEUE_CONTROL && net->set.control == NET_CONTROL_FIRST);
}

/* The highest of some levels, at least one. */
static inline unsigned level_highest(uint32_t levels)
{
    return 31u - (unsigned)__builtin_clz(levels);
}

/* Puts a message behind the others of its flow; a new flow gets its turn last. */
static inline void flow_append(struct net_adapter *a, uint32_t index)
{
    struct net_network *net = a->net;
    struct net_outgoing *o = &net->outgoing.at[index];
    uint32_t destination = net->set.fifo_adapter ? 0 : o->destination;
    unsigned level = flow_level(net, o);
    uint32_t *last = flow_last(a, level);
    o->next = NET_NONE;
    a->backlog += o->bytes;
    if (a->waiting >> level & 1) {
        uint32_t f = *last;
        do {
            struct net_flow *flow = &net->flow.at[f];
            /* the queue of its messages stands in the record that is written anyway */
            if (flow->destination == destination && net->outgoing.at[flow->tail].queue == o->queue) {
                net->outgoing.at[flow->tail].next = index;
                flow->tail = index;
                return;
            }
            f = flow->next;
        } while (f != *last);
    }
    uint32_t fresh = KER_POOL_TAKE(&net->flow, NULL);
    struct net_flow *flow = &net->flow.at[fresh];
    *flow = (struct net_flow){destination, index, index, fresh};
    if (a->waiting >> level & 1) {
        flow->next = net->flow.at[*last].next;
        net->flow.at[*last].next = fresh;
    }
    *last = fresh;
    a->waiting |= 1u << level;
    a->hold = 0;
}

/* Takes an empty flow out of its ring; previous is the one before it. */
static inline void flow_remove(struct net_adapter *a, unsigned level, uint32_t previous, uint32_t flow)
{
    struct net_network *net = a->net;
    if (previous == flow) {
        a->waiting &= ~(1u << level);
    } else {
        net->flow.at[previous].next = net->flow.at[flow].next;
        *flow_last(a, level) = previous;
    }
    KER_POOL_GIVE(&net->flow, flow);
}

#endif
