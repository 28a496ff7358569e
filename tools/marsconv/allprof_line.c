/* allprof_line.c - a line of a liballprof trace, with the operations that it became in the replay, as a
 * record.
 *
 * Times: the line's own. What the replay leaves out of the gap before a call (docs/traces.md: waiting between
 * tests, the tracer's work before MPI_Finalize) is the record's time away, so that computation, which is the
 * gap less this, is that of the replay. Operations say how much computation there is between two of them; it
 * is laid into the gaps of the lines on the way, and what is left into that of the last.
 */
#include "tools/marsconv/allprof.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_MOST 500 /* more than MPI has: then a family goes by its own name */

void apc_op_next(struct apc_reading *r)
{
    while ((r->has_op = trace_reader_next(&r->ops, &r->op)) && r->op.kind == TASK_OP_COMPUTE)
        r->computed_us += (uint64_t)(r->op.time / KER_US);
}

/* ---- times ---- */

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void times_set(struct apc_reading *r, struct conv_record *record, bool has_op)
{
    const struct allprof_args *args = r->args;
    unsigned kind = args->call->kind;
    bool test = kind == ALLPROF_TEST || kind == ALLPROF_TEST_SOME || kind == ALLPROF_IPROBE;
    uint64_t raw = 0, computed;
    if (args->start_us != INT64_MIN && r->last_end_us != INT64_MIN && args->start_us > r->last_end_us)
        raw = (uint64_t)(args->start_us - r->last_end_us);
    bool waits =
        r->tested && (kind == ALLPROF_LOCAL || test) && raw <= (uint64_t)(r->trace->rules.poll_gap / KER_US);
    computed = has_op ? r->computed_us : waits ? 0 : minimum(raw, r->computed_us);
    raw = raw > computed ? raw : computed;
    r->computed_us -= computed;
    if (kind != ALLPROF_LOCAL)
        r->tested = test;
    record->call.gap_ns = raw * 1000;
    record->call.away_ns = (raw - computed) * 1000;
    record->call.duration_ns = 0;
    if (args->start_us != INT64_MIN && args->end_us != INT64_MIN && args->end_us > args->start_us)
        record->call.duration_ns = (uint64_t)(args->end_us - args->start_us) * 1000;
    record->start_ns = r->clock_us * 1000 + record->call.gap_ns;
    r->clock_us += raw + record->call.duration_ns / 1000;
    if (args->end_us != INT64_MIN && (kind == ALLPROF_INIT || r->last_end_us != INT64_MIN))
        r->last_end_us = args->end_us;
}

/* ---- fields ---- */

static void number_set(struct apc_reading *r, enum mars_field field, int64_t number)
{
    conv_made_number(&r->made, field, number);
}

static int64_t type_number(struct apc_reading *r, const struct allprof_type *type, int64_t size)
{
    return conv_about_type(&r->about, type->id, size, type->extent);
}

/* ---- point to point ---- */

static void send_set(struct apc_reading *r)
{
    conv_made_send(&r->made, &r->op);
    number_set(r, MARS_FIELD_type, type_number(r, &r->args->type, r->args->size));
}

static void receive_set(struct apc_reading *r, bool second)
{
    const struct allprof_args *args = r->args;
    bool own = second && args->call->mode == 0;
    conv_made_receive(&r->made, &r->op, second);
    number_set(r, MARS_FIELD_recvtype,
               type_number(r, own ? &args->type2 : &args->type, own ? args->size2 : args->size));
}

static void post_set(struct apc_reading *r, bool persistent)
{
    number_set(r, MARS_FIELD_request, conv_held_make(r->held, r->op.request, r->args->variable, persistent));
}

static const char *message_fields(struct apc_reading *r)
{
    switch (r->args->call->kind) {
    case ALLPROF_SEND:
        send_set(r);
        return "bytes type dest tag comm";
    case ALLPROF_ISEND:
    case ALLPROF_SEND_INIT:
        send_set(r);
        post_set(r, r->args->call->kind == ALLPROF_SEND_INIT);
        return "bytes type dest tag comm request";
    case ALLPROF_IRECV:
    case ALLPROF_RECV_INIT:
        receive_set(r, false);
        post_set(r, r->args->call->kind == ALLPROF_RECV_INIT);
        return "recvbytes recvtype source tag comm request";
    case ALLPROF_SENDRECV:
        send_set(r);
        receive_set(r, true);
        return "bytes type dest tag recvbytes recvtype source recvtag comm";
    case ALLPROF_PROBE:
        receive_set(r, false);
        return "source tag comm";
    default:
        receive_set(r, false);
        return "recvbytes recvtype source tag comm";
    }
}

