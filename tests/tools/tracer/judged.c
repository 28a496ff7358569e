/* judged.c - a program for tests/tasks/judge.sh: one collective with each of the sizes, and each of some
 * roots.
 *
 *   judged [full] COLLECTIVE BYTES... (of a block, or of the vector; none: what is done before)
 *
 * The v-forms have counts that differ by rank, some of them 0 unless `full`. Elements are bytes, so that a
 * vector can be cut anywhere. neighbor_...: in a graph in which a task is a neighbour of another twice, and
 * of itself.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 32

static int rank, size, full;
static char *out, *in;
static int counts[MOST], places[MOST], own[MOST], own_places[MOST];

#define IS(name) (strcmp(collective, name) == 0)
#define OUT out, bytes, MPI_BYTE
#define IN in, bytes, MPI_BYTE
#define WORLD MPI_COMM_WORLD
#define DONE MPI_Wait(&request, MPI_STATUS_IGNORE)

static MPI_Comm grid; /* its neighbours: the tasks before and behind, and twice the task itself */
static MPI_Request request;

static void grid_make(void)
{
    MPI_Cart_create(WORLD, 2, (int[]){size, 1}, (int[]){1, 1}, 0, &grid);
}

static void neighbours(const char *collective, int bytes)
{
    int each[4], at[4];
    for (int i = 0; i < 4; i++)
        each[i] = bytes * (1 + i / 2), at[i] = 8 * bytes * i;
    if (IS("neighbor_allgather"))
        MPI_Neighbor_allgather(OUT, IN, grid);
    else if (IS("neighbor_alltoall"))
        MPI_Neighbor_alltoall(OUT, IN, grid);
    else if (IS("neighbor_alltoallv"))
        MPI_Neighbor_alltoallv(out, each, at, MPI_BYTE, in, each, at, MPI_BYTE, grid);
    else if (IS("ineighbor_alltoall"))
        MPI_Ineighbor_alltoall(OUT, IN, grid, &request), DONE;
    else
        MPI_Abort(WORLD, 2);
}

static void nonblocking(const char *collective, int bytes)
{
    if (IS("ibarrier"))
        MPI_Ibarrier(WORLD, &request);
    else if (IS("iallgather"))
        MPI_Iallgather(OUT, IN, WORLD, &request);
    else if (IS("iallgatherv"))
        MPI_Iallgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, WORLD, &request);
    else if (IS("ialltoall"))
        MPI_Ialltoall(OUT, IN, WORLD, &request);
    else if (IS("ialltoallv"))
        MPI_Ialltoallv(out, counts, places, MPI_BYTE, in, own, own_places, MPI_BYTE, WORLD, &request);
    else if (IS("iallreduce"))
        MPI_Iallreduce(out, in, bytes, MPI_BYTE, MPI_BOR, WORLD, &request);
    else if (IS("iscan"))
        MPI_Iscan(out, in, bytes, MPI_BYTE, MPI_BOR, WORLD, &request);
    else
        MPI_Abort(WORLD, 2);
    DONE;
}

static void rooted(const char *collective, int bytes, int root)
{
    if (IS("bcast"))
        MPI_Bcast(OUT, root, WORLD);
    else if (IS("reduce"))
        MPI_Reduce(out, in, bytes, MPI_BYTE, MPI_BOR, root, WORLD);
    else if (IS("gather"))
        MPI_Gather(OUT, IN, root, WORLD);
    else if (IS("scatter"))
        MPI_Scatter(OUT, IN, root, WORLD);
    else if (IS("gatherv"))
        MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, root, WORLD);
    else
        MPI_Scatterv(out, counts, places, MPI_BYTE, in, counts[rank], MPI_BYTE, root, WORLD);
}

static void rootless(const char *collective, int bytes)
{
    if (IS("barrier"))
        MPI_Barrier(WORLD);
    else if (IS("allreduce"))
        MPI_Allreduce(out, in, bytes, MPI_BYTE, MPI_BOR, WORLD);
    else if (IS("allgather"))
        MPI_Allgather(OUT, IN, WORLD);
    else if (IS("allgatherv"))
        MPI_Allgatherv(out, counts[rank], MPI_BYTE, in, counts, places, MPI_BYTE, WORLD);
    else if (IS("alltoall"))
        MPI_Alltoall(OUT, IN, WORLD);
    else if (IS("alltoallv"))
        MPI_Alltoallv(out, counts, places, MPI_BYTE, in, own, own_places, MPI_BYTE, WORLD);
    else if (IS("reduce_scatter"))
        MPI_Reduce_scatter(out, in, counts, MPI_BYTE, MPI_BOR, WORLD);
    else if (IS("reduce_scatter_block"))
        MPI_Reduce_scatter_block(out, in, bytes, MPI_BYTE, MPI_BOR, WORLD);
    else if (IS("scan"))
        MPI_Scan(out, in, bytes, MPI_BYTE, MPI_BOR, WORLD);
    else if (IS("exscan"))
        MPI_Exscan(out, in, bytes, MPI_BYTE, MPI_BOR, WORLD);
    else
        nonblocking(collective, bytes);
}

static void count(int bytes)
{
    for (int i = 0, to = 0, from = 0; i < size; i++) {
        counts[i] = !full && i % 3 == 1 ? 0 : bytes * (i + 1); /* to rank i; `own`: from rank i to this one */
        own[i] = !full && rank % 3 == 1 ? 0 : bytes * (rank + 1);
        places[i] = to, own_places[i] = from;
        to += counts[i], from += own[i];
    }
}

int main(int argc, char **argv)
{
    full = strcmp(argv[1], "full") == 0;
    const char *collective = argv[1 + full];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &size);
    out = calloc(1, 1 << 24), in = calloc(1, 1 << 24);
    if (strstr(collective, "neighbor"))
        grid_make();
    for (int i = 2 + full; i < argc; i++) {
        int bytes = atoi(argv[i]);
        count(bytes);
        if (strstr(collective, "neighbor"))
            neighbours(collective, bytes);
        else if (IS("bcast") || IS("reduce") || IS("gather") || IS("scatter") || IS("gatherv") ||
                 IS("scatterv")) {
            for (int root = 0; root < size; root += size / 2 + (size < 2))
                rooted(collective, bytes, root);
        } else {
            rootless(collective, bytes);
        }
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
