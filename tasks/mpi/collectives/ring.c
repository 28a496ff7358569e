/* ring.c - schedules that shift: rings, pairwise exchange, Bruck's algorithms, chains, and everybody with
 * everybody.
 *
 * In step s every rank sends to rank + d(s) and receives from rank - d(s) (mod size), with d(s) = 1 on rings,
 * s + 1 in pairwise exchange, 2^s in Bruck's algorithms: a permutation, so in each step every rank sends and
 * receives exactly once. The step is the tag. The linear forms use the steps of pairwise exchange without
 * waiting between them.
 *
 * Sources: ring, pairwise exchange: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005. Ring allreduce:
 * Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations", JPDC 69(2), 2009.
 * Bruck: Bruck, Ho, Kipnis, Upfal, Weathersby, "Efficient algorithms for all-to-all communications in
 * multiport message-passing systems", IEEE TPDS 8(11), 1997.
 */
#include "tasks/mpi/collectives/collective.h"

/* rank + by (mod size), by in (-size, size). */
static int32_t ring_rank(const struct task_coll_view *v, int64_t by)
{
    return (int32_t)((v->rank + by + v->size) % v->size);
}

/* Bytes a rank contributes to an allgather(v): known for all ranks, or taken to be like the own. */
static uint64_t gathered_bytes(const struct task_coll_view *v, int32_t rank)
{
    if (v->collective == TASK_COLL_ALLGATHERV && v->receive_bytes)
        return v->receive_bytes[rank];
    return task_coll_blocks(v, (uint32_t)rank, 1);
}

static bool task_coll_ring_allgather(const struct task_coll_view *v, uint32_t round,
                                     struct task_coll_round *r)
{
    if (round + 1 >= (uint32_t)v->size)
        return false;
    int64_t step = round;
    task_coll_round_exchange(r, ring_rank(v, 1), gathered_bytes(v, ring_rank(v, -step)), ring_rank(v, -1),
                             gathered_bytes(v, ring_rank(v, -step - 1)), (int32_t)round);
    return true;
}

/* Neighbours in pairs: with one of them the own block, and then in turn with the other and the first one the
 * two blocks got last. In step s an even rank has those of the pair s ranks below or above itself. Open MPI,
 * too, takes the ring for an odd number. */
static bool task_coll_neighbour_allgather(const struct task_coll_view *v, uint32_t round,
                                          struct task_coll_round *r)
{
    if (v->size % 2)
        return task_coll_ring_allgather(v, round, r);
    if (round >= (uint32_t)v->size / 2)
        return false;
    bool odd = v->rank % 2, forth = odd == round % 2; /* with the next rank */
    int64_t pair = odd ? -1 : 0, step = round,
            before = step < 2   ? 0
                     : step % 2 ? step - 1
                                : -step,
            now = step % 2 ? -step - 1 : step;
    int32_t with = ring_rank(v, forth ? 1 : -1), sends = ring_rank(v, pair + (odd ? -before : before)),
            receives = ring_rank(v, pair + (odd ? -now : now));
    if (round == 0)
        task_coll_round_exchange(r, with, gathered_bytes(v, v->rank), with, gathered_bytes(v, with), 0);
    else
        task_coll_round_exchange(
            r, with, gathered_bytes(v, sends) + gathered_bytes(v, (sends + 1) % v->size), with,
            gathered_bytes(v, receives) + gathered_bytes(v, (receives + 1) % v->size), (int32_t)round);
    return true;
}

/* Everybody sends the own block to everybody. */
static bool task_coll_linear_allgather(const struct task_coll_view *v, uint32_t round,
                                       struct task_coll_round *r)
{
    if (round + 1 >= (uint32_t)v->size)
        return false;
    int32_t from = ring_rank(v, -(int64_t)round - 1);
    task_coll_round_exchange(r, ring_rank(v, (int64_t)round + 1), gathered_bytes(v, v->rank), from,
                             gathered_bytes(v, from), (int32_t)round);
    r->fence = false;
    return true;
}

