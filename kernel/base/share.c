/* share.c - the rates of sharers of resources.
 *
 * Each round gives rates to some sharers: those that want no more by themselves than the tightest resource
 * has for each of its sharers, or, if there are none, the sharers of that resource and of others as tight.
 * Which sharers a round gives rates to follows from the values alone, so their order does not matter.
 *
 * What a resource has for each of its sharers never becomes less, since nobody gets more than that. So
 * resources are in a heap by what they had when they were last looked at: where the first one has as much
 * now, it is the tightest. Another heap has the sharers by what they want at most. Where all is small it
 * needs no memory but the stack.
 */
#include "kernel/base/share.h"

#include "kernel/base/heap.h"
#include "kernel/base/pool.h"

#include <stdlib.h>

#define NOBODY UINT64_MAX /* what a resource has for each that nobody wants any more */
#define LESS(a, b) ((a)->level < (b)->level)

#define FEW 64 /* uses and resources of which the stack has room */

struct entry {
    uint64_t level;
    uint32_t of;
};

struct sharing {
    struct ker_sharer **sharer;
    uint32_t sharers;
    struct ker_shared *resource;
    struct entry *tight, *most; /* heaps of resources, of sharers */
    uint32_t resources, wants;  /* in these */
    uint32_t *user;             /* sharers of each resource, side by side, */
    struct users {
        uint32_t first, count; /* which are these; of a resource that is not listed, nothing */
    } * users;
};

static uint64_t each_of(const struct ker_shared *s)
{
    return s->wanted ? s->room / s->wanted : NOBODY;
}

/* Out of what is left of its resources. */
static void give(struct ker_sharer *sharer, uint64_t rate, uint32_t bound, struct ker_shared *resource)
{
    sharer->rate = rate ? rate : 1;
    sharer->bound = bound;
    for (uint32_t i = 0; i < sharer->uses; i++) {
        struct ker_shared *r = &resource[sharer->use[i].resource];
        ker_moved taken = (ker_moved)sharer->rate * sharer->use[i].times;
        r->room -= taken < r->room ? (uint64_t)taken : r->room;
        r->wanted -= sharer->use[i].times;
    }
}

/* Who uses each resource; those that anybody uses are in the heap. */
static void users_find(struct sharing *w, const uint32_t *list, uint32_t resources)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < resources; i++) {
        uint32_t number = list ? list[i] : i;
        w->users[number].count = 0;
        w->resource[number].room = w->resource[number].capacity;
        w->resource[number].wanted = w->resource[number].tight = 0;
    }
    for (uint32_t i = 0; i < w->sharers; i++)
        for (uint32_t k = 0; k < w->sharer[i]->uses; k++) {
            const struct ker_share_use *use = &w->sharer[i]->use[k];
            w->resource[use->resource].wanted += use->times;
            w->users[use->resource].count++;
        }
    for (uint32_t i = 0; i < resources; i++) {
        uint32_t number = list ? list[i] : i;
        first += w->users[number].count;
        w->users[number].first = first;
        if (w->users[number].count)
            w->tight[w->resources++] = (struct entry){each_of(&w->resource[number]), number};
    }
    for (uint32_t i = w->sharers; i-- > 0;)
        for (uint32_t k = 0; k < w->sharer[i]->uses; k++)
            w->user[--w->users[w->sharer[i]->use[k].resource].first] = i;
    KER_HEAP_MAKE(w->tight, w->resources, LESS);
}

/* Those that may want less than what resources have for each. */
static void wants_find(struct sharing *w)
{
    for (uint32_t i = 0; i < w->sharers; i++) {
        w->sharer[i]->rate = 0;
        if (w->sharer[i]->most < NOBODY)
            w->most[w->wants++] = (struct entry){w->sharer[i]->most, i};
    }
    KER_HEAP_MAKE(w->most, w->wants, LESS);
}

/* What the tightest resource has for each of its sharers; it becomes the first of the heap. */
static uint64_t tightest(struct sharing *w)
{
    while (w->resources) {
        struct entry first = w->tight[0];
        uint64_t each = each_of(&w->resource[first.of]);
        if (each == first.level)
            return each;
        first.level = each;
        KER_HEAP_SINK(w->tight, w->resources, 0, first, LESS);
    }
    return NOBODY;
}

/* The first of its resources that is as tight. */
static uint32_t tight_of(const struct ker_sharer *sharer, const struct ker_shared *resource)
{
    uint32_t i = 0;
    while (!resource[sharer->use[i].resource].tight)
        i++;
    return sharer->use[i].resource;
}

/* Those of the resources that are as tight as this get it. These leave the heap, to behind its end. */
static void tight_give(struct sharing *w, uint64_t least)
{
    uint32_t before = w->resources;
    while (tightest(w) == least) {
        struct entry first = KER_HEAP_TAKE(w->tight, w->resources, LESS);
        w->resource[first.of].tight = true;
        w->tight[w->resources] = first;
    }
    for (uint32_t i = w->resources; i < before; i++) {
        const struct users *users = &w->users[w->tight[i].of];
        for (uint32_t k = users->first; k < users->first + users->count; k++) {
            struct ker_sharer *sharer = w->sharer[w->user[k]];
            if (sharer->rate == 0)
                give(sharer, least, tight_of(sharer, w->resource), w->resource);
        }
    }
    for (uint32_t i = w->resources; i < before; i++)
        w->resource[w->tight[i].of].tight = false;
}

static void rounds(struct sharing *w)
{
    for (uint64_t least; (least = tightest(w)) < NOBODY;) {
        bool given = false;
        while (w->wants && w->most[0].level <= least) {
            struct ker_sharer *first = w->sharer[KER_HEAP_TAKE(w->most, w->wants, LESS).of];
            if (first->rate == 0) {
                give(first, first->most, KER_NONE, w->resource);
                given = true;
            }
        }
        if (!given)
            tight_give(w, least);
    }
    for (uint32_t i = 0; i < w->sharers; i++)
        if (w->sharer[i]->rate == 0) /* it uses nothing */
            give(w->sharer[i], w->sharer[i]->most, KER_NONE, w->resource);
}

void ker_share(struct ker_sharer **sharer, uint32_t sharers, struct ker_shared *resource, uint32_t *list,
               uint32_t resources)
{
    struct entry tight[FEW], most[FEW];
    struct users users[FEW];
    uint32_t user[FEW], uses = sharers, last = resources;
    for (uint32_t i = 0; i < sharers; i++)
        uses += sharer[i]->uses;
    for (uint32_t i = 0; list && i < resources; i++)
        last = list[i] >= last ? list[i] + 1 : last;
    bool few = uses <= FEW && last <= FEW;
    struct sharing w = {sharer, sharers, resource, tight, most, 0, 0, user, users};
    if (!few) { /* of `users` only what is listed is touched */
        w.tight = ker_realloc(NULL, resources * sizeof *w.tight);
        w.most = ker_realloc(NULL, sharers * sizeof *w.most);
        w.user = ker_realloc(NULL, uses * sizeof *w.user);
        w.users = ker_realloc(NULL, last * sizeof *w.users);
    }
    users_find(&w, list, resources);
    wants_find(&w);
    rounds(&w);
    if (few)
        return;
    KER_FREE(w.tight, w.most, w.user, w.users);
}
