/* hdf5.c - results.h5; see hdf5.h.
 *
 * Rows are kept until there are CHUNK_ROWS of them, or the file is flushed, and are then appended to the data
 * sets, each of which has chunks of this many elements. HDF5 reports errors by negative numbers; the first
 * one is remembered, and nothing is written after it.
 */
#include "stats/hdf5.h"
#include "stats/stats.h"

#include "stats/columns.h"
#include "stats/file.h"
#include "stats/hdf5_load.h"

#ifdef STATS_HDF5_FILE

#include <math.h>
#include <stdlib.h>

#define CHUNK_ROWS 1024
#define TEXT_BYTES 64 /* of a text, when its column says nothing else */
#define MOST_TABLES 64

struct stats_hdf5_table {
    struct stats_hdf5 *file;
    const char *name;
    size_t columns;
    struct column {
        hid_t set, type;
        size_t bytes; /* of an element */
        char *kept;   /* CHUNK_ROWS of them */
    } * column;
    hsize_t rows; /* written */
    size_t kept;
};

struct stats_hdf5 {
    hid_t file;
    char *path;
    struct stats_hdf5_table *table[MOST_TABLES];
    int tables;
    bool failed;
};

/* ---- the library ---- */

static bool good(struct stats_hdf5 *h, int64_t result)
{
    h->failed |= result < 0;
    return !h->failed;
}

static void attribute_put(struct stats_hdf5 *h, hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, strlen(text) + 1);
    H5Tset_cset(type, H5T_CSET_UTF8);
    /* beyond 64 KB an attribute does not fit into a file that every version of HDF5 reads */
    hid_t attribute =
        strlen(text) < 60000 ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : 0;
    if (attribute && good(h, attribute)) {
        good(h, H5Awrite(attribute, type, text));
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
}

struct stats_hdf5 *stats_hdf5_open(const char *folder, struct ker_error *error)
{
    if (stats_hdf5_load(error) != KER_OK)
        return NULL;
    struct stats_hdf5 *h = ker_alloc(sizeof *h);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* errors are reported once, with the path */
    hid_t creation = H5Pcreate(H5P_FILE_CREATE), access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_obj_track_times(creation, false);
    H5Pset_file_locking(access, false, true); /* it may be watched */
    h->path = ker_format("%s/" STATS_HDF5_NAME, folder);
    h->file = H5Fcreate(h->path, H5F_ACC_TRUNC, creation, access);
    H5Pclose(creation);
    H5Pclose(access);
    if (h->file >= 0)
        return h;
    ker_fail(error, KER_RUN_FAILED, "cannot write %s", h->path);
    free(h->path);
    free(h);
    return NULL;
}

void stats_hdf5_tell(struct stats_hdf5 *h, const char *name, const char *text)
{
    attribute_put(h, h->file, name, text);
}

/* ---- tables ---- */

static hid_t type_of(const struct stats_column *c)
{
    static const size_t bytes[] = {[STATS_U8] = 1, [STATS_U16] = 2, [STATS_U32] = 4, [STATS_U64] = 8};
    hid_t type;
    switch (c->type) {
    case STATS_TEXT:
        type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, c->text_bytes ? c->text_bytes : TEXT_BYTES);
        H5Tset_strpad(type, H5T_STR_NULLPAD);
        H5Tset_cset(type, H5T_CSET_UTF8);
        return type;
    case STATS_TIME:
        return H5Tcopy(H5T_STD_I64LE);
    case STATS_SHARE:
    case STATS_RATIO:
    case STATS_MEAN:
    case STATS_DEVIATION:
        return H5Tcopy(H5T_IEEE_F64LE);
    default:
        type = H5Tcopy(H5T_STD_U64LE);
        H5Tset_size(type, bytes[c->type]);
        return type;
    }
}

static void column_make(struct stats_hdf5 *h, hid_t group, struct column *column,
                        const struct stats_column *c)
{
    const hsize_t none = 0, most = H5S_UNLIMITED, chunk = CHUNK_ROWS;
    hid_t space = H5Screate_simple(1, &none, &most), creation = H5Pcreate(H5P_DATASET_CREATE);
    column->type = type_of(c);
    column->bytes = H5Tget_size(column->type);
    column->kept = ker_alloc(column->bytes * CHUNK_ROWS);
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC);
    H5Pset_obj_track_times(creation, false);
    column->set = H5Dcreate2(group, c->name, column->type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    if (good(h, column->set)) {
        attribute_put(h, column->set, "unit", c->unit);
        attribute_put(h, column->set, "meaning", c->meaning);
    }
    H5Pclose(creation);
    H5Sclose(space);
}

