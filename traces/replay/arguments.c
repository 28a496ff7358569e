/* arguments.c - what a recorded call was called with, as an operation has it.
 *
 * Each reader takes the fields of one sort of call and checks them: communicators that the trace defines,
 * ranks in them, tags, bytes within bounds. Operations point into lists of the task, which live until its
 * next call.
 */
#include "traces/replay/arguments.h"

#include <limits.h>

/* ---- what is wrong with a call ---- */

enum ker_status replay_fail(const struct replay_wrong *w, const char *format, ...)
{
    char text[256];
    KER_FORMATTED(text, format);
    char thread[32] = "";
    if (w->task->threads)
        snprintf(thread, sizeof thread, "thread %u, ", w->task->threads->now);
    return ker_fail(w->error, KER_BAD_INPUT, "%s: task %u, %scall %llu (%s): %s", w->path,
                    w->task->trace->number, thread, (unsigned long long)w->task->read,
                    w->task->record.function->name, text);
}

/* ---- arguments ---- */

enum ker_status replay_comm_get(const struct replay_task *t, enum mars_field field, int32_t *comm,
                                const struct replay_wrong *w)
{
    int64_t number = mars_number(&t->record, field, 0);
    if (number < 1 || (uint64_t)number >= t->trace->comms || t->comm[number] < 0)
        return replay_fail(w, "communicator %lld is not defined", (long long)number);
    *comm = t->comm[number];
    return KER_OK;
}

static enum ker_status peer_get(const struct replay_task *t, enum mars_field field, int32_t comm,
                                int32_t *peer, const struct replay_wrong *w)
{
    int64_t rank = mars_number(&t->record, field, MARS_PROC_NULL);
    const struct task_comm *c = &t->comms[comm];
    int32_t size = c->remote ? t->comms[c->remote].size : c->size;
    bool any = rank == MARS_ANY_SOURCE && field == MARS_FIELD_source;
    *peer = rank == MARS_PROC_NULL ? TASK_PROC_NULL : any ? TASK_ANY : (int32_t)rank;
    if (rank == MARS_PROC_NULL || any || (rank >= 0 && rank < size))
        return KER_OK;
    return replay_fail(w, "rank %lld in a communicator of %d", (long long)rank, size);
}

static enum ker_status tag_get(const struct replay_task *t, enum mars_field field, bool receive, int32_t *tag,
                               const struct replay_wrong *w)
{
    int64_t value = mars_number(&t->record, field, 0);
    *tag = receive && value == MARS_ANY_TAG ? TASK_ANY : (int32_t)value;
    if ((value >= 0 && value <= INT_MAX) || *tag == TASK_ANY)
        return KER_OK;
    return replay_fail(w, "tag %lld", (long long)value);
}

/* -1, in place or none here, is 0. */
enum ker_status replay_bytes_get(const struct replay_task *t, enum mars_field field, uint64_t *bytes,
                                 const struct replay_wrong *w)
{
    int64_t value = mars_number(&t->record, field, -1);
    *bytes = value < 0 ? 0 : (uint64_t)value;
    if (value >= -1 && *bytes <= REPLAY_BYTES_MOST)
        return KER_OK;
    return replay_fail(w, "%lld bytes; a message can have 0 to 1 TiB", (long long)value);
}

/* Of a message to or from `peer`. What does not travel, a receive's room or what nobody gets, may be more
 * than a message can have. */
static enum ker_status travels_get(const struct replay_task *t, enum mars_field field, bool receive,
                                   int32_t peer, uint64_t *bytes, const struct replay_wrong *w)
{
    int64_t value = mars_number(&t->record, field, -1);
    if ((!receive && peer != TASK_PROC_NULL) || value <= (int64_t)REPLAY_BYTES_MOST)
        return replay_bytes_get(t, field, bytes, w);
    *bytes = REPLAY_BYTES_MOST;
    return KER_OK;
}

/* The name of the send of a call that has one request for a send and a receive. */
#define PAIR_SEND (UINT64_C(1) << 63)

