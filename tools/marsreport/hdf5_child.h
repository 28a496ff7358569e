/* hdf5_child.h - a table of results.h5, read by a process of its own. Inside tools/marsreport/, for
 * table_hdf5.c.
 *
 * Damaged files make the HDF5 library divide by 0, use memory that is not its own, or go round in circles. So
 * a child reads and writes into a pipe what it has read; whatever happens to it, the parent continues.
 *
 * In the pipe: a struct rep_hdf5_head; for each column a struct rep_hdf5_column and its name; then blocks of
 * rows: their number (uint32_t), and the cells of each column, one column behind the other. A block of no
 * rows ends the table, one of REP_HDF5_UNREAD says that the rest cannot be read.
 */
#ifndef MARSREPORT_HDF5_CHILD_H
#define MARSREPORT_HDF5_CHILD_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define REP_HDF5_BLOCK 4096u  /* rows of a block at most */
#define REP_HDF5_TEXT 4096u   /* bytes of a cell at most */
#define REP_HDF5_NAMES 65536u /* bytes of all names of columns */
#define REP_HDF5_COLUMNS 1024u
#define REP_HDF5_UNREAD UINT32_MAX
#define REP_HDF5_SECONDS 60 /* that the library may take for one block */

enum rep_hdf5_found { REP_HDF5_NO_FILE = 1, REP_HDF5_NO_TABLE, REP_HDF5_FOREIGN, REP_HDF5_TABLE };
struct rep_hdf5_head {
    uint32_t found, columns;
};
enum rep_hdf5_kind { REP_HDF5_SIGNED, REP_HDF5_UNSIGNED, REP_HDF5_REAL, REP_HDF5_WORDS };
struct rep_hdf5_column {
    uint32_t kind, bytes,
        name; /* of a cell, which is 8 long but for texts, and these end with a 0; of its name */
};

/* The library is loaded. The child's end of the pipe; NULL: there is no process. */
FILE *rep_hdf5_child(const char *path, const char *table, pid_t *child);

#endif
