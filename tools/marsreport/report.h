/* report.h - inside tools/marsreport/: a result folder becomes data of a page (marsreport) or frames
 * (marsmovie).
 *
 * What is damaged or larger than its budget is left out or summed up, and a note says so: notes are on the
 * page. Nothing is guessed.
 */
#pragma once

#include "run/run.h"
#include "stats/stats.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What may be in a page: a panel each. More is summed up or cut, and said so. */
enum {
    REP_MOST_PERIODS = 4000,  /* rows of a series */
    REP_MOST_HOT = 50,        /* busiest links */
    REP_MOST_OBJECTS = 64,    /* of a series: links, switches, tasks */
    REP_MOST_IDS = 100000000, /* in a file that is none of ours; the largest system has some millions */
    REP_MATRIX_SIDE = 256,    /* rows and columns of the heat map */
    REP_MOST_LINES = 24576,   /* lines between switches in the drawing */
    REP_MOST_PLACES = 40000,  /* switches or groups of them in it */
};

struct rep_folder {
    const char *path;
    json_t *summary; /* NULL: the run has not ended */
    json_t *started; /* what was known when it began; NULL: the run has ended, or is of an older version */
    json_t *notes;   /* texts for the page */
    ker_time from, to;
    bool damaged;   /* something could not be read: exit status 1 */
    bool tells;     /* there is no page: all notes are written to standard error */
    bool hdf5_told; /* results.h5 cannot be read, and a note says so */
    struct ker_error *error;
};

/* ---- folder.c ---- */

/* Reads summary.json; KER_BAD_INPUT when this is no result folder. */
enum ker_status rep_folder_open(struct rep_folder *, const char *path, struct ker_error *);
void rep_folder_close(struct rep_folder *);

/* ---- files.c ---- */

/* For the page, and for standard error when `damage`; the same text is printed once. */
void rep_note(struct rep_folder *, bool damage, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The whole file, malloc'ed, with a zero behind it; NULL: it is not there. */
char *rep_file_read(struct rep_folder *, const char *name, size_t *length);
/* NULL: there is none, or, and a note says so, it cannot be read or is none (a pipe, a device, a folder). */
FILE *rep_file_open(struct rep_folder *, const char *name);

/* ---- table.c: NAME.csv, NAME.json, or the group NAME of results.h5, row by row ---- */

struct rep_table;
/* NULL: there is none, or its head is damaged (a note says so). */
struct rep_table *rep_table_open(struct rep_folder *, const char *name);
void rep_table_close(struct rep_table *); /* takes NULL */
/* The place of a column, -1: the table has none of this name. */
int rep_table_column(const struct rep_table *, const char *name);
/* -1: there is none, and a note says that the table is of no use therefore. */
int rep_table_need(struct rep_table *, const char *name);
int rep_table_columns(const struct rep_table *);
const char *rep_table_name(const struct rep_table *, int column);
/* To the first or next row; false: that was the last, or the rest is damaged (a note says so). */
bool rep_table_next(struct rep_table *);
/* Cells of the current row, a column of -1 being empty. */
const char *rep_cell_text(const struct rep_table *, int column); /* "" when empty */
bool rep_cell_empty(const struct rep_table *, int column);
double rep_cell_real(const struct rep_table *, int column); /* 0 when empty */
int64_t rep_cell_integer(const struct rep_table *, int column);
json_t *rep_cell_json(const struct rep_table *, int column); /* number, text or null */

/* ---- ends.c: when periods end, and how several become one ---- */

struct rep_ends {
    ker_time *at; /* ascending; within from..to of the folder */
    size_t count, room;
    ker_time begun; /* the first of them */
};
/* Those of periods.csv, and the end of the run; where there is no periods.csv, those of the series `table`.
 * False: there are none. The caller frees `at`. */
bool rep_ends_find(struct rep_folder *, struct rep_ends *, const char *table);
/* A killed run may have got further with a series than with its periods: what comes then is a period, too. */
void rep_ends_reach(struct rep_ends *, ker_time);

/* Values of a column: a sum; the state at the end; the highest; a mean over time; a mean over what was
 * counted. */
enum rep_joining { REP_JOIN_SUM, REP_JOIN_LAST, REP_JOIN_MAX, REP_JOIN_RATE, REP_JOIN_MEAN };
enum rep_joining rep_joining_of(const char *name); /* of the column */
static inline bool rep_joins_mean(enum rep_joining how)
{
    return how == REP_JOIN_MEAN || how == REP_JOIN_RATE;
}
/* Adds a value; a mean is what has come together over the sum of the weights (of a rate: over the periods).
 */
void rep_join(enum rep_joining, double *sum, double value, double weight);

/* ---- objects.c ---- */

/* {"link_series": {...}, ...}: of each series that is there the objects to which most happened; see there. */
json_t *rep_objects_json(struct rep_folder *);

/* ---- gantt.c ---- */

/* {"tracks", "names", "spans", "messages"} of timeline.json, within from..to of the folder; NULL: there is
 * none. */
json_t *rep_gantt_json(struct rep_folder *);

/* ---- page.c ---- */

/* All that is known of the folder, for the page. */
json_t *rep_folder_data(struct rep_folder *);
/* Folders side by side; what is shown of their series and tasks. */
struct rep_request {
    const char **path;
    size_t paths;
    ker_time from, to;
};
/* The page of these folders. *damaged is set where something could not be read. */
enum ker_status rep_runs_write(const struct rep_request *, const char *path, bool *damaged,
                               struct ker_error *);
/* data: {"runs": [what rep_folder_data makes]}, or of a sweep {"runs": [], "sweep": {...}} (marssweep). */
enum ker_status rep_page_write(const char *path, const json_t *data, struct ker_error *);
