/* A broadcast whose root is the argument: parts of two runs are a trace that no run can have made. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int value = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Bcast(&value, 1, MPI_INT, atoi(argv[1]), MPI_COMM_WORLD);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
