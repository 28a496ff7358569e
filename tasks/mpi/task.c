/* task.c - a task executes its program, op by op.
 *
 * One loop: pay the processor time owed (a timer), fetch an op, pay its overhead, do it, block if it must
 * wait. Computation and overheads are added to task.debt and paid in one go, so ops that cost nothing run on
 * within the instant without events. Time blocked counts as wait (in a blocking send: send_wait), time owed
 * for computation as compute. Invariant: at most one of busy (a timer runs) and blocked (a completion is
 * awaited) holds; neither when the task runs.
 */
#include "tasks/mpi/state.h"

/* -- point to point -- */

/* What the op asks for. */
static inline struct task_request request_like(const struct task_mpi *mpi, const struct task_state *task,
                                               unsigned flags, int32_t peer, int32_t tag, uint64_t bytes)
{
    const struct task_op *op = &task->op;
    return (struct task_request){.flags = (uint8_t)flags,
                                 .peer = task_match_peer(mpi, task, op->comm, peer),
                                 .tag = tag,
                                 .comm = task_match_context(mpi, task, op->comm),
                                 .bytes = bytes,
                                 .mode = op->mode & 3,
                                 .finds = !(flags & TASK_REQUEST_SEND) && op->mode == TASK_RECEIVE_FINDS};
}

static uint32_t task_request_make(struct task_mpi *mpi, struct task_state *task, unsigned flags, int32_t peer,
                                  int32_t tag, uint64_t bytes)
{
    const struct task_op *op = &task->op;
    /* MPI_PROC_NULL needs no request, but its name must not find an older one. */
    if (peer == TASK_PROC_NULL && !(flags & TASK_REQUEST_PERSISTENT)) {
        if (flags & TASK_REQUEST_NAMED)
            task_request_drop(mpi, task, task_request_find(mpi, task, op->request));
        return 0;
    }
    struct task_request like = request_like(mpi, task, flags, peer, tag, bytes);
    return task_request_new(mpi, task, &like, op->request);
}

static uint32_t task_request_begin(struct task_mpi *mpi, struct task_state *task, ker_time now,
                                   unsigned flags, int32_t peer, int32_t tag, uint64_t bytes)
{
    uint32_t index = task_request_make(mpi, task, flags, peer, tag, bytes);
    if (index)
        task_protocol_start(mpi, task, now, index);
    return index;
}

/* Of a graph: its program is notified that the request is complete, and waits for a receive then. */
static void issue_notified(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    bool sends = op->kind == TASK_OP_GRAPH_SEND;
    unsigned flags = sends ? TASK_REQUEST_DETACHED | TASK_REQUEST_SEND : TASK_REQUEST_NAMED;
    uint32_t index = task_request_make(mpi, task, flags, op->peer, op->tag, op->bytes);
    struct task_request *r = task_request_at(mpi, index);
    r->name = (uint32_t)op->request; /* operations of a graph have 32 bits */
    if (sends)
        r->rail = op->rail;
    mpi->rails |= op->rail != 0;
    if (task->streams)
        task_stream_await(task, r);
    r->flags |= TASK_REQUEST_AWAITED;
    task_protocol_start(mpi, task, now, index);
}

/* The receive is posted first, as in MPI libraries: it may take the message of the send when that goes to the
 * task itself. */
static bool issue_sendrecv(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    uint32_t receive = task_request_begin(mpi, task, now, 0, op->peer2, op->tag2, op->bytes2);
    uint32_t send = task_request_begin(mpi, task, now, TASK_REQUEST_SEND, op->peer, op->tag, op->bytes);
    bool received = task_wait_one(mpi, task, receive), sent = task_wait_one(mpi, task, send);
    return received && sent;
}

/* A message that a probe has found, and taken from the queue. */
static bool issue_matched(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    bool named = op->kind == TASK_OP_IMRECV;
    struct task_wire wire;
    if (!task_match_held(mpi, task, op->message, &wire)) {
        if (named)
            task_request_drop(mpi, task, task_request_find(mpi, task, op->request));
        return true;
    }
    struct task_request like = {.flags = named ? TASK_REQUEST_NAMED : 0,
                                .peer = (int32_t)wire.source,
                                .tag = wire.tag,
                                .comm = wire.comm,
                                .bytes = op->bytes,
                                .state = TASK_REQUEST_ACTIVE};
    uint32_t index = task_request_new(mpi, task, &like, op->request);
    task_protocol_copied(mpi, task, &wire);
    task_protocol_matched(mpi, task, now, index, &wire);
    return named || task_wait_one(mpi, task, index);
}

