/* hdf5.h - results.h5: tables as groups, columns as data sets. On rank 0.
 *
 * /NAME is a group for a table, with the attributes `rows` (what a row is), `columns` (their names in order),
 * and `axes` (of those that a row is named by); /NAME/COLUMN a data set with one element for each row, with
 * `unit` and `meaning`. Integers keep their size; times are signed, -1 where a cell of the CSV file is empty;
 * quotients and means are doubles, NaN where it is empty; texts have a fixed length. The file's own
 * attributes say what ran.
 *
 * The bytes of the file follow from the rows and from when it was flushed: no times are in it, and the size
 * of its chunks is fixed. What was flushed can be read though the program may have been killed.
 */
#pragma once

#include "stats/table.h"

#define STATS_HDF5_NAME "results.h5"

struct stats_hdf5;
struct stats_hdf5_table;

/* Makes FOLDER/results.h5; NULL: it cannot. */
struct stats_hdf5 *stats_hdf5_open(const char *folder, struct ker_error *);
/* An attribute of the file. */
void stats_hdf5_tell(struct stats_hdf5 *, const char *name, const char *text);
/* A group for tables like this one, with no rows yet. */
struct stats_hdf5_table *stats_hdf5_add(struct stats_hdf5 *, const struct stats_table *);
void stats_hdf5_row(struct stats_hdf5_table *, const struct stats_table *, size_t row);
void stats_hdf5_flush(struct stats_hdf5 *);
/* Takes NULL. A failed write, now or before, is reported here. */
enum ker_status stats_hdf5_close(struct stats_hdf5 *, struct ker_error *);

/* A resumed run: the rows that an earlier file, which is closed, had in tables of the same names, added and
 * flushed as they were: at every change of their first column. false: it cannot be read. */
bool stats_hdf5_copy(struct stats_hdf5 *, const char *earlier);
