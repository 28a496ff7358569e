/* items.c - sorts many records of one cell; see items.h.
 *
 * Those of a window are spread over it fairly evenly: 32 parts by time, then little is left to be inserted;
 * where a part gets too many (all at one instant), they are merged.
 */
#include "kernel/engine/items.h"

#include <string.h>

#define INSERTION_LIMIT 32
#define SPREAD_PARTS 32

typedef int64_t four_numbers __attribute__((vector_size(32), aligned(8), may_alias));

/* No function: where the processor has no vectors of this size, how one is returned is another thing, of
 * which gcc warns. */
#define NUMBERS_AT(order, at) (*(const four_numbers *)(const void *)((order) + (at)))

void items_rank_sort(const struct ker_item *item, const int64_t *order, uint32_t n, uint32_t most,
                     struct ker_item *sorted)
{
    for (ptrdiff_t i = 0; i < (ptrdiff_t)n; i += ITEMS_AT_ONCE) {
        four_numbers a = NUMBERS_AT(order, i), b = NUMBERS_AT(order, i + 4), place[2] = {{0}};
        for (ptrdiff_t d = 1; d < (ptrdiff_t)most; d++) { /* a comparison gives -1 where it holds */
            place[0] += (NUMBERS_AT(order, i - d) > a) - (a > NUMBERS_AT(order, i + d));
            place[1] += (NUMBERS_AT(order, i + 4 - d) > b) - (b > NUMBERS_AT(order, i + 4 + d));
        }
        for (ptrdiff_t k = 0; k < ITEMS_AT_ONCE; k++)
            sorted[i + k + place[k / 4][k % 4]] = item[i + k];
    }
}

static void items_merge_sort(struct ker_item *item, struct ker_item *spare, uint32_t n)
{
    for (uint32_t width = 1; width < n; width *= 2) {
        for (uint32_t at = 0; at < n; at += 2 * width) {
            uint32_t a = at, mid = at + width < n ? at + width : n, b = mid,
                     end = at + 2 * width < n ? at + 2 * width : n;
            for (uint32_t k = at; k < end; k++)
                spare[k] = a < mid && (b >= end || !item_before(item[b], item[a])) ? item[a++] : item[b++];
        }
        memcpy(item, spare, sizeof *item * n);
    }
}

void items_spread_sort(struct ker_item *item, uint32_t n, struct ker_item *spare, ker_time window)
{
    uint64_t scale = ((uint64_t)SPREAD_PARTS << 40) / (uint64_t)window;
    uint32_t end[SPREAD_PARTS + 1] = {0}, most = 0;
    for (uint32_t i = 0; i < n; i++)
        end[((uint32_t)(item[i].key >> 16) * scale >> 40) + 1]++;
    for (uint32_t part = 0; part < SPREAD_PARTS; part++) {
        most = end[part + 1] > most ? end[part + 1] : most;
        end[part + 1] += end[part];
    }
    for (uint32_t i = 0; i < n; i++)
        spare[end[(uint32_t)(item[i].key >> 16) * scale >> 40]++] = item[i];
    memcpy(item, spare, sizeof *item * n);
    if (most > INSERTION_LIMIT)
        items_merge_sort(item, spare, n);
    else
        items_insertion_sort(item, n);
}
