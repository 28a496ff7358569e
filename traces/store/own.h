/* own.h - own tasks of a rank: where their programs read, and the steps of these. */
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

/* ---- steps: repeat.c ---- */

/* The steps of a traced program are found in the operations of its tasks (run.skip, marsconv --steps).
 *
 * A step begins at a mark (TASK_OP_MARK), or, where no task has any, with the shortest period of what a task
 * posts: messages and collectives, with their bytes; else without; else messages alone. What precedes the
 * first one is step 0, and the last one goes on to the end, so that neither is ever skipped.
 *
 * Steps may be skipped when nothing is lost with them: no request of a task is open where a step begins, and
 * in each step as many messages are sent from any task to any other, by communicator and tag, as are
 * received, and all members of a communicator call as many collectives on it. So what is in flight at the
 * beginning of one step is in flight at the beginning of any other.
 */

/* Where a step begins. */
struct trace_place {
    uint64_t at;
    uint32_t line; /* for trace_reader_seek */
};

/* An own task. */
struct trace_repeat_task {
    uint32_t task;
    const struct trace_code *code; /* NULL: it has several threads */
    const int32_t *comm;           /* as in struct trace_reader */
    struct trace_place *place;     /* of its steps, malloc'ed; the first is the beginning */
    uint32_t step;                 /* in which it is */
};

struct trace_repeat {
    struct task_steps steps;
    bool marked;                    /* the steps are marks; otherwise periods */
    struct trace_repeat_task *task; /* own tasks */
    uint32_t tasks;
    char why[256];               /* there are no steps, because the job ...; empty: there are */
    uint32_t why_task, why_line; /* that shows it, at this line of its file; line 0: none does */
};

/* With room for own tasks, each of which is to be filled in, but for its steps. */
struct trace_repeat *trace_repeat_new(struct trace_repeat *, uint32_t tasks);
/* Collective: finds the steps of these tasks; all: those of the job. */
void trace_repeat_find(struct trace_repeat *, const struct task_comm *, uint32_t all, struct ker_comm *);
void trace_repeat_release(struct trace_repeat *);

/* task_program_class.at, of a task which reads there; it goes on behind a gap. */
void trace_repeat_at(struct trace_repeat *, uint32_t own, struct trace_reader *, ker_time now);
/* It has been set to another position. */
void trace_repeat_moved(struct trace_repeat *, uint32_t own, uint64_t at);

#endif
