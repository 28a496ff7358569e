/* tables.c - tables that stand in the page as they are, or summed up when there are too many rows. */
#include "tools/marsreport/report.h"

#include <math.h>
#include <stdlib.h>

json_t *rep_table_json(struct rep_folder *f, const char *name, size_t most_rows)
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

json_t *rep_periods_json(struct rep_folder *f)
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
