/* marssim.c - the program: its command line. One run is run/. */
#include "run/run.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the command line says. */
struct arguments {
    struct run_arguments run;
    bool list, schema, json, help_config, help_results, example, version;
    unsigned help; /* argp's flags; 0: not asked for */
    bool control;
};

#define LINKS 256 /* --write-links has no letter */

static const struct argp_option options[] = {
    {"output", 'o', "DIR", 0, "Write results to DIR (default: results/NAME of the configuration)", 0},
    {"check", 'c', "HOW", OPTION_ARG_OPTIONAL,
     "Read, build, partition, prove freedom from deadlock, report sizes, memory and how many events are "
     "expected, and stop; full: prove it to the end however long it takes; json: report what the network is "
     "made of and what is expected only, in JSON",
     0},
    {"resume", 'r', "FOLDER", 0,
     "Resume from a checkpoint: its folder, or a folder of some, of which the newest is taken", 0},
    {"write-table", 't', "FILE", 0, "Write the paths of the configured routing to FILE as a table, and stop",
     0},
    {"write-links", LINKS, "FILE", 0, "Write the links between switches to FILE as CSV, and stop", 0},
    {"quiet", 'q', NULL, 0, "No progress line and no summary", 0},
    {"example", 'e', NULL, 0,
     "List the configurations that are shipped; with a NAME behind it, copy that one with what it needs to "
     "the current folder",
     0},
    {"list", 'l', NULL, 0, "List topologies, algorithms, traffic patterns, programs, ...", 0},
    {"help-config", 'H', NULL, 0,
     "List every configuration key; with a WORD behind it, that group or key, or those whose names and "
     "meanings have it",
     0},
    {"schema", 'S', NULL, 0,
     "Print a JSON schema of all configurations, for editors and checkers; with a FILE behind it, of its "
     "plugins, too",
     0},
    {"json", 'j', NULL, 0, "Print the configuration in JSON, which is read like FILE, and stop", 0},
    {"help-results", 'R', NULL, 0, "List the tables that a run writes, with all their columns", 0},
    {"help", 'h', NULL, 0, "Give this help list", -1},
    {NULL, '?', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL, -1},
    {"usage", 'u', NULL, 0, "Give a short usage message", -1},
    {"version", 'V', NULL, 0, "Print the version", -1},
    {0},
};

static error_t refuse(const struct arguments *a, const char *format, const char *word, const char *more)
{
    if (!a->control)
        return EINVAL;
    fprintf(stderr, "marssim: error: command line: ");
    fprintf(stderr, format, word, more);
    fputc('\n', stderr);
    return EINVAL;
}

/* Messages and results are lines, and they name files and values. */
static bool words_printable(const struct arguments *a, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        for (const char *at = argv[i]; *at; at++)
            if (iscntrl((unsigned char)*at)) {
                char number[16];
                snprintf(number, sizeof number, "%d", i);
                refuse(a, "word %s of it holds a control character%s", number, "");
                return false;
            }
    return true;
}

/* The file, and KEY=VALUE before or behind it; with --help-config what to show. */
static error_t word_parse(struct arguments *a, char *text)
{
    bool value = strchr(text, '=') && text[strcspn(text, "/=[")] != '/' && access(text, F_OK) != 0;
    if (value || a->help_config)
        a->run.overrides[a->run.override_count++] = text;
    else if (a->run.file)
        return refuse(
            a, "\"%s\": one configuration is read, and \"%s\" is it; what changes it is written KEY=VALUE",
            text, a->run.file);
    else
        a->run.file = text;
    return 0;
}

/* Options that are said or not. */
static bool *flag_of(struct arguments *a, int key)
{
    switch (key) {
    case 'V':
        return &a->version;
    case 'q':
        return &a->run.quiet;
    case 'l':
        return &a->list;
    case 'e':
        return &a->example;
    case 'S':
        return &a->schema;
    case 'j':
        return &a->json;
    case 'H':
        return &a->help_config;
    case 'R':
        return &a->help_results;
    default:
        return NULL;
    }
}

