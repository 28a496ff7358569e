/* lanes.h - private to routing/: InfiniBand's service levels and virtual lanes, for tables that go by them
 * (docs/fabric.md).
 *
 * A packet gets a service level from its source and destination and keeps it. At every switch the ports by
 * which it comes and goes and its service level say which virtual lane it takes on the next link. Lanes that
 * packets use are numbered without gaps: these are the classes of channels.
 */
#ifndef ROUTING_LANES_H
#define ROUTING_LANES_H

#include "routing/tables/table.h"

#define ROUTE_LEVELS 16   /* service levels */
#define ROUTE_LANES 15    /* for data; lane 15 is the subnet manager's */
#define ROUTE_NO_LANE 255 /* no packet may go there */

struct route_lanes {
    struct route_trie level; /* rows are source endpoints; a word holds the service levels of 8 columns */
    uint64_t *first;         /* per switch: where its pairs of ports begin in map_of; switches + 1 */
    uint32_t *ports;         /* per switch, port 0 included */
    uint16_t *map_of;        /* per pair of ports [in * ports + out]: the number of its map */
    uint8_t (*map)[ROUTE_LEVELS]; /* the lane of each service level, after route_lanes_settle the class */
    uint32_t maps, switches;
};

/* All pairs of ports have map 0, which is `lane`. */
struct route_lanes *route_lanes_new(const struct route_topology *, uint32_t columns,
                                    const uint8_t lane[ROUTE_LEVELS]);
void route_lanes_free(struct route_lanes *); /* NULL is fine */
void route_lanes_set(struct route_lanes *, uint32_t switch_id, uint32_t in, uint32_t out,
                     const uint8_t lane[ROUTE_LEVELS]);
/* The service levels from one endpoint to all columns. */
void route_lanes_row(struct route_lanes *, uint32_t endpoint, uint32_t columns, const uint8_t *level);

/* A packet that finds no lane. */
struct route_lanes_gap {
    uint32_t endpoint, column, switch_id, in, out, level;
};
/* Follows the packets of all pairs of endpoints: gives table->paths their lanes and table->classes, and drops
 * the lanes when one is enough. The table has one path for each column, and has been checked. False: a packet
 * finds no lane. */
bool route_lanes_settle(struct route_table *, const struct route_topology *, struct route_lanes_gap *);
/* Drops the levels of all endpoints but those of this rank. */
void route_lanes_keep(struct route_lanes *, const struct route_topology *, const uint32_t *switch_rank,
                      uint32_t rank);
uint64_t route_lanes_bytes(const struct route_lanes *);

static inline uint32_t route_lanes_level(const struct route_lanes *l, uint32_t endpoint, uint32_t column)
{
    return route_trie_get(&l->level, endpoint, column / 8) >> column % 8 * 4 & 15;
}

static inline uint32_t route_lanes_class(const struct route_lanes *l, uint32_t switch_id, uint32_t in,
                                         uint32_t out, uint32_t level)
{
    return l->map[l->map_of[l->first[switch_id] + in * l->ports[switch_id] + out]][level % ROUTE_LEVELS];
}

#endif
