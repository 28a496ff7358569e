/* build.c - a switch in its block of memory, in its first state. */
#include "net/channels.h"
#include "net/congestion/congestion.h"
#include "net/switch/private.h"

#include <stdlib.h>
#include <string.h>

static size_t port_used(const struct net_network *net)
{
    return sizeof(struct net_port) + sizeof(uint32_t) * net->set.channels * net->set.classes;
}

size_t net_switch_port_bytes(const struct net_network *net)
{
    return net_lines(port_used(net));
}

static size_t voq_row_bytes(uint32_t ports)
{
    return ports <= NET_VOQ_PORTS ? sizeof(uint16_t) * ports : 0;
}

/* Rows of `voq` lie at the ends of their ports, where they fit into what these are rounded up by; else behind
 * everything. */
static bool voq_fits(const struct net_network *net, uint32_t ports)
{
    return port_used(net) + voq_row_bytes(ports) <= net_switch_port_bytes(net);
}

size_t net_switch_begins(uint32_t ports)
{
    size_t head = sizeof(struct net_switch);
    return net_lines(head + sizeof(struct net_credits_due) * ports) - head;
}

size_t net_switch_bytes(const struct net_network *net, uint32_t ports)
{
    size_t behind = voq_fits(net, ports) ? 0 : voq_row_bytes(ports);
    return net_switch_begins(ports) + sizeof(struct net_switch) + net_switch_port_bytes(net) * ports +
           net_lines(behind * ports) + net_lines(net_lanes_bytes(net) * ports);
}

static void port_init(struct net_network *net, struct net_port *port, const struct part_layout *l,
                      const struct route_peer *peer)
{
    bool node = peer->kind == ROUTE_ENDPOINT;
    uint32_t host = node ? peer->id / net->adapters_each : 0;
    port->wake = KER_TIME_MAX;
    port->queue = NET_NONE;
    if (peer->kind == ROUTE_NOTHING)
        return;
    port->peer = node ? net_node_at(net, l, host) : net_switch_at(net, l, peer->id);
    port->used = true;
    port->peer_port = node ? (uint16_t)(peer->id % net->adapters_each) : peer->port;
    port->link = peer->link;
    port->ends_at_adapter = node;
    port->to_adapter = node && !net->set.sinks;
    port->lands = node && net->lands && port->peer.rank == net->rank;
    for (uint32_t c = 0; c < net->set.channels * net->set.classes; c++)
        port->credit[c] = port->to_adapter ? UINT32_MAX : net_buffer_behind(net, port);
}

static void voq_init(const struct net_network *net, struct net_switch *s, uint32_t ports)
{
    size_t row = voq_row_bytes(ports);
    bool fits = voq_fits(net, ports);
    const char *at = fits ? (char *)net_port_at(s, 0) + port_used(net) : (char *)net_port_at(s, ports);
    s->voq = (uint32_t)(at - (char *)s);
    s->voq_bytes = (uint16_t)(fits ? net_switch_port_bytes(net) : row);
    for (uint32_t p = 0; p < ports && row; p++)
        memset(net_voq_row(s, p), 0xff, row);
    if (!row)
        s->voq = 0;
}

static void more_init(struct net_network *net, struct net_switch *s)
{
    bool counts = net->congestion && net->congestion->counts;
    s->more = &net_switch_plain;
    if (!net_by_fifo(s) && !net->set.lanes && !counts && !net->away && !net->jobs)
        return;
    struct net_switch_more *m = net_switch_more(s);
    if (net_by_fifo(s)) {
        m->input_fifo = ker_alloc(sizeof *m->input_fifo * s->ports * NET_MAX_CHANNELS);
        for (uint32_t i = 0; i < s->ports * NET_MAX_CHANNELS; i++)
            m->input_fifo[i].head = NET_NONE;
    }
    m->jobs = net_job_uses_new(net, s->ports);
    m->granted = counts ? ker_alloc(sizeof *m->granted * s->ports) : NULL;
    m->detours = net->away ? ker_alloc(sizeof *m->detours * s->ports) : NULL;
    if (!net->set.lanes)
        return;
    m->lanes = (char *)s - net_switch_begins(s->ports) + net_switch_bytes(net, s->ports) -
               net_lines(net_lanes_bytes(net) * s->ports);
    for (uint32_t p = 0; net->set.lanes->init && p < s->ports; p++)
        net->set.lanes->init(net->set.lanes_shared, net_lanes_at(s, p),
                             &(struct net_lanes_output){.id = s->id, .port = p});
}

void net_switch_init(struct net_network *net, struct net_switch *s, const struct part_layout *l, uint32_t id)
{
    uint32_t ports = route_ports(net->topology, id);
    s->net = net;
    s->id = id;
    s->self = net_switch_at(net, l, id).index;
    s->coordinate = route_coordinate(net->topology, id);
    s->ports = (uint16_t)ports;
    s->port_bytes = (uint16_t)net_switch_port_bytes(net);
    s->request.free = KER_NONE;
    s->credits_due = net_switch_credits(s, ports);
    voq_init(net, s, ports);
    s->map = net_congestion_map_new(net, l, id);
    more_init(net, s);
    s->series = net_series_new(net, (uint64_t)id * route_summarise(net->topology)->max_ports, ports);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(net->topology, id, p, &peer);
        port_init(net, net_port_at(s, p), l, &peer);
        credits_due_init(credits_due_at(s, p));
    }
}

void net_switch_release(struct net_switch *s)
{
    net_pins_free(s);
    if (s->more != &net_switch_plain) {
        free(s->more->input_fifo);
        free(s->more->detours);
        free(s->more->jobs);
        free(s->more->granted);
        free((void *)(uintptr_t)s->more);
    }
    net_congestion_map_free(s->map);
}
