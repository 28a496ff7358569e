/* one.c - tables with one path to every endpoint: which of the shortest, one destination after the other.
 *
 * Endpoint d would take from a switch with n paths the path number floor(d / s) mod n, s being the number of
 * paths that switches before have divided the destinations by already; on a full fat tree this is d-mod-k.
 * Where s exceeds the number of endpoints nothing is left to divide, and a hash takes its place. Divided
 * numbers may repeat at later switches, on trees with parallel links above all; so a path that was picked for
 * more pairs of endpoints already than one of the others, by more than this destination adds, is passed over
 * for the next of those with fewest. Only picks count: what a link carries that has no other path says little
 * about the load further on, and dragonflies come out worse with it. Layers take what is divided and else the
 * first path, because paths that turn in the same order (on a torus: by dimension) need far fewer of them.
 *
 * What is picked depends on the picks for the destinations before, back to the last multiple of ROUTE_LOADS
 * endpoints, where all loads begin again: so far a rank that makes a share of the table has to look back.
 *
 * A flood says for every link to which destinations it leads. For 64 of them at a time that is turned round:
 * for every destination and switch, a bit for each link that a path begins with (`way`), and for each link
 * to a switch whose paths come by here (`back`). Along the latter the switches are listed, nearest first, as
 * a breadth-first search would list them.
 */
#include "routing/tables/maker.h"

#include <stdlib.h>
#include <string.h>

#define FETCHED 12 /* places of `order` that are fetched before their turn */

/* ---- the paths to 64 destinations ---- */

/* The set of each link alone. */
static void links_number(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    m->link_set = ker_alloc((wires->links + 1ull) * sizeof *m->link_set);
    for (uint32_t i = 0; i < wires->links; i++) {
        struct route_hop hop = {wires->port[i], m->layers ? ROUTE_TABLE_LAYER : 0, 0};
        m->link_set[i] = route_table_set_of(m->table, &hop, 1);
    }
}

void route_one_begin(struct route_maker *m)
{
    size_t switches = m->wires->switches, ways = ROUTE_TRIE_BLOCK * switches * m->words;
    m->ways_bytes = ways * sizeof *m->way;
    m->way = ker_reserve(m->ways_bytes);
    m->back = ker_reserve(m->ways_bytes);
    m->leads = ker_alloc((m->wires->links + 1ull) * sizeof *m->leads);
    m->value = ker_alloc(switches * ROUTE_TRIE_BLOCK * sizeof *m->value);
    m->layer_value = m->layers ? ker_alloc(switches * ROUTE_TRIE_BLOCK * sizeof *m->layer_value) : NULL;
    m->position = ker_alloc(switches * sizeof *m->position);
    m->step = ker_alloc(switches * sizeof *m->step);
    m->path = ker_alloc(switches * sizeof *m->path);
    m->orders = m->weight ? ker_alloc(switches * ROUTE_TRIE_BLOCK * sizeof *m->orders) : NULL;
    m->window = UINT32_MAX;
    links_number(m);
}

void route_one_end(struct route_maker *m)
{
    if (m->way) {
        ker_release(m->way, m->ways_bytes);
        ker_release(m->back, m->ways_bytes);
    }
    free(m->leads);
    free(m->value);
    free(m->layer_value);
    free(m->orders);
    free(m->link_set);
    free(m->position);
    free(m->step);
    free(m->path);
}

/* The destinations of the window that a link leads to. */
static uint64_t leads_find(const struct route_maker *m, uint32_t at, uint32_t link)
{
    uint32_t word = m->window / 64, shift = m->window % 64;
    route_wide hop;
    route_flood_hop(&m->flood, at, link, &hop);
    if (m->passed_by)
        hop &= m->passed_by[at];
    return hop[word] >> shift | (shift && word + 1 < ROUTE_FLOOD_WORDS ? hop[word + 1] << (64 - shift) : 0);
}

/* Bit k of what a link leads to becomes the link's bit of destination k. */
static void turn(uint64_t *to, uint32_t words, uint64_t leads, uint32_t place)
{
    for (; leads; leads &= leads - 1)
        to[(uint32_t)__builtin_ctzll(leads) * words + place / 64] |= 1ull << place % 64;
}

/* The bits of a switch's links, one destination after the other, which lie far apart. */
static void turned_store(const struct route_maker *m, uint64_t *ways, uint32_t at, const uint64_t *turned)
{
    for (uint32_t k = 0; k < ROUTE_TRIE_BLOCK; k++)
        for (uint32_t w = 0; w < m->words; w++)
            ways[((size_t)k * m->wires->switches + at) * m->words + w] = turned[k * m->words + w];
}

