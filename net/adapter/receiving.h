/* receiving.h - messages that come in parts, or before their turn. Private to net/. */
#ifndef NET_ADAPTER_RECEIVING_H
#define NET_ADAPTER_RECEIVING_H

#include "net/network.h"

struct net_reassembly *net_reassembly_new(void);
void net_reassembly_free(struct net_reassembly *);
size_t net_reassembly_count(const struct net_reassembly *); /* messages that are not whole yet */
/* Counts a packet of a message of several. true: now it is whole, and *whole is its extension. */
bool net_reassembly_add(struct net_network *, const struct net_adapter *, const struct net_packet *,
                        uint64_t payload, struct net_extension *whole);
/* The extension of the packet's message; false: its first packet is not here yet. */
bool net_reassembly_extension(const struct net_network *, const struct net_adapter *,
                              const struct net_packet *, struct net_extension *);

/* Numbers a message among those of its pair of nodes, class and queue. */
uint32_t net_resequencer_number(struct net_adapter *, const struct net_outgoing *);
/* A message is whole. true: it is its turn, and it is to be handed up; else it is kept. */
bool net_resequencer_put(struct net_adapter *, ker_time now, const struct net_message *, uint32_t number);
/* Takes out the message of this source whose turn has come, if there is one; `number`: of any of the same
 * class and queue. */
bool net_resequencer_next(struct net_adapter *, ker_time now, uint32_t source, uint32_t number,
                          struct net_message *);
struct net_resequencer *net_resequencer_new(void);
void net_resequencer_free(struct net_resequencer *);
uint32_t net_resequencer_count(const struct net_resequencer *); /* messages that are kept */

#endif
