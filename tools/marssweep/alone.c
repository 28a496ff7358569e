/* alone.c - what jobs lose to those beside them: each foreground job alone, too, on the nodes that it has in
 * the shared run, and the ratio of the two (slowdown).
 *
 * Alone: the other jobs, and the traffic, keep their nodes and never begin; a job that would wait for one of
 * them (jobs[].after) does not. What is compared: until the job has finished; the iterations of a collective,
 * one by one (collectives.csv); time in each function that waits (wait_functions.csv). A ratio is of runs
 * with the same seed; the table `slowdown` of the database has them all, what is printed the mean over seeds.
 */
#include "tools/marssweep/sweep.h"

#include "tools/marsreport/report.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define NEVER "1000000s"

/* ---- runs ---- */

static void job_word(struct sweep_words *words, const char *job, const char *key, const char *value)
{
    char *whole = ker_format("jobs[%s].%s", job, key);
    sweep_word_set(words, whole, value);
    free(whole);
}

static enum ker_status alone_add(struct sweep *s, size_t number, const struct sweep_jobs *jobs, size_t which,
                                 struct ker_error *error)
{
    struct sweep_words words = {NULL, 0};
    struct sweep_point *point;
    sweep_words_copy(&words, &s->point[number]->words);
    for (size_t i = 0; i < jobs->count; i++) {
        if (*jobs->after[i])
            job_word(&words, jobs->name[i], "after", "[]");
        if (i == which)
            continue;
        if (i < jobs->foreground)
            job_word(&words, jobs->name[i], "background", "true");
        job_word(&words, jobs->name[i], "start", NEVER);
    }
    if (jobs->traffic)
        sweep_word_set(&words, "traffic.start", NEVER);
    unsigned share = s->share_of; /* it belongs to that of the shared run */
    s->share_of = 0;
    enum ker_status status = sweep_point_add(s, &words, &point, error);
    s->share_of = share;
    if (status == KER_OK) {
        point->of = s->point[number];
        point->job = ker_format("%s", jobs->name[which]);
        point->start = jobs->start[which];
        point->after = ker_format("%s", jobs->after[which]);
        point->interval = jobs->interval;
    }
    return status;
}

enum ker_status sweep_alone_begin(struct sweep *s, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (size_t i = 0, points = s->points; i < points && status == KER_OK; i++) {
        struct sweep_jobs jobs = {0};
        status = sweep_jobs_read(s, &s->point[i]->words, &jobs, error);
        if (status == KER_OK && (jobs.foreground == 0 || (jobs.count == 1 && !jobs.traffic)))
            status = ker_fail(error, KER_BAD_INPUT,
                              jobs.foreground
                                  ? "--alone: job %s is alone: there are neither other jobs nor traffic"
                                  : "--alone: there is no job that the run waits for",
                              jobs.foreground ? jobs.name[0] : "");
        for (size_t job = 0; job < jobs.foreground && status == KER_OK; job++)
            status = alone_add(s, i, &jobs, job, error);
        sweep_jobs_free(&jobs);
    }
    return status;
}

/* ---- what is compared ---- */

/* A row of the table `times`: one time of a job, in its run alone or beside the others. */
struct times {
    sqlite3_stmt *insert;
    const char *job;
};

enum { PLACE = 1, POINT, SEED, JOB, WHAT, ITERATION, BESIDE, PS };

