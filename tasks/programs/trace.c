/* trace.c - the program "trace": which format a trace has. */
#include "tasks/programs/trace.h"
#include "tasks/driven/driven.h"
#include "tasks/graphs/graph.h"
#include "tasks/graphs/pattern.h"
#include "tasks/graphs/program.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const struct ker_kind task_program_trace;

static const struct ker_option trace_options[] = {
    {.key = "jobs[].trace",
     .type = KER_TYPE_FILE,
     .meaning =
         "trace: the folder or file that marstrace has written, or the folder with one file "
         "pmpi-trace-rank-N.txt (or .txt.zst) per task, as liballprof writes it; or the list of files that "
         "smpirun -trace-ti writes; or a text trace of Dimemas; or an OTF2 archive: its anchor file "
         "NAME.otf2, or its folder; or a message-driven program."},
    {.key = "jobs[].format",
     .type = KER_TYPE_CHOICE,
     .fallback = "auto",
     .choices = "auto|mars|liballprof|goal|simgrid|otf2|dimemas|driven",
     .meaning =
         "trace: who has written it: marstrace, liballprof, SimGrid (smpirun -trace-ti), Dimemas, or a tool "
         "that writes OTF2 (Score-P); or a schedule in LogGOPSim's language GOAL; or a message-driven "
         "program "
         "(docs/driven.md); auto: its first bytes tell."},
    {.key = NULL},
};

static const struct ker_option unknown_options[] = {
    {.key = "jobs[].unknown",
     .type = KER_TYPE_CHOICE,
     .fallback = "error",
     .choices = "error|compute",
     .meaning =
         "trace (mars, otf2): calls that cannot be replayed, or of which the archive says too little, are "
         "refused, or taken as computation of the time that they took."},
    {.key = NULL},
};

/* Who has written a trace. Known by what a folder or file begins as; everything else is left to liballprof's
 * reader, which says what is wrong with it. */
static const struct format {
    const char *name;
    const struct task_program_class *class;
    bool (*known)(const char *path);
    const struct ker_option *const *options; /* keys that mean something in it, beside trace_options */
    const char *suffix;                      /* of a file that begins as nothing that is known; NULL: none */
} formats[] = {
    {"mars", &task_replay_class, mars_trace_known,
     KER_OPTIONS(task_replay_options, unknown_options, trace_store_options), ".mars"},
    {"goal", &task_goal_class, graph_goal_known, KER_OPTIONS(graph_unit_options, task_goal_options), ".goal"},
    {"simgrid", &task_simgrid_class, simgrid_trace_known,
     KER_OPTIONS(task_simgrid_options, trace_store_options), ".ti"},
    {"otf2", &task_otf2_class, otf2_trace_known,
     KER_OPTIONS(task_otf2_options, unknown_options, trace_store_options), NULL},
    {"dimemas", &task_dimemas_class, dimemas_trace_known, KER_OPTIONS(trace_store_options), ".dim"},
    {"driven", &task_driven_text_class, driven_text_known, (const struct ker_option *const[]){NULL},
     ".driven"},
    {"liballprof", &task_allprof_class, NULL, KER_OPTIONS(task_allprof_options, trace_store_options), NULL},
};

static bool named(const struct format *format, const char *path)
{
    size_t length = strlen(path), own = format->suffix ? strlen(format->suffix) : 0;
    return own && length > own && strcmp(path + length - own, format->suffix) == 0;
}

static bool is_folder(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

/* By its first bytes; a damaged file by its name, so that its reader says what is wrong. */
static const struct format *format_guess(const char *path)
{
    const struct format *format = formats, *by_name = formats;
    while (format->known && !format->known(path))
        format++;
    while (by_name->known && (is_folder(path) || !named(by_name, path)))
        by_name++;
    return format->known ? format : by_name;
}

static const struct format *format_of(const struct ker_config *config, const char *path)
{
    const char *trace = TASK_KEY(path, "trace"), *key = TASK_KEY(path, "format");
    if (ker_config_is(config, key, "auto") && ker_config_has(config, trace))
        return format_guess(ker_config_file(config, trace));
    const struct format *format = formats;
    while (format->known && !ker_config_is(config, key, format->name))
        format++;
    return format;
}

/* Traces of liballprof are folders: what is left to its reader must be one. */
static bool file_refused(const struct format *format, const struct ker_config *config, const char *path,
                         struct ker_error *error)
{
    const char *trace = TASK_KEY(path, "trace");
    struct stat is;
    if (format->known || !ker_config_has(config, trace) || stat(ker_config_file(config, trace), &is) != 0 ||
        S_ISDIR(is.st_mode))
        return false;
    if (!S_ISREG(is.st_mode))
        ker_config_fail(config, error, trace, "%s is no regular file (a device or a pipe)",
                        ker_config_file(config, trace));
    else
        ker_config_fail(
            config, error, trace,
            "%s begins as no trace that is known; jobs[].format names its reader, which says what is "
            "wrong with it",
            ker_config_file(config, trace));
    return true;
}

static bool key_known(const struct format *format, const char *key)
{
    for (const struct ker_option *const *table = format->options; *table; table++)
        for (const struct ker_option *option = *table; option->key; option++)
            if (strcmp(option->key, key) == 0)
                return true;
    return false;
}

const struct task_program_class *task_trace_class(const struct ker_config *config, const char *path,
                                                  struct ker_error *error)
{
    const struct format *format = format_of(config, path);
    if (ker_config_is(config, TASK_KEY(path, "format"), "auto") && file_refused(format, config, path, error))
        return NULL;
    for (const struct ker_option *const *table = task_program_trace.options; *table; table++)
        for (const struct ker_option *option = *table; *table != trace_options && option->key; option++) {
            const char *given = TASK_KEY(path, option->key + sizeof "jobs[]." - 1);
            if (key_known(format, option->key) || !ker_config_has(config, given))
                continue;
            ker_config_fail(config, error, given, "means nothing in a trace of the format \"%s\"%s",
                            format->name,
                            key_known(formats, option->key) ? "; marsconv --to mars may convert it" : "");
            return NULL;
        }
    return format->class;
}

bool task_trace_is_goal(const struct ker_config *config, const char *path)
{
    const char *program = TASK_KEY(path, "program"), *trace = TASK_KEY(path, "trace");
    return ker_config_has(config, program) && ker_config_is(config, program, "trace") &&
           ker_config_has(config, trace) && format_of(config, path)->class == &task_goal_class;
}

const struct ker_kind task_program_trace = {
    .name = "trace",
    .meaning =
        "replays a traced program: traces of marstrace, or text traces of the PMPI tracer liballprof; or "
        "runs a schedule in GOAL or a message-driven program",
    .traits = "computes",
    .operations = &(const struct task_program_class){.form = task_trace_class},
    .options = KER_OPTIONS(trace_options, graph_unit_options, task_goal_options, task_allprof_options,
                           task_replay_options, task_simgrid_options, task_otf2_options, unknown_options,
                           trace_store_options)};
