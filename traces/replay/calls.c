/* calls.c - what a recorded call is in the replay.
 *
 * The table (traces/functions.def) names the calls that pass something between tasks and that can be
 * replayed. All others are known by their fields: one that names requests, windows, other tasks or new
 * communicators cannot be replayed; one that names a file costs the time it took; all others are local.
 *
 * What a program did next depended on which of its requests completed. So a call that completed some of
 * several is replayed as a wait for those, and a test that completed nothing as nothing. The arguments of a
 * call are read in arguments.c.
 */
#include "traces/replay/files.h"

#include <stdlib.h>
#include <string.h>

static const struct trace_function *call_by_fields(const struct mars_function *f)
{
    static const struct trace_function sorts[] = {[TRACE_LOCAL] = {"", TRACE_LOCAL},
                                                  [TRACE_FILES] = {"", TRACE_FILES},
                                                  [TRACE_UNKNOWN] = {"", TRACE_UNKNOWN}};
    static const enum mars_field passes[] = {
        MARS_FIELD_dest, MARS_FIELD_source, MARS_FIELD_root,       MARS_FIELD_request,  MARS_FIELD_requests,
        MARS_FIELD_win,  MARS_FIELD_target, MARS_FIELD_message,    MARS_FIELD_newcomm,  MARS_FIELD_newwin,
        MARS_FIELD_done, MARS_FIELD_bytes,  MARS_FIELD_bytes_each, MARS_FIELD_recvbytes};
    if (replay_on_file(f))
        return &sorts[TRACE_FILES];
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        if (replay_has(f, passes[i]))
            return &sorts[strcmp(f->name, "MPI_Reduce_local") == 0 ? TRACE_LOCAL : TRACE_UNKNOWN];
    return &sorts[TRACE_LOCAL];
}

static bool has_sort(const struct mars_task *task, enum trace_sort sort)
{
    for (uint32_t i = 0; i < task->functions; i++) {
        const struct trace_function *call =
            task->function[i] ? trace_function_find(task->function[i]->name) : NULL;
        if (call && call->sort == sort)
            return true;
    }
    return false;
}

bool replay_pairs(const struct mars_task *task)
{
    return has_sort(task, TRACE_PAIR);
}

bool replay_generalises(const struct mars_task *task)
{
    return has_sort(task, TRACE_GENERALISED);
}

/* A call that MPI refused did nothing. */
static const struct trace_function refused = {"", TRACE_LOCAL};

static const struct trace_function *call_of(struct replay_task *t, const struct mars_function *f)
{
    size_t place = ker_hash((uintptr_t)f) >> 58; /* of 64 */
    if (t->known[place].function != f) {
        const struct trace_function *call =
            replay_has(f, MARS_FIELD_error) ? &refused : trace_function_find(f->name);
        t->known[place].call = call && call->sort != TRACE_OTHER ? call : call_by_fields(f);
        t->known[place].function = f;
    }
    return t->known[place].call;
}

/* ---- the call ---- */

static ker_time picoseconds(uint64_t ns)
{
    return ns > (uint64_t)KER_TIME_MAX / 4000 ? KER_TIME_MAX / 4 : (ker_time)ns * 1000;
}

ker_time replay_gap(const struct replay_task *t)
{
    return picoseconds(replay_gap_ns(t));
}

ker_time replay_duration(const struct replay_task *t)
{
    const struct mars_record *r = &t->record;
    return replay_first(t) || (t->files && replay_on_file(r->function)) || r->polls > 1 ||
                   !mars_number(r, MARS_FIELD_flag, 1)
               ? 0
               : picoseconds(r->duration_ns);
}

static bool comm_is_elsewhere(const struct replay_task *t, enum mars_field field)
{
    int64_t number = mars_number(&t->record, field, 0);
    return number > 0 && (uint64_t)number < t->trace->comms && t->comm[number] < 0;
}

/* Is it a call on a communicator of which the replay knows nothing? */
static bool is_elsewhere(const struct replay_task *t, const struct trace_function *call)
{
    if (call->sort == TRACE_LOCAL || call->sort == TRACE_ABORT)
        return false;
    return comm_is_elsewhere(t, MARS_FIELD_comm) ||
           (call->sort == TRACE_CREATE_GROUP && comm_is_elsewhere(t, MARS_FIELD_newcomm));
}

