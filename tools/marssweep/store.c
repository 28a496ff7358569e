/* store.c - the database: SQLite, a row per run in the table `runs`.
 *
 * Its columns are key, version, configuration, folder and files (as point.json has them), then one for each
 * key that was swept and each figure of the summaries, as they come up; `columns` says which is what. A row
 * is added when its folder is complete, and never changed but for a run of other files: so what is lost of a
 * database is in the folders. A database of a newer format, or of another program, is refused and left as it
 * is.
 */
#include "tools/marssweep/sweep.h"

#include <dirent.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define APPLICATION 0x6d737770 /* "mswp" */
#define FORMAT 1
#define MOST_COLUMNS 1990 /* SQLite's own limit is 2,000 */

struct sweep_store {
    sqlite3 *db;
    char *path;
    char **column; /* of runs, behind the fixed ones */
    bool *swept;   /* a key, not a figure */
    size_t columns, swepts;
    bool full;
};

static enum ker_status store_fail(const struct sweep_store *s, struct ker_error *error)
{
    return ker_fail(error, KER_RUN_FAILED, "%s: %s", s->path, sqlite3_errmsg(s->db));
}

static enum ker_status execute(struct sweep_store *s, const char *sql, struct ker_error *error)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? KER_OK : store_fail(s, error);
}

static int64_t pragma(struct sweep_store *s, const char *sql)
{
    sqlite3_stmt *ask;
    int64_t value = -1;
    if (sqlite3_prepare_v2(s->db, sql, -1, &ask, NULL) == SQLITE_OK && sqlite3_step(ask) == SQLITE_ROW)
        value = sqlite3_column_int64(ask, 0);
    sqlite3_finalize(ask);
    return value;
}

static enum ker_status format_check(struct sweep_store *s, struct ker_error *error)
{
    int64_t tables = pragma(s, "SELECT count(*) FROM sqlite_master"),
            application = pragma(s, "PRAGMA application_id"), format = pragma(s, "PRAGMA user_version");
    if (tables < 0)
        return ker_fail(error, KER_BAD_INPUT, "%s: is no database of SQLite that can be read: %s", s->path,
                        sqlite3_errmsg(s->db));
    if (tables == 0)
        return execute(
            s,
            "BEGIN; PRAGMA application_id = 1836283760; PRAGMA user_version = 1;CREATE TABLE runs (key TEXT "
            "PRIMARY KEY, version TEXT, configuration TEXT, folder TEXT, files TEXT);CREATE TABLE columns "
            "(name TEXT PRIMARY KEY COLLATE NOCASE, kind TEXT); COMMIT",
            error);
    if (application != APPLICATION)
        return ker_fail(error, KER_BAD_INPUT, "%s: is a database of another program; --db names a new one",
                        s->path);
    if (format > FORMAT)
        return ker_fail(
            error, KER_BAD_INPUT,
            "%s: has format %lld, of a newer marssweep; this one knows %d. Nothing was changed: use "
            "that marssweep, or --db with a new name",
            s->path, (long long)format, FORMAT);
    return KER_OK;
}

static void column_note(struct sweep_store *s, const char *name, bool swept)
{
    *KER_APPEND(s->column, s->columns) = ker_format("%s", name);
    *KER_APPEND(s->swept, s->swepts) = swept;
}

static enum ker_status columns_read(struct sweep_store *s, struct ker_error *error)
{
    sqlite3_stmt *ask;
    if (sqlite3_prepare_v2(s->db, "SELECT name, kind FROM columns ORDER BY rowid", -1, &ask, NULL) !=
        SQLITE_OK)
        return store_fail(s, error);
    while (sqlite3_step(ask) == SQLITE_ROW)
        column_note(s, (const char *)sqlite3_column_text(ask, 0),
                    strcmp((const char *)sqlite3_column_text(ask, 1), "key") == 0);
    sqlite3_finalize(ask);
    return KER_OK;
}

