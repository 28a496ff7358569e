/* table.c - reads tables that marssim has written, as CSV, as JSON or into results.h5, row by row.
 *
 * Of a CSV file one line is held, whose cells become texts in place. A row of another number of cells than
 * the head ends the table: the file is cut off there, or is none of ours; a note names the line. The last
 * line of a file that a killed run leaves may have no newline: it is not taken. Of results.h5 a child makes
 * CSV (hdf5_child.h); what comes from it is looked at as a file is: it may have had its memory overwritten.
 */
#include "tools/marsreport/hdf5_child.h"
#include "tools/marsreport/report.h"

#include "stats/hdf5_load.h"

#include <stdlib.h>
#include <unistd.h>

struct rep_table {
    struct rep_folder *folder;
    char *file;
    char **name; /* of columns */
    int columns;
    size_t line;
    FILE *stream; /* CSV */
    bool hdf5;    /* from a child */
    pid_t child;
    char *text; /* the line */
    size_t room;
    bool whole;
    char **cell;
    json_t *root, *rows, *row; /* JSON */
};

void rep_table_close(struct rep_table *t)
{
    if (!t)
        return;
    ker_free_all(t->name, t->columns);
    json_decref(t->root);
    if (t->hdf5)
        ker_child_end(t->stream, t->child);
    else if (t->stream)
        fclose(t->stream);
    KER_FREE(t->cell, t->text, t->file, t);
}

/* Takes a cell in place: a comma or the end of the line ends it, quotes may enclose it. Is there another one?
 */
static bool cell_take(char **at, char **cell)
{
    char *p = *at, *to = p;
    bool quoted = *p == '"';
    *cell = p;
    for (p += quoted; *p && (quoted || *p != ','); p++) {
        if (quoted && *p == '"' && p[1] != '"') {
            quoted = false;
            continue;
        }
        p += quoted && *p == '"';
        *to++ = *p;
    }
    bool more = *p == ',';
    *at = p + more;
    *to = '\0';
    return more;
}

/* The same where there are no quotes. */
static bool plain_take(char **at, char **cell)
{
    char *comma = strchr(*at, ',');
    *cell = *at;
    if (!comma)
        return false;
    *comma = '\0';
    *at = comma + 1;
    return true;
}

static size_t quotes(const char *text)
{
    size_t count = 0;
    for (; (text = strchr(text, '"')) != NULL; text++)
        count++;
    return count;
}

#define MOST_LINE 65536 /* with quoted ends of lines in it: beyond, a quote has no partner */

/* Reads a line, and more of them while a quoted cell continues; false: there is none. t->whole: it had an
 * end.
 */
static bool line_read(struct rep_table *t)
{
    ssize_t length = getline(&t->text, &t->room, t->stream);
    char *next = NULL;
    size_t room = 0;
    for (t->line++; length > 0 && length < MOST_LINE && quotes(t->text) % 2; t->line++) {
        ssize_t more = getline(&next, &room, t->stream);
        if (more <= 0)
            break;
        char *longer = ker_format("%s%s", t->text, next);
        free(t->text);
        t->text = longer;
        length = (ssize_t)strlen(longer); /* a line with a zero in it is shorter than it was */
        t->room = (size_t)length + 1;
    }
    free(next);
    t->whole = length > 0 && t->text[length - 1] == '\n';
    if (t->whole)
        t->text[--length] = '\0';
    if (length > 0 && t->text[length - 1] == '\r')
        t->text[length - 1] = '\0';
    return length > 0 || t->whole;
}

/* How many cells the line has, those beyond the columns not kept. */
static int cells_take(struct rep_table *t)
{
    bool (*take)(char **, char **) = strchr(t->text, '"') ? cell_take : plain_take, more;
    char *at = t->text, *cell;
    int count = 0;
    do {
        more = take(&at, &cell);
        if (count < t->columns)
            t->cell[count] = cell;
        count++;
    } while (more);
    return count;
}

