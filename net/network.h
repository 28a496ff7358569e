/* network.h - the network of a rank: settings, ports, adapters, counts; private to net/.
 *
 * All of it hangs on struct net_network. What a switch is made of only net/switch/ knows (switch.h).
 */
#pragma once

#include "kernel/config/config.h"
#include "net/model.h"
#include "net/packet.h"

#define NET_NONE UINT32_MAX
#define NET_BYTE_TIME_BITS 24

enum net_queueing { NET_QUEUE_VOQ, NET_QUEUE_FIFO };
enum net_arbitration { NET_ARBITER_ROUND_ROBIN, NET_ARBITER_OLDEST, NET_ARBITER_RANDOM, NET_ARBITER_OWN };
enum net_forwarding { NET_CUT_THROUGH, NET_STORE_AND_FORWARD };
struct net_switch;
struct net_packet;
struct route_choice;

/* Operations of a kind of the family "switch.arbitration". */
struct net_arbiter {
    enum net_arbitration order; /* NET_ARBITER_OWN: */
    /* Is request `index` to be sent before request `chosen`, the best of `count` that were looked at? It may
     * depend on the requests and on the switch alone. */
    bool (*better)(const struct net_switch *, uint32_t index, uint32_t chosen, uint32_t count);
};

/* Operations of a kind of the family "routing.selection". Traits: "adaptive" (with `adapts`), "credits" (with
 * `credits`). A selection gives one of these: */
struct net_selection {
    bool adapts, queue, credits; /* by cost: the output's backlog, what is missing of the buffer behind it */
    bool two;                    /* ... of two drawn paths only */
    /* What the packet goes by: paths are numbered by a hash of it, and the smallest number wins. */
    uint64_t (*asked)(const struct net_packet *, uint32_t draw);
    /* The number itself, which may depend on the switch's own state. */
    uint64_t (*number)(const struct net_switch *, const struct route_choice *, const struct net_packet *);
    bool turns; /* net_switch.rotor moves behind the port that is taken */
};
extern const struct ker_kind net_arbiter_oldest, net_arbiter_round_robin;

/* Arbitration among the channels of an output (switch.lanes): which of those with a packet that could be sent
 * now is sent next, at switches and at adapters; which of its packets, and of which input, is the arbiter's
 * choice. A kind has state per output, and is notified of every packet that is sent, of one that was alone,
 * too. Classes with the highest first (strict) need none of that: nothing here is called then. */

/* An output: a port of a switch, or an adapter (an endpoint). */
struct net_lanes_output {
    bool adapter;
    uint32_t id, port; /* port: of a switch */
};

/* Operations of a kind of the family "switch.lanes"; all NULL, bytes 0: strict. */
struct net_lanes {
    size_t bytes; /* of an output's state, a multiple of 8: numbers only, as they are saved as they are */
    /* Reads the kind's keys: what all outputs share, malloc'ed. */
    enum ker_status (*read)(void **shared, const struct ker_config *, const struct route_topology *,
                            uint32_t channels, struct ker_error *);
    /* The classes of service levels, where they are not the levels themselves, which is what comes. May be
     * NULL. */
    enum ker_status (*levels)(struct net_levels *, const struct ker_config *, struct ker_error *);
    void (*init)(const void *shared, void *state, const struct net_lanes_output *);
    /* ready: channels with a packet that could be sent, a bit each, at least one. Returns one of them. */
    unsigned (*choose)(const void *shared, void *state, uint32_t ready);
    void (*sent)(const void *shared, void *state, unsigned channel, uint32_t bytes);
};
extern const struct ker_kind net_lanes_strict, net_lanes_vl;

enum net_control { NET_CONTROL_FIRST, NET_CONTROL_FAIR, NET_CONTROL_IN_ORDER };
enum net_pinning { NET_PIN_PACKET, NET_PIN_MESSAGE, NET_PIN_FLOW };

