/* settings.c - the keys switch.* and adapter.*, and what they must satisfy together with the links. */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"
#include "net/credits.h"
#include "net/network.h"
#include "net/parts.h"
#include "net/series.h"
#include "net/switch/switch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tables of arbiters and path selections: one line each. */
#define ARBITERS(KIND)                                                                                       \
    KIND(net_arbiter_round_robin)                                                                            \
    KIND(net_arbiter_oldest)                                                                                 \
    KIND(net_arbiter_random)
KER_KINDS_TABLE(arbiter_kinds, ARBITERS);
static const struct ker_kinds arbiters = {"switch.arbitration", "arbiters", sizeof(struct net_arbiter),
                                          arbiter_kinds};

#define LANES(KIND)                                                                                          \
    KIND(net_lanes_strict)                                                                                   \
    KIND(net_lanes_vl)
KER_KINDS_TABLE(lanes_kinds, LANES);
static const struct ker_kinds lanes = {"switch.lanes", "arbitration among lanes", sizeof(struct net_lanes),
                                       lanes_kinds};

#define SELECTIONS(KIND)                                                                                     \
    KIND(net_select_queue)                                                                                   \
    KIND(net_select_credits)                                                                                 \
    KIND(net_select_both)                                                                                    \
    KIND(net_select_two)                                                                                     \
    KIND(net_select_random)                                                                                  \
    KIND(net_select_destination)                                                                             \
    KIND(net_select_flow)                                                                                    \
    KIND(net_select_round_robin)
KER_KINDS_TABLE(selection_kinds, SELECTIONS);
static const struct ker_kinds selections = {"routing.selection", "path selections",
                                            sizeof(struct net_selection), selection_kinds};

