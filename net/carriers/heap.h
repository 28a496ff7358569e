/* heap.h - what happens at times, the earliest first. Private to net/carriers/.
 *
 * Entries of one time come in no particular order: nothing may depend on it.
 */
#pragma once

#include "kernel/base/base.h"

struct net_timed {
    ker_time when;
    uint32_t what, whom; /* the owner's */
};
#define NET_EARLIER(a, b) ((a)->when < (b)->when)

struct net_heap {
    struct net_timed *at; /* to be freed; the first is the earliest */
    uint32_t count, room;
};

static inline void net_heap_put(struct net_heap *heap, struct net_timed entry)
{
    KER_HEAP_PUT(heap->at, heap->count, heap->room, entry, NET_EARLIER);
}

/* The first one; count > 0. */
static inline struct net_timed net_heap_take(struct net_heap *heap)
{
    return KER_HEAP_TAKE(heap->at, heap->count, NET_EARLIER);
}
