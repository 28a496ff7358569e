/* factors.h - private to routing/: networks that are a product of smaller ones, as tori and meshes are of
 * rings and chains: shortest paths are known from those of the factors. */
#pragma once

#include "routing/tables/flood.h"

#define ROUTE_FACTORS 8

struct route_factors {
    int count;
    uint32_t extent[ROUTE_FACTORS], stride[ROUTE_FACTORS];
    struct route_wires wires[ROUTE_FACTORS]; /* begin, to, reverse and endpoints_at only */
    struct route_flood flood[ROUTE_FACTORS];
    uint32_t first[ROUTE_FACTORS]; /* of its links among those of all factors */
    uint32_t *hop_of;              /* per link of the network which of these it is a copy of */
    route_wide *hop;               /* of these, for the destinations of the last search */
    size_t bytes;                  /* of hop */
};

/* NULL where the network is no product of `count` connected factors of these extents, its switches numbered
 * with the first coordinate fastest. */
struct route_factors *route_factors_new(const struct route_wires *, const uint32_t *extent, int count);
void route_factors_free(struct route_factors *); /* NULL is fine */
/* In place of route_flood_search: f answers route_flood_hop from the factors then. */
void route_factors_search(struct route_factors *, struct route_flood *, const uint32_t *to, uint32_t count);