/* Names of the columns, or of those that name a row, with commas. */
static char *names_of(const struct stats_table *t, bool all)
{
    char *names = NULL;
    size_t length;
    FILE *memory = open_memstream(&names, &length);
    const char *before = "";
    for (size_t i = 0; i < t->columns; i++) {
        const struct stats_column *c = t->place[i].column;
        if (!all && c->merge != STATS_SAME)
            continue;
        fprintf(memory, "%s%s", before, c->name);
        before = ",";
    }
    fclose(memory);
    return names;
}

struct stats_hdf5_table *stats_hdf5_add(struct stats_hdf5 *h, const struct stats_table *t)
{
    ker_assert(h->tables < MOST_TABLES);
    struct stats_hdf5_table *to = h->table[h->tables++] = ker_alloc(sizeof *to);
    hid_t creation = H5Pcreate(H5P_GROUP_CREATE);
    H5Pset_obj_track_times(creation, false);
    hid_t group = H5Gcreate2(h->file, t->schema->name, H5P_DEFAULT, creation, H5P_DEFAULT);
    char *axes = names_of(t, false), *all = names_of(t, true);
    to->file = h;
    to->name = t->schema->name;
    to->columns = t->columns;
    to->column = ker_alloc(sizeof *to->column * t->columns);
    if (good(h, group)) {
        attribute_put(h, group, "rows", t->schema->rows);
        attribute_put(h, group, "axes", axes);
        attribute_put(h, group, "columns", all);
    }
    for (size_t i = 0; i < t->columns; i++)
        column_make(h, group, &to->column[i], t->place[i].column);
    H5Gclose(group);
    H5Pclose(creation);
    free(axes);
    free(all);
    return to;
}

/* What is kept of one column goes behind what is written. */
static void column_append(struct stats_hdf5_table *t, const struct column *c)
{
    const hsize_t count = t->kept, all = t->rows + t->kept;
    if (!good(t->file, H5Dset_extent(c->set, &all)))
        return;
    hid_t in_file = H5Dget_space(c->set), in_memory = H5Screate_simple(1, &count, NULL);
    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &t->rows, NULL, &count, NULL);
    good(t->file, H5Dwrite(c->set, c->type, in_memory, in_file, H5P_DEFAULT, c->kept));
    H5Sclose(in_file);
    H5Sclose(in_memory);
}

static void rows_append(struct stats_hdf5_table *t)
{
    for (size_t i = 0; t->kept && i < t->columns && !t->file->failed; i++)
        column_append(t, &t->column[i]);
    t->rows += t->kept;
    t->kept = 0;
}

static void row_kept(struct stats_hdf5_table *t)
{
    if (++t->kept == CHUNK_ROWS)
        rows_append(t);
}

