/* make.c - makers of tables for any topology: what they share.
 *
 * The shortest paths to a switch are those to a neighbour that is nearer by just the weight of the link, by a
 * breadth-first search where all weights are 1, else by Dijkstra's. up*down* orders the switches by their
 * distance from the roots, then by number; up is towards the lower. From a switch that a path down leads from
 * to the destination only paths down are used, from any other only paths up to such switches: no packet ever
 * turns up again, and as up links and down links are ordered by the order of the switches, no links wait for
 * each other in a circle (Autonet: Schroeder et al., 1991).
 *
 * All of them are in the table (columns.c), or one for every endpoint (one.c). Shortest paths need one
 * channel where links do not wait for each other in a circle, as on trees. Elsewhere the channel counts the
 * links of the path. Only paths that packets from some endpoint can take count for this, whichever is in the
 * table.
 */
#include "routing/tables/maker.h"

#include <stdlib.h>

void route_maker_init(struct route_maker *m, const struct route_wires *wires)
{
    size_t switches = wires->switches;
    m->wires = wires;
    m->table = route_table_new(wires->switches, wires->endpoints);
    m->last = wires->endpoints;
    m->distance = ker_alloc(switches * sizeof *m->distance);
    m->order = ker_alloc(switches * sizeof *m->order);
    m->used = ker_alloc(switches * sizeof *m->used);
    m->heap = ker_alloc(switches * sizeof *m->heap);
    m->heap_at = ker_alloc(switches * sizeof *m->heap_at);
    m->divided = ker_alloc(switches * sizeof *m->divided);
    m->pairs = ker_alloc(switches * sizeof *m->pairs);
    m->lowest = ker_alloc(switches * sizeof *m->lowest);
    m->lowest_hops = ker_alloc(switches * sizeof *m->lowest_hops);
    m->load = ker_alloc((wires->links + (size_t)1) * sizeof *m->load);
    m->mask = ker_alloc(switches * sizeof *m->mask);
    m->words = wires->most / 64 + 1; /* as in struct route_waits */
    for (uint32_t s = 0; s < wires->switches && !m->passed_by; s++)
        if (wires->endpoints_at[s] == 0)
            m->passed_by = ker_reserve(switches * sizeof *m->passed_by);
    m->hop_bits = ker_alloc(switches * m->words * sizeof *m->hop_bits);
}

void route_maker_release(struct route_maker *m)
{
    KER_FREE(m->weight, m->depth, m->by_depth, m->distance, m->order, m->used, m->heap, m->heap_at,
             m->divided, m->pairs, m->lowest, m->lowest_hops, m->load, m->mask, m->hop_bits);
    if (m->passed_by)
        ker_release(m->passed_by, m->wires->switches * sizeof *m->passed_by);
    route_one_end(m);
    route_flood_release(&m->flood);
    route_factors_free(m->factors);
    route_waits_release(&m->waits);
    route_layers_free(m->layers);
}

bool route_maker_fill(struct route_maker *m)
{
    if (!route_columns_fill(m))
        return false;
    if (m->waits.bit && !m->cyclic)
        m->cyclic = route_waits_cyclic(&m->waits);
    m->table->by_switch = !m->one;
    route_table_finish(m->table);
    return true;
}
