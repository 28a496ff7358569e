/* threads.c - the calls of a task's threads, in one order, and what one thread waits for of another.
 *
 * Calls are taken by the time at which they were over, which is when requests are made and completed; times
 * of threads fit each other to a microsecond or so, so a call is put off that uses a request which is not
 * there yet, or makes one whose number is not free. A thread begins behind the first thread's last call
 * before it, and the first thread's next call after its end comes after its last one (the trace counts the
 * first thread's calls at both), as does MPI_Finalize. Besides, an operation waits for the last one of
 * another thread on the same request, and a collective for the one before on its communicator, which MPI
 * wants to be called in one order. All these were over in the trace before what waits for them began, so
 * nothing can wait in a circle. What threads say to each other without MPI is not in the trace.
 */
#include "tasks/traces/replay/replay.h"

#include <stdlib.h>
#include <string.h>

struct thread {
    struct mars_stream *stream;
    struct mars_record record; /* the next */
    bool there;
    uint64_t read, calls;  /* records and calls before it */
    uint64_t end_ns;       /* time of day when it was over */
    uint64_t after, ended; /* calls of the first thread before it began, and before it had ended */
    uint64_t begin;        /* operations of the first thread before it began */
    bool began, joined;
};

struct reading {
    struct replay_task *t;
    struct replay_threads *all;
    struct thread *thread;
};

enum ker_status replay_threads_new(struct replay_task *t, int32_t comms, const char *path,
                                   struct ker_error *error)
{
    size_t count = t->trace->threads;
    if (count > REPLAY_THREADS_MOST)
        return ker_fail(error, KER_BAD_INPUT, "%s: %zu threads of task %u have called MPI; at most %u can",
                        path, count, t->trace->number, REPLAY_THREADS_MOST);
    struct replay_threads *all = t->threads = ker_alloc(sizeof *all);
    all->count = (uint32_t)count;
    all->ops = ker_alloc(count * sizeof *all->ops);
    all->need = ker_alloc(count * count * sizeof *all->need);
    all->seen = ker_alloc(count * count * sizeof *all->seen);
    all->turn = ker_alloc((size_t)comms * sizeof *all->turn);
    return KER_OK;
}

void replay_threads_free(struct replay_threads *all)
{
    if (!all)
        return;
    free(all->ops);
    free(all->need);
    free(all->seen);
    free(all->turn);
    free(all);
}

static uint64_t info_number(const struct mars_task *task, uint32_t thread, const char *what, uint64_t absent)
{
    char key[48];
    snprintf(key, sizeof key, "thread-%u-%s", thread, what);
    const char *value = mars_task_info(task, key);
    return value ? strtoull(value, NULL, 10) : absent;
}

static enum ker_status record_fetch(struct thread *thread, struct ker_error *error)
{
    struct mars_error why = {0};
    thread->there = mars_stream_next(thread->stream, &thread->record, &why);
    if (why.text[0])
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    if (thread->there)
        thread->end_ns = mars_stream_now_ns(thread->stream);
    return KER_OK;
}

static enum ker_status thread_open(struct reading *r, uint32_t number, struct ker_error *error)
{
    struct mars_error why = {0};
    struct thread *thread = &r->thread[number];
    if (!mars_stream_open(&thread->stream, r->t->trace, number, &why))
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    thread->after = info_number(r->t->trace, number, "after", 1); /* at least behind MPI_Init */
    thread->ended = info_number(r->t->trace, number, "ended", UINT64_MAX);
    return record_fetch(thread, error);
}

/* ---- whose record is the next ---- */

/* Has the first thread to wait for the end of this one? */
static bool first_waits(const struct reading *r, const struct thread *other)
{
    const struct thread *first = &r->thread[0];
    return first->calls >= other->ended || strcmp(first->record.function->name, "MPI_Finalize") == 0;
}

static bool is_able(const struct reading *r, uint32_t number)
{
    if (number > 0 && !r->thread[number].began && r->thread[0].there)
        return false;
    for (uint32_t i = 1; number == 0 && i < r->all->count; i++)
        if (r->thread[i].there && first_waits(r, &r->thread[i]))
            return false;
    return replay_requests_able(r->t, &r->thread[number].record);
}