const struct ker_option net_options[] = {
    {"switch.channels", KER_TYPE_INT, NULL, "1", "16", NULL,
     "Virtual channels per priority class on every link. The routing algorithm needs some for freedom of "
     "deadlock; more than that lessen "
     "head-of-line blocking. Absent: as many as the routing needs, at least 4."},
    {"switch.classes", KER_TYPE_INT, "1", "1", "16", NULL,
     "Priority classes; a higher class is served first. channels x classes must not exceed 16."},
    {"switch.buffer", KER_TYPE_BYTES, "64 KiB", "1", "1 GiB", NULL,
     "Input buffer of every channel of every port; what the credits of the link count. At least one packet."},
    {"switch.output_queue", KER_TYPE_BYTES, "16 KiB", "1", "1 GiB", NULL,
     "Output queue of every port. At least one packet."},
    {"switch.queueing", KER_TYPE_CHOICE, "voq", NULL, NULL, "voq|fifo",
     "Input buffers as virtual output queues, or as one FIFO per channel (head-of-line blocking)."},
    {"switch.speedup", KER_TYPE_REAL, "2.0", "1", "64", NULL, "Speed of the crossbar relative to the ports."},
    {"switch.reads", KER_TYPE_CHOICE, "packets", NULL, NULL, "packets|flits",
     "What of an input another packet must wait for: until all of a packet has been read, which takes as "
     "long "
     "as it still comes in; or only for the crossbar's time, as flits of others are read between its own."},
    {"switch.delay", KER_TYPE_TIME, "50 ns", "0 ps", "1 s", NULL,
     "Pipeline delay: from the head's arrival until it can leave an idle switch."},
    {"switch.credit_delay", KER_TYPE_TIME, "0 ns", "0 ps", "1 s", NULL,
     "Processing time of a credit, beside the latency of its link."},
    {"switch.credit_unit", KER_TYPE_BYTES, "1 B", "1", "64 KiB", NULL,
     "Buffers are counted in blocks of this size, a power of two: a packet takes whole blocks and gives them "
     "back. InfiniBand: 64 B."},
    {"switch.credit_interval", KER_TYPE_TIME, "0 ns", "0 ps", "1 s", NULL,
     "Credits are sent at multiples of this time only: one is known at the first that is not before its "
     "latency and switch.credit_delay have passed. 0: at once."},
    {"switch.vl_overhead", KER_TYPE_REAL, "0", "0", "0.9", NULL,
     "Share of every link that flow-control packets take; it is taken off the bandwidth. InfiniBand: 8 B for "
     "each lane at least every 65,536 symbol times, which are 64 KiB: 0.000122 a lane."},
    {"switch.head_life", KER_TYPE_INT, "20", "0", "31", NULL,
     "A packet that is the first of its queue in a switch for longer than 4.096 us x 2^this is dropped, as "
     "InfiniBand's HOQLife says; from 20 on it never is."},
    {"switch.packet_life", KER_TYPE_INT, "20", "0", "31", NULL,
     "A packet that is in a switch for longer than 4.096 us x 2^this is dropped (the switch's "
     "LifeTimeValue); from 20 on it never is."},
    {"switch.arbitration", KER_TYPE_CHOICE, .kinds = &arbiters,
     .meaning = "Which input an output serves next. Absent: oldest on tori and meshes, where taking turns at "
                "every hop starves what comes from further off (docs/network-model.md); else round_robin."},
    {"switch.lanes", KER_TYPE_CHOICE, "strict", .kinds = &lanes,
     .meaning = "Which channel (of all classes) of an output is served next, of those with a packet that can "
                "be sent; at adapters, too. switch.arbitration chooses among its packets."},
    {"switch.matching", KER_TYPE_CHOICE, "greedy", NULL, NULL, "greedy|separable",
     "Outputs that want the same input at one instant: the others take what else they can get, or their slot "
     "is lost, as in an allocator that makes one iteration (docs/network-model.md)."},
    {"switch.forwarding", KER_TYPE_CHOICE, "cut_through", NULL, NULL, "cut_through|store_and_forward",
     "Virtual cut-through, or whole packets at every switch."},
    {"routing.decided", KER_TYPE_CHOICE, "switches", NULL, NULL, "switches|source",
     "Where a packet's path is decided: switch by switch, or at its source, carried in the header; then path "
     "selection knows no switch's state."},
    {"routing.hop_bytes", KER_TYPE_BYTES, "0 B", "0", "16", NULL,
     "Decided at the source: header bytes on the wire for each switch on the path, beside adapter.header.",
     "routing.decided=source"},
    {"routing.selection", KER_TYPE_CHOICE, "both", .kinds = &selections,
     .meaning = "Which of the paths an algorithm offers a packet takes. Adaptive, as time at the link's "
                "bandwidth: the shortest backlog of the output, the most free buffer behind the link, or "
                "both added; two: the better of two drawn paths, by both. Static: drawn for every packet, by "
                "its destination, by its flow (source and destination), or in turn.",
     .belongs = "routing.algorithm=@selects or faults.link_rate "
                "or faults.switch_rate or faults.list",
     .resume = KER_RESUME_FORK},
    {"routing.bias", KER_TYPE_TIME, NULL, "0 ps", "1 s", NULL,
     "What a path that is not a shortest one costs on top, when paths are compared. Absent: with ugal and "
     "its kin eight times the latency of the longest link and the time that four packets take on the "
     "slowest, else nothing.",
     "routing.algorithm=@detours & routing.selection=@adaptive", .resume = KER_RESUME_FORK},
    {"routing.threshold", KER_TYPE_TIME, "0 ns", "0 ps", "1 s", NULL,
     "Adaptive selection: a cost of at most this much counts as none.", "routing.selection=@adaptive",
     .resume = KER_RESUME_FORK},
    {"routing.hysteresis", KER_TYPE_TIME, "0 ns", "0 ps", "1 s", NULL,
     "Adaptive selection: a flow keeps its path at a switch unless another is better by more than this. 0: "
     "every packet chooses again.",
     "routing.selection=@adaptive & routing.pinning=packet", .resume = KER_RESUME_FORK},
    {"routing.pinning", KER_TYPE_CHOICE, "packet", NULL, NULL, "packet|message|flow",
     .formerly = "routing.sticky",
     .meaning = "For how long a path, once taken, is kept: every packet chooses for itself, or all of a "
                "message, or all between two nodes take the path of the first. What a packet draws is drawn "
                "for the message or flow, too."},
    {"routing.credits", KER_TYPE_CHOICE, "channel", NULL, NULL, "channel|port",
     "For selection by credits: those missing on the channel that the packet would take, or on all channels "
     "of the port together.",
     "routing.selection=@credits", .resume = KER_RESUME_FORK},
    {"routing.watch_high", KER_TYPE_TIME, NULL, "1 ps", "1 s", NULL,
     "ugal_piggyback: a link between groups is congested from this backlog of its output on; absent: the "
     "time to send a full switch.output_queue.",
     "routing.algorithm=@watches"},
    {"routing.watch_low", KER_TYPE_TIME, NULL, "0 ps", "1 s", NULL,
     "ugal_piggyback: and no longer when the backlog has fallen to this; absent: half of watch_high.",
     "routing.algorithm=@watches"},
    {"adapter.packet_size", KER_TYPE_BYTES, "4 KiB", "1", "65535", NULL, "Largest payload of a packet."},
    {"adapter.headers", KER_TYPE_CHOICE, "plain", NULL, NULL, "plain|infiniband",
     "What every packet has on the wire beside its payload: adapter.header, or LRH 8 + BTH 12 + ICRC 4 + "
     "VCRC 2 B; then adapter.packet_size is an MTU of InfiniBand: 256, 512, 1024, 2048 or 4096 B."},
    {"adapter.header", KER_TYPE_BYTES, "32 B", "0", "4 KiB", NULL,
     "Bytes of header on the wire for every packet. Without any, an empty message still takes one byte.",
     "adapter.headers=plain"},
    {"adapter.queues", KER_TYPE_CHOICE, "per_destination", NULL, NULL, "per_destination|fifo",
     "One send queue for each destination, or one for all."},
    {"adapter.scheduling", KER_TYPE_CHOICE, "round_robin", NULL, NULL, "round_robin|fifo",
     "Between destinations: packet by packet in turn, or message by message.",
     "adapter.queues=per_destination"},
    {"adapter.control", KER_TYPE_CHOICE, "first", NULL, NULL, "first|fair|in_order",
     "What short control messages of MPI (RTS, CTS, READ, FIN, ACK) wait for at the adapter: they are sent "
     "before the other messages of their class; they take turns with them; or they wait behind what was "
     "handed over before, as on hardware with one queue pair for all.",
     "jobs"},
    {"adapter.ejection_rate", KER_TYPE_RATE, NULL, "1 kB/s", NULL, NULL,
     "How fast the adapter takes packets off the network, when slower than its link; absent: it always keeps "
     "up."},
    {"adapter.injection_rate", KER_TYPE_STRING | KER_TYPE_LIST, NULL, NULL, NULL, NULL,
     "How fast the adapter sends the payload of a message, when slower than its link: a list of RATE[:SIZE], "
     "each from a size on (of what this adapter sends of the message). Absent: as fast as the link.",
     "network.model=@links"},
    {"adapter.injection_between", KER_TYPE_CHOICE, "steps", NULL, NULL, "steps|lines",
     "Between the sizes of that list: the rate of the smaller one, or straight lines.",
     "adapter.injection_rate"},
    {"adapter.buffer", KER_TYPE_BYTES, "64 KiB", "1", "1 GiB", NULL,
     "Receive buffer per channel, which matters where what has come waits there: for adapter.ejection_rate, "
     "or for memory (node.lane_bandwidth).",
     "adapter.ejection_rate or node.lane_bandwidth"},
    {"adapter.resequence", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Hand up the messages of each source in the order in which it sent them: one that is whole before its "
     "turn is kept until then."},
    {0},
};

