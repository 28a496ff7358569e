/* Placement of one job: where its tasks are.
 *
 * Tasks sit on seats, per_node to a seat: task t has seat t / per_node. A law maps seats to places of the
 * range:
 *   sequential  place = seat
 *   strided     0, s, 2s, ... to the end of the range, then 1, 1 + s, ..., so that all of the range is used
 *   random      a permutation of the range drawn from the seed
 * The places are nodes one after the other, or the free ones of a list; what is not a closed form (a file,
 * free nodes, a node with as many tasks as cores) is a table.
 *
 * Invariant: a law and its inverse are bijections of 0..nodes-1, so one job never puts two seats on one node.
 */
#include "tasks/jobs/placement.h"

#include <stdlib.h>

uint32_t task_placement_seat(const struct task_placement *p, uint32_t seat)
{
    return seat;
}

/* With m = q s + r places and stride s, the rounds 0..r-1 have q + 1 places, the others q. */
static uint32_t strided_place(const struct task_placement *p, uint32_t seat)
{
    uint32_t q = p->nodes / p->stride, r = p->nodes % p->stride;
    uint64_t longer = (uint64_t)r * (q + 1);
    if (seat < longer)
        return seat / (q + 1) + seat % (q + 1) * p->stride;
    uint32_t rest = seat - (uint32_t)longer;
    return r + rest / q + rest % q * p->stride;
}

static uint32_t strided_seat(const struct task_placement *p, uint32_t place)
{
    uint32_t q = p->nodes / p->stride, r = p->nodes % p->stride;
    uint32_t round = place % p->stride, step = place / p->stride;
    if (round < r)
        return round * (q + 1) + step;
    return r * (q + 1) + (round - r) * q + step;
}

static uint32_t random_place(const struct task_placement *p, uint32_t seat)
{
    return task_permutation_at(&p->permutation, seat);
}

static uint32_t random_seat(const struct task_placement *p, uint32_t place)
{
    return task_permutation_find(&p->permutation, place);
}

const struct task_placement_law task_law_sequential = {task_placement_seat, task_placement_seat};
const struct task_placement_law task_law_strided = {strided_place, strided_seat};
const struct task_placement_law task_law_random = {random_place, random_seat};

uint32_t task_placement_place(const struct task_placement *p, uint32_t place)
{
    if (p->list)
        return p->list[place];
    return p->kinds ? node_kinds_node(p->kinds, p->kind, p->first + place) : p->first + place;
}

uint32_t task_placement_room(const struct task_placement *p, uint32_t node)
{
    if (p->fill == PLACED_EACH)
        return p->per_node;
    const struct node_structure *s = node_structure_at(p->all_kinds, node);
    return p->fill == PLACED_THREADS ? s->units : s->cores;
}

uint32_t task_placement_node(const struct task_placement *p, uint32_t seat)
{
    return task_placement_place(p, p->law->place(p, seat));
}

/* Sorts the tasks by node and, when the file names no cores, numbers them on each node. */
void task_placement_index(struct task_placement *p)
{
    uint64_t *key = ker_alloc(p->tasks * sizeof *key);
    for (uint32_t task = 0; task < p->tasks; task++)
        key[task] = (uint64_t)p->table[task].node << 32 | task;
    qsort(key, p->tasks, sizeof *key, ker_order_u64);
    p->by_node = ker_alloc(p->tasks * sizeof *p->by_node);
    uint32_t k = 0;
    for (uint32_t i = 0; i < p->tasks; i++) {
        p->by_node[i] = (uint32_t)key[i];
        k = i > 0 && key[i] >> 32 == key[i - 1] >> 32 ? k + 1 : 0;
        if (!p->has_cores)
            p->table[p->by_node[i]].core = (uint16_t)(k < UINT16_MAX ? k : UINT16_MAX);
    }
    free(key);
}

uint32_t task_placement_each(struct task_placement *p, uint32_t first, uint32_t tasks)
{
    *p = (struct task_placement){.law = &task_law_sequential,
                                 .tasks = tasks,
                                 .per_node = 1,
                                 .first = first,
                                 .nodes = tasks,
                                 .stride = 1};
    return tasks;
}

void task_placement_release(struct task_placement *p)
{
    KER_FREE(p->list, p->fold, p->table, p->by_node);
    p->list = NULL;
    p->fold = NULL;
    p->table = NULL;
    p->by_node = NULL;
}

struct task_place task_placement_of(const struct task_placement *p, uint32_t task)
{
    if (p->table)
        return p->table[task];
    return (struct task_place){.node = task_placement_node(p, task / p->per_node),
                               .core = (uint16_t)(task % p->per_node)};
}

/* The first of by_node whose node is not below `node`. */
static uint32_t placement_lower(const struct task_placement *p, uint64_t node)
{
    return KER_BISECT(i, 0, p->tasks, p->table[p->by_node[i]].node < node);
}

/* The number of a node among those that the range is one of; false: it is none. */
static bool placement_number(const struct task_placement *p, uint32_t node, uint32_t *place)
{
    if (p->kinds && node_kinds_of(p->kinds, node) != p->kind)
        return false;
    *place = (p->kinds ? node_kinds_rank(p->kinds, node) : node) - p->first;
    return *place < p->nodes;
}

uint32_t task_placement_count(const struct task_placement *p, uint32_t node)
{
    uint32_t place;
    if (p->table)
        return placement_lower(p, (uint64_t)node + 1) - placement_lower(p, node);
    if (!placement_number(p, node, &place))
        return 0;
    uint64_t first = (uint64_t)p->law->seat(p, place) * p->per_node;
    if (first >= p->tasks)
        return 0;
    return p->tasks - first < p->per_node ? (uint32_t)(p->tasks - first) : p->per_node;
}

uint32_t task_placement_task(const struct task_placement *p, uint32_t node, uint32_t k)
{
    uint32_t place;
    if (p->table)
        return p->by_node[placement_lower(p, node) + k];
    ker_assert(placement_number(p, node, &place));
    return p->law->seat(p, place) * p->per_node + k;
}
