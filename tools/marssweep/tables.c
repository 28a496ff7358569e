/* tables.c - what sweep.tables names of the runs' tables, for the views: a table of the database for each,
 * with the rows of all points, and in front the number of the point, as the view `points` has it.
 *
 * They are made anew each time. Columns come up as points have them; what is a number is one.
 */
#include "tools/marsreport/report.h"
#include "tools/marssweep/sweep.h"

#include <sqlite3.h>
#include <stdlib.h>

/* A statement that inserts a row with these columns, which the table has from then on. */
static sqlite3_stmt *insert_make(sqlite3 *db, const char *name, const struct rep_table *t)
{
    sqlite3_stmt *insert = NULL;
    sqlite3_str *sql = sqlite3_str_new(db), *marks = sqlite3_str_new(db);
    sqlite3_str_appendf(sql, "INSERT INTO \"%w\" (number", name);
    for (int i = 0; i < rep_table_columns(t); i++) {
        char *add =
            sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"%w\" NUMERIC", name, rep_table_name(t, i));
        sqlite3_exec(db, add, NULL, NULL, NULL); /* fails where another point had it */
        sqlite3_free(add);
        sqlite3_str_appendf(sql, ", \"%w\"", rep_table_name(t, i));
        sqlite3_str_appendf(marks, ", ?");
    }
    char *text = sqlite3_mprintf("%z) VALUES (?%z)", sqlite3_str_finish(sql), sqlite3_str_finish(marks));
    sqlite3_prepare_v2(db, text, -1, &insert, NULL);
    sqlite3_free(text);
    return insert;
}

/* Rows of one run. A point without this table has none. */
static bool rows_take(const struct sweep *s, sqlite3 *db, const char *name, const struct sweep_point *p,
                      int number)
{
    struct ker_error *error = ker_alloc(sizeof *error);
    struct rep_folder folder = {0};
    char *path = sweep_folder_of(s, "runs", p->key);
    struct rep_table *t =
        rep_folder_open(&folder, path, error) == KER_OK ? rep_table_open(&folder, name) : NULL;
    sqlite3_stmt *insert = t ? insert_make(db, name, t) : NULL;
    bool taken = insert;
    while (insert && rep_table_next(t)) {
        sqlite3_bind_int(insert, 1, number);
        for (int i = 0; i < rep_table_columns(t); i++)
            if (rep_cell_empty(t, i))
                sqlite3_bind_null(insert, i + 2);
            else
                sqlite3_bind_text(insert, i + 2, rep_cell_text(t, i), -1, SQLITE_TRANSIENT);
        taken &= sqlite3_step(insert) == SQLITE_DONE;
        sqlite3_reset(insert);
    }
    taken = taken || !t;
    sqlite3_finalize(insert);
    rep_table_close(t);
    rep_folder_close(&folder);
    free(path);
    free(error);
    return taken;
}

enum ker_status sweep_tables_store(const struct sweep *s, sqlite3 *db, struct ker_error *error)
{
    static const char *const own[] = {"runs", "columns", "points", "sweep", "slowdown"};
    bool taken = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK;
    for (size_t i = 0; i < s->tables && taken; i++) {
        for (size_t k = 0; k < sizeof own / sizeof *own; k++)
            if (sqlite3_stricmp(s->table[i], own[k]) == 0)
                return ker_fail(error, KER_BAD_INPUT, "sweep.tables: \"%s\" is a table of the sweep itself",
                                own[k]);
        char *sql = sqlite3_mprintf("DROP TABLE IF EXISTS \"%w\"; CREATE TABLE \"%w\" (number INTEGER)",
                                    s->table[i], s->table[i]);
        taken = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
        sqlite3_free(sql);
        for (size_t p = 0, number = 0; p < s->points && taken; p++)
            if (s->point[p]->state == SWEEP_DONE && !s->point[p]->of)
                taken = rows_take(s, db, s->table[i], s->point[p], (int)++number);
    }
    taken = taken && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    return taken ? KER_OK : ker_fail(error, KER_RUN_FAILED, "%s: %s", s->db, sqlite3_errmsg(db));
}
