/* share.h - rates of what shares resources, max-min fair.
 *
 * A sharer has a rate that it has at most by itself, and resources that it goes through. Of a resource it
 * takes its rate once or several times: a copy inside one memory reads and writes there, and takes twice its
 * rate. No sharer can have more without one that has no more than it having less. Found by filling (Bertsekas
 * and Gallager, Data Networks, 2nd edition, 6.5.2): the resource that has least for each of its sharers gives
 * them that, unless some sharer wants no more than this by itself; then what is left is shared by the others
 * in the same way.
 *
 * Everything is an integer: rates in bytes per second, rounded down (but at least 1), what is left to be
 * moved in bytes x 10^12, so that a rate times picoseconds is exact. What comes out does not depend on the
 * order of the sharers.
 */
#pragma once

#include "kernel/base/units.h"

#include <stdbool.h>

typedef unsigned __int128 ker_moved; /* bytes x 10^12 */
#define KER_MOVED_BYTE ((ker_moved)1000000000000u)

struct ker_sharer {
    uint64_t most, rate; /* at most by itself, > 0; now */
    uint32_t uses;
    const struct ker_share_use {
        uint32_t resource; /* each once */
        uint16_t times;
    } * use;
    uint32_t bound; /* the resource that lets it have no more; KER_NONE: `most` does */
};

struct ker_shared {
    uint64_t capacity;     /* bytes per second, > 0 */
    uint64_t room, wanted; /* while rates are found: what is left; of the sharers that have none yet */
    bool tight;            /* likewise */
};

/* Sets the rates of all; changes their order, and that of the list. The resources are those listed, which are
 * all that any of them uses; NULL: 0 to resources - 1. O(sharers x (resources + different `most`)), in
 * practice 2 or 3 times the sharers. */
void ker_share(struct ker_sharer **sharer, uint32_t sharers, struct ker_shared *, uint32_t *list,
               uint32_t resources);

/* How long it takes to move this at a rate > 0, rounded up. */
static inline ker_time ker_moved_takes(ker_moved left, uint64_t rate)
{
    const ker_time latest = 9000000 * KER_S; /* behind any run's end */
    ker_moved time = (left + rate - 1) / rate;
    return time < (ker_moved)latest ? (ker_time)time : latest;
}
