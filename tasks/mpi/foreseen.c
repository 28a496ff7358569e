/* foreseen.c - ends of sends that take effect before their time.
 *
 * When the last packet of a message is in transit its adapter knows when it will have left. The end needs no
 * record of its own where nothing else can happen to the task until then, and nothing looks at the task
 * before, as no end of the run and no check lies before (net_host.leaves): a task that waits for nothing but
 * this, and computes next, is run as of the time of the end, and sleeps until its computation is over; of a
 * task that computes longer than that the request is complete at once. The choice changes no result. Only a
 * collective that does not block could make such a task owe processor time meanwhile: while there is one,
 * ends are records.
 */
#include "tasks/mpi/state.h"

void task_foreseen_init(struct task_mpi *mpi)
{
    mpi->foresees = mpi->outside.quiet && !mpi->waits && !mpi->outside.work && !mpi->outside.posted &&
                    !mpi->endpoints && !mpi->match_time && mpi->progress == TASK_PROGRESS_ADAPTER;
}

/* It has nothing to do but to wait for this, and then computes. Waits for any of several may end before. */
static bool waits_alone(const struct task_mpi *mpi, const struct task_state *task)
{
    const struct task_job *job = task_job_of(mpi, task);
    bool alone =
        task->op.kind == TASK_OP_SEND || task->op.kind == TASK_OP_WAIT || task->op.kind == TASK_OP_WAITALL;
    if (!alone || task->pending != 1 || task->stage != TASK_STAGE_BLOCKED || task->ready || task->busy ||
        task->debt || mpi->run.live || job->special || job->timed || !job->class->computes)
        return false;
    ker_time time = job->class->computes(job->program, task->own);
    return time > 0 && node_compute(&mpi->model, time, job->processor_factor) > 0;
}

enum task_foreseen task_foreseen(const struct task_mpi *mpi, const struct task_state *task, ker_time when,
                                 const struct task_request *r)
{
    if (!mpi->foresees || task->streams || task->line ||
        (r && (r->flags & TASK_REQUEST_COLLECTIVE || task_request_partitioned(r))))
        return TASK_FORESEEN_NOT;
    if (!r || r->flags & TASK_REQUEST_AWAITED)
        return waits_alone(mpi, task) ? TASK_FORESEEN_RUNS : TASK_FORESEEN_NOT;
    bool computes = task->busy && task->stage == TASK_STAGE_NEXT && task->op.kind == TASK_OP_COMPUTE;
    return computes && task->paid_until > when ? TASK_FORESEEN_DONE : TASK_FORESEEN_NOT;
}
