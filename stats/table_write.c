/* table_write.c - a table as CSV, as JSON, and its columns for people.
 *
 * Every number is an integer or a quotient of integers rounded in integers, so files are the same bytes on
 * any number of ranks. JSON: {"columns": [{name, unit, type, meaning}], "rows": [[...]]}, a row a line; a
 * cell that is empty in CSV is null.
 */
#include "stats/columns.h"
#include "stats/file.h"
#include "stats/hdf5.h"
#include "stats/lines.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>

#define SHORT 64 /* bytes of most texts */

static const char *const type_names[] = {
    [STATS_U8] = "integer",          [STATS_U16] = "integer",    [STATS_U32] = "integer",
    [STATS_U64] = "integer",         [STATS_TIME] = "time",      [STATS_TEXT] = "text",
    [STATS_SHARE] = "quotient",      [STATS_RATIO] = "quotient", [STATS_MEAN] = "mean",
    [STATS_DEVIATION] = "deviation",
};

static const char *const merge_names[] = {[STATS_SAME] = "same", [STATS_SUM] = "sum", [STATS_MOST] = "most"};

/* Quoted, as JSON has it; what is not UTF-8 becomes null. */
static void text_json(struct stats_lines *out, const char *text)
{
    json_t *string = json_string(text);
    char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    stats_lines_text(out, quoted ? quoted : "null");
    free(quoted);
    json_decref(string);
}

/* A cell that is a number, at `at`; nothing where it is empty. */
static inline char *number_put(char *at, const struct stats_table *t, const char *row,
                               const struct table_place *place)
{
    uint64_t value = table_cell_word(row, place);
    if (__builtin_expect(place->type <= STATS_U64, 1))
        return stats_put_u64(at, value);
    switch (place->type) {
    case STATS_SHARE:
        return t->divisor ? stats_put_ratio(at, value, t->divisor) : at;
    case STATS_RATIO:
    case STATS_MEAN: {
        stats_cell by = table_cell_get(row, &t->place[place->by]);
        if (place->type == STATS_RATIO)
            return by ? stats_put_ratio(at, value, (uint64_t)by) : at;
        return by ? stats_put_u64(at, (uint64_t)((table_cell_get(row, place) * 2 + by) / (by * 2))) : at;
    }
    case STATS_DEVIATION: {
        uint64_t count = (uint64_t)table_cell_get(row, &t->place[place->by]);
        stats_cell sum = table_cell_get(row, &t->place[place->of]);
        return count ? stats_put_u64(at,
                                     (uint64_t)round(stats_deviation(sum, table_cell_get(row, place), count)))
                     : at;
    }
    default: /* STATS_TIME */
        return value == (uint64_t)KER_TIME_MAX ? at : stats_put_u64(at, value);
    }
}

static const char *cell_text(const struct stats_table *t, const char *row, const struct table_place *place)
{
    return place->column->text(t->context, (uint32_t)table_cell_word(row, place));
}

/* Mostly texts are short and plain. Behind it there is as much room as before. */
static char *text_put(struct stats_lines *out, char *at, const char *text, bool json)
{
    for (size_t i = 0; !json && i < SHORT; i++) {
        if (!text[i])
            return at + i;
        if (text[i] <= ',' && strchr(",\"\r\n", text[i]))
            break;
        at[i] = text[i];
    }
    stats_lines_end(out, at);
    (json ? text_json : stats_lines_quoted)(out, text);
    return stats_lines_at(out);
}

/* A row's text from a column on. Numbers of all columns that follow each other have room. */
static inline __attribute__((always_inline)) char *cells_put(const struct stats_table *t, const char *row,
                                                             size_t first, size_t behind, char *at,
                                                             struct stats_lines *out, bool json)
{
    for (const struct table_place *place = t->place + first; place < t->place + behind; place++) {
        const char *begin = at;
        if (__builtin_expect(place->type == STATS_TEXT, 0)) {
            at = text_put(out, at, cell_text(t, row, place), json);
            stats_lines_end(out, at);
            at = stats_lines_at(out);
        } else {
            at = number_put(at, t, row, place);
            if (json && at == begin)
                at = stpcpy(at, "null");
        }
        *at++ = ',';
    }
    return at;
}

/* Of series they are a time and two ids. */
static inline bool cells_same(const char *a, const char *b, size_t bytes)
{
    return bytes == 16 ? memcmp(a, b, 16) == 0 : memcmp(a, b, bytes) == 0;
}

