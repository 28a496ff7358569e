/* own.h - own tasks of a rank: where their programs read, and the steps of these. */
#pragma once

#include "traces/repeat.h"
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
/* The operations of the own task of this number are complete, and it has so many further threads, whose
 * `start` is filled in. */
void trace_program_begin(struct trace_program *, uint32_t number);
/* Room for further threads of an own task. */
void trace_own_others(struct trace_own *, uint32_t others);
/* Own tasks, which live elsewhere from now on. */
void trace_program_leave(struct trace_program *);
void trace_program_release(struct trace_program *);

/* By the number that the program gave it. */
struct trace_own *trace_program_of(const struct task_program *, uint32_t number);

/* Of struct task_program_class (own.c). */
uint32_t trace_program_tasks(const struct task_program *);
const struct task_comm *trace_program_comms(const struct task_program *, int32_t *count);
bool trace_program_next(struct task_program *, uint32_t number, struct task_op *);
ker_time trace_program_computes(const struct task_program *, uint32_t number);
bool trace_program_done(const struct task_program *, uint32_t number, uint64_t *so_far, uint64_t *all);
void trace_program_position(struct task_program *, uint32_t number, struct ker_chunk *);
void trace_program_find_steps(struct task_program *, const double *factor, struct ker_comm *);
int64_t *trace_program_ideal(struct task_program *, const struct task_gap *, uint32_t gaps, uint32_t last,
                             struct ker_comm *);
struct task_steps *trace_program_steps(struct task_program *);
void trace_program_at(struct task_program *, uint32_t number, ker_time now);
uint32_t trace_program_streams(const struct task_program *, uint32_t number, uint32_t *further);
bool trace_program_call_of(const struct task_program *, uint32_t number, uint32_t index, struct task_call *);
struct task_taken trace_program_taken(const struct task_program *, uint32_t number);
/* clang-format off */
#define TRACE_PROGRAM                                                                                        \
    .collective = true, .tasks = trace_program_tasks, .comms = trace_program_comms,                          \
    .next = trace_program_next, .computes = trace_program_computes,                                          \
    .done = trace_program_done, .position = trace_program_position, .at = trace_program_at,                  \
    .steps = trace_program_steps, .find_steps = trace_program_find_steps,\
    .ideal = trace_program_ideal, .call = trace_program_call_of
/* clang-format on */
