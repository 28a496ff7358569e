/* trace.c - the program "trace": which format a trace has. */
#include "tasks/traces/trace.h"
#include "tasks/graphs/graph.h"
#include "tasks/graphs/pattern.h"
#include "tasks/graphs/program.h"
#include "tasks/traces/mars/reader.h"
#include "tasks/traces/store/store.h"

/* A folder or file that begins as marstrace's do, or as schedules; everything else is left to liballprof's
 * reader, which says what is wrong with it. */
static const struct task_program_class *trace_form(const struct ker_config *config, const char *path)
{
    const char *trace = TASK_KEY(path, "trace"), *format = TASK_KEY(path, "format");
    if (ker_config_is(config, format, "goal"))
        return &task_goal_class;
    if (ker_config_is(config, format, "simgrid"))
        return &task_simgrid_class;
    if (ker_config_is(config, format, "otf2"))
        return &task_otf2_class;
    if (ker_config_is(config, format, "dimemas"))
        return &task_dimemas_class;
    bool mars = ker_config_is(config, format, "mars");
    if (ker_config_is(config, format, "auto") && ker_config_has(config, trace)) {
        mars = mars_trace_known(ker_config_file(config, trace));
        if (!mars && graph_goal_known(ker_config_file(config, trace)))
            return &task_goal_class;
        if (!mars && simgrid_trace_known(ker_config_file(config, trace)))
            return &task_simgrid_class;
        if (!mars && otf2_trace_known(ker_config_file(config, trace)))
            return &task_otf2_class;
        if (!mars && dimemas_trace_known(ker_config_file(config, trace)))
            return &task_dimemas_class;
    }
    return mars ? &task_replay_class : &task_allprof_class;
}

static const struct ker_option trace_options[] = {
    {.key = "jobs[].trace",
     .type = KER_TYPE_FILE,
     .meaning =
         "trace: the folder or file that marstrace has written, or the folder with one file "
         "pmpi-trace-rank-N.txt (or .txt.zst) per task, as liballprof writes it; or the list of files that "
         "smpirun -trace-ti writes; or a text trace of Dimemas; or an OTF2 archive: its anchor file "
         "NAME.otf2, or its folder."},
    {.key = "jobs[].format",
     .type = KER_TYPE_CHOICE,
     .fallback = "auto",
     .choices = "auto|mars|liballprof|goal|simgrid|otf2|dimemas",
     .meaning =
         "trace: who has written it: marstrace, liballprof, SimGrid (smpirun -trace-ti), Dimemas, or a tool "
         "that writes OTF2 (Score-P); or a schedule in LogGOPSim's language GOAL; auto: its first bytes "
         "tell."},
    {.key = NULL},
};

const struct ker_kind task_program_trace = {
    .name = "trace",
    .meaning =
        "replays a traced program: traces of marstrace, or text traces of the PMPI tracer liballprof; or "
        "runs a schedule in GOAL",
    .traits = "computes",
    .operations = &(const struct task_program_class){.form = trace_form},
    .options =
        KER_OPTIONS(trace_options, graph_unit_options, task_goal_options, task_allprof_options,
                    task_replay_options, task_simgrid_options, task_otf2_options, trace_store_options)};