/* As much of a text as there is room for, in whole characters of UTF-8. */
static void text_put(char *at, size_t bytes, const char *text)
{
    size_t length = strnlen(text, bytes + 1);
    if (length > bytes)
        for (length = bytes; length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    memset(at, 0, bytes);
    memcpy(at, text, length);
}

static double quotient(const struct stats_table *t, const char *row, const struct table_place *p,
                       stats_cell cell)
{
    stats_cell by = p->column->type == STATS_SHARE ? t->divisor : table_cell_get(row, &t->place[p->by]);
    return by ? (double)cell / (double)by : NAN;
}

static double deviation(const struct stats_table *t, const char *row, const struct table_place *p,
                        stats_cell squares)
{
    uint64_t count = (uint64_t)table_cell_get(row, &t->place[p->by]);
    return count ? stats_deviation(table_cell_get(row, &t->place[p->of]), squares, count) : NAN;
}

static void cell_keep(const struct column *c, size_t at, const struct stats_table *t, const char *row,
                      const struct table_place *p)
{
    stats_cell cell = table_cell_get(row, p);
    char *to = c->kept + at * c->bytes;
    double real;
    switch (p->column->type) {
    case STATS_TEXT:
        text_put(to, c->bytes, p->column->text(t->context, (uint32_t)cell));
        break;
    case STATS_SHARE:
    case STATS_RATIO:
    case STATS_MEAN:
        real = quotient(t, row, p, cell);
        memcpy(to, &real, sizeof real);
        break;
    case STATS_DEVIATION:
        real = deviation(t, row, p, cell);
        memcpy(to, &real, sizeof real);
        break;
    case STATS_TIME:
        cell = cell == KER_TIME_MAX ? (stats_cell)-1 : cell;
        memcpy(to, &cell, sizeof(int64_t));
        break;
    default:
        memcpy(to, &cell, c->bytes);
    }
}

void stats_hdf5_row(struct stats_hdf5_table *to, const struct stats_table *t, size_t row)
{
    for (size_t i = 0; i < to->columns; i++)
        cell_keep(&to->column[i], to->kept, t, t->row + row * t->row_bytes, &t->place[i]);
    row_kept(to);
}

void stats_hdf5_flush(struct stats_hdf5 *h)
{
    for (int i = 0; i < h->tables; i++)
        rows_append(h->table[i]);
    good(h, H5Fflush(h->file, H5F_SCOPE_GLOBAL));
}

enum ker_status stats_hdf5_close(struct stats_hdf5 *h, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (!h)
        return status;
    stats_hdf5_flush(h);
    for (int i = 0; i < h->tables; i++) {
        for (size_t c = 0; c < h->table[i]->columns; c++) {
            H5Dclose(h->table[i]->column[c].set);
            H5Tclose(h->table[i]->column[c].type);
            free(h->table[i]->column[c].kept);
        }
        free(h->table[i]->column);
        free(h->table[i]);
    }
    good(h, H5Fclose(h->file));
    if (h->failed)
        status = ker_fail(error, KER_RUN_FAILED, "cannot write %s", h->path);
    free(h->path);
    free(h);
    return status;
}

/* ---- a resumed run ---- */

/* The rows of an earlier file that are not copied yet, of one table. */
struct earlier {
    char *data[64]; /* by column, all of them */
    hsize_t rows, at;
};

static bool column_read(hid_t file, const struct stats_hdf5_table *t, size_t column, struct earlier *e)
{
    const struct column *c = &t->column[column];
    char name[256];
    ssize_t length = H5Iget_name(c->set, name, sizeof name);
    hid_t set = length > 0 ? H5Dopen2(file, name, H5P_DEFAULT) : -1;
    if (set < 0)
        return false;
    hid_t space = H5Dget_space(set);
    hsize_t rows = (hsize_t)H5Sget_simple_extent_npoints(space);
    e->data[column] = ker_alloc(rows * c->bytes);
    bool whole = (column == 0 || rows == e->rows) &&
                 H5Dread(set, c->type, H5S_ALL, H5S_ALL, H5P_DEFAULT, e->data[column]) >= 0;
    e->rows = rows;
    H5Sclose(space);
    H5Dclose(set);
    return whole;
}

static uint64_t time_next(const struct earlier *e)
{
    uint64_t time = UINT64_MAX;
    if (e->at < e->rows)
        memcpy(&time, e->data[0] + e->at * sizeof time, sizeof time);
    return time;
}

static void rows_copy(struct stats_hdf5_table *t, struct earlier *e, uint64_t time)
{
    for (; time_next(e) == time; e->at++) {
        for (size_t i = 0; i < t->columns; i++)
            memcpy(t->column[i].kept + t->kept * t->column[i].bytes, e->data[i] + e->at * t->column[i].bytes,
                   t->column[i].bytes);
        row_kept(t);
    }
}

bool stats_hdf5_copy(struct stats_hdf5 *h, const char *path)
{
    struct earlier *all = ker_alloc(sizeof *all * MOST_TABLES);
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(access, false, true);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
    bool whole = file >= 0;
    for (int i = 0; i < h->tables; i++)
        for (size_t c = 0; whole && c < h->table[i]->columns; c++)
            whole = column_read(file, h->table[i], c, &all[i]);
    while (whole) {
        uint64_t time = UINT64_MAX;
        for (int i = 0; i < h->tables; i++)
            time = time_next(&all[i]) < time ? time_next(&all[i]) : time;
        if (time == UINT64_MAX)
            break;
        for (int i = 0; i < h->tables; i++)
            rows_copy(h->table[i], &all[i], time);
        stats_hdf5_flush(h);
    }
    for (int i = 0; i < h->tables; i++)
        for (size_t c = 0; c < h->table[i]->columns; c++)
            free(all[i].data[c]);
    if (file >= 0)
        H5Fclose(file);
    H5Pclose(access);
    free(all);
    return whole;
}

#else

struct stats_hdf5 *stats_hdf5_open(const char *folder, struct ker_error *error)
{
    stats_hdf5_load(error);
    return NULL;
}

/* Without a file nobody calls these. */
void stats_hdf5_tell(struct stats_hdf5 *h, const char *name, const char *text)
{
}

struct stats_hdf5_table *stats_hdf5_add(struct stats_hdf5 *h, const struct stats_table *t)
{
    return NULL;
}

void stats_hdf5_row(struct stats_hdf5_table *to, const struct stats_table *t, size_t row)
{
}

void stats_hdf5_flush(struct stats_hdf5 *h)
{
}

enum ker_status stats_hdf5_close(struct stats_hdf5 *h, struct ker_error *error)
{
    return KER_OK;
}

bool stats_hdf5_copy(struct stats_hdf5 *h, const char *path)
{
    return false;
}

#endif
