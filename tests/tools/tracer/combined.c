/* combined.c - two reductions: of 1,000 ints by MPI_SUM, of 1,000 doubles by MPI_PROD; with "own" of the
 * latter by an operation of the program's own, with "derived" of 500 pairs of them by one, too. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static void take(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void)from, (void)to, (void)count, (void)type;
}

int main(int argc, char **argv)
{
    static int whole[1000], sums[1000];
    static double real[1000], products[1000];
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Op op = MPI_PROD;
    MPI_Datatype type = MPI_DOUBLE;
    MPI_Init(&argc, &argv);
    if (*what)
        MPI_Op_create(take, 1, &op);
    if (strcmp(what, "derived") == 0) {
        MPI_Type_contiguous(2, MPI_DOUBLE, &type);
        MPI_Type_commit(&type);
    }
    MPI_Allreduce(whole, sums, 1000, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(real, products, type == MPI_DOUBLE ? 1000 : 500, type, op, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