static const struct ker_word queueing_words[] = {{"voq", NET_QUEUE_VOQ}, {"fifo", NET_QUEUE_FIFO}, {NULL, 0}};

static const struct ker_word forwarding_words[] = {
    {"cut_through", NET_CUT_THROUGH}, {"store_and_forward", NET_STORE_AND_FORWARD}, {NULL, 0}};

static const struct ker_word control_words[] = {
    {"first", NET_CONTROL_FIRST}, {"fair", NET_CONTROL_FAIR}, {"in_order", NET_CONTROL_IN_ORDER}, {NULL, 0}};

static const struct ker_word pinning_words[] = {
    {"packet", NET_PIN_PACKET}, {"message", NET_PIN_MESSAGE}, {"flow", NET_PIN_FLOW}, {NULL, 0}};

static const struct net_arbiter *arbiter_read(const struct ker_config *c,
                                              const struct route_topology *topology)
{
    uint32_t extents[8];
    if (ker_config_has(c, "switch.arbitration"))
        return ker_config_operations(c, "switch.arbitration");
    return (route_grid(topology, extents) > 0 ? net_arbiter_oldest : net_arbiter_round_robin).operations;
}

/* The time of the largest packet on the slowest link. */
static ker_time packet_longest(const struct net_settings *set, const struct route_summary *summary)
{
    ker_time longest = 1;
    for (int i = 0; i < summary->link_count; i++) {
        ker_time wire = ker_serialisation(set->payload + set->header, summary->link[i].rate);
        longest = wire > longest ? wire : longest;
    }
    return longest;
}

