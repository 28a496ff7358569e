/* rows.h - rows of the tables of cores and memory, as totals (report.c) and in periods (series.c). */
#pragma once

#include "nodes/private.h"

struct core_row {
    uint32_t node, core;
    struct node_unit unit; /* what it has done: in the time until `at`, or in the period that ends then */
    ker_time at;
};

struct memory_row {
    uint32_t node;
    struct node_resource_name name;
    node_bytes moved;
    ker_time busy, at; /* at its full rate; at: as above */
};

static inline uint64_t core_key(const void *from)
{
    const struct core_row *row = from;
    return (uint64_t)row->node << 32 | row->core;
}

static inline uint64_t memory_key(const void *from)
{
    const struct memory_row *row = from;
    return (uint64_t)row->node << 32 | row->name.kind << 16 | row->name.number;
}

/* How long it would have been busy at its full rate; 0 where it has none. */
static inline ker_time memory_busy(const struct node *n, uint32_t resource, node_bytes moved)
{
    uint64_t capacity = node_capacity(n, resource);
    return capacity == UINT64_MAX ? 0 : (ker_time)(moved / capacity);
}

/* For .wanted: of a table whose context is the model. */
static inline bool system_measured(const void *model)
{
    return ((const struct node_model *)model)->rates.system;
}

static inline bool spins_measured(const void *model)
{
    return ((const struct node_model *)model)->spins;
}
