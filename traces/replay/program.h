/* program.h - private to replay.c and read.c: the replay's program, and what it has of a task. */
#ifndef TASK_REPLAY_PROGRAM_H
#define TASK_REPLAY_PROGRAM_H

#include "traces/replay/replay.h"
#include "traces/store/hand.h"
#include "traces/store/own.h"

#define KEPT_NAMES 100 /* a store has few, and all those of calls.c come besides */

struct own_task {
    struct trace_task *held;
    struct trace_reader reader;
    struct replay_neighbours *neighbours;
    uint64_t before; /* the last call of next(): where it read */
    uint64_t start;  /* position of its first operation */
    uint32_t task;   /* whose thread it is, among the own tasks */
    /* Of a task with several threads: the others, and the number of the first of these. */
    uint32_t others, further;
    struct own_task *other;
};

struct task_program {
    char *path;
    struct ker_inputs *inputs;
    struct mars_trace *trace; /* until prepare() */
    uint32_t tasks;
    struct replay_rules rules;
    struct replay_comms comms;
    struct replay_joint *joint;
    struct replay_order order; /* until the ranks have agreed */
    bool agreed;
    uint8_t combines; /* TASK_COMBINES_*, of all own tasks */
    uint64_t memory;  /* for operations */
    struct trace_store store;
    struct trace_tasks
        held; /* a note is what is known of neighbours and threads, while the task is handed over */
    struct own_task *own;
    uint32_t own_count;
    struct own_task **further; /* threads but the first of all tasks: their numbers follow the tasks' */
    uint32_t further_count;
    char *kept[KEPT_NAMES]; /* of functions that are computation here */
    uint32_t kept_count;
    struct trace_repeat repeat; /* when find_steps() has been called */
};

/* read.c: all calls of a task, whose threads are known, into its operations; and what is left out of its
 * time. */
enum ker_status replay_calls_read(struct task_program *, struct own_task *, struct replay_task *,
                                  struct ker_error *);

/* traced.c: struct task_program_class.traced */
enum ker_status replay_traced(const struct task_program *, const struct task_traced *, struct ker_error *);

#endif
