/* tables.c - the proof for routing by a table, many destinations at a time.
 *
 * Where a packet goes depends on the switch it is at and its destination alone, and the class of its channels
 * is one and the same to the end, the only one there is or its layer, or it counts the switches passed. So
 * nothing has to be asked, and a state is a switch and a set of classes. For 64 destinations at once the
 * classes of the packets that come by each switch are collected (`passing`), from switch to switch for all of
 * them together, since many go by the same link; every link that packets leave by waits for those that
 * they leave the next switch by, in these classes. A
 * dependency has a place of its own, a bit for each class: one that is known costs no more than to look
 * there. As in check.c (which does all other tables, and is the judge of this in its test) there must be no
 * cycle; where there is one, check.c looks for it again and says what it is.
 */
#include "routing/proof/check.h"

#include "routing/tables/make.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define MOST_PLACES (1u << 27) /* half a GiB */
#define BLOCK ROUTE_TRIE_BLOCK

/* The links of a set of paths at a switch. */
struct fan {
    uint32_t at, set; /* at NONE: nothing is read yet */
    uint32_t links, link[ROUTE_MAX_CHOICES];
    uint32_t exit; /* the port to an endpoint, or nowhere; NONE: there is none */
    bool plain;    /* all in the class that all are in, and at most one exit */
};

struct tables {
    const struct route_table *table;
    struct route_wires wires;
    uint32_t *first_port, *link; /* ports of all switches in one row: the link there */
    uint32_t *place;             /* per link: its first dependency; one for each link of the next switch */
    uint32_t *waits;             /* per dependency: in which classes */
    size_t waits_bytes;
    uint32_t first, count;     /* the columns at hand */
    uint64_t wanted;           /* of these: the destinations to look at */
    struct state {             /* [switch * BLOCK + i] */
        uint32_t set, passing; /* its paths; classes of packets that come by */
    } * state;
    uint32_t *queue;   /* switches */
    uint64_t *pending; /* per switch: the destinations for which what is behind it is not up to date;
                          it is in the queue if there are any */
    bool layered;
    uint32_t class; /* of all hops to switches */
    uint32_t shift; /* 1: it counts the switches passed */
};

/* False: they are too many. */
static bool places_make(struct tables *t)
{
    const struct route_wires *wires = &t->wires;
    uint64_t places = 0;
    t->place = ker_alloc((wires->links + 1ull) * sizeof *t->place);
    for (uint32_t i = 0; i < wires->links; i++) {
        t->place[i] = (uint32_t)places;
        places += wires->begin[wires->to[i] + 1] - wires->begin[wires->to[i]];
        if (places > MOST_PLACES)
            return false;
    }
    t->place[wires->links] = (uint32_t)places;
    t->waits_bytes = (places + 1) * sizeof *t->waits;
    t->waits = ker_reserve(t->waits_bytes);
    return true;
}

static void ports_make(struct tables *t, const struct route_topology *topology)
{
    const struct route_wires *wires = &t->wires;
    uint32_t ports = 0;
    t->first_port = ker_alloc((wires->switches + 1ull) * sizeof *t->first_port);
    for (uint32_t s = 0; s < wires->switches; s++) {
        t->first_port[s] = ports;
        ports += route_ports(topology, s);
    }
    t->first_port[wires->switches] = ports;
    t->link = ker_alloc((ports + 1ull) * sizeof *t->link);
    memset(t->link, 0xff, ports * sizeof *t->link);
    for (uint32_t i = 0; i < wires->links; i++)
        t->link[t->first_port[wires->from[i]] + wires->port[i]] = i;
}

static void tables_release(struct tables *t)
{
    route_wires_release(&t->wires);
    free(t->first_port);
    free(t->link);
    free(t->place);
    ker_release(t->waits, t->waits_bytes);
    free(t->state);
    free(t->queue);
    free(t->pending);
}

/* ---- 64 destinations ---- */

/* Several links, none, or an exit. */
static __attribute__((noinline)) void fan_read_any(const struct tables *t, struct fan *fan, uint32_t at,
                                                   uint32_t set)
{
    const struct route_hop *hops;
    uint32_t count = route_table_set_hops(t->table, set, &hops);
    fan->at = at;
    fan->set = set;
    fan->links = 0;
    fan->exit = NONE;
    fan->plain = count <= ROUTE_MAX_CHOICES;
    count = fan->plain ? count : 0;
    for (uint32_t h = 0; h < count; h++) {
        uint32_t port = t->first_port[at] + hops[h].port;
        uint32_t link = port < t->first_port[at + 1] ? t->link[port] : NONE;
        if (link != NONE) {
            fan->link[fan->links++] = link;
            fan->plain &= hops[h].class == t->class;
        } else {
            fan->plain &= fan->exit == NONE;
            fan->exit = hops[h].port;
        }
    }
}

