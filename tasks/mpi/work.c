/* work.c - processor time that is more than a timer: the task asks its node for it, and goes on when it has
 * had it (task_mpi_worked). Invariant: a stream has asked for at most one at a time. */
#include "tasks/mpi/state.h"

bool task_work(struct task_mpi *mpi, struct task_state *task, ker_time now, ker_time time)
{
    struct task_mpi_node *node = task_node_of(mpi, task);
    struct node_work work = {.core = task->core, .compute = time, .memory = mpi->memory};
    uint32_t seat = task_index(mpi, task) - node->first_task,
             number = TASK_WORK_NUMBER(seat, task_stream_current(task));
    mpi->memory = 0;
    if (mpi->outside.work(node->net, now, mpi->service, number, &work))
        return false;
    task->busy = true;
    if (task->streams)
        task->streams->stream[task->streams->current].until = KER_TIME_MAX;
    mpi->job[task->job].open++;
    return true;
}
