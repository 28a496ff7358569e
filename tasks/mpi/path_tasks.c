/* path_tasks.c - critical paths of the MPI model's tasks. */
#include "tasks/mpi/path_walk.h"
#include "tasks/mpi/state.h"

enum ker_status task_mpi_path_read(struct task_mpi *mpi, const struct ker_config *config, uint64_t tasks,
                                   struct ker_error *error)
{
    uint32_t most = 0;
    enum ker_status status = mpi->waits ? task_path_room(config, tasks, &most, error) : KER_OK;
    if (status || !most)
        return status;
    mpi->path = ker_alloc(sizeof *mpi->path);
    mpi->path->most = most;
    return KER_OK;
}

uint32_t task_mpi_path_room(const struct task_mpi *mpi)
{
    return mpi->path ? mpi->path->most : 0;
}

static void own_fill(const struct task_mpi *mpi, const struct task_state *task, struct task_path_own *own)
{
    static const struct task_ring nothing;
    *own = (struct task_path_own){
        .job = task->job,
        .task = task->task,
        .started = task->started,
        .finish = task_is_done(task) ? task->finish : KER_TIME_MAX,
        .ring = mpi->path->ring ? &mpi->path->ring[task_index(mpi, task)] : &nothing,
    };
}

static bool own_task(void *context, uint32_t index, struct task_path_own *own)
{
    const struct task_mpi *mpi = context;
    if (index < mpi->tasks)
        own_fill(mpi, &mpi->task[index], own);
    return index < mpi->tasks;
}

/* The nodes are ordered. */
static bool own_find(void *context, uint32_t job, uint32_t task, struct task_path_own *own)
{
    struct task_mpi *mpi = context;
    uint32_t node = mpi->outside.node(mpi->outside.jobs, job, task), low = 0, high = mpi->nodes;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (mpi->node[middle].node < node)
            low = middle + 1;
        else
            high = middle;
    }
    const struct task_state *found = low < mpi->nodes && mpi->node[low].node == node
                                         ? task_on_node(mpi, &mpi->node[low], job, task)
                                         : NULL;
    if (found)
        own_fill(mpi, found, own);
    return found != NULL;
}

struct task_path_source task_path_tasks(struct task_mpi *mpi, uint32_t jobs)
{
    return (struct task_path_source){mpi, jobs, own_task, own_find};
}

enum ker_status task_mpi_path(struct task_mpi *mpi, const struct task_mpi_names *names, uint32_t jobs,
                              struct ker_comm *comm, const struct stats_folder *folder, json_t **paths,
                              struct ker_error *error)
{
    struct task_path_source source = task_path_tasks(mpi, jobs);
    return task_path_write(&source, names, comm, folder, paths, error);
}
