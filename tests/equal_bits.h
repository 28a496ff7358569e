/* equal_bits.h - compares the results of two runs: the object `result` of summary.json, and every table of
 * numbers. */
#pragma once

#include "kernel/base/base.h"
#include "tests/links_by_job.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Finds the first difference: its path and both values in `where`. */
static bool equal_json(const json_t *a, const json_t *b, const char *path, char where[512])
{
    if (json_is_object(a) && json_is_object(b)) {
        const char *key;
        json_t *value;
        if (json_object_size(a) != json_object_size(b)) {
            snprintf(where, 512, "%s has other keys", path);
            return false;
        }
        json_object_foreach((json_t *)a, key, value)
        {
            char *inner = ker_format("%s.%s", path, key);
            bool equal = equal_json(value, json_object_get(b, key), inner, where);
            free(inner);
            if (!equal)
                return false;
        }
        return true;
    }
    if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        for (size_t i = 0; i < json_array_size(a); i++) {
            char *inner = ker_format("%s[%zu]", path, i);
            bool equal = equal_json(json_array_get(a, i), json_array_get(b, i), inner, where);
            free(inner);
            if (!equal)
                return false;
        }
        return true;
    }
    if (json_equal(a, b))
        return true;
    char *one = json_dumps(a, JSON_ENCODE_ANY | JSON_COMPACT),
         *other = json_dumps(b, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(where, 512, "%s is %.150s, expected %.150s", path, other ? other : "absent",
             one ? one : "absent");
    free(one);
    free(other);
    return false;
}

static bool equal_summaries(const char *expected, const char *folder, char where[512])
{
    char *one = ker_format("%s/summary.json", expected), *other = ker_format("%s/summary.json", folder);
    json_t *a = json_load_file(one, 0, NULL), *b = json_load_file(other, 0, NULL);
    bool equal = equal_json(json_object_get(a, "result"), json_object_get(b, "result"), "result", where);
    json_decref(a);
    json_decref(b);
    free(one);
    free(other);
    return equal;
}

/* Line by line; both may be absent. */
static bool equal_tables(const char *expected, const char *folder, const char *name, char where[512])
{
    char *one = ker_format("%s/%s", expected, name), *other = ker_format("%s/%s", folder, name);
    char *line[2] = {NULL, NULL};
    size_t room[2] = {0, 0};
    FILE *a = fopen(one, "r"), *b = fopen(other, "r");
    bool equal = (a == NULL) == (b == NULL), more = equal && a;
    snprintf(where, 512, "only one run has %s", name);
    for (int number = 1; more; number++) {
        ssize_t got = getline(&line[0], &room[0], a), got_b = getline(&line[1], &room[1], b);
        equal = got == got_b && (got < 0 || memcmp(line[0], line[1], (size_t)got) == 0);
        more = equal && got >= 0;
        if (!equal)
            snprintf(where, 512, "%.80s:%d is\n    %.190s  expected\n    %.190s", name, number,
                     got_b < 0 ? "absent\n" : line[1], got < 0 ? "nothing\n" : line[0]);
    }
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    free(line[0]);
    free(line[1]);
    free(one);
    free(other);
    return equal;
}

/* All that results.h5 holds but attributes, of which the configuration may differ; where h5dump is there. */
static bool equal_hdf5(const char *expected, const char *folder, char where[512])
{
    char *command =
        ker_format("! command -v h5dump >/dev/null || { a=$(h5dump -A 0 '%s/results.h5' | tail -n +2 | "
                   "cksum) && [ \"$a\" = \"$(h5dump -A 0 '%s/results.h5' | tail -n +2 | cksum)\" ]; }",
                   expected, folder);
    bool equal = system(command) == 0;
    if (!equal)
        snprintf(where, 512, "results.h5 differs");
    free(command);
    return equal;
}

/* What a run leaves beside its results, and the parts of a timeline in a folder. */
static int equal_wanted(const struct dirent *entry)
{
    const char *const others[] = {"summary.", "started.", "system.cfg"};
    bool wanted = entry->d_type == DT_REG;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        wanted &= strncmp(entry->d_name, others[i], strlen(others[i])) != 0;
    return wanted;
}

/* Were steps skipped in the run (run.skip)? *may: is it one that may skip some? */
static inline bool steps_skipped(const char *folder, bool *may)
{
    char *path = ker_format("%s/summary.json", folder);
    json_t *summary = json_load_file(path, 0, NULL),
           *skip = json_object_get(json_object_get(summary, "result"), "skip");
    bool skipped = json_is_true(json_object_get(skip, "skipped"));
    *may = skip != NULL;
    json_decref(summary);
    free(path);
    return skipped;
}

/* The object `result`, and all tables, series and timelines; what links carry adds up by jobs, but where sums
 * of skipped steps are estimated. */
static inline bool equal_results(const char *expected, const char *folder, char where[512])
{
    bool may, equal = equal_summaries(expected, folder, where) &&
                      (steps_skipped(folder, &may) || links_by_job_add_up(folder, where));
    const char *folders[] = {expected, folder};
    for (int k = 0; k < 2 && equal; k++) {
        struct dirent **entry = NULL;
        int count = scandir(folders[k], &entry, equal_wanted, alphasort);
        for (int i = 0; i < count; i++) {
            const char *name = entry[i]->d_name;
            bool hdf5 = strcmp(name, "results.h5") == 0;
            if (equal && (!hdf5 || k == 0))
                equal =
                    hdf5 ? equal_hdf5(expected, folder, where) : equal_tables(expected, folder, name, where);
            free(entry[i]);
        }
        free(entry);
    }
    return equal;
}
