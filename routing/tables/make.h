/* make.h - private to routing/: what the makers of tables share. */
#pragma once

#include "routing/tables/table.h"
#include "routing/tables/wires.h"

/* Of any algorithm that routes by topology->table. route_table_next returns 0 for a destination without
 * paths: a pair that faults have separated. */
route_next_function route_table_next;
uint32_t route_table_channels(const struct route_topology *);
/* All shortest paths by number of links, or one for each destination endpoint. */
enum ker_status route_shortest_prepare(struct route_topology *, const struct ker_config *, bool one,
                                       struct ker_error *);

/* table_layers.c: assigns every path of a table with one path per destination to a layer of channels, such
 * that in none links wait for each other in a circle. */
struct route_layers;
/* NULL when the network is too large for it. */
struct route_layers *route_layers_new(const struct route_wires *);
void route_layers_free(struct route_layers *);
/* A switch from which packets are sent to a destination, in a list with the destination itself first, and
 * each behind the one it sends to. */
struct route_step {
    uint32_t at;   /* the switch */
    uint32_t link; /* it sends by; ROUTE_NO_WIRE: none */
    uint32_t back; /* the reverse of that link */
    uint32_t next; /* where that leads to, a place in the list */
};
/* One destination. Writes layer[s] of switches with endpoints that send to it. False: more layers than are
 * possible. */
bool route_layers_add(struct route_layers *, const struct route_step *path, uint32_t count, uint32_t *layer);
uint32_t route_layers_count(const struct route_layers *);
/* Collective: the rank behind `from`, which has added nothing yet, continues from what has been added there.
 */
void route_layers_pass(struct route_layers *, struct ker_comm *, int from);
#define ROUTE_MAX_LAYERS 16 /* switches have no more channels */

/* table_check.c: a table that was read, not made. Columns are destination endpoints, or table->paths for
 * each. */
struct route_table_source { /* for messages */
    const char *file;
    uint32_t (*line)(void *context, uint32_t switch_id,
                     uint32_t endpoint); /* where this was said; 0: unknown. May be NULL */
    /* Either may be NULL: says that packets meet a switch without a path, of `count` such pairs in all; that
     * packets circle through these switches. Both return KER_BAD_INPUT. */
    enum ker_status (*missing)(void *context, uint32_t switch_id, uint32_t column, uint32_t count,
                               struct ker_error *);
    enum ker_status (*loop)(void *context, const uint32_t *switches, uint32_t count, uint32_t column,
                            struct ker_error *);
    void *context;
};
/* After route_table_finish: no loops that packets can meet, and nothing missing that they need. Raises
 * table->classes to what the paths need, layers apart. *safe: it is free of deadlock for sure (a single
 * class, no circle); else route_check_deadlock has to find out. */
enum ker_status route_table_check(const struct route_topology *, struct route_table *,
                                  const struct route_table_source *, bool *safe, struct ker_error *);

/* table_text.c: routing.table; routing.weight_file, a weight per link. */
enum ker_status route_table_parse(struct route_table **, const struct route_topology *, const char *file,
                                  const char *text, size_t length, bool *safe, struct ker_error *);
/* Once the channels are known: refuses a table that can deadlock, unless routing.allow_deadlock. */
enum ker_status route_table_prove(const struct route_topology *, const struct ker_config *,
                                  struct ker_error *);
enum ker_status route_table_read(struct route_topology *, const struct ker_config *, struct ker_error *);
enum ker_status route_weights_read(uint32_t *weight, const struct route_topology *,
                                   const struct route_wires *, const struct ker_config *, struct ker_error *);

/* share.c. Collective. Rows of the switches with this rank; those of others have no paths. */
void route_share_end(struct route_table *, const uint32_t *switch_rank, uint32_t rank);
