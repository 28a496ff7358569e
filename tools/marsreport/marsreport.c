/* marsreport.c - the command line: one page of a result folder, or of several side by side. */
#define _GNU_SOURCE
#include "tools/marsreport/report.h"

#include <argp.h>
#include <stdlib.h>

struct settings {
    const char *out, **path;
    size_t paths;
    ker_time from, to;
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
        return time_take(state, "from", argument, &settings->from);
    case KEY_TO:
        return time_take(state, "to", argument, &settings->to);
    case ARGP_KEY_END:
        if (settings->from > settings->to)
            argp_error(state, "--from lies behind --to");
        return 0;
    case ARGP_KEY_ARG:
        *KER_APPEND(settings->path, settings->paths) = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no result folder given; for example: marsreport results/fat-tree-lammps");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static enum ker_status run_add(const struct settings *s, const char *path, json_t *runs, bool *damaged,
                               struct ker_error *error)
{
    struct rep_folder folder = {.from = s->from, .to = s->to};
    enum ker_status status = rep_folder_open(&folder, path, error);
    if (status == KER_OK) {
        json_t *one = rep_folder_data(&folder);
        if (s->paths > 1)
            json_object_set_new(one, "path", json_string(path)); /* where names are the same */
        json_array_append_new(runs, one);
    }
    *damaged |= folder.damaged;
    rep_folder_close(&folder);
    return status;
}

static enum ker_status run(const struct settings *s, bool *damaged, struct ker_error *error)
{
    json_t *runs = json_array(), *data = json_pack("{s:o}", "runs", runs);
    enum ker_status status = KER_OK;
    for (size_t i = 0; i < s->paths && status == KER_OK; i++)
        status = run_add(s, s->path[i], runs, damaged, error);
    char *path = s->out ? ker_format("%s", s->out) : ker_format("%s/report.html", s->path[0]);
    if (status == KER_OK)
        status = rep_page_write(path, data, error);
    if (status == KER_OK)
        printf("%s\n", path);
    json_decref(data);
    free(path);
    return status;
}

int main(int argc, char **argv)
{
    struct settings settings = {.to = KER_TIME_MAX};
    struct ker_error error = {.status = KER_OK};
    bool damaged = false;
    static const struct argp argp = {
        OPTIONS,
        parse,
        "DIR...",
        "Writes one page, for any browser and without a server, of what a run of marssim has left in DIR; of "
        "several runs side by side, with their differences from the first.\vExit status: 0 done, 1 written, "
        "but something in the folder could not be "
        "read, 2 not written.",
        0,
        NULL,
        0};
    argp_program_version = "marsreport of marssim " MARSSIM_VERSION;
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &settings) != 0)
        return 2;
    int status = run(&settings, &damaged, &error) == KER_OK ? damaged : 2;
    if (error.status != KER_OK)
        fprintf(stderr, "marsreport: error: %s\n", error.text);
    free(settings.path);
    return status;
}
