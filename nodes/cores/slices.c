/* slices.c - tasks that outnumber the hardware threads of their node take turns: time slices.
 *
 * A unit is given to one owner, a service's work of one number, and the owner keeps it while it has work
 * there: also from one work to the next of the same instant. Who finds no unit waits, in one line for all
 * units of the node. At the end of an instant units whose owner has no more work become free; then those that
 * wait, in the order of the line, take free units, and behind those units whose slice (node.quantum) is over:
 * the owner that had its unit longest moves to the end of the line. Who is woken, as it asks for no more than
 * a core, may take one at once (node.wakeup): the owner that had it longest is first in the line then.
 *
 * A unit that changes its owner does nothing for node.switch_cost, at least 1 ps: so nobody continues in the
 * instant in which another one stops. A slice that is over while somebody has come to the line in the very
 * instant begins again; without anybody there it just continues, and the next to come takes the unit.
 * With node.waiting = "spin" an owner that has no more work, but waits for something, keeps its unit, and its
 * place in the line, by a load that spins; work that it gets later takes its place there.
 * Invariant: when an instant is over nobody waits while a unit is free.
 */
#include "nodes/private.h"

/* ---- who has what ---- */

static bool is_owner(const struct node_owner *o, const struct node_load *load)
{
    return o->there && o->service == load->service && o->number == load->number;
}

static struct node_load *works_next(const struct node *n, uint32_t *index)
{
    while (*index != KER_NONE) {
        struct node_load *load = node_load_at(n->system->memory, *index);
        *index = load->next;
        if (load->kind == NODE_LOAD_WORK)
            return load;
    }
    return NULL;
}

static struct node_load *load_of(const struct node *n, const struct node_owner *o)
{
    uint32_t index = node_cores(n)->first;
    for (struct node_load *load; (load = works_next(n, &index)) != NULL;)
        if (is_owner(o, load))
            return load;
    return NULL;
}

/* The first in the line, of those that came up to this turn. */
static struct node_load *line_first(const struct node *n, int64_t turn)
{
    struct node_load *first = NULL;
    uint32_t index = node_cores(n)->first;
    for (struct node_load *load; (load = works_next(n, &index)) != NULL;)
        if (load->waits && load->turn <= turn && (!first || load->turn < first->turn))
            first = load;
    return first;
}

/* A free unit: the one it had before, else the first. */
static struct node_slot *slot_free(const struct node *n, const struct node_load *load)
{
    struct node_slot *slot = node_cores(n)->slot, *first = NULL;
    for (uint32_t unit = node_structure_of(n)->units; unit-- > 0;) {
        if (slot[unit].owner.there)
            continue;
        first = &slot[unit];
        if (is_owner(&slot[unit].last, load))
            break;
    }
    return first;
}

static ker_time slice_end(const struct node *n, const struct node_slot *slot)
{
    return ker_time_later(slot->from > slot->since ? slot->from : slot->since, n->system->model.quantum);
}

/* The unit that its owner had longest, whose slice is over by `now`, or (any) whichever slice it has. */
static struct node_slot *slot_longest(const struct node *n, ker_time now, bool any)
{
    struct node_slot *slot = node_cores(n)->slot, *longest = NULL;
    for (uint32_t unit = 0; unit < node_structure_of(n)->units; unit++)
        if (slot[unit].owner.there && (any ? slot[unit].since < now : slice_end(n, &slot[unit]) <= now) &&
            (!longest || slot[unit].since < longest->since))
            longest = &slot[unit];
    return longest;
}

/* ---- units change hands ---- */

/* Work of which nothing is left, as it never was any, has ended when its unit continues. */
static void nothing_until(const struct node *n, struct node_load *load)
{
    if (load->left == 0 && load->flow.left == 0 && !load->spins)
        load->until = n->system->noise ? node_away_until(n, load->core, load->from, 0) : load->from;
}

static void slot_give(const struct node *n, struct node_slot *slot, struct node_load *load, ker_time now)
{
    bool same = !slot->last.there || is_owner(&slot->last, load);
    slot->owner = (struct node_owner){load->number, load->service, true};
    slot->last = slot->owner;
    slot->since = now;
    slot->from = same ? now : now + n->system->model.switch_cost;
    load->core = (uint32_t)(slot - node_cores(n)->slot);
    load->waits = false;
    load->from = slot->from;
    nothing_until(n, load);
}

static void slot_take(const struct node *n, struct node_slot *slot, int64_t turn)
{
    struct node_load *load = load_of(n, &slot->owner);
    load->waits = true;
    load->turn = turn;
    if (load->left == 0 && load->flow.left == 0)
        load->until = KER_TIME_MAX;
    slot->owner.there = false;
}

