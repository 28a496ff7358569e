/* maker.h - private to the makers of tables (make.c says how they work): what they share. */
#pragma once

#include "routing/tables/factors.h"
#include "routing/tables/make.h"

#define ROUTE_FAR UINT64_MAX

struct route_maker {
    const struct route_wires *wires;
    struct route_table *table;
    bool updown, one;
    uint32_t *weight; /* per link; NULL: all are 1 */
    uint32_t *depth;  /* place of each switch in the order from the top: up is towards the lower */
    uint32_t *by_depth;
    uint32_t *order; /* the switches that have a path to the current destination, nearest first */
    uint32_t reached;
    bool *used; /* a switch is listed */
    /* with weights */
    uint64_t *distance; /* to the current destination */
    uint32_t *heap, *heap_at;
    uint32_t heap_size;
    /* with one path */
    uint32_t window;  /* `leads` and `inner` are of the 64 bits of the flood from this one on; */
    uint32_t at_hand; /* the current destination's from here */
    uint64_t *leads;  /* per link: the destinations to which its reverse leads */
    uint64_t *inner;  /* per switch: those of its links together */
    uint64_t *way; /* per switch with several paths to the current destination, `words`: the links that they
                      begin with */
    uint32_t *orders, orders_reached[ROUTE_TRIE_BLOCK]; /* with weights: m->order of each of the flood */
    uint32_t *value, *layer_value;                      /* of the current block, [i * switches + switch] */
    uint32_t *position;                                 /* per switch: its place in `order` */
    struct route_step
        *step; /* per place in the list of switches, nearest first; link: the only one that paths
                  begin with; ROUTE_NO_WIRE: there are several, in `way`, and `next` is how many;
                  while an endpoint's paths are made, the one picked, or ROUTE_NO_WIRE: no packets */
    struct route_picked {
        uint32_t k; /* a place, and what was there before */
        struct route_step step;
    } * picked;
    uint32_t picked_count;
    uint32_t *inners, inner_count; /* the places that others lead by, nearest first */
    uint32_t *by_link;             /* per switch with one path to the current destination: its set */
    uint32_t *divided;             /* per place in `order` */
    uint32_t *pairs;               /* per place in `order`: endpoints that send by here to the destination */
    uint64_t
        *load; /* per link: pairs of endpoints it was picked for among others, of all destinations so far */
    uint64_t *lowest;      /* per switch: of the paths in mask, the least load, */
    uint32_t *lowest_hops; /* and how many have it; 0: unknown */
    struct route_end {
        uint32_t at, own, set; /* the switch that a link leads to, the reverse, the set of that alone */
    } * end;                   /* per link */
    uint64_t *mask;            /* per switch with at most 64 links: what lowest was found for */
    struct route_flood flood;
    struct route_factors *factors; /* not NULL: they are known from these */
    route_wide *passed_by;         /* per switch: destinations of packets that pass it; NULL: all */
    uint32_t floods;
    struct route_waits waits;
    uint64_t *hop_bits; /* per switch `words`: a bit for each link that a path begins with */
    uint32_t words;
    struct ker_comm *comm; /* not NULL: this rank makes the columns first .. last - 1 only */
    uint32_t first, last;
    bool cyclic;
    uint32_t most_links;
    struct route_layers *layers;
};

/* 64 endpoints: those of its switch number i are at[first_bit + i] of the flood. */
struct route_block {
    uint32_t first, count;           /* endpoints */
    uint32_t first_bit, bits;        /* of the flood: the switches they are at, each once */
    uint32_t pattern;                /* number of `place` */
    uint8_t place[ROUTE_TRIE_BLOCK]; /* per endpoint which of these switches */
};

/* With all arrays but weight and depth; m->one and m->updown are the caller's. */
void route_maker_init(struct route_maker *m, const struct route_wires *wires);
void route_maker_release(struct route_maker *m);
/* Makes the whole table; false: it needs more than ROUTE_MAX_LAYERS. Endpoints that cannot be reached have no
 * paths; that this is so is said where faults are. */
bool route_maker_fill(struct route_maker *m);

/* search.c: m->distance, m->order and m->reached for one destination, with weights. */
void route_search_weighted(struct route_maker *m, uint32_t to);

/* passed.c: what packets pass that are sent to the destinations of m->flood, which has been searched:
 * m->passed_by; m->most_links; m->waits, once m->hop_bits says which links lead to any of them. */
void route_passed_find(struct route_maker *m);
void route_passed_longest(struct route_maker *m, const uint32_t *to);
void route_passed_waits(struct route_maker *m);

/* columns.c: all columns of a table; false: more layers than are possible. */
bool route_columns_fill(struct route_maker *m);

/* one.c: one path for each endpoint. All loads begin again at every multiple of this: */
#define ROUTE_LOADS 16384
void route_one_begin(struct route_maker *m);
void route_one_end(struct route_maker *m);
/* The paths to up to 64 destinations of the flood, which has been searched, from this bit on. */
void route_one_window(struct route_maker *m, uint32_t first_bit);
/* Adds to m->value, and with layers to m->layer_value, what a block within the window has; `to`: its
 * switches. False: more layers than are possible. */
bool route_one_block(struct route_maker *m, const struct route_block *, const uint32_t *to);

/* roots.c: switches for the top by one of the rules, written to m->order; how many, 0: it finds none. */
#define ROUTE_ROOT_RULES 3
uint32_t route_roots_guess(struct route_maker *m, int rule);
/* Distances from the nearest of `count` switches, which are first in m->order; then all that were reached.
 */
void route_roots_spread(struct route_maker *m, uint32_t count, uint32_t *far);
/* With several roots, can all switches with endpoints reach each other that are connected at all? */
bool route_roots_suffice(struct route_maker *m);

/* updown.c */
enum ker_status route_updown_prepare(struct route_topology *, const struct ker_config *, struct ker_error *);
