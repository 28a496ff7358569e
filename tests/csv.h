/* csv.h - for tests: a CSV file whose columns are found by name, so that a new column changes no test. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct csv {
    char *text, **cell; /* the head's cells first */
    size_t columns, rows;
};

/* The cell that begins at `at`, unquoted in place; *next is where the next begins, *last whether it was the
 * line's last. */
static inline char *csv_cell_cut(char *at, char **next, int *last)
{
    char *to = at, *begin = at;
    int quoted = *at == '"';
    at += quoted;
    while (*at && (quoted || (*at != ',' && *at != '\n'))) {
        if (quoted && at[0] == '"' && at[1] != '"')
            break;
        at += quoted && at[0] == '"';
        *to++ = *at++;
    }
    at += quoted && *at == '"';
    *last = *at != ',';
    *next = *at ? at + 1 : at;
    *to = '\0';
    return begin;
}

/* Every line has as many cells as the head. To be freed by csv_free. */
static inline struct csv csv_open(const char *path)
{
    struct csv csv = {0};
    size_t bytes = 0, room = 0, cells = 0;
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    csv.text = malloc(room = 1 << 16);
    for (size_t got; (got = fread(csv.text + bytes, 1, room - bytes - 1, in)) > 0;)
        if ((bytes += got) + 1 == room)
            csv.text = realloc(csv.text, room *= 2);
    fclose(in);
    csv.text[bytes] = '\0';
    room = 0;
    for (char *at = csv.text; *at;) {
        int last;
        if (cells == room)
            csv.cell = realloc(csv.cell, (room = 2 * room + 64) * sizeof *csv.cell);
        csv.cell[cells++] = csv_cell_cut(at, &at, &last);
        if (last && csv.columns == 0)
            csv.columns = cells;
        if (last)
            assert_int_equal(cells % csv.columns, 0);
    }
    assert_true(csv.columns > 0);
    csv.rows = cells / csv.columns - 1;
    return csv;
}

static inline void csv_free(struct csv *csv)
{
    free(csv->text);
    free(csv->cell);
}

static inline const char *csv_text(const struct csv *csv, size_t row, const char *column)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->cell[i], column) == 0)
            return csv->cell[(row + 1) * csv->columns + i];
    fail_msg("there is no column %s", column);
    return "";
}

static inline uint64_t csv_count(const struct csv *csv, size_t row, const char *column)
{
    char *end;
    const char *text = csv_text(csv, row, column);
    uint64_t value = strtoull(text, &end, 10);
    assert_true(*text && !*end);
    return value;
}

static inline double csv_real(const struct csv *csv, size_t row, const char *column)
{
    char *end;
    const char *text = csv_text(csv, row, column);
    double value = strtod(text, &end);
    assert_true(*text && !*end);
    return value;
}
