/* windows.c - a program for tests/traces/replay.sh: one-sided communication with all its synchronisations.
 *
 * windows [PASSES]: every call on a window, PASSES times, on at least 3 tasks. Each task sends to its right
 * neighbour R and reads from its left one; what it moves in a pass is beside the calls. windows
 * put|get|swap|lock PASSES BYTES: task 0 only, one call and a flush in each pass, on task 1.
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 100000

static char out[ROOM], in[ROOM];
static int rank, size, left, right;

static void fences(MPI_Win window)
{
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
    MPI_Put(out, 1000, MPI_CHAR, right, 8, 1000, MPI_CHAR, window); /* 1,000 to R */
    MPI_Get(in, 200, MPI_CHAR, left, 8, 200, MPI_CHAR, window);     /* 200 to R */
    MPI_Put(out, 50, MPI_CHAR, MPI_PROC_NULL, 0, 50, MPI_CHAR, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
}

static void groups(MPI_Win window)
{
    MPI_Group world, one;
    int done = 0;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &one);
    MPI_Win_post(one, 0, window);
    MPI_Group_free(&one);
    MPI_Group_incl(world, 1, &right, &one);
    MPI_Win_start(one, 0, window);
    MPI_Put(out, 40000, MPI_CHAR, right, 0, 40000, MPI_CHAR, window); /* 40,000 to R */
    MPI_Win_complete(window);
    while (!done)
        MPI_Win_test(window, &done);
    MPI_Group_free(&one);
    MPI_Group_free(&world);
}

static void locks(MPI_Win window)
{
    int value[4] = {0}, result[4], zero = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Accumulate(value, 4, MPI_INT, right, 0, 4, MPI_INT, MPI_SUM, window); /* 16 to R */
    MPI_Get_accumulate(value, 3, MPI_INT, result, 3, MPI_INT, right, 0, 3, MPI_INT, MPI_MAX,
                       window); /* 12 in each direction */
    MPI_Win_flush(right, window);
    MPI_Get_accumulate(NULL, 0, MPI_INT, result, 2, MPI_INT, right, 0, 2, MPI_INT, MPI_NO_OP,
                       window); /* 0, 8 back */
    MPI_Win_unlock(right, window);
    MPI_Win_lock(MPI_LOCK_SHARED, left, 0, window);
    MPI_Fetch_and_op(value, result, MPI_INT, left, 0, MPI_SUM, window);   /* 4 in each direction */
    MPI_Compare_and_swap(value, &zero, result, MPI_INT, left, 0, window); /* 8 to L, 4 back */
    MPI_Fetch_and_op(NULL, result, MPI_INT, left, 0, MPI_NO_OP, window);  /* 0 to L, 4 back */
    MPI_Win_flush_local(left, window);
    MPI_Win_unlock(left, window);
    MPI_Win_lock(MPI_LOCK_SHARED, left, MPI_MODE_NOCHECK, window);
    MPI_Win_unlock(left, window);
}

static void requests(MPI_Win window)
{
    MPI_Request request[4];
    MPI_Status status[4];
    int index, value = 1;
    MPI_Win_lock_all(0, window);
    MPI_Rput(out, 30000, MPI_CHAR, right, 0, 30000, MPI_CHAR, window, &request[0]);          /* 30,000 to R */
    MPI_Rget(in, 500, MPI_CHAR, left, 0, 500, MPI_CHAR, window, &request[1]);                /* 500 to R */
    MPI_Raccumulate(&value, 1, MPI_INT, right, 0, 1, MPI_INT, MPI_SUM, window, &request[2]); /* 4 to R */
    MPI_Rget_accumulate(&value, 1, MPI_INT, in, 1, MPI_INT, left, 0, 1, MPI_INT, MPI_SUM,
                        window, /* 4 in each direction */
                        &request[3]);
    MPI_Waitany(2, request, &index, MPI_STATUS_IGNORE);
    MPI_Waitall(4, request, status);
    MPI_Win_flush_all(window);
    MPI_Win_flush_local_all(window);
    MPI_Win_sync(window);
    MPI_Win_unlock_all(window);
}

static void pass(void)
{
    MPI_Win window, other;
    char *base, *own = calloc(1, 64);
    MPI_Comm twin;
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Win_create(own, 64, 1, MPI_INFO_NULL, twin, &other);
    fences(window);
    groups(window);
    locks(window);
    requests(window);
    MPI_Win_fence(0, other);
    MPI_Put(out, 7, MPI_CHAR, right, 0, 7, MPI_CHAR, other); /* 7 to R */
    MPI_Win_fence(0, other);
    MPI_Win_free(&other);
    MPI_Win_create_dynamic(MPI_INFO_NULL, twin, &other);
    MPI_Win_attach(other, own, 64);
    MPI_Win_detach(other, own);
    MPI_Win_free(&other);
    MPI_Win_free(&window);
    MPI_Comm_free(&twin);
    free(own);
}

static void measured(const char *what, int passes, int bytes)
{
    MPI_Win window;
    char *base;
    MPI_Win_allocate(ROOM, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    if (rank == 0 && strcmp(what, "lock") != 0)
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    for (int i = 0; i < passes && rank == 0; i++) {
        if (strcmp(what, "put") == 0)
            MPI_Put(out, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, window);
        else if (strcmp(what, "get") == 0)
            MPI_Get(in, bytes, MPI_CHAR, 1, 0, bytes, MPI_CHAR, window);
        else if (strcmp(what, "swap") == 0)
            MPI_Compare_and_swap(out, out, in, MPI_INT, 1, 0, window);
        else
            MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window);
        if (strcmp(what, "lock") == 0)
            MPI_Win_unlock(1, window);
        else
            MPI_Win_flush(1, window);
    }
    if (rank == 0 && strcmp(what, "lock") != 0)
        MPI_Win_unlock(1, window);
    MPI_Win_free(&window);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    left = (rank + size - 1) % size;
    right = (rank + 1) % size;
    if (argc > 3)
        measured(argv[1], atoi(argv[2]), atoi(argv[3]));
    for (int i = 0; i < (argc == 2 ? atoi(argv[1]) : 0); i++)
        pass();
    MPI_Finalize();
    return 0;
}
