/* shared.h - what the ranks of one host exchange in a round, through memory that they share. Private
 * to kernel/engine.
 *
 * In every round each rank fills its slot, then all agree. A slot is filled in rounds of one parity and read
 * in the same round; nobody fills it again before all have agreed in the next one, so two slots per rank
 * suffice and no lock is needed.
 */
#pragma once

#include "kernel/engine/agreement.h"

#include <stdbool.h>
#include <stddef.h>

struct shared; /* opaque */

/* Consecutive ranks of a host that go together: the first one's place among those of the host, the number of
 * this one in the group, and how many they are. */
struct shared_group {
    int from, place, size;
};

/* Collective over the ranks of a host; NULL on all of them: there is no memory to share. room: for what a
 * rank sends in a round; sleep: wait without spinning, since ranks outnumber cores. */
struct shared *shared_new(struct ker_comm *host, const struct shared_group *, size_t room, bool sleep);
void shared_free(struct shared *);

/* Begins the round: this rank's slot is empty. */
void shared_begin(struct shared *);
/* Room in it for what is sent to the rank at that place; NULL: there is not enough, and only its length is
 * published.
 */
void *shared_room(struct shared *, int receiver, size_t bytes);
/* The slot is complete. Returns when all of the host have said so, with what they agree on. */
void shared_agree(struct shared *, struct agreement *);
/* Behind it, where there are several hosts: what all of them agree on, from the first rank of the host to the
 * others. */
void shared_tell(struct shared *, const struct agreement *);
void shared_hear(struct shared *, struct agreement *);

struct shared_parcel {
    uint64_t bytes;
    const void *data; /* until the next round has begun; NULL: they come another way */
};
/* What the rank at `place` has for this one. */
struct shared_parcel shared_parcel(const struct shared *, int place);
