/* path_walk.h - the critical path, walked backwards from the task that ends last: a private part of state.h.
 *
 * The path is a chain of pieces without a gap in time, from the end of the job back to its start, or to where
 * no more is known. Each piece is part of what a task did, or of the way of a message.
 */
#ifndef TASKS_MPI_PATH_WALK_H
#define TASKS_MPI_PATH_WALK_H

#include "tasks/mpi/mpi.h"
#include "tasks/mpi/names.h"

enum task_path_kind {
    TASK_PATH_COMPUTATION,
    TASK_PATH_CALL,       /* in a function: processor time */
    TASK_PATH_TRANSFER,   /* a message on its way in an empty network */
    TASK_PATH_IN_NODE,    /* a message between tasks of a node */
    TASK_PATH_CONTENTION, /* what a message took longer */
    TASK_PATH_HANDSHAKE,  /* control messages, of rendezvous and others, on their way */
    TASK_PATH_SENDING,    /* until a message's last byte had left */
    TASK_PATH_MATCHING,   /* a search before an answer went out */
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
    bool there;               /* the job has come to its end */
    bool whole;               /* the path goes back to the start */
};

/* Collective. The functions that any task's pieces name, "" included. */
void task_path_functions(const struct task_mpi *, struct task_names *, struct ker_comm *);
/* Collective: of each job; result[jobs] is the same on all ranks. A rank visits the steps of its own tasks.
 */
void task_path_walk(struct task_mpi *, uint32_t jobs, struct ker_comm *, const struct task_names *functions,
                    const struct task_path_visitor *, struct task_path_result *);

/* -- path_json.c -- */
extern const char *const task_path_kind_names[TASK_PATH_KINDS];
/* On rank 0, of gathered tables: an array with what each job's path is made of, null where there is none. */
json_t *task_path_json(const struct task_path_result *, uint32_t jobs, const struct stats_table *rows,
                       const struct stats_table *pairs);

#endif
