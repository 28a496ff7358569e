/* windows.c - one-sided calls: which window, whom, how many bytes.
 *
 * A trace numbers the windows of each task. All members of a communicator make its windows in one order, so
 * the replay calls a window by its communicator and how many were made there before, from 1 on: the same at
 * all of them, without a message.
 */
#include "traces/replay/arguments.h"

#include <limits.h>
#include <string.h>

#define ASSERT_NOCHECK 1 /* of an assertion's bits (docs/trace-format.md) */
#define LOCK_EXCLUSIVE 1

/* The n-th of the call's numbers without another name. */
static int64_t value_of(const struct mars_record *record, int n)
{
    for (uint32_t i = 0; i < record->function->fields; i++)
        if (record->function->field[i].field == MARS_FIELD_value && n-- == 0)
            return record->value[i].number;
    return 0;
}

static bool op_is_none(const struct replay_task *t)
{
    int64_t op = mars_number(&t->record, MARS_FIELD_op, 0);
    return op > 0 && op < t->trace->ops && t->trace->op[op] &&
           strcmp(t->trace->op[op]->name, "MPI_NO_OP") == 0;
}

enum ker_status replay_window_make(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    int64_t number = mars_number(&t->record, MARS_FIELD_newwin, 0);
    enum ker_status status = replay_comm_get(t, MARS_FIELD_comm, &op->comm, w);
    if (status != KER_OK)
        return status;
    if (t->comms[op->comm].remote)
        return replay_fail(w, "a window of two groups");
    if (number < 1 || number > REPLAY_WINDOWS_MOST)
        return replay_fail(w, "window %lld", (long long)number);
    if ((size_t)number >= t->window_room)
        KER_RESERVE(t->window, t->window_room, (size_t)number + 1);
    if (!t->made)
        t->made = ker_alloc(t->trace->comms * sizeof *t->made);
    int32_t made = ++t->made[mars_number(&t->record, MARS_FIELD_comm, 0)];
    while (t->windows <= (uint32_t)number)
        t->window[t->windows++].comm = -1;
    t->window[number] = (struct replay_window){op->comm, made};
    op->collective = TASK_COLL_COMM;
    op->bytes = 8;
    return KER_OK;
}

static enum ker_status window_get(const struct replay_task *t, struct task_op *op,
                                  const struct replay_wrong *w)
{
    int64_t number = mars_number(&t->record, MARS_FIELD_win, 0);
    if (number < 1 || number >= t->windows || t->window[number].comm < 0)
        return replay_fail(w, "window %lld has not been made", (long long)number);
    op->comm = t->window[number].comm;
    op->tag = t->window[number].number;
    return KER_OK;
}

static enum ker_status target_get(const struct replay_task *t, struct task_op *op,
                                  const struct replay_wrong *w)
{
    int64_t rank = mars_number(&t->record, MARS_FIELD_target, 0);
    int32_t size = t->comms[op->comm].size;
    op->peer = rank == MARS_PROC_NULL ? TASK_PROC_NULL : (int32_t)rank;
    if (rank >= -1 && rank < size)
        return KER_OK;
    return replay_fail(w, "target %lld in a window of %d tasks", (long long)rank, size);
}

/* The bytes that go there, and for FETCH those that come back. */
static enum ker_status operation_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    bool swaps = strncmp(t->record.function->name, "MPI_Compare", 11) == 0;
    enum mars_field there = op->kind == TASK_OP_GET ? MARS_FIELD_recvbytes : MARS_FIELD_bytes;
    enum ker_status status = replay_bytes_get(t, there, &op->bytes, w);
    op->request = (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    if (replay_has(t->record.function, MARS_FIELD_op))
        replay_combine_get(t, op);
    if (status != KER_OK || op->kind != TASK_OP_FETCH)
        return status;
    op->bytes2 = op->bytes;
    if (replay_has(t->record.function, MARS_FIELD_target_bytes))
        status = replay_bytes_get(t, MARS_FIELD_target_bytes, &op->bytes2, w);
    op->bytes = op_is_none(t) ? 0
                : swaps       ? 2 * op->bytes
                              : op->bytes; /* a swap sends what is compared, too */
    return status;
}

/* Whom the call names: ranks in the world are tasks. */
static enum ker_status group_get(struct replay_task *t, struct task_op *op, const struct replay_wrong *w)
{
    const struct mars_value *list = mars_list(&t->record, MARS_FIELD_members);
    uint64_t *members = replay_list_room(t, 0, list ? list->count : 0);
    op->requests = members;
    op->request_count = list ? list->count : 0;
    for (uint32_t i = 0; i < op->request_count; i++) {
        if (list->list[i] < 0 || list->list[i] >= t->comms[0].size)
            return replay_fail(w, "a group with a task that is not in the trace");
        members[i] = (uint64_t)list->list[i];
    }
    return KER_OK;
}

static void fence_make(struct replay_task *t, struct task_op *op)
{
    bool fence = op->kind == TASK_OP_WIN_FLUSH_ALL; /* then the barrier; when a window is freed, before */
    t->parts = 2;
    if (fence != (t->part == 1))
        return;
    op->kind = TASK_OP_COLLECTIVE;
    op->collective = TASK_COLL_BARRIER;
    op->tag = 0;
}

enum ker_status replay_window_get(struct replay_task *t, struct task_op *op, bool *some, bool barrier,
                                  const struct replay_wrong *w)
{
    enum ker_status status = window_get(t, op, w);
    bool targets = replay_has(t->record.function, MARS_FIELD_target);
    if (status == KER_OK && targets)
        status = target_get(t, op, w);
    if (status != KER_OK)
        return status;
    if (barrier) {
        fence_make(t, op);
        return KER_OK;
    }
    switch (op->kind) {
    case TASK_OP_WIN_LOCK:
        op->mode = value_of(&t->record, 0) == LOCK_EXCLUSIVE ? TASK_WINDOW_EXCLUSIVE : 0;
        op->mode |= value_of(&t->record, 1) & ASSERT_NOCHECK ? TASK_WINDOW_UNCHECKED : 0;
        return KER_OK;
    case TASK_OP_WIN_LOCK_ALL:
        op->mode = value_of(&t->record, 0) & ASSERT_NOCHECK ? TASK_WINDOW_UNCHECKED : 0;
        return KER_OK;
    case TASK_OP_WIN_POST:
    case TASK_OP_WIN_START:
        op->mode = value_of(&t->record, 0) & ASSERT_NOCHECK ? TASK_WINDOW_UNCHECKED : 0;
        return group_get(t, op, w);
    case TASK_OP_WIN_WAIT:
        *some = mars_number(&t->record, MARS_FIELD_flag, 1) != 0;
        return KER_OK;
    case TASK_OP_PUT:
    case TASK_OP_GET:
    case TASK_OP_FETCH:
        return operation_get(t, op, w);
    default:
        return KER_OK;
    }
}