static bool head_csv(struct rep_table *t)
{
    if (!line_read(t) || !t->whole)
        return false;
    char *at = t->text, *cell;
    bool more;
    do {
        more = cell_take(&at, &cell);
        *KER_APPEND(t->name, t->columns) = ker_format("%s", cell);
    } while (more);
    t->cell = ker_alloc(sizeof *t->cell * (size_t)t->columns);
    return true;
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

/* ---- of results.h5 ---- */

static void damage(struct rep_folder *f, const char *what)
{
    if (!f->hdf5_told)
        rep_note(f, true, STATS_HDF5_NAME ": %s", what);
    f->hdf5_told = true;
}

/* The library has not come to an end by itself. */
static bool child_failed(struct rep_table *t, const char *name, const char *what)
{
    if (!t->folder->hdf5_told)
        rep_note(t->folder, true, STATS_HDF5_NAME ": the HDF5 library fails on /%s: the file is damaged; %s",
                 name, what);
    return false;
}

static bool head_hdf5(struct rep_table *t, const char *name)
{
    struct ker_error error = {.status = KER_OK};
    char *path = ker_format("%s/" STATS_HDF5_NAME, t->folder->path);
    bool there = !t->folder->hdf5_told && access(path, R_OK) == 0;
    t->hdf5 = there && stats_hdf5_load(&error) == KER_OK;
    if (there && !t->hdf5)
        damage(t->folder, error.text);
    t->stream = t->hdf5 ? rep_hdf5_child(path, name, &t->child) : NULL;
    free(path);
    if (!t->hdf5)
        return false;
    int found = t->stream ? fgetc(t->stream) : EOF;
    if (found == REP_HDF5_NO_FILE)
        damage(t->folder, "is no file of HDF5, or was cut; it is left out");
    else if (found == REP_HDF5_FOREIGN)
        rep_note(t->folder, true, STATS_HDF5_NAME ": /%s is no table of marssim; it is left out", name);
    else if (found != REP_HDF5_NO_TABLE && (found != REP_HDF5_TABLE || !head_csv(t)))
        child_failed(t, name, "the table is left out");
    return t->cell != NULL;
}

/* The line behind the last row, or none. */
static bool hdf5_ends(struct rep_table *t)
{
    if (!t->whole)
        child_failed(t, t->file, "the table ends early");
    else if (strncmp(t->text, REP_HDF5_UNREAD, 1) == 0)
        rep_note(t->folder, true, STATS_HDF5_NAME ": /%s cannot be read from row %zu on; it ends there",
                 t->file, t->line - 1);
    else if (strncmp(t->text, REP_HDF5_END, 1) != 0)
        return false;
    return true;
}

static FILE *file_open(struct rep_table *t, const char *name, const char *ending)
{
    free(t->file);
    t->file = ker_format("%s.%s", name, ending);
    return rep_file_open(t->folder, t->file);
}

/* The head of NAME.csv or NAME.json, or of what results.h5 has of this name; *found: there is one. */
static bool table_begin(struct rep_table *t, const char *name, bool *found)
{
    *found = (t->stream = file_open(t, name, "csv")) != NULL;
    if (*found)
        return head_csv(t);
    FILE *json = file_open(t, name, "json");
    json_error_t why = {0};
    if (!json) {
        free(t->file);
        t->file = ker_format("%s", name);
        return head_hdf5(t, name);
    }
    t->root = json_loadf(json, 0, &why);
    fclose(json);
    *found = t->root != NULL;
    if (!t->root)
        rep_note(t->folder, true, "%s:%d: %s", t->file, why.line, why.text);
    return t->root && head_json(t);
}

struct rep_table *rep_table_open(struct rep_folder *folder, const char *name)
{
    struct rep_table *t = ker_alloc(sizeof *t);
    bool found;
    t->folder = folder;
    if (table_begin(t, name, &found))
        return t;
    if (found)
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
    bool any = line_read(t);
    if (t->hdf5 && hdf5_ends(t))
        return false;
    if (!any)
        return false;
    bool right = t->whole && cells_take(t) == t->columns;
    if (!right && (t->whole || t->folder->summary)) /* else the run was killed while it wrote this line */
        rep_note(t->folder, true, "%s:%zu: %s; what follows is left out", t->file, t->line,
                 t->whole ? "another number of cells than the first line has"
                          : "the file ends within this line");
    return right;
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

/* Most cells are short numbers of digits only, and the C library takes its time for them. */
static bool digits_take(const char *text, int64_t *value)
{
    *value = 0;
    for (int i = 0; i < 18; i++) {
        if (!text[i])
            return i > 0;
        if (text[i] < '0' || text[i] > '9')
            return false;
        *value = 10 * *value + (text[i] - '0');
    }
    return false;
}

double rep_cell_real(const struct rep_table *t, int column)
{
    if (column < 0)
        return 0;
    if (t->root)
        return json_number_value(json_array_get(t->row, (size_t)column));
    int64_t digits;
    return digits_take(t->cell[column], &digits) ? (double)digits : strtod(t->cell[column], NULL);
}

int64_t rep_cell_integer(const struct rep_table *t, int column)
{
    if (column < 0)
        return 0;
    int64_t digits;
    if (!t->root)
        return digits_take(t->cell[column], &digits) ? digits : strtoll(t->cell[column], NULL, 10);
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
    bool number = !*end && strspn(text, "+-.0123456789eE") == strlen(text);
    return number ? json_real(real) : stats_text_json(text);
}
