/* trace.c - the program "trace", and the formats that a trace may have. */
#include "tasks/graphs/graphs.h"
#include "tasks/programs/programs.h"

#include <string.h>
#include <unistd.h>

/* The table of formats, for marssim and marsconv: one line each. */
#define FORMATS(KIND)                                                                                        \
    KIND(trace_format_auto)                                                                                  \
    KIND(trace_format_mars)                                                                                  \
    KIND(trace_format_liballprof)                                                                            \
    KIND(trace_format_goal)                                                                                  \
    KIND(trace_format_simgrid)                                                                               \
    KIND(trace_format_otf2)                                                                                  \
    KIND(trace_format_dimemas)                                                                               \
    KIND(trace_format_driven)
KER_KINDS_TABLE(format_kinds, FORMATS);
static const struct ker_kinds formats = {"jobs[].format", "formats of traces", sizeof(struct trace_format),
                                         format_kinds};

const struct ker_kind trace_format_auto = {.name = "auto",
                                           .meaning = "what the trace's first bytes decide, or else its name",
                                           .traits = "any",
                                           .operations = &(const struct trace_format){NULL, NULL, NULL}};

static const struct ker_option trace_options[] = {
    {"jobs[].trace", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "trace: the folder or file that marstrace has written, or the folder with one file "
     "pmpi-trace-rank-N.txt (or .txt.zst) per task, as liballprof writes it; or the list of files that "
     "smpirun -trace-ti writes; or a text trace of Dimemas; or an OTF2 archive: its anchor file NAME.otf2, "
     "or its folder; or a message-driven program."},
    {"jobs[].format", KER_TYPE_CHOICE, "auto", NULL, NULL, NULL,
     "trace: who has written it: marstrace, liballprof, SimGrid (smpirun -trace-ti), Dimemas, or a tool that "
     "writes OTF2 (Score-P); or a schedule in LogGOPSim's language GOAL; or a message-driven program "
     "(docs/driven.md); auto: by its first bytes.",
     .kinds = &formats},
    {0},
};

/* NULL: an error has a text. */
static const struct ker_kind *format_of(const struct ker_config *config, const char *path,
                                        struct ker_error *error)
{
    const char *trace = TASK_KEY(path, "trace");
    const struct ker_kind *kind = ker_config_kind(config, TASK_KEY(path, "format"));
    struct ker_error one = {.status = KER_OK};
    if (!ker_config_has(config, trace)) {
        ker_config_fail(config, error, trace, "is missing: the file or folder of the trace");
        return NULL;
    }
    if (kind != &trace_format_auto)
        return kind;
    kind = trace_format_find(ker_config_registry(config), ker_config_file(config, trace), &one);
    if (!kind)
        ker_config_fail(config, error, trace, "%s", one.text);
    return kind;
}

static bool key_known(const struct ker_kind *kind, const char *key)
{
    for (const struct ker_option *const *table = kind->options; table && *table; table++)
        for (const struct ker_option *option = *table; option->key; option++)
            if (strcmp(option->key, key) == 0)
                return true;
    return false;
}

/* Of a format that was found out, the keys are those that it has: the rest of them is given otherwise. */
static enum ker_status keys_check(const struct ker_config *config, const char *path,
                                  const struct ker_kind *format, struct ker_error *error)
{
    const struct ker_kind *kind;
    for (size_t i = 0; (kind = ker_registry_kind(ker_config_registry(config), "jobs[].format", i)); i++)
        for (const struct ker_option *const *table = kind->options; table && *table; table++)
            for (const struct ker_option *option = *table; option->key; option++) {
                const char *given = TASK_KEY(path, option->key + sizeof "jobs[]." - 1);
                if (!key_known(format, option->key) && ker_config_has(config, given))
                    return ker_config_fail(
                        config, error, given, "means nothing in a trace of the format \"%s\"%s", format->name,
                        key_known(&trace_format_mars, option->key) ? "; marsconv --to mars may convert it"
                                                                   : "");
            }
    return KER_OK;
}

const struct task_program_class *task_trace_class(const struct ker_config *config, const char *path,
                                                  struct ker_error *error)
{
    const struct ker_kind *format = format_of(config, path, error);
    if (!format)
        return NULL;
    bool there =
        access(ker_config_file(config, TASK_KEY(path, "trace")), F_OK) == 0; /* its reader says if not */
    if (there && keys_check(config, path, format, error))
        return NULL;
    const struct trace_format *is = format->operations;
    return is->class;
}

bool task_trace_is_goal(const struct ker_config *config, const char *path)
{
    struct ker_error ignored = {.status = KER_OK};
    const char *program = TASK_KEY(path, "program");
    if (!ker_config_has(config, program) || !ker_config_is(config, program, "trace"))
        return false;
    const struct ker_kind *format = format_of(config, path, &ignored);
    return format && ((const struct trace_format *)format->operations)->class == &task_goal_class;
}

const struct ker_kind task_program_trace = {
    .name = "trace",
    .meaning =
        "replays a traced program: traces of marstrace, or text traces of the PMPI tracer liballprof; or "
        "runs a schedule in GOAL or a message-driven program",
    .traits = "computes",
    .operations = &(const struct task_program_class){.form = task_trace_class},
    .options = KER_OPTIONS(trace_options)};
