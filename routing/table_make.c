/* table_make.c - tables for any topology, and the route functions that go by them.
 *
 * A table is made one destination switch after the other. The shortest ways to it are those to a neighbour that is nearer by just the
 * weight of the link, by a breadth-first search where all weights are 1, else by Dijkstra's. up*down* orders the switches by their
 * distance from the roots, then by number; up is towards the lower. From a switch that a way down leads from to the destination only
 * ways down are used, from any other only ways up to such switches: no packet ever turns up again, and as up links and down links
 * are ordered by the order of the switches, no links wait for each other in a circle (Autonet: Schroeder et al., 1991).
 *
 * Where the table has one way per destination, node d takes from a switch with n ways the way number floor(d / s) mod n, s being the
 * number of ways that switches before have divided the destinations by already; on a fat tree this is d-mod-k. Where s exceeds the
 * number of nodes nothing is left to divide, and the way is picked by a hash; for layers it is the first, because ways that turn in the
 * same order (on a torus: by dimension) need far fewer of them: 10 instead of 17 on 8x8x8.
 *
 * Shortest ways need one channel where links do not wait for each other in a circle, as on trees. Elsewhere the channel counts the
 * links of the way. Only ways that packets from some node can take are in the table and count for this.
 */
#include "routing/opensm.h"
#include "routing/table_make.h"

#include <stdlib.h>
#include <string.h>

#define FAR UINT64_MAX
#define MOST_ECCENTRIC 4096 /* switches up to which the root is the switch nearest to all others */

struct maker {
    const struct route_wires *wires;
    struct route_table *table;
    bool updown, one;
    uint32_t *weight;   /* per link; NULL: all are 1 */
    uint32_t *rank;     /* of switches: up is towards the lower */
    uint32_t *by_rank;
    uint64_t *distance; /* to the destination at hand, along ways of the table */
    bool *below;        /* up*down*: a way down leads from here */
    uint32_t *order;    /* the switches that have a way, nearest first */
    uint32_t reached;
    bool *used;         /* packets come by here */
    uint16_t *longest;  /* links of the longest way */
    uint16_t *ways;     /* per switch how many */
    uint32_t *heap, *heap_at;
    uint32_t heap_size;
    /* with one way */
    uint32_t *divided;  /* per switch */
    uint32_t *next;     /* per switch a link */
    /* with all */
    uint32_t *mask_set; /* per switch the last set, and where a switch has at most 64 links those it was made from */
    uint64_t *mask;
    uint32_t *set;      /* per switch */
    struct route_waits waits;
    uint64_t *way_bits; /* per switch `words`: a bit for each link that a way begins with */
    uint32_t words;
    bool cyclic;
    uint32_t destinations, most_links;
    struct route_layers *layers;
    uint8_t *layer;
};

/* ---- distances ---- */

static void search_breadth(struct maker *m, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    uint32_t found = 0;
    for (uint32_t i = 0; i < wires->switches; i++)
        m->distance[i] = FAR;
    m->distance[to] = 0;
    m->order[found++] = to;
    for (uint32_t done = 0; done < found; done++) {
        uint32_t at = m->order[done];
        uint64_t more = m->distance[at] + 1;
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
            uint32_t peer = wires->to[i];
            if (m->distance[peer] != FAR)
                continue;
            m->distance[peer] = more;
            m->order[found++] = peer;
        }
    }
    m->reached = found;
}

static bool nearer(const struct maker *m, uint32_t a, uint32_t b)
{
    return m->distance[a] != m->distance[b] ? m->distance[a] < m->distance[b] : a < b;
}

static void heap_put(struct maker *m, uint32_t place, uint32_t id)
{
    m->heap[place] = id;
    m->heap_at[id] = place;
}

static void heap_rise(struct maker *m, uint32_t place)
{
    uint32_t id = m->heap[place];
    for (; place > 0 && nearer(m, id, m->heap[(place - 1) / 2]); place = (place - 1) / 2)
        heap_put(m, place, m->heap[(place - 1) / 2]);
    heap_put(m, place, id);
}

