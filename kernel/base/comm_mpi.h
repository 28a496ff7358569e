/* comm_mpi.h - what inside kernel/ needs MPI itself. Not for other folders. */
#ifndef KERNEL_COMM_MPI_H
#define KERNEL_COMM_MPI_H

#include "kernel/base/comm.h"

#include <mpi.h>

/* The communicator of all ranks, a duplicate of MPI_COMM_WORLD used by comm.c too (it sends point to point
 * with tag KER_COMM_TAG only); MPI_COMM_NULL when there is no MPI: then nothing of MPI may be called. */
MPI_Comm ker_comm_mpi(const struct ker_comm *comm);
#define KER_COMM_TAG 32767

#endif
