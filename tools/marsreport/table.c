/* table.c - reads tables that marssim has written, as CSV or as JSON, row by row.
 *
 * A CSV file is read whole, and its cells become texts in place. A row of another number of cells than the
 * head ends the table: the file is cut off there, or is none of ours; a note names the line. The last line of
 * a file that a killed run leaves may have no newline: it is not taken.
 */
#include "tools/marsreport/report.h"

#include <stdlib.h>

struct rep_table {
    struct rep_folder *folder;
    char *file;
    char **name; /* of columns */
    int columns;
    size_t line;
    char *text, *at, *end; /* CSV */
    char **cell;
    json_t *root, *rows, *row; /* JSON */
};

void rep_table_close(struct rep_table *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->columns; i++)
        free(t->name[i]);
    json_decref(t->root);
    free(t->name);
    free(t->cell);
    free(t->text);
    free(t->file);
    free(t);
}

/* Takes a cell in place: `,` or a newline ends it, quotes may enclose it. Returns its text, and what ended
 * it. */
static char *cell_take(char **at, char *end, char *ended)
{
    char *from = *at, *to = from, *p = from;
    bool quoted = p < end && *p == '"';
    for (p += quoted; p < end; p++) {
        if (quoted && *p == '"' && p + 1 < end && p[1] == '"')
            p++;
        else if (quoted && *p == '"') {
            quoted = false;
            continue;
        } else if (!quoted && (*p == ',' || *p == '\n'))
            break;
        *to++ = *p;
    }
    *ended = p < end ? *p : '\0';
    if (to > from && *ended == '\n' && to[-1] == '\r')
        to--;
    *at = p < end ? p + 1 : p;
    *to = '\0';
    return from;
}

/* How many cells a line has, those beyond the columns not kept; -1: it has no end. */
static int line_take(struct rep_table *t)
{
    int count = 0;
    char ended;
    t->line++;
    do {
        char *text = cell_take(&t->at, t->end, &ended);
        if (count < t->columns)
            t->cell[count] = text;
        count++;
    } while (ended == ',');
    return ended == '\n' ? count : -1;
}

static bool head_csv(struct rep_table *t)
{
    char ended;
    t->line++;
    do
        *KER_APPEND(t->name, t->columns) = ker_format("%s", cell_take(&t->at, t->end, &ended));
    while (ended == ',');
    t->cell = ker_alloc(sizeof *t->cell * (size_t)t->columns);
    return ended == '\n';
}

static bool head_json(struct rep_table *t)
{
    json_t *columns = json_object_get(t->root, "columns");
    t->rows = json_object_get(t->root, "rows");
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(columns, i), "name"));
        *KER_APPEND(t->name, t->columns) = ker_format("%s", name ? name : "");
    }
    return t->columns > 0 && json_is_array(t->rows);
}

struct rep_table *rep_table_open(struct rep_folder *folder, const char *name)
{
    struct rep_table *t = ker_alloc(sizeof *t);
    size_t length = 0;
    t->folder = folder;
    t->file = ker_format("%s.csv", name);
    t->text = rep_file_read(folder, t->file, &length);
    if (!t->text) {
        free(t->file);
        t->file = ker_format("%s.json", name);
        t->text = rep_file_read(folder, t->file, &length);
        json_error_t why = {0};
        if (t->text && !(t->root = json_loadb(t->text, length, 0, &why)))
            rep_note(folder, true, "%s:%d: %s", t->file, why.line, why.text);
    }
    t->at = t->text;
    t->end = t->text + length;
    bool json = t->text && strcmp(t->file + strlen(t->file) - 5, ".json") == 0;
    if (t->text && (!json || t->root) && (json ? head_json(t) : head_csv(t)))
        return t;
    if (t->text && (!json || t->root))
        rep_note(folder, true, "%s: has no head with the names of columns; it is left out", t->file);
    rep_table_close(t);
    return NULL;
}

int rep_table_column(const struct rep_table *t, const char *name)
{
    for (int i = 0; i < t->columns; i++)
        if (strcmp(t->name[i], name) == 0)
            return i;
    return -1;
}

int rep_table_need(struct rep_table *t, const char *name)
{
    int column = rep_table_column(t, name);
    if (column < 0)
        rep_note(t->folder, true, "%s: has no column %s; it is left out", t->file, name);
    return column;
}

int rep_table_columns(const struct rep_table *t)
{
    return t->columns;
}

const char *rep_table_name(const struct rep_table *t, int column)
{
    return t->name[column];
}

bool rep_table_next(struct rep_table *t)
{
    if (t->root) {
        t->row = json_array_get(t->rows, t->line);
        if (t->row && json_array_size(t->row) != (size_t)t->columns)
            rep_note(t->folder, true,
                     "%s: row %zu has %zu cells where there are %d columns; it ends there for this page",
                     t->file, t->line + 1, json_array_size(t->row), t->columns);
        t->line++;
        return json_array_size(t->row) == (size_t)t->columns;
    }
    if (t->at >= t->end)
        return false;
    int count = line_take(t);
    if (count != t->columns) {
        if (count < 0 && !t->folder->summary) /* the run was killed while it wrote this line */
            return false;
        rep_note(t->folder, true, "%s:%zu: %s; what follows is left out", t->file, t->line,
                 count < 0 ? "the file ends within this line"
                           : "another number of cells than the first line has");
    }
    return count == t->columns;
}

const char *rep_cell_text(const struct rep_table *t, int column)
{
    if (column < 0)
        return "";
    if (!t->root)
        return t->cell[column];
    const char *text = json_string_value(json_array_get(t->row, (size_t)column));
    return text ? text : "";
}

bool rep_cell_empty(const struct rep_table *t, int column)
{
    return column < 0 || (t->root ? json_is_null(json_array_get(t->row, (size_t)column)) : !*t->cell[column]);
}

double rep_cell_real(const struct rep_table *t, int column)
{
    if (column < 0)
        return 0;
    return t->root ? json_number_value(json_array_get(t->row, (size_t)column))
                   : strtod(t->cell[column], NULL);
}

int64_t rep_cell_integer(const struct rep_table *t, int column)
{
    if (column < 0)
        return 0;
    if (!t->root)
        return strtoll(t->cell[column], NULL, 10);
    return (int64_t)json_integer_value(json_array_get(t->row, (size_t)column));
}

json_t *rep_cell_json(const struct rep_table *t, int column)
{
    char *end;
    if (column < 0)
        return json_null();
    if (t->root)
        return json_incref(json_array_get(t->row, (size_t)column));
    const char *text = t->cell[column];
    if (!*text)
        return json_null();
    long long integer = strtoll(text, &end, 10);
    if (!*end)
        return json_integer(integer);
    double real = strtod(text, &end);
    json_t *value =
        !*end && strspn(text, "+-.0123456789eE") == strlen(text) ? json_real(real) : json_string(text);
    return value ? value : json_string("(no text in UTF-8)");
}
