/* onesided.c - one-sided communication: what is done to another task's memory, by the adapters alone.
 *
 * PUT carries bytes into the target's memory, whose adapter answers DONE; GET asks for bytes, FETCH carries
 * some and asks for others, and ANSWER brings them. The target's processor has no part in it, whatever it is
 * doing. An operation is complete when DONE or ANSWER is there, at the target as well as here: completion
 * queues of adapters know no earlier state, so MPI_Win_flush_local is MPI_Win_flush, and requests end then.
 *
 * Epochs are counters of a window or of a target in it:
 *   fence      waits until no operation on the window is open; a barrier follows (the program's)
 *   post       POST to each task of its group; start waits for one from each task of its own
 *   complete   waits until no operation is open, then COMPLETE to each of them; wait waits for as many
 *   lock       LOCK to the target, whose adapter answers GRANT when it is the turn: in order of arrival,
 *              neighbouring shared ones together
 *   unlock     waits until no operation on the target is open, then UNLOCK, which nobody answers
 *   lock_all   costs nothing; the first operation on a target asks for a shared lock there, and what is for
 *              this target waits for it in `delayed`
 *
 * An accumulate is software at the target: by mpi.progress it waits until that is in a call of MPI, or its
 * thread does it. So do common libraries; what adapters do without it are put, get, the atomic operations of
 * one element, locks, and the flags of post and complete.
 * Invariant: window.open is the sum of target.open, of operations issued (delayed ones, too) and not
 * complete.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>

static struct task_window *op_window(struct task_state *task)
{
    return task_window_get(task, task->op.comm, task->op.tag);
}

static uint32_t op_peer(const struct task_mpi *mpi, const struct task_state *task)
{
    return (uint32_t)task_match_peer(mpi, task, task->op.comm, task->op.peer);
}

static struct task_target *op_target(const struct task_mpi *mpi, struct task_state *task)
{
    return task_target_get(task, task->op.comm, task->op.tag, op_peer(mpi, task));
}

/* ---- what is sent ---- */

static struct task_wire wire_of(const struct task_state *task, unsigned kind, int32_t comm, int32_t window,
                                uint32_t peer)
{
    return (struct task_wire){.kind = (uint8_t)kind,
                              .job = task->job,
                              .comm = comm,
                              .tag = window,
                              .source = task->task,
                              .destination = peer};
}

/* The bytes of FETCH's answer. */
static void back_put(struct task_wire *wire, uint64_t bytes)
{
    wire->sequence = (uint32_t)bytes;
    wire->receiver = (uint32_t)(bytes >> 32);
}

static uint64_t back_of(const struct task_wire *wire)
{
    return (uint64_t)wire->receiver << 32 | wire->sequence;
}

static void control(struct task_mpi *mpi, const struct task_state *task, ker_time now, unsigned kind,
                    const struct task_target *target, bool exclusive)
{
    struct task_wire wire = wire_of(task, kind, target->comm, target->window, target->peer);
    wire.flags = exclusive ? TASK_WIRE_EXCLUSIVE : 0;
    task_wire_send(mpi, task_node_of(mpi, task), now, &wire, wire.destination, 0);
}

static void operation_send(struct task_mpi *mpi, struct task_state *task, ker_time now,
                           const struct task_wire *wire)
{
    if (wire->kind != TASK_WIRE_GET) {
        task->messages_sent++;
        task->bytes_sent += wire->bytes;
    }
    task_wire_send(mpi, task_node_of(mpi, task), now, wire, wire->destination, 0);
}

static uint32_t request_make(struct task_mpi *mpi, struct task_state *task, uint32_t peer)
{
    const struct task_op *op = &task->op;
    struct task_request like = {.flags = TASK_REQUEST_NAMED | TASK_REQUEST_SEND,
                                .peer = (int32_t)peer,
                                .tag = op->tag,
                                .comm = op->comm,
                                .bytes = op->bytes,
                                .state = TASK_REQUEST_ACTIVE};
    return task_request_at(mpi, task_request_new(mpi, task, &like, op->request))->number;
}

