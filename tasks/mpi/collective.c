/* collective.c - executing a collective's schedule, round by round.
 *
 * Each round posts its receive, pays the send overhead, makes its send, and waits if it carries a fence.
 * Rounds without a fence continue as long as fewer than TASK_COLL_WINDOW messages are outstanding, so that
 * linear schedules on 100,000 tasks need constant memory. The messages are ordinary requests in the
 * communicator's collective context, marked with the number of the call on this communicator, which all its
 * tasks count alike, whether it blocks or not; MPI_Bcast_init counts as a call, and its starts are counted,
 * too. Invariant: outstanding = requests of this run that are not complete.
 *
 * What a task does by itself, combining what it has received and copying in its own memory, takes its
 * processor where mpi.reduce_rate and mpi.copies say so: before the round's send, and behind its fence.
 *
 * By mpi.progress a call that does not block continues by itself, without processor time; or when its task is
 * in a call of MPI, and pays as for one that blocks; or by a thread that takes this time from the task's
 * computation.
 */
#include "tasks/mpi/state.h"

/* ---- making runs ---- */

/* Size of the op's communicator, own rank in it, number of this call on it. Both groups of an
 * intercommunicator are one, by the number of the first. */
static void collective_member(struct task_mpi *mpi, struct task_state *task, struct task_collective_run *run)
{
    const struct task_job *job = task_job_of(mpi, task);
    int32_t count, comm = task->op.comm;
    const struct task_comm *comms = job->class->comms(job->program, &count);
    ker_assert(comm >= 0 && comm < count);
    int32_t remote = comms[comm].remote, first = remote && remote < comm ? remote : comm,
            before = first < comm ? comms[first].size : 0; /* tasks of the group before */
    struct task_peer *entry = task_peer_get(task, TASK_PEER_COMM | (uint32_t)first);
    if (entry->receives == 0)
        entry->receives = (uint32_t)(task_comm_rank(&comms[comm], (int32_t)task->task) + before + 1);
    ker_assert(entry->receives > (uint32_t)before); /* programs let only members call */
    run->view.size = comms[comm].size + (remote ? comms[remote].size : 0);
    run->view.first = remote ? comms[first].size : 0;
    run->view.rank = (int32_t)entry->receives - 1;
    run->call = entry->sends++;
    run->comm = first;
}

/* The view of the op's call, but for the task's place in the communicator. */
static uint32_t collective_view(struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    const struct task_job *job = task_job_of(mpi, task);
    uint32_t index = ker_chunks_take(&mpi->run);
    struct task_collective_run *run = task_run_at(mpi, index);
    run->view.root = op->peer;
    run->view.bytes = op->collective == TASK_COLL_BARRIER ? 0
                      : op->collective == TASK_COLL_COMM  ? 8
                                                          : op->bytes;
    run->view.bytes2 = op->bytes2;
    run->view.send_bytes = op->send_bytes;
    run->view.receive_bytes = op->receive_bytes;
    run->view.collective = op->collective;
    run->combine = op->combine;
    if (task_coll_among_neighbours(op->collective))
        run->view.neighbours = job->class->neighbours(job->program, task->own, op->comm);
    return index;
}

static uint32_t collective_new(struct task_mpi *mpi, struct task_state *task)
{
    uint32_t index = collective_view(mpi, task);
    struct task_collective_run *run = task_run_at(mpi, index);
    collective_member(mpi, task, run);
    task_run_choose(mpi, task, run);
    return index;
}

void task_collective_start(struct task_mpi *mpi, struct task_state *task)
{
    task->collective = collective_new(mpi, task);
}

void task_collective_restore(struct task_mpi *mpi, struct task_state *task)
{
    task->collective = collective_view(mpi, task);
}

void task_collective_request(struct task_mpi *mpi, struct task_state *task, bool persistent)
{
    struct task_request like = {.flags = TASK_REQUEST_NAMED | (persistent ? TASK_REQUEST_PERSISTENT : 0),
                                .peer = TASK_PEER_RUN,
                                .comm = task->op.comm,
                                .owns = collective_new(mpi, task)};
    uint32_t index = task_request_new(mpi, task, &like, task->op.request);
    struct task_request *r = task_request_at(mpi, index);
    struct task_collective_run *run = task_run_at(mpi, r->owns);
    run->request = r->number;
    task_run_keep(run);
    if (!persistent) {
        r->state = TASK_REQUEST_ACTIVE;
        task_run_push(mpi, task, r->owns, false);
    }
}

