/* events.c - the events of a task become its operations.
 *
 * A call is what lies between entering and leaving the outermost region of MPI; what is not in such a region
 * is computation. Records say what the call did; requests that it completed are waited for when it is left.
 */
#include "traces/otf2/otf2.h"

#include <stdlib.h>

/* ---- time ---- */

static uint64_t picoseconds(const struct otf2_task *t, uint64_t ticks)
{
    unsigned __int128 time = (unsigned __int128)ticks * (uint64_t)KER_S / t->trace->resolution;
    return time < (unsigned __int128)TRACE_GAP_MOST ? (uint64_t)time : (uint64_t)TRACE_GAP_MOST;
}

/* The clock now. */
static void clock_report(struct otf2_task *t, uint64_t now)
{
    foreign_report(t->out, FOREIGN_CLOCK,
                   now >= t->trace->offset ? picoseconds(t, now - t->trace->offset) : 0);
}

/* The task has computed since the last call, or the first event. */
static void computed(struct otf2_task *t, uint64_t now)
{
    foreign_compute(t->out, (ker_time)picoseconds(t, now - t->mark));
    t->mark = now;
}

static const char *call_name(const struct otf2_task *t, const char *otherwise)
{
    return t->outer && t->outer->function ? t->outer->function->name : otherwise;
}

static void op_put(struct otf2_task *t, const struct otf2_event *event, struct task_op *op)
{
    if (t->depth == 0) /* a record outside of any call */
        computed(t, event->time);
    op->line = 0;
    foreign_put(t->out, op);
    t->records++;
    t->puts++;
}

/* ---- requests ---- */

struct active {
    uint64_t used; /* 1 */
    uint64_t request, id;
    bool send;
};

KER_TABLE_KEY(static, active_kind, struct active, request);

/* What bore the number before is never completed. */
static uint64_t request_new(struct otf2_task *t, uint64_t request, bool send)
{
    bool is_new;
    struct active key = {1, request, ++t->ids, send};
    struct active *entry = ker_table_add(&active_kind, &t->active, &key, &is_new);
    if (!is_new)
        t->out->doubts |= 1u << OTF2_DOUBT_SENDS;
    *entry = key;
    return key.id;
}

static void done_wait(struct otf2_task *t, const struct otf2_event *event)
{
    if (t->dones == 0)
        return;
    struct task_op op = {.kind = t->dones == 1 ? TASK_OP_WAIT : TASK_OP_WAITALL,
                         .call = call_name(t, "MPI_Wait"),
                         .request = t->done[0],
                         .requests = t->done,
                         .request_count = t->dones};
    op_put(t, event, &op);
    t->dones = 0;
}

static enum ker_status request_done(struct otf2_task *t, const struct otf2_event *event)
{
    struct active key = {.used = 1, .request = event->request};
    struct active *entry = ker_table_find(&active_kind, &t->active, &key);
    if (!entry && event->kind == OTF2_CANCELLED) /* a receive that never was */
        return KER_OK;
    if (!entry)
        return otf2_task_fail(t, event, "request %llu is completed, but was not made",
                              (unsigned long long)event->request);
    *KER_APPEND(t->done, t->dones) = entry->id;
    ker_table_drop(&active_kind, &t->active, entry);
    if (t->depth == 0)
        done_wait(t, event);
    return KER_OK;
}

/* ---- messages ---- */

