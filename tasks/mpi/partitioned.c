/* partitioned.c - partitioned communication (MPI 4, section 4.2).
 *
 * What MPI libraries do (MPICH 4, Open MPI 5), without copies: MPI_Psend_init announces the send (PINIT) to
 * the receiver, which pairs it with its MPI_Precv_init in the order of both. Each time the receiver starts,
 * it notifies the sender (PSTART). From then on a partition that is ready leaves at once as a message of its
 * own (PART), which is not searched for, as it names its request; those that became ready before leave when
 * PSTART comes. With mpi.partitioned = "whole" there is one message, when all partitions are ready (MPICH
 * 4.0). A send is complete when its last message has left, a receive when the last one has come.
 *
 * Invariant: the messages of a start leave after the receiver has begun this start, and all come before its
 * next: so PART needs no number of the start.
 */
#include "tasks/mpi/state.h"

static bool is_whole(const struct task_mpi *mpi)
{
    return mpi->parting == TASK_PARTING_WHOLE;
}

/* By the processor, if `rings`: then the adapter must be notified. */
static void wire_send(struct task_mpi *mpi, struct task_state *task, ker_time now,
                      const struct task_wire *wire, uint32_t to, uint64_t cookie, bool rings)
{
    struct task_mpi_node *node = task_node_of(mpi, task);
    bool outside = mpi->outside.node(mpi->outside.jobs, wire->job, to) != node->node;
    task_wire_send_late(mpi, node, now, wire, to, cookie, rings && outside ? mpi->model.doorbell : 0);
}

/* ---- requests ---- */

/* The receiver has started, and knows its sender. */
static void clear(struct task_mpi *mpi, struct task_state *task, ker_time now, const struct task_request *r,
                  bool rings)
{
    struct task_wire wire = {.kind = TASK_WIRE_PSTART,
                             .job = task->job,
                             .comm = r->comm,
                             .source = (uint32_t)r->peer,
                             .destination = task->task,
                             .tag = r->tag,
                             .sender = task_partitioned_of(mpi, r)->partner,
                             .receiver = r->number};
    wire_send(mpi, task, now, &wire, wire.source, 0, rings);
}

static void announce(struct task_mpi *mpi, struct task_state *task, ker_time now,
                     const struct task_request *r)
{
    const struct task_partitioned *p = task_partitioned_of(mpi, r);
    struct task_wire wire = {.kind = TASK_WIRE_PINIT,
                             .job = task->job,
                             .comm = r->comm,
                             .source = task->task,
                             .destination = (uint32_t)r->peer,
                             .tag = r->tag,
                             .bytes = p->bytes,
                             .sender = r->number,
                             .start = is_whole(mpi) ? 1 : p->partitions};
    wire.sequence = task_peer_get(task, wire.destination + 1)->sends++;
    wire_send(mpi, task, now, &wire, wire.destination, 0, true);
}

void task_partitioned_matched(struct task_mpi *mpi, struct task_state *task, ker_time now, uint32_t request,
                              const struct task_wire *wire)
{
    const struct task_request *r = task_request_at(mpi, request);
    struct task_partitioned *p = task_partitioned_of(mpi, r);
    p->partner = wire->sender;
    p->messages = wire->start;
    if (r->state == TASK_REQUEST_ACTIVE)
        clear(mpi, task, now, r, false);
}

/* One from or to nobody is an ordinary one, which completes when it is started. */
void task_partitioned_init(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    const struct task_op *op = &task->op;
    bool sends = op->kind == TASK_OP_PSEND_INIT;
    struct task_request like = {.flags = TASK_REQUEST_NAMED | TASK_REQUEST_PERSISTENT |
                                         (sends ? TASK_REQUEST_SEND : 0),
                                .peer = task_match_peer(mpi, task, op->comm, op->peer),
                                .tag = op->tag,
                                .comm = task_match_context(mpi, task, op->comm)};
    uint32_t index = task_request_new(mpi, task, &like, op->request);
    struct task_request *r = task_request_at(mpi, index);
    if (r->peer == TASK_PROC_NULL)
        return;
    r->comm |= TASK_COMM_PARTITIONED;
    r->bytes = task_partitions_new(mpi, (uint32_t)op->bytes2, op->bytes);
    if (sends) {
        announce(mpi, task, now, r);
        return;
    }
    struct task_wire wire;
    bool matched = task_match_find(mpi, task, r, &wire);
    task_match_searched(mpi, task, now);
    if (matched)
        task_partitioned_matched(mpi, task, now, index, &wire);
    else
        task_match_post(mpi, task, index);
}

