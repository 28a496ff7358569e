/* flood.c - breadth-first searches from 512 switches at once (Then et al., "The more the merrier", 2014).
 *
 * A switch has a bit for each search. In every step the bits that were new in the step before (the front) go
 * over the links; what a switch gets that it has not had yet, it is that many links away from. Where fronts
 * are few they are pushed, where they are many every switch that lacks something asks its neighbours, and
 * stops when it has got all.
 *
 * Without weights the distances of neighbours differ by one at most, and two binary digits are enough to
 * compare them. With an order of the switches (up*down*) they may differ by more, since a switch from which a
 * path down leads has no other: all digits are kept then, and `below`, which switches these are. It is known
 * before the search, as down paths lie along the order.
 *
 * With weights a search of its own is done for one destination after the other, and its distances are put in.
 */
#include "routing/tables/flood.h"

#include <stdlib.h>
#include <string.h>

#define PUSH_COST 3 /* of a link that is pushed over, against one that is asked */

/* ---- arrays ---- */

static void digits_reserve(struct route_flood *f, unsigned digits)
{
    for (; f->digits_room < digits; f->digits_room++)
        f->digit[f->digits_room] = ker_reserve(f->bytes);
    f->digits = digits > f->digits ? digits : f->digits;
}

void route_flood_init(struct route_flood *f, const struct route_wires *wires, const uint32_t *weight,
                      const uint32_t *depth, const uint32_t *by_depth)
{
    *f = (struct route_flood){.wires = wires, .weight = weight, .depth = depth, .by_depth = by_depth};
    f->bytes = wires->switches * sizeof(route_wide);
    f->exact = weight || depth;
    f->seen = ker_reserve(f->bytes);
    f->front = ker_reserve(f->bytes);
    f->next = ker_reserve(f->bytes);
    f->below = depth ? ker_reserve(f->bytes) : NULL;
    f->list = ker_alloc(wires->switches * sizeof *f->list);
    f->next_list = ker_alloc(wires->switches * sizeof *f->next_list);
    digits_reserve(f, 2);
}

static void array_release(const struct route_flood *f, route_wide *array)
{
    if (array)
        ker_release(array, f->bytes);
}

void route_flood_release(struct route_flood *f)
{
    array_release(f, f->seen);
    array_release(f, f->front);
    array_release(f, f->next);
    array_release(f, f->below);
    for (unsigned i = 0; i < f->digits_room; i++)
        array_release(f, f->digit[i]);
    free(f->list);
    free(f->next_list);
    *f = (struct route_flood){0};
}

static void clear(struct route_flood *f)
{
    memset(f->seen, 0, f->bytes);
    memset(f->front, 0, f->bytes);
    memset(f->next, 0, f->bytes);
    for (unsigned i = 0; i < f->digits_room; i++)
        memset(f->digit[i], 0, f->bytes);
    f->digits = 2;
}

static inline void bit_set(route_wide *array, uint32_t at, uint32_t bit)
{
    array[at][bit / 64] |= 1ull << bit % 64;
}

/* The destinations themselves are the first front; returns how many switches that are. */
static uint32_t sources_set(struct route_flood *f, const uint32_t *to, route_wide *front, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        if (!route_wide_any(&front[to[i]]))
            list[count++] = to[i];
        bit_set(front, to[i], i);
    }
    return count;
}

/* ---- steps ---- */

struct step {
    uint32_t distance, active; /* switches of the front */
    uint64_t active_links, open_links;
    route_wide all; /* destinations */
};

/* The destinations that `peer` may hand on to `at`: by the order, if there is one, and not what it has. */
static inline void pass(const struct route_flood *f, uint32_t peer, uint32_t at, route_wide *bits)
{
    *bits = f->front[peer];
    if (f->depth)
        *bits &= f->depth[at] < f->depth[peer] ? f->below[peer] : ~f->below[at];
}

static uint32_t push(struct route_flood *f, const struct step *s)
{
    const struct route_wires *wires = f->wires;
    uint32_t found = 0;
    for (uint32_t k = 0; k < s->active; k++) {
        uint32_t at = f->list[k];
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
            route_wide bits;
            uint32_t peer = wires->to[i];
            pass(f, at, peer, &bits);
            bits &= ~f->seen[peer];
            if (!route_wide_any(&bits))
                continue;
            if (!route_wide_any(&f->next[peer]))
                f->next_list[found++] = peer;
            f->next[peer] |= bits;
        }
    }
    return found;
}

