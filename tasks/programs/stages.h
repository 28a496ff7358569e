/* stages.h - for generators whose tasks repeat steps that consist of stages.
 *
 * A step is a halo exchange (a receive from every neighbour, a send to every neighbour, one Waitall), then
 * stages of the generator's own with at most one operation each, then an Allreduce every n steps, then a
 * checkpoint every m steps: open, a write of the task's part of one file, close. The generator says who the
 * neighbours are and what its stages do; where a task is, how it continues, and how that is saved is the same
 * for all.
 *
 * A generator's struct task_program begins with a struct task_stages, which task_stages_init fills in; what
 * its class has besides open and close are the functions here.
 */
#pragma once

#include "storage/storage.h"
#include "tasks/programs/programs.h"

/* A message that a task sends in a direction, or that comes from there. */
struct task_halo {
    uint32_t peer, tag;
    uint64_t bytes;
};

struct task_stages_kind {
    /* The message of a direction in a step; false: there is none, of both or neither. Its peer says the same
     * of it. NULL where there are no directions. */
    bool (*halo)(const struct task_program *, uint32_t task, uint32_t step, uint32_t direction, bool send,
                 struct task_halo *);
    /* The operation of an own stage, counted from 0; false: none. *op is zeroed. */
    bool (*op)(const struct task_program *, uint32_t task, uint32_t stage, struct task_op *op);
    uint32_t own_stages;
};

/* Where a task is. */
struct task_stages_place {
    uint32_t task, step;
    uint16_t direction, posted; /* next direction to look at; messages posted in this stage */
    uint32_t stage;
};
_Static_assert(sizeof(struct task_stages_place) <= 16, "half a million tasks");

struct task_stages {
    const struct task_stages_kind *kind;
    struct task_comm world;
    uint32_t directions, steps, allreduce_every, checkpoint_every;
    bool empty;   /* a step has nothing but perhaps an Allreduce */
    bool jitters; /* a step has its computations even if they take no time */
    uint64_t allreduce_bytes, checkpoint_bytes;
    uint32_t file;                  /* of the first checkpoint */
    uint64_t (*words)[STORE_WORDS]; /* of own tasks, for calls of the storage client */
    ker_time compute;               /* of a step */
    uint64_t *requests; /* 1, 2, 3, ...: message k of a step is 2k + 1 as a receive, 2k + 2 as a send */
    struct task_steps repeat;
    uint32_t own;                             /* tasks here */
    struct task_stages_place *place, *before; /* of own tasks: now; before the last call of next() */
};

/* The generator has set world.size, the number of tasks. Reads the keys of task_steps_options and
 * task_compute_options. `silent`: no task has a message of its own to send; a task that is alone has nobody
 * to reduce with either. */
void task_stages_init(struct task_stages *, const struct task_stages_kind *, const struct ker_config *,
                      const char *path, uint32_t directions, bool silent);
void task_stages_release(struct task_stages *);
/* Part i of `parts` equal ones of the computation of a step; all of them together take that time exactly. */
ker_time task_stages_part(const struct task_stages *, uint32_t i, uint32_t parts);
/* An own stage that computes for `time`; false: it does not. */
bool task_stages_compute(const struct task_stages *, ker_time time, struct task_op *);

/* ---- For its struct task_program_class. */

uint32_t task_stages_tasks(const struct task_program *);
const struct task_comm *task_stages_comms(const struct task_program *, int32_t *count); /* the world alone */
enum ker_status task_stages_prepare(struct task_program *, const uint32_t *own_tasks, uint32_t count,
                                    struct ker_error *);
bool task_stages_next(struct task_program *, uint32_t number, struct task_op *);
void task_stages_position(struct task_program *, uint32_t number, struct ker_chunk *);
bool task_stages_service(const struct task_program *, uint32_t index, struct task_called *);
void task_stages_at(struct task_program *, uint32_t number, ker_time now);
struct task_steps *task_stages_steps(struct task_program *);
bool task_stages_done(const struct task_program *, uint32_t number, uint64_t *so_far, uint64_t *all);

/* Those that all have alike: a class has beside them its kind's open, comms and close. */
#define TASK_STAGES_CLASS                                                                                    \
    .tasks = task_stages_tasks, .prepare = task_stages_prepare, .next = task_stages_next,                    \
    .position = task_stages_position, .done = task_stages_done, .service = task_stages_service,              \
    .at = task_stages_at, .steps = task_stages_steps
