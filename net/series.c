/* series.c - links in periods: the rows of link_series.csv.
 *
 * A row is the difference of a link's totals at the two ends of the period. The totals hold what is settled;
 * of transmissions that are scheduled beyond (ahead.h) those of the period are added: a packet and its bytes
 * count where it begins to leave, the time on the link and the wait before it are split at the period's end.
 * Their shares are taken off the last totals before the rows are made, and added to the new last totals
 * afterwards, so that nothing must be kept for them.
 */
#include "net/series.h"

#include "net/ahead.h"
#include "net/links.h"
#include "net/parts.h"

/* A direction in a period. */
struct link_period {
    struct net_direction d;
    ker_time at;
    uint64_t packets, bytes, busy, queue_time, queue_max, waiting, stall;
};

/* clang-format off */
#define PERIOD_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period") \
    COLUMN(from_kind, "", TEXT, SAME, row->d.from.node, "the sending end: `node` or `switch`", \
           .text = net_link_kind_text, .text_bytes = 8) \
    COLUMN(from, "", U32, SAME, row->d.from.id, "its id") \
    COLUMN(from_port, "", U16, SAME, row->d.from.port, "its port") \
    COLUMN(packets, "packets", U64, SUM, row->packets, "packets that began to leave in the period") \
    COLUMN(bytes, "bytes", U64, SUM, row->bytes, "their bytes on the wire, headers included") \
    COLUMN(busy_ps, "ps", U64, SUM, row->busy, "time spent transmitting in the period") \
    COLUMN(utilisation, "", SHARE, SUM, row->busy, "`busy_ps` / length of the period") \
    COLUMN(queue_mean_packets, "packets", SHARE, SUM, row->queue_time, \
           "mean number of packets in the queue of the output; of a node: the waits of the packets that " \
           "left in the period, from the creation of their messages, over its length") \
    COLUMN(queue_max_bytes, "bytes", U64, MOST, row->queue_max, \
           "the longest wait in that queue, at the link's bandwidth, of packets whose tails left in the " \
           "period") \
    COLUMN(waiting_bytes, "bytes", U64, SUM, row->waiting, \
           "bytes that wait for this link in the inputs of the switch, or payload in the node's adapter, " \
           "at the end of the period") \
    COLUMN(credit_stall_ps, "ps", U64, SUM, row->stall, \
           "time in which packets waited in the inputs and could have gone to the output but for credits; " \
           "the link may have been sending meanwhile what had got them")

#define VALUE(name, unit, type, merge, value, ...) STATS_VALUE(struct link_period, name, value)
PERIOD_COLUMNS(VALUE)
static const struct stats_column columns[] = {PERIOD_COLUMNS(STATS_COLUMN)};
/* clang-format on */

static uint64_t row_key(const void *row)
{
    return ((const struct link_period *)row)->d.order;
}

static const struct stats_schema link_series = {"link_series",
                                                "One row for each direction of each link and period in "
                                                "which something happened to it, by period, then in "
                                                "the order of links.csv.",
                                                columns, sizeof columns / sizeof *columns, row_key};

const struct stats_schema *const net_tables[] = {&net_links_schema, &link_series, &net_latency_series_schema,
                                                 NULL};

/* ---- what is not over at the end of the period ---- */

/* Adds `sign` times what lies before `at` to the last totals of the link. */
static void ahead_add(const struct net_network *net, const struct net_ahead *t, ker_time at, uint64_t sign)
{
    const struct net_switch *s = net_ahead_switch(net, t->out);
    struct net_link_series *l = &s->series[net_ahead_port(s, t->out)];
    ker_time begun = t->leave - (ker_time)t->waited;
    if (begun < at)
        l->queue_time += sign * (uint64_t)(ker_time_min(t->leave, at) - begun);
    if (t->leave >= at)
        return;
    l->packets += sign;
    l->bytes += sign * t->bytes;
    l->busy += sign * net_measured_part(net, t->leave, ker_time_min(t->wire, at - t->leave));
}

static void all_ahead_add(const struct net_network *net, ker_time at, uint64_t sign)
{
    for (size_t i = 0; i < net->ahead_count; i++)
        ahead_add(net, &net->ahead[i], at, sign);
}

/* ---- rows ---- */

/* The difference to the last total, which becomes this one. */
static uint64_t since_last(uint64_t *last, uint64_t total)
{
    uint64_t before = *last;
    *last = total;
    return total - before;
}

