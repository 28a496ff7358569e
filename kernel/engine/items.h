/* items.h - the order of a cell's records in a window; private to kernel/engine. */
#ifndef KERNEL_ITEMS_H
#define KERNEL_ITEMS_H

#include "kernel/engine/engine_private.h"

#include <stddef.h>

#define ITEM_PLACE 48     /* of an item's key from this bit on: its cell's place in the block */
#define ITEMS_INSERTED 16 /* so many are sorted by insertion */

static inline bool item_before(struct ker_item a, struct ker_item b)
{
    return a.key < b.key || (a.key == b.key && a.rank < b.rank);
}

static inline void items_insertion_sort(struct ker_item *item, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct ker_item x = item[i];
        uint32_t k = i;
        for (; k > 0 && item_before(x, item[k - 1]); k--)
            item[k] = item[k - 1];
        item[k] = x;
    }
}

typedef uint64_t ker_two_items __attribute__((vector_size(32), aligned(8), may_alias));

/* Items 0 and 1, 2 and 3, and so on from here, each two in their order, without a branch. */
static inline void items_exchange(struct ker_item *item, uint32_t n)
{
    _Static_assert(sizeof *item == 16 && offsetof(struct ker_item, rank) == 8, "as the vectors have it");
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        ker_two_items *at = (ker_two_items *)(void *)&item[i], v = *at,
                      other = __builtin_shuffle(v, (ker_two_items){2, 3, 0, 1});
        ker_two_items key = (ker_two_items)(v > other), same = (ker_two_items)(v == other),
                      rank = (ker_two_items)((v << 32) > (other << 32)); /* without the reference */
        ker_two_items swap = key | (same & __builtin_shuffle(rank, (ker_two_items){1, 1, 1, 1}));
        swap = __builtin_shuffle(swap, (ker_two_items){0, 0, 0, 0});
        *at = (other & swap) | (v & ~swap);
    }
}

/* Items that stand with their cells, several in most: where each goes is close to random, and a branch that
 * asks costs more than a few rounds that leave little to be inserted. */
static inline void items_near_sort(struct ker_item *item, uint32_t n)
{
#ifdef __AVX2__ /* else the rounds cost more */
    for (uint32_t round = 0; round < 4; round++)
        items_exchange(item + (round & 1), n - (round & 1));
#endif
    items_insertion_sort(item, n);
}

/* More of them, of a window of this length. */
void items_spread_sort(struct ker_item *item, uint32_t n, struct ker_item *spare, ker_time window);

/* spare: room for as many. */
static inline void items_sort(struct ker_item *item, uint32_t n, struct ker_item *spare, ker_time window)
{
    if (n > ITEMS_INSERTED)
        items_spread_sort(item, n, spare, window);
    else
        items_insertion_sort(item, n);
}

#endif
