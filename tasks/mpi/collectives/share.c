/* share.c - how much of a vector belongs to whom: what all algorithms count with.
 *
 * Blocks of a vector that does not divide evenly differ by one byte at most, and all blocks together are the
 * vector, whatever their number.
 */
#include "tasks/mpi/collectives/collective.h"

uint64_t task_coll_span(uint64_t bytes, uint64_t parts, uint64_t from, uint64_t to)
{
    unsigned __int128 all = bytes;
    return (uint64_t)(all * to / parts) - (uint64_t)(all * from / parts);
}

static uint64_t equal_share(const struct task_coll_view *v, uint64_t total, int32_t rank)
{
    return task_coll_span(total, (uint64_t)v->size, (uint64_t)rank, (uint64_t)rank + 1);
}

uint64_t task_coll_send_count(const struct task_coll_view *v, int32_t rank)
{
    if (v->send_bytes)
        return v->send_bytes[rank];
    bool total = v->collective == TASK_COLL_ALLTOALLV || v->collective == TASK_COLL_SCATTERV;
    return total ? equal_share(v, v->bytes, rank) : v->bytes;
}

uint64_t task_coll_receive_count(const struct task_coll_view *v, int32_t rank)
{
    if (v->receive_bytes)
        return v->receive_bytes[rank];
    if (v->collective == TASK_COLL_REDUCE_SCATTER)
        return equal_share(v, v->bytes, rank);
    return v->collective == TASK_COLL_ALLTOALLV ? equal_share(v, v->bytes2, rank) : v->bytes;
}