static uint32_t heap_take(struct maker *m)
{
    uint32_t first = m->heap[0], id = m->heap[--m->heap_size], place = 0;
    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child + 1 < m->heap_size && nearer(m, m->heap[child + 1], m->heap[child]))
            child++;
        if (child >= m->heap_size || !nearer(m, m->heap[child], id))
            break;
        heap_put(m, place, m->heap[child]);
        place = child;
    }
    heap_put(m, place, id);
    return first;
}

/* Dijkstra's. The links are passed against their direction. */
static void search_weighted(struct maker *m, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t i = 0; i < wires->switches; i++)
        m->distance[i] = FAR;
    m->reached = m->heap_size = 0;
    m->distance[to] = 0;
    heap_put(m, m->heap_size++, to);
    while (m->heap_size > 0) {
        uint32_t at = heap_take(m);
        m->order[m->reached++] = at;
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
            uint32_t peer = wires->to[i];
            uint64_t far = m->distance[at] + m->weight[wires->reverse[i]];
            if (far >= m->distance[peer])
                continue;
            if (m->distance[peer] == FAR)
                heap_put(m, m->heap_size++, peer);
            m->distance[peer] = far;
            heap_rise(m, m->heap_at[peer]);
        }
    }
}

/* First the ways down, found from their end; then, from the lowest rank on, the ways up to where they begin. */
static void search_updown(struct maker *m, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    uint32_t found = 0, farthest = 0;
    for (uint32_t i = 0; i < wires->switches; i++) {
        m->distance[i] = FAR;
        m->below[i] = false;
    }
    m->distance[to] = 0;
    m->below[to] = true;
    m->order[found++] = to;
    for (uint32_t done = 0; done < found; done++) {
        uint32_t at = m->order[done];
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
            uint32_t peer = wires->to[i];
            if (m->rank[peer] > m->rank[at] || m->below[peer])
                continue;
            m->distance[peer] = m->distance[at] + 1;
            m->below[peer] = true;
            m->order[found++] = peer;
        }
    }
    for (uint32_t k = 0; k < wires->switches; k++) {
        uint32_t at = m->by_rank[k];
        for (uint32_t i = wires->begin[at]; !m->below[at] && i < wires->begin[at + 1]; i++) {
            uint32_t peer = wires->to[i];
            if (m->rank[peer] < k && m->distance[peer] != FAR && m->distance[peer] + 1 < m->distance[at])
                m->distance[at] = m->distance[peer] + 1;
        }
        if (m->distance[at] != FAR && m->distance[at] > farthest)
            farthest = (uint32_t)m->distance[at];
    }
    uint32_t *first = ker_alloc((farthest + 2u) * sizeof *first); /* by distance, then by rank */
    for (uint32_t i = 0; i < wires->switches; i++)
        if (m->distance[i] != FAR)
            first[m->distance[i] + 1]++;
    for (uint32_t i = 0; i <= farthest; i++)
        first[i + 1] += first[i];
    m->reached = first[farthest + 1];
    for (uint32_t k = 0; k < wires->switches; k++)
        if (m->distance[m->by_rank[k]] != FAR)
            m->order[first[m->distance[m->by_rank[k]]]++] = m->by_rank[k];
    free(first);
}

/* Does a way to the destination at hand begin with this link? */
static inline bool is_way(const struct maker *m, uint32_t at, uint32_t link)
{
    uint32_t peer = m->wires->to[link];
    if (m->distance[peer] == FAR || m->distance[peer] + (m->weight ? m->weight[link] : 1) != m->distance[at])
        return false;
    return !m->updown || (m->below[at] ? m->below[peer] && m->rank[peer] > m->rank[at] : m->rank[peer] < m->rank[at]);
}

/* ---- what is known of all ways to a destination ---- */

static inline uint64_t *bits_of(const struct maker *m, uint32_t at)
{
    return m->way_bits + (size_t)at * m->words;
}

