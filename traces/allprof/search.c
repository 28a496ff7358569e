/* search.c - decides which slot has which candidate.
 *
 * The signs of the candidates (sign.c) must agree among all members of a communicator, a handle has
 * one slot, and one that exists already must have one. What a slot decides takes candidates from others, and
 * a slot with one candidate left is decided; only then a guess is made: the oldest communicator has the
 * handle used first. A guess that leaves a slot without candidates is taken back.
 *
 * Where the calls cannot all fit, the fewest unmatched messages are looked for: the search is made again and
 * again, each time with a limit on how many it accepts.
 *
 * Invariant: trail holds what was taken and decided since the search began, so that it can be taken back.
 */
#include "traces/allprof/search.h"

#include <stdlib.h>
#include <string.h>

#define MESSAGES_MOST (UINT64_C(1) << 40)

static void trail_add(struct allprof_search *s, int what, uint32_t slot, uint32_t cand)
{
    *KER_PUSH(s->trail, s->trail_count, s->trail_room) = (struct allprof_step){what, slot, cand, 0};
}

static void queue_add(struct allprof_search *s, uint32_t slot)
{
    *KER_PUSH(s->queue, s->queued, s->queue_room) = slot;
}

void allprof_search_undo(struct allprof_search *s, size_t to)
{
    while (s->trail_count > to) {
        struct allprof_step step = s->trail[--s->trail_count];
        struct allprof_slot *slot = &s->slot[step.slot];
        struct allprof_node *node = &s->node[slot->node];
        uint32_t handle = slot->cand[step.cand].handle;
        if (step.what == ALLPROF_PART_FIRST) {
            s->part[s->part_of[slot->comm] - 1].first = ALLPROF_NOBODY;
        } else if (step.what == ALLPROF_CAND_GONE) {
            slot->cand[step.cand].gone = false;
            slot->left++;
            node->handle[handle == ALLPROF_NOBODY ? node->fresh.count : handle].slots++;
        } else {
            s->unmatched -= step.unmatched;
            slot->choice = ALLPROF_NOBODY;
            node->handle[handle == ALLPROF_NOBODY ? node->fresh.count : handle].taken = false;
        }
    }
    s->queued = 0;
}

/* false: the slot has none left, or a handle that must have a slot can have none. */
static bool cand_remove(struct allprof_search *s, uint32_t number, uint32_t cand)
{
    struct allprof_slot *slot = &s->slot[number];
    struct allprof_node *node = &s->node[slot->node];
    if (slot->cand[cand].gone)
        return true;
    uint32_t place = slot->cand[cand].handle == ALLPROF_NOBODY ? node->fresh.count : slot->cand[cand].handle;
    struct allprof_handle *handle = &node->handle[place];
    slot->cand[cand].gone = true;
    slot->left--;
    handle->slots--;
    s->r->work++;
    trail_add(s, ALLPROF_CAND_GONE, number, cand);
    if (slot->left == 1)
        queue_add(s, number);
    return slot->left > 0 && (!handle->sure || handle->taken || handle->slots > 0);
}

/* All members must make the collective calls of the one that is decided first. */
static bool part_begin(struct allprof_search *s, struct allprof_part *part, uint32_t number,
                       const struct allprof_sign *sign, uint32_t choice)
{
    part->first = number;
    trail_add(s, ALLPROF_PART_FIRST, number, choice);
    int32_t size = s->r->comms->comm[part->comm].size;
    for (int32_t rank = 0; rank < size; rank++) {
        uint32_t other = part->slot[rank];
        for (uint32_t i = 0; other != ALLPROF_NOBODY && other != number && i < s->slot[other].cands; i++)
            if (!s->slot[other].cand[i].gone &&
                !allprof_sign_collectives(sign, &s->slot[other].cand[i].sign, s->level) &&
                !cand_remove(s, other, i))
                return false;
    }
    return true;
}

/* Those with whom it exchanges messages must agree. */
static bool peers_agree(struct allprof_search *s, const struct allprof_part *part,
                        const struct allprof_slot *slot, const struct allprof_sign *sign)
{
    for (uint32_t p = 0; p < sign->peers; p++) {
        int32_t rank = sign->peer[p].peer;
        uint32_t other = rank >= 0 && rank != slot->rank ? part->slot[rank] : ALLPROF_NOBODY;
        for (uint32_t i = 0; other != ALLPROF_NOBODY && i < s->slot[other].cands; i++) {
            s->r->work++;
            if (!s->slot[other].cand[i].gone &&
                !allprof_sign_messages(sign, slot->rank, &s->slot[other].cand[i].sign, rank, s->level) &&
                !cand_remove(s, other, i))
                return false;
        }
    }
    return true;
}

