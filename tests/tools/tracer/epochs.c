/* epochs.c - for tests/tools/marsconv.sh: epochs FENCES DISTANCE WRONG. Fences, and a post for the task
 * DISTANCE before with a start for the one DISTANCE behind, on one window; what is WRONG on another, whose
 * errors are returned. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size;
    char *base, value = 1;
    MPI_Win window, other;
    MPI_Group world, before, behind;
    if (argc != 4)
        return 2;
    int fences = atoi(argv[1]), distance = atoi(argv[2]);
    const char *wrong = argv[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int to = (rank + distance) % size, from = (rank + size - distance) % size;
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &other);
    MPI_Win_set_errhandler(other, MPI_ERRORS_RETURN);
    for (int i = 0; i < fences; i++)
        MPI_Win_fence(i == fences - 1 ? MPI_MODE_NOSUCCEED : 0, window);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &from, &before);
    MPI_Group_incl(world, 1, &to, &behind);
    MPI_Win_post(before, 0, window);
    MPI_Win_start(behind, 0, window);
    MPI_Put(&value, 1, MPI_CHAR, to, 0, 1, MPI_CHAR, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    if (strcmp(wrong, "unlock") == 0)
        MPI_Win_unlock(to, other);
    if (strcmp(wrong, "put") == 0)
        MPI_Put(&value, 1, MPI_CHAR, to, 0, 1, MPI_CHAR, other);
    if (strcmp(wrong, "flush") == 0)
        MPI_Win_flush(to, other);
    if (strcmp(wrong, "complete") == 0)
        MPI_Win_complete(other);
    if (strcmp(wrong, "twice") == 0 && rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, other);
        MPI_Win_lock(MPI_LOCK_SHARED, to, 0, other);
        MPI_Win_unlock(to, other);
    }
    MPI_Win_free(&other);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