static const char *iprobe_fields(struct apc_reading *r)
{
    int32_t peer = allprof_rank(&r->trace->rules, r->args->peer, r->args->group.size);
    number_set(r, MARS_FIELD_source, conv_made_rank(peer == INT32_MIN ? TASK_PROC_NULL : peer));
    number_set(r, MARS_FIELD_tag, r->args->tag < 0 ? -1 : r->args->tag);
    number_set(r, MARS_FIELD_flag, 0);
    return "source tag comm flag";
}

/* ---- requests ---- */

static void requests_set(struct apc_reading *r, bool unknown)
{
    conv_made_requests(&r->made, r->held, &r->op, unknown);
}

/* A test that completed nothing: what its variables hold. */
static void requests_guess(struct apc_reading *r)
{
    bool array = r->args->call->layout[0] == 'a';
    int64_t count = array ? r->args->variables : 1;
    int64_t *request = conv_made_list(&r->made, MARS_FIELD_requests, 0, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        request[i] = conv_held_in(r->held, r->args->variable + (uint64_t)i * r->stride);
    conv_made_list(&r->made, MARS_FIELD_done, 1, 0);
}

static const char *complete_fields(struct apc_reading *r, bool has_op)
{
    if (has_op)
        requests_set(r, (r->op.kind == TASK_OP_WAITANY || r->op.kind == TASK_OP_WAITSOME) &&
                            r->op.request_count > 1);
    else
        requests_guess(r);
    return "requests done";
}

/* All operations of a Start or Startall but the last are taken here. */
static const char *start_fields(struct apc_reading *r, bool has_op)
{
    size_t count = 0;
    conv_made_list(&r->made, MARS_FIELD_requests, 0, 0);
    while (has_op) {
        int64_t number = conv_held_number(r->held, r->op.request);
        KER_RESERVE(r->made.list[0], r->made.room[0], count + 1);
        r->made.list[0][count++] = number;
        apc_op_next(r);
        has_op = r->has_op && r->op.line == r->line && r->op.kind == TASK_OP_START;
    }
    r->made.value[MARS_FIELD_requests] =
        (struct mars_value){.count = (uint32_t)count, .list = r->made.list[0]};
    return "requests";
}

static const char *named_fields(struct apc_reading *r, bool has_op)
{
    number_set(r, MARS_FIELD_request, has_op ? conv_held_number(r->held, r->op.request) : 0);
    if (has_op && r->op.kind == TASK_OP_REQUEST_FREE)
        conv_held_done(r->held, r->op.request, true);
    return "request";
}

/* ---- collectives ---- */

static const char *collective_fields(struct apc_reading *r)
{
    const struct allprof_args *args = r->args;
    bool missing;
    const char *fields = conv_made_collective(&r->made, &r->op, args->group.rank, args->group.size, &missing);
    number_set(r, MARS_FIELD_type, type_number(r, &args->type, args->size));
    number_set(r, MARS_FIELD_recvtype, type_number(r, &args->type2, args->size2));
    number_set(r, MARS_FIELD_op,
               strchr(args->call->layout, 'o') ? conv_about_op(&r->about, args->reduction) : 0);
    if (missing && !r->trace->unlisted[0])
        snprintf(r->trace->unlisted, sizeof r->trace->unlisted,
                 "task %u, line %u: the counts of %s are not in the trace; it counts as one of 0 bytes",
                 r->about.task->number, r->line, args->call->name);
    return fields;
}

static const char *comm_new_fields(struct apc_reading *r)
{
    const struct allprof_event *made = NULL;
    const struct apc_file *file = &r->trace->file[r->about.task->number];
    if (r->op.comm >= 0 && (size_t)r->line_comm < file->events)
        made = &file->event[r->line_comm];
    number_set(r, MARS_FIELD_newcomm,
               made && made->kind == ALLPROF_EVENT_NEW ? conv_about_comm(&r->about, (int32_t)made->tally - 1)
                                                       : 0);
    r->made.numbers[0] = (struct mars_value){.number = r->args->colour < 0 ? -1 : r->args->colour};
    r->made.numbers[1] = (struct mars_value){.number = r->args->key};
    return strcmp(r->args->call->name, "MPI_Comm_split") == 0 ? "comm value value newcomm" : "comm newcomm";
}

/* ---- the line ---- */

static const char *fields_of(struct apc_reading *r, bool has_op)
{
    switch (r->args->call->kind) {
    case ALLPROF_SEND:
    case ALLPROF_RECV:
    case ALLPROF_ISEND:
    case ALLPROF_IRECV:
    case ALLPROF_SEND_INIT:
    case ALLPROF_RECV_INIT:
    case ALLPROF_SENDRECV:
    case ALLPROF_PROBE:
        return message_fields(r);
    case ALLPROF_IPROBE:
        return iprobe_fields(r);
    case ALLPROF_START:
        return start_fields(r, has_op);
    case ALLPROF_CANCEL:
    case ALLPROF_REQUEST_FREE:
        return named_fields(r, has_op);
    case ALLPROF_WAIT:
    case ALLPROF_WAIT_SOME:
    case ALLPROF_TEST:
    case ALLPROF_TEST_SOME:
        return complete_fields(r, has_op);
    case ALLPROF_COLLECTIVE:
        return collective_fields(r);
    case ALLPROF_COMM_NEW:
        return comm_new_fields(r);
    case ALLPROF_COMM_FREE:
        return "comm";
    default:
        return r->args->has_group ? "comm" : "";
    }
}

/* Is the operation the call itself, not one that it implies for a request that its variable held? */
static bool is_own(const struct apc_reading *r)
{
    switch (r->args->call->kind) {
    case ALLPROF_ISEND:
    case ALLPROF_IRECV:
    case ALLPROF_SEND_INIT:
    case ALLPROF_RECV_INIT:
    case ALLPROF_START:
        return r->op.kind != TASK_OP_REQUEST_FREE && r->op.kind != TASK_OP_WAIT;
    default:
        return true;
    }
}

/* MPI_Request_free or MPI_Wait of what the variable held. */
static void implied_set(struct apc_reading *r, struct conv_record *record)
{
    record->added = true;
    record->call.duration_ns = record->call.gap_ns = record->call.away_ns = 0;
    record->start_ns = r->clock_us * 1000;
    if (r->op.kind == TASK_OP_WAIT) {
        requests_set(r, false);
        conv_made_record(&r->made, &r->about, &record->call, "MPI_Wait", "requests done");
        return;
    }
    number_set(r, MARS_FIELD_request, conv_held_number(r->held, r->op.request));
    conv_held_done(r->held, r->op.request, true);
    conv_made_record(&r->made, &r->about, &record->call, "MPI_Request_free", "request");
}

/* Of families of local calls (MPI_Type_) the line has the whole name. */
static const char *name_of(struct apc_reading *r)
{
    static const char letters[] = "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const char *name = r->args->call->name;
    size_t length = strspn(r->args->name, letters);
    if (name[strlen(name) - 1] != '_' || r->about.functions > NAMES_MOST || length >= sizeof r->name ||
        (r->args->name[length] != ':' && r->args->name[length] != 0))
        return name;
    memcpy(r->name, r->args->name, length);
    r->name[length] = 0;
    return r->name;
}

void apc_line(struct apc_reading *r, struct conv_record *record)
{
    bool has_op = r->has_op && r->op.line == r->line;
    int32_t index = r->line_comm;
    record->call.polls = 1;
    record->call.rest_ns = 0;
    record->call.counted = NULL;
    record->number = r->line;
    if (has_op && !is_own(r)) {
        implied_set(r, record);
        apc_op_next(r);
        r->pending = true;
        return;
    }
    times_set(r, record, has_op);
    r->pending = false;
    if (r->args->has_group || r->args->call->kind == ALLPROF_COMM_FREE)
        number_set(r, MARS_FIELD_comm, conv_about_comm(&r->about, index >= 0 ? r->comm[index] : -1));
    const char *fields = fields_of(r, has_op);
    conv_made_record(&r->made, &r->about, &record->call, name_of(r), fields);
    if (has_op && r->args->call->kind != ALLPROF_START)
        apc_op_next(r);
}
