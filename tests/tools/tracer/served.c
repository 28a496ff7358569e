/* served.c - computes between calls that cost nothing in a replay, writes a file, and talks to nobody until a
 * last exchange: what its trace says is what the tests of processors and system calls expect. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char buffer[4096] = "", name[32];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "served.%d", rank);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    for (int i = 0; i < 20; i++) {
        for (volatile int j = 0; j < i * 5000; j++)
            ;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        if (write(file, buffer, sizeof buffer) < 0)
            return 1;
    }
    close(file);
    if (argc > 1)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