/* Times of one packet size on one class of links; filled when first needed. */
struct net_times {
    uint32_t wire;     /* serialisation, picoseconds */
    uint32_t crossbar; /* the same at the internal speed-up */
};

struct net_link_class {
    ker_time latency;
    uint64_t rate;
    uint64_t byte_time;             /* picoseconds per byte << NET_BYTE_TIME_BITS */
    ker_time watch_high, watch_low; /* a watched link becomes congested at, and is no more at this backlog */
    ker_time slack;                 /* an output may take another packet while its backlog is at most this */
    struct net_times *times;        /* by bytes on the wire, up to net_settings.most; ker_map */
    uint64_t spare;                 /* 64 bytes: an index is a shift */
};

struct net_settings {
    uint32_t channels, classes;    /* per class; their product <= NET_MAX_CHANNELS */
    uint32_t entrances;            /* the first this many of each class are for adapters to send on */
    uint32_t buffer, output_queue; /* bytes: per input channel; per output */
    enum net_queueing queueing;
    enum net_arbitration arbitration; /* of the arbiter */
    const struct net_arbiter *arbiter;
    const struct net_lanes *lanes; /* NULL: classes, the highest first */
    void *lanes_shared;            /* of the kind */
    enum net_forwarding forwarding;
    const struct net_selection *selection;
    enum net_pinning pinning;
    bool adapts, remembers; /* selection by the switch's state; by what the message or flow took before */
    uint64_t bias, threshold, hysteresis; /* picoseconds */
    bool count_port;                      /* credits missing on any channel of the port count */
    double speedup;
    bool read_flits; /* of an input, packets that still come in take only the crossbar's time */
    ker_time delay, credit_delay, credit_interval; /* of credits: 0, or multiples of it */
    uint32_t block_rest;             /* a block of buffer, which is a power of two, less one byte */
    ker_time head_life, packet_life; /* of packets in a switch; 0: no limit */
    double vl_overhead;              /* share of every link that flow control takes */
    bool at_source;                  /* paths are decided there */
    uint32_t payload, header;        /* of a packet, at most */
    uint32_t hop_bytes, most;        /* more header for each switch on the path; largest packet on the wire */
    uint32_t least;                  /* bytes on the wire of the smallest packet */
    uint32_t cnp;                    /* bytes of a cnp of congestion */
    uint32_t offers;        /* messages of an open-loop source at the adapter while none of them may leave */
    uint64_t ejection_rate; /* 0: as fast as the link */
    uint32_t adapter_buffer;
    bool sinks, throttled;    /* what has come takes time; not all may leave when the link is free */
    bool holds;               /* some flows may not, but others may */
    bool fifo_adapter;        /* one queue for all destinations */
    bool fifo_order;          /* destinations' messages one after the other, not packet by packet */
    enum net_control control; /* what control messages wait for */
    uint32_t rings; /* where the rings of flows are behind an adapter's credits: one word for each level */
    bool resequence;
    struct ker_sizes injection;        /* by bytes of a message; empty: as fast as the link */
    ker_time measure_from, measure_to; /* what is created in this span is measured */
    ker_time stop;                     /* open-loop sources end here */
    uint64_t seed;
};

/* Of an output, or of an adapter: credits that are in transit to it (credits.h), in no order, and what else
 * there is room for. A place is when the credit comes, from bit NET_DUE_TIME on, the channel, from bit 16 on,
 * and bytes; 0 bytes: it is free. */
#define NET_CREDITS_DUE 2
#define NET_DUE_TIME 20
#define NET_DUE_UNTIL (INT64_C(1) << (63 - NET_DUE_TIME)) /* 8.8 s; credits that come later are records */
struct net_credits_due {
    uint8_t starved : 2,     /* something waits for credits on an even channel, on an odd one */
        to_adapter : 1,      /* output: ends at an adapter that takes all: its credits are never used up */
        lands : 1,           /* output: to an adapter of this rank, which may count packets at the grant */
        ends_at_adapter : 1, /* port; else at a switch, */
        used : 1;            /* if it is used */
    uint64_t place[NET_CREDITS_DUE];
} __attribute__((packed));