static void start_named(struct task_mpi *mpi, struct task_state *task, ker_time now, uint64_t name)
{
    uint32_t index = task_request_find(mpi, task, name);
    if (!index || task_request_at(mpi, index)->state != TASK_REQUEST_INACTIVE)
        return;
    if (task_request_at(mpi, index)->peer == TASK_PEER_RUN)
        task_collective_begin(mpi, task, index);
    else if (task_request_partitioned(task_request_at(mpi, index)))
        task_partitioned_start(mpi, task, now, index);
    else
        task_protocol_start(mpi, task, now, index);
}

static void issue_cancel(struct task_mpi *mpi, struct task_state *task)
{
    uint32_t index = task_request_find(mpi, task, task->op.request);
    struct task_request *r = index ? task_request_at(mpi, index) : NULL;
    if (!r || (r->flags & TASK_REQUEST_SEND) || r->state != TASK_REQUEST_ACTIVE || r->peer == TASK_PEER_RUN ||
        task_request_partitioned(r))
        return; /* sends are completed, not cancelled: MPI leaves that open */
    if (task_match_cancel(mpi, task, index)) {
        r->flags |= TASK_REQUEST_CANCELLED;
        task_request_complete(mpi, task, index);
    }
}

/* A send or receive that its call waits for. */
static inline bool issue_waiting(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    bool sends = op->kind == TASK_OP_SEND;
    if (op->peer == TASK_PROC_NULL)
        return true;
    if (sends && task_protocol_plain(mpi, task))
        return task_protocol_send(mpi, task, now);
    struct task_request like =
        request_like(mpi, task, sends ? TASK_REQUEST_SEND : 0, op->peer, op->tag, op->bytes);
    return sends ? task_protocol_wait(mpi, task, now, &like) : task_protocol_receive(mpi, task, now, &like);
}

static bool issue_point_to_point(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    const unsigned named = TASK_REQUEST_NAMED, send = TASK_REQUEST_SEND, persistent = TASK_REQUEST_PERSISTENT;
    switch (op->kind) {
    case TASK_OP_ISEND:
        task_request_begin(mpi, task, now, named | send, op->peer, op->tag, op->bytes);
        return true;
    case TASK_OP_IRECV:
        task_request_begin(mpi, task, now, named, op->peer, op->tag, op->bytes);
        return true;
    case TASK_OP_GRAPH_SEND:
    case TASK_OP_GRAPH_RECV:
        issue_notified(mpi, task, now);
        return true;
    case TASK_OP_SEND_INIT:
        task_request_make(mpi, task, named | persistent | send, op->peer, op->tag, op->bytes);
        return true;
    case TASK_OP_RECV_INIT:
        task_request_make(mpi, task, named | persistent, op->peer, op->tag, op->bytes);
        return true;
    default:
        return issue_sendrecv(mpi, task, now);
    }
}

static bool issue_probe(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    mpi->looked_at = 0; /* when it does not search at all */
    bool goes_on = task_probe_begin(mpi, task);
    task_match_searched(mpi, task, now);
    return goes_on;
}

/* What is done to requests, and does not wait. */
static void issue_named(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    switch (op->kind) {
    case TASK_OP_START:
        start_named(mpi, task, now, op->request);
        break;
    case TASK_OP_STARTALL:
        for (uint32_t i = 0; i < op->request_count; i++)
            start_named(mpi, task, now, op->requests[i]);
        break;
    case TASK_OP_REQUEST_FREE:
        task_request_drop(mpi, task, task_request_find(mpi, task, op->request));
        break;
    case TASK_OP_CANCEL:
        issue_cancel(mpi, task);
        break;
    case TASK_OP_PSEND_INIT:
    case TASK_OP_PRECV_INIT:
        task_partitioned_init(mpi, task, now);
        break;
    case TASK_OP_PREADY:
        task_partitioned_ready(mpi, task, now);
        break;
    default:
        task_request_generalised(mpi, task);
    }
}

