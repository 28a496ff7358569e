/* items.h - the order of a cell's records in a window; private to kernel/engine. */
#pragma once

#include "kernel/engine/engine_private.h"

#define ITEM_PLACE 48     /* of an item's key from this bit on: its cell's place in the block */
#define ITEMS_INSERTED 16 /* this many are sorted by insertion */

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

/* Where the order of items is that of one number each, and no cell has more than ITEMS_RANKED: an item's
 * place is where it is, plus those behind it that come first, less those before it that come later. Each
 * is compared with those that are less than `most` away, four at a time and without a branch. In `order`
 * ORDER_BEFORE numbers that are less than all are before the first; ORDER_BEHIND that are greater are
 * behind the last. Writes up to ITEMS_AT_ONCE items more than there are. */
#ifdef __AVX2__
#define ITEMS_RANKED 16
#else
#define ITEMS_RANKED 0 /* such comparisons take longer than to insert */
#endif
#define ITEMS_AT_ONCE 8
#define ORDER_BEFORE 16
#define ORDER_BEHIND (ORDER_BEFORE + ITEMS_AT_ONCE)
#define ORDER_RANK 31 /* bits of an item's rank, the lowest of the number */
void items_rank_sort(const struct ker_item *item, const int64_t *order, uint32_t n, uint32_t most,
                     struct ker_item *sorted);

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
