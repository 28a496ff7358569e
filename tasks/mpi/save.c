/* save.c - the MPI model, saved and loaded, node by node.
 *
 * Order that is state: posted receives, unexpected and early messages. Requests are known by the numbers that
 * their tasks have given them; a program by where it was before its last operation, which it then makes
 * again: so what the operation points to is there again, too. Nobody is on a list of ready tasks between two
 * instants.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

/* ---- requests ---- */

/* What names a run: the number of the request that owns it, or which stream waits for it. */
#define RUN_OF_STREAM 0x80000000u

static uint32_t run_owner(const struct task_mpi *mpi, const struct task_state *task, uint32_t run)
{
    uint32_t request = task_run_at(mpi, run)->request;
    if (request || !task->streams)
        return request;
    for (uint32_t i = 1; i < task->streams->count; i++)
        if (task->streams->stream[i].collective == run) /* the first is the current one */
            return RUN_OF_STREAM | i;
    return 0;
}

static uint32_t owned_run(const struct task_mpi *mpi, const struct task_state *task, uint32_t owner)
{
    if (owner & RUN_OF_STREAM) {
        uint32_t stream = owner & ~RUN_OF_STREAM;
        return task->streams && stream < task->streams->count ? task->streams->stream[stream].collective : 0;
    }
    if (!task_request_there(task, owner))
        return 0;
    const struct task_request *r = task_request_at(mpi, task_request_numbered(task, owner));
    return r->peer == TASK_PEER_RUN ? r->owns : 0;
}

/* A message of a collective knows its run. */
static void request_state(struct task_mpi *mpi, struct task_state *task, struct task_request *r,
                          uint64_t *name, struct ker_chunk *c)
{
    r->flags = ker_chunk_u8(c, r->flags);
    if (r->flags & TASK_REQUEST_COLLECTIVE)
        r->run = ker_chunk_u32(c, c->loads ? 0 : run_owner(mpi, task, r->run));
    else
        *name = ker_chunk_u64(c, c->loads ? 0 : task_request_name(mpi, r));
    if (r->flags & TASK_REQUEST_SEND)
        KER_CHUNK(c, r->rail);
    mpi->rails |= r->flags & TASK_REQUEST_SEND && r->rail;
    r->bytes = ker_chunk_u64(c, r->bytes);
    KER_CHUNK(c, r->peer);
    if (r->peer == TASK_PEER_RUN)
        r->owns = ker_chunk_bool(c, r->owns != 0);
    else
        KER_CHUNK(c, r->tag);
    KER_CHUNK(c, r->comm);
    r->state = ker_chunk_u8(c, r->state);
    r->finds = ker_chunk_bool(c, r->finds);
    r->mode = ker_chunk_u8(c, r->mode);
}

/* The run that a request owns. */
static void owned_state(struct task_mpi *mpi, struct task_state *task, uint32_t number, struct ker_chunk *c)
{
    struct task_request *r = task_request_at(mpi, task_request_numbered(task, number));
    if (c->loads)
        r->owns = ker_chunks_take(&mpi->run);
    struct task_collective_run *run = task_run_at(mpi, r->owns);
    run->request = number;
    task_run_state(mpi, task, run, c);
}

/* The partitions of a request. */
static void partitions_state(struct task_mpi *mpi, struct task_state *task, uint32_t number,
                             struct ker_chunk *c)
{
    struct task_request *r = task_request_at(mpi, task_request_numbered(task, number));
    struct task_partitioned none = {0}, *p = c->loads ? &none : task_partitioned_of(mpi, r);
    uint64_t bytes = ker_chunk_u64(c, p->bytes);
    uint32_t partitions = ker_chunk_count(c, p->partitions, sizeof *p->part);
    if (c->loads) {
        r->bytes = task_partitions_new(mpi, partitions, bytes);
        p = task_partitioned_of(mpi, r);
    }
    KER_CHUNK(c, p->messages, p->partner, p->started, p->cleared, p->ready, p->moved);
    for (uint32_t i = 0; i < partitions; i++)
        KER_CHUNK(c, p->part[i]);
}

