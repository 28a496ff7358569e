/* calls.c - what a recorded call is in the replay.
 *
 * The table names the calls that pass something between tasks and that can be replayed. A call that is not in
 * it is known by its fields: one that names requests, windows, other tasks or new communicators cannot be
 * replayed; one that names a file costs the time it took; all others are local.
 *
 * What a program did next depended on which of its requests completed. So a call that completed some of
 * several is replayed as a wait for those, and a test that completed nothing as nothing.
 */
#include "tasks/traces/replay/replay.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum sort {
    LOCAL,
    END,      /* MPI_Finalize */
    MESSAGE,  /* one way */
    EXCHANGE, /* both */
    NAMED,    /* a request is named */
    COMPLETE,
    PROBE,
    COLLECTIVE,
    CREATE,       /* a communicator, by all of the old one */
    CREATE_GROUP, /* by the members of the new one */
    FILES,
    UNKNOWN,
};

struct replay_call {
    const char *name;
    uint8_t sort, op, more; /* enum task_op_kind; enum task_send_mode, or enum task_collective */
};

/* By name. */
static const struct replay_call calls[] = {
    {"MPI_Allgather", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLGATHER},
    {"MPI_Allgatherv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLGATHERV},
    {"MPI_Allreduce", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLREDUCE},
    {"MPI_Alltoall", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLTOALL},
    {"MPI_Alltoallv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLTOALLV},
    {"MPI_Alltoallw", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_ALLTOALLV},
    {"MPI_Barrier", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_BARRIER},
    {"MPI_Bcast", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_BCAST},
    {"MPI_Bsend", MESSAGE, TASK_OP_SEND, TASK_MODE_BUFFERED},
    {"MPI_Bsend_init", MESSAGE, TASK_OP_SEND_INIT, TASK_MODE_BUFFERED},
    {"MPI_Cancel", NAMED, TASK_OP_CANCEL},
    {"MPI_Cart_create", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Cart_sub", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_create", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_create_group", CREATE_GROUP, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_dup", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_dup_with_info", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_split", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Comm_split_type", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Dist_graph_create", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Dist_graph_create_adjacent", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Exscan", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_EXSCAN},
    {"MPI_Finalize", END, TASK_OP_FINALIZE},
    {"MPI_Gather", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_GATHER},
    {"MPI_Gatherv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_GATHERV},
    {"MPI_Graph_create", CREATE, TASK_OP_COLLECTIVE, TASK_COLL_COMM},
    {"MPI_Ibsend", MESSAGE, TASK_OP_ISEND, TASK_MODE_BUFFERED},
    {"MPI_Iprobe", PROBE, TASK_OP_IPROBE},
    {"MPI_Irecv", MESSAGE, TASK_OP_IRECV},
    {"MPI_Irsend", MESSAGE, TASK_OP_ISEND, TASK_MODE_READY},
    {"MPI_Isend", MESSAGE, TASK_OP_ISEND},
    {"MPI_Issend", MESSAGE, TASK_OP_ISEND, TASK_MODE_SYNCHRONOUS},
    {"MPI_Probe", PROBE, TASK_OP_PROBE},
    {"MPI_Recv", MESSAGE, TASK_OP_RECV},
    {"MPI_Recv_init", MESSAGE, TASK_OP_RECV_INIT},
    {"MPI_Reduce", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_REDUCE},
    {"MPI_Reduce_scatter", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_REDUCE_SCATTER},
    {"MPI_Reduce_scatter_block", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_REDUCE_SCATTER_BLOCK},
    {"MPI_Request_free", NAMED, TASK_OP_REQUEST_FREE},
    {"MPI_Request_get_status", LOCAL},
    {"MPI_Rsend", MESSAGE, TASK_OP_SEND, TASK_MODE_READY},
    {"MPI_Rsend_init", MESSAGE, TASK_OP_SEND_INIT, TASK_MODE_READY},
    {"MPI_Scan", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_SCAN},
    {"MPI_Scatter", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_SCATTER},
    {"MPI_Scatterv", COLLECTIVE, TASK_OP_COLLECTIVE, TASK_COLL_SCATTERV},
    {"MPI_Send", MESSAGE, TASK_OP_SEND},
    {"MPI_Send_init", MESSAGE, TASK_OP_SEND_INIT},
    {"MPI_Sendrecv", EXCHANGE, TASK_OP_SENDRECV},
    {"MPI_Sendrecv_replace", EXCHANGE, TASK_OP_SENDRECV},
    {"MPI_Ssend", MESSAGE, TASK_OP_SEND, TASK_MODE_SYNCHRONOUS},
    {"MPI_Ssend_init", MESSAGE, TASK_OP_SEND_INIT, TASK_MODE_SYNCHRONOUS},
    {"MPI_Start", NAMED, TASK_OP_STARTALL},
    {"MPI_Startall", NAMED, TASK_OP_STARTALL},
    {"MPI_Test", COMPLETE, TASK_OP_TEST},
    {"MPI_Testall", COMPLETE, TASK_OP_TESTALL},
    {"MPI_Testany", COMPLETE, TASK_OP_TESTANY},
    {"MPI_Testsome", COMPLETE, TASK_OP_TESTSOME},
    {"MPI_Wait", COMPLETE, TASK_OP_WAIT},
    {"MPI_Waitall", COMPLETE, TASK_OP_WAITALL},
    {"MPI_Waitany", COMPLETE, TASK_OP_WAITANY},
    {"MPI_Waitsome", COMPLETE, TASK_OP_WAITSOME},
};

static int call_compare(const void *name, const void *call)
{
    return strcmp(name, ((const struct replay_call *)call)->name);
}

static bool has(const struct mars_function *f, enum mars_field field)
{
    return f->at[field] >= 0;
}

static const struct replay_call *call_by_fields(const struct mars_function *f)
{
    static const struct replay_call sorts[] = {
        [LOCAL] = {"", LOCAL}, [FILES] = {"", FILES}, [UNKNOWN] = {"", UNKNOWN}};
    static const enum mars_field passes[] = {
        MARS_FIELD_dest, MARS_FIELD_source, MARS_FIELD_root,       MARS_FIELD_request,  MARS_FIELD_requests,
        MARS_FIELD_win,  MARS_FIELD_target, MARS_FIELD_message,    MARS_FIELD_newcomm,  MARS_FIELD_newwin,
        MARS_FIELD_done, MARS_FIELD_bytes,  MARS_FIELD_bytes_each, MARS_FIELD_recvbytes};
    if (has(f, MARS_FIELD_file) || has(f, MARS_FIELD_newfile))
        return &sorts[FILES];
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (has(f, passes[i]))
            return &sorts[strcmp(f->name, "MPI_Reduce_local") == 0 ? LOCAL : UNKNOWN];
    return &sorts[strcmp(f->name, "MPI_Abort") == 0 ? UNKNOWN : LOCAL];
}

static const struct replay_call *call_of(struct replay_task *t, const struct mars_function *f)
{
    size_t place = ker_hash((uintptr_t)f) >> 58; /* of 64 */
    if (t->known[place].function != f) {
        const struct replay_call *call =
            bsearch(f->name, calls, sizeof calls / sizeof *calls, sizeof *calls, call_compare);
        t->known[place].call = call ? call : call_by_fields(f);
        t->known[place].function = f;
    }
    return t->known[place].call;
}

/* ---- what is wrong with a call ---- */

struct wrong {
    const struct replay_task *task;
    const char *path;
    struct ker_error *error;
};

__attribute__((format(printf, 2, 3))) static enum ker_status fail(const struct wrong *w, const char *format,
                                                                  ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ker_fail(w->error, KER_BAD_INPUT, "%s: task %u, call %llu (%s): %s", w->path,
                    w->task->trace->number, (unsigned long long)w->task->read, w->task->record.function->name,
                    text);
}

/* ---- arguments ---- */

static enum ker_status comm_get(const struct replay_task *t, enum mars_field field, int32_t *comm,
                                const struct wrong *w)
{
    int64_t number = mars_number(&t->record, field, 0);
    if (number < 1 || (uint64_t)number >= t->trace->comms || t->comm[number] < 0)
        return fail(w, "communicator %lld is not defined", (long long)number);
    *comm = t->comm[number];
    return KER_OK;
}

static enum ker_status peer_get(const struct replay_task *t, enum mars_field field, int32_t comm,
                                int32_t *peer, const struct wrong *w)
{
    int64_t rank = mars_number(&t->record, field, -1);
    int32_t size = t->comms[comm].size;
    bool any = rank == -2 && field == MARS_FIELD_source;
    *peer = rank == -1 ? TASK_PROC_NULL : any ? TASK_ANY : (int32_t)rank;
    if (rank == -1 || any || (rank >= 0 && rank < size))
        return KER_OK;
    return fail(w, "rank %lld in a communicator of %d", (long long)rank, size);
}

static enum ker_status tag_get(const struct replay_task *t, enum mars_field field, bool receive, int32_t *tag,
                               const struct wrong *w)
{
    int64_t value = mars_number(&t->record, field, 0);
    *tag = receive && value == -1 ? TASK_ANY : (int32_t)value;
    if ((value >= 0 && value <= INT_MAX) || *tag == TASK_ANY)
        return KER_OK;
    return fail(w, "tag %lld", (long long)value);
}

/* -1, in place or none here, is 0. */
static enum ker_status bytes_get(const struct replay_task *t, enum mars_field field, uint64_t *bytes,
                                 const struct wrong *w)
{
    int64_t value = mars_number(&t->record, field, -1);
    *bytes = value < 0 ? 0 : (uint64_t)value;
    if (value >= -1 && *bytes <= REPLAY_BYTES_MOST)
        return KER_OK;
    return fail(w, "%lld bytes; a message can have 0 to 1 TiB", (long long)value);
}

static uint64_t *list_room(struct replay_task *t, int which, size_t count)
{
    KER_RESERVE(t->list[which], t->room[which], count + 1);
    return t->list[which];
}

/* ---- point to point ---- */

static enum ker_status message_get(struct replay_task *t, const struct replay_call *call, struct task_op *op,
                                   const struct wrong *w)
{
    bool receive = call->op == TASK_OP_RECV || call->op == TASK_OP_IRECV || call->op == TASK_OP_RECV_INIT;
    enum ker_status status = comm_get(t, MARS_FIELD_comm, &op->comm, w);
    if (status == KER_OK)
        status = peer_get(t, receive ? MARS_FIELD_source : MARS_FIELD_dest, op->comm, &op->peer, w);
    if (status == KER_OK && op->peer != TASK_PROC_NULL)
        status = tag_get(t, MARS_FIELD_tag, receive, &op->tag, w);
    if (status == KER_OK)
        status = bytes_get(t, receive ? MARS_FIELD_recvbytes : MARS_FIELD_bytes, &op->bytes, w);
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    return status;
}

static enum ker_status exchange_get(struct replay_task *t, struct task_op *op, const struct wrong *w)
{
    enum ker_status status = comm_get(t, MARS_FIELD_comm, &op->comm, w);
    if (status == KER_OK)
        status = peer_get(t, MARS_FIELD_dest, op->comm, &op->peer, w);
    if (status == KER_OK && op->peer != TASK_PROC_NULL)
        status = tag_get(t, MARS_FIELD_tag, false, &op->tag, w);
    if (status == KER_OK)
        status = peer_get(t, MARS_FIELD_source, op->comm, &op->peer2, w);
    if (status == KER_OK && op->peer2 != TASK_PROC_NULL)
        status = tag_get(t, MARS_FIELD_recvtag, true, &op->tag2, w);
    if (status == KER_OK)
        status = bytes_get(t, MARS_FIELD_bytes, &op->bytes, w);
    if (status == KER_OK)
        status = bytes_get(t, MARS_FIELD_recvbytes, &op->bytes2, w);
    return status;
}

static enum ker_status probe_get(struct replay_task *t, struct task_op *op, const struct wrong *w)
{
    enum ker_status status = comm_get(t, MARS_FIELD_comm, &op->comm, w);
    if (status == KER_OK)
        status = peer_get(t, MARS_FIELD_source, op->comm, &op->peer, w);
    if (status == KER_OK && op->peer != TASK_PROC_NULL)
        status = tag_get(t, MARS_FIELD_tag, true, &op->tag, w);
    op->outcome = op->kind == TASK_OP_IPROBE ? mars_number(&t->record, MARS_FIELD_flag, 0) != 0 : 0;
    return status;
}

/* ---- requests ---- */

static void named_get(struct replay_task *t, struct task_op *op)
{
    const struct mars_value *list = mars_list(&t->record, MARS_FIELD_requests);
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    if (!list)
        return;
    uint64_t *requests = list_room(t, 0, list->count);
    for (uint32_t i = 0; i < list->count; i++)
        requests[i] = (uint64_t)list->list[i];
    op->requests = requests;
    op->request_count = list->count;
}

/* A wait for those that were completed; *some: there are any. */
static enum ker_status complete_get(struct replay_task *t, struct task_op *op, bool *some,
                                    const struct wrong *w)
{
    const struct mars_value *list = mars_list(&t->record, MARS_FIELD_requests),
                            *done = mars_list(&t->record, MARS_FIELD_done);
    if (!list || !done || done->count % 4)
        return fail(w, "the trace does not say which requests completed");
    uint32_t count = done->count / 4;
    uint64_t *requests = list_room(t, 0, count);
    for (uint32_t i = 0; i < count; i++) {
        int64_t index = done->list[(size_t)i * 4];
        if (index < 0 || index >= list->count)
            return fail(w, "request %lld of %u completed", (long long)index, list->count);
        requests[i] = (uint64_t)list->list[index];
    }
    *some = count > 0;
    op->kind = count == 1 ? TASK_OP_WAIT : TASK_OP_WAITALL;
    op->request = count ? requests[0] : 0;
    op->requests = requests;
    op->request_count = count;
    return KER_OK;
}

/* ---- collectives ---- */

/* A list of bytes for each task of the communicator; NULL: it is empty, which means nothing here. */
static enum ker_status each_get(struct replay_task *t, enum mars_field field, int which, int32_t size,
                                const uint64_t **list, uint64_t *sum, const struct wrong *w)
{
    const struct mars_value *value = mars_list(&t->record, field);
    *list = NULL;
    *sum = 0;
    if (!value || value->count == 0)
        return KER_OK;
    if (value->count != (uint32_t)size)
        return fail(w, "%u counts in a communicator of %d", value->count, size);
    uint64_t *bytes = list_room(t, which, value->count);
    for (uint32_t i = 0; i < value->count; i++) {
        if (value->list[i] < 0 || (uint64_t)value->list[i] > REPLAY_BYTES_MOST)
            return fail(w, "%lld bytes for task %u; a message can have 0 to 1 TiB", (long long)value->list[i],
                        i);
        bytes[i] = (uint64_t)value->list[i];
        *sum += bytes[i];
    }
    *list = bytes;
    return KER_OK;
}

/* Calls with a count for each task. */
static enum ker_status lists_get(struct replay_task *t, struct task_op *op, int32_t size, int32_t rank,
                                 const struct wrong *w)
{
    bool reduces = op->collective == TASK_COLL_REDUCE_SCATTER;
    enum ker_status status =
        each_get(t, MARS_FIELD_bytes_each, 0, size, reduces ? &op->receive_bytes : &op->send_bytes,
                 reduces ? &op->bytes2 : &op->bytes, w);
    if (status == KER_OK && !reduces && has(t->record.function, MARS_FIELD_recvbytes_each))
        status = each_get(t, MARS_FIELD_recvbytes_each, 1, size, &op->receive_bytes, &op->bytes2, w);
    if (status != KER_OK)
        return status;
    op->request_count = (uint32_t)size;
    if (reduces) {
        op->bytes = op->bytes2;
    } else if (op->collective == TASK_COLL_ALLTOALLV) {
        if (!op->receive_bytes || (!op->send_bytes && mars_number(&t->record, MARS_FIELD_buffer, 0) != 1))
            return fail(w, "the counts are missing");
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
        status = bytes_get(t, scatters ? MARS_FIELD_recvbytes : MARS_FIELD_bytes,
                           scatters ? &op->bytes2 : &op->bytes, w);
    }
    return status;
}

static enum ker_status collective_get(struct replay_task *t, struct task_op *op, const struct wrong *w)
{
    enum ker_status status = comm_get(t, MARS_FIELD_comm, &op->comm, w);
    if (status != KER_OK)
        return status;
    const struct mars_comm *own = t->trace->comm[mars_number(&t->record, MARS_FIELD_comm, 0)];
    int32_t size = t->comms[op->comm].size;
    int64_t root = mars_number(&t->record, MARS_FIELD_root, 0);
    if (root < 0 || root >= size)
        return fail(w, "the root is %lld in a communicator of %d", (long long)root, size);
    op->peer = (int32_t)root;
    switch (op->collective) {
    case TASK_COLL_BARRIER:
        return KER_OK;
    case TASK_COLL_GATHER:
        return bytes_get(t, root == own->rank ? MARS_FIELD_recvbytes : MARS_FIELD_bytes, &op->bytes, w);
    case TASK_COLL_SCATTER:
        return bytes_get(t, root == own->rank ? MARS_FIELD_bytes : MARS_FIELD_recvbytes, &op->bytes, w);
    case TASK_COLL_ALLGATHER: /* the receiving side is right with MPI_IN_PLACE, too */
    case TASK_COLL_ALLTOALL:
        return bytes_get(t, MARS_FIELD_recvbytes, &op->bytes, w);
    case TASK_COLL_GATHERV:
    case TASK_COLL_SCATTERV:
    case TASK_COLL_ALLGATHERV:
    case TASK_COLL_ALLTOALLV:
    case TASK_COLL_REDUCE_SCATTER:
        return lists_get(t, op, size, own->rank, w);
    default:
        return bytes_get(t, MARS_FIELD_bytes, &op->bytes, w);
    }
}

/* ---- the call ---- */

static ker_time picoseconds(uint64_t ns)
{
    return ns > (uint64_t)KER_TIME_MAX / 4000 ? KER_TIME_MAX / 4 : (ker_time)ns * 1000;
}

ker_time replay_gap(const struct replay_task *t)
{
    const struct mars_record *r = &t->record;
    if (t->read <= 1) /* the program before MPI_Init is none of the job's */
        return 0;
    return picoseconds(r->gap_ns - (t->rules->cpu && r->away_ns < r->gap_ns ? r->away_ns : 0));
}

/* Is it a call on a communicator of which the replay knows nothing? */
static bool is_elsewhere(const struct replay_task *t)
{
    int64_t number = mars_number(&t->record, MARS_FIELD_comm, 0);
    return number > 0 && (uint64_t)number < t->trace->comms && t->comm[number] < 0;
}

static enum ker_status unknown_get(struct replay_task *t, struct task_op *op, bool *some,
                                   const struct wrong *w)
{
    if (!t->rules->unknown)
        return fail(w,
                    "%s cannot be replayed; jobs[].unknown = \"compute\" takes such calls as computation of "
                    "the time they took",
                    is_elsewhere(t) ? "a call between two groups, or with tasks that are not in the trace,"
                                    : "it");
    op->kind = TASK_OP_COMPUTE;
    op->time = picoseconds(t->record.duration_ns);
    *some = op->time > 0;
    return KER_OK;
}

enum ker_status replay_translate(struct replay_task *t, struct task_op *op, bool *some, const char *path,
                                 struct ker_error *error)
{
    const struct replay_call *call = call_of(t, t->record.function);
    const struct wrong w = {t, path, error};
    *op = (struct task_op){.kind = call->op, .call = call->name};
    *some = true;
    switch (is_elsewhere(t) && call->sort != LOCAL ? UNKNOWN : (enum sort)call->sort) {
    case END:
        return KER_OK;
    case MESSAGE:
        op->mode = call->more;
        return message_get(t, call, op, &w);
    case EXCHANGE:
        return exchange_get(t, op, &w);
    case NAMED:
        named_get(t, op);
        return KER_OK;
    case COMPLETE:
        return complete_get(t, op, some, &w);
    case PROBE:
        return probe_get(t, op, &w);
    case COLLECTIVE:
        op->collective = call->more;
        return collective_get(t, op, &w);
    case CREATE:
    case CREATE_GROUP:
        op->collective = call->more;
        op->bytes = 8;
        if (call->sort == CREATE)
            return comm_get(t, MARS_FIELD_comm, &op->comm, &w);
        *some = mars_number(&t->record, MARS_FIELD_newcomm, 0) != 0;
        return *some ? comm_get(t, MARS_FIELD_newcomm, &op->comm, &w) : KER_OK;
    case FILES:
        op->kind = TASK_OP_COMPUTE;
        op->call = "MPI-IO";
        op->time = picoseconds(t->record.duration_ns);
        *some = op->time > 0;
        return KER_OK;
    case UNKNOWN:
        return unknown_get(t, op, some, &w);
    default:
        *some = false;
        return KER_OK;
    }
}