/* Goes through the links that ways from a switch begin with: for (i = way_first(); i != ROUTE_NO_WIRE; i = way_after(i)). */
static inline uint32_t way_from(const struct maker *m, uint32_t at, uint32_t place)
{
    const uint64_t *bits = bits_of(m, at);
    for (uint32_t w = place / 64; w < m->words; w++, place = w * 64) {
        uint64_t rest = bits[w] >> place % 64 << place % 64;
        if (rest)
            return m->wires->begin[at] + w * 64 + (uint32_t)__builtin_ctzll(rest);
    }
    return ROUTE_NO_WIRE;
}

static inline uint32_t way_first(const struct maker *m, uint32_t at)
{
    return way_from(m, at, 0);
}

static inline uint32_t way_after(const struct maker *m, uint32_t at, uint32_t link)
{
    return way_from(m, at, link + 1 - m->wires->begin[at]);
}

/* Which links of a switch ways begin with; returns how many. */
static uint32_t ways_find(struct maker *m, uint32_t at)
{
    const struct route_wires *wires = m->wires;
    uint64_t *bits = bits_of(m, at), mask = 0;
    uint32_t first = wires->begin[at], links = wires->begin[at + 1] - first, count = 0;
    for (uint32_t place = 0; place < links; place++) {
        mask |= (uint64_t)is_way(m, at, first + place) << place % 64;
        if (place % 64 == 63 || place + 1 == links) {
            bits[place / 64] = mask;
            count += (uint32_t)__builtin_popcountll(mask);
            mask = 0;
        }
    }
    return count;
}

/* From the farthest on: who is passed by packets, how many ways there are, what they divide the destinations by. */
static void ways_follow(struct maker *m, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t i = 0; i < m->reached; i++) {
        m->used[m->order[i]] = wires->nodes_at[m->order[i]] > 0;
        m->divided[m->order[i]] = 1;
    }
    for (uint32_t k = m->reached; k-- > 1;) {
        uint32_t at = m->order[k];
        m->ways[at] = 0;
        if (!m->used[at]) {
            memset(bits_of(m, at), 0, m->words * sizeof(uint64_t));
            continue;
        }
        m->ways[at] = (uint16_t)ways_find(m, at);
        uint64_t divided = (uint64_t)m->divided[at] * m->ways[at];
        if (divided > wires->nodes)
            divided = wires->nodes + 1ull;
        for (uint32_t i = way_first(m, at); i != ROUTE_NO_WIRE; i = way_after(m, at, i)) {
            m->used[wires->to[i]] = true;
            if (divided > m->divided[wires->to[i]])
                m->divided[wires->to[i]] = (uint32_t)divided;
        }
    }
    m->ways[to] = 0;
}

static void longest_follow(struct maker *m, uint32_t to)
{
    m->longest[to] = 0;
    for (uint32_t k = 1; k < m->reached; k++) {
        uint32_t at = m->order[k], longest = 0;
        if (!m->used[at])
            continue;
        if (!m->weight)
            longest = (uint32_t)m->distance[at];
        else
            for (uint32_t i = way_first(m, at); i != ROUTE_NO_WIRE; i = way_after(m, at, i))
                if (m->longest[m->wires->to[i]] + 1u > longest)
                    longest = m->longest[m->wires->to[i]] + 1u;
        m->longest[at] = (uint16_t)longest;
        if (longest > m->most_links)
            m->most_links = longest;
    }
}

/* ---- all ways ---- */

/* Of more ways than a set can have, those from one of the destination's own on. */
static uint32_t set_make(struct maker *m, uint32_t at, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    struct route_way way[ROUTE_MAX_CHOICES];
    uint32_t count = 0, skip = m->ways[at] > ROUTE_MAX_CHOICES ? to % m->ways[at] : 0, seen = 0;
    uint64_t mask = *bits_of(m, at);
    if (m->words == 1 && m->mask[at] == mask)
        return m->mask_set[at];
    for (uint32_t i = way_first(m, at); i != ROUTE_NO_WIRE; i = way_after(m, at, i))
        if ((seen++ + m->ways[at] - skip) % m->ways[at] < ROUTE_MAX_CHOICES)
            way[count++] = (struct route_way){wires->port[i], 0, 0};
    m->mask[at] = mask;
    return m->mask_set[at] = route_table_set_of(m->table, way, count);
}