void task_partitioned_start(struct task_mpi *mpi, struct task_state *task, ker_time now, uint32_t request)
{
    struct task_request *r = task_request_at(mpi, request);
    struct task_partitioned *p = task_partitioned_of(mpi, r);
    r->state = TASK_REQUEST_ACTIVE;
    task_partitions_begin(p);
    if (!(r->flags & TASK_REQUEST_SEND) && p->partner)
        clear(mpi, task, now, r, true);
}

/* The active request of the op, if it is one of this side. */
static struct task_request *active_of(const struct task_mpi *mpi, const struct task_state *task, bool sends)
{
    uint32_t index = task_request_find(mpi, task, task->op.request);
    struct task_request *r = index ? task_request_at(mpi, index) : NULL;
    bool is = r && task_request_partitioned(r) && r->state == TASK_REQUEST_ACTIVE;
    return is && (r->flags & TASK_REQUEST_SEND) == (sends ? TASK_REQUEST_SEND : 0) ? r : NULL;
}

/* ---- the sender ---- */

static void message_send(struct task_mpi *mpi, struct task_state *task, ker_time now, struct task_request *r,
                         uint32_t number, bool rings)
{
    const struct task_partitioned *p = task_partitioned_of(mpi, r);
    uint32_t messages = is_whole(mpi) ? 1 : p->partitions;
    struct task_wire wire = {.kind = TASK_WIRE_PART,
                             .job = task->job,
                             .comm = r->comm & ~TASK_COMM_PARTITIONED,
                             .source = task->task,
                             .destination = (uint32_t)r->peer,
                             .tag = r->tag,
                             .sequence = number,
                             .bytes = p->bytes / messages,
                             .sender = r->number,
                             .receiver = p->partner};
    task->messages_sent++;
    task->bytes_sent += wire.bytes;
    if (!(r->flags & TASK_REQUEST_OPEN))
        task_request_open(mpi, task, task_request_numbered(task, r->number));
    wire_send(mpi, task, now, &wire, wire.destination, task_cookie(task, r->number), rings);
}

/* Those of some partitions that are ready, if the receiver has begun this start. */
static void messages_send(struct task_mpi *mpi, struct task_state *task, ker_time now, struct task_request *r,
                          uint32_t begin, uint32_t end, bool rings)
{
    const struct task_partitioned *p = task_partitioned_of(mpi, r);
    if ((int32_t)(p->cleared - p->started) < 0)
        return;
    if (is_whole(mpi)) {
        if (p->ready == p->partitions)
            message_send(mpi, task, now, r, 0, rings);
        return;
    }
    for (uint32_t i = begin; i < end; i++)
        if (p->part[i])
            message_send(mpi, task, now, r, i, rings);
}

/* The end of the op's partitions; *begin: the first. */
static uint32_t range_of(const struct task_op *op, const struct task_partitioned *p, uint32_t *begin)
{
    *begin = (uint32_t)op->tag2 < p->partitions ? (uint32_t)op->tag2 : p->partitions;
    return op->bytes2 < p->partitions - *begin ? *begin + (uint32_t)op->bytes2 : p->partitions;
}

void task_partitioned_ready(struct task_mpi *mpi, struct task_state *task, ker_time now)
{
    struct task_request *r = active_of(mpi, task, true);
    if (!r)
        return;
    struct task_partitioned *p = task_partitioned_of(mpi, r);
    uint32_t begin, end = range_of(&task->op, p, &begin);
    for (uint32_t i = begin; i < end; i++) { /* one that is ready before must not be sent twice */
        if (p->part[i])
            continue;
        p->part[i] = 1;
        p->ready++;
        messages_send(mpi, task, now, r, i, i + 1, true);
    }
}

