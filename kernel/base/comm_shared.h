/* comm_shared.h - collectives of ranks that share memory. Private to kernel/base; comm.h is the contract.
 *
 * All calls are collective unless it says otherwise.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct comm_shared; /* opaque */

size_t comm_shared_bytes(int ranks);
/* In a block of that many bytes, all 0, that all of the ranks see; it stays the caller's. */
struct comm_shared *comm_shared_new(void *block, int rank, int ranks);
void *comm_shared_block(const struct comm_shared *);
void comm_shared_free(struct comm_shared *);

/* Adds `count` words of another rank to this one's. */
typedef void comm_merge(uint64_t *into, const uint64_t *from, size_t count);
void comm_shared_reduce(struct comm_shared *, uint64_t *values, size_t count, comm_merge *);

void comm_shared_broadcast(struct comm_shared *, void *data, size_t bytes);
/* The part of rank r is put at all + offset[r], up to offset[r + 1]; `all` is NULL where nothing is wanted.
 */
void comm_shared_gather(struct comm_shared *, const void *data, char *all, const size_t *offset);
/* Waits for all, asleep. With `nap` it is called every few milliseconds meanwhile. */
void comm_shared_meet(struct comm_shared *, void (*nap)(void *), void *argument);

/* To rank 0, not collective: it takes as many bytes as are put, in the same pieces. */
void comm_shared_put(struct comm_shared *, const void *data, size_t bytes);
void comm_shared_take(struct comm_shared *, int rank, void *data, size_t bytes);