/* size - 1 steps of a ring reduce-scatter over size parts of the vector, then size - 1 steps of a ring
 * allgather. */
static bool task_coll_ring_allreduce(const struct task_coll_view *v, uint32_t round,
                                     struct task_coll_round *r)
{
    uint32_t steps = (uint32_t)v->size - 1;
    if (round >= 2 * (uint64_t)steps)
        return false;
    /* The second half starts with the part that the first half completed here: rank + 1. */
    int64_t shift = round < steps ? -(int64_t)round : 1 - (int64_t)(round - steps);
    int32_t sends = ring_rank(v, shift), receives = ring_rank(v, shift - 1);
    uint64_t size = (uint64_t)v->size;
    task_coll_round_exchange(
        r, ring_rank(v, 1), task_coll_span(v->bytes, size, (uint64_t)sends, (uint64_t)sends + 1),
        ring_rank(v, -1), task_coll_span(v->bytes, size, (uint64_t)receives, (uint64_t)receives + 1),
        (int32_t)round);
    r->combines = round < steps;
    return true;
}

static bool task_coll_pairwise_alltoall(const struct task_coll_view *v, uint32_t round,
                                        struct task_coll_round *r)
{
    if (round + 1 >= (uint32_t)v->size)
        return false;
    int32_t to = ring_rank(v, (int64_t)round + 1), from = ring_rank(v, -(int64_t)round - 1);
    /* Empty messages of alltoallv are sent, too: the other side may not know that they are empty. */
    task_coll_round_exchange(r, to, task_coll_send_count(v, to), from, task_coll_receive_count(v, from),
                             (int32_t)round);
    return true;
}

static bool task_coll_linear_alltoall(const struct task_coll_view *v, uint32_t round,
                                      struct task_coll_round *r)
{
    bool more = task_coll_pairwise_alltoall(v, round, r);
    r->fence = false;
    return more;
}

/* In step s the block of rank - s - 1 continues, which so ends where it belongs. */
static bool task_coll_ring_reduce_scatter(const struct task_coll_view *v, uint32_t round,
                                          struct task_coll_round *r)
{
    if (round + 1 >= (uint32_t)v->size)
        return false;
    int32_t sends = ring_rank(v, -(int64_t)round - 1), receives = ring_rank(v, -(int64_t)round - 2);
    task_coll_round_exchange(r, ring_rank(v, 1), task_coll_receive_count(v, sends), ring_rank(v, -1),
                             task_coll_receive_count(v, receives), (int32_t)round);
    r->combines = 1;
    return true;
}

/* In step s the block that belongs to rank + s + 1 goes there. */
static bool task_coll_pairwise_reduce_scatter(const struct task_coll_view *v, uint32_t round,
                                              struct task_coll_round *r)
{
    if (round + 1 >= (uint32_t)v->size)
        return false;
    int32_t to = ring_rank(v, (int64_t)round + 1);
    task_coll_round_exchange(r, to, task_coll_receive_count(v, to), ring_rank(v, -(int64_t)round - 1),
                             task_coll_receive_count(v, v->rank), (int32_t)round);
    r->combines = 1;
    return true;
}

/* Round i sends the blocks whose (relative) number has bit i set. */
static bool task_coll_bruck_alltoall(const struct task_coll_view *v, uint32_t round,
                                     struct task_coll_round *r)
{
    uint64_t size = (uint64_t)v->size, bit = (uint64_t)1 << round;
    if (bit >= size)
        return false;
    uint64_t tail = size % (2 * bit), blocks = size / (2 * bit) * bit + (tail > bit ? tail - bit : 0);
    task_coll_round_exchange(r, ring_rank(v, (int64_t)bit), blocks * v->bytes, ring_rank(v, -(int64_t)bit),
                             blocks * v->bytes, (int32_t)round);
    /* All are rotated before and after; in between those that are sent and come lie apart. */
    r->before = (blocks + (round == 0 ? size : 0)) * v->bytes;
    r->after = (blocks + (2 * bit >= size ? size : 0)) * v->bytes;
    return true;
}

