/* connect.c - MPI_Comm_accept and MPI_Comm_connect between worlds that are recorded into one folder: each
 * side learns the other's numbers.
 *
 * A message could not carry them, as the other side may not be recorded. So each side's root writes its
 * numbers as a line of a file of the port in the folder before it calls, and finds those of the other side in
 * the same line of the other's file when the call has returned: the n-th who connects is accepted by the n-th
 * MPI_Comm_accept, since those who connect wait for each other. Where the other side's line is missing, or
 * has not as many numbers as the group has tasks, it is not recorded here.
 */
#define _GNU_SOURCE
#include "trc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static void port_path(char path[4096], const char *port, const char *side)
{
    uint64_t hash = 0;
    for (const char *c = port; *c; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
    snprintf(path, 4096, "%s/.port-%016llx-%s", trc.folder, (unsigned long long)hash, side);
}

/* Appends a line; returns how many there were before, -1 on failure. */
static int line_write(int file, const int32_t *number, int count)
{
    char *text = trc_numbers_text(number, count), *line = NULL, byte;
    int lines = 0, length = text ? asprintf(&line, "%s\n", text) : -1;
    while (length > 0 && read(file, &byte, 1) == 1)
        lines += byte == '\n';
    if (length < 0 || write(file, line, (size_t)length) != length)
        lines = -1;
    free(text);
    free(line);
    return lines;
}

/* The numbers of a line; NULL: it is missing, or has fewer. */
static int32_t *line_read(const char *path, int wanted, int count)
{
    FILE *from = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    int32_t *number = NULL;
    for (int i = 0; from && getline(&line, &room, from) > 0; i++)
        if (i == wanted) {
            number = trc_numbers_parse(line, count);
            break;
        }
    free(line);
    if (from)
        fclose(from);
    return number;
}

/* The root has found the numbers of the other side, or NULL; all who called get them. */
static void remote_known(MPI_Comm comm, int root, int32_t *number, MPI_Comm inter)
{
    MPI_Group group;
    int rank, count, there = number != NULL;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_remote_group(inter, &group);
    PMPI_Group_size(group, &count);
    PMPI_Bcast(&there, 1, MPI_INT, root, comm);
    if (there && rank != root)
        number = malloc((size_t)count * sizeof *number);
    if (there && number)
        PMPI_Bcast(number, count, MPI_INT32_T, root, comm);
    if (there && number)
        trc_group_known(group, number, count);
    else
        PMPI_Group_free(&group);
}

/* Does the task not know all of the group? Then nobody who called does. */
static bool is_unknown(MPI_Comm inter)
{
    MPI_Group group;
    int count;
    PMPI_Comm_remote_group(inter, &group);
    int32_t *number = trc_group_members(group, &count);
    bool unknown = number == NULL;
    for (int i = 0; number && i < count; i++)
        unknown = unknown || number[i] < 0;
    free(number);
    PMPI_Group_free(&group);
    return unknown;
}

static int both(bool connects, const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter)
{
    char own[4096], other[4096];
    int rank, count = 0, line = -1, file = -1, size = 0;
    int32_t *number = NULL;
    PMPI_Comm_rank(comm, &rank);
    if (rank == root && (number = trc_members_of(comm, &count))) {
        port_path(own, port, connects ? "connects" : "accepts");
        port_path(other, port, connects ? "accepts" : "connects");
        file = open(own, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (file >= 0 && (!connects || flock(file, LOCK_EX) == 0))
            line = line_write(file, number, count);
        free(number);
        number = NULL;
    }
    int result = connects ? PMPI_Comm_connect(port, info, root, comm, inter)
                          : PMPI_Comm_accept(port, info, root, comm, inter);
    if (result == MPI_SUCCESS && is_unknown(*inter)) {
        PMPI_Comm_remote_size(*inter, &size);
        if (rank == root && line >= 0)
            number = line_read(other, line, size);
        remote_known(comm, root, number, *inter);
    }
    if (file >= 0)
        close(file);
    return result;
}

int trc_MPI_Comm_accept(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter)
{
    return both(false, port, info, root, comm, inter);
}

int trc_MPI_Comm_connect(const char *port, MPI_Info info, int root, MPI_Comm comm, MPI_Comm *inter)
{
    return both(true, port, info, root, comm, inter);
}
