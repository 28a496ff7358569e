/* parse.c - one task's trace as operations.
 *
 * Line by line: the time between the end of one call and the start of the next is computation, a call becomes
 * one operation or none. Which communicator it names is found out later, from the files of all tasks
 * (comm.c): until then it is the number of the event that scan.c makes of its first use. Ranks are checked
 * against the communicator's size; bytes are count x size of the datatype.
 *
 * Two kinds of gaps are no computation: the one before MPI_Finalize, in which the tracer works, and short
 * ones between a test and the next call when that repeats it (a test that is followed by the same test found
 * nothing). Local calls do not end such a gap, so gaps are held back until the next call that is not local.
 */
#include "traces/allprof/again.h"
#include "traces/allprof/allprof.h"
#include "traces/allprof/poll.h"
#include "traces/foreign/foreign.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define GAP_MOST_US (uint64_t)(TRACE_GAP_MOST / KER_US)

struct parser {
    struct trace_code *code;
    struct allprof_requests *requests;
    const struct allprof_rules *rules;
    struct allprof_scan *scan;
    struct allprof_file *file;
    struct allprof_args *args;
    struct allprof_again *again;
    struct task_op op;
    uint32_t line;
    uint8_t stride; /* of request variables, from the last communicator seen */
    int64_t last_end_us;
    uint64_t held_us;                      /* computation since `polled` */
    struct poll polled;                    /* the last call, when that is a test or an Iprobe */
    uint64_t poll_gap_us, finalize_gap_us; /* taken out */
    uint64_t *send, *receive;              /* counts of v-collectives */
    int32_t list_room;
    struct allprof_pins pins;
    uint64_t unit;       /* of code->gap in a microsecond */
    uint32_t known[256]; /* see allprof_called_count */
    struct ker_error *error;
};

/* Open MPI: a small number is a Fortran handle, and Fortran's requests are integers; MPICH's always are. */
static uint8_t stride_find(const struct parser *p)
{
    return p->rules->mpich || p->args->group.handle < 65536 ? 4 : 8;
}

static enum ker_status peer_translate(struct parser *p, int32_t value, bool receive, int32_t *peer)
{
    *peer = allprof_rank(p->rules, value, p->args->group.size);
    if (*peer >= 0 || *peer == TASK_PROC_NULL || (receive && *peer == TASK_ANY))
        return KER_OK;
    return allprof_file_fail(p->file, p->error,
                             "%s names rank %d of a communicator of %d (MPI_PROC_NULL is %d and "
                             "MPI_ANY_SOURCE %d here, see jobs[].mpi_library)",
                             p->args->call->name, value, p->args->group.size, p->rules->mpich ? -1 : -2,
                             p->rules->mpich ? -2 : -1);
}

static enum ker_status tag_translate(struct parser *p, int32_t value, bool receive, int32_t *tag)
{
    if (value < 0 && !(receive && value == -1))
        return allprof_file_fail(p->file, p->error, "%s with tag %d, 0 or more expected", p->args->call->name,
                                 value);
    *tag = value < 0 ? TASK_ANY : value;
    return KER_OK;
}

static void op_put(struct parser *p)
{
    trace_code_put(p->code, &p->op);
}

/* Bytes of the first or the second (count, datatype). */
static enum ker_status bytes_read(struct parser *p, bool second, uint64_t *bytes)
{
    int64_t count = second ? p->args->count2 : p->args->count, size = second ? p->args->size2 : p->args->size;
    if (allprof_bytes(count, size, bytes))
        return KER_OK;
    if (count < 0 || count > INT_MAX)
        return allprof_file_fail(p->file, p->error, "%s with a count of %lld: MPI's counts are ints, 0 to %d",
                                 p->args->call->name, (long long)count, INT_MAX);
    if (size < 0 || size > INT_MAX)
        return allprof_file_fail(p->file, p->error, "%s with a datatype of %lld bytes, 0 to %d expected",
                                 p->args->call->name, (long long)size, INT_MAX);
    return allprof_file_fail(p->file, p->error, "%s with %lld x %lld bytes: a message can have 1 TiB at most",
                             p->args->call->name, (long long)count, (long long)size);
}

