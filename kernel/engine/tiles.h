/* tiles.h - several windows of one part of a rank's components, then of the next; private to kernel/engine.
 *
 * Each window visits the state of all components that have anything to do, and of a large system that
 * is far more than a cache holds. Where parts of it (racks) reach each other only after several windows, a
 * part can be handled that far by itself, while its state is cached. Which records there are, and their
 * order at each component, are the same.
 *
 * Parts that are in a row, each reached at once by its neighbours only, can run ahead, too (slabs of a
 * torus). A wave goes along the row: when tile s has been handled for window 0, then its neighbour s - 1 can
 * be for window 1, s - 2 for window 2, and so on, so that a tile is cached for all of these windows. Tiles
 * that others reach as well, at the ends of the row, are handled for window 0 only, their neighbours for one
 * window more, and so on inward: that is their depth. What the wave leaves is done when its window comes; so
 * another rank is given and gives each window what it would without the wave.
 */
#pragma once

#include "kernel/base/base.h"

#include <stdbool.h>
#include <stdint.h>

struct wheel;
struct ker_tiles;

struct tiles {
    uint32_t count;   /* 0: none are made */
    uint32_t windows; /* this many a tile is handled by itself, or a wave visits */
    uint32_t *depth;  /* of each tile of a row: windows that it may be ahead; NULL: they are none */
    uint32_t least;   /* a wave pays where a window has this many records */
    uint32_t *first;  /* of each tile, and the end: where its blocks are in `block` */
    uint32_t *block;
};

/* delay: nothing else reaches a tile sooner. */
void tiles_make(struct tiles *, const struct ker_tiles *, uint32_t components, uint32_t blocks, ker_time grid,
                ker_time delay);
void tiles_release(struct tiles *);
/* Where there are tiles: is so much to be done in this slot of the wheel that they are worth their loops? */
bool tiles_pay(const struct tiles *, const struct wheel *, uint32_t slot);