static uint64_t bias_read(const struct net_settings *set, const struct ker_config *c,
                          const struct route_summary *summary)
{
    if (ker_config_has(c, "routing.bias"))
        return (uint64_t)ker_config_time(c, "routing.bias");
    return (uint64_t)(summary->bias + summary->bias_packets * packet_longest(set, summary));
}

double net_network_bias(const struct net_network *net, ker_time *bias)
{
    *bias = (ker_time)net->set.bias;
    return (double)*bias / (double)packet_longest(&net->set, route_summarise(net->topology));
}

uint32_t net_packet_header(const struct ker_config *c)
{
    if (ker_config_is(c, "adapter.headers", "infiniband"))
        return 8 + 12 + 4 + 2; /* LRH, BTH, ICRC, VCRC */
    return (uint32_t)ker_config_bytes(c, "adapter.header");
}

/* InfiniBand's limits of life: 4.096 us x 2^value; 0: none. */
static ker_time life_read(const struct ker_config *c, const char *key)
{
    int64_t value = ker_config_int(c, key);
    return value < 20 ? (ker_time)4096000 << value : 0;
}

/* Buffers are whole blocks: what is left over holds nothing. */
static void credits_read(struct net_settings *set, const struct ker_config *c)
{
    set->credit_interval = ker_config_time(c, "switch.credit_interval");
    set->block_rest = (uint32_t)ker_config_bytes(c, "switch.credit_unit") - 1;
    if (set->block_rest & (set->block_rest + 1))
        return; /* to be refused */
    set->buffer &= ~set->block_rest;
    set->adapter_buffer &= ~set->block_rest;
}

