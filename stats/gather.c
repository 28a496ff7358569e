/* gather.c - rows of all ranks brought to the control rank.
 *
 * Each rank holds the rows of its own components. They are gathered as bytes, in rank order, and sorted by a
 * key that is unique and independent of the partition (the link's order; job and task): the result does not
 * depend on who had what.
 */
#include "stats/stats.h"

#include <stdlib.h>

/* Sorted rows on rank 0, NULL elsewhere. */
static void *rows_gather(struct ker_comm *comm, const void *own, size_t count, size_t row_bytes,
                         size_t *total, int (*compare)(const void *, const void *))
{
    void *all = NULL;
    size_t *offset = NULL;
    ker_comm_gather(comm, own, count * row_bytes, &all, &offset);
    *total = 0;
    if (ker_comm_rank(comm) == 0) {
        *total = offset[ker_comm_size(comm)] / row_bytes;
        if (*total)
            qsort(all, *total, row_bytes, compare);
    }
    free(offset);
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

struct stats_link *stats_links_gather(struct ker_comm *comm, const struct stats_link *own, size_t count,
                                      size_t *total)
{
    return rows_gather(comm, own, count, sizeof *own, total, link_compare);
}

struct stats_task *stats_tasks_gather(struct ker_comm *comm, const struct stats_task *own, size_t count,
                                      size_t *total)
{
    return rows_gather(comm, own, count, sizeof *own, total, task_compare);
}
