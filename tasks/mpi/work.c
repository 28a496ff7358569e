/* work.c - processor time that is more than a timer: the task asks its node for it, and continues when it has
 * had it (task_mpi_worked).
 *
 * What has been had is what the program computed, as far as its time had been added to task.compute when it
 * was asked for (node_work.own), and otherwise overheads. What it took longer or shorter than asked for, on
 * cores of other speeds, is part of either; what it waited for memory, or for its core, is none of both.
 * Calls that the operating system serves are neither computation nor overhead where node_rates.system says
 * so. So compute + overhead + system + stalled + away + preempted + waits are all the time of a task with one
 * stream. Invariant: a stream has asked for at most one at a time.
 */

#include "tasks/mpi/state.h"

struct task_worked {
    ker_time seen; /* of task.compute: has been asked for, or had */
    ker_time owed; /* time in the operating system that has not been asked for */
    ker_time system, stalled, overhead, away, preempted;
    unsigned __int128 moved; /* bytes x 10^12 that are to be moved with what is asked for next */
};

void task_works_reserve(struct task_mpi *mpi, uint32_t tasks)
{
    if (mpi->outside.result)
        mpi->worked = ker_reserve(tasks * sizeof *mpi->worked);
}

void task_works_release(struct task_mpi *mpi)
{
    ker_release(mpi->worked, mpi->worked ? mpi->task_room * sizeof *mpi->worked : 0);
}

static uint32_t number_of(const struct task_mpi *mpi, const struct task_state *task)
{
    return TASK_WORK_NUMBER(task->seat, task_stream_current(task));
}

void task_work_system(struct task_mpi *mpi, const struct task_state *task, ker_time time)
{
    if (mpi->worked)
        mpi->worked[task_index(mpi, task)].owed += time;
}

bool task_work(struct task_mpi *mpi, struct task_state *task, ker_time now, ker_time time)
{
    struct task_mpi_node *node = task_node_of(mpi, task);
    struct task_worked *w = mpi->worked ? &mpi->worked[task_index(mpi, task)] : NULL;
    struct node_work work = {.core = task->core, .compute = time, .memory = mpi->memory};
    mpi->memory = 0;
    if (w) {
        work.memory += w->moved;
        w->moved = 0;
        work.own = ker_time_min(task->compute - w->seen, time);
        w->seen = task->compute;
        work.system = ker_time_min(w->owed, time - work.own);
        w->owed -= work.system;
    }
    if (mpi->outside.work(node->net, now, mpi->service, number_of(mpi, task), &work))
        return false;
    task->busy = true;
    if (task->streams)
        task->streams->stream[task->streams->current].until = KER_TIME_MAX;
    mpi->job[task->job].open++;
    return true;
}

ker_time task_work_moves(const struct task_mpi *mpi, const struct task_state *task, uint64_t bytes,
                         uint64_t rate, enum task_moves times)
{
    if (mpi->worked)
        mpi->worked[task_index(mpi, task)].moved += (unsigned __int128)bytes * times * (uint64_t)KER_S;
    return ker_serialisation(bytes, rate);
}

/* What has come of a work until `now`. */
struct parts {
    ker_time computed, system, overhead;
};
static struct parts parts_of(const struct node_worked *worked, ker_time now)
{
    ker_time taken = now - worked->began - worked->stalled - worked->away - worked->preempted,
             computed = node_worked_share(taken, worked->own, worked->compute),
             both = node_worked_share(taken, worked->own + worked->system, worked->compute);
    return (struct parts){computed, both - computed, taken - both};
}

void task_worked(struct task_mpi *mpi, struct task_state *task, ker_time now,
                 const struct node_worked *worked)
{
    if (!mpi->worked)
        return;
    struct task_worked *w = &mpi->worked[task_index(mpi, task)];
    struct parts parts = parts_of(worked, now);
    task->compute += parts.computed - worked->own;
    w->seen += parts.computed - worked->own;
    w->system += parts.system;
    w->overhead += parts.overhead;
    w->stalled += worked->stalled;
    w->away += worked->away;
    w->preempted += worked->preempted;
}

bool task_mpi_costless(const struct task_mpi *mpi)
{
    return !mpi->model.send_overhead && !mpi->model.receive_overhead && !mpi->model.doorbell &&
           !mpi->model.sized;
}

bool task_mpi_works(const struct task_mpi *mpi)
{
    return mpi->worked != NULL;
}

bool task_mpi_system_measured(const struct task_mpi *mpi)
{
    return mpi->worked && mpi->model.rates.system;
}

void task_work_result(const struct task_mpi *mpi, const struct task_state *task, struct task_mpi_result *row)
{
    if (!mpi->worked)
        return;
    row->system = mpi->worked[task_index(mpi, task)].system;
    row->stalled = mpi->worked[task_index(mpi, task)].stalled;
    row->overhead = mpi->worked[task_index(mpi, task)].overhead;
    row->away = mpi->worked[task_index(mpi, task)].away;
    row->preempted = mpi->worked[task_index(mpi, task)].preempted;
}

void task_work_cut(const struct task_mpi *mpi, const struct task_state *task, ker_time end,
                   struct task_mpi_result *row)
{
    struct node_worked worked;
    if (!task->busy ||
        !mpi->outside.result(task_node_of(mpi, task)->net, mpi->service, number_of(mpi, task), end, &worked))
        return;
    struct parts parts = parts_of(&worked, end);
    row->compute += parts.computed - worked.own;
    row->system += parts.system;
    row->overhead += parts.overhead;
    row->stalled += worked.stalled;
    row->away += worked.away;
    row->preempted += worked.preempted;
}

void task_work_state(struct task_mpi *mpi, const struct task_state *task, struct ker_chunk *c)
{
    struct task_worked *w = &mpi->worked[task_index(mpi, task)];
    KER_CHUNK(c, w->seen, w->owed, w->system, w->stalled, w->overhead, w->away, w->preempted, w->moved);
}
