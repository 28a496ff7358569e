/* table.h - private to routing/: routing tables, compressed.
 *
 * For every switch and destination endpoint a table holds a set of paths: ports, each with the class of
 * virtual channel to be used. Equal sets are stored once and have a number. A switch's row is a trie over the
 * destination endpoints, 64 entries to a block, and equal blocks are stored once for all switches: in a
 * regular network most of a row is shared with other rows. A second trie may hold a layer for every source
 * switch and destination endpoint, which the packet carries in its state from its first switch on.
 *
 * A table is filled by rows (one switch, all destinations) or by columns (all switches, the next 64
 * destinations), whatever suits its maker, and closed by route_table_finish. What is never set has no paths.
 * Number 0 is the empty set.
 */
#pragma once

#include "routing/routing.h"
#include "routing/tables/trie.h"

struct route_hop {
    uint16_t port;
    uint8_t class; /* of channels, from 0, or one of the following */
    uint8_t spare; /* 0 */
};
#define ROUTE_TABLE_ANY                                                                                      \
    255 /* all channels alike: what leads to the destination endpoint itself, or where no circle can be */
#define ROUTE_TABLE_LAYER 254 /* the packet's layer */
#define ROUTE_TABLE_HOPS 253  /* switches passed so far */
#define ROUTE_TABLE_LANE 252  /* that of the packet's service level from its port in to this one (lanes.h) */
#define ROUTE_TABLE_CLASSES 252 /* ordinary classes are below */

struct route_table {
    uint32_t switches, endpoints;
    uint32_t paths; /* above 1: this many columns stand for each endpoint, and a packet draws one; endpoints
                       counts columns */
    struct route_trie hops, layers; /* layers.root is NULL when there are none */
    struct route_lanes *lanes;      /* NULL: paths have classes of their own */
    struct route_hop *hop; /* a set is its count, as a port, and its paths; its number is where it begins */
    uint32_t hop_used, hop_room;
    struct ker_table sets;
    struct ker_comm *shared; /* not NULL: this rank's share of the columns, see share.h */
    uint32_t whole;          /* endpoints of all shares */
    uint32_t classes;        /* channels needed; its maker sets it */
    uint32_t spread;         /* channels per class: route_table_tune */
    bool adaptive;           /* some set has several paths */
    bool by_switch;          /* endpoints of one switch have the same paths, up to it */
    bool unproved;           /* may deadlock: route_table_prove has to look */
    bool finished;
};

struct route_table *route_table_new(uint32_t switches, uint32_t endpoints);
void route_table_free(struct route_table *); /* NULL is fine */

/* The number of a set of up to ROUTE_MAX_CHOICES paths; their order counts. */
uint32_t route_table_set_of(struct route_table *, const struct route_hop *hops, uint32_t count);
/* The paths of a set; returns how many. Valid until the next set is made. */
static inline uint32_t route_table_set_hops(const struct route_table *table, uint32_t set,
                                            const struct route_hop **hops)
{
    const struct route_hop *head = &table->hop[set];
    *hops = head + 1;
    return head->port;
}

/* A whole row: the set for every endpoint, and the layer of packets that begin at this switch. */
void route_table_row(struct route_table *, uint32_t switch_id, const uint32_t *set_by_endpoint);
void route_table_layer_row(struct route_table *, uint32_t switch_id, const uint32_t *layer_by_endpoint);

/* Before the first layer of a table filled by columns. */
void route_table_layers_begin(struct route_table *);

/* Nothing more is set. Frees what only filling needs. */
void route_table_finish(struct route_table *);
/* Drops the rows of all switches but those of this rank, and what only they used. After route_table_finish.
 */
void route_table_keep(struct route_table *, const uint32_t *switch_rank, uint32_t rank);
/* Channels configured: table->classes at least. */
void route_table_tune(struct route_table *, uint32_t channels);
uint64_t route_table_bytes(const struct route_table *);

static inline uint32_t route_table_set(const struct route_table *table, uint32_t switch_id, uint32_t endpoint)
{
    return route_trie_get(&table->hops, switch_id, endpoint);
}

/* The paths from a switch to an endpoint; returns how many, 0: none. */
static inline uint32_t route_table_hops(const struct route_table *table, uint32_t switch_id,
                                        uint32_t endpoint, const struct route_hop **hops)
{
    return route_table_set_hops(table, route_table_set(table, switch_id, endpoint), hops);
}

static inline uint32_t route_table_layer(const struct route_table *table, uint32_t switch_id,
                                         uint32_t endpoint)
{
    return table->layers.root ? route_trie_get(&table->layers, switch_id, endpoint) : 0;
}
