/* series_tables.c - the columns of what is collected of links, switches, adapters and channels. */
#include "net/channels.h"

/* In 64 bits where they are enough: 128 are divided by a function. */
uint64_t net_queue_bytes(const struct net_network *net, uint8_t class, uint64_t queue_max)
{
    static const uint64_t SECOND = 1000000000000u;
    uint64_t quick;
    if (!queue_max)
        return 0;
    if (!__builtin_mul_overflow(queue_max, net->link[class].rate, &quick))
        return quick / SECOND;
    return (uint64_t)((stats_cell)queue_max * net->link[class].rate / SECOND);
}

/* clang-format off */
#define TIME_COLUMN(COLUMN) COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period")

/* ---- links ---- */

#define LINK_COLUMNS(COLUMN) \
    TIME_COLUMN(COLUMN) \
    COLUMN(from_kind, "", TEXT, SAME, row->d->from.node, "the sending end: `node` or `switch`", \
           .text = net_link_kind_text, .text_bytes = 8) \
    COLUMN(from, "", U32, SAME, row->d->from.id, "its id") \
    COLUMN(from_port, "", U16, SAME, row->d->from.port, "its port") \
    COLUMN(packets, "packets", U64, SUM, row->load.packets, "packets that began to leave in the period") \
    COLUMN(bytes, "bytes", U64, SUM, row->load.bytes, "their bytes on the wire, headers included") \
    COLUMN(busy_ps, "ps", U64, SUM, row->load.busy, "time spent transmitting in the period") \
    COLUMN(utilisation, "", SHARE, SUM, row->load.busy, "`busy_ps` / length of the period") \
    COLUMN(queue_mean_packets, "packets", SHARE, SUM, row->load.queue_time, \
           "mean number of packets in the queue of the output; of a node: the waits of the packets that " \
           "left in the period, from the creation of their messages, over its length") \
    COLUMN(queue_max_bytes, "bytes", U64, MOST, \
           row->d->port ? net_queue_bytes(row->d->net, row->d->class, row->load.queue_max) : 0, \
           "the longest wait in that queue, at the link's bandwidth, of packets whose tails left in the " \
           "period") \
    COLUMN(waiting_bytes, "bytes", U64, SUM, row->load.waiting, \
           "bytes that wait for this link in the inputs of the switch, or payload in the node's adapter, " \
           "at the end of the period") \
    COLUMN(credit_stall_ps, "ps", U64, SUM, row->load.stall, \
           "time in which packets waited in the inputs and could have been sent to the output but for " \
           "credits; the link may have been sending meanwhile what had got them")

/* ---- channels ---- */

#define CHANNEL_NAME_COLUMNS(COLUMN) \
    COLUMN(from_kind, "", TEXT, SAME, row->d->from.node, "the sending end: `node` or `switch`", \
           .text = net_link_kind_text, .text_bytes = 8) \
    COLUMN(from, "", U32, SAME, row->d->from.id, "its id") \
    COLUMN(from_port, "", U16, SAME, row->d->from.port, "its port") \
    COLUMN(channel, "", U8, SAME, row->channel, \
           "the virtual channel: priority class x `switch.channels` + channel of the class, from 0 on")
#define CHANNEL_COLUMNS(COLUMN) \
    COLUMN(packets, "packets", U64, SUM, row->load.packets, "packets that have left on it") \
    COLUMN(bytes, "bytes", U64, SUM, row->load.bytes, "their bytes on the wire, headers included") \
    COLUMN(busy_ps, "ps", U64, SUM, row->load.busy, "time that the link spent transmitting them") \
    COLUMN(utilisation, "", SHARE, SUM, row->load.busy, "its share of the time") \
    COLUMN(queue_mean_packets, "packets", SHARE, SUM, row->load.queue_time, \
           "mean number of them in the queue of the output; of a node as in link_series.csv") \
    COLUMN(queue_max_bytes, "bytes", U64, MOST, \
           row->d->port ? net_queue_bytes(row->d->net, row->d->class, row->load.queue_max) : 0, \
           "the longest wait of one in that queue, at the link's bandwidth") \
    COLUMN(credit_stall_ps, "ps", U64, SUM, row->load.stall, \
           "time in which the next packet of a queue could be sent on this channel, or on one like it, but " \
           "for credits, whether or not the link was sending on others; of a node: time in which none of " \
           "its packets could leave for want of credits, of the channels on which they may")
#define CHANNELS_COLUMNS(COLUMN) CHANNEL_NAME_COLUMNS(COLUMN) CHANNEL_COLUMNS(COLUMN)
#define CHANNEL_SERIES_COLUMNS(COLUMN) \
    TIME_COLUMN(COLUMN) \
    CHANNEL_NAME_COLUMNS(COLUMN) \
    CHANNEL_COLUMNS(COLUMN)

/* ---- switches ---- */

#define SWITCH_NAME_COLUMN(COLUMN) COLUMN(switch, "", U32, SAME, row->id, "its id")
#define SWITCH_COLUMNS(COLUMN) \
    COLUMN(outputs, "", U32, SUM, row->outputs, "its outputs that have a link", .fixed = true) \
    COLUMN(packets, "packets", U64, SUM, row->sum.packets, "packets that it has sent on all of them") \
    COLUMN(bytes, "bytes", U64, SUM, row->sum.bytes, "their bytes on the wire, headers included") \
    COLUMN(busy_ps, "ps", U64, SUM, row->sum.busy, "time spent transmitting, summed over the outputs") \
    COLUMN(utilisation, "", SHARE, SUM, row->outputs ? row->sum.busy / row->outputs : 0, \
           "mean over the outputs of the share of time in which they transmit") \
    COLUMN(utilisation_max, "", SHARE, MOST, row->busiest, "the same of the busiest output") \
    COLUMN(queue_mean_packets, "packets", SHARE, SUM, row->sum.queue_time, \
           "mean number of packets in the queues of all outputs") \
    COLUMN(queue_max_bytes, "bytes", U64, MOST, row->sum.queue_max, \
           "the most that waited for one output: the longest wait of a packet, at the link's bandwidth") \
    COLUMN(credit_stall_ps, "ps", U64, SUM, row->sum.stall, \
           "time in which packets could have been sent to an output but for credits, summed over the outputs")
