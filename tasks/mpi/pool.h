/* pool.h - records of one size named by 32-bit indices, growing by chunks, reused last in, first out.
 *
 * Records never move; index 0 is nobody, so that zeroed lists are empty. The first four bytes of a free
 * record are the index of the next free one. Taking and giving cost a few instructions; there is no
 * allocation per message.
 */
#ifndef TASKS_MPI_POOL_H
#define TASKS_MPI_POOL_H

#include <stddef.h>
#include <stdint.h>

#define TASK_POOL_SHIFT 10 /* records of a chunk: 1024 */
#define TASK_POOL_MASK ((1u << TASK_POOL_SHIFT) - 1)

struct task_pool {
    char **chunk;
    size_t item_bytes;
    uint32_t chunks, used /* ever, with record 0 */, free;
    uint32_t live;
};

void task_pool_init(struct task_pool *, size_t item_bytes);
void task_pool_release(struct task_pool *);
uint32_t task_pool_take(struct task_pool *); /* zeroed */
void task_pool_give(struct task_pool *, uint32_t index);

static inline void *task_pool_at(const struct task_pool *pool, uint32_t index)
{
    return pool->chunk[index >> TASK_POOL_SHIFT] + (size_t)(index & TASK_POOL_MASK) * pool->item_bytes;
}

#endif
