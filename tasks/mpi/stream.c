/* stream.c - tasks with several streams: which one is current, which are ready, and who waits for whom.
 *
 * To change the current stream its part of struct task_state is copied out, and another one's in: some
 * hundred bytes, and nothing for tasks with one stream. What is reported to the task (the end of a request,
 * of a collective, a timer) is reported to the stream that it concerns: it is selected, the model does what
 * it does for any task, and the one before is selected again. Streams of a task that become ready in one
 * instant run in the order in which they did; of timers, in the order of their numbers.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

void task_streams_make(struct task_mpi *mpi, struct task_state *task)
{
    if (task->streams) /* task->own is then that of the current one */
        return;
    const struct task_job *job = task_job_of(mpi, task);
    uint32_t first = 0,
             count = job->class->streams ? job->class->streams(job->program, task->own, &first) : 1;
    if (count == 1)
        return;
    ker_assert(count > 1 && count <= TASK_STREAMS_MOST);
    task->streams = ker_alloc(sizeof *task->streams + count * sizeof *task->streams->stream);
    task->special = true;
    task->streams->count = task->streams->unfinished = count;
    task->streams->stream[0].own = task->own;
    for (uint32_t i = 1; i < count; i++)
        task->streams->stream[i].own = first + i - 1;
}

void task_streams_release(struct task_state *task)
{
    if (task->streams)
        free(task->streams->waiter);
    free(task->streams);
}

/* ---- the current one ---- */

static void stream_leave(struct task_state *task, struct task_stream *s)
{
    s->op = task->op;
    s->own = task->own;
    s->stage = task->stage;
    s->busy = task->busy;
    s->ready = task->ready;
    s->blocked = task->blocked;
    s->fetched = task->fetched;
    s->pending = task->pending;
    s->collective = task->collective;
    s->debt = task->debt;
    s->blocked_since = task->blocked_since;
    s->paid_until = task->paid_until;
    if (task->calls)
        s->function = task_calls_leave(task, &s->comm, &s->since, &s->late);
}

void task_stream_change(struct task_state *task, uint32_t stream)
{
    struct task_streams *all = task->streams;
    const struct task_stream *s = &all->stream[stream];
    stream_leave(task, &all->stream[all->current]);
    all->current = stream;
    task->op = s->op;
    task->own = s->own;
    task->stage = s->stage;
    task->busy = s->busy;
    task->ready = s->ready;
    task->blocked = s->blocked;
    task->fetched = s->fetched;
    task->pending = s->pending;
    task->collective = s->collective;
    task->debt = s->debt;
    task->blocked_since = s->blocked_since;
    task->paid_until = s->paid_until;
    if (task->calls)
        task_calls_return(task, s->function, s->comm, s->since, s->late);
}

/* ---- what they do ---- */

/* Of one that has not begun, or has ended, no call continues. */
static bool in_call(unsigned stage, bool fetched, const struct task_op *op)
{
    if (stage == TASK_STAGE_DONE || !fetched || op->kind == TASK_OP_AFTER)
        return false;
    return op->kind != TASK_OP_COMPUTE || stage > TASK_STAGE_ISSUE;
}

static bool stream_in_call(const struct task_state *task, uint32_t stream)
{
    const struct task_stream *s = &task->streams->stream[stream];
    if (stream == task->streams->current)
        return in_call(task->stage, task->fetched, &task->op);
    return in_call(s->stage, s->fetched, &s->op);
}

/* The first that is in a call of MPI, or the first. */
static uint32_t caller_of(const struct task_state *task)
{
    for (uint32_t i = 0; i < task->streams->count; i++)
        if (stream_in_call(task, i))
            return i;
    return 0;
}

bool task_all_compute(const struct task_state *task)
{
    if (!task->streams)
        return task_computes(task);
    return task->streams->unfinished > 0 && !stream_in_call(task, caller_of(task));
}

/* ---- who waits for a request ---- */

static uint16_t *waiter_of(const struct task_state *task, const struct task_request *r)
{
    ker_assert(r->number <= task->streams->waiters);
    return &task->streams->waiter[r->number - 1];
}

void task_stream_await(struct task_state *task, struct task_request *r)
{
    struct task_streams *all = task->streams;
    uint16_t current = (uint16_t)(all->current + 1);
    if (all->waiters < task->numbers) {
        all->waiters = task->numbers;
        all->waiter = ker_realloc(all->waiter, all->waiters * sizeof *all->waiter);
    }
    uint16_t *waiter = waiter_of(task, r);
    bool others = r->flags & TASK_REQUEST_AWAITED && *waiter != current;
    *waiter = others ? TASK_STREAM_MANY : current;
    r->flags |= TASK_REQUEST_AWAITED;
}

