/* ring.c - what a task did last, as pieces in a ring.
 *
 * Pieces that follow each other in the same function are one, so that a ring leads further back. Nothing here
 * depends on where a name lies in memory: functions are compared by their names where the addresses differ,
 * which they may after a checkpoint.
 */
#include "tasks/mpi/path.h"

#include <string.h>

/* A ring that is not full yet begins at 0. */
struct task_piece *task_ring_push(struct task_ring *ring, uint32_t most)
{
    if (ring->count == most) {
        struct task_piece *oldest = &ring->piece[ring->first];
        ring->first = ring->first + 1 == ring->room ? 0 : ring->first + 1;
        ring->lost = true;
        return oldest;
    }
    if (ring->count == ring->room) {
        uint32_t room = ring->room ? 2 * ring->room : TASK_PIECES_LEAST;
        ring->room = room < most ? room : most;
        ring->piece = ker_realloc(ring->piece, ring->room * sizeof *ring->piece);
    }
    return &ring->piece[ring->count++];
}

static bool function_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

void task_ring_busy(struct task_ring *ring, uint32_t most, uint16_t stream, const char *function,
                    ker_time now, ker_time until)
{
    struct task_piece *last = ring->count ? task_ring_at(ring, ring->count - 1) : NULL;
    if (last && last->kind == TASK_PIECE_BUSY && last->end == now && last->stream == stream &&
        function_same(last->function, function)) {
        last->end = until;
        return;
    }
    *task_ring_push(ring, most) = (struct task_piece){
        .begin = now, .end = until, .function = function, .stream = stream, .kind = TASK_PIECE_BUSY};
}