enum ker_status sweep_store_open(struct sweep_store **store, const char *path, struct ker_error *error)
{
    struct sweep_store *s = ker_alloc(sizeof *s);
    s->path = ker_format("%s", path);
    enum ker_status status = KER_OK;
    if (sqlite3_open(path, &s->db) != SQLITE_OK)
        status = ker_fail(error, KER_BAD_INPUT, "%s: %s", path, sqlite3_errmsg(s->db));
    sqlite3_busy_timeout(s->db, 10000);
    sqlite3_limit(s->db, SQLITE_LIMIT_VARIABLE_NUMBER, 32766);
    status = status ?: format_check(s, error);
    status = status ?: execute(s, "PRAGMA synchronous = NORMAL", error);
    status = status ?: columns_read(s, error);
    *store = s;
    return status;
}

struct sqlite3 *sweep_store_database(struct sweep_store *s)
{
    return s->db;
}

void sweep_store_close(struct sweep_store *s)
{
    if (!s)
        return;
    ker_free_all(s->column, s->columns);
    free(s->swept);
    sqlite3_close(s->db);
    free(s->path);
    free(s);
}

/* ---- reading ---- */

/* Behind the fixed columns they are in the order in which they were added. */
static void row_figures(const struct sweep_store *s, sqlite3_stmt *row, struct sweep_figures *f)
{
    for (size_t i = 0; i < s->columns; i++)
        if (!s->swept[i] && sqlite3_column_type(row, (int)i + 5) != SQLITE_NULL)
            *KER_APPEND(f->figure, f->count) =
                (struct sweep_figure){ker_format("%s", s->column[i]), sqlite3_column_double(row, (int)i + 5)};
    sweep_figures_sort(f);
}