/* Large systems are made of these: nothing is padded. */
struct net_port {
    uint32_t upstream; /* input: the output that sends to it, in words of 8 bytes from net_network.dues on; 0:
                          another rank's */
    uint32_t peer;     /* of this rank: the component; else its place in net_network.remote */
    uint32_t waits;    /* output: its net_waits; 0: nothing waits */
    uint16_t peer_port;
    uint8_t link; /* class */
    struct net_credits_due due;
    /* statistics, picoseconds (ahead.h); what is carried over is elsewhere */
    uint32_t input_time; /* of the input: of its packets in the buffer */
    uint32_t queue_time; /* of the output, as what follows: waits for the link */
    uint32_t bytes, busy, packets;
    uint32_t queue_max;  /* the longest wait */
    ker_time read_free;  /* input: the crossbar may read again */
    ker_time link_free;  /* output: end of the last transmission scheduled */
    ker_time write_free; /* output: the crossbar may write again */
    uint32_t credit[];   /* output: bytes free behind it, per channel */
};
#define NET_DUE_BYTES 24 /* from an adapter's to the next: they lie in what ends there as in a port */
#define NET_DUE_AT offsetof(struct net_port, due)
_Static_assert(ROUTE_MAX_LINKS <= 64, "a link fits");
_Static_assert(NET_DUE_AT == 15 && offsetof(struct net_port, credit) == 80, "nothing is padded");

/* Of an output where packets wait, in a pool of the rank; all others have number 0, where nobody writes. A
 * free one has an empty row. */
struct net_waits {
    uint32_t queue;   /* last request of the ring; NET_NONE: no requests */
    uint32_t waiting; /* bytes in its requests */
    ker_time wake;    /* a wake-up is scheduled for then; KER_TIME_MAX: none */
    uint16_t first[]; /* by input: its first request, or NET_NO_VOQ; not where the switch is searched */
};

struct net_link_series;
struct net_series;
struct net_matrices;
struct net_latency_parts;
struct net_kept;
struct net_rest;

/* A message in transit into the network, in a pool of the rank. */
struct net_outgoing {
    uint64_t left : 48;    /* payload not yet injected */
    uint8_t service, part; /* of the node; enum net_part */
    uint64_t place : 48;   /* until a packet has left, its extension or NET_NONE; then the number of the next;
                              of a cnp the method's word */
    uint8_t priority;      /* class */
    uint8_t queue : 2;     /* enum net_queue; of control messages in order NET_QUEUE_SEND */
    uint8_t begun : 1;     /* a packet has left */
    uint8_t from_offer : 1; /* open loop */
    uint8_t control : 1;
    uint64_t cookie;
    ker_time created;
    uint32_t destination, message;
    uint32_t next; /* of its list; in a flow (flows.h) the last one's is the first */
    uint32_t turn; /* of a flow's last message: the last of the next flow */
};
_Static_assert(sizeof(struct net_outgoing) == 48, "many wait at a time");

/* What few runs want of an adapter. */
struct net_adapter_more {
    ker_time sink_free;
    ker_time hold;                  /* congestion control lets no flow send before; without any 0 */
    ker_time paced;                 /* with adapter.injection_rate: no flow but control sends before */
    struct net_link_series *series; /* of its link; NULL: not collected */
    struct net_job_use *jobs;       /* likewise (jobs.h), and the job of its last packet */
    uint8_t job;
    uint32_t cnp, cnp_last; /* outgoing records of cnps to be sent; NET_NONE: none */
};

