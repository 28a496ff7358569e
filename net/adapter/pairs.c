/* pairs.c - open addressing with linear probing, at most half full; removal closes the gap by shifting back.
 * The order of the entries is never observable.
 */
#include "net/adapter/pairs.h"

#include <stdlib.h>
#include <string.h>

#define FREE UINT32_MAX

static inline struct net_pair *pair_at(const struct net_pairs *t, uint32_t i)
{
    return (struct net_pair *)(void *)(t->entry + (size_t)i * t->bytes);
}

static uint32_t pair_home(const struct net_pairs *t, uint32_t endpoint, uint32_t other)
{
    uint64_t x = ((uint64_t)endpoint << 32 | other) * 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32) & (t->room - 1);
}

/* The pair's place, or the free one where it belongs. */
static uint32_t pair_place(const struct net_pairs *t, uint32_t endpoint, uint32_t other)
{
    uint32_t i = pair_home(t, endpoint, other);
    while (pair_at(t, i)->endpoint != FREE &&
           (pair_at(t, i)->endpoint != endpoint || pair_at(t, i)->other != other))
        i = (i + 1) & (t->room - 1);
    return i;
}

void net_pairs_init(struct net_pairs *t, size_t bytes, net_pair_idle *idle)
{
    *t = (struct net_pairs){.bytes = (uint32_t)bytes, .idle = idle};
}

void net_pairs_release(struct net_pairs *t)
{
    free(t->entry);
    t->entry = NULL;
    t->room = t->count = 0;
}

void *net_pairs_find(const struct net_pairs *t, uint32_t endpoint, uint32_t other)
{
    if (t->count == 0)
        return NULL;
    struct net_pair *p = pair_at(t, pair_place(t, endpoint, other));
    return p->endpoint == FREE ? NULL : p;
}

/* Moves what is not idle into a table that is at most a quarter full. */
static void table_renew(struct net_pairs *t, const void *context)
{
    struct net_pairs old = *t;
    uint32_t left = 0;
    for (uint32_t i = 0; i < old.room; i++)
        left += pair_at(&old, i)->endpoint != FREE && !t->idle(context, pair_at(&old, i));
    t->room = 8;
    while (t->room < 4 * (left + 1))
        t->room *= 2;
    t->entry = ker_alloc((size_t)t->room * t->bytes);
    t->count = left;
    for (uint32_t i = 0; i < t->room; i++)
        pair_at(t, i)->endpoint = FREE;
    for (uint32_t i = 0; i < old.room; i++) {
        const struct net_pair *p = pair_at(&old, i);
        if (p->endpoint != FREE && !t->idle(context, p))
            memcpy(pair_at(t, pair_place(t, p->endpoint, p->other)), p, t->bytes);
    }
    free(old.entry);
}

void *net_pairs_add(struct net_pairs *t, const void *context, uint32_t endpoint, uint32_t other)
{
    if (2 * (t->count + 1) > t->room)
        table_renew(t, context);
    struct net_pair *p = pair_at(t, pair_place(t, endpoint, other));
    ker_check(p->endpoint == FREE);
    memset(p, 0, t->bytes);
    *p = (struct net_pair){endpoint, other};
    t->count++;
    return p;
}

void net_pairs_drop(struct net_pairs *t, void *entry)
{
    uint32_t hole = (uint32_t)((size_t)((char *)entry - t->entry) / t->bytes), mask = t->room - 1;
    for (uint32_t i = (hole + 1) & mask; pair_at(t, i)->endpoint != FREE; i = (i + 1) & mask) {
        uint32_t home = pair_home(t, pair_at(t, i)->endpoint, pair_at(t, i)->other);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            memcpy(pair_at(t, hole), pair_at(t, i), t->bytes);
            hole = i;
        }
    }
    pair_at(t, hole)->endpoint = FREE;
    t->count--;
}

void *net_pairs_next(const struct net_pairs *t, uint32_t *at)
{
    while (*at < t->room) {
        struct net_pair *p = pair_at(t, (*at)++);
        if (p->endpoint != FREE)
            return p;
    }
    return NULL;
}
