/* scatter_allgather.c - Bcast by a scatter of the vector's parts and an allgather of them.
 *
 * The vector is cut into one part for each rank, relative to the root, which an in-order binomial tree
 * scatters. The allgather is a ring, in which part v - s goes to v + 1 in step s; or recursive doubling, in
 * which v and v ^ m exchange the parts that their halves of 2 m ranks have. Where the size is no power of
 * two some have no partner: the parts that the others of their half have got in this step continue to them,
 * in a tree that halves the distance, from those that have to those that lack.
 *
 * Sources: Barnett, Shuler, van de Geijn, Gupta, Payne, Watts, "Interprocessor collective communication
 * library", SHPCC 1994; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
 */
#include "tasks/mpi/collectives/shape.h"

/* Rounds of the scatter at this task. */
static uint32_t scatter_rounds(const struct task_coll_view *v)
{
    struct tree_node n = task_tree_node(&task_tree_in_order_binomial, v, task_tree_relative(v));
    return n.children + (n.parent != TREE_NONE);
}

static bool round_ring(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint32_t down = scatter_rounds(v), step = round - down, size = (uint32_t)v->size;
    if (round < down)
        return task_tree_scatter_parts(v, round, r);
    if (step + 1 >= size)
        return false;
    uint32_t relative = task_tree_relative(v);
    uint64_t own = ((uint64_t)relative + size - step) % size, next = (own + size - 1) % size;
    task_coll_round_exchange(r, task_tree_rank(v, (relative + 1) % size), task_tree_parts(v, own, own + 1),
                             task_tree_rank(v, (relative + size - 1) % size),
                             task_tree_parts(v, next, next + 1), (int32_t)(1 + step));
    return true;
}

/* In step k, 2^k apart: the exchange, and then k rounds for those without a partner. */
static void doubling_round(const struct task_coll_view *v, uint32_t step, uint32_t sub,
                           struct task_coll_round *r)
{
    uint64_t size = (uint64_t)v->size, at = task_tree_relative(v), mask = (uint64_t)1 << step;
    uint64_t mine = at & -mask, others = mine ^ mask, bytes = task_tree_parts(v, others, others + mask);
    uint64_t distance = sub ? mask >> sub : mask, other = at ^ distance;
    int32_t partner = task_tree_rank(v, (uint32_t)other), tag = (int32_t)(1 + step * (step + 1) / 2 + sub);
    if (sub == 0 && other < size) {
        task_coll_round_exchange(r, partner, task_tree_parts(v, mine, mine + mask), partner, bytes, tag);
    } else if (sub && others > mine && others < size && others + mask > size) {
        uint64_t border = (at & -(2 * distance)) + size - others; /* those below it have the parts */
        if (at < border && other >= border)
            *r = (struct task_coll_round){TASK_COLL_NOBODY, partner, tag, tag, bytes, 0, true};
        else if (other < border && at >= border)
            *r = (struct task_coll_round){partner, TASK_COLL_NOBODY, tag, tag, 0, bytes, true};
    }
}

static bool round_doubling(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint32_t down = scatter_rounds(v), steps = (uint32_t)task_coll_log2_ceiling((uint32_t)v->size), step = 0;
    if (round < down)
        return task_tree_scatter_parts(v, round, r);
    uint32_t rest = round - down;
    for (; rest > step; step++)
        rest -= step + 1;
    task_coll_round_clear(r);
    if (step < steps)
        doubling_round(v, step, rest, r);
    return step < steps;
}

TASK_COLL_KIND(scatter_ring, "scatter_allgather_ring", "bcast", "binomial scatter, then ring allgather",
               TASK_COLL_ALGORITHM(round_ring));
TASK_COLL_KIND(scatter_doubling, "scatter_allgather", "bcast",
               "binomial scatter, then recursive doubling allgather", TASK_COLL_ALGORITHM(round_doubling));
