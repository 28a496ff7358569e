/* foreign_record.c - operations of a reader of the simulator as records of the calls that they are.
 *
 * An operation is the plainest call that it can be: what a started persistent request sends is an MPI_Isend.
 * Times are whole nanoseconds, what is left over is added to the next one.
 */
#include "tools/marsconv/foreign.h"

#include <ctype.h>
#include <string.h>

/* ---- outstanding requests ---- */

struct live {
    uint64_t id;
    bool message; /* no collective: it may be freed */
    bool asked;   /* a wait for any has named it */
};

static const struct ker_table_kind live_kind = KER_TABLE_U64(struct live);

static struct live *live_find(const struct cfr_live *live, uint64_t id)
{
    return ker_table_find(&live_kind, &live->ids, &id);
}

/* All are done: they are requests no more. */
static void live_none(struct cfr_live *live, struct conv_held *held)
{
    for (const struct live *l = NULL; held && (l = ker_table_next(&live_kind, &live->ids, l));)
        conv_held_done(held, l->id, true);
    ker_table_clear(&live_kind, &live->ids);
    live->any = 0;
}

/* What the operation makes of them; held: their numbers, NULL: they have none. */
static void live_follow(struct cfr_live *live, const struct task_op *op, struct conv_held *held)
{
    bool is_new, one = op->kind == TASK_OP_WAIT;
    if (op->kind == TASK_OP_ISEND || op->kind == TASK_OP_IRECV || op->kind == TASK_OP_ICOLLECTIVE) {
        struct live *l = ker_table_add(&live_kind, &live->ids, &op->request, &is_new);
        *l = (struct live){.id = op->request, .message = op->kind != TASK_OP_ICOLLECTIVE};
    } else if (one || op->kind == TASK_OP_WAITALL) {
        for (uint32_t i = 0; i < (one ? 1 : op->request_count); i++) {
            struct live *l = live_find(live, one ? op->request : op->requests[i]);
            if (l)
                ker_table_drop(&live_kind, &live->ids, l);
        }
        if (live->any >= live->ids.count)
            live_none(live, held);
    } else if (op->kind == TASK_OP_WAITANY) {
        for (uint32_t i = 0; i < op->request_count; i++) {
            struct live *l = live_find(live, op->requests[i]);
            if (l)
                l->asked = true;
        }
        if (++live->any >= live->ids.count)
            live_none(live, held);
    }
}

/* Reads the task once to know for which requests it does not wait. */
static void never_find(struct cfr_reading *r)
{
    struct trace_reader ops;
    struct task_op op;
    foreign_operations(r->program, r->about.task->number, &ops);
    while (trace_reader_next(&ops, &op))
        live_follow(&r->never, &op, NULL);
    trace_reader_release(&ops);
}

/* ---- times ---- */

static bool op_read(struct cfr_reading *r)
{
    return r->has_op = trace_reader_next(&r->ops, &r->op);
}

/* The next operation that is a call, or a call that is reported: sums up what lies before it. */
static void op_next(struct cfr_reading *r)
{
    for (; r->has_op && !r->call; op_read(r)) {
        if (r->op.kind == TASK_OP_COMPUTE) {
            r->computed += (uint64_t)r->op.time;
        } else if (r->op.kind != TASK_OP_TAKES) {
            break;
        } else if (r->op.mode == FOREIGN_APART) {
            r->apart += (uint64_t)r->op.time;
        } else if (r->op.mode == FOREIGN_CLOCK) {
            r->clock = (uint64_t)r->op.time;
        } else { /* FOREIGN_CALL */
            r->call = r->op.call;
            r->call_line = r->op.line;
            r->call_took = (uint64_t)r->op.time;
        }
    }
}

/* Is the next operation one of the call that is reported? Nothing lies between them. */
static bool op_of_call(const struct cfr_reading *r)
{
    return r->has_op && r->op.kind != TASK_OP_COMPUTE && r->op.kind != TASK_OP_TAKES &&
           (!r->call || r->op.line == r->call_line);
}

