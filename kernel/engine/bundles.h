/* bundles.h - one message from host to host in a round, for all their ranks. Private to kernel/engine.
 *
 * A rank puts its batches for the ranks of another host into memory that its host shares. When all ranks of
 * the host have done so, one of them, who carries what is sent between these two hosts, makes one message of
 * them. On the other side one bears it, too: it receives the message into memory that its host shares, where
 * each rank finds its own. Each pair of hosts has its bearers, so that the ranks of a host share the work.
 *
 * In a round with bundles one message is sent from each host to each of its neighbours, an empty one where
 * there is nothing to say.
 */
#pragma once

#include "kernel/engine/channels.h"

struct bundles; /* opaque */

/* Collective. NULL on all ranks: there is no memory to share. room: of a rank, for what it sends in a
 * round; sleep: wait without spinning; naps: while it waits for other hosts. */
struct bundles *bundles_new(struct ker_comm *, const struct hosts *, const struct channels *, size_t room,
                            bool sleep, bool naps);
void bundles_free(struct bundles *); /* NULL is fine */

/* Begins the round: nothing is in it. */
void bundles_begin(struct bundles *);
/* Room for what is sent to a neighbour on another host; NULL: there is not enough, or bytes are 0. Then the
 * receiver is informed that it comes by a message of its own. */
char *bundles_room(struct bundles *, uint32_t neighbour, size_t bytes);

/* When all ranks of the host have agreed: what this rank bears is in transit; nothing is done the second time
 * in a round. Returns how many messages that are. */
uint64_t bundles_send(struct bundles *);
/* After that: what this rank bears has come. */
void bundles_receive(struct bundles *);
/* After that: the next of the batches for this rank, in the order of hosts and ranks; false: there is none.
 */
struct bundle {
    uint32_t from;    /* rank */
    const char *data; /* until the next round; NULL: it comes by a message of its own */
};
bool bundles_next(struct bundles *, struct bundle *);
/* Ends the round: what was sent has left. */
void bundles_end(struct bundles *);