/* What streams wait for by themselves. */
static bool issue_stream(struct task_mpi *mpi, struct task_state *task)
{
    if (task->op.kind == TASK_OP_AFTER)
        return task_after_begin(task);
    return task_graph_ready(mpi, task);
}

/* Does the op; false: the task must wait. */
static bool task_issue(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    if (op->kind == TASK_OP_SEND || op->kind == TASK_OP_RECV) /* most are */
        return issue_waiting(mpi, task, now);
    if (op->kind >= TASK_OP_SEND && op->kind <= TASK_OP_RECV_INIT)
        return issue_point_to_point(mpi, task, now);
    switch (op->kind) {
    case TASK_OP_COMPUTE:
    case TASK_OP_POLL:
    case TASK_OP_TAKES:
    case TASK_OP_ABORT:
    case TASK_OP_END:
        return true;
    case TASK_OP_START:
    case TASK_OP_STARTALL:
    case TASK_OP_REQUEST_FREE:
    case TASK_OP_CANCEL:
    case TASK_OP_GREQUEST:
    case TASK_OP_GREQUEST_COMPLETE:
    case TASK_OP_PSEND_INIT:
    case TASK_OP_PRECV_INIT:
    case TASK_OP_PREADY:
        issue_named(mpi, task, now);
        return true;
    case TASK_OP_PARRIVED:
        return task_partitioned_asked(mpi, task);
    case TASK_OP_PROBE ... TASK_OP_MPROBE:
        return issue_probe(mpi, task, now);
    case TASK_OP_MRECV:
    case TASK_OP_IMRECV:
        return issue_matched(mpi, task, now);
    case TASK_OP_STATUS:
        return task_wait_status(mpi, task);
    case TASK_OP_FINALIZE:
        return task->open == 0;
    case TASK_OP_AFTER:
    case TASK_OP_GRAPH_IDLE:
        return issue_stream(mpi, task);
    case TASK_OP_CALL:
        return task_call_begin(mpi, task, now);
    case TASK_OP_ICOLLECTIVE:
    case TASK_OP_COLLECTIVE_INIT:
        task_collective_request(mpi, task, op->kind == TASK_OP_COLLECTIVE_INIT);
        return true;
    default:
        return task_op_onesided(op) ? task_onesided_begin(mpi, task, now) : task_wait_begin(mpi, task, now);
    }
}

/* -- the loop -- */

/* Processor time before the op, which is no computation, does anything. */
static inline void task_charge(struct task_mpi *mpi, struct task_state *task, const struct task_job *job,
                               ker_time now)
{
    const struct task_op *op = &task->op;
    if (__builtin_expect(op->kind == TASK_OP_TAKES, 0)) {
        ker_time own = task->calls ? task_calls_own(task, now) : 0,
                 time = node_compute(&mpi->model, op->time, task_processor_factor(job, task->task));
        task->debt += time > own ? time - own : 0;
    } else if (mpi->charges_sends) {
        task_charge_sends(mpi, task);
    }
}

void task_op_fetch(const struct task_job *job, struct task_state *task)
{
    task->fetched = true;
    if (job->class->next(job->program, task->own, &task->op)) {
        if (__builtin_expect(task->op.peer <= TASK_FOUND || task->op.peer2 <= TASK_FOUND, 0))
            task_source_name(job, task);
        return;
    }
    bool first = task_stream_current(task) == 0;
    task->op = (struct task_op){.kind = first ? TASK_OP_FINALIZE : TASK_OP_END,
                                .call = first ? "MPI_Finalize" : "the end of a thread"};
}

/* Behind any run's end at the latest. */
static ker_time pay_until(ker_time now, ker_time debt)
{
    const ker_time latest = 9000000 * KER_S;
    return debt < latest - now ? now + debt : latest;
}

/* Processor time of the op, a computation, which is done then. */
static inline void compute_begin(struct task_mpi *mpi, struct task_state *task, const struct task_job *job,
                                 ker_time now)
{
    ker_time time = __builtin_expect(job->special, 0)
                        ? task_charge_special(mpi, task, job)
                        : node_compute(&mpi->model, task->op.time, job->processor_factor);
    task->compute += time;
    task->debt += time;
    task->paid_until = pay_until(now, task->debt);
    bool asks = task->streams || mpi->outside.posted; /* which count, or ask for the processor once more */
    task->stage = asks ? TASK_STAGE_ISSUE : TASK_STAGE_NEXT;
}