static error_t check_parse(struct arguments *a, const char *text)
{
    a->run.check = true;
    a->run.check_full = text && strcmp(text, "full") == 0;
    a->run.check_json = text && strcmp(text, "json") == 0;
    if (text && !a->run.check_full && !a->run.check_json)
        return refuse(a, "--check=%s: there are --check, --check=full and --check=json", text, "");
    return 0;
}

static error_t option_parse(int key, char *text, struct argp_state *state)
{
    struct arguments *a = state->input;
    bool *flag = flag_of(a, key);
    if (flag) {
        *flag = true;
        return 0;
    }
    switch (key) {
    case ARGP_KEY_INIT: /* the message is getopt's; "Try --help" is in it already, see arguments_read */
        state->err_stream = NULL;
        return 0;
    case 'h':
    case '?':
        a->help = ARGP_HELP_STD_HELP & ~(unsigned)(ARGP_HELP_EXIT_OK | ARGP_HELP_EXIT_ERR);
        return 0;
    case 'u':
        a->help = ARGP_HELP_USAGE;
        return 0;
    case 'o':
        a->run.folder = text;
        return 0;
    case 'r':
        a->run.resume = text;
        return 0;
    case 't':
        a->run.table = text;
        return 0;
    case LINKS:
        a->run.links = text;
        return 0;
    case 'c':
        return check_parse(a, text);
    case ARGP_KEY_ARG:
        return word_parse(a, text);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp parser = {
    options,
    option_parse,
    "FILE [key.path=value ...]",
    "Simulates a high-performance computer: traced MPI tasks on multicore nodes on a packet-level network."
    "\vRun it alone or under mpirun -n N: the results are the same. Exit status: 0 done, 1 the run failed, 2 "
    "bad input.",
    NULL,
    NULL,
    NULL};

/* The option that begins like this, as getopt takes it; NULL: none. */
static const struct argp_option *option_named(const char *name, size_t length)
{
    for (const struct argp_option *o = options; o->name || o->key; o++)
        if (o->name && length > 0 && strncmp(o->name, name, length) == 0)
            return o;
    return NULL;
}

/* Of all options and kinds there are. */
static struct ker_registry *registry_new(void)
{
    const struct ker_option **tables = run_option_tables();
    struct ker_registry *registry = ker_registry_new(tables);
    free(tables);
    return registry;
}

/* Words that getopt would take for something else, or refuse without saying what is right: --load 0.3,
 * -load 3. */
static bool options_check(const struct arguments *a, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i], *name = word + strspn(word, "-");
        size_t length = strcspn(name, "=");
        bool one = word[0] == '-' && word[1] != '-' && word[1];
        if (word[0] != '-' || !*name ||
            (one && name[0] != 'n' &&
             (!name[1] || strchr("oct", name[0]) || name[strspn(name, "qelSjHRuVh")] == '\0')) ||
            (!one && option_named(name, length)))
            continue; /* as it should be, or the letters of several options in one word */
        if (strcmp(word, "-n") == 0 || strcmp(word, "-np") == 0)
            return refuse(a, "%s: the number of processes is given by mpirun -n N%s", word, "") == 0;
        struct ker_registry *registry = registry_new();
        char *key = ker_format("%.*s", (int)length, name),
             *near = one && option_named(name, length)
                         ? NULL
                         : ker_config_key_near(ker_registry_tables(registry), key);
        if (one && option_named(name, length))
            refuse(a, "%s: the option is written -%s", word, word);
        else if (near)
            refuse(a, "%s: there is no such option; a configuration key is set by %s=VALUE", word, near);
        else
            refuse(a, "%s: there is no such option; marssim --help lists them%s", word, "");
        free(near);
        free(key);
        ker_registry_free(registry);
        return false;
    }
    return true;
}

/* All ranks read the same words, so all fail alike. argp must not end the process: MPI would complain that a
 * rank never called MPI_Finalize. Only the control rank speaks; argv[0] is how getopt's messages begin. */