struct net_adapter {
    struct net_network *net;
    struct net_adapter_more *more; /* without net->more_each one for all, where nobody writes but 0 */
    ker_time link_free, wake;
    struct ker_address peer;
    uint16_t peer_port;
    uint8_t link, blocked; /* class; waits for credits */
    uint32_t wire;         /* of the transmission that ends at link_free; 0: it was none */
    uint64_t backlog;      /* payload that waits in the flows */
    uint32_t id, self;     /* endpoint; component that it is part of */
    uint32_t due; /* its places of credits (net_due_of), in words of 8 bytes from net_network.dues on */
    uint32_t leaving_last; /* outgoing records of messages whose last byte is leaving, a ring; NET_NONE */
    uint64_t packets, bytes, busy, wait; /* of the injection link */
    uint32_t waiting;                    /* levels that have flows to send, a bit each (flows.h) */
    uint32_t offered;                    /* the offer that has not joined the flows yet, NET_NONE */
    uint32_t port : 8,                   /* of the component, in what comes to this adapter */
        offers : 23,                     /* those among the flows */
        exhausted : 1;                   /* no open-loop source, or it has ended */
    uint32_t credit[]; /* per channel; behind them, at net_settings.rings, the ring of each level */
};
#define NET_ADAPTER_BYTES offsetof(struct net_adapter, credit)
_Static_assert(NET_ADAPTER_BYTES == 116, "nothing is padded");

/* With so much of a node's first adapter the state ends that is fetched ahead: its credits, too. */
#define NET_ADAPTER_FETCHED (NET_ADAPTER_BYTES + 64)
static inline struct net_adapter *net_node_adapter(const struct ker_class *class, void *node)
{
    return (struct net_adapter *)(void *)((char *)node + class->head_bytes - NET_ADAPTER_FETCHED);
}

/* Which switch has granted something to an input of this number, and when. */
struct net_granted {
    const struct net_switch *by;
    ker_time when;
};

struct net_counts {
    uint64_t injected, delivered, bytes_delivered, messages_delivered, bytes_injected; /* whole run */
    uint64_t measured_bytes, measured_injected; /* delivered, injected inside the measured span */
    uint64_t measured_handed;                   /* payload of net_send inside it */
    uint64_t detours;                           /* of the packets whose latency counts */
    uint64_t hops_sum, hops_max;
    uint64_t packet_hops;
    uint64_t out_of_order, reorder_bytes_max;
    uint64_t messages_early, early_bytes_max; /* with resequencing: whole before their turn */
    uint64_t lost_no_route, lost_switch,
        lost_adapter;                          /* packets: no route; at a switch that was down; never sent */
    uint64_t lost_head_life, lost_packet_life; /* they waited too long */
    uint64_t marked, cnps_sent, cnps_received, cnps_lost, throttled_flows;
};

/* What a packet takes from the end of a link to the next component, beside the link's latency. */
struct net_onward {
    ker_time delay;
    ker_time tail; /* all bits: it is there when its tail is; 0: when its head is */
};

