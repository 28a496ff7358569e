/* profile.c - calls, bytes and time per task and function, gathered when the program has called MPI_Finalize.
 */
#define _GNU_SOURCE
#include "trc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* This task's lines of the table; malloc'ed. */
static char *lines(int *bytes)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    for (unsigned i = 0; i < TRC_ALL; i++) {
        struct trc_sum sum = {0};
        for (const struct trc_thread *t = trc.threads; t; t = t->next) {
            sum.calls += t->sum[i].calls;
            sum.bytes += t->sum[i].bytes;
            sum.ns += t->sum[i].ns;
        }
        if (sum.calls)
            fprintf(to, "%d,%s,%llu,%llu,%llu\n", trc.rank, trc_function[i].name,
                    (unsigned long long)sum.calls, (unsigned long long)sum.bytes, (unsigned long long)sum.ns);
    }
    fclose(to);
    *bytes = (int)length;
    return text;
}

/* Each world has its table. */
static bool profile_path(char **path)
{
    if (trc.first)
        return asprintf(path, "%s/profile-%06d.csv", trc.folder, trc.first) >= 0;
    return asprintf(path, "%s/profile.csv", trc.folder) >= 0;
}

void trc_profile_gather(void)
{
    int bytes = 0, *count = NULL, *start = NULL, total = 0;
    char *own = lines(&bytes), *all = NULL, *path = NULL;
    if (trc.rank == trc.first) {
        count = calloc((size_t)trc.size, sizeof *count);
        start = calloc((size_t)trc.size, sizeof *start);
    }
    PMPI_Gather(&bytes, 1, MPI_INT, count, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; trc.rank == trc.first && i < trc.size; i++) {
        start[i] = total;
        total += count[i];
    }
    if (trc.rank == trc.first)
        all = malloc((size_t)total + 1);
    PMPI_Gatherv(own, bytes, MPI_CHAR, all, count, start, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (trc.rank == trc.first && profile_path(&path)) {
        FILE *to = fopen(path, "w");
        if (to)
            fprintf(to, "task,function,calls,bytes,time_ns\n%.*s", total, all);
        if (!to || fclose(to) != 0)
            trc_warn("%s: %s", path, strerror(errno));
    }
    free(path);
    free(own);
    free(all);
    free(count);
    free(start);
}
