/* marsreport.c - the command line: one page of a result folder, or of several side by side. */
#define _GNU_SOURCE
#include "tools/marsreport/report.h"

#include <argp.h>
#include <stdlib.h>

struct settings {
    const char *out;
    struct rep_request request;
};

enum { KEY_FROM = 256, KEY_TO };

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "FILE", 0, "write the page to FILE (default: report.html in DIR)", 0},
    {"from", KEY_FROM, "TIME", 0, "show series and tasks from this simulated time on, like 12.5us", 0},
    {"to", KEY_TO, "TIME", 0, "and up to this one", 0},
    {0}};

static error_t time_take(const struct argp_state *state, const char *option, const char *text, ker_time *time)
{
    const char *why;
    if (ker_parse_time(text, time, &why) != 0)
        argp_error(state, "--%s %s: %s", option, text, why);
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settings *settings = state->input;
    switch (key) {
    case 'o':
        settings->out = argument;
        return 0;
    case KEY_FROM:
        return time_take(state, "from", argument, &settings->request.from);
    case KEY_TO:
        return time_take(state, "to", argument, &settings->request.to);
    case ARGP_KEY_END:
        if (settings->request.from > settings->request.to)
            argp_error(state, "--from lies behind --to");
        return 0;
    case ARGP_KEY_ARG:
        *KER_APPEND(settings->request.path, settings->request.paths) = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no result folder given; for example: marsreport results/fat-tree-lammps");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum ker_status run(const struct settings *s, bool *damaged, struct ker_error *error)
{
    const struct rep_request *r = &s->request;
    char *path = s->out ? ker_format("%s", s->out) : ker_format("%s/report.html", r->path[0]);
    enum ker_status status = rep_runs_write(r, path, damaged, error);
    if (status == KER_OK)
        printf("%s\n", path);
    free(path);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings = {.request = {.to = KER_TIME_MAX}};
    struct ker_error error = {.status = KER_OK};
    bool damaged = false;
    static const struct argp argp = {
        OPTIONS, parse, "DIR...",
        "Writes one page, for any browser and without a server, of what a run of marssim has left in DIR; of "
        "several runs side by side, with their differences from the first.\vExit status: 0 done, 1 written, "
        "but something in the folder could not be read, 2 not written."};
    argp_program_version = "marsreport of marssim " MARSSIM_VERSION;
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &settings) != 0)
        return 2;
    int status = run(&settings, &damaged, &error) == KER_OK ? damaged : 2;
    if (error.status != KER_OK)
        fprintf(stderr, "marsreport: error: %s\n", error.text);
    free(settings.request.path);
    return status;
}
