/* hubs.c - circles that are known without a search.
 *
 * Of 64 links of a layer, the hubs, it is known for every link whether it leads to them, and whether they
 * lead to it. A dependency of `link` on `next` closes a circle where `next` leads to a hub that leads to
 * `link`. Dependencies are only added: what a new one leads to is marked as far as something changes. Hubs
 * are links at which searches have met before, since most circles of a layer pass through few places. At a
 * renewal the half of the hubs that answered fewest questions make room for where searches have met since,
 * and one pass along the topological order in each direction finds what leads where. That costs about as much
 * as looking at all links in searches, and is done when searches that met have looked at as many.
 *
 * No answer depends on it, only how fast it is found.
 */
#include "routing/tables/hubs.h"

#include <stdlib.h>
#include <string.h>

void route_hubs_release(struct route_hubs *h)
{
    free(h->changed);
}

void route_hubs_met(struct route_hubs *h, uint32_t link, uint32_t found)
{
    h->met[h->meets++ % ROUTE_HUBS] = link;
    h->found += found;
}

/* Half of those that there is room for: the ones with fewest hits. */
static void hubs_drop(struct route_hubs *h)
{
    while (h->count > ROUTE_HUBS / 2) {
        uint32_t least = 0;
        for (uint32_t i = 1; i < h->count; i++)
            if (h->hits[i] < h->hits[least])
                least = i;
        h->count--;
        h->hub[least] = h->hub[h->count];
        h->hits[least] = h->hits[h->count];
    }
    for (uint32_t i = 0; i < h->count; i++)
        h->hits[i] /= 2;
}

static void hub_add(struct route_hubs *h, uint32_t link)
{
    for (uint32_t i = 0; i < h->count; i++)
        if (h->hub[i] == link)
            return;
    h->hits[h->count] = 0;
    h->hub[h->count++] = link;
}

/* The latest first. */
static void hubs_choose(struct route_hubs *h)
{
    uint32_t kept = h->meets < ROUTE_HUBS ? h->meets : ROUTE_HUBS;
    if (h->count + kept > ROUTE_HUBS)
        hubs_drop(h);
    for (uint32_t i = 1; i <= kept && h->count < ROUTE_HUBS; i++)
        hub_add(h, h->met[(h->meets - i) % ROUTE_HUBS]);
    h->meets = 0;
    h->found = 0;
}

/* ---- what leads where ---- */

/* Visits the links that a node waits for (ahead), or that wait for it. */
#define EACH_AHEAD(l, at, other)                                                                             \
    for (uint32_t first_ = (l)->wires->begin[(l)->wires->to[at]], w_ = 0, other; w_ < (l)->words; w_++)      \
        for (uint64_t rest_ = route_node(l, at)->leads[w_];                                                  \
             rest_ && ((other) = first_ + w_ * 64 + (uint32_t)__builtin_ctzll(rest_), true);                 \
             rest_ &= rest_ - 1)
#define EACH_BACK(l, at, other)                                                                              \
    for (uint32_t first_ = (l)->wires->begin[(l)->wires->from[at]], w_ = 0, other; w_ < (l)->words; w_++)    \
        for (uint64_t rest_ = route_node(l, at)->leads[(l)->words + w_];                                     \
             rest_ &&                                                                                        \
             ((other) = (l)->wires->reverse[first_ + w_ * 64 + (uint32_t)__builtin_ctzll(rest_)], true);     \
             rest_ &= rest_ - 1)

static inline void hubs_add(struct route_hubs *h, uint64_t *of, uint32_t link, uint64_t hubs)
{
    if (!(hubs & ~*of))
        return;
    *of |= hubs;
    *KER_PUSH(h->changed, h->changes, h->room) = link;
}

void route_hubs_add(struct route_hubs *h, const struct route_nodes *l, uint32_t link, uint32_t next)
{
    hubs_add(h, &route_node(l, next)->from, next, route_node(l, link)->from);
    while (h->changes) {
        uint32_t at = h->changed[--h->changes];
        EACH_AHEAD(l, at, other)
        hubs_add(h, &route_node(l, other)->from, other, route_node(l, at)->from);
    }
    hubs_add(h, &route_node(l, link)->to, link, route_node(l, next)->to);
    while (h->changes) {
        uint32_t at = h->changed[--h->changes];
        EACH_BACK(l, at, other)
        hubs_add(h, &route_node(l, other)->to, other, route_node(l, at)->to);
    }
}

void route_hubs_renew(struct route_hubs *h, const struct route_nodes *l)
{
    uint32_t links = l->wires->links;
    if (h->found <= links)
        return;
    hubs_choose(h);
    for (uint32_t i = 0; i < links; i++)
        route_node(l, i)->to = route_node(l, i)->from = 0;
    for (uint32_t i = 0; i < h->count; i++)
        route_node(l, h->hub[i])->to = route_node(l, h->hub[i])->from = 1ull << i;
    for (uint32_t at = route_node(l, links)->after; at != links; at = route_node(l, at)->after)
        if (route_node(l, at)->from)
            EACH_AHEAD(l, at, other)
    route_node(l, other)->from |= route_node(l, at)->from;
    for (uint32_t at = route_node(l, links)->before; at != links; at = route_node(l, at)->before)
        if (route_node(l, at)->to)
            EACH_BACK(l, at, other)
    route_node(l, other)->to |= route_node(l, at)->to;
}
