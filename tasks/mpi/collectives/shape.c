/* shape.c - trees, each in closed form: nothing is stored, however many ranks there are.
 *
 *   flat         everybody is a child of the root
 *   chain        f chains of neighbouring ranks begin at the root; their lengths differ by one at most
 *   binary       level l has 2^l ranks from 2^l - 1 on; the children of rank a on it are a + 2^l, a + 2 x 2^l
 *   in-order     the root of ranks from..to is the last one, its subtrees are the first half of all of them,
 *   binary       rounded down, and what lies between; so a reduction can keep the order of ranks. Its root
 *                is the last rank
 *   binomial     the parent is the rank without its highest bit: the deepest subtrees at the nearest ranks
 *   k-nomial     the parent is the rank without its last digit other than 0, to the base k; a subtree has
 *                neighbouring ranks, the farthest come first. The in-order binomial tree is that of base 2
 *
 * Sources: those of Open MPI's coll/base (4.1), whose pairs they have (tests/tasks/judge.sh).
 */
#include "tasks/mpi/collectives/shape.h"

/* ---- flat ---- */

static uint32_t flat_parent(uint32_t size, uint32_t fanout, uint32_t at)
{
    (void)size, (void)fanout;
    return at ? 0 : TREE_NONE;
}

static uint32_t flat_child(uint32_t size, uint32_t fanout, uint32_t at, uint32_t *index)
{
    (void)fanout;
    uint32_t children = at ? 0 : size - 1;
    if (*index < children)
        return *index + 1;
    *index -= children;
    return TREE_NONE;
}

/* ---- chains ---- */

/* The first rank of a chain; that of the last one and one more is the size. */
static uint32_t chain_head(uint32_t size, uint32_t chains, uint32_t chain)
{
    return 1 + (uint32_t)task_coll_span(size - 1, chains, 0, chain);
}

static uint32_t chains_of(uint32_t size, uint32_t fanout)
{
    return fanout < size - 1 ? fanout : size - 1;
}

/* Is it the first one of a chain (or the size)? */
static bool chain_begins(uint32_t size, uint32_t chains, uint32_t at)
{
    uint32_t least = (size - 1) / chains, longer = (size - 1) % chains, rest = at - 1;
    if (rest >= longer * (least + 1))
        return (rest - longer * (least + 1)) % least == 0;
    return rest % (least + 1) == 0;
}

static uint32_t chain_parent(uint32_t size, uint32_t fanout, uint32_t at)
{
    if (at == 0)
        return TREE_NONE;
    return chain_begins(size, chains_of(size, fanout), at) ? 0 : at - 1;
}

static uint32_t chain_child(uint32_t size, uint32_t fanout, uint32_t at, uint32_t *index)
{
    uint32_t chains = chains_of(size, fanout),
             children = at == 0 ? chains : at + 1 < size && !chain_begins(size, chains, at + 1);
    if (*index < children)
        return at == 0 ? chain_head(size, chains, *index) : at + 1;
    *index -= children;
    return TREE_NONE;
}

/* ---- binary ---- */

static uint32_t binary_parent(uint32_t size, uint32_t fanout, uint32_t at)
{
    (void)size, (void)fanout;
    if (at == 0)
        return TREE_NONE;
    uint32_t half = 1u << (task_coll_log2_floor(at + 1) - 1), begins = half - 1; /* the level above */
    return begins + (at - (2 * half - 1)) % half;
}

static uint32_t binary_child(uint32_t size, uint32_t fanout, uint32_t at, uint32_t *index)
{
    (void)fanout;
    uint64_t level = (uint64_t)1 << task_coll_log2_floor(at + 1);
    for (uint64_t child = at + level; child <= at + 2 * level && child < size; child += level)
        if ((*index)-- == 0)
            return (uint32_t)child;
    return TREE_NONE;
}

/* ---- binary, in order ---- */

