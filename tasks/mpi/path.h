/* path.h - what each task did last, from which the critical path of a job is found (output.critical_path).
 *
 * A task has a ring of pieces. Those of a stream follow each other without a gap: it is busy, or it waits. In
 * between stand acts: messages that went out for it while it did something else, as those by which the
 * adapter answers. A piece says what led to it, so that the way back from any time is known as far as the
 * ring goes.
 */
#ifndef TASKS_MPI_PATH_H
#define TASKS_MPI_PATH_H

#include "tasks/mpi/cause.h"

#include <stdbool.h>

enum task_piece_kind { TASK_PIECE_BUSY, TASK_PIECE_WAIT, TASK_PIECE_ACT };

struct task_piece {
    ker_time begin, end; /* act: when it was, and when the message went out */
    union {
        const char *function; /* that the stream was in; NULL: none, it computed */
        struct {
            uint32_t to;   /* act: to which task */
            uint8_t sends; /* enum task_wire_kind */
        };
    };
    struct task_hop hop; /* what has ended the wait, or led to the act; kind 0: unknown */
    uint16_t stream;
    uint8_t kind;
};
#define TASK_PIECES_LEAST 16 /* of a task: less is refused */

struct task_ring {
    struct task_piece *piece; /* in the order of their keys (task_piece_key) from `first` on, around */
    uint32_t first, count, room;
    uint16_t last;    /* stream: with which the task ended */
    bool lost;        /* there were more before */
    ker_time longest; /* of acts: from begin to end */
};

struct task_path {
    struct task_ring *ring; /* by task */
    uint32_t most;          /* pieces of a ring */
};

/* When it was known. */
static inline ker_time task_piece_key(const struct task_piece *piece)
{
    return piece->kind == TASK_PIECE_WAIT ? piece->end : piece->begin;
}
static inline struct task_piece *task_ring_at(const struct task_ring *ring, uint32_t i)
{
    uint32_t at = ring->first + i;
    return &ring->piece[at < ring->room ? at : at - ring->room];
}

/* -- ring.c -- */
/* Room for one more piece: of at most so many, the oldest is given up. */
struct task_piece *task_ring_push(struct task_ring *, uint32_t most);
/* The stream is busy until then, in that function. */
void task_ring_busy(struct task_ring *, uint32_t most, uint16_t stream, const char *function, ker_time now,
                    ker_time until);

/* -- path.c -- all but release only with mpi->path */
void task_path_release(struct task_mpi *);
/* The current stream is busy until then; was blocked, which `cause` (NULL: nothing known) has ended. */
void task_path_busy(struct task_mpi *, const struct task_state *, ker_time now, ker_time until);
void task_path_wait(struct task_mpi *, const struct task_state *, const struct task_cause *, ker_time begin,
                    ker_time end);
/* It has had time that it asked for then: if messages take the processor, too, it was busy with these before.
 */
void task_path_worked(struct task_mpi *, const struct task_state *, ker_time began, ker_time now);
/* A message goes out from this task to that one, so much later. */
void task_path_act(struct task_mpi *, const struct task_state *, ker_time now, ker_time delay,
                   const struct task_wire *, uint32_t to);
/* The current stream is the last one of its task to end. */
void task_path_end(struct task_mpi *, const struct task_state *);
void task_path_state(struct task_mpi *, const struct task_state *, struct ker_chunk *);

#endif
