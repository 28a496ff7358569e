/* repeat_measure.h - for repeat.c: what all tasks do in each step. All of it are sums and maxima over the
 * tasks, so that it is the same however these are distributed.
 */
#pragma once

#include "traces/store/repeat_walk.h"

/* What is wrong, of the first task of which something is. */
enum trace_fault { TRACE_FAULT_NONE, TRACE_FAULT_OPEN, TRACE_FAULT_UNKNOWN };
struct trace_faults {
    int64_t task, what, step, line;
};

struct trace_measure {
    uint32_t steps;
    uint64_t *kind, *pairs, *receivers; /* struct trace_walk: hash, ... */
    int64_t *begun;                     /* trace_repeat_ideal, without gaps */
    int64_t full_least, full_most;      /* collectives of all tasks before step 1: negative, by maximum */
    int64_t full_step;                  /* most in a step */
    uint64_t any;
    struct trace_faults fault;
};

struct trace_measure trace_measure_make(const struct trace_repeat *, struct ker_comm *); /* collective */
void trace_measure_release(struct trace_measure *);
