/* spawn.c - tasks that MPI_Comm_spawn starts: they are recorded into the same folder, with numbers of their
 * own.
 *
 * The root of the call reserves numbers, behind all that there are, in the file ".spawned" of the folder, and
 * starts the new tasks by env(1), so that their environment has what ours has (the library to be loaded, and
 * what marstrace was given) and what they must know: the number of the first of them, and those of the tasks
 * that spawn them. The others that spawn learn the number from the root by one broadcast. So the members of
 * communicators have the same numbers on both sides.
 *
 * A world that is started apart may lie in the folder, too: marstrace --first says what its first number is.
 */
#define _GNU_SOURCE
#include "trc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define FIRST "MARSTRACE_FIRST"
#define PARENTS "MARSTRACE_PARENTS"

/* ---- numbers ---- */

/* This many numbers behind those that are taken, or, from > 0, these; -1: they cannot be had. */
static int numbers_reserve(int from, int count)
{
    char path[4096], text[32] = "";
    snprintf(path, sizeof path, "%s/.spawned", trc.folder);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666), first = -1;
    if (file >= 0 && flock(file, LOCK_EX) == 0 && pread(file, text, sizeof text - 1, 0) >= 0) {
        int next =
            text[0] ? atoi(text) : trc.first + trc.size; /* the first who spawns is of the first world */
        if (from > 0)
            next = text[0] && next > from ? INT32_MAX : from;
        int length = snprintf(text, sizeof text, "%d\n", next <= INT32_MAX - count ? next + count : next);
        if (next <= INT32_MAX - count && pwrite(file, text, (size_t)length, 0) == length)
            first = next;
        else if (next == INT32_MAX)
            errno = EEXIST;
    }
    if (first < 0)
        trc_warn("%s: %s; tasks of a further world are not recorded as such", path, strerror(errno));
    if (file >= 0)
        close(file);
    return first;
}

char *trc_numbers_text(const int32_t *number, int count)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    for (int i = 0, end; to && i < count; i = end) {
        for (end = i + 1; end < count && number[end] == number[end - 1] + 1;)
            end++;
        fprintf(to, "%s%d-%d", i ? "," : "", number[i], number[end - 1]);
    }
    if (to)
        fclose(to);
    return text;
}

int32_t *trc_numbers_parse(const char *text, int count)
{
    int32_t *number = malloc(((size_t)count + 1) * sizeof *number);
    int have = 0, first, last, used;
    for (; number && sscanf(text, "%d-%d%n", &first, &last, &used) == 2; text += used + (text[used] == ','))
        for (int i = first; i <= last && have < count; i++)
            number[have++] = i;
    if (number && have == count)
        return number;
    free(number);
    return NULL;
}

/* ---- the tasks that spawn ---- */

/* env NAME=VALUE ... COMMAND ARGUMENT ...; what it points to lives as long as the process. */
static char **env_arguments(int first, const char *parents, const char *command, char *const *argv)
{
    extern char **environ;
    size_t used = 0, count = 4;
    for (char **e = environ; *e; e++)
        count++;
    for (char *const *a = argv; a && *a; a++)
        count++;
    char **all = calloc(count, sizeof *all);
    if (!all || asprintf(&all[0], FIRST "=%d", first) < 0 || asprintf(&all[1], PARENTS "=%s", parents) < 0)
        return NULL;
    used = 2;
    for (char **e = environ; *e; e++) {
        bool given =
            strncmp(*e, FIRST "=", sizeof FIRST) == 0 || strncmp(*e, PARENTS "=", sizeof PARENTS) == 0;
        if (!given && (strncmp(*e, "LD_PRELOAD=", 11) == 0 || strncmp(*e, "MARSTRACE_", 10) == 0))
            all[used++] = *e;
    }
    all[used++] = (char *)(intptr_t)command;
    for (char *const *a = argv; a && *a; a++)
        all[used++] = *a;
    return all;
}

int32_t *trc_members_of(MPI_Comm comm, int *count)
{
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    int32_t *number = trc_group_members(group, count);
    PMPI_Group_free(&group);
    for (int i = 0; number && i < *count; i++)
        if (number[i] < 0) {
            free(number);
            return NULL;
        }
    return number;
}

