/* alone.c - what jobs lose to those beside them: each foreground job alone, too, on the nodes that it has in
 * the shared run, and the ratio of the two (slowdown).
 *
 * Alone: the other jobs, and the traffic, keep their nodes and never begin; a job that would wait for one of
 * them (jobs[].after) does not. What is compared: until the job has finished; the iterations of a collective,
 * one by one (collectives.csv); time in each function that waits (wait_functions.csv). A ratio is of runs
 * with the same seed; the table has the mean over seeds.
 */
#include "tools/marssweep/sweep.h"

#include "tools/marsreport/report.h"

#include <errno.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
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
        if (jobs->waits[i])
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

/* One time of a job in both runs. */
struct pair {
    char *what;        /* "finished", "256 KiB", "MPI_Allreduce" */
    int64_t iteration; /* -1: none */
    double alone, beside;
};

struct pairs {
    struct pair *pair;
    size_t count;
};

static void pair_add(struct pairs *p, const char *what, int64_t iteration, bool beside, double value)
{
    for (size_t i = p->count; beside && i > 0; i--)
        if (p->pair[i - 1].iteration == iteration && strcmp(p->pair[i - 1].what, what) == 0) {
            p->pair[i - 1].beside = value;
            return;
        }
    if (!beside)
        *KER_APPEND(p->pair, p->count) = (struct pair){ker_format("%s", what), iteration, value, NAN};
}

/* Rows of a table that are of this job: their text (or size), their number, their time. */
static void table_take(struct rep_folder *f, const char *name, const char *job, const char *const column[3],
                       bool beside, struct pairs *p)
{
    struct rep_table *t = rep_table_open(f, name);
    int owner = t ? rep_table_column(t, "job") : -1, what = t ? rep_table_column(t, column[0]) : -1,
        number = t && column[1] ? rep_table_column(t, column[1]) : -1,
        value = t ? rep_table_column(t, column[2]) : -1;
    while (owner >= 0 && what >= 0 && value >= 0 && rep_table_next(t)) {
        char text[64];
        if (strcmp(rep_cell_text(t, owner), job) != 0)
            continue;
        if (number >= 0)
            ker_print_bytes(text, rep_cell_real(t, what));
        else
            snprintf(text, sizeof text, "%s", rep_cell_text(t, what));
        pair_add(p, text, number >= 0 ? rep_cell_integer(t, number) : -1, beside, rep_cell_real(t, value));
    }
    rep_table_close(t);
}

static void run_take(const struct sweep *s, const struct sweep_point *point, const char *job, ker_time start,
                     bool beside, struct pairs *p)
{
    static const char *const iterations[] = {"bytes", "iteration", "own_ps"}, *const functions[] = {
                                                                                  "function", NULL,
                                                                                  "wait_ps"};
    struct ker_error *error = ker_alloc(sizeof *error);
    struct rep_folder folder = {0};
    char *path = sweep_folder_of(s, "runs", point->key), *finish = ker_format("jobs[%s].finish_ps", job);
    pair_add(p, "finished", -1, beside, sweep_figure_of(&point->figures, finish) - (double)start);
    if (rep_folder_open(&folder, path, error) == KER_OK) {
        table_take(&folder, "collectives", job, iterations, beside, p);
        table_take(&folder, "wait_functions", job, functions, beside, p);
    }
    rep_folder_close(&folder);
    free(path);
    free(finish);
    free(error);
}

/* ---- the report ---- */

/* Ratios of one time of a job in a group of points: of all seeds and iterations. */
struct line {
    char *what;
    double *ratio, alone, beside;
    size_t count, ratios;
};

struct lines {
    struct line *line;
    size_t count;
};

static void line_add(struct lines *l, const struct pair *p)
{
    size_t i = 0;
    while (i < l->count && strcmp(l->line[i].what, p->what) != 0)
        i++;
    if (i == l->count)
        *KER_APPEND(l->line, l->count) = (struct line){.what = ker_format("%s", p->what)};
    struct line *line = &l->line[i];
    *KER_APPEND(line->ratio, line->ratios) = p->beside / p->alone;
    line->alone += p->alone;
    line->beside += p->beside;
    line->count++;
}

