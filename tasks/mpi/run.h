/* run.h - calls of collectives in progress: run.c, collective.c. A private part of state.h. */
#pragma once

#include "kernel/config/config.h"
#include "kernel/state/state.h"

/* A call of a collective at one task. */
struct task_collective_run {
    uint32_t next; /* among those that can continue */
    int32_t comm;
    struct task_coll_view view;
    uint64_t *counts; /* of a call that does not block: its own copies, to which the view points */
    const struct ker_kind *algorithm;
    struct task_coll_round current;
    uint32_t round, outstanding, call;
    uint8_t combine;         /* enum task_combine */
    uint32_t start;          /* of a persistent one: how often it has been started */
    ker_time began, entered; /* with output.waits: the task's own entry, the latest known */
    uint32_t request;        /* the number of that which it completes; 0: the task itself waits for it */
    bool fence;              /* waits until nothing is outstanding */
    bool sending;            /* the send of `current` is still to be made */
    ker_time owed;           /* for what has been received meanwhile */
    bool ended;
    bool able; /* it is among those that can continue, or continues now */
};
#define TASK_COLL_WINDOW 32 /* messages of one task's collective that may be outstanding */

static inline bool task_collective_blocked(const struct task_collective_run *run)
{
    return run->outstanding >= (run->fence ? 1 : TASK_COLL_WINDOW);
}

/* -- layout.c -- */
void task_layouts_release(struct task_mpi *);
/* Chooses the algorithm of a run where some rule asks where tasks are. */
void task_layout_choose(struct task_mpi *, const struct task_state *, struct task_collective_run *);
static inline void task_run_choose(struct task_mpi *mpi, const struct task_state *task,
                                   struct task_collective_run *run)
{
    if (__builtin_expect(mpi->collectives.placed, 0))
        task_layout_choose(mpi, task, run);
    else
        run->algorithm = task_coll_choose(&mpi->collectives, &run->view);
}

/* -- run.c -- */
void task_run_free(struct task_mpi *, uint32_t index);
/* How many counts a call has on either side. */
uint32_t task_run_counts(const struct task_coll_view *, bool receives);
/* The task of the job that is this rank of the call. */
int32_t task_run_peer(const struct task_mpi *, const struct task_state *, const struct task_collective_run *,
                      int32_t rank);
/* Gives a run that is to outlive the op copies of its counts. */
void task_run_keep(struct task_collective_run *);
/* Puts it behind those that can continue; `first`: before them. */
void task_run_push(struct task_mpi *, struct task_state *, uint32_t index, bool first);
uint32_t task_run_pop(struct task_mpi *, struct task_state *); /* 0: none */
/* One of its messages is complete. */
void task_run_completed(struct task_mpi *, struct task_state *, uint32_t index);
/* run_state.c: saved, or loaded into a new one. */
void task_run_state(struct task_mpi *, struct task_state *, struct task_collective_run *, struct ker_chunk *);
static inline struct task_collective_run *task_run_at(const struct task_mpi *mpi, uint32_t index)
{
    return ker_chunks_at(&mpi->run, index);
}

/* Does the task pay for the messages of this run? Otherwise the adapter has it. */
static inline bool task_run_pays(const struct task_mpi *mpi, const struct task_state *task, uint32_t run)
{
    return run == task->collective || mpi->progress != TASK_PROGRESS_ADAPTER;
}

/* -- collective.c -- */
/* The op's call, for which the task waits. */
void task_collective_start(struct task_mpi *, struct task_state *);
/* The same for loading, which says itself which call on the communicator it is. */
void task_collective_restore(struct task_mpi *, struct task_state *);
enum task_collective_next { TASK_COLLECTIVE_DONE, TASK_COLLECTIVE_BLOCKED, TASK_COLLECTIVE_PAY };
/* Continues with it as far as possible. PAY: task->debt is to be paid first. */
enum task_collective_next task_collective_run(struct task_mpi *, struct task_state *, ker_time now);
/* A request of the op's call: of a call that does not block, which begins at once, or persistent. */
void task_collective_request(struct task_mpi *, struct task_state *, bool persistent);
/* Begins the call of an inactive persistent request. */
void task_collective_begin(struct task_mpi *, struct task_state *, uint32_t request);
/* Continues with all calls that nobody waits for and that can continue; `pays`: as long as task->debt is 0.
 */
void task_collective_progress(struct task_mpi *, struct task_state *, ker_time now, bool pays);