/* The new tasks have numbers from `first` on; -1: unknown. */
static void spawned(MPI_Comm comm, int root, int first, const MPI_Comm *inter)
{
    MPI_Group group;
    int size = 0;
    PMPI_Bcast(&first, 1, MPI_INT, root, comm);
    if (first < 0 || *inter == MPI_COMM_NULL)
        return;
    PMPI_Comm_remote_group(*inter, &group);
    PMPI_Group_size(group, &size);
    int32_t *number = malloc(((size_t)size + 1) * sizeof *number);
    for (int i = 0; number && i < size; i++)
        number[i] = first + i;
    if (number)
        trc_group_known(group, number, size);
}

int trc_MPI_Comm_spawn_multiple(int count, char *commands[], char **argvs[], const int most[],
                                const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *inter, int codes[])
{
    int parents = 0, rank = 0, first = -1, all = 0;
    int32_t *parent = trc_members_of(comm, &parents);
    if (!parent)
        return PMPI_Comm_spawn_multiple(count, commands, argvs, most, infos, root, comm, inter, codes);
    PMPI_Comm_rank(comm, &rank);
    for (int i = 0; rank == root && i < count; i++)
        all += most[i];
    if (rank == root && all > 0)
        first = numbers_reserve(0, all);
    char *text = trc_numbers_text(parent, parents), **command = NULL, ***argv = NULL;
    bool fine = first >= 0 && text && (command = malloc((size_t)count * sizeof *command)) &&
                (argv = malloc((size_t)count * sizeof *argv));
    for (int i = 0; fine && i < count; i++) {
        command[i] = (char *)(intptr_t) "env";
        argv[i] = env_arguments(first, text, commands[i], argvs ? argvs[i] : NULL);
        fine = argv[i] != NULL;
    }
    int result = PMPI_Comm_spawn_multiple(count, fine ? command : commands, fine ? argv : argvs, most, infos,
                                          root, comm, inter, codes);
    if (result == MPI_SUCCESS)
        spawned(comm, root, fine ? first : -1, inter);
    free(parent);
    free(text);
    free(command);
    free(argv);
    return result;
}

int trc_MPI_Comm_spawn(const char *command, char *argv[], int most, MPI_Info info, int root, MPI_Comm comm,
                       MPI_Comm *inter, int codes[])
{
    int parents = 0, rank = 0, first = -1;
    int32_t *parent = trc_members_of(comm, &parents);
    if (!parent)
        return PMPI_Comm_spawn(command, argv, most, info, root, comm, inter, codes);
    PMPI_Comm_rank(comm, &rank);
    if (rank == root && most > 0)
        first = numbers_reserve(0, most);
    char *text = trc_numbers_text(parent, parents),
         **all = first >= 0 && text ? env_arguments(first, text, command, argv) : NULL;
    int result =
        PMPI_Comm_spawn(all ? "env" : command, all ? all : argv, most, info, root, comm, inter, codes);
    if (result == MPI_SUCCESS)
        spawned(comm, root, all ? first : -1, inter);
    free(parent);
    free(text);
    free(all);
    return result;
}

/* ---- the tasks that are spawned ---- */

int trc_spawn_first(void)
{
    const char *first = getenv(FIRST);
    return first ? atoi(first) : 0;
}

void trc_spawn_begin(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Group group;
    int size = 0;
    PMPI_Comm_get_parent(&parent);
    if (trc.first > 0)
        trc_info("first", "%d", trc.first);
    if (parent == MPI_COMM_NULL) {
        if (trc.first > 0 && trc.rank == trc.first)
            numbers_reserve(trc.first, trc.size);
        return;
    }
    PMPI_Comm_remote_group(parent, &group);
    PMPI_Group_size(group, &size);
    int32_t *number = trc_numbers_parse(getenv(PARENTS) ? getenv(PARENTS) : "", size);
    if (number)
        trc_group_known(group, number, size);
    trc_info("parent", "%u", trc_comm_of(parent)->number);
}
