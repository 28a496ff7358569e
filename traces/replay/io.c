/* io.c - the operations of a call on a file: see files.h.
 *
 * A call becomes as many operations as it takes: calls of the storage client of the task's node, and, of
 * collective calls, the messages by which tasks exchange what some of them access for all (two_phase.c in
 * traces/). Those of non-blocking calls that one task makes have the request of the trace; collective ones
 * are done in the call that begins them, and their request is none.
 */
#include "traces/replay/files.h"

#include <stdlib.h>
#include <string.h>

/* Names of requests, apart from those of the trace: of an exchange, of the pieces of a call, of those that a
 * request of the trace stands for. */
#define NAMES_EXCHANGE (UINT64_C(1) << 40)
#define NAMES_PIECES (UINT64_C(1) << 41)
#define NAMES_FURTHER (UINT64_C(1) << 42)

enum stage { BEFORE, CHOICE, ALONE, EXCHANGE, DONE };

static bool call_put(struct replay_files *files, enum store_op what, const struct store_run *run,
                     struct task_op *op)
{
    const struct replay_file *file = files->access.file;
    struct store_call call = {.op = what, .file = file->number, .run = {0, 0, 0, 1}, .exists = file->exists};
    if (run)
        call.run = *run;
    store_call_words(&call, files->words);
    op->kind = TASK_OP_CALL;
    op->words = files->words;
    return true;
}

static bool collective_put(const struct replay_task *t, enum task_collective which, uint64_t bytes,
                           struct task_op *op)
{
    op->kind = TASK_OP_COLLECTIVE;
    op->collective = (uint8_t)which;
    op->comm = replay_joint_comm(t->rules->joint, t->files->access.file->comm);
    op->bytes = bytes;
    return true;
}

/* ---- requests ---- */

/* Pieces that have been called are waited for. */
static bool wait_put(struct replay_task *t, uint64_t first, uint64_t count, struct task_op *op)
{
    uint64_t *list = replay_list_room(t, 0, count);
    for (uint64_t i = 0; i < count; i++)
        list[i] = first + i;
    op->kind = TASK_OP_WAITALL;
    op->requests = list;
    op->request_count = (uint32_t)count;
    return true;
}

static void further_add(struct replay_files *files, uint64_t request)
{
    size_t count = files->furthers;
    files->names++;
    if (count && files->further[count - 1].request == request)
        files->further[count - 1].count++;
    else
        *KER_APPEND(files->further, files->furthers) =
            (struct replay_further){request, NAMES_FURTHER + files->names, 1};
}

bool replay_file_further(struct replay_task *t, struct task_op *op)
{
    struct replay_files *files = t->files;
    if (!files)
        return false;
    for (struct mars_done d = {0}; mars_done_next(&t->record, &d);)
        for (size_t i = 0; i < files->furthers; i++) {
            struct replay_further further = files->further[i];
            if (d.request < 0 || further.request != (uint64_t)d.request)
                continue;
            files->further[i] = files->further[--files->furthers];
            return wait_put(t, further.first, further.count, op);
        }
    return false;
}

/* ---- one task's access ---- */

#define PIECES_MOST 64 /* runs that are called at once */

/* All runs at once, or so many of them; a call that does not block leaves them to its request. */
static bool alone_next(struct replay_task *t, struct task_op *op)
{
    struct replay_files *files = t->files;
    const struct replay_access *a = &files->access;
    uint64_t request = a->together ? 0 : (uint64_t)mars_number(&t->record, MARS_FIELD_request, 0);
    bool last = files->next == a->runs.count;
    if (!request && files->posted && (last || files->posted == PIECES_MOST)) {
        uint32_t posted = files->posted;
        files->posted = 0;
        return wait_put(t, NAMES_PIECES, posted, op);
    }
    if (last)
        return false;
    if (request && files->next)
        further_add(files, request);
    if (request)
        op->request = files->next ? NAMES_FURTHER + files->names : request;
    else if (a->runs.count > 1)
        op->request = NAMES_PIECES + files->posted++;
    return call_put(files, a->writes ? STORE_WRITE : STORE_READ, &a->runs.run[files->next++], op);
}

/* ---- all tasks' ---- */

static void two_begin(const struct replay_task *t, struct replay_file *file)
{
    const struct replay_rules *rules = t->rules;
    uint32_t tasks = (uint32_t)t->comms[file->comm].size;
    uint64_t aggregators = file->hints.aggregators ? file->hints.aggregators : rules->aggregators,
             buffer = file->hints.buffer ? file->hints.buffer : rules->buffer;
    if (!file->two.requests)
        trace_two_phase_set(&file->two, tasks, rules->per_node < tasks ? rules->per_node : tasks,
                            aggregators < tasks ? (uint32_t)aggregators : tasks, buffer, NAMES_EXCHANGE);
}

