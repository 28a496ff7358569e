/* views.c - tables that a sweep computes of its own: views of the database, from the files of sweep.sql, each
 * of which is written as VIEW.csv.
 *
 * They see the view `points`: a row for each point of this sweep that has results, in the order of the
 * points, with its number and all that `runs` has of it. The files' views are made anew each time, and stay
 * in the database. A name in double quotes that no column has is an error, not a text.
 */
#include "tools/marssweep/sweep.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static enum ker_status failed(sqlite3 *db, const char *what, struct ker_error *error)
{
    return ker_fail(error, KER_BAD_INPUT, "%s: %s", what, sqlite3_errmsg(db));
}

static enum ker_status execute(sqlite3 *db, const char *sql, const char *what, struct ker_error *error)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? KER_OK : failed(db, what, error);
}

/* SQLite's columns have no case: of loggops.g and loggops.G it has the first. */
static bool key_there(const struct sweep_words *keys, const char *key)
{
    size_t i = 0;
    while (i < keys->count && sqlite3_stricmp(keys->word[i].key, key) != 0)
        i++;
    return i < keys->count;
}

/* All keys of the points, as "words" of this list. */
static void keys_collect(const struct sweep *s, struct sweep_words *keys)
{
    for (size_t i = 0; i < s->points; i++)
        for (size_t w = 0; w < s->point[i]->words.count; w++)
            if (!key_there(keys, s->point[i]->words.word[w].key))
                sweep_word_set(keys, s->point[i]->words.word[w].key, "");
}

/* The tables' definitions: what is a number is one, by the columns' affinity. */
static char *definition(sqlite3 *db, const struct sweep_words *keys)
{
    sqlite3_stmt *ask;
    sqlite3_str *sql = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "BEGIN IMMEDIATE; DROP VIEW IF EXISTS points; DROP TABLE IF EXISTS sweep;"
                             "CREATE TABLE sweep (number INTEGER PRIMARY KEY, key TEXT");
    for (size_t i = 0; i < keys->count; i++)
        sqlite3_str_appendf(sql, ", \"%w\" NUMERIC", keys->word[i].key);
    sqlite3_str_appendf(sql, "); CREATE VIEW points AS SELECT sweep.*");
    sqlite3_prepare_v2(db, "SELECT name FROM columns WHERE kind = 'figure' ORDER BY rowid", -1, &ask, NULL);
    while (sqlite3_step(ask) == SQLITE_ROW) {
        const char *figure = (const char *)sqlite3_column_text(ask, 0);
        if (!sweep_word_of(keys, figure)) /* jobs[NAME].tasks is a figure that may be swept, too */
            sqlite3_str_appendf(sql, ", \"%w\"", figure);
    }
    sqlite3_finalize(ask);
    sqlite3_str_appendf(sql, " FROM sweep JOIN runs USING (key) ORDER BY number");
    return sqlite3_str_finish(sql);
}

static enum ker_status point_insert(const struct sweep *s, sqlite3 *db, const struct sweep_point *p,
                                    const struct sweep_words *keys, struct ker_error *error)
{
    sqlite3_str *row = sqlite3_str_new(db);
    sqlite3_str_appendf(row, "INSERT INTO sweep VALUES (NULL, %Q", p->key);
    for (size_t i = 0; i < keys->count; i++)
        sqlite3_str_appendf(row, ", %Q", sweep_word_of(&p->words, keys->word[i].key));
    char *sql = sqlite3_mprintf("%z)", sqlite3_str_finish(row));
    enum ker_status status = execute(db, sql, s->db, error);
    sqlite3_free(sql);
    return status;
}

enum ker_status sweep_views_begin(const struct sweep *s, sqlite3 *db, struct ker_error *error)
{
    struct sweep_words keys = {NULL, 0};
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
    keys_collect(s, &keys);
    char *sql = definition(db, &keys);
    enum ker_status status = execute(db, sql, s->db, error);
    for (size_t i = 0; i < s->points && status == KER_OK; i++)
        if (s->point[i]->state == SWEEP_DONE && !s->point[i]->of)
            status = point_insert(s, db, s->point[i], &keys, error);
    sqlite3_free(sql);
    sweep_words_free(&keys);
    return status == KER_OK ? execute(db, "COMMIT", s->db, error) : status;
}

/* The names of all views but `points`, in the order in which they were made; NULL at the end, malloc'ed each.
 */
