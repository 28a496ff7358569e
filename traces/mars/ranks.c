/* ranks.c - lists of ranks, as communicators have them, are written as runs of equal steps. */
#include "traces/mars/define.h"

#include "traces/mars/varint.h"

uint8_t *mars_ranks_put(uint8_t *to, const int32_t *rank, uint32_t count)
{
    int64_t last = 0;
    to = mars_put(to, count);
    for (uint32_t i = 0, run; i < count; i += run) {
        int64_t step = i + 1 < count ? (int64_t)rank[i + 1] - rank[i] : 0;
        run = i + 1 < count ? 2 : 1;
        while (i + run < count && (int64_t)rank[i + run] - rank[i + run - 1] == step)
            run++;
        if (run == 2) { /* two of them are more often the end of one run and the begin of another */
            run = 1;
            step = 0;
        }
        to = mars_put_signed(to, rank[i] - last);
        to = mars_put_signed(to, step);
        to = mars_put(to, run);
        last = rank[i + run - 1];
    }
    return to;
}