void task_collective_begin(struct task_mpi *mpi, struct task_state *task, uint32_t request)
{
    struct task_request *r = task_request_at(mpi, request);
    struct task_collective_run *run = task_run_at(mpi, r->owns);
    ker_assert(!run->able && run->outstanding == 0);
    r->state = TASK_REQUEST_ACTIVE;
    run->start++;
    run->round = 0;
    run->fence = run->ended = false;
    task_run_push(mpi, task, r->owns, false);
}

/* ---- executing them ---- */

static void collective_message(struct task_mpi *mpi, struct task_state *task, uint32_t index, ker_time now,
                               bool sends)
{
    struct task_collective_run *run = task_run_at(mpi, index);
    const struct task_coll_round *c = &run->current;
    int32_t rank = sends ? c->send_to : c->receive_from;
    struct task_request like = {.flags = TASK_REQUEST_COLLECTIVE | (sends ? TASK_REQUEST_SEND : 0),
                                .peer = task_run_peer(mpi, task, run, rank),
                                .tag = sends ? c->send_tag : c->receive_tag,
                                .comm = run->comm,
                                .bytes = sends ? c->send_bytes : c->receive_bytes,
                                .run = index};
    run->outstanding++;
    task_protocol_start(mpi, task, now, task_request_new(mpi, task, &like, 0));
}

/* With a task of the node through shared memory, which costs no processor time but waiting: a flag is a
 * message of no bytes of which nobody asks when it has left; what is read the task sends itself. */
static void collective_shared(struct task_mpi *mpi, struct task_state *task, uint32_t index, ker_time now)
{
    struct task_collective_run *run = task_run_at(mpi, index);
    const struct task_coll_round c = run->current;
    if (c.shared == TASK_COLL_ENTER) {
        task_analytic_enter(mpi, task, index, now);
        return;
    }
    uint32_t with = (uint32_t)task_run_peer(mpi, task, run, c.receive_tag);
    struct task_mpi_node *node = task_node_of(mpi, task);
    struct task_wire wire = {.kind = TASK_WIRE_EAGER,
                             .flags = TASK_WIRE_COLLECTIVE,
                             .job = task->job,
                             .source = task->task,
                             .destination = c.shared == TASK_COLL_READ ? task->task : with,
                             .comm = run->comm,
                             .tag = c.send_tag,
                             .sequence = run->call,
                             .start = run->start,
                             .bytes = c.receive_bytes};
    if (mpi->waits)
        task_cause_enter(mpi, index, &wire);
    if (c.shared == TASK_COLL_RAISE) {
        task->messages_sent++;
        task_wire_send(mpi, node, now, &wire, with, 0);
        return;
    }
    struct task_request like = {.flags = TASK_REQUEST_COLLECTIVE | TASK_REQUEST_SHARED,
                                .peer = (int32_t)(c.shared == TASK_COLL_READ ? task->task : with),
                                .tag = c.send_tag,
                                .comm = run->comm,
                                .bytes = c.receive_bytes,
                                .run = index};
    run->outstanding++;
    task_protocol_start(mpi, task, now, task_request_new(mpi, task, &like, 0));
    if (c.shared == TASK_COLL_READ)
        task_wire_read(mpi, node, now, &wire, with);
}

/* The vector that a reduction works on, of which each round has a part: that decides which memory it is in.
 */
static uint64_t vector_bytes(const struct task_coll_view *v)
{
    return v->bytes * (v->collective == TASK_COLL_REDUCE_SCATTER_BLOCK ? (uint64_t)v->size : 1);
}

/* The task owes for what of a round it does itself; false: nothing. By the adapter a call that does not block
 * continues meanwhile: the time is the task's, with whatever it does next. */
static bool round_charge(struct task_mpi *mpi, struct task_state *task, const struct task_collective_run *run,
                         uint64_t combined, uint64_t copied)
{
    uint64_t rate = combined ? task_combine_rate(mpi, run->combine, vector_bytes(&run->view)) : 0;
    if (rate)
        task_owe(task, task_work_moves(mpi, task, combined, rate, TASK_MOVES_COMBINE));
    if (mpi->copies_collectives && copied)
        task_owe(task, task_work_moves(mpi, task, copied, mpi->model.memory_rate, TASK_MOVES_COPY));
    return combined || copied;
}

/* Behind its fence, or, without, when its receive is posted: it continues while others are awaited. */
static bool round_finish(struct task_mpi *mpi, struct task_state *task, struct task_collective_run *run)
{
    struct task_coll_round *c = &run->current;
    uint64_t combined = c->receive_bytes * c->combines, copied = c->after;
    c->combines = 0;
    c->after = 0;
    return round_charge(mpi, task, run, combined, copied);
}

