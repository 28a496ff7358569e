/* map.h - where a datatype has its bytes, in their order: what a view of a file is made of.
 *
 * A run is pieces of one size at a constant stride, and all of them again at another one: a column of a
 * matrix is one, and a block of a three-dimensional grid, however large. Pieces that touch are one.
 */
#pragma once

#include "traces/mars/varint.h"

#include <stdbool.h>

struct mars_map {
    uint32_t runs, room;
    struct mars_map_run {
        int64_t offset, stride, outer_stride; /* strides where there are several */
        uint64_t bytes, count, outer;         /* outer: how often there are `count` pieces */
    } * run;
};
#define MARS_MAP_MOST 65536 /* runs of one */

/* Makes `next` a part of `last` where it goes on at the end of that one's pieces, as the same run; false: it
 * does not. */
bool mars_map_join(struct mars_map_run *last, const struct mars_map_run *next);
/* Each false: there are too many runs, or no memory. Appends a run, behind those that there are. */
bool mars_map_add(struct mars_map *, const struct mars_map_run *);
/* Appends a copy that begins `shift` later. */
bool mars_map_append(struct mars_map *, const struct mars_map *, int64_t shift);
/* `count` copies of it, each next one `stride` further. */
bool mars_map_repeat(struct mars_map *, uint64_t count, int64_t stride);
void mars_map_release(struct mars_map *);

#define MARS_MAP_RUN_BYTES (6 * MARS_VARINT_MOST)
/* Room for MARS_MAP_RUN_BYTES for each run, and one more. Returns the end. */
uint8_t *mars_map_put(uint8_t *to, const struct mars_map *);
/* False: it is damaged. */
bool mars_map_get(struct mars_map *, struct mars_bytes *);
