/* shared.h - what the ranks of one host tell each other in a round, through memory that they share. Private
 * to kernel/engine.
 *
 * In every round each rank fills its slot and publishes it; then it waits for those of the others. A slot is
 * filled in rounds of one parity and read in the same round; nobody fills it again before all have published
 * the next one, so two slots per rank suffice and no lock is needed.
 */
#ifndef KERNEL_SHARED_H
#define KERNEL_SHARED_H

#include "kernel/engine/exchange.h"

#include <mpi.h>
#include <stddef.h>

struct shared; /* opaque */

/* Collective. room: for what a rank sends in a round; sleep: wait without spinning, since ranks outnumber
 * cores. */
struct shared *shared_new(MPI_Comm, size_t room, bool sleep);
void shared_free(struct shared *);

/* Begins the round: this rank's slot is empty. */
void shared_begin(struct shared *);
/* Room in it for what goes to a rank; NULL: there is not enough, and only its length is told. */
void *shared_room(struct shared *, int rank, size_t bytes);
/* The slot is complete. */
void shared_publish(struct shared *, struct exchange_own, ker_time sent);

struct shared_told {
    struct exchange_own own;
    ker_time sent;
    uint64_t bytes;   /* that it sent to this rank in this round */
    const void *data; /* until the next round is published; NULL: they come another way */
};
/* Waits for a rank's slot. */
struct shared_told shared_wait(const struct shared *, int rank);

#endif
