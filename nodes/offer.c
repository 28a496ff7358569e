/* offer.c - open-loop sources of a node with several of them, or with several adapters.
 *
 * The messages of all sources are one sequence in the order of (created, service). It is drawn as far as
 * needed: until the adapter that asks has one. What is for another adapter waits in that one's queue, so the
 * choice of the adapter does not depend on who asks, but for node.rail = "least", where who asks first has
 * the least to do. Where all messages are for others (faults leave this adapter no route), it is informed
 * when to ask again, so that nobody draws to the end of the run. Invariant: an adapter is notified that there
 * are no more messages only when all sources have ended.
 */
#include "nodes/private.h"

#include <stdlib.h>

#define DRAWN_AHEAD 64 /* messages for others while one asks */

static struct node_source *source_first(struct node *n)
{
    const struct node_services *all = n->system->services;
    struct node_source *first = NULL;
    for (uint32_t s = 0; s < all->count; s++) {
        struct node_source *source = &node_offers(n)->source[s];
        if (!n->state[s] || !all->at[s].service->offer || source->ended)
            continue;
        if (!source->has) {
            source->next = (struct net_offer){.service = (uint8_t)s};
            source->has = all->at[s].service->offer(n->state[s], &source->next);
            source->ended = !source->has;
        }
        if (source->has && (!first || source->next.created < first->next.created))
            first = source;
    }
    return first;
}

bool node_offer_next(struct node *n, uint32_t adapter, struct net_offer *offer)
{
    const struct node_queue *queue = &node_offers(n)->queue[adapter];
    for (uint32_t drawn = 0; queue->first == KER_NONE; drawn++) {
        struct node_source *source = source_first(n);
        if (!source)
            return false;
        if (drawn == DRAWN_AHEAD) {
            *offer = (struct net_offer){.created = source->next.created, .none = true};
            return true;
        }
        source->has = false;
        struct net_offer message = source->next;
        message.number = node_number(n, message.service, NULL);
        node_rail_offer(n, &message, adapter);
    }
    node_queue_take(n, adapter, offer);
    return true;
}

void node_offers_init(struct node *n)
{
    uint32_t services = n->system->services->count, adapters = n->system->model.adapters;
    struct node_offers *offers = ker_alloc(sizeof *offers);
    ker_assert(n->system->offers_at);
    offers->source = ker_alloc(services * sizeof *offers->source);
    offers->queue = ker_alloc(adapters * sizeof *offers->queue);
    for (uint32_t i = 0; i < adapters; i++)
        offers->queue[i].first = KER_NONE;
    n->state[n->system->offers_at] = offers;
}

void node_offers_release(struct node *n)
{
    struct node_offers *offers = node_offers(n);
    if (!offers)
        return;
    free(offers->source);
    free(offers->queue);
    free(offers);
}
