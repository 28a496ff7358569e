/* tiles.c - which blocks are of which tile; see tiles.h. */
#include "kernel/engine/tiles.h"

#include "kernel/engine/engine.h"

#include <stdlib.h>

#define MOST_WINDOWS 16 /* more win nothing, and hold more records in the wheel */
#define FEW 4           /* tiles pay where one of so many blocks has something to do */
#define SMALL 8192u     /* components that fit into a cache */
#define TILE_BLOCK 64u
#define MOST_TILE_BLOCKS 8192u /* each has chunks of its own in every window */

uint32_t ker_engine_tile_block(uint32_t components)
{
    uint32_t block = TILE_BLOCK;
    while (components / block > MOST_TILE_BLOCKS)
        block *= 2;
    return components < SMALL ? 0 : block;
}

void tiles_make(struct tiles *t, const struct ker_tiles *of, uint32_t blocks, ker_time grid, ker_time delay)
{
    ker_time windows = ker_time_min(of->delay, delay) / grid;
    *t = (struct tiles){0};
    if (of->count < 2 || windows < 2)
        return;
    t->count = of->count;
    t->windows = windows < MOST_WINDOWS ? (uint32_t)windows : MOST_WINDOWS;
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

void tiles_release(struct tiles *t)
{
    free(t->first);
    free(t->block);
}

bool tiles_pay(const struct tiles *t, const struct wheel *w, uint32_t slot)
{
    uint32_t busy = 0;
    for (uint32_t k = 0; k < w->block_words; k++)
        busy += (uint32_t)__builtin_popcountll(w->busy_block[(size_t)slot * w->block_words + k]);
    return busy * FEW >= w->blocks;
}
