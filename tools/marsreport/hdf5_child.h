/* hdf5_child.h - a table of results.h5, read by a process of its own. Inside tools/marsreport/, for
 * table.c.
 *
 * Damaged files make the HDF5 library divide by 0, use memory that is not its own, or go round in circles. So
 * a child reads and writes into a pipe what it has read; whatever happens to it, the parent continues.
 *
 * In the pipe: a byte, enum rep_hdf5_found; of a table CSV as marssim writes it, with a head, and a line
 * more, REP_HDF5_END, or REP_HDF5_UNREAD where the rest cannot be read.
 */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#define REP_HDF5_END "\1\n"
#define REP_HDF5_UNREAD "\2\n"
enum rep_hdf5_found { REP_HDF5_NO_FILE = 1, REP_HDF5_NO_TABLE, REP_HDF5_FOREIGN, REP_HDF5_TABLE };

/* The library is loaded. The child's end of the pipe; NULL: there is no process. */
FILE *rep_hdf5_child(const char *path, const char *table, pid_t *child);
