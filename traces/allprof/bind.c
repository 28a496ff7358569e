/* bind.c - which handle of a task is which communicator, when rank and size fit several.
 *
 * The search (search.c) covers the communicators that waiting tasks could mean, their other
 * members, and the communicators which those could confuse with them. Levels of agreement are tried from the
 * strictest down. When a solution is found, another handle for the slots of the waiting tasks is tried: a
 * solution in which a task would talk to other tasks is a doubt, which is reported. Handles with equal signs,
 * or communicators with the same members, make no difference.
 */
#include "traces/allprof/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DOUBT_TRIES 256

void allprof_doubt(struct allprof_resolver *r, const char *format, ...)
{
    if (r->comms->doubts++ > 0)
        return;
    KER_FORMATTED(r->comms->doubt, format);
}

/* ---- what is to be decided ---- */

static uint32_t part_add(struct allprof_search *s, int32_t comm)
{
    if (s->part_of[comm])
        return (uint32_t)s->part_of[comm] - 1;
    int32_t size = s->r->comms->comm[comm].size;
    struct allprof_part *part = KER_PUSH(s->part, s->parts, s->part_room);
    *part = (struct allprof_part){
        .comm = comm, .slot = ker_alloc((size_t)size * sizeof *part->slot), .first = ALLPROF_NOBODY};
    for (int32_t rank = 0; rank < size; rank++)
        part->slot[rank] = ALLPROF_NOBODY;
    s->part_of[comm] = (int32_t)s->parts;
    return s->parts - 1;
}

static uint32_t node_add(struct allprof_search *s, uint32_t task)
{
    if (s->node_of[task])
        return s->node_of[task] - 1;
    KER_RESERVE(s->node, s->node_room, s->nodes + (size_t)1);
    s->node[s->nodes] = (struct allprof_node){.task = task};
    allprof_fresh_find(s->r, task, &s->node[s->nodes].fresh);
    s->node_of[task] = ++s->nodes;
    return s->nodes - 1;
}

/* The parts that could be confused with this one by its members: of the same rank and size there, and without
 * a handle. */
static void part_spread(struct allprof_search *s, uint32_t place)
{
    int32_t comm = s->part[place].comm;
    struct task_comm members = s->r->comms->comm[comm];
    for (int32_t rank = 0; rank < members.size; rank++) {
        uint32_t task = (uint32_t)task_comm_task(&members, rank);
        const struct allprof_owner *owner = &s->r->task[task];
        const struct allprof_group group = {0, rank, members.size};
        bool unbound = false;
        s->r->work += owner->count;
        for (uint32_t i = 0; i < owner->count; i++)
            unbound =
                unbound || (owner->known[i].comm == comm && owner->known[i].alive && !owner->known[i].bound);
        node_add(s, task);
        for (uint32_t i = 0; i < owner->count && unbound; i++)
            if (owner->known[i].alive && !owner->known[i].bound &&
                allprof_known_fits(s->r, &owner->known[i], &group))
                part_add(s, owner->known[i].comm);
    }
}

static void cands_make(struct allprof_search *s, struct allprof_slot *slot)
{
    const struct allprof_node *node = &s->node[slot->node];
    const struct allprof_known *known = &s->r->task[node->task].known[slot->known];
    slot->cand = ker_alloc((node->fresh.count + 1u) * sizeof *slot->cand);
    if (known->used) { /* decided long ago, or freed since */
        slot->cand[0].handle = ALLPROF_NOBODY;
        allprof_sign_make(s->r, node->task, known, known->handle, &slot->cand[0].sign);
        slot->cands = 1;
        return;
    }
    for (uint32_t i = 0; i < node->fresh.count && known->alive; i++) {
        const struct allprof_group *group = &node->fresh.entry[i].group;
        struct allprof_cand *cand = &slot->cand[slot->cands];
        if (group->rank != slot->rank || group->size != s->r->comms->comm[slot->comm].size ||
            !allprof_sign_make(s->r, node->task, known, group->handle, &cand->sign))
            continue;
        cand->handle = i;
        slot->cands++;
    }
    slot->cand[slot->cands++].handle = ALLPROF_NOBODY;
}

static void slot_add(struct allprof_search *s, uint32_t node, uint32_t known)
{
    KER_RESERVE(s->slot, s->slot_room, s->slots + (size_t)1);
    const struct allprof_known *k = &s->r->task[s->node[node].task].known[known];
    struct allprof_slot *slot = &s->slot[s->slots];
    *slot = (struct allprof_slot){
        .node = node, .known = known, .comm = k->comm, .rank = k->rank, .choice = ALLPROF_NOBODY};
    s->part[s->part_of[k->comm] - 1].slot[k->rank] = s->slots++;
    cands_make(s, slot);
}

