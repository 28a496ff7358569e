/* lanes.c - InfiniBand's service levels and virtual lanes.
 *
 * Few maps from service level to lane occur in a subnet, so they are kept once and pairs of ports have their
 * numbers. To find the lanes in use all packets are followed, column by column: once a packet has left its
 * first switch, the link it is on and its service level say all about the rest of its path, which is followed
 * once.
 */
#include "routing/import/import.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

struct route_lanes *route_lanes_new(const struct route_topology *topology, uint32_t columns,
                                    const uint8_t lane[ROUTE_LEVELS])
{
    struct route_lanes *l = ker_alloc(sizeof *l);
    l->switches = topology->summary.switches;
    l->first = ker_alloc((l->switches + 1ull) * sizeof *l->first);
    l->ports = ker_alloc(l->switches * sizeof *l->ports);
    for (uint32_t s = 0; s < l->switches; s++) {
        l->ports[s] = route_ports(topology, s);
        l->first[s + 1] = l->first[s] + (uint64_t)l->ports[s] * l->ports[s];
    }
    l->map_of = ker_alloc(l->first[l->switches] * sizeof *l->map_of);
    l->map = ker_alloc(sizeof *l->map);
    memcpy(l->map[0], lane, sizeof *l->map);
    l->maps = 1;
    route_trie_init(&l->level, topology->summary.endpoints, (columns + 7) / 8);
    return l;
}

void route_lanes_free(struct route_lanes *l)
{
    if (!l)
        return;
    route_trie_release(&l->level);
    KER_FREE(l->first, l->ports, l->map_of, l->map, l);
}

void route_lanes_set(struct route_lanes *l, uint32_t switch_id, uint32_t in, uint32_t out,
                     const uint8_t lane[ROUTE_LEVELS])
{
    uint32_t m = 0;
    while (m < l->maps && memcmp(l->map[m], lane, sizeof *l->map) != 0)
        m++;
    if (m == l->maps) {
        ker_assert(l->maps < UINT16_MAX);
        memcpy(*KER_APPEND(l->map, l->maps), lane, sizeof *l->map);
    }
    l->map_of[l->first[switch_id] + (uint64_t)in * l->ports[switch_id] + out] = (uint16_t)m;
}

void route_lanes_row(struct route_lanes *l, uint32_t endpoint, uint32_t columns, const uint8_t *level)
{
    uint32_t words = (columns + 7) / 8, *word = ker_alloc(words * sizeof *word);
    for (uint32_t i = 0; i < columns; i++)
        word[i / 8] |= (uint32_t)(level[i] & 15) << i % 8 * 4;
    route_trie_row(&l->level, endpoint, word);
    free(word);
}

struct walk {
    const struct route_table *table;
    const struct route_topology *topology;
    uint64_t *first;   /* per switch: its ports in a row of all */
    uint32_t *visited; /* per port of that row and service level: 1 + the last column */
    uint32_t used;     /* lanes */
    struct route_lanes_gap *gap;
};

/* From an endpoint's switch to the destination, or to where another packet went on in the same way. */
static bool follow(struct walk *w, uint32_t endpoint, uint32_t column)
{
    const struct route_lanes *lanes = w->table->lanes;
    uint32_t level = route_lanes_level(lanes, endpoint, column), at;
    uint16_t in;
    route_attachment(w->topology, endpoint, &at, &in);
    for (;;) {
        const struct route_hop *hop;
        struct route_peer peer;
        uint32_t count = route_table_hops(w->table, at, column, &hop);
        ker_assert(count == 1);
        route_port(w->topology, at, hop->port, &peer);
        if (peer.kind != ROUTE_SWITCH)
            return true;
        uint32_t lane = route_lanes_class(lanes, at, in, hop->port, level);
        *w->gap = (struct route_lanes_gap){endpoint, column, at, in, hop->port, level};
        if (lane >= ROUTE_LANES)
            return false;
        w->used |= 1u << lane;
        uint32_t *visited = &w->visited[(w->first[at] + hop->port) * ROUTE_LEVELS + level];
        if (*visited == column + 1)
            return true;
        *visited = column + 1;
        at = peer.id;
        in = peer.port;
    }
}

static bool follow_all(struct walk *w)
{
    const struct route_summary *sum = &w->topology->summary;
    for (uint32_t column = 0; column < w->table->endpoints; column++)
        for (uint32_t endpoint = 0; endpoint < sum->endpoints; endpoint++)
            if (endpoint != column / w->table->paths && !follow(w, endpoint, column))
                return false;
    return true;
}

/* Lanes become classes, and paths that had the only class go by lane. */
static void number(struct route_table *table, uint32_t used)
{
    struct route_lanes *l = table->lanes;
    for (uint32_t m = 0; m < l->maps; m++)
        for (uint32_t level = 0; level < ROUTE_LEVELS; level++) {
            uint32_t lane = l->map[m][level];
            bool is_used = lane < ROUTE_LANES && used >> lane & 1;
            l->map[m][level] =
                is_used ? (uint8_t)__builtin_popcount(used & ((1u << lane) - 1)) : ROUTE_NO_LANE;
        }
    for (uint32_t at = 0; at < table->hop_used; at += 1u + table->hop[at].port)
        for (uint32_t i = 1; i <= table->hop[at].port; i++)
            if (table->hop[at + i].class == 0)
                table->hop[at + i].class = ROUTE_TABLE_LANE;
    table->classes = (uint32_t)__builtin_popcount(used);
}

bool route_lanes_settle(struct route_table *table, const struct route_topology *topology,
                        struct route_lanes_gap *gap)
{
    struct walk w = {.table = table, .topology = topology, .gap = gap};
    uint32_t switches = topology->summary.switches;
    route_trie_finish(&table->lanes->level);
    w.first = ker_alloc((switches + 1ull) * sizeof *w.first);
    for (uint32_t s = 0; s < switches; s++)
        w.first[s + 1] = w.first[s] + route_ports(topology, s);
    w.visited = ker_alloc((w.first[switches] + 1) * ROUTE_LEVELS * sizeof *w.visited);
    bool good = follow_all(&w);
    free(w.first);
    free(w.visited);
    if (good && __builtin_popcount(w.used) > 1) {
        number(table, w.used);
    } else if (good) {
        route_lanes_free(table->lanes);
        table->lanes = NULL;
    }
    return good;
}

void route_lanes_keep(struct route_lanes *l, const struct route_topology *topology,
                      const uint32_t *switch_rank, uint32_t rank)
{
    uint32_t endpoints = topology->summary.endpoints,
             *endpoint_rank = ker_alloc(endpoints * sizeof *endpoint_rank), at;
    uint16_t port;
    for (uint32_t endpoint = 0; endpoint < endpoints; endpoint++) {
        route_attachment(topology, endpoint, &at, &port);
        endpoint_rank[endpoint] = switch_rank[at];
    }
    route_trie_keep(&l->level, endpoint_rank, rank);
    free(endpoint_rank);
}

uint64_t route_lanes_bytes(const struct route_lanes *l)
{
    return sizeof *l + route_trie_bytes(&l->level) + l->first[l->switches] * sizeof *l->map_of +
           l->maps * sizeof *l->map;
}