static enum ker_status message_fill(struct parser *p, bool receive)
{
    enum ker_status status = peer_translate(p, p->args->peer, receive, &p->op.peer);
    status = status ?: bytes_read(p, false, &p->op.bytes);
    if (status != KER_OK)
        return status;
    if (p->op.peer == TASK_PROC_NULL) {
        p->op.tag = 0; /* any will do, and may be anything in the trace */
        return KER_OK;
    }
    return tag_translate(p, p->args->tag, receive, &p->op.tag);
}

static enum ker_status parse_message(struct parser *p, bool receive)
{
    enum ker_status status = message_fill(p, receive);
    if (status == KER_OK)
        op_put(p);
    return status;
}

static struct trace_post post_of(const struct parser *p, bool receive, bool persistent)
{
    return (struct trace_post){
        p->args->group.handle, p->op.bytes, p->op.peer, p->op.tag, receive, persistent};
}

static enum ker_status parse_request(struct parser *p, bool receive, bool persistent)
{
    enum ker_status status = message_fill(p, receive);
    if (status != KER_OK)
        return status;
    struct trace_post post = post_of(p, receive, persistent);
    p->op.request = allprof_requests_post(p->requests, p->args->call, p->args->variable, p->line,
                                          stride_find(p), &post, &p->scan->count);
    op_put(p);
    return KER_OK;
}

static enum ker_status parse_sendrecv(struct parser *p)
{
    enum ker_status status = message_fill(p, false);
    if (status != KER_OK)
        return status;
    bool replace = p->args->call->mode != 0;
    status = bytes_read(p, !replace, &p->op.bytes2);
    status = status ?: peer_translate(p, p->args->peer2, true, &p->op.peer2);
    if (status != KER_OK || p->op.peer2 == TASK_PROC_NULL) {
        if (status == KER_OK)
            op_put(p);
        return status;
    }
    status = tag_translate(p, p->args->tag2, true, &p->op.tag2);
    if (status == KER_OK)
        op_put(p);
    return status;
}

/* "3,4,5" as bytes of `size` each; an error when there are not as many as the communicator has tasks. */
static enum ker_status list_read(struct parser *p, const char *text, int64_t size, uint64_t *list,
                                 uint64_t *total)
{
    *total = 0;
    for (int32_t i = 0; i < p->args->group.size; i++) {
        char *rest;
        long count = strtol(text, &rest, 10);
        if (rest == text || count < 0 || count > INT_MAX || *rest != (i + 1 < p->args->group.size ? ',' : 0))
            return allprof_file_fail(p->file, p->error,
                                     "%s: entry %d of a list of counts is \"%.20s\", %d counts of 0 or "
                                     "more expected",
                                     p->args->call->name, i, text, p->args->group.size);
        if (!allprof_bytes(count, size, &list[i]))
            return allprof_file_fail(p->file, p->error,
                                     "%s: entry %d of a list of counts is %ld, of %lld bytes each: a "
                                     "message can have 1 TiB at most",
                                     p->args->call->name, i, count, (long long)size);
        *total += list[i];
        text = rest + 1;
    }
    return KER_OK;
}

/* Alltoallv with MPI_IN_PLACE sends what it receives. The buffer's address shows it; Fortran's does not, but
 * then the send side's counts, which MPI ignores, do: one below zero, or none above it while the task
 * receives from itself. */
static bool alltoallv_in_place(const struct parser *p)
{
    const struct allprof_args *args = p->args;
    if (args->in_place || !args->counts || !args->counts2)
        return args->in_place;
    const char *send = args->counts, *receive = args->counts2;
    bool none = true, itself = false;
    for (int32_t i = 0; i < args->group.size && send && receive; i++) {
        long sends = strtol(send, NULL, 10);
        if (sends < 0)
            return true;
        none = none && sends == 0;
        itself = itself || (i == args->group.rank && strtol(receive, NULL, 10) > 0);
        send = strchr(send, ',');
        receive = strchr(receive, ',');
        send = send ? send + 1 : NULL;
        receive = receive ? receive + 1 : NULL;
    }
    return none && itself;
}

static void lists_reserve(struct parser *p)
{
    int32_t receive_room = p->list_room;
    KER_RESERVE(p->send, p->list_room, p->args->group.size);
    KER_RESERVE(p->receive, receive_room, p->list_room);
}