static void waits_add(struct maker *m)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t k = 1; k < m->reached; k++) {
        uint32_t at = m->order[k];
        for (uint32_t i = way_first(m, at); i != ROUTE_NO_WIRE; i = way_after(m, at, i)) {
            if (wires->to[i] == m->order[0])
                continue;
            const uint64_t *more = bits_of(m, wires->to[i]);
            for (uint32_t w = 0; w < m->words; w++)
                m->waits.bit[(size_t)i * m->words + w] |= more[w];
        }
    }
}

/* Looks for a circle after 1, 2, 4, ... destinations: where there is one, there is one soon. */
static void waits_follow(struct maker *m, bool last)
{
    if (!m->waits.bit || m->cyclic)
        return;
    if (!last)
        waits_add(m);
    if (last || (m->destinations & (m->destinations - 1)) == 0)
        m->cyclic = route_waits_cyclic(&m->waits);
}

static void destination_search(struct maker *m, uint32_t to)
{
    m->destinations++;
    if (m->updown)
        search_updown(m, to);
    else if (m->weight)
        search_weighted(m, to);
    else
        search_breadth(m, to);
    ways_follow(m, to);
    if (!m->updown)
        longest_follow(m, to);
    waits_follow(m, false);
    for (uint32_t k = 1; !m->one && k < m->reached; k++)
        m->set[m->order[k]] = m->used[m->order[k]] ? set_make(m, m->order[k], to) : 0;
}

/* ---- one way ---- */

static uint32_t way_pick(const struct maker *m, uint32_t at, uint32_t node)
{
    uint32_t count = m->ways[at], pick = 0, link = way_first(m, at);
    if (count > 1 && (uint64_t)m->divided[at] * count <= m->wires->nodes)
        pick = node / m->divided[at] % count;
    else if (count > 1 && !m->layers)
        pick = ker_random_below(route_mix(node, at), count);
    while (pick-- > 0)
        link = way_after(m, at, link);
    return link;
}

static bool column_one(struct maker *m, uint32_t node, uint32_t to, uint32_t *set, uint32_t *layer)
{
    const struct route_wires *wires = m->wires;
    m->next[to] = ROUTE_NO_WIRE;
    uint32_t kept = 1;
    for (uint32_t k = 1; k < m->reached; k++) {
        uint32_t at = m->order[k];
        if (m->ways[at] == 0)
            continue;
        m->next[at] = way_pick(m, at, node);
        m->order[kept++] = at; /* who is passed by nobody is needed no more */
        struct route_way way = {wires->port[m->next[at]], m->layers ? ROUTE_TABLE_LAYER : 0, 0};
        set[(size_t)at * ROUTE_TRIE_BLOCK] = route_table_set_of(m->table, &way, 1);
    }
    m->reached = kept;
    if (!layer)
        return true;
    if (!route_layers_add(m->layers, m->next, m->order, m->reached, to, m->layer))
        return false;
    for (uint32_t k = 0; k < m->reached; k++)
        layer[(size_t)m->order[k] * ROUTE_TRIE_BLOCK] = wires->nodes_at[m->order[k]] ? m->layer[m->order[k]] : 0;
    return true;
}

/* ---- the table ---- */

static void column_all(struct maker *m, uint32_t *set)
{
    for (uint32_t k = 1; k < m->reached; k++)
        set[(size_t)m->order[k] * ROUTE_TRIE_BLOCK] = m->set[m->order[k]];
}

