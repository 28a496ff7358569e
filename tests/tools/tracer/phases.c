/* phases.c - a program for tests/tools/tracer.sh: a fixed amount of work, shared out among the tasks, in 20
 * steps with a collective each; MPI_Pcontrol around steps 5 to 7. phases [WORK]: additions in all. Each task
 * prints the processor time of its additions up to step 7, ns.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define STEPS 20

static long long processor_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

int main(int argc, char **argv)
{
    int size;
    long work = argc > 1 ? atol(argv[1]) : 1000;
    double sum = 0, all;
    volatile double x = 1;
    long long computed = 0, traced = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int step = 1; step <= STEPS; step++) {
        if (step == 5)
            MPI_Pcontrol(1);
        computed -= processor_ns();
        for (long i = 0; i < work / STEPS / size; i++)
            x = x * 1.0000001 + 1e-9;
        computed += processor_ns();
        traced = step <= 7 ? computed : traced;
        sum += x;
        if (step % 2)
            MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        else
            MPI_Barrier(MPI_COMM_WORLD);
        if (step == 7)
            MPI_Pcontrol(0);
    }
    printf("%lld\n", traced);
    MPI_Finalize();
    return 0;
}