/* Of tasks with a timeline or several streams, or that do more in calls. Apart, so that others need no room
 * for what it calls. */
static __attribute__((noinline)) void fetch_special(struct task_mpi *mpi, struct task_state *task,
                                                    ker_time now)
{
    if (task->line)
        task_line_next(mpi, task, now);
    if (task->streams) {
        task_after_begun(mpi, task);
        task_graph_wake(mpi, task);
    }
    if (mpi->progress == TASK_PROGRESS_CALLS && !task_computes(task))
        task_onesided_enter(mpi, task, now); /* what was deferred */
}

static void task_fetch(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_job *job = task_job_of(mpi, task);
    const bool special = task->special;
    if (__builtin_expect(special, 0) && job->timed)
        job->class->at(job->program, task->own, now);
    task_op_fetch(job, task);
    if (__builtin_expect(task->calls != NULL, 1))
        task_calls_next(task->calls, &task->op, now);
    if (__builtin_expect(special, 0))
        fetch_special(mpi, task, now);
    if (task->op.kind == TASK_OP_COMPUTE) {
        compute_begin(mpi, task, job, now);
    } else if (task->op.kind == TASK_OP_COLLECTIVE) {
        task_collective_start(mpi, task);
        task->stage = TASK_STAGE_COLLECTIVE;
    } else {
        task_charge(mpi, task, job, now);
        task->stage = TASK_STAGE_ISSUE;
    }
}

static void task_block(struct task_state *task, ker_time now)
{
    task->blocked = true;
    task->blocked_since = now;
}

/* The op is done. */
static inline void task_advance(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    task->stage = TASK_STAGE_NEXT;
    if (__builtin_expect(task->streams != NULL, 0))
        task_after_done(mpi, task);
    if (__builtin_expect(task->op.kind >= TASK_OP_FINALIZE, 0) && task->op.kind != TASK_OP_AFTER &&
        task->op.kind != TASK_OP_GRAPH_IDLE)
        task_end(mpi, task, now);
}

/* A call continues when the searches in the task's queues that have begun are over. */
static void search_wait(struct task_state *task, ker_time now)
{
    if (task->searching > now)
        task_owe(task, task->searching - now);
}

static inline __attribute__((always_inline)) void task_unblock(struct task_mpi *mpi, struct task_state *task,
                                                               ker_time now)
{
    if (!task->blocked)
        return;
    task->blocked = false;
    ker_time time = task_waited(task, now);
    if (__builtin_expect(task->calls != NULL, 0))
        task_calls_wait(task, time);
    if (__builtin_expect(task->line, 0))
        task_line_wait(mpi, task, task->blocked_since, now);
    if (__builtin_expect(mpi->waits, 0))
        task_waits_add(mpi, task, now - time, now);
    if (task->op.kind == TASK_OP_SEND)
        task->send_wait += time;
    else
        task->wait += time;
    search_wait(task, now);
}

/* false: it continues at once. */
static bool task_pay(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    ker_time debt = task->debt, until = pay_until(now, debt);
    task->debt = 0;
    if (__builtin_expect(mpi->outside.work != NULL, 0))
        return task_work(mpi, task, now, until - now);
    if (__builtin_expect(mpi->path != NULL, 0))
        task_path_busy(mpi, task, now, until);
    task_sleep(mpi, task, until);
    return true;
}

/* Does it wait, in its call, for something that has not come? */
static inline bool task_waits(const struct task_mpi *mpi, struct task_state *task)
{
    if (task->stage == TASK_STAGE_COLLECTIVE)
        return task_collective_blocked(task_run_at(mpi, task->collective));
    if (task->op.kind < TASK_OP_PUT) /* most are */
        return task->pending > 0;
    if (task_op_onesided(&task->op))
        return !task_onesided_settled(mpi, task);
    if (__builtin_expect(task->op.kind >= TASK_OP_AFTER, 0))
        return task->op.kind == TASK_OP_AFTER ? !task_after_reached(task) : !task_graph_ready(mpi, task);
    return task->op.kind == TASK_OP_FINALIZE ? task->open > 0 : task->pending > 0;
}

