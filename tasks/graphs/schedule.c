/* schedule.c - the program "schedule": patterns without a file (pattern.h). */
#include "tasks/graphs/graphs.h"
#include "tasks/graphs/pattern.h"

const struct ker_kind task_program_schedule = {
    .name = "schedule",
    .meaning =
        "a pattern of messages and dependencies, as LogGOPSim's schedgen makes it, of any number of tasks",
    .traits = "computes",
    .operations = &task_schedule_class,
    .options = KER_OPTIONS(graph_pattern_options, graph_unit_options, graph_front_options)};
