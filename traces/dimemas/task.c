/* task.c - a task's records become its operations. */
#include "traces/dimemas/dimemas.h"

#include <stdlib.h>
#include <unistd.h>

struct dimemas_task {
    const struct dimemas_trace *trace;
    struct foreign_task *out;
    struct dimemas_record record;
    struct foreign_requests requests;
    uint32_t *rooted; /* by communicator: collectives with a root so far */
};

static void op_put(struct dimemas_task *t, struct task_op *op, uint64_t bytes)
{
    op->line = t->record.text->in.line;
    foreign_put(t->out, op);
    foreign_count(t->out, op->call, bytes, 0);
}

static enum ker_status burst_read(struct dimemas_task *t)
{
    double seconds = t->record.number[2], time = seconds * 1e12 + 0.5;
    if (seconds < 0)
        return dimemas_fail(&t->record, "a CPU burst of %g seconds; it cannot be negative", seconds);
    foreign_compute(t->out, time < (double)TRACE_GAP_MOST ? (ker_time)time : TRACE_GAP_MOST);
    return KER_OK;
}

static enum ker_status comm_get(const struct dimemas_task *t, size_t index, int32_t *comm)
{
    int64_t id;
    enum ker_status status =
        dimemas_whole(&t->record, index, "the communicator", INT32_MIN, INT64_C(1) << 53, &id);
    if (status != KER_OK)
        return status;
    *comm = dimemas_comm_find(t->trace, id);
    if (*comm < 0)
        return dimemas_fail(&t->record, "communicator %lld, which is not defined", (long long)id);
    return task_comm_rank(&t->out->trace->comm[*comm], (int32_t)t->out->task) < 0
               ? dimemas_fail(&t->record, "task %u is no member of communicator %lld", t->out->task,
                              (long long)id)
               : KER_OK;
}

/* TASK THREAD PARTNER SIZE TAG COMMUNICATOR, and how. */
static enum ker_status message_get(const struct dimemas_task *t, struct task_op *op)
{
    const struct dimemas_record *r = &t->record;
    int64_t partner, size, tag;
    bool receives = r->kind == DIMEMAS_RECEIVE;
    enum ker_status status =
        dimemas_whole(r, 2, "the partner", receives ? -1 : 0, t->out->trace->tasks - 1, &partner);
    status = status ?: dimemas_whole(r, 3, "the size", 0, (int64_t)FOREIGN_BYTES_MOST, &size);
    status = status ?: dimemas_whole(r, 4, "the tag", receives ? -1 : 0, INT32_MAX, &tag);
    status = status ?: comm_get(t, 5, &op->comm);
    if (status != KER_OK)
        return status;
    op->peer = partner < 0 ? TASK_ANY : task_comm_rank(&t->out->trace->comm[op->comm], (int32_t)partner);
    if (op->peer < 0 && partner >= 0)
        return dimemas_fail(r, "task %lld is no member of the communicator", (long long)partner);
    op->tag = tag < 0 ? TASK_ANY : (int32_t)tag;
    op->bytes = (uint64_t)size;
    return KER_OK;
}

static enum ker_status send_read(struct dimemas_task *t)
{
    int64_t how;
    struct task_op op = {0};
    enum ker_status status = message_get(t, &op);
    status = status ?: dimemas_whole(&t->record, 6, "the synchronism", 0, 3, &how);
    if (status != KER_OK)
        return status;
    static const char *const calls[] = {"MPI_Send", "MPI_Ssend", "MPI_Isend", "MPI_Issend"};
    op.kind = how & 2 ? TASK_OP_ISEND : TASK_OP_SEND;
    op.mode = how & 1 ? TASK_MODE_SYNCHRONOUS : TASK_MODE_STANDARD;
    op.call = calls[how];
    if (how & 2) { /* nobody waits for it */
        op.request = ++t->requests.ids;
        t->out->doubts |= 1u << DIMEMAS_DOUBT_SENDS;
    }
    op_put(t, &op, op.bytes);
    return KER_OK;
}

static enum ker_status receive_read(struct dimemas_task *t)
{
    int64_t how;
    struct task_op op = {.kind = TASK_OP_RECV, .call = "MPI_Recv"};
    enum ker_status status = message_get(t, &op);
    status = status ?: dimemas_whole(&t->record, 6, "the type of the receive", 0, 2, &how);
    if (status != KER_OK)
        return status;
    if (how == 1) {
        op.kind = TASK_OP_IRECV;
        op.call = "MPI_Irecv";
        op.request = foreign_request_new(&t->requests, t->out, op.peer, op.comm, op.tag);
    }
    if (how == 2) {
        struct foreign_request *r = foreign_request_find(&t->requests, op.peer, op.comm, op.tag);
        if (!r)
            return dimemas_fail(&t->record, "a wait for a receive that is not in flight");
        op = (struct task_op){.kind = TASK_OP_WAIT, .call = "MPI_Wait", .request = r->id};
        foreign_request_done(&t->requests, r);
    }
    op_put(t, &op, 0);
    return KER_OK;
}

