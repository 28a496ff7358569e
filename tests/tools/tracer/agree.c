/* agree.c - traced several times with other words; the files of tasks of different runs are then no program
 * of MPI's together: agree ROOT BYTES KIND COUNT TAG COLOUR WAITS. KIND: r Reduce, a Allreduce. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static char buffer[4096], other[4096];
    int rank, size, counts[16], places[16], value = 1, sum;
    if (argc != 8)
        return 2;
    int root = atoi(argv[1]), bytes = atoi(argv[2]), count = atoi(argv[4]), tag = atoi(argv[5]);
    int colour = atoi(argv[6]), waits = atoi(argv[7]);
    MPI_Request request[2];
    MPI_Comm part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(buffer, bytes, MPI_CHAR, root, MPI_COMM_WORLD);
    if (argv[3][0] == 'r')
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        counts[i] = count;
        places[i] = i * count;
    }
    MPI_Alltoallv(buffer, counts, places, MPI_CHAR, other, counts, places, MPI_CHAR, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, colour == 2 ? rank % 2 : colour, 0, &part);
    MPI_Irecv(other, 100, MPI_CHAR, (rank + size - 1) % size, tag, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(buffer, 100, MPI_CHAR, (rank + 1) % size, tag, MPI_COMM_WORLD, &request[1]);
    if (waits)
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    else
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Barrier(part);
    MPI_Finalize();
    return 0;
}
