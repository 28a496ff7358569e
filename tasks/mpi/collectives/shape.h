/* shape.h - trees over the ranks of a call: who is whose parent, and which children a rank has in which
 * order.
 *
 * Ranks are relative to the tree's root, which is 0, unless it says otherwise. TREE_NONE: there is none. A
 * private part of tree.c and scatter_allgather.c.
 */
#pragma once

#include "tasks/mpi/collectives/collective.h"

#define TREE_NONE UINT32_MAX

struct tree_shape {
    uint32_t (*parent)(uint32_t size, uint32_t fanout, uint32_t at);
    /* Child number *index; TREE_NONE: this many are there not, and *index is less by as many as there are. */
    uint32_t (*child)(uint32_t size, uint32_t fanout, uint32_t at, uint32_t *index);
    uint32_t fanout; /* 0: what the call's rule says */
    bool backwards;  /* upwards, children are taken from the last one to the first */
    bool one_by_one; /* downwards, a child's message has left before the next one's begins */
};

extern const struct tree_shape task_tree_flat, task_tree_flat_waiting, task_tree_chain, task_tree_binary,
    task_tree_in_order_binary, task_tree_binomial, task_tree_in_order_binomial, task_tree_knomial;

/* At one rank. */
struct tree_node {
    const struct tree_shape *shape;
    uint32_t size, fanout, at;
    uint32_t parent, children;
};
struct tree_node task_tree_node(const struct tree_shape *, const struct task_coll_view *, uint32_t at);
static inline uint32_t task_tree_child(const struct tree_node *n, uint32_t index)
{
    return n->shape->child(n->size, n->fanout, n->at, &index);
}

/* Relative to the root of the call, and back. */
static inline uint32_t task_tree_relative(const struct task_coll_view *v)
{
    ker_assert(v->size > 0);
    return (uint32_t)((v->rank - v->root + (int64_t)v->size) % v->size);
}
static inline int32_t task_tree_rank(const struct task_coll_view *v, uint32_t relative)
{
    return (int32_t)(((int64_t)relative + v->root) % v->size);
}

/* tree.c: from the root through its in-order binomial tree the parts of the vector that a subtree's ranks are
 * to have, each bytes / size rounded up, the last ones less. */
bool task_tree_scatter_parts(const struct task_coll_view *, uint32_t round, struct task_coll_round *);
/* The bytes of the parts from..to-1. */
uint64_t task_tree_parts(const struct task_coll_view *, uint64_t from, uint64_t to);