static enum ker_status message_get(struct otf2_task *t, const struct otf2_event *where,
                                   const struct otf2_event *event, struct task_op *op)
{
    const struct otf2_comm *comm = otf2_comm_find(t->trace, event->comm);
    if (!comm)
        return otf2_task_fail(t, where, "communicator %u, of which there is no definition", event->comm);
    if (comm->kind != OTF2_COMM_RANKS)
        return otf2_task_fail(t, where,
                              "a message on communicator %u, which is %s: these are not read from archives",
                              event->comm,
                              comm->kind == OTF2_COMM_BETWEEN ? "an intercommunicator"
                              : comm->kind == OTF2_COMM_SELF  ? "MPI_COMM_SELF"
                                                              : "none of MPI");
    const struct task_comm *of = &t->out->trace->comm[comm->index];
    if (event->peer >= (uint32_t)of->size)
        return otf2_task_fail(t, where, "rank %u in communicator %u, which has %d", event->peer, event->comm,
                              of->size);
    if (task_comm_rank(of, (int32_t)t->out->task) < 0)
        return otf2_task_fail(t, where, "task %u is no member of communicator %u", t->out->task, event->comm);
    if (event->tag > INT32_MAX || event->sent > FOREIGN_BYTES_MOST)
        return otf2_task_fail(t, where, "tag %u, %llu bytes; tags are at most 2^31 - 1, messages 1 TiB",
                              event->tag, (unsigned long long)event->sent);
    op->comm = comm->index;
    op->peer = (int32_t)event->peer;
    op->tag = (int32_t)event->tag;
    op->bytes = event->sent;
    return KER_OK;
}

static bool in_sendrecv(const struct otf2_task *t)
{
    return t->outer && t->outer->function && otf2_calls_of(t->outer->function) == OTF2_CALLS_SENDRECV;
}

/* One side of MPI_Sendrecv: the call is put when it is left. */
static enum ker_status both_add(struct otf2_task *t, const struct otf2_event *event, const struct task_op *op)
{
    if (t->records && t->both.comm != op->comm)
        return otf2_task_fail(t, event, "it sends and receives on two communicators");
    if (event->kind == OTF2_SEND) {
        t->both.peer = op->peer;
        t->both.tag = op->tag;
        t->both.bytes = op->bytes;
    } else {
        t->both.peer2 = op->peer;
        t->both.tag2 = op->tag;
        t->both.bytes2 = op->bytes;
    }
    t->both.comm = op->comm;
    t->records++;
    return KER_OK;
}

static enum ker_status message_put(struct otf2_task *t, const struct otf2_event *event)
{
    static const uint8_t kind[] = {
        [OTF2_SEND] = TASK_OP_SEND, [OTF2_RECEIVE] = TASK_OP_RECV, [OTF2_ISEND] = TASK_OP_ISEND};
    static const char *const name[] = {
        [OTF2_SEND] = "MPI_Send", [OTF2_RECEIVE] = "MPI_Recv", [OTF2_ISEND] = "MPI_Isend"};
    struct task_op op = {.kind = kind[event->kind], .call = call_name(t, name[event->kind])};
    enum ker_status status = message_get(t, event, event, &op);
    if (status != KER_OK)
        return status;
    t->bytes += event->kind == OTF2_RECEIVE ? 0 : op.bytes;
    if (event->kind != OTF2_ISEND && in_sendrecv(t))
        return both_add(t, event, &op);
    if (event->kind != OTF2_RECEIVE && t->outer && t->outer->function)
        op.mode = t->outer->function->sort == TRACE_MESSAGE ? t->outer->function->more : TASK_MODE_STANDARD;
    if (event->kind == OTF2_ISEND)
        op.request = request_new(t, event->request, true);
    op_put(t, event, &op);
    return KER_OK;
}

/* A receive, or a collective that does not block, of which only its completion says what it is. */
static enum ker_status ahead_put(struct otf2_task *t, const struct otf2_event *event)
{
    ker_assert(t->ahead_next < t->ahead.count);
    const struct otf2_event *of = &t->ahead.of[t->ahead_next++];
    bool receive = event->kind == OTF2_IRECV_REQUEST, some = true;
    if (of->kind == OTF2_CANCELLED) {
        t->records++;
        return KER_OK;
    }
    if (receive && of->kind != OTF2_IRECV)
        return otf2_task_fail(t, event,
                              "request %llu has no record MPI_IRECV: source, tag and size of the receive "
                              "are not in the archive (EZTrace does not write them)",
                              (unsigned long long)event->request);
    if (!receive && of->kind != OTF2_COMPLETE)
        return otf2_task_unknown(t, event,
                                 "a request without a record NON_BLOCKING_COLLECTIVE_COMPLETE: which "
                                 "collective it is of is not in the archive");
    struct task_op op = {.kind = receive ? TASK_OP_IRECV : TASK_OP_ICOLLECTIVE, .outcome = 0};
    enum ker_status status = receive ? message_get(t, event, of, &op) : otf2_collective(t, of, &op, &some);
    if (status != KER_OK)
        return status;
    op.call = call_name(t, receive ? "MPI_Irecv" : op.call);
    op.request = request_new(t, event->request, false);
    if (some)
        op_put(t, event, &op);
    return KER_OK;
}