static const struct allprof_sign *sign_decided(const struct allprof_search *s, uint32_t slot)
{
    bool decided = slot != ALLPROF_NOBODY && s->slot[slot].choice != ALLPROF_NOBODY;
    return decided ? &s->slot[slot].cand[s->slot[slot].choice].sign : NULL;
}

/* How many messages to this rank are unmatched since some are received from any source; 0 unless all members
 * are decided. */
static uint64_t pool_unmatched(const struct allprof_search *s, const struct allprof_part *part, int32_t rank)
{
    const struct allprof_sign *own = sign_decided(s, part->slot[rank]);
    int32_t size = s->r->comms->comm[part->comm].size;
    uint64_t sent = 0;
    for (int32_t other = 0; other < size; other++) {
        const struct allprof_sign *sign = sign_decided(s, part->slot[other]);
        if (!sign)
            return 0;
        sent += allprof_sign_unnamed(sign, other, own, rank);
    }
    return allprof_sign_pool(own, sent);
}

/* Is what the decision of this slot, the last, leaves unmatched not too much? */
static bool slot_matches(struct allprof_search *s, const struct allprof_part *part,
                         const struct allprof_slot *slot, size_t step)
{
    int32_t size = s->r->comms->comm[part->comm].size;
    const struct allprof_sign *sign = &slot->cand[slot->choice].sign;
    uint64_t unmatched = 0, pool = 0;
    for (int32_t rank = 0; rank < size; rank++) {
        const struct allprof_sign *other = sign_decided(s, part->slot[rank]);
        s->r->work++;
        if (other && s->level >= ALLPROF_COUNTS && rank != slot->rank)
            unmatched += allprof_sign_unmatched(sign, slot->rank, other, rank);
        if (other && allprof_sign_pool(other, 0))
            pool += pool_unmatched(s, part, rank);
    }
    if (s->level < ALLPROF_COUNTS)
        return pool == 0;
    s->trail[step].unmatched = unmatched + pool;
    s->unmatched += unmatched + pool;
    return s->unmatched <= s->most;
}

static bool slot_decide(struct allprof_search *s, uint32_t number, uint32_t choice)
{
    struct allprof_slot *slot = &s->slot[number];
    struct allprof_node *node = &s->node[slot->node];
    struct allprof_part *part = &s->part[s->part_of[slot->comm] - 1];
    const struct allprof_cand *cand = &slot->cand[choice];
    if (slot->choice != ALLPROF_NOBODY)
        return slot->choice == choice;
    if (cand->gone)
        return false;
    slot->choice = choice;
    trail_add(s, ALLPROF_SLOT_DECIDED, number, choice);
    s->r->work++;
    if (!slot_matches(s, part, slot, s->trail_count - 1))
        return false;
    if (cand->handle != ALLPROF_NOBODY) {
        node->handle[cand->handle].taken = true;
        for (uint32_t i = node->slot; i < node->slot + node->slots; i++)
            for (uint32_t j = 0; i != number && j < s->slot[i].cands; j++)
                if (s->slot[i].cand[j].handle == cand->handle && !cand_remove(s, i, j))
                    return false;
    }
    for (uint32_t j = 0; j < slot->cands; j++)
        if (j != choice && !cand_remove(s, number, j))
            return false;
    if (part->first == ALLPROF_NOBODY && !part_begin(s, part, number, &cand->sign, choice))
        return false;
    return peers_agree(s, part, slot, &cand->sign);
}

/* Decides the slots that have one candidate left. */
static bool queue_run(struct allprof_search *s)
{
    while (s->queued) {
        uint32_t slot = s->queue[--s->queued], choice = 0;
        while (choice < s->slot[slot].cands && s->slot[slot].cand[choice].gone)
            choice++;
        if (choice == s->slot[slot].cands || !slot_decide(s, slot, choice))
            return false;
    }
    return true;
}

bool allprof_search_decide(struct allprof_search *s, uint32_t slot, uint32_t choice)
{
    return slot_decide(s, slot, choice) && queue_run(s);
}

