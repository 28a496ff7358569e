/* page.c - the page of the sweep: page.html, in the frame of marsreport's pages.
 *
 * Its data are the rows of the table, each with its words, cells and runs, and of every figure of the
 * summaries the mean and half of the interval in each row, so that any of them can be drawn and compared;
 * one that is the same in all rows is a number. What is beyond MOST_NUMBERS is left out, and a note says so.
 */
#include "tools/marsreport/report.h"
#include "tools/marssweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_NUMBERS 1000000
#define REPORT "report.html"

static json_t *number_json(double value)
{
    if (!isfinite(value))
        return json_null();
    return value == floor(value) && fabs(value) < 9e15 ? json_integer((json_int_t)value) : json_real(value);
}

/* NULL is null. */
static json_t *text_json(const char *text)
{
    json_t *string = text ? json_string(text) : json_null();
    return string ? string : json_string("(no UTF-8)");
}

static json_t *value_json(struct sweep_value v, double unit)
{
    return json_pack("[o, o]", number_json(v.mean / unit), number_json(v.half / unit));
}

/* ---- rows ---- */

static char *report_of(const struct sweep *s, const struct sweep_point *p)
{
    char *folder = sweep_folder_of(s, "runs", p->key), *path = ker_format("%s/" REPORT, folder);
    free(folder);
    return path;
}

/* The runs of a row, and whether each has a page. */
static json_t *runs_json(const struct sweep *s, const struct sweep_group *g)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < g->count; i++) {
        const struct sweep_point *p = s->point[g->point[i]];
        char *report = report_of(s, p);
        if (p->state == SWEEP_DONE)
            json_array_append_new(runs, json_pack("{s:s, s:o, s:b}", "key", p->key, "seed",
                                                  text_json(sweep_word_of(&p->words, SWEEP_SEED)), "page",
                                                  access(report, R_OK) == 0));
        free(report);
    }
    return runs;
}

static json_t *row_json(const struct sweep *s, const struct sweep_table *t, const struct sweep_group *g)
{
    json_t *words = json_array(), *cells = json_array();
    for (size_t k = 0; k < t->keys; k++)
        json_array_append_new(words, text_json(sweep_group_word(s, g, t->key[k])));
    for (size_t c = 0; c < t->columns; c++)
        json_array_append_new(cells, value_json(sweep_cell_of(s, t, g, &t->column[c]), t->column[c].unit));
    return json_pack("{s:o, s:o, s:b, s:o}", "words", words, "cells", cells, "saturated",
                     sweep_group_saturated(s, g), "runs", runs_json(s, g));
}

static json_t *columns_json(const struct sweep_table *t)
{
    json_t *columns = json_array();
    for (size_t c = 0; c < t->columns; c++)
        json_array_append_new(columns,
                              json_pack("{s:o, s:o, s:f, s:b}", "figure", text_json(t->column[c].figure),
                                        "title", text_json(t->column[c].title), "unit", t->column[c].unit,
                                        "relative", t->column[c].relative));
    return columns;
}

/* The words that all points have. */
static json_t *common_json(const struct sweep *s, const struct sweep_table *t)
{
    json_t *common = json_object();
    const struct sweep_words *words = &s->point[s->group[t->group[0]]->point[0]]->words;
    for (size_t i = 0; i < words->count; i++) {
        const char *key = words->word[i].key;
        bool all = strcmp(key, SWEEP_SEED) != 0;
        for (size_t r = 0; r < t->rows && all; r++) {
            const char *own = sweep_group_word(s, s->group[t->group[r]], key);
            all = own && strcmp(own, words->word[i].value) == 0;
        }
        if (all)
            json_object_set_new(common, key, text_json(words->word[i].value));
    }
    return common;
}

/* ---- figures ---- */

