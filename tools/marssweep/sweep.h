/* sweep.h - inside tools/marssweep/: many runs of one configuration, side by side, with their figures.
 *
 * A point is a list of words KEY=VALUE on top of the configuration; its run is what `marssim FILE WORDS`
 * does, to the bit, in a process of its own. A point is known by its key: a hash of the program's version and
 * of the configuration as it is resolved. Its results are in DIR/runs/KEY, with point.json, which says of
 * what; they are complete as soon as a folder of this name is there. The database is made from these folders
 * alone, by one process.
 *
 * Points that differ in run.seed only are a group: of its figures there are a mean and an interval.
 */
#pragma once

#include "run/run.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SWEEP_SEED "run.seed"
#define SWEEP_LOAD "traffic.load"
#define SWEEP_SATURATED "saturated" /* a figure */
#define SWEEP_LEVEL 0.95            /* of the intervals */

struct sweep_word {
    char *key, *value; /* malloc'ed */
};

struct sweep_words {
    struct sweep_word *word;
    size_t count;
};

/* A number of the summary: "packet_latency_ps.mean"; NAN where nothing was measured. Members of lists are
 * called by their names: "jobs[lammps].finish_ps". Sorted by name. Those of the summary's `run`, which are
 * others each time, begin with "run.". */
struct sweep_figure {
    char *name;
    double value;
};

struct sweep_figures {
    struct sweep_figure *figure;
    size_t count;
};

enum sweep_state {
    SWEEP_WANTED,
    SWEEP_RUNNING,
    SWEEP_DONE,
    SWEEP_FAILED,
    SWEEP_LEFT, /* it is nobody's here: another share's, or nothing is to be run */
};

struct sweep_point {
    struct sweep_words words;
    char key[17];
    enum sweep_state state;
    bool again;             /* it has results already, which these are compared with */
    bool stale;             /* ... of other files: these take their place */
    struct sweep_point *of; /* a job of this point alone (alone.c): not in the table and the figure */
    char *job;              /* its name */
    ker_time start;         /* of the job, in the shared run; or behind the end of these, a name a line: */
    char *after;
    ker_time interval; /* run.check_interval: it begins at the next multiple */
    size_t group;
    struct sweep_figures figures;
};

/* What is in the folder of a run. */
struct sweep_result {
    char key[17];
    struct sweep_words words;
    json_t *point; /* point.json */
    struct sweep_figures figures;
};

/* Points that differ in the seed only. */
struct sweep_group {
    char *name; /* all words but the seed */
    size_t number, *point, count;
};

/* Values of a key; those of @NAME may be LABEL{WORDS}. Without values: those of sweep.designs. */
struct sweep_axis {
    char *key;
    char **value;
    size_t count;
};

struct sweep_axes {
    struct sweep_axis *axis;
    size_t count;
};

struct sweep {
    const char *file, *dir, *db, *points_file;
    struct sweep_words config_words; /* sweep.KEY=VALUE of the command line */
    struct sweep_words bundled;      /* keys; "yes": the table has the label of a design in their place */
    char *against;                   /* KEY=VALUE of what all are compared with; NULL: nothing */
    struct sweep_axes axes, designs; /* designs: sweep.designs, which the axes may name */
    char **column;                   /* NAME or NAME:UNIT */
    size_t columns;
    char **sql, *plot; /* files of sweep.sql and sweep.plot */
    size_t sqls;
    char **table; /* of sweep.tables */
    size_t tables;
    double precision;
    uint64_t most_seeds, memory;
    int64_t seeds;
    unsigned jobs, share_of, share_number;
    bool zip, saturation, alone, again, collect, pages, quiet, quick, slurm, counts, paged;
    bool saturates;              /* the traffic is an open loop, which may saturate */
    struct sweep_point **point;  /* they stay where they are */
    size_t points, numbered;     /* numbered: of a share, the others' points, too */
    size_t most_points, counted; /* counted: before any is made */
    struct sweep_group **group;
    size_t groups;
    void *by_key, *by_name;      /* points and groups, trees of search.h */
    json_t *own_files, *digests; /* files of the configuration itself; digests of others, by path */
    struct sweep_search *search;
    struct sweep_store *store; /* NULL: a share of a sweep writes folders only */
    size_t before, done, failed, differ;
    bool interrupted, changed; /* changed: a file of inputs has, which was said */
    bool other;                /* another build has run points before, which was said */
};

/* ---- words.c, axes.c: what is swept ---- */

char *sweep_words_text(const struct sweep_words *); /* "a=1 b=2", malloc'ed */
void sweep_word_set(struct sweep_words *, const char *key, const char *value);
const char *sweep_word_of(const struct sweep_words *, const char *key); /* NULL: it has none */
void sweep_words_copy(struct sweep_words *to, const struct sweep_words *from);
void sweep_words_free(struct sweep_words *);
/* KEY=VALUE for each of the words but tags, malloc'ed each. */
const char **sweep_overrides_make(const struct sweep_words *, int *count);
/* The configuration with these words; to be freed. */
enum ker_status sweep_config_load(const struct sweep *, const struct sweep_words *, struct ker_config **,
                                  struct ker_error *);
