/* marks.c - a program for tests/run/skip-traces.sh: marks STEPS steps by MPI_Pcontrol, with a ring of
 * persistent requests in each. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 100, rank, size, out = 0, in = 0, all;
    volatile double x = 1;
    MPI_Request ring[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Recv_init(&in, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, &ring[0]);
    MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, &ring[1]);
    for (int step = 0; step < steps; step++) {
        MPI_Pcontrol(2);
        for (int i = 0; i < 10000 * (1 + step % 2); i++)
            x = x * 1.0000001 + 1e-9;
        MPI_Startall(2, ring);
        MPI_Waitall(2, ring, MPI_STATUSES_IGNORE);
        if (step % 2)
            MPI_Allreduce(&in, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Request_free(&ring[0]);
    MPI_Request_free(&ring[1]);
    MPI_Finalize();
    return 0;
}
