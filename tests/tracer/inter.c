/* inter.c - a program for tests/replay.sh: calls between two groups, on 5 tasks: 0 and 1, and 2, 3, 4.
 *
 * inter messages: each task sends 100 bytes to every task of the other group, and 20,000 to its first, which
 * uses wildcards. inter alltoall: only that, 10 bytes for each. inter bcast: 30,000 bytes from task 1 to the
 * other group; inter ibcast: the same, not blocking. inter: all of it, and every other collective that MPI
 * has between two groups; communicators made of such a one.
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

static void with_root(MPI_Comm inter, int group)
{
    int root = root_of(group), counts[8], displacements[8];
    for (int i = 0; i < other; i++) {
        counts[i] = 100 * (i + 1);
        displacements[i] = 1000 * i;
    }
    MPI_Bcast(out, 5000, MPI_CHAR, root, inter);
    MPI_Reduce(out, in, 6000, MPI_CHAR, MPI_MAX, root, inter);
    MPI_Gather(out, 70, MPI_CHAR, in, 70, MPI_CHAR, root, inter);
    MPI_Scatter(out, 80, MPI_CHAR, in, 80, MPI_CHAR, root, inter);
    MPI_Gatherv(out, 100 * (here + 1), MPI_CHAR, in, counts, displacements, MPI_CHAR, root, inter);
    MPI_Scatterv(out, counts, displacements, MPI_CHAR, in, 100 * (here + 1), MPI_CHAR, root, inter);
}

static void without_root(MPI_Comm inter)
{
    int counts[8], each[8], displacements[8];
    MPI_Datatype types[8];
    for (int i = 0; i < 8; i++) {
        counts[i] = second ? 20 * (i + 1) : 20 * (here + 1);
        each[i] = second ? 20 * (i + 1) : 20 * (here + 1);
        displacements[i] = 1000 * i;
        types[i] = MPI_CHAR;
    }
    MPI_Barrier(inter);
    MPI_Allreduce(out, in, 9000, MPI_CHAR, MPI_MAX, inter);
    MPI_Allgather(out, 300, MPI_CHAR, in, 300, MPI_CHAR, inter);
    MPI_Alltoall(out, 10, MPI_CHAR, in, 10, MPI_CHAR, inter);
    MPI_Alltoallv(out, counts, displacements, MPI_CHAR, in, each, displacements, MPI_CHAR, inter);
    MPI_Alltoallw(out, counts, displacements, types, in, each, displacements, types, inter);
    for (int i = 0; i < 8; i++)
        counts[i] = 50 * (i + 1);
    MPI_Allgatherv(out, 50 * (here + 1), MPI_CHAR, in, counts, displacements, MPI_CHAR, inter);
    for (int i = 0; i < own; i++)
        counts[i] = 6000 / own;
    MPI_Reduce_scatter(out, in, counts, MPI_CHAR, MPI_MAX, inter);
    MPI_Reduce_scatter_block(out, in, 6000 / own, MPI_CHAR, MPI_MAX, inter);
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
    if (strcmp(what, "ibcast") == 0) {
        MPI_Request request;
        MPI_Ibcast(out, 300, MPI_CHAR, second ? 1 : here == 1 ? MPI_ROOT : MPI_PROC_NULL, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2 && !*what; i++)
        with_root(inter, i);
    if (!*what)
        without_root(inter);
    if (!*what)
        made(inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&group);
    MPI_Finalize();
    return 0;
}