/* Round i sends all blocks gathered so far, as far as rank - 2^i lacks them. */
bool task_coll_bruck_allgather(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint64_t size = (uint64_t)v->size, have = (uint64_t)1 << round;
    if (have >= size)
        return false;
    uint64_t blocks = have < size - have ? have : size - have;
    int32_t from = ring_rank(v, (int64_t)have);
    task_coll_round_exchange(r, ring_rank(v, -(int64_t)have), task_coll_blocks(v, (uint32_t)v->rank, blocks),
                             from, task_coll_blocks(v, (uint32_t)from, blocks), (int32_t)round);
    /* The own block comes first here: at last those before it are moved up, and the others copied out of the
     * way and back. */
    if (2 * have >= size && v->rank)
        r->after =
            task_coll_blocks(v, 0, size) + task_coll_blocks(v, (uint32_t)v->rank, size - (uint64_t)v->rank);
    return true;
}

/* Scan along the ranks. */
static bool task_coll_chain_scan(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    task_coll_round_clear(r);
    if (round == 0 && v->rank > 0) {
        r->receive_from = v->rank - 1;
        r->receive_bytes = v->bytes;
        r->fence = true;
        r->combines = 1;
    } else if (round == 1 && v->rank + 1 < v->size) {
        r->send_to = v->rank + 1;
        r->send_bytes = v->bytes;
    }
    return round < 2;
}

TASK_COLL_KIND(linear_alltoall, "linear", "alltoall|alltoallv", "everybody sends to everybody, all at once",
               TASK_COLL_ALGORITHM(task_coll_linear_alltoall));
TASK_COLL_KIND(linear_allgather, "linear", "allgather|allgatherv|comm_create",
               "everybody sends its block to everybody, all at once",
               TASK_COLL_ALGORITHM(task_coll_linear_allgather));
TASK_COLL_KIND(chain_scan, "linear", "scan|exscan", "from rank to rank",
               TASK_COLL_ALGORITHM(task_coll_chain_scan));
TASK_COLL_KIND(ring_allreduce, "ring", "allreduce", "reduce-scatter and allgather round the ring",
               TASK_COLL_ALGORITHM(task_coll_ring_allreduce));
TASK_COLL_KIND(ring_allgather, "ring", "allgather|allgatherv|comm_create",
               "blocks are passed around the ring", TASK_COLL_ALGORITHM(task_coll_ring_allgather));
TASK_COLL_KIND(neighbour_allgather, "neighbor", "allgather|allgatherv|comm_create",
               "pairs of neighbours exchange what they got last",
               TASK_COLL_ALGORITHM(task_coll_neighbour_allgather));
TASK_COLL_KIND(ring_reduce_scatter, "ring", "reduce_scatter|reduce_scatter_block",
               "partial sums go round the ring", TASK_COLL_ALGORITHM(task_coll_ring_reduce_scatter));
TASK_COLL_KIND(pairwise_alltoall, "pairwise", "alltoall|alltoallv", "in step s with rank + s and rank - s",
               TASK_COLL_ALGORITHM(task_coll_pairwise_alltoall));
TASK_COLL_KIND(pairwise_reduce_scatter, "pairwise", "reduce_scatter|reduce_scatter_block",
               "in step s the block of rank + s goes there",
               TASK_COLL_ALGORITHM(task_coll_pairwise_reduce_scatter));
const struct ker_kind task_coll_kind_bruck_alltoall = {
    .name = "bruck",
    .of = "alltoall",
    .meaning = "log2 steps, blocks by the bits of their distance",
    .traits = "alike",
    .operations = TASK_COLL_ALGORITHM(task_coll_bruck_alltoall)};
TASK_COLL_KIND(bruck_allgather, "bruck", "allgather|comm_create", "log2 steps for any number of tasks",
               TASK_COLL_ALGORITHM(task_coll_bruck_allgather));