/* Fetches the next round and posts its receive. */
static void collective_round(struct task_mpi *mpi, struct task_state *task, uint32_t index, ker_time now)
{
    struct task_collective_run *run = task_run_at(mpi, index);
    if (run->round == 0)
        run->began = run->entered = now;
    if (!task_coll_round_of(run->algorithm, &run->view, run->round, &run->current)) {
        run->ended = run->fence = true;
        return;
    }
    if (__builtin_expect(mpi->local_work, 0))
        round_charge(mpi, task, run, 0,
                     run->current.before + (run->round == 0 && run->current.shared != TASK_COLL_ENTER
                                                ? task_coll_own_copy(&run->view)
                                                : 0));
    run->round++;
    if (run->current.receive_from != TASK_COLL_NOBODY)
        collective_message(mpi, task, index, now, false);
    run->sending = run->current.send_to != TASK_COLL_NOBODY;
    if (!run->sending) {
        run->fence = run->current.fence;
        if (run->current.shared)
            collective_shared(mpi, task, index, now);
    } else if (!run->request || mpi->progress != TASK_PROGRESS_ADAPTER) {
        task_owe(task, task_charge_message(mpi, task, task_run_peer(mpi, task, run, run->current.send_to),
                                           TASK_MODE_STANDARD, run->current.send_bytes));
    }
}

/* Where messages take its processor: the task that waits for the call continues when it has sent. */
static inline bool sends_first(const struct task_mpi *mpi, const struct task_state *task, uint32_t index)
{
    return __builtin_expect(mpi->outside.posted != NULL, 0) && index == task->collective;
}

static enum task_collective_next collective_go(struct task_mpi *mpi, struct task_state *task, uint32_t index,
                                               ker_time now, bool pays)
{
    struct task_collective_run *run = task_run_at(mpi, index);
    for (;;) {
        if (pays && task->debt)
            return TASK_COLLECTIVE_PAY;
        if (run->sending) {
            run->sending = false;
            collective_message(mpi, task, index, now, true);
            run->fence = run->current.fence;
            task->debt += run->owed;
            run->owed = 0;
            if (sends_first(mpi, task, index))
                return TASK_COLLECTIVE_PAY;
        } else if (task_collective_blocked(run)) {
            return TASK_COLLECTIVE_BLOCKED;
        } else if (__builtin_expect(mpi->local_work, 0) && round_finish(mpi, task, run)) {
            continue;
        } else if (run->ended) {
            return TASK_COLLECTIVE_DONE;
        } else {
            collective_round(mpi, task, index, now);
            if (sends_first(mpi, task, index) && !run->sending)
                return TASK_COLLECTIVE_PAY;
        }
    }
}

enum task_collective_next task_collective_run(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    enum task_collective_next next = collective_go(mpi, task, task->collective, now, true);
    if (next == TASK_COLLECTIVE_DONE) {
        if (__builtin_expect(mpi->waits, 0))
            task_waits_skew(mpi, task, task_run_at(mpi, task->collective));
        task_run_free(mpi, task->collective);
        task->collective = 0;
    }
    return next;
}

/* The request is complete; a persistent one may begin again. */
static void collective_end(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    struct task_collective_run *run = task_run_at(mpi, index);
    uint32_t request = task_request_numbered(task, run->request);
    struct task_request *r = task_request_at(mpi, request);
    if (!(r->flags & TASK_REQUEST_PERSISTENT)) {
        r->owns = 0;
        task_run_free(mpi, index);
    }
    task_request_complete(mpi, task, request);
}

static void runs_go(struct task_mpi *mpi, struct task_state *task, ker_time now, bool pays)
{
    uint32_t index;
    while ((index = task_run_pop(mpi, task)) != 0) {
        enum task_collective_next next = collective_go(mpi, task, index, now, pays);
        if (next == TASK_COLLECTIVE_PAY) {
            task_run_push(mpi, task, index, true);
            return;
        }
        task_run_at(mpi, index)->able = false;
        if (next == TASK_COLLECTIVE_DONE)
            collective_end(mpi, task, index);
    }
}

void task_collective_progress(struct task_mpi *mpi, struct task_state *task, ker_time now, bool pays)
{
    if (__builtin_expect(mpi->waits, 0))
        task_waits_run_on(mpi, task, now);
    runs_go(mpi, task, now, pays);
    if (__builtin_expect(mpi->waits, 0))
        task_cause_none(mpi);
}
