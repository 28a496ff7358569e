/* ahead.h - transmissions of switches, counted in the statistics of their links; see switch/ahead.c. */
#ifndef NET_AHEAD_H
#define NET_AHEAD_H

#include "net/network.h"

struct net_ahead {
    struct net_port *out, *in;
    ker_time leave, wire;
    uint64_t waited, in_buffer; /* picoseconds: for the link; in the buffer of the input */
    uint32_t bytes, channel;
    bool detour; /* the packet has taken one */
};

/* As it is kept: there may be several for each link. */
struct net_kept {
    ker_time leave;
    uint64_t waited, in_buffer;
    uint32_t out, in; /* ports, by their cache line from net->dues on */
    uint32_t wire;
    uint16_t bytes;
    uint8_t channel;
    bool detour;
};

/* Some of it lies in the measured span, so many picoseconds of its time on the link. */
static inline void net_ahead_count(const struct net_ahead *t, uint64_t busy)
{
    struct net_port *out = t->out;
    out->packets++;
    out->bytes += t->bytes;
    out->busy += busy;
    out->queue_time += t->waited;
    if (t->waited > out->queue_max)
        out->queue_max = t->waited;
    t->in->input_time += t->in_buffer;
}
/* The same by the measured span, and of the channel, where channels are collected. */
void net_ahead_count_now(const struct net_network *, const struct net_ahead *);
/* It is not over before net->settled: keeps it, to be counted when it is certain that it lies before the end.
 * What is kept at this index. */
void net_ahead_keep(struct net_network *, const struct net_ahead *);
struct net_ahead net_ahead_kept(const struct net_network *, size_t index);

/* The switch that a port of this rank belongs to: switches lie in memory in the order of the list. */
static inline struct net_switch *net_ahead_switch(const struct net_network *net, const struct net_port *port)
{
    uint32_t low = 0, high = net->switch_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if ((const char *)net->switches[middle] <= (const char *)port)
            low = middle;
        else
            high = middle;
    }
    return net->switches[low];
}

static inline uint16_t net_ahead_port(const struct net_switch *s, const struct net_port *port)
{
    return (uint16_t)((size_t)((const char *)port - (const char *)net_port_at(s, 0)) / s->port_bytes);
}

#endif
