/* foreign.h - programs from traces of other tools: what their readers have in common.
 *
 * A reader says how many tasks a trace has and which communicators (open), and reads one task's operations
 * after the other (read), or those of all tasks together (gather). The program around it (program.c) keeps
 * these in a store, hands them from rank to rank, yields them, and saves where a task is. marsconv makes
 * records of what is in the store: so a format has one reader.
 */
#pragma once

#include "traces/replay/order.h"
#include "traces/store/own.h"
#include "traces/traces.h"

#define FOREIGN_BYTES_MOST (UINT64_C(1) << 40) /* of a message */
#define FOREIGN_TASKS_MOST (UINT32_C(1) << 24)
#define FOREIGN_DOUBTS 8

/* A trace that is open. */
struct foreign_trace {
    char *path;
    struct ker_inputs *inputs;
    const struct ker_config *config; /* while it is opened */
    const char *job;                 /* likewise: "jobs[2]" */
    struct trace_form form;          /* the reader's; open may change it */
    bool counts;                     /* are calls counted? */
    bool times;                      /* are times reported (foreign_report)? */
    bool unfit;                      /* tasks were read, but do not belong together */
    uint32_t tasks;
    struct task_comm *comm; /* comm[0] is the world; NULL: there is no other */
    int32_t comms;
    int32_t *members; /* of the communicators */
    void *own;        /* the reader's */
};

/* A task while it is read. */
struct foreign_task {
    const struct foreign_trace *trace;
    uint32_t task;
    struct trace_code *code;
    struct replay_order *order;
    uint32_t doubts; /* bits: which of the reader's doubts the task gives rise to */
};
/* The computation before the next operation grows. */
void foreign_compute(struct foreign_task *, ker_time);
/* Appends an operation, whose call is static text; returns its place in the store. */
uint64_t foreign_put(struct foreign_task *, const struct task_op *);
/* Counts a call for calls.csv, if calls are counted: its bytes, and the time that it took. */
void foreign_count(struct foreign_task *, const char *function, uint64_t bytes, uint64_t time_ns);

/* Reports times, as an operation TAKES of this mode. */
enum foreign_time {
    FOREIGN_TOOK,  /* what the call of the operation before took */
    FOREIGN_APART, /* what is neither computation nor the time of a call that is reported */
    FOREIGN_CLOCK, /* the time now, by a clock that all tasks share; 0: they do not */
    FOREIGN_CALL,  /* what the call of this name took; the operations of its line follow, or it is none */
};
void foreign_report(struct foreign_task *, enum foreign_time, uint64_t picoseconds);
void foreign_put_time(struct trace_code *, enum foreign_time, const char *call, uint32_t line,
                      uint64_t picoseconds);

struct foreign_reader {
    const char *name; /* of the format */
    struct trace_form form;
    const char *const *doubt; /* what was assumed, printed once; at most FOREIGN_DOUBTS, ended by NULL */
    const char *advice;       /* when collectives do not fit each other: where to look */
    bool times;               /* it reports times (foreign_report) */
    bool calls;               /* all calls are reported (FOREIGN_CALL), and requests are freed by calls */
    bool lists;               /* collectives with counts for each task have these */
    enum ker_status (*open)(struct foreign_trace *, struct ker_error *);
    /* All operations of a task, FINALIZE the last. */
    enum ker_status (*read)(const struct foreign_trace *, struct foreign_task *, struct ker_error *);
    /* In the place of read, where only all tasks together show what each does. Collective: the ranks share
     * out the tasks; each ends with those that it has read, of form.events with their communicators as notes,
     * and knows all communicators. What is wrong may be found on one rank only. */
    enum ker_status (*gather)(struct foreign_trace *, struct trace_store *, struct trace_tasks *,
                              struct ker_comm *, struct ker_error *);
    /* Frees own; also after a failed open. Without gather when all own tasks are read, else at the end. */
    void (*close)(struct foreign_trace *);
    /* The path of a task's file, malloc'ed, where lines are those of one; NULL: they are not. */
    char *(*file)(const struct foreign_trace *, uint32_t task);
};

/* task_program_class.open with a reader, and all other functions of the class. times: for converters, which
 * want them; no simulation does. */
enum ker_status foreign_open(struct task_program **, const struct foreign_reader *, bool times,
                             const struct ker_config *, const char *path, struct ker_comm *,
                             struct ker_error *);
enum ker_status foreign_hand(struct task_program *, const uint32_t *own_tasks, uint32_t count,
                             struct ker_comm *, struct ker_error *);
enum ker_status foreign_prepare(struct task_program *, const uint32_t *own_tasks, uint32_t count,
                                struct ker_error *);
enum ker_status foreign_agree(struct task_program *, struct ker_comm *, struct ker_error *);
void foreign_close(struct task_program *);
/* For converters, which read the operations of a task from the first on, as often as they want. */
void foreign_operations(const struct task_program *, uint32_t number, struct trace_reader *);
/* Its tasks were read, but do not belong together: this is why opening it failed. */
bool foreign_unfit(const struct task_program *);
/* The path of a task's file (see foreign_reader.file), malloc'ed, or NULL. */
char *foreign_file(const struct task_program *, uint32_t task);
/* CLASS, with more of its operations: FOREIGN_CLASS(static, class, reader, .taken = trace_program_taken); */
#define FOREIGN_CLASS(storage, name, reader, ...)                                                            \
    static enum ker_status name##_open(struct task_program **program, const struct ker_config *config,       \
                                       const char *path, struct ker_comm *comm, struct ker_error *error)     \
    {                                                                                                        \
        return foreign_open(program, &(reader), false, config, path, comm, error);                           \
    }                                                                                                        \
    storage const struct task_program_class name = {                                                         \
        TRACE_PROGRAM,          .open = name##_open,    .hand = foreign_hand, .prepare = foreign_prepare,    \
        .agree = foreign_agree, .close = foreign_close, __VA_ARGS__}

/* Is the collective called with a number for each task? */
static inline bool foreign_has_counts(unsigned collective)
{
    return collective == TASK_COLL_GATHERV || collective == TASK_COLL_SCATTERV ||
           collective == TASK_COLL_ALLGATHERV || collective == TASK_COLL_ALLTOALLV ||
           collective == TASK_COLL_REDUCE_SCATTER;
}
