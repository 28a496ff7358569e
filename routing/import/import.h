/* import.h - private to routing/: the files of an InfiniBand subnet: its dump, forwarding tables, service
 * levels (docs/fabric.md).
 */
#pragma once

#include "routing/tables/make.h"
#include "routing/topologies/graph.h"

#include <stdbool.h>

/* ---- An InfiniBand subnet as ibnetdiscover and OpenSM describe it
 * (docs/fabric.md).
 *
 * A fabric dump becomes a route_graph, as an edge list does, and a route_subnet, which says who is who:
 * forwarding tables name switches by GUID and destinations by LID. Switches and endpoints are numbered as in
 * the graph. */

#define ROUTE_LID_MAX 0xbfff /* unicast */

struct route_subnet_switch {
    uint64_t guid;
    uint32_t lid, ports, line; /* its ports are 1..ports; the line of the dump */
    uint32_t name;             /* where it begins in route_subnet.names */
};

struct route_subnet_endpoint { /* a port of a channel adapter */
    uint64_t guid;             /* of the port, 0: the dump does not say */
    uint32_t lid, line;        /* its LIDs are lid .. lid + 2^lmc - 1; lid 0: it has none */
    uint32_t name;             /* of the adapter: its ports share it */
    uint8_t lmc, port;
};

struct route_subnet {
    uint32_t switches, endpoints;
    uint32_t left_out; /* routers and the switches' own aggregation nodes: their cables are left out, too */
    uint32_t loops, loop_line;    /* ends of cables from a device to itself, left out, too; the first line */
    uint32_t passed, passed_line; /* lines that are not a dump's: how many, the first */
    struct route_subnet_switch *at_switch;
    struct route_subnet_endpoint *endpoint;
    char *names; /* each ends with a zero */
};

/* What a dump does not say. */
struct route_fabric_defaults {
    ker_time latency, node_latency;
    uint64_t rate, node_rate; /* of links of unknown speed; 0: they are refused */
};

/* Reads and checks a whole dump. Release graph and subnet also after an error. */
enum ker_status route_fabric_parse(struct route_graph *graph, struct route_subnet *subnet,
                                   const struct route_fabric_defaults *, const char *name, const char *text,
                                   size_t length, struct ker_error *error);
void route_subnet_release(struct route_subnet *subnet);
/* Per LID, 0 to ROUTE_LID_MAX: 1 + the endpoint, 0: no endpoint's; with switches those, too, as subnet.c
 * marks them. malloc'ed. */
uint32_t *route_subnet_lids(const struct route_subnet *, bool with_switches);

/* Rates per direction after encoding, in bytes per second: of "4xFDR" 6,818,181,818. 0: not a width and
 * speed. */
uint64_t route_fabric_rate(const char *text, size_t length);

/* ---- InfiniBand's service levels and virtual lanes, for tables that use them
 * (docs/fabric.md).
 *
 * A packet gets a service level from its source and destination and keeps it. At every switch the ports by
 * which it comes and goes and its service level say which virtual lane it takes on the next link. Lanes that
 * packets use are numbered without gaps: these are the classes of channels. */

#define ROUTE_LEVELS 16   /* service levels */
#define ROUTE_LANES 15    /* for data; lane 15 is the subnet manager's */
#define ROUTE_NO_LANE 255 /* no packet may be sent there */

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

/* ---- The forwarding tables: opensm.c reads the text, opensm_table.c makes a table of it, opensm_lanes.c
 * adds service levels and virtual lanes. */

#define ROUTE_NO_PORT 255 /* in a switch's table: discard */

struct route_opensm_row {
    uint32_t switch_id, line; /* where its section begins */
    const uint8_t
        *port; /* to all endpoints' LIDs, [endpoint * paths + path]; 0: none, or one that cannot be right */
    const char *rest; /* of the text: what is before is not looked at again */
};
/* Called once for every switch, in the order of the file. */
typedef void route_opensm_take(void *context, const struct route_opensm_row *row);

/* With `paths` of 1 only LID number `path` of every endpoint counts (modulo how many it has), else `paths` is
 * that of route_opensm_paths() and all count. A column is endpoint * paths + path. */
struct route_opensm_text {
    const struct route_topology *topology;
    const struct route_subnet *subnet;
    uint32_t paths, path;
    const char *name, *text; /* name: of the file, for messages */
    size_t length;
};

/* Is this OpenSM's kind of table (opensm-lfts.dump, dump_lfts.sh, ibroute)? */
bool route_opensm_recognise(const char *text, size_t length);

/* Paths that the subnet's LIDs allow, 2^lmc of the endpoint with most: 1, 2, ..., 128. */
uint32_t route_opensm_paths(const struct route_subnet *subnet);

/* Reads a whole file and checks its form; rows are handed out as they are complete, so some before an error.
 * A switch may have no section and a row no port: whether a packet ever meets that is for the caller to find
 * out. */
enum ker_status route_opensm_parse(const struct route_opensm_text *, route_opensm_take *take, void *context,
                                   struct ker_error *);
/* Packets meet a switch that has no port for a column: says why, with the line. Returns KER_BAD_INPUT.
 * `count`: such pairs in all. */
enum ker_status route_opensm_explain(const struct route_opensm_text *, uint32_t switch_id, uint32_t column,
                                     uint32_t count, struct ker_error *);
/* The LID that a column stands for. */
uint32_t route_opensm_lid(const struct route_opensm_text *, uint32_t column);

/* Makes topology->table of the file that routing.table names, when that is of OpenSM's kind; *taken false: it
 * is not. */
enum ker_status route_opensm_read(struct route_topology *topology, const struct ker_config *, bool *taken,
                                  struct ker_error *);

/* Reads routing.path_sl and routing.sl2vl, if given, into table->lanes: paths then have the virtual lanes of
 * the packets' service levels, and table->classes is how many of them are used. After route_table_check. */
enum ker_status route_opensm_lanes_read(const struct route_opensm_text *, struct route_table *,
                                        const struct ker_config *, struct ker_error *);
