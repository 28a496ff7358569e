/* pool.c - chunks of 1024 records behind a table of chunk addresses; free records form a list through their
 * first word. Invariant: live + records on the free list + record 0 = used <= chunks x 1024.
 */
#include "tasks/mpi/pool.h"

#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

void task_pool_init(struct task_pool *pool, size_t item_bytes)
{
    ker_assert(item_bytes >= sizeof(uint32_t));
    *pool = (struct task_pool){.item_bytes = item_bytes, .used = 1};
}

void task_pool_release(struct task_pool *pool)
{
    for (uint32_t i = 0; i < pool->chunks; i++)
        free(pool->chunk[i]);
    free(pool->chunk);
    *pool = (struct task_pool){0};
}

static void pool_grow(struct task_pool *pool)
{
    /* The table of addresses doubles, so that its copying stays linear; the records are never copied. */
    if ((pool->chunks & (pool->chunks - 1)) == 0) {
        size_t room = pool->chunks ? (size_t)pool->chunks * 2 : 1;
        pool->chunk = ker_realloc(pool->chunk, room * sizeof *pool->chunk);
    }
    pool->chunk[pool->chunks++] = ker_alloc(pool->item_bytes << TASK_POOL_SHIFT);
}

uint32_t task_pool_take(struct task_pool *pool)
{
    uint32_t index = pool->free;
    if (index) {
        memcpy(&pool->free, task_pool_at(pool, index), sizeof pool->free);
    } else {
        ker_assert(pool->used != UINT32_MAX);
        index = pool->used++;
        if (index >> TASK_POOL_SHIFT >= pool->chunks)
            pool_grow(pool);
    }
    pool->live++;
    memset(task_pool_at(pool, index), 0, pool->item_bytes);
    return index;
}

void task_pool_give(struct task_pool *pool, uint32_t index)
{
    memcpy(task_pool_at(pool, index), &pool->free, sizeof pool->free);
    pool->free = index;
    pool->live--;
}
