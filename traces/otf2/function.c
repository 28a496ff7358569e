/* function.c - functions of MPI by the names of regions, in C or Fortran. */
#include "traces/otf2/otf2.h"

#include <string.h>

static const struct otf2_function functions[] = {
    {"MPI_Init", OTF2_CALLS_INIT, 0},
    {"MPI_Init_thread", OTF2_CALLS_INIT, 0},
    {"MPI_Finalize", OTF2_CALLS_FINALIZE, 0},
    {"MPI_Send", OTF2_CALLS_ANY, TASK_MODE_STANDARD},
    {"MPI_Ssend", OTF2_CALLS_ANY, TASK_MODE_SYNCHRONOUS},
    {"MPI_Bsend", OTF2_CALLS_ANY, TASK_MODE_BUFFERED},
    {"MPI_Rsend", OTF2_CALLS_ANY, TASK_MODE_READY},
    {"MPI_Isend", OTF2_CALLS_ANY, TASK_MODE_STANDARD},
    {"MPI_Issend", OTF2_CALLS_ANY, TASK_MODE_SYNCHRONOUS},
    {"MPI_Ibsend", OTF2_CALLS_ANY, TASK_MODE_BUFFERED},
    {"MPI_Irsend", OTF2_CALLS_ANY, TASK_MODE_READY},
    {"MPI_Recv", OTF2_CALLS_ANY, 0},
    {"MPI_Irecv", OTF2_CALLS_ANY, 0},
    {"MPI_Mrecv", OTF2_CALLS_ANY, 0},
    {"MPI_Imrecv", OTF2_CALLS_ANY, 0},
    {"MPI_Start", OTF2_CALLS_ANY, 0},
    {"MPI_Startall", OTF2_CALLS_ANY, 0},
    {"MPI_Sendrecv", OTF2_CALLS_SENDRECV, 0},
    {"MPI_Sendrecv_replace", OTF2_CALLS_SENDRECV, 0},
    {"MPI_Wait", OTF2_CALLS_ANY, 0},
    {"MPI_Waitall", OTF2_CALLS_ANY, 0},
    {"MPI_Waitany", OTF2_CALLS_ANY, 0},
    {"MPI_Waitsome", OTF2_CALLS_ANY, 0},
    {"MPI_Test", OTF2_CALLS_POLL, 0},
    {"MPI_Testall", OTF2_CALLS_POLL, 0},
    {"MPI_Testany", OTF2_CALLS_POLL, 0},
    {"MPI_Testsome", OTF2_CALLS_POLL, 0},
    {"MPI_Iprobe", OTF2_CALLS_POLL, 0},
    {"MPI_Improbe", OTF2_CALLS_POLL, 0},
    {"MPI_Barrier", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Bcast", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Reduce", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Allreduce", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Gather", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Gatherv", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Scatter", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Scatterv", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Allgather", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Allgatherv", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Alltoall", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Alltoallv", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Alltoallw", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Reduce_scatter", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Reduce_scatter_block", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Scan", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Exscan", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Ibarrier", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Ibcast", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Ireduce", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Iallreduce", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Igather", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Igatherv", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Iscatter", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Iscatterv", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Iallgather", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Iallgatherv", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Ialltoall", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Ialltoallv", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Ireduce_scatter", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Ireduce_scatter_block", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Iscan", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Iexscan", OTF2_CALLS_COLLECTIVE, 0},
    {"MPI_Comm_dup", OTF2_CALLS_ANY, 0},
    {"MPI_Comm_split", OTF2_CALLS_ANY, 0},
    {"MPI_Comm_create", OTF2_CALLS_ANY, 0},
    {"MPI_Cart_create", OTF2_CALLS_ANY, 0},
    {"MPI_Cart_sub", OTF2_CALLS_ANY, 0},
    {"MPI_Comm_spawn", OTF2_CALLS_REFUSED, 0},
    {"MPI_Comm_spawn_multiple", OTF2_CALLS_REFUSED, 0},
    {"MPI_Comm_connect", OTF2_CALLS_REFUSED, 0},
    {"MPI_Comm_accept", OTF2_CALLS_REFUSED, 0},
    {"MPI_Psend_init", OTF2_CALLS_REFUSED, 0},
    {"MPI_Precv_init", OTF2_CALLS_REFUSED, 0},
    {"MPI_Put", OTF2_CALLS_REFUSED, 0},
    {"MPI_Get", OTF2_CALLS_REFUSED, 0},
    {"MPI_Accumulate", OTF2_CALLS_REFUSED, 0},
    {"MPI_Neighbor_allgather", OTF2_CALLS_REFUSED, 0},
    {"MPI_Neighbor_allgatherv", OTF2_CALLS_REFUSED, 0},
    {"MPI_Neighbor_alltoall", OTF2_CALLS_REFUSED, 0},
    {"MPI_Neighbor_alltoallv", OTF2_CALLS_REFUSED, 0},
    {"MPI_Neighbor_alltoallw", OTF2_CALLS_REFUSED, 0},
};

const struct otf2_function *otf2_function_find(const char *name)
{
    static const struct otf2_function other = {"another function of MPI", OTF2_CALLS_ANY, 0};
    size_t length = strlen(name);
    if (strncasecmp(name, "MPI_", 4) != 0)
        return NULL;
    while (length > 4 && name[length - 1] == '_')
        length--;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == length && strncasecmp(functions[i].name, name, length) == 0)
            return &functions[i];
    return &other;
}
