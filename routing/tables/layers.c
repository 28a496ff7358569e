/* layers.c - which layer of virtual channels a path uses.
 *
 * As in LASH (Skeie et al., 2002) every pair of a source's and a destination's switch has one path, and each
 * path one layer, in which it stays. A layer is free of deadlock when its links do not wait for each other in
 * a circle; so a path is added to the first layer whose graph of dependencies stays without a cycle, and to a
 * new one when there is none.
 *
 * A dependency is a link and one of those of the switch it leads to. `have` says in which layers it is, `bad`
 * in which it would close a circle; that it does never ends, since nothing is taken out of a layer, so each
 * question is asked once. All paths to one destination form a tree: a path is that of its second switch with
 * one dependency more, and inherits in which layers it is contained, and in which impossible. Nearly all
 * paths are decided by that alone. Cycles are found by keeping the links of a layer in topological order
 * (acyclic.c).
 */
#include "routing/tables/acyclic.h"
#include "routing/tables/make.h"

#include <stdlib.h>
#include <string.h>

#define MAX_DEPENDENCIES (1u << 27) /* 512 MiB */
#define FETCHED 64                  /* switches whose dependencies are fetched together */

/* Of a dependency: a bit for each layer. */
struct sets {
    uint16_t have, bad;
};
_Static_assert(ROUTE_MAX_LAYERS <= 16, "a bit for each layer");

struct route_layers {
    const struct route_wires *wires;
    uint32_t *first; /* per link: its place among those that wait for it, less the number of its switch's
                        first link: the reverse of what waits is added */
    struct sets
        *sets; /* per dependency; those that wait for one link together, as paths to a destination ask */
    size_t dependencies;
    uint32_t layers;
    struct route_acyclic *graph;
    /* for the current destination, per place of its tree */
    const struct route_step *path;
    uint32_t *asked; /* the dependency that its path begins with, if there are several links */
    uint32_t *contained, *blocked;
};

static size_t sets_bytes(const struct route_layers *l)
{
    return (l->dependencies + 1) * sizeof *l->sets;
}

struct route_layers *route_layers_new(const struct route_wires *wires)
{
    struct route_layers *l = ker_alloc(sizeof *l);
    l->wires = wires;
    l->first = ker_alloc((wires->links + (size_t)1) * sizeof *l->first);
    for (uint32_t i = 0; i < wires->links; i++) {
        uint32_t from = wires->from[i];
        l->first[i] = (uint32_t)l->dependencies - wires->begin[from];
        l->dependencies += wires->begin[from + 1] - wires->begin[from];
    }
    if (l->dependencies > MAX_DEPENDENCIES) {
        route_layers_free(l);
        return NULL;
    }
    l->sets = ker_reserve(sets_bytes(l));
    l->asked = ker_alloc(wires->switches * sizeof *l->asked);
    l->contained = ker_alloc(wires->switches * sizeof *l->contained);
    l->blocked = ker_alloc(wires->switches * sizeof *l->blocked);
    l->graph = route_acyclic_new(wires);
    return l;
}

void route_layers_free(struct route_layers *l)
{
    if (!l)
        return;
    ker_release(l->sets, sets_bytes(l));
    KER_FREE(l->first, l->asked, l->contained, l->blocked);
    route_acyclic_free(l->graph);
    free(l);
}

uint32_t route_layers_count(const struct route_layers *l)
{
    return l->layers ? l->layers : 1;
}

/* The dependency that the path from a place begins with is new in a layer; false when it would close a
 * circle.
 */
static bool dependency_add(struct route_layers *l, uint32_t layer, uint32_t at)
{
    uint32_t link = l->path[at].link, next = l->path[l->path[at].next].link;
    if (route_acyclic_refuses(l->graph, layer, link, next) ||
        !route_acyclic_add(l->graph, layer, &link, 1, next))
        return false;
    l->sets[l->asked[at]].have |= 1u << layer;
    return true;
}

static void dependency_remove(struct route_layers *l, uint32_t layer, uint32_t at)
{
    route_acyclic_remove(l->graph, layer, l->path[at].link, l->path[l->path[at].next].link);
    l->sets[l->asked[at]].have &= ~(1u << layer);
}

static void layer_begin(struct route_layers *l)
{
    route_acyclic_layer(l->graph);
    l->layers++;
}

