/* Calls that MPI refuses: each returns an error and does nothing. Then a message is sent as always. */
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size, in = 0, out = 1;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int wrong = MPI_Send(&out, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
    wrong += MPI_Bcast(&out, 1, MPI_INT, size + 9, MPI_COMM_WORLD) == MPI_SUCCESS;
    wrong += MPI_Irecv(&in, -1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS;
    wrong += MPI_Isend(&out, 1, MPI_INT, 0, -7, MPI_COMM_WORLD, &request) == MPI_SUCCESS;
    if (rank == 0)
        MPI_Send(&out, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    if (rank == 1)
        MPI_Recv(&in, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return wrong;
}
