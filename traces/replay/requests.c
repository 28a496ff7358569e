/* requests.c - the requests of a task: which one of the replay a number of the trace means.
 *
 * It is the one of that number, until equal receives change places (traces/store/store.h): in a call
 * that completed some of several requests (HPCC's RandomAccess posts four receives from any source, and posts
 * again whichever completed). The numbers of the replay are those of the trace in another order, so that one
 * that is given again is free.
 *
 * Of a task with several threads each request gets a name that no other has, since a number that one thread
 * frees another one may be given before; an operation waits for the last one of another thread on the same
 * request (threads.c).
 *
 * Invariant: of one thread, a number that is not in the table means itself; held.age is 0 when no receive is
 * outstanding.
 */
#include "traces/replay/replay.h"

#include <string.h>

struct numbered {
    uint64_t number; /* of the trace */
    struct trace_held held;
    struct replay_turn last;       /* of several threads: the last operation on it */
    bool general;                  /* a generalised request that has not been completed */
    struct replay_pending pending; /* a receive from any source, which takes that of the trace */
};

static const struct ker_table_kind numbers = KER_TABLE_U64(struct numbered);

static struct numbered *number_find(const struct replay_task *t, uint64_t number)
{
    return ker_table_find(&numbers, &t->receives, &(struct numbered){.number = number});
}

static struct numbered *number_get(struct replay_task *t, uint64_t number, bool *is_new)
{
    struct numbered *entry =
        ker_table_add(&numbers, &t->receives, &(struct numbered){.number = number}, is_new);
    entry->number = number;
    return entry;
}

/* The operation is the last one on a request, and comes after the one before. */
static void last_set(struct replay_task *t, struct numbered *entry)
{
    if (!t->threads)
        return;
    replay_need(t->threads, entry->last.thread, entry->last.ops);
    entry->last = (struct replay_turn){t->threads->now, t->threads->ops[t->threads->now] + 1};
}

/* A number that was never made means nothing when there are several threads. */
static uint64_t id_of(struct replay_task *t, uint64_t number)
{
    struct numbered *entry = number_find(t, number);
    if (!entry)
        return t->threads ? 0 : number;
    last_set(t, entry);
    return entry->held.id;
}

/* A request of several threads gets its name. */
static void made_note(struct replay_task *t, struct task_op *op)
{
    bool is_new;
    struct numbered *entry = number_get(t, op->request, &is_new);
    entry->held = (struct trace_held){.id = ++t->threads->names};
    entry->last = (struct replay_turn){t->threads->now, t->threads->ops[t->threads->now] + 1};
    op->request = entry->held.id;
}

static uint64_t receive_note(struct replay_task *t, const struct task_op *op, uint64_t number)
{
    bool is_new;
    struct numbered *entry = number_get(t, number, &is_new);
    if (is_new)
        entry->held.id = number;
    entry->held.age = ++t->posts;
    entry->pending.code = NULL;
    entry->held.post = (struct trace_post){
        .comm = (uint64_t)op->comm, .bytes = op->bytes, .peer = op->peer, .tag = op->tag, .receive = true};
    return entry->held.id;
}

/* A receive that the trace shows completed, of `list`, takes the oldest equal one's id. */
static void completed_take(struct replay_task *t, const struct mars_value *list, struct numbered *completed)
{
    struct numbered *oldest = completed;
    for (uint32_t i = 0; i < list->count; i++) {
        struct numbered *other = number_find(t, (uint64_t)list->list[i]);
        if (other && other->held.age && other->held.age < oldest->held.age &&
            trace_held_equal(&other->held, &completed->held))
            oldest = other;
    }
    trace_held_swap(&completed->held, &oldest->held);
    struct replay_turn last = completed->last;
    completed->last = oldest->last;
    oldest->last = last;
    struct replay_pending pending = completed->pending;
    completed->pending = oldest->pending;
    oldest->pending = pending;
}

bool replay_source_get(const struct replay_task *t, int32_t comm, int64_t from, int64_t got_tag,
                       int32_t *source, int32_t *tag)
{
    const struct task_comm *c = &t->comms[comm];
    int32_t size = c->remote ? t->comms[c->remote].size : c->size;
    if (from < 0 || from >= size || got_tag < 0 || got_tag > INT32_MAX)
        return false;
    *source = (int32_t)from;
    *tag = (int32_t)got_tag;
    return true;
}

/* A receive from any source has completed: is it known with what? */
static bool source_set(const struct replay_task *t, const struct numbered *entry, const int64_t came[2])
{
    int32_t source, tag;
    if (!entry->pending.code ||
        !replay_source_get(t, (int32_t)entry->held.post.comm, came[0], came[1], &source, &tag))
        return false;
    trace_code_set_peer(entry->pending.code, entry->pending.at, source, &tag);
    return true;
}

void replay_requests_put(struct replay_task *t, const struct task_op *op, struct trace_code *code,
                         uint64_t at)
{
    struct numbered *entry = op->kind == TASK_OP_IRECV && op->mode == TASK_RECEIVE_LATER
                                 ? number_find(t, (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0))
                                 : NULL;
    if (entry)
        entry->pending = (struct replay_pending){.code = code, .at = at};
}

