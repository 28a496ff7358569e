/* worlds.c - worlds that connect, for tests of the tracer and of the replay.
 *
 * ./worlds: its tasks spawn a world of two that accepts and two worlds, of one and three, that connect to it,
 * one behind the other. ./worlds accept FILE, ./worlds connect FILE: worlds that are started apart, the port
 * in a file.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char out[30000], in[30000], port[MPI_MAX_PORT_NAME];
static int rank;

static void talk(MPI_Comm inter, int second)
{
    MPI_Comm all;
    int others, got;
    MPI_Comm_remote_size(inter, &others);
    for (int i = 0; i < others; i++)
        MPI_Send(out, 100 + rank, MPI_CHAR, i, 5, inter);
    for (int i = 0; i < others; i++)
        MPI_Recv(in, 200, MPI_CHAR, MPI_ANY_SOURCE, 5, inter, MPI_STATUS_IGNORE);
    MPI_Intercomm_merge(inter, second, &all);
    MPI_Allreduce(&rank, &got, 1, MPI_INT, MPI_SUM, all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
}

static void accepts(int times)
{
    MPI_Comm inter;
    for (int i = 0; i < times; i++) {
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        talk(inter, 0);
    }
}

static void connects(void)
{
    MPI_Comm inter;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
    talk(inter, 1);
}

/* What is spawned gets the port from those who spawn it, or gives it to them. */
static void child(MPI_Comm parent, int first)
{
    if (first && rank == 0) {
        MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, parent);
    } else if (!first && rank == 0) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, parent, MPI_STATUS_IGNORE);
    }
    if (first)
        accepts(2);
    else
        connects();
}

static void parents(const char *program)
{
    static const int sizes[] = {2, 1, 3};
    MPI_Comm inter[3];
    for (int i = 0; i < 3; i++) {
        char *words[] = {i ? "later" : "first", NULL};
        MPI_Comm_spawn(program, words, sizes[i], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter[i],
                       MPI_ERRCODES_IGNORE);
    }
    if (rank == 0) {
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, inter[0], MPI_STATUS_IGNORE);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, inter[1]);
        MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 1, inter[2]);
    }
}

static void apart(int first, const char *path)
{
    char name[4096];
    FILE *file = NULL;
    if (rank == 0 && first) {
        MPI_Open_port(MPI_INFO_NULL, port);
        snprintf(name, sizeof name, "%s.new", path);
        file = fopen(name, "w");
        fputs(port, file);
        fclose(file);
        rename(name, path);
    } else if (rank == 0) {
        while (!(file = fopen(path, "r")))
            usleep(1000);
        if (!fgets(port, sizeof port, file))
            MPI_Abort(MPI_COMM_WORLD, 1);
        fclose(file);
    }
    if (first)
        accepts(1);
    else
        connects();
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        child(parent, strcmp(argv[1], "first") == 0);
    else if (argc > 2)
        apart(strcmp(argv[1], "accept") == 0, argv[2]);
    else
        parents(argv[0]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
