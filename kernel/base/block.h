/* block.h - memory that processes of one host share, under a name until all have opened it. Private to
 * kernel/base; ker_comm_share (comm_mpi.h) does it for the ranks of a comm.
 */
#ifndef KERNEL_BLOCK_H
#define KERNEL_BLOCK_H

#include <stddef.h>

struct block_name {
    char text[48]; /* "": there is none */
};

/* A new block of zeros, and its name; NULL, and no name, when there is none to be had. */
void *block_make(size_t bytes, struct block_name *);
/* The same block in another process; NULL: it cannot be had. */
void *block_open(size_t bytes, const struct block_name *);
/* When all have opened it: the block goes with the last of them. */
void block_forget(const struct block_name *);
void block_close(void *block, size_t bytes);

#endif