static char **names_of(sqlite3 *db)
{
    sqlite3_stmt *ask;
    char **name = NULL;
    size_t count = 0;
    sqlite3_prepare_v2(
        db, "SELECT name FROM sqlite_master WHERE type = 'view' AND name <> 'points' ORDER BY rowid", -1,
        &ask, NULL);
    while (sqlite3_step(ask) == SQLITE_ROW)
        *KER_APPEND(name, count) = ker_format("%s", (const char *)sqlite3_column_text(ask, 0));
    sqlite3_finalize(ask);
    *KER_APPEND(name, count) = NULL;
    return name;
}

static void names_free(char **name)
{
    for (char **n = name; *n; n++)
        free(*n);
    free(name);
}

static enum ker_status files_execute(const struct sweep *s, sqlite3 *db, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    char **old = names_of(db);
    for (char **name = old; *name && status == KER_OK; name++) {
        char *sql = sqlite3_mprintf("DROP VIEW \"%w\"", *name);
        status = execute(db, sql, s->db, error);
        sqlite3_free(sql);
    }
    names_free(old);
    for (size_t i = 0; i < s->sqls && status == KER_OK; i++) {
        char *text;
        size_t length;
        status = ker_input_read(NULL, s->sql[i], &text, &length, error);
        status = status ?: execute(db, text, s->sql[i], error);
        free(text);
    }
    return status;
}

/* ---- CSV ---- */

void sweep_csv_text(FILE *out, const char *text)
{
    bool quoted = text && strpbrk(text, ",\"\n");
    if (quoted)
        fputc('"', out);
    for (; text && *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    if (quoted)
        fputc('"', out);
}

FILE *sweep_csv_open(const struct sweep *s, const char *name, char **path, struct ker_error *error)
{
    *path = ker_format("%s/%s", s->dir, name);
    FILE *out = fopen(*path, "w");
    if (!out)
        ker_fail(error, KER_RUN_FAILED, "%s: %s", *path, strerror(errno));
    return out;
}

enum ker_status sweep_csv_close(FILE *out, char *path, struct ker_error *error)
{
    bool written = out && !ferror(out);
    if (out && (fclose(out) != 0 || !written))
        ker_fail(error, KER_RUN_FAILED, "%s: cannot be written", path);
    free(path);
    return error->status;
}

static size_t rows_write(FILE *out, sqlite3_stmt *ask, int digits)
{
    size_t rows = 0;
    for (int i = 0; i < sqlite3_column_count(ask); i++) {
        fputs(i ? "," : "", out);
        sweep_csv_text(out, sqlite3_column_name(ask, i));
    }
    for (; sqlite3_step(ask) == SQLITE_ROW; rows++)
        for (int i = 0; i < sqlite3_column_count(ask); i++) {
            fputc(i ? ',' : '\n', out);
            if (sqlite3_column_type(ask, i) == SQLITE_FLOAT)
                fprintf(out, "%.*g", digits, sqlite3_column_double(ask, i));
            else
                sweep_csv_text(out, (const char *)sqlite3_column_text(ask, i));
        }
    fputc('\n', out);
    return rows;
}

enum ker_status sweep_query_write(const struct sweep *s, sqlite3 *db, const char *name, const char *sql,
                                  int digits, struct ker_error *error)
{
    char *path, *file = ker_format("%s.csv", name);
    sqlite3_stmt *ask;
    enum ker_status status = KER_OK;
    if (sqlite3_prepare_v2(db, sql, -1, &ask, NULL) != SQLITE_OK)
        status = failed(db, name, error);
    FILE *out = status == KER_OK ? sweep_csv_open(s, file, &path, error) : NULL;
    if (out) {
        size_t rows = rows_write(out, ask, digits);
        if (!s->quiet)
            printf("%-11s %s: %zu rows\n", name, path, rows);
        status = sweep_csv_close(out, path, error);
    }
    if (status == KER_OK && sqlite3_finalize(ask) != SQLITE_OK)
        status = failed(db, name, error);
    free(file);
    return status;
}

/* Six digits are more than a simulation knows of a machine. */
static enum ker_status view_write(const struct sweep *s, sqlite3 *db, const char *name,
                                  struct ker_error *error)
{
    char *sql = sqlite3_mprintf("SELECT * FROM \"%w\"", name);
    enum ker_status status = sweep_query_write(s, db, name, sql, 6, error);
    sqlite3_free(sql);
    return status;
}

enum ker_status sweep_views_write(const struct sweep *s, sqlite3 *db, struct ker_error *error)
{
    enum ker_status status = files_execute(s, db, error);
    char **name = names_of(db);
    for (char **n = name; *n && status == KER_OK; n++)
        status = view_write(s, db, *n, error);
    names_free(name);
    return status;
}