/* The next 64 nodes; those of one switch together. */
static bool columns_make(struct maker *m, uint32_t first)
{
    const struct route_wires *wires = m->wires;
    uint32_t count = wires->nodes - first < ROUTE_TRIE_BLOCK ? wires->nodes - first : ROUTE_TRIE_BLOCK;
    uint32_t *set = route_trie_columns(&m->table->ways);
    uint32_t *layer = m->layers ? route_trie_columns(&m->table->layers) : NULL;
    bool made[ROUTE_TRIE_BLOCK] = {false};
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = wires->node_switch[first + i];
        if (made[i])
            continue;
        if (m->destinations == 0 || m->order[0] != to)
            destination_search(m, to);
        for (uint32_t k = i; k < count; k++) {
            if (wires->node_switch[first + k] != to)
                continue;
            made[k] = true;
            if (!m->one)
                column_all(m, set + k);
            else if (!column_one(m, first + k, to, set + k, layer ? layer + k : NULL))
                return false;
            struct route_way eject = {wires->node_port[first + k], ROUTE_TABLE_ANY, 0};
            set[(size_t)to * ROUTE_TRIE_BLOCK + k] = route_table_set_of(m->table, &eject, 1);
        }
    }
    route_trie_advance(&m->table->ways);
    if (layer)
        route_trie_advance(&m->table->layers);
    return true;
}

static void maker_init(struct maker *m, const struct route_wires *wires)
{
    size_t switches = wires->switches;
    m->wires = wires;
    m->table = route_table_new(wires->switches, wires->nodes);
    m->distance = ker_alloc(switches * sizeof *m->distance);
    m->below = ker_alloc(switches * sizeof *m->below);
    m->order = ker_alloc(switches * sizeof *m->order);
    m->used = ker_alloc(switches * sizeof *m->used);
    m->longest = ker_alloc(switches * sizeof *m->longest);
    m->ways = ker_alloc(switches * sizeof *m->ways);
    m->heap = ker_alloc(switches * sizeof *m->heap);
    m->heap_at = ker_alloc(switches * sizeof *m->heap_at);
    m->divided = ker_alloc(switches * sizeof *m->divided);
    m->next = ker_alloc(switches * sizeof *m->next);
    m->mask_set = ker_alloc(switches * sizeof *m->mask_set);
    m->mask = ker_alloc(switches * sizeof *m->mask);
    m->set = ker_alloc(switches * sizeof *m->set);
    m->layer = ker_alloc(switches * sizeof *m->layer);
    m->words = wires->most / 64 + 1; /* as in struct route_waits */
    m->way_bits = ker_alloc(switches * m->words * sizeof *m->way_bits);
}

static void maker_release(struct maker *m)
{
    free(m->weight);
    free(m->rank);
    free(m->by_rank);
    free(m->distance);
    free(m->below);
    free(m->order);
    free(m->used);
    free(m->longest);
    free(m->ways);
    free(m->heap);
    free(m->heap_at);
    free(m->divided);
    free(m->next);
    free(m->mask_set);
    free(m->mask);
    free(m->set);
    free(m->way_bits);
    free(m->layer);
    route_waits_release(&m->waits);
    route_layers_free(m->layers);
}

/* Nodes that cannot be reached have no ways; that this is so is said where faults are. */
static bool table_fill(struct maker *m)
{
    bool possible = true;
    for (uint32_t first = 0; possible && first < m->wires->nodes; first += ROUTE_TRIE_BLOCK)
        possible = columns_make(m, first);
    if (possible) {
        waits_follow(m, true);
        route_table_finish(m->table);
    }
    return possible;
}

/* ---- the roots of up*down* ---- */

static uint32_t degree(const struct route_wires *wires, uint32_t switch_id)
{
    return wires->begin[switch_id + 1] - wires->begin[switch_id];
}

/* The switch nearest to all others, of equals that with most links, then the first; in large networks just that with most links. Switches
 * cut off by faults do not count. */