void route_one_window(struct route_maker *m, uint32_t first_bit)
{
    const struct route_wires *wires = m->wires;
    size_t bytes = (size_t)ROUTE_TRIE_BLOCK * m->words * sizeof(uint64_t);
    uint64_t *way = ker_alloc(2 * bytes), *back = way + ROUTE_TRIE_BLOCK * m->words;
    m->window = first_bit;
    for (uint32_t at = 0; at < wires->switches; at++)
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++)
            m->leads[i] = leads_find(m, at, i);
    for (uint32_t at = 0; at < wires->switches; at++) {
        memset(way, 0, 2 * bytes);
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
            turn(way, m->words, m->leads[i], i - wires->begin[at]);
            turn(back, m->words, m->leads[wires->reverse[i]], i - wires->begin[at]);
        }
        turned_store(m, m->way, at, way);
        turned_store(m, m->back, at, back);
    }
    free(way);
}

/* ---- the paths to one destination ---- */

static inline const uint64_t *bits_of(const struct route_maker *m, const uint64_t *ways, uint32_t at)
{
    return ways + ((size_t)m->at_hand * m->wires->switches + at) * m->words;
}

/* Visits the bits of a switch's links: `link` is one after the other. */
#define EACH_LINK(m, ways, at, link)                                                                         \
    for (uint32_t w_ = 0; w_ < (m)->words; w_++)                                                             \
        for (uint64_t rest_ = bits_of(m, ways, at)[w_], link = 0;                                            \
             rest_ && ((link) = (m)->wires->begin[at] + w_ * 64 + (uint32_t)__builtin_ctzll(rest_), true);   \
             rest_ &= rest_ - 1)

/* Lists the switches that packets to a destination pass, nearest first, where in the list they are, and by
 * whom each was found. */
static void order_make(struct route_maker *m, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    uint32_t found = 0;
    memset(m->position, 0xff, wires->switches * sizeof *m->position);
    m->position[to] = found;
    m->order[found++] = to;
    for (uint32_t done = 0; done < found; done++) {
        if (done + FETCHED < found)
            __builtin_prefetch(bits_of(m, m->back, m->order[done + FETCHED]));
        EACH_LINK(m, m->back, m->order[done], link)
        {
            uint32_t peer = wires->to[link];
            if (m->position[peer] != UINT32_MAX)
                continue;
            m->step[found].next = done;
            m->position[peer] = found;
            m->order[found++] = peer;
        }
    }
    m->reached = found;
}

/* With weights: from the order of the search. */
static void order_take(struct route_maker *m, uint32_t to)
{
    const uint32_t *order = m->orders + (size_t)(m->window + m->at_hand) * m->wires->switches;
    uint32_t reached = m->orders_reached[m->window + m->at_hand];
    m->reached = 0;
    for (uint32_t k = 0; k < reached; k++) {
        uint64_t any = order[k] == to;
        for (uint32_t w = 0; w < m->words; w++)
            any |= bits_of(m, m->way, order[k])[w];
        if (any) {
            m->position[order[k]] = m->reached;
            m->order[m->reached++] = order[k];
        }
    }
}

/* From the farthest on: how many paths there are, what they divide the destinations by; the link and where it
 * leads, where there is one only. */
static void ways_follow(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t k = 0; k < m->reached; k++)
        m->divided[k] = 1;
    for (uint32_t k = m->reached; k-- > 1;) {
        uint32_t at = m->order[k], hops = 0, last = 0;
        if (k > FETCHED)
            __builtin_prefetch(bits_of(m, m->way, m->order[k - FETCHED]));
        EACH_LINK(m, m->way, at, link)
        {
            hops++;
            last = (uint32_t)link;
        }
        uint32_t next = m->orders ? m->position[wires->to[last]] : m->step[k].next;
        m->step[k] = (struct route_step){at, hops == 1 ? last : ROUTE_NO_WIRE, hops == 1 ? next : hops};
        uint64_t divided = (uint64_t)m->divided[k] * hops;
        if (divided > wires->endpoints)
            divided = wires->endpoints + 1ull;
        if (divided == 1)
            continue;
        EACH_LINK(m, m->way, at, link)
        {
            uint32_t *there = &m->divided[m->position[wires->to[link]]];
            *there = divided > *there ? (uint32_t)divided : *there;
        }
    }
}

/* ---- one of them ---- */

static uint32_t link_number(const struct route_maker *m, uint32_t at, uint32_t number)
{
    EACH_LINK(m, m->way, at, link)
    if (number-- == 0)
        return (uint32_t)link;
    return ROUTE_NO_WIRE;
}

