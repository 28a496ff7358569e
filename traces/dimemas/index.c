/* index.c - what a trace has, found in one pass: its tasks and where they stand, its communicators, and who
 * is the root of each collective that has one.
 *
 * A record of a global operation has 1 for a root where its task is the root and 0 where it is not (prv2dim),
 * or the root's rank in all tasks. Which it is, is seen by all records of a call: one 1 among zeros is the
 * first.
 */
#include "traces/dimemas/dimemas.h"

#include <stdlib.h>
#include <string.h>

/* What the records of a call say of its root. */
struct call {
    uint32_t seen, ones;
    int32_t one; /* rank of the first that says 1 */
    int64_t value;
    bool differ; /* otherwise */
};
struct calls {
    struct call *call;
    uint32_t count;
};
/* Of a task and communicator: how many there were. */
struct counter {
    uint64_t key; /* not 0 */
    uint32_t calls;
};

static const struct ker_table_kind counter_kind = KER_TABLE_U64(struct counter);

struct indexing {
    struct dimemas_trace *trace;
    struct foreign_trace *to;
    struct dimemas_record record;
    int32_t **member; /* of each communicator of the job but the world */
    struct calls *calls;
    struct ker_table counters;
    bool header;
};

uint8_t dimemas_collective(int64_t operation)
{
    static const uint8_t collective[] = {TASK_COLL_BARRIER,        TASK_COLL_BCAST,      TASK_COLL_GATHER,
                                         TASK_COLL_GATHERV,        TASK_COLL_SCATTER,    TASK_COLL_SCATTERV,
                                         TASK_COLL_ALLGATHER,      TASK_COLL_ALLGATHERV, TASK_COLL_ALLTOALL,
                                         TASK_COLL_ALLTOALLV,      TASK_COLL_REDUCE,     TASK_COLL_ALLREDUCE,
                                         TASK_COLL_REDUCE_SCATTER, TASK_COLL_SCAN};
    return operation >= 0 && operation < (int64_t)sizeof collective ? collective[operation] : TASK_COLL_COUNT;
}

bool dimemas_rooted(uint8_t c)
{
    return c == TASK_COLL_BCAST || c == TASK_COLL_GATHER || c == TASK_COLL_GATHERV ||
           c == TASK_COLL_SCATTER || c == TASK_COLL_SCATTERV || c == TASK_COLL_REDUCE;
}

int32_t dimemas_comm_find(const struct dimemas_trace *trace, int64_t id)
{
    for (uint32_t i = 0; i < trace->comms; i++)
        if (trace->comm[i].id == id)
            return trace->comm[i].index;
    return id == 0 ? 0 : -1; /* of traces that define none */
}

/* ---- communicators ---- */

static enum ker_status comm_add(struct indexing *x)
{
    const struct dimemas_record *r = &x->record;
    int64_t id, member;
    uint32_t members = r->numbers ? (uint32_t)r->numbers - 1 : 0;
    bool world = true;
    if (members == 0)
        return dimemas_fail(r, "a communicator without members");
    enum ker_status status = dimemas_whole(r, 0, "the communicator", INT32_MIN, INT64_C(1) << 53, &id);
    int32_t *list = ker_alloc(members * sizeof *list);
    for (uint32_t i = 0; i < members && status == KER_OK; i++) {
        status = dimemas_whole(r, 1 + i, "a member", 0, FOREIGN_TASKS_MOST - 1, &member);
        list[i] = status ? 0 : (int32_t)member;
        world = world && list[i] == (int32_t)i;
    }
    if (status == KER_OK && dimemas_comm_find(x->trace, id) > 0)
        status = dimemas_fail(r, "communicator %lld is defined twice", (long long)id);
    if (status != KER_OK) {
        free(list);
        return status;
    }
    for (uint32_t i = 0; i < x->trace->comms; i++) /* the second of all tasks is another communicator */
        world = world && x->trace->comm[i].index > 0;
    world = world && x->header && members == x->to->tasks;
    *KER_APPEND(x->trace->comm, x->trace->comms) = (struct dimemas_comm){id, world ? 0 : x->to->comms};
    if (world) {
        free(list);
        return KER_OK;
    }
    int32_t at = x->to->comms++;
    x->to->comm = ker_realloc(x->to->comm, (size_t)x->to->comms * sizeof *x->to->comm);
    x->member = ker_realloc(x->member, (size_t)x->to->comms * sizeof *x->member);
    x->calls = ker_realloc(x->calls, (size_t)x->to->comms * sizeof *x->calls);
    x->to->comm[at] = (struct task_comm){.size = (int32_t)members, .member = list};
    x->member[at] = list;
    x->calls[at] = (struct calls){0};
    return KER_OK;
}

