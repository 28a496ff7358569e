/* credits.h - credits in transit to an output: of a switch, or of an adapter. Private to net/, and inline,
 * as one comes back for every packet.
 *
 * Inside a rank a credit is no record of the engine. It is put down at the output that it is for, with its
 * time, and added to the output's credits when these are next looked at, at that time or later: in between
 * nobody could have seen it. An output where something waits for credits (credits_starved) must look when
 * one comes: it sets a wake-up for what is put down already, and what comes later is a record. So are the
 * credits to other ranks and those from adapters, those that find no place, and those behind 8.8 s. Whether a
 * credit comes on one path or on the other depends on ranks and on the order of cells, when it counts does
 * not.
 *
 * Who puts down writes into another cell: always a time behind the window, so that it does not matter whether
 * that cell has been run already.
 */
#pragma once

#include "kernel/engine/post.h"
#include "net/network.h"

/* ---- of any output ---- */

static inline unsigned credits_channel(const struct net_credits_due *due, uint32_t place)
{
    return due->place[place] >> 16 & 15u;
}

/* Does something wait for credits of this channel? Perhaps not where there are more than two. */
static inline bool credits_starved(const struct net_credits_due *due, unsigned channel)
{
    return due->starved >> channel % 2 & 1;
}

static inline bool credits_lacking(const struct net_credits_due *due)
{
    return due->starved != 0;
}

/* channels: on which something waits, a bit each. */
static inline void credits_starve(struct net_credits_due *due, uint32_t channels)
{
    due->starved = 0;
    if (__builtin_expect(channels != 0, 0)) {
        unsigned even = (channels & 0x5555u) != 0, odd = (channels & 0xaaaau) != 0;
        due->starved = (uint8_t)(even | odd << 1) & 3;
    }
}

/* What a packet of this many bytes on the wire takes of the buffer that it goes to, and gives back: bytes, of
 * whole blocks (switch.credit_unit). Nobody else knows how it is counted. */
static inline __attribute__((always_inline)) uint32_t credits_of(const struct net_settings *set,
                                                                 uint32_t bytes)
{
    if (__builtin_expect(set->block_rest, 0))
        bytes = (bytes + set->block_rest) & ~set->block_rest;
    return bytes;
}

/* When a credit that has been sent is known at the output that it is for: `when`, or where credits are sent
 * at intervals (switch.credit_interval), at the next multiple. */
static inline __attribute__((always_inline)) ker_time credits_known(const struct net_settings *set,
                                                                    ker_time when)
{
    if (__builtin_expect(set->credit_interval, 0))
        when = (when + set->credit_interval - 1) / set->credit_interval * set->credit_interval;
    return when;
}

/* Are there credits for the whole packet? */
static inline __attribute__((always_inline)) bool
credits_enough(const struct net_settings *set, const uint32_t *credit, unsigned channel, uint32_t bytes)
{
    return credit[channel] >= credits_of(set, bytes);
}

/* most: what the output can have. */
static inline void credits_add(uint32_t *credit, unsigned channel, uint32_t bytes, uint32_t most)
{
    credit[channel] += bytes;
    ker_check(credit[channel] <= most);
}

/* A place comes before this when its time has come. */
static inline uint64_t credits_until(ker_time now)
{
    return now < NET_DUE_UNTIL ? (uint64_t)(now + 1) << NET_DUE_TIME : UINT64_MAX;
}

/* All bits when it is there: two instructions. */
static inline uint64_t credits_here(uint64_t place, uint64_t until)
{
    return 0 - (uint64_t)(place < until);
}

/* Adds those whose time has come: before anybody looks at the output's credits. Without branches: how many
 * there are is close to random. A place that is free adds nothing to the channel of its last one. */
static inline void credits_book(struct net_credits_due *due, uint32_t *credit, uint32_t most, ker_time now)
{
    uint64_t until = credits_until(now);
    for (uint32_t i = 0; i < NET_CREDITS_DUE; i++) {
        uint64_t place = due->place[i], bytes = place & credits_here(place, until) & UINT16_MAX;
        credits_add(credit, credits_channel(due, i), (uint32_t)bytes, most);
        due->place[i] = place - bytes;
    }
}

/* When the next comes for one of the channels on which something waits; KER_TIME_MAX: as a record. */
static inline ker_time credits_due_next(const struct net_credits_due *due)
{
    ker_time next = KER_TIME_MAX;
    for (uint32_t i = 0; i < NET_CREDITS_DUE; i++) {
        ker_time when = (ker_time)(due->place[i] >> NET_DUE_TIME);
        if ((due->place[i] & UINT16_MAX) && credits_starved(due, credits_channel(due, i)) && when < next)
            next = when;
    }
    return next;
}

static inline uint32_t credits_most(const struct net_network *net, const struct net_port *out)
{
    return out->due.to_adapter ? UINT32_MAX : net_buffer_behind(net, out);
}

/* Bytes of those whose time has come, where there is one channel: as credits_take would add them. */
static inline uint32_t credits_come(const struct net_credits_due *due, ker_time now)
{
    uint64_t until = credits_until(now);
    uint64_t sum = 0; /* of bytes, in its lowest bits: the channel's are 0 */
    for (uint32_t i = 0; i < NET_CREDITS_DUE; i++)
        sum += due->place[i] & credits_here(due->place[i], until);
    return (uint32_t)sum & ((1u << NET_DUE_TIME) - 1);
}

/* What is behind a port that is used. */
static inline struct ker_address net_peer_of(const struct net_network *net, const struct net_port *port)
{
    return __builtin_expect(port->upstream != 0, 1) ? (struct ker_address){port->peer, net->engine->rank}
                                                    : net->remote[port->peer];
}

/* ---- from an input ---- */

static inline struct net_credits_due *credits_upstream(const struct net_network *net,
                                                       const struct net_port *in)
{
    return (struct net_credits_due *)(void *)(net->dues + (size_t)in->upstream * 8 + NET_DUE_AT);
}

/* The packet has left its input buffer at read_end: what it took (credits_of) is free again. */
static inline void credit_return(struct net_network *net, const struct net_port *in,
                                 const struct net_packet *p, uint32_t taken, ker_time read_end)
{
    ker_time when = credits_known(&net->set, read_end + net->link[in->link].latency + net->set.credit_delay);
    struct net_credits_due *due = credits_upstream(net, in);
    uint32_t place = (due->place[0] & UINT16_MAX) != 0; /* the first that is free, if there is one */
    if (((due->place[place] & UINT16_MAX) != 0) | (when >= NET_DUE_UNTIL) |
        credits_starved(due, p->channel)) {
        ker_post_note(net->engine, net_peer_of(net, in), when, KER_CREDIT, in->peer_port, p->channel, taken);
        return;
    }
    due->place[place] = (uint64_t)when << NET_DUE_TIME | (uint64_t)p->channel << 16 | taken;
    ker_hold(net->engine, when);
}
