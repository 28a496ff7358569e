/* queue.c - operations that wait for the device, and what a cache's policy makes of their order.
 *
 * They lie in one array: in the order in which they came, or by kind, file and offset where the policy sorts.
 * Invariant: no two have the same number, so that their order is total and nothing depends on how the array
 * was filled.
 */
#include "storage/private.h"

#include <string.h>

const struct ker_kind store_cache_none = {
    .name = "none",
    .meaning = "no cache: each operation goes to the device as it comes, and a write is answered behind it",
    .operations = &(const struct store_policy){0}};
const struct ker_kind store_cache_write_behind = {
    .name = "write_behind",
    .meaning = "writes are answered when they are in memory, and go to the device as they came",
    .operations = &(const struct store_policy){.caches = true}};
const struct ker_kind store_cache_aggregate = {
    .name = "aggregate",
    .meaning = "likewise; reads first, and neighbouring or overlapping operations become one",
    .operations = &(const struct store_policy){.caches = true, .reads_first = true, .merges = true}};
const struct ker_kind store_cache_aggregate_reorder = {
    .name = "aggregate_reorder",
    .meaning = "likewise, by file and offset in place of the order in which they came",
    .operations =
        &(const struct store_policy){.caches = true, .reads_first = true, .merges = true, .sorts = true}};

static bool before(const struct store_policy *policy, const struct store_io *x, const struct store_io *y)
{
    if (!policy->sorts)
        return x->number < y->number;
    return KER_ORDER(x, y, writes, file, offset, number) < 0;
}

/* The first that is not before. */
static uint32_t place_of(const struct store_queue *q, const struct store_policy *policy,
                         const struct store_io *io)
{
    return KER_BISECT(i, 0, q->count, before(policy, &q->io[i], io));
}

void store_queue_add(struct store_queue *q, const struct store_policy *policy, const struct store_io *io)
{
    uint32_t at = place_of(q, policy, io);
    (void)KER_PUSH(q->io, q->count, q->room);
    memmove(&q->io[at + 1], &q->io[at], (q->count - 1 - at) * sizeof *q->io);
    q->io[at] = *io;
}

static void take(struct store_queue *q, uint32_t at, struct store_queue *part)
{
    *KER_PUSH(part->io, part->count, part->room) = q->io[at];
    memmove(&q->io[at], &q->io[at + 1], (--q->count - at) * sizeof *q->io);
}

/* Sorted: where the device is in a file it stays there, and begins at its lowest offset. */
static uint32_t first(const struct store_queue *q, const struct store_policy *policy,
                      const struct store_head *last)
{
    uint32_t at = 0;
    if (policy->sorts && last->moved) {
        struct store_io here = {.writes = q->io[0].writes, .file = last->file};
        at = place_of(q, policy, &here);
        bool more = at < q->count && q->io[at].file == last->file && q->io[at].writes == here.writes;
        return more ? at : 0;
    }
    while (policy->reads_first && at < q->count && q->io[at].writes)
        at++;
    return at < q->count ? at : 0;
}

/* One of from .. to - 1 that touches the operation, and with which it has at most `most` bytes; to: none. */
static uint32_t neighbour(const struct store_queue *q, uint32_t from, uint32_t to, const struct store_pick *p,
                          uint64_t most, uint64_t *begin, uint64_t *end)
{
    uint32_t at;
    for (at = from; at < to; at++) {
        const struct store_io *io = &q->io[at];
        uint64_t io_end = io->offset + io->bytes, p_end = p->offset + p->bytes;
        *begin = io->offset < p->offset ? io->offset : p->offset;
        *end = io_end > p_end ? io_end : p_end;
        if (io->file == p->file && io->writes == p->writes && io->offset <= p_end && io_end >= p->offset &&
            *end - *begin <= most)
            break;
    }
    return at;
}

bool store_queue_pick(struct store_queue *q, const struct store_policy *policy, const struct store_head *last,
                      uint64_t most, struct store_queue *part, struct store_pick *p)
{
    if (q->count == 0)
        return false;
    uint32_t at = first(q, policy, last);
    uint64_t begin = 0, end = 0;
    const struct store_io *io = &q->io[at];
    *p = (struct store_pick){io->offset, io->bytes, io->file, 1, io->writes};
    take(q, at, part);
    /* Sorted, what touches it comes next. */
    uint32_t from = policy->sorts ? at : 0, found;
    while (policy->merges) {
        uint32_t to = policy->sorts && from + 1 < q->count ? from + 1 : q->count;
        if ((found = neighbour(q, from, to, p, most, &begin, &end)) == to)
            break;
        p->offset = begin;
        p->bytes = end - begin;
        p->taken++;
        take(q, found, part);
    }
    return true;
}

void store_io_save(struct store_queue *q, struct ker_chunk *chunk)
{
    uint32_t count = ker_chunk_count(chunk, q->count, sizeof *q->io);
    for (uint32_t i = 0; i < count && !chunk->bad; i++) {
        if (chunk->loads)
            *KER_PUSH(q->io, q->count, q->room) = (struct store_io){.number = 0};
        struct store_io *io = &q->io[i];
        KER_CHUNK(chunk, io->number, io->came, io->offset, io->bytes, io->file, io->job, io->channel);
        io->writes = ker_chunk_bool(chunk, io->writes);
    }
}
