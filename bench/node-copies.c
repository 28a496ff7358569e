/* node-copies.c - messages between two tasks of one node: half the time of a round trip of 8 bytes, in ns,
 * and the bytes per second of one of 1 MiB less that; medians. Run with mpirun -n 2.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 501

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double half_trip(int rank, char *buffer, int bytes)
{
    static double time[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        double begin = MPI_Wtime();
        for (int way = 0; way < 2; way++)
            if (way == rank)
                MPI_Send(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
            else
                MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        time[i] = MPI_Wtime() - begin;
    }
    qsort(time, ROUNDS, sizeof *time, ascending);
    return time[ROUNDS / 2] / 2;
}

int main(int argc, char **argv)
{
    int rank, bytes = 1 << 20;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *buffer = malloc((size_t)bytes);
    memset(buffer, 1, (size_t)bytes);
    double small = half_trip(rank, buffer, 8), large = half_trip(rank, buffer, bytes);
    if (rank == 0)
        printf("%.0f %.0f\n", small * 1e9, bytes / (large - small));
    free(buffer);
    MPI_Finalize();
    return 0;
}