static uint32_t root_central(struct maker *m)
{
    const struct route_wires *wires = m->wires;
    uint32_t best = 0, best_reached = 0;
    uint64_t best_far = FAR;
    for (uint32_t s = 0; s < wires->switches; s++) {
        uint64_t far = 0;
        uint32_t reached = 0;
        if (wires->switches <= MOST_ECCENTRIC) {
            search_breadth(m, s);
            reached = m->reached;
            far = m->distance[m->order[m->reached - 1]];
        }
        bool better = reached != best_reached ? reached > best_reached
                      : far != best_far       ? far < best_far
                                              : degree(wires, s) > degree(wires, best);
        if (s == 0 || better) {
            best = s;
            best_reached = reached;
            best_far = far;
        }
    }
    return best;
}

/* Distances from the nearest of `count` switches, which stand first in m->order. */
static void search_from(struct maker *m, uint32_t count, uint32_t *far)
{
    const struct route_wires *wires = m->wires;
    memset(far, 0xff, wires->switches * sizeof *far);
    for (uint32_t i = 0; i < count; i++)
        far[m->order[i]] = 0;
    for (uint32_t done = 0; done < count; done++)
        for (uint32_t i = wires->begin[m->order[done]]; i < wires->begin[m->order[done] + 1]; i++)
            if (far[wires->to[i]] == UINT32_MAX) {
                far[wires->to[i]] = far[m->order[done]] + 1;
                m->order[count++] = wires->to[i];
            }
    m->reached = count;
}

/* Where some switches have no nodes, the roots are those farthest from any node: the top of a tree. Else one in the centre. */
static uint32_t roots_guess(struct maker *m)
{
    const struct route_wires *wires = m->wires;
    uint32_t *far = ker_alloc(wires->switches * sizeof *far), count = 0, most = 0;
    for (uint32_t s = 0; s < wires->switches; s++)
        if (wires->nodes_at[s])
            m->order[count++] = s;
    search_from(m, count, far);
    for (uint32_t i = 0; i < m->reached; i++)
        if (far[m->order[i]] > most)
            most = far[m->order[i]];
    count = 0;
    for (uint32_t s = 0; s < wires->switches; s++)
        if (far[s] == most && most > 0)
            m->order[count++] = s;
    free(far);
    if (count > 0)
        return count;
    m->order[0] = root_central(m);
    return 1;
}

static void rank_from(struct maker *m, uint32_t roots)
{
    const struct route_wires *wires = m->wires;
    uint32_t *far = ker_alloc(wires->switches * sizeof *far), count = 0;
    search_from(m, roots, far);
    for (uint32_t s = 0; s < wires->switches; s++) /* cut off by faults */
        if (far[s] == UINT32_MAX)
            m->order[m->reached++] = s;
    uint32_t *first = ker_alloc((wires->switches + 2ull) * sizeof *first);
    for (uint32_t s = 0; s < wires->switches; s++)
        far[s] = far[s] == UINT32_MAX ? wires->switches : far[s];
    for (uint32_t s = 0; s < wires->switches; s++)
        first[far[s] + 1]++;
    for (uint32_t i = 0; i <= wires->switches; i++)
        first[i + 1] += first[i];
    for (uint32_t s = 0; s < wires->switches; s++, count++) {
        m->rank[s] = first[far[s]]++;
        m->by_rank[m->rank[s]] = s;
    }
    free(first);
    free(far);
}

/* With several roots, can all switches with nodes reach each other that are connected at all? */
static bool roots_suffice(struct maker *m)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t to = 0; to < wires->switches; to++) {
        if (!wires->nodes_at[to])
            continue;
        search_breadth(m, to);
        uint32_t wanted = 0, got = 0;
        for (uint32_t i = 0; i < m->reached; i++)
            wanted += wires->nodes_at[m->order[i]] > 0;
        search_updown(m, to);
        for (uint32_t i = 0; i < m->reached; i++)
            got += wires->nodes_at[m->order[i]] > 0;
        if (got < wanted)
            return false;
    }
    return true;
}

