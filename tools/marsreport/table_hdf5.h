/* table_hdf5.h - a table of results.h5 (stats/hdf5.h), row by row. Inside tools/marsreport/, for table.c. */
#ifndef MARSREPORT_TABLE_HDF5_H
#define MARSREPORT_TABLE_HDF5_H

#include "tools/marsreport/report.h"

struct rep_hdf5;
/* NULL: there is no results.h5, or it has no such table; or it is damaged, which a note says once. */
struct rep_hdf5 *rep_hdf5_open(struct rep_folder *, const char *table);
void rep_hdf5_close(struct rep_hdf5 *); /* takes NULL */
int rep_hdf5_columns(const struct rep_hdf5 *);
const char *rep_hdf5_name(const struct rep_hdf5 *, int column);
/* To the first or next row; false: that was the last, or the rest cannot be read (a note says so). */
bool rep_hdf5_next(struct rep_hdf5 *);
/* Cells of the current row: texts "" where the column has none, numbers 0 where the cell is empty. */
bool rep_hdf5_empty(const struct rep_hdf5 *, int column);
const char *rep_hdf5_text(const struct rep_hdf5 *, int column);
double rep_hdf5_real(const struct rep_hdf5 *, int column);
int64_t rep_hdf5_integer(const struct rep_hdf5 *, int column);
json_t *rep_hdf5_json(const struct rep_hdf5 *, int column);

#endif
