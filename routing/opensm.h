/* opensm.h - private to routing/: the forwarding tables of an InfiniBand subnet (docs/fabric.md). */
#ifndef ROUTING_OPENSM_H
#define ROUTING_OPENSM_H

#include "routing/fabric.h"
#include "routing/routing.h"

/* Called once for every switch, in the order of the file, with the line its section begins: the ports to all nodes' LIDs,
 * [node * paths + path]. */
typedef void route_opensm_row(void *context, uint32_t switch_id, uint32_t line, const uint16_t *port);

/* Is this OpenSM's kind of table (opensm-lfts.dump, dump_lfts.sh, ibroute)? */
bool route_opensm_recognise(const char *text, size_t length);

/* Paths that the subnet's LIDs allow, 2^lmc of the node with most: 1, 2, ..., 128. */
uint32_t route_opensm_paths(const struct route_subnet *subnet);

/* Reads and checks a whole file; rows are handed out as they are complete, so some before an error. With `paths` of 1 only LID number
 * `path` of every node counts (modulo how many it has), else `paths` is that of route_opensm_paths() and all count. */
enum ker_status route_opensm_parse(const struct route_shape *shape, const struct route_subnet *subnet, uint32_t paths, uint32_t path,
                                   const char *name, const char *text, size_t length, route_opensm_row *row, void *context,
                                   struct ker_error *error);

/* Makes shape->table of the file that routing.table names, when that is of OpenSM's kind; *taken false: it is not. */
enum ker_status route_opensm_read(struct route_shape *shape, const struct ker_config *, bool *taken, struct ker_error *);

#endif
