/* passed.c - what packets pass on their shortest paths to the destinations of a flood: which switches, how
 * many links at most, and which links may wait for which.
 *
 * Packets begin at switches with endpoints. Others are passed to a destination when a switch that is passed
 * has a path by them; that spreads over the links until nothing is added. A packet that came by link i waits
 * for link j of the switch behind it where some destination's paths lead over both.
 */
#include "routing/tables/maker.h"

#include <stdlib.h>
#include <string.h>

static void hop(const struct route_maker *m, uint32_t at, uint32_t link, route_wide *bits)
{
    route_flood_hop(&m->flood, at, link, bits);
    if (m->passed_by)
        *bits &= m->passed_by[at];
}

/* What a switch hands on to its neighbours without endpoints; returns how many of them were added to the list
 * of those that have to hand it on. */
static uint32_t hand_on(struct route_maker *m, uint32_t at, uint32_t *list, bool *listed)
{
    const struct route_wires *wires = m->wires;
    uint32_t added = 0;
    for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
        uint32_t peer = wires->to[i];
        route_wide bits;
        if (wires->endpoints_at[peer])
            continue;
        hop(m, at, i, &bits);
        bits &= ~m->passed_by[peer];
        if (!route_wide_any(&bits))
            continue;
        m->passed_by[peer] |= bits;
        if (!listed[peer])
            list[added++] = peer;
        listed[peer] = true;
    }
    return added;
}

void route_passed_find(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    if (!m->passed_by) /* all have endpoints */
        return;
    uint32_t *list = m->flood.list, *more = m->flood.next_list, count = 0;
    for (uint32_t at = 0; at < wires->switches; at++) {
        m->passed_by[at] ^= m->passed_by[at];
        m->used[at] = false; /* is it listed? */
        if (wires->endpoints_at[at]) {
            m->passed_by[at] = ~m->passed_by[at];
            list[count++] = at;
        }
    }
    while (count > 0) {
        uint32_t found = 0, *swap = list;
        for (uint32_t k = 0; k < count; k++) {
            m->used[list[k]] = false;
            found += hand_on(m, list[k], more + found, m->used);
        }
        list = more;
        more = swap;
        count = found;
    }
}

/* ---- links that wait for each other ---- */

static void waits_of(struct route_maker *m, uint32_t at, uint32_t link)
{
    const struct route_wires *wires = m->wires;
    uint32_t peer = wires->to[link];
    uint64_t *bit = m->waits.bit + (size_t)link * m->words, *hops = m->hop_bits + (size_t)peer * m->words;
    route_wide here, there;
    bool known = false;
    for (uint32_t w = 0; w < m->words; w++)
        for (uint64_t rest = hops[w] & ~bit[w]; rest; rest &= rest - 1) {
            uint32_t next = wires->begin[peer] + w * 64 + (uint32_t)__builtin_ctzll(rest);
            if (!known)
                hop(m, at, link, &here);
            known = true;
            hop(m, peer, next, &there);
            there &= here;
            if (route_wide_any(&there))
                bit[w] |= rest & -rest;
        }
}

void route_passed_waits(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    if (!m->waits.bit || m->cyclic)
        return;
    for (uint32_t at = 0; at < wires->switches; at++)
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
            uint32_t place = i - wires->begin[at];
            if (m->hop_bits[(size_t)at * m->words + place / 64] >> place % 64 & 1)
                waits_of(m, at, i);
        }
    m->floods++;
    if ((m->floods & (m->floods - 1)) == 0) /* where there is a circle, there is one soon */
        m->cyclic = route_waits_cyclic(&m->waits);
}

/* ---- the longest path ---- */

/* The switches from which some path has one link more than those of the list have; returns how many. */
static uint32_t longer(struct route_maker *m, uint32_t count)
{
    const struct route_wires *wires = m->wires;
    struct route_flood *f = &m->flood;
    uint32_t found = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t at = f->list[k];
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
            uint32_t peer = wires->to[i];
            route_wide bits;
            hop(m, peer, wires->reverse[i], &bits);
            bits &= f->front[at];
            if (!route_wide_any(&bits))
                continue;
            if (!route_wide_any(&f->next[peer]))
                f->next_list[found++] = peer;
            f->next[peer] |= bits;
        }
        f->front[at] ^= f->front[at];
    }
    return found;
}

/* With weights links are counted again, by as many steps as the longest path has links. */
void route_passed_longest(struct route_maker *m, const uint32_t *to)
{
    struct route_flood *f = &m->flood;
    uint32_t links = 0, count = 0;
    if (f->weight)
        for (uint32_t i = 0; i < f->count; i++) {
            if (!route_wide_any(&f->front[to[i]]))
                f->list[count++] = to[i];
            f->front[to[i]][i / 64] |= 1ull << i % 64;
        }
    for (; (count = longer(m, count)) > 0; links++)
        route_flood_swap(f);
    f->most_links = links > f->most_links ? links : f->most_links;
    m->most_links = f->most_links;
}
