/* Messages that are longer than the receive's buffer, where errors return: the message is consumed, and the
 * program continues. In in each direction to receive there are a short and a long one; the tag of each is its
 * own. It says how many receives MPI called truncated. */
#include <mpi.h>
#include <stdio.h>

#define ROOM 10 /* integers */
#define LONGEST 100000

static int in[LONGEST], out[LONGEST], truncated, errors;

static void told(int result)
{
    int class = MPI_SUCCESS;
    MPI_Error_class(result, &class);
    truncated += class == MPI_ERR_TRUNCATE;
    errors += class != MPI_ERR_TRUNCATE;
}

static void receive(int tag)
{
    MPI_Request request[2];
    MPI_Status status[2];
    MPI_Message message;
    told(MPI_Recv(in, ROOM, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    MPI_Irecv(in, ROOM, MPI_INT, MPI_ANY_SOURCE, tag + 1, MPI_COMM_WORLD, &request[0]);
    told(MPI_Wait(&request[0], MPI_STATUS_IGNORE));
    MPI_Irecv(in, ROOM, MPI_INT, 0, tag + 2, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(in + ROOM, LONGEST - ROOM, MPI_INT, 0, tag + 3, MPI_COMM_WORLD, &request[1]);
    if (MPI_Waitall(2, request, status) == MPI_ERR_IN_STATUS) {
        told(status[0].MPI_ERROR);
        if (status[1].MPI_ERROR == MPI_ERR_PENDING)
            MPI_Wait(&request[1], MPI_STATUS_IGNORE);
    } else
        errors++;
    MPI_Mprobe(MPI_ANY_SOURCE, tag + 4, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    told(MPI_Mrecv(in, ROOM, MPI_INT, &message, MPI_STATUS_IGNORE));
    told(MPI_Sendrecv(out, 1, MPI_INT, 0, tag + 5, in, ROOM, MPI_INT, 0, tag + 5, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
}

static void send(int count, int tag)
{
    MPI_Send(out, count, MPI_INT, 1, tag, MPI_COMM_WORLD);
    MPI_Send(out, count, MPI_INT, 1, tag + 1, MPI_COMM_WORLD);
    MPI_Send(out, count, MPI_INT, 1, tag + 2, MPI_COMM_WORLD);
    MPI_Send(out, ROOM, MPI_INT, 1, tag + 3, MPI_COMM_WORLD);
    MPI_Send(out, count, MPI_INT, 1, tag + 4, MPI_COMM_WORLD);
    MPI_Sendrecv(out, count, MPI_INT, 1, tag + 5, in, 1, MPI_INT, 1, tag + 5, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int pass = 0; pass < 2; pass++)
        if (rank == 0)
            send(pass ? LONGEST : 2 * ROOM, 10 * pass);
        else if (rank == 1)
            receive(10 * pass);
    if (rank == 1)
        printf("%d %d\n", truncated, errors);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