static uint64_t nanoseconds(uint64_t time, uint64_t *rest)
{
    time += *rest;
    *rest = time % 1000;
    return time / 1000;
}

/* That before the record, and that of its call, which was reported before or comes next. */
static void times_set(struct cfr_reading *r, struct conv_record *record)
{
    uint64_t computed = nanoseconds(r->computed, &r->computed_rest),
             apart = nanoseconds(r->apart, &r->apart_rest), took = 0;
    r->computed = r->apart = 0;
    if (r->call && !record->added) {
        took = r->call_took;
        r->call = NULL;
    } else if (!r->call && r->has_op && r->op.kind == TASK_OP_TAKES && r->op.mode == FOREIGN_TOOK) {
        took = (uint64_t)r->op.time;
        op_read(r);
    }
    record->call.gap_ns = computed + apart;
    record->call.away_ns = apart;
    record->call.duration_ns = nanoseconds(took, &r->took_rest);
    record->start_ns = r->now_ns + record->call.gap_ns;
    r->now_ns = record->start_ns + record->call.duration_ns;
    if (r->over_ns) {
        r->over_ns += record->call.gap_ns + record->call.duration_ns;
        record->over_ns = r->over_ns;
    }
}

/* ---- what is called ---- */

/* Is the operation no call of the program, but what it did to a request whose variable got another one? */
static bool is_added(const struct task_op *op)
{
    const struct trace_function *f = trace_function_find(op->call);
    return f && ((op->kind == TASK_OP_REQUEST_FREE && f->op != op->kind) ||
                 (op->kind == TASK_OP_WAIT && f->sort != TRACE_COMPLETE));
}

static const char *send_name(const struct task_op *op)
{
    static const char *const names[][4] = {{"MPI_Send", "MPI_Ssend", "MPI_Bsend", "MPI_Rsend"},
                                           {"MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Irsend"}};
    return names[op->kind == TASK_OP_ISEND][op->mode & 3];
}

