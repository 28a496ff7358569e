/* phases.c - a program for tests/tracer.sh: a fixed amount of work, shared out among the tasks, in 20 steps
 * with a collective each; MPI_Pcontrol around steps 5 to 7. phases [WORK]: additions in all.
 */
#include <mpi.h>
#include <stdlib.h>

#define STEPS 20

int main(int argc, char **argv)
{
    int size;
    long work = argc > 1 ? atol(argv[1]) : 1000;
    double sum = 0, all;
    volatile double x = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 1; step <= STEPS; step++) {
        if (step == 5)
            MPI_Pcontrol(1);
        for (long i = 0; i < work / STEPS / size; i++)
            x = x * 1.0000001 + 1e-9;
        sum += x;
        if (step % 2)
            MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
        if (step == 7)
            MPI_Pcontrol(0);
    }
    MPI_Finalize();
    return 0;
}
