/* distances.c - breadth-first searches from 64 switches at once.
 *
 * A word per switch has a bit for each search. In every step the bits of all switches that were reached in
 * the step before go over all links; what a switch gets that it has not had yet, it is that many links away
 * from. (Then et al., "The more the merrier", 2014.)
 */
#include "routing/tables/distances.h"

#include <stdlib.h>

struct search {
    uint64_t *seen, *front, *next; /* per switch */
};

/* One step; false: nothing was reached. */
static bool step(struct search *s, const struct route_wires *wires)
{
    bool reached = false;
    for (uint32_t at = 0; at < wires->switches; at++)
        for (uint32_t i = wires->begin[at]; s->front[at] && i < wires->begin[at + 1]; i++)
            s->next[wires->to[i]] |= s->front[at];
    for (uint32_t at = 0; at < wires->switches; at++) {
        s->front[at] = s->next[at] & ~s->seen[at];
        s->seen[at] |= s->front[at];
        s->next[at] = 0;
        reached |= s->front[at] != 0;
    }
    return reached;
}

void route_distances(const struct route_wires *wires, uint32_t first, uint32_t most,
                     route_distances_take *take, void *context)
{
    struct search s = {ker_alloc(wires->switches * sizeof *s.seen),
                       ker_alloc(wires->switches * sizeof *s.front),
                       ker_alloc(wires->switches * sizeof *s.next)};
    for (uint32_t i = 0; i < ROUTE_DISTANCES_SOURCES && first + i < wires->switches; i++)
        s.seen[first + i] = s.front[first + i] = 1ull << i;
    bool reached = true;
    for (uint32_t distance = 0; reached && distance <= most; distance++, reached = step(&s, wires))
        for (uint32_t at = 0; at < wires->switches; at++)
            if (s.front[at])
                take(context, distance, at, s.front[at]);
    free(s.seen);
    free(s.front);
    free(s.next);
}
