/* repeat.h - the steps of a traced program, which are found in the operations of its tasks (run.skip,
 * marsconv --steps).
 *
 * A step begins at a mark (TASK_OP_MARK), or, where no task has any, with the shortest period of what a task
 * posts: messages and collectives, with their bytes; else without; else messages alone. What precedes the
 * first one is step 0, and the last one goes on to the end, so that neither is ever skipped.
 *
 * Steps may be skipped when nothing is lost with them: no request of a task is open where a step begins, and
 * in each step as many messages are sent from any task to any other, by communicator and tag, as are
 * received, and all members of a communicator call as many collectives on it. So what is in flight at the
 * beginning of one step is in flight at the beginning of any other.
 *
 * Tasks that are graphs have no order of their operations but that of the places at which all before is done
 * before anything behind begins; steps begin at these, and what is between two of them is compared as a
 * whole.
 */
#pragma once

#include "traces/op.h"

struct trace_code;

/* Where a step begins. */
struct trace_place {
    uint64_t at;   /* in the store; of graphs: operations that are done by then */
    uint32_t line; /* for trace_reader_seek */
};

/* An own task. */
struct trace_repeat_task {
    uint32_t task;
    const struct trace_code *code; /* of graphs NULL */
    const int32_t *comm;           /* as in struct trace_reader */
    uint64_t total;                /* where it ends; 0: it has several threads */
    struct trace_place *place;     /* of its steps, malloc'ed; the first is the beginning */
    uint32_t step;                 /* in which it is */
};

/* Operation n of an own task, in an order in which each is behind all that it waits for: a message or a
 * computation. False: it has no more. *cut: all before it is done before it, or anything behind it, begins;
 * *cpu: what computes it. */
#define TRACE_CPUS 256
#define TRACE_COLLECTIVE_TAG UINT32_C(0x80000000) /* in tags of messages that have been a collective */
typedef bool trace_graph_op(const struct task_program *, uint32_t own, uint64_t n, struct task_op *,
                            bool *cut, uint32_t *cpu);

struct trace_repeat {
    struct task_steps steps;
    bool marked;                    /* the steps are marks; otherwise periods */
    struct trace_repeat_task *task; /* own tasks */
    uint32_t tasks;
    const struct task_comm *comms;
    uint32_t all;   /* tasks of the job */
    double *factor; /* how many times as long as in the trace each of them computes, malloc'ed; or NULL */
    trace_graph_op *graph; /* tasks are graphs, of this program; NULL: they are not */
    const struct task_program *program;
    char why[256];               /* there are no steps, because the job ...; empty: there are */
    uint32_t why_task, why_line; /* that shows it, at this line of its file; line 0: none does */
};

/* With room for own tasks, each of which is to be filled in, but for its steps. */
struct trace_repeat *trace_repeat_new(struct trace_repeat *, uint32_t tasks);
/* Collective: finds the steps of these tasks; all: those of the job; factor: task_program_class.find_steps.
 */
void trace_repeat_find(struct trace_repeat *, const struct task_comm *, uint32_t all, const double *factor,
                       struct ker_comm *);
int64_t *trace_repeat_ideal(const struct trace_repeat *, const struct task_gap *, uint32_t gaps,
                            uint32_t last, struct ker_comm *); /* task_program_class.ideal */
void trace_repeat_release(struct trace_repeat *);

/* An own task is there, for task_program_class.at; the place behind a gap where it continues, or NULL. */
const struct trace_place *trace_repeat_at(struct trace_repeat *, uint32_t own, uint64_t at, ker_time now);
/* It has been set to another position. */
void trace_repeat_moved(struct trace_repeat *, uint32_t own, uint64_t at);
