/* fat_tree.h - private to the fat tree: what fat_tree.c builds and fat_tree_routes.c routes on. */
#pragma once

#include "routing/topology.h"

struct level {           /* of switches; index 0 is level 1 */
    uint64_t above_mask; /* fields x_(l+1)..x_h of an address */
    uint32_t down_mask, up_mask;
    uint8_t down_shift, up_shift; /* fields x_l, and the parent digit for leaving this level upward */
    uint16_t down, up;            /* ports: m_l, w_(l+1); 0 up at the top */
    uint32_t first, count;        /* ids */
    uint32_t ys;                  /* w_1*..*w_l */
};

struct fat_tree {
    struct route_topology topology;
    int levels;
    struct level level[ROUTE_MAX_LEVELS];
};

#define LEVEL_SHIFT 60 /* of route_coordinate: the level is in the top bits, the x digits below */

static inline const struct fat_tree *tree_of(const struct route_topology *topology)
{
    return (const struct fat_tree *)topology;
}

extern const struct ker_kind *const route_tree_algorithms[];