/* Is some dependency of the path from a place known to close a circle? */
static bool path_blocked(const struct route_layers *l, uint32_t layer, uint32_t at)
{
    for (uint32_t on = l->path[at].next; on != 0; at = on, on = l->path[at].next)
        if (l->sets[l->asked[at]].bad >> layer & 1)
            return true;
    return false;
}

/* The path from a place; all of its dependencies, or none. */
static bool path_add(struct route_layers *l, uint32_t layer, uint32_t at)
{
    const struct route_step *path = l->path;
    if (path_blocked(l, layer, at))
        return false;
    uint32_t added[UINT8_MAX], count = 0; /* places whose link waits for the path's next one */
    for (uint32_t on = path[at].next; on != 0; at = on, on = path[at].next) {
        if (l->sets[l->asked[at]].have >> layer & 1)
            continue;
        bool possible = count < UINT8_MAX;
        if (possible && dependency_add(l, layer, at)) {
            added[count++] = at;
            continue;
        }
        for (uint32_t i = 0; i < count; i++)
            dependency_remove(l, layer, added[i]);
        /* it may have failed because of what was just added */
        if (possible && count > 0 && dependency_add(l, layer, at))
            dependency_remove(l, layer, at);
        else
            l->sets[l->asked[at]].bad |= 1u << layer;
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        route_acyclic_keep(l->graph, layer, path[added[i]].link, path[path[added[i]].next].link);
    return true;
}

/* Among layers that contain the path already, one by the draw, so that all are used. */
static uint32_t pick_layer(uint32_t layers, uint32_t draw)
{
    uint32_t skip = ker_random_below(draw, (uint32_t)__builtin_popcount(layers));
    while (skip-- > 0)
        layers &= layers - 1;
    return (uint32_t)__builtin_ctz(layers);
}

static uint32_t layers_all(const struct route_layers *l)
{
    return (1u << l->layers) - 1;
}

static bool path_place(struct route_layers *l, uint32_t at, uint32_t *layer)
{
    uint32_t all = layers_all(l);
    if (l->contained[at] & all) {
        *layer = pick_layer(l->contained[at] & all, route_mix(l->path[0].at, l->path[at].at));
        return true;
    }
    for (uint32_t i = 0; i < ROUTE_MAX_LAYERS; i++) {
        if (i == l->layers)
            layer_begin(l);
        if (l->blocked[at] >> i & 1 || !path_add(l, i, at))
            continue;
        l->contained[at] |= 1u << i;
        *layer = i;
        return true;
    }
    return false;
}

/* The first dependencies of the paths from these places; they are fetched, since they lie anywhere. */
static void dependencies_fetch(struct route_layers *l, uint32_t first, uint32_t end)
{
    for (uint32_t k = first, on = 0, of_next = 0; k < end; k++) {
        const struct route_step *step = &l->path[k];
        if (step->link == ROUTE_NO_WIRE || step->next == 0)
            continue;
        if (step->next != on)
            of_next = l->first[l->path[step->next].link];
        on = step->next;
        l->asked[k] = of_next + step->back;
        __builtin_prefetch(&l->sets[l->asked[k]]);
    }
}

/* Of paths from these places, which all send to the same next one: in which layers they are, and where they
 * are impossible. */
static void paths_ask(struct route_layers *l, uint32_t first, uint32_t end)
{
    uint32_t on = l->path[first].next;
    for (uint32_t k = first; k < end; k++) {
        l->contained[k] = UINT32_MAX;
        l->blocked[k] = 0;
        if (on != 0 && l->path[k].link != ROUTE_NO_WIRE) {
            const struct sets *sets = &l->sets[l->asked[k]];
            l->contained[k] = l->contained[on] & sets->have;
            l->blocked[k] = l->blocked[on] | sets->bad;
        }
    }
}

/* The layer where a path wants only its first dependency added, before it may try any other; l->layers: none.
 * `behind`: the layers that contain the path of the place it sends to. */
static uint32_t layer_wanted(const struct route_layers *l, uint32_t k, uint32_t behind)
{
    uint32_t all = layers_all(l), possible = all & ~l->blocked[k];
    if (l->path[k].link == ROUTE_NO_WIRE || !l->wires->endpoints_at[l->path[k].at] || l->contained[k] & all ||
        !possible)
        return l->layers;
    possible &= -possible;
    return possible & behind & ~l->sets[l->asked[k]].have ? (uint32_t)__builtin_ctz(possible) : l->layers;
}

/* What these places want added in a layer. Dependencies on one link do not depend on each other: a circle
 * that passes it twice is one without them. So all are added at once, and if that fails each alone. */
static void layer_join(struct route_layers *l, uint32_t layer, const uint32_t *place, uint32_t count)
{
    uint32_t next = l->path[l->path[place[0]].next].link, link[FETCHED], some = 0;
    for (uint32_t i = 0; i < count; i++) {
        link[some] = l->path[place[i]].link;
        if (route_acyclic_refuses(l->graph, layer, link[some], next))
            l->sets[l->asked[place[i]]].bad |= 1u << layer;
        else
            some++;
    }
    bool together = some > 1 && route_acyclic_add(l->graph, layer, link, some, next);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = place[i], own = l->path[k].link;
        struct sets *sets = &l->sets[l->asked[k]];
        if (!(sets->bad >> layer & 1) && !together && !route_acyclic_add(l->graph, layer, &own, 1, next))
            sets->bad |= 1u << layer;
        if (sets->bad >> layer & 1) {
            l->blocked[k] |= 1u << layer;
            continue;
        }
        sets->have |= 1u << layer;
        l->contained[k] |= 1u << layer;
        route_acyclic_keep(l->graph, layer, own, next);
    }
}

