/* groups.c - which ranks of a communicator share a node, and a socket of it.
 *
 * Units with one key are a group. They are sorted by (key, unit), so that the first of each run is its
 * lowest, and runs are numbered by their first units: since the units of the next level are these groups,
 * they are in the order of their lowest ranks, too. Invariant: unit[first[g] + i] is the i-th unit of group
 * g, in ascending order.
 */
#include "tasks/mpi/collectives/collective.h"

#include <stdlib.h>

struct keyed {
    uint64_t key;
    uint32_t unit;
};

KER_ORDER_BY(keyed_compare, struct keyed, key, unit)

static uint32_t *numbers(size_t count)
{
    return ker_alloc((count + 1) * sizeof(uint32_t));
}

/* The group of each unit; sorted[i].key becomes the first unit of its run. */
static void level_number(struct task_coll_level *level, struct keyed *sorted)
{
    uint32_t *first_of = numbers(level->units);
    uint64_t key = 0;
    for (uint32_t i = 0, begin = 0; i < level->units; i++) {
        if (i == 0 || sorted[i].key != key)
            begin = sorted[i].unit;
        key = sorted[i].key;
        first_of[sorted[i].unit] = begin;
    }
    for (uint32_t u = 0; u < level->units; u++)
        level->group[u] = first_of[u] == u ? level->groups++ : level->group[first_of[u]];
    free(first_of);
}

/* unit_lowest: of each unit its lowest rank; NULL: units are ranks. */
static void level_make(struct task_coll_level *level, struct keyed *keyed, uint32_t units,
                       const uint32_t *unit_lowest)
{
    *level = (struct task_coll_level){.units = units, .group = numbers(units), .place = numbers(units)};
    qsort(keyed, units, sizeof *keyed, keyed_compare);
    level_number(level, keyed);
    level->first = numbers(level->groups);
    level->unit = numbers(units);
    level->lowest = numbers(level->groups);
    for (uint32_t u = 0; u < units; u++)
        level->place[u] = level->first[level->group[u] + 1]++;
    for (uint32_t g = 0; g < level->groups; g++)
        level->first[g + 1] += level->first[g];
    for (uint32_t u = 0; u < units; u++) {
        uint32_t group = level->group[u];
        level->unit[level->first[group] + level->place[u]] = u;
        if (level->place[u] == 0)
            level->lowest[group] = unit_lowest ? unit_lowest[u] : u;
    }
}

/* units[i]: of group i of the level below, in this one's order; NULL: in their own. */
static uint32_t *held_make(const struct task_coll_level *below, const uint32_t *held_below,
                           const uint32_t *units)
{
    uint32_t *held = numbers(below->groups);
    for (uint32_t i = 0; i < below->groups; i++) {
        uint32_t group = units ? units[i] : i, from = below->first[group], to = below->first[group + 1];
        held[i + 1] = held[i] + (held_below ? held_below[to] - held_below[from] : to - from);
    }
    return held;
}

void task_coll_layout_make(struct task_coll_layout *layout, const struct task_coll_spot *spot, uint32_t ranks)
{
    struct keyed *keyed = ker_alloc((ranks + 1ull) * sizeof *keyed);
    layout->by[0].levels = 1;
    layout->by[1].levels = 2;
    for (uint32_t r = 0; r < ranks; r++)
        keyed[r] = (struct keyed){spot[r].node, r};
    level_make(&layout->by[0].level[0], keyed, ranks, NULL);
    struct task_coll_level *sockets = &layout->by[1].level[0];
    for (uint32_t r = 0; r < ranks; r++)
        keyed[r] = (struct keyed){(uint64_t)spot[r].node << 32 | spot[r].socket, r};
    level_make(sockets, keyed, ranks, NULL);
    for (uint32_t s = 0; s < sockets->groups; s++)
        keyed[s] = (struct keyed){spot[sockets->lowest[s]].node, s};
    struct task_coll_level *nodes = &layout->by[1].level[1];
    level_make(nodes, keyed, sockets->groups, sockets->lowest);
    free(keyed);
    nodes->held = held_make(sockets, NULL, nodes->unit);
    layout->by[0].held = held_make(&layout->by[0].level[0], NULL, NULL);
    layout->by[1].held = held_make(nodes, nodes->held, NULL);
}

static void level_release(struct task_coll_level *level)
{
    free(level->group);
    free(level->place);
    free(level->first);
    free(level->unit);
    free(level->lowest);
    free(level->held);
}

void task_coll_layout_release(struct task_coll_layout *layout)
{
    level_release(&layout->by[0].level[0]);
    level_release(&layout->by[1].level[0]);
    level_release(&layout->by[1].level[1]);
    for (uint32_t i = 0; i < TASK_COLL_LEVELS; i++)
        free(layout->by[i].held);
}
