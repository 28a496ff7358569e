/* queue.c - a group's events, the least first: a pairing heap, whose events lie in the pool of the rank. */
#include "tasks/loggops/model.h"

#include <stdlib.h>

/* No two events are alike. */
bool loggops_behind(const struct loggops_event *b, const struct loggops_event *a)
{
    for (unsigned i = 0; i < LOGGOPS_GENERATIONS; i++)
        if (a->cause[i] != b->cause[i])
            return a->cause[i] < b->cause[i];
    if (a->origin != b->origin)
        return a->origin < b->origin;
    return a->number < b->number;
}

static inline bool before(const struct loggops_event *a, const struct loggops_event *b)
{
    return a->time != b->time ? a->time < b->time : loggops_behind(b, a);
}

/* Two heaps become one; neither has anything beside it. */
static inline uint32_t meld(struct loggops_event *at, uint32_t a, uint32_t b)
{
    if (before(&at[b], &at[a])) {
        uint32_t c = a;
        a = b;
        b = c;
    }
    at[b].next = at[a].child;
    at[a].child = b;
    return a;
}

void loggops_queue_put(struct loggops_system *s, uint32_t *queue, uint32_t event)
{
    s->events.at[event].child = s->events.at[event].next = KER_NONE;
    *queue = *queue == KER_NONE ? event : meld(s->events.at, *queue, event);
}

/* Pairs from the left, then one after the other from the right. */
static uint32_t children_meld(struct loggops_event *at, uint32_t first)
{
    uint32_t pairs = KER_NONE;
    while (first != KER_NONE) {
        uint32_t a = first, b = at[a].next, pair = a;
        first = KER_NONE;
        if (b != KER_NONE) {
            first = at[b].next;
            pair = meld(at, a, b);
        }
        at[pair].next = pairs;
        pairs = pair;
    }
    uint32_t whole = pairs;
    pairs = at[whole].next;
    while (pairs != KER_NONE) {
        uint32_t next = at[pairs].next;
        whole = meld(at, whole, pairs);
        pairs = next;
    }
    return whole;
}

uint32_t loggops_queue_take(struct loggops_system *s, uint32_t *queue)
{
    uint32_t least = *queue, child = s->events.at[least].child;
    *queue = child == KER_NONE ? KER_NONE : children_meld(s->events.at, child);
    return least;
}

void loggops_queue_each(const struct loggops_system *s, uint32_t queue, void (*visit)(void *, uint32_t),
                        void *context)
{
    uint32_t *open = NULL, count = 0, room = 0;
    if (queue != KER_NONE)
        *KER_PUSH(open, count, room) = queue;
    while (count) {
        uint32_t index = open[--count];
        const struct loggops_event *e = &s->events.at[index];
        visit(context, index);
        if (e->child != KER_NONE)
            *KER_PUSH(open, count, room) = e->child;
        if (e->next != KER_NONE && index != queue)
            *KER_PUSH(open, count, room) = e->next;
    }
    free(open);
}
