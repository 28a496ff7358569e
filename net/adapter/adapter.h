/* adapter.h - parts of adapters, private to net/: messages that come in parts, or before their turn; packets
 * in transit to memory; what is remembered of partners.
 */
#pragma once

#include "kernel/base/base.h"
#include "net/network.h"

#include <stdbool.h>
#include <stdlib.h>

/* A packet, of a message of several but with net->deaf, has been granted at its last switch, on this rank,
 * and will be at its adapter `when`. true: nothing is to be posted; false: it is, as it is now, with these
 * flags.
 */
bool net_adapter_land(struct net_network *, struct net_packet *, ker_time when, uint8_t *flags);

struct net_reassembly *net_reassembly_new(void);
void net_reassembly_free(struct net_reassembly *);
size_t net_reassembly_count(const struct net_reassembly *); /* messages that are not whole yet */
/* A packet of a message of several comes: how far it is ahead of the next in order. *whole: the extension of
 * the message, which is whole now, for the caller to free; NET_NONE: it is not. */
uint64_t net_reassembly_add(struct net_network *, const struct net_packet *, uint64_t payload,
                            uint32_t *whole);
/* Fetches what that will need of the message. */
void net_reassembly_fetch(const struct net_network *, const struct net_packet *);
/* The extension of the packet's message; false: its first packet is not here yet. */
bool net_reassembly_extension(const struct net_network *, const struct net_adapter *,
                              const struct net_packet *, struct net_extension *);

/* Numbers a message among those of its pair of nodes, class and queue; number: what says its job. */
uint32_t net_resequencer_number(struct net_adapter *, uint32_t destination, uint32_t class,
                                enum net_queue queue, uint32_t number);
/* A message is whole. true: it is its turn, and it is to be handed up; else it is kept. */
bool net_resequencer_put(struct net_adapter *, ker_time now, const struct net_message *, uint32_t number);
/* Takes out the message of this source whose turn has come, if there is one; `number`: of any of the same
 * class and queue. */
bool net_resequencer_next(struct net_adapter *, ker_time now, uint32_t source, uint32_t number,
                          struct net_message *);
struct net_resequencer *net_resequencer_new(void);
void net_resequencer_free(struct net_resequencer *);
uint32_t net_resequencer_count(const struct net_resequencer *); /* messages that are kept */

/* ---- Packets in transit between an adapter and the memory of its node (net_host.read, net_host.write).
 *
 *
 * A packet is read while it is sent: the adapter sends the next one when both are over. What has come is
 * written packet by packet, in the order in which it came, and keeps its place in the receive buffer until
 * then. */

/* A packet that is written, or waits for that; time: when it was whole. */
struct net_dma_packet {
    struct net_packet packet;
    uint64_t sink; /* how long a limited sink kept it */
    uint32_t next;
};

/* Of a rank. */
struct net_dma {
    KER_POOL(struct net_dma_packet) packets;
    uint16_t *memory; /* of each outgoing record of net_send_from */
    uint32_t memories;
};

/* Of an adapter: behind its rings. */
struct net_adapter_dma {
    uint32_t first, last; /* packets to be written, the first of which is; NET_NONE */
    bool reads;           /* a packet */
    bool leaves;          /* that was the last of its message, whose end waits for it */
    bool spare[2];
};

static inline struct net_dma *net_dma_new(void)
{
    struct net_dma *dma = ker_alloc(sizeof *dma);
    dma->packets.free = KER_NONE;
    return dma;
}

static inline void net_dma_free(struct net_dma *dma)
{
    if (!dma)
        return;
    KER_POOL_RELEASE(&dma->packets);
    free(dma->memory);
    free(dma);
}

static inline uint32_t net_dma_place(const struct net_network *net)
{
    return net->set.rings + net_ring_levels(net) + !net->sole;
}

static inline struct net_adapter_dma *net_dma_of(struct net_adapter *a)
{
    return (struct net_adapter_dma *)(void *)&a->credit[net_dma_place(a->net)];
}

/* What the message is read from. */
static inline uint32_t net_dma_memory(const struct net_network *net, uint32_t outgoing)
{
    return net->outgoing.at[outgoing].from_offer ? NET_NO_MEMORY : net->dma->memory[outgoing];
}

static inline void net_dma_set(struct net_network *net, uint32_t outgoing, uint32_t memory)
{
    KER_RESERVE(net->dma->memory, net->dma->memories, outgoing + (size_t)1);
    net->dma->memory[outgoing] = (uint16_t)memory;
}

/* ---- What a rank's nodes remember of some of their partners: entries found by (endpoint, other
 * endpoint).
 *
 * An entry begins with struct net_pair; the rest is its owner's. Nothing is allocated before the first entry,
 * and what the owner calls idle is thrown out before the table grows. Entries move: a pointer is good until
 * the next net_pairs_add or net_pairs_drop. */

struct net_pair {
    uint32_t key; /* 1 + the endpoint */
    uint32_t other;
};
static inline uint32_t net_pair_endpoint(const struct net_pair *pair)
{
    return pair->key - 1;
}

/* Is the entry as good as none, whenever it is asked for from now on? */
typedef bool net_pair_idle(const void *context, const struct net_pair *);

struct net_pairs {
    struct ker_table table;
    size_t bytes; /* of an entry */
    net_pair_idle *idle;
};

void net_pairs_init(struct net_pairs *, size_t bytes, net_pair_idle *);
void net_pairs_release(struct net_pairs *);
void *net_pairs_find(const struct net_pairs *, uint32_t endpoint, uint32_t other); /* NULL: none */
/* A new entry, zeroed behind its net_pair; there must be none. */
void *net_pairs_add(struct net_pairs *, const void *context, uint32_t endpoint, uint32_t other);
void net_pairs_drop(struct net_pairs *, void *entry);
/* The entry after this one (NULL: the first), in no particular order; NULL: no more. */
void *net_pairs_next(const struct net_pairs *, const void *entry);
