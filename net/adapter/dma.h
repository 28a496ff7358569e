/* dma.h - packets on their way between an adapter and the memory of its node (net_host.read, net_host.write).
 * Private to net/.
 *
 * A packet is read while it is sent: the adapter sends the next one when both are over. What has come is
 * written packet by packet, in the order in which it came, and keeps its place in the receive buffer until
 * then.
 */
#ifndef NET_ADAPTER_DMA_H
#define NET_ADAPTER_DMA_H

#include "net/network.h"

#include <stdlib.h>

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
    return net->set.rings + 2 * net->set.classes;
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

#endif
