/* group.c - who is in a communicator whose making does not show it: Comm_create, Cart_create, Cart_sub.
 *
 * Their arguments are addresses. What is known is the rank and size that each task prints with the handle
 * when it uses it, which may be long after, and after other communicators have been made. A task *needs* such
 * a communicator when it is at a handle of some rank and size and has used or will use more handles of
 * that kind, before it makes another communicator, than it has communicators whose members are known. Then
 * the oldest call that can explain it is looked at: Cart_create: the first tasks of the parent, as many as
 * the size, when each that needs it has its parent's rank; else as below; Cart_sub: the parent is a grid of
 * some extents, of which some dimensions are kept: those which give all tasks a rank they have a handle for;
 *   Comm_create: each rank once, by tasks whose signs fit each other (several groups may come from one call).
 * Of several tasks that fit the i-th is taken with the i-th, and that is a doubt.
 */
#include "traces/allprof/comm.h"

#include <stdlib.h>
#include <string.h>

#define GROUP_STEPS 1000000 /* tried to fill one group */

/* A task of the parent. */
struct member {
    uint32_t task, known; /* known: place of the open communicator; UINT32_MAX: it has it no more */
    struct allprof_freshes fresh;
    bool needs; /* a rank in the size looked for, now */
    bool can;   /* it has a handle of this size, with this rank and sign */
    int32_t rank;
    struct allprof_sign sign;
};

struct finder {
    struct allprof_resolver *r;
    int32_t open, size; /* looked for */
    struct member *member;
    int32_t members;
    uint64_t steps;
};

/* Communicators of known members and this kind that have no handle yet. */
static uint32_t fixed_count(const struct allprof_resolver *r, const struct allprof_owner *owner,
                            const struct allprof_group *group)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < owner->count; i++)
        count +=
            owner->known[i].alive && !owner->known[i].bound && allprof_known_fits(r, &owner->known[i], group);
    return count;
}

/* The handle of this kind that no known communicator explains: the last; NULL: all are explained. */
static const struct allprof_fresh *fresh_surplus(const struct allprof_resolver *r, uint32_t task,
                                                 const struct allprof_freshes *fresh,
                                                 const struct allprof_group *group, bool sure)
{
    const struct allprof_fresh *last = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < fresh->count; i++) {
        const struct allprof_fresh *one = &fresh->entry[i];
        if (one->group.rank != group->rank || one->group.size != group->size || (sure && !one->sure))
            continue;
        count++;
        last = one;
    }
    return count > fixed_count(r, &r->task[task], group) ? last : NULL;
}

static void finder_release(struct finder *f)
{
    for (int32_t i = 0; i < f->members; i++) {
        free(f->member[i].fresh.entry);
        allprof_sign_release(&f->member[i].sign);
    }
    free(f->member);
}

static void finder_init(struct finder *f, struct allprof_resolver *r, int32_t open)
{
    struct task_comm parent = r->comms->comm[r->open[open].parent];
    *f = (struct finder){.r = r, .open = open, .members = parent.size};
    f->member = ker_alloc((size_t)parent.size * sizeof *f->member);
    for (int32_t rank = 0; rank < parent.size; rank++) {
        struct member *m = &f->member[rank];
        m->task = (uint32_t)task_comm_task(&parent, rank);
        m->known = UINT32_MAX;
        const struct allprof_owner *owner = &r->task[m->task];
        for (uint32_t i = 0; i < owner->count; i++)
            if (owner->known[i].comm == -1 - open && owner->known[i].alive)
                m->known = i;
        if (m->known != UINT32_MAX)
            allprof_fresh_find(r, m->task, &m->fresh);
    }
}

