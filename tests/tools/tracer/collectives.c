/* collectives.c - a program for tests/traces/replay.sh: every collective once in the world and once in a half
 * of it, and the neighbourhood ones in a grid, a graph and a distributed graph.
 *
 *   collectives blocking | nonblocking | persistent | overlap
 *
 * All forms send the same messages. overlap: as nonblocking, but all calls of a communicator are in flight at
 * once, blocking ones in between, and they are completed in another order than they were called.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64
#define BLOCK 300 /* ints: some messages are short, some long */

enum form { BLOCKING, NONBLOCKING, PERSISTENT, OVERLAP };

static enum form form;
static MPI_Comm comm;
static int rank, size;
static int counts[MOST], places[MOST], same[MOST], sames[MOST], bytes_places[MOST];
static MPI_Datatype types[MOST];
static int out[MOST * BLOCK * 4], in[MOST * BLOCK * 4];
static MPI_Request request[64];
static int requests;

static void compute(void)
{
    volatile double x = 1;
    for (int i = 0; i < 20000; i++)
        x = x * 1.0000001 + i;
}

/* A request has been made: completed at once, or with the others. */
static void made(void)
{
    requests++;
    if (form == PERSISTENT) {
#if MPI_VERSION >= 4
        for (int i = 0; i < 2; i++) {
            MPI_Start(&request[0]);
            compute();
            MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        }
        MPI_Request_free(&request[0]);
#endif
        requests = 0;
    } else if (form == NONBLOCKING) {
        compute();
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
        requests = 0;
    }
}

#define REQUEST (&request[form == OVERLAP ? requests : 0])
#if MPI_VERSION >= 4
#define INIT(name, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, REQUEST)
#else
#define INIT(name, ...) (void)0
#endif
/* The blocking form twice where the persistent one is started twice. */
#define CALL(name, iname, ...)                                                                               \
    do {                                                                                                     \
        if (form == BLOCKING) {                                                                              \
            MPI_##name(__VA_ARGS__);                                                                         \
            if (twice)                                                                                       \
                MPI_##name(__VA_ARGS__);                                                                     \
        } else {                                                                                             \
            if (form == PERSISTENT)                                                                          \
                INIT(name, __VA_ARGS__);                                                                     \
            else                                                                                             \
                MPI_##iname(__VA_ARGS__, REQUEST);                                                           \
            made();                                                                                          \
        }                                                                                                    \
    } while (0)

static int twice;

static void finish(void)
{
    int index;
    if (requests == 0)
        return;
    compute();
    MPI_Wait(&request[requests / 2], MPI_STATUS_IGNORE);
    for (int flag = 0; !flag;)
        MPI_Testany(requests, request, &index, &flag, MPI_STATUS_IGNORE);
    MPI_Waitall(requests, request, MPI_STATUSES_IGNORE);
    requests = 0;
}

static void rooted(int root, int n)
{
    CALL(Bcast, Ibcast, in, n, MPI_INT, root, comm);
    CALL(Reduce, Ireduce, out, in, n, MPI_INT, MPI_SUM, root, comm);
    CALL(Gather, Igather, out, n, MPI_INT, in, n, MPI_INT, root, comm);
    CALL(Gatherv, Igatherv, out, counts[rank], MPI_INT, in, counts, places, MPI_INT, root, comm);
    if (!twice) /* MPICH 4.0.2 fails when MPI_Scatter_init is started again */
        CALL(Scatter, Iscatter, out, n, MPI_INT, in, n, MPI_INT, root, comm);
    CALL(Scatterv, Iscatterv, out, counts, places, MPI_INT, in, counts[rank], MPI_INT, root, comm);
}

static void all(int n)
{
    CALL(Barrier, Ibarrier, comm);
    CALL(Allreduce, Iallreduce, out, in, n, MPI_INT, MPI_SUM, comm);
    CALL(Allgather, Iallgather, out, n, MPI_INT, in, n, MPI_INT, comm);
    CALL(Allgatherv, Iallgatherv, out, counts[rank], MPI_INT, in, counts, places, MPI_INT, comm);
    CALL(Alltoall, Ialltoall, out, n, MPI_INT, in, n, MPI_INT, comm);
    CALL(Alltoallv, Ialltoallv, out, same, places, MPI_INT, in, same, places, MPI_INT, comm);
    CALL(Alltoallw, Ialltoallw, out, same, bytes_places, types, in, same, bytes_places, types, comm);
    CALL(Reduce_scatter, Ireduce_scatter, out, in, counts, MPI_INT, MPI_SUM, comm);
    CALL(Reduce_scatter_block, Ireduce_scatter_block, out, in, n, MPI_INT, MPI_SUM, comm);
    CALL(Scan, Iscan, out, in, n, MPI_INT, MPI_SUM, comm);
    CALL(Exscan, Iexscan, out, in, n, MPI_INT, MPI_SUM, comm);
}

