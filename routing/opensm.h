/* opensm.h - private to routing/: the forwarding tables of an InfiniBand subnet (docs/fabric.md). */
#ifndef ROUTING_OPENSM_H
#define ROUTING_OPENSM_H

#include "routing/fabric.h"
#include "routing/routing.h"

struct route_opensm_row {
    uint32_t switch_id, line; /* where its section begins */
    const uint16_t *port;     /* to all nodes' LIDs, [node * paths + path] */
    const char *rest;         /* of the text: what is before is not looked at again */
};
/* Called once for every switch, in the order of the file. */
typedef void route_opensm_take(void *context, const struct route_opensm_row *row);

/* Is this OpenSM's kind of table (opensm-lfts.dump, dump_lfts.sh, ibroute)? */
bool route_opensm_recognise(const char *text, size_t length);

/* Paths that the subnet's LIDs allow, 2^lmc of the node with most: 1, 2, ..., 128. */
uint32_t route_opensm_paths(const struct route_subnet *subnet);

/* Reads and checks a whole file; rows are handed out as they are complete, so some before an error. With `paths` of 1 only LID number
 * `path` of every node counts (modulo how many it has), else `paths` is that of route_opensm_paths() and all count. */
enum ker_status route_opensm_parse(const struct route_shape *shape, const struct route_subnet *subnet, uint32_t paths, uint32_t path,
                                   const char *name, const char *text, size_t length, route_opensm_take *take, void *context,
                                   struct ker_error *error);

/* Makes shape->table of the file that routing.table names, when that is of OpenSM's kind; *taken false: it is not. */
enum ker_status route_opensm_read(struct route_shape *shape, const struct ker_config *, bool *taken, struct ker_error *);

#endif
