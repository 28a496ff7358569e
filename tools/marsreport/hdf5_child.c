/* hdf5_child.c - see hdf5_child.h.
 *
 * Columns are read in blocks of rows, as 64-bit integers, as doubles, or as texts of their fixed length, and
 * written as CSV: a cell that is none (-1 where numbers have a sign, no finite number) is empty. A
 * table has as many rows as the shortest of its columns. A file that is none of marssim, or was cut, may have
 * anything in it: a column of another kind than these makes the table unreadable, and rows that were never
 * written, of which a file may have any number, are not there.
 */
#include "tools/marsreport/hdf5_child.h"

#include "stats/hdf5_load.h"

#ifdef STATS_HDF5_FILE

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 4096u  /* rows of a block at most */
#define TEXT 4096u   /* bytes of a cell at most */
#define NAMES 65536u /* bytes of all names of columns */
#define COLUMNS 1024u
#define SECONDS 60 /* that the library may take for one block */

struct column {
    const char *name;
    hid_t set, type; /* type: in memory */
    enum { SIGNED, UNSIGNED, REAL, WORDS } kind;
    size_t bytes; /* of a cell, which is 8 long but for texts, and these end with a 0 */
    char *block;  /* its cells */
};

struct reader {
    FILE *out;
    hid_t file, group;
    struct column *column;
    uint32_t columns;
    hsize_t rows;
    bool cut; /* more rows are claimed than were written */
};

/* ---- the head ---- */

/* Names with commas; NULL: there is no such attribute. */
static char *names_read(hid_t group)
{
    hid_t attribute = H5Aopen(group, "columns", H5P_DEFAULT),
          type = attribute < 0 ? -1 : H5Aget_type(attribute),
          space = attribute < 0 ? -1 : H5Aget_space(attribute);
    if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        H5Tget_size(type) >= NAMES || H5Sget_simple_extent_npoints(space) != 1)
        return NULL;
    char *names = ker_alloc(H5Tget_size(type) + 1);
    return H5Aread(attribute, type, names) < 0 ? NULL : names;
}

/* What a column of the file is in memory; false: none of what marssim writes. */
static bool type_take(struct column *c, hid_t type)
{
    H5T_class_t class = H5Tget_class(type);
    size_t bytes = H5Tget_size(type);
    if (class == H5T_INTEGER) {
        c->kind = H5Tget_sign(type) == H5T_SGN_NONE ? UNSIGNED : SIGNED;
        c->type = H5Tcopy(c->kind == UNSIGNED ? H5T_STD_U64LE : H5T_STD_I64LE);
    } else if (class == H5T_FLOAT) {
        c->kind = REAL;
        c->type = H5Tcopy(H5T_IEEE_F64LE);
    } else if (class == H5T_STRING && H5Tis_variable_str(type) == 0 && bytes < TEXT) {
        c->kind = WORDS;
        c->type = H5Tcopy(type);
        H5Tset_size(c->type, bytes + 1); /* with a zero behind each */
        H5Tset_strpad(c->type, H5T_STR_NULLTERM);
    } else {
        return false;
    }
    c->bytes = H5Tget_size(c->type);
    return c->bytes >= (c->kind == WORDS ? 1 : 8) && c->bytes <= TEXT;
}

/* Of a column, of which room for any number may be claimed. */
static hsize_t rows_written(hid_t set, hid_t space, hsize_t rows, size_t bytes)
{
    hid_t how = H5Dget_create_plist(set);
    hsize_t chunk = 0, chunks = 0, there = H5Dget_storage_size(set) / (bytes ? bytes : 1);
    if (how >= 0 && H5Pget_layout(how) == H5D_CHUNKED)
        there = H5Pget_chunk(how, 1, &chunk) == 1 && H5Dget_num_chunks(set, space, &chunks) >= 0 &&
                        (chunk == 0 || chunks <= UINT64_MAX / chunk)
                    ? chunk * chunks
                    : 0;
    if (how >= 0)
        H5Pclose(how);
    return there < rows ? there : rows;
}

static bool column_open(struct reader *r, struct column *c)
{
    c->set = H5Lexists(r->group, c->name, H5P_DEFAULT) > 0 ? H5Dopen2(r->group, c->name, H5P_DEFAULT) : -1;
    if (c->set < 0)
        return false;
    hid_t type = H5Dget_type(c->set), space = H5Dget_space(c->set);
    hssize_t rows =
        space >= 0 && H5Sget_simple_extent_ndims(space) == 1 ? H5Sget_simple_extent_npoints(space) : -1;
    if (type < 0 || rows < 0 || !type_take(c, type))
        return false;
    hsize_t there = rows_written(c->set, space, (hsize_t)rows, H5Tget_size(type));
    if (r->columns == 0 || there < r->rows)
        r->rows = there;
    r->cut |= there < (hsize_t)rows;
    H5Sclose(space);
    H5Tclose(type);
    c->block = ker_alloc(c->bytes * BLOCK);
    return true;
}