static void operation(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    static const uint8_t kinds[] = {[0] = TASK_WIRE_PUT,
                                    [TASK_OP_GET - TASK_OP_PUT] = TASK_WIRE_GET,
                                    [TASK_OP_FETCH - TASK_OP_PUT] = TASK_WIRE_FETCH};
    const struct task_op *op = &task->op;
    if (op->peer == TASK_PROC_NULL) {
        task_request_drop(mpi, task, op->request ? task_request_find(mpi, task, op->request) : 0);
        return;
    }
    struct task_wire wire =
        wire_of(task, kinds[op->kind - TASK_OP_PUT], op->comm, op->tag, op_peer(mpi, task));
    wire.bytes = op->bytes;
    if (op->kind == TASK_OP_FETCH)
        back_put(&wire, op->bytes2);
    if (op->kind != TASK_OP_GET && op->mode & TASK_WINDOW_SOFTWARE)
        wire.flags = TASK_WIRE_SOFTWARE, wire.start = op->combine;
    if (op->request)
        wire.sender = request_make(mpi, task, wire.destination);
    struct task_window *window = op_window(task);
    struct task_target *target = op_target(mpi, task);
    window->open++;
    target->open++;
    if (window->all && target->lock == TASK_LOCK_NONE) {
        target->lock = TASK_LOCK_ASKED;
        control(mpi, task, now, TASK_WIRE_LOCK, target, false);
    }
    if (target->lock == TASK_LOCK_ASKED)
        task_message_push(mpi, TASK_QUEUE_LIST, &target->delayed, &wire);
    else
        operation_send(mpi, task, now, &wire);
}

/* ---- groups ---- */

static void post(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    op_window(task)->exposed += op->request_count;
    for (uint32_t i = 0; i < op->request_count && !(op->mode & TASK_WINDOW_UNCHECKED); i++) {
        struct task_target to = {.comm = op->comm, .window = op->tag, .peer = (uint32_t)op->requests[i]};
        control(mpi, task, now, TASK_WIRE_POST, &to, false);
    }
}

static void start(struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    for (uint32_t i = 0; i < op->request_count; i++) {
        uint32_t peer = (uint32_t)op->requests[i];
        struct task_wire complete = wire_of(task, TASK_WIRE_COMPLETE, op->comm, op->tag, peer);
        task_message_push(mpi, TASK_QUEUE_LIST, &op_window(task)->starters, &complete);
        struct task_target *target = task_target_get(task, op->comm, op->tag, peer);
        if (op->mode & TASK_WINDOW_UNCHECKED)
            continue;
        if (target->posts) {
            target->posts--;
        } else {
            target->awaited = true;
            op_window(task)->missing++;
        }
    }
}

static void complete(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    struct task_wire wire;
    while (task_message_pop(mpi, &op_window(task)->starters, &wire))
        task_wire_send(mpi, task_node_of(mpi, task), now, &wire, wire.destination, 0);
}

/* ---- locks ---- */

static void lock(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    struct task_target *target = op_target(mpi, task);
    bool unchecked = task->op.mode & TASK_WINDOW_UNCHECKED;
    target->exclusive = task->op.mode & TASK_WINDOW_EXCLUSIVE;
    target->lock = unchecked ? TASK_LOCK_UNCHECKED : TASK_LOCK_ASKED;
    if (!unchecked)
        control(mpi, task, now, TASK_WIRE_LOCK, target, target->exclusive);
}

static void unlock(struct task_mpi *mpi, struct task_state *task, ker_time now, struct task_target *target)
{
    if (target->lock == TASK_LOCK_HELD)
        control(mpi, task, now, TASK_WIRE_UNLOCK, target, target->exclusive);
    target->lock = TASK_LOCK_NONE;
    target->exclusive = false;
}