/* Until none of these places wants anything. */
static void layers_join(struct route_layers *l, uint32_t first, uint32_t end, uint32_t behind)
{
    uint32_t wanted[FETCHED], place[FETCHED];
    for (uint32_t least = 0; least < l->layers;) {
        uint32_t count = 0;
        least = l->layers;
        for (uint32_t k = first; k < end; k++) {
            wanted[k - first] = layer_wanted(l, k, behind);
            least = wanted[k - first] < least ? wanted[k - first] : least;
        }
        for (uint32_t k = first; k < end && least < l->layers; k++)
            if (wanted[k - first] == least)
                place[count++] = k;
        if (count)
            layer_join(l, least, place, count);
    }
}

/* Paths from these places, which all send to the same next one. A layer that gets the first of them contains
 * the path from there on, so that others may join. */
static bool alike_place(struct route_layers *l, uint32_t first, uint32_t end, uint32_t *layer)
{
    uint32_t on = l->path[first].next, behind = l->contained[on];
    paths_ask(l, first, end);
    if (on != 0 && behind)
        layers_join(l, first, end, behind);
    for (uint32_t k = first; k < end; k++) {
        if (l->path[k].link == ROUTE_NO_WIRE || !l->wires->endpoints_at[l->path[k].at])
            continue;
        if (!path_place(l, k, &layer[l->path[k].at]))
            return false;
        if (on != 0 && l->contained[k] & ~behind) {
            behind |= l->contained[k];
            layers_join(l, k + 1, end, behind);
        }
    }
    return true;
}

/* Paths from these places, of which those that others lead through come first. */
static bool paths_place(struct route_layers *l, uint32_t first, uint32_t end, uint32_t *layer)
{
    for (uint32_t k = first, alike; k < end; k = alike) {
        for (alike = k + 1; alike < end && l->path[alike].next == l->path[k].next;)
            alike++;
        if (!alike_place(l, k, alike, layer))
            return false;
    }
    return true;
}

bool route_layers_add(struct route_layers *l, const struct route_step *path, uint32_t count, uint32_t *layer)
{
    bool possible = true;
    if (l->layers == 0)
        layer_begin(l);
    l->path = path;
    route_acyclic_kept(l->graph);
    l->contained[0] = UINT32_MAX;
    for (uint32_t k = 1; k < count && possible; k += FETCHED) {
        uint32_t end = count - k < FETCHED ? count : k + FETCHED;
        dependencies_fetch(l, k, end);
        possible = paths_place(l, k, end, layer);
    }
    return possible;
}

void route_layers_pass(struct route_layers *l, struct ker_comm *comm, int from)
{
    route_pass(comm, from, &l->layers, sizeof l->layers);
    route_pass(comm, from, l->sets, sets_bytes(l));
    route_acyclic_pass(l->graph, comm, from);
}
