/* model.h - the packet network as a carrier: the functions that are in its table (model.c), whose contracts
 * are those of net/carrier.h; private to net/.
 */
#pragma once

#include "net/net.h"

void net_send(struct net_adapter *, ker_time now, const struct net_send *);
void net_send_from(struct net_adapter *, ker_time now, const struct net_send *, uint32_t memory);
void net_adapter_read(struct net_adapter *, ker_time now);
void net_adapter_written(struct net_adapter *, ker_time now);
void net_adapter_left(struct net_adapter *, ker_time now);
ker_time net_adapter_alone(const struct net_adapter *, uint64_t bytes);
void net_adapter_arrival(struct net_adapter *, const struct ker_event *);
void net_adapter_credit(struct net_adapter *, uint8_t channel, uint32_t bytes);
void net_adapter_woken(struct net_adapter *, ker_time now);
void net_adapter_timer(struct net_adapter *, ker_time now);
void net_adapter_act(struct net_adapter *, ker_time now);
/* Fetches what the first adapter of a node is likely to send next. */
void net_adapter_foresee(const struct ker_class *, void *node);
void net_adapter_offers(struct net_adapter *);
ker_time *net_adapter_offered(struct net_adapter *, uint8_t *service, uint8_t *part);
bool net_adapter_numbers(const struct net_adapter *);
void net_adapter_renewed(struct net_adapter *, ker_time at);
ker_time net_adapter_backlog(const struct net_adapter *, ker_time now);
bool net_adapter_reaches(const struct net_adapter *, ker_time now, uint32_t destination);
void net_adapter_whole(struct net_adapter *, ker_time now, const struct net_message *);

uint32_t net_channels(const struct ker_config *);
enum ker_status net_network_new(struct net_network **, const struct ker_config *,
                                const struct route_topology *, uint64_t seed, struct net_phases phases,
                                struct ker_error *);
/* loops.c: which classes of links have buffers that cannot keep them busy. */
char *net_loops_text(const struct net_network *);
void net_network_free(struct net_network *);
void net_groups_add(struct net_network *, struct part_groups *, ker_time direct);
struct ker_address net_switch_at(const struct net_network *, const struct part_layout *, uint32_t id);
struct ker_address net_node_at(const struct net_network *, const struct part_layout *, uint32_t id);
/* Smallest delay of anything over a link of this class, in either direction. */
ker_time net_link_delay(const struct net_network *, int link, bool to_adapter);
ker_time net_reach(const struct net_network *);
void net_network_build(struct net_network *, struct ker_engine *, struct part_layout *,
                       const struct net_host *);
void net_network_complete(struct net_network *);
uint32_t *net_network_nodes(const struct net_network *, uint32_t *count);
struct ker_address net_network_node_at(const struct net_network *, uint32_t node); /* built */
void *net_network_node(const struct net_network *, uint32_t i);
double net_network_bias(const struct net_network *, ker_time *bias);
uint64_t net_network_bytes(const struct net_network *);
uint64_t net_network_later_bytes(const struct net_network *);
struct net_alone net_network_expect(const struct net_network *, uint32_t from, uint32_t to, uint64_t bytes);

struct net_totals net_network_totals(const struct net_network *);
void net_network_settle(struct net_network *, ker_time until);
void net_network_end(struct net_network *, ker_time end);
json_t *net_network_report(struct net_network *, struct ker_comm *, ker_time span);
/* message_size.csv, packet_latency.csv, matrix.csv as configured. */
enum ker_status net_network_write(struct net_network *, struct ker_comm *, const struct stats_folder *,
                                  struct ker_error *);
/* Every credit is back, no packet is left. */
const char *net_network_conserved(const struct net_network *, bool lost);

struct stats_table *net_network_links(const struct net_network *, ker_time span);
void net_network_links_show(const struct net_network *, struct stats_table *, struct ker_comm *,
                            const struct stats_visitor *);
uint32_t net_network_tracks(const struct net_network *, const char *const **name);
uint64_t net_network_tracks_bytes(const struct net_network *);
void net_network_record(struct net_network *, struct stats_timeline *);
void net_network_series_want(struct net_network *, struct stats_series_files *);
void net_network_series_add(struct net_network *, ker_time at);
void net_network_series_end(struct net_network *, ker_time end);
void net_network_series_write(struct net_network *, struct ker_comm *, ker_time span,
                              const struct stats_folder *, struct ker_error *);

void net_network_save(struct net_network *, struct ker_state_writer *);
struct net_loading *net_loading_new(struct net_network *, bool sums);
void net_loading_free(struct net_loading *);
uint32_t net_loaders(struct net_loading *, struct ker_state_loader *);
ker_engine_find net_loading_find;
void net_network_forked(struct net_network *, ker_time at, const struct ker_config *former,
                        ker_time measured_to);