static void unlock_all(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    struct task_window *window = op_window(task);
    void **targets = window->all ? task_targets_sorted(task->onesided) : NULL;
    for (uint32_t i = 0; targets && i < task->onesided->targets.count; i++) {
        struct task_target *target = targets[i];
        if (target->comm == op->comm && target->window == op->tag)
            unlock(mpi, task, now, target);
    }
    free(targets);
    window->all = false;
}

/* Whoever waits first, and all that may hold it beside. */
static void locks_grant(struct task_mpi *mpi, struct task_state *task, ker_time now,
                        struct task_window *window)
{
    while (window->locks.count && !window->exclusive) {
        struct task_wire wire = task_message_at(mpi, window->locks.first)->wire;
        bool exclusive = wire.flags & TASK_WIRE_EXCLUSIVE;
        if (exclusive && window->shared)
            return;
        task_message_pop(mpi, &window->locks, &wire);
        window->exclusive = exclusive;
        window->shared += !exclusive;
        wire.kind = TASK_WIRE_GRANT;
        task_wire_send(mpi, task_node_of(mpi, task), now, &wire, wire.source, 0);
    }
}

/* ---- the end of a window ---- */

static bool target_stays(const void *context, const void *entry)
{
    const struct task_op *op = context;
    const struct task_target *t = entry;
    return t->comm != op->comm || t->window != op->tag || t->posts || t->open || t->lock != TASK_LOCK_NONE;
}

/* An UNLOCK may still be in progress; numbers of windows are not used again. */
static void window_free(struct task_state *task)
{
    struct task_window *w = op_window(task);
    if (!w->shared && !w->exclusive && !w->locks.count && !w->open)
        ker_table_drop(&task_window_kind, &task->onesided->windows, w);
    ker_table_keep(&task_target_kind, &task->onesided->targets, target_stays, &task->op);
}

/* ---- a call begins, waits, and ends ---- */

bool task_onesided_settled(const struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    if (op->peer == TASK_PROC_NULL)
        return true;
    switch (op->kind) {
    case TASK_OP_WIN_LOCK:
        return op_target(mpi, task)->lock != TASK_LOCK_ASKED;
    case TASK_OP_WIN_UNLOCK:
    case TASK_OP_WIN_FLUSH:
        return op_target(mpi, task)->open == 0;
    case TASK_OP_WIN_UNLOCK_ALL:
    case TASK_OP_WIN_FLUSH_ALL:
    case TASK_OP_WIN_COMPLETE:
        return op_window(task)->open == 0;
    case TASK_OP_WIN_START:
        return op_window(task)->missing == 0;
    case TASK_OP_WIN_WAIT:
        return op_window(task)->completed >= op_window(task)->exposed;
    default:
        return true;
    }
}

void task_onesided_end(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    if (op->peer == TASK_PROC_NULL)
        return;
    switch (op->kind) {
    case TASK_OP_WIN_UNLOCK:
        unlock(mpi, task, now, op_target(mpi, task));
        break;
    case TASK_OP_WIN_UNLOCK_ALL:
        unlock_all(mpi, task, now);
        break;
    case TASK_OP_WIN_COMPLETE:
        complete(mpi, task, now);
        break;
    case TASK_OP_WIN_WAIT:
        op_window(task)->exposed = op_window(task)->completed = 0;
        break;
    default:
        break;
    }
}

