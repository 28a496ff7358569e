/* table_hdf5.c - see table_hdf5.h.
 *
 * Columns are read in blocks of BLOCK rows: as 64-bit integers, as doubles, or as texts of their fixed
 * length. A table has as many rows as the shortest of its columns. A file that is none of marssim, or was
 * cut, may have anything in it: a column of another kind than these makes the table unreadable.
 */
#include "tools/marsreport/table_hdf5.h"

#include "stats/hdf5_load.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 4096, MOST_TEXT = 65536 };

enum kind { KIND_SIGNED, KIND_UNSIGNED, KIND_REAL, KIND_TEXT };

struct column {
    char *name;
    hid_t set, type; /* type: in memory */
    size_t bytes;
    enum kind kind;
    char *block; /* of BLOCK cells; of texts one more byte each, which stays 0 */
};

struct rep_hdf5 {
    struct rep_folder *folder;
    char *table;
    hid_t file, group;
    struct column *column;
    int columns;
    hsize_t rows, first, at; /* first: of the block; at: of the row behind the one at hand */
};

static void damage(struct rep_folder *f, const char *what)
{
    if (!f->hdf5_told)
        rep_note(f, true, STATS_HDF5_NAME ": %s", what);
    f->hdf5_told = true;
}

void rep_hdf5_close(struct rep_hdf5 *h)
{
    if (!h)
        return;
    for (int i = 0; i < h->columns; i++) {
        if (h->column[i].type >= 0)
            H5Tclose(h->column[i].type);
        if (h->column[i].set >= 0)
            H5Dclose(h->column[i].set);
        free(h->column[i].block);
        free(h->column[i].name);
    }
    if (h->group >= 0)
        H5Gclose(h->group);
    if (h->file >= 0)
        H5Fclose(h->file);
    free(h->column);
    free(h->table);
    free(h);
}

/* ---- the head ---- */

/* Names with commas; NULL: there is no such attribute. */
static char *names_read(hid_t group)
{
    hid_t attribute = H5Aopen(group, "columns", H5P_DEFAULT),
          type = attribute < 0 ? -1 : H5Aget_type(attribute);
    char *names = NULL;
    if (type >= 0 && H5Tget_class(type) == H5T_STRING && H5Tis_variable_str(type) == 0 &&
        H5Tget_size(type) < MOST_TEXT) {
        names = ker_alloc(H5Tget_size(type) + 1);
        if (H5Aread(attribute, type, names) < 0)
            names[0] = '\0';
    }
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return names;
}

/* What a column of the file is in memory; false: none of what marssim writes. */
static bool type_take(struct column *c, hid_t type)
{
    H5T_class_t class = H5Tget_class(type);
    if (class == H5T_INTEGER) {
        c->kind = H5Tget_sign(type) == H5T_SGN_NONE ? KIND_UNSIGNED : KIND_SIGNED;
        c->type = H5Tcopy(c->kind == KIND_UNSIGNED ? H5T_STD_U64LE : H5T_STD_I64LE);
    } else if (class == H5T_FLOAT) {
        c->kind = KIND_REAL;
        c->type = H5Tcopy(H5T_IEEE_F64LE);
    } else if (class == H5T_STRING && H5Tis_variable_str(type) == 0 && H5Tget_size(type) <= MOST_TEXT) {
        c->kind = KIND_TEXT;
        c->type = H5Tcopy(type);
        H5Tset_size(c->type, H5Tget_size(type) + 1); /* with a zero behind each */
        H5Tset_strpad(c->type, H5T_STR_NULLTERM);
    } else {
        return false;
    }
    c->bytes = H5Tget_size(c->type);
    return true;
}

static bool column_open(struct rep_hdf5 *h, struct column *c)
{
    c->set = H5Lexists(h->group, c->name, H5P_DEFAULT) > 0 ? H5Dopen2(h->group, c->name, H5P_DEFAULT) : -1;
    if (c->set < 0)
        return false;
    hid_t type = H5Dget_type(c->set), space = H5Dget_space(c->set);
    hssize_t rows = H5Sget_simple_extent_ndims(space) == 1 ? H5Sget_simple_extent_npoints(space) : -1;
    bool sound = type >= 0 && rows >= 0 && type_take(c, type);
    if (sound && (h->columns == 1 || (hsize_t)rows < h->rows))
        h->rows = (hsize_t)rows;
    H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    c->block = sound ? ker_alloc(c->bytes * BLOCK) : NULL;
    return sound;
}

static bool columns_open(struct rep_hdf5 *h)
{
    char *names = names_read(h->group), *rest = names;
    bool sound = names && *names;
    for (char *name; sound && (name = strsep(&rest, ",")) != NULL;) {
        struct column *c = KER_APPEND(h->column, h->columns);
        *c = (struct column){.name = ker_format("%s", name), .set = -1, .type = -1};
        sound = column_open(h, c);
    }
    free(names);
    return sound;
}

