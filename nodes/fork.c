/* fork.c - nodes at a fork (docs/checkpoints.md): services that are new or have something new start; offers
 * whose time has not come are renewed.
 *
 * Open-loop messages are asked for ahead: one waits at each adapter, others in the queues of the node. When
 * the law of their source changes at a fork, those that were to be created later are created by the new law.
 * They keep destination and size; the parts of one message keep one time. Invariant: what is renewed has not
 * been seen by the network, so that nothing depends on how far ahead a rank had asked.
 */
#include "nodes/private.h"

#include <stdlib.h>

/* ---- services ---- */

static bool starts_anew(const struct node *n)
{
    const struct node_services *all = n->system->services;
    bool starts = false;
    for (uint32_t s = 0; s < all->count; s++) {
        const struct node_service *service = all->at[s].service;
        if (n->state[s])
            starts |= n->loaded >> s & 1 ? service->forked != NULL : service->start || service->offer;
    }
    return starts;
}

void node_system_forked(struct node_system *system, ker_time at)
{
    for (uint32_t i = 0; i < system->nodes; i++) {
        struct node *n = node_of(system, i);
        if (starts_anew(n))
            node_timer_post(n, at, NODE_TIMER_START, 0);
    }
}

/* ---- offers ---- */

/* An offer that is to be renewed. */
struct ahead {
    ker_time *created, before; /* before: what it was */
    uint32_t order;            /* as found */
    uint8_t service, part;
};

struct aheads {
    struct ahead *at;
    uint32_t count, room;
    ker_time fork;
};

static void ahead_add(struct aheads *all, ker_time *created, uint8_t service, uint8_t part)
{
    struct ahead one = {created, created ? *created : 0, all->count, service, part};
    if (created && *created >= all->fork)
        *KER_PUSH(all->at, all->count, all->room) = one;
}

KER_ORDER_BY(ahead_compare, struct ahead, before, order)

/* At the adapters, then behind them, then not yet given to an adapter: so the order of each source is kept.
 */
static void aheads_find(struct node *n, struct aheads *all)
{
    struct node_system *system = n->system;
    uint8_t service = 0, part = 0;
    for (uint32_t a = 0; a < system->model.adapters; a++)
        ahead_add(all, system->carrier.offered(node_adapter(n, a), &service, &part), service, part);
    for (uint32_t a = 0; node_offers(n) && a < system->model.adapters; a++)
        for (uint32_t i = node_offers(n)->queue[a].first; i != KER_NONE; i = system->queued.at[i].next) {
            struct net_offer *offer = &system->queued.at[i].offer;
            ahead_add(all, &offer->created, offer->service, offer->part);
        }
    for (uint32_t s = 0; node_offers(n) && s < system->services->count; s++)
        if (node_offers(n)->source[s].has)
            ahead_add(all, &node_offers(n)->source[s].next.created, (uint8_t)s, NET_WHOLE);
}

/* Parts of one message have one time; parts of two messages that had the same time have, too. */
static bool goes_with(const struct ahead *a, const struct ahead *before)
{
    return a->part != NET_WHOLE && before->part != NET_WHOLE && a->before == before->before &&
           a->service == before->service;
}

/* What will not be created has the time KER_TIME_MAX from here on; what an adapter has numbered cannot be
 * taken away, and keeps its time. */
static void aheads_renew(struct node *n, struct aheads *all)
{
    const struct node_services *services = n->system->services;
    const struct net_carrier *carrier = &n->system->carrier;
    bool numbered = carrier->numbers && carrier->numbers(node_adapter(n, 0));
    if (all->count > 1)
        qsort(all->at, all->count, sizeof *all->at, ahead_compare);
    for (uint32_t i = 0; i < all->count; i++) {
        struct ahead *a = &all->at[i];
        if (i > 0 && goes_with(a, a - 1))
            *a->created = *a[-1].created;
        else if (services->at[a->service].service->renew &&
                 !services->at[a->service].service->renew(n->state[a->service], a->created))
            *a->created = numbered ? a->before : KER_TIME_MAX;
    }
}

static void queue_sweep(struct node *n, uint32_t adapter)
{
    struct node_queue kept = {KER_NONE, KER_NONE}, *queue = &node_offers(n)->queue[adapter];
    uint32_t next = queue->first;
    *queue = kept;
    while (next != KER_NONE) {
        uint32_t index = next;
        struct net_offer offer = n->system->queued.at[index].offer;
        next = n->system->queued.at[index].next;
        KER_POOL_GIVE(&n->system->queued, index);
        if (offer.created != KER_TIME_MAX)
            node_queue_put(n, adapter, &offer);
    }
}

static void node_renew(struct node *n, struct aheads *all)
{
    struct node_system *system = n->system;
    all->count = 0;
    aheads_find(n, all);
    aheads_renew(n, all);
    for (uint32_t s = 0; node_offers(n) && s < system->services->count; s++) {
        struct node_source *source = &node_offers(n)->source[s];
        source->has &= source->next.created != KER_TIME_MAX;
        source->ended = false;
    }
    for (uint32_t a = 0; a < system->model.adapters; a++) {
        if (node_offers(n))
            queue_sweep(n, a);
        if (node_adapter_serves(n, a))
            system->carrier.renewed(node_adapter(n, a), all->fork);
    }
}

void node_system_renew(struct node_system *system, ker_time at)
{
    struct aheads all = {.fork = at};
    for (uint32_t i = 0; i < system->nodes; i++) {
        struct node *n = node_of(system, i);
        bool offers = false;
        for (uint32_t s = 0; s < system->services->count; s++)
            offers |= n->state[s] && system->services->at[s].service->offer;
        if (offers)
            node_renew(n, &all);
    }
    free(all.at);
}
