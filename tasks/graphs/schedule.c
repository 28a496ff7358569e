/* schedule.c - the program "schedule": patterns without a file (pattern.h). */
#include "tasks/graphs/pattern.h"
#include "tasks/programs/op.h"

static enum ker_status schedule_open(struct task_program **program, const struct ker_config *config,
                                     const char *path, struct ker_comm *comm, struct ker_error *error)
{
    return ker_config_fail(config, error, TASK_KEY(path, "program"),
                           "schedules run with network.model = \"loggops\" only, as yet");
}

const struct ker_kind task_program_schedule = {
    .name = "schedule",
    .meaning = "a pattern of messages and dependencies, as LogGOPSim's schedgen makes it, of any number of "
               "tasks (network.model = \"loggops\")",
    .traits = "computes",
    .operations = &(const struct task_program_class){.open = schedule_open},
    .options = KER_OPTIONS(graph_pattern_options, graph_unit_options)};
