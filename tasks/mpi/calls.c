/* calls.c - what each function of MPI costs a task: its calls, their bytes, the time they take, and
 * how much of that is waiting.
 *
 * From when an operation is fetched to when the next one is, time is that of its call: overheads that
 * are owed, waits, and what a computation takes that stands for a call. A task has a short list,
 * found by the address of the function's name; two addresses of one name are one function where that
 * can be seen (task_calls_sorted). Names that come from a checkpoint are the model's own. Only tasks
 * of jobs whose calls are counted have any of this.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

#define COUNTS 4 /* of struct task_counted, from calls on */

void task_calls_init(struct task_state *task, bool by_comm)
{
    task->calls = ker_alloc(sizeof *task->calls);
    task->calls->by_comm = by_comm;
}

void task_calls_release(struct task_state *task)
{
    if (!task->calls)
        return;
    free(task->calls->function);
    free(task->calls->last);
    free(task->calls);
}

static struct task_counted *function_get(struct task_calls *calls, const char *function, int32_t comm)
{
    for (uint16_t i = 0; i < calls->count; i++)
        if (calls->function[i].function == function && calls->function[i].comm == comm) {
            *task_calls_hint(calls, function, comm) = (uint8_t)i;
            return &calls->function[i];
        }
    struct task_counted *f = KER_PUSH(calls->function, calls->count, calls->room);
    *f = (struct task_counted){.function = function, .comm = comm};
    return f;
}

int32_t task_calls_comm(const struct task_op *op)
{
    bool names =
        (op->kind >= TASK_OP_SEND && op->kind <= TASK_OP_RECV_INIT) || op->kind == TASK_OP_PSEND_INIT ||
        op->kind == TASK_OP_PRECV_INIT || (op->kind >= TASK_OP_PROBE && op->kind <= TASK_OP_MPROBE) ||
        (op->kind >= TASK_OP_COLLECTIVE && op->kind <= TASK_OP_COLLECTIVE_INIT) || task_op_onesided(op);
    return names ? op->comm : TASK_NO_COMM;
}

void task_calls_find(struct task_calls *calls, const struct task_op *op, const char *function, int32_t comm)
{
    task_calls_count(calls, function_get(calls, function, comm), op);
}

ker_time task_calls_own(const struct task_state *task, ker_time now)
{
    return now - task->calls->since - task->calls->late;
}

void task_calls_wait(struct task_state *task, ker_time time)
{
    if (task->calls->now)
        task->calls->now->wait += time;
}

const char *task_calls_leave(struct task_state *task, int32_t *comm, ker_time *since, ker_time *late)
{
    *since = task->calls->since;
    *late = task->calls->late;
    *comm = task->calls->now ? task->calls->now->comm : TASK_NO_COMM;
    return task->calls->now ? task->calls->now->function : NULL;
}

void task_calls_return(struct task_state *task, const char *function, int32_t comm, ker_time since,
                       ker_time late)
{
    task->calls->since = since;
    task->calls->late = late;
    task->calls->now = function ? function_get(task->calls, function, comm) : NULL;
}

static int counted_compare(const void *a, const void *b)
{
    const struct task_counted *x = a, *y = b;
    return strcmp(x->function, y->function) ?: KER_ORDER(x, y, comm);
}

static void counted_join(struct task_counted *to, const struct task_counted *from)
{
    to->calls += from->calls;
    to->bytes += from->bytes;
    to->simulated += from->simulated;
    to->wait += from->wait;
}

/* What is to be added for a call that is not over: of the current stream, and of one that is kept aside. */
static void open_add(const struct task_state *task, struct task_counted *of, ker_time end)
{
    const struct task_calls *calls = task->calls;
    if (calls->now && calls->now->function == of->function && calls->now->comm == of->comm &&
        !task_op_begins(&task->op)) {
        of->simulated += end > calls->since ? end - calls->since : 0;
        of->wait += task->blocked && end > task->blocked_since ? end - task->blocked_since : 0;
    }
    for (uint32_t i = 0; task->streams && i < task->streams->count; i++) {
        const struct task_stream *s = &task->streams->stream[i];
        if (i == task->streams->current || s->function != of->function || s->comm != of->comm ||
            task_op_begins(&s->op))
            continue;
        of->simulated += end > s->since ? end - s->since : 0;
        of->wait += s->blocked && end > s->blocked_since ? end - s->blocked_since : 0;
    }
}

/* By name, and by communicator if asked. */
static struct task_counted *sorted(const struct task_state *task, ker_time end, bool by_comm, uint32_t *count)
{
    const struct task_calls *calls = task->calls;
    struct task_counted *all = ker_alloc(((size_t)calls->count + 1) * sizeof *all);
    uint32_t n = calls->count, joined = 0;
    for (uint32_t i = 0; i < n; i++) {
        all[i] = calls->function[i];
        open_add(task, &all[i], end);
        all[i].comm = by_comm ? all[i].comm : TASK_NO_COMM;
    }
    if (n)
        qsort(all, n, sizeof *all, counted_compare);
    for (uint32_t i = 0; i < n; i++)
        if (joined && counted_compare(&all[joined - 1], &all[i]) == 0)
            counted_join(&all[joined - 1], &all[i]);
        else
            all[joined++] = all[i];
    *count = joined;
    return all;
}

