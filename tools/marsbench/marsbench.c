/* marsbench.c - the command line: measures this machine under mpirun, or fits what was measured (--fit). */
#include "tools/marsbench/fit.h"

#include "run/run.h"

#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIT = 256,
    SELECT,
    LATENCY,
    RATE,
    MOST_RATE,
    EAGER,
    KNOTS,
    APART,
    LAST_KNOT,
    SYSTEM,
    MARSSIM,
    KEY,
    ROUNDS
};

struct settings {
    bool fit;
    const char *machine;
    struct bench_select *select;
    size_t selects;
    char **file;
    size_t files;
    struct bench_known known;
    double *knot;
    size_t knots;
};

static const struct argp_option OPTIONS[] = {
    {0, 0, 0, 0, "Fitting:", 2},
    {"fit", FIT, 0, 0, "fit the points of FILEs: CSV of marsbench or PICO, or what OSU's benchmarks print",
     0},
    {"machine", 'm', "FILE", 0, "write the keys of marssim to FILE (default: machine.inc)", 0},
    {"select", SELECT, "COLUMN=TEXT", 0,
     "of CSV files only the rows with TEXT in COLUMN; may be given several times", 0},
    {"latency", LATENCY, "TIME", 0, "the network's own latency is known", 0},
    {"rate", RATE, "RATE", 0, "so is the rate of a stream between two nodes", 0},
    {"most-rate", MOST_RATE, "RATE", 0, "no stream is faster than this (default: 100 GB/s)", 0},
    {"eager", EAGER, "SIZE", 0, "the eager limit (default: as measured, or 8 KiB)", 0},
    {"knots", KNOTS, "SIZE,...", 0,
     "overheads have these knots beside 0 (default: from the sizes of messages)", 0},
    {"apart", APART, "FACTOR", 0, "each knot at least FACTOR times the one before (default: 8)", 0},
    {"last-knot", LAST_KNOT, "SIZE", 0,
     "no knot is larger (default: 128 KiB where the rate is to be found, otherwise none)", 0},
    {"system", SYSTEM, "FILE", 0,
     "a configuration of marssim with the network and no jobs: gives latency and rate, and each curve is "
     "simulated in it",
     0},
    {"key", KEY, "KEY=VALUE", 0, "a key for these simulations; may be given several times", 0},
    {"rounds", ROUNDS, "N", 0, "fit again N times by what the simulator takes (default: 2)", 0},
    {"marssim", MARSSIM, "FILE", 0, "the program to simulate with (default: beside marsbench)", 0},
    {0}};

static double number_take(const char *text, double least, double most, struct argp_state *state)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        argp_error(state, "%s: expected a number, %g to %g", text, least, most);
    return value;
}

static double bytes_take(const char *text, struct argp_state *state)
{
    uint64_t bytes = 0;
    const char *why;
    if (ker_parse_bytes(text, &bytes, &why) != 0 || bytes == 0)
        argp_error(state, "%s: %s", text, bytes == 0 ? "expected a size, \"8 KiB\"" : why);
    return (double)bytes;
}

static double rate_take(const char *text, struct argp_state *state)
{
    uint64_t rate = 0;
    const char *why;
    if (ker_parse_rate(text, &rate, &why) != 0 || rate == 0)
        argp_error(state, "%s: expected a rate greater than 0, \"25 GB/s\"", text);
    return (double)rate;
}

static double time_take(const char *text, struct argp_state *state)
{
    ker_time time = 0;
    const char *why;
    if (ker_parse_time(text, &time, &why) != 0 || time == 0)
        argp_error(state, "%s: expected a time greater than 0, \"1.2 us\"", text);
    return (double)time / 1e6;
}

