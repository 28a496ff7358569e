/* table_write.c - a table as CSV, as JSON, and its columns for people.
 *
 * Every number is an integer or a quotient of integers rounded in integers, so files are the same bytes on
 * any number of ranks. JSON: {"columns": [{name, unit, type, meaning}], "rows": [[...]]}, a row a line; a
 * cell that is empty in CSV is null.
 */
#include "stats/columns.h"
#include "stats/file.h"
#include "stats/hdf5.h"
#include "stats/stats.h"

#include <stdlib.h>

static const char *const type_names[] = {
    [STATS_U8] = "integer",     [STATS_U16] = "integer",    [STATS_U32] = "integer",
    [STATS_U64] = "integer",    [STATS_TIME] = "time",      [STATS_TEXT] = "text",
    [STATS_SHARE] = "quotient", [STATS_RATIO] = "quotient", [STATS_MEAN] = "mean",
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
    if (type == STATS_MEAN || type == STATS_RATIO) {
        stats_cell by = table_cell_get(row, &t->place[place->by]);
        if (type == STATS_RATIO)
            return by ? stats_put_ratio(at, (uint64_t)value, (uint64_t)by) : at;
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
                            !*text ? json_null()
                            : place->column->type == STATS_SHARE || place->column->type == STATS_RATIO
                                ? json_real(strtod(text, NULL))
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

struct stats_writer {
    struct stats_file file;
    char *name;
    const char *key; /* NULL: whatever its size, it is written */
    bool json;
    struct stats_hdf5_table *group; /* NULL: not in results.h5 */
    uint64_t rows, bytes;           /* bytes: where it was given up; 0: it was not */
    uint64_t written;               /* rows by then */
};

static void head_json(const struct stats_table *t, FILE *out)
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
}

struct stats_writer *stats_writer_open(const struct stats_table *t, const struct stats_folder *folder,
                                       const char *key, struct ker_error *error)
{
    struct stats_writer *w = ker_alloc(sizeof *w);
    w->name = ker_format("%s.%s", t->schema->name, folder->json ? "json" : "csv");
    w->key = key;
    w->json = folder->json;
    if (stats_file_open(&w->file, folder->path, w->name, error) != KER_OK) {
        free(w->name);
        free(w);
        return NULL;
    }
    w->group = folder->hdf5 ? stats_hdf5_add(folder->hdf5, t) : NULL;
    (w->json ? head_json : stats_table_head_csv)(t, w->file.stream);
    return w;
}

/* Looked at now and then: asking a stream where it stands is not free. */
static void size_look(struct stats_writer *w)
{
    off_t bytes = w->key && w->rows % 1024 == 0 ? ftello(w->file.stream) : 0;
    if (bytes <= (off_t)STATS_DEFAULT_BYTES)
        return;
    w->bytes = (uint64_t)bytes;
    w->written = w->rows;
    stats_file_drop(&w->file);
}

void stats_writer_row(struct stats_writer *w, const struct stats_table *t, size_t row)
{
    if (!w)
        return;
    if (w->group)
        stats_hdf5_row(w->group, t, row);
    if (!w->bytes) {
        FILE *out = w->file.stream;
        if (w->json)
            fputs(w->rows ? ",\n[" : "\n[", out);
        row_write(t, row, out, w->json, w->json ? ']' : '\n');
        stats_file_look(&w->file);
    }
    w->rows++;
    if (!w->bytes)
        size_look(w);
}

enum ker_status stats_writer_close(struct stats_writer *w, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (!w)
        return status;
    if (w->bytes) {
        char size[32];
        ker_warn("%s is left out%s: it would have %llu rows and about %s; %s = true writes it", w->name,
                 w->group ? " (" STATS_HDF5_NAME " has it)" : "", (unsigned long long)w->rows,
                 ker_print_bytes(size, (double)w->bytes / (double)w->written * (double)w->rows), w->key);
    } else {
        if (w->json)
            fputs("\n]}\n", w->file.stream);
        status = stats_file_commit(&w->file, error);
    }
    free(w->name);
    free(w);
    return status;
}

enum ker_status stats_table_write(const struct stats_table *t, const struct stats_folder *folder,
                                  struct ker_error *error)
{
    struct stats_writer *w = stats_writer_open(t, folder, NULL, error);
    if (!w)
        return KER_RUN_FAILED;
    for (size_t row = 0; row < t->rows; row++)
        stats_writer_row(w, t, row);
    return stats_writer_close(w, error);
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