static bool columns_open(struct reader *r)
{
    char *rest = names_read(r->group);
    if (!rest || !*rest)
        return false;
    r->column = ker_alloc(COLUMNS * sizeof *r->column);
    for (char *name; (name = strsep(&rest, ",")) != NULL; r->columns++) {
        r->column[r->columns % COLUMNS].name = name;
        if (r->columns == COLUMNS || !column_open(r, &r->column[r->columns]))
            return false;
    }
    return true;
}

static enum rep_hdf5_found table_open(struct reader *r, const char *path, const char *table)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t how = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_file_locking(how, false, true); /* the run may still be writing */
    r->file = H5Fopen(path, H5F_ACC_RDONLY, how);
    if (r->file < 0)
        return REP_HDF5_NO_FILE;
    if (H5Lexists(r->file, table, H5P_DEFAULT) <= 0)
        return REP_HDF5_NO_TABLE;
    r->group = H5Gopen2(r->file, table, H5P_DEFAULT);
    return r->group >= 0 && columns_open(r) ? REP_HDF5_TABLE : REP_HDF5_FOREIGN;
}

/* ---- rows ---- */

static bool block_read(struct reader *r, hsize_t at, hsize_t count)
{
    hid_t in_memory = H5Screate_simple(1, &count, NULL);
    bool sound = true;
    for (uint32_t i = 0; sound && i < r->columns; i++) {
        hid_t in_file = H5Dget_space(r->column[i].set);
        sound = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &at, NULL, &count, NULL) >= 0 &&
                H5Dread(r->column[i].set, r->column[i].type, in_memory, in_file, H5P_DEFAULT,
                        r->column[i].block) >= 0;
        H5Sclose(in_file);
    }
    H5Sclose(in_memory);
    return sound;
}

static void cell_put(FILE *out, const struct column *c, uint32_t row)
{
    const char *at = c->block + row * c->bytes;
    int64_t integer = 0;
    double real = 0;
    if (c->kind != WORDS) {
        memcpy(&integer, at, sizeof integer);
        memcpy(&real, at, sizeof real);
    }
    if (c->kind == UNSIGNED) {
        fprintf(out, "%llu", (unsigned long long)integer);
    } else if (c->kind == SIGNED && integer != -1) {
        fprintf(out, "%lld", (long long)integer);
    } else if (c->kind == REAL && isfinite(real)) {
        fprintf(out, "%.17g", real);
    } else if (c->kind == WORDS) {
        fputc('"', out);
        for (; *at; at++)
            fputs(*at == '"' ? "\"\"" : (const char[]){*at, 0}, out);
        fputc('"', out);
    }
}

static void rows_put(struct reader *r)
{
    bool sound = true;
    for (hsize_t at = 0; sound && at < r->rows; at += BLOCK) {
        uint32_t count = (uint32_t)(r->rows - at < BLOCK ? r->rows - at : BLOCK);
        alarm(SECONDS);
        sound = block_read(r, at, count);
        alarm(0); /* writing waits for the reader */
        for (uint32_t row = 0; sound && row < count; row++)
            for (uint32_t i = 0; i < r->columns; i++) {
                cell_put(r->out, &r->column[i], row);
                fputc(i + 1 < r->columns ? ',' : '\n', r->out);
            }
        sound &= !ferror(r->out); /* else nobody reads it */
    }
    fputs(sound && !r->cut ? REP_HDF5_END : REP_HDF5_UNREAD, r->out);
}

static void table_put(FILE *out, const char *path, const char *table)
{
    struct reader r = {.out = out};
    alarm(SECONDS);
    enum rep_hdf5_found found = table_open(&r, path, table);
    alarm(0);
    fputc((int)found, out);
    for (uint32_t i = 0; found == REP_HDF5_TABLE && i < r.columns; i++)
        fprintf(out, "%s%c", r.column[i].name, i + 1 < r.columns ? ',' : '\n');
    if (found == REP_HDF5_TABLE)
        rows_put(&r);
}

struct asked {
    const char *path, *table;
};

static void asked_put(FILE *out, void *context)
{
    const struct asked *a = context;
    table_put(out, a->path, a->table);
}

FILE *rep_hdf5_child(const char *path, const char *table, pid_t *child)
{
    return ker_child_begin(asked_put, &(struct asked){path, table}, child);
}

#else

FILE *rep_hdf5_child(const char *path, const char *table, pid_t *child)
{
    return NULL;
}

#endif
