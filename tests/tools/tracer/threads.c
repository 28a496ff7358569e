/* threads.c - a program for tests/tools/tracer.sh: two threads of each task exchange messages, each on a
 * communicator of its own. */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#define PASSES 500

static MPI_Comm comm[2];
static int rank, size;

static void *work(void *argument)
{
    int which = *(int *)argument, in, out = rank;
    MPI_Request request[2];
    for (int i = 0; i < PASSES + 100 * which; i++) {
        MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, which, comm[which], &request[0]);
        MPI_Isend(&out, 1, MPI_INT, (rank + 1) % size, which, comm[which], &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int given, which[2] = {0, 1};
    pthread_t other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    if (given != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 3);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    pthread_create(&other, NULL, work, &which[1]);
    work(&which[0]);
    pthread_join(other, NULL);
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
    MPI_Finalize();
    return 0;
}
