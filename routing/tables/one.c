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
 * A flood says for every link to which destinations it leads. For 64 of them at a time that is kept by the
 * links of the switch that is led to (`leads`), so that a breadth-first search from the destination lists the
 * switches, nearest first, and with each of them by which links it was found. Only switches that others lead
 * by (`inner`) have links to look at; on a dragonfly that is one of thirty.
 */
#include "routing/tables/maker.h"

#include <stdlib.h>
#include <string.h>

/* ---- the paths to 64 destinations ---- */

static void ends_make(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    m->end = ker_alloc((wires->links + 1ull) * sizeof *m->end);
    for (uint32_t i = 0; i < wires->links; i++) {
        struct route_hop hop = {wires->port[i], m->layers ? ROUTE_TABLE_LAYER : 0, 0};
        m->end[wires->reverse[i]] =
            (struct route_end){wires->from[i], i, route_table_set_of(m->table, &hop, 1)};
    }
}

void route_one_begin(struct route_maker *m)
{
    size_t switches = m->wires->switches;
    m->leads = ker_alloc((m->wires->links + 1ull) * sizeof *m->leads);
    m->inner = ker_alloc(switches * sizeof *m->inner);
    m->way = ker_alloc(switches * m->words * sizeof *m->way);
    m->value = ker_alloc(switches * ROUTE_TRIE_BLOCK * sizeof *m->value);
    m->layer_value = m->layers ? ker_alloc(switches * ROUTE_TRIE_BLOCK * sizeof *m->layer_value) : NULL;
    m->position = ker_alloc(switches * sizeof *m->position);
    m->step = ker_alloc(switches * sizeof *m->step);
    m->picked = ker_alloc(switches * sizeof *m->picked);
    m->by_link = ker_alloc(switches * sizeof *m->by_link);
    m->inners = ker_alloc(switches * sizeof *m->inners);
    m->orders = m->weight ? ker_alloc(switches * ROUTE_TRIE_BLOCK * sizeof *m->orders) : NULL;
    m->window = UINT32_MAX;
    ends_make(m);
}

void route_one_end(struct route_maker *m)
{
    KER_FREE(m->leads, m->inner, m->way, m->value, m->layer_value, m->orders, m->end, m->position, m->step,
             m->picked, m->by_link, m->inners);
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

void route_one_window(struct route_maker *m, uint32_t first_bit)
{
    const struct route_wires *wires = m->wires;
    m->window = first_bit;
    for (uint32_t at = 0; at < wires->switches; at++) {
        m->inner[at] = 0;
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++) {
            m->leads[i] = leads_find(m, m->end[i].at, m->end[i].own);
            m->inner[at] |= m->leads[i];
        }
    }
}

/* ---- the paths to one destination ---- */

static inline void way_set(struct route_maker *m, uint32_t at, uint32_t link)
{
    uint32_t number = link - m->wires->begin[at];
    m->way[(size_t)at * m->words + number / 64] |= 1ull << number % 64;
}

/* A switch is the next in the list. */
static inline uint32_t place_add(struct route_maker *m, uint32_t at)
{
    uint32_t k = m->reached++;
    m->position[at] = k;
    m->inners[m->inner_count] = k;
    m->inner_count += m->inner[at] >> m->at_hand & 1;
    return k;
}

/* The place number `on` has been found to be next for the switch at the other end of one of its links. */
static inline void step_find(struct route_maker *m, uint32_t on, uint32_t link)
{
    struct route_end end = m->end[link];
    uint32_t at = end.at, k = m->position[at];
    if (k == UINT32_MAX || m->step[k].next == ROUTE_NO_WIRE) {
        if (k == UINT32_MAX)
            k = place_add(m, at);
        m->step[k] = (struct route_step){at, end.own, link, on};
        m->by_link[at] = end.set;
        return;
    }
    struct route_step *step = &m->step[k];
    if (step->link != ROUTE_NO_WIRE) {
        memset(m->way + (size_t)at * m->words, 0, m->words * sizeof *m->way);
        way_set(m, at, step->link);
        *step = (struct route_step){at, ROUTE_NO_WIRE, ROUTE_NO_WIRE, 1};
    }
    way_set(m, at, end.own);
    step->next++;
}

/* All whose paths lead by the switch number k. */
static inline void steps_find(struct route_maker *m, uint32_t k)
{
    uint32_t at = m->step[k].at, first = m->wires->begin[at], last = m->wires->begin[at + 1];
    for (uint32_t i = first, end; i < last; i = end) {
        uint64_t some = 0;
        end = last - i < 64 ? last : i + 64;
        for (uint32_t link = i; link < end; link++)
            some |= (m->leads[link] >> m->at_hand & 1) << (link - i);
        for (; some; some &= some - 1)
            step_find(m, k, i + (uint32_t)__builtin_ctzll(some));
    }
}

/* The links of a switch that is looked at soon. */
static inline void links_fetch(const struct route_maker *m, uint32_t at)
{
    uint32_t first = m->wires->begin[at], last = m->wires->begin[at + 1];
    for (uint32_t i = first; i < last; i += 8)
        __builtin_prefetch(&m->leads[i]);
    for (uint32_t i = first; i < last; i += 5)
        __builtin_prefetch(&m->end[i]);
}

