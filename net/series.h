/* series.h - inside net/: what is collected of links for output.series.links, .switches, .adapters and
 * .channels, beyond their totals.
 *
 * The totals of a link are in its port or adapter and cost the same whether series are wanted or not: a
 * period is the difference of two totals, and what has not ended at its end is counted up to there. Only the
 * time without credits is counted for series alone.
 */
#pragma once

#include "net/network.h"
#include "net/state.h"

/* ---- Inside net/: what chosen links do when, for timelines (output.timeline_links).
 *
 * A direction of a link is busy while it transmits; transmissions that follow each other without a gap are
 * one. It is stalled while it does not transmit, and packets could be sent to it but for credits; down from
 * its fault on. States are handed to the timeline when they are over, and no end of the run can cut them off.
 */

struct net_link_span {
    uint32_t track; /* 1 + number of the chosen direction */
    ker_time from, to;
};

struct net_link_states {
    uint64_t *order;   /* of the chosen directions (struct net_direction), ascending */
    const char **name; /* of each; malloc'ed */
    uint32_t count, room;
    struct stats_timeline *timeline; /* NULL: not yet */
    struct net_link_span *busy;      /* by track: what has not been followed by a gap; to: 0 for none */
    struct net_link_span *ahead;     /* busy, beyond what is final */
    size_t ahead_count, ahead_room;
};

/* What the key says: net->states, or NULL. */
enum ker_status net_link_states_read(struct net_network *, const struct ker_config *, struct ker_error *);
void net_link_states_free(struct net_link_states *);
/* The track of a direction; 0: it is not chosen. */
uint32_t net_link_track(const struct net_network *, uint64_t order);

/* A direction that has a track transmits; the times of a direction ascend. */
void net_link_busy(struct net_network *, uint32_t track, ker_time from, ker_time to);
/* It lacked credits, and there was something to send. Nothing when from >= to. */
void net_link_stalled(const struct net_network *, uint32_t track, ker_time from, ker_time to);
/* No end of the run comes before. */
void net_link_states_settle(struct net_network *, ker_time until);

/* The run has ended: what links are in then lasts until then. */
void net_link_states_end(struct net_network *, ker_time end);

/* Saved state: of a direction that has a track, and of the rank. */
void net_link_busy_state(struct net_network *, uint32_t track, struct ker_chunk *);
void net_link_ahead_state(struct net_network *, struct ker_chunk *);

struct net_channel; /* channels.h */

/* Of one direction of a link, or of a channel of it. Times are picoseconds of the measured span. */
struct net_link_series {
    uint64_t packets, bytes, busy, queue_time, stall; /* totals at the end of the last period */
    uint64_t queue_max;                               /* of the periods that are over */
    uint64_t wait_max; /* of a node, in this one: the longest wait of a packet for its link, from its
                          message's creation */
    uint64_t stalled;  /* packets could have left but for credits; without the time since: */
    ker_time since;    /* KER_TIME_MAX: it does not lack credits now */
    uint32_t track;    /* of net->states; 0: none */
    uint8_t sent_on;   /* of a node: the channel of its last packet, where channels are collected */
    struct net_channel *channel; /* of this direction; NULL: not collected */
};

/* Of what there may be rows, all of them from the directions of links. */
enum net_series_of {
    NET_SERIES_LINKS,
    NET_SERIES_SWITCHES,
    NET_SERIES_ADAPTERS,
    NET_SERIES_CHANNELS,
    NET_SERIES_JOBS, /* output.links_by_job, where there are rows of links in periods */
    NET_SERIES_KINDS
};

struct net_series {
    enum stats_collect collect[NET_SERIES_KINDS];
    struct stats_series *series[NET_SERIES_KINDS]; /* NULL: not in periods */
};

/* What happened to a direction in a period, or in all. */
struct net_load {
    uint64_t packets, bytes, busy, queue_time, stall; /* as in struct net_link_series */
    uint64_t queue_max;                               /* picoseconds */
    uint64_t waiting;                                 /* bytes, at the end */
};

static inline bool net_load_any(const struct net_load *n)
{
    return n->packets | n->busy | n->queue_time | n->queue_max | n->waiting | n->stall;
}

/* In the period that ends, by the totals at its end; queue_max and waiting of `total` are those of the
 * period. */