static void settings_read(struct net_settings *set, const struct ker_config *c,
                          const struct route_topology *topology)
{
    const struct route_summary *summary = route_summarise(topology);
    set->channels = summary->configured;
    set->classes = (uint32_t)ker_config_int(c, "switch.classes");
    set->buffer = (uint32_t)ker_config_bytes(c, "switch.buffer");
    set->output_queue = (uint32_t)ker_config_bytes(c, "switch.output_queue");
    set->queueing = (enum net_queueing)ker_config_number(c, "switch.queueing", queueing_words);
    set->speedup = ker_config_real(c, "switch.speedup");
    set->read_flits = ker_config_is(c, "switch.reads", "flits");
    set->delay = ker_config_time(c, "switch.delay");
    set->credit_delay = ker_config_time(c, "switch.credit_delay");
    set->arbiter = arbiter_read(c, topology);
    set->arbitration = set->arbiter->order;
    set->forwarding = (enum net_forwarding)ker_config_number(c, "switch.forwarding", forwarding_words);
    set->selection = ker_config_operations(c, "routing.selection");
    set->adapts = set->selection->adapts;
    set->pinning = (enum net_pinning)ker_config_number(c, "routing.pinning", pinning_words);
    set->count_port = ker_config_is(c, "routing.credits", "port");
    set->threshold = (uint64_t)ker_config_time(c, "routing.threshold");
    set->hysteresis = (uint64_t)ker_config_time(c, "routing.hysteresis");
    set->remembers = (set->adapts && set->hysteresis) ||
                     (set->pinning != NET_PIN_PACKET && (set->adapts || set->selection->turns));
    set->payload = (uint32_t)ker_config_bytes(c, "adapter.packet_size");
    set->header = net_packet_header(c);
    set->bias = bias_read(set, c, summary);
    set->at_source = ker_config_is(c, "routing.decided", "source");
    set->hop_bytes = (uint32_t)ker_config_bytes(c, "routing.hop_bytes");
    set->most = set->payload + set->header + set->hop_bytes * NET_MAX_SWITCHES;
    set->fifo_adapter = ker_config_is(c, "adapter.queues", "fifo");
    set->fifo_order = ker_config_is(c, "adapter.scheduling", "fifo");
    set->control = (enum net_control)ker_config_number(c, "adapter.control", control_words);
    set->rings = set->channels * set->classes;
    set->ejection_rate =
        ker_config_has(c, "adapter.ejection_rate") ? ker_config_rate(c, "adapter.ejection_rate") : 0;
    set->sinks = set->ejection_rate || ker_config_has(c, "node.lane_bandwidth");
    set->adapter_buffer = (uint32_t)ker_config_bytes(c, "adapter.buffer");
    set->resequence = ker_config_bool(c, "adapter.resequence");
    set->vl_overhead = ker_config_real(c, "switch.vl_overhead");
    set->head_life = life_read(c, "switch.head_life");
    set->packet_life = life_read(c, "switch.packet_life");
    credits_read(set, c);
}

uint32_t net_channels(const struct ker_config *c)
{
    return ker_config_has(c, "switch.channels") ? (uint32_t)ker_config_int(c, "switch.channels") : 0;
}

/* A buffer that holds no packet. */
static enum ker_status buffer_fail(const struct net_settings *set, const struct ker_config *c,
                                   const char *key, uint32_t bytes, const char *hops, struct ker_error *error)
{
    uint32_t taken = strcmp(key, "switch.output_queue") == 0 ? set->most : credits_of(set, set->most);
    char blocks[64] = "";
    if (taken > set->most)
        snprintf(blocks, sizeof blocks, ", which takes whole blocks of %u B", set->block_rest + 1);
    return ker_config_fail(c, error, key,
                           "%u bytes hold no packet of %u bytes (adapter.packet_size + "
                           "adapter.header%s)%s: give at least \"%u B\", or a smaller adapter.packet_size",
                           bytes, set->most, hops, blocks, taken);
}

/* What InfiniBand does not know. */
static enum ker_status blocks_check(const struct net_settings *set, const struct ker_config *c,
                                    struct ker_error *error)
{
    uint32_t unit = set->block_rest + 1, mtu = set->payload;
    if (unit & (unit - 1))
        return ker_config_fail(c, error, "switch.credit_unit", "%u bytes are not a power of two, such as 64",
                               unit);
    if (credits_of(set, set->most) > NET_MAX_PACKET)
        return ker_config_fail(c, error, "switch.credit_unit",
                               "a packet of %u bytes takes %u in blocks of %u; at most %u are possible",
                               set->most, credits_of(set, set->most), unit, NET_MAX_PACKET);
    if (ker_config_is(c, "adapter.headers", "infiniband") && (mtu < 256 || mtu > 4096 || mtu & (mtu - 1)))
        return ker_config_fail(c, error, "adapter.packet_size",
                               "%u bytes are no MTU of InfiniBand: 256, 512, 1024, 2048 or 4096", mtu);
    return KER_OK;
}