/* Goes from the last rank down to `at`: its parent, and how many ranks lie below it. */
static uint32_t in_order_find(uint32_t size, uint32_t at, uint32_t *below)
{
    uint32_t from = 0, parent = TREE_NONE;
    while (at != from + size - 1) {
        uint32_t half = size / 2;
        parent = from + size - 1;
        bool first = at < from + half;
        from += first ? 0 : half;
        size = first ? half : size - half - 1;
    }
    *below = size - 1;
    return parent;
}

static uint32_t in_order_parent(uint32_t size, uint32_t fanout, uint32_t at)
{
    (void)fanout;
    uint32_t below;
    return in_order_find(size, at, &below);
}

static uint32_t in_order_child(uint32_t size, uint32_t fanout, uint32_t at, uint32_t *index)
{
    (void)fanout;
    uint32_t below;
    in_order_find(size, at, &below);
    uint32_t first = (below + 1) / 2, children = (below > 0) + (below > 1);
    if (*index < children)
        return *index == 0 ? at - 1 : at - below + first - 1;
    *index -= children;
    return TREE_NONE;
}

/* ---- binomial, k-nomial ---- */

static uint32_t binomial_parent(uint32_t size, uint32_t fanout, uint32_t at)
{
    (void)size, (void)fanout;
    return at ? at ^ 1u << task_coll_log2_floor(at) : TREE_NONE;
}

static uint32_t binomial_child(uint32_t size, uint32_t fanout, uint32_t at, uint32_t *index)
{
    (void)fanout;
    uint64_t distance = at ? (uint64_t)2 << task_coll_log2_floor(at) : 1;
    for (; at + distance < size; distance *= 2)
        if ((*index)-- == 0)
            return (uint32_t)(at + distance);
    return TREE_NONE;
}

/* The weight of the last digit that is not 0; of the root, the least power that is not less than the size. */
static uint64_t knomial_weight(uint32_t size, uint32_t fanout, uint32_t at)
{
    uint64_t weight = 1;
    while (at ? at % (weight * fanout) == 0 : weight < size)
        weight *= fanout;
    return weight;
}

static uint32_t knomial_parent(uint32_t size, uint32_t fanout, uint32_t at)
{
    return at ? (uint32_t)(at - at % (knomial_weight(size, fanout, at) * fanout)) : TREE_NONE;
}

static uint32_t knomial_child(uint32_t size, uint32_t fanout, uint32_t at, uint32_t *index)
{
    for (uint64_t weight = knomial_weight(size, fanout, at) / fanout; weight; weight /= fanout) {
        uint64_t most = (size - 1 - at) / weight, children = most < fanout - 1 ? most : fanout - 1;
        if (*index < children)
            return (uint32_t)(at + (*index + 1) * weight);
        *index -= (uint32_t)children;
    }
    return TREE_NONE;
}

/* ---- */

const struct tree_shape task_tree_flat = {flat_parent, flat_child, 1, true, false},
                        task_tree_flat_waiting = {flat_parent, flat_child, 1, true, true},
                        task_tree_chain = {chain_parent, chain_child, 0, false, false},
                        task_tree_binary = {binary_parent, binary_child, 2, false, false},
                        task_tree_in_order_binary = {in_order_parent, in_order_child, 2, false, false},
                        task_tree_binomial = {binomial_parent, binomial_child, 2, false, false},
                        task_tree_in_order_binomial = {knomial_parent, knomial_child, 2, true, false},
                        task_tree_knomial = {knomial_parent, knomial_child, 0, true, false};

struct tree_node task_tree_node(const struct tree_shape *shape, const struct task_coll_view *v, uint32_t at)
{
    struct tree_node n = {shape, (uint32_t)v->size, shape->fanout ? shape->fanout : v->fanout, at, 0, 0};
    uint32_t rest = UINT32_MAX;
    n.parent = shape->parent(n.size, n.fanout, at);
    shape->child(n.size, n.fanout, at, &rest);
    n.children = UINT32_MAX - rest;
    return n;
}