static void search_build(struct allprof_search *s)
{
    struct allprof_resolver *r = s->r;
    s->part_of = ker_alloc((size_t)r->comms->count * sizeof *s->part_of);
    s->node_of = ker_alloc(r->tasks * sizeof *s->node_of);
    for (uint32_t task = 0; task < r->tasks; task++) {
        const struct allprof_owner *owner = &r->task[task];
        for (uint32_t i = 0; i < owner->count && owner->waits; i++)
            if (owner->known[i].alive && !owner->known[i].bound &&
                allprof_known_fits(r, &owner->known[i], &r->files[task].event[owner->at].group))
                part_add(s, owner->known[i].comm);
    }
    for (uint32_t i = 0; i < s->parts; i++)
        part_spread(s, i);
    for (uint32_t i = 0; i < s->nodes; i++) {
        struct allprof_node *node = &s->node[i];
        const struct allprof_owner *owner = &r->task[node->task];
        node->handle = ker_alloc((node->fresh.count + 1u) * sizeof *node->handle);
        node->slot = s->slots;
        for (uint32_t j = 0; j < owner->count; j++)
            if (owner->known[j].comm >= 0 && s->part_of[owner->known[j].comm])
                slot_add(s, i, j);
        node->slots = s->slots - node->slot;
    }
}

static void search_release(struct allprof_search *s)
{
    for (uint32_t i = 0; i < s->slots; i++) {
        for (uint32_t j = 0; j < s->slot[i].cands; j++)
            allprof_sign_release(&s->slot[i].cand[j].sign);
        free(s->slot[i].cand);
    }
    for (uint32_t i = 0; i < s->nodes; i++) {
        free(s->node[i].fresh.entry);
        free(s->node[i].handle);
    }
    for (uint32_t i = 0; i < s->parts; i++)
        free(s->part[i].slot);
    KER_FREE(s->slot, s->node, s->part, s->part_of, s->node_of, s->trail, s->queue);
}

/* ---- the answer ---- */

/* The slot that takes the handle at which the task is. */
static uint32_t node_slot(const struct allprof_search *s, const struct allprof_node *node)
{
    const struct allprof_owner *owner = &s->r->task[node->task];
    const struct allprof_event *event = &s->r->files[node->task].event[owner->at];
    if (!node->fresh.count || node->fresh.entry[0].group.handle != event->group.handle)
        return ALLPROF_NOBODY; /* a handle that is another communicator's */
    for (uint32_t i = node->slot; i < node->slot + node->slots; i++)
        if (s->slot[i].choice != ALLPROF_NOBODY && s->slot[i].cand[s->slot[i].choice].handle == 0 &&
            node->fresh.count)
            return i;
    return ALLPROF_NOBODY;
}

static bool members_equal(const struct allprof_search *s, int32_t x, int32_t y)
{
    const struct task_comm *a = &s->r->comms->comm[x], *b = &s->r->comms->comm[y];
    bool equal = a->size == b->size;
    for (int32_t rank = 0; equal && rank < a->size; rank++)
        equal = task_comm_task(a, rank) == task_comm_task(b, rank);
    return equal;
}

/* "tasks 0, 4, 8, 12 or tasks ..." */
static void members_print(char *text, size_t room, const struct task_comm *comm)
{
    size_t used = 0;
    text[0] = 0;
    for (int32_t rank = 0; rank < comm->size && rank < 4; rank++)
        used += (size_t)snprintf(text + used, room - used, "%s%d", rank ? ", " : "",
                                 (int)task_comm_task(comm, rank));
    if (comm->size > 4)
        snprintf(text + used, room - used, ", ... (%d tasks)", comm->size);
}

static void doubt_add(struct allprof_search *s, const struct allprof_node *node, int32_t chosen,
                      int32_t other)
{
    char a[96], b[96];
    const struct allprof_owner *owner = &s->r->task[node->task];
    members_print(a, sizeof a, &s->r->comms->comm[chosen]);
    members_print(b, sizeof b, &s->r->comms->comm[other]);
    allprof_doubt(s->r,
                  "the trace does not say whether the communicator %llu that task %u uses from line %u on "
                  "joins it with tasks %s or with tasks %s; the former are taken",
                  (unsigned long long)node->fresh.entry[0].group.handle, node->task,
                  s->r->files[node->task].event[owner->at].line, a, b);
}

/* Is there a solution in which the task talks to others? The first one has been taken back; `taken` and
 * `rest` are what it chose there for the slots of the handle and of the other. */
static bool other_try(struct allprof_search *s, uint32_t taken, uint32_t taken_choice, uint32_t other,
                      uint32_t other_choice)
{
    const struct allprof_slot *a = &s->slot[taken], *b = &s->slot[other];
    const struct allprof_sign *sign = &a->cand[taken_choice].sign;
    if (members_equal(s, a->comm, b->comm) || allprof_sign_empty(sign) ||
        allprof_sign_equal(sign, &b->cand[other_choice].sign))
        return false;
    for (uint32_t i = 0; i < b->cands; i++) {
        if (b->cand[i].handle != 0 || b->cand[i].gone)
            continue;
        size_t mark = s->trail_count;
        bool found = allprof_search_decide(s, other, i) && allprof_search_go(s);
        allprof_search_undo(s, mark);
        return found;
    }
    return false;
}

