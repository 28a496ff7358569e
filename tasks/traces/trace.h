/* trace.h - what the program "trace" is made of: a class and keys for each format. */
#ifndef TASKS_TRACE_H
#define TASKS_TRACE_H

#include "tasks/programs/op.h"

extern const struct task_program_class task_allprof_class, task_replay_class, task_simgrid_class,
    task_otf2_class, task_dimemas_class;
extern const struct ker_option task_allprof_options[], task_replay_options[], task_simgrid_options[],
    task_otf2_options[];

/* Does the file begin as one of this format? */
bool simgrid_trace_known(const char *path);
bool dimemas_trace_known(const char *path);
bool otf2_trace_known(const char *path); /* a folder with such a file, too */

/* The class of the format that the trace of the job at this path, "jobs[2]", has; NULL: a key is given that
 * means nothing in it. */
const struct task_program_class *task_trace_class(const struct ker_config *, const char *path,
                                                  struct ker_error *);
/* Does it run a schedule in GOAL? */
bool task_trace_is_goal(const struct ker_config *, const char *path);

#endif
