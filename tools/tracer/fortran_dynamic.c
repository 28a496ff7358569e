/* fortran_dynamic.c - calls of Fortran programs that make further worlds, or connect them, as those of C:
 * what these do besides (spawn.c, connect.c) the Fortran library would not call.
 */
#include "trc.h"

#include <stdlib.h>
#include <string.h>

/* Variables whose addresses mean something. */
#ifdef MPICH_VERSION
extern __attribute__((weak)) void *MPI_F_ARGV_NULL, *MPI_F_ARGVS_NULL, *MPI_F_ERRCODES_IGNORE;
#define POINTED(name) (&MPI_F_##name ? (const void *)MPI_F_##name : NULL)
#define ARGV_NULL POINTED(ARGV_NULL)
#define ARGVS_NULL POINTED(ARGVS_NULL)
#define ERRCODES_IGNORE POINTED(ERRCODES_IGNORE)
#else
extern __attribute__((weak)) char mpi_fortran_argv_null_, mpi_fortran_argv_null, mpi_fortran_argvs_null_,
    mpi_fortran_argvs_null, mpi_fortran_errcodes_ignore_, mpi_fortran_errcodes_ignore;
#define ARGV_NULL &mpi_fortran_argv_null_, &mpi_fortran_argv_null
#define ARGVS_NULL &mpi_fortran_argvs_null_, &mpi_fortran_argvs_null
#define ERRCODES_IGNORE &mpi_fortran_errcodes_ignore_, &mpi_fortran_errcodes_ignore
#endif

static bool is_one(const void *address, const void *const *meant, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (meant[i] && address == meant[i])
            return true;
    return false;
}
#define IS(address, ...)                                                                                     \
    is_one(address, (const void *const[]){__VA_ARGS__},                                                      \
           sizeof((const void *const[]){__VA_ARGS__}) / sizeof(void *))

static MPI_Fint integer(const void *p)
{
    return *(const MPI_Fint *)p;
}

/* Without the blanks behind it; malloc'ed. */
static char *text_of(const char *from, size_t length)
{
    while (length > 0 && (from[length - 1] == ' ' || from[length - 1] == 0))
        length--;
    char *text = calloc(length + 1, 1);
    if (!text)
        abort();
    return memcpy(text, from, length);
}

/* Words that lie `step` apart, up to an empty one; NULL at the end. */
static char **words_of(const char *from, size_t length, size_t step)
{
    char **words = NULL;
    for (size_t count = 0;; count++, from += step) {
        words = realloc(words, (count + 1) * sizeof *words);
        if (!words)
            abort();
        words[count] = text_of(from, length);
        if (words[count][0] == 0) {
            free(words[count]);
            words[count] = NULL;
            return words;
        }
    }
}

static void words_free(char **words)
{
    for (char **w = words; w && *w; w++)
        free(*w);
    free(words);
}

static bool is_root(MPI_Comm comm, int root)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == root;
}

static int *codes_of(void *p)
{
    return IS(p, ERRCODES_IGNORE) ? MPI_ERRCODES_IGNORE : p;
}

static void made(MPI_Fint *to, MPI_Comm inter, int result, MPI_Fint *error)
{
    if (result == MPI_SUCCESS)
        *to = PMPI_Comm_c2f(inter);
    if (error)
        *error = result;
}

/* COMMAND ARGV MAXPROCS INFO ROOT COMM INTERCOMM CODES */
void trc_fortran_comm_spawn(void **p, size_t command, size_t word, MPI_Fint *error)
{
    MPI_Comm comm = PMPI_Comm_f2c(integer(p[5])), inter = MPI_COMM_NULL;
    int root = integer(p[4]);
    bool here = is_root(comm, root); /* elsewhere the first four mean nothing */
    char *name = here ? text_of(p[0], command) : NULL,
         **argv = here && !IS(p[1], ARGV_NULL) ? words_of(p[1], word, word) : MPI_ARGV_NULL;
    int result = trc_MPI_Comm_spawn(name ? name : "", argv, here ? integer(p[2]) : 0,
                                    here ? PMPI_Info_f2c(integer(p[3])) : MPI_INFO_NULL, root, comm, &inter,
                                    codes_of(p[7]));
    made(p[6], inter, result, error);
    words_free(argv);
    free(name);
}

/* COUNT COMMANDS ARGVS MAXPROCS INFOS ROOT COMM INTERCOMM CODES; ARGVS(COUNT, *) */
void trc_fortran_comm_spawn_multiple(void **p, size_t command, size_t word, MPI_Fint *error)
{
    MPI_Comm comm = PMPI_Comm_f2c(integer(p[6])), inter = MPI_COMM_NULL;
    int root = integer(p[5]), count = is_root(comm, root) ? integer(p[0]) : 0;
    size_t room = count > 0 ? (size_t)count : 0;
    bool given = room && !IS(p[2], ARGVS_NULL);
    char **names = calloc(room + 1, sizeof *names), ***argvs = calloc(room + 1, sizeof *argvs);
    MPI_Info *infos = calloc(room + 1, sizeof *infos);
    if (!names || !argvs || !infos)
        abort();
    for (size_t i = 0; i < room; i++) {
        names[i] = text_of((char *)p[1] + i * command, command);
        argvs[i] = given ? words_of((char *)p[2] + i * word, word, room * word) : NULL;
        infos[i] = PMPI_Info_f2c(((MPI_Fint *)p[4])[i]);
    }
    int result = trc_MPI_Comm_spawn_multiple(count, names, given ? argvs : MPI_ARGVS_NULL, p[3], infos, root,
                                             comm, &inter, codes_of(p[8]));
    made(p[7], inter, result, error);
    for (size_t i = 0; i < room; i++) {
        words_free(argvs[i]);
        free(names[i]);
    }
    free(names);
    free(argvs);
    free(infos);
}

/* PORT INFO ROOT COMM NEWCOMM */
static void port_call(int (*call)(const char *, MPI_Info, int, MPI_Comm, MPI_Comm *), void **p, size_t length,
                      MPI_Fint *error)
{
    MPI_Comm comm = PMPI_Comm_f2c(integer(p[3])), inter = MPI_COMM_NULL;
    int root = integer(p[2]);
    bool here = is_root(comm, root);
    char *port = here ? text_of(p[0], length) : NULL;
    int result =
        call(port ? port : "", here ? PMPI_Info_f2c(integer(p[1])) : MPI_INFO_NULL, root, comm, &inter);
    made(p[4], inter, result, error);
    free(port);
}

void trc_fortran_comm_accept(void **p, size_t port, MPI_Fint *error)
{
    port_call(trc_MPI_Comm_accept, p, port, error);
}

void trc_fortran_comm_connect(void **p, size_t port, MPI_Fint *error)
{
    port_call(trc_MPI_Comm_connect, p, port, error);
}