static uint32_t requests_count(const struct task_state *task)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < task->numbers; i++)
        count += !(task->request[i] & TASK_NUMBER_FREE);
    return count;
}

static void requests_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    uint32_t count = ker_chunk_count(c, requests_count(task), 30);
    for (uint32_t at = 0; count && !c->bad; count--, at++) {
        while (!c->loads && task->request[at] & TASK_NUMBER_FREE)
            at++;
        uint32_t number = ker_chunk_u32(c, at + 1);
        struct task_request one = {0};
        uint64_t name = 0;
        if (!c->loads)
            one = *task_request_at(mpi, task->request[at]);
        request_state(mpi, task, &one, &name, c);
        if (c->loads && !c->bad)
            c->bad |= !task_request_restore(mpi, task, number, &one, name);
        if (mpi->waits && !c->bad)
            task_note_state(mpi, task_request_numbered(task, number), c);
        if (!c->bad && one.peer == TASK_PEER_RUN && one.owns)
            owned_state(mpi, task, number, c);
        if (!c->bad && task_request_partitioned(&one))
            partitions_state(mpi, task, number, c);
    }
    if (c->loads)
        task_numbers_renew(task);
}

/* ---- queues ---- */

static void posted_state(struct task_mpi *mpi, struct task_state *task, struct task_queue *queue,
                         struct ker_chunk *c)
{
    uint32_t *item = c->loads ? NULL : task_queue_items(mpi, TASK_QUEUE_POSTED, queue);
    uint32_t count = ker_chunk_count(c, queue->count, sizeof count);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        uint32_t number = ker_chunk_u32(c, item ? task_request_at(mpi, item[i])->number : 0);
        if (!c->loads)
            continue;
        c->bad |= !task_request_there(task, number);
        if (!c->bad)
            task_queue_push(mpi, TASK_QUEUE_POSTED, queue, task_request_numbered(task, number));
    }
    free(item);
}

static void messages_state(struct task_mpi *mpi, enum task_queue_kind kind, struct task_queue *queue,
                           struct ker_chunk *c)
{
    uint32_t *item = c->loads ? NULL : task_queue_items(mpi, kind, queue);
    uint32_t count = ker_chunk_count(c, queue->count, sizeof(struct task_wire));
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_wire wire = {0};
        if (item)
            wire = task_message_at(mpi, item[i])->wire;
        KER_CHUNK(c, wire);
        if (c->loads && !c->bad)
            task_message_push(mpi, kind, queue, &wire);
    }
    free(item);
}

static void queues_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    if (!ker_chunk_bool(c, task->queues != NULL))
        return;
    struct task_queues *q = task_queues(task);
    posted_state(mpi, task, &q->posted, c);
    messages_state(mpi, TASK_QUEUE_UNEXPECTED, &q->unexpected, c);
    messages_state(mpi, TASK_QUEUE_EARLY, &q->early, c);
    messages_state(mpi, TASK_QUEUE_HELD, &q->held, c);
    messages_state(mpi, TASK_QUEUE_LIST, &q->deferred, c);
}

static void peers_state(struct task_state *task, struct ker_chunk *c)
{
    const struct task_peer *at = NULL;
    for (uint32_t count = ker_chunk_count(c, (uint32_t)task->peers.count, sizeof *at); count; count--) {
        struct task_peer one = {0};
        if (!c->loads)
            one = *(at = ker_table_next(&task_peer_kind, &task->peers, at));
        KER_CHUNK(c, one.key, one.sends, one.receives);
        c->bad |= one.key == 0;
        if (c->loads && !c->bad)
            *task_peer_get(task, one.key) = one;
    }
}

/* ---- one-sided ---- */

static void window_state(struct task_mpi *mpi, struct task_window *w, struct ker_chunk *c)
{
    KER_CHUNK(c, w->comm, w->window, w->open, w->missing, w->exposed, w->completed, w->shared);
    w->exclusive = ker_chunk_bool(c, w->exclusive);
    w->all = ker_chunk_bool(c, w->all);
    messages_state(mpi, TASK_QUEUE_LIST, &w->locks, c);
    messages_state(mpi, TASK_QUEUE_LIST, &w->starters, c);
    c->bad |= w->window < 1;
}