bool sweep_is_tag(const char *key);   /* "@network": a label of the table, no key of the configuration */
bool sweep_is_word(const char *text); /* else it is a file */
/* KEY=A,B,C or KEY=FROM:TO[:STEP]; where: for messages. Takes the place of an axis of this key. */
enum ker_status sweep_axis_parse(struct sweep_axes *, const char *text, const char *where,
                                 struct ker_error *);
void sweep_axes_free(struct sweep_axes *);
/* All points of the axes, or of the file of points, each with all its words. */
enum ker_status sweep_points_make(struct sweep *, struct ker_error *);
/* The keys that have several values among the points that are not hidden; NULL at the end, malloc'ed. */
const char **sweep_keys_varied(const struct sweep *);
/* The words of such keys, but for the seed and `without`, which may be NULL; malloc'ed. */
char *sweep_words_varied(const struct sweep *, const struct sweep_words *, const char *without);

/* ---- settings.c ---- */

/* The `sweep` group of the configuration, for what the command line leaves open. */
enum ker_status sweep_config_read(struct sweep *, struct ker_error *);

/* ---- point.c: what a point is ---- */

/* Takes the words over. Resolves the configuration, so that what is wrong with a point is said before the
 * first run; fails, too, when another point is the same run. */
enum ker_status sweep_point_add(struct sweep *, struct sweep_words *, struct sweep_point **,
                                struct ker_error *);
/* The jobs of a configuration: those that are waited for come first. */
struct sweep_jobs {
    char **name;
    ker_time *start;
    char **after; /* jobs[].after, a name a line */
    size_t count, foreground;
    ker_time interval; /* run.check_interval */
    bool traffic;      /* there is traffic beside them */
};
enum ker_status sweep_jobs_read(const struct sweep *, const struct sweep_words *, struct sweep_jobs *,
                                struct ker_error *);
void sweep_jobs_free(struct sweep_jobs *);
void sweep_points_free(struct sweep *);
char *sweep_point_text(const struct sweep_point *); /* for messages: its words; malloc'ed */

/* ---- scale.c ---- */

/* Sets KEY in place of each KEY*=FACTOR. */
enum ker_status sweep_words_scale(const struct sweep *, struct sweep_words *, struct ker_error *);

/* ---- process.c: its run, in a process of its own, which these end ---- */

/* Runs the point, and renames DIR/part/KEY to where its results are when all of it is there. */
_Noreturn void sweep_point_run(const struct sweep *, const struct sweep_point *);
/* --check, for the memory that it takes. */
_Noreturn void sweep_point_check(const struct sweep *, const struct sweep_point *);

/* ---- folder.c: folders of results ---- */

/* DIR/WHAT/KEY; what: runs, part, failed, differ. malloc'ed. */
void sweep_folder_need(const struct sweep *, const char *what); /* makes DIR/WHAT */
char *sweep_folder_of(const struct sweep *, const char *what, const char *key);
/* false: it is not complete. */
bool sweep_folder_read(const char *folder, struct sweep_result *);
void sweep_result_free(struct sweep_result *);
/* What the run has read, from its summary, with digests: into point.json. */
enum ker_status sweep_folder_describe(const struct sweep *, const struct sweep_point *, const char *folder,
                                      struct ker_error *);
/* Of the files of a point.json, one that has changed, or NULL; the program is another question. */
const char *sweep_files_changed(struct sweep *, const json_t *files);
/* Among the files it has this name; its digest is taken once, before the first point. */
#define SWEEP_PROGRAM "marssim"
void sweep_program_note(struct sweep *);
bool sweep_program_changed(const struct sweep *, const json_t *files);

/* ---- figures.c ---- */

void sweep_figures_take(struct sweep_figures *, const json_t *summary);
void sweep_figures_sort(struct sweep_figures *);
void sweep_figures_free(struct sweep_figures *);
double sweep_figure_of(const struct sweep_figures *, const char *name); /* NAN: there is none */
bool sweep_figure_there(const struct sweep_figures *, const char *name);

/* ---- store.c: the database ---- */

enum ker_status sweep_store_open(struct sweep_store **, const char *path, struct ker_error *);
void sweep_store_close(struct sweep_store *); /* takes NULL */
/* false: there is no row of this key. files: as in point.json. */
bool sweep_store_find(struct sweep_store *, const char *key, struct sweep_figures *, json_t **files);
/* Adds a row, or compares it with the one that is there: KER_RUN_FAILED, with the figure that differs, and
 * the row stays. replace: that one is known to be of other files. */
enum ker_status sweep_store_add(struct sweep_store *, const struct sweep_result *, const char *folder,
                                bool replace, struct ker_error *);