bool replay_splits(const struct replay_task *t)
{
    return t->rules->simulated && !t->beside && !t->threads && !t->pairs && t->found.now && t->found.open &&
           t->found.count > 1 && strstr(t->record.function->name, "some");
}

/* Those that a call completed; when these are all that it named, they complete in whatever order. */
static void completion_name(struct replay_task *t, struct task_op *op)
{
    const struct mars_value *list = mars_list(&t->record, MARS_FIELD_requests),
                            *done = mars_list(&t->record, MARS_FIELD_done);
    uint32_t each = t->pairs ? 2 : 1; /* numbers of a request */
    bool some = op->request_count / each < list->count || replay_splits(t);
    for (uint32_t i = 0; i < op->request_count; i++) {
        struct numbered *entry = number_find(t, t->list[0][i]);
        if (!entry) {
            t->list[0][i] = t->threads ? 0 : t->list[0][i];
            continue;
        }
        const int64_t *came = &done->list[(size_t)(i / each) * 4 + 1];
        if (!source_set(t, entry, came) && some && entry->held.age && *came != MARS_CANCELLED)
            completed_take(t, list, entry);
        entry->pending.code = NULL;
        entry->held.age = 0;
        last_set(t, entry);
        t->list[0][i] = entry->held.id;
    }
    op->request = op->request_count ? t->list[0][0] : 0;
}

/* A message that a probe has found may be received by another thread. */
#define MESSAGES (UINT64_C(1) << 62) /* their numbers begin here */

static void message_turn(struct replay_task *t, const struct task_op *op)
{
    bool is_new;
    struct numbered *entry = number_get(t, MESSAGES | op->message, &is_new);
    if (is_new)
        entry->last.thread = t->threads->now;
    last_set(t, entry);
}

/* A generalised request is made, or completed: the latter comes after the former, but nothing after it, since
 * a wait may have begun before. */
static void general_note(struct replay_task *t, struct task_op *op)
{
    bool is_new;
    struct numbered *entry = number_get(t, op->request, &is_new);
    if (is_new)
        entry->held.id = op->request;
    entry->general = op->kind == TASK_OP_GREQUEST;
    if (entry->general)
        return;
    if (t->threads)
        replay_need(t->threads, entry->last.thread, entry->last.ops);
    op->request = entry->held.id;
}

bool replay_requests_general(struct replay_task *t, struct task_op *complete)
{
    for (struct mars_done d = {0}; mars_done_next(&t->record, &d);) {
        struct numbered *entry = d.request >= 0 ? number_find(t, (uint64_t)d.request) : NULL;
        if (!entry || !entry->general)
            continue;
        entry->general = false;
        *complete = (struct task_op){
            .kind = TASK_OP_GREQUEST_COMPLETE, .mode = 1, .request = entry->held.id, .call = "a callback"};
        return true;
    }
    return false;
}

static bool op_makes(const struct task_op *op)
{
    switch (op->kind) {
    case TASK_OP_ISEND:
    case TASK_OP_IRECV:
    case TASK_OP_SEND_INIT:
    case TASK_OP_RECV_INIT:
    case TASK_OP_IMRECV:
    case TASK_OP_PUT:
    case TASK_OP_GET:
    case TASK_OP_FETCH:
    case TASK_OP_ICOLLECTIVE:
    case TASK_OP_COLLECTIVE_INIT:
    case TASK_OP_GREQUEST:
    case TASK_OP_PSEND_INIT:
    case TASK_OP_PRECV_INIT:
    case TASK_OP_CALL:
        return true;
    default:
        return false;
    }
}

void replay_requests_name(struct replay_task *t, struct task_op *op)
{
    uint64_t number = op->request;
    if (op->kind == TASK_OP_GREQUEST || op->kind == TASK_OP_GREQUEST_COMPLETE)
        general_note(t, op);
    if (op->kind == TASK_OP_GREQUEST_COMPLETE)
        return;
    if (t->threads && op->message)
        message_turn(t, op);
    if (t->threads && number && op_makes(op))
        made_note(t, op);
    if (op->kind == TASK_OP_IRECV && number) {
        op->request = receive_note(t, op, number);
    } else if (t->threads && (op_makes(op) || task_op_onesided(op))) {
        return;
    } else if (t->receives.count == 0) {
        return;
    } else if ((op->kind == TASK_OP_WAIT || op->kind == TASK_OP_WAITALL) &&
               mars_list(&t->record, MARS_FIELD_done) && !t->beside) {
        completion_name(t, op);
    } else {
        if (op->request)
            op->request = id_of(t, op->request);
        for (uint32_t i = 0; op->requests && !task_op_onesided(op) && i < op->request_count; i++)
            t->list[0][i] = id_of(t, t->list[0][i]);
    }
}

void replay_requests_release(struct replay_task *t)
{
    ker_table_release(&t->receives);
}
