/* page.c - the page of a folder: all that is shown, as JSON, in place of @data@ in the page that
 * marsreport.mk has put together (embed.S).
 *
 * In the data no `<` is left: in JSON it can only be inside a text, where \u003c means the same. So no
 * text of a result ends the script element or begins a comment, whatever it is. The page itself shows texts
 * as texts, never as HTML (page/base.js).
 */
#define _GNU_SOURCE
#include "tools/marsreport/scene.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

extern const char rep_page[]; /* ends with a zero */

/* ---- tables, as they are or with their rows summed up ---- */

/* {"columns": [names], "rows": [[...]], "left_out": n}, NULL: there is none. */
static json_t *table_json(struct rep_folder *f, const char *name, size_t most_rows)
{
    struct rep_table *t = rep_table_open(f, name);
    if (!t)
        return NULL;
    json_t *columns = json_array(), *rows = json_array();
    size_t left_out = 0;
    for (int i = 0; i < rep_table_columns(t); i++)
        json_array_append_new(columns, json_string(rep_table_name(t, i)));
    while (rep_table_next(t)) {
        if (json_array_size(rows) == most_rows) {
            left_out++;
            continue;
        }
        json_t *row = json_array();
        for (int i = 0; i < rep_table_columns(t); i++)
            json_array_append_new(row, rep_cell_json(t, i));
        json_array_append_new(rows, row);
    }
    rep_table_close(t);
    return json_pack("{s:o, s:o, s:I}", "columns", columns, "rows", rows, "left_out", (json_int_t)left_out);
}

struct series {
    enum rep_joining how;
    double value, weight;
    json_t *values;
};

static void series_add(struct series *s, const struct rep_table *t, int column, double weight)
{
    if (rep_cell_empty(t, column))
        return;
    rep_join(s->how, &s->value, rep_cell_real(t, column), weight);
    s->weight += s->how == REP_JOIN_MEAN ? weight : 1;
}

/* Whole numbers up to 2^53 stay what they are. */
static json_t *number_json(double value)
{
    return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

static void series_close(struct series *s)
{
    json_array_append_new(
        s->values,
        s->weight == 0 ? json_null() : number_json(rep_joins_mean(s->how) ? s->value / s->weight : s->value));
    s->value = s->weight = 0;
}

static bool row_wanted(const struct rep_folder *f, const struct rep_table *t, int time)
{
    int64_t at = rep_cell_integer(t, time);
    return time < 0 || (at >= f->from && at <= f->to);
}

static size_t rows_count(struct rep_folder *f)
{
    struct rep_table *t = rep_table_open(f, "periods");
    size_t rows = 0;
    int time = t ? rep_table_column(t, "time_ps") : -1;
    while (t && rep_table_next(t))
        rows += row_wanted(f, t, time);
    rep_table_close(t);
    return rows;
}

static json_t *series_json(struct series *s, const struct rep_table *t, size_t together)
{
    json_t *object = json_object(), *column = json_object();
    for (int i = 0; i < rep_table_columns(t); i++)
        json_object_set_new(column, rep_table_name(t, i), s[i].values);
    json_object_set_new(object, "column", column);
    json_object_set_new(object, "together", json_integer((json_int_t)together));
    return object;
}

/* {"column": {NAME: [...], ...}, "together"} of periods.csv, periods summed up where there are more than
 * REP_MOST_PERIODS. */
static json_t *periods_json(struct rep_folder *f)
{
    size_t rows = rows_count(f), together = 1, row = 0;
    struct rep_table *t = rows ? rep_table_open(f, "periods") : NULL;
    if (!t || rep_table_need(t, "time_ps") < 0) {
        rep_table_close(t);
        return NULL;
    }
    while ((rows + together - 1) / together > REP_MOST_PERIODS)
        together++;
    int columns = rep_table_columns(t), weight = rep_table_column(t, "packets_measured");
    if (weight < 0) /* older versions */
        weight = rep_table_column(t, "packets_delivered");
    struct series *s = ker_alloc(sizeof *s * (size_t)columns);
    for (int i = 0; i < columns; i++)
        s[i] = (struct series){.how = rep_joining_of(rep_table_name(t, i)), .values = json_array()};
    int time = rep_table_column(t, "time_ps");
    while (row < rows && rep_table_next(t)) {
        if (!row_wanted(f, t, time))
            continue;
        for (int i = 0; i < columns; i++)
            series_add(&s[i], t, i, weight < 0 ? 1 : rep_cell_real(t, weight));
        for (int i = 0; i < columns && ((row + 1) % together == 0 || row + 1 == rows); i++)
            series_close(&s[i]);
        row++;
    }
    if (together > 1)
        rep_note(f, false, "Series: %zu periods each are shown as one.", together);
    json_t *object = series_json(s, t, together);
    free(s);
    rep_table_close(t);
    return object;
}

/* ---- all of it ---- */

/* The last part of the path, "." and slashes at its end aside. */
static json_t *name_of(const char *path)
{
    char *whole = realpath(path, NULL);
    const char *from = whole ? whole : path, *slash = strrchr(from, '/');
    json_t *name = stats_text_json(slash && slash[1] ? slash + 1 : from);
    free(whole);
    return name;
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

/* Of a point of a sweep what marssweep has run: {KEY: VALUE}; NULL: it is none. */
static json_t *words_of(struct rep_folder *f)
{
    size_t length = 0;
    char *text = rep_file_read(f, "point.json", &length);
    json_t *point = text ? json_loadb(text, length, 0, NULL) : NULL;
    json_t *words = json_object_get(point, "words");
    words = json_is_object(words) ? json_incref(words) : NULL;
    json_decref(point);
    free(text);
    return words;
}

/* NULL values are left out. */
static void put(json_t *data, const char *key, json_t *value)
{
    if (value)
        json_object_set_new(data, key, value);
}

/* The tables that panels ask for, each with the most rows of it: "tables: { waits: 4096 }" in their files. */
static void tables_put(struct rep_folder *f, json_t *data)
{
    static const char mark[] = "tables: {";
    for (const char *at = rep_page; (at = strstr(at, mark)) != NULL;) {
        char name[64];
        size_t most;
        int length;
        for (at += strlen(mark); sscanf(at, " %63[a-z_0-9]: %zu%n", name, &most, &length) == 2;) {
            put(data, name, table_json(f, name, most));
            at += length + (at[length] == ',');
        }
    }
}

static uint32_t nodes_of(const struct rep_folder *f)
{
    const json_t *result = json_object_get(f->summary ? f->summary : f->started, "result");
    int64_t nodes = json_integer_value(json_object_get(result, "nodes"));
    return nodes > 0 && nodes <= REP_MOST_IDS ? (uint32_t)nodes : 0;
}

/* What needs the links: the drawing, its movie, how far messages travel. */
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
        put(data, "jobs", rep_jobs_json(f, scene, &links));
        put(data, "carried", rep_carried_json(f, scene, &links));
        put(data, "movie", rep_movie_json(f, &links, scene));
    }
    put(data, "where", rep_where_json(data, &links, scene));
    rep_scene_free(scene);
    rep_links_release(&links);
}

