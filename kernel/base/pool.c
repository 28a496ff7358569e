/* pool.c - how pools grow. Invariant of chunks: live + records on the free list + record 0 = used <= chunks x
 * 1024.
 */
#include "kernel/base/pool.h"

#include "kernel/base/array.h"
#include "kernel/base/error.h"

#include <stdbool.h>

#define FIRST_BYTES 2048
#define FIRST_IN_ARENA 1 /* records: there are many such pools */
#define LARGE_STEP 4096  /* bytes */
#define LARGE_BYTES                                                                                          \
    (1u << 20) /* a large pool is moved by its pages, so that smaller steps cost little;                     \
                  thirty-two times as large, still smaller ones */

static uint32_t room_next(uint32_t room, size_t bytes, bool in_arena)
{
    if (room == 0)
        return in_arena ? FIRST_IN_ARENA : FIRST_BYTES / bytes > 16 ? (uint32_t)(FIRST_BYTES / bytes) : 16;
    if (in_arena)
        return 2 * room;
    return room + room / (room * bytes < LARGE_BYTES ? 4 : room * bytes < 32 * LARGE_BYTES ? 16 : 64);
}

/* All records from `old` on are free. */
static void records_free(char *block, size_t bytes, uint32_t old, uint32_t room, uint32_t *free)
{
    for (uint32_t i = room; i-- > old; *free = i)
        memcpy(block + i * bytes, free, sizeof *free);
}

void *ker_pool_extend(void *block, size_t bytes, uint32_t *room, uint32_t *free, struct ker_arena *arena)
{
    uint32_t old = *room;
    ker_assert(old <= UINT32_MAX / 2);
    *room += (uint32_t)(LARGE_STEP / bytes);
    block = ker_arena_extend(arena, *room * bytes);
    records_free(block, bytes, old, *room, free);
    return block;
}

void *ker_pool_grow(void *block, size_t bytes, uint32_t *room, uint32_t *free, struct ker_arena *arena)
{
    uint32_t old = *room;
    ker_assert(old <= UINT32_MAX / 2);
    *room = room_next(old, bytes, arena != NULL);
    block =
        arena ? ker_arena_grow(arena, block, old * bytes, *room * bytes) : ker_realloc(block, *room * bytes);
    records_free(block, bytes, old, *room, free);
    return block;
}

void ker_chunks_init(struct ker_chunks *pool, size_t record_bytes)
{
    ker_assert(record_bytes >= sizeof(uint32_t));
    *pool = (struct ker_chunks){.record_bytes = record_bytes, .used = 1};
}

void ker_chunks_release(struct ker_chunks *pool)
{
    for (uint32_t i = 0; i < pool->chunks; i++)
        free(pool->chunk[i]);
    free(pool->chunk);
    *pool = (struct ker_chunks){0};
}

uint32_t ker_chunks_extend(struct ker_chunks *pool)
{
    ker_assert(pool->used != UINT32_MAX);
    uint32_t index = pool->used++;
    if (index >> KER_CHUNK_SHIFT >= pool->chunks)
        *KER_APPEND(pool->chunk, pool->chunks) = ker_alloc(pool->record_bytes << KER_CHUNK_SHIFT);
    pool->live++;
    return index;
}

uint32_t ker_chunks_take(struct ker_chunks *pool)
{
    uint32_t index = ker_chunks_raw(pool);
    memset(ker_chunks_at(pool, index), 0, pool->record_bytes);
    return index;
}
