/* net.h - packets, links, switches, adapters: the network as components of the engine.
 *
 * A switch is a component. An adapter is part of one: of a node, which nodes/ makes and registers with the
 * engine, and which hands down what comes to its adapters (net_adapter_*). The adapter cuts messages into
 * packets, injects them, and reassembles what arrives; what it has to say goes up through struct net_host.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include "kernel/kernel.h"
#include "partition/partition.h"
#include "routing/routing.h"
#include "stats/stats.h"

struct net_adapter; /* opaque */

/* What the receiving service needs to know of a message, opaque to the network; it costs no simulated bytes.
 * While the message is under way it takes 32 bytes of memory less where the last three words are zero. */
struct net_envelope {
    uint64_t word[6];
};

/* Where the latency of a packet went, or of the packet that completed a message: picoseconds (net/parts.c).
 * switch_wait is a part of switches; contention of switch_wait and source_queue. All 0 when it is not
 * collected (output.series.latency). */
struct net_parts {
    uint64_t source_queue, injection, switches, links, ejection, switch_wait, contention;
};

struct net_message {
    uint32_t source, destination; /* endpoints */
    uint64_t bytes;               /* payload */
    ker_time created;             /* when it was handed to the source's adapter */
    uint32_t number;              /* struct net_send's, unless adapters resequence */
    uint8_t service;              /* of the node, which it is from and to */
    uint8_t part;                 /* enum net_part */
    struct net_envelope envelope;
    const struct net_parts *parts; /* NULL: not collected; good until the message has been handed up */
};

/* A message may be one of the parts of a larger one. The first part stands for it in counts of messages, and
 * where a fault takes it; parts that arrive are not counted as messages (net_adapter_whole). */
enum net_part { NET_WHOLE, NET_FIRST_PART, NET_FURTHER_PART };

/* What open-loop traffic gives the adapter, message by message, so that the source queue needs no memory. */
struct net_offer {
    ker_time created; /* not decreasing from offer to offer; may lie in the future; KER_TIME_MAX: no more */
    uint32_t destination, priority;
    uint64_t bytes;
    uint32_t number;       /* as in struct net_send; the node gives it */
    uint8_t service, part; /* likewise */
    bool none;             /* there is nothing yet for this adapter: it asks again at `created` */
};

/* Which of its queues the adapter puts a message into. */
enum net_queue {
    NET_QUEUE_SEND,    /* messages in the order in which they are handed over */
    NET_QUEUE_CONTROL, /* short ones that others wait for; adapter.control says what they wait for */
    NET_QUEUE_READ,    /* what another node reads: served by the adapter outside the send queue's order */
};

struct net_send {
    uint32_t destination;                /* not the endpoint itself */
    uint64_t bytes;                      /* 0: one packet of header only */
    const struct net_envelope *envelope; /* may be NULL */
    uint64_t cookie;                     /* != 0: net_host.sent is called with it */
    uint32_t number;                     /* unique among what the source has under way */
    uint8_t service, part;               /* part: enum net_part */
    uint8_t priority;                    /* less than the number of classes */
    uint8_t queue;                       /* enum net_queue */
};

/* ---- between the adapter and the node that it is part of ---- */

/* What nodes/ hands down: the component, and what its adapters tell it. state: of the node. */
struct net_host {
    const struct ker_class *class;
    size_t bytes;   /* of its state; its adapters stand behind it */
    uint32_t timer; /* the timers of its adapter p have the key timer + p: port x 256 + channel */
    void *context;
    /* The node of this number, as component `self` of the engine; its adapters, one every `stride` bytes. */
    void (*init)(void *context, void *state, uint32_t id, uint32_t self, struct net_adapter *, size_t stride);
    /* The last byte of a message is here. */
    void (*arrived)(void *state, ker_time now, const struct net_message *);
    /* The last byte of the message sent with this cookie has left the adapter (source buffer reusable). */
    void (*sent)(void *state, ker_time now, uint32_t service, enum net_part, uint64_t cookie);
    /* Open-loop source of adapter `port`: the next message; called again when the one before has been
     * injected. false: none. Only after net_adapter_offers. */
    bool (*offer)(void *state, uint32_t port, struct net_offer *);
    /* A fault has taken the first packet of a message with an envelope, on the rank where that happens; the
     * message will not arrive. Later packets carry no envelope: of their loss nobody is told. */
    void (*lost)(void *context, uint32_t service, const struct net_envelope *);
    /* Packets take time between memory and adapter (NULL, or both; node.lane_bandwidth): so many bytes of
     * payload are read from `memory` (net_send_from) or NET_NO_MEMORY, or written to that of the service that
     * the message is for, with its envelope, or NULL where that is not known. alone: picoseconds that this
     * takes at least. Until net_adapter_read or net_adapter_written the adapter sends no other packet of a
     * message, or writes no other one. */
    void (*read)(void *state, ker_time now, uint32_t port, uint32_t memory, uint64_t bytes, ker_time alone);
    void (*write)(void *state, ker_time now, uint32_t port, uint32_t service, const struct net_envelope *,
                  uint64_t bytes, ker_time alone);
};