ker_time task_onesided_overhead(const struct task_mpi *mpi, struct task_state *task)
{
    const struct task_op *op = &task->op;
    ker_time sum = 0;
    if (op->peer == TASK_PROC_NULL)
        return 0;
    if (op->kind <= TASK_OP_FETCH || op->kind == TASK_OP_WIN_LOCK || op->kind == TASK_OP_WIN_UNLOCK)
        return task_endpoint_alone(mpi, task, op_peer(mpi, task),
                                   op->kind == TASK_OP_PUT || op->kind == TASK_OP_FETCH ? op->bytes : 0);
    if (op->kind == TASK_OP_WIN_POST && !(op->mode & TASK_WINDOW_UNCHECKED))
        for (uint32_t i = 0; i < op->request_count; i++)
            sum += task_endpoint_alone(mpi, task, (uint32_t)op->requests[i], 0);
    if (op->kind == TASK_OP_WIN_COMPLETE)
        for (uint32_t i = op_window(task)->starters.first; i; i = task_message_at(mpi, i)->next)
            sum += task_endpoint_alone(mpi, task, task_message_at(mpi, i)->wire.destination, 0);
    return sum;
}

bool task_onesided_begin(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    switch (op->kind) {
    case TASK_OP_PUT:
    case TASK_OP_GET:
    case TASK_OP_FETCH:
        operation(mpi, task, now);
        return true;
    case TASK_OP_WIN_LOCK:
        if (op->peer != TASK_PROC_NULL)
            lock(mpi, task, now);
        break;
    case TASK_OP_WIN_LOCK_ALL:
        op_window(task)->all = !(op->mode & TASK_WINDOW_UNCHECKED);
        break;
    case TASK_OP_WIN_POST:
        post(mpi, task, now);
        break;
    case TASK_OP_WIN_START:
        start(mpi, task);
        break;
    case TASK_OP_WIN_FREE:
        window_free(task);
        break;
    default:
        break;
    }
    if (!task_onesided_settled(mpi, task))
        return false;
    task_onesided_end(mpi, task, now);
    return true;
}

/* ---- what arrives ---- */

/* Something has changed for the task that this message is of. */
static void settle(struct task_mpi *mpi, struct task_state *task)
{
    uint32_t current = task_stream_current(task);
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        task_stream_select(task, i);
        if (task->stage == TASK_STAGE_BLOCKED && task_op_onesided(&task->op) &&
            task_onesided_settled(mpi, task))
            task_ready(mpi, task);
    }
    task_stream_select(task, current);
}

static void completed(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    task_window_get(task, wire->comm, wire->tag)->open--;
    task_target_get(task, wire->comm, wire->tag, wire->destination)->open--;
    if (wire->sender)
        task_request_complete(mpi, task, task_request_numbered(task, wire->sender));
    settle(mpi, task);
}

static void received(struct task_state *task, uint64_t bytes)
{
    task->messages_received++;
    task->bytes_received += bytes;
}

/* An accumulate at the target: what is combined takes its processor, one after the other; the task pays with
 * whatever it does next. Returns when it is done, from now on. */
static ker_time combine(struct task_mpi *mpi, struct task_state *task, ker_time now,
                        const struct task_wire *wire)
{
    struct task_onesided *own = task_onesided_get(task);
    uint64_t rate = task_combine_rate(mpi, (uint8_t)wire->start, wire->bytes);
    ker_time time = rate ? task_work_moves(mpi, task, wire->bytes, rate, TASK_MOVES_COMBINE) : 0;
    own->combines = (own->combines > now ? own->combines : now) + time;
    task_owe(task, time);
    return own->combines - now;
}

/* At the target. */
static void operation_arrived(struct task_mpi *mpi, struct task_state *task, ker_time now,
                              const struct task_wire *wire)
{
    struct task_wire answer = *wire;
    ker_time delay = 0;
    if (wire->kind != TASK_WIRE_GET)
        received(task, wire->bytes);
    if (mpi->combine.count && wire->flags & TASK_WIRE_SOFTWARE && wire->bytes)
        delay = combine(mpi, task, now, wire);
    answer.kind = wire->kind == TASK_WIRE_PUT ? TASK_WIRE_DONE : TASK_WIRE_ANSWER;
    if (wire->kind == TASK_WIRE_FETCH)
        answer.bytes = back_of(wire);
    if (answer.kind == TASK_WIRE_ANSWER) {
        task->messages_sent++;
        task->bytes_sent += answer.bytes;
    }
    task_wire_send_late(mpi, task_node_of(mpi, task), now, &answer, wire->source, 0, delay);
}