bool task_stream_alone(const struct task_state *task, const struct task_request *r)
{
    return !(r->flags & TASK_REQUEST_AWAITED) || *waiter_of(task, r) == task->streams->current + 1;
}

bool task_stream_names(const struct task_state *task, uint64_t name)
{
    const struct task_op *op = &task->op;
    if (task->stage != TASK_STAGE_BLOCKED || !task->pending)
        return false;
    if (op->kind == TASK_OP_STATUS || op->kind == TASK_OP_WAIT || op->kind == TASK_OP_TEST)
        return op->request == name;
    if (op->kind < TASK_OP_WAIT || op->kind > TASK_OP_TESTSOME)
        return false;
    for (uint32_t i = 0; i < op->request_count; i++)
        if (op->requests[i] == name)
            return true;
    return false;
}

static uint32_t collective_waiter(const struct task_state *task, uint32_t run)
{
    const struct task_streams *all = task->streams;
    for (uint32_t i = 0; i < all->count; i++)
        if ((i == all->current ? task->collective : all->stream[i].collective) == run)
            return i;
    return caller_of(task);
}

uint32_t task_stream_concerned(const struct task_state *task, const struct task_request *r)
{
    if (r->flags & TASK_REQUEST_COLLECTIVE)
        return collective_waiter(task, r->run);
    if (!(r->flags & TASK_REQUEST_AWAITED))
        return task->streams->current;
    uint16_t waiter = *waiter_of(task, r);
    return waiter == TASK_STREAM_MANY ? task->streams->current : waiter - 1u;
}

/* ---- timers, and those that are ready ---- */

void task_stream_due(struct task_state *task, ker_time now)
{
    for (uint32_t i = 0; i < task->streams->count; i++) {
        task_stream_select(task, i);
        if (task->busy && task->streams->stream[i].until == now)
            return;
    }
    ker_assert(!"a timer of a stream");
}

bool task_stream_push(struct task_state *task)
{
    struct task_streams *all = task->streams;
    uint32_t name = all->current + 1;
    all->stream[all->current].ready_next = 0;
    if (all->ready_last)
        all->stream[all->ready_last - 1].ready_next = name;
    else
        all->ready_first = name;
    all->ready_last = name;
    bool listed = all->listed;
    all->listed = true;
    return !listed;
}

bool task_stream_pop(struct task_state *task)
{
    struct task_streams *all = task->streams;
    uint32_t name = all->ready_first;
    ker_assert(name);
    all->ready_first = all->stream[name - 1].ready_next;
    if (!all->ready_first)
        all->ready_last = 0;
    all->listed = all->ready_first != 0;
    task_stream_select(task, name - 1);
    return all->listed;
}

/* ---- the end ---- */

/* One that is blocked has waited until now. */
static void stream_ended(struct task_state *task, ker_time now)
{
    ker_time time = task->blocked ? task_waited(task, now) : 0;
    *(task->op.kind == TASK_OP_SEND ? &task->send_wait : &task->wait) += time;
    if (task->calls) {
        task_calls_wait(task, time);
        task_calls_end(task->calls, now);
    }
    task->stage = TASK_STAGE_DONE;
    task->blocked = false;
}

bool task_stream_end(struct task_state *task, ker_time now, bool all)
{
    struct task_streams *streams = task->streams;
    uint32_t current = streams->current;
    task->stage = TASK_STAGE_DONE;
    streams->unfinished--;
    for (uint32_t i = 0; all && i < streams->count; i++) {
        task_stream_select(task, i);
        if (task->stage != TASK_STAGE_DONE)
            stream_ended(task, now);
    }
    task_stream_select(task, current);
    if (all)
        streams->unfinished = 0;
    return streams->unfinished == 0;
}

void task_streams_restart(struct task_state *task)
{
    struct task_streams *all = task->streams;
    all->unfinished = all->count;
    for (uint32_t i = 0; i < all->count; i++) {
        task_stream_select(task, i);
        all->stream[i].begun = all->stream[i].done = 0;
        task->stage = TASK_STAGE_NEXT;
    }
}

const struct task_op *task_abort_of(const struct task_state *task)
{
    const struct task_streams *all = task->streams;
    if (!task_is_done(task))
        return NULL;
    for (uint32_t i = 0; i < task_stream_count(task); i++) {
        const struct task_op *op = all && i != all->current ? &all->stream[i].op : &task->op;
        if (op->kind == TASK_OP_ABORT)
            return op;
    }
    return NULL;
}
