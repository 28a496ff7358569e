/* protocol.c - how a message gets from one task to another.
 *
 * Eager, for messages up to mpi.eager_limit: the message is sent at once. The send is complete when its last
 * byte has left the adapter (mpi.eager_completion = "sent"), at once ("buffered"), or, above
 * mpi.inject_limit and to another node, when FIN comes ("delivered"), which the target's adapter sends when
 * all of it is there; a synchronous one when its ACK comes.
 *
 * Rendezvous, for larger ones, by mpi.rendezvous:
 *   read   RTS; when it is matched, READ; then DATA, which the sender's adapter serves outside the order of
 *          its send queue; when all is there, FIN, which completes the send.
 *   write  RTS; when it is matched, CTS; then DATA; the send is complete when that has left.
 *
 * RTS, READ, CTS, FIN and ACK are control messages: they carry no payload, and the adapter may send them
 * before others (adapter.control, mpi.control_priority). So an RTS may overtake an eager message that was
 * sent before it: the receiver matches the messages of two tasks by their numbers, whatever order they arrive
 * in (match.c). The node answers RTS, READ, CTS and DATA by itself, without processor time and whatever
 * the task is doing (an adapter with matching in hardware); by mpi.progress, all but READ wait until the task
 * is in a call of MPI, or its thread takes time for them. Between tasks of one node the same messages take
 * node_copy time instead of the network; what is in flight inside a node, or on the path to the adapter's
 * doorbell, is the node's (nodes/delay.c).
 */
#include "tasks/mpi/state.h"

static ker_time copied(const struct task_mpi *mpi, const struct task_state *task, uint64_t bytes)
{
    return task_work_moves(mpi, task, bytes, mpi->model.memory_rate, TASK_MOVES_COPY);
}

ker_time task_protocol_copies(const struct task_mpi *mpi, const struct task_state *task, unsigned mode,
                              uint64_t bytes)
{
    bool eager = mpi->eager_buffered && mode != TASK_MODE_SYNCHRONOUS && bytes <= mpi->eager_limit;
    if (!mpi->copies_buffered || (mode != TASK_MODE_BUFFERED && !eager))
        return 0;
    return copied(mpi, task, bytes);
}

void task_protocol_copied(struct task_mpi *mpi, struct task_state *task, const struct task_wire *wire)
{
    if (mpi->copies_unexpected && wire->kind == TASK_WIRE_EAGER)
        task_owe(task, copied(mpi, task, wire->bytes));
}

static struct task_wire wire_make(const struct task_state *task, const struct task_request *r)
{
    return (struct task_wire){
        .job = task->job,
        .comm = r->comm,
        .source = task->task,
        .destination = (uint32_t)r->peer,
        .tag = r->tag,
        .bytes = r->bytes,
        .sender = r->number,
        .flags = (uint8_t)((r->flags & TASK_REQUEST_COLLECTIVE ? TASK_WIRE_COLLECTIVE : 0) |
                           (r->mode == TASK_MODE_SYNCHRONOUS ? TASK_WIRE_SYNC : 0)),
    };
}

/* With mpi.overheads = "loggops"; an RTS is a message of one byte. */
static __attribute__((noinline)) void endpoint_send(struct task_mpi *mpi, struct task_state *task,
                                                    ker_time now, const struct task_request *r,
                                                    const struct task_wire *wire, uint64_t cookie)
{
    bool eager = wire->kind == TASK_WIRE_EAGER;
    if (eager && (!(r->flags & TASK_REQUEST_COLLECTIVE) || task_run_pays(mpi, task, r->run)))
        task_endpoint_sent(mpi, task, r->bytes);
    ker_time delay = task_endpoint_send(mpi, task, now, r->bytes, !eager);
    task_wire_send_late(mpi, task_node_of(mpi, task), now, wire, wire->destination, cookie, delay);
}

static bool waits_for_fin(const struct task_mpi *mpi, const struct task_state *task,
                          const struct task_wire *wire)
{
    return mpi->eager_delivered && wire->bytes > mpi->inject_limit &&
           mpi->outside.node(mpi->outside.jobs, wire->job, wire->destination) !=
               task_node_of(mpi, task)->node;
}