static void time_insert(const struct times *t, const char *what, const char *iteration, double ps)
{
    sqlite3_bind_text(t->insert, WHAT, what, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(t->insert, ITERATION, iteration, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int64(t->insert, PS, (int64_t)ps);
    if (!isnan(ps))
        sqlite3_step(t->insert);
    sqlite3_reset(t->insert);
}

/* Rows of a table that are of this job: their text (or size), their number, their time. */
static void table_take(struct rep_folder *f, const char *name, const char *const column[3],
                       const struct times *times)
{
    struct rep_table *t = rep_table_open(f, name);
    int owner = t ? rep_table_column(t, "job") : -1, what = t ? rep_table_column(t, column[0]) : -1,
        number = t && column[1] ? rep_table_column(t, column[1]) : -1,
        value = t ? rep_table_column(t, column[2]) : -1;
    while (owner >= 0 && what >= 0 && value >= 0 && rep_table_next(t)) {
        char text[64], iteration[24] = "";
        if (strcmp(rep_cell_text(t, owner), times->job) != 0)
            continue;
        if (number >= 0) {
            ker_print_bytes(text, rep_cell_real(t, what));
            snprintf(iteration, sizeof iteration, "%lld", (long long)rep_cell_integer(t, number));
        } else
            snprintf(text, sizeof text, "%s", rep_cell_text(t, what));
        time_insert(times, text, iteration, rep_cell_real(t, value));
    }
    rep_table_close(t);
}

/* When a job began in the run of `point`: beside the others at the first check behind the end of those that
 * it waits for. */
static double began_of(const struct sweep_point *alone, const struct sweep_point *point)
{
    double began = (double)alone->start, interval = (double)alone->interval;
    for (const char *name = alone->after; point != alone && *name;) {
        int length = (int)strcspn(name, "\n");
        char *finish = ker_format("jobs[%.*s].finish_ps", length, name);
        double next = (floor(sweep_figure_of(&point->figures, finish) / interval) + 1) * interval;
        began = next > began ? next : began;
        free(finish);
        name += length + 1;
    }
    return began;
}

/* Of a job alone, its times in the run of `point`, which is this one or the shared one. */
static void run_take(const struct sweep *s, const struct sweep_point *alone, const struct sweep_point *point,
                     const struct times *times)
{
    static const char *const iterations[] = {"bytes", "iteration", "own_ps"}, *const functions[] = {
                                                                                  "function", NULL,
                                                                                  "wait_ps"};
    struct ker_error *error = ker_alloc(sizeof *error);
    struct rep_folder folder = {0};
    char *path = sweep_folder_of(s, "runs", point->key),
         *finish = ker_format("jobs[%s].finish_ps", times->job);
    sqlite3_bind_int(times->insert, BESIDE, point != alone);
    time_insert(times, "finished", "", sweep_figure_of(&point->figures, finish) - began_of(alone, point));
    if (rep_folder_open(&folder, path, error) == KER_OK) {
        table_take(&folder, "collectives", iterations, times);
        table_take(&folder, "wait_functions", functions, times);
    }
    rep_folder_close(&folder);
    free(path);
    free(finish);
    free(error);
}

static void point_take(const struct sweep *s, size_t place, sqlite3_stmt *insert)
{
    const struct sweep_point *p = s->point[place];
    const char *seed = sweep_word_of(&p->words, SWEEP_SEED);
    char *text = sweep_words_varied(s, &p->of->words, NULL);
    struct times times = {insert, p->job};
    sqlite3_bind_int64(insert, PLACE, (int64_t)place);
    sqlite3_bind_text(insert, POINT, text, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(insert, SEED, seed ? seed : "", -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(insert, JOB, p->job, -1, SQLITE_TRANSIENT);
    run_take(s, p, p, &times);
    run_take(s, p, p->of, &times);
    free(text);
}

enum ker_status sweep_alone_store(const struct sweep *s, sqlite3 *db, struct ker_error *error)
{
    sqlite3_stmt *insert = NULL;
    bool made = sqlite3_exec(db,
                             "DROP TABLE IF EXISTS slowdown; CREATE TEMP TABLE times (place, point TEXT, "
                             "seed TEXT, job TEXT, what TEXT, iteration TEXT, beside, ps)",
                             NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(db, "INSERT INTO times VALUES (?, ?, ?, ?, ?, ?, ?, ?)", -1, &insert,
                                   NULL) == SQLITE_OK;
    for (size_t i = 0; i < s->points && made; i++)
        if (s->point[i]->of && s->point[i]->state == SWEEP_DONE && s->point[i]->of->state == SWEEP_DONE)
            point_take(s, i, insert);
    sqlite3_finalize(insert);
    made = made && sqlite3_exec(
                       db,
                       "CREATE TABLE slowdown AS SELECT alone.point, alone.seed, alone.job, what, iteration, "
                       "alone.ps AS alone_ps, beside.ps AS beside_ps, 1.0 * beside.ps / alone.ps AS slowdown "
                       "FROM times AS alone JOIN times AS beside USING (place, what, iteration) "
                       "WHERE NOT alone.beside AND beside.beside AND alone.ps > 0 ORDER BY alone.rowid",
                       NULL, NULL, NULL) == SQLITE_OK;
    return made ? KER_OK : ker_fail(error, KER_RUN_FAILED, "%s: %s", s->db, sqlite3_errmsg(db));
}

/* The weights of the 99th percentile are those of its two neighbours. */
enum ker_status sweep_alone_write(const struct sweep *s, sqlite3 *db, FILE *out, struct ker_error *error)
{
    static const char ask[] =
        "WITH ranked AS (SELECT *, rowid AS number, row_number() OVER (PARTITION BY point, job, what "
        "ORDER BY slowdown) - 1 AS rank, 0.99 * (count(*) OVER (PARTITION BY point, job, what) - 1) AS p99 "
        "FROM slowdown) SELECT point, job, what, avg(alone_ps), avg(beside_ps), avg(slowdown), "
        "sum(slowdown * max(0, 1 - abs(p99 - rank))), max(slowdown) FROM ranked GROUP BY point, job, what "
        "ORDER BY min(number)";
    sqlite3_stmt *row;
    char last[4096] = "", a[32], b[32];
    if (sqlite3_prepare_v2(db, ask, -1, &row, NULL) != SQLITE_OK)
        return ker_fail(error, KER_RUN_FAILED, "%s: %s", s->db, sqlite3_errmsg(db));
    fprintf(
        out,
        "\nslowdown (beside / alone)                    alone       beside      mean       p99       max\n");
    while (sqlite3_step(row) == SQLITE_ROW) {
        const char *point = (const char *)sqlite3_column_text(row, 0);
        if (strncmp(point, last, sizeof last - 1) != 0)
            fprintf(out, "%s\n", point);
        snprintf(last, sizeof last, "%s", point);
        fprintf(out, "  %-16s %-20s %12s %12s %9.3f %9.3f %9.3f\n", (const char *)sqlite3_column_text(row, 1),
                (const char *)sqlite3_column_text(row, 2), ker_print_time(a, sqlite3_column_int64(row, 3)),
                ker_print_time(b, sqlite3_column_int64(row, 4)), sqlite3_column_double(row, 5),
                sqlite3_column_double(row, 6), sqlite3_column_double(row, 7));
    }
    sqlite3_finalize(row);
    return sweep_query_write(s, db, "slowdown", "SELECT * FROM slowdown", 6, error);
}
