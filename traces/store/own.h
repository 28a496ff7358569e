/* own.h - own tasks of a rank: where their programs read, and the steps of these. */
#ifndef TASKS_TRACE_OWN_H
#define TASKS_TRACE_OWN_H

#include "traces/store/hand.h"

/* A task, or a further thread of one. */
struct trace_own {
    struct trace_task *held;
    struct trace_reader reader; /* its code is that of held */
    uint64_t start;             /* position of its first operation */
    uint64_t before;            /* the last call of next: where it read, and the line */
    uint32_t before_line;
    uint32_t task; /* whose thread it is, among the own tasks */
    /* Of a task with several threads: the others, and the number of the first of these. */
    uint32_t others, further;
    struct trace_own *other; /* malloc'ed */
};

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

/* ---- programs: own.c ---- */

/* What the struct task_program of each trace format begins with. */
struct trace_program {
    uint32_t tasks;
    const struct task_comm *comm; /* the communicators */
    int32_t comms;
    struct trace_store store;
    struct trace_tasks held;
    struct trace_own *own;
    uint32_t own_count;
    struct trace_own **further; /* threads but the first of all tasks: their numbers follow the tasks' */
    uint32_t further_count;
    struct trace_repeat repeat; /* when find_steps() has been called */
    /* The path of a task's file, malloc'ed, where operations have lines; NULL: none has. */
    char *(*file)(const struct task_program *, uint32_t task);
};

/* Own tasks are to be prepared: room for them. */
void trace_program_room(struct trace_program *, uint32_t count);
/* The own task's operations are complete, and it has so many further threads, whose `start` is filled in. */
void trace_program_begin(struct trace_program *, uint32_t own);
/* Room for further threads of an own task. */
void trace_own_others(struct trace_own *, uint32_t others);
/* Own tasks, which live elsewhere from now on. */
void trace_program_leave(struct trace_program *);
void trace_program_release(struct trace_program *);

/* By the number that the program gave it. */
struct trace_own *trace_program_of(const struct task_program *, uint32_t number);

/* Of struct task_program_class. */
uint32_t trace_program_tasks(const struct task_program *);
const struct task_comm *trace_program_comms(const struct task_program *, int32_t *count);
bool trace_program_next(struct task_program *, uint32_t number, struct task_op *);
bool trace_program_done(const struct task_program *, uint32_t number, uint64_t *so_far, uint64_t *all);
void trace_program_position(struct task_program *, uint32_t number, struct ker_chunk *);
void trace_program_find_steps(struct task_program *, struct ker_comm *);
struct task_steps *trace_program_steps(struct task_program *);
void trace_program_at(struct task_program *, uint32_t number, ker_time now);
uint32_t trace_program_streams(const struct task_program *, uint32_t number, uint32_t *further);
bool trace_program_call_of(const struct task_program *, uint32_t number, uint32_t index, struct task_call *);
struct task_taken trace_program_taken(const struct task_program *, uint32_t number);
/* clang-format off */
#define TRACE_PROGRAM                                                                                        \
    .collective = true, .tasks = trace_program_tasks, .comms = trace_program_comms,                          \
    .next = trace_program_next,                                                                              \
    .done = trace_program_done, .position = trace_program_position, .at = trace_program_at,                  \
    .steps = trace_program_steps, .find_steps = trace_program_find_steps, .call = trace_program_call_of
/* clang-format on */

#endif