#define SWITCH_SERIES_COLUMNS(COLUMN) \
    TIME_COLUMN(COLUMN) \
    SWITCH_NAME_COLUMN(COLUMN) \
    SWITCH_COLUMNS(COLUMN) \
    COLUMN(waiting_bytes, "bytes", U64, SUM, row->sum.waiting, \
           "bytes that wait in its inputs at the end of the period")
#define SWITCHES_COLUMNS(COLUMN) \
    SWITCH_NAME_COLUMN(COLUMN) \
    SWITCH_COLUMNS(COLUMN) \
    COLUMN(name, "", TEXT, SAME, row->id, "its name; only where the topology has names", \
           .text = switch_name, .wanted = named)

/* ---- adapters ---- */

#define ADAPTER_NAME_COLUMNS(COLUMN) \
    COLUMN(node, "", U32, SAME, row->node, "the node's id") \
    COLUMN(adapter, "", U16, SAME, row->number, "the adapter's number in the node, from 0 on")
#define ADAPTER_COLUMNS(COLUMN) \
    COLUMN(packets_sent, "packets", U64, SUM, row->sent.packets, "packets that began to leave the adapter") \
    COLUMN(bytes_sent, "bytes", U64, SUM, row->sent.bytes, "their bytes on the wire, headers included") \
    COLUMN(sending_ps, "ps", U64, SUM, row->sent.busy, "time spent sending") \
    COLUMN(utilisation, "", SHARE, SUM, row->sent.busy, "its share") \
    COLUMN(queue_mean_packets, "packets", SHARE, SUM, row->sent.queue_time, \
           "mean number of packets that wait in the adapter: the waits of those that left, from the " \
           "creation of their messages, over the time") \
    COLUMN(wait_max_ps, "ps", U64, MOST, row->sent.queue_max, "the longest of these waits") \
    COLUMN(credit_stall_ps, "ps", U64, SUM, row->sent.stall, \
           "time in which packets could have left but for credits") \
    COLUMN(packets_received, "packets", U64, SUM, row->received.packets, \
           "packets that began to leave the switch for this adapter") \
    COLUMN(bytes_received, "bytes", U64, SUM, row->received.bytes, "their bytes on the wire") \
    COLUMN(receiving_ps, "ps", U64, SUM, row->received.busy, "time spent on the link to the adapter") \
    COLUMN(receive_utilisation, "", SHARE, SUM, row->received.busy, "its share")
#define ADAPTER_SERIES_COLUMNS(COLUMN) \
    TIME_COLUMN(COLUMN) \
    ADAPTER_NAME_COLUMNS(COLUMN) \
    ADAPTER_COLUMNS(COLUMN) \
    COLUMN(waiting_bytes, "bytes", U64, SUM, row->sent.waiting, \
           "payload that waits in the adapter at the end of the period")
#define ADAPTERS_COLUMNS(COLUMN) \
    ADAPTER_NAME_COLUMNS(COLUMN) \
    ADAPTER_COLUMNS(COLUMN)
/* clang-format on */

static const char *switch_name(const void *network, uint32_t id)
{
    return route_name(((const struct net_network *)network)->topology, false, id);
}

static bool named(const void *network)
{
    return switch_name(network, 0) != NULL;
}

static uint64_t link_key(const void *row)
{
    return ((const struct net_link_row *)row)->d->order;
}

static uint64_t switch_key(const void *row)
{
    return ((const struct net_switch_row *)row)->id;
}

static uint64_t adapter_key(const void *from)
{
    const struct net_adapter_row *row = from;
    return (uint64_t)row->node << 16 | row->number;
}

static uint64_t channel_key(const void *from)
{
    const struct net_channel_row *row = from;
    return row->d->order * NET_MAX_CHANNELS + row->channel;
}

STATS_SCHEMA(net_link_series_schema, struct net_link_row, LINK_COLUMNS, link_key, "link_series",
             "One row for each direction of each link and period in which something happened to it, by "
             "period, then in the order of links.csv.")
STATS_SCHEMA(net_switch_series_schema, struct net_switch_row, SWITCH_SERIES_COLUMNS, switch_key,
             "switch_series",
             "One row for each switch and period in which something happened to it, by period.")
STATS_SCHEMA(net_switches_schema, struct net_switch_row, SWITCHES_COLUMNS, switch_key, "switches",
             "One row for each switch.")
STATS_SCHEMA(net_adapter_series_schema, struct net_adapter_row, ADAPTER_SERIES_COLUMNS, adapter_key,
             "adapter_series",
             "One row for each adapter and period in which something happened to it, by period.")
STATS_SCHEMA(net_adapters_schema, struct net_adapter_row, ADAPTERS_COLUMNS, adapter_key, "adapters",
             "One row for each adapter of each node.")
STATS_SCHEMA(net_channels_schema, struct net_channel_row, CHANNELS_COLUMNS, channel_key, "channels",
             "One row for each virtual channel of each direction of each link, in the order of links.csv.")
STATS_SCHEMA(net_channel_series_schema, struct net_channel_row, CHANNEL_SERIES_COLUMNS, channel_key,
             "channel_series",
             "One row for each virtual channel of each direction of each link and period in which something "
             "happened to it, by period, then in the order of channels.csv.")
