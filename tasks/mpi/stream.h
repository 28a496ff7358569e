/* stream.h - the streams of a task: its threads, each with its own place in the program, its own operation
 * and waits. Requests, queues, windows and communicators are the task's. A private part of state.h.
 *
 * Most tasks have one stream, which is in struct task_state, and nothing here costs them anything but a
 * look at task.streams. A task of several keeps the others aside: one of them, the current one, is in
 * struct task_state, so that all of the model works on it; task_stream_select changes which. Invariant: what
 * happens depends on which stream is concerned, never on which is current between two events.
 */
#pragma once

#include "kernel/base/base.h"

/* What a stream has of its own; of the current one the first part is in struct task_state. */
struct task_stream {
    struct task_op op;
    uint32_t own; /* what its program knows it by */
    uint8_t stage;
    bool busy, ready, blocked, fetched;
    uint32_t pending, collective;
    ker_time debt, blocked_since, paid_until;
    const char *function; /* that it is in, as the calls are counted; NULL: none */
    int32_t comm;
    ker_time since, late;

    ker_time until;       /* busy: when its timer expires */
    uint64_t begun, done; /* operations but computations and waits for other streams, in this pass */
    uint32_t ready_next;  /* its number + 1 */
};

#define TASK_STREAMS_MOST 65000
#define TASK_STREAM_MANY UINT16_MAX

struct task_streams {
    uint32_t count, current;
    uint32_t runs;                    /* which runs now, or ran last */
    uint32_t unfinished;              /* that have not come to their end */
    uint32_t ready_first, ready_last; /* number + 1 */
    bool listed;                      /* the task is on its node's list of ready tasks */
    uint32_t behind;                  /* streams that wait for another one */
    uint16_t *waiter; /* by a request's number - 1: which stream waits for it, + 1; TASK_STREAM_MANY: several.
                         Means something while the request is awaited. */
    uint32_t waiters;
    struct task_stream stream[];
};

/* -- stream.c -- */
/* Asks the program how many streams the task has; before its first operation. */
void task_streams_make(struct task_mpi *, struct task_state *);
void task_streams_release(struct task_state *);
void task_stream_change(struct task_state *, uint32_t stream);
static inline uint32_t task_stream_count(const struct task_state *task)
{
    return task->streams ? task->streams->count : 1;
}
static inline uint32_t task_stream_current(const struct task_state *task)
{
    return task->streams ? task->streams->current : 0;
}
/* Makes it the current one; returns which was. */
static inline uint32_t task_stream_select(struct task_state *task, uint32_t stream)
{
    if (__builtin_expect(!task->streams || task->streams->current == stream, 1))
        return stream;
    uint32_t before = task->streams->current;
    task_stream_change(task, stream);
    return before;
}
/* Have all its streams come to their end? */
static inline bool task_is_done(const struct task_state *task)
{
    return task->streams ? task->streams->unfinished == 0 : task->stage == TASK_STAGE_DONE;
}
/* Is no stream in a call of MPI? */
bool task_all_compute(const struct task_state *);
/* The rest only of tasks with several streams. */
/* The current stream waits for this request. */
void task_stream_await(struct task_state *, struct task_request *);
/* Does no other stream wait for it? */
bool task_stream_alone(const struct task_state *, const struct task_request *);
/* The stream that the completion of a request is reported to; the current one if it makes no difference. */
uint32_t task_stream_concerned(const struct task_state *, const struct task_request *);
/* Does the stream's operation name this request? For those that many wait for. */
bool task_stream_names(const struct task_state *, uint64_t name);
/* A timer of the task has expired: it is that of the first stream that is busy until now. */
void task_stream_due(struct task_state *, ker_time now);
/* The current stream is ready; false: its task was on the node's list before. */
bool task_stream_push(struct task_state *);
/* Selects the next ready one; true: there are more. */
bool task_stream_pop(struct task_state *);
/* The current stream is at its end; true: it was the last. `all`: so are the others. */
bool task_stream_end(struct task_state *, ker_time now, bool all);
/* All begin again. */
void task_streams_restart(struct task_state *);
/* Of any task: the operation by which it has ended before its end; NULL: it has not. */
const struct task_op *task_abort_of(const struct task_state *);

/* -- after.c -- a stream waits for another: the current stream's op */
bool task_after_begin(struct task_state *); /* true: it need not wait */
bool task_after_reached(const struct task_state *);
void task_after_end(struct task_state *); /* it has waited */
/* The current stream has fetched its op; has done it. Those that wait for that become ready. */
void task_after_begun(struct task_mpi *, struct task_state *);
void task_after_done(struct task_mpi *, struct task_state *);