struct net_network {
    struct net_settings set;
    struct net_onward onward[2]; /* to a switch, behind its pipeline; to an adapter */
    ker_time head_first; /* all bits: a packet is sent on while it still comes in; 0: when it is whole */
    const struct route_topology *topology;
    uint32_t adapters_each; /* of a node */
    uint32_t adapter_bytes;
    uint32_t lanes_place;              /* in an adapter, of its state of lanes */
    uint32_t switch_group, node_group; /* numbers of the component groups */
    route_next_function *route;
    route_next_function *route_ahead; /* finds what depends on nothing but the packet, or says 0; NULL: routes
                                         are not found ahead, as they may depend on time or are due later */
    route_hop_function *hop;          /* the same in short; NULL: not with these settings, or none */
    struct route_straight *straight;  /* by port; NULL: with `hop` there is none */
    route_away_function *away;        /* which packets take detours; NULL: none */
    struct route_states away_states;  /* only these may */
    route_range_function *range;      /* NULL: not with these settings, or the algorithm has none */
    route_pair_function *pair;        /* likewise */
    bool faulty;                      /* something goes down, or may */
    bool lives;                       /* packets in switches have limits of life */
    bool lands;                       /* adapters count packets at the grant (adapter/receive.c), */
    bool deaf;                        /* those that complete messages, too */
    bool sole;         /* nodes send nothing but what open-loop sources offer, heeding credits only */
    uint64_t landing;  /* by port modulo 64: at all switches so far it leads to such an adapter */
    bool selects_time; /* net_selects_time */
    bool known;        /* outputs keep what their requests wait for, and nobody else looks at these */
    uint32_t rank;     /* of the engine */
    struct net_host host;
    struct ker_engine *engine;
    struct net_link_class link[ROUTE_MAX_LINKS];
    /* of the instant that is being handled */
    const struct ker_event **fresh;
    uint32_t fresh_count, fresh_room;
    uint64_t *dirty; /* bitmap of outputs */
    uint32_t dirty_words;
    struct net_granted *granted;        /* by input port, with separable matching; else NULL */
    struct ker_arena arena;             /* the switches' requests, and series */
    KER_POOL(struct net_packet) packet; /* that wait in switches, */
    struct ker_arena packets;           /* alone in theirs */
    struct {                            /* net_waits of the switches, in the same way */
        char *at;
        uint32_t room, free, bytes, row; /* bytes: of each; row: of `first` in it */
    } waits;
    struct ker_arena waits_range;
    /* pools of the rank */
    KER_POOL(struct net_outgoing) outgoing; /* taken and given by groups of adapters (flows.h): */
    uint32_t *outgoing_free;                /* by group, the first free one, NET_NONE */
    uint32_t outgoing_groups;
    struct ker_arena messages;          /* alone in theirs */
    KER_POOL(struct net_offer) offered; /* by open-loop sources; the number is the network's */
    struct net_reassembly *reassembly;
    struct net_dma *dma;                     /* adapter/dma.h; NULL: memory takes no time */
    struct net_resequencer *resequencer;     /* NULL: messages are handed up when they are whole */
    const struct net_congestion *congestion; /* NULL: no control */
    const char *congestion_name;             /* of its kind */
    bool looks;                              /* it asks of packets that come, too */
    void *congestion_state;
    /* statistics */
    ker_time final;       /* no end of the run cuts off what lies before */
    ker_time whole_until; /* what lies between the measured span's begin and this is counted at once, whole */
    ker_time shares_until; /* the same where jobs or detours are counted: at once, but with its share */
    uint32_t jobs;         /* of output.links_by_job: those that are counted by themselves; 0: it is off */
    const char *(*job_name)(const void *names, uint32_t job);
    const void *job_names;
    bool maps;              /* switches have news of watched links */
    bool carried;           /* switches have counts that do not fit into ports */
    struct net_kept *ahead; /* transmissions that are scheduled beyond it, to be counted */
    size_t ahead_count, ahead_room;
    struct net_rest *rest; /* of those that have begun before it, but for jobs and periods: what is left */
    size_t rest_count, rest_room;
    struct net_counts count;
#define NET_QUANTITIES 7
    struct stats_quantity *quantities; /* NET_QUANTITIES: where those below lie, but `throttle` */
    struct stats_quantity *latency, *total_latency, *message_latency, *message_size;
    struct stats_quantity *extent;       /* how far ahead of the next in order packets came */
    struct stats_quantity *early_wait;   /* with resequencing */
    struct stats_quantity *throttle;     /* with congestion control */
    struct stats_quantity *control_wait; /* of control messages at the adapter */
    struct net_matrices *matrices;       /* NULL: not wanted */
    struct net_latency_parts *parts;     /* NULL: not collected */
    const struct net_parts *part_now;    /* its `packet`, or NULL */
    bool by_channel, watched;  /* watched: congestion control, parts, states of links, detours, or lanes */
    bool watched_all;          /* the same without detours, which are asked of few packets */
    struct net_series *series; /* NULL: no links are collected in periods, nor their stalls */
    struct net_link_states *states; /* NULL: no link is in a timeline */
    /* what there is */
    uint32_t *switches; /* where they lie, in words of 8 bytes: from dues on; NULL: in a row */
    uint32_t switch_first, switch_words; /* of so many words each */
    uint32_t *adapters;                  /* from block on, in increasing order (net_adapter_nth) */
    uint32_t switch_count, adapter_count;
    bool more_each; /* adapters have their own net_adapter_more */
    char *dues; /* where the places of credits of adapters begin, NET_DUE_BYTES each, but for the first, which
                   has none that is free; outputs have theirs */
    struct ker_address *remote; /* what is behind the links of its switches to other ranks */
    size_t remote_count, remote_room;
    char *block; /* the memory of all of them */
    size_t block_bytes;
    /* switches that are made when they are needed (build.c): in the order of `switches`, */
    uint64_t *made;                            /* which of them are, a bit each; NULL: all are */
    struct ker_sparse sparse;                  /* their memory */
    bool direct;                               /* nodes send to each other beside it, too */
    struct part_layout layout;                 /* where all live; without `made` and `direct` empty */
    struct ker_class switch_class, node_class; /* with the sizes of this network */
    bool histograms, flows_in_periods;         /* flows: rows of those that are held back */
    struct stats_series *congestion_series;    /* NULL: not wanted */
};