static void collectives(MPI_Comm of)
{
    comm = of;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++) {
        counts[i] = 7 * i % BLOCK;
        same[i] = 3;
        places[i] = i * BLOCK;
        bytes_places[i] = places[i] * (int)sizeof(int);
        types[i] = MPI_INT;
    }
    rooted(size - 1, 100);
    if (form == OVERLAP)
        MPI_Barrier(comm);
    all(3);
    if (form == OVERLAP)
        MPI_Allreduce(MPI_IN_PLACE, in, 1, MPI_INT, MPI_SUM, comm);
    finish();
    all(BLOCK);
    finish();
}

/* n: neighbours in, m: out. What goes over an edge is the same seen from both ends. */
static void neighbours(MPI_Comm of, int n, int m)
{
    MPI_Aint offsets[MOST];
    int block = 21;
    comm = of;
    for (int i = 0; i < MOST; i++) {
        same[i] = sames[i] = 5;
        places[i] = i * BLOCK;
        offsets[i] = (MPI_Aint)places[i] * (MPI_Aint)sizeof(int);
        types[i] = MPI_INT;
    }
    (void)n;
    (void)m;
    CALL(Neighbor_allgather, Ineighbor_allgather, out, block, MPI_INT, in, block, MPI_INT, comm);
    CALL(Neighbor_allgatherv, Ineighbor_allgatherv, out, 5, MPI_INT, in, same, places, MPI_INT, comm);
    CALL(Neighbor_alltoall, Ineighbor_alltoall, out, 3 * BLOCK, MPI_INT, in, 3 * BLOCK, MPI_INT, comm);
    CALL(Neighbor_alltoallv, Ineighbor_alltoallv, out, same, places, MPI_INT, in, sames, places, MPI_INT,
         comm);
    CALL(Neighbor_alltoallw, Ineighbor_alltoallw, out, same, offsets, types, in, sames, offsets, types, comm);
    finish();
}

/* To the next two, and to the next one once more; the first hears from all, the last sends to nobody. */
static void graph_edges(int me, int all_of, int *from, int *in_count, int *to, int *out_count)
{
    *in_count = *out_count = 0;
    for (int s = 0; s < all_of; s++)
        for (int k = 0; k < 4; k++) {
            int d = k == 0 ? (s + 1) % all_of : k == 1 ? (s + 2) % all_of : k == 2 ? (s + 1) % all_of : 0;
            if (s == all_of - 1)
                continue;
            if (s == me)
                to[(*out_count)++] = d;
            if (d == me)
                from[(*in_count)++] = s;
        }
}

static void topologies(void)
{
    int dims[2] = {0, 0}, periodic[2] = {1, 0}, me, all_of, from[MOST * 4], to[MOST * 4], n, m;
    int index[MOST], edges[MOST * 2];
    MPI_Comm grid, graph, adjacent;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &all_of);
    MPI_Dims_create(all_of, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
    neighbours(grid, 4, 4);
    for (int i = 0; i < all_of; i++) { /* a ring */
        index[i] = 2 * (i + 1);
        edges[2 * i] = (i + all_of - 1) % all_of;
        edges[2 * i + 1] = (i + 1) % all_of;
    }
    MPI_Graph_create(MPI_COMM_WORLD, all_of, index, edges, 0, &graph);
    neighbours(graph, 2, 2);
    graph_edges(me, all_of, from, &n, to, &m);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n, from, MPI_UNWEIGHTED, m, to, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &adjacent);
    neighbours(adjacent, n, m);
    MPI_Comm_free(&grid);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&adjacent);
}

static void copy_used(void)
{
    MPI_Comm copy;
    if (form == BLOCKING) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    } else {
        MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request[0]);
        compute();
        MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    }
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
}

int main(int argc, char **argv)
{
    static const char *const forms[] = {"blocking", "nonblocking", "persistent", "overlap"};
    MPI_Comm half;
    int me;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4; i++)
        if (argc > 1 && strcmp(argv[1], forms[i]) == 0)
            form = (enum form)i;
    twice = argc > 2;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, -me, &half);
    collectives(MPI_COMM_WORLD);
    collectives(half);
    topologies();
    copy_used();
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