/* The members now have the communicator. */
static void group_make(struct finder *f, int32_t size, const int32_t *place)
{
    struct allprof_resolver *r = f->r;
    int32_t *member = allprof_members_new(r, size);
    for (int32_t rank = 0; rank < size; rank++)
        member[rank] = (int32_t)f->member[place[rank]].task;
    int32_t comm = allprof_comm_add(r, size, member);
    for (int32_t rank = 0; rank < size; rank++) {
        struct member *m = &f->member[place[rank]];
        if (m->known != UINT32_MAX) {
            struct allprof_known *known = &r->task[m->task].known[m->known];
            known->comm = comm;
            known->rank = rank;
            r->files[m->task].event[known->made].tally = (uint32_t)comm + 1;
        } else {
            r->freed[comm]++; /* it was freed unused */
        }
        m->known = UINT32_MAX;
    }
}

/* Which tasks need a communicator of this size, and of which rank. */
static void finder_kind(struct finder *f, int32_t size)
{
    struct allprof_resolver *r = f->r;
    f->size = size;
    for (int32_t i = 0; i < f->members; i++) {
        struct member *m = &f->member[i];
        const struct allprof_owner *owner = &r->task[m->task];
        const struct allprof_event *event = &r->files[m->task].event[owner->at];
        m->needs = m->known != UINT32_MAX && owner->waits && event->group.size == size &&
                   fresh_surplus(r, m->task, &m->fresh, &event->group, true);
        m->rank = m->needs ? event->group.rank : -1;
    }
}

/* ---- Cart_create in order ---- */

static bool cart_find(struct finder *f)
{
    if (f->size > f->members)
        return false;
    for (int32_t i = 0; i < f->members; i++)
        if (f->member[i].needs && f->member[i].rank != i)
            return false;
    int32_t *place = ker_alloc((size_t)f->size * sizeof *place);
    for (int32_t i = 0; i < f->size; i++)
        place[i] = i;
    group_make(f, f->size, place);
    free(place);
    for (int32_t i = f->size; i < f->members; i++) /* the others have MPI_COMM_NULL */
        if (f->member[i].known != UINT32_MAX)
            f->r->task[f->member[i].task].known[f->member[i].known].alive = false;
    return true;
}

/* ---- Cart_sub ---- */

/* The grid from its innermost dimension on; neighbouring dimensions that are both kept, or both not, count as
 * one. */
struct grid {
    int32_t extent[32];
    bool kept[32];
    int dimensions;
    bool strict; /* tasks that have handles of this size must have one of the right rank */
};

static int32_t grid_rank(const struct grid *grid, int32_t place, int32_t *group)
{
    int32_t rank = 0, step = 1, group_step = 1;
    *group = 0;
    for (int d = 0; d < grid->dimensions; d++) {
        int32_t at = place % grid->extent[d];
        place /= grid->extent[d];
        *(grid->kept[d] ? &rank : group) += at * (grid->kept[d] ? step : group_step);
        *(grid->kept[d] ? &step : &group_step) *= grid->extent[d];
    }
    return rank;
}

static bool has_rank(const struct finder *f, const struct member *m, int32_t rank, bool *any)
{
    *any = false;
    bool found = false;
    for (uint32_t i = 0; i < m->fresh.count; i++) {
        const struct allprof_group *group = &m->fresh.entry[i].group;
        if (m->known == UINT32_MAX || group->size != f->size ||
            !fresh_surplus(f->r, m->task, &m->fresh, group, false))
            continue;
        *any = true;
        found = found || group->rank == rank;
    }
    return found;
}

/* Do the ranks of the tasks from..to - 1 fit? */
static bool grid_fits(struct finder *f, const struct grid *grid, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++) {
        int32_t group, rank = grid_rank(grid, i, &group);
        bool any;
        f->r->work++;
        if (!has_rank(f, &f->member[i], rank, &any) && (f->member[i].needs || (any && grid->strict)))
            return false;
    }
    return true;
}

/* Adds dimensions until the grid has all tasks. */
static bool grid_find(struct finder *f, struct grid *grid, int32_t tasks, int32_t kept)
{
    if (tasks == f->members)
        return kept == f->size;
    if (grid->dimensions == 32)
        return false;
    int d = grid->dimensions++;
    for (int32_t extent = 2; extent <= f->members / tasks; extent++) {
        if (f->members % (tasks * extent) != 0)
            continue;
        for (int keep = 1; keep >= 0; keep--) {
            grid->extent[d] = extent;
            grid->kept[d] = keep;
            if ((d > 0 && grid->kept[d - 1] == (bool)keep) || (keep && f->size % (kept * extent) != 0))
                continue;
            if (grid_fits(f, grid, tasks, tasks * extent) &&
                grid_find(f, grid, tasks * extent, keep ? kept * extent : kept))
                return true;
        }
    }
    grid->dimensions--;
    return false;
}

