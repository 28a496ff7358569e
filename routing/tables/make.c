/* make.c - tables for any topology: all shortest paths (columns.c), or one path to every endpoint, made one
 * destination switch after the other.
 *
 * The shortest paths to it are those to a neighbour that is nearer by just the weight of the link, by a
 * breadth-first search where all weights are 1, else by Dijkstra's. up*down* orders the switches by their
 * distance from the roots, then by number; up is towards the lower. From a switch that a path down leads from
 * to the destination only paths down are used, from any other only paths up to such switches: no packet ever
 * turns up again, and as up links and down links are ordered by the order of the switches, no links wait for
 * each other in a circle (Autonet: Schroeder et al., 1991).
 *
 * Where the table has one path per destination, endpoint d would take from a switch with n paths the path
 * number floor(d / s) mod n, s being the number of paths that switches before have divided the destinations
 * by already; on a full fat tree this is d-mod-k. Where s exceeds the number of endpoints nothing is left to
 * divide, and a hash takes its place. Divided numbers may repeat at later switches, on trees with parallel
 * links above all; so a path that was picked for more pairs of endpoints already than one of the others, by
 * more than this destination adds, is passed over for the next of those with fewest. Only picks count: what a
 * link carries that has no other path says little about the load further on, and dragonflies come out worse
 * with it. Layers take what is divided and else the first path, because paths that turn in the same order (on
 * a torus: by dimension) need far fewer of them.
 *
 * Shortest paths need one channel where links do not wait for each other in a circle, as on trees. Elsewhere
 * the channel counts the links of the path. Only paths that packets from some endpoint can take are in the
 * table and count for this.
 */
#include "routing/tables/maker.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is known of all paths to a destination ---- */

/* Does a path to the destination at hand begin with this link? */
static inline bool is_hop(const struct route_maker *m, uint32_t at, uint32_t link)
{
    uint32_t peer = m->wires->to[link];
    if (m->distance[peer] == ROUTE_FAR ||
        m->distance[peer] + (m->weight ? m->weight[link] : 1) != m->distance[at])
        return false;
    return !m->updown ||
           (m->below[at] ? m->below[peer] && m->depth[peer] > m->depth[at] : m->depth[peer] < m->depth[at]);
}

static inline uint64_t *bits_of(const struct route_maker *m, uint32_t at)
{
    return m->hop_bits + (size_t)at * m->words;
}

/* Goes through the links that paths from a switch begin with: for (i = way_first(); i != ROUTE_NO_WIRE; i =
 * way_after(i)). */
static inline uint32_t hop_from(const struct route_maker *m, uint32_t at, uint32_t place)
{
    const uint64_t *bits = bits_of(m, at);
    for (uint32_t w = place / 64; w < m->words; w++, place = w * 64) {
        uint64_t rest = bits[w] >> place % 64 << place % 64;
        if (rest)
            return m->wires->begin[at] + w * 64 + (uint32_t)__builtin_ctzll(rest);
    }
    return ROUTE_NO_WIRE;
}

static inline uint32_t hop_first(const struct route_maker *m, uint32_t at)
{
    return hop_from(m, at, 0);
}

static inline uint32_t hop_after(const struct route_maker *m, uint32_t at, uint32_t link)
{
    return hop_from(m, at, link + 1 - m->wires->begin[at]);
}

/* Which links of a switch paths begin with; returns how many. */
static uint32_t hops_find(struct route_maker *m, uint32_t at)
{
    const struct route_wires *wires = m->wires;
    uint64_t *bits = bits_of(m, at), mask = 0;
    uint32_t first = wires->begin[at], links = wires->begin[at + 1] - first, count = 0;
    for (uint32_t place = 0; place < links; place++) {
        mask |= (uint64_t)is_hop(m, at, first + place) << place % 64;
        if (place % 64 == 63 || place + 1 == links) {
            bits[place / 64] = mask;
            count += (uint32_t)__builtin_popcountll(mask);
            mask = 0;
        }
    }
    return count;
}

/* From the farthest on: who is passed by packets, how many paths there are, what they divide the destinations
 * by. */
