/* report.h - inside tools/marsreport/: a result folder becomes data of a page (marsreport) or frames
 * (marsmovie).
 *
 * What is damaged or larger than its budget is left out or summed up, and a note says so: notes stand on the
 * page. Nothing is guessed.
 */
#ifndef MARSREPORT_REPORT_H
#define MARSREPORT_REPORT_H

#include "kernel/kernel.h"
#include "run/run.h"
#include "stats/stats.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* What may stand in a page: a panel each. More is summed up or cut, and said so. */
enum {
    REP_MOST_PERIODS = 4000, /* rows of a series */
    REP_MOST_TASKS = 4096,   /* rows of the table of tasks */
    REP_MOST_HOT = 50,       /* busiest links */
    REP_MATRIX_SIDE = 256,   /* rows and columns of the heat map */
    REP_MOST_LINES = 24576,  /* lines between switches in the drawing */
    REP_MOST_PLACES = 40000, /* switches or groups of them in it */
};

struct rep_folder {
    const char *path;
    json_t *summary; /* NULL: the run has not ended */
    json_t *notes;   /* texts for the page */
    ker_time from, to;
    bool damaged; /* something could not be read: exit status 1 */
    struct ker_error *error;
};

/* Reads summary.json; KER_BAD_INPUT when this is no result folder. */
enum ker_status rep_folder_open(struct rep_folder *, const char *path, struct ker_error *);
void rep_folder_close(struct rep_folder *);
/* For the page, and for standard error when `damage`. */
void rep_note(struct rep_folder *, bool damage, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The whole file, malloc'ed, with a zero behind it; NULL: it is not there. */
char *rep_file_read(const struct rep_folder *, const char *name, size_t *length);
/* All that is known of the folder, for the page. */
json_t *rep_folder_data(struct rep_folder *);

/* ---- table.c: NAME.csv or NAME.json, row by row ---- */

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
/* Cells of the row at hand, a column of -1 being empty. */
const char *rep_cell_text(const struct rep_table *, int column); /* "" when empty */
bool rep_cell_empty(const struct rep_table *, int column);
double rep_cell_real(const struct rep_table *, int column); /* 0 when empty */
int64_t rep_cell_integer(const struct rep_table *, int column);
json_t *rep_cell_json(const struct rep_table *, int column); /* number, text or null */

/* ---- tables.c: tables that stand in the page as they are ---- */

/* {"columns": [names], "rows": [[...]], "left_out": n}, NULL: there is none. */
json_t *rep_table_json(struct rep_folder *, const char *name, size_t most_rows);
/* {"NAME": [...], ...} of periods.csv, periods summed up where there are more than REP_MOST_PERIODS. */
json_t *rep_periods_json(struct rep_folder *);

/* ---- gantt.c ---- */

/* {"tracks", "names", "spans", "messages"} of timeline.json, within from..to of the folder; NULL: there is
 * none. */
json_t *rep_gantt_json(struct rep_folder *);

/* ---- page.c ---- */

enum ker_status rep_page_write(const char *path, const json_t *data, struct ker_error *);

#endif