bool replay_is_constant(struct replay_task *t)
{
    const struct trace_function *call = call_of(t, t->record.function);
    return (call->sort == TRACE_LOCAL || call->sort == TRACE_MESSAGE || call->sort == TRACE_EXCHANGE ||
            call->sort == TRACE_COMPLETE) &&
           !is_elsewhere(t, call);
}

static enum ker_status time_translate(struct replay_task *t, struct task_op *op, bool *some)
{
    op->kind = TASK_OP_COMPUTE;
    op->time = picoseconds(t->record.duration_ns);
    *some = op->time > 0;
    return KER_OK;
}

static enum ker_status unknown_get(struct replay_task *t, const struct trace_function *call,
                                   struct task_op *op, bool *some, const struct replay_wrong *w)
{
    if (!t->rules->unknown)
        return replay_fail(
            w,
            "%s cannot be replayed; jobs[].unknown = \"compute\" takes such calls as computation of "
            "the time they took",
            call->sort != TRACE_UNKNOWN ? "a call with tasks that are not in the trace" : "it");
    return time_translate(t, op, some);
}

static enum ker_status message_translate(struct replay_task *t, const struct trace_function *call,
                                         struct task_op *op, const struct replay_wrong *w)
{
    switch (call->sort) {
    case TRACE_MESSAGE:
        op->mode = call->more;
        return replay_message_get(t, op, w);
    case TRACE_EXCHANGE:
        return replay_exchange_get(t, op, w);
    case TRACE_PAIR:
        t->parts = 2;
        return replay_pair_get(t, op, w);
    case TRACE_MATCHED:
        return replay_matched_get(t, op, w);
    default:
        return replay_probe_get(t, op, w);
    }
}

static enum ker_status request_translate(struct replay_task *t, const struct trace_function *call,
                                         struct task_op *op, bool *some, const struct replay_wrong *w)
{
    bool each = t->pairs && (call->sort == TRACE_STATUS || call->op == TASK_OP_REQUEST_FREE);
    enum ker_status status = KER_OK;
    if (t->beside) {
        *some = replay_file_further(t, op);
        t->parts = t->part + (*some ? 2 : 1);
        return KER_OK;
    }
    if (call->sort == TRACE_COMPLETE) {
        status = replay_complete_get(t, op, some, w);
        if (t->files && t->files->furthers)
            t->parts = 2;
    } else {
        t->parts = each ? 2 : 1;
        replay_named_get(t, op);
        *some = call->sort != TRACE_STATUS || mars_number(&t->record, MARS_FIELD_flag, 0) != 0;
    }
    if (status == KER_OK && !*some && t->rules->polls) {
        *op = (struct task_op){.kind = TASK_OP_POLL, .call = call->name};
        *some = true;
    }
    return status;
}

static enum ker_status collective_translate(struct replay_task *t, struct task_op *op,
                                            const struct replay_wrong *w)
{
    enum ker_status status = replay_comm_get(t, MARS_FIELD_comm, &op->comm, w);
    if (status == KER_OK && t->comms[op->comm].remote)
        return replay_between_get(t, op, w);
    return status == KER_OK ? replay_collective_get(t, op, w) : status;
}

static enum ker_status create_translate(struct replay_task *t, const struct trace_function *call,
                                        struct task_op *op, bool *some, const struct replay_wrong *w)
{
    op->collective = call->more;
    op->bytes = 8;
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    *some = call->sort == TRACE_CREATE || mars_number(&t->record, MARS_FIELD_newcomm, 0) != 0;
    enum mars_field field = call->sort == TRACE_CREATE ? MARS_FIELD_comm : MARS_FIELD_newcomm;
    enum ker_status status = *some ? replay_comm_get(t, field, &op->comm, w) : KER_OK;
    if (status == KER_OK) /* of an intercommunicator the tasks of both groups */
        op->comm = replay_whole(t->comms, op->comm);
    return status;
}

