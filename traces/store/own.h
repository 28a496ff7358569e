/* own.h - an own task of a rank, and where its program reads. */
#ifndef TASKS_TRACE_OWN_H
#define TASKS_TRACE_OWN_H

#include "traces/store/hand.h"

struct trace_own {
    const struct trace_task *held;
    struct trace_reader reader; /* its code is that of held */
    uint64_t before;            /* the last call of next: where it read, and the line */
    uint32_t before_line;
};

/* The next operation; false: there is none, and it begins again (a background job that starts again). */
bool trace_own_next(struct trace_own *, struct task_op *);
/* Saves or loads where it reads: the trace is the same, so the operations are. */
void trace_own_position(struct trace_own *, struct ker_chunk *);
/* All of them, and the list. */
void trace_own_release(struct trace_own **own, uint32_t *count);

#endif
