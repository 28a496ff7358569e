/* op.c - communicators of a job, and what the generators share.
 *
 * A task's rank is searched as if the members ascended, which they nearly always do; when that fails, one by
 * one.
 */
#include "tasks/programs/op.h"

#include "nodes/nodes.h"

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

ker_time task_compute_time(const struct ker_config *config, const char *path)
{
    struct node_model none = {0};
    ker_time time = ker_config_time(config, TASK_KEY(path, "compute_time"));
    return node_compute(&none, time, ker_config_real(config, TASK_KEY(path, "processor_factor"))) > 0 ? time
                                                                                                      : 0;
}

bool task_compute_jitters(const struct ker_config *config, const char *path)
{
    return ker_config_time(config, TASK_KEY(path, "compute_jitter")) > 0;
}

uint32_t task_step_skip(uint32_t step, uint32_t steps, uint32_t every)
{
    uint64_t reduces =
        every ? (uint64_t)step + every - 1 - step % every : steps; /* the next that is not empty */
    return reduces < steps ? (uint32_t)reduces : steps;
}