/* A task that has been spawned begins with its part in what makes the communicator with those who spawn it.
 */
static enum ker_status begin_translate(struct replay_task *t, struct task_op *op, bool *some,
                                       const struct replay_wrong *w)
{
    const char *parent = mars_task_info(t->trace, "parent");
    uint64_t number = parent ? strtoull(parent, NULL, 10) : 0;
    *some = parent != NULL;
    if (!parent)
        return KER_OK;
    if (number < 1 || number >= t->trace->comms || t->comm[number] < 0 || !t->comms[t->comm[number]].remote)
        return replay_fail(w, "it has been spawned by tasks that are not in the trace");
    op->collective = TASK_COLL_COMM;
    op->mode = TASK_COLLECTIVE_BEGINS;
    op->bytes = 8;
    op->comm = replay_whole(t->comms, t->comm[number]);
    return KER_OK;
}

/* Calls of which there is no operation, but perhaps computation. They may make requests. */
static enum ker_status apart_translate(struct replay_task *t, const struct trace_function *call,
                                       struct task_op *op, bool *some, const struct replay_wrong *w)
{
    replay_active_unknown(t);
    *some = false;
    if (is_elsewhere(t, call) || call->sort == TRACE_UNKNOWN)
        return unknown_get(t, call, op, some, w);
    if (call->sort != TRACE_FILES)
        return KER_OK;
    enum ker_status status = t->files ? replay_file_op(t, op, some, w) : KER_OK;
    if (status != KER_OK || (t->files && !*some) || op->kind != TASK_OP_COMPUTE)
        return status;
    op->mode = TASK_COMPUTE_SYSTEM;
    return time_translate(t, op, some);
}

static enum ker_status translate(struct replay_task *t, const struct trace_function *call, struct task_op *op,
                                 bool *some, const struct replay_wrong *w)
{
    *op = (struct task_op){.kind = call->op, .call = call->name};
    *some = true;
    t->parts = 1;
    switch (is_elsewhere(t, call) ? TRACE_UNKNOWN : (enum trace_sort)call->sort) {
    case TRACE_BEGIN:
        return begin_translate(t, op, some, w);
    case TRACE_END:
        return KER_OK;
    case TRACE_ABORT:
        op->tag = (int32_t)mars_number(&t->record, MARS_FIELD_value, 0);
        op->outcome = 1;
        return KER_OK;
    case TRACE_MARK: /* whose threads count operations, which this is not */
        *some = !t->threads && mars_number(&t->record, MARS_FIELD_value, 0) >= TRACE_MARK_LEAST;
        return KER_OK;
    case TRACE_MESSAGE:
    case TRACE_EXCHANGE:
    case TRACE_PAIR:
    case TRACE_MATCHED:
    case TRACE_PROBE:
        return message_translate(t, call, op, w);
    case TRACE_PARTITIONED:
        return replay_partitioned_get(t, op, some, w);
    case TRACE_GENERALISED:
    case TRACE_NAMED:
    case TRACE_STATUS:
    case TRACE_COMPLETE:
        return request_translate(t, call, op, some, w);
    case TRACE_COLLECTIVE:
        op->collective = call->more;
        return collective_translate(t, op, w);
    case TRACE_CREATE:
    case TRACE_CREATE_GROUP:
        return create_translate(t, call, op, some, w);
    case TRACE_WINDOW_MAKE:
        return replay_window_make(t, op, w);
    case TRACE_WINDOW:
    case TRACE_WINDOW_BARRIER:
        op->mode = call->more;
        return replay_window_get(t, op, some, call->sort == TRACE_WINDOW_BARRIER, w);
    default:
        return apart_translate(t, call, op, some, w);
    }
}

enum ker_status replay_translate(struct replay_task *t, struct task_op *op, bool *some, const char *path,
                                 struct ker_error *error)
{
    const struct replay_wrong w = {t, path, error};
    const struct trace_function *call = call_of(t, t->record.function);
    t->beside = t->part > 0 && call->sort == TRACE_COMPLETE;
    enum ker_status status = translate(t, call, op, some, &w);
    return status == KER_OK && *some && !t->beside ? replay_active_check(t, op, &w) : status;
}