static void protocol_send(struct task_mpi *mpi, struct task_state *task, ker_time now,
                          const struct task_request *r, uint32_t request)
{
    struct task_wire wire = wire_make(task, r);
    if (wire.flags & TASK_WIRE_COLLECTIVE) {
        const struct task_collective_run *run = task_run_at(mpi, r->run);
        wire.sequence = run->call;
        wire.start = run->start;
        if (mpi->waits)
            task_cause_enter(mpi, r->run, &wire);
    } else {
        wire.sequence = task_peer_get(task, wire.destination + 1)->sends++;
    }
    wire.kind = r->bytes <= mpi->eager_limit ? TASK_WIRE_EAGER : TASK_WIRE_RTS;
    task->messages_sent++;
    task->bytes_sent += r->bytes;
    bool leaves = wire.kind == TASK_WIRE_EAGER && !(wire.flags & TASK_WIRE_SYNC);
    bool delivered = leaves && waits_for_fin(mpi, task, &wire);
    bool buffered = leaves && !delivered && (mpi->eager_buffered || mpi->eager_delivered);
    if (leaves && !buffered)
        task_request_open(mpi, task, request);
    if (delivered)
        wire.flags |= TASK_WIRE_DELIVERED;
    uint64_t cookie = leaves && !buffered && !delivered ? task_cookie(task, r->number) : 0;
    if (__builtin_expect(mpi->endpoints != NULL, 0))
        endpoint_send(mpi, task, now, r, &wire, cookie);
    else
        task_wire_send(mpi, task_node_of(mpi, task), now, &wire, wire.destination, cookie);
    if (buffered)
        task_request_complete(mpi, task, request);
}

static inline void received_count(struct task_mpi *mpi, struct task_state *task, ker_time now,
                                  const struct task_wire *wire)
{
    task->messages_received++;
    task->bytes_received += wire->bytes;
    if (__builtin_expect(task->line, 0))
        task_line_received(mpi, task, now, wire);
}

static void protocol_received(struct task_mpi *mpi, struct task_state *task, ker_time now, uint32_t request,
                              const struct task_wire *wire)
{
    received_count(mpi, task, now, wire);
    if (__builtin_expect(mpi->endpoints != NULL, 0))
        task_request_at(mpi, request)->bytes = wire->bytes; /* what it is charged for */
    task_request_complete(mpi, task, request);
}

/* What has no name is waited for by the call that made it, and nothing else is done meanwhile. */
static __attribute__((noinline)) void request_found(struct task_mpi *mpi, struct task_state *task,
                                                    uint32_t request, const struct task_wire *wire)
{
    struct task_request *r = task_request_at(mpi, request);
    r->peer = (int32_t)wire->source;
    if (!(r->flags & TASK_REQUEST_NAMED))
        task_source_add(task, r->peer);
}

void task_protocol_matched(struct task_mpi *mpi, struct task_state *task, ker_time now, uint32_t request,
                           const struct task_wire *wire)
{
    struct task_mpi_node *node = task_node_of(mpi, task);
    struct task_wire answer = *wire;
    ker_time delay = task->searching > now ? task->searching - now : 0;
    if (__builtin_expect(mpi->waits, 0))
        task_cause_matched(mpi, now, delay, request, wire, &answer);
    answer.receiver = task_request_at(mpi, request)->number;
    if (__builtin_expect(task_request_at(mpi, request)->finds, 0))
        request_found(mpi, task, request, wire);
    if (wire->kind == TASK_WIRE_RTS) {
        task_request_at(mpi, request)->state = TASK_REQUEST_MATCHED;
        task_request_open(mpi, task, request);
        answer.kind = mpi->rendezvous == TASK_RENDEZVOUS_READ ? TASK_WIRE_READ : TASK_WIRE_CTS;
        task_wire_send_late(mpi, node, now, &answer, wire->source, 0, delay);
        return;
    }
    if (wire->flags & TASK_WIRE_SYNC) {
        answer.kind = TASK_WIRE_ACK;
        task_wire_send_late(mpi, node, now, &answer, wire->source, 0, delay);
    }
    protocol_received(mpi, task, now, request, wire);
}

/* A buffered send ends for the program at once; a detached request carries the copy. */
static uint32_t request_buffer(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    const struct task_request *from = task_request_at(mpi, index);
    struct task_request like = {.flags = TASK_REQUEST_SEND | TASK_REQUEST_DETACHED,
                                .peer = from->peer,
                                .tag = from->tag,
                                .comm = from->comm,
                                .bytes = from->bytes,
                                .state = TASK_REQUEST_ACTIVE};
    return task_request_new(mpi, task, &like, 0);
}

/* A receive begins. True: its message had arrived. */
static bool receive_find(struct task_mpi *mpi, struct task_state *task, ker_time now,
                         const struct task_request *r, struct task_wire *wire)
{
    if (__builtin_expect(mpi->outside.posted != NULL, 0))
        mpi->outside.posted(task_node_of(mpi, task)->net, now);
    bool matched = task_match_find(mpi, task, r, wire);
    task_match_searched(mpi, task, now);
    if (matched && !(r->flags & TASK_REQUEST_COLLECTIVE && !task_run_pays(mpi, task, r->run)))
        task_protocol_copied(mpi, task, wire);
    return matched;
}

