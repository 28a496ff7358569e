/* check.h - private to routing/: dependency graphs of channels. A set of channels that may wait for each
 * other is free of deadlock when the graph has no cycle (Dally and Seitz, 1987). */
#pragma once

#include "kernel/base/base.h"

#include <stdbool.h>

/* What route_pick answers in a check: one combination of draws after the other. Start with zeros, ask the
 * route function, advance, ask again, until there is no other combination. */
#define ROUTE_ORACLE_PICKS 32
struct route_oracle {
    int picks;
    uint32_t salt[ROUTE_ORACLE_PICKS], count[ROUTE_ORACLE_PICKS], value[ROUTE_ORACLE_PICKS];
};
bool route_oracle_advance(struct route_oracle *);

struct route_dependencies { /* a set of edges, each with what it was first added with; start with zeros */
    struct ker_table edges;
};

/* A packet that holds channel `from` may wait for channel `to`; both below UINT32_MAX. Was that new? */
bool route_dependencies_add(struct route_dependencies *, uint32_t from, uint32_t to);
/* The same, with a packet's destination as an example. */
bool route_dependencies_add_example(struct route_dependencies *, uint32_t from, uint32_t to,
                                    uint32_t destination);
/* Of an edge that is there. */
uint32_t route_dependencies_example(const struct route_dependencies *, uint32_t from, uint32_t to);

struct route_cycle {
    uint32_t *channel; /* each waits for the next, the last for the first; malloc'ed */
    uint32_t length;   /* 0: there is none */
    uint32_t channels; /* that have an edge, cyclic or not */
};
/* A cycle that is as short as a bounded search finds. */
struct route_cycle route_dependencies_cycle(const struct route_dependencies *, uint32_t channels);
void route_dependencies_release(struct route_dependencies *);

/* tables.c: the whole proof where a table alone says where packets go, in one class each. OTHER: it does not,
 * or max_work is too little for all destinations; CYCLIC: some links wait for each other in a circle. In both
 * *proof is as it was. A question's work is that of some of its states. */
#define ROUTE_TABLE_STATES 16
enum route_table_proof { ROUTE_TABLE_OTHER, ROUTE_TABLE_FREE, ROUTE_TABLE_CYCLIC };
struct route_topology;
struct route_proof;
enum route_table_proof route_prove_table(const struct route_topology *, const uint32_t *destination,
                                         uint32_t destinations, uint64_t max_work, struct route_proof *);

/* ends.c: endpoints that stand for all, to walk from and to; malloc'ed. */
void route_ends_choose(const struct route_topology *, uint32_t **source, uint32_t *sources,
                       uint32_t **destination, uint32_t *destinations);