/* Those of all runs, sorted; they stay the points'. */
static const char **names_make(const struct sweep *s, size_t *count)
{
    const char **name = NULL;
    size_t all = 0;
    *count = 0;
    for (size_t i = 0; i < s->points; i++)
        for (size_t f = 0;
             s->point[i]->state == SWEEP_DONE && !s->point[i]->of && f < s->point[i]->figures.count; f++)
            *KER_APPEND(name, all) = s->point[i]->figures.figure[f].name;
    if (all)
        qsort(name, all, sizeof *name, ker_order_text);
    for (size_t i = 0; i < all; i++)
        if (*count == 0 || strcmp(name[*count - 1], name[i]) != 0)
            name[(*count)++] = name[i];
    return name;
}

/* {"mean": [...], "half": [...]} by row, or a number. */
static json_t *figure_json(const struct sweep *s, const struct sweep_table *t, const char *name)
{
    json_t *mean = json_array(), *half = json_array();
    struct sweep_value first = {0};
    bool same = true;
    for (size_t r = 0; r < t->rows; r++) {
        struct sweep_value v = sweep_value_of(s, s->group[t->group[r]], name);
        first = r == 0 ? v : first;
        same &= v.mean == first.mean && !(v.half > 0);
        json_array_append_new(mean, number_json(v.mean));
        json_array_append_new(half, number_json(v.half));
    }
    json_t *figure = same ? number_json(first.mean) : json_pack("{s:O, s:O}", "mean", mean, "half", half);
    json_decref(mean);
    json_decref(half);
    return figure;
}

static json_t *figures_json(const struct sweep *s, const struct sweep_table *t, json_t *notes)
{
    json_t *figures = json_object();
    ker_assert(t->rows > 0);
    size_t count, most = MOST_NUMBERS / t->rows;
    const char **name = names_make(s, &count);
    for (size_t i = 0; i < count && i < most; i++)
        json_object_set_new(figures, name[i], figure_json(s, t, name[i]));
    if (count > most) {
        char *note = ker_format("Figures: %zu of %zu are in this page; the database has more.", most, count);
        json_array_append_new(notes, json_string(note));
        free(note);
    }
    free(name);
    return figures;
}

/* ---- the page ---- */

enum ker_status sweep_page_write(const struct sweep *s, const struct sweep_table *t, struct ker_error *error)
{
    json_t *keys = json_array(), *rows = json_array(), *notes = json_array();
    for (size_t k = 0; k < t->keys; k++)
        json_array_append_new(keys, text_json(t->key[k]));
    for (size_t r = 0; r < t->rows; r++)
        json_array_append_new(rows, row_json(s, t, s->group[t->group[r]]));
    json_t *data =
        json_pack("{s:[], s:{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:f, s:o}}", "runs", "sweep", "folder",
                  text_json(s->dir), "configuration", text_json(s->file), "version", MARSSIM_VERSION, "keys",
                  keys, "rows", rows, "columns", columns_json(t), "common", common_json(s, t), "figures",
                  figures_json(s, t, notes), "level", SWEEP_LEVEL, "notes", notes);
    char *path = ker_format("%s/page.html", s->dir);
    enum ker_status status = rep_page_write(path, data, error);
    json_decref(data);
    free(path);
    return status;
}

void sweep_reports_write(const struct sweep *s)
{
    for (size_t i = 0; i < s->points; i++) {
        const struct sweep_point *p = s->point[i];
        char *folder = sweep_folder_of(s, "runs", p->key), *report = report_of(s, p);
        const char *one[] = {folder};
        const struct rep_request request = {.path = one, .paths = 1, .to = KER_TIME_MAX};
        struct ker_error *why = ker_alloc(sizeof *why);
        bool damaged = false; /* which marsreport says itself */
        if (p->state == SWEEP_DONE && access(folder, F_OK) == 0 && access(report, F_OK) != 0 &&
            rep_runs_write(&request, report, &damaged, why) != KER_OK)
            fprintf(stderr, "marssweep: warning: no page: %s\n", why->text);
        free(why);
        free(folder);
        free(report);
    }
}