/* Which lists mean something: those of Gatherv and Scatterv only at the root. */
static enum ker_status lists_fill(struct parser *p)
{
    struct allprof_args *args = p->args;
    unsigned which = p->op.collective;
    bool at_root = p->op.peer == args->group.rank;
    uint64_t per_pair = p->rules->unlisted_bytes, all = per_pair * (uint64_t)args->group.size;
    bool sends = which == TASK_COLL_ALLTOALLV || (which == TASK_COLL_SCATTERV && at_root);
    bool receives = which == TASK_COLL_ALLTOALLV || which == TASK_COLL_ALLGATHERV ||
                    which == TASK_COLL_REDUCE_SCATTER || (which == TASK_COLL_GATHERV && at_root);
    enum ker_status status = KER_OK;
    lists_reserve(p);
    p->op.request_count = (uint32_t)args->group.size;
    if (which == TASK_COLL_ALLTOALLV && alltoallv_in_place(p)) {
        args->counts = args->counts2;
        args->size = args->size2;
    }
    if (sends && args->counts) {
        status = list_read(p, args->counts, args->size, p->send, &p->op.bytes);
        p->op.send_bytes = p->send;
    } else if (sends) {
        p->op.bytes = all;
    }
    if (status == KER_OK && receives && args->counts2) {
        status = list_read(p, args->counts2, args->size2, p->receive, &p->op.bytes2);
        p->op.receive_bytes = p->receive;
    } else if (receives) {
        p->op.bytes2 = all;
        if (args->in_place && which == TASK_COLL_ALLGATHERV)
            p->op.bytes = per_pair;
    }
    return status;
}

/* The own contribution where the argument may be rubbish (MPI_IN_PLACE). */
static void own_share(struct parser *p)
{
    if (p->op.receive_bytes && p->op.collective != TASK_COLL_ALLTOALLV &&
        p->op.collective != TASK_COLL_REDUCE_SCATTER)
        p->op.bytes = p->receive[p->args->group.rank];
    if (p->op.collective == TASK_COLL_REDUCE_SCATTER)
        p->op.bytes = p->op.bytes2;
    if (p->op.send_bytes && p->op.collective == TASK_COLL_SCATTERV)
        p->op.bytes2 = p->send[p->args->group.rank];
}

static enum ker_status parse_collective(struct parser *p)
{
    struct allprof_args *args = p->args;
    p->op.collective = args->call->mode;
    if (strchr(args->call->layout, 'R')) {
        if (args->peer < 0 || args->peer >= args->group.size)
            return allprof_file_fail(p->file, p->error, "the root of %s is %d in a communicator of %d",
                                     args->call->name, args->peer, args->group.size);
        p->op.peer = args->peer;
    }
    int which = allprof_bytes_which(args);
    enum ker_status status = KER_OK;
    if (which)
        status =
            bytes_read(p, which == 2, p->op.collective == TASK_COLL_SCATTERV ? &p->op.bytes2 : &p->op.bytes);
    if (status == KER_OK && strpbrk(args->call->layout, "lL"))
        status = lists_fill(p);
    if (status != KER_OK)
        return status;
    own_share(p);
    op_put(p);
    return KER_OK;
}

static void parse_comm_new(struct parser *p)
{
    p->op.collective = TASK_COLL_COMM;
    p->op.bytes = 8;
    op_put(p);
}

static void compute(struct parser *p, uint64_t us)
{
    trace_code_compute(p->code, (us < GAP_MOST_US ? us : GAP_MOST_US) * p->unit);
}

/* Time that is left out. */
static void apart(struct parser *p, uint64_t us)
{
    if (p->rules->times && us)
        foreign_put_time(p->code, FOREIGN_APART, "times", p->code->line, us * KER_US);
}

