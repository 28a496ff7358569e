/* share.h - private to routing/: tables that are made by several ranks together.
 *
 * Each rank makes the columns of a run of destinations for all switches, and when it is known which switches
 * are whose, every rank gets the rows of its own. In between a table cannot be asked.
 */
#pragma once

#include "routing/tables/maker.h"

/* Collective. Before a maker with all paths is filled: the worst status of all ranks; if that is KER_OK, and
 * they see the same network, the maker is to make its share only. comm may be NULL: it makes all. */
enum ker_status route_share_begin(struct route_maker *, struct ker_comm *, enum ker_status);
/* Collective. After that: what all shares say of the whole table. */
void route_share_settle(struct route_maker *);
/* Collective. In place of route_maker_fill, with layers: which one a path uses depends on all before, so
 * the ranks make their shares one behind the other. */
bool route_share_in_turn(struct route_maker *);