static enum ker_status settings_check(const struct net_settings *set, const struct ker_config *c,
                                      struct ker_error *error)
{
    uint32_t packet = set->most;
    const char *hops = set->hop_bytes ? " + routing.hop_bytes for up to 255 switches" : "";
    if (set->channels > NET_MAX_CHANNELS)
        return ker_config_fail(c, error, "routing.algorithm",
                               "needs %u virtual channels here; at most %u are possible", set->channels,
                               NET_MAX_CHANNELS);
    if (set->channels * set->classes > NET_MAX_CHANNELS)
        return ker_config_fail(c, error, "switch.classes",
                               "%u classes of %u channels are %u; at most %u are possible", set->classes,
                               set->channels, set->classes * set->channels, NET_MAX_CHANNELS);
    if (packet > NET_MAX_PACKET)
        return ker_config_fail(c, error, "adapter.packet_size",
                               "payload and header%s make %u bytes; at most %u are possible", hops, packet,
                               NET_MAX_PACKET);
    enum ker_status status = blocks_check(set, c, error);
    if (status != KER_OK)
        return status;
    if (set->buffer < credits_of(set, packet))
        return buffer_fail(set, c, "switch.buffer", set->buffer, hops, error);
    if (set->output_queue < packet)
        return buffer_fail(set, c, "switch.output_queue", set->output_queue, hops, error);
    if (set->sinks && set->adapter_buffer < credits_of(set, packet))
        return buffer_fail(set, c, "adapter.buffer", set->adapter_buffer, hops, error);
    return KER_OK;
}

static void onward_set(struct net_network *net)
{
    ker_time whole = net->set.forwarding == NET_STORE_AND_FORWARD ? -1 : 0;
    net->onward[0] = (struct net_onward){net->set.delay, whole};
    net->onward[1] = (struct net_onward){0, -1};
    net->head_first = ~whole;
}

static void phases_set(struct net_network *net, const struct net_phases *phases)
{
    net->set.measure_from = phases->measure_from;
    net->set.measure_to = phases->measure_to;
    net->set.stop = phases->stop;
    net->set.least = (uint32_t)phases->least_payload + net->set.header;
    net->set.least += net->set.least == 0;
    net->jobs = phases->jobs < NET_JOB_OTHERS ? phases->jobs : NET_JOB_OTHERS;
    net->job_name = phases->job_name;
    net->job_names = phases->job_names;
    net_final_set(net, KER_TIME_MAX); /* until the engine says less */
}

static enum ker_status lanes_read(struct net_network *net, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct net_settings *set = &net->set;
    set->lanes = ker_config_operations(config, "switch.lanes");
    if (!set->lanes->choose)
        set->lanes = NULL;
    if (set->lanes && ker_config_is(config, "switch.matching", "separable"))
        return ker_config_fail(config, error, "switch.lanes",
                               "is possible with switch.matching = \"greedy\" only");
    return set->lanes && set->lanes->read ? set->lanes->read(&set->lanes_shared, config, net->topology,
                                                             set->channels * set->classes, error)
                                          : KER_OK;
}

static enum ker_status network_check(struct net_network *net, const struct ker_config *config,
                                     struct ker_error *error)
{
    const struct route_summary *summary = route_summarise(net->topology);
    enum ker_status status = settings_check(&net->set, config, error);
    status = status ?: lanes_read(net, config, error);
    status = status ?: net_source_check(net, config, error);
    for (int i = 0; i < summary->link_count && status == KER_OK; i++)
        status = net_link_class_init(&net->link[i], &summary->link[i], &net->set, config, error);
    net->lives = net->set.head_life || net->set.packet_life;
    if (status == KER_OK && net->set.resequence && net->lives)
        status = ker_config_fail(config, error, "adapter.resequence",
                                 "is not possible with switch.head_life or switch.packet_life below 20: a "
                                 "packet that is dropped would hold back all that its source sends after it");
    if (status == KER_OK && net->set.resequence && net->faulty &&
        route_fault_summarise(net->topology)->last > 0)
        status = ker_config_fail(config, error, "adapter.resequence",
                                 "is not possible with faults that happen during the run: a packet that is "
                                 "lost would hold back all that its source sends after it; let them be from "
                                 "the start, or remove this");
    return status;
}