/* CSV: the text of the first cells, which are mostly those of the row before, is kept. */
static char *prefix_put(const struct stats_table *t, const char *row, char *at, struct stats_lines *out)
{
    const char *cells = row + sizeof(uint64_t);
    if (out->last.length && cells_same(cells, out->last.cells, t->prefix))
        return (char *)memcpy(at, out->last.text, sizeof out->last.text) + out->last.length;
    uint64_t flushes = out->flushes;
    char *end = cells_put(t, row, 0, t->prefix_columns, at, out, false);
    bool whole = out->flushes == flushes && end - at <= STATS_LINES_PREFIX_TEXT;
    out->last.length = whole ? (size_t)(end - at) : 0;
    if (out->last.length) /* as above, all that there is room for: a length that the compiler knows */
        memcpy(out->last.text, at, sizeof out->last.text);
    memcpy(out->last.cells, cells, t->prefix);
    return end;
}

static void row_write(const struct stats_table *t, size_t number, struct stats_lines *out, bool json,
                      char end)
{
    const char *row = t->row + number * t->row_bytes;
    char *at = stats_lines_at(out);
    if (json)
        at = cells_put(t, row, 0, t->columns, at, out, true);
    else if (t->prefix && t->prefix <= STATS_LINES_PREFIX)
        at = cells_put(t, row, t->prefix_columns, t->columns, prefix_put(t, row, at, out), out, false);
    else
        at = cells_put(t, row, 0, t->columns, at, out, false);
    at[-1] = end;
    stats_lines_end(out, at);
}

json_t *stats_table_row_json(const struct stats_table *t, size_t row)
{
    json_t *object = json_object();
    for (size_t i = 0; i < t->columns; i++) {
        const struct table_place *place = &t->place[i];
        char text[STATS_MOST_DIGITS + 1];
        bool further = t->extended && i + 1 == t->columns;
        if (place->column->merge == STATS_SAME || place->column->type == STATS_TEXT || further)
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

void stats_table_row_csv(const struct stats_table *t, size_t row, struct stats_lines *out)
{
    row_write(t, row, out, false, '\n');
}

struct stats_writer {
    struct stats_file file;
    struct stats_lines lines;
    char *name;
    const char *key; /* NULL: whatever its size, it is written */
    bool json;
    struct stats_growth *growth;
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
    w->growth = folder->growth;
    t = stats_growth_head(w->growth, t);
    if (stats_file_open(&w->file, folder->path, w->name, error) != KER_OK) {
        free(w->name);
        free(w);
        return NULL;
    }
    w->group = folder->hdf5 ? stats_hdf5_add(folder->hdf5, t) : NULL;
    (w->json ? head_json : stats_table_head_csv)(t, w->file.stream);
    stats_lines_init(&w->lines, w->file.stream);
    return w;
}

/* Looked at now and then: asking a stream where it is is not free. */
static void size_look(struct stats_writer *w)
{
    if (w->rows % 1024)
        return;
    stats_lines_flush(&w->lines);
    stats_file_look(&w->file);
    off_t bytes = w->key ? ftello(w->file.stream) : 0;
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
    t = stats_growth_row(w->growth, t, &row);
    if (w->group)
        stats_hdf5_row(w->group, t, row);
    if (!w->bytes) {
        if (w->json)
            stats_lines_text(&w->lines, w->rows ? ",\n[" : "\n[");
        row_write(t, row, &w->lines, w->json, w->json ? ']' : '\n');
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
            stats_lines_text(&w->lines, "\n]}\n");
        stats_lines_flush(&w->lines);
        status = stats_file_commit(&w->file, error);
    }
    stats_lines_release(&w->lines);
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

static void row_put(void *writer, const struct stats_table *table, size_t row)
{
    stats_writer_row(writer, table, row);
}

enum ker_status stats_table_show_file(struct stats_table *table, struct ker_comm *comm,
                                      const struct stats_folder *folder, const char *key,
                                      struct ker_error *error)
{
    bool control = ker_comm_rank(comm) == 0;
    struct stats_writer *writer = control ? stats_writer_open(table, folder, key, error) : NULL;
    stats_table_show(table, comm, &(struct stats_visitor){row_put, writer});
    enum ker_status status = stats_writer_close(writer, error);
    return control && !writer ? KER_RUN_FAILED : status;
}
