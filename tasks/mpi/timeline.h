/* timeline.h - what is kept of a task for its timeline: a private part of state.h. */
#pragma once

#include "kernel/state/state.h"

struct task_mpi;
struct task_state;

/* The call that a stream is in. */
struct task_line_call {
    struct stats_call call; /* function NULL: it computes */
    bool begun;             /* it has fetched an op */
    struct stats_wait *wait;
    uint32_t waits, wait_room;
};

struct task_line {
    uint32_t streams;
    struct task_line_call *stream; /* by its number */
    uint32_t calls, messages;      /* so far: begun, received */
    struct ker_table under_way;    /* messages that have arrived or been announced, and are not received */
};

/* -- timeline.c -- all but init and release only of tasks that have one */
void task_line_init(struct task_mpi *, struct task_state *); /* when it is among the chosen tasks */
void task_lines_release(struct task_mpi *);
/* As task_calls_next and _end. */
void task_line_next(struct task_mpi *, struct task_state *, ker_time now);
void task_line_end(struct task_mpi *, struct task_state *, ker_time now);
/* The current stream has waited in its call. */
void task_line_wait(const struct task_mpi *, struct task_state *, ker_time begin, ker_time end);
/* A message for this task has reached the node, and had been sent at that time. */
void task_line_arrived(struct task_mpi *, struct task_state *, ker_time now, ker_time sent,
                       const struct task_wire *);
/* Its receive is complete. */
void task_line_received(struct task_mpi *, struct task_state *, ker_time now, const struct task_wire *);
void task_line_state(struct task_mpi *, struct task_state *, struct ker_chunk *);
