/* marsbench.c - the command line: measures this machine under mpirun, or fits what was measured (--fit). */
#define _GNU_SOURCE
#include "tools/marsbench/fit.h"
#include "tools/marsbench/measure.h"

#include "run/run.h"

#include <argp.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIT = 256,
    ONLY,
    LEAST,
    MOST,
    ALGORITHM,
    SELECT,
    LATENCY,
    RATE,
    EAGER,
    KNOTS,
    RATE_KNOTS,
    REDUCE_KNOTS,
    SYSTEM,
    KEY,
    ROUNDS,
    ADAPTERS
};

struct settings {
    bool fit;
    const char *output, *machine;
    struct bench_settings measure;
    char **algorithm;
    bool only; /* parts were named */
    struct bench_select *select;
    size_t selects;
    char **file;
    size_t files;
    struct bench_known known;
};

static const struct argp_option OPTIONS[] = {
    {0, 0, 0, 0, "Measuring:", 1},
    {"output", 'o', "FILE", 0, "write the points to FILE (default: points.csv)", 0},
    {"starts", 's', "N", 0,
     "measure all N times, each with communicators and buffers of its own (default: 5)", 0},
    {"time", 't', "TIME", 0, "for each point of each start (default: 10 ms)", 0},
    {"least", LEAST, "SIZE", 0, "the smallest message, or vector (default: 1 B)", 0},
    {"most", MOST, "SIZE", 0, "the largest (default: 4 MiB)", 0},
    {"only", ONLY, "PART", 0,
     "messages, overheads, collectives or local; may be given several times (default: all)", 0},
    {"algorithm", ALGORITHM, "COLLECTIVE=NAME", 0,
     "what the environment makes the MPI library take (default: read from the variables of Open MPI and "
     "MPICH)",
     0},
    {0, 0, 0, 0, "Fitting:", 2},
    {"fit", FIT, 0, 0, "fit the points of FILEs: CSV of marsbench or PICO, or what OSU's benchmarks print",
     0},
    {"machine", 'm', "FILE", 0, "write the keys of marssim to FILE (default: machine.inc)", 0},
    {"select", SELECT, "COLUMN=TEXT", 0,
     "of CSV files only the rows with TEXT in COLUMN; may be given several times", 0},
    {"latency", LATENCY, "TIME", 0, "the network's own latency is known", 0},
    {"rate", RATE, "RATE", 0, "so is the rate of a stream between two nodes", 0},
    {"eager", EAGER, "SIZE", 0, "the eager limit (default: as measured, or 8 KiB)", 0},
    {"adapters", ADAPTERS, "N", 0, "of each node (default: 1)", 0},
    {"knots", KNOTS, "SIZE,...", 0,
     "overheads have these knots beside 0 (default: from the sizes of messages)", 0},
    {"rate-knots", RATE_KNOTS, "SIZE,...", 0,
     "messages have another rate from each of these sizes on (adapter.injection_rate)", 0},
    {"reduce-knots", REDUCE_KNOTS, "SIZE,...", 0,
     "vectors are combined at another rate from each of these sizes on", 0},
    {"system", SYSTEM, "FILE", 0,
     "a configuration of marssim with the network and no jobs: gives latency and rate, and each curve is "
     "simulated in it",
     0},
    {"key", KEY, "KEY=VALUE", 0, "a key for these simulations; may be given several times", 0},
    {"rounds", ROUNDS, "N", 0, "fit again N times by what the simulator takes (default: 2)", 0},
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

static void knots_take(struct bench_list *list, char *text, struct argp_state *state)
{
    char *save = NULL;
    for (char *one = strtok_r(text, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
        double bytes = bytes_take(one, state);
        if (list->count && bytes <= list->at[list->count - 1])
            argp_error(state, "%s: sizes of knots ascend", one);
        *KER_APPEND(list->at, list->count) = bytes;
    }
    if (list->count >= BENCH_KNOTS)
        argp_error(state, "at most %d knots", BENCH_KNOTS - 1);
}

static void select_take(struct settings *s, char *text, struct argp_state *state)
{
    char *value = strchr(text, '=');
    if (!value || value == text) {
        argp_error(state, "--select %s: expected COLUMN=TEXT", text);
        return;
    }
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
    case EAGER:
        return known->eager = bytes_take(argument, state), 0;
    case KNOTS:
        return knots_take(&known->knot, argument, state), 0;
    case RATE_KNOTS:
        return knots_take(&known->rate_knot, argument, state), 0;
    case REDUCE_KNOTS:
        return knots_take(&known->reduce_knot, argument, state), 0;
    case SYSTEM:
        return known->system = argument, 0;
    case ADAPTERS:
        return known->adapters = (uint32_t)number_take(argument, 1, 64, state), 0;
    case ROUNDS:
        return known->rounds = (int)number_take(argument, 0, 20, state), 0;
    case KEY:
        if (!strchr(argument, '='))
            argp_error(state, "--key %s: expected KEY=VALUE", argument);
        return *KER_APPEND(known->keys, known->key_count) = argument, 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void only_take(struct settings *s, const char *text, struct argp_state *state)
{
    int part = 0;
    while (part < BENCH_PARTS && strcmp(text, bench_part_names[part]) != 0)
        part++;
    if (part == BENCH_PARTS)
        argp_error(state, "--only %s: expected messages, overheads, collectives or local", text);
    for (int p = 0; p < BENCH_PARTS && !s->only; p++)
        s->measure.part[p] = false;
    s->only = s->measure.part[part] = true;
}

static error_t parse_measure(int key, char *argument, struct argp_state *state)
{
    struct settings *s = state->input;
    struct bench_settings *m = &s->measure;
    switch (key) {
    case 'o':
        return s->output = argument, 0;
    case 's':
        return m->starts = (uint32_t)number_take(argument, 1, 1000, state), 0;
    case 't':
        return m->seconds = time_take(argument, state) / 1e6, 0;
    case LEAST:
        return m->least = (uint64_t)bytes_take(argument, state), 0;
    case MOST:
        if ((m->most = (uint64_t)bytes_take(argument, state)) > 1 << 30)
            argp_error(state, "--most %s: at most 1 GiB", argument);
        return 0;
    case ONLY:
        return only_take(s, argument, state), 0;
    case ALGORITHM:
        if (!strchr(argument, '=') || strlen(strchr(argument, '=')) > 39)
            argp_error(state, "--algorithm %s: expected COLLECTIVE=NAME", argument);
        return *KER_APPEND(s->algorithm, m->algorithms) = argument, 0;
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
        if (!s->fit && s->files)
            argp_error(state, "%s: files are for --fit", s->file[0]);
        if (s->measure.least > s->measure.most)
            argp_error(state, "--least is more than --most");
        return 0;
    default:
        return parse_measure(key, argument, state) == 0 ? 0 : parse_fit(key, argument, state);
    }
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
        status = status ?: ker_input_read(NULL, s->file[i], &text, &length, error);
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
    bool written = out && bench_machine_write(fit,
                                              s->files > 1 ? "several files"
                                              : s->files   ? s->file[0]
                                                           : s->output,
                                              out);
    if (out)
        written &= fclose(out) == 0;
    return written ? KER_OK : ker_fail(error, KER_BAD_INPUT, "%s: cannot be written", s->machine);
}

/* With no files the points are those just measured. */
static int fit_points(struct settings *s, struct bench_points *points)
{
    static struct ker_error error;
    struct bench_fit fit = {0};
    enum ker_status status = points_read(s, points, &error);
    status = status ?: bench_fit_make(&fit, points, &s->known, &error);
    if (status == KER_OK) {
        bench_fit_report(&fit, stdout);
        status = machine_write(s, &fit, &error);
    }
    if (status != KER_OK)
        fprintf(stderr, "marsbench: error: %s\n", error.text);
    bench_fit_release(&fit);
    return (int)status;
}

/* All tasks; rank 0 has the points and writes them. That they can be written is tried before anything is
 * measured. */
static int measure(struct settings *s, int *argc, char ***argv, struct bench_points *points, bool *first)
{
    int rank, status = 2;
    FILE *out = NULL;
    s->measure.algorithm = s->algorithm;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    *first = rank == 0;
    int open = !*first || (out = fopen(s->output, "w")) != NULL;
    MPI_Bcast(&open, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (open && bench_measure(&s->measure, points))
        status = !*first || bench_points_write(points, out) ? 0 : 2;
    if (out && fclose(out) != 0)
        status = 2;
    if (*first && (!open || (points->count && status)))
        fprintf(stderr, "marsbench: error: %s: cannot be written\n", s->output);
    MPI_Finalize();
    return status;
}

int main(int argc, char **argv)
{
    struct settings s = {.output = "points.csv",
                         .machine = "machine.inc",
                         .measure = {5, 0.01, 1, 4 << 20, {true, true, true, true}},
                         .known = {.rounds = 2, .adapters = 1}};
    static const struct argp argp = {
        OPTIONS, parse, "--fit FILE...",
        "Finds what a machine's processors do for messages: from measured points the overheads by size, the "
        "rates of streams, of combining and of copying, as keys of marssim (docs/marsbench.md).\vA FILE of "
        "OSU's benchmarks says what is not in it: FILE@nodes=16,ranks_per_node=1,algorithm=ring.\n\nExit "
        "status: 0 done, 2 bad options, or a file that cannot be read, fitted or written."};
    argp_program_version = "marsbench of marssim " MARSSIM_VERSION;
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &s) != 0)
        return 2;
    struct bench_points points = {0};
    bool first = true;
    int status = s.fit && s.files ? 0 : measure(&s, &argc, &argv, &points, &first);
    if (status == 0 && s.fit && first)
        status = fit_points(&s, &points);
    bench_points_release(&points);
    KER_FREE(s.select, s.algorithm, s.file, s.known.knot.at, s.known.rate_knot.at, s.known.reduce_knot.at,
             s.known.keys);
    return status;
}
