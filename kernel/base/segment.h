/* segment.h - memory that processes of one host share, under a name until all have opened it. Private to
 * kernel/base; ker_comm_share (comm_mpi.h) does it for the ranks of a comm.
 */
#pragma once

#include <stddef.h>

struct segment_name {
    char text[48]; /* "": there is none */
};

/* A new segment of zeros, and its name; NULL, and no name, when there is none to be had. */
void *segment_make(size_t bytes, struct segment_name *);
/* The same segment in another process; NULL: it cannot be had. */
void *segment_open(size_t bytes, const struct segment_name *);
/* When all have opened it: the segment goes with the last of them. */
void segment_forget(const struct segment_name *);
void segment_close(void *block, size_t bytes);
