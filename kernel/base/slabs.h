/* slabs.h - records of one or two units in pages: a page that has become empty serves whichever size is asked
 * for next, and where many are empty their memory is given back.
 *
 * So what a burst took is not kept for the rest of the run, as a pool would keep it; but what is needed again
 * is not given back a second time. A record is named by a 32-bit index and does not move. Which index a
 * record gets says nothing about the model: no decision may depend on it. A struct ker_slabs that is zeroed
 * is empty.
 */
#pragma once

#include "kernel/base/memory.h"

#define KER_SLAB_UNIT 32u       /* bytes */
#define KER_SLAB_SIZES 2u       /* records have one unit or two */
#define KER_SLAB_PAGE_SHIFT 7   /* units of a page: 128 */
#define KER_SLAB_CHUNK_SHIFT 11 /* of what is allocated at once: 16 pages */

struct ker_slab_page {
    uint32_t next, before; /* + 1, of the list that it is in; 0: none */
    uint8_t units;         /* of its records; 0: it has no memory yet, or none any more */
    uint8_t live;
    uint8_t first; /* free record, by its first unit; or KER_SLAB_FULL, as of an empty one */
};
#define KER_SLAB_FULL 255u

struct ker_slabs {
    char **chunk;
    struct ker_slab_page *page;
    uint32_t chunks, pages, page_room;
    uint32_t empty;                   /* + 1: the first page without a record; 0: none */
    uint32_t used, spare;             /* pages with records; without, but with memory */
    uint32_t forgotten, regained;     /* whose memory was given back; that got some again since, in all */
    uint32_t partial[KER_SLAB_SIZES]; /* likewise: with records, and room for more of them */
    uint32_t kept[KER_SLAB_SIZES];    /* + 1: a record that was given, and is taken first; 0: none */
};

void ker_slabs_release(struct ker_slabs *);
uint32_t ker_slabs_take(struct ker_slabs *, unsigned units); /* not zeroed; aligned to its size */
void ker_slabs_give(struct ker_slabs *, uint32_t index);

static inline void *ker_slabs_at(const struct ker_slabs *s, uint32_t index)
{
    uint32_t unit = index & ((1u << KER_SLAB_CHUNK_SHIFT) - 1);
    return s->chunk[index >> KER_SLAB_CHUNK_SHIFT] + (size_t)unit * KER_SLAB_UNIT;
}
static inline unsigned ker_slabs_units(const struct ker_slabs *s, uint32_t index)
{
    return s->page[index >> KER_SLAB_PAGE_SHIFT].units;
}
