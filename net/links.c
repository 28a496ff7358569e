/* links.c - the table of links: one row for each direction of each link, from the port that sends into it. */
#include "net/links.h"
#include "net/jobs.h"
#include "net/series.h"
#include "net/switch/switch.h"

#include <stdlib.h>
#include <string.h>

/* ---- texts; the context is the network ---- */

const char *net_link_kind_text(const void *net, uint32_t node)
{
    return node ? "node" : "switch";
}

static const struct route_topology *topology_of(const void *network)
{
    const struct net_network *net = network;
    return net->topology;
}

const char *net_link_class_text(const void *net, uint32_t class)
{
    return route_summarise(topology_of(net))->link[class].name;
}

/* One number for switches and nodes: nodes behind the switches. */
static uint32_t name_id(const struct net_direction *d, const struct net_link_end *end)
{
    return end->id + (end->node ? route_summarise(d->net->topology)->switches : 0);
}

static const char *name_text(const void *net, uint32_t id)
{
    const struct route_topology *topology = topology_of(net);
    uint32_t switches = route_summarise(topology)->switches;
    return id < switches ? route_name(topology, false, id) : route_name(topology, true, id - switches);
}

static bool named(const void *net)
{
    return route_name(topology_of(net), false, 0) != NULL;
}

static bool detours_wanted(const void *network)
{
    const struct net_network *net = network;
    return net->away != NULL;
}

static bool stalls_wanted(const void *network)
{
    const struct net_network *net = network;
    return net->series && net->series->collect[NET_SERIES_LINKS] != STATS_COLLECT_OFF;
}

/* ---- columns ---- */

/* What a port of a switch and an adapter count under the same name. */
#define COUNTED(field) (row->port ? net_port_counts(row->net, row->port).field : row->adapter->field)

/* The longest wait of a packet, as the bytes that the link carries in it. */
static uint64_t queue_most(const struct net_direction *d)
{
    uint64_t rate = d->net->link[d->class].rate;
    return d->port
               ? (uint64_t)((stats_cell)net_port_counts(d->net, d->port).queue_max * rate / 1000000000000u)
               : 0;
}

/* clang-format off */
#define LINK_COLUMNS(COLUMN) \
    COLUMN(from_kind, "", TEXT, SAME, row->from.node, "the sending end: `node` or `switch`", \
           .text = net_link_kind_text, .text_bytes = 8) \
    COLUMN(from, "", U32, SAME, row->from.id, "its id") \
    COLUMN(from_port, "", U16, SAME, row->from.port, "its port; a node has port 0 only") \
    COLUMN(to_kind, "", TEXT, SAME, row->to.node, "the receiving end: `node` or `switch`", \
           .text = net_link_kind_text, .text_bytes = 8) \
    COLUMN(to, "", U32, SAME, row->to.id, "its id") \
    COLUMN(to_port, "", U16, SAME, row->to.port, "its port") \
    COLUMN(class, "", TEXT, SAME, row->class, \
           "the class of links it belongs to, named by the topology (`node`, `level 2`, `x`)", \
           .text = net_link_class_text) \
    COLUMN(packets, "packets", U64, SUM, COUNTED(packets), "packets sent") \
    COLUMN(bytes, "bytes", U64, SUM, COUNTED(bytes), "bytes sent, on the wire, headers included") \
    COLUMN(busy_ps, "ps", U64, SUM, COUNTED(busy), "time spent transmitting inside the measured span") \
    COLUMN(utilisation, "", SHARE, SUM, COUNTED(busy), "`busy_ps` / measured span") \
    COLUMN(queue_mean_packets, "packets", SHARE, SUM, \
           row->port ? net_port_counts(row->net, row->port).queue_time : row->adapter->wait, \
           "mean number of packets waiting for this link at its sending end") \
    COLUMN(queue_max_bytes, "bytes", U64, MOST, queue_most(row), \
           "the most bytes that waited there at once: the longest wait of a packet, at the link's " \
           "bandwidth; of a node it is not counted: 0 (adapters.csv has it)") \
    COLUMN(input_mean_packets, "packets", SHARE, SUM, \
           row->port ? net_port_counts(row->net, row->port).input_time : 0, \
           "mean number of packets in the buffer at its receiving end") \
    COLUMN(credit_stall_ps, "ps", U64, SUM, row->series ? row->series->stalled : 0, \
           "time in which packets waited in the inputs, or at the node, and could have been sent to this " \
           "output but for credits; only with output.series.links", \
           .wanted = stalls_wanted) \
    COLUMN(detour_packets, "packets", U64, SUM, row->detours, \
           "of `packets` those that have taken a detour, here or before; 0 of a node, whose packets " \
           "have not yet; only with a routing that takes any", \
           .wanted = detours_wanted) \
    COLUMN(from_name, "", TEXT, SAME, name_id(row, &row->from), \
           "name of the sending end; only where the topology has names (a file or a fabric)", \
           .text = name_text, .wanted = named) \
    COLUMN(to_name, "", TEXT, SAME, name_id(row, &row->to), "name of the receiving end; as above", \
           .text = name_text, .wanted = named)
