/* share.c - the rates of sharers of resources.
 *
 * Each round gives rates to some sharers: those that want no more by themselves than the tightest resource
 * has for each of its sharers, or, if there are none, the sharers of that resource. Which sharers a round
 * gives rates to follows from the values alone, so their order does not matter. Invariant: sharer[0 ..
 * without) have no rate yet.
 */
#include "kernel/base/share.h"

#include "kernel/base/pool.h"

struct resources {
    struct ker_shared *at;
    uint32_t *list;
    uint32_t count;
};

static struct ker_shared *listed(const struct resources *r, uint32_t i)
{
    return &r->at[r->list ? r->list[i] : i];
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

static void begin(const struct resources *r, struct ker_sharer *const *sharer, uint32_t sharers)
{
    for (uint32_t i = 0; i < r->count; i++) {
        struct ker_shared *s = listed(r, i);
        s->room = s->capacity;
        s->wanted = 0;
    }
    for (uint32_t i = 0; i < sharers; i++)
        for (uint32_t k = 0; k < sharer[i]->uses; k++)
            r->at[sharer[i]->use[k].resource].wanted += sharer[i]->use[k].times;
}

/* What the tightest resource has for each of its sharers; those that nobody wants any more leave the list. */
static uint64_t tightest(struct resources *r)
{
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < r->count; i++) {
        const struct ker_shared *s = listed(r, i);
        if (s->wanted && (ker_moved)least * s->wanted > s->room)
            least = s->room / s->wanted;
        if (s->wanted == 0 && r->list) {
            uint32_t last = r->list[--r->count];
            r->list[r->count] = r->list[i];
            r->list[i--] = last;
        }
    }
    return least;
}

/* The first of its resources that is as tight, KER_NONE: none is. */
static uint32_t tight_of(const struct ker_sharer *sharer, const struct ker_shared *resource)
{
    for (uint32_t i = 0; i < sharer->uses; i++)
        if (resource[sharer->use[i].resource].tight)
            return sharer->use[i].resource;
    return KER_NONE;
}

/* Those of the resources that are as tight as this get it; returns how many are left. */
static uint32_t tight_give(struct ker_sharer **sharer, uint32_t without, const struct resources *r,
                           uint64_t least)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct ker_shared *s = listed(r, i);
        s->tight = s->wanted && (least + (ker_moved)1) * s->wanted > s->room;
    }
    for (uint32_t i = 0; i < without; i++) {
        uint32_t bound = tight_of(sharer[i], r->at);
        if (bound != KER_NONE)
            give(sharer[i], least, bound, r->at);
        else
            sharer[left++] = sharer[i];
    }
    return left;
}

void ker_share(struct ker_sharer **sharer, uint32_t sharers, struct ker_shared *resource, uint32_t *list,
               uint32_t resources)
{
    struct resources r = {resource, list, resources};
    begin(&r, sharer, sharers);
    for (uint32_t without = sharers; without > 0;) {
        uint64_t least = tightest(&r);
        uint32_t left = 0;
        for (uint32_t i = 0; i < without; i++)
            if (sharer[i]->most <= least)
                give(sharer[i], sharer[i]->most, KER_NONE, resource);
            else
                sharer[left++] = sharer[i];
        without = left < without ? left : tight_give(sharer, without, &r, least);
    }
}
