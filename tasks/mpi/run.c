/* run.c - runs: the calls of collectives that a task has outstanding.
 *
 * A blocking call is a run that its task waits for (task.collective), and is gone when the call returns. One
 * that does not block is owned by a request: of a call of MPI_Ibcast the run lives until it has ended, of
 * MPI_Bcast_init as long as the request. The task's op is another one by then, so such a run has copies of
 * the counts. Runs that nobody waits for and whose next round may begin are in a queue of the task
 * (task.able). Invariant: a run is in it at most once, and not while it continues.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

void task_run_free(struct task_mpi *mpi, uint32_t index)
{
    free(task_run_at(mpi, index)->counts);
    ker_chunks_give(&mpi->run, index);
}

int32_t task_run_peer(const struct task_mpi *mpi, const struct task_state *task,
                      const struct task_collective_run *run, int32_t rank)
{
    if (!run->view.first || rank < 0)
        return task_match_peer(mpi, task, run->comm, rank);
    const struct task_job *job = task_job_of(mpi, task);
    int32_t count, first = run->view.first;
    const struct task_comm *comms = job->class->comms(job->program, &count), *comm = &comms[run->comm];
    return rank < first ? task_comm_task(comm, rank) : task_comm_task(&comms[comm->remote], rank - first);
}

/* ---- counts ---- */

uint32_t task_run_counts(const struct task_coll_view *v, bool receives)
{
    if (receives ? !v->receive_bytes : !v->send_bytes)
        return 0;
    if (v->first) {
        struct task_coll_sides s = task_coll_sides_of(v);
        return (uint32_t)(v->collective == TASK_COLL_REDUCE_SCATTER ? s.own : s.other);
    }
    return !v->neighbours ? (uint32_t)v->size : receives ? v->neighbours->in : v->neighbours->out;
}

void task_run_keep(struct task_collective_run *run)
{
    struct task_coll_view *v = &run->view;
    size_t sent = task_run_counts(v, false), received = task_run_counts(v, true);
    if (!v->send_bytes && !v->receive_bytes)
        return;
    run->counts = ker_alloc((sent + received + 1) * sizeof *run->counts);
    if (sent)
        memcpy(run->counts, v->send_bytes, sent * sizeof *run->counts);
    if (received)
        memcpy(run->counts + sent, v->receive_bytes, received * sizeof *run->counts);
    v->send_bytes = v->send_bytes ? run->counts : NULL;
    v->receive_bytes = v->receive_bytes ? run->counts + sent : NULL;
}

/* ---- those that can continue ---- */

void task_run_push(struct task_mpi *mpi, struct task_state *task, uint32_t index, bool first)
{
    struct task_collective_run *run = task_run_at(mpi, index);
    run->able = true;
    run->next = first ? task->able.first : 0;
    if (first)
        task->able.first = index;
    else if (task->able.last)
        task_run_at(mpi, task->able.last)->next = index;
    else
        task->able.first = index;
    if (!first || !task->able.last)
        task->able.last = index;
}

uint32_t task_run_pop(struct task_mpi *mpi, struct task_state *task)
{
    uint32_t index = task->able.first;
    if (!index)
        return 0;
    task->able.first = task_run_at(mpi, index)->next;
    if (!task->able.first)
        task->able.last = 0;
    return index;
}

void task_run_completed(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    struct task_collective_run *run = task_run_at(mpi, index);
    run->outstanding--;
    if (task_collective_blocked(run))
        return;
    if (index == task->collective) {
        task_ready(mpi, task);
    } else if (!run->able) {
        task_run_push(mpi, task, index, false);
        if (__builtin_expect(mpi->waits, 0))
            task_waits_run(mpi, task);
        if (!task->ready && (mpi->progress != TASK_PROGRESS_CALLS || !task_computes(task)))
            task_enqueue(mpi, task);
    }
}
