/* link_states.h - inside net/: what chosen links do when, for timelines (output.timeline_links).
 *
 * A direction of a link is busy while it transmits; transmissions that follow each other without a gap are
 * one. It is stalled while it does not transmit, and packets could go to it but for credits; down from its
 * fault on. States are handed to the timeline when they are over, and no end of the run can cut them off.
 */
#ifndef NET_LINK_STATES_H
#define NET_LINK_STATES_H

#include "net/network.h"

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
    struct net_link_span *ahead;     /* busy, beyond what is settled */
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

#endif
