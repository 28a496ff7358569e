/* names.c - the calls of MPI that formats name by numbers of their own. */
#include "traces/foreign/foreign.h"

const char *foreign_call_name(unsigned collective)
{
    static const char *const names[TASK_COLL_COUNT] = {
        [TASK_COLL_BARRIER] = "MPI_Barrier",
        [TASK_COLL_BCAST] = "MPI_Bcast",
        [TASK_COLL_REDUCE] = "MPI_Reduce",
        [TASK_COLL_ALLREDUCE] = "MPI_Allreduce",
        [TASK_COLL_GATHER] = "MPI_Gather",
        [TASK_COLL_GATHERV] = "MPI_Gatherv",
        [TASK_COLL_SCATTER] = "MPI_Scatter",
        [TASK_COLL_SCATTERV] = "MPI_Scatterv",
        [TASK_COLL_ALLGATHER] = "MPI_Allgather",
        [TASK_COLL_ALLGATHERV] = "MPI_Allgatherv",
        [TASK_COLL_ALLTOALL] = "MPI_Alltoall",
        [TASK_COLL_ALLTOALLV] = "MPI_Alltoallv",
        [TASK_COLL_REDUCE_SCATTER] = "MPI_Reduce_scatter",
        [TASK_COLL_REDUCE_SCATTER_BLOCK] = "MPI_Reduce_scatter_block",
        [TASK_COLL_SCAN] = "MPI_Scan",
        [TASK_COLL_EXSCAN] = "MPI_Exscan",
        [TASK_COLL_COMM] = "a communicator's creation",
        [TASK_COLL_NEIGHBOR_ALLGATHER] = "MPI_Neighbor_allgather",
        [TASK_COLL_NEIGHBOR_ALLGATHERV] = "MPI_Neighbor_allgatherv",
        [TASK_COLL_NEIGHBOR_ALLTOALL] = "MPI_Neighbor_alltoall",
        [TASK_COLL_NEIGHBOR_ALLTOALLV] = "MPI_Neighbor_alltoallv",
    };
    ker_assert(collective < TASK_COLL_COUNT);
    return names[collective];
}
