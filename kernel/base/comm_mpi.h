/* comm_mpi.h - what inside kernel/ needs MPI itself, or memory that ranks share. Not for other folders. */
#pragma once

#include "kernel/base/comm.h"

#include <mpi.h>

/* The communicator of these ranks, used by comm.c too (it sends point to point with tag KER_COMM_TAG only);
 * MPI_COMM_NULL for a rank that is alone: then nothing of MPI may be called. */
MPI_Comm ker_comm_mpi(const struct ker_comm *comm);
#define KER_COMM_TAG 32767

/* Collective. A block of zeros that all ranks see, each at an address of its own; NULL on all ranks when they
 * cannot share one: they are on several hosts, or one of them gets none. Each lets go of it by itself. */
void *ker_comm_share(struct ker_comm *, size_t bytes);
void ker_comm_unshare(void *block, size_t bytes);