static void statistics_init(struct net_network *net, const struct ker_config *config)
{
    struct stats_quantity **quantity[NET_QUANTITIES] = {
        &net->latency, &net->total_latency, &net->message_latency, &net->message_size,
        &net->extent,  &net->early_wait,    &net->control_wait,
    };
    net->quantities = ker_map(sizeof *net->quantities * NET_QUANTITIES);
    for (int i = 0; i < NET_QUANTITIES; i++) {
        *quantity[i] = &net->quantities[i];
        stats_quantity_init(*quantity[i]);
    }
    net->histograms = ker_config_bool(config, "output.histograms");
    net_matrices_read(net, config);
    enum stats_collect parts = stats_collect_of(config, "output.series.latency");
    if (parts != STATS_COLLECT_OFF ||
        (ker_config_means_key(config, "output.waits") && ker_config_bool(config, "output.waits"))) {
        net->parts = ker_alloc(sizeof *net->parts);
        net->parts->periods = parts == STATS_COLLECT_PERIODS;
        net->part_now = &net->parts->packet;
        net_parts_routes(net);
    }
    net->watched_all = net->congestion || net->parts || net->states || net->set.lanes;
    net->watched = net->watched_all || net->away;
    net_series_read(net, config);
}

/* The short forms of next hops that these settings allow. */
static void forms_set(struct net_network *net, bool adaptive)
{
    const struct route_topology *topology = net->topology;
    /* behind the input_fifo of a FIFO a packet is routed when its turn comes, from the state it came with */
    if (!net->faulty && net->set.queueing != NET_QUEUE_FIFO) {
        net->route_ahead = adaptive ? route_decided_function(topology) : net->route;
        net->hop = net->set.pinning == NET_PIN_PACKET ? route_hop_function_of(topology) : NULL;
    }
    net->selects_time = net_selects_time(net);
    if (!net->selects_time)
        return;
    net->range = route_range_function_of(topology);
    net->pair = route_pair_function_of(topology);
}

enum ker_status net_network_new(struct net_network **network, const struct ker_config *config,
                                const struct route_topology *topology, uint64_t seed,
                                struct net_phases phases, struct ker_error *error)
{
    struct net_network *net = ker_alloc(sizeof *net);
    const struct route_summary *summary = route_summarise(topology);
    *network = net;
    net->topology = topology;
    net->adapters_each = route_summarise(topology)->adapters;
    net->route = route_function(topology);
    net->away = route_away_function_of(topology);
    net->away_states = route_away_states(topology);
    net->faulty = route_fault_summarise(topology) != NULL;
    net->outgoing.free = net->offered.free = KER_NONE;
    settings_read(&net->set, config, topology);
    forms_set(net, summary->adaptive);
    net->set.entrances = net->set.channels - (net->faulty && route_fault_summarise(topology)->repairs);
    net->set.seed = seed;
    phases_set(net, &phases);
    onward_set(net);
    enum ker_status status = network_check(net, config, error);
    status = status ?: net_congestion_read(net, config, error);
    net->dma = ker_config_has(config, "node.lane_bandwidth") ? net_dma_new() : NULL;
    if (status == KER_OK)
        status = ker_sizes_read(&net->set.injection, config, "adapter.injection_rate", true,
                                ker_config_is(config, "adapter.injection_between", "lines"), error);
    net->set.holds = net->congestion || net->set.injection.count;
    net->set.throttled = net->set.holds || net->dma;
    if (status != KER_OK)
        return status;
    net->dirty_words = (summary->max_ports + 63) / 64;
    net->dirty = ker_alloc(sizeof *net->dirty * net->dirty_words);
    if (ker_config_is(config, "switch.matching", "separable"))
        net->granted = ker_alloc(sizeof *net->granted * summary->max_ports);
    net->reassembly = net_reassembly_new();
    if (net->set.resequence)
        net->resequencer = net_resequencer_new();
    status = net_link_states_read(net, config, error);
    statistics_init(net, config);
    return status;
}
