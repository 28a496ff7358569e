/* ahead.h - transmissions of switches, counted in the statistics of their links; see switch/ahead.c. */
#pragma once

#include "net/network.h"

struct net_ahead {
    struct net_port *out, *in;
    ker_time leave, wire;
    uint64_t waited, in_buffer; /* picoseconds: for the link; in the buffer of the input */
    uint32_t bytes, channel;
    bool detour; /* the packet has taken one */
    uint8_t job; /* of its message: the lower bits of its number */
};

/* As it is kept: there may be several for each link. Where a time does not fit, all three are in a second
 * one behind it. */
struct net_kept {
    union {
        struct {
            uint64_t leave : 48, bytes : 16;
            uint32_t waited, in_buffer;
            uint32_t out;    /* port, in words of 8 bytes from net->dues on */
            int32_t in : 22; /* from there; of the same switch */
            uint32_t channel : 4, job : 4, detour : 1, two : 1;
        };
        uint64_t time[3];
    };
};
_Static_assert(sizeof(struct net_kept) == 24, "three and more for each node of a large torus");

/* What is left of one that has begun before net->final: it is counted, but for its time on the link from
 * there on. */
struct net_rest {
    uint32_t out;  /* port, in words of 8 bytes from net->dues on */
    uint32_t busy; /* picoseconds */
};

/* What a port has counted in all. Half of it is in the port; what does not fit there lies with the switch,
 * which hardly any port needs in a short run. */
struct net_port_counts {
    uint64_t packets, bytes, busy, queue_max, queue_time, input_time;
};
struct net_port_counts net_port_counts(const struct net_network *, const struct net_port *);
void net_port_counts_set(struct net_network *, struct net_port *, struct net_port_counts);
/* It has carried so much more than is in the port. */
void net_port_counts_carry(struct net_network *, struct net_port *, uint64_t bytes, uint64_t busy);
/* These times are what is in both ports, and what more there is; waited: the last wait. */
void net_port_times_carry(struct net_network *, struct net_port *out, struct net_port *in,
                          uint64_t queue_time, uint64_t input_time, uint64_t waited);
#define NET_CARRY (UINT64_C(1) << 32)

static inline void net_busy_add(struct net_network *net, struct net_port *out, uint32_t busy)
{
    if (__builtin_expect(__builtin_add_overflow(out->busy, busy, &out->busy), 0))
        net_port_counts_carry(net, out, 0, NET_CARRY);
}

/* Some of it lies in the measured span, this many picoseconds of its time on the link. */
static inline void net_ahead_count(struct net_network *net, const struct net_ahead *t, uint32_t busy)
{
    struct net_port *out = t->out;
    uint64_t queue_time = out->queue_time + t->waited, input_time = t->in->input_time + t->in_buffer;
    out->queue_time = (uint32_t)queue_time;
    t->in->input_time = (uint32_t)input_time;
    out->packets++; /* no more than bytes */
    if (__builtin_expect(__builtin_add_overflow(out->bytes, t->bytes, &out->bytes), 0))
        net_port_counts_carry(net, out, NET_CARRY, 0);
    net_busy_add(net, out, busy);
    if (t->waited > out->queue_max)
        out->queue_max = (uint32_t)t->waited;
    if (__builtin_expect((queue_time | input_time) >= NET_CARRY, 0))
        net_port_times_carry(net, out, t->in, queue_time, input_time, t->waited);
}
/* The same by the measured span, and of the channel, where channels are collected. */
void net_ahead_count_now(struct net_network *, const struct net_ahead *);
/* It is not over before net->final: keeps it, or what is left of it, to be counted when it is certain that it
 * lies before the end. */
void net_ahead_keep(struct net_network *, const struct net_ahead *);
/* What is kept at this index, which moves on to the next. */
struct net_ahead net_ahead_next(const struct net_network *, size_t *index);
/* What is collected of the output that sends; of each job (jobs.h). */
struct net_link_series *net_ahead_series(const struct net_network *, const struct net_ahead *);
struct net_job_use *net_ahead_jobs(const struct net_network *, const struct net_ahead *);

/* Chunks by switch. */
void net_ahead_save(struct net_network *, struct ker_state_writer *);
void net_ahead_load(struct net_loading *, struct ker_chunk *);
#define NET_AHEAD_VERSION 5
