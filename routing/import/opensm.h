/* opensm.h - private to routing/: the forwarding tables of an InfiniBand subnet (docs/fabric.md).
 *
 * opensm.c reads the text, opensm_table.c makes a table of it, opensm_lanes.c adds service levels and virtual
 * lanes.
 */
#ifndef ROUTING_OPENSM_H
#define ROUTING_OPENSM_H

#include "routing/import/fabric.h"
#include "routing/tables/table.h"

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

#endif
