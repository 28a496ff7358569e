/* hierarchical.c - several algorithms, one after the other: inside groups of tasks, then between their
 * leaders, then inside again.
 *
 * On each level below the last the tasks of a group (a socket, a node) do a part of the collective among
 * themselves; its leader stands for it on the next level. The leader is the root in the groups that the root
 * is in, otherwise the group's lowest rank, so that the root neither sends nor receives more than it must. A
 * part is a collective of its own on the units of a group, by any algorithm for it:
 *
 *   collective   up (inside)        between nodes   down (inside)
 *   barrier      reduce, 0 bytes    barrier         bcast, 0 bytes
 *   bcast                           bcast           bcast
 *   reduce       reduce             reduce
 *   allreduce    reduce             allreduce       bcast
 *   gather       gather             gather
 *   scatter                         scatter         scatter
 *   allgather    gather             allgather       bcast, all blocks
 *   alltoall     gather, all blocks alltoall        scatter, all blocks
 *
 * Where a rank stands for a group, its blocks are those of all ranks in it (view.held); leaders put them into
 * order, which costs no time. There are no levels for calls with counts of their own for each task: a leader
 * does not know what its group's tasks have without asking.
 *
 * Phase p of L levels: p < L up on level p, p == L between nodes, p > L down on level 2 L - p. A phase begins
 * when the task has nothing outstanding of the one before. Tags of phases are different, since two leaders
 * may meet in several. Invariant: round - base is a round of the present phase's algorithm.
 *
 * Sources: Karonis, de Supinski, Foster, Gropp, Lusk, Bresnahan, "Exploiting hierarchy in parallel computer
 * networks to optimize collective operation performance", IPDPS 2000; the root as the leader of its group:
 * Kielmann et al., "MagPIe: MPI's collective communication operations for clustered wide area systems", PPoPP
 * 1999.
 */
#include "tasks/mpi/collectives/collective.h"

#include <string.h>

#define PHASES (2 * TASK_COLL_LEVELS + 1)

bool task_coll_has_levels(unsigned collective)
{
    return collective <= TASK_COLL_ALLREDUCE || collective == TASK_COLL_GATHER ||
           collective == TASK_COLL_SCATTER || collective == TASK_COLL_ALLGATHER ||
           collective == TASK_COLL_ALLTOALL;
}

/* Do blocks of different tasks are sent to (come from) different ones? */
static bool has_blocks(unsigned collective)
{
    return collective > TASK_COLL_ALLREDUCE;
}

bool task_coll_goes_up(unsigned collective, uint8_t *by)
{
    *by = has_blocks(collective) ? TASK_COLL_GATHER : TASK_COLL_REDUCE;
    return collective != TASK_COLL_BCAST && collective != TASK_COLL_SCATTER;
}

bool task_coll_goes_down(unsigned collective, uint8_t *by)
{
    bool apart = collective == TASK_COLL_SCATTER || collective == TASK_COLL_ALLTOALL;
    *by = apart ? TASK_COLL_SCATTER : TASK_COLL_BCAST;
    return collective != TASK_COLL_REDUCE && collective != TASK_COLL_GATHER;
}

bool task_coll_needs_alike(const struct ker_kind *algorithm)
{
    return algorithm->traits && strcmp(algorithm->traits, "alike") == 0;
}

/* ---- who is who ---- */

/* The unit of `level` that a rank is in: itself, its group of level 0, that one's of level 1. */
static uint32_t unit_of(const struct task_coll_groups *g, uint32_t level, int32_t rank)
{
    uint32_t unit = (uint32_t)rank;
    for (uint32_t i = 0; i < level; i++)
        unit = g->level[i].group[unit];
    return unit;
}

static int32_t leader_of(const struct task_coll_groups *g, uint32_t level, uint32_t unit, int32_t root)
{
    if (level == 0)
        return (int32_t)unit;
    return unit_of(g, level, root) == unit ? root : (int32_t)g->level[level - 1].lowest[unit];
}

/* A part of the call: the units of a group, or the last level's groups. */
struct part {
    const struct task_coll_groups *groups;
    uint32_t level, first; /* the i-th unit is units[first + i] of the level, or on the last one i */
    int32_t root;
};

static int32_t part_rank(const struct part *p, int32_t index)
{
    if (index < 0)
        return index;
    uint32_t i = p->first + (uint32_t)index;
    bool last = p->level == p->groups->levels;
    return leader_of(p->groups, p->level, last ? i : p->groups->level[p->level].unit[i], p->root);
}