static void hops_follow(struct route_maker *m, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t i = 0; i < m->reached; i++) {
        m->used[m->order[i]] = wires->endpoints_at[m->order[i]] > 0;
        m->divided[m->order[i]] = 1;
    }
    for (uint32_t k = m->reached; k-- > 1;) {
        uint32_t at = m->order[k];
        m->hops[at] = 0;
        if (!m->used[at]) {
            memset(bits_of(m, at), 0, m->words * sizeof(uint64_t));
            continue;
        }
        m->hops[at] = (uint16_t)hops_find(m, at);
        uint64_t divided = (uint64_t)m->divided[at] * m->hops[at];
        if (divided > wires->endpoints)
            divided = wires->endpoints + 1ull;
        for (uint32_t i = hop_first(m, at); i != ROUTE_NO_WIRE; i = hop_after(m, at, i)) {
            m->used[wires->to[i]] = true;
            if (divided > m->divided[wires->to[i]])
                m->divided[wires->to[i]] = (uint32_t)divided;
        }
    }
    m->hops[to] = 0;
}

static void longest_follow(struct route_maker *m, uint32_t to)
{
    m->longest[to] = 0;
    for (uint32_t k = 1; k < m->reached; k++) {
        uint32_t at = m->order[k], longest = 0;
        if (!m->used[at])
            continue;
        if (!m->weight)
            longest = (uint32_t)m->distance[at];
        else
            for (uint32_t i = hop_first(m, at); i != ROUTE_NO_WIRE; i = hop_after(m, at, i))
                if (m->longest[m->wires->to[i]] + 1u > longest)
                    longest = m->longest[m->wires->to[i]] + 1u;
        m->longest[at] = (uint16_t)longest;
        if (longest > m->most_links)
            m->most_links = longest;
    }
}

/* ---- which links wait for each other ---- */

static void waits_add(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t k = 1; k < m->reached; k++) {
        uint32_t at = m->order[k];
        for (uint32_t i = hop_first(m, at); i != ROUTE_NO_WIRE; i = hop_after(m, at, i)) {
            if (wires->to[i] == m->order[0])
                continue;
            const uint64_t *more = bits_of(m, wires->to[i]);
            for (uint32_t w = 0; w < m->words; w++)
                m->waits.bit[(size_t)i * m->words + w] |= more[w];
        }
    }
}

/* Looks for a circle after 1, 2, 4, ... destinations: where there is one, there is one soon. */
static void waits_follow(struct route_maker *m, bool last)
{
    if (!m->waits.bit || m->cyclic)
        return;
    if (!last)
        waits_add(m);
    if (last || (m->destinations & (m->destinations - 1)) == 0)
        m->cyclic = route_waits_cyclic(&m->waits);
}

static void destination_search(struct route_maker *m, uint32_t to)
{
    m->destinations++;
    if (m->updown)
        route_search_updown(m, to);
    else if (m->weight)
        route_search_weighted(m, to);
    else
        route_search_breadth(m, to);
    hops_follow(m, to);
    if (!m->updown)
        longest_follow(m, to);
    waits_follow(m, false);
}

/* ---- one path ---- */

/* Of the paths from a switch, those picked for fewest pairs of endpoints. They are known as long as the paths
 * are the same (of up to 64) and one of them is left; that makes a choice among them cheap. */
static void lowest_find(struct route_maker *m, uint32_t at)
{
    uint64_t low = UINT64_MAX;
    uint32_t count = 0;
    for (uint32_t i = hop_first(m, at); i != ROUTE_NO_WIRE; i = hop_after(m, at, i)) {
        count = m->load[i] < low ? 1 : count + (m->load[i] == low);
        low = m->load[i] < low ? m->load[i] : low;
    }
    m->mask[at] = *bits_of(m, at);
    m->lowest[at] = low;
    m->lowest_hops[at] = m->words == 1 ? count : 0;
}

static void load_add(struct route_maker *m, uint32_t at, uint32_t link, uint32_t pairs)
{
    if (m->lowest_hops[at] > 0 && m->load[link] == m->lowest[at] &&
        m->mask[at] >> (link - m->wires->begin[at]) & 1)
        m->lowest_hops[at]--;
    m->load[link] += pairs;
}

