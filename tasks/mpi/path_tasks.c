/* path_tasks.c - critical paths of the MPI model's tasks. */
#include "tasks/mpi/path.h"
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

/* Of one that has not finished: the stream that was busy last, of several the first. */
static void active_fill(struct task_state *task, struct task_path_own *own)
{
    uint32_t current = task_stream_current(task);
    own->active = -1;
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        task_stream_select(task, i);
        ker_time until = task->stage == TASK_STAGE_DONE ? -1
                         : task->blocked                ? task->blocked_since
                                                        : KER_TIME_MAX;
        if (until > own->active) {
            own->active = until;
            own->stream = i;
            own->function = task_calls_function(&task->op);
        }
    }
    task_stream_select(task, current);
}

static void own_fill(const struct task_mpi *mpi, struct task_state *task, struct task_path_own *own)
{
    static const struct task_ring nothing;
    *own = (struct task_path_own){
        .job = task->job,
        .task = task->task,
        .started = task->started,
        .finish = task_is_done(task) ? task->finish : KER_TIME_MAX,
        .ring = mpi->path->ring ? &mpi->path->ring[task_index(mpi, task)] : &nothing,
    };
    if (own->finish == KER_TIME_MAX)
        active_fill(task, own);
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
    uint32_t node = mpi->outside.node(mpi->outside.jobs, job, task),
             low = KER_BISECT(i, 0, mpi->nodes, mpi->node[i].node < node);
    struct task_state *found = low < mpi->nodes && mpi->node[low].node == node
                                   ? task_on_node(mpi, &mpi->node[low], job, task)
                                   : NULL;
    if (found)
        own_fill(mpi, found, own);
    return found != NULL;
}

struct task_path_source task_path_tasks(struct task_mpi *mpi, uint32_t jobs, ker_time end)
{
    return (struct task_path_source){mpi, jobs, end, !mpi->outside.posted, own_task, own_find};
}

enum ker_status task_mpi_path(struct task_mpi *mpi, const struct task_mpi_names *names, uint32_t jobs,
                              struct ker_comm *comm, ker_time end, const struct stats_folder *folder,
                              json_t **paths, struct ker_error *error)
{
    struct task_path_source source = task_path_tasks(mpi, jobs, end);
    return task_path_write(&source, names, comm, folder, paths, error);
}