ker_time task_partitioned_overhead(const struct task_mpi *mpi, const struct task_state *task)
{
    const struct task_request *r = active_of(mpi, task, true);
    if (!r)
        return 0;
    const struct task_partitioned *p = task_partitioned_of(mpi, r);
    uint32_t begin, end = range_of(&task->op, p, &begin), ready = 0;
    for (uint32_t i = begin; i < end; i++)
        ready += !p->part[i];
    if (is_whole(mpi))
        ready = ready && p->ready + ready == p->partitions;
    uint64_t bytes = p->bytes / (is_whole(mpi) ? 1 : p->partitions);
    return ready ? ready * task_endpoint_alone(mpi, task, (uint32_t)r->peer, bytes) : 0;
}

void task_partitioned_left(struct task_mpi *mpi, struct task_state *task, uint32_t request)
{
    struct task_partitioned *p = task_partitioned_of(mpi, task_request_at(mpi, request));
    if (++p->moved == (is_whole(mpi) ? 1 : p->partitions))
        task_request_complete(mpi, task, request);
}

/* ---- the receiver ---- */

bool task_partitioned_asked(struct task_mpi *mpi, struct task_state *task)
{
    const struct task_request *r = active_of(mpi, task, false);
    if (task->op.outcome <= 0 || !r)
        return true;
    if (task_partition_here(task_partitioned_of(mpi, r), (uint32_t)task->op.tag2))
        return true;
    task->pending = 1;
    return false;
}

/* Streams that have asked for a partition of this request, and may have it now. */
static void asked_wake(struct task_mpi *mpi, struct task_state *task, const struct task_request *r)
{
    uint32_t current = task_stream_current(task);
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        task_stream_select(task, i);
        const struct task_op *op = &task->op;
        if (task->stage != TASK_STAGE_BLOCKED || op->kind != TASK_OP_PARRIVED || !task->pending ||
            op->request != task_request_name(mpi, r) ||
            !task_partition_here(task_partitioned_of(mpi, r), (uint32_t)op->tag2))
            continue;
        task->pending = 0;
        task_ready(mpi, task);
    }
    task_stream_select(task, current);
}

static void come(struct task_mpi *mpi, struct task_state *task, uint32_t request,
                 const struct task_wire *wire)
{
    struct task_request *r = task_request_at(mpi, request);
    struct task_partitioned *p = task_partitioned_of(mpi, r);
    ker_assert(r->state == TASK_REQUEST_ACTIVE && p->messages > wire->sequence);
    task->messages_received++;
    task->bytes_received += wire->bytes;
    task_partitions_come(p, wire->sequence);
    if (r->flags & TASK_REQUEST_NAMED)
        asked_wake(mpi, task, r);
    if (p->moved == p->messages)
        task_request_complete(mpi, task, request);
}

void task_partitioned_arrived(struct task_mpi *mpi, struct task_state *task, ker_time now,
                              const struct task_wire *wire)
{
    uint32_t number = wire->kind == TASK_WIRE_PSTART ? wire->sender : wire->receiver;
    uint32_t request = task_request_there(task, number) ? task_request_numbered(task, number) : 0;
    struct task_request *r = request ? task_request_at(mpi, request) : NULL;
    if (!r || !task_request_partitioned(r))
        return; /* the program has freed it before its last start was known */
    if (wire->kind == TASK_WIRE_PART) {
        come(mpi, task, request, wire);
        return;
    }
    struct task_partitioned *p = task_partitioned_of(mpi, r);
    p->partner = wire->receiver;
    p->cleared++;
    if (r->state == TASK_REQUEST_ACTIVE && p->cleared == p->started)
        messages_send(mpi, task, now, r, 0, p->partitions, false);
}
