/* table.h - results as tables: what a column is called, means, and how it merges is once.
 *
 * A schema is an array of columns; the file that knows the values has it. From a schema come the CSV file,
 * the JSON file, `--help-results`, the columns in docs/results.md, and how rows of several ranks become one
 * table. A column's value is a function of a row, which is whatever the schema's owner takes for one (a port,
 * a task): it is called when the row is added, and the table keeps the cell, in as many bytes as its type
 * needs.
 */
#pragma once

#include "kernel/base/base.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum stats_type {
    STATS_U8,
    STATS_U16,
    STATS_U32,
    STATS_U64,
    STATS_TIME,  /* of 64 bits; KER_TIME_MAX: an empty cell */
    STATS_TEXT,  /* an id of 32 bits, of which column.text makes a text */
    STATS_SHARE, /* 64 bits over the table's divisor, which is the measured span: six decimals */
    STATS_RATIO, /* 64 bits over the cell of the column `by`: six decimals; an empty cell when that is 0 */
    STATS_MEAN,  /* 128 bits over the cell of the column `by`, rounded; an empty cell when that is 0 */
    STATS_DEVIATION, /* 128 bits, a sum of squares: the deviation of what is as often there as the cell of
                        `by` says and adds up to that of `of`, rounded; an empty cell when it is never there
                      */
};

/* What becomes of the cells of rows with the same key. */
enum stats_merge {
    STATS_SAME, /* belongs to the key */
    STATS_SUM,
    STATS_MOST,
};

typedef unsigned __int128 stats_cell;

struct stats_column {
    const char *name; /* with its unit, where it has one: _ps, _bytes */
    const char *unit;
    enum stats_type type;
    enum stats_merge merge;
    const char *meaning;                                   /* for people: docs/results.md */
    const char *(*text)(const void *context, uint32_t id); /* STATS_TEXT */
    const char *by;                                        /* STATS_RATIO, STATS_MEAN, STATS_DEVIATION */
    const char *of;                                        /* STATS_DEVIATION */
    bool (*wanted)(const void *context);                   /* NULL: in every table */
    bool fixed;           /* a sum that does not grow with the steps of a run */
    const char *fixed_by; /* nor does this one, in rows in which that column, a TIME, has a value */
    bool ends;            /* when something has ended: later by what was skipped */
    uint8_t text_bytes;   /* STATS_TEXT in results.h5: its length; 0: 64 */
};

/* Columns are lines of a list macro LIST(COLUMN), each COLUMN(name, unit, type, merge, value, meaning, ...):
 * the value is an expression of `row`, a const pointer to the row's type; what follows the meaning are
 * further fields of the column. So a new column is one line. STATS_SCHEMA makes a schema of them, for the
 * whole program, STATS_OWN_SCHEMA one that is static: all cells of a row by one function, as a table has
 * them. */
#define STATS_BYTES_U8 uint8_t
#define STATS_BYTES_U16 uint16_t
#define STATS_BYTES_U32 uint32_t
#define STATS_BYTES_U64 uint64_t
#define STATS_BYTES_TIME uint64_t
#define STATS_BYTES_TEXT uint32_t
#define STATS_BYTES_SHARE uint64_t
#define STATS_BYTES_RATIO uint64_t
#define STATS_BYTES_MEAN stats_cell
#define STATS_BYTES_DEVIATION stats_cell
#define STATS_CELL(name, unit, type, merge, expression, meaning, ...) STATS_BYTES_##type cell_##name;
#define STATS_STORE(name, unit, type, merge, expression, meaning, ...)                                       \
    to->cell_##name = (STATS_BYTES_##type)(expression);
