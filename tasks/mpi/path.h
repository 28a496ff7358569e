/* path.h - what each task did last, from which the critical path of a job is found (output.critical_path).
 *
 * A task has a ring of pieces. Those of a stream follow each other without a gap: it is busy, or it waits. In
 * between are acts: messages that went out for it while it did something else, as those by which the
 * adapter answers. A piece says what led to it, so that the way back from any time is known as far as the
 * ring goes.
 */
#pragma once

#include "tasks/mpi/cause.h"
#include "tasks/mpi/mpi.h"
#include "traces/traces.h"

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
/* Room for one more piece: of at most this many, the oldest is given up. */
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
/* A message is sent from this task to that one, so much later. */
void task_path_act(struct task_mpi *, const struct task_state *, ker_time now, ker_time delay,
                   const struct task_wire *, uint32_t to);
/* The current stream is the last one of its task to end. */
void task_path_end(struct task_mpi *, const struct task_state *);
void task_path_state(struct task_mpi *, const struct task_state *, struct ker_chunk *);

/* ---- The critical path, walked backwards from the task that ends last: of the MPI model's tasks
 * (state.h), and of those of schedules under LogGOPS.
 *
 * The path is a chain of pieces without a gap in time, from the end of the job back to its start, or to where
 * no more is known. Each piece is part of what a task did, or of the path of a message. */

enum task_path_kind {
    TASK_PATH_COMPUTATION,
    TASK_PATH_CALL,       /* in a function: processor time */
    TASK_PATH_TRANSFER,   /* a message in transit in an empty network */
    TASK_PATH_IN_NODE,    /* a message between tasks of a node */
    TASK_PATH_CONTENTION, /* what a message took longer */
    TASK_PATH_HANDSHAKE,  /* control messages, of rendezvous and others, in transit */
    TASK_PATH_SENDING,    /* until a message's last byte had left */
    TASK_PATH_MATCHING,   /* a search before an answer went out */
    TASK_PATH_SERVICE,    /* from a call of a service to its answer */
    TASK_PATH_OTHER,      /* a wait of which it is not known what has ended it */
    TASK_PATH_KINDS,
};

/* A message is of the task that has waited for it, and of the function in which that waited. */
struct task_path_step {
    uint64_t number; /* 0: the last one */
    ker_time begin, end;
    uint32_t job, task;
    uint32_t from, to; /* of messages: the tasks between which it went; else task */
    uint32_t function; /* its place among the functions; that of "": none */
    uint8_t kind;      /* enum task_path_kind */
};

struct task_path_visitor {
    void (*step)(void *context, const struct task_path_step *);
    void *context;
};

struct task_path_result {
    ker_time from, finish;
    uint64_t steps, messages; /* messages: between tasks or of a task with itself */
    uint32_t last;            /* task: the one that ends last */
    bool there;               /* something is known of it */
    bool finished;            /* the job has come to its end; else `finish` is the run's */
    bool whole;               /* the path returns to the start */
};

/* Who knows what tasks did. */
struct task_path_own {
    uint32_t job, task;
    ker_time started, finish; /* finish: KER_TIME_MAX, it has not */
    const struct task_ring *ring;
    /* Of one that has not finished: until when it was busy, KER_TIME_MAX when it still is, -1 when nothing is
     * known of it; which stream was, and in which function it is (NULL: none). */
    ker_time active;
    uint32_t stream;
    const char *function;
};
struct task_path_source {
    void *context;
    uint32_t jobs;
    ker_time end; /* of the run */
    bool routed;  /* messages pass links of the topology */
    /* The index-th task of this rank; false: there are no more. */
    bool (*own)(void *context, uint32_t index, struct task_path_own *);
    /* One of them; false: it lives on another rank. */
    bool (*find)(void *context, uint32_t job, uint32_t task, struct task_path_own *);
};

/* path_tasks.c; end: of the run. */
struct task_path_source task_path_tasks(struct task_mpi *, uint32_t jobs, ker_time end);

/* Collective. The functions that any task's pieces name, "" included. */
void task_path_functions(const struct task_path_source *, struct task_names *, struct ker_comm *);
/* Collective: of each job; result[jobs] is the same on all ranks. A rank visits the steps of its own tasks.
 * The path of a job that has not ended ends with the run, at the task that was busy last. */
void task_path_walk(const struct task_path_source *, struct ker_comm *, const struct task_names *functions,
                    const struct task_path_visitor *, struct task_path_result *);

/* -- path_table.c -- */
/* output.critical_path: how many pieces each of this many tasks may have; 0: it is not wanted. */
enum ker_status task_path_room(const struct ker_config *, uint64_t tasks, uint32_t *most, struct ker_error *);
/* Collective: rank 0 writes the tables of critical paths; *paths: an array with what each job's is made
 * of, on rank 0, null for a job of which nothing is known. */
enum ker_status task_path_write(const struct task_path_source *, const struct task_mpi_names *,
                                struct ker_comm *, const struct stats_folder *, json_t **paths,
                                struct ker_error *);

/* -- path_json.c -- */
extern const char *const task_path_kind_names[TASK_PATH_KINDS];
/* On rank 0, of gathered tables: an array with what each job's path is made of, null where there is none. */
json_t *task_path_json(const struct task_path_result *, uint32_t jobs, const struct stats_table *rows,
                       const struct stats_table *pairs, const struct stats_table *links);
