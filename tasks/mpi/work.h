/* work.h - processor time of operations, and of tasks where it is more than a timer. A private part of
 * state.h. */
#pragma once

#include "kernel/state/state.h"

/* -- work.c -- */
/* So much for the task's current stream; false: it has had it. */
bool task_work(struct task_mpi *, struct task_state *, ker_time now, ker_time time);
/* So much of what it owes is time in the operating system. */
void task_work_system(struct task_mpi *, const struct task_state *, ker_time time);

/* The time in which a task walks this many bytes at this rate, to be owed for: reads or writes each so
 * often, which the next task_work does with its memory. */
enum task_moves { TASK_MOVES_COPY = 2, TASK_MOVES_COMBINE = 3 };
ker_time task_work_moves(const struct task_mpi *, const struct task_state *, uint64_t bytes, uint64_t rate,
                         enum task_moves);
/* It has had it. */
void task_worked(struct task_mpi *, struct task_state *, ker_time now, const struct node_worked *);
void task_works_reserve(struct task_mpi *, uint32_t tasks);
void task_works_release(struct task_mpi *);
/* What it has had, in the columns of works; and what its current stream is having until `end`. */
void task_work_result(const struct task_mpi *, const struct task_state *, struct task_mpi_result *);
void task_work_cut(const struct task_mpi *, const struct task_state *, ker_time end,
                   struct task_mpi_result *);
void task_work_state(struct task_mpi *, const struct task_state *, struct ker_chunk *);

/* -- combine.c -- */
enum ker_status task_combine_read(struct task_combine_rates *, const struct ker_config *, struct ker_error *);
/* Bytes per second of what combines vectors of so many bytes by this; 0: no time. */
uint64_t task_combine_rate(const struct task_mpi *, uint8_t code, uint64_t bytes);

/* -- charge.c -- */
/* The time of the op's computation in a job that is special: with the factors of its task, and what it takes
 * longer than it should (compute_jitter); what it moves in memory the next task_work takes with it. A call
 * that the operating system serves is none: it is owed for. */
ker_time task_charge_special(struct task_mpi *, struct task_state *, const struct task_job *);
/* Owes for the messages that the op sends. */
void task_charge_sends(struct task_mpi *, struct task_state *);
/* What a message of this many bytes to a task of the job costs its sender. */
ker_time task_charge_message(const struct task_mpi *, const struct task_state *, int32_t peer, unsigned mode,
                             uint64_t bytes);
