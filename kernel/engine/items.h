/* items.h - the order of a cell's records in a window; private to kernel/engine. */
#ifndef KERNEL_ITEMS_H
#define KERNEL_ITEMS_H

#include "kernel/engine/engine_private.h"

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
