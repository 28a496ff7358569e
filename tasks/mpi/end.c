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

/* Does the program begin again? Repetitions may be skipped. */
static bool repeats(const struct task_job *job, const struct task_state *task)
{
    const struct task_steps *s = job->repeated;
    return s ? task_steps_next(s, (uint32_t)task_passes(job, task)) < s->count
             : job->restart || task->passes + 1 < job->repetitions;
}

static void repetition_note(struct task_steps *s, uint32_t pass, ker_time now)
{
    uint32_t next = task_steps_next(s, pass);
    task_steps_ended(s, pass, next, now);
    s->begun = next > s->begun && next < s->count ? next : s->begun;
}

/* A stream is at its end: the task, too? */
void task_end(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    bool aborts = task->op.kind == TASK_OP_ABORT;
    const struct task_job *job = task_job_of(mpi, task);
    bool restart = repeats(job, task) && now > task->started && !aborts;
    if (task->calls && (!restart || task->streams))
        task_calls_end(task->calls, now);
    if (task->line)
        task_line_end(mpi, task, now);
    task->stage = TASK_STAGE_DONE;
    if (task->streams && !task_stream_end(task, now, aborts))
        return;
    if (mpi->path)
        task_path_end(mpi, task);
    task->finish = now;
    if (job->repeated)
        repetition_note(job->repeated, (uint32_t)task_passes(job, task), now);
    task->passes++;
    if (restart)
        task_restart(mpi, task, now);
    else
        task_mpi_done(mpi, task);
}