static void knots_take(struct settings *s, char *text, struct argp_state *state)
{
    char *save = NULL;
    for (char *one = strtok_r(text, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
        double bytes = bytes_take(one, state);
        if (s->knots && bytes <= s->knot[s->knots - 1])
            argp_error(state, "--knots: %s: sizes ascend", one);
        *KER_APPEND(s->knot, s->knots) = bytes;
    }
    if (s->knots >= BENCH_KNOTS)
        argp_error(state, "--knots: at most %d", BENCH_KNOTS - 1);
}

static void select_take(struct settings *s, char *text, struct argp_state *state)
{
    char *value = strchr(text, '=');
    if (!value || value == text)
        argp_error(state, "--select %s: expected COLUMN=TEXT", text);
    *value++ = 0;
    *KER_APPEND(s->select, s->selects) = (struct bench_select){text, value};
}

static error_t parse_fit(int key, char *argument, struct argp_state *state)
{
    struct settings *s = state->input;
    struct bench_known *known = &s->known;
    switch (key) {
    case SELECT:
        return select_take(s, argument, state), 0;
    case LATENCY:
        return known->latency_us = time_take(argument, state), 0;
    case RATE:
        return known->rate = rate_take(argument, state), 0;
    case MOST_RATE:
        return known->most_rate = rate_take(argument, state), 0;
    case EAGER:
        return known->eager = bytes_take(argument, state), 0;
    case KNOTS:
        return knots_take(s, argument, state), 0;
    case APART:
        return known->apart = number_take(argument, 1, 1e6, state), 0;
    case LAST_KNOT:
        return known->last_knot = bytes_take(argument, state), 0;
    case SYSTEM:
        return known->system = argument, 0;
    case MARSSIM:
        return known->marssim = argument, 0;
    case ROUNDS:
        return known->rounds = (int)number_take(argument, 0, 20, state), 0;
    case KEY:
        return *KER_APPEND(known->keys, known->key_count) = argument, 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settings *s = state->input;
    switch (key) {
    case FIT:
        return s->fit = true, 0;
    case 'm':
        return s->machine = argument, 0;
    case ARGP_KEY_ARG:
        return *KER_APPEND(s->file, s->files) = argument, 0;
    case ARGP_KEY_END:
        if (s->fit && s->files == 0)
            argp_error(state, "--fit needs a FILE of measured points");
        return 0;
    default:
        return parse_fit(key, argument, state);
    }
}

/* marssim, where marsbench itself is; otherwise it is looked for as the shell does. */
static const char *marssim_find(char path[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 16);
    char *name = length > 0 ? (path[length] = 0, strrchr(path, '/')) : NULL;
    if (!name)
        return "marssim";
    strcpy(name + 1, "marssim");
    return access(path, X_OK) == 0 ? path : "marssim";
}

static enum ker_status points_read(const struct settings *s, struct bench_points *points,
                                   struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (size_t i = 0; i < s->files && status == KER_OK; i++) {
        struct bench_facts facts;
        char *text = NULL;
        size_t length;
        status = bench_facts_read(s->file[i], &facts, error);
        if (status == KER_OK)
            status = ker_input_read(NULL, s->file[i], &text, &length, error);
        if (status == KER_OK)
            status =
                bench_points_parse(points, s->file[i], text, length, s->select, s->selects, &facts, error);
        free(text);
    }
    return status;
}

static enum ker_status machine_write(const struct settings *s, const struct bench_fit *fit,
                                     struct ker_error *error)
{
    FILE *out = fopen(s->machine, "w");
    bool written = out && bench_machine_write(fit, s->files > 1 ? "several files" : s->file[0], out);
    if (out)
        written &= fclose(out) == 0;
    return written ? KER_OK : ker_fail(error, KER_BAD_INPUT, "%s: cannot be written", s->machine);
}

static int fit_files(struct settings *s)
{
    static struct ker_error error;
    struct bench_points points = {0};
    struct bench_fit fit = {0};
    char path[PATH_MAX];
    s->known.knot = s->knot;
    s->known.knots = s->knots;
    if (!s->known.marssim)
        s->known.marssim = marssim_find(path);
    if (s->known.last_knot <= 0)
        s->known.last_knot = s->known.rate > 0 || s->known.system || s->knots ? 1e15 : 131072;
    enum ker_status status = points_read(s, &points, &error);
    if (status == KER_OK)
        status = bench_fit_make(&fit, &points, &s->known, &error);
    if (status == KER_OK) {
        bench_fit_report(&fit, stdout);
        status = machine_write(s, &fit, &error);
    }
    if (status != KER_OK)
        fprintf(stderr, "marsbench: error: %s\n", error.text);
    bench_fit_release(&fit);
    bench_points_release(&points);
    return (int)status;
}

int main(int argc, char **argv)
{
    struct settings s = {.machine = "machine.inc", .known = {.apart = 8, .rounds = 2}};
    static const struct argp argp = {
        OPTIONS,
        parse,
        "--fit FILE...",
        "Finds what a machine's processors do for messages: from measured points the overheads by size, the "
        "rates of "
        "streams, of combining and of copying, as keys of marssim (docs/marsbench.md).\vA FILE of OSU's "
        "benchmarks says "
        "what is not in it: FILE@nodes=16,ranks_per_node=1,algorithm=ring.\n\nExit status: 0 done, 2 bad "
        "options, or a "
        "file that cannot be read, fitted or written.",
        0,
        NULL,
        0};
    argp_program_version = "marsbench of marssim " MARSSIM_VERSION;
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &s) != 0)
        return 2;
    int status = fit_files(&s);
    free(s.select);
    free(s.file);
    free(s.knot);
    free(s.known.keys);
    return status;
}
