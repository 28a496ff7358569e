/* carrier.h - what carries messages between nodes: the operations of a kind of the family "network.model".
 *
 * A carrier is below nodes/, which know it by this table alone, as run/ does: jobs, MPI, services,
 * traffic and what is inside a node are the same above every carrier. The packet network (net_packet_model)
 * is one. A carrier makes the nodes of its rank as components of the engine, each with its adapters behind
 * it, by struct net_host; net_network and net_adapter are its own structures. What may be NULL says so; then
 * nobody has to ask for it.
 */
#pragma once

#include "kernel/engine/engine.h"
#include "kernel/state/state.h"

struct ker_config;

#ifndef NET_NO_MEMORY /* net.h has it, and includes this */
#error "include net/net.h"
#endif

struct net_network;
struct net_loading;

/* A message that has the network to itself: about how many events it is, when it has left, when it is there.
 */
struct net_alone {
    double events;
    ker_time left, there;
};

/* For --check: what a run is expected to do. Whoever will send adds what it knows, some of it from samples.
 */
struct net_expected {
    struct net_alone (*alone)(const void *context, uint32_t from, uint32_t to, uint64_t bytes);
    const void *context;
    double events, messages, bytes;
    bool more; /* something was not followed to its end, or has none */
    bool most; /* something waits for the network: its rate is that without others */
};
/* So often a message of this many bytes from node to node. */
static inline void net_expect(struct net_expected *e, uint32_t from, uint32_t to, uint64_t bytes,
                              double times)
{
    e->messages += times;
    e->bytes += times * (double)bytes;
    e->events += times * (from == to ? 1 : e->alone(e->context, from, to, bytes).events);
}

struct net_carrier {
    /* ---- for nodes/: called at one of the node's instants, while its records are handled; act then ends the
     * instant of every adapter ---- */

    void (*send)(struct net_adapter *, ker_time now, const struct net_send *);
    void (*arrival)(struct net_adapter *, const struct ker_event *);
    void (*timer)(struct net_adapter *, ker_time now); /* KER_TIMER with net_host.timer's key */
    void (*act)(struct net_adapter *, ker_time now);
    void (*woken)(struct net_adapter *, ker_time now);                     /* KER_WAKE */
    void (*credit)(struct net_adapter *, uint8_t channel, uint32_t bytes); /* KER_CREDIT; may be NULL */
    /* With node.lane_bandwidth only, else NULL: send, with what net_host.read gets as memory; a read, a
     * write has ended; in the place of timer; how long the link takes for this many bytes. */
    void (*send_from)(struct net_adapter *, ker_time now, const struct net_send *, uint32_t memory);
    void (*read)(struct net_adapter *, ker_time now);
    void (*written)(struct net_adapter *, ker_time now);
    void (*left)(struct net_adapter *, ker_time now);
    ker_time (*alone)(const struct net_adapter *, uint64_t bytes);
    /* Time until all that waits here is sent, were the link never idle nor blocked. */
    ker_time (*backlog)(const struct net_adapter *, ker_time now);
    /* Is there any route from here to that endpoint now? NULL: always. */
    bool (*reaches)(const struct net_adapter *, ker_time now, uint32_t destination);
    /* A message that came in parts is whole: counts it. */
    void (*whole)(struct net_adapter *, ker_time now, const struct net_message *);
    /* Before the first event: there is an open-loop source. */
    void (*offers)(struct net_adapter *);
    /* A fork, before the run continues. When the offer that has not joined the queue yet is to be created, to
     * be changed, and of which service and part it is; NULL: there is none. */
    ker_time *(*offered)(struct net_adapter *, uint8_t *service, uint8_t *part);
    /* Are offers numbered, so that none may be taken away? NULL: they are not. */
    bool (*numbers)(const struct net_adapter *);
    /* Offers have been renewed, at this time: one of the time KER_TIME_MAX is taken away, and the source is
     * asked again. */
    void (*renewed)(struct net_adapter *, ker_time at);

    /* ---- for run/: reading and building ---- */

