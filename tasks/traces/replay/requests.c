/* requests.c - the requests of a task: which one of the replay a number of the trace means.
 *
 * It is the one of that number, until equal receives change places (tasks/traces/store/held.h): in a call
 * that completed some of several requests (HPCC's RandomAccess posts four receives from any source, and posts
 * again whichever completed). The numbers of the replay are those of the trace in another order, so that one
 * that is given again is free.
 *
 * Invariant: a number that is not in the table means itself; held.age is 0 when no receive is under way.
 */
#include "tasks/traces/replay/replay.h"

struct numbered {
    uint64_t number; /* of the trace */
    struct trace_held held;
};

static uint64_t number_hash(const void *key)
{
    return ker_hash(((const struct numbered *)key)->number);
}

static bool number_same(const void *entry, const void *key)
{
    return ((const struct numbered *)entry)->number == ((const struct numbered *)key)->number;
}

static const struct ker_table_kind numbers = {sizeof(struct numbered), number_hash, number_same};

static struct trace_held *held_find(const struct replay_task *t, uint64_t number)
{
    struct numbered *entry = ker_table_find(&numbers, &t->receives, &(struct numbered){.number = number});
    return entry ? &entry->held : NULL;
}

static uint64_t id_of(const struct replay_task *t, uint64_t number)
{
    const struct trace_held *held = held_find(t, number);
    return held ? held->id : number;
}

static uint64_t receive_note(struct replay_task *t, const struct task_op *op)
{
    bool is_new;
    struct numbered *entry =
        ker_table_add(&numbers, &t->receives, &(struct numbered){.number = op->request}, &is_new);
    entry->number = op->request;
    if (is_new)
        entry->held.id = op->request;
    entry->held.age = ++t->posts;
    entry->held.post = (struct trace_post){
        .comm = (uint64_t)op->comm, .bytes = op->bytes, .peer = op->peer, .tag = op->tag, .receive = true};
    return entry->held.id;
}

/* A receive that the trace shows completed, of `list`, takes the oldest equal one's id. */
static void completed_take(struct replay_task *t, const struct mars_value *list, struct trace_held *completed)
{
    struct trace_held *oldest = completed;
    for (uint32_t i = 0; i < list->count; i++) {
        struct trace_held *other = held_find(t, (uint64_t)list->list[i]);
        if (other && other->age && other->age < oldest->age && trace_held_equal(other, completed))
            oldest = other;
    }
    trace_held_swap(completed, oldest);
}

#define CANCELLED (-6) /* in the place of where a message came from */

/* Those that a call completed; when these are all that it named, they complete in whatever order. */
static void completion_name(struct replay_task *t, struct task_op *op)
{
    const struct mars_value *list = mars_list(&t->record, MARS_FIELD_requests),
                            *done = mars_list(&t->record, MARS_FIELD_done);
    uint32_t each = t->pairs ? 2 : 1; /* numbers of a request */
    bool some = op->request_count / each < list->count;
    for (uint32_t i = 0; i < op->request_count; i++) {
        struct trace_held *held = held_find(t, t->list[0][i]);
        if (!held)
            continue;
        if (some && held->age && done->list[(size_t)(i / each) * 4 + 1] != CANCELLED)
            completed_take(t, list, held);
        held->age = 0;
        t->list[0][i] = held->id;
    }
    op->request = op->request_count ? t->list[0][0] : 0;
}

void replay_requests_name(struct replay_task *t, struct task_op *op)
{
    if (op->kind == TASK_OP_IRECV && op->request) {
        op->request = receive_note(t, op);
    } else if (t->receives.count == 0) {
        return;
    } else if ((op->kind == TASK_OP_WAIT || op->kind == TASK_OP_WAITALL) &&
               mars_list(&t->record, MARS_FIELD_done)) {
        completion_name(t, op);
    } else {
        if (op->request)
            op->request = id_of(t, op->request);
        for (uint32_t i = 0; op->requests && i < op->request_count; i++)
            t->list[0][i] = id_of(t, t->list[0][i]);
    }
}

void replay_requests_release(struct replay_task *t)
{
    ker_table_release(&t->receives);
}