uint64_t *replay_list_room(struct replay_task *t, int which, size_t count)
{
    KER_RESERVE(t->list[which], t->room[which], count + 1);
    return t->list[which];
}

/* ---- point to point ---- */

enum ker_status replay_message_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    bool receive = op->kind == TASK_OP_RECV || op->kind == TASK_OP_IRECV || op->kind == TASK_OP_RECV_INIT ||
                   op->kind == TASK_OP_PRECV_INIT;
    enum ker_status status = replay_comm_get(t, MARS_FIELD_comm, &op->comm, w);
    status = status ?: peer_get(t, receive ? MARS_FIELD_source : MARS_FIELD_dest, op->comm, &op->peer, w);
    if (status == KER_OK && op->peer != TASK_PROC_NULL)
        status = tag_get(t, MARS_FIELD_tag, receive, &op->tag, w);
    if (status == KER_OK)
        status = travels_get(t, receive ? MARS_FIELD_recvbytes : MARS_FIELD_bytes, receive, op->peer,
                             &op->bytes, w);
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    return status;
}

enum ker_status replay_exchange_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    enum ker_status status = replay_comm_get(t, MARS_FIELD_comm, &op->comm, w);
    status = status ?: peer_get(t, MARS_FIELD_dest, op->comm, &op->peer, w);
    if (status == KER_OK && op->peer != TASK_PROC_NULL)
        status = tag_get(t, MARS_FIELD_tag, false, &op->tag, w);
    status = status ?: peer_get(t, MARS_FIELD_source, op->comm, &op->peer2, w);
    if (status == KER_OK && op->peer2 != TASK_PROC_NULL)
        status = tag_get(t, MARS_FIELD_recvtag, true, &op->tag2, w);
    status = status ?: travels_get(t, MARS_FIELD_bytes, false, op->peer, &op->bytes, w);
    status = status ?: travels_get(t, MARS_FIELD_recvbytes, true, op->peer2, &op->bytes2, w);
    return status;
}

enum ker_status replay_pair_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    uint64_t request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    enum ker_status status = replay_exchange_get(t, op, w);
    op->kind = t->part ? TASK_OP_ISEND : TASK_OP_IRECV;
    op->request = t->part ? request | PAIR_SEND : request;
    if (!t->part) {
        op->peer = op->peer2;
        op->tag = op->tag2;
        op->bytes = op->bytes2;
    }
    return status;
}

static enum ker_status handle_get(const struct replay_task *t, struct task_op *op,
                                  const struct replay_wrong *w)
{
    int64_t message = mars_number(&t->record, MARS_FIELD_message, 0);
    op->message = (uint32_t)message;
    if (message >= 0 && message <= UINT32_MAX)
        return KER_OK;
    return replay_fail(w, "message %lld", (long long)message);
}

enum ker_status replay_matched_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    enum ker_status status = handle_get(t, op, w);
    if (status == KER_OK && op->message == 0)
        return replay_fail(w, "no probe has found a message for it");
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    return status == KER_OK ? replay_bytes_get(t, MARS_FIELD_recvbytes, &op->bytes, w) : status;
}

enum ker_status replay_probe_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    enum ker_status status = replay_comm_get(t, MARS_FIELD_comm, &op->comm, w);
    status = status ?: peer_get(t, MARS_FIELD_source, op->comm, &op->peer, w);
    if (status == KER_OK && op->peer != TASK_PROC_NULL)
        status = tag_get(t, MARS_FIELD_tag, true, &op->tag, w);
    op->outcome = mars_number(&t->record, MARS_FIELD_flag, 1) != 0;
    return status == KER_OK && op->kind == TASK_OP_MPROBE ? handle_get(t, op, w) : status;
}

/* ---- requests ---- */