/* With weights: those of the search's order that have a path. */
static void order_take(struct route_maker *m, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    const uint32_t *order = m->orders + (size_t)(m->window + m->at_hand) * wires->switches;
    uint32_t reached = m->orders_reached[m->window + m->at_hand];
    for (uint32_t k = 0; k < reached; k++) {
        uint32_t at = order[k];
        uint64_t any = at == to;
        for (uint32_t i = wires->begin[at]; i < wires->begin[at + 1]; i++)
            any |= m->leads[wires->reverse[i]] >> m->at_hand & 1;
        if (!any)
            continue;
        m->step[place_add(m, at)] = (struct route_step){at, ROUTE_NO_WIRE, ROUTE_NO_WIRE, ROUTE_NO_WIRE};
    }
}

/* Lists the switches that packets to a destination pass, nearest first. */
static void steps_make(struct route_maker *m, uint32_t to)
{
    memset(m->position, 0xff, m->wires->switches * sizeof *m->position);
    m->reached = m->inner_count = 0;
    if (m->orders)
        order_take(m, to);
    else
        m->step[place_add(m, to)].at = to;
    for (uint32_t i = 0; i < m->inner_count; i++) {
        if (i + 1 < m->inner_count)
            links_fetch(m, m->step[m->inners[i + 1]].at);
        steps_find(m, m->inners[i]);
    }
    m->step[0] = (struct route_step){to, ROUTE_NO_WIRE, ROUTE_NO_WIRE, 0};
}

/* ---- one of them ---- */

static inline const uint64_t *ways_of(const struct route_maker *m, uint32_t at)
{
    return m->way + (size_t)at * m->words;
}

/* Visits the links that paths from a switch with several begin with: `link` is one after the other. */
#define EACH_WAY(m, at, link)                                                                                \
    for (uint32_t w_ = 0; w_ < (m)->words; w_++)                                                             \
        for (uint64_t rest_ = ways_of(m, at)[w_], link = 0;                                                  \
             rest_ && ((link) = (m)->wires->begin[at] + w_ * 64 + (uint32_t)__builtin_ctzll(rest_), true);   \
             rest_ &= rest_ - 1)

static uint32_t link_number(const struct route_maker *m, uint32_t at, uint32_t number)
{
    EACH_WAY(m, at, link)
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
    EACH_WAY(m, at, link)
    {
        count = m->load[link] < low ? 1 : count + (m->load[link] == low);
        low = m->load[link] < low ? m->load[link] : low;
    }
    m->mask[at] = *ways_of(m, at);
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
    EACH_WAY(m, at, link)
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
    if (m->lowest_hops[at] == 0 || m->mask[at] != *ways_of(m, at))
        lowest_find(m, at);
    return m->load[link] <= m->lowest[at] + pairs ? link : lowest_after(m, at, place);
}

/* ---- the table ---- */

/* By how much the paths from a place, of which there are several, divide the destinations. */
static void divided_pass(struct route_maker *m, uint32_t k)
{
    uint32_t at = m->step[k].at;
    uint64_t divided = (uint64_t)m->divided[k] * m->step[k].next;
    if (divided > m->wires->endpoints)
        divided = m->wires->endpoints + 1ull;
    EACH_WAY(m, at, link)
    {
        uint32_t *there = &m->divided[m->position[m->wires->to[link]]];
        *there = divided > *there ? (uint32_t)divided : *there;
    }
}

/* From the farthest switch on: the paths to an endpoint from those switches that packets pass. What is not
 * the same for all endpoints of the destination is kept in m->picked. */
static void endpoint_make(struct route_maker *m, uint32_t endpoint, uint32_t *value)
{
    const struct route_wires *wires = m->wires;
    m->picked_count = 0;
    for (uint32_t k = 0; k < m->reached; k++) {
        m->pairs[k] = wires->endpoints_at[m->step[k].at];
        m->divided[k] = 1;
    }
    for (uint32_t k = m->reached; k-- > 1;) {
        struct route_step *step = &m->step[k];
        uint32_t pairs = m->pairs[k], divided = m->divided[k], set = m->by_link[step->at];
        bool several = step->link == ROUTE_NO_WIRE;
        if (several)
            divided_pass(m, k);
        else if (divided > m->divided[step->next])
            m->divided[step->next] = divided;
        if (several || pairs == 0)
            m->picked[m->picked_count++] = (struct route_picked){k, *step};
        if (pairs == 0) {
            *step = (struct route_step){step->at, ROUTE_NO_WIRE, ROUTE_NO_WIRE, 0};
            continue;
        }
        if (several) {
            uint32_t link = link_pick(m, k, endpoint, pairs), back = wires->reverse[link];
            load_add(m, step->at, link, pairs);
            *step = (struct route_step){step->at, link, back, m->position[wires->to[link]]};
            set = m->end[back].set;
        }
        m->pairs[step->next] += pairs;
        value[step->at] = set;
    }
}

static bool destination_make(struct route_maker *m, const struct route_block *b, uint32_t k, uint32_t to)
{
    size_t switches = m->wires->switches;
    m->at_hand = b->first_bit + k - m->window;
    steps_make(m, to);
    for (uint32_t i = 0; i < b->count; i++) {
        if (b->place[i] != k)
            continue;
        struct route_hop eject = {m->wires->endpoint_port[b->first + i], ROUTE_TABLE_ANY, 0};
        m->value[i * switches + to] = route_table_set_of(m->table, &eject, 1);
        endpoint_make(m, b->first + i, m->value + i * switches);
        if (m->layers && !route_layers_add(m->layers, m->step, m->reached, m->layer_value + i * switches))
            return false;
        for (uint32_t n = 0; n < m->picked_count; n++)
            m->step[m->picked[n].k] = m->picked[n].step;
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