/* The first of those that come behind (end, number), in this order; count: there is none. */
static uint32_t next_behind(const struct reading *r, uint64_t end_ns, uint32_t number, bool any)
{
    uint32_t best = r->all->count;
    for (uint32_t i = 0; i < r->all->count; i++) {
        const struct thread *thread = &r->thread[i];
        if (!thread->there ||
            (!any && (thread->end_ns < end_ns || (thread->end_ns == end_ns && i <= number))))
            continue;
        if (best == r->all->count || thread->end_ns < r->thread[best].end_ns)
            best = i;
    }
    return best;
}

/* Where none is able, the trace is not as it should be, and the first one is taken. */
static uint32_t thread_next(const struct reading *r)
{
    uint32_t first = next_behind(r, 0, 0, true), at = first;
    while (at < r->all->count && !is_able(r, at))
        at = next_behind(r, r->thread[at].end_ns, at, false);
    return at < r->all->count ? at : first;
}

/* ---- what it waits for ---- */

/* Those that begin behind what the first thread has done so far. */
static void others_begin(struct reading *r)
{
    for (uint32_t i = 1; i < r->all->count; i++) {
        struct thread *thread = &r->thread[i];
        if (thread->began || (r->thread[0].there && r->thread[0].calls < thread->after))
            continue;
        thread->began = true;
        thread->begin = r->all->ops[0];
    }
}

static void record_needs(struct reading *r, uint32_t number)
{
    struct thread *thread = &r->thread[number];
    if (number > 0 && thread->read == 0)
        replay_need(r->all, 0, thread->begin);
    for (uint32_t i = 1; number == 0 && i < r->all->count; i++) {
        struct thread *other = &r->thread[i];
        if (other->joined || other->there || !first_waits(r, other))
            continue;
        other->joined = true;
        replay_need(r->all, i, r->all->ops[i]);
    }
}

static bool is_collective(const struct task_op *op)
{
    return op->kind == TASK_OP_COLLECTIVE || op->kind == TASK_OP_ICOLLECTIVE ||
           op->kind == TASK_OP_COLLECTIVE_INIT;
}

void replay_threads_turn(struct replay_task *t, const struct task_op *op)
{
    struct replay_threads *all = t->threads;
    if (!is_collective(op))
        return;
    struct replay_turn *turn = &all->turn[op->comm];
    replay_need(all, turn->thread, turn->ops);
    *turn = (struct replay_turn){all->now, all->ops[all->now] + 1};
}

bool replay_threads_after(struct replay_task *t, struct task_op *after)
{
    struct replay_threads *all = t->threads;
    for (uint32_t i = 0; i < all->count; i++) {
        size_t pair = (size_t)all->now * all->count + i;
        if (all->need[pair] <= all->seen[pair])
            continue;
        all->seen[pair] = all->need[pair];
        *after = (struct task_op){
            .kind = TASK_OP_AFTER, .peer = (int32_t)i, .bytes = all->seen[pair], .call = "another thread"};
        return true;
    }
    return false;
}

void replay_threads_put(struct replay_task *t, const struct task_op *op)
{
    if (op->kind != TASK_OP_COMPUTE)
        t->threads->ops[t->threads->now]++;
}

void replay_threads_join(struct replay_task *t)
{
    t->threads->now = 0;
    for (uint32_t i = 1; i < t->threads->count; i++)
        replay_need(t->threads, i, t->threads->ops[i]);
}

/* ---- all of them ---- */

static enum ker_status record_read(struct reading *r, uint32_t number, const struct replay_reading *reading,
                                   struct ker_error *error)
{
    struct thread *thread = &r->thread[number];
    r->all->now = number;
    record_needs(r, number);
    r->t->record = thread->record;
    r->t->read = ++thread->read;
    enum ker_status status = reading->record(reading->context, r->t, error);
    replay_requests_passed(r->t);
    thread->calls += thread->record.polls;
    if (status == KER_OK)
        status = record_fetch(thread, error);
    if (number == 0)
        others_begin(r);
    return status;
}

enum ker_status replay_threads_read(struct replay_task *t, const struct replay_reading *reading,
                                    struct ker_error *error)
{
    uint32_t count = t->threads->count, next;
    struct reading r = {t, t->threads, ker_alloc(count * sizeof *r.thread)};
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < count && status == KER_OK; i++)
        status = thread_open(&r, i, error);
    while (status == KER_OK && (next = thread_next(&r)) < count)
        status = record_read(&r, next, reading, error);
    for (uint32_t i = 0; i < count; i++)
        mars_stream_close(r.thread[i].stream);
    free(r.thread);
    return status;
}
