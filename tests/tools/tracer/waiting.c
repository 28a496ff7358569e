/* One task that waits for a message by tests: nothing between them; bursts of twenty of them, with a
 * computation of a millisecond behind each burst; two requests in turn; by Testany, Testall and Testsome of
 * five requests and MPI_Request_get_status of one in turn, with their flags and statuses in other places each
 * time; and by MPI_Iprobe and MPI_Improbe. It says, for
 * in each direction, how many polls it made, its computation by its own CPU clock, and its wall time, ns.
 * Between the ways it calls MPI_Get_version. */
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

static double begun; /* before the way's first call */

static void said(int polls, double computed)
{
    int version, part;
    printf("%d %.0f %.0f\n", polls, computed, now(CLOCK_MONOTONIC) - begun);
    begun = now(CLOCK_MONOTONIC);
    MPI_Get_version(&version, &part);
}

static void wait_for(int polls, int burst, int requests)
{
    int in[2], out = 7, flag;
    double computed = 0;
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
    said(polls, computed);
}

#define MANY 5

static void many(int polls)
{
    int in[MANY], out = 7, flags[2], index, count, indices[MANY];
    MPI_Request request[MANY], other[MANY];
    MPI_Status statuses[2 * MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[i]);
    for (int i = 0; i < MANY; i++)
        other[i] = request[i];
    for (int i = 0; i < polls; i++) {
        int *flag = &flags[i / 4 % 2];
        MPI_Request *of = i / 8 % 2 ? request : other;
        MPI_Status *status = i / 16 % 2 ? MPI_STATUSES_IGNORE : &statuses[i / 32 % MANY];
        if (i % 4 == 0)
            MPI_Testany(MANY, of, &index, flag, status);
        else if (i % 4 == 1)
            MPI_Testall(MANY, of, flag, status);
        else if (i % 4 == 2)
            MPI_Testsome(MANY, of, &count, indices, status);
        else
            MPI_Request_get_status(of[2], flag, status);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Send(&out, 1, MPI_INT, 0, i, MPI_COMM_SELF);
    MPI_Testany(MANY, request, &index, flags, MPI_STATUS_IGNORE);
    MPI_Testall(MANY, request, flags, statuses);
    said(polls, 0);
}

static void probes(int polls)
{
    int in, out = 7, flag;
    MPI_Message message;
    for (int i = 0; i < polls; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
    }
    MPI_Send(&out, 1, MPI_INT, 0, 3, MPI_COMM_SELF);
    MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    MPI_Improbe(0, MPI_ANY_TAG, MPI_COMM_SELF, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    said(2 * polls, 0);
}

int main(int argc, char **argv)
{
    int version, part;
    MPI_Init(&argc, &argv);
    begun = now(CLOCK_MONOTONIC);
    MPI_Get_version(&version, &part);
    wait_for(1000000, 0, 1);
    wait_for(2000, 20, 1);
    wait_for(600001, 0, 2);
    many(300000);
    probes(200000);
    MPI_Finalize();
    return 0;
}
