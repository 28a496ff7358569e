/* state.h - saving and loading inside net/: who offers what to state.c.
 *
 * A switch and an adapter are chunks of their own, under their ids in the system; so are the entries of the
 * tables that a rank keeps for all its adapters, under the ids of these.
 */
#pragma once

#include "net/network.h"

struct net_loading {
    struct net_network *net;
    struct net_switch **switches; /* by id; NULL: lives elsewhere */
    struct net_adapter **adapters;
    uint32_t switch_count, adapter_count; /* of the system */
    bool sums;                            /* this rank takes what all ranks have counted */
};

/* loading.c. Credits in transit to an output hold the run, as when they were put down. */
void net_credits_state(const struct net_network *, struct net_credits_due *, struct ker_chunk *);
/* A packet that waits, with its extension; all but `next`. */
void net_packet_state(struct net_network *, struct ker_chunk *, struct net_packet *);
/* An extension of the rank's pool: written, or made and read. */
void net_extension_state(struct net_network *, struct ker_chunk *, uint32_t *index);

/* switch/state.c */
void net_switch_state(struct net_switch *, struct ker_chunk *);
void net_pins_state(struct net_switch *, struct ker_chunk *);
void net_congestion_map_state(struct net_switch *, struct ker_chunk *);

/* adapter/state.c */
void net_adapter_state(struct net_adapter *, struct ker_chunk *);

/* loading.c. What lives elsewhere is passed over. */
void net_loading_pass(struct ker_chunk *);
/* The switch whose id the chunk has; NULL as below. */
struct net_switch *net_loading_switch(const struct net_loading *, struct ker_chunk *);
/* Entries of the rank's tables: a chunk each, whose id is in its low half the adapter's endpoint. */
/* NULL: it lives elsewhere, and the chunk is passed over; or there is none. */
struct net_adapter *net_loading_adapter(const struct net_loading *, struct ker_chunk *);
#define NET_REASSEMBLY_VERSION 3 /* of chunks */
#define NET_ORDER_VERSION 3
void net_reassembly_save(struct net_network *, struct ker_state_writer *);
void net_reassembly_load(struct net_loading *, struct ker_chunk *);
void net_resequencer_save(struct net_network *, struct ker_state_writer *);
void net_sent_load(struct net_loading *, struct ker_chunk *);
void net_order_load(struct net_loading *, struct ker_chunk *);
