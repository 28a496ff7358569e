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

#define MAX_DEPENDENCIES (1u << 27) /* a GiB */
#define FETCHED 64                  /* switches whose dependencies are fetched together */

/* Of a dependency: a bit for each layer. */
struct sets {
    uint32_t have, bad;
};

struct route_layers {
    const struct route_wires *wires;
    struct row {
        uint64_t first; /* of its dependencies, less the number of the first link of `to`: the next link is
                           added */
        uint32_t to;
    } * row;           /* per link */
    struct sets *sets; /* per dependency */
    size_t dependencies;
    uint64_t *asked; /* per switch of a path, for the current destination: its first dependency */
    uint32_t layers;
    struct route_acyclic *graph;
    uint32_t *contained, *blocked; /* per switch, for the current destination */
};

struct route_layers *route_layers_new(const struct route_wires *wires)
{
    struct route_layers *l = ker_alloc(sizeof *l);
    size_t links = wires->links + (size_t)1;
    l->wires = wires;
    l->row = ker_alloc(links * sizeof *l->row);
    for (uint32_t i = 0; i < wires->links; i++) {
        uint32_t to = wires->to[i];
        l->row[i] = (struct row){l->dependencies - wires->begin[to], to};
        l->dependencies += wires->begin[to + 1] - wires->begin[to];
    }
    if (l->dependencies > MAX_DEPENDENCIES) {
        route_layers_free(l);
        return NULL;
    }
    l->sets = ker_alloc((l->dependencies + 1) * sizeof *l->sets);
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
    free(l->row);
    free(l->sets);
    free(l->asked);
    free(l->contained);
    free(l->blocked);
    route_acyclic_free(l->graph);
    free(l);
}

uint32_t route_layers_count(const struct route_layers *l)
{
    return l->layers ? l->layers : 1;
}

static uint64_t dependency(const struct route_layers *l, uint32_t link, uint32_t next)
{
    return l->row[link].first + next;
}

/* A new dependency; false when it would close a circle. */
static bool dependency_add(struct route_layers *l, uint32_t layer, uint32_t link, uint32_t next)
{
    if (!route_acyclic_add(l->graph, layer, link, next))
        return false;
    l->sets[dependency(l, link, next)].have |= 1u << layer;
    return true;
}

static void dependency_remove(struct route_layers *l, uint32_t layer, uint32_t link, uint32_t next)
{
    route_acyclic_remove(l->graph, layer, link, next);
    l->sets[dependency(l, link, next)].have &= ~(1u << layer);
}

static void layer_begin(struct route_layers *l)
{
    route_acyclic_layer(l->graph);
    l->layers++;
}

/* The path from a switch; all of its dependencies, or none. */
static bool path_add(struct route_layers *l, uint32_t layer, const uint32_t *next, uint32_t at,
                     uint32_t destination)
{
    const struct route_wires *wires = l->wires;
    uint32_t added[UINT8_MAX], count = 0; /* links that wait for the path's next one */
    for (uint32_t on = wires->to[next[at]]; on != destination; at = on, on = wires->to[next[at]]) {
        uint64_t d = dependency(l, next[at], next[on]);
        if (l->sets[d].have >> layer & 1)
            continue;
        bool possible = !(l->sets[d].bad >> layer & 1) && count < UINT8_MAX;
        if (possible && dependency_add(l, layer, next[at], next[on])) {
            added[count++] = next[at];
            continue;
        }
        for (uint32_t i = 0; i < count; i++)
            dependency_remove(l, layer, added[i], next[wires->to[added[i]]]);
        /* it may have failed because of what was just added */
        if (possible && count > 0 && dependency_add(l, layer, next[at], next[on]))
            dependency_remove(l, layer, next[at], next[on]);
        else
            l->sets[d].bad |= 1u << layer;
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        route_acyclic_keep(l->graph, layer, added[i], next[wires->to[added[i]]]);
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

static bool path_place(struct route_layers *l, const uint32_t *next, uint32_t at, uint32_t destination,
                       uint8_t *layer)
{
    uint32_t all = l->layers == 32 ? UINT32_MAX : (1u << l->layers) - 1;
    if (l->contained[at] & all) {
        *layer = (uint8_t)pick_layer(l->contained[at] & all, route_mix(destination, at));
        return true;
    }
    for (uint32_t i = 0; i < ROUTE_MAX_LAYERS; i++) {
        if (i == l->layers)
            layer_begin(l);
        if (l->blocked[at] >> i & 1 || !path_add(l, i, next, at, destination))
            continue;
        l->contained[at] |= 1u << i;
        *layer = (uint8_t)i;
        return true;
    }
    return false;
}

/* The first dependencies of all paths; they are fetched, since they lie anywhere. */
static void dependencies_fetch(struct route_layers *l, const uint32_t *next, const uint32_t *order,
                               uint32_t count, uint32_t destination)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = order[i];
        if (at == destination || l->row[next[at]].to == destination)
            continue;
        l->asked[at] = dependency(l, next[at], next[l->row[next[at]].to]);
        __builtin_prefetch(&l->sets[l->asked[at]]);
    }
}

/* Paths from these switches, of which those that others lead through come first. */
static bool paths_place(struct route_layers *l, const uint32_t *next, const uint32_t *order, uint32_t count,
                        uint32_t destination, uint8_t *layer)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = order[i], on = next[at] == ROUTE_NO_WIRE ? destination : l->row[next[at]].to;
        l->contained[at] = UINT32_MAX;
        l->blocked[at] = 0;
        layer[at] = 0;
        if (at == destination)
            continue;
        if (on != destination) {
            const struct sets *sets = &l->sets[l->asked[at]];
            l->contained[at] = l->contained[on] & sets->have;
            l->blocked[at] = l->blocked[on] | sets->bad;
        }
        if (l->wires->endpoints_at[at] && !path_place(l, next, at, destination, &layer[at]))
            return false;
    }
    return true;
}

bool route_layers_add(struct route_layers *l, const uint32_t *next, const uint32_t *order, uint32_t count,
                      uint32_t destination, uint8_t *layer)
{
    bool possible = true;
    if (l->layers == 0)
        layer_begin(l);
    route_acyclic_kept(l->graph);
    for (uint32_t i = 0; i < count && possible; i += FETCHED) {
        uint32_t some = count - i < FETCHED ? count - i : FETCHED;
        dependencies_fetch(l, next, order + i, some, destination);
        possible = paths_place(l, next, order + i, some, destination, layer);
    }
    return possible;
}

void route_layers_pass(struct route_layers *l, struct ker_comm *comm, int from)
{
    route_pass(comm, from, &l->layers, sizeof l->layers);
    route_pass(comm, from, l->sets, (l->dependencies + 1) * sizeof *l->sets);
    route_acyclic_pass(l->graph, comm, from);
}