/* In the line, at this place. */
static void wait_on(struct node_load *load, int64_t turn)
{
    load->waits = true;
    load->turn = turn;
    load->until = load->left == 0 && load->flow.left == 0 ? KER_TIME_MAX : 0;
}

bool node_slice_begin(struct node *n, ker_time now, struct node_load *load, const struct node_load *spun)
{
    struct node_cores *c = node_cores(n);
    if (spun && spun->waits) {
        wait_on(load, spun->turn);
        return false;
    }
    for (uint32_t unit = 0; unit < node_structure_of(n)->units; unit++)
        if (is_owner(&c->slot[unit].owner, load)) {
            load->core = unit;
            load->from = c->slot[unit].from;
            nothing_until(n, load);
            return load->from <= now;
        }
    struct node_slot *free_one = slot_free(n, load);
    if (free_one) {
        slot_give(n, free_one, load, now);
        return load->from <= now;
    }
    wait_on(load, ++c->back);
    load->woken = load->until == KER_TIME_MAX;
    return false;
}

bool node_slice_idle(const struct node *n, uint32_t unit)
{
    const struct node_owner *owner = &node_cores(n)->slot[unit].owner;
    return owner->there && !load_of(n, owner);
}

/* Whose owner has no more work. */
static void slots_release(const struct node *n)
{
    for (uint32_t unit = 0; unit < node_structure_of(n)->units; unit++)
        if (node_slice_idle(n, unit))
            node_cores(n)->slot[unit].owner.there = false;
}

/* The first in the line of those that have been woken in this instant. */
static struct node_load *woken_first(const struct node *n)
{
    struct node_load *first = NULL;
    uint32_t index = node_cores(n)->first;
    for (struct node_load *load; (load = works_next(n, &index)) != NULL;)
        if (load->woken && (!first || load->turn < first->turn))
            first = load;
    return first;
}

/* They take units that others had longer. */
static bool woken_take(const struct node *n, ker_time now)
{
    bool changed = false;
    for (struct node_load *load; (load = woken_first(n)) != NULL;) {
        struct node_slot *slot =
            n->system->model.preempts && !slot_free(n, load) ? slot_longest(n, now, true) : NULL;
        load->woken = false;
        if (!slot)
            continue;
        slot_take(n, slot, --node_cores(n)->front);
        slot_give(n, slot, load, now);
        changed = true;
    }
    return changed;
}

static void slices_renew(const struct node *n, ker_time now)
{
    struct node_slot *slot = node_cores(n)->slot;
    for (uint32_t unit = 0; unit < node_structure_of(n)->units; unit++)
        if (slot[unit].owner.there && slice_end(n, &slot[unit]) <= now)
            slot[unit].since = now;
}

bool node_slices_schedule(struct node *n, ker_time now)
{
    struct node_cores *c = node_cores(n);
    int64_t came = c->back;
    slots_release(n);
    bool changed = woken_take(n, now);
    for (struct node_load *load; (load = line_first(n, came)) != NULL; changed = true) {
        struct node_slot *slot = slot_free(n, load);
        if (!slot && (slot = slot_longest(n, now, false)) != NULL)
            slot_take(n, slot, ++c->back);
        if (!slot)
            break;
        slot_give(n, slot, load, now);
    }
    if (line_first(n, INT64_MAX))
        slices_renew(n, now);
    uint32_t index = c->first;
    for (struct node_load *load; (load = works_next(n, &index)) != NULL;) {
        bool goes = !load->waits && load->from <= now;
        changed |= goes != load->goes;
        load->goes = goes;
    }
    return changed;
}

ker_time node_slices_next(const struct node *n, ker_time now)
{
    const struct node_cores *c = node_cores(n);
    bool line = line_first(n, INT64_MAX) != NULL;
    ker_time next = KER_TIME_MAX;
    for (uint32_t unit = 0; unit < node_structure_of(n)->units; unit++) {
        const struct node_slot *slot = &c->slot[unit];
        if (!slot->owner.there)
            continue;
        if (slot->from > now)
            next = ker_time_min(next, slot->from);
        if (line)
            next = ker_time_min(next, slice_end(n, slot));
    }
    return next;
}

static void owner_state(struct node_owner *o, struct ker_chunk *c)
{
    KER_CHUNK(c, o->number, o->service);
    o->there = ker_chunk_bool(c, o->there);
}

void node_slices_state(const struct node *n, struct ker_chunk *chunk)
{
    struct node_cores *c = node_cores(n);
    KER_CHUNK(chunk, c->front, c->back);
    for (uint32_t unit = 0; unit < node_structure_of(n)->units; unit++) {
        owner_state(&c->slot[unit].owner, chunk);
        owner_state(&c->slot[unit].last, chunk);
        KER_CHUNK(chunk, c->slot[unit].since, c->slot[unit].from);
    }
}
