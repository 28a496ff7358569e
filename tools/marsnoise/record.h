/* record.h - records when a core was away: a thread that is bound to it reads the clock again and again.
 *
 * One turn of the loop is always the same work, so a turn that takes longer than the least of all turns was
 * interrupted: a detour (the selfish detour benchmark: Beckman, Iskra, Yoshii, Coghlan: The Influence of
 * Operating Systems on the Performance of Collective Operations at Extreme Scale, IEEE Cluster 2006).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct noise_detour {
    uint64_t begin, length; /* ticks, from the begin of the recording */
};

/* A recording of a core. */
struct noise_record {
    unsigned core;        /* the number of a processing unit, as hwloc numbers them */
    double seconds;       /* how long, at most */
    double threshold_ns;  /* what is longer is a detour */
    uint32_t room, count; /* of detours; the recording ends when there is no more room */
    struct noise_detour *detour;
    uint64_t turns, least; /* how many; the ticks of the shortest */
    uint64_t span;         /* ticks, of the whole */
    double ns;             /* of a tick */
};

/* What a tick is: "processor's counter" where that runs at one rate whatever the processor does, else
 * "CLOCK_MONOTONIC". Before anything is recorded. */
const char *noise_clock_choose(void);
/* In the calling thread, which is bound already; detour has room for them, and least is 0. */
void noise_record(struct noise_record *);