static enum ker_status arguments_read(struct arguments *a, int argc, char **argv)
{
    if (!words_printable(a, argc, argv) || !options_check(a, argc, argv))
        return KER_BAD_INPUT;
    char begin[] = "marssim: error: command line (see marssim --help)";
    char **words = ker_alloc(sizeof *words * (size_t)(argc + 2));
    for (int i = 0; i < argc; i++)
        words[i] = i ? argv[i] : begin;
    unsigned quiet = a->control ? 0 : ARGP_NO_ERRS;
    bool failed = argp_parse(&parser, argc, words, ARGP_NO_EXIT | ARGP_NO_HELP | quiet, NULL, a) != 0;
    free(words);
    if (failed || a->help || a->version || a->list || a->schema || a->help_config || a->help_results ||
        a->example || (a->run.file && !a->run.resume) || (a->run.resume && !a->run.file))
        return failed ? KER_BAD_INPUT : KER_OK;
    if (a->control && a->run.resume)
        fprintf(stderr,
                "marssim: error: command line: %s: a resumed run has the configuration of its checkpoint; "
                "leave the file out\n",
                a->run.file);
    else if (a->control)
        fprintf(stderr, "marssim: error: command line: no configuration file given; for example: marssim "
                        "configs/fat-tree-lammps.cfg "
                        "(--help lists the options)\n");
    return KER_BAD_INPUT;
}

/* All ranks were given the same words: mpirun can give each others, and the hosts may have other versions. */
static enum ker_status words_agree(struct ker_comm *comm, int argc, char **argv, struct ker_error *error)
{
    struct ker_inputs *inputs = ker_inputs_new();
    char *words = ker_format("%s", "marssim " MARSSIM_VERSION);
    for (int i = 1; i < argc; i++) {
        char *longer = ker_format("%s %s", words, argv[i]);
        free(words);
        words = longer;
    }
    ker_input_add_text(inputs, "command line", words);
    ker_inputs_agree(inputs, comm, error);
    ker_inputs_free(inputs);
    free(words);
    return ker_comm_agree(comm, error);
}

/* Standard output may be a full disk: what the user asked for is not there then. */
static int output_check(const struct arguments *a, int status)
{
    bool failed = a->control && (ferror(stdout) || fflush(stdout));
    if (failed)
        fprintf(stderr, "marssim: error: standard output cannot be written%s%s\n", errno ? ": " : "",
                errno ? strerror(errno) : "");
    return failed && status == KER_OK ? KER_RUN_FAILED : status;
}

#define PLUGINS "plugins="

/* --list, --schema and --help-config know the plugins that are behind them, plugins=A.so,B.so, and but for
 * the last those of a configuration. */
static enum ker_status plugins_load(const struct arguments *a, struct ker_registry *registry,
                                    struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (int i = 0; i < a->run.override_count; i++) {
        const char *word = a->run.overrides[i];
        if (strncmp(word, PLUGINS, strlen(PLUGINS)) != 0)
            continue;
        char *names = ker_format("%s", word + strlen(PLUGINS)), *rest = names;
        for (char *name; !status && (name = strsep(&rest, ",")) != NULL;)
            status = ker_plugin_load(registry, NULL, run_plugin_sizes, name, error);
        free(names);
    }
    if (!status && a->run.file && !a->help_config)
        status = ker_plugins_load(registry, run_plugin_sizes, a->run.file, error);
    return status;
}

static enum ker_status help_config(const struct arguments *a, const struct ker_option *const *tables,
                                   struct ker_error *error)
{
    enum ker_status status = KER_OK;
    int words = a->run.file != NULL;
    for (int i = 0; i < a->run.override_count; i++)
        words += strncmp(a->run.overrides[i], PLUGINS, strlen(PLUGINS)) != 0;
    if (words == 0)
        ker_config_help(tables, stdout);
    if (a->run.file)
        status = ker_config_help_word(tables, a->run.file, stdout, error);
    for (int i = 0; i < a->run.override_count && status == KER_OK; i++)
        if (strncmp(a->run.overrides[i], PLUGINS, strlen(PLUGINS)) != 0)
            status = ker_config_help_word(tables, a->run.overrides[i], stdout, error);
    return status;
}

