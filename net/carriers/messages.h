/* messages.h - what carriers of whole messages have in common: a message of any size is one event.
 *
 * Components are nodes, with one adapter each; any of them reaches any other, no earlier than `latency` after
 * it was asked to send, which is the lookahead. Where all share something (buses), one component more
 * decides: it learns of a message half a latency after it was asked for, and still answers in time. A carrier
 * is a law, which says when a message has left and when it is there, the keys that it reads, and a table made
 * of NET_MESSAGES_CARRIER and its `new`. Messages that arrive at a node in one instant are handed up in the
 * order (source, number).
 */
#pragma once

#include "net/carriers/used.h"

/* What is asked of a law: `bytes` from source to destination, asked for at `now`; the number of the message
 * at its source. */
struct net_asked {
    uint32_t source, destination, number;
    ker_time now;
    uint64_t bytes;
};

/* In place of net_law.decide, where what begins later says when a message is there. Each has a number of the
 * coordinator's, from 0 on; those that have ended are given again. */
struct net_flow_law {
    void (*begin)(void *context, const struct net_asked *, uint32_t id);
    /* All of the instant have begun: when the first ends, KER_TIME_MAX: there is none. */
    ker_time (*next)(void *context, ker_time now);
    /* Ends that one. *left >= then + latency / 2, *there >= then + latency. */
    uint32_t (*end)(void *context, ker_time *left, ker_time *there);
    /* Of one that goes on, saved, or loaded behind `begin`. */
    void (*state)(void *context, uint32_t id, struct ker_chunk *);
};

/* All nodes have what a law needs of them at hand, or one place decides for all. */
struct net_law {
    enum ker_status failed; /* its keys are wrong: nothing but its context is taken over */
    ker_time latency;       /* > 0; with `decide` at least 2 ps, with `flows` 4 */
    uint64_t rate;          /* of a message by itself, about, for --check; 0: it is not known */
    /* At the source, in the order in which it asks: *left >= now: the last byte has left; *there >= now +
     * latency: the whole of it is there, or has come to the destination. NULL: see decide. */
    void (*carry)(void *context, const struct net_asked *, ker_time *left, ker_time *there);
    /* At the destination, in the order (time, source, number): it has come at `now`; when all of it is there.
     * NULL: at once. */
    ker_time (*receive)(void *context, const struct net_asked *);
    /* In place of carry, for what is shared by all: in the order (time, source, number) of the whole system,
     * though it is computed half a latency later. *left and *there >= now + latency. */
    void (*decide)(void *context, const struct net_asked *, ker_time *left, ker_time *there);
    const struct net_flow_law *flows; /* or by these */
    /* What it knows of a node (KER_NONE: of all), saved and loaded; NULL: nothing. */
    void (*state)(void *context, uint32_t node, struct ker_chunk *);
    /* Rows for carrier.csv of what it knows of a node (KER_NONE: of all); NULL: there is none. */
    void (*used)(void *context, uint32_t node, struct stats_table *);
    void *context;
    void (*release)(void *context); /* NULL: free */
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
void net_messages_groups_add(struct net_network *, struct part_groups *, ker_time direct);
ker_time net_messages_reach(const struct net_network *);
void net_messages_build(struct net_network *, struct ker_engine *, struct part_layout *,
                        const struct net_host *);
struct ker_address net_messages_node_at(const struct net_network *, uint32_t node);
uint32_t *net_messages_nodes(const struct net_network *, uint32_t *count);
void *net_messages_node(const struct net_network *, uint32_t i);
uint64_t net_messages_bytes(const struct net_network *);
struct net_alone net_messages_expect(const struct net_network *, uint32_t from, uint32_t to, uint64_t bytes);
struct net_totals net_messages_totals(const struct net_network *);
json_t *net_messages_report(struct net_network *, struct ker_comm *, ker_time span);
enum ker_status net_messages_write(struct net_network *, struct ker_comm *, const struct stats_folder *,
                                   struct ker_error *);
const char *net_messages_conserved(const struct net_network *, bool lost);
void net_messages_save(struct net_network *, struct ker_state_writer *);
struct net_loading *net_messages_loading(struct net_network *, bool sums);
void net_messages_loading_free(struct net_loading *);
uint32_t net_messages_loaders(struct net_loading *, struct ker_state_loader *);
ker_engine_find net_messages_find;

/* Keys of several laws; is network.buses there? */
extern const struct ker_option net_bus_options[];
enum ker_status net_buses_check(const struct ker_config *, struct ker_error *);

#define NET_MESSAGES_CARRIER                                                                                 \
    .send = net_messages_send, .arrival = net_messages_arrival, .timer = net_messages_timer,                 \
    .act = net_messages_act, .woken = net_messages_woken, .backlog = net_messages_backlog,                   \
    .whole = net_messages_whole, .offers = net_messages_offers, .offered = net_messages_offered,             \
    .renewed = net_messages_renewed, .free = net_messages_free, .groups_add = net_messages_groups_add,       \
    .reach = net_messages_reach, .build = net_messages_build, .node_at = net_messages_node_at,               \
    .nodes = net_messages_nodes, .node = net_messages_node, .bytes = net_messages_bytes,                     \
    .expect = net_messages_expect, .totals = net_messages_totals, .report = net_messages_report,             \
    .write = net_messages_write, .conserved = net_messages_conserved, .save = net_messages_save,             \
    .loading_new = net_messages_loading, .loading_free = net_messages_loading_free,                          \
    .loaders = net_messages_loaders, .find = net_messages_find

/* The kind of such a carrier: its row among the models, net_ROW_model, with the tables of its keys. */
#define NET_MESSAGES_MODEL(row, begin, text, ...)                                                            \
    const struct ker_kind net_##row##_model = {                                                              \
        .name = #row,                                                                                        \
        .meaning = text,                                                                                     \
        .traits = "nodes",                                                                                   \
        .operations = &(const struct net_carrier){NET_MESSAGES_CARRIER, .new = begin},                       \
        .options = KER_OPTIONS(__VA_ARGS__)}