/* There is a solution; leaves the state as it is at the start of the search. */
static void doubts_find(struct allprof_search *s, size_t start)
{
    uint32_t *choice = ker_alloc((size_t)s->slots * sizeof *choice),
             *taken = ker_alloc((size_t)s->nodes * sizeof *taken);
    int tries = 0;
    for (uint32_t i = 0; i < s->slots; i++)
        choice[i] = s->slot[i].choice;
    for (uint32_t i = 0; i < s->nodes; i++)
        taken[i] = s->r->task[s->node[i].task].waits ? node_slot(s, &s->node[i]) : ALLPROF_NOBODY;
    allprof_search_undo(s, start);
    for (uint32_t i = 0; i < s->nodes && tries < DOUBT_TRIES; i++) {
        const struct allprof_node *node = &s->node[i];
        if (taken[i] == ALLPROF_NOBODY || s->slot[taken[i]].choice != ALLPROF_NOBODY)
            continue;
        for (uint32_t j = node->slot; j < node->slot + node->slots && tries < DOUBT_TRIES; j++) {
            if (j == taken[i] || !other_try(s, taken[i], choice[taken[i]], j, choice[j]))
                continue;
            doubt_add(s, node, s->slot[taken[i]].comm, s->slot[j].comm);
            tries = DOUBT_TRIES;
        }
        tries++;
    }
    free(choice);
    free(taken);
}

static void waiting_bind(struct allprof_search *s, bool solved)
{
    struct allprof_resolver *r = s->r;
    for (uint32_t i = 0; i < s->nodes; i++) {
        const struct allprof_node *node = &s->node[i];
        struct allprof_owner *owner = &r->task[node->task];
        if (!owner->waits)
            continue;
        const struct allprof_group *group = &r->files[node->task].event[owner->at].group;
        uint32_t slot = solved ? node_slot(s, node) : ALLPROF_NOBODY;
        for (uint32_t j = node->slot; j < node->slot + node->slots && slot == ALLPROF_NOBODY;
             j++) /* no solution: the oldest */
            if (allprof_known_fits(r, &owner->known[s->slot[j].known], group) &&
                !owner->known[s->slot[j].known].bound && owner->known[s->slot[j].known].alive)
                slot = j;
        if (slot != ALLPROF_NOBODY) /* else it fits nothing, which is reported when it is its turn */
            allprof_known_bind(owner, &owner->known[s->slot[slot].known], group->handle);
    }
}

/* Leaves the variant-th of the other solutions in place of the current one; false: there are not as many.
 */
static bool variant_find(struct allprof_search *s, size_t start, uint32_t variant)
{
    uint32_t *taken = ker_alloc((size_t)s->nodes * sizeof *taken);
    bool found = false;
    uint64_t most = s->most;
    for (uint32_t i = 0; i < s->nodes; i++)
        taken[i] = s->r->task[s->node[i].task].waits ? node_slot(s, &s->node[i]) : ALLPROF_NOBODY;
    allprof_search_undo(s, start);
    s->most = UINT64_MAX;
    for (uint32_t i = 0; i < s->nodes && !found && variant; i++) {
        const struct allprof_node *node = &s->node[i];
        for (uint32_t j = node->slot;
             taken[i] != ALLPROF_NOBODY && j < node->slot + node->slots && !found && variant; j++)
            for (uint32_t c = 0; j != taken[i] && c < s->slot[j].cands && !found && variant; c++) {
                if (s->slot[j].cand[c].handle != 0 || s->slot[j].cand[c].gone || --variant)
                    continue;
                found = allprof_search_decide(s, j, c) && allprof_search_go(s);
                if (!found)
                    allprof_search_undo(s, start);
                variant = !found; /* one that is no solution does not count */
            }
    }
    free(taken);
    s->most = most;
    if (!found)
        allprof_search_go(s);
    return found;
}

/* The solution that this attempt takes. */
static void solution_choose(struct allprof_search *s, size_t start)
{
    struct allprof_resolver *r = s->r;
    uint32_t variant = 0;
    for (uint32_t i = 0; i < r->flips; i++)
        if (r->flip[i].call == r->calls)
            variant = r->flip[i].variant;
    if (variant)
        r->flipped = variant_find(s, start, variant);
}

void allprof_bind(struct allprof_resolver *r)
{
    struct allprof_search s = {.r = r};
    bool solved = false;
    r->calls++;
    search_build(&s);
    for (enum allprof_level level = ALLPROF_EXACT; level < ALLPROF_LEVELS && !solved; level++) {
        size_t start;
        solved = allprof_search_first(&s, level, &start);
        if (!solved)
            continue;
        solution_choose(&s, start);
        waiting_bind(&s, true);
        doubts_find(&s, start);
    }
    if (!solved) {
        waiting_bind(&s, false);
        allprof_doubt(r,
                      r->work > r->work_limit ? "the search for which handle is which communicator was given "
                                                "up after %llu steps: handles are taken in "
                                                "the order of their first use"
                                              : "no binding of handles to communicators makes all calls fit "
                                                "(%llu steps): handles are taken in the "
                                                "order of their first use",
                      (unsigned long long)r->work);
    }
    search_release(&s);
}
