/* tiles.c - which blocks are of which tile; see tiles.h. */
#include "kernel/engine/tiles.h"

#include "kernel/engine/engine.h"
#include "kernel/engine/wheel.h"

#include <stdlib.h>

#define MOST_WINDOWS 16 /* more win nothing, and hold more records in the wheel */
#define WAVE_WINDOWS 8
#define WAVE_LARGE 262144u /* components: waves pay whatever these have to do */
#define WAVE_LEAST 32768u  /* they pay where each has a record in a window; with fewer they may cost */
#define FEW 4              /* tiles pay where one of this many blocks has something to do */
#define SMALL 8192u        /* components that fit into a cache */
#define TILE_BLOCK 64u
#define MOST_TILE_BLOCKS 8192u /* each has chunks of its own in every window */

uint32_t ker_engine_tile_block(uint32_t components)
{
    uint32_t block = TILE_BLOCK;
    while (components / block > MOST_TILE_BLOCKS)
        block *= 2;
    return components < SMALL ? 0 : block;
}

/* One more than the shallower neighbour's, up to what a wave visits. The greatest of all. */
static uint32_t depths_find(struct tiles *t, const bool *open)
{
    uint32_t most = WAVE_WINDOWS - 1, depth = most, greatest = 0;
    t->depth = ker_alloc(sizeof *t->depth * t->count);
    for (uint32_t i = 0; i < t->count; i++)
        t->depth[i] = depth = open[i] ? 0 : depth < most ? depth + 1 : most;
    depth = most;
    for (uint32_t i = t->count; i-- > 0;) {
        t->depth[i] = depth = t->depth[i] <= depth ? t->depth[i] : depth + 1;
        greatest = depth > greatest ? depth : greatest;
    }
    return greatest;
}

/* How many windows a tile can be handled at once. */
static uint32_t windows_of(const struct ker_tiles *of, uint32_t components, ker_time grid, ker_time delay)
{
    ker_time windows = ker_time_min(of->delay, delay) / grid;
    if (of->open)
        return of->always || components >= WAVE_LEAST ? WAVE_WINDOWS : 1;
    return windows < MOST_WINDOWS ? (uint32_t)windows : MOST_WINDOWS;
}

void tiles_release(struct tiles *t)
{
    free(t->first);
    free(t->block);
    free(t->depth);
}

void tiles_make(struct tiles *t, const struct ker_tiles *of, uint32_t components, uint32_t blocks,
                ker_time grid, ker_time delay)
{
    uint32_t windows = windows_of(of, components, grid, delay);
    *t = (struct tiles){0};
    if (of->count < 2 || windows < 2)
        return;
    t->count = of->count;
    t->windows = of->open ? depths_find(t, of->open) + 1 : windows;
    t->least = of->always || components >= WAVE_LARGE ? 0 : components;
    if (t->windows < 2) {
        tiles_release(t);
        *t = (struct tiles){0};
        return;
    }
    t->first = ker_alloc(sizeof *t->first * (of->count + 2));
    t->block = ker_alloc(sizeof *t->block * blocks);
    for (uint32_t b = 0; b < blocks; b++) {
        ker_assert(of->tile[b] < of->count);
        t->first[of->tile[b] + 2]++;
    }
    for (uint32_t i = 2; i <= of->count; i++)
        t->first[i] += t->first[i - 1];
    for (uint32_t b = 0; b < blocks; b++) /* first[tile + 1] becomes where the tile ends */
        t->block[t->first[of->tile[b] + 1]++] = b;
}

bool tiles_pay(const struct tiles *t, const struct wheel *w, uint32_t slot)
{
    uint32_t busy = 0;
    for (uint32_t k = 0; k < w->block_words; k++)
        busy += (uint32_t)__builtin_popcountll(w->busy_block[(size_t)slot * w->block_words + k]);
    return busy * FEW >= w->blocks;
}