bool sweep_store_find(struct sweep_store *s, const char *key, struct sweep_figures *figures, json_t **files)
{
    sqlite3_stmt *ask;
    bool found = false;
    if (sqlite3_prepare_v2(s->db, "SELECT * FROM runs WHERE key = ?", -1, &ask, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_text(ask, 1, key, -1, SQLITE_STATIC);
    if ((found = sqlite3_step(ask) == SQLITE_ROW)) {
        const char *text = (const char *)sqlite3_column_text(ask, 4);
        *files = json_loads(text ? text : "{}", 0, NULL);
        row_figures(s, ask, figures);
    }
    sqlite3_finalize(ask);
    return found;
}

/* ---- writing ---- */

/* Its place among the columns; SIZE_MAX: there is no room, or one that differs in capitals only. */
static size_t column_of(struct sweep_store *s, const char *name, bool swept)
{
    for (size_t i = 0; i < s->columns; i++)
        if (sqlite3_stricmp(s->column[i], name) == 0)
            return strcmp(s->column[i], name) == 0 && s->swept[i] == swept ? i : SIZE_MAX;
    if (s->columns >= MOST_COLUMNS) {
        if (!s->full)
            fprintf(stderr,
                    "marssweep: warning: %s: more than %d keys and figures: the others are in the "
                    "folders' summary.json only\n",
                    s->path, MOST_COLUMNS);
        s->full = true;
        return SIZE_MAX;
    }
    char *add = sqlite3_mprintf("ALTER TABLE runs ADD COLUMN \"%w\"; INSERT INTO columns VALUES (%Q, %Q)",
                                name, name, swept ? "key" : "figure");
    bool added = sqlite3_exec(s->db, add, NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_free(add);
    if (!added)
        return SIZE_MAX;
    column_note(s, name, swept);
    return s->columns - 1;
}

/* A statement that is being written: its columns, and their values. */
struct row {
    struct sweep_store *store;
    sqlite3_str *columns, *values;
};

static bool row_column(struct row *r, const char *name, bool swept)
{
    if (column_of(r->store, name, swept) == SIZE_MAX)
        return false;
    sqlite3_str_appendf(r->columns, ", \"%w\"", name);
    return true;
}

/* A value that is a number is one in the database. */
static void word_add(struct row *r, const struct sweep_word *w)
{
    char *end;
    bool number = isfinite(strtod(w->value, &end)) && end != w->value && !*end &&
                  strspn(w->value, "+-.0123456789eE") == strlen(w->value);
    if (row_column(r, w->key, true))
        sqlite3_str_appendf(r->values, number ? ", %s" : ", %Q", w->value);
}

static void figure_add(struct row *r, const struct sweep_figure *f)
{
    bool whole = f->value == floor(f->value) && fabs(f->value) < 9e15;
    if (!isnan(f->value) && row_column(r, f->name, false))
        sqlite3_str_appendf(r->values, whole ? ", %.0f" : ", %!.17g", f->value);
}

static enum ker_status row_write(struct sweep_store *s, const struct sweep_result *result, const char *folder,
                                 struct ker_error *error)
{
    char *files = json_dumps(json_object_get(result->point, "files"), 0);
    struct row r = {s, sqlite3_str_new(s->db), sqlite3_str_new(s->db)};
    sqlite3_str_appendf(r.values, ") VALUES (%Q, %Q, %Q, %Q, %Q", result->key,
                        json_string_value(json_object_get(result->point, "version")),
                        json_string_value(json_object_get(result->point, "configuration")), folder, files);
    for (size_t i = 0; i < result->words.count; i++)
        word_add(&r, &result->words.word[i]);
    for (size_t i = 0; i < result->figures.count; i++)
        figure_add(&r, &result->figures.figure[i]);
    char *sql =
        sqlite3_mprintf("INSERT OR REPLACE INTO runs (key, version, configuration, folder, files%z%z)",
                        sqlite3_str_finish(r.columns), sqlite3_str_finish(r.values));
    enum ker_status status = execute(s, sql, error);
    sqlite3_free(sql);
    free(files);
    return status;
}

/* The first figure that differs; those of "run." do so each time. NULL: none. */
static const char *figures_differ(const struct sweep_store *s, const struct sweep_figures *a,
                                  const struct sweep_figures *b)
{
    for (size_t i = 0; i < s->columns; i++) {
        const char *name = s->column[i];
        double x = sweep_figure_of(a, name), y = sweep_figure_of(b, name);
        if (!s->swept[i] && strncmp(name, "run.", 4) != 0 && !(x == y || (isnan(x) && isnan(y))))
            return name;
    }
    return NULL;
}

static enum ker_status differ_fail(const struct sweep_store *s, const struct sweep_result *result,
                                   const char *folder, const struct sweep_figures *there, const char *name,
                                   struct ker_error *error)
{
    char *words = sweep_words_text(&result->words);
    ker_fail(
        error, KER_RUN_FAILED,
        "point %s: %s has it with other results: %s is %.10g there and %.10g in %s. The row stays as it was; "
        "another program of the same version? --db with another name keeps both",
        words, s->path, name, sweep_figure_of(there, name), sweep_figure_of(&result->figures, name), folder);
    free(words);
    return KER_RUN_FAILED;
}

enum ker_status sweep_store_add(struct sweep_store *s, const struct sweep_result *result, const char *folder,
                                bool replace, struct ker_error *error)
{
    struct sweep_figures there = {NULL, 0};
    json_t *files = NULL;
    const char *name;
    bool found = sweep_store_find(s, result->key, &there, &files);
    enum ker_status status = KER_OK;
    if (found && !replace && (name = figures_differ(s, &there, &result->figures)) != NULL)
        status = differ_fail(s, result, folder, &there, name, error);
    else if (!found || replace)
        status = execute(s, "BEGIN IMMEDIATE", error);
    if (status == KER_OK && (!found || replace)) {
        status = row_write(s, result, folder, error);
        if (status == KER_OK)
            status = execute(s, "COMMIT", error);
        else
            sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    }
    sweep_figures_free(&there);
    json_decref(files);
    return status;
}

/* ---- from the folders ---- */

static int name_compare(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int name_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

enum ker_status sweep_store_collect(struct sweep *s, struct ker_error *error)
{
    struct dirent **entry = NULL;
    char *runs = ker_format("%s/runs", s->dir);
    int count = scandir(runs, &entry, name_visible, name_compare);
    for (int i = 0; i < count; i++) {
        char *folder = ker_format("%s/%s", runs, entry[i]->d_name);
        struct ker_error *own = ker_alloc(sizeof *own);
        struct sweep_result result;
        if (sweep_folder_read(folder, &result)) {
            if (sweep_store_add(s->store, &result, folder, false, own) != KER_OK) {
                fprintf(stderr, "marssweep: error: %s\n", own->text);
                s->differ++;
            }
            sweep_result_free(&result);
        }
        free(own);
        free(folder);
        free(entry[i]);
    }
    free(entry);
    if (count < 0)
        ker_fail(error, KER_BAD_INPUT, "%s: there are no runs to collect", runs);
    free(runs);
    return count < 0 ? KER_BAD_INPUT : KER_OK;
}