struct exchange {
    const struct replay_joint *joint;
    const struct replay_together *together;
};

static uint64_t below(const void *context, uint32_t rank, uint64_t x)
{
    const struct exchange *e = context;
    return replay_joint_below(e->joint, e->together, rank, x);
}

static bool exchange_next(struct replay_task *t, struct task_op *op)
{
    struct replay_files *files = t->files;
    const struct replay_access *a = &files->access;
    struct replay_together *together = replay_joint_together(t->rules->joint, &a->key);
    struct exchange e = {t->rules->joint, together};
    two_begin(t, a->file);
    struct trace_two_phase_call call = {.shared = &a->file->two,
                                        .file = a->file->number,
                                        .comm = replay_joint_comm(t->rules->joint, a->file->comm),
                                        .writes = a->writes,
                                        .low = together->low < together->high ? together->low : 0,
                                        .high = together->high,
                                        .below = below,
                                        .context = &e};
    replay_joint_windows(t->rules->joint, together, &call);
    call.used = together->window;
    int32_t rank = task_comm_rank(&t->comms[a->file->comm], (int32_t)t->trace->number);
    if (!trace_two_phase_next(&call, &files->at, (uint32_t)rank, files->words, op))
        return false;
    return op->kind != TASK_OP_WAITALL || wait_put(t, NAMES_EXCHANGE, op->request_count, op);
}

/* Do tasks exchange what they access, as ROMIO decides it? Where hints do not say, if it is interleaved. */
static bool exchanges(const struct replay_task *t, bool *asks)
{
    const struct replay_access *a = &t->files->access;
    uint8_t hint = a->writes ? a->file->hints.write : a->file->hints.read;
    *asks = a->together && hint == REPLAY_AUTOMATIC;
    if (!a->together || hint == REPLAY_DISABLED)
        return false;
    return hint == REPLAY_ENABLED || replay_joint_together(t->rules->joint, &a->key)->interleaved;
}

/* ---- any call ---- */

static bool choice_next(struct replay_task *t, struct task_op *op)
{
    bool asks, both = exchanges(t, &asks);
    t->files->stage = both ? EXCHANGE : ALONE;
    return asks && !both && collective_put(t, TASK_COLL_ALLGATHER, 16, op);
}

/* What comes before the access itself: opening doubles a communicator; ordered accesses find their places. */
static bool before_next(struct replay_task *t, struct task_op *op)
{
    struct replay_files *files = t->files;
    const struct replay_access *a = &files->access;
    files->stage = a->kind == REPLAY_DATA ? CHOICE : ALONE;
    if (a->file->posix)
        return false;
    if (a->kind == REPLAY_OPEN)
        return collective_put(t, TASK_COLL_COMM, 8, op);
    return a->ordered && collective_put(t, TASK_COLL_EXSCAN, 8, op);
}

static bool whole_next(struct replay_files *files, struct task_op *op)
{
    static const enum store_op what[] = {
        [REPLAY_OPEN] = STORE_OPEN, [REPLAY_CLOSE] = STORE_CLOSE, [REPLAY_SYNC] = STORE_SYNC};
    files->stage = DONE;
    return call_put(files, what[files->access.kind], NULL, op);
}

static bool next(struct replay_task *t, struct task_op *op)
{
    struct replay_files *files = t->files;
    if (files->stage == BEFORE && before_next(t, op))
        return true;
    if (files->stage == CHOICE && choice_next(t, op))
        return true;
    if (files->stage == EXCHANGE)
        return exchange_next(t, op);
    if (files->stage == ALONE)
        return files->access.kind == REPLAY_DATA ? alone_next(t, op) : whole_next(files, op);
    return false;
}

enum ker_status replay_file_op(struct replay_task *t, struct task_op *op, bool *some,
                               const struct replay_wrong *w)
{
    struct replay_files *files = t->files;
    if (t->part == 0) {
        enum ker_status status = replay_access_get(t, w);
        if (status != KER_OK)
            return status;
        files->stage = BEFORE;
        files->next = files->posted = 0;
        files->at = (struct trace_two_phase_at){0};
    }
    op->kind = TASK_OP_COMPUTE;
    *some = files->access.kind == REPLAY_TIME || (files->access.kind != REPLAY_NOTHING && next(t, op));
    if (*some && op->kind != TASK_OP_COMPUTE)
        t->parts = t->part + 2;
    return KER_OK;
}
