/* gather.c - rows of all ranks brought to the control rank.
 *
 * Each rank holds the rows of its own components. They are gathered as bytes, in rank order, and sorted by a
 * key that is unique and independent of the partition (the link's order; job and task): the result does not
 * depend on who had what.
 *
 * A large system has many rows: with one rank they are not copied, and what is in order already (then always)
 * is not sorted, for which glibc's qsort would take as much memory again.
 */
#include "stats/stats.h"

#include <stdlib.h>

typedef int row_compare(const void *, const void *);

static void *rows_collect(struct ker_comm *comm, void *own, size_t count, size_t row_bytes, size_t *total)
{
    *total = count;
    if (ker_comm_size(comm) == 1)
        return own;
    void *all;
    size_t *offset;
    ker_comm_gather(comm, own, count * row_bytes, &all, &offset);
    *total = offset ? offset[ker_comm_size(comm)] / row_bytes : 0;
    free(offset);
    free(own);
    return all;
}

static bool rows_sorted(const char *row, size_t count, size_t row_bytes, row_compare *compare)
{
    for (size_t i = 1; i < count; i++)
        if (compare(row + (i - 1) * row_bytes, row + i * row_bytes) > 0)
            return false;
    return true;
}

/* Sorted rows on rank 0, NULL elsewhere. */
static void *rows_gather(struct ker_comm *comm, void *own, size_t count, size_t row_bytes, size_t *total,
                         row_compare *compare)
{
    void *all = rows_collect(comm, own, count, row_bytes, total);
    if (!rows_sorted(all, *total, row_bytes, compare))
        qsort(all, *total, row_bytes, compare);
    return all;
}

static int link_compare(const void *left, const void *right)
{
    const struct stats_link *a = left, *b = right;
    return (a->order > b->order) - (a->order < b->order);
}

static int task_compare(const void *left, const void *right)
{
    const struct stats_task *a = left, *b = right;
    if (a->job != b->job)
        return a->job < b->job ? -1 : 1;
    return (a->task > b->task) - (a->task < b->task);
}

struct stats_link *stats_links_gather(struct ker_comm *comm, struct stats_link *own, size_t count,
                                      size_t *total)
{
    return rows_gather(comm, own, count, sizeof *own, total, link_compare);
}

struct stats_task *stats_tasks_gather(struct ker_comm *comm, struct stats_task *own, size_t count,
                                      size_t *total)
{
    return rows_gather(comm, own, count, sizeof *own, total, task_compare);
}
