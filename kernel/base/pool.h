/* pool.h - records of one size, named by 32-bit indices and reused last in, first out.
 *
 * A free record's first four bytes are the index of the next free one: taking and giving cost a few
 * instructions. Which index a record gets says nothing about the model: no decision may depend on it.
 *
 * KER_POOL is for records in one block. `pool.at[index]` is a record; the block moves when it grows, so that
 * a pointer to a record is good until the next take. It begins as KER_POOL_EMPTY and ends by
 * ker_pool_release.
 *
 * struct ker_chunks is for records that must not move: they lie in chunks, one look-up more away. Index 0 is
 * nobody, so that zeroed lists are empty.
 */
#pragma once

#include "kernel/base/memory.h"

#include <stdlib.h>
#include <string.h>

#define KER_NONE UINT32_MAX /* no record: the end of a list */

/* ---- in one block ---- */

#define KER_POOL(type)                                                                                       \
    struct {                                                                                                 \
        type *at;                                                                                            \
        uint32_t room, free; /* records; the first free one, or KER_NONE */                                  \
    }
#define KER_POOL_EMPTY                                                                                       \
    {                                                                                                        \
        NULL, 0, KER_NONE                                                                                    \
    }

/* The index of a record, not zeroed. arena: where the block lies; NULL: malloc'ed. */
#define KER_POOL_TAKE(pool, arena) KER_POOL_TAKE_BY(ker_pool_grow, pool, arena)
/* The same of a pool that has an arena of its own: there its block never moves, which a large one would. */
#define KER_POOL_TAKE_LARGE(pool, arena) KER_POOL_TAKE_BY(ker_pool_extend, pool, arena)
#define KER_POOL_TAKE_BY(grow, pool, arena)                                                                  \
    ({                                                                                                       \
        _Static_assert(sizeof *(pool)->at >= sizeof(uint32_t), "a free record holds an index");              \
        if (__builtin_expect((pool)->free == KER_NONE, 0))                                                   \
            (pool)->at = grow((pool)->at, sizeof *(pool)->at, &(pool)->room, &(pool)->free, (arena));        \
        uint32_t ker_index_ = (pool)->free;                                                                  \
        memcpy(&(pool)->free, &(pool)->at[ker_index_], sizeof(uint32_t));                                    \
        ker_index_;                                                                                          \
    })

#define KER_POOL_GIVE(pool, index)                                                                           \
    do {                                                                                                     \
        uint32_t ker_index_ = (index);                                                                       \
        memcpy(&(pool)->at[ker_index_], &(pool)->free, sizeof(uint32_t));                                    \
        (pool)->free = ker_index_;                                                                           \
    } while (0)

/* Of one that is malloc'ed; what lies in an arena goes with that. */
#define KER_POOL_RELEASE(pool)                                                                               \
    do {                                                                                                     \
        free((pool)->at);                                                                                    \
        (pool)->at = NULL;                                                                                   \
        (pool)->room = 0;                                                                                    \
        (pool)->free = KER_NONE;                                                                             \
    } while (0)

/* Twice the room in an arena, else a quarter more, or a sixteenth to a sixty-fourth where the block is large;
 * all new records are free, the lowest is taken first. Returns the block. */
void *ker_pool_grow(void *block, size_t bytes, uint32_t *room, uint32_t *free, struct ker_arena *arena);
void *ker_pool_extend(void *block, size_t bytes, uint32_t *room, uint32_t *free, struct ker_arena *arena);

/* ---- in chunks ---- */

#define KER_CHUNK_SHIFT 10 /* records of a chunk: 1024 */
#define KER_CHUNK_MASK ((1u << KER_CHUNK_SHIFT) - 1)

struct ker_chunks {
    char **chunk;
    size_t record_bytes;
    uint32_t chunks, used /* ever, with record 0 */, free;
    uint32_t live;
};

void ker_chunks_init(struct ker_chunks *, size_t record_bytes);
void ker_chunks_release(struct ker_chunks *);
uint32_t ker_chunks_take(struct ker_chunks *);   /* zeroed */
uint32_t ker_chunks_extend(struct ker_chunks *); /* for ker_chunks_raw: none is free */

static inline void *ker_chunks_at(const struct ker_chunks *pool, uint32_t index)
{
    return pool->chunk[index >> KER_CHUNK_SHIFT] + (size_t)(index & KER_CHUNK_MASK) * pool->record_bytes;
}

/* Not zeroed. */
static inline uint32_t ker_chunks_raw(struct ker_chunks *pool)
{
    uint32_t index = pool->free;
    if (__builtin_expect(index == 0, 0))
        return ker_chunks_extend(pool);
    memcpy(&pool->free, ker_chunks_at(pool, index), sizeof pool->free);
    pool->live++;
    return index;
}

static inline void ker_chunks_give(struct ker_chunks *pool, uint32_t index)
{
    memcpy(ker_chunks_at(pool, index), &pool->free, sizeof pool->free);
    pool->free = index;
    pool->live--;
}