/* The link of a set that is only one, in the class that all are in; NONE: it is not. */
static inline uint32_t link_alone(const struct tables *t, uint32_t at, uint32_t set)
{
    const struct route_hop *hop;
    if (route_table_set_hops(t->table, set, &hop) != 1 || hop->class != t->class)
        return NONE;
    uint32_t port = t->first_port[at] + hop->port;
    return port < t->first_port[at + 1] ? t->link[port] : NONE;
}

/* Reads what destination number i of the block has at a switch, if it is not what the last one had. */
static inline void fan_read(const struct tables *t, struct fan *fan, uint32_t at, uint32_t i)
{
    uint32_t set = t->state[(size_t)at * BLOCK + i].set;
    if (fan->at == at && fan->set == set)
        return;
    uint32_t link = link_alone(t, at, set);
    if (link == NONE) {
        fan_read_any(t, fan, at, set);
        return;
    }
    fan->at = at;
    fan->set = set;
    fan->links = 1;
    fan->link[0] = link;
    fan->exit = NONE;
    fan->plain = true;
}

/* False: a path leads nowhere, or in another class. */
static inline bool fan_is_plain(const struct tables *t, const struct fan *fan, uint32_t i, uint32_t passing)
{
    uint32_t to = t->first + i;
    bool exits = fan->exit == NONE ||
                 (t->wires.endpoint_switch[to] == fan->at && t->wires.endpoint_port[to] == fan->exit);
    return fan->plain && exits && (fan->links == 0 || !(passing >> (t->table->classes - 1) >> 1));
}

static void block_read(struct tables *t, uint32_t block)
{
    const struct route_wires *wires = &t->wires;
    const struct route_trie *hops = &t->table->hops, *layers = &t->table->layers;
    uint32_t set[BLOCK], layer[BLOCK] = {0};
    for (uint32_t at = 0; at < wires->switches; at++) {
        bool begins = wires->endpoints_at[at] > 0; /* packets, in their layers */
        struct state *state = t->state + (size_t)at * BLOCK;
        route_trie_block_values(hops, route_trie_block_of(hops, at, block), set);
        if (begins && t->layered)
            route_trie_block_values(layers, route_trie_block_of(layers, at, block), layer);
        for (uint32_t i = 0; i < BLOCK; i++)
            state[i] = (struct state){set[i], begins && i < t->count ? 1u << layer[i] : 0};
    }
    for (uint32_t i = 0; i < t->count; i++) {
        uint32_t own = wires->endpoint_switch[t->first + i];
        if (wires->endpoints_at[own] == 1) /* nothing is sent to oneself */
            t->state[(size_t)own * BLOCK + i].passing = 0;
    }
}

static void waits_add(struct tables *t, uint32_t link, const struct fan *behind, uint32_t classes)
{
    for (uint32_t k = 0; k < behind->links; k++)
        t->waits[t->place[link] + behind->link[k] - t->wires.begin[behind->at]] |= classes;
}

/* What passes a switch passes those behind it, too, and waits there; those that get more are put in the
 * queue.
 */
static bool switch_spread(struct tables *t, uint32_t at, uint64_t destinations, uint32_t *found)
{
    struct fan fan = {.at = NONE}, behind = {.at = NONE};
    for (uint64_t rest = destinations; rest; rest &= rest - 1) { /* fetch what is behind */
        uint32_t i = (uint32_t)__builtin_ctzll(rest);
        uint32_t link = link_alone(t, at, t->state[(size_t)at * BLOCK + i].set);
        if (link != NONE)
            __builtin_prefetch(&t->state[(size_t)t->wires.to[link] * BLOCK + i], 1);
    }
    for (; destinations; destinations &= destinations - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(destinations);
        uint32_t passing = t->state[(size_t)at * BLOCK + i].passing;
        fan_read(t, &fan, at, i);
        if (!fan_is_plain(t, &fan, i, passing))
            return false;
        for (uint32_t k = 0; k < fan.links; k++) {
            uint32_t on = t->wires.to[fan.link[k]], *there = &t->state[(size_t)on * BLOCK + i].passing;
            fan_read(t, &behind, on, i);
            waits_add(t, fan.link[k], &behind, passing);
            if (!(passing << t->shift & ~*there))
                continue;
            *there |= passing << t->shift;
            if (!t->pending[on])
                t->queue[(*found)++ % t->wires.switches] = on;
            t->pending[on] |= 1ull << i;
        }
    }
    return true;
}

static bool block_walk(struct tables *t)
{
    uint32_t switches = t->wires.switches, done = 0, found = 0;
    for (uint32_t at = 0; at < switches; at++) {
        t->pending[at] = 0;
        for (uint64_t rest = t->wanted; rest; rest &= rest - 1)
            t->pending[at] |= t->state[(size_t)at * BLOCK + __builtin_ctzll(rest)].passing ? rest & -rest : 0;
        if (t->pending[at])
            t->queue[found++] = at;
    }
    while (done != found) {
        uint32_t at = t->queue[done++ % switches];
        uint64_t destinations = t->pending[at];
        t->pending[at] = 0;
        if (!switch_spread(t, at, destinations, &found))
            return false;
    }
    return true;
}