static bool is_rooted(unsigned collective)
{
    return collective == TASK_COLL_BCAST || collective == TASK_COLL_REDUCE ||
           collective == TASK_COLL_GATHER || collective == TASK_COLL_SCATTER;
}

/* False: the task has no part in this level's phases, or is alone. */
static bool part_of(const struct task_coll_view *v, uint32_t level, struct part *p,
                    struct task_coll_view *own)
{
    const struct task_coll_groups *g = &v->layout->by[v->combination->levels - 1];
    int32_t root = is_rooted(v->collective) ? v->root : 0;
    uint32_t unit = unit_of(g, level, v->rank), at = unit_of(g, level, root);
    *p = (struct part){.groups = g, .level = level, .root = root};
    if (leader_of(g, level, unit, root) != v->rank)
        return false;
    if (level == g->levels) {
        own->size = (int32_t)g->level[level - 1].groups;
        own->rank = (int32_t)unit;
        own->root = (int32_t)at;
        own->held = g->held;
    } else {
        const struct task_coll_level *l = &g->level[level];
        uint32_t group = l->group[unit];
        p->first = l->first[group];
        own->size = (int32_t)(l->first[group + 1] - p->first);
        own->rank = (int32_t)l->place[unit];
        own->root = l->group[at] == group ? (int32_t)l->place[at] : 0;
        own->held = l->held ? l->held + p->first : NULL;
    }
    return own->size > 1;
}

/* The bytes of a phase, of each block if there are blocks. */
static uint64_t part_bytes(const struct task_coll_view *v, const struct task_coll_view *own)
{
    uint64_t ranks = (uint64_t)v->size;
    if (v->collective == TASK_COLL_ALLTOALL) /* `held` wherever a leader stands for several */
        return v->bytes * (own->collective == TASK_COLL_ALLTOALL && own->held
                               ? own->held[own->rank + 1] - own->held[own->rank]
                               : ranks);
    return v->collective == TASK_COLL_ALLGATHER && own->collective == TASK_COLL_BCAST ? v->bytes * ranks
                                                                                      : v->bytes;
}

/* ---- phases ---- */

/* The algorithm of a phase; NULL: the task does nothing in it. */
static const struct ker_kind *phase_of(const struct task_coll_view *v, uint32_t phase, struct part *p,
                                       struct task_coll_view *own)
{
    const struct task_coll_combination *c = v->combination;
    uint32_t level = phase <= c->levels ? phase : 2 * c->levels - phase;
    bool last = phase == c->levels;
    const struct task_coll_choice *choice = last                ? &c->top
                                            : phase < c->levels ? &c->up[level]
                                                                : &c->down[level];
    *own = (struct task_coll_view){.collective = v->collective};
    if (phase < c->levels)
        task_coll_goes_up(v->collective, &own->collective);
    else if (!last)
        task_coll_goes_down(v->collective, &own->collective);
    if (!choice->algorithm || !part_of(v, level, p, own))
        return NULL;
    own->bytes = own->bytes2 = part_bytes(v, own);
    return task_coll_take(choice, own);
}

static void round_translate(struct task_coll_round *r, const struct part *p, uint32_t phase)
{
    r->receive_from = part_rank(p, r->receive_from);
    r->send_to = part_rank(p, r->send_to);
    r->send_tag = r->send_tag * PHASES + (int32_t)phase;
    r->receive_tag = r->shared ? part_rank(p, r->receive_tag) : r->receive_tag * PHASES + (int32_t)phase;
}

static bool task_coll_hierarchical(const struct task_coll_view *v, uint32_t round, struct task_coll_round *r)
{
    uint32_t phase = round ? r->phase : 0, base = round ? r->base : 0;
    for (; phase <= 2 * v->combination->levels; phase++) {
        struct part p;
        struct task_coll_view own;
        const struct ker_kind *algorithm = phase_of(v, phase, &p, &own);
        const struct task_coll_algorithm *a = algorithm ? algorithm->operations : NULL;
        bool more = a && a->round(&own, round - base, r);
        if (!more && base == round)
            continue;
        if (more) {
            round_translate(r, &p, phase);
        } else { /* a round that only waits */
            task_coll_round_clear(r);
            r->fence = true;
            phase++;
            base = round + 1;
        }
        r->phase = (uint8_t)phase;
        r->base = base;
        return true;
    }
    return false;
}

void task_coll_combine(struct task_coll_combination *c)
{
    static const struct task_coll_algorithm operations = {.round = task_coll_hierarchical};
    c->kind = (struct ker_kind){.name = c->name, .meaning = "level by level", .operations = &operations};
}
