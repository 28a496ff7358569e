/* trace.h - the program "trace": which format the trace of a job has. */
#ifndef TASKS_TRACE_H
#define TASKS_TRACE_H

#include "traces/traces.h"

/* The class of the format that the trace of the job at this path, "jobs[2]", has; NULL: a key is given that
 * means nothing in it. */
const struct task_program_class *task_trace_class(const struct ker_config *, const char *path,
                                                  struct ker_error *);
/* Does it run a schedule in GOAL? */
bool task_trace_is_goal(const struct ker_config *, const char *path);

#endif
