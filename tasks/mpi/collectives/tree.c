/* tree.c - schedules along trees (shape.c): from the root to everybody, from everybody to the root, or both.
 *
 * Downwards a rank receives from its parent and then sends to its children, in their order, without waiting
 * in between. Upwards it receives from one child after the other, combining what it has received, and then
 * sends to its parent. Vectors may be cut into segments, which follow each other along the tree: downwards
 * the next one is received while one is sent on, and a rank begins with one when the one before has left. The
 * segment is the tag.
 *
 * Where the root has a block for each rank, or is given one, what a rank sends or receives are those of its
 * subtree, which in the trees that are used for that has neighbouring ranks: rank a and those behind it, as
 * many as a's distance from its parent.
 *
 * Bcast's binomial tree is Open MPI's, the in-order one MPICH's. Pairs and bytes are those of Open MPI's
 * algorithms of these names (tests/tasks/judge.sh).
 *
 * Sources: binomial tree: Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations
 * in MPICH", IJHPCA 19(1), 2005. Chains and binary trees in segments: Pjesivac-Grbovic et al., "Performance
 * analysis of MPI collective operations", Cluster Computing 10(2), 2007.
 */
#include "tasks/mpi/collectives/shape.h"

/* Bytes on the edge above a rank, relative to the root, of a segment. */
typedef uint64_t tree_bytes_function(const struct task_coll_view *, uint32_t relative, uint32_t segment);

/* ---- segments ---- */

static uint64_t segment_size(const struct task_coll_view *v)
{
    uint64_t least = (v->bytes >> TASK_COLL_SEGMENTS_LOG2) + 1;
    return !v->segment ? v->bytes : v->segment < least ? least : v->segment;
}

static uint32_t segments_of(const struct task_coll_view *v)
{
    return v->segment && v->bytes ? (uint32_t)((v->bytes - 1) / segment_size(v) + 1) : 1;
}

static uint64_t bytes_of_vector(const struct task_coll_view *v, uint32_t relative, uint32_t segment)
{
    (void)relative;
    uint64_t size = segment_size(v), rest = v->bytes - segment * size;
    return rest < size ? rest : size;
}

/* ---- blocks ---- */

static uint64_t members(const struct task_coll_view *v, uint32_t relative)
{
    uint32_t distance = relative & -relative, rest = (uint32_t)v->size - relative;
    return rest < distance ? rest : distance;
}

static uint64_t bytes_of_blocks(const struct task_coll_view *v, uint32_t relative, uint32_t segment)
{
    (void)segment;
    return task_coll_blocks(v, (uint32_t)task_tree_rank(v, relative), members(v, relative));
}

static uint64_t bytes_of_parts(const struct task_coll_view *v, uint32_t relative, uint32_t segment)
{
    (void)segment;
    return task_tree_parts(v, relative, relative + members(v, relative));
}

uint64_t task_tree_parts(const struct task_coll_view *v, uint64_t from, uint64_t to)
{
    uint64_t size = (uint64_t)v->size, part = v->bytes / size + (v->bytes % size != 0);
    uint64_t begin = from * part, end = to * part; /* bytes are at most 2^40, ranks below 2^31 */
    return (end < v->bytes ? end : v->bytes) - (begin < v->bytes ? begin : v->bytes);
}

/* One block: what a rank gets of the root, or gives it. */
static uint64_t bytes_of_block(const struct task_coll_view *v, uint32_t relative, uint32_t segment)
{
    (void)segment;
    int32_t rank = task_tree_rank(v, relative);
    if (v->collective == TASK_COLL_SCATTERV)
        return v->rank == v->root ? task_coll_send_count(v, rank) : v->bytes2;
    if (v->collective == TASK_COLL_GATHERV) /* the root takes what comes */
        return v->bytes;
    return task_coll_blocks(v, (uint32_t)rank, 1);
}

/* What the collective has on the edges of a tree. */
static tree_bytes_function *bytes_in(const struct task_coll_view *v, const struct tree_shape *shape)
{
    bool blocks = v->collective >= TASK_COLL_GATHER && v->collective <= TASK_COLL_SCATTERV;
    return !blocks                                  ? bytes_of_vector
           : shape->parent == task_tree_flat.parent ? bytes_of_block
                                                    : bytes_of_blocks;
}

/* ---- rounds ---- */

static void round_receive(const struct task_coll_view *v, struct task_coll_round *r, uint32_t from,
                          uint64_t bytes, uint32_t tag)
{
    r->receive_from = task_tree_rank(v, from);
    r->receive_bytes = bytes;
    r->receive_tag = (int32_t)tag;
}

static void round_send(const struct task_coll_view *v, struct task_coll_round *r, uint32_t to, uint64_t bytes,
                       uint32_t tag)
{
    r->send_to = task_tree_rank(v, to);
    r->send_bytes = bytes;
    r->send_tag = (int32_t)tag;
}