void task_protocol_start(struct task_mpi *mpi, struct task_state *task, ker_time now, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    r->state = TASK_REQUEST_ACTIVE;
    if (r->peer == TASK_PROC_NULL) {
        task_request_complete(mpi, task, index);
    } else if (!(r->flags & TASK_REQUEST_SEND)) {
        struct task_wire wire;
        if (receive_find(mpi, task, now, r, &wire))
            task_protocol_matched(mpi, task, now, index, &wire);
        else
            task_match_post(mpi, task, index);
    } else if (r->mode == TASK_MODE_BUFFERED) {
        uint32_t copy = request_buffer(mpi, task, index);
        protocol_send(mpi, task, now, task_request_at(mpi, copy), copy);
        task_request_complete(mpi, task, index);
    } else {
        protocol_send(mpi, task, now, r, index);
    }
}

/* ---- calls that wait for what they begin ---- */

bool task_protocol_wait(struct task_mpi *mpi, struct task_state *task, ker_time now,
                        const struct task_request *like)
{
    uint32_t index = task_request_new(mpi, task, like, 0);
    task_protocol_start(mpi, task, now, index);
    return task_wait_one(mpi, task, index);
}

bool task_protocol_send(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    uint32_t peer = (uint32_t)task_match_peer(mpi, task, op->comm, op->peer);
    struct task_wire wire = {
        .kind = TASK_WIRE_EAGER,
        .job = task->job,
        .comm = task_match_context(mpi, task, op->comm),
        .source = task->task,
        .destination = peer,
        .tag = op->tag,
        .bytes = op->bytes,
        .sequence = task_peer_get(task, peer + 1)->sends++,
    };
    task->messages_sent++;
    task->bytes_sent += op->bytes;
    task_wire_send(mpi, task_node_of(mpi, task), now, &wire, peer, task_cookie(task, 0));
    task->pending++;
    return false;
}

/* It has its message, or is to be posted. */
static __attribute__((noinline)) bool receive_and_wait(struct task_mpi *mpi, struct task_state *task,
                                                       ker_time now, const struct task_request *like,
                                                       const struct task_wire *wire)
{
    uint32_t index = task_request_new(mpi, task, like, 0);
    task_request_at(mpi, index)->state = TASK_REQUEST_ACTIVE;
    if (wire)
        task_protocol_matched(mpi, task, now, index, wire);
    else
        task_match_post(mpi, task, index);
    return task_wait_one(mpi, task, index);
}

bool task_protocol_receive(struct task_mpi *mpi, struct task_state *task, ker_time now,
                           const struct task_request *like)
{
    struct task_wire wire;
    if (!receive_find(mpi, task, now, like, &wire))
        return receive_and_wait(mpi, task, now, like, NULL);
    if (wire.kind != TASK_WIRE_EAGER || wire.flags & TASK_WIRE_SYNC || like->finds || mpi->waits ||
        mpi->endpoints)
        return receive_and_wait(mpi, task, now, like, &wire);
    received_count(mpi, task, now, &wire);
    if (mpi->model.receive_overhead || mpi->special_ends)
        task_request_charge(mpi, task, like);
    return true;
}

/* A message whose turn has come. */
static void protocol_take(struct task_mpi *mpi, struct task_state *task, ker_time now,
                          const struct task_wire *wire)
{
    uint32_t request = task_match_take(mpi, task, wire);
    task_match_searched(mpi, task, now);
    if (request && wire->kind == TASK_WIRE_PINIT)
        task_partitioned_matched(mpi, task, now, request, wire);
    else if (request)
        task_protocol_matched(mpi, task, now, request, wire);
    else if (!(wire->flags & TASK_WIRE_COLLECTIVE))
        task_probe_notice(mpi, task, wire);
}

/* An EAGER, RTS or PINIT for this task. */
static void protocol_announced(struct task_mpi *mpi, struct task_state *task, ker_time now,
                               const struct task_wire *wire)
{
    struct task_wire next;
    if (wire->flags & TASK_WIRE_COLLECTIVE) {
        protocol_take(mpi, task, now, wire);
    } else if (task_match_turn(mpi, task, wire)) {
        protocol_take(mpi, task, now, wire);
        while (task_match_early(mpi, task, wire->source, &next))
            protocol_take(mpi, task, now, &next);
    }
}

/* The receiver's answer to an RTS: the message itself. */
static void protocol_data(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                          const struct task_wire *wire)
{
    struct task_state *sender = task_on_node(mpi, node, wire->job, wire->source);
    uint32_t request = task_request_numbered(sender, wire->sender);
    struct task_wire answer = *wire;
    answer.kind = TASK_WIRE_DATA;
    if (__builtin_expect(mpi->waits, 0))
        task_cause_cleared(mpi, now, request, wire, &answer);
    task_request_at(mpi, request)->state = TASK_REQUEST_MATCHED;
    task_request_open(mpi, sender, request);
    ker_time delay = 0;
    if (__builtin_expect(mpi->endpoints != NULL, 0))
        delay = task_endpoint_send(mpi, sender, now, task_request_at(mpi, request)->bytes, false);
    task_wire_send_late(mpi, node, now, &answer, wire->destination,
                        wire->kind == TASK_WIRE_CTS ? task_cookie(sender, wire->sender) : 0, delay);
}

