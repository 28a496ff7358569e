/* programs.h - what generators and traces have in common: keys, and the program "trace". */
#pragma once

#include "tasks/programs/grid.h"

/* The class of the format that the trace of the job at this path, "jobs[2]", has; NULL: a key is given that
 * means nothing in it. */
const struct task_program_class *task_trace_class(const struct ker_config *, const char *path,
                                                  struct ker_error *);
/* Does it run a schedule in GOAL? */
bool task_trace_is_goal(const struct ker_config *, const char *path);

/* ---- Keys of several generators, and what follows from them. */

/* Of the memory part of the computations of a job, or of tasks of it, with this processor_factor:
 * jobs[].memory_factor with its default; 0: they have none. */
double task_memory_factor(const struct ker_config *, const char *path, double processor);
/* For generators. jobs[].compute_time of the job at this path; 0 as well when jobs[].processor_factor leaves
 * nothing of it, no task has a factor of its own, and there is no memory part. */
ker_time task_compute_time(const struct ker_config *, const char *path);
/* Do the computations of the job at `path` have a jitter? Then its steps have one even where they compute
 * nothing. */
bool task_compute_jitters(const struct ker_config *, const char *path);
/* The number of the first file of the job at `path`: each job has 2^20 of its own, but jobs of the same
 * jobs[].path have the same ones. */
uint32_t task_file_number(const struct ker_config *, const char *path);
/* Of steps that are empty but for an Allreduce after every n (0: never): the first from `step` on that
 * is not, at most `steps`. A job with nothing to do must not spend real time on four billion steps. */
uint32_t task_step_skip(uint32_t step, uint32_t steps, uint32_t every);

/* Keys of several programs: ker_kind.options. */
extern const struct ker_option task_steps_options[];   /* jobs[].steps */
extern const struct ker_option task_bytes_options[];   /* jobs[].bytes */
extern const struct ker_option task_grid_options[];    /* jobs[].grid */
extern const struct ker_option task_compute_options[]; /* jobs[].compute_time, allreduce_*, checkpoint_* */