static bool cart_sub_find(struct finder *f)
{
    struct grid grid = {.strict = true};
    if (f->members % f->size != 0)
        return false;
    bool found = grid_fits(f, &grid, 0, 1) && grid_find(f, &grid, 1, 1);
    if (!found) {
        grid = (struct grid){.strict = false};
        found = grid_fits(f, &grid, 0, 1) && grid_find(f, &grid, 1, 1);
    }
    if (!found)
        return false;
    int32_t groups = f->members / f->size, group;
    int32_t *place = ker_alloc((size_t)f->members * sizeof *place);
    for (int32_t i = 0; i < f->members; i++) {
        int32_t rank = grid_rank(&grid, i, &group);
        place[group * f->size + rank] = i;
    }
    for (int32_t i = 0; i < groups; i++)
        group_make(f, f->size, place + i * f->size);
    free(place);
    return true;
}

/* ---- Comm_create ---- */

/* What each task could be in the group: the rank that it needs, or that of any of its handles of this size.
 */
static void signs_make(struct finder *f)
{
    struct allprof_resolver *r = f->r;
    for (int32_t i = 0; i < f->members; i++) {
        struct member *m = &f->member[i];
        allprof_sign_release(&m->sign);
        m->can = false;
        for (uint32_t j = 0; j < m->fresh.count && !m->can && m->known != UINT32_MAX; j++) {
            const struct allprof_group *group = &m->fresh.entry[j].group;
            if (group->size != f->size || (m->needs && group->rank != m->rank))
                continue;
            const struct allprof_fresh *fresh = fresh_surplus(r, m->task, &m->fresh, group, m->needs);
            if (!fresh)
                continue;
            m->can = allprof_sign_make(r, m->task, &r->task[m->task].known[m->known], fresh->group.handle,
                                       &m->sign);
            m->rank = group->rank;
        }
    }
}

/* Fits the member with those who are in the group already? */
static bool member_fits(struct finder *f, const int32_t *place, const struct member *m,
                        enum allprof_level level)
{
    for (int32_t rank = 0; rank < f->size; rank++) {
        if (place[rank] < 0 || rank == m->rank)
            continue;
        const struct member *other = &f->member[place[rank]];
        f->steps++;
        if (!allprof_sign_collectives(&m->sign, &other->sign, level) ||
            !allprof_sign_messages(&m->sign, m->rank, &other->sign, rank, level))
            return false;
    }
    return true;
}

/* How many of the tasks before this one could have its rank: the i-th is taken with the i-th. */
static int32_t member_order(const struct finder *f, int32_t place)
{
    int32_t order = 0;
    for (int32_t i = 0; i < place; i++)
        order += f->member[i].can && f->member[i].rank == f->member[place].rank;
    return order;
}

/* Fills the ranks from `rank` on; tries first who has the order `wanted` among those of its rank. */
static bool ranks_fill(struct finder *f, int32_t *place, int32_t rank, int32_t wanted,
                       enum allprof_level level)
{
    while (rank < f->size && place[rank] >= 0)
        rank++;
    if (rank == f->size)
        return true;
    for (int pass = 0; pass < 2; pass++) {
        int32_t order = 0;
        for (int32_t i = 0; i < f->members && f->steps < GROUP_STEPS; i++) {
            const struct member *m = &f->member[i];
            if (!m->can || m->rank != rank || (order++ == wanted) == (pass == 1) ||
                !member_fits(f, place, m, level))
                continue;
            place[rank] = i;
            if (ranks_fill(f, place, rank + 1, wanted, level))
                return true;
            place[rank] = -1;
        }
    }
    return false;
}