/* Members are tasks, each once; and one list for all of them. */
static enum ker_status comms_join(struct indexing *x, struct ker_error *error)
{
    struct foreign_trace *to = x->to;
    size_t all = 0;
    bool *seen = ker_alloc(((size_t)to->tasks + 1) * sizeof *seen);
    enum ker_status status = KER_OK;
    for (int32_t c = 1; c < to->comms; c++) {
        for (int32_t i = 0; i < to->comm[c].size && status == KER_OK; i++) {
            uint32_t task = (uint32_t)x->member[c][i];
            if (task >= to->tasks || seen[task])
                status =
                    ker_fail(error, KER_BAD_INPUT,
                             "%s: a communicator has task %u as a member, which is none of the %u or is one "
                             "already",
                             to->path, task, to->tasks);
            else
                seen[task] = true;
        }
        memset(seen, 0, to->tasks * sizeof *seen);
        all += (size_t)to->comm[c].size;
    }
    free(seen);
    to->members = ker_alloc((all + 1) * sizeof *to->members);
    all = 0;
    for (int32_t c = 1; c < to->comms; c++) {
        memcpy(to->members + all, x->member[c], (size_t)to->comm[c].size * sizeof *to->members);
        to->comm[c].member = to->members + all;
        all += (size_t)to->comm[c].size;
    }
    to->comm[0] = (struct task_comm){.size = (int32_t)to->tasks};
    return status;
}

/* ---- roots ---- */

static enum ker_status global_add(struct indexing *x)
{
    const struct dimemas_record *r = &x->record;
    int64_t operation, id, root;
    enum ker_status status = dimemas_whole(r, 2, "the operation", 0, 13, &operation);
    status = status ?: dimemas_whole(r, 3, "the communicator", INT32_MIN, INT64_C(1) << 53, &id);
    status = status ?: dimemas_whole(r, 4, "the root", -1, FOREIGN_TASKS_MOST, &root);
    if (status != KER_OK || !dimemas_rooted(dimemas_collective(operation)))
        return status;
    int32_t comm = dimemas_comm_find(x->trace, id);
    if (comm < 0)
        return dimemas_fail(r, "communicator %lld is not defined before", (long long)id);
    int32_t rank = comm ? task_comm_rank(&x->to->comm[comm], (int32_t)r->task) : (int32_t)r->task;
    bool is_new;
    uint64_t key = (uint64_t)r->task << 32 | ((uint32_t)comm + 1);
    struct counter *counter = ker_table_add(&counter_kind, &x->counters, &key, &is_new);
    counter->key = key;
    struct calls *calls = &x->calls[comm];
    if (counter->calls == calls->count)
        *KER_APPEND(calls->call, calls->count) = (struct call){.value = root};
    struct call *call = &calls->call[counter->calls++];
    if (root == 1 && call->ones++ == 0)
        call->one = rank;
    call->differ |= root != call->value && (root < 0 || root > 1 || call->value < 0 || call->value > 1);
    call->value = root == 0 || root == 1 ? (root > call->value ? root : call->value) : root;
    call->seen++;
    return KER_OK;
}

static int32_t root_of(const struct call *call, int32_t size)
{
    if (call->differ)
        return -1;
    if (call->value == 1 && call->ones == 1) /* it is the root, or the only task of all */
        return call->one;
    if (call->value == 1 && call->ones < call->seen)
        return -1;
    return call->value >= 0 && call->value < size ? (int32_t)call->value : -1;
}

