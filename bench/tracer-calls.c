/* tracer-calls.c - what a call costs: ns for MPI_Comm_rank, for Irecv, Isend and Waitall to oneself, and for
 * polls that find nothing: MPI_Test, MPI_Testany of 16 receives, MPI_Iprobe; the mean over all, blocks
 * written included. bench/tracer runs it with and without the tracer.
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#define CALLS 600000
#define POLLS 3000000
#define PENDING 16

static double now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void polls_ns(double ns[3])
{
    MPI_Request request[PENDING];
    double in[PENDING], start;
    int index, flag;
    for (int i = 0; i < PENDING; i++)
        MPI_Irecv(&in[i], 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF, &request[i]);
    start = now_ns();
    for (int i = 0; i < POLLS; i++)
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    ns[0] = (now_ns() - start) / POLLS;
    start = now_ns();
    for (int i = 0; i < POLLS; i++)
        MPI_Testany(PENDING, request, &index, &flag, MPI_STATUS_IGNORE);
    ns[1] = (now_ns() - start) / POLLS;
    start = now_ns();
    for (int i = 0; i < POLLS; i++)
        MPI_Iprobe(0, PENDING, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    ns[2] = (now_ns() - start) / POLLS;
    for (int i = 0; i < PENDING; i++)
        MPI_Send(in, 1, MPI_DOUBLE, 0, i, MPI_COMM_SELF);
    MPI_Waitall(PENDING, request, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    double in[8], out[8] = {0}, start, local, messages, polls[3];
    MPI_Request request[2];
    MPI_Init(&argc, &argv);
    start = now_ns();
    for (int i = 0; i < CALLS; i++)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    local = (now_ns() - start) / CALLS;
    start = now_ns();
    for (int i = 0; i < CALLS / 3; i++) {
        MPI_Irecv(in, 8, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request[0]);
        MPI_Isend(out, 8, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    messages = (now_ns() - start) / CALLS;
    polls_ns(polls);
    printf("%.1f %.1f %.1f %.1f %.1f\n", local, messages, polls[0], polls[1], polls[2]);
    MPI_Finalize();
    return 0;
}
