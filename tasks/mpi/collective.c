/* collective.c - executing a collective's schedule, round by round.
 *
 * Each round posts its receive, pays the send overhead, makes its send, and waits if it carries a fence.
 * Rounds without a fence go on as long as fewer than TASK_COLL_WINDOW messages are outstanding, so that
 * linear schedules on 100,000 tasks need constant memory. The messages are ordinary requests in the
 * communicator's collective context, marked with the number of the call on this communicator, which all its
 * tasks count alike. Invariant: outstanding = requests of this collective that are not complete.
 */
#include "tasks/mpi/state.h"

/* Size of the op's communicator, own rank in it, number of this call on it. */
static void collective_member(struct task_mpi *mpi, struct task_state *task, struct task_collective_run *run)
{
    const struct task_job *job = task_job_of(mpi, task);
    int32_t count, comm = task->op.comm;
    const struct task_comm *comms = job->class->comms(job->program, &count);
    ker_assert(comm >= 0 && comm < count);
    struct task_peer *entry = task_peer_get(task, TASK_PEER_COMM | (uint32_t)comm);
    if (entry->receives == 0)
        entry->receives = (uint32_t)(task_comm_rank(&comms[comm], (int32_t)task->task) + 1);
    ker_assert(entry->receives > 0); /* programs let only members call */
    run->view.size = comms[comm].size;
    run->view.rank = (int32_t)entry->receives - 1;
    run->call = entry->sends++;
}

void task_collective_start(struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    task->collective = ker_chunks_take(&mpi->run);
    struct task_collective_run *run = ker_chunks_at(&mpi->run, task->collective);
    collective_member(mpi, task, run);
    run->view.root = op->peer;
    run->view.bytes = op->collective == TASK_COLL_BARRIER ? 0
                      : op->collective == TASK_COLL_COMM  ? 8
                                                          : op->bytes;
    run->view.bytes2 = op->bytes2;
    run->view.send_bytes = op->send_bytes;
    run->view.receive_bytes = op->receive_bytes;
    run->view.collective = op->collective;
    run->algorithm = task_coll_choose(&mpi->collectives, &run->view);
}

static void collective_message(struct task_mpi *mpi, struct task_state *task, struct task_collective_run *run,
                               ker_time now, bool sends)
{
    const struct task_coll_round *c = &run->current;
    int32_t comm = task->op.comm, rank = sends ? c->send_to : c->receive_from;
    uint32_t index =
        task_request_new(mpi, task, TASK_REQUEST_COLLECTIVE | (sends ? TASK_REQUEST_SEND : 0), 0);
    struct task_request *r = task_request_at(mpi, index);
    r->peer = task_match_peer(mpi, task, comm, rank);
    r->tag = sends ? c->send_tag : c->receive_tag;
    r->comm = comm;
    r->bytes = sends ? c->send_bytes : c->receive_bytes;
    r->sequence = run->call;
    run->outstanding++;
    task_protocol_start(mpi, task, now, index);
}

/* Fetches the next round and posts its receive. */
static void collective_round(struct task_mpi *mpi, struct task_state *task, struct task_collective_run *run,
                             ker_time now)
{
    if (!task_coll_round_of(run->algorithm, &run->view, run->round, &run->current)) {
        run->ended = run->fence = true;
        return;
    }
    run->round++;
    if (run->current.receive_from != TASK_COLL_NOBODY)
        collective_message(mpi, task, run, now, false);
    run->sending = run->current.send_to != TASK_COLL_NOBODY;
    if (run->sending)
        task->debt += mpi->model.send_overhead;
    else
        run->fence = run->current.fence;
}

enum task_collective_next task_collective_run(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    struct task_collective_run *run = ker_chunks_at(&mpi->run, task->collective);
    for (;;) {
        if (task->debt)
            return TASK_COLLECTIVE_PAY;
        if (run->sending) {
            run->sending = false;
            collective_message(mpi, task, run, now, true);
            run->fence = run->current.fence;
        } else if (task_collective_blocked(run)) {
            return TASK_COLLECTIVE_BLOCKED;
        } else if (run->ended) {
            ker_chunks_give(&mpi->run, task->collective);
            task->collective = 0;
            return TASK_COLLECTIVE_DONE;
        } else {
            collective_round(mpi, task, run, now);
        }
    }
}
