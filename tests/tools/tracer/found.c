/* found.c - a master that answers whoever it finds, in all the forms that MPI has for it.
 *
 * Usage: found BYTES [FORM]. Workers ask for work of this many bytes until they are told to stop; each form
 * is a round of its own, on a communicator in which rank 0 is the last task of the world.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define JOBS 12
#define POSTED 2
enum { ASK = 5, WORK, STOP, HEAD };

static MPI_Comm all;
static int bytes, rank, size, jobs;
static char *buffer;

static void compute(int steps)
{
    volatile double x = 1;
    for (int i = 0; i < steps; i++)
        x = x * 1.0000001 + 1e-9;
}

static void worker(int form)
{
    MPI_Status status;
    for (int k = 0;; k++) {
        if (form == 1)
            MPI_Send(&k, 1, MPI_INT, 0, HEAD, all);
        MPI_Send(buffer, bytes, MPI_BYTE, 0, ASK, all);
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, MPI_ANY_TAG, all, &status);
        if (status.MPI_TAG == STOP)
            break;
        compute(20000 * (1 + (rank * 7 + k * 3) % 5));
    }
}

/* Returns whether the one who asked has been told to stop. */
static int answer(int who)
{
    int work = jobs-- > 0;
    MPI_Send(buffer, work ? bytes : 0, MPI_BYTE, who, work ? WORK : STOP, all);
    return !work;
}

/* The forms in which one request is looked for. */
static int who_asks(int form)
{
    MPI_Status status = {0};
    MPI_Message message;
    int there = 0, head;
    switch (form) {
    case 1: /* what comes from any source is a head only */
        MPI_Recv(&head, 1, MPI_INT, MPI_ANY_SOURCE, HEAD, all, &status);
        MPI_Recv(buffer, bytes, MPI_BYTE, status.MPI_SOURCE, ASK, all, MPI_STATUS_IGNORE);
        break;
    case 2:
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, all, &status);
        MPI_Recv(buffer, bytes, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, all, MPI_STATUS_IGNORE);
        break;
    case 3:
        while (!there)
            MPI_Iprobe(MPI_ANY_SOURCE, ASK, all, &there, &status);
        MPI_Recv(buffer, bytes, MPI_BYTE, status.MPI_SOURCE, ASK, all, MPI_STATUS_IGNORE);
        break;
    case 4:
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, all, &message, &status);
        MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        break;
    case 5:
        while (!there)
            MPI_Improbe(MPI_ANY_SOURCE, ASK, all, &there, &message, &status);
        MPI_Mrecv(buffer, bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        break;
    default:
        MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, all, &status);
    }
    return status.MPI_SOURCE;
}

/* Some receives are posted all the time; 6: Waitany, 7: Testany, 8: Waitsome, whose answers come one after
 * the other. At the end those that are left are cancelled. */
static void master_posted(int form)
{
    MPI_Request request[POSTED];
    MPI_Status status[POSTED];
    int index[POSTED], count, there;
    for (int i = 0; i < POSTED; i++)
        MPI_Irecv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, ASK, all, &request[i]);
    for (int left = size - 1; left;) {
        count = 1;
        if (form == 6)
            MPI_Waitany(POSTED, request, index, status);
        for (there = form != 7; !there;)
            MPI_Testany(POSTED, request, index, &there, status);
        if (form == 8)
            MPI_Waitsome(POSTED, request, &count, index, status);
        for (int i = 0; i < count; i++)
            left -= answer(status[i].MPI_SOURCE);
        for (int i = 0; i < count; i++)
            MPI_Irecv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, ASK, all, &request[index[i]]);
    }
    for (int i = 0; i < POSTED; i++) {
        MPI_Cancel(&request[i]);
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    }
}

/* Nobody is answered but all are told, beginning with whom was perhaps found: rank 1. */
static void tell_all(void)
{
    MPI_Status status;
    if (rank) {
        compute(1000 * rank);
        MPI_Send(buffer, bytes, MPI_BYTE, 0, ASK, all);
        MPI_Recv(buffer, bytes, MPI_BYTE, 0, STOP, all, &status);
        return;
    }
    for (int i = 1; i < size; i++)
        MPI_Recv(buffer, bytes, MPI_BYTE, MPI_ANY_SOURCE, ASK, all, &status);
    for (int i = 0; i < size - 1; i++)
        MPI_Send(buffer, bytes, MPI_BYTE, 1 + (status.MPI_SOURCE - 1 + i) % (size - 1), STOP, all);
}

/* A ring that is received from any source: there is one only. */
static void ring(void)
{
    MPI_Status status;
    MPI_Sendrecv(buffer, bytes, MPI_BYTE, (rank + 1) % size, ASK, buffer + bytes, bytes, MPI_BYTE,
                 MPI_ANY_SOURCE, MPI_ANY_TAG, all, &status);
}

int main(int count, char **argument)
{
    MPI_Init(&count, &argument);
    int form = count > 2 ? atoi(argument[2]) : -1, world;
    bytes = count > 1 ? atoi(argument[1]) : 100000;
    buffer = calloc(2, (size_t)bytes + 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    for (int i = form < 0 ? 0 : form; i <= (form < 0 ? 8 : form); i++) {
        jobs = JOBS;
        if (rank)
            worker(i);
        else if (i > 5)
            master_posted(i);
        for (int left = rank || i > 5 ? 0 : size - 1; left;)
            left -= answer(who_asks(i));
        MPI_Barrier(all);
    }
    tell_all();
    ring();
    MPI_Finalize();
    return 0;
}