static void granted(struct task_mpi *mpi, struct task_state *task, ker_time now, const struct task_wire *wire)
{
    struct task_wire one;
    struct task_target *target = task_target_get(task, wire->comm, wire->tag, wire->destination);
    target->lock = TASK_LOCK_HELD;
    while (task_message_pop(mpi, &target->delayed, &one))
        operation_send(mpi, task, now, &one);
    settle(mpi, task);
}

/* A lock of this task's memory is asked for, or given back. */
static void lock_arrived(struct task_mpi *mpi, struct task_state *task, ker_time now,
                         const struct task_wire *wire)
{
    struct task_window *window = task_window_get(task, wire->comm, wire->tag);
    if (wire->kind == TASK_WIRE_LOCK) {
        task_message_push(mpi, TASK_QUEUE_LIST, &window->locks, wire);
        if (window->locks.count > 1)
            return; /* who waits longer comes first, and waits still */
    } else if (wire->flags & TASK_WIRE_EXCLUSIVE) {
        window->exclusive = false;
    } else {
        window->shared--;
    }
    locks_grant(mpi, task, now, window);
}

static void posted(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    struct task_target *target = task_target_get(task, wire->comm, wire->tag, wire->source);
    if (!target->awaited) {
        target->posts++;
        return;
    }
    target->awaited = false;
    task_window_get(task, wire->comm, wire->tag)->missing--;
    settle(mpi, task);
}

/* For the target's processor, which computes. */
static bool onesided_defers(struct task_mpi *mpi, struct task_state *task, ker_time now,
                            const struct task_wire *wire)
{
    if (mpi->progress == TASK_PROGRESS_ADAPTER || !task_all_compute(task))
        return false;
    if (mpi->progress == TASK_PROGRESS_THREAD) {
        task_act(mpi, task, now);
        return false;
    }
    task_message_push(mpi, TASK_QUEUE_LIST, &task_queues(task)->deferred, wire);
    return true;
}

void task_onesided_arrived(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                           const struct task_wire *wire)
{
    bool answers =
        wire->kind == TASK_WIRE_DONE || wire->kind == TASK_WIRE_ANSWER || wire->kind == TASK_WIRE_GRANT;
    struct task_state *task = task_on_node(mpi, node, wire->job, answers ? wire->source : wire->destination);
    if (wire->flags & TASK_WIRE_SOFTWARE && !answers && onesided_defers(mpi, task, now, wire))
        return;
    switch (wire->kind) {
    case TASK_WIRE_PUT:
    case TASK_WIRE_GET:
    case TASK_WIRE_FETCH:
        operation_arrived(mpi, task, now, wire);
        break;
    case TASK_WIRE_ANSWER:
        received(task, wire->bytes);
        completed(mpi, task, wire);
        break;
    case TASK_WIRE_DONE:
        completed(mpi, task, wire);
        break;
    case TASK_WIRE_LOCK:
    case TASK_WIRE_UNLOCK:
        lock_arrived(mpi, task, now, wire);
        break;
    case TASK_WIRE_GRANT:
        granted(mpi, task, now, wire);
        break;
    case TASK_WIRE_POST:
        posted(mpi, task, wire);
        break;
    case TASK_WIRE_COMPLETE:
        task_window_get(task, wire->comm, wire->tag)->completed++;
        settle(mpi, task);
        break;
    default:
        ker_assert(!"a message of a kind the MPI model knows");
    }
}

void task_onesided_enter(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    struct task_wire wire;
    while (task->queues && task_message_pop(mpi, &task->queues->deferred, &wire))
        if (wire.kind >= TASK_WIRE_PUT)
            task_onesided_arrived(mpi, task_node_of(mpi, task), now, &wire);
        else
            task_protocol_deferred(mpi, task, now, &wire);
}
