/* queue.c - the offers that wait for an adapter of a node with several: first in, first out. */
#include "nodes/private.h"

void node_queue_put(struct node *n, uint32_t adapter, const struct net_offer *offer)
{
    struct node_system *system = n->system;
    struct node_queue *queue = &node_offers(n)->queue[adapter];
    uint32_t index = KER_POOL_TAKE(&system->queued, NULL);
    system->queued.at[index] = (struct node_queued){KER_NONE, *offer};
    if (queue->first == KER_NONE)
        queue->first = index;
    else
        system->queued.at[queue->last].next = index;
    queue->last = index;
}

void node_queue_take(struct node *n, uint32_t adapter, struct net_offer *offer)
{
    struct node_system *system = n->system;
    struct node_queue *queue = &node_offers(n)->queue[adapter];
    uint32_t index = queue->first;
    *offer = system->queued.at[index].offer;
    queue->first = system->queued.at[index].next;
    KER_POOL_GIVE(&system->queued, index);
}
