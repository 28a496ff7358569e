/* table_write.c - a table as CSV, as JSON, and its columns for people.
 *
 * Every number is an integer or a quotient of integers rounded in integers, so files are the same bytes on
 * any number of ranks. JSON: {"columns": [{name, unit, type, meaning}], "rows": [[...]]}, a row a line; a
 * cell that is empty in CSV is null.
 */
#include "stats/columns.h"
#include "stats/file.h"
#include "stats/stats.h"

#include <stdlib.h>

static const char *const type_names[] = {
    [STATS_U8] = "integer", [STATS_U16] = "integer", [STATS_U32] = "integer",    [STATS_U64] = "integer",
    [STATS_TIME] = "time",  [STATS_TEXT] = "text",   [STATS_SHARE] = "quotient", [STATS_MEAN] = "mean",
};

static const char *const merge_names[] = {[STATS_SAME] = "same", [STATS_SUM] = "sum", [STATS_MOST] = "most"};

/* Quoted, as JSON has it; what is not UTF-8 becomes null. */
static void text_json(FILE *out, const char *text)
{
    json_t *string = json_string(text);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    fputs(quoted ? quoted : "null", out);
    free(quoted);
    json_decref(string);
}

/* A cell that is a number, at `at`; nothing where it is empty. */
static char *number_put(char *at, const struct stats_table *t, const char *row,
                        const struct table_place *place)
{
    enum stats_type type = place->column->type;
    stats_cell value = table_cell_get(row, place);
    if (type == STATS_SHARE)
        return stats_put_ratio(at, (uint64_t)value, t->divisor);
    if (type == STATS_MEAN) {
        stats_cell by = table_cell_get(row, &t->place[place->by]);
        return by ? stats_put_u64(at, (uint64_t)((value * 2 + by) / (by * 2))) : at;
    }
    return type == STATS_TIME && value == KER_TIME_MAX ? at : stats_put_u64(at, (uint64_t)value);
}

/* Numbers are gathered in a buffer, since a call of stdio for each costs more than making its digits. */
static void row_write(const struct stats_table *t, size_t number, FILE *out, bool json, char end)
{
    const char *row = t->row + number * t->row_bytes;
    char text[16 * (STATS_MOST_DIGITS + 1)], *at = text;
    for (size_t i = 0; i < t->columns; i++) {
        const struct table_place *place = &t->place[i];
        char *begin = at;
        if (place->column->type == STATS_TEXT) {
            fwrite_unlocked(text, 1, (size_t)(at - text), out);
            at = text;
            (json ? text_json : stats_write_text)(
                out, place->column->text(t->context, (uint32_t)table_cell_get(row, place)));
        } else {
            at = number_put(at, t, row, place);
            if (json && at == begin)
                at = stpcpy(at, "null");
        }
        *at++ = i + 1 < t->columns ? ',' : end;
        if (at > text + sizeof text - STATS_MOST_DIGITS - 1 || i + 1 == t->columns) {
            fwrite_unlocked(text, 1, (size_t)(at - text), out);
            at = text;
        }
    }
}

json_t *stats_table_row_json(const struct stats_table *t, size_t row)
{
    json_t *object = json_object();
    for (size_t i = 0; i < t->columns; i++) {
        const struct table_place *place = &t->place[i];
        char text[STATS_MOST_DIGITS + 1];
        if (place->column->merge == STATS_SAME || place->column->type == STATS_TEXT)
            continue;
        *number_put(text, t, t->row + row * t->row_bytes, place) = '\0';
        json_object_set_new(object, place->column->name,
                            !*text                               ? json_null()
                            : place->column->type == STATS_SHARE ? json_real(strtod(text, NULL))
                                                                 : json_integer(strtoll(text, NULL, 10)));
    }
    return object;
}

void stats_table_head_csv(const struct stats_table *t, FILE *out)
{
    for (size_t i = 0; i < t->columns; i++)
        fprintf(out, "%s%c", t->place[i].column->name, i + 1 < t->columns ? ',' : '\n');
}

void stats_table_row_csv(const struct stats_table *t, size_t row, FILE *out)
{
    row_write(t, row, out, false, '\n');
}

static void write_csv(const struct stats_table *t, FILE *out)
{
    stats_table_head_csv(t, out);
    for (size_t row = 0; row < t->rows; row++)
        stats_table_row_csv(t, row, out);
}

static void write_json(const struct stats_table *t, FILE *out)
{
    json_t *columns = json_array();
    for (size_t i = 0; i < t->columns; i++) {
        const struct stats_column *c = t->place[i].column;
        json_array_append_new(columns, json_pack("{s:s, s:s, s:s, s:s}", "name", c->name, "unit", c->unit,
                                                 "type", type_names[c->type], "meaning", c->meaning));
    }
    char *text = json_dumps(columns, JSON_SORT_KEYS);
    fprintf(out, "{\"columns\": %s,\n\"rows\": [", text);
    free(text);
    json_decref(columns);
    for (size_t row = 0; row < t->rows; row++) {
        fputs(row ? ",\n[" : "\n[", out);
        row_write(t, row, out, true, ']');
    }
    fputs("\n]}\n", out);
}

enum ker_status stats_table_write(const struct stats_table *t, const struct stats_folder *folder,
                                  struct ker_error *error)
{
    struct stats_file file;
    char *name = ker_format("%s.%s", t->schema->name, folder->json ? "json" : "csv");
    enum ker_status status = stats_file_open(&file, folder->path, name, error);
    free(name);
    if (status)
        return status;
    (folder->json ? write_json : write_csv)(t, file.stream);
    return stats_file_commit(&file, error);
}

void stats_tables_help(const struct stats_schema *const *schemas, FILE *out)
{
    for (; *schemas; schemas++) {
        fprintf(out, "%s.csv\n  %s\n", (*schemas)->name, (*schemas)->rows);
        for (size_t i = 0; i < (*schemas)->columns; i++) {
            const struct stats_column *c = &(*schemas)->column[i];
            fprintf(out, "  %-22s  %-12s  %-8s  %-4s  %s\n", c->name, *c->unit ? c->unit : "-",
                    type_names[c->type], merge_names[c->merge], c->meaning);
        }
    }
}