/* ---- cycles ---- */

/* Takes away links that nobody waits for until none is left; true: some stay. Counts the dependencies of one
 * class, and the links that have any. Where the class counts switches a link waits for those of the next
 * class, so that there can be no cycle. */
static bool class_is_cyclic(const struct tables *t, uint32_t class, struct route_proof *proof)
{
    const struct route_wires *wires = &t->wires;
    uint32_t *pointed = ker_alloc((wires->links + 1ull) * sizeof *pointed), done = 0, found = 0;
    uint32_t *bare = ker_alloc((wires->links + 1ull) * sizeof *bare);
    bool *waiting = ker_alloc(wires->links + 1ull);
    for (uint32_t link = 0; link < wires->links; link++)
        for (uint32_t p = t->place[link]; p < t->place[link + 1]; p++) {
            bool waits = t->waits[p] >> class & 1, before = t->waits[p] << t->shift >> class & 1;
            pointed[wires->begin[wires->to[link]] + p - t->place[link]] += before;
            waiting[link] |= waits;
            proof->dependencies += waits;
        }
    for (uint32_t link = 0; link < wires->links; link++) {
        proof->channels += waiting[link] || pointed[link];
        if (pointed[link] == 0 || t->shift)
            bare[found++] = link;
    }
    for (; done < found && !t->shift; done++) {
        uint32_t link = bare[done], first = wires->begin[wires->to[link]];
        for (uint32_t p = t->place[link]; waiting[link] && p < t->place[link + 1]; p++)
            if (t->waits[p] >> class & 1 && --pointed[first + p - t->place[link]] == 0)
                bare[found++] = first + p - t->place[link];
    }
    free(pointed);
    free(bare);
    free(waiting);
    return found < wires->links;
}

/* ---- the table ---- */

static bool is_plain(const struct route_topology *topology)
{
    const struct route_table *table = topology->table;
    const struct route_algorithm *a = topology->algorithm;
    return table && a->by_table && !a->by_source && !a->by_hops && !topology->faults && !topology->inner &&
           topology->summary.planes == 1 && table->paths <= 1 && !table->lanes && !table->shared &&
           table->endpoints == topology->summary.endpoints && table->classes <= 32;
}

static bool destinations_walk(struct tables *t, const uint32_t *destination, uint32_t destinations)
{
    uint32_t endpoints = t->wires.endpoints, blocks = (endpoints - 1) / BLOCK + 1;
    uint64_t *wanted = ker_alloc(blocks * sizeof *wanted);
    bool plain = true;
    for (uint32_t i = 0; i < destinations; i++)
        wanted[destination[i] / BLOCK] |= 1ull << destination[i] % BLOCK;
    for (uint32_t b = 0; b < blocks && plain; b++) {
        t->first = b * BLOCK;
        t->count = endpoints - t->first < BLOCK ? endpoints - t->first : BLOCK;
        t->wanted = wanted[b];
        if (t->wanted) {
            block_read(t, b);
            plain = block_walk(t);
        }
    }
    free(wanted);
    return plain;
}

enum route_table_proof route_prove_table(const struct route_topology *topology, const uint32_t *destination,
                                         uint32_t destinations, uint64_t max_work, struct route_proof *proof)
{
    uint64_t work = (uint64_t)topology->summary.switches * destinations / ROUTE_TABLE_STATES;
    if (!is_plain(topology) || work > max_work)
        return ROUTE_TABLE_OTHER;
    struct tables t = {.table = topology->table, .layered = topology->table->layers.root != NULL};
    t.shift = !t.layered && topology->table->classes > 1;
    t.class = t.layered ? ROUTE_TABLE_LAYER : t.shift ? ROUTE_TABLE_HOPS : 0;
    struct route_proof found = *proof;
    size_t switches = topology->summary.switches;
    route_wires_make(&t.wires, topology);
    t.state = ker_alloc(switches * BLOCK * sizeof *t.state);
    t.queue = ker_alloc(switches * sizeof *t.queue);
    t.pending = ker_alloc(switches * sizeof *t.pending);
    ports_make(&t, topology);
    bool walked = places_make(&t) && destinations_walk(&t, destination, destinations), cyclic = false;
    for (uint32_t c = 0; walked && c < topology->table->classes && !cyclic; c++)
        cyclic = class_is_cyclic(&t, c, &found);
    tables_release(&t);
    if (!walked)
        return ROUTE_TABLE_OTHER;
    if (cyclic)
        return ROUTE_TABLE_CYCLIC;
    found.walked = destinations;
    found.work = work;
    *proof = found;
    return ROUTE_TABLE_FREE;
}
