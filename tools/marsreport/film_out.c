/* film_out.c - where frames are written: PNG files in a folder, or a pipe into ffmpeg.
 *
 * ffmpeg is started without a shell, so that names may have any characters. It writes the file itself; when
 * it fails, what it says is on standard error.
 */
#define _GNU_SOURCE
#include "tools/marsreport/film.h"

#include <cairo.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct film_out {
    char *path; /* the file, or the folder */
    int width, height, frames;
    FILE *pipe; /* NULL: a folder */
    pid_t ffmpeg;
};

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), wanted = strlen(ending);
    return length >= wanted && strcmp(text + length - wanted, ending) == 0;
}

static bool program_there(const char *name)
{
    const char *path = getenv("PATH");
    char *list = ker_format("%s", path ? path : ""), *rest = list;
    bool found = false;
    for (char *dir; !found && (dir = strsep(&rest, ":")) != NULL;) {
        char *file = ker_format("%s/%s", dir, name);
        found = access(file, X_OK) == 0;
        free(file);
    }
    free(list);
    return found;
}

static void ffmpeg_become(const struct film_out *o, int rate)
{
    char *size = ker_format("%dx%d", o->width, o->height), *fps = ker_format("%d", rate),
         *file = ker_format("file:%s", o->path);
    bool gif = ends_with(o->path, ".gif");
    /* A palette made of the film itself; for mp4 what all players know, which takes even sizes. */
    const char *filter = gif ? "split[a][b];[a]palettegen[p];[b][p]paletteuse"
                             : "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p";
    execlp("ffmpeg", "ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "bgr0", "-s", size,
           "-r", fps, "-i", "-", gif ? "-filter_complex" : "-vf", filter, file, (char *)NULL);
    _exit(127);
}

static enum ker_status ffmpeg_start(struct film_out *o, int rate, struct ker_error *error)
{
    int ends[2];
    if (!program_there("ffmpeg"))
        return ker_fail(
            error, KER_BAD_INPUT,
            "%s: takes ffmpeg, which is not there; a name without .mp4 or .gif is a folder for frames",
            o->path);
    if (pipe2(ends, O_CLOEXEC) != 0 || (o->ffmpeg = fork()) < 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: ffmpeg cannot be started: %s", o->path, strerror(errno));
    if (o->ffmpeg == 0) {
        dup2(ends[0], STDIN_FILENO);
        ffmpeg_become(o, rate);
    }
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    o->pipe = fdopen(ends[1], "wb");
    return KER_OK;
}

/* Of kinds that are not written: a folder of such a name would be taken for a film. */
static bool other_film(const char *path)
{
    static const char *const kinds[] = {".avi",  ".mkv", ".mov", ".webm", ".mpg",
                                        ".mpeg", ".m4v", ".wmv", ".png",  ".apng"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(path, kinds[i]))
            return true;
    return false;
}

struct film_out *film_out_open(const struct film_settings *s, int rate, char **path, struct ker_error *error)
{
    struct film_out *o = ker_alloc(sizeof *o);
    o->width = s->width;
    o->height = s->height;
    o->path = s->out ? ker_format("%s", s->out)
                     : ker_format("%s/%s", s->folder, program_there("ffmpeg") ? "movie.mp4" : "frames");
    *path = ker_format("%s", o->path);
    enum ker_status status = KER_OK;
    if (ends_with(o->path, ".mp4") || ends_with(o->path, ".gif"))
        status = ffmpeg_start(o, rate, error);
    else if (other_film(o->path))
        status = ker_fail(error, KER_BAD_INPUT,
                          "%s: films are .mp4 or .gif; another name is a folder for frames, as PNG", o->path);
    else if (mkdir(o->path, 0777) != 0 && errno != EEXIST)
        status = ker_fail(error, KER_BAD_INPUT, "%s: cannot be made: %s", o->path, strerror(errno));
    if (status == KER_OK)
        return o;
    free(o->path);
    free(o);
    return NULL;
}

static char *frame_name(const struct film_out *o, int number)
{
    return ker_format("%s/frame-%05d.png", o->path, number);
}

/* A longer film that was in this folder leaves nothing behind this one. */
static void frames_after_remove(const struct film_out *o)
{
    bool gone = true;
    for (int number = o->frames; gone; number++) {
        char *file = frame_name(o, number);
        gone = unlink(file) == 0;
        free(file);
    }
}

enum ker_status film_out_frame(struct film_out *o, const unsigned char *pixels, int stride,
                               struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (o->pipe) {
        for (int y = 0; y < o->height; y++)
            fwrite(pixels + (size_t)y * (size_t)stride, 4, (size_t)o->width, o->pipe);
        if (ferror(o->pipe))
            status = ker_fail(error, KER_BAD_INPUT, "%s: ffmpeg takes no more frames", o->path);
        return status;
    }
    char *file = frame_name(o, o->frames++);
    cairo_surface_t *image = cairo_image_surface_create_for_data((unsigned char *)pixels, CAIRO_FORMAT_RGB24,
                                                                 o->width, o->height, stride);
    cairo_status_t written = cairo_surface_write_to_png(image, file);
    if (written != CAIRO_STATUS_SUCCESS)
        status = ker_fail(error, KER_BAD_INPUT, "%s: cannot be written: %s", file,
                          cairo_status_to_string(written));
    cairo_surface_destroy(image);
    free(file);
    return status;
}

enum ker_status film_out_close(struct film_out *o, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    int how = 0;
    if (o->pipe) {
        fclose(o->pipe);
        if (waitpid(o->ffmpeg, &how, 0) < 0 || how != 0)
            status = ker_fail(error, KER_BAD_INPUT, "%s: ffmpeg has not written it", o->path);
    } else {
        frames_after_remove(o);
    }
    free(o->path);
    free(o);
    return status;
}
