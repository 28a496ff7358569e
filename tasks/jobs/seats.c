/* seats.c - the tasks of all jobs, node by node.
 *
 * Tasks without a core of their own take cores job after job: a task's core is the number of tasks that
 * earlier jobs have on its node, plus its number among its own job's there. In the table sorted by (node,
 * job, task) the first is how far the job's first seat is behind the node's first.
 */
#include "tasks/jobs/seats.h"

#include <stdlib.h>
#include <string.h>

KER_ORDER_BY(seat_compare, struct task_seat, node, job, task)

static int seat_compare_cores(const void *a, const void *b)
{
    const struct task_seat *x = a, *y = b;
    return KER_ORDER(x, y, node, core) ?: seat_compare(a, b);
}

static void seats_number(const struct task_placement *const *placement, struct task_seat *seat, size_t count)
{
    size_t node = 0, job = 0; /* where this node's and this job's seats begin */
    for (size_t i = 0; i < count; i++) {
        if (seat[i].node != seat[node].node)
            node = job = i;
        if (seat[i].job != seat[job].job)
            job = i;
        if (!placement[seat[i].job]->has_cores)
            seat[i].core += (uint32_t)(job - node);
    }
}

size_t task_seats_make(const struct task_placement *const *placement, uint32_t jobs, struct task_seat **seat)
{
    size_t count = 0, filled = 0;
    for (uint32_t job = 0; job < jobs; job++)
        count += placement[job]->tasks;
    *seat = ker_alloc((count ? count : 1) * sizeof **seat);
    for (uint32_t job = 0; job < jobs; job++)
        for (uint32_t task = 0; task < placement[job]->tasks; task++) {
            struct task_place place = task_placement_of(placement[job], task);
            (*seat)[filled++] = (struct task_seat){place.node, place.core, job, task};
        }
    qsort(*seat, count, sizeof **seat, seat_compare);
    seats_number(placement, *seat, count);
    return count;
}

struct task_seat *task_seats_by_core(const struct task_seat *seat, size_t count)
{
    struct task_seat *copy = ker_alloc((count ? count : 1) * sizeof *copy);
    memcpy(copy, seat, count * sizeof *copy);
    qsort(copy, count, sizeof *copy, seat_compare_cores);
    return copy;
}

size_t task_seats_find(const struct task_seat *seat, size_t count, uint32_t node, uint32_t job)
{
    return KER_BISECT(i, 0, count, seat[i].node != node ? seat[i].node < node : seat[i].job < job);
}
