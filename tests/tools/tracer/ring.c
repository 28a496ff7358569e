/* ring.c - a program for tests/tools/tracer.sh: a ring of messages with any source, sums in halves of the
 * world. */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define VALUES 256

int main(int argc, char **argv)
{
    int rank, size, steps = argc > 1 ? atoi(argv[1]) : 10, dies = argc > 2 ? atoi(argv[2]) : -1;
    double in[VALUES] = {0}, out[VALUES] = {0}, sum = 0, all;
    MPI_Request request[2];
    MPI_Comm half;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    for (int i = 0; i < steps; i++) {
        MPI_Irecv(in, VALUES, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request[0]);
        MPI_Isend(out, VALUES, MPI_DOUBLE, (rank + 1) % size, 7, MPI_COMM_WORLD, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, half);
    }
    if (rank == dies)
        kill(getpid(), SIGKILL);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
