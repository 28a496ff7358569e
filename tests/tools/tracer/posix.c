/* posix.c - a program for tests/tools/tracer.sh: files by POSIX and stdio, before and after MPI, too. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char name[64], data[5000] = {0};
    int rank, file;
    FILE *stream;
    snprintf(name, sizeof name, "posix-%d", (int)getpid());
    file = open(name, O_RDWR | O_CREAT, 0600);
    if (write(file, data, 10) != 10)
        return 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = open(name, O_RDWR);
    if (write(file, data, 4000) != 4000 || pwrite(file, data, 3000, 4096) != 3000 ||
        lseek(file, 100, SEEK_SET) != 100 || read(file, data, 5000) != 5000)
        return 1;
    fsync(file);
    close(file);
    stream = fopen(name, "r");
    if (fread(data, 100, 5, stream) != 5)
        return 1;
    fclose(stream);
    if (fork() == 0) /* what a child does is not recorded */
        _exit(write(1, "", 0) != 0);
    MPI_Barrier(MPI_COMM_WORLD);
    unlink(name);
    MPI_Finalize();
    return 0;
}
