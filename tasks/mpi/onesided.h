/* onesided.h - what the files of one-sided communication offer: a private part of state.h. */
#pragma once

#include "kernel/base/base.h"

/* -- window.c -- */
extern const struct ker_table_kind task_window_kind, task_target_kind;
/* What a task has of it: made when there is none. */
struct task_onesided *task_onesided_get(struct task_state *);
struct task_window *task_window_get(struct task_state *, int32_t comm, int32_t window);
struct task_target *task_target_get(struct task_state *, int32_t comm, int32_t window, uint32_t peer);
void task_onesided_release(struct task_state *);
/* Malloc'ed, ordered. */
void **task_windows_sorted(const struct task_onesided *);
void **task_targets_sorted(const struct task_onesided *);

/* -- onesided.c -- */
/* Of all messages of the op. */
ker_time task_onesided_overhead(const struct task_mpi *, struct task_state *);
/* The task's op; false: it waits, and task_onesided_end follows. */
bool task_onesided_begin(struct task_mpi *, struct task_state *, ker_time now);
/* Is there nothing that it waits for, or not any more? */
bool task_onesided_settled(const struct task_mpi *, struct task_state *);
void task_onesided_end(struct task_mpi *, struct task_state *, ker_time now);
/* The task begins a call: what has arrived meanwhile, messages of all kinds, is handled. */
void task_onesided_enter(struct task_mpi *, struct task_state *, ker_time now);
/* A message of the kinds from PUT on. */
void task_onesided_arrived(struct task_mpi *, struct task_mpi_node *, ker_time now, const struct task_wire *);