/* Of the paths from a switch, those picked for fewest pairs of endpoints. They are known as long as the paths
 * are the same (of up to 64) and one of them is left; that makes a choice among them cheap. */
static void lowest_find(struct route_maker *m, uint32_t at)
{
    uint64_t low = UINT64_MAX;
    uint32_t count = 0;
    EACH_LINK(m, m->way, at, link)
    {
        count = m->load[link] < low ? 1 : count + (m->load[link] == low);
        low = m->load[link] < low ? m->load[link] : low;
    }
    m->mask[at] = *bits_of(m, m->way, at);
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

/* The first link with the lowest load behind the one at a place among `count`, going round. */
static uint32_t lowest_after(const struct route_maker *m, uint32_t at, uint32_t place)
{
    uint32_t before = ROUTE_NO_WIRE, number = 0;
    EACH_LINK(m, m->way, at, link)
    {
        if (m->load[link] == m->lowest[at] && number > place)
            return (uint32_t)link;
        if (m->load[link] == m->lowest[at] && before == ROUTE_NO_WIRE)
            before = (uint32_t)link;
        number++;
    }
    return before;
}

/* Of the place number k; `pairs` of endpoints send by there. */
static uint32_t link_pick(struct route_maker *m, uint32_t k, uint32_t endpoint, uint32_t pairs)
{
    uint32_t at = m->step[k].at, count = m->step[k].next;
    bool divides = (uint64_t)m->divided[k] * count <= m->wires->endpoints;
    if (m->layers && !divides)
        return link_number(m, at, 0);
    uint32_t place =
        divides ? endpoint / m->divided[k] % count : ker_random_below(route_mix(endpoint, at), count);
    uint32_t link = link_number(m, at, place);
    if (m->layers || !divides)
        return link;
    if (m->lowest_hops[at] == 0 || m->mask[at] != *bits_of(m, m->way, at))
        lowest_find(m, at);
    return m->load[link] <= m->lowest[at] + pairs ? link : lowest_after(m, at, place);
}

/* ---- the table ---- */

/* From the farthest switch on: the paths to an endpoint from those switches that packets pass. */
static void endpoint_make(struct route_maker *m, uint32_t endpoint, uint32_t *value)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t k = 1; k < m->reached; k++)
        m->pairs[k] = wires->endpoints_at[m->order[k]];
    for (uint32_t k = m->reached; k-- > 1;) {
        uint32_t pairs = m->pairs[k];
        struct route_step step = m->step[k];
        if (k > FETCHED && m->step[k - FETCHED].link != ROUTE_NO_WIRE)
            __builtin_prefetch(&m->link_set[m->step[k - FETCHED].link]);
        if (pairs == 0) {
            m->path[k] = (struct route_step){step.at, ROUTE_NO_WIRE, 0};
            continue;
        }
        if (step.link == ROUTE_NO_WIRE) {
            step.link = link_pick(m, k, endpoint, pairs);
            load_add(m, step.at, step.link, pairs);
            step.next = m->position[wires->to[step.link]];
        }
        m->pairs[step.next] += pairs;
        value[step.at] = m->link_set[step.link];
        m->path[k] = step;
    }
}

static bool destination_make(struct route_maker *m, const struct route_block *b, uint32_t k, uint32_t to)
{
    size_t switches = m->wires->switches;
    m->at_hand = b->first_bit + k - m->window;
    if (m->orders)
        order_take(m, to);
    else
        order_make(m, to);
    ways_follow(m);
    m->path[0] = (struct route_step){to, ROUTE_NO_WIRE, 0};
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->place[i] != k)
            continue;
        struct route_hop eject = {m->wires->endpoint_port[b->first + i], ROUTE_TABLE_ANY, 0};
        m->value[i * switches + to] = route_table_set_of(m->table, &eject, 1);
        endpoint_make(m, b->first + i, m->value + i * switches);
        if (m->layers && !route_layers_add(m->layers, m->path, m->reached, m->layer_value + i * switches))
            return false;
    }
    return true;
}

bool route_one_block(struct route_maker *m, const struct route_block *b, const uint32_t *to)
{
    bool possible = true;
    if (b->first % ROUTE_LOADS == 0) {
        memset(m->load, 0, m->wires->links * sizeof *m->load);
        memset(m->lowest_hops, 0, m->wires->switches * sizeof *m->lowest_hops);
    }
    for (uint32_t k = 0; k < b->bits && possible; k++)
        possible = destination_make(m, b, k, to[k]);
    return possible;
}