#define STATS_COLUMN(name, unit, type, merge, expression, meaning, ...)                                      \
    {#name, unit, STATS_##type, STATS_##merge, meaning, ##__VA_ARGS__},
#define STATS_FILL(schema, row_type, LIST)                                                                   \
    static void schema##_fill(const void *row_, void *cells)                                                 \
    {                                                                                                        \
        const row_type *row = row_;                                                                          \
        struct __attribute__((packed)) {                                                                     \
            LIST(STATS_CELL)                                                                                 \
        } *to = cells;                                                                                       \
        LIST(STATS_STORE)                                                                                    \
    }                                                                                                        \
    static const struct stats_column schema##_columns[] = {LIST(STATS_COLUMN)};
#define STATS_SCHEMA(schema, row_type, LIST, key_of_row, name, rows)                                         \
    STATS_FILL(schema, row_type, LIST)                                                                       \
    const struct stats_schema schema = {                                                                     \
        name,       rows,         schema##_columns, sizeof schema##_columns / sizeof *schema##_columns,      \
        key_of_row, schema##_fill};
#define STATS_OWN_SCHEMA(schema, row_type, LIST, key_of_row, name, rows)                                     \
    STATS_FILL(schema, row_type, LIST)                                                                       \
    static const struct stats_schema schema = {                                                              \
        name,       rows,         schema##_columns, sizeof schema##_columns / sizeof *schema##_columns,      \
        key_of_row, schema##_fill};

struct stats_schema {
    const char *name; /* of the file, without .csv */
    const char *rows; /* what a row is */
    const struct stats_column *column;
    size_t columns;
    uint64_t (*key)(const void *row); /* rows are sorted by it; those with the same one become one row */
    void (*fill)(const void *row, void *cells); /* packed, of all columns */
};

/* Where result files are written, and as what. */
struct stats_hdf5;
struct stats_growth;
struct stats_folder {
    const char *path;
    bool json;                   /* tables as NAME.json in place of NAME.csv */
    struct stats_hdf5 *hdf5;     /* and as groups of results.h5 (hdf5.h); NULL: not */
    struct stats_growth *growth; /* NULL: nothing was skipped */
};

struct stats_table;
struct stats_lines; /* lines.h */
/* context: for text and wanted, must outlive the table. divisor: of shares, 0 makes them 0. */
struct stats_table *stats_table_new(const struct stats_schema *, const void *context, uint64_t divisor);
void stats_table_free(struct stats_table *); /* takes NULL */
/* Of an empty one: a further column behind those of the schema, an integer, which is `mark` in rows that are
 * added from now on; or another mark, if it has one. */
void stats_table_extend(struct stats_table *, const struct stats_column *, uint64_t mark);
void stats_table_mark(struct stats_table *, uint64_t mark);
/* An empty one of the same columns, context and divisor. */
struct stats_table *stats_table_like(const struct stats_table *);
void stats_table_add(struct stats_table *, const void *row);
void stats_table_reserve(struct stats_table *, size_t rows); /* room for this many, when that is known */
void stats_table_clear(struct stats_table *);                /* of all rows */
/* Appends a row of a table of the same schema. */
void stats_table_copy(struct stats_table *, const struct stats_table *from, size_t row);
/* Collective: rank 0's table gets the rows of all ranks, sorted and merged; the others' are empty then. With
 * one rank nothing is copied, and what is in order is not sorted. For tables that are small when merged. */
void stats_table_gather(struct stats_table *, struct ker_comm *);

/* ---- the rows of all ranks, one after the other: for tables that nobody should hold ---- */

/* Where a rank's rows come from: `next` adds some to the table, in increasing order of their keys from call
 * to call; false: there are none left. */
struct stats_rows {
    bool (*next)(void *context, struct stats_table *);
    void *context;
};
/* Who is shown them, on rank 0: by the order of their keys, rows of one key merged. */
struct stats_visitor {
    void (*row)(void *context, const struct stats_table *, size_t row);
    void *context;
};
/* Collective. The table is an empty one, and is empty afterwards. */
void stats_table_stream(struct stats_table *, struct ker_comm *, const struct stats_rows *,
                        const struct stats_visitor *);
/* Collective: of tables whose own rows each rank holds; they are in order then, each key once. */
void stats_table_show(struct stats_table *, struct ker_comm *, const struct stats_visitor *);

size_t stats_table_rows(const struct stats_table *);
size_t stats_table_row_bytes(const struct stats_table *); /* of memory */
/* The column's place in this table; it is asserted that there is one, unless `optional`: then -1. */
int stats_table_find(const struct stats_table *, const char *column, bool optional);
/* Of several; -1: there is none. */
void stats_table_find_all(const struct stats_table *, const char *const *name, size_t count, int *column);
stats_cell stats_table_cell(const struct stats_table *, size_t row, int column);
uint64_t stats_table_key(const struct stats_table *, size_t row);
const char *stats_table_text(const struct stats_table *, size_t row, int column);

/* Writes NAME.csv or NAME.json. */
enum ker_status stats_table_write(const struct stats_table *, const struct stats_folder *,
                                  struct ker_error *);

/* The same row by row. A file that nobody has asked for ends at STATS_DEFAULT_BYTES: it is left out then, and
 * a warning says how large it would be and which key brings it back. */
#define STATS_DEFAULT_BYTES UINT64_C(100000000)
struct stats_writer;
/* key: the one that asks for the table, where it has not been given; NULL: somebody has asked. Returns NULL
 * when the file cannot be opened. */
struct stats_writer *stats_writer_open(const struct stats_table *, const struct stats_folder *,
                                       const char *key, struct ker_error *);
void stats_writer_row(struct stats_writer *, const struct stats_table *, size_t row); /* takes NULL */
enum ker_status stats_writer_close(struct stats_writer *, struct ker_error *);        /* takes NULL */
/* Collective: the rows of all ranks as stats_table_show shows them, into the file on rank 0. */
enum ker_status stats_table_show_file(struct stats_table *, struct ker_comm *, const struct stats_folder *,
                                      const char *key, struct ker_error *);
/* A run that has skipped steps (run.skip) says of all of them what it has counted of some. */
struct stats_part {
    uint64_t all, seen;
    uint64_t later; /* ps by which the end is later */
};
struct stats_growth {
    struct stats_part whole, *job; /* whole: of rows that are of no job */
    uint32_t jobs;
    uint64_t later;            /* ps by which the measured span is longer */
    struct stats_table *table; /* the row that was asked for last */
};
void stats_growth_release(struct stats_growth *);
void stats_growth_forget(struct stats_growth *); /* a schema that is no longer valid; takes NULL */
stats_cell stats_grown(stats_cell, const struct stats_part *); /* rounded */
/* A table as it is written, with the column `estimated`, valid until the next call; the table itself if
 * growth is NULL, if it is such a one already, if nothing in it grows, or if rows are by time. */
const struct stats_table *stats_growth_head(struct stats_growth *, const struct stats_table *);
/* A row as it is written, of that table. */
const struct stats_table *stats_growth_row(struct stats_growth *, const struct stats_table *, size_t *row);

/* For a file that is written row by row. */
void stats_table_head_csv(const struct stats_table *, FILE *);
void stats_table_row_csv(const struct stats_table *, size_t row, struct stats_lines *);

/* Columns of all these schemas, NULL at the end, one a line: name, unit, type, merging, meaning. */
void stats_tables_help(const struct stats_schema *const *, FILE *);
