/* heap.h - what happens at times, the earliest first: a binary heap. Private to net/carriers/.
 *
 * Entries of one time come in no particular order: nothing may depend on it.
 */
#ifndef NET_CARRIERS_HEAP_H
#define NET_CARRIERS_HEAP_H

#include "kernel/base/base.h"

struct net_timed {
    ker_time when;
    uint32_t what, whom; /* the owner's */
};

struct net_heap {
    struct net_timed *at; /* to be freed; the first is the earliest */
    uint32_t count, room;
};

/* In place of the first. */
static inline void net_heap_replace(struct net_heap *heap, struct net_timed by)
{
    uint64_t at = 0;
    for (uint64_t below; (below = 2 * at + 1) < heap->count; at = below) {
        if (below + 1 < heap->count && heap->at[below + 1].when < heap->at[below].when)
            below++;
        if (heap->at[below].when >= by.when)
            break;
        heap->at[at] = heap->at[below];
    }
    heap->at[at] = by;
}

static inline void net_heap_put(struct net_heap *heap, struct net_timed entry)
{
    uint32_t at = heap->count;
    KER_PUSH(heap->at, heap->count, heap->room);
    for (; at > 0 && heap->at[(at - 1) / 2].when > entry.when; at = (at - 1) / 2)
        heap->at[at] = heap->at[(at - 1) / 2];
    heap->at[at] = entry;
}

/* The first one; count > 0. */
static inline struct net_timed net_heap_take(struct net_heap *heap)
{
    struct net_timed first = heap->at[0];
    net_heap_replace(heap, heap->at[--heap->count]);
    return first;
}

#endif
