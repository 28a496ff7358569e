/* show.c - the table as text and as CSV, all runs as CSV, all figures there are. */
#include "tools/marssweep/sweep.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* A row's place by each key: a number's value, of other values which of them came up first. */
struct place {
    size_t group, keys;
    const double *at;
};

static int place_compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    for (size_t k = 0; k < x->keys; k++)
        if (x->at[k] != y->at[k])
            return x->at[k] < y->at[k] ? -1 : 1;
    return x->group < y->group ? -1 : x->group > y->group;
}

static void key_places(const struct sweep *s, const struct sweep_table *t, size_t key, double *at)
{
    const char **word = NULL, *own;
    size_t words = 0, numbers = 0;
    for (size_t i = 0; i < t->rows; i++) {
        char *end = NULL;
        own = sweep_group_word(s, s->group[t->group[i]], t->key[key]);
        at[i * t->keys + key] = own ? strtod(own, &end) : 0;
        numbers += own && end != own && !*end;
    }
    for (size_t i = 0; i < t->rows && numbers < t->rows; i++) {
        size_t w = 0;
        own = sweep_group_word(s, s->group[t->group[i]], t->key[key]);
        while (w < words && strcmp(word[w], own ? own : "") != 0)
            w++;
        if (w == words)
            *KER_APPEND(word, words) = own ? own : "";
        at[i * t->keys + key] = (double)w;
    }
    free(word);
}

void sweep_table_sort(const struct sweep *s, struct sweep_table *t)
{
    double *at = ker_alloc((t->rows * t->keys + 1) * sizeof *at);
    struct place *place = ker_alloc((t->rows + 1) * sizeof *place);
    for (size_t k = 0; k < t->keys; k++)
        key_places(s, t, k, at);
    for (size_t i = 0; i < t->rows; i++)
        place[i] = (struct place){t->group[i], t->keys, at + i * t->keys};
    qsort(place, t->rows, sizeof *place, place_compare);
    for (size_t i = 0; i < t->rows; i++)
        t->group[i] = place[i].group;
    free(place);
    free(at);
}

/* Two digits of the interval, and as many places of the mean; of one run four digits. */
static char *value_text(struct sweep_value v, double unit)
{
    double mean = v.mean / unit, half = v.half / unit;
    if (v.count == 0)
        return ker_format("-");
    if (isnan(half) || !(half > fabs(mean) * 1e-9))
        return ker_format(fabs(mean) < 1e4 ? "%.4g%s" : "%.0f%s", mean, isnan(half) ? "" : " ± 0");
    int places = 1 - (int)floor(log10(half));
    places = places < 0 ? 0 : places > 9 ? 9 : places;
    return ker_format("%.*f ± %.*f", places, mean, places, half);
}

/* Characters, not bytes. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

struct grid {
    char **cell;
    size_t cells, columns;
};

static void grid_print(const struct grid *g, FILE *out)
{
    int *width = ker_alloc(g->columns * sizeof *width);
    for (size_t i = 0; i < g->cells; i++) {
        int own = width_of(g->cell[i]);
        width[i % g->columns] = own > width[i % g->columns] ? own : width[i % g->columns];
    }
    for (size_t i = 0; i < g->cells; i++) {
        size_t at = i % g->columns, last = g->columns - 1;
        bool ends = at == last || (at + 1 == last && !*g->cell[i + 1]);
        fprintf(out, "%s%*s", g->cell[i], ends ? 0 : width[at] - width_of(g->cell[i]) + 2, "");
        if (at == last)
            fputc('\n', out);
    }
    free(width);
}

static void cell_add(struct grid *g, char *text)
{
    *KER_APPEND(g->cell, g->cells) = text;
}

void sweep_table_print(const struct sweep *s, const struct sweep_table *t, FILE *out)
{
    struct grid g = {.columns = t->keys + 1 + t->columns + s->saturates};
    for (size_t k = 0; k < t->keys; k++)
        cell_add(&g, ker_format("%s", t->key[k]));
    cell_add(&g, ker_format("runs"));
    for (size_t c = 0; c < t->columns; c++)
        cell_add(&g, ker_format("%s", t->column[c].title));
    if (s->saturates)
        cell_add(&g, ker_format("%s", ""));
    for (size_t i = 0; i < t->rows; i++) {
        const struct sweep_group *group = s->group[t->group[i]];
        size_t runs = 0;
        for (size_t p = 0; p < group->count; p++)
            runs += s->point[group->point[p]]->state == SWEEP_DONE;
        for (size_t k = 0; k < t->keys; k++) {
            const char *word = sweep_group_word(s, group, t->key[k]);
            cell_add(&g, ker_format("%s", word ? word : "-"));
        }
        cell_add(&g, ker_format("%zu", runs));
        for (size_t c = 0; c < t->columns; c++)
            cell_add(&g, value_text(sweep_cell_of(s, t, group, &t->column[c]), t->column[c].unit));
        if (s->saturates)
            cell_add(&g, ker_format("%s", sweep_group_saturated(s, group) ? "saturated" : ""));
    }
    grid_print(&g, out);
    ker_free_all(g.cell, g.cells);
}

/* ---- CSV ---- */

