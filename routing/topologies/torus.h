/* torus.h - private to the torus: what torus.c builds and torus_routes.c routes on. */
#pragma once

#include "routing/topology.h"

#define MAX_DIMENSIONS 8

struct dimension {
    uint32_t extent, mask, stride; /* stride: of the switch id */
    uint16_t first_port;           /* forward; backward ports follow */
    uint8_t shift, wrap, index;
    uint8_t classes; /* of one dimension-order path: 1 or 2 */
    uint32_t spread; /* channels per class */
};

struct torus {
    struct route_topology topology;
    uint64_t coordinate_mask;
    uint32_t parallel, nodes_per_switch;
    uint32_t slot_shift;
    uint32_t escape_channels; /* adaptive: the channels from this on are free to use */
    uint32_t lanes_offered;   /* adaptive: of the parallel links, this many at a time */
    uint32_t second_phase;    /* Valiant: the first channel on the path from the intermediate switch to the
                                 destination */
    int inner;                /* inner_outer_inner: the first of the inner dimensions, and of these: */
    uint32_t inner_shift, inner_stride, inner_switches;
    uint64_t inner_mask;                   /* their fields of a place */
    uint32_t longest;                      /* twisted: the greatest extent; 0: not twisted */
    const struct dimension *first_longest; /* and the first dimension that has it */
    int dimensions;
    struct dimension dimension[MAX_DIMENSIONS];
    uint8_t dimension_of_bit[64];
};

static inline const struct torus *torus_of(const struct route_topology *topology)
{
    return (const struct torus *)topology;
}

/* One field of just enough bits per coordinate, dimension 0 lowest: where a switch is. */
static inline uint64_t torus_place(const struct torus *torus, uint32_t switch_id)
{
    uint64_t place = 0;
    if (torus->topology.summary.switches == torus->coordinate_mask + 1)
        return switch_id; /* all extents are powers of two: no field has a value too many */
    for (int i = 0; i < torus->dimensions; i++) {
        const struct dimension *d = &torus->dimension[i];
        place |= (uint64_t)(switch_id % d->extent) << d->shift;
        switch_id /= d->extent;
    }
    return place;
}

extern const struct ker_kind *const route_torus_algorithms[];
void route_torus_tune(struct route_topology *);

/* torus_twist.c, of a twisted one. The switch half way round all longest dimensions. */
uint32_t route_torus_twist(const struct torus *, uint32_t switch_id);
enum ker_status route_torus_twist_check(struct torus *, const struct ker_config *, struct ker_error *);
extern const struct route_steps route_torus_twisted_steps;
uint32_t route_torus_twisted_hops(const struct route_topology *, uint32_t from, uint32_t to);
