/* private.h - what a switch is made of; private to net/switch/.
 *
 * A switch is one block: the credits that are in transit to its outputs, struct net_switch, then its ports
 * one after the other (struct net_port with its channels' credits). Packets that wait lie in a pool of the
 * rank, and what an output keeps of them in another; queues are lists of pool indices.
 */
#pragma once

#include "net/channels.h"
#include "net/credits.h"
#include "net/switch/switch.h"

#define NET_NO_VOQ UINT16_MAX
#define NET_VOQ_PORTS 64 /* switches with more ports look their queues up in the ring */

/* One virtual output queue that is not empty: the packets from `input` to an output that may take any of
 * `same` channels from `first` on. The requests of an output form a ring in the order in which they are
 * served next. */
struct net_request {
    uint32_t head, tail, next; /* packets; next request of the ring */
    uint32_t sibling; /* another request of this input at this output, for other channels; NET_NONE */
    uint16_t input;
    uint16_t taken; /* credits_of the head */
    uint8_t first_channel, channel_count;
    bool reserved; /* its packets hold their credits already */
    bool seen;     /* with limits of life: its head, by net_since_of */
};

/* Input queue of one channel, FIFO switches only: its head competes, the others are behind. */
struct net_input_fifo {
    ker_time advanced; /* when what competes came up from behind */
    uint32_t head, tail;
    bool taken;
};

struct net_pins;
struct net_congestion_map;

/* What few runs want of a switch. */
struct net_switch_more {
    struct net_input_fifo *input_fifo;
    struct net_pins *pins; /* NULL: nothing to remember yet */
    char *lanes;           /* by port; NULL: strict */
    ker_time *since;       /* with limits of life, by request: its head is since then */
    uint32_t since_room;
    uint32_t *granted;               /* by output: packets; NULL: congestion control does not ask */
    uint64_t *detours;               /* by output: packets that have taken one; NULL: there are none */
    struct net_job_use *jobs;        /* by output and job (net/jobs.h); NULL: not collected */
    struct net_port_counts *carried; /* by port: what does not fit there; NULL: all does */
    struct net_congestion_map *map;  /* NULL: no links are watched */
    struct net_link_series *series;  /* by port; NULL: not collected */
};

extern const struct net_switch_more net_switch_plain; /* of all zeros */

struct net_switch {
    struct net_network *net;
    uint64_t coordinate;
    KER_POOL(struct net_request) request;
    uint32_t id, self; /* among switches; component */
    uint32_t turn; /* which output is served first when several could be; behind the last port: the first */
    uint16_t ports, port_bytes;
    uint32_t draws;                     /* of the random arbiter */
    uint16_t rotor;                     /* round-robin selection: the port whose turn it is */
    bool searched;                      /* it is too large for rows of first requests: rings are searched */
    const struct net_switch_more *more; /* net_switch_plain: nothing of it is wanted */
};

/* Its own, from now on. */
static inline struct net_switch_more *net_switch_more(struct net_switch *s)
{
    if (s->more == &net_switch_plain)
        s->more = ker_alloc(sizeof *s->more);
    return (struct net_switch_more *)(uintptr_t)s->more;
}

/* Of a request whose head has been seen. */
ker_time *net_since_of(struct net_switch *, uint32_t request);

static inline bool net_by_fifo(const struct net_switch *s)
{
    return s->net->set.queueing == NET_QUEUE_FIFO;
}

static inline struct net_port *net_port_at(const struct net_switch *s, uint32_t port)
{
    return (struct net_port *)(void *)((char *)(s + 1) + (size_t)port * s->port_bytes);
}

/* counts.c: the switch that a port of this rank belongs to. */
struct net_switch *net_switch_of(const struct net_network *, const struct net_port *);

static inline struct net_waits *net_waits_at(const struct net_network *net, uint32_t number)
{
    return (struct net_waits *)(void *)(net->waits.at + (size_t)number * net->waits.bytes);
}

/* There is none free: there are more. */
void net_waits_extend(struct net_network *);

/* The number of a port. */
static inline uint16_t net_port_number(const struct net_switch *s, const struct net_port *port)
{
    return (uint16_t)((size_t)((const char *)port - (const char *)net_port_at(s, 0)) / s->port_bytes);
}