void replay_named_get(struct replay_task *t, struct task_op *op)
{
    const struct mars_value *list = mars_list(&t->record, MARS_FIELD_requests);
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    if (t->part)
        op->request |= PAIR_SEND;
    if (!list)
        return;
    uint64_t *requests = replay_list_room(t, 0, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        requests[i] = (uint64_t)list->list[i];
    op->requests = requests;
    op->request_count = list->count;
}

/* A wait for those that were completed; *some: there are any. */
enum ker_status replay_complete_get(struct replay_task *t, struct task_op *op, bool *some,
                                    const struct replay_wrong *w)
{
    const struct mars_value *list = mars_list(&t->record, MARS_FIELD_requests),
                            *done = mars_list(&t->record, MARS_FIELD_done);
    if (!list || !done || done->count % 4)
        return replay_fail(w, "the trace does not say which requests completed");
    uint32_t each = t->pairs ? 2 : 1, count = done->count / 4 * each;
    *some = count > 0;
    if (count == each && done->list[0] == MARS_ONE_OF) { /* one of them: the trace does not say which */
        replay_named_get(t, op);
        op->kind = TASK_OP_WAITANY;
        op->outcome = 1;
        return KER_OK;
    }
    uint64_t *requests = replay_list_room(t, 0, count);
    for (uint32_t i = 0; i < count; i += each) {
        int64_t index = done->list[(size_t)(i / each) * 4];
        if (index < 0 || index >= list->count)
            return replay_fail(w, "request %lld of %u completed", (long long)index, list->count);
        requests[i] = (uint64_t)list->list[index];
        if (t->pairs)
            requests[i + 1] = requests[i] | PAIR_SEND;
    }
    op->kind = count == 1 ? TASK_OP_WAIT : TASK_OP_WAITALL;
    op->request = count ? requests[0] : 0;
    op->requests = requests;
    op->request_count = count;
    return KER_OK;
}

/* ---- collectives ---- */

enum ker_status replay_each_get(struct replay_task *t, enum mars_field field, int which, uint32_t size,
                                const uint64_t **list, uint64_t *sum, const struct replay_wrong *w)
{
    const struct mars_value *value = mars_list(&t->record, field);
    *list = NULL;
    *sum = 0;
    if (!value || value->count == 0)
        return KER_OK;
    if (value->count != size)
        return replay_fail(w, "%u counts for %u tasks", value->count, size);
    uint64_t *bytes = replay_list_room(t, which, value->count);
    for (uint32_t i = 0; i < value->count; i++) {
        if (value->list[i] < 0 || (uint64_t)value->list[i] > REPLAY_BYTES_MOST)
            return replay_fail(w, "%lld bytes for task %u; a message can have 0 to 1 TiB",
                               (long long)value->list[i], i);
        bytes[i] = (uint64_t)value->list[i];
        *sum += bytes[i];
    }
    *list = bytes;
    return KER_OK;
}

/* Calls with a count for each task. */
static enum ker_status lists_get(struct replay_task *t, struct task_op *op, int32_t size, int32_t rank,
                                 const struct replay_wrong *w)
{
    bool reduces = op->collective == TASK_COLL_REDUCE_SCATTER;
    enum ker_status status = replay_each_get(t, MARS_FIELD_bytes_each, 0, (uint32_t)size,
                                             reduces ? &op->receive_bytes : &op->send_bytes,
                                             reduces ? &op->bytes2 : &op->bytes, w);
    if (status == KER_OK && !reduces && replay_has(t->record.function, MARS_FIELD_recvbytes_each))
        status = replay_each_get(t, MARS_FIELD_recvbytes_each, 1, (uint32_t)size, &op->receive_bytes,
                                 &op->bytes2, w);
    if (status != KER_OK)
        return status;
    op->request_count = (uint32_t)size;
    if (reduces) {
        op->bytes = op->bytes2;
    } else if (op->collective == TASK_COLL_ALLTOALLV) {
        if (!op->receive_bytes || (!op->send_bytes && mars_number(&t->record, MARS_FIELD_buffer, 0) != 1))
            return replay_fail(w, "the counts are missing");
        if (!op->send_bytes) { /* in place */
            op->send_bytes = op->receive_bytes;
            op->bytes = op->bytes2;
        }
    } else if (op->receive_bytes) { /* Allgatherv; Gatherv at the root */
        op->bytes = op->receive_bytes[rank];
    } else if (op->send_bytes) { /* Scatterv at the root */
        op->bytes2 = op->send_bytes[rank];
    } else {
        bool scatters = op->collective == TASK_COLL_SCATTERV;
        status = replay_bytes_get(t, scatters ? MARS_FIELD_recvbytes : MARS_FIELD_bytes,
                                  scatters ? &op->bytes2 : &op->bytes, w);
    }
    return status;
}

/* A count for each neighbour, and zeros up to `room` of them. */
static enum ker_status neighbours_get(struct replay_task *t, enum mars_field field, int which, uint32_t count,
                                      uint32_t room, const uint64_t **list, uint64_t *sum,
                                      const struct replay_wrong *w)
{
    enum ker_status status = replay_each_get(t, field, which, count, list, sum, w);
    if (status != KER_OK)
        return status;
    if (count && !*list)
        return replay_fail(w, "the counts are missing");
    uint64_t *bytes = replay_list_room(t, which, room);
    for (uint32_t i = count; i < room; i++)
        bytes[i] = 0;
    *list = bytes;
    return KER_OK;
}

/* What is sent to each neighbour, and what comes from each. */
static enum ker_status among_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    const struct task_neighbours *n = replay_neighbours_of(t->neighbours, op->comm);
    bool sends = replay_has(t->record.function, MARS_FIELD_bytes_each),
         receives = replay_has(t->record.function, MARS_FIELD_recvbytes_each);
    if (!n)
        return replay_fail(w, "a communicator without a topology");
    uint32_t room = n->in > n->out ? n->in : n->out;
    enum ker_status status =
        sends ? neighbours_get(t, MARS_FIELD_bytes_each, 0, n->out, room, &op->send_bytes, &op->bytes, w)
              : replay_bytes_get(t, MARS_FIELD_bytes, &op->bytes, w);
    if (status == KER_OK)
        status = receives ? neighbours_get(t, MARS_FIELD_recvbytes_each, 1, n->in, room, &op->receive_bytes,
                                           &op->bytes2, w)
                          : replay_bytes_get(t, MARS_FIELD_recvbytes, &op->bytes2, w);
    op->request_count = sends || receives ? room : 0;
    return status;
}