static inline struct net_load net_load_since(struct net_link_series *l, const struct net_load *total)
{
    if (total->queue_max > l->queue_max)
        l->queue_max = total->queue_max;
    struct net_load load = *total;
    stats_series_since("link_series", &load.packets, &l->packets, 5);
    return load;
}

/* What the keys say: net->series, or NULL. */
void net_series_read(struct net_network *, const struct ker_config *);

/* Anything? Without, there may be net->series for states of links. */
static inline bool net_series_collects(const struct net_network *net)
{
    for (int i = 0; net->series && i < NET_SERIES_KINDS; i++)
        if (net->series->collect[i] != STATS_COLLECT_OFF)
            return true;
    return false;
}

/* Rows (series_tables.c): of a direction, a switch, an adapter. */
struct net_link_row {
    const struct net_direction *d;
    ker_time at;
    struct net_load load;
};
struct net_switch_row {
    const struct net_network *net;
    ker_time at;
    uint32_t id, outputs;
    struct net_load sum; /* queue_max: in bytes, the largest of its outputs */
    uint64_t busiest;
};
/* What it sends is known where it lives, what it receives where its switch lives: rows of one adapter add up.
 */
struct net_adapter_row {
    ker_time at;
    uint32_t node;
    uint16_t number;
    struct net_load sent, received;
};
/* The tables of series, and those of all, which have no times; that of links is net_links_schema. */
extern const struct stats_schema net_link_series_schema, net_switch_series_schema, net_switches_schema,
    net_adapter_series_schema, net_adapters_schema;
/* The longest wait as the bytes that the link carries in it. */
uint64_t net_queue_bytes(const struct net_network *, uint8_t class, uint64_t queue_max);

/* Does an output, or an adapter, lack credits now, and could it send if it had them? It is asked whenever
 * that may have changed: at a grant, a credit, a new packet, and when an input becomes free. link_free: until
 * when the link carries what has been sent. */
static inline void net_stall_note(const struct net_network *net, struct net_link_series *l, bool lacks,
                                  ker_time link_free, ker_time now)
{
    if (lacks && l->since == KER_TIME_MAX)
        l->since = now;
    if (lacks || l->since == KER_TIME_MAX)
        return;
    l->stalled += net_measured_part(net, l->since, now - l->since);
    if (__builtin_expect(l->track != 0, 0))
        net_link_stalled(net, l->track, l->since > link_free ? l->since : link_free, now);
    l->since = KER_TIME_MAX;
}

/* Up to `at`, which nothing has passed. */
static inline uint64_t net_stall_until(const struct net_network *net, const struct net_link_series *l,
                                       ker_time at)
{
    return l->stalled + (l->since < at ? net_measured_part(net, l->since, at - l->since) : 0);
}

/* Of the outputs of a switch, or of an adapter, of which `order` is the first (struct net_direction); NULL
 * when nothing is collected. */
struct net_link_series *net_series_new(struct net_network *, uint64_t order, uint32_t outputs);
/* A packet has begun to leave a node; a->link_free is when it will have left. */
void net_injection_note(struct net_adapter *, const struct net_packet *, unsigned channel, ker_time now);

/* Saved state of `outputs` of them; nothing when nothing is collected. */
void net_series_state(struct net_network *, struct net_link_series *, uint32_t outputs, struct ker_chunk *);

/* ---- Inside net/: who sends to whom, at the levels of nodes, boards and racks (stats/matrix.h). */

/* What output.matrix and output.series.matrix ask for: net->matrices, or NULL. */
void net_matrices_read(struct net_network *, const struct ker_config *);
void net_matrices_free(struct net_matrices *); /* takes NULL */
/* The last packet of a message has begun to leave its endpoint. */
void net_matrices_add(struct net_network *, uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes);
void net_matrices_want(struct net_network *, struct stats_series_files *);
void net_matrices_period(struct net_network *, ker_time at);
/* Collective. */
enum ker_status net_matrices_write(struct net_network *, struct ker_comm *, const struct stats_folder *,
                                   struct ker_error *);
/* Chunks "matrix". */
void net_matrices_save(const struct net_network *, struct ker_state_writer *);
void net_matrices_load(struct net_loading *, struct ker_chunk *);