/* Collectives that it does not wait for continue, if they need no call of MPI, or the task is in one. */
static void task_progress(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    bool adapter = mpi->progress == TASK_PROGRESS_ADAPTER || task->stage == TASK_STAGE_DONE;
    if (!adapter && task_computes(task)) {
        if (mpi->progress == TASK_PROGRESS_CALLS)
            return;
        task_act(mpi, task, now);
        task_collective_progress(mpi, task, now, false);
    } else if (adapter || !task->busy) {
        task_collective_progress(mpi, task, now, !adapter);
    }
}

/* Of an op that is none of messages; false: it waits on. */
static __attribute__((noinline)) bool wait_end(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    if (task->op.kind <= TASK_OP_TESTSOME)
        task_wait_end(mpi, task);
    else if (task->op.kind == TASK_OP_AFTER)
        task_after_end(task);
    else if (task_op_onesided(&task->op))
        task_onesided_end(mpi, task, now);
    return task->op.kind != TASK_OP_MPROBE || task_probe_end(mpi, task);
}

/* It was blocked in its op, and has been woken; false: it is blocked further. */
static inline bool blocked_end(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    bool ends = !task_waits(mpi, task) && (task->op.kind < TASK_OP_WAIT || wait_end(mpi, task, now));
    if (ends)
        task_advance(mpi, task, now);
    else
        task_block(task, now);
    return ends;
}

/* It is woken for collectives that it does not wait for, too. False: it has nothing else to do. */
static inline __attribute__((always_inline)) bool task_wake(struct task_mpi *mpi, struct task_state *task,
                                                            ker_time now)
{
    if (task->able.first)
        task_progress(mpi, task, now);
    bool pays = task->debt && mpi->progress != TASK_PROGRESS_ADAPTER; /* while it waits */
    if (task->busy || task->ready || (task->blocked && !pays && task_waits(mpi, task)))
        return false;
    task_unblock(mpi, task, now);
    return true;
}

/* Fetches an op. True: it is to be done at once. */
static inline bool task_next(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    if (__builtin_expect(task->searching > now, 0) && task->op.kind != TASK_OP_COMPUTE) {
        search_wait(task, now);
        return false;
    }
    task_fetch(mpi, task, now);
    return task->stage == TASK_STAGE_ISSUE && !task->debt && !task->able.first;
}

void task_run(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    bool sends = false; /* it asks for its processor before it continues, even for no time */
    task_outside_touch(mpi->latest, now);
    if (!task_wake(mpi, task, now))
        return;
    while (task->stage != TASK_STAGE_DONE) {
        if ((task->debt || sends) && task_pay(mpi, task, now))
            return;
        sends = false;
        if (task->able.first) {
            task_progress(mpi, task, now);
            if (task->debt)
                continue;
        }
        if (task->stage <= TASK_STAGE_ISSUE) {
            if (task->stage == TASK_STAGE_NEXT && !task_next(mpi, task, now))
                continue;
            if (!task_issue(mpi, task, now)) {
                task->stage = TASK_STAGE_BLOCKED;
                task_block(task, now);
                return;
            }
            sends = mpi->outside.posted != NULL;
            task_advance(mpi, task, now);
        } else if (task->stage == TASK_STAGE_BLOCKED) {
            if (!blocked_end(mpi, task, now))
                return;
        } else {
            enum task_collective_next next = task_collective_run(mpi, task, now);
            if (next == TASK_COLLECTIVE_BLOCKED) {
                task_block(task, now);
                return;
            }
            sends = mpi->outside.posted != NULL;
            if (next == TASK_COLLECTIVE_DONE)
                task_advance(mpi, task, now);
        }
    }
}

/* The loop is once, so that what it calls is part of it. */
void task_run_asking(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    if (!task_wake(mpi, task, now)) {
        task_outside_touch(mpi->latest, now);
        return;
    }
    if (task->stage == TASK_STAGE_DONE || !task_pay(mpi, task, now))
        task_run(mpi, task, now);
    else
        task_outside_touch(mpi->latest, now);
}