/* Both sizes are those of the call: what one task gives to one other, or, with counts, the sum. */
static void sizes_decide(struct dimemas_task *t, struct task_op *op, uint64_t sent, uint64_t received)
{
    bool receives = op->collective == TASK_COLL_BCAST || op->collective == TASK_COLL_SCATTER;
    op->bytes = receives ? (received ? received : sent) : sent ? sent : received;
    if (op->collective == TASK_COLL_GATHERV)
        op->bytes = sent;
    if (op->collective == TASK_COLL_ALLTOALLV || op->collective == TASK_COLL_SCATTERV) {
        op->bytes = sent;
        op->bytes2 = received;
    }
    if (op->collective == TASK_COLL_REDUCE_SCATTER)
        op->bytes2 = op->bytes;
    if (op->collective == TASK_COLL_GATHERV || op->collective == TASK_COLL_SCATTERV ||
        op->collective == TASK_COLL_ALLGATHERV || op->collective == TASK_COLL_ALLTOALLV ||
        op->collective == TASK_COLL_REDUCE_SCATTER)
        t->out->doubts |= 1u << DIMEMAS_DOUBT_COUNTS;
}

static enum ker_status root_get(struct dimemas_task *t, struct task_op *op)
{
    const struct dimemas_roots *roots = &t->trace->roots[op->comm];
    uint32_t at = t->rooted[op->comm]++;
    op->peer = at < roots->count ? roots->root[at] : -1;
    return op->peer < 0
               ? dimemas_fail(&t->record, "%s: the tasks of the communicator do not say who its root is",
                              op->call)
               : KER_OK;
}

/* TASK THREAD OPERATION COMMUNICATOR ROOT THREAD SENT RECEIVED [SYNCHRONISM] */
static enum ker_status global_read(struct dimemas_task *t)
{
    const struct dimemas_record *r = &t->record;
    struct task_op op = {.kind = TASK_OP_COLLECTIVE};
    int64_t operation, sent, received, how = 1;
    enum ker_status status = dimemas_whole(r, 2, "the operation", 0, 13, &operation);
    status = status ?: comm_get(t, 3, &op.comm);
    status = status ?: dimemas_whole(r, 6, "what is sent", 0, (int64_t)FOREIGN_BYTES_MOST, &sent);
    status = status ?: dimemas_whole(r, 7, "what is received", 0, (int64_t)FOREIGN_BYTES_MOST, &received);
    if (status == KER_OK && r->numbers == 9)
        status = dimemas_whole(r, 8, "the synchronism", 0, 1, &how);
    if (status != KER_OK)
        return status;
    if (how == 0)
        return dimemas_fail(r, "global operations that do not block are not read");
    op.collective = dimemas_collective(operation);
    op.call = trace_collective_name(op.collective);
    if (dimemas_rooted(op.collective))
        status = root_get(t, &op);
    if (status != KER_OK)
        return status;
    sizes_decide(t, &op, (uint64_t)sent, (uint64_t)received);
    op_put(t, &op, op.bytes);
    return KER_OK;
}

static enum ker_status record_read(struct dimemas_task *t)
{
    switch (t->record.kind) {
    case DIMEMAS_BURST:
        return burst_read(t);
    case DIMEMAS_SEND:
        return send_read(t);
    case DIMEMAS_RECEIVE:
        return receive_read(t);
    case DIMEMAS_GLOBAL:
        return global_read(t);
    default:
        return KER_OK;
    }
}

/* The records of the task, from the first to the last. */
static enum ker_status records_read(struct dimemas_task *t, const struct dimemas_place *place)
{
    struct ker_text *text = t->record.text;
    if (place->behind == 0)
        return ker_fail(text->in.error, KER_BAD_INPUT, "%s: no records of task %u: the file was cut",
                        text->in.file, t->out->task);
    lseek(text->file, (off_t)place->first, SEEK_SET);
    text->in.line = place->line;
    enum ker_status status = KER_OK;
    while (status == KER_OK && dimemas_record_next(&t->record)) {
        if (t->record.kind < DIMEMAS_HEADER && t->record.task == t->out->task)
            status = record_read(t);
        if (dimemas_place(text) >= place->behind)
            break;
    }
    return status ?: text->status;
}

enum ker_status dimemas_task_read(const struct dimemas_trace *trace, struct foreign_task *out,
                                  struct ker_error *error)
{
    struct ker_text text;
    struct dimemas_task t = {.trace = trace,
                             .out = out,
                             .record.text = &text,
                             .rooted = ker_alloc((size_t)out->trace->comms * sizeof *t.rooted)};
    enum ker_status status = ker_text_open(&text, out->trace->path, NULL, error);
    status = status ?: records_read(&t, &trace->place[out->task]);
    if (status == KER_OK && foreign_request_end(&t.requests, out, text.in.line))
        out->doubts |= 1u << DIMEMAS_DOUBT_SENDS;
    ker_text_close(&text, false);
    foreign_requests_release(&t.requests);
    free(t.record.number);
    free(t.rooted);
    return status;
}