/* The gap before this call: computation, or time to leave out. */
static void gap_decide(struct parser *p)
{
    const struct allprof_args *args = p->args;
    unsigned kind = args->call->kind;
    if (args->start_us != INT64_MIN && p->last_end_us != INT64_MIN && args->start_us > p->last_end_us) {
        if (kind == ALLPROF_FINALIZE && !p->rules->finalize_gap)
            apart(p, p->finalize_gap_us = (uint64_t)(args->start_us - p->last_end_us));
        else
            p->held_us += (uint64_t)(args->start_us - p->last_end_us);
    }
    if (kind == ALLPROF_LOCAL && (!p->rules->times || p->polled.count))
        return;
    bool polls = kind == ALLPROF_IPROBE || kind == ALLPROF_TEST || kind == ALLPROF_TEST_SOME;
    if (!polls && p->polled.count == 0) { /* nearly always */
        compute(p, p->held_us);
        p->held_us = 0;
        return;
    }
    struct poll poll = poll_of(args);
    if (polls_equal(&p->polled, &poll) && p->held_us <= (uint64_t)(p->rules->poll_gap / KER_US)) {
        p->poll_gap_us += p->held_us;
        apart(p, p->held_us);
    } else {
        compute(p, p->held_us);
    }
    p->held_us = 0;
    p->polled = poll;
}

static enum ker_status parse_call(struct parser *p)
{
    switch (p->args->call->kind) {
    case ALLPROF_SEND:
        return parse_message(p, false);
    case ALLPROF_RECV:
    case ALLPROF_PROBE:
        return parse_message(p, true);
    case ALLPROF_ISEND:
        return parse_request(p, false, false);
    case ALLPROF_IRECV:
        return parse_request(p, true, false);
    case ALLPROF_SEND_INIT:
        return parse_request(p, false, true);
    case ALLPROF_RECV_INIT:
        return parse_request(p, true, true);
    case ALLPROF_SENDRECV:
        return parse_sendrecv(p);
    case ALLPROF_COLLECTIVE:
        return parse_collective(p);
    case ALLPROF_COMM_NEW:
        parse_comm_new(p);
        return KER_OK;
    case ALLPROF_MARK:
        if (p->args->colour < TRACE_MARK_LEAST)
            return KER_OK;
        op_put(p);
        return KER_OK;
    case ALLPROF_FINALIZE:
        op_put(p);
        return KER_OK;
    case ALLPROF_STATUS:
        allprof_requests_status(p->requests, p->args->status);
        return KER_OK;
    case ALLPROF_START:
    case ALLPROF_CANCEL:
    case ALLPROF_REQUEST_FREE:
    case ALLPROF_WAIT:
    case ALLPROF_WAIT_SOME:
    case ALLPROF_TEST:
    case ALLPROF_TEST_SOME:
        if (!allprof_requests_call(p->requests, p->args, p->line, p->stride))
            p->polled = (struct poll){0}; /* a test of null requests finds them complete */
        return KER_OK;
    default: /* local, and Iprobe: the receive that follows waits all the same */
        return KER_OK;
    }
}

/* What is made of this line is to be made of those like it, too. */
static void line_keep(const struct parser *p)
{
    struct allprof_made *made = &p->args->made;
    unsigned kind = p->args->call->kind;
    bool request = kind == ALLPROF_ISEND || kind == ALLPROF_IRECV;
    bool message = request || kind == ALLPROF_SEND || kind == ALLPROF_RECV;
    if (p->rules->pins || p->rules->times || p->last_end_us == INT64_MIN ||
        !(message || kind == ALLPROF_WAIT || kind == ALLPROF_LOCAL))
        return;
    made->when = p->again->when;
    made->stride = p->args->has_group ? p->stride : 0;
    made->count = p->scan->count;
    if (message)
        trace_again_make(&made->op, p->code, &p->op);
    if (request)
        made->post = post_of(p, kind == ALLPROF_IRECV, false);
}

/* A line like one before, where nothing was done to communicators since. */
static void line_again(struct parser *p)
{
    struct allprof_args *args = p->args;
    struct allprof_made *made = &args->made;
    unsigned kind = args->call->kind;
    uint64_t request = 0;
    if (p->rules->counts)
        allprof_called_again(&p->code->called, args);
    if (args->start_us > p->last_end_us)
        p->held_us += (uint64_t)(args->start_us - p->last_end_us);
    p->last_end_us = args->end_us;
    if (made->stride)
        p->stride = made->stride;
    if (kind == ALLPROF_LOCAL)
        return;
    compute(p, p->held_us);
    p->held_us = 0;
    if (made->count.tally)
        allprof_count_again(&p->scan->tallies, &made->count, p->line);
    if (kind == ALLPROF_WAIT) {
        allprof_requests_call(p->requests, args, p->line, p->stride);
        return;
    }
    if (made->op.has_request)
        request = allprof_requests_post(p->requests, args->call, args->variable, p->line, made->stride,
                                        &made->post, &made->count);
    trace_code_put_again(p->code, &made->op, p->line, request);
}