static enum ker_status roots_read(struct maker *m, const struct ker_config *config, uint32_t *roots, struct ker_error *error)
{
    static const char key[] = "routing.root";
    *roots = (uint32_t)ker_config_count(config, key);
    if (*roots > m->wires->switches)
        return ker_config_fail(config, error, key, "names %u switches, but there are %u", *roots, m->wires->switches);
    for (uint32_t i = 0; i < *roots; i++) {
        int64_t id = ker_config_int_at(config, key, (int)i);
        if (id >= (int64_t)m->wires->switches)
            return ker_config_fail(config, error, key, "is %lld, but switches have numbers 0 to %u", (long long)id,
                                   m->wires->switches - 1);
        m->order[i] = (uint32_t)id;
        for (uint32_t k = 0; k < i; k++)
            if (m->order[k] == m->order[i])
                return ker_config_fail(config, error, key, "names switch %u twice", m->order[i]);
    }
    return KER_OK;
}

static enum ker_status rank_make(struct maker *m, const struct ker_config *config, struct ker_error *error)
{
    uint32_t roots = 0;
    m->rank = ker_alloc(m->wires->switches * sizeof *m->rank);
    m->by_rank = ker_alloc(m->wires->switches * sizeof *m->by_rank);
    enum ker_status status = ker_config_has(config, "routing.root") ? roots_read(m, config, &roots, error) : KER_OK;
    if (status != KER_OK)
        return status;
    bool given = roots > 0;
    if (!given)
        roots = roots_guess(m);
    rank_from(m, roots);
    if (roots == 1 || roots_suffice(m))
        return KER_OK;
    if (given)
        return ker_config_fail(config, error, "routing.root",
                               "these %u roots do not lead to every node by ways that go up first and then only down; "
                               "name one root, or the whole top of a tree", roots);
    m->order[0] = root_central(m);
    rank_from(m, 1);
    return KER_OK;
}

/* ---- weights ---- */

static enum ker_status weights_make(struct maker *m, const struct route_shape *shape, const struct ker_config *config,
                                    struct ker_error *error)
{
    const char *kind = ker_config_string(config, "routing.weights");
    const struct route_wires *wires = m->wires;
    if (strcmp(kind, "hops") == 0)
        return KER_OK;
    m->weight = ker_alloc((wires->links + (size_t)1) * sizeof *m->weight);
    if (strcmp(kind, "file") == 0)
        return route_weights_read(m->weight, wires, config, error);
    for (uint32_t i = 0; i < wires->links; i++) {
        ker_time latency = shape->summary.link[wires->class[i]].latency;
        m->weight[i] = latency < UINT32_MAX ? (uint32_t)latency : UINT32_MAX;
    }
    return KER_OK;
}

/* ---- the algorithms ---- */

/* Ways by the packet's hops where links wait for each other in a circle. */
static void classes_set(struct route_table *table, const struct maker *m)
{
    table->classes = 1;
    if (!m->cyclic)
        return;
    table->classes = m->most_links;
    for (uint32_t at = 0; at < table->way_used; at += 1u + table->way[at].port)
        for (uint32_t i = 1; i <= table->way[at].port; i++)
            if (table->way[at + i].class == 0)
                table->way[at + i].class = ROUTE_TABLE_HOPS;
}

static enum ker_status shortest_prepare(struct route_shape *shape, const struct ker_config *config, struct ker_error *error)
{
    struct route_wires wires;
    struct maker m = {.one = ker_config_choice(config, "routing.ways") == 1};
    route_wires_make(&wires, shape);
    maker_init(&m, &wires);
    enum ker_status status = weights_make(&m, shape, config, error);
    if (status == KER_OK) {
        route_waits_init(&m.waits, &wires);
        table_fill(&m);
        if (m.cyclic && m.most_links >= ROUTE_TABLE_CLASSES)
            status = ker_config_fail(config, error, "routing.algorithm", "\"shortest\" would need %u virtual channels on this %s: its longest "
                                     "way has so many links; use \"updown\"", m.most_links, shape->kind->name);
        classes_set(m.table, &m);
    }
    shape->table = m.table;
    maker_release(&m);
    route_wires_release(&wires);
    return status;
}

