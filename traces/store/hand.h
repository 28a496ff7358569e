/* hand.h - tasks whose operations were read on one rank and are needed on another.
 *
 * A trace is read once. Ranks share out its files before it is known which tasks live where, and a run that
 * begins again on fewer ranks has its tasks elsewhere than before: then operations are handed over, as they
 * lie in the store.
 */
#pragma once

#include "traces/store/store.h"

/* A task that this rank has. */
struct trace_task {
    uint32_t task;
    struct trace_code code; /* total 0: it was not read anywhere */
    struct task_taken taken;
    uint8_t *note; /* the reader's own: bytes that mean the same on every rank; malloc'ed */
    size_t note_bytes;
};
struct trace_tasks {
    struct trace_task *task; /* ascending */
    uint32_t count;
};

/* Collective over all ranks that may have something: afterwards each has the tasks `own` (ascending), with
 * the operations of those that anybody had, and no others. tasks: of the trace. What cannot be written is
 * reported by trace_store_status. */
void trace_tasks_hand(struct trace_tasks *, struct trace_store *, const uint32_t *own, uint32_t count,
                      uint32_t tasks, struct ker_comm *);
/* Of one; NULL: it is none of them. */
struct trace_task *trace_tasks_find(const struct trace_tasks *, uint32_t task);
void trace_tasks_release(struct trace_tasks *);
