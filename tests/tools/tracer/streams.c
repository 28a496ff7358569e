/* streams.c - a program for tests/traces/replay-threads.sh: what threads of a task do with MPI. In a ring of
 * tasks:
 *
 *   multiple    three threads call MPI at a time: one sends and receives, one makes requests (of messages,
 *               persistent ones, a probed message, a generalised one) which another one waits for, receives
 * and starts again, and each has collectives on a communicator of its own; then all take turns with
 * collectives on one communicator serialized  the same work, one call at a time: a lock around each funneled
 * threads of OpenMP compute, the first one calls MPI
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PASSES 60
#define BYTES 3000
#define LARGE 40000

static MPI_Comm comm[3], turns;
static int rank, size, left, right, serialized;
static pthread_mutex_t call = PTHREAD_MUTEX_INITIALIZER, handed = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static MPI_Request slot[4];
static MPI_Message message;
static int full;

/* A call that waits for another task must not be made under the lock: its other threads could not continue.
 */
#define CALL(what)                                                                                           \
    do {                                                                                                     \
        if (serialized)                                                                                      \
            pthread_mutex_lock(&call);                                                                       \
        what;                                                                                                \
        if (serialized)                                                                                      \
            pthread_mutex_unlock(&call);                                                                     \
    } while (0)

static void wait_all(int count, MPI_Request *request)
{
    for (int done = 0; !done;)
        if (serialized)
            CALL(MPI_Testall(count, request, &done, MPI_STATUSES_IGNORE));
        else
            done = MPI_Waitall(count, request, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
}

static void state_set(int state)
{
    pthread_mutex_lock(&handed);
    full = state;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&handed);
}

static void state_await(int state)
{
    pthread_mutex_lock(&handed);
    while (full != state)
        pthread_cond_wait(&changed, &handed);
    pthread_mutex_unlock(&handed);
}

static void sum(int which)
{
    int one = 1, all;
    MPI_Request request;
    CALL(MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm[which], &request));
    wait_all(1, &request);
    if (all != size)
        MPI_Abort(MPI_COMM_WORLD, 4);
}

static void *exchange(void *argument)
{
    static char in[BYTES], out[BYTES];
    MPI_Request request[2];
    for (int i = 0; i < PASSES; i++) {
        CALL(MPI_Irecv(in, BYTES, MPI_BYTE, left, 1, comm[0], &request[0]));
        CALL(MPI_Isend(out, BYTES - i, MPI_BYTE, right, 1, comm[0], &request[1]));
        wait_all(2, request);
        if (i % 8 == 0)
            sum(0);
    }
    return argument;
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int freed(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancelled(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* A request of its own, for which another thread waits before it is complete. */
static void generalise(void)
{
    MPI_Request request;
    MPI_Grequest_start(query, freed, cancelled, NULL, &request);
    slot[0] = request;
    state_set(1);
    usleep(2000);
    MPI_Grequest_complete(request);
    state_await(0);
}

/* Makes requests, and hands them over. */
static void *make(void *argument)
{
    static char in[2][LARGE], out[2][LARGE];
    MPI_Request own[2];
    CALL(MPI_Recv_init(in[1], 100, MPI_BYTE, left, 3, comm[1], &own[0]));
    CALL(MPI_Send_init(out[1], 100, MPI_BYTE, right, 3, comm[1], &own[1]));
    for (int i = 0; i < PASSES; i++) {
        state_await(0);
        CALL(MPI_Irecv(in[0], LARGE, MPI_BYTE, left, 2, comm[1], &slot[0]));
        CALL(MPI_Isend(out[0], i % 2 ? LARGE : 10, MPI_BYTE, right, 2, comm[1], &slot[1]));
        CALL(MPI_Startall(2, own));
        memcpy(&slot[2], own, sizeof own);
        if (i % 8 == 3)
            sum(1);
        state_set(1);
    }
    state_await(0);
    if (!serialized) {
        MPI_Isend(out[0], 77, MPI_BYTE, right, 5, comm[1], &slot[0]);
        MPI_Mprobe(left, 5, comm[1], &message, MPI_STATUS_IGNORE);
        state_set(1);
        state_await(0);
        generalise();
    }
    CALL(MPI_Request_free(&own[0]));
    CALL(MPI_Request_free(&own[1]));
    return argument;
}

/* Waits for them. */
static void *finish(void *argument)
{
    static char in[BYTES];
    for (int i = 0; i < PASSES; i++) {
        state_await(1);
        wait_all(4, slot);
        if (i % 8 == 5)
            sum(2);
        state_set(0);
    }
    if (!serialized) {
        state_await(1);
        MPI_Mrecv(in, BYTES, MPI_BYTE, &message, MPI_STATUS_IGNORE);
        wait_all(1, slot);
        state_set(0);
        state_await(1);
        wait_all(1, slot);
        state_set(0);
    }
    return argument;
}

/* Collectives on one communicator, by threads in turn: the i-th by thread i % 3, the first by the main one.
 */
static void *turn(void *thread)
{
    for (int i = *(int *)thread; i < 12; i += 3) {
        int value = i;
        state_await(i);
        if (i % 4 == 0)
            MPI_Bcast(&value, 1, MPI_INT, i % size, turns);
        else if (i % 4 == 1)
            MPI_Barrier(turns);
        else
            MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, turns);
        state_set(i + 1);
    }
    return thread;
}

static void together(void *(*const work[])(void *))
{
    pthread_t other[3];
    int number[3] = {0, 1, 2};
    for (int i = 1; i < 3; i++)
        pthread_create(&other[i], NULL, work[i], &number[i]);
    work[0](&number[0]);
    for (int i = 1; i < 3; i++)
        pthread_join(other[i], NULL);
}

static void threads(void)
{
    together((void *(*const[])(void *)){exchange, make, finish});
    if (!serialized)
        together((void *(*const[])(void *)){turn, turn, turn});
}

static double computed[4];

static void funneled(void)
{
    int in, out = rank;
    for (int pass = 0; pass < 10; pass++) {
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 20000; j++)
                computed[i] += 1.0 / (1 + j);
        MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, comm[0], MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "multiple";
    int wanted = strcmp(mode, "funneled") == 0     ? MPI_THREAD_FUNNELED
                 : strcmp(mode, "serialized") == 0 ? MPI_THREAD_SERIALIZED
                                                   : MPI_THREAD_MULTIPLE,
        given;
    MPI_Init_thread(&argc, &argv, wanted, &given);
    if (given < wanted)
        MPI_Abort(MPI_COMM_WORLD, 3);
    serialized = wanted == MPI_THREAD_SERIALIZED;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    for (int i = 0; i < 3; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    MPI_Comm_dup(MPI_COMM_WORLD, &turns);
    if (wanted == MPI_THREAD_FUNNELED)
        funneled();
    else
        threads();
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
