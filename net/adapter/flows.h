/* flows.h - what an adapter has to send: messages in flows, flows in rings, one ring per level. Private to
 * adapter.c, and inline, as every message passes here.
 *
 * A flow holds the messages of one destination, priority class and queue (enum net_queue), first in, first
 * out; with adapter.queues = "fifo" it holds those of all destinations. The flows of a level form a ring in
 * which they take turns; a node keeps the one served last. A flow is named by its first message, whose record
 * says the rest. Levels are served from the highest to the lowest:
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
    unsigned level = flow_level(net, o);
    uint32_t *last = flow_last(a, level);
    o->next = NET_NONE;
    o->tail = o->turn = index;
    a->backlog += o->left;
    if (a->waiting >> level & 1) {
        uint32_t f = *last;
        do {
            struct net_outgoing *first = &net->outgoing.at[f];
            if ((first->destination == o->destination || net->set.fifo_adapter) && first->queue == o->queue) {
                net->outgoing.at[first->tail].next = index;
                first->tail = index;
                return;
            }
            f = first->turn;
        } while (f != *last);
        o->turn = net->outgoing.at[*last].turn;
        net->outgoing.at[*last].turn = index;
    }
    *last = index;
    a->waiting |= 1u << level;
    a->hold = 0;
}

/* Takes the first message out of its flow: what is the flow now, or NET_NONE: it was the last, and the flow
 * has left its ring. previous: the flow before it, perhaps itself. The caller says which was served last. */
static inline uint32_t flow_advance(struct net_adapter *a, unsigned level, uint32_t previous, uint32_t flow)
{
    struct net_network *net = a->net;
    const struct net_outgoing *o = &net->outgoing.at[flow];
    uint32_t next = o->next, turn = o->turn;
    if (next != NET_NONE) {
        net->outgoing.at[next].tail = o->tail;
        net->outgoing.at[next].turn = turn == flow ? next : turn;
        turn = next;
    }
    if (previous != flow)
        net->outgoing.at[previous].turn = turn;
    else if (next == NET_NONE)
        a->waiting &= ~(1u << level);
    return next;
}

#endif
