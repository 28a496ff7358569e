/* matched.c - a program for tests/traces/replay.sh: messages that are received by the probe that found them,
 * requests that are looked at, and, where there is MPI-4, calls that send and receive with one request.
 *
 * matched [PASSES]. In each pass a task sends two messages to its right neighbour, of 100 and of 40,000 bytes
 * with the same tag, and with MPI-4 two more of 1,000 and 30,000.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static char out[2][40000], in[2][40000];

static void probed(int left, int right)
{
    MPI_Request request[3];
    MPI_Message message[2];
    MPI_Status status, statuses[3];
    int flag = 0, bytes;
    MPI_Isend(out[0], 100, MPI_CHAR, right, 3, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(out[1], 40000, MPI_CHAR, right, 3, MPI_COMM_WORLD, &request[1]);
    MPI_Mprobe(left, 3, MPI_COMM_WORLD, &message[0], &status);
    while (!flag)
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message[1], &status);
    MPI_Get_count(&status, MPI_CHAR, &bytes);
    MPI_Imrecv(in[1], bytes, MPI_CHAR, &message[1], &request[2]); /* the second first */
    MPI_Mrecv(in[0], 100, MPI_CHAR, &message[0], &status);
    for (flag = 0; !flag;)
        MPI_Request_get_status(request[2], &flag, &status);
    MPI_Waitall(3, request, statuses);
    MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message[0], &status);
    MPI_Mrecv(in[0], 100, MPI_CHAR, &message[0], &status);
    if (bytes != 40000)
        printf("found %d bytes\n", bytes);
}

#if MPI_VERSION >= 4
static void both(int left, int right)
{
    MPI_Request request[2];
    int index, flag = 0;
    MPI_Isendrecv(out[0], 1000, MPI_CHAR, right, 5, in[0], 1000, MPI_CHAR, left, 5, MPI_COMM_WORLD,
                  &request[0]);
    MPI_Isendrecv_replace(out[1], 30000, MPI_CHAR, right, 6, left, 6, MPI_COMM_WORLD, &request[1]);
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Test(&request[1 - index], &flag, MPI_STATUS_IGNORE);
}
#endif

int main(int argc, char **argv)
{
    int rank, size, passes = argc > 1 ? atoi(argv[1]) : 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < passes; i++) {
        probed((rank + size - 1) % size, (rank + 1) % size);
#if MPI_VERSION >= 4
        both((rank + size - 1) % size, (rank + 1) % size);
#endif
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
