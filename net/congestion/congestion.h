/* congestion.h - congestion control as an interface: what a method may hook into (congestion.control).
 *
 * A source is held back by a rate or by a window: its adapter asks, before a flow (all it sends to one node)
 * injects a packet, when it may. What it goes by are signals: a switch may mark a packet at its grant; the
 * adapter that receives packets may send cnps to their source, for marked ones or for all; a cnp is a packet
 * of congestion.cnp_size bytes, injected before anything else, that no client sees; with the time at which
 * its packet left in it, it is an acknowledgement, from which the source knows the round-trip time. ecn is a
 * rate by marks, infiniband a delay by marks, rtt a window by round-trip times.
 *
 * A method keeps what it must remember in tables of its own (adapter.h), lets it depend on the model's state
 * only, never on what a rank holds, and needs neither switch.c nor adapter.c changed. It posts no events:
 * what changes with time alone is computed when asked for.
 *
 * Without congestion control net->congestion is NULL, and nothing of this is called.
 */
#pragma once

#include "net/network.h"

struct net_pairs;

/* A packet that is granted an output of a switch. */
struct net_at_grant {
    const struct net_switch *of;
    const struct net_port *out; /* its backlog is as it was before the grant, less the packet itself */
    const struct net_packet *packet;
    uint32_t switch_id, port;
    uint32_t left;   /* bytes of credit that it leaves on its channel; UINT32_MAX: the link needs none */
    uint32_t number; /* packets that the output was granted before; with `counts` only */
    uint8_t lane;    /* its channel; of several that would do the first */
};

/* backlog.c: does more than this wait at the output on the packet's lane, itself not among it, with the first
 * of each input, or without? */
bool net_lane_holds(const struct net_at_grant *, uint64_t bytes, uint32_t packets, bool heads);

/* A cnp to be sent. */
struct net_cnp {
    uint32_t destination;
    uint8_t class;
    uint16_t word; /* for the method: p->index */
    uint32_t echo; /* net_cnp_echo of the packet that it is about; 0: none */
};

/* Operations of a kind of the family "congestion.control". */
struct net_congestion {
    /* Reads the method's keys and makes its state, net->congestion_state; the links are known. NULL: this is
     * no control. */
    enum ker_status (*read)(struct net_network *, const struct ker_config *, struct ker_error *);
    void (*release)(void *state);
    bool counts; /* marks() asks for net_at_grant.number */
    /* At a switch, when a packet that is no cnp is granted an output: is it to be marked (NET_MARKED)? */
    bool (*marks)(const struct net_network *, const struct net_at_grant *, ker_time now);
    /* ... when one comes where others wait, before it does: shall it have NET_BEHIND until its grant? NULL,
     * or net->looks is false: nobody asks. */
    bool (*comes)(const struct net_network *, const struct net_at_grant *);
    /* At the destination: a packet that is no cnp is here, marked or not. May call net_cnp_send. */
    void (*arrived)(struct net_adapter *, ker_time now, const struct net_packet *);
    /* At the source: a cnp from p->source is here; its word is p->index; net_cnp_trip. */
    void (*noticed)(struct net_adapter *, ker_time now, const struct net_packet *);
    /* At the source, while its link is free: when may the next packet to this node, of this
     * class, go? Now or earlier: at once; KER_TIME_MAX: not before noticed(). The answer may be later when
     * asked again, but earlier only after noticed(). */
    ker_time (*ready)(const struct net_adapter *, uint32_t destination, unsigned class, ker_time now);
    /* What the method remembers, for checkpoints: chunks "congestion" whose ids have the adapter in the low
     * half, the rest is the method's. load: of one chunk; the adapter lives on this rank. */
    void (*save)(struct net_network *, struct ker_state_writer *);
    void (*load)(struct net_adapter *, struct ker_chunk *);
    /* A fork: until now this configuration counted. What changed with time by its keys is brought up to now.
     * NULL: nothing does. */
    void (*forked)(struct net_network *, const struct ker_config *former, ker_time now);
    /* At the source: a packet of this class leaves now and takes the link for `wire`; with `control` short
     * ones that others wait for, too, which never wait for ready(). */
    bool control;
    void (*sent)(struct net_adapter *, ker_time now, const struct net_packet *, unsigned class,
                 ker_time wire);
    /* A row for each flow of this rank that was held back, of all when the run has ended (at: KER_TIME_MAX),
     * or of the period that ends at that time. NULL: there are no congestion.csv and congestion_series.csv.
     */
    void (*rows)(const struct net_network *, struct stats_table *, ker_time at);
};

/* The keys of all methods: ker_kind.options of one that has read(). */
extern const struct ker_option net_cnp_options[];
enum ker_status net_cnp_read(struct net_settings *, const struct ker_config *, struct ker_error *);

/* Saved state of an entry (adapter.h) of the method's table number `which`: begins a chunk, which the method
 * goes on with and ends; and adds the entry of a chunk to one of its `count` tables: NULL: it is bad. */
#define NET_CONGESTION_VERSION 2
struct ker_chunk *net_pair_save(struct ker_state_writer *, const void *entry, uint64_t which);
void *net_pair_load(const struct net_adapter *, struct ker_chunk *, struct net_pairs *const *table,
                    uint32_t count);

/* 32 bits at random of a packet at a switch. */
static inline uint32_t net_mark_draw(const struct net_network *net, const struct net_at_grant *at)
{
    return ker_mix((uint64_t)net_packet_draw(net, at->packet) << 32 | at->switch_id);
}

/* Has the adapter send a cnp to another node, from arrived() only. */
void net_cnp_send(struct net_adapter *, ker_time now, const struct net_cnp *);

/* When a packet left, as a cnp carries it: in units of 16 ps, modulo 69 ms, and never 0. */
#define NET_ECHO_BITS 4
static inline uint32_t net_cnp_echo(const struct net_packet *p)
{
    return (uint32_t)(p->injected >> NET_ECHO_BITS) | 1u;
}

/* How long ago that was. */
static inline ker_time net_cnp_trip(const struct net_packet *cnp, ker_time now)
{
    return (ker_time)((uint32_t)(now >> NET_ECHO_BITS) - cnp->extension) << NET_ECHO_BITS;
}

/* A row of congestion.csv: a source's flow (destination UINT32_MAX: all that it sends in a class). */
struct net_congestion_row {
    ker_time at; /* of a period: its end */
    uint32_t source, destination, class;
    uint64_t index_max;
    uint64_t notices, index_sum; /* index_sum: over the measured span, times picoseconds */
};
extern const struct stats_schema net_congestion_schema, net_congestion_series_schema;
/* Collective. */
enum ker_status net_congestion_write(const struct net_network *, struct ker_comm *,
                                     const struct stats_folder *, struct ker_error *);

/* Reads congestion.*, for net_network_new. */
enum ker_status net_congestion_read(struct net_network *, const struct ker_config *, struct ker_error *);
