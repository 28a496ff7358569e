// thrown.cc - a program for tests/tools/tracer.sh: a reduction that an exception of its operation leaves, and calls behind it.
#include <mpi.h>
#include <stdexcept>

static void refuse(void *, void *, int *, MPI_Datatype *)
{
    throw std::runtime_error("no");
}

static void reduce(MPI_Op op)
{
    int in = 1, out = 0;
    MPI_Reduce_local(&in, &out, 1, MPI_INT, op);
}

int main(int argc, char **argv)
{
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Op_create(refuse, 0, &op);
    try {
        reduce(op);
    } catch (std::runtime_error &) {
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
