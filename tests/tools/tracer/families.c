/* families.c - a program for tests/tools/tracer.sh: a call or two of each family of MPI, on an even number of
 * tasks. What each is to leave in the trace is in tests/tools/tracer/families.txt.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define N 64

static int rank, size, right, left;
static int in[N * N], out[N * N];

static void point_to_point(void)
{
    MPI_Request request[4];
    MPI_Status status[4];
    MPI_Message message;
    MPI_Datatype pairs;
    int flag = 0, index, count, indices[4];
    MPI_Type_vector(3, 2, 4, MPI_INT, &pairs); /* 24 bytes over 40 */
    MPI_Type_commit(&pairs);
    MPI_Sendrecv(out, 2, pairs, right, 1, in, N, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(in, 5, MPI_INT, right, 2, left, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Type_free(&pairs);

    MPI_Isend(out, 3, MPI_CHAR, right, 3, MPI_COMM_WORLD, &request[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 10, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);

    MPI_Issend(out, 7, MPI_INT, right, 4, MPI_COMM_WORLD, &request[0]);
    while (!flag)
        MPI_Iprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(in, N, MPI_INT, left, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitany(1, request, &index, MPI_STATUS_IGNORE);

    MPI_Send_init(out, 1, MPI_DOUBLE, right, 5, MPI_COMM_WORLD, &request[0]);
    MPI_Recv_init(in, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request[1]);
    for (int i = 0; i < 2; i++) {
        MPI_Startall(2, request);
        MPI_Waitall(2, request, status);
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);

    MPI_Irecv(in, 4, MPI_INT, left, 6, MPI_COMM_WORLD, &request[0]);
    MPI_Irecv(in, 4, MPI_INT, left, 99, MPI_COMM_WORLD, &request[1]);
    MPI_Isend(out, 4, MPI_INT, right, 6, MPI_COMM_WORLD, &request[2]);
    request[3] = MPI_REQUEST_NULL;
    for (int done = 0; done < 2; done += count)
        MPI_Waitsome(4, request, &count, indices, status);
    MPI_Cancel(&request[1]);
    MPI_Wait(&request[1], status);
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 8, MPI_COMM_WORLD);
}

static void collectives(void)
{
    MPI_Request request;
    int counts[N], displacements[N];
    for (int i = 0; i < size; i++) {
        counts[i] = i + 1;
        displacements[i] = i * N;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Bcast(in, 11, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Gather(out, 2, MPI_INT, rank == 0 ? in : NULL, 2, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL, 0,
               MPI_COMM_WORLD);
    MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(out, 3, MPI_INT, in, 3, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 4, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, displacements, MPI_INT, MPI_COMM_WORLD);
    MPI_Alltoall(out, 5, MPI_INT, in, 5, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        counts[i] = 2;
    MPI_Alltoallv(out, counts, displacements, MPI_INT, in, counts, displacements, MPI_INT, MPI_COMM_WORLD);
    MPI_Reduce(out, in, 6, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, in, 7, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(out, in, 8, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ibcast(in, 12, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
}

static void communicators(void)
{
    MPI_Comm grid, row, twin, other, merged, graph;
    MPI_Group world, low;
    int dims[2] = {size / 2, 2}, periodic[2] = {1, 0}, keep[2] = {0, 1}, range[1][3] = {{0, size / 2 - 1, 1}};
    int degree[1] = {1}, to[1];
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periodic, 0, &grid);
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_dup(row, &twin);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, grid);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_range_incl(world, 1, range, &low);
    MPI_Comm_create(MPI_COMM_WORLD, low, &other);
    if (other != MPI_COMM_NULL)
        MPI_Comm_free(&other);
    MPI_Intercomm_create(row, 0, MPI_COMM_WORLD,
                         rank / 2 % 2 == 0 ? (rank / 2 + 1) % (size / 2) * 2 : (rank / 2 - 1) * 2, 9, &other);
    MPI_Bcast(in, 3, MPI_INT, rank / 2 % 2 ? 0 : rank % 2 ? MPI_PROC_NULL : MPI_ROOT, other);
    MPI_Intercomm_merge(other, rank / 2 % 2, &merged);
    to[0] = right;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
    MPI_Neighbor_alltoall(out, 2, MPI_INT, in, 2, MPI_INT, graph);
    MPI_Comm_free(&graph);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&other);
    MPI_Comm_free(&twin);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    MPI_Group_free(&low);
    MPI_Group_free(&world);
}

static void windows(void)
{
    MPI_Win window;
    MPI_Group world, one;
    int *base;
    MPI_Win_allocate(N * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_fence(0, window);
    MPI_Put(out, 3, MPI_INT, right, 5, 3, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_lock(MPI_LOCK_SHARED, left, 0, window);
    MPI_Get(in, 2, MPI_INT, left, 1, 2, MPI_INT, window);
    MPI_Accumulate(out, 1, MPI_INT, left, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Fetch_and_op(out, in, MPI_INT, left, 0, MPI_SUM, window);
    MPI_Win_unlock(left, window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &one);
    MPI_Win_post(one, 0, window);
    MPI_Group_free(&one);
    MPI_Group_incl(world, 1, &right, &one);
    MPI_Win_start(one, 0, window);
    MPI_Put(out, 1, MPI_INT, right, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    MPI_Group_free(&one);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
}

static void files(void)
{
    MPI_File file;
    MPI_Request request;
    MPI_File_open(MPI_COMM_WORLD, "families.data", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                  MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * 40, out, 10, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_read_at(file, 1, in, 3, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_iread_at(file, 0, in, 4, MPI_INT, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    point_to_point();
    collectives();
    communicators();
    windows();
    files();
    MPI_Finalize();
    return 0;
}