static void number_write(FILE *out, double value)
{
    fputc(',', out);
    if (!isnan(value))
        fprintf(out, "%.15g", value);
}

/* Means and half widths in the figures' own units. */
static void groups_write(const struct sweep *s, const struct sweep_table *t, FILE *out)
{
    for (size_t k = 0; k < t->keys; k++, fputc(',', out))
        sweep_csv_text(out, t->key[k]);
    fputs("runs", out);
    for (size_t c = 0; c < t->columns; c++)
        for (int half = 0; half < 2; half++)
            fprintf(out, ",%s%s%s", t->column[c].figure, t->column[c].relative ? ".relative" : "",
                    half ? ".halfwidth" : "");
    fputs(s->saturates ? ",saturated\n" : "\n", out);
    for (size_t i = 0; i < t->rows; i++) {
        const struct sweep_group *group = s->group[t->group[i]];
        for (size_t k = 0; k < t->keys; k++, fputc(',', out))
            sweep_csv_text(out, sweep_group_word(s, group, t->key[k]));
        fprintf(out, "%zu", group->count);
        for (size_t c = 0; c < t->columns; c++) {
            struct sweep_value v = sweep_cell_of(s, t, group, &t->column[c]);
            number_write(out, v.mean);
            number_write(out, v.half);
        }
        if (s->saturates)
            fprintf(out, ",%d", sweep_group_saturated(s, group));
        fputc('\n', out);
    }
}

static enum ker_status runs_write(const struct sweep *s, const struct sweep_table *t, sqlite3 *db,
                                  struct ker_error *error)
{
    const char **key = sweep_keys_varied(s);
    sqlite3_str *ask = sqlite3_str_new(db);
    sqlite3_str_appendf(ask, "SELECT key");
    for (size_t k = 0; key[k]; k++)
        sqlite3_str_appendf(ask, ", \"%w\"", key[k]);
    for (size_t c = 0; c < t->columns; c++)
        if (!t->column[c].relative)
            sqlite3_str_appendf(ask, ", \"%w\"", t->column[c].figure);
    char *sql = sqlite3_mprintf("%z FROM points", sqlite3_str_finish(ask));
    enum ker_status status = sweep_query_write(s, db, "runs", sql, 15, error);
    sqlite3_free(sql);
    free(key);
    return status;
}

enum ker_status sweep_csv_write(const struct sweep *s, const struct sweep_table *t, sqlite3 *db,
                                struct ker_error *error)
{
    char *path;
    FILE *out = sweep_csv_open(s, "table.csv", &path, error);
    if (out)
        groups_write(s, t, out);
    return sweep_csv_close(out, path, error) == KER_OK ? runs_write(s, t, db, error) : error->status;
}

void sweep_columns_list(const struct sweep *s, FILE *out)
{
    for (size_t i = 0; i < s->points; i++) {
        const struct sweep_figures *f = &s->point[i]->figures;
        if (s->point[i]->state != SWEEP_DONE)
            continue;
        for (size_t n = 0; n < f->count; n++)
            fprintf(out, "%-48s %.6g\n", f->figure[n].name, f->figure[n].value);
        return;
    }
}
