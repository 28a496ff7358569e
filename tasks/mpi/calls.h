/* calls.h - what the functions of MPI cost a task: a private part of state.h. */
#pragma once

#include "traces/traces.h"

struct task_mpi;
struct task_state;

/* What a task has called of a function, and what that took. comm: by communicator, where that is
 * distinguished; TASK_NO_COMM: calls that name none, and all where it is not. */
struct task_counted {
    const char *function;
    int32_t comm;
    uint64_t calls, bytes;
    ker_time simulated, wait;
};
struct task_calls {
    struct task_counted *function; /* in the order of their first calls */
    uint16_t count, room;
    bool by_comm;
    uint8_t hint[64];         /* where one may be, by its name's address; otherwise all are looked at */
    struct task_counted *now; /* which the task is in since then; NULL: none */
    ker_time since;
    ker_time late; /* of that, waited for other tasks; kept where a trace's calls take their own times */
    struct task_counted *last; /* what there was at the end of the last period, in order; NULL: none */
    uint32_t lasts;
};
#define TASK_NO_COMM (-1)

/* -- calls.c -- all but init and release only of tasks whose calls are counted */
void task_calls_init(struct task_state *, bool by_comm);
void task_calls_release(struct task_state *);
/* Which function an operation calls; NULL: none, the program computes; or the end of what there is of a
 * trace, or of a thread; or a wait for another thread. */
static inline const char *task_calls_function(const struct task_op *op)
{
    bool calls = op->kind == TASK_OP_COMPUTE             ? op->is_call
                 : op->kind == TASK_OP_GREQUEST_COMPLETE ? op->mode == 0
                 : op->kind == TASK_OP_ABORT             ? op->outcome == 1
                                                         : op->kind < TASK_OP_ABORT;
    return calls ? op->call : NULL;
}
/* The last call is over. */
static inline void task_calls_end(struct task_calls *calls, ker_time now)
{
    if (calls->now)
        calls->now->simulated += now - calls->since;
    calls->now = NULL;
    calls->since = now;
}
static inline void task_calls_count(struct task_calls *calls, struct task_counted *f,
                                    const struct task_op *op)
{
    calls->now = f;
    f->calls++;
    f->bytes += op->bytes;
}
/* Counts it where it is found, or new; the communicator that an operation names. */
void task_calls_find(struct task_calls *, const struct task_op *, const char *function, int32_t comm);
int32_t task_calls_comm(const struct task_op *);
/* Where one may be remembered. */
static inline uint8_t *task_calls_hint(struct task_calls *calls, const char *function, int32_t comm)
{
    uint64_t number = (uintptr_t)function + (uint32_t)comm;
    return &calls->hint[number >> 3 & 63];
}
/* The op has been fetched: the call before it is over, unless it says what that takes. */
static inline void task_calls_next(struct task_calls *calls, const struct task_op *op, ker_time now)
{
    const bool usual = op->kind > TASK_OP_COMPUTE && op->kind < TASK_OP_TAKES;
    if (__builtin_expect(op->kind == TASK_OP_TAKES, 0))
        return;
    calls->late = 0;
    task_calls_end(calls, now);
    const char *function = usual ? op->call : task_calls_function(op);
    if (!function)
        return;
    int32_t comm = __builtin_expect(calls->by_comm, 0) ? task_calls_comm(op) : TASK_NO_COMM;
    uint8_t hint = *task_calls_hint(calls, function, comm);
    struct task_counted *likely = &calls->function[hint];
    if (__builtin_expect(hint < calls->count && likely->function == function && likely->comm == comm, 1))
        task_calls_count(calls, likely, op);
    else
        task_calls_find(calls, op, function, comm);
}
/* The task has waited so long in its call. */
void task_calls_wait(struct task_state *, ker_time);
/* Another stream becomes the current one: what this one is in, since when; and is again. */
const char *task_calls_leave(struct task_state *, int32_t *comm, ker_time *since, ker_time *late);
void task_calls_return(struct task_state *, const char *function, int32_t comm, ker_time since,
                       ker_time late);
/* How long the call before a TASK_OP_TAKES has continued without others. */
ker_time task_calls_own(const struct task_state *, ker_time now);
/* By name, each once, until `end` (0: what is over); malloc'ed. */
struct task_counted *task_calls_sorted(const struct task_state *, ker_time end, uint32_t *count);
/* By name and communicator, each once: what there was since this was asked before, until `at`; malloc'ed. */
struct task_counted *task_calls_period(struct task_state *, ker_time at, uint32_t *count);
/* The task has ended where it began to wait: its waits since are forgotten, but stay in what was asked
 * before. */
void task_calls_cut(struct task_state *);
/* Saved state of a function's name, NULL included; one that is loaded outlives the checkpoint. Of any task.
 */
const char *task_function_state(struct task_mpi *, const char *function, struct ker_chunk *);
void task_calls_state(struct task_mpi *, struct task_state *, struct ker_chunk *);
/* Of the current stream. */
void task_calls_stream_state(struct task_mpi *, struct task_state *, struct ker_chunk *);
