/* stopwatch.c - the wall time of rank 0 from the end of MPI_Init to the beginning of MPI_Finalize, a line of
 * the file that STOPWATCH names: loaded by LD_PRELOAD, so that a program is timed as a trace of it is
 * replayed, and nothing else is added. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begin;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int MPI_Init(int *argc, char ***argv)
{
    int status = PMPI_Init(argc, argv);
    begin = now();
    return status;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int status = PMPI_Init_thread(argc, argv, required, provided);
    begin = now();
    return status;
}

int MPI_Finalize(void)
{
    double took = now() - begin;
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *out = rank == 0 ? fopen(getenv("STOPWATCH"), "a") : NULL;
    if (out) {
        fprintf(out, "%.6f\n", took);
        fclose(out);
    }
    return PMPI_Finalize();
}