static uint32_t hop_number(const struct route_maker *m, uint32_t at, uint32_t number)
{
    uint32_t link = hop_first(m, at);
    while (number-- > 0)
        link = hop_after(m, at, link);
    return link;
}

static uint32_t hop_pick(struct route_maker *m, uint32_t at, uint32_t endpoint)
{
    uint32_t count = m->hops[at];
    bool divides = (uint64_t)m->divided[at] * count <= m->wires->endpoints;
    if (count == 1 || (m->layers && !divides))
        return hop_first(m, at);
    uint32_t pick =
        divides ? endpoint / m->divided[at] % count : ker_random_below(route_mix(endpoint, at), count);
    uint32_t link = hop_number(m, at, pick);
    if (m->layers || !divides)
        return link;
    if (m->lowest_hops[at] == 0 || m->mask[at] != *bits_of(m, at))
        lowest_find(m, at);
    if (m->load[link] <= m->lowest[at] + m->pairs[at])
        return link;
    while (m->load[link] != m->lowest[at]) {
        link = hop_after(m, at, link);
        link = link == ROUTE_NO_WIRE ? hop_first(m, at) : link;
    }
    return link;
}

/* From the farthest switch on: the paths to an endpoint from those switches that packets pass. Lists these in
 * m->passed, nearest first. */
static uint32_t hops_choose(struct route_maker *m, uint32_t endpoint)
{
    uint32_t place = m->reached;
    for (uint32_t k = 1; k < m->reached; k++)
        m->pairs[m->order[k]] = m->wires->endpoints_at[m->order[k]];
    for (uint32_t k = m->reached; k-- > 1;) {
        uint32_t at = m->order[k];
        if (m->pairs[at] == 0)
            continue;
        uint32_t link = hop_pick(m, at, endpoint);
        if (m->hops[at] > 1)
            load_add(m, at, link, m->pairs[at]);
        m->pairs[m->wires->to[link]] += m->pairs[at];
        m->next[at] = link;
        m->passed[--place] = at;
    }
    m->passed[--place] = m->order[0];
    memmove(m->passed, m->passed + place, (m->reached - place) * sizeof *m->passed);
    return m->reached - place;
}

/* The set of this port alone. */
static uint32_t set_of_port(struct route_maker *m, uint16_t port)
{
    struct route_hop hop = {port, m->layers ? ROUTE_TABLE_LAYER : 0, 0};
    if (m->port_set[port] == 0) /* that of no paths */
        m->port_set[port] = route_table_set_of(m->table, &hop, 1);
    return m->port_set[port];
}

static bool column_one(struct route_maker *m, uint32_t endpoint, uint32_t to, uint32_t *set, uint32_t *layer)
{
    const struct route_wires *wires = m->wires;
    uint32_t passed = hops_choose(m, endpoint);
    m->next[to] = ROUTE_NO_WIRE;
    for (uint32_t k = 1; k < passed; k++) {
        uint32_t at = m->passed[k];
        set[(size_t)at * ROUTE_TRIE_BLOCK] = set_of_port(m, wires->port[m->next[at]]);
    }
    if (!layer)
        return true;
    if (!route_layers_add(m->layers, m->next, m->passed, passed, to, m->layer))
        return false;
    for (uint32_t k = 0; k < passed; k++)
        layer[(size_t)m->passed[k] * ROUTE_TRIE_BLOCK] =
            wires->endpoints_at[m->passed[k]] ? m->layer[m->passed[k]] : 0;
    return true;
}

/* ---- the table ---- */

