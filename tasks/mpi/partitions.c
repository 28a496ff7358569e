/* partitions.c - which partitions of a partitioned request are ready, or have come.
 *
 * The sides may divide the same bytes differently. A receiver of n partitions that are sent as m messages
 * counts in parts of 1 / (n m) of the buffer: a message is n of them, a partition m; so it needs no bytes,
 * and there may be none.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

uint32_t task_partitions_new(struct task_mpi *mpi, uint32_t partitions, uint64_t bytes)
{
    uint32_t index = ker_chunks_take(&mpi->partitioned);
    struct task_partitioned *p = ker_chunks_at(&mpi->partitioned, index);
    p->partitions = partitions;
    p->bytes = bytes;
    p->part = ker_alloc((size_t)partitions * sizeof *p->part);
    return index;
}

void task_partitions_free(struct task_mpi *mpi, uint32_t index)
{
    free(((struct task_partitioned *)ker_chunks_at(&mpi->partitioned, index))->part);
    ker_chunks_give(&mpi->partitioned, index);
}

void task_partitions_begin(struct task_partitioned *p)
{
    p->started++;
    p->ready = p->moved = 0;
    memset(p->part, 0, p->partitions * sizeof *p->part);
}

void task_partitions_come(struct task_partitioned *p, uint32_t message)
{
    uint64_t begin = (uint64_t)message * p->partitions, end = begin + p->partitions;
    for (uint64_t i = begin / p->messages; i * p->messages < end && i < p->partitions; i++) {
        uint64_t first = i * p->messages, behind = first + p->messages;
        p->part[i] += (uint32_t)((end < behind ? end : behind) - (begin > first ? begin : first));
    }
    p->moved++;
}
