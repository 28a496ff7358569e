/* marsmovie.c - the command line: a film of the links of a machine, period by period. */
#define _GNU_SOURCE
#include "tools/marsreport/film.h"

#include <argp.h>
#include <stdlib.h>

static const struct argp_option OPTIONS[] = {
    {"output", 'o', "FILE", 0,
     "write FILE: .mp4 or .gif, which take ffmpeg; any other name is a folder for frames as PNG (default: "
     "movie.mp4 in DIR, or the folder frames in it where there is no ffmpeg)",
     0},
    {"rate", 'r', "N", 0,
     "frames in a second (default: as many as make the film last about 15 seconds, 2 to 30)", 0},
    {"size", 's', "WxH", 0, "of a frame, in pixels (default: 1280x720)", 0},
    {"dark", 'd', 0, 0, "on a dark ground", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct film_settings *s = state->input;
    char end;
    switch (key) {
    case 'o':
        s->out = argument;
        return 0;
    case 'd':
        s->dark = true;
        return 0;
    case 'r':
        if (sscanf(argument, "%d%c", &s->rate, &end) != 1 || s->rate < 1 || s->rate > 120)
            argp_error(state, "--rate %s: expected 1 to 120 frames in a second", argument);
        return 0;
    case 's':
        if (sscanf(argument, "%dx%d%c", &s->width, &s->height, &end) != 2 || s->width < 160 ||
            s->height < 120 || s->width > 7680 || s->height > 4320)
            argp_error(state, "--size %s: expected 160x120 to 7680x4320", argument);
        return 0;
    case ARGP_KEY_ARG:
        if (s->folder)
            argp_error(state, "%s: one folder is shown", argument);
        s->folder = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no result folder given; for example: marsmovie results/fat-tree-lammps");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    struct film_settings settings = {.width = 1280, .height = 720};
    struct ker_error error = {.status = KER_OK};
    static const struct argp argp = {
        OPTIONS, parse, "DIR",
        "Makes a film of how busy the links of a machine were in each period, from the result folder DIR of "
        "a run of marssim with output.period and output.series.links = \"periods\".\vExit status: 0 done, 1 "
        "done, but something in the folder could not be read, 2 there is no film."};
    argp_program_version = "marsmovie of marssim " MARSSIM_VERSION;
    argp_err_exit_status = 2;
    if (argp_parse(&argp, argc, argv, 0, NULL, &settings) != 0)
        return 2;
    bool damaged = false;
    if (film_make(&settings, &damaged, &error) != KER_OK) {
        fprintf(stderr, "marsmovie: error: %s\n", error.text);
        return 2;
    }
    return damaged;
}
