/* threads.c - what one thread of a task waits for of another.
 *
 * The codec hands out the calls of all threads in one order (struct mars_threads). A thread begins behind the
 * first thread's last call before it, and the first thread's next call after its end comes after its last
 * one, as does MPI_Finalize. Besides, an operation waits for the last one of another thread on the same
 * request, and a collective for the one before on its communicator, which MPI wants to be called in one
 * order. All these were over in the trace before what waits for them began, so nothing can wait in a circle.
 */
#include "traces/replay/replay.h"

#include <stdlib.h>

struct thread {
    uint64_t begin; /* operations of the first thread before it began */
    bool began, joined;
};

struct reading {
    struct replay_task *t;
    struct replay_threads *all;
    struct thread *thread;
    struct mars_threads records;
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

/* ---- what it waits for ---- */

/* Those that begin behind what the first thread has done so far. */
static void others_begin(struct reading *r)
{
    for (uint32_t i = 1; i < r->all->count; i++) {
        struct thread *thread = &r->thread[i];
        if (thread->began || !r->records.thread[i].began)
            continue;
        thread->began = true;
        thread->begin = r->all->ops[0];
    }
}

static void record_needs(struct reading *r, uint32_t number)
{
    if (number > 0 && r->records.thread[number].records == 0)
        replay_need(r->all, 0, r->thread[number].begin);
    for (uint32_t i = 1; number == 0 && i < r->all->count; i++) {
        struct thread *other = &r->thread[i];
        if (other->joined || r->records.thread[i].there || !mars_threads_joined(&r->records, i))
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
    if (op->kind != TASK_OP_COMPUTE && op->kind != TASK_OP_TAKES)
        t->threads->ops[t->threads->now]++;
}

void replay_threads_join(struct replay_task *t)
{
    t->threads->now = 0;
    for (uint32_t i = 1; i < t->threads->count; i++)
        replay_need(t->threads, i, t->threads->ops[i]);
}

/* ---- all of them ---- */

enum ker_status replay_threads_read(struct replay_task *t, const struct replay_reading *reading,
                                    struct ker_error *error)
{
    struct mars_error why = {0};
    struct reading r = {t, t->threads, ker_alloc(t->threads->count * sizeof *r.thread), {0}};
    bool fine = mars_threads_open(&r.records, t->trace, &why);
    enum ker_status status = KER_OK;
    while (fine && status == KER_OK && mars_threads_next(&r.records, &why)) {
        const struct mars_thread *thread = &r.records.thread[r.records.now];
        others_begin(&r);
        r.all->now = r.records.now;
        record_needs(&r, r.all->now);
        t->record = thread->record;
        t->read = thread->records + 1;
        status = reading->record(reading->context, t, error);
    }
    mars_threads_close(&r.records);
    free(r.thread);
    return status == KER_OK && why.text[0] ? ker_fail(error, KER_BAD_INPUT, "%s", why.text) : status;
}
