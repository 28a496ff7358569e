/* share.c - how much of a vector belongs to whom: what all algorithms count with.
 *
 * Blocks of a vector that does not divide evenly differ by one byte at most, the longer ones first, and all
 * blocks together are the vector, whatever their number.
 */
#include "tasks/mpi/collectives/collective.h"

uint64_t task_coll_span(uint64_t bytes, uint64_t parts, uint64_t from, uint64_t to)
{
    uint64_t most = bytes % parts; /* this many parts are longer by one byte */
    return bytes / parts * (to - from) + (to < most ? to : most) - (from < most ? from : most);
}

uint64_t task_coll_own_copy(const struct task_coll_view *v)
{
    if (v->first) /* nothing stays where it is */
        return 0;
    switch (v->collective) {
    case TASK_COLL_GATHER:
    case TASK_COLL_GATHERV:
    case TASK_COLL_SCATTER:
    case TASK_COLL_SCATTERV:
        return v->rank == v->root ? v->bytes : 0;
    case TASK_COLL_ALLTOALLV:
        return task_coll_send_count(v, v->rank);
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
        return v->bytes * (uint64_t)v->size;
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_ALLGATHERV:
    case TASK_COLL_ALLTOALL:
    case TASK_COLL_ALLREDUCE:
    case TASK_COLL_REDUCE_SCATTER:
    case TASK_COLL_SCAN:
    case TASK_COLL_EXSCAN:
        return v->bytes;
    default:
        return 0;
    }
}

/* Nothing to send or to receive, for anybody. */
bool task_coll_empty(const struct task_coll_view *v)
{
    if (v->first) /* a group does not know what the other one has */
        return false;
    switch (v->collective) {
    case TASK_COLL_BCAST:
    case TASK_COLL_REDUCE:
    case TASK_COLL_ALLREDUCE:
    case TASK_COLL_GATHER:
    case TASK_COLL_SCATTER:
    case TASK_COLL_ALLGATHER:
    case TASK_COLL_ALLTOALL:
    case TASK_COLL_REDUCE_SCATTER_BLOCK:
    case TASK_COLL_SCAN:
    case TASK_COLL_EXSCAN:
        return v->bytes == 0;
    case TASK_COLL_ALLGATHERV:
    case TASK_COLL_REDUCE_SCATTER:
        for (int32_t i = 0; i < v->size; i++)
            if (!v->receive_bytes || v->receive_bytes[i])
                return false;
        return true;
    default: /* the others' counts are not known */
        return false;
    }
}

static uint64_t equal_share(const struct task_coll_view *v, uint64_t total, int32_t rank)
{
    return task_coll_span(total, (uint64_t)v->size, (uint64_t)rank, (uint64_t)rank + 1);
}

uint64_t task_coll_blocks_held(const struct task_coll_view *v, uint32_t from, uint32_t count)
{
    uint32_t size = (uint32_t)v->size, rest = size - from;
    if (count <= rest)
        return v->bytes * (v->held[from + count] - v->held[from]);
    return v->bytes * (v->held[size] - v->held[from] + v->held[count - rest] - v->held[0]);
}

/* Of an alltoall where a rank stands for several a block is sent to each of those. */
static bool to_held(const struct task_coll_view *v)
{
    return v->held && v->collective == TASK_COLL_ALLTOALL;
}

uint64_t task_coll_send_count(const struct task_coll_view *v, int32_t rank)
{
    if (v->send_bytes)
        return v->send_bytes[rank];
    if (__builtin_expect(to_held(v), 0))
        return task_coll_blocks_held(v, (uint32_t)rank, 1);
    bool total = v->collective == TASK_COLL_ALLTOALLV || v->collective == TASK_COLL_SCATTERV;
    return total ? equal_share(v, v->bytes, rank) : v->bytes;
}

uint64_t task_coll_receive_count(const struct task_coll_view *v, int32_t rank)
{
    if (v->receive_bytes)
        return v->receive_bytes[rank];
    if (__builtin_expect(to_held(v), 0))
        return task_coll_blocks_held(v, (uint32_t)rank, 1);
    if (v->collective == TASK_COLL_REDUCE_SCATTER)
        return equal_share(v, v->bytes, rank);
    return v->collective == TASK_COLL_ALLTOALLV ? equal_share(v, v->bytes2, rank) : v->bytes;
}