/* What there is to choose from, by the control rank. */
static enum ker_status describe(const struct arguments *a)
{
    struct ker_error error = {.status = KER_OK};
    struct ker_registry *registry = registry_new();
    enum ker_status status = plugins_load(a, registry, &error);
    if (a->control && status == KER_OK && a->help_config)
        status = help_config(a, ker_registry_tables(registry), &error);
    if (a->control && status == KER_OK && a->list)
        ker_registry_list(registry, stdout);
    if (a->control && status == KER_OK && a->schema)
        ker_registry_schema(registry, stdout);
    if (a->control && status != KER_OK)
        fprintf(stderr, "marssim: error: %s\n", error.text);
    ker_registry_free(registry);
    return status;
}

static enum ker_status example(const struct arguments *a)
{
    struct ker_error error = {.status = KER_OK};
    if (a->control && run_example(a->run.file, &error) != KER_OK)
        fprintf(stderr, "marssim: error: %s\n", error.text);
    return error.status;
}

/* Collective: a shipped configuration is found wherever the program is called. */
static enum ker_status file_find(struct arguments *a, struct ker_comm *comm, char **found)
{
    struct ker_error error = {.status = KER_OK};
    if (!a->run.file || a->help_config || a->example)
        return KER_OK;
    *found = run_file_find(a->run.file, &error);
    a->run.file = *found;
    return ker_comm_agree(comm, &error);
}

/* Collective. */
static enum ker_status json_print(const struct arguments *a, struct ker_comm *comm)
{
    struct ker_error error = {.status = KER_OK};
    struct ker_config *config = NULL;
    const struct ker_option **tables = run_option_tables();
    ker_config_load_all(&config, comm, a->run.file, a->run.overrides, a->run.override_count, tables,
                        run_plugin_sizes, &error);
    enum ker_status status = ker_comm_agree(comm, &error);
    if (a->control && status == KER_OK) {
        ker_config_warn(config);
        ker_config_write_json(config, stdout);
    }
    ker_config_free(config);
    free(tables);
    return status;
}

int main(int argc, char **argv)
{
    struct arguments args = {0};
    struct ker_comm *comm;
    struct ker_error error = {0};
    char *found = NULL;
    int64_t started_ns = ker_clock_ns(CLOCK_MONOTONIC);
    ker_request_early();
    if (ker_comm_init(&comm, &argc, &argv, &error) != KER_OK) {
        fprintf(stderr, "marssim: error: %s\n", error.text);
        return KER_RUN_FAILED;
    }
    args.run.overrides = ker_alloc(sizeof *args.run.overrides * (size_t)(argc + 1));
    args.control = ker_comm_rank(comm) == 0;
    ker_request_listen(comm);
    int status = words_agree(comm, argc, argv, &error);
    if (status == KER_OK)
        status = arguments_read(&args, argc, argv);
    if (status == KER_OK)
        status = file_find(&args, comm, &found);
    if (status == KER_OK && (args.help || args.version)) {
        if (args.control && args.help)
            argp_help(&parser, stdout, args.help, (char[]){"marssim"});
        else if (args.control)
            puts("marssim " MARSSIM_VERSION);
    } else if (status == KER_OK && (args.list || args.schema || args.help_config)) {
        status = describe(&args);
    } else if (status == KER_OK && args.example) {
        status = example(&args);
    } else if (status == KER_OK && args.json) {
        status = json_print(&args, comm);
    } else if (status == KER_OK && args.help_results) {
        const struct stats_schema **tables = run_tables(NULL);
        if (args.control)
            stats_tables_help(tables, stdout);
        free(tables);
    } else if (status == KER_OK) {
        status = run_execute(&args.run, comm, started_ns);
    }
    status = output_check(&args, status);
    free(args.run.overrides);
    free(found);
    ker_request_release();
    ker_comm_release(comm);
    return status;
}
