/* host.c - what a node reports to its adapters, and asks of them, beside messages: credits, timers, the end
 * of a read of its memory; how much waits, what is reached. */
#include "net/adapter/adapter.h"
#include "net/adapter/flows.h"
#include "net/credits.h"

void net_adapter_credit(struct net_adapter *a, uint8_t channel, uint32_t bytes)
{
    credits_add(a->credit, channel, bytes, a->net->set.buffer);
}

void net_adapter_woken(struct net_adapter *a, ker_time now)
{
    if (a->wake <= now)
        a->wake = KER_TIME_MAX;
}

void net_adapter_timer(struct net_adapter *a, ker_time now)
{
    struct net_network *net = a->net;
    uint32_t last = a->leaving_last, index = net->outgoing.at[last].next,
             service = net->outgoing.at[index].service;
    enum net_part part = net->outgoing.at[index].part;
    uint64_t cookie = net->outgoing.at[index].cookie;
    net->outgoing.at[last].next = net->outgoing.at[index].next;
    a->leaving_last = index == last ? NET_NONE : last;
    net_outgoing_give(a, index);
    net->host.sent(net_node_of(a), now, service, part, cookie);
}

void net_adapter_left(struct net_adapter *a, ker_time now)
{
    if (net_dma_of(a)->reads)
        net_dma_of(a)->leaves = true;
    else
        net_adapter_timer(a, now);
}

void net_adapter_read(struct net_adapter *a, ker_time now)
{
    struct net_adapter_dma *dma = net_dma_of(a);
    bool leaves = dma->leaves;
    dma->reads = dma->leaves = false;
    if (leaves)
        net_adapter_timer(a, now);
}

ker_time net_adapter_alone(const struct net_adapter *a, uint64_t bytes)
{
    return ker_serialisation(bytes, a->net->link[a->link].rate);
}

ker_time net_adapter_backlog(const struct net_adapter *a, ker_time now)
{
    ker_time sending = a->link_free > now ? a->link_free - now : 0;
    return sending + ker_serialisation(a->backlog, a->net->link[a->link].rate);
}

bool net_adapter_reaches(const struct net_adapter *a, ker_time now, uint32_t destination)
{
    return !a->net->faulty || route_reachable(a->net->topology, now, a->id, destination);
}

void net_adapter_offers(struct net_adapter *a)
{
    a->exhausted = false;
}

ker_time *net_adapter_offered(struct net_adapter *a, uint8_t *service, uint8_t *part)
{
    if (a->offered == NET_NONE || a->net->offered.at[a->offered].none)
        return NULL;
    struct net_offer *o = &a->net->offered.at[a->offered];
    *service = o->service;
    *part = o->part;
    return &o->created;
}

bool net_adapter_numbers(const struct net_adapter *a)
{
    return a->net->set.resequence;
}