/* The state of an output's lanes. */
static inline void *net_lanes_at(const struct net_switch *s, uint32_t port)
{
    return s->more->lanes + (size_t)port * s->net->set.lanes->bytes;
}

/* What an output has carried of each job; only where that is collected. */
static inline struct net_job_use *net_jobs_at(const struct net_switch *s, uint32_t port)
{
    return s->more->jobs + (size_t)port * (s->net->jobs + 1);
}

/* ---- credits of an output ---- */

static inline void credits_take(const struct net_switch *s, struct net_port *out, ker_time now)
{
    credits_book(&out->due, out->credit, credits_most(s->net, out), now);
}

/* As credits_take for an output that is one of many: mostly there are none. */
static inline void credits_look(const struct net_switch *s, struct net_port *out, ker_time now)
{
    uint64_t until = credits_until(now);
    uint64_t here = 0;
    for (uint32_t i = 0; i < NET_CREDITS_DUE; i++)
        here |= out->due.place[i] & credits_here(out->due.place[i], until);
    if (here & UINT16_MAX)
        credits_take(s, out, now);
}

/* ---- choices ---- */

/* Of two channels the one with more room behind the link; of equal ones the first. */
static inline unsigned channel_better(const struct net_port *out, unsigned first, unsigned second)
{
    return out->credit[first] < out->credit[second] ? second : first;
}

/* Of channels that are alike, the one with most room behind the link; of equal ones the first, as at an
 * adapter that takes all. Among several without a branch, as what is asked is close to random; only more than
 * two are walked, two at a time. */
static inline uint8_t net_channel_best(const struct net_port *out, unsigned first, unsigned channel_count)
{
    if ((channel_count == 1) |
        out->due.to_adapter) /* as one condition mostly the same for all packets of a run */
        return (uint8_t)first;
    unsigned end = first + channel_count, best = channel_better(out, first, first + 1);
    for (unsigned i = first + 2; __builtin_expect(i < end, 0); i += 2)
        best = channel_better(out, best, i + 1 < end ? channel_better(out, i, i + 1) : i);
    return (uint8_t)best;
}

/* Of `count` choices for a packet the one that routing.selection prefers. Beside a choice with ROUTE_ESCAPE,
 * one without must have its credits now: then *reserve is set and they are to be taken. Sets the channel of
 * each choice it looks at. */
struct route_choice net_choice_select(struct net_switch *, const struct route_choice *choice, int count,
                                      const struct net_packet *, uint32_t draw, unsigned base, ker_time now,
                                      bool *reserve);

/* With net_selects_time there are short ways: for choices without ROUTE_ESCAPE, which of them; for a range,
 * the port, whose credits are those of now; for a pair, its hop. */
int net_choice_least(const struct net_switch *, const struct route_choice *choice, int count, uint32_t draw,
                     unsigned base, ker_time now);
uint64_t net_pair_select(const struct net_switch *, const struct route_pair *, unsigned base, ker_time now);
uint32_t net_range_select(const struct net_switch *, struct route_range, uint32_t draw, unsigned base,
                          ker_time now);

/* congestion_map.c: which watched links (route_watch) of the group are congested. NULL where none are
 * watched. */
struct net_congestion_map *net_congestion_map_new(const struct net_network *, const struct part_layout *,
                                                  uint32_t switch_id);
void net_congestion_map_free(struct net_congestion_map *);
bool net_congestion_map_congested(const struct net_congestion_map *, uint32_t watch);
/* The backlog of an output may have changed. */
void net_congestion_map_look(struct net_switch *, uint32_t port, ker_time now);
/* A KER_NOTICE. */
void net_congestion_map_take(struct net_switch *, ker_time now, uint16_t port, uint8_t channel,
                             uint32_t amount);

/* What a switch remembers of the packet's message (until its last packet) or flow: the path taken last; NULL:
 * none. */
struct net_pinned {
    uint32_t state;
    uint16_t port;
};
const struct net_pinned *net_pins_find(const struct net_switch *, const struct net_packet *);
void net_pins_keep(struct net_switch *, const struct net_packet *, struct net_pinned);

/* A packet has no route: it leaves the switch for nowhere. */
void net_packet_lose(struct net_switch *, const struct net_packet *, ker_time now);
/* It leaves for nowhere for this reason, a counter. */
void net_packet_drop(struct net_switch *, const struct net_packet *, ker_time now, uint64_t *reason);
