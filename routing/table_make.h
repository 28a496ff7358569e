/* table_make.h - private to routing/: what the makers of tables share. */
#ifndef ROUTING_TABLE_MAKE_H
#define ROUTING_TABLE_MAKE_H

#include "routing/table.h"
#include "routing/wires.h"

extern const struct route_algorithm route_table_algorithms[]; /* of every topology; name NULL at the end */

/* table_layers.c: assigns every path of a table with one way per destination to a layer of channels, such that in none links wait
 * for each other in a circle. */
struct route_layers;
/* NULL when the network is too large for it. */
struct route_layers *route_layers_new(const struct route_wires *);
void route_layers_free(struct route_layers *);
/* One destination: next[s] is the link that switch s sends by (ROUTE_NO_WIRE: none), order the `count` switches that have a way, and the
 * destination's own, each behind the one it sends to. Writes layer[s] for switches with nodes. False: more layers than are possible. */
bool route_layers_add(struct route_layers *, const uint32_t *next, const uint32_t *order, uint32_t count, uint32_t destination,
                      uint8_t *layer);
uint32_t route_layers_count(const struct route_layers *);
#define ROUTE_MAX_LAYERS 32

/* table_text.c: routing.table; routing.weight_file, a weight per link. */
enum ker_status route_table_read(struct route_shape *, const struct ker_config *, struct ker_error *);
enum ker_status route_weights_read(uint32_t *weight, const struct route_wires *, const struct ker_config *, struct ker_error *);

#endif
