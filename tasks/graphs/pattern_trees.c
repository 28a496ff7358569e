/* Patterns with a root: trees, and everybody to one or one to everybody. Tasks are counted with the root at
 * 0.
 *
 * Binomial trees: in round r task v < 2^r has to do with v + 2^r; so task v > 0 meets its parent in round
 * floor(log2 v), and has children in the rounds behind. schedgen writes the dependency between parent and
 * children once for each of these rounds, that of the last child again where no child is left; so do these.
 */
#include "tasks/graphs/pattern.h"

static enum ker_status root_open(struct graph_pattern *p, const struct ker_config *config, const char *path,
                                 uint64_t seed, struct ker_error *error)
{
    p->longest = p->bytes;
    return KER_OK;
}

/* ---- binomial trees ---- */

struct place {
    uint32_t v, round; /* round: the first in which it may have a child */
    uint32_t children, repeated;
};

static struct place place_of(const struct graph_pattern *p, uint32_t task)
{
    struct place at = {.v = graph_pattern_swap(p, task)};
    at.round = at.v ? 32 - (uint32_t)__builtin_clz(at.v) : 0;
    uint32_t rounds = graph_pattern_doublings(p);
    while (at.round + at.children < rounds && at.v + (UINT64_C(1) << (at.round + at.children)) < p->tasks)
        at.children++;
    at.repeated = at.v && at.children ? rounds - at.round - at.children : 0;
    return at;
}

static uint32_t child(const struct graph_pattern *p, const struct place *at, uint32_t number)
{
    return graph_pattern_swap(p, at->v + (1u << (at->round + number)));
}

static uint32_t parent(const struct graph_pattern *p, const struct place *at)
{
    return graph_pattern_swap(p, at->v - (1u << (at->round - 1)));
}

static uint32_t binomial_ops(const struct graph_pattern *p, uint32_t task)
{
    struct place at = place_of(p, task);
    return at.children + (at.v > 0);
}

/* The first operation of all but the root is a message with the parent: down from there, or up to it. */
static void binomial_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op,
                        bool down)
{
    struct place at = place_of(p, task);
    bool parents = at.v && number == 0, receives = parents == down;
    uint32_t which = number - (at.v > 0), others = parents ? at.children + at.repeated : at.v > 0;
    if (!parents && at.v && which + 1 == at.children)
        others += at.repeated;
    graph_pattern_message(op, receives ? GRAPH_RECEIVE : GRAPH_SEND, p->bytes,
                          parents ? parent(p, &at) : child(p, &at, which));
    *(receives ? &op->on_done : &op->before) = others;
}

static void bcast_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    binomial_op(p, task, number, op, true);
}

static void reduce_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    binomial_op(p, task, number, op, false);
}

static uint32_t bcast_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number, uint32_t index)
{
    struct place at = place_of(p, task);
    return index < at.children ? 1 + index : at.children;
}

static uint32_t reduce_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                 uint32_t index)
{
    return 0;
}

/* ---- binary trees: the children of v are 2 v + 1 and 2 v + 2 ---- */

static uint32_t binary_children(const struct graph_pattern *p, uint32_t v)
{
    uint64_t first = 2 * (uint64_t)v + 1;
    return first >= p->tasks ? 0 : first + 1 < p->tasks ? 2 : 1;
}

static uint32_t binary_ops(const struct graph_pattern *p, uint32_t task)
{
    uint32_t v = graph_pattern_swap(p, task);
    return binary_children(p, v) + (v > 0);
}

static void binary_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    uint32_t v = graph_pattern_swap(p, task);
    if (v && number == 0) {
        graph_pattern_message(op, GRAPH_RECEIVE, p->bytes, graph_pattern_swap(p, (v - 1) / 2));
        op->on_done = binary_children(p, v);
        return;
    }
    uint32_t to = 2 * v + 1 + number - (v > 0);
    graph_pattern_message(op, GRAPH_SEND, p->bytes, graph_pattern_swap(p, to));
    op->before = v > 0;
}

static uint32_t binary_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                 uint32_t index)
{
    return 1 + index;
}

/* ---- one and everybody ---- */

static uint32_t star_ops(const struct graph_pattern *p, uint32_t task)
{
    return task == p->root ? p->tasks - 1 : 1;
}

static void star_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op,
                    bool gathers)
{
    bool root = task == p->root;
    graph_pattern_message(op, root == gathers ? GRAPH_RECEIVE : GRAPH_SEND, p->bytes,
                          root ? graph_pattern_swap(p, 1 + number) : p->root);
}

static void scatter_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    star_op(p, task, number, op, false);
}

static void gather_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    star_op(p, task, number, op, true);
}

/* Task 0 hears from all, then sends to all: a calculation of 0, then a receive and a send for each. */
static enum ker_status barrier_open(struct graph_pattern *p, const struct ker_config *config,
                                    const char *path, uint64_t seed, struct ker_error *error)
{
    p->longest = 1;
    if (p->tasks > UINT32_MAX / 4)
        return ker_config_fail(config, error, path, "linbarrier: at most %u tasks", UINT32_MAX / 4);
    return KER_OK;
}

static uint32_t barrier_ops(const struct graph_pattern *p, uint32_t task)
{
    return task == 0 ? 2 * p->tasks - 1 : 2;
}

static void barrier_op(const struct graph_pattern *p, uint32_t task, uint32_t number, struct graph_op *op)
{
    if (task) {
        graph_pattern_message(op, number ? GRAPH_RECEIVE : GRAPH_SEND, 1, 0);
    } else if (number == 0) {
        graph_pattern_calculation(p, op, 0);
        op->before = op->on_done = p->tasks - 1;
    } else {
        bool receives = number % 2;
        graph_pattern_message(op, receives ? GRAPH_RECEIVE : GRAPH_SEND, 1, (number + 1) / 2);
        op->before = !receives;
        op->on_done = receives;
    }
}

static uint32_t barrier_dependent(const struct graph_pattern *p, uint32_t task, uint32_t number,
                                  uint32_t index)
{
    return number == 0 ? 2 + 2 * index : 0;
}

GRAPH_PATTERN(binomialtreebcast, "a broadcast by a binomial tree",
              KER_OPTIONS(graph_size_options, graph_bytes_options, graph_root_options), .open = root_open,
              .ops = binomial_ops, .op = bcast_op, .dependent = bcast_dependent);
GRAPH_PATTERN(binomialtreereduce, "a reduction by a binomial tree",
              KER_OPTIONS(graph_size_options, graph_bytes_options, graph_root_options), .open = root_open,
              .ops = binomial_ops, .op = reduce_op, .dependent = reduce_dependent);
GRAPH_PATTERN(binarytreebcast, "a broadcast by a binary tree",
              KER_OPTIONS(graph_size_options, graph_bytes_options, graph_root_options), .open = root_open,
              .ops = binary_ops, .op = binary_op, .dependent = binary_dependent);
GRAPH_PATTERN(scatter, "the root sends to every other task, one after the other",
              KER_OPTIONS(graph_size_options, graph_bytes_options, graph_root_options), .open = root_open,
              .ops = star_ops, .op = scatter_op);
GRAPH_PATTERN(gather, "every other task sends to the root",
              KER_OPTIONS(graph_size_options, graph_bytes_options, graph_root_options), .open = root_open,
              .ops = star_ops, .op = gather_op);
GRAPH_PATTERN(linbarrier, "every task sends to task 0, which then sends to every task",
              KER_OPTIONS(graph_size_options), .open = barrier_open, .ops = barrier_ops, .op = barrier_op,
              .dependent = barrier_dependent);