/* All are called at one of the node's instants, while its records are handled; net_adapter_act then ends the
 * instant of every adapter. */
void net_send(struct net_adapter *, ker_time now, const struct net_send *);
/* Only with net_host.read: the same, with what that is told as memory. */
void net_send_from(struct net_adapter *, ker_time now, const struct net_send *, uint32_t memory);
#define NET_NO_MEMORY UINT16_MAX
void net_adapter_read(struct net_adapter *, ker_time now);
void net_adapter_written(struct net_adapter *, ker_time now);
void net_adapter_left(struct net_adapter *, ker_time now); /* in the place of net_adapter_timer */
/* How long its link takes for so many bytes. */
ker_time net_adapter_alone(const struct net_adapter *, uint64_t bytes);
#define NET_PORT_ADAPTER 0xff /* of an arrival's port: which adapter; of credits and wake-ups it is all */
void net_adapter_arrival(struct net_adapter *, const struct ker_event *);
void net_adapter_credit(struct net_adapter *, uint8_t channel, uint32_t bytes); /* KER_CREDIT */
void net_adapter_woken(struct net_adapter *, ker_time now);                     /* KER_WAKE */
void net_adapter_timer(struct net_adapter *, ker_time now); /* KER_TIMER with net_host.timer's key */
void net_adapter_act(struct net_adapter *, ker_time now);
/* Before the first event: there is an open-loop source. */
void net_adapter_offers(struct net_adapter *);
/* A fork, before the run goes on. When the offer that has not joined the queue yet is to be created, to be
 * changed, and of which service and part it is; NULL: there is none. */
ker_time *net_adapter_offered(struct net_adapter *, uint8_t *service, uint8_t *part);
/* Are offers numbered, so that none may be taken away? */
bool net_adapter_numbers(const struct net_adapter *);
/* Offers have been renewed, at this time: one of the time KER_TIME_MAX is taken away, and the source is asked
 * again. */
void net_adapter_renewed(struct net_adapter *, ker_time at);
/* Time until all that waits here is sent, were the link never idle nor blocked. */
ker_time net_adapter_backlog(const struct net_adapter *, ker_time now);
/* Is there any route from here to that endpoint now? */
bool net_adapter_reaches(const struct net_adapter *, ker_time now, uint32_t destination);
/* A message that came in parts is whole: counts it. */
void net_adapter_whole(struct net_adapter *, ker_time now, const struct net_message *);

/* ---- for the program: settings, building, running, reporting ---- */

struct net_network;

/* When what is created is measured, when open-loop sources stop, and the smallest payload that a packet will
 * have. */
struct net_phases {
    ker_time measure_from, measure_to, stop;
    uint64_t least_payload;
};

/* Reads switch.* and adapter.*; checks them against the links. */
enum ker_status net_network_new(struct net_network **, const struct ker_config *,
                                const struct route_topology *, uint64_t seed, struct net_phases phases,
                                struct ker_error *);
/* loops.c: which classes of links have buffers that cannot keep them busy (malloc'ed); NULL: none. */
char *net_loops_text(const struct net_network *);
void net_network_free(struct net_network *);
/* Virtual channels per priority class, for route_new, before there is a network. */
uint32_t net_channels(const struct ker_config *);

/* Adds the network's groups of components: its switches, and its nodes, each of which lives with its switch.
 */
void net_groups_add(struct net_network *, struct part_groups *);

/* Where they live. */
struct ker_address net_switch_at(const struct net_network *, const struct part_layout *, uint32_t id);
struct ker_address net_node_at(const struct net_network *, const struct part_layout *, uint32_t id);
/* Smallest delay of anything over a link of this class, in either direction. */
ker_time net_link_delay(const struct net_network *, int link, bool to_adapter);
/* Furthest a record usually lies ahead. */
ker_time net_reach(const struct net_network *);

/* Makes this rank's switches and nodes and puts them into the engine; the nodes in increasing order. The
 * layout is the network's from then on. */
void net_network_build(struct net_network *, struct ker_engine *, struct part_layout *,
                       const struct net_host *);
/* Makes the switches that nothing has come to yet: before state is saved or loaded. */
void net_network_complete(struct net_network *);
uint32_t *net_network_nodes(const struct net_network *, uint32_t *count); /* their numbers, malloc'ed */
void *net_network_node(const struct net_network *, uint32_t i);           /* the state of the i-th of them */

