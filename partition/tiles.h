/* tiles.h - where components are when natural groups are kept together. Private to partition/. */
#pragma once

#include "partition/parts.h"

/* Fills in run and pitch of l->tiles where they are worth it. Of a regular layout that has no places yet. */
void part_tiles_choose(struct part_layout *l);

/* The place of a rank's n-th vertex, and back. */
static inline uint32_t part_tiles_place(const struct part_tiles *t, uint32_t n)
{
    return t->run ? n / t->run * t->pitch + n % t->run : n;
}
static inline uint32_t part_tiles_number(const struct part_tiles *t, uint32_t place)
{
    return t->run ? place / t->pitch * t->run + place % t->pitch : place;
}

/* Behind the places of this many vertices. */
static inline uint32_t part_tiles_end(const struct part_tiles *t, uint32_t vertices)
{
    return t->run ? (vertices + t->run - 1) / t->run * t->pitch : vertices;
}

/* Where the followers of a rank's vertices begin. */
static inline uint32_t part_layout_behind(const struct part_layout *l, uint32_t rank)
{
    return l->behind ? l->behind[rank] : l->first_behind;
}

/* The tile of a place; only where there are tiles (`run` is not 0). */
static inline uint32_t part_tiles_at(const struct part_layout *l, uint32_t rank, uint32_t index)
{
    uint32_t behind = part_layout_behind(l, rank);
    ker_check(l->tiles.pitch > 0 && (index < behind || l->each > 0));
    return index < behind ? index / l->tiles.pitch : (index - behind) / (l->tiles.pitch * l->each);
}
