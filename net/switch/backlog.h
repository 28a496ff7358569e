/* backlog.h - how busy an output is, as time on its link. Private to net/switch. */
#pragma once

#include "net/switch/private.h"

/* Time that `bytes` take on a link of this byte_time. */
static inline uint64_t net_bytes_time(uint64_t bytes, uint64_t byte_time)
{
    return (uint64_t)((unsigned __int128)bytes * byte_time >> NET_BYTE_TIME_BITS);
}

/* The same on the output's link. */
static inline uint64_t net_output_time(const struct net_network *net, const struct net_port *out,
                                       uint64_t bytes)
{
    return net_bytes_time(bytes, net->link[out->link].byte_time);
}

/* How busy an output is: what is scheduled and what waits for it, picoseconds. */
static inline uint64_t net_output_backlog(const struct net_network *net, const struct net_port *out,
                                          ker_time now)
{
    uint64_t scheduled = out->link_free > now ? (uint64_t)(out->link_free - now) : 0;
    return scheduled + net_output_time(net, out, net_waits_of(net, out)->waiting);
}
