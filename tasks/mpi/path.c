/* path.c - the pieces from which the critical path is found: what each task did last. */
#include "tasks/mpi/state.h"

#include <stdlib.h>

static struct task_ring *ring_of(struct task_mpi *mpi, const struct task_state *task)
{
    if (!mpi->path->ring)
        mpi->path->ring = ker_alloc(mpi->task_room * sizeof *mpi->path->ring);
    return &mpi->path->ring[task_index(mpi, task)];
}

void task_path_release(struct task_mpi *mpi)
{
    if (!mpi->path)
        return;
    for (uint32_t i = 0; mpi->path->ring && i < mpi->tasks; i++)
        free(mpi->path->ring[i].piece);
    free(mpi->path->ring);
    free(mpi->path);
}

void task_path_busy(struct task_mpi *mpi, const struct task_state *task, ker_time now, ker_time until)
{
    task_ring_busy(ring_of(mpi, task), mpi->path->most, (uint16_t)task_stream_current(task),
                   task_calls_function(&task->op), now, until);
}

void task_path_worked(struct task_mpi *mpi, const struct task_state *task, ker_time began, ker_time now)
{
    const struct task_ring *ring = ring_of(mpi, task);
    if (mpi->outside.posted) {
        began = task->started;
        for (uint32_t i = ring->count; i-- > 0;) {
            const struct task_piece *p = task_ring_at(ring, i);
            if (p->kind == TASK_PIECE_ACT || p->stream != task_stream_current(task))
                continue;
            began = p->end;
            break;
        }
    }
    task_path_busy(mpi, task, began, now);
}

void task_path_wait(struct task_mpi *mpi, const struct task_state *task, const struct task_cause *cause,
                    ker_time begin, ker_time end)
{
    if (end == begin)
        return;
    struct task_piece *piece = task_ring_push(ring_of(mpi, task), mpi->path->most);
    *piece = (struct task_piece){.begin = begin,
                                 .end = end,
                                 .function = task_calls_function(&task->op),
                                 .stream = (uint16_t)task_stream_current(task),
                                 .kind = TASK_PIECE_WAIT};
    if (cause)
        piece->hop = cause->hop;
}

/* What is sent at once while a task of one stream acts needs no word: the task's pieces say what led to it.
 */
void task_path_act(struct task_mpi *mpi, const struct task_state *task, ker_time now, ker_time delay,
                   const struct task_wire *wire, uint32_t to)
{
    struct task_hop hop = mpi->cause.hop;
    if (!hop.kind && !task->streams && delay == 0)
        return;
    if (!hop.kind)
        hop = (struct task_hop){
            .sent = now, .from = task->streams ? task->streams->runs : 0, .kind = TASK_HOP_STREAM};
    struct task_ring *ring = ring_of(mpi, task);
    struct task_piece *piece = task_ring_push(ring, mpi->path->most);
    *piece = (struct task_piece){.begin = now, .end = now + delay, .hop = hop, .kind = TASK_PIECE_ACT};
    piece->to = to;
    piece->sends = wire->kind;
    ring->longest = delay > ring->longest ? delay : ring->longest;
}

void task_path_end(struct task_mpi *mpi, const struct task_state *task)
{
    ring_of(mpi, task)->last = (uint16_t)task_stream_current(task);
}

/* ---- saved state ---- */

static void piece_state(struct task_mpi *mpi, struct task_piece *piece, struct ker_chunk *c)
{
    KER_CHUNK(c, piece->begin, piece->end, piece->hop, piece->stream);
    piece->kind = (uint8_t)ker_chunk_below(c, piece->kind, TASK_PIECE_ACT + 1);
    c->bad |= piece->begin > piece->end;
    if (piece->kind != TASK_PIECE_ACT) {
        piece->function = task_function_state(mpi, c->loads ? NULL : piece->function, c);
        return;
    }
    KER_CHUNK(c, piece->to, piece->sends);
}

/* A resumed run with less room for each task, because jobs have come, keeps the last ones. */
void task_path_state(struct task_mpi *mpi, const struct task_state *task, struct ker_chunk *c)
{
    struct task_ring *ring = ring_of(mpi, task);
    uint32_t count = ker_chunk_count(c, ring->count, 2 * sizeof(ker_time));
    KER_CHUNK(c, ring->last, ring->longest);
    ring->lost = ker_chunk_bool(c, ring->lost);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_piece one = {0};
        if (!c->loads)
            one = *task_ring_at(ring, i);
        piece_state(mpi, &one, c);
        if (c->loads && !c->bad)
            *task_ring_push(ring, mpi->path->most) = one;
    }
}
