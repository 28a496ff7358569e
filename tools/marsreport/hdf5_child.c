/* hdf5_child.c - see hdf5_child.h.
 *
 * Columns are read in blocks of rows: as 64-bit integers, as doubles, or as texts of their fixed length. A
 * table has as many rows as the shortest of its columns. A file that is none of marssim, or was cut, may have
 * anything in it: a column of another kind than these makes the table unreadable, and rows that were never
 * written, of which a file may have any number, are not there.
 */
#include "tools/marsreport/hdf5_child.h"

#include "stats/hdf5_load.h"

#ifdef STATS_HDF5_FILE

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct column {
    const char *name;
    hid_t set, type; /* type: in memory */
    struct rep_hdf5_column head;
    char *block; /* its cells */
};

struct reader {
    FILE *out;
    hid_t file, group;
    struct column *column;
    uint32_t columns;
    hsize_t rows;
    bool cut; /* more rows are claimed than were written */
};

static void put(struct reader *r, const void *data, size_t bytes)
{
    if (fwrite(data, 1, bytes, r->out) != bytes)
        _exit(1); /* nobody reads it */
}

/* ---- the head ---- */

/* Names with commas; NULL: there is no such attribute. */
static char *names_read(hid_t group)
{
    hid_t attribute = H5Aopen(group, "columns", H5P_DEFAULT),
          type = attribute < 0 ? -1 : H5Aget_type(attribute),
          space = attribute < 0 ? -1 : H5Aget_space(attribute);
    if (type < 0 || space < 0 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
        H5Tget_size(type) >= REP_HDF5_NAMES || H5Sget_simple_extent_npoints(space) != 1)
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
        c->head.kind = H5Tget_sign(type) == H5T_SGN_NONE ? REP_HDF5_UNSIGNED : REP_HDF5_SIGNED;
        c->type = H5Tcopy(c->head.kind == REP_HDF5_UNSIGNED ? H5T_STD_U64LE : H5T_STD_I64LE);
    } else if (class == H5T_FLOAT) {
        c->head.kind = REP_HDF5_REAL;
        c->type = H5Tcopy(H5T_IEEE_F64LE);
    } else if (class == H5T_STRING && H5Tis_variable_str(type) == 0 && bytes < REP_HDF5_TEXT) {
        c->head.kind = REP_HDF5_WORDS;
        c->type = H5Tcopy(type);
        H5Tset_size(c->type, bytes + 1); /* with a zero behind each */
        H5Tset_strpad(c->type, H5T_STR_NULLTERM);
    } else {
        return false;
    }
    c->head.bytes = (uint32_t)H5Tget_size(c->type);
    return c->head.bytes >= (c->head.kind == REP_HDF5_WORDS ? 1 : 8) && c->head.bytes <= REP_HDF5_TEXT;
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
    c->block = ker_alloc((size_t)c->head.bytes * REP_HDF5_BLOCK);
    return true;
}

static bool columns_open(struct reader *r)
{
    char *rest = names_read(r->group);
    if (!rest || !*rest)
        return false;
    r->column = ker_alloc(REP_HDF5_COLUMNS * sizeof *r->column);
    for (char *name; (name = strsep(&rest, ",")) != NULL; r->columns++) {
        r->column[r->columns % REP_HDF5_COLUMNS].name = name;
        if (r->columns == REP_HDF5_COLUMNS || !column_open(r, &r->column[r->columns]))
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

static void rows_put(struct reader *r)
{
    for (hsize_t at = 0; at < r->rows; at += REP_HDF5_BLOCK) {
        uint32_t count = (uint32_t)(r->rows - at < REP_HDF5_BLOCK ? r->rows - at : REP_HDF5_BLOCK);
        alarm(REP_HDF5_SECONDS);
        bool sound = block_read(r, at, count);
        alarm(0); /* writing waits for the reader */
        if (!sound) {
            put(r, &(uint32_t){REP_HDF5_UNREAD}, sizeof(uint32_t));
            return;
        }
        put(r, &count, sizeof count);
        for (uint32_t i = 0; i < r->columns; i++)
            put(r, r->column[i].block, (size_t)count * r->column[i].head.bytes);
    }
    put(r, &(uint32_t){r->cut ? REP_HDF5_UNREAD : 0}, sizeof(uint32_t));
}

static void table_put(FILE *out, const char *path, const char *table)
{
    struct reader r = {.out = out};
    alarm(REP_HDF5_SECONDS);
    struct rep_hdf5_head head = {.found = table_open(&r, path, table)};
    alarm(0);
    head.columns = head.found == REP_HDF5_TABLE ? r.columns : 0;
    put(&r, &head, sizeof head);
    for (uint32_t i = 0; i < head.columns; i++) {
        r.column[i].head.name = (uint32_t)strlen(r.column[i].name);
        put(&r, &r.column[i].head, sizeof r.column[i].head);
        put(&r, r.column[i].name, r.column[i].head.name);
    }
    if (head.found == REP_HDF5_TABLE)
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
