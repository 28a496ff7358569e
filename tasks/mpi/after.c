/* after.c - streams of a task that wait for each other.
 *
 * A stream waits until another one has begun, or done, this many operations; both are counted, but for
 * computations and such waits, so that how computation is cut into operations makes no difference. Programs
 * wait only for what came before in their trace, so that streams cannot wait for each other in a circle.
 */
#include "tasks/mpi/state.h"

static bool after_counts(const struct task_op *op)
{
    if (op->kind == TASK_OP_GREQUEST_COMPLETE)
        return op->mode == 0; /* what is done inside of a call is a part of that */
    return op->kind != TASK_OP_COMPUTE && op->kind != TASK_OP_TAKES && op->kind != TASK_OP_AFTER &&
           op->kind != TASK_OP_END;
}

bool task_after_reached(const struct task_state *task)
{
    const struct task_op *op = &task->op;
    if (!task->streams || op->peer < 0 || (uint32_t)op->peer >= task->streams->count)
        return true;
    const struct task_stream *other = &task->streams->stream[op->peer];
    return (op->mode ? other->begun : other->done) >= op->bytes;
}

bool task_after_begin(struct task_state *task)
{
    if (task_after_reached(task))
        return true;
    task->streams->behind++;
    return false;
}

void task_after_end(struct task_state *task)
{
    task->streams->behind--;
}

/* Those that wait for the current stream. */
static void after_wake(struct task_mpi *mpi, struct task_state *task)
{
    uint32_t current = task->streams->current;
    for (uint32_t i = 0; task->streams->behind && i < task->streams->count; i++) {
        task_stream_select(task, i);
        if (task->op.kind == TASK_OP_AFTER && task->stage == TASK_STAGE_BLOCKED && task_after_reached(task))
            task_ready(mpi, task);
    }
    task_stream_select(task, current);
}

void task_after_begun(struct task_mpi *mpi, struct task_state *task)
{
    if (!after_counts(&task->op))
        return;
    task->streams->stream[task->streams->current].begun++;
    after_wake(mpi, task);
}

void task_after_done(struct task_mpi *mpi, struct task_state *task)
{
    if (!after_counts(&task->op))
        return;
    task->streams->stream[task->streams->current].done++;
    after_wake(mpi, task);
}