json_t *rep_folder_data(struct rep_folder *f)
{
    json_t *data = json_object();
    put(data, "name", name_of(f->path));
    put(data, "words", words_of(f));
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
    if (json_object_get(json_object_get(f->summary, "result"), "mpi_overheads"))
        put(data, "mpi", json_string("MPI " STATS_MPI_FREE));
    put(data, "config", text_json(f, "system.cfg"));
    put(data, "periods", periods_json(f));
    put(data, "series", rep_objects_json(f));
    tables_put(f, data);
    put(data, "gantt", rep_gantt_json(f));
    links_put(f, data);
    json_object_set(data, "notes", f->notes);
    return data;
}

/* ---- the page ---- */

static int escape(const char *text, size_t length, void *out)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            putc_unlocked(text[i], out);
    return 0;
}

static void page_put(FILE *out, const json_t *data)
{
    static const char mark[] = "@data@";
    const char *at = strstr(rep_page, mark);
    ker_assert(at);
    fwrite(rep_page, 1, (size_t)(at - rep_page), out);
    json_dump_callback(data, escape, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
    fputs(at + strlen(mark), out);
}

/* Under another name until it is whole. */
enum ker_status rep_page_write(const char *path, const json_t *data, struct ker_error *error)
{
    char *part = ker_format("%s.part", path);
    enum ker_status status = KER_OK;
    FILE *out = fopen(part, "wb");
    if (out) {
        page_put(out, data);
        bool failed = ferror(out) != 0;
        failed |= fclose(out) != 0;
        if (failed || rename(part, path) != 0)
            status = ker_fail(error, KER_BAD_INPUT, "%s: cannot be written: %s", path, strerror(errno));
        if (status)
            unlink(part);
    } else {
        status = ker_fail(error, KER_BAD_INPUT, "%s: cannot be written: %s", path, strerror(errno));
    }
    free(part);
    return status;
}

static enum ker_status run_add(const struct rep_request *r, const char *path, json_t *runs, bool *damaged,
                               struct ker_error *error)
{
    struct rep_folder folder = {.from = r->from, .to = r->to};
    enum ker_status status = rep_folder_open(&folder, path, error);
    if (status == KER_OK) {
        json_t *one = rep_folder_data(&folder);
        if (r->paths > 1)
            json_object_set_new(one, "path", json_string(path)); /* where names are the same */
        json_array_append_new(runs, one);
    }
    *damaged |= folder.damaged;
    rep_folder_close(&folder);
    return status;
}

enum ker_status rep_runs_write(const struct rep_request *r, const char *path, bool *damaged,
                               struct ker_error *error)
{
    json_t *runs = json_array(), *data = json_pack("{s:o}", "runs", runs);
    enum ker_status status = KER_OK;
    for (size_t i = 0; i < r->paths && status == KER_OK; i++)
        status = run_add(r, r->path[i], runs, damaged, error);
    status = status ?: rep_page_write(path, data, error);
    json_decref(data);
    return status;
}
