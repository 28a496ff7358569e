/* Tests of requests that find nothing, and then something: on one task, so that how often each finds nothing
 * is known. All messages go to the task itself. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#define MANY 5

static int in[MANY], out[MANY];
static MPI_Request request[MANY];

static void received(int first, int last)
{
    for (int i = first; i < last; i++)
        MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &request[i]);
}

static void sent(int tag)
{
    MPI_Send(&out[tag], 1, MPI_INT, 0, tag, MPI_COMM_SELF);
}

static void nothing(int flag)
{
    if (flag)
        abort();
}

/* Several kinds of tests in turn, of other lists of the same requests, until one completes. */
static void in_turn(void)
{
    int flag, index, count, indices[MANY];
    MPI_Request turned[2];
    received(0, MANY);
    turned[0] = request[1];
    turned[1] = request[0];
    for (int pass = 0; pass < 3; pass++) {
        MPI_Testany(MANY, request, &index, &flag, MPI_STATUS_IGNORE);
        nothing(flag);
        MPI_Testall(MANY, request, &flag, MPI_STATUSES_IGNORE);
        nothing(flag);
        MPI_Testsome(2, request, &count, indices, MPI_STATUSES_IGNORE);
        nothing(count);
        MPI_Testsome(2, turned, &count, indices, MPI_STATUSES_IGNORE);
        nothing(count);
        MPI_Test(&request[pass & 1], &flag, MPI_STATUS_IGNORE);
        nothing(flag);
    }
    sent(3);
    MPI_Testany(MANY, request, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Testany(MANY, request, &index, &flag, MPI_STATUS_IGNORE);
    nothing(flag);
    sent(0);
    sent(4);
    MPI_Testsome(MANY, request, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Testsome(MANY, request, &count, indices, MPI_STATUSES_IGNORE);
    nothing(count);
    received(3, 4); /* the library gives its handles again */
    MPI_Testany(MANY, request, &index, &flag, MPI_STATUS_IGNORE);
    nothing(flag);
    for (int i = 1; i < 4; i++)
        sent(i);
    MPI_Testall(MANY, request, &flag, MPI_STATUSES_IGNORE);
    MPI_Testall(MANY, request, &flag, MPI_STATUSES_IGNORE); /* of none */
    MPI_Testany(MANY, request, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Testsome(MANY, request, &count, indices, MPI_STATUSES_IGNORE);
}

/* Persistent requests stay; and requests to nobody may have one handle, all of them. */
static void others(void)
{
    int flag, index;
    MPI_Request persistent;
    MPI_Recv_init(in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &persistent);
    for (int pass = 0; pass < 2; pass++) {
        MPI_Start(&persistent);
        for (int i = 0; i < 4; i++)
            MPI_Test(&persistent, &flag, MPI_STATUS_IGNORE);
        sent(0);
        MPI_Test(&persistent, &flag, MPI_STATUS_IGNORE);
        MPI_Testany(1, &persistent, &index, &flag, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&persistent);
    for (int i = 0; i < 3; i++)
        MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_SELF, &request[i]);
    received(3, 4);
    for (int i = 0; i < 4; i++)
        MPI_Testall(4, request, &flag, MPI_STATUSES_IGNORE);
    MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Testall(4, request, &flag, MPI_STATUSES_IGNORE);
    sent(3);
    MPI_Testall(4, request, &flag, MPI_STATUSES_IGNORE);
}

/* With Pcontrol only a part of it is recorded: before, requests are made and completed all the same. */
static void unseen(void)
{
    int flag;
    MPI_Pcontrol(0);
    received(0, 2);
    MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    sent(0);
    MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
    MPI_Pcontrol(1);
    MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
    MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
    received(0, 1);
    for (int i = 0; i < 2; i++)
        MPI_Test(&request[0], &flag, MPI_STATUS_IGNORE);
    sent(0);
    sent(1);
    MPI_Testall(2, request, &flag, MPI_STATUSES_IGNORE);
}

static void *another(void *unused)
{
    for (int i = 0; i < 2; i++) {
        sent(i);
        MPI_Wait(&request[i], MPI_STATUS_IGNORE);
    }
    received(1, 2);
    return unused;
}

static void *sender(void *unused)
{
    sent(1);
    return unused;
}

/* While one thread polls, another one completes the request and makes one that has its handle (the library
 * gives first what it got back last), but another number; and a third one sends what is polled for. */
static void by_another(void)
{
    int flag;
    pthread_t thread;
    received(0, 2);
    for (int i = 0; i < 300; i++)
        MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
    pthread_create(&thread, NULL, another, NULL);
    pthread_join(thread, NULL);
    for (int i = 0; i < 3; i++)
        MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
    pthread_create(&thread, NULL, sender, NULL);
    pthread_join(thread, NULL);
    MPI_Test(&request[1], &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int given;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &given);
    in_turn();
    others();
    unseen();
    by_another();
    MPI_Finalize();
    return 0;
}
