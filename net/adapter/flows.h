/* flows.h - what an adapter has to send: messages in flows, flows in rings, one ring per level. Private to
 * net/adapter/, and inline, as every message passes here.
 *
 * A flow holds the messages of one destination, priority class and queue (enum net_queue), first in, first
 * out; with adapter.queues = "fifo" it holds those of all destinations. The flows of a level form a ring in
 * which they take turns; a node keeps the one served last. A flow is a ring of messages, named by its last
 * one, behind which the first is. Levels are served from the highest to the lowest: first by class, and
 * within a class, with adapter.control = "first", control messages before the others. The bits of `waiting`
 * say which levels have a flow. Invariant: a flow in a ring has a message.
 */
#pragma once

#include "net/network.h"

/* ---- messages ---- */

/* Outgoing messages of neighbours lie together, and do so for the whole run: a free one is for its group of
 * adapters. By one list for all, those of a node would be spread over all memory as soon as the first had
 * left, and an adapter takes another at each packet. */
#define NET_OUTGOING_GROUP 3 /* adapters, as a power of two */
#define NET_OUTGOING_RUN 8   /* so many are taken at once */

/* outgoing.c: there is none free. Returns the first of the group's list. */
uint32_t net_outgoing_extend(struct net_network *, uint32_t group);

/* Not zeroed. */
static inline uint32_t net_outgoing_take(const struct net_adapter *a)
{
    struct net_network *net = a->net;
    uint32_t group = a->id >> NET_OUTGOING_GROUP,
             index = group < net->outgoing_groups ? net->outgoing_free[group] : NET_NONE;
    if (__builtin_expect(index == NET_NONE, 0))
        index = net_outgoing_extend(net, group);
    net->outgoing_free[group] = net->outgoing.at[index].next;
    return index;
}

static inline void net_outgoing_give(const struct net_adapter *a, uint32_t index)
{
    uint32_t *free = &a->net->outgoing_free[a->id >> NET_OUTGOING_GROUP];
    a->net->outgoing.at[index].next = *free;
    *free = index;
}

/* An offered message as one of a flow. */
static inline struct net_outgoing net_outgoing_offered(const struct net_offer *offer)
{
    return (struct net_outgoing){.left = offer->bytes,
                                 .place = NET_NONE,
                                 .created = offer->created,
                                 .destination = offer->destination,
                                 .priority = (uint8_t)offer->priority,
                                 .service = offer->service,
                                 .part = offer->part,
                                 .from_offer = true,
                                 .message = offer->number};
}

/* ---- rings ---- */

/* The flow of this level that was served last; all others come before it. */
static inline uint32_t *flow_last(struct net_adapter *a, unsigned level)
{
    return &a->credit[a->net->set.rings + level];
}
/* The flow behind it, probably, of the level that sends most packets, not of control messages; it is only
 * fetched. Without a place where nothing but offers is sent (net->sole). */
static inline uint32_t *flow_upcoming(struct net_adapter *a)
{
    return flow_last(a, net_ring_levels(a->net));
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

/* The flow's first message. */
static inline uint32_t flow_first(const struct net_network *net, uint32_t flow)
{
    return net->outgoing.at[flow].next;
}

/* Puts a message behind the others of its flow; a new flow gets its turn last. */
static inline void flow_append(struct net_adapter *a, uint32_t index)
{
    struct net_network *net = a->net;
    struct net_outgoing *o = &net->outgoing.at[index];
    unsigned level = flow_level(net, o);
    uint32_t *last = flow_last(a, level);
    o->next = o->turn = index;
    a->backlog += o->left;
    if (a->waiting >> level & 1) {
        struct net_outgoing *before = &net->outgoing.at[*last];
        do {
            uint32_t f = before->turn;
            struct net_outgoing *flow = &net->outgoing.at[f];
            if ((flow->destination == o->destination || net->set.fifo_adapter) && flow->queue == o->queue) {
                o->next = flow->next;
                o->turn = flow->turn == f ? index : flow->turn;
                flow->next = index;
                before->turn = index; /* in a ring of one it is the flow itself */
                *last = *last == f ? index : *last;
                return;
            }
            before = flow;
        } while (before != &net->outgoing.at[*last]);
        o->turn = before->turn;
        before->turn = index;
    }
    *last = index;
    a->waiting |= 1u << level;
    a->more->hold = 0;
}

/* Takes the first message out of its flow. false: it was the last, and the flow has left its ring. previous:
 * the flow before it, perhaps itself. The caller says which was served last. */
static inline bool flow_advance(struct net_adapter *a, unsigned level, uint32_t previous, uint32_t flow)
{
    struct net_network *net = a->net;
    struct net_outgoing *f = &net->outgoing.at[flow];
    if (f->next != flow) {
        f->next = net->outgoing.at[f->next].next;
        return true;
    }
    if (previous != flow)
        net->outgoing.at[previous].turn = f->turn;
    else
        a->waiting &= ~(1u << level);
    return false;
}
