/* graph.c - tasks whose programs are graphs: the program knows which operation is ready, so it is notified of
 * what has come to its end, and its streams wait for it when it has nothing for them.
 *
 * Requests of a graph are marked as awaited, though no stream waits for them: so their completion costs
 * others nothing. What is ready changes when a request completes and when a stream fetches its next operation
 * (the one before is over, the next one begins): then all idle streams of the task are looked at.
 */
#include "tasks/mpi/state.h"

bool task_graph_ready(const struct task_mpi *mpi, const struct task_state *task)
{
    const struct task_job *job = task_job_of(mpi, task);
    return job->class->ready(job->program, task->own);
}

/* Does it wait for its program, which has something for it? */
static bool goes_on(const struct task_job *job, const struct task_op *op, bool blocked, bool ready,
                    uint32_t own)
{
    return op->kind == TASK_OP_GRAPH_IDLE && blocked && !ready && job->class->ready(job->program, own);
}

static void streams_wake(struct task_mpi *mpi, struct task_state *task, const struct task_job *job)
{
    uint32_t current = task->streams->current;
    for (uint32_t i = 0; i < task->streams->count; i++) {
        const struct task_stream *s = &task->streams->stream[i];
        if (i == current || !goes_on(job, &s->op, s->blocked, s->ready, s->own))
            continue;
        task_stream_select(task, i);
        task_ready(mpi, task);
        task_stream_select(task, current);
    }
}

void task_graph_wake(struct task_mpi *mpi, struct task_state *task)
{
    const struct task_job *job = task_job_of(mpi, task);
    if (!job->class->ready)
        return;
    if (goes_on(job, &task->op, task->blocked, task->ready, task->own))
        task_ready(mpi, task);
    if (task->streams)
        streams_wake(mpi, task, job);
}

bool task_graph_complete(struct task_mpi *mpi, struct task_state *task, const struct task_request *r)
{
    const struct task_job *job = task_job_of(mpi, task);
    if (!job->class->complete)
        return false;
    job->class->complete(job->program, task->own, r->name);
    task_graph_wake(mpi, task);
    return true;
}
