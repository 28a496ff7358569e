/* folder.c - a result folder: is it one, how did its run end, and are its tables those of its summary? */
#define _GNU_SOURCE
#include "tools/marsreport/report.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

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
    if (there(f, "page.html") && there(f, "runs"))
        return ker_fail(
            f->error, KER_BAD_INPUT,
            "%s: is the folder of a sweep, whose page marssweep has written: %s/page.html; a result "
            "folder is each of %s/runs/*",
            f->path, f->path, f->path);
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
    return status ?: span_check(f);
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