/* The next 64 endpoints; those of one switch together. */
static bool columns_make(struct route_maker *m, uint32_t first)
{
    const struct route_wires *wires = m->wires;
    uint32_t count =
        wires->endpoints - first < ROUTE_TRIE_BLOCK ? wires->endpoints - first : ROUTE_TRIE_BLOCK;
    uint32_t *set = route_trie_columns(&m->table->hops);
    uint32_t *layer = m->layers ? route_trie_columns(&m->table->layers) : NULL;
    bool made[ROUTE_TRIE_BLOCK] = {false};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = wires->endpoint_switch[first + i];
        if (made[i])
            continue;
        if (m->destinations == 0 || m->order[0] != to)
            destination_search(m, to);
        for (uint32_t k = i; k < count; k++) {
            if (wires->endpoint_switch[first + k] != to)
                continue;
            made[k] = true;
            if (!column_one(m, first + k, to, set + k, layer ? layer + k : NULL))
                return false;
            struct route_hop eject = {wires->endpoint_port[first + k], ROUTE_TABLE_ANY, 0};
            set[(size_t)to * ROUTE_TRIE_BLOCK + k] = route_table_set_of(m->table, &eject, 1);
        }
    }
    route_trie_advance(&m->table->hops);
    if (layer)
        route_trie_advance(&m->table->layers);
    return true;
}

void route_maker_init(struct route_maker *m, const struct route_wires *wires)
{
    size_t switches = wires->switches;
    m->wires = wires;
    m->table = route_table_new(wires->switches, wires->endpoints);
    m->last = wires->endpoints;
    m->distance = ker_alloc(switches * sizeof *m->distance);
    m->below = ker_alloc(switches * sizeof *m->below);
    m->order = ker_alloc(switches * sizeof *m->order);
    m->used = ker_alloc(switches * sizeof *m->used);
    m->longest = ker_alloc(switches * sizeof *m->longest);
    m->hops = ker_alloc(switches * sizeof *m->hops);
    m->heap = ker_alloc(switches * sizeof *m->heap);
    m->heap_at = ker_alloc(switches * sizeof *m->heap_at);
    m->divided = ker_alloc(switches * sizeof *m->divided);
    m->next = ker_alloc(switches * sizeof *m->next);
    m->passed = ker_alloc(switches * sizeof *m->passed);
    m->pairs = ker_alloc(switches * sizeof *m->pairs);
    m->lowest = ker_alloc(switches * sizeof *m->lowest);
    m->lowest_hops = ker_alloc(switches * sizeof *m->lowest_hops);
    m->load = ker_alloc((wires->links + (size_t)1) * sizeof *m->load);
    m->mask = ker_alloc(switches * sizeof *m->mask);
    m->port_set = ker_alloc((UINT16_MAX + 1ull) * sizeof *m->port_set);
    m->layer = ker_alloc(switches * sizeof *m->layer);
    m->words = wires->most / 64 + 1; /* as in struct route_waits */
    for (uint32_t s = 0; s < wires->switches && !m->passed_by; s++)
        if (wires->endpoints_at[s] == 0)
            m->passed_by = ker_reserve(switches * sizeof *m->passed_by);
    m->hop_bits = ker_alloc(switches * m->words * sizeof *m->hop_bits);
}

void route_maker_release(struct route_maker *m)
{
    free(m->weight);
    free(m->depth);
    free(m->by_depth);
    free(m->distance);
    free(m->below);
    free(m->order);
    free(m->used);
    free(m->longest);
    free(m->hops);
    free(m->heap);
    free(m->heap_at);
    free(m->divided);
    free(m->next);
    free(m->passed);
    free(m->pairs);
    free(m->lowest);
    free(m->lowest_hops);
    free(m->load);
    free(m->mask);
    free(m->port_set);
    free(m->hop_bits);
    free(m->layer);
    if (m->passed_by)
        ker_release(m->passed_by, m->wires->switches * sizeof *m->passed_by);
    route_flood_release(&m->flood);
    route_factors_free(m->factors);
    route_waits_release(&m->waits);
    route_layers_free(m->layers);
}

bool route_maker_fill(struct route_maker *m)
{
    bool possible = true;
    if (!m->one)
        route_columns_fill(m);
    for (uint32_t first = 0; m->one && possible && first < m->wires->endpoints; first += ROUTE_TRIE_BLOCK)
        possible = columns_make(m, first);
    if (possible) {
        waits_follow(m, true);
        route_table_finish(m->table);
    }
    return possible;
}
