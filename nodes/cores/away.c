/* away.c - noise: when the cores of a node are there for their work.
 *
 * Of drawn detours a core keeps where it is at the time up to which the loads are computed, which never goes
 * back; what lies ahead is looked at on a copy.
 */
#include "nodes/private.h"

static inline uint32_t core_of(const struct node *n, uint32_t unit)
{
    return node_structure_of(n)->unit_core[unit];
}

ker_time node_away_until(const struct node *n, uint32_t unit, ker_time from, ker_time length)
{
    uint32_t core = core_of(n, unit);
    struct node_noise_core at = node_cores(n)->noise[core];
    return node_noise_until(n->system->noise, &at, n->id, core, from, length);
}

ker_time node_away_time(const struct node *n, uint32_t unit, ker_time now)
{
    struct node_cores *c = node_cores(n);
    uint32_t core = core_of(n, unit);
    ker_time there = node_noise_free_time(n->system->noise, &c->noise[core], n->id, core, c->since, now);
    return now - c->since - there;
}

void node_away_state(const struct node *n, struct ker_chunk *c)
{
    uint32_t cores = n->system->noise ? node_structure_of(n)->cores : 0;
    struct node_noise_core *core = node_cores(n)->noise;
    ker_chunk_same(c, cores);
    for (uint32_t i = 0; i < cores && !c->bad; i++) {
        KER_CHUNK(c, core[i].begin, core[i].end, core[i].drawn);
        c->bad |= core[i].begin < 0 || core[i].end < core[i].begin;
    }
}
