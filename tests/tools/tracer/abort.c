/* abort.c - a program for tests/traces/replay.sh: task 1 calls MPI_Abort with 7 after PASSES rounds of
 * messages to the right, when the others already wait for more. With a second argument it does not call
 * MPI_Abort but kills itself.
 */
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static char out[30000], in[30000];
    int rank, size, passes = argc > 1 ? atoi(argv[1]) : 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0;; i++) {
        if (i == passes && rank == 1) {
            usleep(200000);
            if (argc > 2)
                kill(getpid(), SIGKILL);
            MPI_Abort(MPI_COMM_WORLD, 7);
        }
        MPI_Request request;
        MPI_Isend(out, sizeof out, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD, &request);
        MPI_Recv(in, sizeof in, MPI_CHAR, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}
