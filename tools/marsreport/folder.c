/* folder.c - one result folder: what it is, what is wrong with it, and all of it for the page. */
#define _GNU_SOURCE
#include "tools/marsreport/scene.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

char *rep_file_read(const struct rep_folder *f, const char *name, size_t *length)
{
    char *path = ker_format("%s/%s", f->path, name), *text = NULL;
    FILE *file = fopen(path, "rb");
    struct stat is;
    if (file && fstat(fileno(file), &is) == 0 && S_ISREG(is.st_mode)) {
        text = ker_alloc((size_t)is.st_size + 1);
        *length = fread(text, 1, (size_t)is.st_size, file);
        text[*length] = '\0';
    }
    if (file)
        fclose(file);
    free(path);
    return text;
}

void rep_note(struct rep_folder *f, bool damage, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_t *note = json_string(text);
    json_array_append_new(f->notes, note ? note : json_string("a file is no text in UTF-8"));
    if (damage) {
        fprintf(stderr, "marsreport: warning: %s/%s\n", f->path, text);
        f->damaged = true;
    }
}

static bool there(const struct rep_folder *f, const char *name)
{
    char *path = ker_format("%s/%s", f->path, name);
    struct stat is;
    bool found = stat(path, &is) == 0;
    free(path);
    return found;
}

/* Without a summary: a run that was killed, or none of ours. */
static enum ker_status without_summary(struct rep_folder *f)
{
    struct stat is;
    if (stat(f->path, &is) != 0)
        return ker_fail(f->error, KER_BAD_INPUT, "%s: %s", f->path, strerror(errno));
    if (!S_ISDIR(is.st_mode))
        return ker_fail(f->error, KER_BAD_INPUT, "%s: is no folder; expected a result folder of marssim",
                        f->path);
    if (!there(f, "periods.csv") && !there(f, "system.cfg"))
        return ker_fail(f->error, KER_BAD_INPUT,
                        "%s: is no result folder of marssim: there is no summary.json, and "
                        "neither system.cfg nor periods.csv of a run that was killed",
                        f->path);
    rep_note(f, false,
             "This run has not ended, or it was killed: there is no summary.json. Shown is what was written "
             "by then.");
    return KER_OK;
}

/* 1.10 is newer than 1.9. */
static bool newer(const char *version)
{
    return version && strverscmp(version, MARSSIM_VERSION) > 0;
}

/* A span that was asked for overlaps the run. */
static enum ker_status span_check(struct rep_folder *f)
{
    const json_t *end = json_object_get(json_object_get(f->summary, "result"), "simulated_time_ps");
    char from[32], at[32];
    if (json_is_integer(end) && f->from > json_integer_value(end))
        return ker_fail(f->error, KER_BAD_INPUT, "--from %s: the run in %s ended at %s",
                        ker_print_time(from, f->from), f->path, ker_print_time(at, json_integer_value(end)));
    return KER_OK;
}

static enum ker_status summary_check(struct rep_folder *f)
{
    static const char *const groups[] = {"result", "run", "input"};
    for (int i = 0; i < 3; i++)
        if (!json_is_object(json_object_get(f->summary, groups[i])))
            return ker_fail(f->error, KER_BAD_INPUT,
                            "%s/summary.json: has no object \"%s\"; it is no summary of marssim", f->path,
                            groups[i]);
    const char *version = json_string_value(json_object_get(json_object_get(f->summary, "input"), "version"));
    if (newer(version))
        rep_note(
            f, false,
            "Written by marssim %s, and this page by %s, which is older: what it does not know is not shown.",
            version, MARSSIM_VERSION);
    return span_check(f);
}

enum ker_status rep_folder_open(struct rep_folder *f, const char *path, struct ker_error *error)
{
    json_error_t why;
    size_t length = 0;
    f->path = path;
    f->error = error;
    f->notes = json_array();
    char *text = rep_file_read(f, "summary.json", &length);
    if (!text)
        return without_summary(f);
    f->summary = json_loadb(text, length, 0, &why);
    free(text);
    if (!f->summary)
        return ker_fail(error, KER_BAD_INPUT, "%s/summary.json:%d: %s", path, why.line, why.text);
    return summary_check(f);
}

void rep_folder_close(struct rep_folder *f)
{
    json_decref(f->summary);
    json_decref(f->notes);
}

/* The last part of the path, "." and slashes at its end aside. */
static json_t *name_of(const char *path)
{
    char *whole = realpath(path, NULL);
    const char *from = whole ? whole : path, *slash = strrchr(from, '/');
    json_t *name = json_string(slash && slash[1] ? slash + 1 : from);
    free(whole);
    return name ? name : json_string("(a name that is not UTF-8)");
}

static json_t *text_json(struct rep_folder *f, const char *name)
{
    size_t length = 0;
    char *text = rep_file_read(f, name, &length);
    json_t *string = text ? json_stringn(text, length) : NULL;
    if (text && !string)
        rep_note(f, true, "%s: is no text in UTF-8; it is left out", name);
    free(text);
    return string;
}

/* NULL values are left out. */
static void put(json_t *data, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(data, key, value);
}

/* What needs the links: the drawing, its movie, who talks to whom. */
static void links_put(struct rep_folder *f, json_t *data)
{
    struct rep_links links;
    if (!rep_links_read(f, &links)) {
        put(data, "matrix",
            rep_matrix_json(f, (uint32_t)json_integer_value(
                                   json_object_get(json_object_get(f->summary, "result"), "nodes"))));
        return;
    }
    put(data, "hot", rep_hot_json(f));
    put(data, "matrix", rep_matrix_json(f, links.nodes));
    put(data, "distance", rep_distance_json(f, &links));
    struct rep_scene *scene = rep_scene_make(f, &links);
    if (scene) {
        put(data, "scene", rep_scene_json(scene, &links));
        put(data, "movie", rep_movie_json(f, &links, scene));
    }
    rep_scene_free(scene);
    rep_links_release(&links);
}

json_t *rep_folder_data(struct rep_folder *f)
{
    json_t *data = json_object();
    put(data, "name", name_of(f->path));
    put(data, "partial", f->summary ? NULL : json_true());
    for (int i = 0; i < 3 && f->summary; i++) {
        static const char *const groups[] = {"input", "result", "run"};
        json_object_set(data, groups[i], json_object_get(f->summary, groups[i]));
    }
    char *bottleneck = f->summary ? stats_bottleneck_text(json_object_get(f->summary, "result")) : NULL;
    if (bottleneck)
        put(data, "bottleneck", json_string(bottleneck));
    free(bottleneck);
    put(data, "config", text_json(f, "system.cfg"));
    put(data, "periods", rep_periods_json(f));
    put(data, "functions", rep_table_json(f, "functions", 10000));
    put(data, "tasks", rep_table_json(f, "tasks", REP_MOST_TASKS));
    put(data, "packet_latency", rep_table_json(f, "packet_latency", 10000));
    put(data, "message_size", rep_table_json(f, "message_size", 10000));
    put(data, "gantt", rep_gantt_json(f));
    links_put(f, data);
    json_object_set(data, "notes", f->notes);
    return data;
}
