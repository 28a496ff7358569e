/* folder.c - one result folder: what it is, what is wrong with it, and all of it for the page. */
#define _GNU_SOURCE
#include "tools/marsreport/scene.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>

FILE *rep_file_open(struct rep_folder *f, const char *name)
{
    char *path = ker_format("%s/%s", f->path, name);
    struct stat is;
    bool found = stat(path, &is) == 0; /* first: to open a pipe may wait for ever, and a device has no end */
    FILE *file = found && S_ISREG(is.st_mode) ? fopen(path, "rb") : NULL;
    if (found && !file)
        rep_note(f, true, "%s: %s; it is left out", name,
                 S_ISREG(is.st_mode) ? strerror(errno) : "is no regular file");
    free(path);
    return file;
}

char *rep_file_read(struct rep_folder *f, const char *name, size_t *length)
{
    char *text = NULL;
    FILE *file = rep_file_open(f, name);
    struct stat is;
    if (file && fstat(fileno(file), &is) == 0) {
        text = ker_alloc((size_t)is.st_size + 1);
        *length = fread(text, 1, (size_t)is.st_size, file);
        text[*length] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

void rep_note(struct rep_folder *f, bool damage, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < json_array_size(f->notes); i++)
        if (strcmp(json_string_value(json_array_get(f->notes, i)), text) == 0)
            return; /* a table may be read more than once */
    json_t *note = json_string(text);
    json_array_append_new(f->notes, note ? note : json_string("a file is no text in UTF-8"));
    if (damage)
        fprintf(stderr, "%s: warning: %s/%s\n", program_invocation_short_name, f->path, text);
    else if (f->tells)
        fprintf(stderr, "%s: note: %s\n", program_invocation_short_name, text);
    f->damaged |= damage;
}

static bool there(const struct rep_folder *f, const char *name)
{
    char *path = ker_format("%s/%s", f->path, name);
    struct stat is;
    bool found = stat(path, &is) == 0;
    free(path);
    return found;
}

/* 1.10 is newer than 1.9. */
static bool newer(const char *version)
{
    return version && strverscmp(version, MARSSIM_VERSION) > 0;
}

static void version_check(struct rep_folder *f, const json_t *root)
{
    const char *version = json_string_value(json_object_get(json_object_get(root, "input"), "version"));
    if (newer(version))
        rep_note(
            f, false,
            "Written by marssim %s, and this page by %s, which is older: what it does not know is not shown.",
            version, MARSSIM_VERSION);
}

/* FOLDER/NAME; NULL: it is not there, or it is damaged, which *error says then. */
static json_t *json_read(struct rep_folder *f, const char *name, struct ker_error *error)
{
    json_error_t why;
    size_t length = 0;
    char *text = rep_file_read(f, name, &length);
    json_t *root = text ? json_loadb(text, length, 0, &why) : NULL;
    if (text && !root)
        ker_fail(error, KER_BAD_INPUT, "%s/%s:%d: %s", f->path, name, why.line, why.text);
    free(text);
    return root;
}

/* Rows of series that belong to a period of which periods.csv has no row may be a part of them: marssim
 * writes periods.csv last. */
static void periods_end(struct rep_folder *f)
{
    struct rep_table *t = rep_table_open(f, "periods");
    int time = t ? rep_table_column(t, "time_ps") : -1;
    ker_time last = 0;
    char text[32];
    while (time >= 0 && rep_table_next(t))
        last = rep_cell_integer(t, time);
    rep_table_close(t);
    if (time < 0)
        return;
    f->to = ker_time_min(f->to, last);
    rep_note(f, false,
             "What is shown ends at %s of simulated time, with the last period that was written whole.",
             ker_print_time(text, last));
}

/* The run has failed, with or without a summary: what was known when it began, and why. */
static json_t *failed_read(struct rep_folder *f)
{
    struct ker_error why = {.status = KER_OK};
    json_t *failed = json_read(f, STATS_FAILED, &why);
    const char *text = json_string_value(json_object_get(failed, "error"));
    if (failed)
        rep_note(f, false, "This run has failed: %s.",
                 text ? text : "it was ended at once by a second signal, or the disk was full");
    return failed;
}

/* Without a summary: a run that was killed, or none of ours. What started.json says stands for it. */
static enum ker_status without_summary(struct rep_folder *f)
{
    struct stat is;
    if (stat(f->path, &is) != 0)
        return ker_fail(f->error, KER_BAD_INPUT, "%s: %s", f->path, strerror(errno));
    if (!S_ISDIR(is.st_mode))
        return ker_fail(f->error, KER_BAD_INPUT, "%s: is no folder; expected a result folder of marssim",
                        f->path);
    json_t *failed = failed_read(f);
    if (!failed && !there(f, "periods.csv") && !there(f, "system.cfg") && !there(f, STATS_STARTED))
        return ker_fail(f->error, KER_BAD_INPUT,
                        "%s: is no result folder of marssim: there is no summary.json, and "
                        "neither system.cfg nor periods.csv of a run that was killed",
                        f->path);
    rep_note(f, false, "Partial: this run %s: there is no summary.json. Shown is what was written by then.",
             failed                         ? "has failed"
             : stats_folder_locked(f->path) ? "is still running"
                                            : "was killed, or runs where nothing can be locked");
    struct ker_error why = {.status = KER_OK};
    f->started = failed ? failed : json_read(f, STATS_STARTED, &why);
    if (why.status != KER_OK)
        rep_note(f, true, "%s", why.text + strlen(f->path) + 1);
    version_check(f, f->started);
    periods_end(f);
    return KER_OK;
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

/* Are the tables those of the summary? What is not there has been removed, and is not shown. */
static enum ker_status tables_check(struct rep_folder *f)
{
    const char *name;
    json_t *want;
    json_object_foreach(json_object_get(f->summary, "tables"), name, want)
    {
        json_t *is = strchr(name, '/') ? NULL : stats_checksum_json(f->path, name);
        bool other = is && !json_equal(is, want);
        json_decref(is);
        if (other)
            return ker_fail(
                f->error, KER_BAD_INPUT,
                "%s: %s is not the one that summary.json is of (its checksum differs): another run "
                "has written into this folder, or the file was changed; simulate it again",
                f->path, name);
    }
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
    version_check(f, f->summary);
    json_decref(failed_read(f));
    enum ker_status status = tables_check(f);
    return status ? status : span_check(f);
}

enum ker_status rep_folder_open(struct rep_folder *f, const char *path, struct ker_error *error)
{
    struct ker_error why = {.status = KER_OK};
    f->path = path;
    f->error = error;
    f->notes = json_array();
    f->summary = json_read(f, "summary.json", &why);
    if (why.status != KER_OK)
        return ker_fail(error, KER_BAD_INPUT, "%s", why.text);
    return f->summary ? summary_check(f) : without_summary(f);
}

void rep_folder_close(struct rep_folder *f)
{
    json_decref(f->summary);
    json_decref(f->started);
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

static uint32_t nodes_of(const struct rep_folder *f)
{
    const json_t *result = json_object_get(f->summary ? f->summary : f->started, "result");
    int64_t nodes = json_integer_value(json_object_get(result, "nodes"));
    return nodes > 0 && nodes <= REP_MOST_IDS ? (uint32_t)nodes : 0;
}

/* What needs the links: the drawing, its movie, how far messages go. */
static void links_put(struct rep_folder *f, json_t *data)
{
    struct rep_links links;
    if (!rep_links_read(f, &links)) {
        put(data, "matrices", rep_matrices_json(f, nodes_of(f)));
        return;
    }
    put(data, "hot", rep_hot_json(f));
    put(data, "matrices", rep_matrices_json(f, links.nodes));
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
    put(data, "started", json_incref(f->started));
    char *bottleneck = f->summary ? stats_bottleneck_text(json_object_get(f->summary, "result")) : NULL;
    if (bottleneck)
        put(data, "bottleneck", json_string(bottleneck));
    free(bottleneck);
    put(data, "config", text_json(f, "system.cfg"));
    put(data, "periods", rep_periods_json(f));
    put(data, "series", rep_objects_json(f));
    put(data, "functions", rep_table_json(f, "functions", 10000));
    put(data, "tasks", rep_table_json(f, "tasks", REP_MOST_TASKS));
    put(data, "driven_entries", rep_table_json(f, "driven_entries", 10000));
    put(data, "driven_cores", rep_table_json(f, "driven_cores", REP_MOST_TASKS));
    put(data, "waits", rep_table_json(f, "waits", REP_MOST_TASKS));
    put(data, "wait_functions", rep_table_json(f, "wait_functions", 10000));
    put(data, "critical_path_steps", rep_table_json(f, "critical_path_steps", REP_MOST_PIECES));
    put(data, "message_rates", rep_table_json(f, "message_rates", 10000));
    put(data, "packet_latency", rep_table_json(f, "packet_latency", 10000));
    put(data, "message_size", rep_table_json(f, "message_size", 10000));
    put(data, "gantt", rep_gantt_json(f));
    links_put(f, data);
    json_object_set(data, "notes", f->notes);
    return data;
}