static void target_state(struct task_mpi *mpi, struct task_target *t, struct ker_chunk *c)
{
    KER_CHUNK(c, t->comm, t->window, t->peer, t->open, t->posts, t->lock);
    t->exclusive = ker_chunk_bool(c, t->exclusive);
    t->awaited = ker_chunk_bool(c, t->awaited);
    messages_state(mpi, TASK_QUEUE_LIST, &t->delayed, c);
    c->bad |= t->window < 1;
}

static void onesided_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    if (!ker_chunk_bool(c, task->onesided != NULL) || c->bad)
        return;
    struct task_onesided *o = task_onesided_get(task);
    KER_CHUNK(c, o->combines);
    void **windows = c->loads ? NULL : task_windows_sorted(o),
         **targets = c->loads ? NULL : task_targets_sorted(o);
    uint32_t count = ker_chunk_count(c, (uint32_t)o->windows.count, 38);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_window one = windows ? *(struct task_window *)windows[i] : (struct task_window){0};
        window_state(mpi, &one, c);
        if (c->loads && !c->bad)
            *task_window_get(task, one.comm, one.window) = one;
    }
    count = ker_chunk_count(c, (uint32_t)o->targets.count, 27);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_target one = targets ? *(struct task_target *)targets[i] : (struct task_target){0};
        target_state(mpi, &one, c);
        if (c->loads && !c->bad)
            *task_target_get(task, one.comm, one.window, one.peer) = one;
    }
    free(windows);
    free(targets);
}

/* ---- runs ---- */

/* Of the call that the task waits for. Ranks, sizes and algorithm follow from the operation, which is there
 * again. */
static void awaited_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    bool active = ker_chunk_bool(c, task->collective != 0);
    c->bad |= active && task->op.kind != TASK_OP_COLLECTIVE;
    if (!active || c->bad)
        return;
    if (c->loads)
        task_collective_restore(mpi, task);
    task_run_state(mpi, task, task_run_at(mpi, task->collective), c);
}

static void able_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    uint32_t count = 0, at = task->able.first;
    for (uint32_t i = at; !c->loads && i; i = task_run_at(mpi, i)->next)
        count++;
    for (count = ker_chunk_count(c, count, sizeof count); count && !c->bad; count--) {
        uint32_t owner = ker_chunk_u32(c, at ? task_run_at(mpi, at)->request : 0),
                 run = c->loads ? owned_run(mpi, task, owner) : 0;
        at = at ? task_run_at(mpi, at)->next : 0;
        c->bad |= c->loads && (!run || task_run_at(mpi, run)->able);
        if (c->loads && !c->bad)
            task_run_push(mpi, task, run, false);
    }
}

/* Messages of collectives have been loaded with the number of their run's owner. */
static void messages_bind(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    for (uint32_t i = 0; i < task->numbers && !c->bad; i++) {
        uint32_t index = task->request[i];
        struct task_request *r = index & TASK_NUMBER_FREE ? NULL : task_request_at(mpi, index);
        if (!r || !(r->flags & TASK_REQUEST_COLLECTIVE))
            continue;
        r->run = r->run ? owned_run(mpi, task, r->run) : task->collective;
        c->bad |= r->run == 0;
    }
}

/* ---- tasks ---- */

static void stream_state(struct task_state *t, struct ker_chunk *c)
{
    t->stage = (uint8_t)ker_chunk_below(c, t->stage, TASK_STAGE_DONE + 1);
    t->busy = ker_chunk_bool(c, t->busy);
    t->blocked = ker_chunk_bool(c, t->blocked);
    KER_CHUNK(c, t->pending, t->debt, t->blocked_since, t->paid_until);
}

static void progress_state(struct task_state *t, struct ker_chunk *c)
{
    stream_state(t, c);
    KER_CHUNK(c, t->open, t->searching, t->started, t->finish, t->compute, t->wait, t->send_wait,
              t->messages_sent, t->bytes_sent, t->messages_received, t->bytes_received, t->passes);
    KER_CHUNK(c, t->jitters, t->acted);
}

