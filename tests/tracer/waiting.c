/* One task that waits for a message by tests, in three ways: nothing between them; bursts of twenty of them,
 * with a computation of a millisecond behind each burst; two requests in turn. It says, for each way, how
 * many tests it made, its computation by its own CPU clock, and its wall time, ns. Between the ways it calls
 * MPI_Get_version. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double compute(double ns)
{
    double start = now(CLOCK_THREAD_CPUTIME_ID), end = start;
    while (end - start < ns)
        end = now(CLOCK_THREAD_CPUTIME_ID);
    return end - start;
}

static void wait_for(int polls, int burst, int requests)
{
    int in[2], out = 7, flag, version, part;
    double computed = 0, start = now(CLOCK_MONOTONIC);
    MPI_Request request[2];
    for (int i = 0; i < requests; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[i]);
    for (int i = 0; i < polls; i++) {
        MPI_Test(&request[i % requests], &flag, MPI_STATUS_IGNORE);
        if (burst && i % burst == burst - 1)
            computed += compute(1e6);
    }
    for (int i = 0; i < requests; i++)
        MPI_Send(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    for (int i = 0; i < requests; i++)
        MPI_Test(&request[i], &flag, MPI_STATUS_IGNORE);
    printf("%d %.0f %.0f\n", polls, computed, now(CLOCK_MONOTONIC) - start);
    MPI_Get_version(&version, &part);
}

int main(int argc, char **argv)
{
    int version, part;
    MPI_Init(&argc, &argv);
    MPI_Get_version(&version, &part);
    wait_for(1000000, 0, 1);
    wait_for(2000, 20, 1);
    wait_for(600001, 0, 2);
    MPI_Finalize();
    return 0;
}