/* Could another task be in the place of one of these? */
static void group_doubt(struct finder *f, const int32_t *place, enum allprof_level level)
{
    for (int32_t rank = 0; rank < f->size && f->steps < GROUP_STEPS; rank++)
        for (int32_t i = 0; i < f->members; i++) {
            const struct member *m = &f->member[i];
            if (!m->can || m->rank != rank || place[rank] == i || allprof_sign_empty(&m->sign) ||
                !member_fits(f, place, m, level))
                continue;
            allprof_doubt(f->r,
                          "rank %d of a communicator of %d tasks that MPI_Comm_create made is task %u or "
                          "task %u, which the trace does not say; task %u is taken",
                          rank, f->size, f->member[place[rank]].task, m->task, f->member[place[rank]].task);
            return;
        }
}

/* One group with this task in it. */
static bool group_find(struct finder *f, int32_t first)
{
    int32_t *place = ker_alloc((size_t)f->size * sizeof *place);
    bool found = false;
    for (enum allprof_level level = ALLPROF_EXACT; level <= ALLPROF_COUNTS && !found; level++) {
        for (int32_t rank = 0; rank < f->size; rank++)
            place[rank] = -1;
        f->steps = 0;
        place[f->member[first].rank] = first;
        found = ranks_fill(f, place, 0, member_order(f, first), level);
        f->r->work += f->steps;
        if (found)
            group_doubt(f, place, level);
    }
    if (found) {
        for (int32_t rank = 0; rank < f->size; rank++)
            f->member[place[rank]].can = f->member[place[rank]].needs = false;
        group_make(f, f->size, place);
    }
    free(place);
    return found;
}

static bool groups_create(struct finder *f)
{
    bool found = false;
    signs_make(f);
    for (int32_t i = 0; i < f->members; i++)
        if (f->member[i].needs && f->member[i].can)
            found = group_find(f, i) || found;
    return found;
}

/* ---- all of them ---- */

static bool open_find(struct allprof_resolver *r, int32_t open, int32_t size)
{
    struct finder f;
    finder_init(&f, r, open);
    finder_kind(&f, size);
    bool found = false;
    switch (r->open[open].create) {
    case ALLPROF_CART:
        found = cart_find(&f) || groups_create(&f);
        break;
    case ALLPROF_CART_SUB:
        found = cart_sub_find(&f);
        break;
    default:
        found = groups_create(&f);
    }
    finder_release(&f);
    return found;
}

static enum ker_status members_unknown(struct allprof_resolver *r, uint32_t task)
{
    const struct allprof_owner *owner = &r->task[task];
    for (uint32_t i = 0; i < owner->count; i++) {
        const struct allprof_known *known = &owner->known[i];
        if (known->comm >= 0 || !known->alive)
            continue;
        return allprof_event_fail(
            r, task, known->made,
            r->open[-1 - known->comm].create == ALLPROF_CART_SUB
                ? "the members of the new communicators are not known: the tasks' ranks do not fit a grid "
                  "of which some dimensions are kept"
                : "the members of the new communicator are not known: not every rank in it is used once, by "
                  "tasks whose calls fit");
    }
    return KER_OK;
}

enum ker_status allprof_groups_find(struct allprof_resolver *r, bool *found)
{
    *found = false;
    for (uint32_t task = 0; task < r->tasks; task++) {
        struct allprof_owner *owner = &r->task[task];
        if (!owner->waits)
            continue;
        const struct allprof_group *group = &r->files[task].event[owner->at].group;
        struct allprof_freshes fresh = {0};
        allprof_fresh_find(r, task, &fresh);
        bool needs = fresh_surplus(r, task, &fresh, group, true) != NULL;
        free(fresh.entry);
        for (uint32_t i = 0; i < owner->count && needs && !*found; i++)
            if (owner->known[i].comm < 0 && owner->known[i].alive)
                *found = open_find(r, -1 - owner->known[i].comm, group->size);
        if (*found)
            return KER_OK;
        if (needs)
            return members_unknown(r, task);
    }
    return KER_OK;
}