/* Sums for conditions while running; local to this rank. */
struct net_totals {
    uint64_t packets_injected, packets_delivered, bytes_injected, bytes_delivered,
        messages_delivered;                                     /* payload */
    uint64_t measured_injected_bytes, measured_delivered_bytes; /* payload, inside the measured span */
    uint64_t packet_hops, hops_sum, hops_max, out_of_order;
    uint64_t packets_lost; /* inside the network; what an adapter never sent is none of the injected ones */
    uint64_t packets_withheld;
    uint64_t
        cnps_under_way; /* sent less received or lost, modulo 2^64: only the sum over the ranks is a number */
    uint64_t measured_packets,
        latency_sum; /* delivered packets that are measured, their network latencies in all */
};
struct net_totals net_network_totals(const struct net_network *);

/* routing.bias as it is, and how many of the largest packets the slowest link sends in that time. */
double net_network_bias(const struct net_network *, ker_time *bias);

/* Collective: the network's part of `result` on rank 0 (NULL elsewhere); merges the quantities. span:
 * measured time. offered_load is what services handed over by net_send, not what they were asked for. */
json_t *net_network_report(struct net_network *, struct ker_comm *, ker_time span);
/* For the engine: no end of the run lies before `until`, so what is scheduled before may be counted. */
void net_network_settle(struct net_network *, ker_time until);
/* The run has ended: counts what was on its way until then, and nothing that leaves later. Before the report.
 */
void net_network_end(struct net_network *, ker_time end);
/* The table links without rows, to be freed; span: measured time. Collective, when the run has ended: its
 * rows, shown on rank 0 one after the other (stats_table_stream). */
struct stats_table *net_network_links(const struct net_network *, ker_time span);
void net_network_links_show(const struct net_network *, struct stats_table *, struct ker_comm *,
                            const struct stats_visitor *);
/* The links of output.timeline_links: how many, and their names, which live as long as the network; 0: none.
 * They are recorded from when they are given a timeline on. */
uint32_t net_network_tracks(const struct net_network *, const char *const **name);
/* What recording them takes on a rank, at most; bytes. */
uint64_t net_network_tracks_bytes(const struct net_network *);
void net_network_record(struct net_network *, struct stats_timeline *);
/* Links, switches and adapters in periods (output.series.*), where they are wanted: what their rows cost.
 * Collective, the others: the rows of the period from `from` to `at`, where all ranks stand; behind the last
 * of them, before net_network_end, the totals are put together again, and states of links are over; after
 * that switches.csv and adapters.csv. */
void net_network_series_cost(const struct net_network *, struct stats_series_costs *);
void net_network_series_begin(struct net_network *, struct stats_series_files *, struct ker_error *);
void net_network_series_add(struct net_network *, ker_time from, ker_time at);
void net_network_series_end(struct net_network *, ker_time end);
void net_network_series_write(struct net_network *, struct ker_comm *, ker_time span,
                              const struct stats_folder *, struct ker_error *);
/* Collective, after net_network_report: message_size.csv, packet_latency.csv, matrix.csv as configured. */
enum ker_status net_network_write(struct net_network *, struct ker_comm *, const struct stats_folder *,
                                  struct ker_error *);
extern const struct stats_schema *const net_tables[]; /* all tables of net/, NULL at the end */
/* Memory of this rank's network after building, bytes. */
uint64_t net_network_bytes(const struct net_network *);
/* Conservation at the end of a drained run: every credit back, no packet left, and unless some were lost all
 * messages whole. Returns a static text of what is wrong, or NULL. */
const char *net_network_conserved(const struct net_network *, bool lost);

/* ---- saved state (kernel/state/file.h) ---- */

#define NET_STATES 9 /* loaders of a network */

/* Of this rank, at a check time. */
void net_network_save(struct net_network *, struct ker_state_writer *);
/* A fork at this time, when all has been loaded; the configuration that the run had until then, and the end
 * of its measured span. */
void net_network_forked(struct net_network *, ker_time at, const struct ker_config *former,
                        ker_time measured_to);
/* For a network that has been built, with its clients attached, and in whose engine nothing is pending: every
 * rank reads what all ranks have saved, and takes what is its own. sums: this rank (one of all) takes what
 * was counted. */
struct net_loading *net_loading_new(struct net_network *, bool sums);
void net_loading_free(struct net_loading *);
void net_loaders(struct net_loading *, struct ker_state_loader loaders[NET_STATES]);
ker_engine_find net_loading_find; /* the context is the struct net_loading */

extern const struct ker_option net_options[]; /* switch.*, adapter.*, of routing.* what switches do */
extern const struct ker_option net_congestion_options[]; /* congestion.* */

#endif
