/* messages.h - what carriers of whole messages have in common: a message of any size is one event.
 *
 * Nodes are the only components, with one adapter each; any of them reaches any other, no earlier than
 * `latency` after it was asked to send, which is the lookahead. A carrier is a law, which says when a message
 * has left and when it is there, the keys that it reads, and a table made of NET_MESSAGES_CARRIER and its
 * `new`. Messages that arrive at a node in one instant are handed up in the order (source, number).
 */
#ifndef NET_MESSAGES_H
#define NET_MESSAGES_H

#include "net/net.h"

struct net_law {
    ker_time latency; /* > 0 */
    /* A message asked for at `now`: *left >= now: its last byte has left; *there >= now + latency: the whole
     * of it is there. Called in the order in which the source asks. */
    void (*carry)(void *context, uint32_t source, ker_time now, const struct net_send *, ker_time *left,
                  ker_time *there);
    void *context; /* to be freed with the network */
};

/* For net_carrier.new, the last thing that it does. Takes the law's context over, also when it fails. */
enum ker_status net_messages_new(struct net_network **, const struct ker_config *,
                                 const struct route_topology *, struct net_phases, const struct net_law *,
                                 struct ker_error *);

void net_messages_send(struct net_adapter *, ker_time now, const struct net_send *);
void net_messages_arrival(struct net_adapter *, const struct ker_event *);
void net_messages_timer(struct net_adapter *, ker_time now);
void net_messages_act(struct net_adapter *, ker_time now);
void net_messages_woken(struct net_adapter *, ker_time now);
ker_time net_messages_backlog(const struct net_adapter *, ker_time now);
void net_messages_whole(struct net_adapter *, ker_time now, const struct net_message *);
void net_messages_offers(struct net_adapter *);
ker_time *net_messages_offered(struct net_adapter *, uint8_t *service, uint8_t *part);
void net_messages_renewed(struct net_adapter *, ker_time at);
void net_messages_free(struct net_network *);
void net_messages_groups_add(struct net_network *, struct part_groups *);
ker_time net_messages_reach(const struct net_network *);
void net_messages_build(struct net_network *, struct ker_engine *, struct part_layout *,
                        const struct net_host *);
uint32_t *net_messages_nodes(const struct net_network *, uint32_t *count);
void *net_messages_node(const struct net_network *, uint32_t i);
uint64_t net_messages_bytes(const struct net_network *);
struct net_totals net_messages_totals(const struct net_network *);
json_t *net_messages_report(struct net_network *, struct ker_comm *, ker_time span);
const char *net_messages_conserved(const struct net_network *, bool lost);
void net_messages_save(struct net_network *, struct ker_state_writer *);
struct net_loading *net_messages_loading(struct net_network *, bool sums);
void net_messages_loading_free(struct net_loading *);
uint32_t net_messages_loaders(struct net_loading *, struct ker_state_loader *);
ker_engine_find net_messages_find;

#define NET_MESSAGES_CARRIER                                                                                 \
    .send = net_messages_send, .arrival = net_messages_arrival, .timer = net_messages_timer,                 \
    .act = net_messages_act, .woken = net_messages_woken, .backlog = net_messages_backlog,                   \
    .whole = net_messages_whole, .offers = net_messages_offers, .offered = net_messages_offered,             \
    .renewed = net_messages_renewed, .free = net_messages_free, .groups_add = net_messages_groups_add,       \
    .reach = net_messages_reach, .build = net_messages_build, .nodes = net_messages_nodes,                   \
    .node = net_messages_node, .bytes = net_messages_bytes, .totals = net_messages_totals,                   \
    .report = net_messages_report, .conserved = net_messages_conserved, .save = net_messages_save,           \
    .loading_new = net_messages_loading, .loading_free = net_messages_loading_free,                          \
    .loaders = net_messages_loaders, .find = net_messages_find

#endif