/* By the links from a switch: those to it are their other directions. */
static uint32_t pull(struct route_flood *f, const struct step *s)
{
    const struct route_wires *wires = f->wires;
    uint32_t found = 0;
    for (uint32_t at = 0; at < wires->switches; at++) {
        route_wide lacks = s->all & ~f->seen[at], got = {0}, bits;
        if (!route_wide_any(&lacks))
            continue;
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1] && route_wide_any(&lacks); i++) {
            pass(f, wires->to[i], at, &bits);
            bits &= lacks;
            got |= bits;
            lacks &= ~bits;
        }
        if (!route_wide_any(&got))
            continue;
        f->next[at] = got;
        f->next_list[found++] = at;
    }
    return found;
}

/* What has been found is the front now, and is seen at this distance. */
static void settle(struct route_flood *f, struct step *s, uint32_t found)
{
    const struct route_wires *wires = f->wires;
    for (uint32_t k = 0; k < s->active; k++)
        f->front[f->list[k]] ^= f->front[f->list[k]];
    route_flood_swap(f);
    s->active = found;
    s->active_links = 0;
    if (f->exact)
        digits_reserve(f, 32 - (unsigned)__builtin_clz(s->distance | 1));
    for (uint32_t k = 0; k < found; k++) {
        uint32_t at = f->list[k], links = wires->begin[at + 1] - wires->begin[at];
        f->seen[at] |= f->front[at];
        for (unsigned i = 0; i < f->digits; i++)
            if (s->distance >> i & 1)
                f->digit[i][at] |= f->front[at];
        route_wide lacks = s->all & ~f->seen[at];
        s->active_links += links;
        s->open_links -= route_wide_any(&lacks) ? 0 : links;
        if (wires->endpoints_at[at] && s->distance > f->most_links)
            f->most_links = s->distance;
    }
}

static void steps(struct route_flood *f, const uint32_t *to)
{
    struct step s = {.open_links = f->wires->links};
    route_flood_all(f->count, &s.all);
    settle(f, &s, sources_set(f, to, f->next, f->next_list));
    while (s.active > 0 && (!f->look || f->look(f->context, f, s.distance, s.active))) {
        uint32_t found = s.active_links * PUSH_COST < s.open_links ? push(f, &s) : pull(f, &s);
        s.distance++;
        settle(f, &s, found);
    }
}

/* ---- up and down ---- */

/* From which switches paths down lead: to their own, and to what those further down that they are linked to
 * lead to. */
static void below_find(struct route_flood *f, const uint32_t *to)
{
    const struct route_wires *wires = f->wires;
    memset(f->below, 0, f->bytes);
    for (uint32_t i = 0; i < f->count; i++)
        bit_set(f->below, to[i], i);
    for (uint32_t k = wires->switches; k-- > 0;) {
        uint32_t at = f->by_depth[k];
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++)
            if (f->depth[wires->to[i]] > k)
                f->below[at] |= f->below[wires->to[i]];
    }
}

void route_flood_reach(struct route_flood *f, const uint32_t *to, uint32_t count)
{
    const struct route_wires *wires = f->wires;
    f->count = count;
    below_find(f, to);
    memcpy(f->seen, f->below, f->bytes);
    for (uint32_t k = 0; k < wires->switches; k++) {
        uint32_t at = f->by_depth[k];
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++)
            if (f->depth[wires->to[i]] < k)
                f->seen[at] |= f->seen[wires->to[i]];
    }
}

void route_flood_search(struct route_flood *f, const uint32_t *to, uint32_t count)
{
    f->count = count;
    clear(f);
    if (f->depth)
        below_find(f, to);
    steps(f, to);
}

/* ---- with weights ---- */

void route_flood_begin(struct route_flood *f, uint32_t count)
{
    f->count = count;
    clear(f);
}

void route_flood_take(struct route_flood *f, uint32_t bit, const uint64_t *distance, const uint32_t *order,
                      uint32_t reached)
{
    uint64_t farthest = reached ? distance[order[reached - 1]] : 0;
    digits_reserve(f, 64 - (unsigned)__builtin_clzll(farthest | 1));
    for (uint32_t k = 0; k < reached; k++) {
        uint32_t at = order[k];
        bit_set(f->seen, at, bit);
        for (uint64_t rest = distance[at]; rest; rest &= rest - 1)
            bit_set(f->digit[__builtin_ctzll(rest)], at, bit);
    }
}