/* Each segment: a round for each child, and one for the parent. */
static bool tree_up(const struct task_coll_view *v, const struct tree_shape *shape,
                    tree_bytes_function *bytes, uint32_t round, struct task_coll_round *r)
{
    struct tree_node n = task_tree_node(shape, v, task_tree_relative(v));
    uint32_t rounds = n.children + (n.parent != TREE_NONE), segments = segments_of(v);
    task_coll_round_clear(r);
    if (rounds == 0 || round / rounds >= segments)
        return false;
    uint32_t segment = round / rounds, i = round % rounds;
    r->fence = i < n.children || segments > 1;
    if (i < n.children) {
        uint32_t child = task_tree_child(&n, shape->backwards ? n.children - 1 - i : i);
        round_receive(v, r, child, bytes(v, child, segment), segment);
        r->combines = bytes == bytes_of_vector;
    } else {
        round_send(v, r, n.parent, bytes(v, n.at, segment), segment);
    }
    return true;
}

/* A round for the first segment of the parent; then for each segment one for each child, and with the first
 * of these the next segment of the parent. */
static bool tree_down(const struct task_coll_view *v, const struct tree_shape *shape,
                      tree_bytes_function *bytes, uint32_t round, struct task_coll_round *r)
{
    struct tree_node n = task_tree_node(shape, v, task_tree_relative(v));
    bool receives = n.parent != TREE_NONE;
    uint32_t segments = segments_of(v), later = round - receives, children = n.children ? n.children : 1,
             segment = round < receives ? 0 : later / children + 1,
             i = round < receives ? 0 : later % children;
    task_coll_round_clear(r);
    if (n.children ? segment > segments : segment >= (receives ? segments : 0))
        return false;
    if (receives && segment < segments && i == 0) {
        round_receive(v, r, n.parent, bytes(v, n.at, segment), segment);
        r->fence = round == 0 || !n.children;
    }
    if (round >= receives && n.children) {
        uint32_t child = task_tree_child(&n, i);
        round_send(v, r, child, bytes(v, child, segment - 1), segment - 1);
        r->fence = shape->one_by_one || (segments > 1 && i + 1 == n.children);
    }
    return true;
}

/* Up to rank 0, then down again, with tags of its own. */
static bool tree_both(const struct task_coll_view *view, const struct tree_shape *up,
                      const struct tree_shape *down, uint32_t round, struct task_coll_round *r)
{
    struct task_coll_view v = *view;
    v.root = 0;
    struct tree_node n = task_tree_node(up, &v, task_tree_relative(&v));
    uint32_t segments = segments_of(&v), rounds = (n.children + (n.parent != TREE_NONE)) * segments;
    if (round < rounds)
        return tree_up(&v, up, bytes_of_vector, round, r);
    if (!tree_down(&v, down, bytes_of_vector, round - rounds, r))
        return false;
    r->send_tag += (int32_t)segments;
    r->receive_tag += (int32_t)segments;
    return true;
}

static bool tree_round(const struct task_coll_view *v, const struct tree_shape *shape, uint32_t round,
                       struct task_coll_round *r)
{
    switch (v->collective) {
    case TASK_COLL_BARRIER:
        return tree_both(v, shape, shape, round, r);
    case TASK_COLL_BCAST:
    case TASK_COLL_SCATTER:
    case TASK_COLL_SCATTERV:
        return tree_down(v, shape, bytes_in(v, shape), round, r);
    default:
        return tree_up(v, shape, bytes_in(v, shape), round, r);
    }
}

/* ---- linear ---- */

/* Every rank sends to the root, which takes them as they come. */
static bool linear_to(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    task_coll_round_clear(r);
    if (v->rank != v->root) {
        round_send(v, r, 0, bytes_in(v, &task_tree_flat)(v, task_tree_relative(v), 0), 0);
        return round == 0;
    }
    r->receive_from = TASK_COLL_ANYBODY;
    r->receive_bytes = v->bytes;
    r->combines = v->collective == TASK_COLL_REDUCE || v->collective == TASK_COLL_ALLREDUCE;
    return round + 1 < (uint32_t)v->size;
}

/* Everybody reports to rank 0 (tag 0), which then releases everybody (tag 1). */
static bool linear_both(const struct task_coll_view *view, uint32_t round, struct task_coll_round *r)
{
    struct task_coll_view v = *view;
    v.root = 0;
    uint32_t up = v.rank == 0 ? (uint32_t)v.size - 1 : 1;
    if (round < up) {
        linear_to(&v, round, r);
        r->fence = round + 1 == up;
        return true;
    }
    if (!tree_down(&v, &task_tree_flat, bytes_of_vector, round - up, r))
        return false;
    r->send_tag = r->receive_tag = 1;
    return true;
}