enum ker_status replay_collective_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    enum ker_status status = replay_comm_get(t, MARS_FIELD_comm, &op->comm, w);
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    if (status != KER_OK)
        return status;
    if (task_coll_among_neighbours(op->collective))
        return among_get(t, op, w);
    const struct mars_comm *own = t->trace->comm[mars_number(&t->record, MARS_FIELD_comm, 0)];
    int32_t size = t->comms[op->comm].size;
    int64_t root = mars_number(&t->record, MARS_FIELD_root, 0);
    if (root < 0 || root >= size)
        return replay_fail(w, "the root is %lld in a communicator of %d", (long long)root, size);
    op->peer = (int32_t)root;
    if (replay_has(t->record.function, MARS_FIELD_op))
        replay_combine_get(t, op);
    switch (op->collective) {
    case TASK_COLL_BARRIER:
        return KER_OK;
    case TASK_COLL_GATHER:
        return replay_bytes_get(t, root == own->rank ? MARS_FIELD_recvbytes : MARS_FIELD_bytes, &op->bytes,
                                w);
    case TASK_COLL_SCATTER:
        return replay_bytes_get(t, root == own->rank ? MARS_FIELD_bytes : MARS_FIELD_recvbytes, &op->bytes,
                                w);
    case TASK_COLL_ALLGATHER: /* the receiving side is right with MPI_IN_PLACE, too */
    case TASK_COLL_ALLTOALL:
        return replay_bytes_get(t, MARS_FIELD_recvbytes, &op->bytes, w);
    case TASK_COLL_GATHERV:
    case TASK_COLL_SCATTERV:
    case TASK_COLL_ALLGATHERV:
    case TASK_COLL_ALLTOALLV:
    case TASK_COLL_REDUCE_SCATTER:
        return lists_get(t, op, size, own->rank, w);
    default:
        return replay_bytes_get(t, MARS_FIELD_bytes, &op->bytes, w);
    }
}