static inline struct net_times net_times_of(const struct net_network *net, unsigned link, uint32_t bytes)
{
    struct net_times t = net->link[link].times[bytes];
    if (__builtin_expect(t.wire == 0, 0)) {
        t.wire = (uint32_t)ker_serialisation(bytes, net->link[link].rate);
        t.wire += t.wire == 0;
        t.crossbar = (uint32_t)((double)t.wire / net->set.speedup);
        t.crossbar += t.crossbar == 0;
        net->link[link].times[bytes] = t;
    }
    return t;
}

/* Levels of flows in an adapter (flows.h): the last one is of control messages, which no source offers. */
static inline unsigned net_ring_levels(const struct net_network *net)
{
    return 2 * net->set.classes - net->sole;
}

/* Bytes of an output's state of lanes; that of an adapter. */
static inline size_t net_lanes_bytes(const struct net_network *net)
{
    return net->set.lanes ? net->set.lanes->bytes : 0;
}
static inline void *net_lanes_of(const struct net_adapter *a)
{
    return (char *)a + a->net->lanes_place;
}

static inline struct net_credits_due *net_due_of(const struct net_adapter *a)
{
    return (struct net_credits_due *)(void *)(a->net->dues + 8 * (size_t)a->due + NET_DUE_AT);
}

/* The node that it is part of; its component. */
static inline void *net_node_of(const struct net_adapter *a)
{
    const struct net_network *net = a->net;
    return (char *)(uintptr_t)a - (size_t)a->port * net->adapter_bytes - net->host.bytes;
}
static inline struct ker_address net_adapter_self(const struct net_adapter *a)
{
    return (struct ker_address){a->self, a->net->rank};
}

/* link_class.c: of a class of links of the topology. */
enum ker_status net_link_class_init(struct net_link_class *, const struct route_link *,
                                    const struct net_settings *, const struct ker_config *,
                                    struct ker_error *);

static inline bool net_measures(const struct net_network *net, ker_time when)
{
    return when >= net->set.measure_from && when < net->set.measure_to;
}

/* The part of [from, from + length) inside the measured span. */
static inline uint64_t net_measured_part(const struct net_network *net, ker_time from, ker_time length)
{
    ker_time to = from + length;
    if (from < net->set.measure_from)
        from = net->set.measure_from;
    if (to > net->set.measure_to)
        to = net->set.measure_to;
    return to > from ? (uint64_t)(to - from) : 0;
}

