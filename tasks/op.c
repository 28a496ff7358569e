/* op.c - communicators of a job.
 *
 * A task's rank is searched as if the members ascended, which they nearly always do; when that fails, one by one.
 */
#include "tasks/op.h"

int32_t task_comm_rank(const struct task_comm *comm, int32_t task)
{
    if (!comm->member)
        return task >= 0 && task < comm->size ? task : -1;
    int32_t low = 0, high = comm->size;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (comm->member[middle] == task)
            return middle;
        if (comm->member[middle] < task)
            low = middle + 1;
        else
            high = middle;
    }
    for (int32_t rank = 0; rank < comm->size; rank++)
        if (comm->member[rank] == task)
            return rank;
    return -1;
}