/* ---- kinds ---- */

#define TREE_ROUND(name, shape)                                                                              \
    static bool name(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)              \
    {                                                                                                        \
        return tree_round(v, &(shape), round, r);                                                            \
    }
TREE_ROUND(round_flat, task_tree_flat)
TREE_ROUND(round_waiting, task_tree_flat_waiting)
TREE_ROUND(round_chain, task_tree_chain)
TREE_ROUND(round_binary, task_tree_binary)
TREE_ROUND(round_binomial, task_tree_binomial)
TREE_ROUND(round_in_order, task_tree_in_order_binomial)
TREE_ROUND(round_knomial, task_tree_knomial)

static bool round_binomial_both(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    return tree_both(v, &task_tree_in_order_binomial, &task_tree_binomial, round, r);
}

bool task_tree_scatter_parts(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    if (!tree_down(v, &task_tree_in_order_binomial, bytes_of_parts, round, r))
        return false;
    if (r->send_bytes == 0) /* the last ones of a short vector have none */
        r->send_to = TASK_COLL_NOBODY;
    if (r->receive_bytes == 0)
        r->receive_from = TASK_COLL_NOBODY;
    return true;
}

/* To the last rank, and from there to the root, with the last tag. */
static bool round_in_order_binary(const struct task_coll_view *view, uint32_t round,
                                  struct task_coll_round *r)
{
    struct task_coll_view v = *view;
    v.root = 0;
    if (tree_up(&v, &task_tree_in_order_binary, bytes_of_vector, round, r)) {
        r->fence = true;
        return true;
    }
    struct tree_node n = task_tree_node(&task_tree_in_order_binary, &v, (uint32_t)v.rank);
    uint32_t last = (uint32_t)v.size - 1, segments = segments_of(&v);
    bool gives = n.at == last && view->root != v.rank, takes = view->root == v.rank && n.at != last;
    if (!(gives || takes) || round > (n.children + (n.parent != TREE_NONE)) * segments)
        return false;
    if (gives)
        round_send(&v, r, (uint32_t)view->root, v.bytes, segments);
    else
        round_receive(&v, r, last, v.bytes, segments);
    return true;
}

TASK_COLL_KIND(linear_from, "linear", "bcast|scatter|scatterv",
               "the root sends to everybody, without waiting", TASK_COLL_ALGORITHM(round_flat));
TASK_COLL_KIND(linear_to, "linear", "reduce|gather|gatherv", "everybody sends to the root",
               TASK_COLL_ALGORITHM(linear_to));
TASK_COLL_KIND(linear_both, "linear", "barrier|allreduce",
               "everybody sends to rank 0, which answers everybody", TASK_COLL_ALGORITHM(linear_both));
TASK_COLL_KIND(linear_waiting, "linear_blocking", "scatter|scatterv|reduce|gather|gatherv",
               "the root sends to (receives from) one rank after the other",
               TASK_COLL_ALGORITHM(round_waiting));
TASK_COLL_KIND(chain, "chain", "bcast|reduce", "from rank to rank, in one chain or several",
               TASK_COLL_TREE(round_chain, "chains", 1, 1));
TASK_COLL_KIND(binary, "binary", "bcast|reduce", "binary tree", TASK_COLL_TREE(round_binary, NULL, 0, 0));
TASK_COLL_KIND(in_order_binary, "in_order_binary", "reduce",
               "binary tree in the order of ranks to the last one, which gives the result to the root",
               TASK_COLL_TREE(round_in_order_binary, NULL, 0, 0));
TASK_COLL_KIND(knomial, "knomial", "bcast|reduce", "tree by the digits of ranks to a base",
               TASK_COLL_TREE(round_knomial, "radix", 4, 2));
TASK_COLL_KIND(binomial_from, "binomial", "bcast", "binomial tree from the root",
               TASK_COLL_TREE(round_binomial, NULL, 0, 0));
TASK_COLL_KIND(binomial_to, "binomial", "reduce", "binomial tree to the root",
               TASK_COLL_TREE(round_in_order, NULL, 0, 0));
TASK_COLL_KIND(in_order_from, "in_order_binomial", "bcast",
               "binomial tree from the root, subtrees of neighbouring ranks (MPICH's)",
               TASK_COLL_TREE(round_in_order, NULL, 0, 0));
TASK_COLL_KIND(binomial_blocks, "binomial", "barrier|gather|scatter",
               "binomial tree to the root, from it, or to rank 0 and back; blocks add up and split",
               TASK_COLL_ALGORITHM(round_in_order));
TASK_COLL_KIND(binomial_both, "binomial", "allreduce", "binomial reduce to rank 0, then binomial bcast",
               TASK_COLL_TREE(round_binomial_both, NULL, 0, 0));