/* DATA is here. */
static void protocol_whole(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                           const struct task_wire *wire)
{
    struct task_wire whole = *wire, fin = *wire;
    struct task_state *task = task_on_node(mpi, node, wire->job, wire->destination);
    uint32_t request = task_request_numbered(task, wire->receiver);
    fin.kind = TASK_WIRE_FIN;
    if (__builtin_expect(mpi->waits, 0))
        task_cause_whole(mpi, now, request, &whole, &fin);
    if (mpi->rendezvous == TASK_RENDEZVOUS_READ)
        task_wire_send(mpi, node, now, &fin, wire->source, 0);
    protocol_received(mpi, task, now, request, &whole);
}

/* What is neither the first of a message nor its whole. */
static __attribute__((noinline)) void protocol_answered(struct task_mpi *mpi, struct task_mpi_node *node,
                                                        ker_time now, const struct task_wire *wire)
{
    struct task_state *task;
    switch (wire->kind) {
    case TASK_WIRE_READ:
    case TASK_WIRE_CTS:
        protocol_data(mpi, node, now, wire);
        break;
    case TASK_WIRE_DATA:
        protocol_whole(mpi, node, now, wire);
        break;
    case TASK_WIRE_PSTART:
    case TASK_WIRE_PART:
        task = task_on_node(mpi, node, wire->job,
                            wire->kind == TASK_WIRE_PART ? wire->destination : wire->source);
        task_partitioned_arrived(mpi, task, now, wire);
        break;
    case TASK_WIRE_FIN:
    case TASK_WIRE_ACK:
        task = task_on_node(mpi, node, wire->job, wire->source);
        if (__builtin_expect(mpi->waits, 0))
            task_cause_finished(mpi, task_request_numbered(task, wire->sender), wire);
        task_request_complete(mpi, task, task_request_numbered(task, wire->sender));
        break;
    default:
        ker_assert(!"a message of a kind the MPI model knows");
    }
}

static inline void protocol_handle(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                                   const struct task_wire *wire)
{
    if (wire->kind == TASK_WIRE_EAGER || wire->kind == TASK_WIRE_RTS || wire->kind == TASK_WIRE_PINIT)
        protocol_announced(mpi, task_on_node(mpi, node, wire->job, wire->destination), now, wire);
    else
        protocol_answered(mpi, node, now, wire);
}

/* READ is served by the adapter, FIN and ACK only mark a request: they need no processor. */
static bool protocol_defers(struct task_mpi *mpi, const struct task_mpi_node *node, ker_time now,
                            const struct task_wire *wire)
{
    if (wire->kind == TASK_WIRE_READ || wire->kind == TASK_WIRE_FIN || wire->kind == TASK_WIRE_ACK)
        return false;
    bool back = wire->kind == TASK_WIRE_CTS || wire->kind == TASK_WIRE_PSTART;
    uint32_t whose = back ? wire->source : wire->destination;
    struct task_state *task = task_on_node(mpi, node, wire->job, whose);
    if (!task_all_compute(task))
        return false;
    if (mpi->progress == TASK_PROGRESS_THREAD) {
        task_act(mpi, task, now);
        return false;
    }
    task_message_push(mpi, TASK_QUEUE_LIST, &task_queues(task)->deferred, wire);
    return true;
}

static __attribute__((noinline)) void protocol_delivered(struct task_mpi *mpi, struct task_mpi_node *node,
                                                         ker_time now, const struct task_wire *wire)
{
    struct task_wire fin = *wire;
    fin.kind = TASK_WIRE_FIN;
    if (mpi->waits)
        task_cause_delivered(mpi, now, &fin);
    task_wire_send(mpi, node, now, &fin, wire->source, 0);
}

void task_protocol_arrived(struct task_mpi *mpi, struct task_mpi_node *node, ker_time now,
                           const struct task_wire *wire)
{
    if (wire->kind == TASK_WIRE_EAGER && wire->flags & TASK_WIRE_DELIVERED)
        protocol_delivered(mpi, node, now, wire);
    if (mpi->progress == TASK_PROGRESS_ADAPTER || !protocol_defers(mpi, node, now, wire))
        protocol_handle(mpi, node, now, wire);
}

void task_protocol_deferred(struct task_mpi *mpi, struct task_state *task, ker_time now,
                            const struct task_wire *wire)
{
    protocol_handle(mpi, task_node_of(mpi, task), now, wire);
    if (__builtin_expect(mpi->waits, 0))
        task_cause_none(mpi);
}
