/* foreign_record.c - operations of a reader of the simulator as records of the calls that they are.
 *
 * An operation is the plainest call that it can be: what a started persistent request sends is an MPI_Isend.
 * Times are whole nanoseconds, what is left over is added to the next one.
 */
#include "tools/marsconv/foreign.h"

#include <ctype.h>
#include <string.h>

/* ---- requests under way ---- */

struct live {
    uint64_t id;
    bool message; /* no collective: it may be freed */
    bool asked;   /* a wait for any has named it */
};

static const struct ker_table_kind live_kind = TRACE_TABLE_U64(struct live);

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

/* The next operation that is a call; sums up what lies before it. */
static void op_next(struct cfr_reading *r)
{
    while ((r->has_op = trace_reader_next(&r->ops, &r->op))) {
        if (r->op.kind == TASK_OP_COMPUTE)
            r->computed += (uint64_t)r->op.time;
        else if (r->op.kind == TASK_OP_TAKES && r->op.mode == FOREIGN_APART)
            r->apart += (uint64_t)r->op.time;
        else if (r->op.kind == TASK_OP_TAKES && r->op.mode == FOREIGN_CLOCK)
            r->clock = (uint64_t)r->op.time;
        else
            break;
    }
}

static uint64_t nanoseconds(uint64_t time, uint64_t *rest)
{
    time += *rest;
    *rest = time % 1000;
    return time / 1000;
}

/* That before `op`, and that of its call, which the next operation tells: `op` is that then. */
static void times_set(struct cfr_reading *r, struct conv_record *record)
{
    uint64_t computed = nanoseconds(r->computed, &r->computed_rest),
             apart = nanoseconds(r->apart, &r->apart_rest), took = 0;
    r->computed = r->apart = 0;
    op_next(r);
    if (r->has_op && r->op.kind == TASK_OP_TAKES) {
        took = (uint64_t)r->op.time;
        op_next(r);
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

static void request_make(struct cfr_reading *r)
{
    const struct live *never = live_find(&r->never, r->op.request);
    conv_made_number(&r->made, MARS_FIELD_request,
                     conv_held_make(r->held, r->op.request, r->op.request, false));
    r->to_free = never && never->message && !never->asked ? r->op.request : 0;
}

static bool has_counts(unsigned collective)
{
    return collective == TASK_COLL_GATHERV || collective == TASK_COLL_SCATTERV ||
           collective == TASK_COLL_ALLGATHERV || collective == TASK_COLL_ALLTOALLV ||
           collective == TASK_COLL_REDUCE_SCATTER;
}

static void collective_make(struct cfr_reading *r, struct conv_record *record)
{
    const struct task_op *op = &r->op;
    const struct task_comm *comm = &r->about.of[op->comm];
    bool request = op->kind == TASK_OP_ICOLLECTIVE, missing = false;
    char name[48], fields[64];
    if (op->collective == TASK_COLL_COMM) { /* which one is made the trace does not tell */
        conv_made_number(&r->made, MARS_FIELD_newcomm, 0);
        snprintf(fields, sizeof fields, "comm newcomm%s", request ? " request" : "");
        snprintf(name, sizeof name, request ? "MPI_Comm_idup" : "MPI_Comm_dup");
    } else {
        int32_t rank = task_comm_rank(comm, (int32_t)r->about.task->number);
        const char *those = conv_made_collective(&r->made, op, rank, comm->size, &missing);
        snprintf(fields, sizeof fields, "%s%s", those, request ? " request" : "");
        collective_name(op, name);
    }
    record->assumed = !r->lists && has_counts(op->collective);
    if (request)
        request_make(r);
    conv_made_record(&r->made, &r->about, &record->call, name, fields);
}

static void message_make(struct cfr_reading *r, struct conv_record *record)
{
    const struct task_op *op = &r->op;
    const char *name = "MPI_Recv", *fields = "recvbytes source tag comm";
    if (op->kind == TASK_OP_SEND || op->kind == TASK_OP_ISEND) {
        conv_made_send(&r->made, op);
        name = send_name(op);
        fields = op->kind == TASK_OP_SEND ? "bytes dest tag comm" : "bytes dest tag comm request";
    } else if (op->kind == TASK_OP_SENDRECV) {
        conv_made_send(&r->made, op);
        conv_made_receive(&r->made, op, true);
        name = "MPI_Sendrecv";
        fields = "bytes dest tag recvbytes source recvtag comm";
    } else {
        conv_made_receive(&r->made, op, false);
        if (op->kind == TASK_OP_IRECV) {
            name = "MPI_Irecv";
            fields = "recvbytes source tag comm request";
        }
    }
    if (op->kind == TASK_OP_ISEND || op->kind == TASK_OP_IRECV)
        request_make(r);
    conv_made_record(&r->made, &r->about, &record->call, name, fields);
}

static void wait_make(struct cfr_reading *r, struct conv_record *record)
{
    conv_made_requests(&r->made, r->held, &r->op, r->op.kind == TASK_OP_WAITANY && r->op.request_count > 1);
    conv_made_record(&r->made, &r->about, &record->call, wait_name(&r->op), "requests done");
}

/* The record of `op`. */
static void op_record(struct cfr_reading *r, struct conv_record *record)
{
    const struct task_op *op = &r->op;
    r->line = op->line;
    conv_made_number(&r->made, MARS_FIELD_comm, conv_about_comm(&r->about, op->comm));
    switch (op->kind) {
    case TASK_OP_SEND:
    case TASK_OP_ISEND:
    case TASK_OP_RECV:
    case TASK_OP_IRECV:
    case TASK_OP_SENDRECV:
        message_make(r, record);
        break;
    case TASK_OP_WAIT:
    case TASK_OP_WAITALL:
    case TASK_OP_WAITANY:
        wait_make(r, record);
        break;
    case TASK_OP_COLLECTIVE:
    case TASK_OP_ICOLLECTIVE:
        collective_make(r, record);
        break;
    default:
        ker_assert(op->kind == TASK_OP_FINALIZE); /* readers of these formats have no others */
        r->finished = true;
        conv_made_record(&r->made, &r->about, &record->call, "MPI_Finalize", "");
    }
    live_follow(&r->live, op, r->held);
}

/* ---- the task ---- */

void cfr_begin(struct cfr_reading *r)
{
    never_find(r);
    r->held = conv_held_new();
    foreign_operations(r->program, r->about.task->number, &r->ops);
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
    r->begun = r->finished = r->has_op = false;
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
    if (!r->begun) { /* a task begins when it is over */
        r->begun = true;
        r->over_ns = record->over_ns = r->clock / 1000;
        conv_made_record(&r->made, &r->about, &record->call, "MPI_Init", "");
        return true;
    }
    if (r->to_free) {
        request_free(r, record);
        return true;
    }
    if (!r->has_op || r->finished)
        return false;
    op_record(r, record);
    times_set(r, record);
    return true;
}