static void port_count(struct link_period *row, const struct net_port *port, struct net_link_series *l)
{
    const struct net_network *net = row->d.net;
    row->packets = since_last(&l->packets, port->packets);
    row->bytes = since_last(&l->bytes, port->bytes);
    row->busy = since_last(&l->busy, port->busy);
    row->queue_time = since_last(&l->queue_time, port->queue_time);
    row->queue_max = (uint64_t)((stats_cell)port->queue_max * net->link[row->d.class].rate / 1000000000000u);
    row->waiting = port->waiting;
}

/* An adapter counts a transmission when it begins. */
static void adapter_count(struct link_period *row, const struct net_adapter *a, struct net_link_series *l)
{
    ker_time beyond = a->wire && a->link_free > row->at ? a->link_free - row->at : 0;
    row->packets = since_last(&l->packets, a->packets);
    row->bytes = since_last(&l->bytes, a->bytes);
    row->busy = since_last(&l->busy, a->busy - net_measured_part(row->d.net, row->at, beyond));
    row->queue_time = since_last(&l->queue_time, a->wait);
    row->waiting = a->backlog;
}

/* The longest wait of the next period begins anew. */
static void queue_max_take(const struct net_port *port, struct net_link_series *l)
{
    if (port->queue_max > l->queue_max)
        l->queue_max = port->queue_max;
    ((struct net_port *)port)->queue_max = 0;
}

static void row_add(void *at, struct stats_table *table, const struct net_direction *d)
{
    struct link_period row = {.d = *d, .at = *(ker_time *)at};
    struct net_link_series *l = d->series;
    if (!l) /* nothing has ever come to that switch */
        return;
    if (d->port) {
        port_count(&row, d->port, l);
        queue_max_take(d->port, l);
    } else {
        adapter_count(&row, d->adapter, l);
    }
    row.stall = since_last(&l->stall, net_stall_until(d->net, l, row.at));
    if (row.packets | row.busy | row.queue_time | row.queue_max | row.waiting | row.stall)
        stats_table_add(table, &row);
}

void net_network_series_begin(struct net_network *net, struct stats_series_files *files,
                              struct ker_error *error)
{
    if (net->series && net->series->periods)
        net->series->links = stats_series_begin(files, &link_series, net, error);
    if (net->parts && net->parts->periods)
        net->parts->series = stats_series_begin(files, &net_latency_series_schema, NULL, error);
}

static void parts_series_add(struct net_network *net, ker_time at)
{
    if (!net->parts || !net->parts->series)
        return;
    struct stats_table *table = net_parts_table(net, at);
    stats_series_add(net->parts->series, table);
    stats_table_free(table);
}

void net_network_series_add(struct net_network *net, ker_time from, ker_time at)
{
    parts_series_add(net, at);
    if (!net->series || !net->series->links)
        return;
    struct stats_table *table = stats_table_new(&link_series, net, (uint64_t)(at - from));
    net_network_settle(net, at);
    all_ahead_add(net, at, UINT64_MAX);
    net_directions_add(net, table, &(struct net_directions){row_add, &at});
    all_ahead_add(net, at, 1);
    stats_series_add(net->series->links, table);
    stats_table_free(table);
}

/* ---- the end ---- */

static void direction_end(void *end, struct stats_table *table, const struct net_direction *d)
{
    struct net_link_series *l = d->series;
    if (!l)
        return;
    l->stalled = net_stall_until(d->net, l, *(ker_time *)end);
    l->since = KER_TIME_MAX;
    if (d->port && d->port->queue_max < l->queue_max)
        ((struct net_port *)d->port)->queue_max = l->queue_max;
}

void net_network_series_end(struct net_network *net, ker_time end)
{
    if (net->series)
        net_directions_add(net, NULL, &(struct net_directions){direction_end, &end});
}

struct net_series_cost net_network_series_cost(const struct net_network *net)
{
    const struct route_summary *sum = route_summarise(net->topology);
    struct stats_table *table = stats_table_new(&link_series, net, 0);
    uint64_t directions = 2 * sum->links;
    struct net_series_cost cost = {
        .rows = net->series && net->series->periods ? directions : 0,
        .memory = net->series ? directions * sizeof(struct net_link_series) : 0,
    };
    cost.memory += cost.rows * stats_table_row_bytes(table);
    stats_table_free(table);
    return cost;
}

void net_series_state(struct net_link_series *l, uint32_t outputs, struct ker_chunk *c)
{
    ker_chunk_same(c, l != NULL);
    for (uint32_t i = 0; l && i < outputs; i++)
        KER_CHUNK(c, l[i]);
}
