/* Free nodes for jobs.
 *
 * A node is free for a job when nobody has it, or only jobs that share nodes (jobs[].share), as this one
 * does. The free nodes of the job's range are listed in increasing order; a placement in closed form
 * (placement.c) counts along that list. Three placements order it first: contiguous (the first run that is
 * long enough), by_group (whole groups of which nobody has a node), scattered (a node of each group in turn).
 *
 * Invariant: what a job gets depends only on the jobs that were placed before it.
 */
#include "tasks/jobs/allocation.h"

#include "tasks/jobs/placement.h"

#include <stdlib.h>
#include <string.h>

/* In struct task_allocation.holder. */
#define ALONE (1u << 31)

void task_allocation_init(struct task_allocation *a, const struct route_topology *topology,
                          const struct node_kinds *kinds, uint32_t hosts, uint32_t jobs)
{
    *a = (struct task_allocation){.topology = topology, .kinds = kinds, .hosts = hosts};
    a->name = ker_alloc((jobs ? jobs : 1) * sizeof *a->name);
}

void task_allocation_release(struct task_allocation *a)
{
    free(a->name);
    free(a->holder);
}

static bool allocation_free(const struct task_allocation *a, uint32_t node, bool share)
{
    return !a->holder || a->holder[node] == 0 || (share && !(a->holder[node] & ALONE));
}

static uint32_t allocation_group(const struct task_allocation *a, enum task_group by, uint32_t node)
{
    uint32_t at;
    uint16_t port;
    if (!a->topology)
        return node;
    route_attachment(a->topology, node * route_summarise(a->topology)->adapters, &at, &port);
    return by == TASK_GROUP_SWITCH  ? at
           : by == TASK_GROUP_BOARD ? route_board(a->topology, at)
                                    : route_group(a->topology, at);
}

void task_allocation_list(const struct task_allocation *a, struct task_placement *p, char *why)
{
    uint32_t *list = ker_alloc(p->nodes * sizeof *list);
    for (uint32_t place = 0; place < p->nodes; place++) {
        uint32_t node = task_placement_place(p, place);
        if (allocation_free(a, node, p->share))
            list[p->listed++] = node;
    }
    p->list = list;
    *why = '\0';
    if (p->law->order)
        p->law->order(a, p, why);
}

/* ---- the order of a list ---- */

struct placed {
    uint32_t first, second, node; /* ordered by these */
};

KER_ORDER_BY(placed_compare, struct placed, first, second, node)

/* Of each group: 1 if somebody has a node of it. */
static uint8_t *groups_held(const struct task_allocation *a, const struct task_placement *p, uint32_t groups)
{
    uint8_t *held = ker_alloc(groups);
    for (uint32_t node = 0; node < a->hosts; node++)
        if (!allocation_free(a, node, p->share))
            held[allocation_group(a, p->group, node)] = 1;
    return held;
}

static uint32_t groups_count(const struct task_allocation *a, enum task_group by)
{
    uint32_t most = 0;
    for (uint32_t node = 0; node < a->hosts; node++) {
        uint32_t group = allocation_group(a, by, node);
        most = group > most ? group : most;
    }
    return most + 1;
}

/* The first run of free nodes that holds all tasks. */
void task_allocation_contiguous(const struct task_allocation *a, struct task_placement *p, char *why)
{
    uint64_t room = 0;
    uint32_t begin = 0, longest = 0;
    for (uint32_t i = 0; i < p->listed; i++) {
        if (i > 0 && p->list[i] != p->list[i - 1] + 1) {
            begin = i;
            room = 0;
        }
        room += task_placement_room(p, p->list[i]);
        longest = i + 1 - begin > longest ? i + 1 - begin : longest;
        if (room >= p->tasks) {
            memmove(p->list, p->list + begin, (i + 1 - begin) * sizeof *p->list);
            p->listed = i + 1 - begin;
            return;
        }
    }
    snprintf(why, TASK_ALLOCATION_WHY, "the longest run of free nodes has %u", longest);
    p->listed = 0;
}

void task_allocation_by_group(const struct task_allocation *a, struct task_placement *p, char *why)
{
    uint32_t count = 0, groups = groups_count(a, p->group);
    uint8_t *held = groups_held(a, p, groups);
    struct placed *at = ker_alloc((p->listed ? p->listed : 1) * sizeof *at);
    for (uint32_t i = 0; i < p->listed; i++) {
        uint32_t group = allocation_group(a, p->group, p->list[i]);
        if (!held[group])
            at[count++] = (struct placed){.first = group, .node = p->list[i]};
    }
    qsort(at, count, sizeof *at, placed_compare);
    for (uint32_t i = 0; i < count; i++)
        p->list[i] = at[i].node;
    p->listed = count;
    snprintf(why, TASK_ALLOCATION_WHY, "groups of which no job has a node have %u", count);
    free(at);
    free(held);
}

void task_allocation_scattered(const struct task_allocation *a, struct task_placement *p, char *why)
{
    uint32_t *met = ker_alloc(groups_count(a, p->group) * sizeof *met);
    struct placed *at = ker_alloc((p->listed ? p->listed : 1) * sizeof *at);
    for (uint32_t i = 0; i < p->listed; i++) {
        uint32_t group = allocation_group(a, p->group, p->list[i]);
        at[i] = (struct placed){.first = met[group]++, .second = group, .node = p->list[i]};
    }
    qsort(at, p->listed, sizeof *at, placed_compare);
    for (uint32_t i = 0; i < p->listed; i++)
        p->list[i] = at[i].node;
    free(at);
    free(met);
}

/* ---- who has which ---- */

static void allocation_take(struct task_allocation *a, uint32_t node, uint32_t job, bool share)
{
    if (a->holder[node] == 0)
        a->holder[node] = job + 1;
    if (!share)
        a->holder[node] |= ALONE;
}

void task_allocation_hold(struct task_allocation *a, const struct task_placement *p, uint32_t job)
{
    if (!a->holder)
        return;
    uint32_t step = p->table ? 1 : p->per_node;
    for (uint32_t task = 0; task < p->tasks; task += step)
        allocation_take(a, task_placement_of(p, task).node, job, p->share);
    if (p->law->order != task_allocation_by_group)
        return;
    uint8_t *own = ker_alloc(groups_count(a, p->group));
    for (uint32_t task = 0; task < p->tasks; task++)
        own[allocation_group(a, p->group, task_placement_of(p, task).node)] = 1;
    for (uint32_t node = 0; node < a->hosts; node++)
        if (own[allocation_group(a, p->group, node)])
            allocation_take(a, node, job, p->share);
    free(own);
}

char *task_allocation_held(const struct task_allocation *a)
{
    uint32_t free_nodes = 0, most = 0;
    for (uint32_t node = 0; node < a->hosts; node++) {
        uint32_t holder = a->holder ? a->holder[node] & ~ALONE : 0;
        free_nodes += holder == 0;
        most = holder > most ? holder : most;
    }
    char *text = ker_format("%u of %u nodes are free", free_nodes, a->hosts);
    for (uint32_t job = 1; job <= most && strlen(text) < 300; job++) {
        uint32_t count = 0;
        for (uint32_t node = 0; node < a->hosts; node++)
            count += (a->holder[node] & ~ALONE) == job;
        if (count == 0)
            continue;
        char *longer =
            ker_format("%s%s job '%s' has %u", text, strchr(text, '\'') ? "," : ":", a->name[job - 1], count);
        free(text);
        text = longer;
    }
    return text;
}