/* Must the handle be one of the communicators that are there, with known members? */
static bool handle_sure(const struct allprof_search *s, const struct allprof_node *node, uint32_t handle)
{
    const struct allprof_owner *owner = &s->r->task[node->task];
    bool opens = false;
    if (owner->waits && handle == 0)
        return true;
    for (uint32_t i = 0; i < owner->count; i++)
        opens = opens || (owner->known[i].comm < 0 && owner->known[i].alive);
    return node->fresh.entry[handle].sure && !opens;
}

/* Everything undecided, and what is decided from the start; false: there is no solution of this level. */
static bool search_begin(struct allprof_search *s, enum allprof_level level)
{
    s->level = level;
    s->unmatched = 0;
    s->trail_count = 0;
    s->queued = 0;
    for (uint32_t i = 0; i < s->parts; i++)
        s->part[i].first = ALLPROF_NOBODY;
    for (uint32_t i = 0; i < s->nodes; i++)
        for (uint32_t j = 0; j < s->node[i].fresh.count; j++)
            s->node[i].handle[j] = (struct allprof_handle){.value = s->node[i].fresh.entry[j].group.handle};
    for (uint32_t i = 0; i < s->slots; i++) {
        struct allprof_slot *slot = &s->slot[i];
        struct allprof_node *node = &s->node[slot->node];
        slot->choice = ALLPROF_NOBODY;
        slot->left = slot->cands;
        for (uint32_t j = 0; j < slot->cands; j++) {
            uint32_t handle = slot->cand[j].handle;
            slot->cand[j].gone = false;
            node->handle[handle == ALLPROF_NOBODY ? node->fresh.count : handle].slots++;
            if (handle != ALLPROF_NOBODY) /* those of other ranks and sizes have no slot here */
                node->handle[handle].sure = handle_sure(s, node, handle);
        }
        if (slot->left == 1)
            queue_add(s, i);
    }
    return queue_run(s);
}

/* ---- guesses ---- */

struct guess {
    uint32_t slot, choice;
    size_t trail;
};

/* Decides all slots; false: there is no solution, or it takes too long. What it decided stays on the trail.
 */
bool allprof_search_go(struct allprof_search *s)
{
    struct guess *guess = ker_alloc(((size_t)s->slots + 1) * sizeof *guess);
    size_t depth = 0, base = s->trail_count;
    uint32_t at = 0;
    bool good = true;
    while (good) {
        while (at < s->slots && s->slot[at].choice != ALLPROF_NOBODY)
            at++;
        if (at == s->slots)
            break;
        guess[depth] = (struct guess){at, 0, s->trail_count};
        for (bool done = false; !done;) {
            struct guess *g = &guess[depth];
            while (g->choice < s->slot[g->slot].cands && s->slot[g->slot].cand[g->choice].gone)
                g->choice++;
            if (g->choice == s->slot[g->slot].cands || s->r->work > s->work_limit) {
                if (depth == 0 || s->r->work > s->work_limit) {
                    good = false;
                    break;
                }
                depth--; /* the guess before was wrong */
            } else if (allprof_search_decide(s, g->slot, g->choice)) {
                depth++;
                done = true;
                at = g->slot;
                continue;
            }
            allprof_search_undo(s, guess[depth].trail);
            guess[depth].choice++;
        }
    }
    if (!good)
        allprof_search_undo(s, base);
    free(guess);
    return good;
}

/* One that leaves at most `most` messages unmatched. */
static bool search_most(struct allprof_search *s, enum allprof_level level, uint64_t most, size_t *start)
{
    const uint64_t limit = s->r->work_limit;
    s->most = most;
    s->work_limit =
        level < ALLPROF_COUNTS || s->r->work > limit ? limit : s->r->work + (limit - s->r->work) / 8;
    if (!search_begin(s, level))
        return false;
    *start = s->trail_count;
    return allprof_search_go(s);
}

bool allprof_search_first(struct allprof_search *s, enum allprof_level level, size_t *start)
{
    uint64_t below = 0, most = 0; /* none is found with fewer than `below` */
    bool found = search_most(s, level, 0, start);
    if (level < ALLPROF_COUNTS || found)
        return found;
    for (most = 1; !search_most(s, level, most, start); most *= 2) {
        if (most > MESSAGES_MOST)
            return false;
        below = most + 1;
    }
    for (most = s->unmatched; below < most;) {
        uint64_t middle = below + (most - below) / 2;
        if (search_most(s, level, middle, start))
            most = s->unmatched;
        else
            below = middle + 1;
    }
    return search_most(s, level, most, start);
}
