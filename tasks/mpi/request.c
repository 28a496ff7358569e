/* request.c - requests: records of a pool, found by the program's names through one hash table per rank.
 *
 * A named request lives from the call that makes it until a wait or test takes note of its completion
 * (persistent ones until MPI_Request_free). A name that is given again loses its old request, as the program
 * has lost the handle: it ends by itself ("detached"). Names are looked up by (task, name); the table doubles
 * when it is full, so a look-up costs about one cache line. Invariant: a record is freed exactly once: by
 * reap, or by complete when it is detached or a collective's.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>

static uint32_t names_bucket(const struct task_mpi *mpi, uint32_t task, uint64_t name)
{
    uint64_t mixed = (name ^ (uint64_t)task << 40) * 0x9e3779b97f4a7c15u + task * 0xc2b2ae3d27d4eb4fu;
    mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(mixed >> (64 - mpi->names_log2));
}

static void names_insert(struct task_mpi *mpi, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    uint32_t *bucket = &mpi->names[names_bucket(mpi, r->task, r->name)];
    r->name_next = *bucket;
    *bucket = index;
}

static void names_grow(struct task_mpi *mpi)
{
    uint32_t *old = mpi->names, old_log2 = mpi->names_log2;
    mpi->names_log2 = old ? old_log2 + 1 : 6;
    mpi->names = ker_alloc(sizeof *mpi->names << mpi->names_log2);
    for (size_t b = 0; old && b < (size_t)1 << old_log2; b++)
        for (uint32_t index = old[b], next; index; index = next) {
            next = task_request_at(mpi, index)->name_next;
            names_insert(mpi, index);
        }
    free(old);
}

static void names_remove(struct task_mpi *mpi, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    uint32_t *link = &mpi->names[names_bucket(mpi, r->task, r->name)];
    while (*link != index)
        link = &task_request_at(mpi, *link)->name_next;
    *link = r->name_next;
    r->flags &= (uint8_t)~TASK_REQUEST_NAMED;
    mpi->names_count--;
}

uint32_t task_request_find(const struct task_mpi *mpi, const struct task_state *task, uint64_t name)
{
    if (!mpi->names)
        return 0;
    uint32_t owner = task_index(mpi, task);
    uint32_t index = mpi->names[names_bucket(mpi, owner, name)];
    while (index) {
        const struct task_request *r = task_request_at(mpi, index);
        if (r->name == name && r->task == owner)
            return index;
        index = r->name_next;
    }
    return 0;
}

uint32_t task_request_new(struct task_mpi *mpi, struct task_state *task, unsigned flags, uint64_t name)
{
    if (flags & TASK_REQUEST_NAMED)
        task_request_drop(mpi, task, task_request_find(mpi, task, name));
    uint32_t index = task_pool_take(&mpi->request);
    struct task_request *r = task_request_at(mpi, index);
    r->name = name;
    r->task = task_index(mpi, task);
    r->flags = (uint8_t)flags;
    if (flags & TASK_REQUEST_NAMED) {
        if (!mpi->names || mpi->names_count >= 1u << mpi->names_log2)
            names_grow(mpi);
        names_insert(mpi, index);
        mpi->names_count++;
    }
    return index;
}

static void request_free(struct task_mpi *mpi, uint32_t index)
{
    if (task_request_at(mpi, index)->flags & TASK_REQUEST_NAMED)
        names_remove(mpi, index);
    task_pool_give(&mpi->request, index);
}

void task_request_drop(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    (void)task;
    if (!index)
        return;
    struct task_request *r = task_request_at(mpi, index);
    if (r->state == TASK_REQUEST_INACTIVE || r->state == TASK_REQUEST_COMPLETE) {
        request_free(mpi, index);
        return;
    }
    names_remove(mpi, index);
    r->flags |= TASK_REQUEST_DETACHED;
}

static void request_charge(struct task_mpi *mpi, struct task_state *task, const struct task_request *r)
{
    if (!(r->flags & (TASK_REQUEST_SEND | TASK_REQUEST_CANCELLED)) && r->peer != TASK_PROC_NULL)
        task->debt += mpi->model.receive_overhead;
}

void task_request_reap(struct task_mpi *mpi, struct task_state *task, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    ker_check(r->state == TASK_REQUEST_COMPLETE);
    request_charge(mpi, task, r);
    if (r->flags & TASK_REQUEST_PERSISTENT) {
        r->state = TASK_REQUEST_INACTIVE;
        r->flags &= (uint8_t)~TASK_REQUEST_CANCELLED;
    } else {
        request_free(mpi, index);
    }
}

void task_request_open(struct task_mpi *mpi, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    r->flags |= TASK_REQUEST_OPEN;
    mpi->task[r->task].open++;
}

static void request_close(struct task_state *task, struct task_mpi *mpi, struct task_request *r)
{
    if (!(r->flags & TASK_REQUEST_OPEN))
        return;
    r->flags &= (uint8_t)~TASK_REQUEST_OPEN;
    if (--task->open == 0 && task->stage == TASK_STAGE_BLOCKED && task->op.kind == TASK_OP_FINALIZE)
        task_ready(mpi, task);
}

static void collective_completed(struct task_mpi *mpi, struct task_state *task)
{
    struct task_collective_run *run = task_pool_at(&mpi->run, task->collective);
    run->outstanding--;
    if (!task_collective_blocked(run))
        task_ready(mpi, task);
}

void task_request_complete(struct task_mpi *mpi, uint32_t index)
{
    struct task_request *r = task_request_at(mpi, index);
    struct task_state *task = &mpi->task[r->task];
    ker_check(r->state == TASK_REQUEST_ACTIVE || r->state == TASK_REQUEST_MATCHED);
    r->state = TASK_REQUEST_COMPLETE;
    request_close(task, mpi, r);
    if (r->flags & TASK_REQUEST_COLLECTIVE) {
        request_charge(mpi, task, r);
        request_free(mpi, index);
        collective_completed(mpi, task);
        return;
    }
    bool awaited = r->flags & TASK_REQUEST_AWAITED;
    r->flags &= (uint8_t)~TASK_REQUEST_AWAITED;
    if (r->flags & TASK_REQUEST_DETACHED) {
        if (awaited)
            request_charge(mpi, task, r);
        request_free(mpi, index);
    }
    if (awaited && task->pending && --task->pending == 0)
        task_ready(mpi, task);
}