    /* Virtual channels per priority class, for the topology, before there is a network; NULL: any. */
    uint32_t (*channels)(const struct ker_config *);
    /* Reads the carrier's keys; checks them against the links. */
    enum ker_status (*new)(struct net_network **, const struct ker_config *, const struct route_topology *,
                           uint64_t seed, struct net_phases, struct ker_error *);
    /* What nobody will have wanted of the settings (malloc'ed); NULL: nothing. May be NULL itself. */
    char *(*warning)(const struct net_network *);
    void (*free)(struct net_network *); /* takes NULL */
    /* Adds the groups of components: what there is of switches, and the nodes. direct: nodes send to each
     * other without it, too, with this delay at least; 0: they do not. */
    void (*groups_add)(struct net_network *, struct part_groups *, ker_time direct);
    /* Where a switch lives; NULL: there are none. */
    struct ker_address (*switch_at)(const struct net_network *, const struct part_layout *, uint32_t id);
    /* Furthest a record usually lies ahead. */
    ker_time (*reach)(const struct net_network *);
    /* Makes what lives on this rank and puts it into the engine; the nodes in increasing order. The layout is
     * the network's from then on. */
    void (*build)(struct net_network *, struct ker_engine *, struct part_layout *, const struct net_host *);
    /* Makes what nothing has come to yet: before state is saved or loaded. May be NULL. */
    void (*complete)(struct net_network *);
    struct ker_address (*node_at)(const struct net_network *, uint32_t node); /* where it lives */
    uint32_t *(*nodes)(const struct net_network *, uint32_t *count);          /* their numbers, malloc'ed */
    void *(*node)(const struct net_network *, uint32_t i); /* the state of the i-th of them */
    /* routing.bias as it is, and how many of the largest packets the slowest link sends in that time. NULL:
     * there is none. */
    double (*bias)(const struct net_network *, ker_time *bias);
    uint64_t (*bytes)(const struct net_network *); /* memory of this rank's after building */
    /* And what will be made when it is needed. NULL: nothing. */
    uint64_t (*later_bytes)(const struct net_network *);
    struct net_alone (*expect)(const struct net_network *, uint32_t from, uint32_t to, uint64_t bytes);

    /* ---- running and reporting ---- */

    struct net_totals (*totals)(const struct net_network *);
    /* For the engine: no end of the run lies before `until`, so what is scheduled before may be counted. May
     * be NULL. */
    void (*settle)(struct net_network *, ker_time until);
    /* The run has ended: counts what was in transit until then, and nothing that leaves later. Before the
     * report. May be NULL. */
    void (*end)(struct net_network *, ker_time end);
    /* Collective: the network's part of `result` on rank 0 (NULL elsewhere); merges the quantities. span:
     * measured time. offered_load is what services handed over by send, not what they were asked for. */
    json_t *(*report)(struct net_network *, struct ker_comm *, ker_time span);
    /* Collective, after that: the carrier's files. May be NULL. */
    enum ker_status (*write)(struct net_network *, struct ker_comm *, const struct stats_folder *,
                             struct ker_error *);
    /* Conservation at the end of a drained run: nothing is in flight, and unless some were lost all messages
     * are whole. Returns a static text of what is wrong, or NULL. */
    const char *(*conserved)(const struct net_network *, bool lost);
    /* What links carry; NULL: there are none. */
    const struct net_carrier_links *links;

    /* ---- saved state (kernel/state/file.h) ---- */

    /* Of this rank, at a check time. */
    void (*save)(struct net_network *, struct ker_state_writer *);
    /* For a network that has been built, with its clients attached, and in whose engine nothing is pending:
     * every rank reads what all ranks have saved, and takes what is its own. sums: this rank (one of all)
     * takes what was counted. */
    struct net_loading *(*loading_new)(struct net_network *, bool sums);
    void (*loading_free)(struct net_loading *);
    /* The carrier's loaders, at most NET_STATES; returns how many. */
    uint32_t (*loaders)(struct net_loading *, struct ker_state_loader *);
    ker_engine_find *find; /* the context is the struct net_loading */
    /* A fork at this time, when all has been loaded; the configuration that the run had until then, and the
     * end of its measured span. May be NULL. */
    void (*forked)(struct net_network *, ker_time at, const struct ker_config *former, ker_time measured_to);
};
#define NET_STATES 12

struct net_carrier_links {
    /* The table links without rows, to be freed; span: measured time. Collective, when the run has ended: its
     * rows, shown on rank 0 one after the other (stats_table_stream). */
    struct stats_table *(*table)(const struct net_network *, ker_time span);
    void (*show)(const struct net_network *, struct stats_table *, struct ker_comm *,
                 const struct stats_visitor *);
    /* The links of output.timeline_links: how many, and their names, which live as long as the network; 0:
     * none. They are recorded from when they are given a timeline on. tracks_bytes: what recording them takes
     * on a rank, at most. */
    uint32_t (*tracks)(const struct net_network *, const char *const **name);
    uint64_t (*tracks_bytes)(const struct net_network *);
    void (*record)(struct net_network *, struct stats_timeline *);
    /* Links, switches and adapters in periods (output.series.*): those that are wanted; the rows of the
     * period that ends at `at`, where all ranks stand; behind the last of them, before `end`, the totals are
     * put together again, and states of links are over; after that, collective, switches.csv and
     * adapters.csv. */
    void (*series_want)(struct net_network *, struct stats_series_files *);
    void (*series_add)(struct net_network *, ker_time at);
    void (*series_end)(struct net_network *, ker_time end);
    void (*series_write)(struct net_network *, struct ker_comm *, ker_time span, const struct stats_folder *,
                         struct ker_error *);
};