static void roots_decide(struct indexing *x)
{
    x->trace->roots = ker_alloc((size_t)x->to->comms * sizeof *x->trace->roots);
    for (int32_t c = 0; c < x->to->comms; c++) {
        struct dimemas_roots *roots = &x->trace->roots[c];
        roots->count = x->calls[c].count;
        roots->root = ker_alloc(((size_t)roots->count + 1) * sizeof *roots->root);
        for (uint32_t i = 0; i < roots->count; i++)
            roots->root[i] = root_of(&x->calls[c].call[i], x->to->comm[c].size);
    }
}

/* ---- the pass ---- */

static enum ker_status record_add(struct indexing *x, uint64_t begin, uint32_t line)
{
    struct dimemas_record *r = &x->record;
    if (r->kind == DIMEMAS_COMMUNICATOR)
        return comm_add(x);
    if (r->kind == DIMEMAS_HEADER) {
        int64_t tasks = 0;
        enum ker_status status = dimemas_whole(r, 0, "the number of tasks", 1, FOREIGN_TASKS_MOST, &tasks);
        x->to->tasks = (uint32_t)tasks;
        x->header = true;
        return status;
    }
    if (x->header && r->task >= x->to->tasks)
        return dimemas_fail(r, "task %u, of %u that the header names", r->task, x->to->tasks);
    if (r->task >= x->trace->places) {
        uint32_t places = r->task + 1;
        x->trace->place = ker_realloc(x->trace->place, (size_t)places * sizeof *x->trace->place);
        memset(x->trace->place + x->trace->places, 0, (places - x->trace->places) * sizeof *x->trace->place);
        x->trace->places = places;
    }
    struct dimemas_place *place = &x->trace->place[r->task];
    if (place->behind == 0)
        *place = (struct dimemas_place){begin, 0, line};
    place->behind = dimemas_place(r->text);
    return r->kind == DIMEMAS_GLOBAL ? global_add(x) : KER_OK;
}

static enum ker_status file_pass(struct indexing *x, struct ker_error *error)
{
    struct ker_text text;
    enum ker_status status = ker_text_open(&text, x->to->path, x->to->inputs, error);
    uint64_t begin = 0;
    uint32_t line = 0;
    x->record.text = &text;
    while (status == KER_OK && dimemas_record_next(&x->record)) {
        status = record_add(x, begin, line);
        begin = dimemas_place(&text);
        line = text.in.line;
    }
    status = status ?: text.status;
    ker_text_close(&text, status == KER_OK);
    x->record.text = NULL;
    return status;
}

enum ker_status dimemas_index(struct dimemas_trace *trace, struct foreign_trace *to, struct ker_error *error)
{
    struct indexing x = {.trace = trace, .to = to};
    to->comm = ker_alloc(sizeof *to->comm);
    x.member = ker_alloc(sizeof *x.member);
    x.calls = ker_alloc(sizeof *x.calls);
    enum ker_status status = file_pass(&x, error);
    if (status == KER_OK && !x.header)
        to->tasks = trace->places;
    if (status == KER_OK && to->tasks > trace->places)
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: no records of task %u, of %u tasks that the header names: the file was cut",
                          to->path, trace->places, to->tasks);
    status = status ?: comms_join(&x, error);
    if (status == KER_OK)
        roots_decide(&x);
    for (int32_t c = 0; c < to->comms; c++) {
        free(x.calls[c].call);
        if (c)
            free(x.member[c]);
    }
    free(x.calls);
    free(x.member);
    free(x.record.number);
    ker_table_release(&x.counters);
    return status;
}

void dimemas_index_release(struct dimemas_trace *trace, int32_t comms)
{
    for (int32_t c = 0; trace->roots && c < comms; c++)
        free(trace->roots[c].root);
    free(trace->roots);
    free(trace->place);
    free(trace->comm);
}