/* The call, before the operations that it becomes. Of a family of calls (MPI_Type_) the line has the name. */
static void call_report(struct parser *p)
{
    const struct allprof_args *args = p->args;
    const char *call = args->call->name;
    char name[64];
    size_t length = strcspn(args->name, ":");
    if (!allprof_call_listed(args->call) && length < sizeof name) {
        memcpy(name, args->name, length);
        name[length] = 0;
        const struct trace_function *function = trace_function_find(name);
        call = function ? function->name : call;
    }
    bool timed = args->start_us != INT64_MIN && args->end_us > args->start_us;
    foreign_put_time(p->code, FOREIGN_CALL, call, p->line,
                     timed ? (uint64_t)(args->end_us - args->start_us) * KER_US : 0);
}

static enum ker_status parse_line(struct parser *p)
{
    struct allprof_args *args = p->args;
    p->line = allprof_file_number(p->file);
    if (args->made.when == p->again->when && !p->polled.count) {
        line_again(p);
        return KER_OK;
    }
    if (args->call->kind == ALLPROF_COMM_NEW || args->call->kind == ALLPROF_COMM_FREE)
        p->again->when++;
    if (p->rules->counts)
        allprof_called_count(p->code, args, p->known);
    gap_decide(p);
    if (args->end_us != INT64_MIN && (args->call->kind == ALLPROF_INIT || p->last_end_us != INT64_MIN))
        p->last_end_us = args->end_us;
    int32_t event = (int32_t)allprof_scan_line(p->scan, args, p->line);
    if (args->has_group)
        p->stride = stride_find(p);
    enum ker_status status = KER_OK;
    if (p->rules->pins && args->call->kind != ALLPROF_LOCAL)
        trace_code_compute(p->code,
                           (uint64_t)(allprof_pin(&p->pins, args, p->rules) / allprof_form_pins.unit));
    if (p->rules->times)
        call_report(p);
    if (args->call->kind != ALLPROF_LOCAL) {
        p->op = (struct task_op){
            .kind = args->call->op, .line = p->line, .comm = event, .call = args->call->name};
        if (args->call->kind == ALLPROF_SEND || args->call->kind == ALLPROF_ISEND ||
            args->call->kind == ALLPROF_SEND_INIT)
            p->op.mode = args->call->mode;
        status = parse_call(p);
    }
    if (status == KER_OK)
        line_keep(p);
    return status;
}

const struct trace_form allprof_form = {.unit = KER_US, .lines = true, .events = true},
                        allprof_form_pins = {.unit = KER_NS, .lines = true, .events = true};

static ker_time time_of(uint64_t us)
{
    return (ker_time)(us < GAP_MOST_US ? us : GAP_MOST_US) * KER_US;
}

enum ker_status allprof_parse(struct trace_code *code, struct task_taken *taken, struct allprof_scan *scan,
                              const struct allprof_rules *rules, const char *folder, uint32_t task,
                              struct ker_error *error)
{
    struct parser p = {.code = code,
                       .rules = rules,
                       .scan = scan,
                       .last_end_us = INT64_MIN,
                       .stride = 8,
                       .error = error,
                       .unit = rules->pins ? 1000 : 1};
    scan->rules = rules;
    enum ker_status status = allprof_file_open(&p.file, folder, task, rules, error);
    if (status != KER_OK)
        return status;
    p.requests = allprof_requests_new(code, &scan->tallies);
    p.again = allprof_file_again(p.file);
    p.again->when++;
    struct allprof_frame frame = {0};
    bool ended = false;
    while (status == KER_OK && !ended) {
        status = allprof_frame_next(&frame, p.file, &p.args, &ended, error);
        if (status == KER_OK && p.args)
            status = parse_line(&p);
    }
    *taken =
        (struct task_taken){.poll_gap = time_of(p.poll_gap_us), .finalize_gap = time_of(p.finalize_gap_us)};
    trace_code_end(code);
    allprof_scan_end(scan);
    allprof_requests_free(p.requests);
    allprof_file_close(p.file);
    free(p.pins.at);
    free(p.send);
    free(p.receive);
    return status;
}
