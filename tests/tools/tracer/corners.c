/* corners.c - a program for tests/traces/replay-corners.sh, on 4 tasks: what MPI allows and few programs do.
 * Each task goes to the folder / first.
 */
#include <mpi.h>
#include <unistd.h>

static char out[400], in[400];
static int rank, left, right;

/* Calls that complete requests which nobody has started return at once, without them. */
static void inactive(void)
{
    MPI_Request request[3];
    int flag, index, count, indices[3];
#if MPI_VERSION >= 4
    MPI_Recv_init_c(in, 400, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Bcast_c(in, 400, MPI_CHAR, 0, MPI_COMM_WORLD);
#else
    MPI_Recv_init(in, 400, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request[0]);
    MPI_Bcast(in, 400, MPI_CHAR, 0, MPI_COMM_WORLD);
#endif
    MPI_Send_init(out, 400, MPI_CHAR, right, 7, MPI_COMM_WORLD, &request[1]);
    request[2] = MPI_REQUEST_NULL;
    MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    MPI_Testall(3, request, &flag, MPI_STATUSES_IGNORE);
    MPI_Waitany(3, request, &index, MPI_STATUS_IGNORE);
    MPI_Waitsome(3, request, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
        MPI_Waitall(3, request, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
}

static void huge(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous(1 << 20, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Send(out, 2000000000, type, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
}

/* Open MPI 4.1 lacks these; MPICH 4.0's status does not say what came. */
static void both_ways(void)
{
#if MPI_VERSION >= 4
    MPI_Request request;
    MPI_Isendrecv(out, 300, MPI_CHAR, right, 3, in, 400, MPI_CHAR, left, MPI_ANY_TAG, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
#endif
}

/* What a part of the trace needs from before it, and what it cannot have. */
static void communicators(void)
{
    MPI_Comm twin, half, both;
    MPI_Request request[2];
    MPI_Comm_idup(MPI_COMM_WORLD, &twin, &request[0]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Recv_init(in, 400, MPI_CHAR, left, 1, twin, &request[0]);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 9, &both);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Isend(out, 400, MPI_CHAR, right, 1, twin, &request[1]);
    MPI_Start(&request[0]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 400, MPI_CHAR, rank % 2, 1, in, 400, MPI_CHAR, rank % 2, 1, both, MPI_STATUS_IGNORE);
    MPI_Request_free(&request[0]);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    MPI_Comm_free(&twin);
}

int main(int argc, char **argv)
{
    int gone = chdir("/");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    left = (rank + 3) % 4;
    right = (rank + 1) % 4;
    inactive();
    huge();
    both_ways();
    communicators();
    MPI_Finalize();
    return gone;
}
