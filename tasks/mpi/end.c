/* end.c - a stream, and with the last one its task, comes to its end, or begins again. */
#include "tasks/mpi/state.h"

/* The program ends once more, then yields its ops again. A pass that took no time is not repeated: it would
 * never end. */
static void task_restart(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_job *job = task_job_of(mpi, task);
    struct task_op none;
    uint32_t current = task_stream_select(task, 0); /* those of the others have ended so */
    bool more = job->class->next(job->program, task->own, &none);
    ker_assert(!more);
    task->started = now;
    task->stage = TASK_STAGE_NEXT;
    if (task->streams)
        task_streams_restart(task);
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        task_stream_select(task, i);
        if (i != current && !task->ready)
            task_enqueue(mpi, task);
    }
    task_stream_select(task, current);
}

/* A stream is at its end: the task, too? */
void task_end(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    bool aborts = task->op.kind == TASK_OP_ABORT;
    bool restart =
        task_job_repeats(task_job_of(mpi, task), task->passes + 1) && now > task->started && !aborts;
    if (task->calls && (!restart || task->streams))
        task_calls_end(task, now);
    if (task->line)
        task_line_end(mpi, task, now);
    task->stage = TASK_STAGE_DONE;
    if (task->streams && !task_stream_end(task, now, aborts))
        return;
    if (mpi->path)
        task_path_end(mpi, task);
    task->finish = now;
    task->passes++;
    if (restart)
        task_restart(mpi, task, now);
    else
        task_mpi_done(mpi, task);
}
