/* program.h - graphs as programs of MPI tasks, above whatever carries their messages. */
#ifndef TASKS_GRAPH_PROGRAM_H
#define TASKS_GRAPH_PROGRAM_H

#include "traces/traces.h"

/* The programs "trace" in its format "goal", and "schedule". */
extern const struct task_program_class task_goal_class, task_schedule_class;

#endif
