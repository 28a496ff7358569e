/* search.c - how far all switches are from one along weighted links, for the makers of tables. */
#include "routing/tables/maker.h"

#include <stdlib.h>

static bool nearer(const struct route_maker *m, uint32_t a, uint32_t b)
{
    return m->distance[a] != m->distance[b] ? m->distance[a] < m->distance[b] : a < b;
}

static void heap_put(struct route_maker *m, uint32_t place, uint32_t id)
{
    m->heap[place] = id;
    m->heap_at[id] = place;
}

static void heap_rise(struct route_maker *m, uint32_t place)
{
    uint32_t id = m->heap[place];
    for (; place > 0 && nearer(m, id, m->heap[(place - 1) / 2]); place = (place - 1) / 2)
        heap_put(m, place, m->heap[(place - 1) / 2]);
    heap_put(m, place, id);
}

static uint32_t heap_take(struct route_maker *m)
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
void route_search_weighted(struct route_maker *m, uint32_t to)
{
    const struct route_wires *wires = m->wires;
    for (uint32_t i = 0; i < wires->switches; i++)
        m->distance[i] = ROUTE_FAR;
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
            if (m->distance[peer] == ROUTE_FAR)
                heap_put(m, m->heap_size++, peer);
            m->distance[peer] = far;
            heap_rise(m, m->heap_at[peer]);
        }
    }
}