static hid_t file_open(struct rep_folder *f)
{
    struct ker_error error = {.status = KER_OK};
    char *path = ker_format("%s/" STATS_HDF5_NAME, f->path);
    hid_t file = -1;
    if (f->hdf5_told || access(path, R_OK) != 0) {
        free(path);
        return -1;
    }
    if (stats_hdf5_load(&error) != KER_OK) {
        damage(f, error.text);
    } else {
        H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
        hid_t how = H5Pcreate(H5P_FILE_ACCESS);
        H5Pset_file_locking(how, false, true); /* the run may still be writing */
        file = H5Fopen(path, H5F_ACC_RDONLY, how);
        H5Pclose(how);
        if (file < 0)
            damage(f, "is no file of HDF5, or was cut; it is left out");
    }
    free(path);
    return file;
}

struct rep_hdf5 *rep_hdf5_open(struct rep_folder *f, const char *table)
{
    hid_t file = file_open(f);
    if (file < 0)
        return NULL;
    struct rep_hdf5 *h = ker_alloc(sizeof *h);
    h->folder = f;
    h->file = file;
    h->table = ker_format("%s", table);
    h->group = H5Lexists(file, table, H5P_DEFAULT) > 0 ? H5Gopen2(file, table, H5P_DEFAULT) : -1;
    if (h->group >= 0 && columns_open(h))
        return h;
    if (h->group >= 0)
        rep_note(f, true, STATS_HDF5_NAME ": /%s is no table of marssim; it is left out", table);
    rep_hdf5_close(h);
    return NULL;
}

int rep_hdf5_columns(const struct rep_hdf5 *h)
{
    return h->columns;
}

const char *rep_hdf5_name(const struct rep_hdf5 *h, int column)
{
    return h->column[column].name;
}

/* ---- rows ---- */

static bool block_read(struct rep_hdf5 *h)
{
    hsize_t left = h->rows - h->at, count = left < BLOCK ? left : BLOCK;
    bool sound = true;
    hid_t in_memory = H5Screate_simple(1, &count, NULL);
    for (int i = 0; sound && i < h->columns; i++) {
        hid_t in_file = H5Dget_space(h->column[i].set);
        sound = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, &h->at, NULL, &count, NULL) >= 0 &&
                H5Dread(h->column[i].set, h->column[i].type, in_memory, in_file, H5P_DEFAULT,
                        h->column[i].block) >= 0;
        H5Sclose(in_file);
    }
    H5Sclose(in_memory);
    h->first = h->at;
    if (!sound)
        rep_note(h->folder, true, STATS_HDF5_NAME ": /%s cannot be read from row %llu on; it ends there",
                 h->table, (unsigned long long)h->at + 1);
    return sound;
}

bool rep_hdf5_next(struct rep_hdf5 *h)
{
    if (h->at == h->rows || (h->at % BLOCK == 0 && !block_read(h)))
        return false;
    h->at++;
    return true;
}

static const char *cell(const struct rep_hdf5 *h, int column)
{
    return h->column[column].block + (h->at - 1 - h->first) * h->column[column].bytes;
}

static int64_t integer_of(const struct rep_hdf5 *h, int column)
{
    int64_t value;
    memcpy(&value, cell(h, column), sizeof value);
    return value;
}

static double real_of(const struct rep_hdf5 *h, int column)
{
    double value;
    memcpy(&value, cell(h, column), sizeof value);
    return value;
}

bool rep_hdf5_empty(const struct rep_hdf5 *h, int column)
{
    switch (h->column[column].kind) {
    case KIND_SIGNED:
        return integer_of(h, column) == -1;
    case KIND_REAL:
        return !isfinite(real_of(h, column));
    case KIND_TEXT:
        return *cell(h, column) == '\0';
    default:
        return false;
    }
}

const char *rep_hdf5_text(const struct rep_hdf5 *h, int column)
{
    return h->column[column].kind == KIND_TEXT ? cell(h, column) : "";
}

double rep_hdf5_real(const struct rep_hdf5 *h, int column)
{
    enum kind kind = h->column[column].kind;
    if (kind == KIND_TEXT || rep_hdf5_empty(h, column))
        return 0;
    return kind == KIND_REAL       ? real_of(h, column)
           : kind == KIND_UNSIGNED ? (double)(uint64_t)integer_of(h, column)
                                   : (double)integer_of(h, column);
}

int64_t rep_hdf5_integer(const struct rep_hdf5 *h, int column)
{
    enum kind kind = h->column[column].kind;
    if (kind == KIND_TEXT || rep_hdf5_empty(h, column))
        return 0;
    if (kind != KIND_REAL)
        return integer_of(h, column);
    double real = real_of(h, column);
    return fabs(real) < 9e18 ? (int64_t)real : 0;
}

json_t *rep_hdf5_json(const struct rep_hdf5 *h, int column)
{
    if (rep_hdf5_empty(h, column))
        return json_null();
    switch (h->column[column].kind) {
    case KIND_TEXT: {
        json_t *text = json_string(cell(h, column));
        return text ? text : json_string("(no text in UTF-8)");
    }
    case KIND_REAL:
        return json_real(real_of(h, column));
    default:
        return json_integer(integer_of(h, column));
    }
}
