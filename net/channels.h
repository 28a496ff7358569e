/* channels.h - inside net/: virtual channels of directions of links, for output.series.channels.
 *
 * What a link counts in its port or adapter is counted once more by the channel on which a packet travels, so
 * that the channels of a direction add up to it. A channel lacks credits while a packet at the head of its
 * queue might be sent on it, and has too few there: another channel may keep the link busy meanwhile, so that
 * the link lacks none. All of it costs nothing when it is not collected.
 */
#pragma once

#include "net/ahead.h"
#include "net/jobs.h"
#include "net/links.h"
#include "net/series.h"

struct net_channel {
    uint64_t packets, bytes, busy, queue_time,
        queue_max;                /* totals; queue_max: of the period that continues */
    struct net_link_series since; /* as of a link; its queue_max: of former periods */
};

static inline bool net_channels_collected(const struct net_network *net)
{
    return net->series && net->series->collect[NET_SERIES_CHANNELS] != STATS_COLLECT_OFF;
}

/* A transmission of a switch: some of it lies in the measured span, this many picoseconds on the link. */
void net_channel_count(struct net_channel *, const struct net_ahead *, uint64_t busy);
/* A packet has begun to leave a node. */
void net_channel_inject(struct net_adapter *, const struct net_packet *, unsigned channel, ker_time now,
                        ker_time wire);
/* An adapter counts a transmission when it begins. The measured span ends elsewhere: `sign` times what its
 * last one has in it. */
void net_injection_resize(struct net_adapter *, uint64_t sign);

/* Do packets at an output of a switch lack credits now? It is asked whenever that may have changed. Returns
 * when it is to be asked again; KER_TIME_MAX: when something comes. */
ker_time net_channels_look(struct net_switch *, uint32_t port, ker_time now);
/* The same of a node, whose packets can or cannot leave. */
void net_injection_look(struct net_adapter *, bool lacks, ker_time now);

/* Which of them lack credits now, a bit each. */
void net_channels_note(const struct net_network *, struct net_channel *, uint32_t lacking, ker_time now);

/* Rows of the channels of a direction, in the period that ends at `at`; all: of the whole run. */
void net_channels_add(struct stats_table *, const struct net_direction *, ker_time at, bool all);
/* The run has ended. */
void net_channels_end(const struct net_direction *, ker_time end);
void net_channels_state(const struct net_network *, struct net_channel *, struct ker_chunk *);

struct net_channel_row {
    const struct net_direction *d;
    ker_time at;
    uint32_t channel;
    struct net_load load;
};
extern const struct stats_schema net_channels_schema, net_channel_series_schema;
