/* lanes.h - arbitration among the channels of an output (switch.lanes): which of those with a packet that
 * could go now goes next, at switches and at adapters; which of its packets, and of which input, is the
 * arbiter's choice (switch.arbitration). Private to net/.
 *
 * A kind has state per output, and is told of every packet that is sent, of one that was alone, too. Classes
 * with the highest first (strict) need none of that: nothing here is called then.
 */
#ifndef NET_LANES_H
#define NET_LANES_H

#include "net/network.h"

/* Operations of a kind of the family "switch.lanes"; all NULL, bytes 0: strict. */
struct net_lanes {
    size_t bytes; /* of an output's state, a multiple of 8: numbers only, as they are saved as they are */
    /* Reads the kind's keys: what all outputs share, malloc'ed. */
    enum ker_status (*read)(void **shared, const struct ker_config *, uint32_t channels, struct ker_error *);
    void (*init)(const void *shared, void *state);
    /* ready: channels with a packet that could go, a bit each, at least one. Returns one of them. */
    unsigned (*choose)(const void *shared, void *state, uint32_t ready);
    void (*sent)(const void *shared, void *state, unsigned channel, uint32_t bytes);
};
extern const struct ker_kind net_lanes_strict;

/* Of a switch's output; of an adapter. */
static inline void *net_lanes_at(const struct net_switch *s, uint32_t port)
{
    return s->lanes + (size_t)port * s->net->set.lanes->bytes;
}
static inline void *net_lanes_of(const struct net_adapter *a)
{
    return (char *)a + a->net->lanes_place;
}

#endif
