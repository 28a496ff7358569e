/* inter.c - a program for tests/traces/replay.sh: calls between two groups, on 5 tasks: 0 and 1, and 2, 3, 4.
 *
 * inter messages: each task sends 100 bytes to every task of the other group, and 20,000 to its first, which
 * uses wildcards. inter alltoall: only that, 10 bytes for each. inter bcast: 30,000 bytes from task 1 to the
 * other group. inter: all of it, and every other collective that MPI has between two groups; communicators
 * made of such a one. inter nonblocking, overlap, persistent: these collectives in forms that do not block,
 * one after the other, all at once, or started twice (MPI 4).
 */
#include <mpi.h>
#include <string.h>

static char out[100000], in[100000];
static int rank, second, own, other, here; /* second group; sizes; rank in the own group */

static void messages(MPI_Comm inter)
{
    MPI_Request request[8];
    MPI_Status status[8];
    int n = 0, count = here == 0 ? other : 0;
    for (int i = 0; i < other; i++)
        MPI_Isend(out, 100, MPI_CHAR, i, 1, inter, &request[n++]);
    MPI_Isend(out, 20000, MPI_CHAR, 0, 2, inter, &request[n++]);
    for (int i = 0; i < other; i++)
        MPI_Recv(in, 100, MPI_CHAR, i, 1, inter, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
        MPI_Probe(MPI_ANY_SOURCE, 2, inter, MPI_STATUS_IGNORE);
        MPI_Recv(in, 20000, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(n, request, status);
}

/* The root of both directions: the last task of its group. */
static int root_of(int group)
{
    if (group == second)
        return here == own - 1 ? MPI_ROOT : MPI_PROC_NULL;
    return other - 1;
}

static enum { BLOCKING, NONBLOCKING, OVERLAP, PERSISTENT } form;
static MPI_Request under_way[64];
static int count;

/* What is in flight: waited for at once, or at the end; persistent requests are started twice. */
static void settle(void)
{
    MPI_Status status[64];
    for (int i = 0; i < (form == PERSISTENT ? 2 : 1); i++) {
        if (form == PERSISTENT)
            MPI_Startall(count, under_way);
        MPI_Waitall(count, under_way, status);
    }
    for (int i = 0; form == PERSISTENT && i < count; i++)
        MPI_Request_free(&under_way[i]);
    count = 0;
}

#if MPI_VERSION >= 4
#define INIT(name, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &under_way[count++])
#else
#define INIT(name, ...) MPI_Abort(MPI_COMM_WORLD, 3)
#endif
#define CALL(name, small, ...)                                                                               \
    do {                                                                                                     \
        if (form == BLOCKING)                                                                                \
            MPI_##name(__VA_ARGS__);                                                                         \
        else if (form == PERSISTENT)                                                                         \
            INIT(name, __VA_ARGS__);                                                                         \
        else                                                                                                 \
            MPI_I##small(__VA_ARGS__, &under_way[count++]);                                                  \
        if (form == NONBLOCKING)                                                                             \
            settle();                                                                                        \
    } while (0)

static void with_root(MPI_Comm inter, int group)
{
    static int all[2][2][8];
    int root = root_of(group), *counts = all[group][0], *displacements = all[group][1];
    for (int i = 0; i < other; i++) {
        counts[i] = 100 * (i + 1);
        displacements[i] = 1000 * i;
    }
    CALL(Bcast, bcast, out, 5000, MPI_CHAR, root, inter);
    CALL(Reduce, reduce, out, in, 6000, MPI_CHAR, MPI_MAX, root, inter);
    CALL(Gather, gather, out, 70, MPI_CHAR, in, 70, MPI_CHAR, root, inter);
    CALL(Scatter, scatter, out, 80, MPI_CHAR, in, 80, MPI_CHAR, root, inter);
    CALL(Gatherv, gatherv, out, 100 * (here + 1), MPI_CHAR, in, counts, displacements, MPI_CHAR, root, inter);
    CALL(Scatterv, scatterv, out, counts, displacements, MPI_CHAR, in, 100 * (here + 1), MPI_CHAR, root,
         inter);
}

static void without_root(MPI_Comm inter)
{
    static int counts[8], each[8], displacements[8], gathered[8], scattered[8];
    static MPI_Datatype types[8];
    for (int i = 0; i < 8; i++) {
        counts[i] = second ? 20 * (i + 1) : 20 * (here + 1);
        each[i] = second ? 20 * (i + 1) : 20 * (here + 1);
        displacements[i] = 1000 * i;
        types[i] = MPI_CHAR;
    }
    CALL(Barrier, barrier, inter);
    CALL(Allreduce, allreduce, out, in, 9000, MPI_CHAR, MPI_MAX, inter);
    CALL(Allgather, allgather, out, 300, MPI_CHAR, in, 300, MPI_CHAR, inter);
    CALL(Alltoall, alltoall, out, 10, MPI_CHAR, in, 10, MPI_CHAR, inter);
    CALL(Alltoallv, alltoallv, out, counts, displacements, MPI_CHAR, in, each, displacements, MPI_CHAR,
         inter);
    CALL(Alltoallw, alltoallw, out, counts, displacements, types, in, each, displacements, types, inter);
    for (int i = 0; i < 8; i++)
        gathered[i] = 50 * (i + 1);
    CALL(Allgatherv, allgatherv, out, 50 * (here + 1), MPI_CHAR, in, gathered, displacements, MPI_CHAR,
         inter);
    for (int i = 0; i < own; i++)
        scattered[i] = 6000 / own;
    CALL(Reduce_scatter, reduce_scatter, out, in, scattered, MPI_CHAR, MPI_MAX, inter);
    CALL(Reduce_scatter_block, reduce_scatter_block, out, in, 6000 / own, MPI_CHAR, MPI_MAX, inter);
}

static void made(MPI_Comm inter)
{
    MPI_Comm twin, merged, parts;
    MPI_Comm_dup(inter, &twin);
    messages(twin);
    MPI_Comm_split(inter, here % 2, 0, &parts); /* {0, 2, 4} and {1, 3} */
    int there, mine;
    MPI_Request request;
    MPI_Comm_remote_size(parts, &there);
    MPI_Comm_rank(parts, &mine);
    MPI_Isend(out, 11, MPI_CHAR, 0, 3, parts, &request);
    for (int i = 0; mine == 0 && i < there; i++)
        MPI_Recv(in, 11, MPI_CHAR, MPI_ANY_SOURCE, 3, parts, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(parts);
    MPI_Intercomm_merge(twin, second, &merged);
    MPI_Allreduce(out, in, 10, MPI_CHAR, MPI_MAX, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&parts);
    MPI_Comm_free(&twin);
}

int main(int argc, char **argv)
{
    MPI_Comm group, inter, parent;
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    second = rank >= 2;
    MPI_Comm_split(MPI_COMM_WORLD, second, rank, &group);
    MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, second ? 0 : 2, 9, &inter);
    MPI_Comm_rank(inter, &here);
    MPI_Comm_size(inter, &own);
    MPI_Comm_remote_size(inter, &other);
    if (!*what || strcmp(what, "messages") == 0)
        messages(inter);
    if (strcmp(what, "alltoall") == 0)
        MPI_Alltoall(out, 10, MPI_CHAR, in, 10, MPI_CHAR, inter);
    if (strcmp(what, "bcast") == 0)
        MPI_Bcast(out, 30000, MPI_CHAR, second ? 1 : here == 1 ? MPI_ROOT : MPI_PROC_NULL, inter);
    form = strcmp(what, "nonblocking") == 0  ? NONBLOCKING
           : strcmp(what, "overlap") == 0    ? OVERLAP
           : strcmp(what, "persistent") == 0 ? PERSISTENT
                                             : BLOCKING;
    for (int i = 0; i < 2 && (!*what || form); i++)
        with_root(inter, i);
    if (!*what || form)
        without_root(inter);
    if (form)
        settle();
    if (!*what)
        made(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&group);
    MPI_Finalize();
    return 0;
}
