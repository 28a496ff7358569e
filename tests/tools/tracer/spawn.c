/* spawn.c - a program that spawns itself, for tests of the tracer and of the replay: ./spawn [WHAT]
 *
 * Its tasks, of which the first is not the root, spawn two; all exchange messages and collectives over what
 * connects the two worlds and over what they merge it to. ./spawn twice: then the last task alone spawns
 * another two, by MPI_Comm_spawn_multiple, and these one more. ./spawn connect: halves of the world connect
 * by a port.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static char out[30000], in[30000];
static int rank, size;

/* Both sides. `child`: is this the spawned one? */
static void talk(MPI_Comm inter, int child)
{
    MPI_Comm all;
    int others, mine, got;
    MPI_Comm_remote_size(inter, &others);
    MPI_Comm_rank(inter, &mine);
    for (int i = 0; i < others; i++)
        MPI_Send(out, 100 + mine, MPI_CHAR, i, 5, inter);
    for (int i = 0; i < others; i++)
        MPI_Recv(in, 200, MPI_CHAR, MPI_ANY_SOURCE, 5, inter, MPI_STATUS_IGNORE);
    MPI_Bcast(out, 20000, MPI_CHAR, child ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Intercomm_merge(inter, child, &all);
    MPI_Allreduce(&mine, &got, 1, MPI_INT, MPI_SUM, all);
    MPI_Barrier(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&inter);
}

static void again(const char *program)
{
    char *commands[] = {(char *)program, (char *)program}, *words[] = {"leaf", NULL},
         *more[] = {"more", NULL};
    char **arguments[] = {words, more};
    int most[] = {1, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    MPI_Comm inter;
    MPI_Comm_spawn_multiple(2, commands, arguments, most, infos, 0, MPI_COMM_SELF, &inter,
                            MPI_ERRCODES_IGNORE);
    talk(inter, 0);
}

static void connects(void)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm half, inter;
    int second = rank >= size / 2;
    MPI_Comm_split(MPI_COMM_WORLD, second, rank, &half);
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (second)
        MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &inter);
    else
        MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &inter);
    talk(inter, second);
    if (rank == 0)
        MPI_Close_port(port);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter;
    const char *what = argc > 1 ? argv[1] : "";
    char *words[] = {(char *)what, NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_get_parent(&parent);
    if (strcmp(what, "connect") == 0) {
        connects();
    } else if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], words, 2, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter,
                       MPI_ERRCODES_IGNORE);
        talk(inter, 0);
        if (rank == size - 1 && strcmp(what, "twice") == 0)
            again(argv[0]);
    } else {
        talk(parent, 1);
        words[0] = "leaf";
        if (strcmp(what, "more") == 0 || (rank == 1 && strcmp(what, "leaf") == 0)) {
            MPI_Comm_spawn(argv[0], words, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
            talk(inter, 0);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