struct task_counted *task_calls_sorted(const struct task_state *task, ker_time end, uint32_t *count)
{
    return sorted(task, end, false, count);
}

/* What was there before is there still, with no less, and both are in order. */
struct task_counted *task_calls_period(struct task_state *task, ker_time at, uint32_t *count)
{
    struct task_calls *calls = task->calls;
    struct task_counted *all = sorted(task, at, true, count),
                        *since = ker_alloc((*count + (size_t)1) * sizeof *since);
    for (uint32_t i = 0, last = 0; i < *count; i++) {
        since[i] = all[i];
        while (last < calls->lasts && counted_compare(&calls->last[last], &all[i]) < 0)
            last++;
        if (last == calls->lasts || counted_compare(&calls->last[last], &all[i]) != 0)
            continue;
        stats_series_since("function_series", &since[i].calls, &calls->last[last].calls, COUNTS);
    }
    free(calls->last);
    calls->last = all;
    calls->lasts = *count;
    return since;
}

void task_calls_cut(struct task_state *task)
{
    struct task_calls *calls = task->calls;
    uint32_t count, last = 0;
    struct task_counted *all = sorted(task, 0, true, &count);
    for (uint32_t i = 0; i < count && last < calls->lasts; i++)
        if (counted_compare(&calls->last[last], &all[i]) == 0)
            stats_series_cut(&calls->last[last++].calls, &all[i].calls, COUNTS);
    free(all);
}

/* A name that outlives the checkpoint it came from. */
static const char *name_keep(struct task_mpi *mpi, const char *name)
{
    for (uint32_t i = 0; i < mpi->kept_names; i++)
        if (strcmp(mpi->kept_name[i], name) == 0)
            return mpi->kept_name[i];
    *KER_APPEND(mpi->kept_name, mpi->kept_names) = ker_format("%s", name);
    return mpi->kept_name[mpi->kept_names - 1];
}

const char *task_function_state(struct task_mpi *mpi, const char *function, struct ker_chunk *c)
{
    uint32_t length = ker_chunk_count(c, function ? (uint32_t)strlen(function) : 0, 1);
    char *name = ker_alloc((size_t)length + 1);
    if (!c->loads && function)
        memcpy(name, function, length); /* and a 0: NOLINT(bugprone-not-null-terminated-result) */
    ker_chunk_bytes(c, name, length);
    if (c->loads && !c->bad)
        function = length ? name_keep(mpi, name) : NULL;
    free(name);
    return function;
}

static struct task_counted counted_state(struct task_mpi *mpi, struct task_counted one, struct ker_chunk *c)
{
    one.function = task_function_state(mpi, one.function, c);
    KER_CHUNK(c, one.comm, one.calls, one.bytes, one.simulated, one.wait);
    c->bad |= !one.function;
    return one;
}

/* The end of the last period: each is counted in what there is now. */
static void lasts_state(struct task_mpi *mpi, struct task_calls *calls, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, calls->lasts, 4 * sizeof(uint64_t));
    if (c->loads && !c->bad && count)
        calls->last = ker_alloc(count * sizeof *calls->last);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_counted one = {0};
        if (!c->loads)
            one = calls->last[i];
        one = counted_state(mpi, one, c);
        if (!c->loads || c->bad)
            continue;
        calls->last[i] = one;
        calls->lasts = i + 1;
    }
}

/* The op is there again when its task is loaded. What is blocked now is counted when it is over. */
void task_calls_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    struct task_calls *calls = task->calls;
    uint32_t count = 0;
    struct task_counted *all = c->loads ? NULL : sorted(task, 0, true, &count);
    count = ker_chunk_count(c, count, 4 * sizeof(uint64_t));
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_counted one = counted_state(mpi, all ? all[i] : (struct task_counted){0}, c);
        if (c->loads && !c->bad)
            counted_join(function_get(calls, one.function, one.comm), &one);
    }
    free(all);
    lasts_state(mpi, calls, c);
    task_calls_stream_state(mpi, task, c);
}

/* Which call continues need not be that of the op (TASK_OP_TAKES). */
void task_calls_stream_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    struct task_calls *calls = task->calls;
    struct task_counted now = calls->now ? *calls->now : (struct task_counted){.comm = TASK_NO_COMM};
    KER_CHUNK(c, calls->since, calls->late, now.comm);
    now.function = task_function_state(mpi, now.function, c);
    if (c->loads && !c->bad)
        task_calls_return(task, now.function, now.comm, calls->since, calls->late);
}
