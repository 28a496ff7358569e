/* save.c - the MPI model, saved and loaded, node by node.
 *
 * Order that is state: posted receives, unexpected and early messages. Requests are known by the numbers that
 * their tasks have given them; a program by where it was before its last operation, which it then makes anew:
 * so what the operation points to is there again, too. Nobody is on a list of ready tasks between two
 * instants.
 */
#include "tasks/mpi/state.h"

#include <string.h>

/* ---- requests ---- */

static void request_state(struct task_request *r, struct ker_chunk *c)
{
    KER_CHUNK(c, r->name); /* or the number of the call */
    r->bytes = ker_chunk_u64(c, r->bytes);
    KER_CHUNK(c, r->peer);
    KER_CHUNK(c, r->tag);
    KER_CHUNK(c, r->comm);
    r->state = ker_chunk_u8(c, r->state);
    r->flags = ker_chunk_u8(c, r->flags);
    r->mode = ker_chunk_u8(c, r->mode);
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
        if (!c->loads)
            one = *task_request_at(mpi, task->request[at]);
        request_state(&one, c);
        if (c->loads && !c->bad)
            c->bad |= !task_request_restore(mpi, task, number, &one);
    }
    if (c->loads)
        task_numbers_renew(task);
}

/* ---- queues ---- */

static void posted_state(struct task_mpi *mpi, struct task_state *task, struct task_queue *queue,
                         struct ker_chunk *c)
{
    uint32_t count = 0, at = queue->first;
    for (uint32_t i = queue->first; !c->loads && i; i = task_request_at(mpi, i)->next)
        count++;
    for (count = ker_chunk_count(c, count, sizeof count); count && !c->bad; count--) {
        uint32_t number = ker_chunk_u32(c, at ? task_request_at(mpi, at)->number : 0);
        at = at ? task_request_at(mpi, at)->next : 0;
        if (!c->loads)
            continue;
        c->bad |= !task_request_there(task, number);
        if (!c->bad)
            task_posted_push(mpi, queue, task_request_numbered(task, number));
    }
}

static void messages_state(struct task_mpi *mpi, struct task_queue *queue, struct ker_chunk *c)
{
    uint32_t count = 0, at = queue->first;
    for (uint32_t i = queue->first; !c->loads && i; i = task_message_at(mpi, i)->next)
        count++;
    for (count = ker_chunk_count(c, count, sizeof(struct task_wire)); count; count--) {
        struct task_wire wire = {0};
        if (!c->loads) {
            wire = task_message_at(mpi, at)->wire;
            at = task_message_at(mpi, at)->next;
        }
        KER_CHUNK(c, wire);
        if (c->loads && !c->bad)
            task_message_push(mpi, queue, &wire);
    }
}

static void peers_state(struct task_state *task, struct ker_chunk *c)
{
    const struct task_peer *at = NULL;
    for (uint32_t count = ker_chunk_count(c, (uint32_t)task->peers.count, sizeof *at); count; count--) {
        struct task_peer one = {0};
        if (!c->loads)
            one = *(at = ker_table_next(&task_peer_kind, &task->peers, at));
        KER_CHUNK(c, one.key);
        KER_CHUNK(c, one.sends);
        KER_CHUNK(c, one.receives);
        c->bad |= one.key == 0;
        if (c->loads && !c->bad)
            *task_peer_get(task, one.key) = one;
    }
}

/* ---- collectives ---- */

/* Ranks, sizes and algorithm follow from the operation, which is there again. */
static void run_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    bool active = ker_chunk_bool(c, task->collective != 0);
    if (!active || c->bad)
        return;
    if (c->loads)
        task->collective = ker_chunks_take(&mpi->run);
    struct task_collective_run *run = ker_chunks_at(&mpi->run, task->collective);
    char name[KER_CHUNK_NAME] = "";
    if (!c->loads)
        snprintf(name, sizeof name, "%s", run->algorithm->name);
    ker_chunk_text(c, name);
    struct task_coll_view view = run->view;
    view.send_bytes = view.receive_bytes = NULL;
    KER_CHUNK(c, view);
    run->view = view;
    run->view.send_bytes = task->op.send_bytes;
    run->view.receive_bytes = task->op.receive_bytes;
    KER_CHUNK(c, run->current);
    KER_CHUNK(c, run->round);
    KER_CHUNK(c, run->outstanding);
    KER_CHUNK(c, run->call);
    run->fence = ker_chunk_bool(c, run->fence);
    run->sending = ker_chunk_bool(c, run->sending);
    run->ended = ker_chunk_bool(c, run->ended);
    c->bad |= task->op.kind != TASK_OP_COLLECTIVE || run->view.collective >= TASK_COLL_COUNT;
    if (!c->loads || c->bad)
        return;
    run->algorithm = task_coll_choose(&mpi->collectives, &run->view);
    c->bad |= strcmp(run->algorithm->name, name) != 0;
}

/* ---- tasks ---- */

static void progress_state(struct task_state *t, struct ker_chunk *c)
{
    t->stage = (uint8_t)ker_chunk_below(c, t->stage, TASK_STAGE_DONE + 1);
    t->busy = ker_chunk_bool(c, t->busy);
    t->blocked = ker_chunk_bool(c, t->blocked);
    KER_CHUNK(c, t->pending);
    KER_CHUNK(c, t->open);
    KER_CHUNK(c, t->debt);
    KER_CHUNK(c, t->blocked_since);
    KER_CHUNK(c, t->paid_until);
    KER_CHUNK(c, t->started);
    KER_CHUNK(c, t->finish);
    KER_CHUNK(c, t->compute);
    KER_CHUNK(c, t->wait);
    KER_CHUNK(c, t->send_wait);
    KER_CHUNK(c, t->messages_sent);
    KER_CHUNK(c, t->bytes_sent);
    KER_CHUNK(c, t->messages_received);
    KER_CHUNK(c, t->bytes_received);
    KER_CHUNK(c, t->passes);
    KER_CHUNK(c, t->jitters);
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

/* A task that is done counts no more as unfinished. */
static void done_count(struct task_mpi *mpi, const struct task_state *task)
{
    if (task->stage != TASK_STAGE_DONE)
        return;
    mpi->job[task->job].unfinished--;
    if (!task_job_of(mpi, task)->background)
        mpi->unfinished--;
}

static void task_state_state(struct task_mpi *mpi, struct task_state *task, struct ker_chunk *c)
{
    ker_assert(c->loads || !task->ready);
    ker_chunk_same(c, (uint64_t)task->job << 32 | task->task);
    if (c->bad)
        return;
    program_state(mpi, task, c);
    progress_state(task, c);
    peers_state(task, c);
    requests_state(mpi, task, c);
    for (int i = 0; i < 2; i++) {
        posted_state(mpi, task, &task->posted[i], c);
        messages_state(mpi, &task->unexpected[i], c);
    }
    messages_state(mpi, &task->early, c);
    messages_state(mpi, &task->held, c);
    run_state(mpi, task, c);
    if (c->loads)
        done_count(mpi, task);
}

void task_mpi_save(void *state, struct node *net, struct ker_chunk *c)
{
    struct task_mpi_node *node = state;
    node->net = net;
    node->begun =
        ker_chunk_below(c, node->begun, node->tasks + 1); /* those of further jobs come with a fork */
    for (uint32_t i = 0; i < node->begun && !c->bad; i++)
        task_state_state(node->mpi, &node->mpi->task[node->first_task + i], c);
}