/* clang-format on */

static uint64_t row_key(const void *row)
{
    return ((const struct net_direction *)row)->order;
}

STATS_SCHEMA(net_links_schema, struct net_direction, LINK_COLUMNS, row_key, "links",
             "One row for each direction of each link, in an order that depends on the topology only.")

/* ---- rows ---- */

/* In the order of the rows: switches by number, then nodes. */
struct walk {
    const struct net_network *net;
    const struct net_directions *directions;
    struct net_switch **by_number; /* NULL: as they lie */
    uint32_t switches, adapters;   /* that have been shown */
};

/* s: NULL when nothing ever came to the switch. */
static void switch_show(const struct walk *w, struct stats_table *table, uint32_t id,
                        const struct net_switch *s)
{
    static const struct net_port unused;
    const struct net_network *net = w->net;
    uint64_t order = (uint64_t)id * route_summarise(net->topology)->max_ports;
    const struct net_switch_view view = s ? net_switch_view(s) : (struct net_switch_view){0};
    uint32_t ports = route_ports(net->topology, id);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(net->topology, id, p, &peer);
        if (peer.kind == ROUTE_NOTHING)
            continue;
        bool node = peer.kind == ROUTE_ENDPOINT;
        struct net_direction d = {.net = net,
                                  .port = s ? net_switch_port(s, p) : &unused,
                                  .series = view.series ? &view.series[p] : NULL,
                                  .jobs = view.jobs ? view.jobs + (size_t)p * (net->jobs + 1) : NULL,
                                  .detours = view.detours ? view.detours[p] : 0,
                                  .from = {false, id, (uint16_t)p},
                                  .to = {node, node ? peer.id / net->adapters_each : peer.id,
                                         node ? (uint16_t)(peer.id % net->adapters_each) : peer.port},
                                  .class = peer.link,
                                  .order = order + p};
        w->directions->add(w->directions->context, table, &d);
    }
}

/* What a port knows itself: a period has no time for the topology. */
static void switch_show_known(const struct walk *w, struct stats_table *table, const struct net_switch *s)
{
    const struct net_switch_view view = net_switch_view(s);
    struct net_direction d = {.net = w->net, .from = {false, view.id, 0}};
    uint64_t order = (uint64_t)view.id * route_summarise(w->net->topology)->max_ports;
    for (uint32_t p = 0; p < view.ports; p++) {
        const struct net_port *port = net_switch_port(s, p);
        if (!port->due.used)
            continue;
        d.port = port;
        d.series = &view.series[p];
        d.jobs = view.jobs ? view.jobs + (size_t)p * (w->net->jobs + 1) : NULL;
        d.from.port = (uint16_t)p;
        d.class = port->link;
        d.order = order + p;
        d.to.node = port->due.ends_at_adapter;
        if (d.to.node && w->directions->nodes) {
            struct route_peer peer;
            route_port(w->net->topology, view.id, p, &peer);
            d.to.id = peer.id / w->net->adapters_each;
            d.to.port = (uint16_t)(peer.id % w->net->adapters_each);
        }
        w->directions->add(w->directions->context, table, &d);
    }
}

