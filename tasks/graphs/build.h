/* build.h - a graph is put together task by task, by whoever reads or makes one.
 *
 * graph_build_begin, then for each task of the program in order its operations and dependencies, and
 * graph_build_task; at the end graph_build_end. Tasks that are not kept are checked like the others and cost
 * no memory behind their end. Operations of all tasks lie in one array, dependents in another.
 */
#pragma once

#include "tasks/graphs/graph.h"

/* A dependency of the current task: `op` waits for `on`. */
struct graph_edge {
    uint32_t on, op;
    bool begin; /* it waits for it to begin, not to be done */
};

struct graph_build {
    const char *file; /* for messages */
    struct ker_error *error;
    struct graph *graph;
    struct graph_op *op; /* of the tasks that are kept, behind them those of the current task */
    size_t ops, op_room, from;
    uint32_t *dependent; /* of the tasks that are kept */
    size_t dependents, dependent_room;
    struct graph_edge *edge;
    size_t edges, edge_room;
    uint32_t task;        /* the current one */
    uint32_t kept;        /* tasks so far */
    const uint32_t *list; /* graph_form.list */
    bool backwards;       /* an operation of it waits for a later one: there may be a cycle */
};

void graph_build_begin(struct graph_build *, const char *file, uint32_t tasks, uint32_t first, uint32_t count,
                       struct ker_error *);

/* How many operations the current task has: the number of the next one. */
static inline size_t graph_build_ops(const struct graph_build *b)
{
    return b->ops - b->from;
}

/* An operation without dependencies. The caller sees to it that there are no more than UINT32_MAX. */
static inline void graph_build_op(struct graph_build *b, const struct graph_op *op)
{
    *KER_PUSH(b->op, b->ops, b->op_room) = *op;
    struct graph *g = b->graph;
    g->cpus = op->cpu >= g->cpus ? op->cpu + 1u : g->cpus;
    g->nics = op->nic >= g->nics ? op->nic + 1u : g->nics;
    if (op->kind != GRAPH_CALCULATION && op->amount > g->longest)
        g->longest = op->amount;
}

/* Both operations are there; no more than UINT32_MAX. */
static inline void graph_build_edge(struct graph_build *b, struct graph_edge edge)
{
    *KER_PUSH(b->edge, b->edges, b->edge_room) = edge;
    b->backwards |= edge.on >= edge.op;
}

/* The current task has ended; KER_BAD_INPUT when operations of it wait for one another. */
enum ker_status graph_build_task(struct graph_build *);
/* The graph, if all tasks have been there; NULL drops it. Frees what else the building took. */
void graph_build_end(struct graph_build *, struct graph **);