static enum ker_status collective_put(struct otf2_task *t, const struct otf2_event *event)
{
    struct task_op op = {.kind = TASK_OP_COLLECTIVE};
    bool some;
    enum ker_status status = otf2_collective(t, event, &op, &some);
    t->opened = false;
    t->records++;
    if (status != KER_OK || !some)
        return status;
    if (t->outer && t->outer->function && otf2_calls_of(t->outer->function) == OTF2_CALLS_COLLECTIVE)
        op.call = t->outer->function->name;
    t->bytes += op.bytes;
    op_put(t, event, &op);
    return KER_OK;
}

/* ---- calls ---- */

static void call_begin(struct otf2_task *t, const struct otf2_event *event, const struct otf2_region *region)
{
    t->outer = region;
    t->records = t->puts = 0;
    t->unknown = false;
    t->bytes = 0;
    t->begun = event->time;
    t->both = (struct task_op){.kind = TASK_OP_SENDRECV,
                               .peer = TASK_PROC_NULL,
                               .peer2 = TASK_PROC_NULL,
                               .call = region->function ? region->function->name : "MPI_Sendrecv"};
    computed(t, event->time);
}

static enum ker_status call_check(struct otf2_task *t, const struct otf2_event *event, unsigned calls)
{
    bool opened = t->opened;
    t->opened = false;
    if (opened)
        return otf2_task_unknown(t, event,
                                 "MPI_COLLECTIVE_BEGIN without MPI_COLLECTIVE_END: which collective it is, "
                                 "on what and of what size is not in the archive");
    if (calls == OTF2_CALLS_REFUSED)
        return otf2_task_unknown(t, event, "this is not read from archives");
    if (calls == OTF2_CALLS_COLLECTIVE && t->records == 0 && !t->unknown)
        return otf2_task_unknown(t, event,
                                 "a collective without a record: its communicator and sizes are not in "
                                 "the archive");
    return KER_OK;
}

static enum ker_status call_end(struct otf2_task *t, const struct otf2_event *event)
{
    unsigned calls = t->outer->function ? otf2_calls_of(t->outer->function) : OTF2_CALLS_ANY;
    enum ker_status status = call_check(t, event, calls);
    if (status != KER_OK)
        return status;
    if (calls == OTF2_CALLS_SENDRECV && t->records) {
        t->depth = 1; /* within the call still */
        op_put(t, event, &t->both);
        t->depth = 0;
    }
    if (calls == OTF2_CALLS_POLL && t->trace->polls && t->records == 0 && t->dones == 0) {
        struct task_op poll = {.kind = TASK_OP_POLL, .call = t->outer->function->name};
        foreign_put(t->out, &poll);
        t->puts++;
    }
    t->depth = 1;
    done_wait(t, event);
    t->depth = 0;
    if (calls == OTF2_CALLS_INIT) { /* what was before is none of the job's */
        t->init = true;
        t->out->code->gap = 0;
        clock_report(t, event->time);
    } else if (calls == OTF2_CALLS_FINALIZE) {
        t->finalized = true;
        t->final = event->time - t->begun;
    } else if (t->unknown) {
        foreign_compute(t->out, (ker_time)picoseconds(t, event->time - t->begun));
    } else {
        foreign_report(t->out, t->puts ? FOREIGN_TOOK : FOREIGN_APART,
                       picoseconds(t, event->time - t->begun));
    }
    if (t->outer->function)
        foreign_count(t->out, t->outer->text, t->bytes, picoseconds(t, event->time - t->begun) / 1000);
    t->mark = event->time;
    t->outer = NULL;
    return KER_OK;
}