static void adapter_show(const struct walk *w, struct stats_table *table, const struct net_adapter *a)
{
    const struct net_network *net = w->net;
    const struct route_summary *sum = route_summarise(net->topology);
    uint32_t s = 0;
    uint16_t port = 0;
    if (!w->directions->known)
        route_attachment(net->topology, a->id, &s, &port);
    struct net_direction d = {.net = net,
                              .adapter = a,
                              .series = a->more->series,
                              .jobs = a->more->jobs,
                              .from = {true, a->id / net->adapters_each, a->port},
                              .to = {false, s, port},
                              .class = a->link,
                              .order = (uint64_t)sum->switches * sum->max_ports + a->id};
    w->directions->add(w->directions->context, table, &d);
}

static bool walk_next(void *context, struct stats_table *table)
{
    struct walk *w = context;
    uint32_t i = w->switches;
    if (i < w->net->switch_count) {
        const struct net_switch *s = w->by_number ? w->by_number[i] : net_switch_made(w->net, i);
        if (!w->directions->known)
            switch_show(w, table, s ? net_switch_view(s).id : net_switch_number(w->net, i), s);
        else if (s && net_switch_view(s).series)
            switch_show_known(w, table, s);
        w->switches++;
    } else if (w->adapters < w->net->adapter_count)
        adapter_show(w, table, net_adapter_nth(w->net, w->adapters++));
    else
        return false;
    return true;
}

static int switch_compare(const void *a, const void *b)
{
    uint32_t x = net_switch_view(*(struct net_switch *const *)a).id,
             y = net_switch_view(*(struct net_switch *const *)b).id;
    return x < y ? -1 : x > y;
}

/* Switches of several planes do not lie in the order of their numbers. */
static struct walk walk_begin(const struct net_network *net, const struct net_directions *directions)
{
    struct walk w = {.net = net, .directions = directions};
    if (!net->made && net->switch_count && route_summarise(net->topology)->planes > 1) {
        w.by_number = ker_alloc(net->switch_count * sizeof(struct net_switch *));
        for (uint32_t i = 0; i < net->switch_count; i++)
            w.by_number[i] = net_switch_nth(net, i);
        qsort(w.by_number, net->switch_count, sizeof *w.by_number, switch_compare);
    }
    return w;
}

void net_directions_show(const struct net_network *net, struct stats_table *table, struct ker_comm *comm,
                         const struct net_directions *directions, const struct stats_visitor *visitor)
{
    struct walk w = walk_begin(net, directions);
    stats_table_stream(table, comm, &(struct stats_rows){walk_next, &w}, visitor);
    free(w.by_number);
}

void net_directions_add(const struct net_network *net, struct stats_table *table,
                        const struct net_directions *directions)
{
    struct walk w = walk_begin(net, directions);
    while (walk_next(&w, table))
        ;
    free(w.by_number);
}

/* ---- links.csv ---- */

struct stats_table *net_network_links(const struct net_network *net, ker_time span)
{
    return stats_table_new(&net_links_schema, net, span > 0 ? (uint64_t)span : 0);
}

static void link_add(void *context, struct stats_table *table, const struct net_direction *d)
{
    stats_table_add(table, d);
}

void net_network_links_show(const struct net_network *net, struct stats_table *table, struct ker_comm *comm,
                            const struct stats_visitor *visitor)
{
    net_directions_show(net, table, comm, &(struct net_directions){.add = link_add}, visitor);
}
