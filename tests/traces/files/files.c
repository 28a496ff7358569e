/* files.c - a program for tests/traces/replay-files.sh, of four tasks: what MPI-IO and POSIX can ask of
 * files. Files are f, g, and p-RANK in the folder that is given. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, tasks;
static char name[256], data[100000];

static const char *path(const char *folder, const char *file)
{
    snprintf(name, sizeof name, "%s/%s", folder, file);
    return name;
}

/* Explicit offsets, a request, the shared pointer, an append. */
static void shared_file(const char *folder)
{
    MPI_File file;
    MPI_Request request;
    MPI_Datatype pieces;
    MPI_File_open(MPI_COMM_WORLD, path(folder, "f"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 1000 * rank, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
    /* bytes 0 to 9 and 40 to 59 of a hundred, for each task behind the other, from 10,000 on */
    MPI_Type_indexed(2, (int[]){10, 20}, (int[]){0, 40}, MPI_BYTE, &pieces);
    MPI_Datatype view;
    MPI_Type_create_resized(pieces, 0, 400, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, 10000 + 100 * rank, MPI_BYTE, view, "native", MPI_INFO_NULL);
    MPI_File_iwrite_at(file, 15, data, 30, MPI_BYTE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_set_view(file, 20000, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < tasks; i++) { /* so their order is known */
        if (i == rank)
            MPI_File_write_shared(file, data, 100 + i, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_write_ordered(file, data, 50 * (tasks - rank), MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_seek_shared(file, -10, MPI_SEEK_CUR);
    MPI_File_write_ordered(file, data, 10, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_close(&file);
    MPI_Type_free(&pieces);
    MPI_Type_free(&view);
    if (rank == 0) {
        MPI_File_open(MPI_COMM_SELF, path(folder, "f"), MPI_MODE_APPEND | MPI_MODE_WRONLY, MPI_INFO_NULL,
                      &file);
        MPI_File_write(file, data, 7, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_seek(file, -3, MPI_SEEK_END);
        MPI_File_write(file, data, 3, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_close(&file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Halves of the tasks write a file each, collectively; integers are its units. */
static void halves(const char *folder)
{
    MPI_Comm half;
    MPI_File file;
    MPI_Datatype view;
    MPI_Info hints;
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_cb_write", "enable");
    MPI_Info_set(hints, "cb_buffer_size", "1000");
    MPI_File_open(half, path(folder, rank / 2 ? "g1" : "g0"), MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file);
    MPI_Type_vector(10, 50, 100, MPI_INT, &view);
    MPI_Type_commit(&view);
    MPI_File_set_view(file, rank % 2 * 200, MPI_INT, view, "native", MPI_INFO_NULL);
    MPI_File_write_all(file, data, 250, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_write_all_begin(file, data, 250, MPI_INT);
    MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, 0, data, 500, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    MPI_Type_free(&view);
    MPI_Info_free(&hints);
    MPI_Comm_free(&half);
}

static void posix(const char *folder)
{
    char own[32];
    snprintf(own, sizeof own, "p-%d", rank);
    int file = open(path(folder, own), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (write(file, data, 3000) != 3000 || lseek(file, 1000, SEEK_SET) != 1000 ||
        read(file, data, 500) != 500 || pwrite(file, data, 200, 8000) != 200)
        exit(1);
    fsync(file);
    close(file);
    FILE *stream = fopen(name, "a");
    fwrite(data, 10, 9, stream);
    fclose(stream);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &tasks);
    shared_file(argv[1]);
    halves(argv[1]);
    posix(argv[1]);
    MPI_Finalize();
    return 0;
}
