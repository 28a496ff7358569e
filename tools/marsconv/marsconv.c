/* marsconv.c - the command line: converts, cuts, sums up and checks traces. */
#define _GNU_SOURCE
#include "tools/marsconv/conv.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

#define MOST_WORDS 32

enum {
    KEY_STATS = 256,
    KEY_JSON,
    KEY_CUT,
    KEY_CHECK,
    KEY_STEPS,
    KEY_CLOCK,
    KEY_LIBRARY,
    KEY_PATTERN,
    KEY_NO_WAITS,
    KEY_KEY
};

struct settings {
    const char *to, *cut, *pattern;
    bool stats, json, check, steps;
    struct conv_options options;
    const char *path[MOST_WORDS], *key[MOST_WORDS];
    unsigned paths;
};

static const struct argp_option OPTIONS[] = {
    {"to", 't', "FORMAT", 0, "write OUT as a trace of marstrace, mars, or as a GOAL schedule, goal", 0},
    {"stats", KEY_STATS, 0, 0,
     "print what is in IN: calls and bytes of each function, sizes of messages, who sends to whom, "
     "communicators, balance, phases",
     0},
    {"json", KEY_JSON, 0, 0, "print --stats as JSON", 0},
    {"cut", KEY_CUT, "PART", 0,
     "write a part of IN, as a trace of marstrace: time=A:B, of each task what begins from A to B after "
     "MPI_Init, like time=10ms:1.5s; tasks=A-B, those tasks and what they say to each other",
     0},
    {"check", KEY_CHECK, 0, 0,
     "look for messages that nobody receives or sends, collectives that differ, communicators that cannot "
     "be, requests that are lost; exit status 1 when there is something",
     0},
    {"steps", KEY_STEPS, 0, 0,
     "print which steps of the program repeat, of which run.skip of marssim need not simulate all; exit "
     "status 1 when there are none",
     0},
    {"no-waits", KEY_NO_WAITS, 0, 0,
     "with --to mars: OUT's calls last as long as without waiting for other tasks, for jobs[].calls = "
     "\"traced\"",
     0},
    {"clock", KEY_CLOCK, "CLOCK", 0,
     "what computation is where OUT has one clock: cpu (default), the time on a processor; wall, all of it",
     0},
    {"pattern", KEY_PATTERN, "NAME", 0,
     "with --to goal: in place of IN a pattern of jobs[].pattern with its keys, like --pattern dissemination "
     "commsize=16 datasize=8",
     0},
    {"key", KEY_KEY, "KEY=VALUE", 0,
     "how a trace of another tool is read, as jobs[].KEY of marssim says: poll_gap, unlisted_bytes "
     "(liballprof), flop_rate, derived_bytes (simgrid), collective_sizes (otf2)",
     0},
    {"mpi-library", KEY_LIBRARY, "LIBRARY", 0,
     "whose constants a trace of liballprof has: openmpi (default) or mpich", 0},
    {0}};

static error_t choice(const struct argp_state *state, const char *option, const char *given, const char *no,
                      const char *yes, bool *is)
{
    *is = strcmp(given, yes) == 0;
    if (!*is && strcmp(given, no) != 0)
        argp_error(state, "--%s %s: expected %s or %s", option, given, no, yes);
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settings *settings = state->input;
    switch (key) {
    case 't':
        settings->to = argument;
        return 0;
    case KEY_STATS:
        settings->stats = true;
        return 0;
    case KEY_JSON:
        settings->json = true;
        return 0;
    case KEY_CUT:
        settings->cut = argument;
        return 0;
    case KEY_CHECK:
        settings->check = true;
        return 0;
    case KEY_STEPS:
        settings->steps = true;
        return 0;
    case KEY_PATTERN:
        settings->pattern = argument;
        return 0;
    case KEY_NO_WAITS:
        settings->options.no_waits = true;
        return 0;
    case KEY_KEY:
        if (settings->options.keys == MOST_WORDS)
            argp_error(state, "--key %s: too many keys", argument);
        else
            settings->key[settings->options.keys++] = argument;
        settings->options.key = settings->key;
        return 0;
    case KEY_CLOCK:
        return choice(state, "clock", argument, "cpu", "wall", &settings->options.wall);
    case KEY_LIBRARY:
        return choice(state, "mpi-library", argument, "openmpi", "mpich", &settings->options.mpich);
    case ARGP_KEY_ARG:
        if (settings->paths == (settings->pattern ? MOST_WORDS : 2))
            argp_error(state, "%s: too many arguments", argument);
        else
            settings->path[settings->paths++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The formats, for --help. */
static char *help(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t length = 0;
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    FILE *to = open_memstream(&list, &length);
    if (!to)
        return (char *)text;
    fputs("Formats (that of IN is found out):\n", to);
    conv_formats_list(to);
    fclose(to);
    return list;
}

static int complain(const char *text, const char *what)
{
    fprintf(stderr, "marsconv: error: %s%s; marsconv --help says more\n", what, text);
    return 2;
}

static int pattern_run(const struct settings *s)
{
    if (!s->to || strcmp(s->to, "goal") != 0 || s->stats || s->check || s->steps || s->cut)
        return complain("--pattern belongs to --to goal alone", "");
    if (s->paths == 0)
        return complain("expected KEY=VALUE ... OUT behind --pattern NAME", "");
    return conv_pattern(s->pattern, s->path, s->paths - 1, s->path[s->paths - 1]);
}

static int run(const struct settings *s)
{
    if (s->pattern)
        return pattern_run(s);
    bool reads = s->stats || s->check || s->steps;
    unsigned wanted = reads ? 1 : 2;
    bool goal = s->to && strcmp(s->to, "goal") == 0;
    if (s->to && !goal && strcmp(s->to, "mars") != 0)
        return complain(": expected a format that is written, mars or goal", s->to);
    if (s->stats + s->check + s->steps + (s->to || s->cut) > 1)
        return complain("--stats, --check, --steps, and --to or --cut: one at a time", "");
    if (s->options.no_waits && (!s->to || goal || s->cut))
        return complain("--no-waits belongs to --to mars, and not with --cut, which can be done before", "");
    if (s->json && !s->stats)
        return complain("--json belongs to --stats", "");
    if (!reads && !s->to && !s->cut)
        return complain("what is to be done? --to FORMAT, --cut PART, --stats, --check or --steps", "");
    if (s->paths != wanted)
        return complain(wanted == 1 ? "expected one trace" : "expected two names, IN and OUT", "");
    if (s->stats)
        return conv_stats(s->path[0], s->json, &s->options);
    if (s->check)
        return conv_check(s->path[0], &s->options);
    if (s->steps)
        return conv_steps(s->path[0], &s->options);
    if (goal && s->cut)
        return complain("--cut writes traces; a GOAL schedule is made of the part then", "");
    if (goal)
        return conv_goal(s->path[0], s->path[1], &s->options);
    return conv_convert(s->path[0], s->path[1], s->cut, &s->options);
}

int main(int argc, char **argv)
{
    struct settings settings = {0};
    static const struct argp argp = {
        OPTIONS, parse,
        "--to mars|goal IN OUT\n--cut PART IN OUT\n--to goal --pattern NAME [KEY=VALUE ...] OUT\n"
        "--stats [--json] IN\n--check IN\n--steps IN",
        "Converts traces of MPI programs, cuts them, sums them up and checks them, without a simulation.\v",
        .help_filter = help};
    argp_program_version = "marsconv of marssim";
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &settings) != 0)
        return 2;
    return run(&settings);
}