static void rows_write(FILE *csv, const char *words, const struct sweep_point *p, const struct pairs *pairs,
                       struct lines *lines)
{
    const char *seed = sweep_word_of(&p->words, SWEEP_SEED);
    for (size_t i = 0; i < pairs->count; i++) {
        const struct pair *pair = &pairs->pair[i];
        char number[24] = "";
        if (pair->iteration >= 0)
            snprintf(number, sizeof number, "%lld", (long long)pair->iteration);
        if (!(pair->alone > 0) || isnan(pair->beside))
            continue;
        fprintf(csv, "\"%s\",%s,%s,%s,%s,%.0f,%.0f,%.6f\n", words, seed ? seed : "", p->job, pair->what,
                number, pair->alone, pair->beside, pair->beside / pair->alone);
        line_add(lines, pair);
    }
}

static void lines_print(FILE *out, const char *job, struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        struct line *l = &lines->line[i];
        char a[32], b[32];
        double n = (double)l->count;
        gsl_sort(l->ratio, 1, l->ratios);
        fprintf(out, "  %-16s %-20s %12s %12s %9.3f %9.3f %9.3f\n", job, l->what,
                ker_print_time(a, (ker_time)(l->alone / n)), ker_print_time(b, (ker_time)(l->beside / n)),
                gsl_stats_mean(l->ratio, 1, l->ratios),
                gsl_stats_quantile_from_sorted_data(l->ratio, 1, l->ratios, 0.99), l->ratio[l->ratios - 1]);
        free(l->ratio);
        free(l->what);
    }
    free(lines->line);
}

/* One job in one group: its points are those of its runs alone. */
static enum ker_status job_write(const struct sweep *s, const struct sweep_group *g, FILE *out, FILE *csv,
                                 const char *words, struct ker_error *error)
{
    struct lines lines = {NULL, 0};
    const char *job = s->point[g->point[0]]->job;
    for (size_t i = 0; i < g->count; i++) {
        const struct sweep_point *p = s->point[g->point[i]];
        struct sweep_jobs jobs = {0};
        struct pairs pairs = {NULL, 0};
        if (p->state != SWEEP_DONE || p->of->state != SWEEP_DONE)
            continue;
        if (sweep_jobs_read(s, &p->of->words, &jobs, error) != KER_OK)
            return error->status;
        size_t which = 0;
        while (which + 1 < jobs.count && strcmp(jobs.name[which], job) != 0)
            which++;
        run_take(s, p, job, jobs.start[which], false, &pairs);
        run_take(s, p->of, job, jobs.start[which], true, &pairs);
        rows_write(csv, words, p, &pairs, &lines);
        for (size_t k = 0; k < pairs.count; k++)
            free(pairs.pair[k].what);
        free(pairs.pair);
        sweep_jobs_free(&jobs);
    }
    lines_print(out, job, &lines);
    return KER_OK;
}

enum ker_status sweep_alone_write(const struct sweep *s, FILE *out, struct ker_error *error)
{
    char *path = ker_format("%s/slowdown.csv", s->dir);
    FILE *csv = fopen(path, "w");
    if (!csv) {
        ker_fail(error, KER_RUN_FAILED, "%s: %s", path, strerror(errno));
        free(path);
        return error->status;
    }
    fprintf(csv, "point,seed,job,what,iteration,alone_ps,beside_ps,slowdown\n");
    fprintf(
        out,
        "\nslowdown (beside / alone)                    alone       beside      mean       p99       max\n");
    for (size_t i = 0; i < s->groups && error->status == KER_OK; i++) {
        const struct sweep_group *g = s->group[i];
        const struct sweep_group *last = i ? s->group[i - 1] : NULL;
        if (!s->point[g->point[0]]->of)
            continue;
        const struct sweep_group *shared = s->group[s->point[g->point[0]]->of->group];
        char *text = sweep_words_varied(s, &s->point[shared->point[0]]->words, NULL);
        bool first = !last || !s->point[last->point[0]]->of ||
                     s->point[last->point[0]]->of->group != s->point[g->point[0]]->of->group;
        if (first && *text)
            fprintf(out, "%s\n", text);
        job_write(s, g, out, csv, text, error);
        free(text);
    }
    if (fclose(csv) != 0)
        ker_fail(error, KER_RUN_FAILED, "%s: cannot be written", path);
    free(path);
    return error->status;
}
