/* dragonfly_groups.h - private to dragonflies: those whose groups have rows, or whose global links have an
 * arrangement. */
#pragma once

#include "routing/topologies/arrangement.h"
#include "routing/topologies/hierarchical.h"

extern const struct ker_option dragonfly_group_options[];

/* Do its keys ask for one? */
bool dragonfly_is_grouped(const struct ker_config *);
/* In place of the hierarchical topology's, all but the classes of links, which are local (of rows), column
 * with more than one row, and global. topology.p, a, h are there. */
enum ker_status dragonfly_groups_build(struct route_topology *, const struct ker_config *,
                                       struct ker_error *);
