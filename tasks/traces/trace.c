/* trace.c - the program "trace": which format a trace has. */
#include "tasks/traces/trace.h"
#include "tasks/graphs/graph.h"
#include "tasks/graphs/pattern.h"
#include "tasks/graphs/program.h"
#include "tasks/traces/mars/reader.h"
#include "tasks/traces/store/store.h"

/* What a folder or file begins as; everything else is left to liballprof's reader, which says what is wrong
 * with it. */
static const struct {
    const char *name;
    const struct task_program_class *class;
    bool (*known)(const char *path);
} formats[] = {
    {"mars", &task_replay_class, mars_trace_known},        {"goal", &task_goal_class, graph_goal_known},
    {"simgrid", &task_simgrid_class, simgrid_trace_known}, {"otf2", &task_otf2_class, otf2_trace_known},
    {"dimemas", &task_dimemas_class, dimemas_trace_known},
};

const struct task_program_class *task_trace_class(const struct ker_config *config, const char *path)
{
    const char *trace = TASK_KEY(path, "trace"), *format = TASK_KEY(path, "format");
    bool looks = ker_config_is(config, format, "auto") && ker_config_has(config, trace);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (looks ? formats[i].known(ker_config_file(config, trace))
                  : ker_config_is(config, format, formats[i].name))
            return formats[i].class;
    return &task_allprof_class;
}

bool task_trace_is_goal(const struct ker_config *config, const char *path)
{
    const char *program = TASK_KEY(path, "program"), *trace = TASK_KEY(path, "trace");
    return ker_config_has(config, program) && ker_config_is(config, program, "trace") &&
           ker_config_has(config, trace) && task_trace_class(config, path) == &task_goal_class;
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
    .operations = &(const struct task_program_class){.form = task_trace_class},
    .options =
        KER_OPTIONS(trace_options, graph_unit_options, task_goal_options, task_allprof_options,
                    task_replay_options, task_simgrid_options, task_otf2_options, trace_store_options)};