static enum ker_status region_pass(struct otf2_task *t, const struct otf2_event *event)
{
    const struct otf2_region *region = otf2_region_find(t->trace, event->region);
    if (!region)
        return otf2_task_fail(t, event, "region %u, of which there is no definition", event->region);
    if (!region->mpi)
        return KER_OK;
    if (event->kind == OTF2_ENTER) {
        if (t->depth++ == 0)
            call_begin(t, event, region);
        return KER_OK;
    }
    if (t->depth == 0)
        return otf2_task_fail(t, event, "\"%s\" is left, but was not entered", region->text);
    return --t->depth == 0 ? call_end(t, event) : KER_OK;
}

static enum ker_status event_take(struct otf2_task *t, const struct otf2_event *event)
{
    if (event->time < t->last)
        return otf2_task_fail(t, event, "its time is %llu, that of the event before %llu",
                              (unsigned long long)event->time, (unsigned long long)t->last);
    if (!t->some) {
        t->mark = event->time;
        clock_report(t, event->time);
    }
    t->some = true;
    t->last = event->time;
    switch (event->kind) {
    case OTF2_ENTER:
    case OTF2_LEAVE:
        return region_pass(t, event);
    case OTF2_SEND:
    case OTF2_RECEIVE:
    case OTF2_ISEND:
        return message_put(t, event);
    case OTF2_IRECV_REQUEST:
    case OTF2_REQUEST:
        return ahead_put(t, event);
    case OTF2_ISEND_COMPLETE:
    case OTF2_IRECV:
    case OTF2_COMPLETE:
    case OTF2_CANCELLED:
        return request_done(t, event);
    case OTF2_COLLECTIVE_BEGIN:
        t->opened = true;
        return KER_OK;
    case OTF2_COLLECTIVE_END:
        return collective_put(t, event);
    case OTF2_REFUSED:
        return otf2_task_unknown(t, event, "one-sided communication is not read from archives");
    default:
        return KER_OK;
    }
}

bool otf2_task_event(void *task, const struct otf2_event *event)
{
    struct otf2_task *t = task;
    if (t->finalized) /* what follows is none of the job's */
        return true;
    return (t->status = event_take(t, event)) == KER_OK;
}

enum ker_status otf2_task_end(struct otf2_task *t)
{
    const struct otf2_event end = {.number = 0, .time = t->last};
    if (t->status != KER_OK)
        return t->status;
    if (t->depth && !t->finalized)
        return ker_fail(
            t->error, KER_BAD_INPUT,
            "%s: location %llu (task %u): its events end within %s: it died, or the archive was cut",
            t->trace->path, (unsigned long long)t->location, t->out->task, t->outer->text);
    if (t->init && !t->finalized)
        return ker_fail(t->error, KER_BAD_INPUT,
                        "%s: location %llu (task %u): its events end before MPI_Finalize: it died, or the "
                        "archive was cut",
                        t->trace->path, (unsigned long long)t->location, t->out->task);
    if (!t->finalized)
        computed(t, t->last);
    if (t->active.count)
        t->out->doubts |= 1u << OTF2_DOUBT_SENDS;
    t->depth = 1;
    op_put(t, &end, &(struct task_op){.kind = TASK_OP_FINALIZE, .call = "MPI_Finalize"});
    foreign_report(t->out, FOREIGN_TOOK, picoseconds(t, t->final));
    return KER_OK;
}

void otf2_task_release(struct otf2_task *t)
{
    otf2_ahead_release(&t->ahead);
    ker_table_release(&t->active);
    free(t->done);
}