static enum ker_status updown_prepare(struct route_shape *shape, const struct ker_config *config, struct ker_error *error)
{
    struct route_wires wires;
    struct maker m = {.updown = true, .one = ker_config_choice(config, "routing.ways") == 1};
    route_wires_make(&wires, shape);
    maker_init(&m, &wires);
    enum ker_status status = rank_make(&m, config, error);
    if (status == KER_OK)
        table_fill(&m);
    shape->table = m.table;
    maker_release(&m);
    route_wires_release(&wires);
    return status;
}

static enum ker_status layered_prepare(struct route_shape *shape, const struct ker_config *config, struct ker_error *error)
{
    static const char key[] = "routing.algorithm";
    struct route_wires wires;
    struct maker m = {.one = true};
    route_wires_make(&wires, shape);
    maker_init(&m, &wires);
    m.layers = route_layers_new(&wires);
    enum ker_status status = weights_make(&m, shape, config, error);
    if (status == KER_OK && !m.layers)
        status = ker_config_fail(config, error, key, "\"layered\" is not possible on so large a network: its links have too many pairs "
                                 "that follow each other; use \"updown\"");
    if (status == KER_OK) {
        route_table_layers_begin(m.table);
        if (table_fill(&m))
            m.table->classes = route_layers_count(m.layers);
        else
            status = ker_config_fail(config, error, key, "\"layered\" finds no %d layers of channels that are free of deadlock; use "
                                     "\"updown\"", ROUTE_MAX_LAYERS);
    }
    shape->table = m.table;
    maker_release(&m);
    route_wires_release(&wires);
    return status;
}

static uint32_t table_channels(const struct route_shape *shape)
{
    return shape->table->classes;
}

#define TABLE_PATH 40 /* what route_pick calls the choice of a destination's column */

/* Returns 0 for a destination without ways: a pair that faults have separated. */
static int table_next(const struct route_shape *shape, uint64_t here, uint32_t switch_id, const struct route_packet *packet,
                      struct route_choice *choices)
{
    const struct route_table *table = shape->table;
    const struct route_way *way;
    uint32_t column = packet->destination, state = packet->state;
    if (table->paths > 1)
        column = column * table->paths + route_pick(packet, TABLE_PATH, table->paths);
    uint32_t count = route_table_ways(table, switch_id, column, &way);
    if (table->layers.root && packet->hops == 0)
        state = route_table_layer(table, switch_id, packet->destination);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t class = way[i].class;
        choices[i] = (struct route_choice){.port = way[i].port, .state = state};
        if (class == ROUTE_TABLE_ANY) {
            route_channel(&choices[i], 0, shape->channels, packet->draw);
            continue;
        }
        if (class == ROUTE_TABLE_LAYER)
            class = state;
        else if (class == ROUTE_TABLE_HOPS)
            class = packet->hops;
        ker_check(class < table->classes || packet->oracle); /* the proof asks for hops no packet has, too */
        route_channel(&choices[i], class * table->spread, table->spread, packet->draw);
    }
    return (int)count;
}

static enum ker_status table_prepare(struct route_shape *shape, const struct ker_config *config, struct ker_error *error)
{
    bool taken;
    enum ker_status status = route_opensm_read(shape, config, &taken, error);
    return status || taken ? status : route_table_read(shape, config, error);
}

const struct route_algorithm route_table_algorithms[] = {
    {.name = "shortest", .meaning = "all shortest ways, by number of links, latency or weights", .avoids = true, .next = table_next,
     .prepare = shortest_prepare, .channels = table_channels},
    {.name = "updown", .meaning = "up*/down*: any network, one channel", .avoids = true, .next = table_next,
     .prepare = updown_prepare, .channels = table_channels},
    {.name = "layered", .meaning = "one shortest way each, in layers of channels without circles", .avoids = true,
     .next = table_next, .prepare = layered_prepare, .channels = table_channels},
    {.name = "table", .meaning = "as a file says (docs/routing-tables.md)", .next = table_next, .prepare = table_prepare,
     .channels = table_channels},
    {0},
};