/* Adds all folders below DIR/runs; each that was refused is printed and counted. */
enum ker_status sweep_store_collect(struct sweep *, struct ker_error *);
struct sqlite3 *sweep_store_database(struct sweep_store *);

/* ---- tables.c ---- */

/* Those of sweep.tables, with the rows of all points. */
enum ker_status sweep_tables_store(const struct sweep *, struct sqlite3 *, struct ker_error *);

/* ---- views.c ---- */

/* What is the sweep's in the database: the view `points`. */
enum ker_status sweep_views_begin(const struct sweep *, struct sqlite3 *, struct ker_error *);
/* The views of sweep.sql, each to VIEW.csv in the folder. */
enum ker_status sweep_views_write(const struct sweep *, struct sqlite3 *, struct ker_error *);
/* What a query has, to NAME.csv, fractions with so many digits. */
enum ker_status sweep_query_write(const struct sweep *, struct sqlite3 *, const char *name, const char *sql,
                                  int digits, struct ker_error *);

/* ---- resume.c: what is there already ---- */

/* Finds the point's results, in the database or in its folder; else it is wanted, or left where nothing is
 * run. */
enum ker_status sweep_resume(struct sweep *, struct sweep_point *, struct ker_error *);
/* The folders that runs are written to; the lock is held until the end of the process. */
enum ker_status sweep_dir_make(struct sweep *, struct ker_error *);

/* ---- pool.c: runs side by side ---- */

/* Runs all that is wanted, and what `more` adds when nothing is left; NULL: nothing. */
enum ker_status sweep_pool_run(struct sweep *, bool (*more)(struct sweep *, struct ker_error *),
                               struct ker_error *);

/* ---- search.c: points that come of others ---- */

enum ker_status sweep_search_begin(struct sweep *, struct ker_error *);
bool sweep_search_more(struct sweep *, struct ker_error *);
void sweep_search_print(const struct sweep *, FILE *);
void sweep_search_free(struct sweep *);
/* Are most of its runs? */
bool sweep_group_saturated(const struct sweep *, const struct sweep_group *);

/* ---- table.c, show.c ---- */

struct sweep_value {
    double mean, half; /* half of the interval; NAN: of one run */
    size_t count;      /* runs that have it */
};

struct sweep_column {
    char *figure, *title; /* packet_latency_ps.mean; packet_latency.mean (ns) */
    double unit;          /* what one of the title's units is of the figure's */
    bool relative;        /* to the row of sweep.against */
};

struct sweep_table {
    const char **key; /* those that vary, but for the seed */
    size_t keys;
    struct sweep_column *column;
    size_t columns;
    size_t *group, rows; /* groups that have runs */
};

struct sweep_value sweep_value_of(const struct sweep *, const struct sweep_group *, const char *figure);
struct sweep_value sweep_cell_of(const struct sweep *, const struct sweep_table *, const struct sweep_group *,
                                 const struct sweep_column *);
enum ker_status sweep_table_make(const struct sweep *, struct sweep_table *, struct ker_error *);
void sweep_table_free(struct sweep_table *);
void sweep_table_sort(const struct sweep *, struct sweep_table *); /* numbers in their order */
void sweep_table_print(const struct sweep *, const struct sweep_table *, FILE *);
/* table.csv and runs.csv in the folder. */
enum ker_status sweep_csv_write(const struct sweep *, const struct sweep_table *, struct sqlite3 *,
                                struct ker_error *);
/* A file in the folder; NULL: it cannot be. Closing frees the path. */
FILE *sweep_csv_open(const struct sweep *, const char *name, char **path, struct ker_error *);
enum ker_status sweep_csv_close(FILE *, char *path, struct ker_error *);
void sweep_csv_text(FILE *, const char *text); /* in quotes if need be; NULL: empty */
void sweep_columns_list(const struct sweep *, FILE *);
/* The value of a key in a group's points. */
const char *sweep_group_word(const struct sweep *, const struct sweep_group *, const char *key);

/* ---- plot.c: figure.svg by gnuplot ---- */

/* What sweep.plot draws; else two columns of the table. */
enum ker_status sweep_plot(const struct sweep *, const struct sweep_table *, struct ker_error *);

/* ---- page.c ---- */

/* page.html in the folder. */
enum ker_status sweep_page_write(const struct sweep *, const struct sweep_table *, struct ker_error *);
/* The page of each run that has none, in its folder; warns of those that cannot be. */
void sweep_reports_write(const struct sweep *);

/* ---- alone.c ---- */

enum ker_status sweep_alone_begin(struct sweep *, struct ker_error *);
/* The table `slowdown`. */
enum ker_status sweep_alone_store(const struct sweep *, struct sqlite3 *, struct ker_error *);
/* ... to slowdown.csv, and its means. */
enum ker_status sweep_alone_write(const struct sweep *, struct sqlite3 *, FILE *, struct ker_error *);

/* ---- slurm.c ---- */

enum ker_status sweep_slurm_write(const struct sweep *, char **argv, struct ker_error *);
