/* run.h - a task's progress through its graph: which operations are ready, on which of its cpus.
 *
 * A cpu has one operation at a time, in the order in which they became ready; of those that become ready by
 * one event, sends first, then receives, then calculations. A calculation takes its cpu until it is done. A
 * send or receive is done when whoever moves messages says so; then a receive takes its cpu once more, for
 * the message.
 */
#pragma once

#include "kernel/state/state.h"
#include "tasks/graphs/graph.h"

enum graph_step {
    GRAPH_IDLE,   /* there is nothing to do, as yet */
    GRAPH_BEGINS, /* an operation */
    GRAPH_TAKES,  /* the message of a receive */
    GRAPH_ENDS,   /* all operations of the cpu are done */
};

struct graph_cpu {
    uint32_t first, last; /* those that are ready: number + 1, and graph_run.next */
    uint32_t left;        /* operations that are not done */
    uint32_t op;          /* of its step */
    uint8_t step;         /* enum graph_step */
};

struct graph_run {
    const struct graph_task *task;
    struct graph_cpu *cpu;
    uint32_t cpus;
    uint32_t *before, *next; /* by operation: what is to happen before it begins */
    uint8_t *state;          /* enum graph_state */
    uint32_t done;           /* operations */
};
enum graph_state { GRAPH_WAITING, GRAPH_READY, GRAPH_BEGUN, GRAPH_ARRIVED, GRAPH_DONE };

/* Before its first step. The task outlives it. */
void graph_run_init(struct graph_run *, const struct graph_task *);
void graph_run_release(struct graph_run *);
/* Once more from the beginning. */
void graph_run_restart(struct graph_run *);
/* The cpu's step is over. */
void graph_run_over(struct graph_run *, uint32_t cpu);
/* The same; which is the next, and of which operation? */
enum graph_step graph_run_next(struct graph_run *, uint32_t cpu, uint32_t *number);
/* A send's or receive's communication is complete. */
void graph_run_complete(struct graph_run *, uint32_t op);
/* Will its next step be another one than GRAPH_IDLE? */
static inline bool graph_run_ready(const struct graph_run *r, uint32_t cpu)
{
    return r->cpu[cpu].first || r->cpu[cpu].left == 0;
}
/* The first `done` operations of an order (order.h) are done, and nothing else has begun: up to `to` they are
 * taken for done. */
void graph_run_skip(struct graph_run *, const uint32_t *order, uint32_t to);
/* Saved state: of all operations, then of each cpu. Loaded into one that is as it was made. */
void graph_run_state(struct graph_run *, struct ker_chunk *);
void graph_run_cpu_state(struct graph_run *, uint32_t cpu, struct ker_chunk *);
