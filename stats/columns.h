/* columns.h - inside stats/: a table, for the files that write it. */
#pragma once

#include "stats/table.h"

#include <string.h>

struct table_place {
    const struct stats_column *column;
    size_t offset;        /* in the row */
    enum stats_type type; /* of the column */
    unsigned bytes;
    int by, of;    /* the places of column->by and column->of */
    uint64_t mask; /* of the low eight bytes at its place those that are its own */
};

/* Behind a table's last row there is room for so much, so that cells are read and written as whole words. */
#define TABLE_SLACK 16

struct stats_table {
    const struct stats_schema *schema;
    const void *context;
    uint64_t divisor;
    struct table_place *place; /* of the columns that are wanted, in the schema's order */
    size_t columns;
    int job;       /* the column that says of which job a row is; -1: there is none */
    bool extended; /* the last column is none of the schema's, and has this value in rows that are added */
    uint64_t mark;
    size_t prefix; /* bytes of the cells at a row's beginning that are mostly those of the row before */
    size_t prefix_columns;
    char *row; /* rows x row_bytes */
    size_t rows, room, row_bytes;
};

/* Cells lie at any address; this machine's lowest bytes come first, as it is on all ranks. */
static inline stats_cell table_cell_get(const char *row, const struct table_place *p)
{
    const char *at = row + p->offset;
    uint64_t value = 0;
    stats_cell wide;
    switch (p->bytes) { /* copies of a length that the compiler knows */
    case 1:
        return (unsigned char)*at;
    case 2:
        memcpy(&value, at, 2);
        return value;
    case 4:
        memcpy(&value, at, 4);
        return value;
    case 8:
        memcpy(&value, at, 8);
        return value;
    default:
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
}

static inline void table_cell_put(char *row, const struct table_place *p, stats_cell value)
{
    char *at = row + p->offset;
    switch (p->bytes) {
    case 1:
        *at = (char)value;
        break;
    case 2:
        memcpy(at, &value, 2);
        break;
    case 4:
        memcpy(at, &value, 4);
        break;
    case 8:
        memcpy(at, &value, 8);
        break;
    default:
        memcpy(at, &value, sizeof value);
    }
}

/* The same of a row in a table, of at most eight bytes. */
static inline uint64_t table_cell_word(const char *row, const struct table_place *p)
{
    uint64_t value;
    memcpy(&value, row + p->offset, sizeof value);
    return value & p->mask;
}

static inline uint64_t table_row_key(const char *row)
{
    uint64_t key;
    memcpy(&key, row, sizeof key);
    return key;
}

/* table.c */
/* No key comes before the one above it. */
bool table_rows_ordered(const struct stats_table *);
/* What `other` has counted is added to `row`, which has the same key. */
void table_row_merge(const struct stats_table *, char *row, const char *other);
/* In order, and each key once. */
void table_rows_sort(struct stats_table *);
