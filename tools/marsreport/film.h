/* film.h - frames of the drawing that marsreport's page has, and where they go. Inside tools/marsreport/. */
#pragma once

#include "tools/marsreport/scene.h"

struct film_settings {
    const char *folder, *out; /* out: NULL: movie.mp4 or frames in the folder */
    int rate, width, height;  /* rate 0: so that the film lasts about 15 s */
    bool dark;
};
enum ker_status film_make(const struct film_settings *, bool *damaged, struct ker_error *);

/* ---- film_out.c: to frames as files, or to ffmpeg ---- */

struct film_out;
/* NULL with the error. */
struct film_out *film_out_open(const struct film_settings *, int rate, char **path, struct ker_error *);
/* A frame of width x height pixels, each 4 bytes: blue, green, red, unused. */
enum ker_status film_out_frame(struct film_out *, const unsigned char *pixels, int stride,
                               struct ker_error *);
enum ker_status film_out_close(struct film_out *, struct ker_error *);
