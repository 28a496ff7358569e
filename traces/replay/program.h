/* program.h - private to replay.c and read.c: the replay's program, and what it has of a task. */
#pragma once

#include "traces/replay/replay.h"
#include "traces/store/own.h"

#define KEPT_NAMES 100 /* a store has few, and all those of calls.c come besides */

struct task_program {
    struct trace_program base; /* a note of a task is what is known of its neighbours and threads */
    char *path;
    struct ker_inputs *inputs;
    struct mars_trace *trace; /* until prepare() */
    struct replay_rules rules;
    struct replay_comms comms;
    struct replay_joint *joint;
    struct replay_order order; /* until the ranks have agreed */
    bool agreed;
    uint8_t combines;                      /* TASK_COMBINES_*, of all own tasks */
    uint64_t memory;                       /* for operations */
    struct replay_neighbours **neighbours; /* of own tasks */
    char *kept[KEPT_NAMES];                /* of functions that are computation here */
    uint32_t kept_count;
};

/* read.c: all calls of a task, whose threads are known, into its operations; and what is left out of its
 * time. */
enum ker_status replay_calls_read(struct task_program *, struct trace_own *, struct replay_task *,
                                  struct ker_error *);

/* traced.c: struct task_program_class.traced */
enum ker_status replay_traced(const struct task_program *, const struct task_traced *, struct ker_error *);
