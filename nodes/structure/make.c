/* make.c - the structure of a kind of node: what follows from its counts and from where things are. */
#include "nodes/structure/make.h"

#include <stdlib.h>

uint16_t node_dealt(uint32_t part, uint32_t n, uint32_t k)
{
    return (uint16_t)((uint64_t)part * k / n);
}

enum node_distance node_domain_distance(const struct node_structure *s, uint32_t domain, uint32_t other)
{
    if (domain == other)
        return NODE_SAME_DOMAIN;
    return s->domain_socket[domain] == s->domain_socket[other] ? NODE_SAME_SOCKET : NODE_OTHER_SOCKET;
}

uint32_t node_thread_speed(const struct node_structure *s, uint32_t core, uint32_t busy)
{
    uint32_t threads = s->core[core].threads;
    uint64_t speed = s->core[core].speed;
    ker_assert(busy > 0 && busy <= threads);
    if (busy > 1) {
        int64_t more = ((int64_t)s->throughput - NODE_SPEED) * (busy - 1) / (threads - 1);
        speed = speed * (uint64_t)(NODE_SPEED + more) / NODE_SPEED / busy;
    }
    return speed ? (uint32_t)speed : 1;
}

void node_structure_release(struct node_structure *s)
{
    KER_FREE(s->domain_socket, s->core, s->unit_core, s->seat_unit, s->bus_socket, s->adapter_bus,
             s->adapter_domain);
    *s = (struct node_structure){0};
}

/* ---- what follows from the rest ---- */

/* The first threads of all cores, then the second ones of those that have two, and so on. */
static void units_make(struct node_structure *s)
{
    s->units = 0;
    for (uint32_t i = 0; i < s->cores; i++)
        s->units += s->core[i].threads;
    s->unit_core = ker_alloc(s->units * sizeof *s->unit_core);
    uint32_t unit = 0;
    for (uint32_t thread = 0; unit < s->units; thread++)
        for (uint32_t i = 0; i < s->cores; i++)
            if (thread < s->core[i].threads)
                s->unit_core[unit++] = (uint16_t)i;
}

/* One of each socket (domain) in turn, in the order of their numbers; those that have none left are passed
 * over. by: of each unit its socket (domain), < wholes. */
static void seats_in_turn(struct node_structure *s, const uint16_t *by, uint32_t wholes)
{
    uint32_t *first = ker_alloc((wholes + 1) * sizeof *first), *unit = ker_alloc(s->units * sizeof *unit);
    for (uint32_t u = 0; u < s->units; u++)
        first[by[u] + 1]++;
    for (uint32_t w = 0; w < wholes; w++)
        first[w + 1] += first[w];
    uint32_t *next = ker_alloc(wholes * sizeof *next);
    for (uint32_t u = 0; u < s->units; u++)
        unit[first[by[u]] + next[by[u]]++] = u;
    uint32_t seat = 0;
    for (uint32_t round = 0; seat < s->units; round++)
        for (uint32_t w = 0; w < wholes; w++)
            if (first[w] + round < first[w + 1])
                s->seat_unit[seat++] = (uint16_t)unit[first[w] + round];
    free(first);
    free(unit);
    free(next);
}

static void seats_make(struct node_structure *s, enum node_map_by map_by)
{
    s->seat_unit = ker_alloc(s->units * sizeof *s->seat_unit);
    uint16_t *by = ker_alloc(s->units * sizeof *by);
    for (uint32_t u = 0; u < s->units; u++)
        by[u] = (uint16_t)(map_by == NODE_MAP_BY_SOCKET   ? node_unit_socket(s, u)
                           : map_by == NODE_MAP_BY_DOMAIN ? node_unit_domain(s, u)
                                                          : 0);
    seats_in_turn(s, by,
                  map_by == NODE_MAP_BY_SOCKET   ? s->sockets
                  : map_by == NODE_MAP_BY_DOMAIN ? s->domains
                                                 : 1);
    free(by);
}

/* The cores of a socket, or all cores of sockets without adapters. */
struct group {
    uint32_t cores, adapters, taken;
};

static void nearest_make(struct node_structure *s)
{
    struct group *of = ker_alloc((s->sockets + 1) * sizeof *of), *others = &of[s->sockets];
    for (uint32_t a = 0; a < s->adapters; a++)
        of[node_adapter_socket(s, a)].adapters++;
    others->adapters = s->adapters;
    for (uint32_t i = 0; i < s->cores; i++)
        (of[s->core[i].socket].adapters ? &of[s->core[i].socket] : others)->cores++;
    s->nearest = 0;
    for (uint32_t i = 0; i < s->cores; i++) {
        uint32_t socket = s->core[i].socket;
        struct group *g = of[socket].adapters ? &of[socket] : others;
        uint32_t wanted = node_dealt(g->taken++, g->cores, g->adapters), adapter = 0;
        for (; g != others && (node_adapter_socket(s, adapter) != socket || wanted > 0); adapter++)
            wanted -= node_adapter_socket(s, adapter) == socket;
        s->core[i].adapter = (uint16_t)(g == others ? wanted : adapter);
        s->nearest |= (uint64_t)1 << s->core[i].adapter;
    }
    free(of);
}

void node_structure_finish(struct node_structure *s, enum node_map_by map_by)
{
    units_make(s);
    seats_make(s, map_by);
    nearest_make(s);
    s->adapter_domain = ker_alloc(s->adapters * sizeof *s->adapter_domain);
    for (uint32_t a = 0; a < s->adapters; a++)
        for (uint32_t d = s->domains; d-- > 0;)
            if (s->domain_socket[d] == node_adapter_socket(s, a))
                s->adapter_domain[a] = (uint16_t)d;
}

void node_structure_make(struct node_structure *s, uint32_t threads)
{
    s->domain_socket = ker_alloc(s->domains * sizeof *s->domain_socket);
    s->core = ker_alloc(s->cores * sizeof *s->core);
    s->bus_socket = ker_alloc(s->buses * sizeof *s->bus_socket);
    s->adapter_bus = ker_alloc(s->adapters * sizeof *s->adapter_bus);
    for (uint32_t i = 0; i < s->domains; i++)
        s->domain_socket[i] = node_dealt(i, s->domains, s->sockets);
    for (uint32_t i = 0; i < s->cores; i++) {
        uint16_t domain = node_dealt(i, s->cores, s->domains);
        s->core[i] = (struct node_core){.domain = domain,
                                        .socket = s->domain_socket[domain],
                                        .threads = (uint16_t)threads,
                                        .speed = NODE_SPEED};
    }
    for (uint32_t i = 0; i < s->buses; i++)
        s->bus_socket[i] = node_dealt(i, s->buses, s->sockets);
}
