/* order.h - private to routing/faults/: the one order of the switches along which paths around faults use. */
#pragma once

#include "routing/faults/faults.h"

struct hop {
    uint32_t to; /* place in the order */
    uint16_t port;
    ker_time down;
};

/* Where a new part begins, from `down` on. */
struct cut {
    uint32_t place;
    ker_time down; /* -1: at all times */
};

struct route_order {
    uint32_t switches, cuts;
    uint32_t *place; /* of each switch in the order */
    uint32_t *first; /* per place: its first hop */
    struct hop *hop;
    struct cut *cut; /* by place */
};
