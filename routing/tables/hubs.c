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

#define FETCHED 16 /* links that are fetched before their turn */

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

/* Visits the links that one leads to. */
#define EACH(l, way, at, other)                                                                              \
    for (const struct route_node *node_ = route_node_of(l, way, at); node_; node_ = NULL)                    \
        for (uint32_t first_ = (l)->wires->begin[node_->to], w_ = 0, other; w_ < (l)->words; w_++)           \
            for (uint64_t rest_ = node_->leads[w_];                                                          \
                 rest_ && ((other) = first_ + w_ * 64 + (uint32_t)__builtin_ctzll(rest_), true);             \
                 rest_ &= rest_ - 1)

static inline void hubs_add(struct route_hubs *h, uint64_t *of, uint32_t link, uint64_t hubs)
{
    if (!(hubs & ~of[link]))
        return;
    of[link] |= hubs;
    *KER_PUSH(h->changed, h->changes, h->room) = link;
}

/* `to` has got what leads to `from`, and hands it on. */
static void hubs_spread(struct route_hubs *h, const struct route_nodes *l, enum route_way way, uint32_t from,
                        uint32_t to)
{
    uint64_t *of = l->side[way].hubs;
    hubs_add(h, of, to, of[from]);
    while (h->changes) {
        uint32_t at = h->changed[--h->changes];
        EACH(l, way, at, other)
        hubs_add(h, of, other, of[at]);
    }
}

void route_hubs_add(struct route_hubs *h, const struct route_nodes *l, uint32_t link, uint32_t next)
{
    const uint32_t *reverse = l->wires->reverse;
    hubs_spread(h, l, ROUTE_AHEAD, link, next);
    hubs_spread(h, l, ROUTE_BACK, reverse[next], reverse[link]);
}

static void hubs_begin(const struct route_hubs *h, const struct route_nodes *l)
{
    for (enum route_way way = 0; way < ROUTE_WAYS; way++) {
        uint64_t *of = l->side[way].hubs;
        memset(of, 0, l->wires->links * sizeof *of);
        for (uint32_t i = 0; i < h->count; i++)
            of[way == ROUTE_AHEAD ? h->hub[i] : l->wires->reverse[h->hub[i]]] = 1ull << i;
    }
}

/* The links of the layer in their order, found from both ends at once, as each is known only from the one
 * before; behind the last one there is room for those that are fetched. */
static uint32_t *order_list(const struct route_nodes *l)
{
    uint32_t links = l->wires->links, at = l->place[links].after, back = l->place[links].before;
    uint32_t *order = ker_alloc((links + 2ull * FETCHED) * sizeof *order), first = 0, end = links;
    while (first < end) {
        order[first++] = at;
        at = l->place[at].after;
        if (first == end)
            break;
        order[--end] = back;
        back = l->place[back].before;
    }
    return order;
}

/* What leads to a link leads to those behind it. */
static void hubs_hand_on(const struct route_nodes *l, enum route_way way, const uint32_t *order)
{
    const struct route_wires *wires = l->wires;
    uint64_t *of = l->side[way].hubs;
    for (uint32_t i = 0; i < wires->links; i++) {
        uint32_t at = order[i], near = order[i + FETCHED], far = order[i + 2 * FETCHED];
        const struct route_node *soon = route_node_of(l, way, near);
        uint64_t hubs = of[at];
        __builtin_prefetch(&of[far]);
        __builtin_prefetch(route_node_of(l, way, far));
        if (soon->leads[0])
            __builtin_prefetch(&of[wires->begin[soon->to] + (uint32_t)__builtin_ctzll(soon->leads[0])]);
        if (hubs)
            EACH(l, way, at, other)
        of[other] |= hubs;
    }
}

void route_hubs_renew(struct route_hubs *h, const struct route_nodes *l)
{
    uint32_t links = l->wires->links;
    if (h->found <= links)
        return;
    hubs_choose(h);
    hubs_begin(h, l);
    uint32_t *order = order_list(l);
    hubs_hand_on(l, ROUTE_AHEAD, order);
    for (uint32_t i = 0, end = links; i < end; i++) { /* back they have the numbers of their reverses */
        uint32_t link = order[i];
        order[i] = l->wires->reverse[order[--end]];
        order[end] = l->wires->reverse[link];
    }
    hubs_hand_on(l, ROUTE_BACK, order);
    free(order);
}
