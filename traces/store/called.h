/* called.h - how often a traced task has called which function, with how many bytes and for how long.
 *
 * For calls.csv (task_program_class.call). A reader counts each call of the trace once, while it reads it. A
 * task calls few functions: they stand in a list.
 */
#pragma once

#include "traces/op.h"

/* Empty when zeroed. */
struct trace_called {
    struct task_call *call; /* in the order of their first calls */
    uint32_t count, room;
};
/* The functions that all tasks of a store have called, each name once. */
struct trace_functions {
    char **name;
    uint32_t count;
};
/* The index in `call` of a function, which is added when it is new. Not for every call: a reader remembers it
 * by what it has. */
uint32_t trace_called_find(struct trace_called *, struct trace_functions *, const char *function,
                           size_t length);
void trace_called_fit(struct trace_called *); /* no more are added: there is no room for others */
/* Calls of that function have come, with `bytes` each. */
static inline void trace_called_add(struct trace_called *called, uint32_t index, uint64_t calls,
                                    uint64_t bytes, uint64_t time_ns)
{
    struct task_call *call = &called->call[index];
    call->calls += calls;
    call->bytes += calls * bytes;
    call->time_ns += time_ns;
}
/* See task_program_class.call. */
bool trace_called_get(const struct trace_called *, uint32_t index, struct task_call *);
void trace_called_release(struct trace_called *);