/* Tests that found something are waits in the replay; the reader says what they were. */
static const char *wait_name(const struct task_op *op)
{
    static const char *const names[] = {"MPI_Wait", "MPI_Waitall", "MPI_Waitany", "MPI_Waitsome",
                                        "MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op->call, names[i]) == 0)
            return names[i];
    return op->kind == TASK_OP_WAIT ? "MPI_Wait" : "MPI_Waitall";
}

static void collective_name(const struct task_op *op, char name[48])
{
    const char *call = trace_collective_name(op->collective), *base = call + strlen("MPI_");
    if (op->kind == TASK_OP_COLLECTIVE)
        snprintf(name, 48, "%s", call);
    else
        snprintf(name, 48, "MPI_I%c%s", tolower((unsigned char)*base), base + 1);
}

static void request_make(struct cfr_reading *r, bool persistent)
{
    const struct live *never = live_find(&r->never, r->op.request);
    conv_made_number(&r->made, MARS_FIELD_request, conv_held_make(r->held, r->op.request, persistent));
    r->to_free = never && never->message && !never->asked ? r->op.request : 0;
}

static void collective_make(struct cfr_reading *r, struct conv_record *record)
{
    const struct task_op *op = &r->op;
    const struct task_comm *comm = &r->about.of[op->comm];
    bool request = op->kind == TASK_OP_ICOLLECTIVE, missing = false;
    char name[48], fields[64];
    if (op->collective == TASK_COLL_COMM) { /* which one is made the trace does not say */
        conv_made_number(&r->made, MARS_FIELD_newcomm, 0);
        snprintf(fields, sizeof fields, "comm newcomm%s", request ? " request" : "");
        snprintf(name, sizeof name, "%s",
                 r->reader->calls ? op->call
                 : request        ? "MPI_Comm_idup"
                                  : "MPI_Comm_dup");
    } else {
        int32_t rank = task_comm_rank(comm, (int32_t)r->about.task->number);
        const char *those = conv_made_collective(&r->made, op, rank, comm->size, &missing);
        snprintf(fields, sizeof fields, "%s%s", those, request ? " request" : "");
        collective_name(op, name);
    }
    r->missing |= missing && r->reader->lists;
    record->assumed = !r->reader->lists && foreign_has_counts(op->collective);
    if (request)
        request_make(r, false);
    conv_made_record(&r->made, &r->about, &record->call, name, fields);
}

static void message_make(struct cfr_reading *r, struct conv_record *record)
{
    const struct task_op *op = &r->op;
    bool sends = op->kind == TASK_OP_SEND || op->kind == TASK_OP_ISEND || op->kind == TASK_OP_SEND_INIT,
         request = op->kind != TASK_OP_SEND && op->kind != TASK_OP_RECV && op->kind != TASK_OP_PROBE,
         both = op->kind == TASK_OP_SENDRECV;
    const char *fields = both                        ? "bytes dest tag recvbytes source recvtag comm"
                         : op->kind == TASK_OP_PROBE ? "source tag comm"
                         : sends   ? (request ? "bytes dest tag comm request" : "bytes dest tag comm")
                         : request ? "recvbytes source tag comm request"
                                   : "recvbytes source tag comm";
    if (sends || both)
        conv_made_send(&r->made, op);
    if (!sends)
        conv_made_receive(&r->made, op, both);
    if (request && !both)
        request_make(r, op->kind == TASK_OP_SEND_INIT || op->kind == TASK_OP_RECV_INIT);
    conv_made_record(&r->made, &r->about, &record->call,
                     r->reader->calls ? op->call
                     : both           ? "MPI_Sendrecv"
                     : sends          ? send_name(op)
                     : request        ? "MPI_Irecv"
                                      : "MPI_Recv",
                     fields);
}

static void wait_make(struct cfr_reading *r, struct conv_record *record)
{
    bool any = r->op.kind == TASK_OP_WAITANY || r->op.kind == TASK_OP_WAITSOME;
    conv_made_requests(&r->made, r->held, &r->op, any && r->op.request_count > 1);
    conv_made_record(&r->made, &r->about, &record->call, wait_name(&r->op), "requests[] done[]");
}

/* All operations of a call that starts several are read here; `op` is the last of them then. */
static void start_make(struct cfr_reading *r, struct conv_record *record)
{
    const char *call = r->op.call;
    size_t count = 0;
    do {
        KER_RESERVE(r->made.list[0], r->made.room[0], count + 1);
        r->made.list[0][count++] = conv_held_number(r->held, r->op.request);
    } while (op_read(r) && r->op.kind == TASK_OP_START && op_of_call(r));
    r->made.value[MARS_FIELD_requests] =
        (struct mars_value){.count = (uint32_t)count, .list = r->made.list[0]};
    conv_made_record(&r->made, &r->about, &record->call, call, "requests[]");
}

/* MPI_Cancel, MPI_Request_free. */
static void named_make(struct cfr_reading *r, struct conv_record *record)
{
    bool frees = r->op.kind == TASK_OP_REQUEST_FREE;
    conv_made_number(&r->made, MARS_FIELD_request, conv_held_number(r->held, r->op.request));
    if (frees)
        conv_held_done(r->held, r->op.request, true);
    conv_made_record(&r->made, &r->about, &record->call, frees ? "MPI_Request_free" : "MPI_Cancel",
                     "request");
}

/* The record of `op`, which is read over. */
static void op_record(struct cfr_reading *r, struct conv_record *record)
{
    const struct task_op *op = &r->op;
    r->line = op->line;
    record->added = r->reader->calls && is_added(op);
    conv_made_number(&r->made, MARS_FIELD_comm, conv_about_comm(&r->about, op->comm));
    switch (op->kind) {
    case TASK_OP_START:
        start_make(r, record);
        return;
    case TASK_OP_CANCEL:
    case TASK_OP_REQUEST_FREE:
        named_make(r, record);
        break;
    case TASK_OP_WAIT:
    case TASK_OP_WAITALL:
    case TASK_OP_WAITANY:
    case TASK_OP_WAITSOME:
        wait_make(r, record);
        break;
    case TASK_OP_COLLECTIVE:
    case TASK_OP_ICOLLECTIVE:
        collective_make(r, record);
        break;
    case TASK_OP_FINALIZE:
        conv_made_record(&r->made, &r->about, &record->call, "MPI_Finalize", "");
        break;
    case TASK_OP_MARK: /* of a level that marks */
        conv_made_number(&r->made, MARS_FIELD_value, TRACE_MARK_LEAST);
        conv_made_record(&r->made, &r->about, &record->call, "MPI_Pcontrol", "value");
        break;
    default: /* readers of these formats have no others */
        message_make(r, record);
    }
    if (!r->reader->calls)
        live_follow(&r->live, op, r->held);
    op_read(r);
}

/* A call that came to no operation: it is local, names null requests only, or found nothing. */
static void call_record(struct cfr_reading *r, struct conv_record *record)
{
    const struct trace_function *f = trace_function_find(r->call);
    const char *fields = "";
    r->line = r->call_line;
    conv_made_list(&r->made, MARS_FIELD_requests, 0, 0);
    conv_made_list(&r->made, MARS_FIELD_done, 1, 0);
    conv_made_number(&r->made, MARS_FIELD_comm, conv_about_comm(&r->about, 0));
    conv_made_number(&r->made, MARS_FIELD_request, 0);
    conv_made_number(&r->made, MARS_FIELD_flag, 0);
    if (f && f->sort == TRACE_COMPLETE)
        fields = "requests[] done[]";
    else if (f && f->sort == TRACE_PROBE)
        fields = "comm flag";
    else if (f && f->sort == TRACE_NAMED)
        fields = f->op == TASK_OP_START || f->op == TASK_OP_STARTALL ? "requests[]" : "request";
    conv_made_record(&r->made, &r->about, &record->call, r->call, fields);
}

/* ---- the task ---- */

void cfr_begin(struct cfr_reading *r)
{
    if (!r->reader->calls)
        never_find(r);
    r->held = conv_held_new();
    foreign_operations(r->program, r->about.task->number, &r->ops);
    r->ops.marks = true;
    op_read(r);
    op_next(r);
}

void cfr_end(struct cfr_reading *r)
{
    if (r->held) {
        trace_reader_release(&r->ops);
        conv_held_free(r->held);
    }
    ker_table_release(&r->live.ids);
    ker_table_release(&r->never.ids);
    r->live = r->never = (struct cfr_live){0};
    r->held = NULL;
    r->begun = r->has_op = false;
    r->call = NULL;
    r->to_free = r->computed = r->apart = r->clock = 0;
    r->computed_rest = r->apart_rest = r->took_rest = r->now_ns = r->over_ns = 0;
    r->line = 0;
}

static void request_free(struct cfr_reading *r, struct conv_record *record)
{
    conv_made_number(&r->made, MARS_FIELD_request, conv_held_number(r->held, r->to_free));
    conv_held_done(r->held, r->to_free, true);
    conv_made_record(&r->made, &r->about, &record->call, "MPI_Request_free", "request");
    r->to_free = 0;
}

bool cfr_next(struct cfr_reading *r, struct conv_record *record)
{
    record->call = (struct mars_record){.polls = 1};
    record->start_ns = r->now_ns;
    record->over_ns = r->over_ns;
    record->first = !r->begun;
    if (!r->begun && !r->reader->calls) { /* a task begins when it is over */
        r->begun = true;
        r->over_ns = record->over_ns = r->clock / 1000;
        conv_made_record(&r->made, &r->about, &record->call, "MPI_Init", "");
        return true;
    }
    r->begun = true;
    if (r->to_free) {
        request_free(r, record);
        return true;
    }
    op_next(r);
    if (!r->has_op && !r->call)
        return false;
    if (op_of_call(r))
        op_record(r, record);
    else
        call_record(r, record);
    times_set(r, record);
    return true;
}