static void program_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    const struct task_job *job = task_job_of(mpi, task);
    task->fetched = ker_chunk_bool(c, task->fetched);
    if (!task->fetched || c->bad)
        return;
    job->class->position(job->program, task->own, c);
    if (c->loads && !c->bad)
        task_op_fetch(job, task);
}

/* What the current stream has counted. */
static void counted_state(struct task_streams *all, struct ker_chunk *c)
{
    struct task_stream *s = &all->stream[all->current];
    KER_CHUNK(c, s->until, s->begun, s->done);
}

/* All but what is saved of any task: its streams from the second on, who waits for which request, which have
 * ended. */
static void streams_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    struct task_streams *all = task->streams;
    ker_chunk_same(c, all->count);
    counted_state(all, c);
    for (uint32_t i = 1; i < all->count && !c->bad; i++) {
        task_stream_select(task, i);
        program_state(mpi, task, c);
        stream_state(task, c);
        counted_state(all, c);
        if (!c->bad)
            awaited_state(mpi, task, c);
        if (task->calls && !c->bad)
            task_calls_stream_state(mpi, task, c);
    }
    task_stream_select(task, 0);
    KER_CHUNK(c, all->behind);
    all->unfinished = ker_chunk_below(c, all->unfinished, all->count + 1);
    uint32_t waiters = ker_chunk_count(c, all->waiters, sizeof *all->waiter);
    if (c->loads && !c->bad) {
        all->waiters = waiters;
        all->waiter = ker_alloc((waiters + (size_t)1) * sizeof *all->waiter);
    }
    for (uint32_t i = 0; i < waiters && !c->bad; i++)
        KER_CHUNK(c, all->waiter[i]);
}

static void task_state_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    task_streams_make(mpi, task);
    task_stream_select(task, 0);
    ker_assert(c->loads || !task->ready);
    ker_chunk_same(c, (uint64_t)task->job << 32 | task->task);
    if (c->bad)
        return;
    task_sources_state(task, c);
    if (c->bad)
        return;
    program_state(mpi, task, c);
    progress_state(task, c);
    if (c->loads && task->started == TASK_WAITS)
        mpi->job[task->job].waiting++;
    peers_state(task, c);
    requests_state(mpi, task, c);
    posted_state(mpi, task, &task->posted, c);
    messages_state(mpi, TASK_QUEUE_UNEXPECTED, &task->unexpected, c);
    queues_state(mpi, task, c);
    KER_CHUNK(c, task->search, task->longest);
    onesided_state(mpi, task, c);
    awaited_state(mpi, task, c);
    able_state(mpi, task, c);
    if (task->calls)
        task_calls_state(mpi, task, c);
    if (task->streams && !c->bad)
        streams_state(mpi, task, c);
    if (c->loads)
        messages_bind(mpi, task, c);
    if (c->loads && task_is_done(task)) /* it counts no more as unfinished */
        task_mpi_done(mpi, task);
    if (task->line && !c->bad)
        task_line_state(mpi, task, c);
    if (mpi->waits && !c->bad)
        task_waits_state(mpi, task, c);
    if (mpi->endpoints && !c->bad)
        task_endpoint_state(mpi, task, c);
    if (mpi->worked && !c->bad)
        task_work_state(mpi, task, c);
}

void task_mpi_save(void *state, struct node *net, struct ker_chunk *c)
{
    struct task_mpi_node *node = state;
    node->net = net;
    node->mpi->latest = node->mpi->outside.latest(net);
    node->begun =
        ker_chunk_below(c, node->begun, node->tasks + 1); /* those of further jobs come with a fork */
    for (uint32_t i = 0; i < node->begun && !c->bad; i++)
        task_state_state(node->mpi, &node->mpi->task[node->first_task + i], c);
    if (task_mpi_direct(node->mpi) && !c->bad)
        task_analytic_state(node->mpi, node, c);
}
