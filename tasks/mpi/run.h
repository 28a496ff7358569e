/* run.h - calls of collectives that are under way: run.c, collective.c. A private part of state.h. */
#ifndef TASKS_MPI_RUN_H
#define TASKS_MPI_RUN_H

/* -- run.c -- */
void task_run_free(struct task_mpi *, uint32_t index);
/* How many counts a call has on either side. */
uint32_t task_run_counts(const struct task_coll_view *, bool receives);
/* The task of the job that is this rank of the call. */
int32_t task_run_peer(const struct task_mpi *, const struct task_state *, const struct task_collective_run *,
                      int32_t rank);
/* Gives a run that is to outlive the op copies of its counts. */
void task_run_keep(struct task_collective_run *);
/* Puts it behind those that can go on; `first`: before them. */
void task_run_push(struct task_mpi *, struct task_state *, uint32_t index, bool first);
uint32_t task_run_pop(struct task_mpi *, struct task_state *); /* 0: none */
/* One of its messages is complete. */
void task_run_completed(struct task_mpi *, struct task_state *, uint32_t index);
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
/* Goes on with it as far as possible. PAY: task->debt is to be paid first. */
enum task_collective_next task_collective_run(struct task_mpi *, struct task_state *, ker_time now);
/* A request of the op's call: of a call that does not block, which begins at once, or persistent. */
void task_collective_request(struct task_mpi *, struct task_state *, bool persistent);
/* Begins the call of an inactive persistent request. */
void task_collective_begin(struct task_mpi *, struct task_state *, uint32_t request);
/* Goes on with all calls that nobody waits for and that can go on; `pays`: as long as task->debt is 0. */
void task_collective_progress(struct task_mpi *, struct task_state *, ker_time now, bool pays);

#endif
