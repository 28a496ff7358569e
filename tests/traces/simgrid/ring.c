/* ring.c - a program of which tests/traces/simgrid/ring.ti is the trace by SimGrid 3.32 (smpirun -trace-ti
 * -np 4), and that tests/traces/simgrid.sh traces by marstrace: both must say the same. */
#include <mpi.h>

#define MOST 8

static double a[4096], b[4096];
static int rank, size, next, before, even; /* even: all counts are equal */

static void messages(void)
{
    MPI_Request request[2];
    int index;
    for (int i = 0; i < 3; i++) {
        MPI_Irecv(b, 100, MPI_DOUBLE, before, 5, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(a, 100 - i, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    if (rank == 0)
        MPI_Send(a, 10, MPI_INT, 1, 7, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(b, 20, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, 5, MPI_CHAR, next, 1, b, 9, MPI_CHAR, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(b, 4000, MPI_LONG_DOUBLE, before, 6, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(a, 2000, MPI_LONG_DOUBLE, next, 6, MPI_COMM_WORLD, &request[1]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Irecv(b, 100, MPI_SHORT, before, 8, MPI_COMM_WORLD, &request[0]);
    MPI_Issend(a, 100, MPI_SHORT, next, 8, MPI_COMM_WORLD, &request[1]);
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
}

static void collectives(void)
{
    int count[MOST], place[MOST];
    for (int i = 0; i < size; i++) {
        count[i] = even ? 3 : i + 1;
        place[i] = 20 * i;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(a, 3, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, 2, MPI_COMM_WORLD);
    MPI_Allreduce(a, b, 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Gather(a, 4, MPI_INT, b, 4, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Gather(rank == 1 ? MPI_IN_PLACE : a, 4, MPI_INT, b, rank == 1 ? 4 : 0, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Scatter(a, rank == 0 ? 4 : 0, MPI_INT, b, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(a, 4, MPI_INT, b, 4, MPI_INT, MPI_COMM_WORLD);
    MPI_Gatherv(a, count[rank], MPI_INT, b, count, place, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Scatterv(a, count, place, MPI_INT, b, count[rank], MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allgatherv(a, count[rank], MPI_INT, b, count, place, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(a, 4, MPI_INT, b, 4, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce_scatter(a, b, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(a, b, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(a, b, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(a, b, 4, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        count[i] = even ? 2 : rank + i;
    MPI_Alltoallv(a, count, place, MPI_INT, b, count, place, MPI_INT, MPI_COMM_WORLD);
}

static void without_blocking(void)
{
    MPI_Request request[2];
    MPI_Ibarrier(MPI_COMM_WORLD, &request[0]);
    MPI_Iallreduce(a, b, 40, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request[1]);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Ibcast(a, 4, MPI_FLOAT, 0, MPI_COMM_WORLD, &request[0]);
    MPI_Ialltoall(a, 6, MPI_INT, b + 100, 6, MPI_INT, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    even = argc > 1;
    if (size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 1);
    messages();
    collectives();
    without_blocking();
    MPI_Finalize();
    return 0;
}