static inline void net_final_set(struct net_network *net, ker_time until)
{
    net->final = until;
    until = net->by_channel ? 0 : until; /* channels are counted: none at once */
    until = ker_time_min(until, ker_time_min(net->set.measure_to, net->set.stop));
    bool shares = net->jobs || net->away;
    net->whole_until = shares ? 0 : until;
    net->shares_until = shares ? until : 0;
}

/* Bytes of buffer behind an output, per channel. */
static inline uint32_t net_buffer_behind(const struct net_network *net, const struct net_port *out)
{
    return out->due.ends_at_adapter ? net->set.adapter_buffer : net->set.buffer;
}

static inline struct net_waits *net_waits_of(const struct net_network *net, const struct net_port *out)
{
    return (struct net_waits *)(void *)(net->waits.at + (size_t)out->waits * net->waits.bytes);
}

static inline uint32_t net_switch_word(const struct net_network *net, uint32_t i)
{
    return net->switches ? net->switches[i] : net->switch_first + i * net->switch_words;
}
static inline struct net_switch *net_switch_nth(const struct net_network *net, uint32_t i)
{
    return (struct net_switch *)(void *)(net->dues + 8 * (size_t)net_switch_word(net, i));
}
static inline struct net_adapter *net_adapter_nth(const struct net_network *net, uint32_t i)
{
    return (struct net_adapter *)(void *)(net->block + 8 * (size_t)net->adapters[i]);
}

/* members.c: the i-th of net->switches; NULL: it is not made, and nothing ever came to it. */
const struct net_switch *net_switch_made(const struct net_network *, uint32_t i);
uint32_t net_plane_switches(const struct net_network *); /* of one plane */
struct part_member net_member_switch(const struct net_network *, uint32_t id);
struct part_member net_member_node(const struct net_network *, uint32_t id);

/* Behind this many bits of its number a message is numbered as if jobs were not counted. */
static inline uint32_t net_number_shift(const struct net_network *net)
{
    return net->jobs ? NET_JOB_BITS : 0;
}

/* What the 32 random bits of a packet's own are made of (ker_mix), the same wherever they are asked for:
 * injection times differ among a source's packets. With routing.pinning they are the message's or the flow's.
 */
static inline uint64_t net_chance(const struct net_network *net, uint32_t source, uint64_t what)
{
    return what * 0x9e3779b97f4a7c15u + ((uint64_t)source << 32) + net->set.seed;
}

static inline uint64_t net_packet_chance(const struct net_network *net, const struct net_packet *p)
{
    uint64_t what = (uint64_t)p->injected;
    if (__builtin_expect(net->set.pinning != NET_PIN_PACKET, 0))
        what = net->set.pinning == NET_PIN_MESSAGE ? p->message >> net_number_shift(net)
                                                   : (uint64_t)p->destination;
    return net_chance(net, p->source, what);
}

static inline uint32_t net_packet_draw(const struct net_network *net, const struct net_packet *p)
{
    return ker_mix(net_packet_chance(net, p));
}

/* Which of the choices a selection takes that looks at no switch's state: random, destination, flow. */
int net_choice_fixed(const struct net_network *, uint32_t switch_id, const struct route_choice *choice,
                     int count, const struct net_packet *, uint32_t draw);

/* source.c: switches on the path that is decided at injection, at most NET_MAX_SWITCHES as in struct
 * net_packet. */
#define NET_MAX_SWITCHES 255u
uint32_t net_source_switches(const struct net_adapter *, const struct net_packet *);
enum ker_status net_source_check(const struct net_network *, const struct ker_config *, struct ker_error *);

/* Header of a packet that passes this many switches. */
static inline uint32_t net_header(const struct net_network *net, uint32_t switches)
{
    return net->set.header + net->set.hop_bytes * switches;
}
