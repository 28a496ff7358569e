/* build.c - a switch in its block of memory, in its first state. */
#include "net/channels.h"
#include "net/congestion/congestion.h"
#include "net/switch/private.h"

#include <stdlib.h>
#include <string.h>

size_t net_switch_port_bytes(const struct net_network *net)
{
    size_t used = sizeof(struct net_port) + sizeof(uint32_t) * net->set.channels * net->set.classes;
    return (used + 7) / 8 * 8;
}

size_t net_switch_bytes(const struct net_network *net, uint32_t ports)
{
    return (sizeof(struct net_switch) + (net_switch_port_bytes(net) + net_lanes_bytes(net)) * ports + 7) / 8 *
           8;
}

/* ---- outputs where packets wait ---- */

void net_waits_init(struct net_network *net)
{
    uint32_t ports = route_summarise(net->topology)->max_ports;
    ker_arena_init(&net->waits_range);
    net->waits.row = (uint32_t)sizeof(uint16_t) * (ports < NET_VOQ_PORTS ? ports : NET_VOQ_PORTS);
    net->waits.bytes = (uint32_t)(sizeof(struct net_waits) + net->waits.row + 7) / 8 * 8;
    net->waits.free = KER_NONE;
    net_waits_extend(net);
    struct net_waits *nobody = net_waits_at(net, 0);
    net->waits.free = nobody->queue;
    nobody->queue = NET_NONE;
    nobody->wake = KER_TIME_MAX;
}

void net_waits_extend(struct net_network *net)
{
    uint32_t old = net->waits.room;
    net->waits.at = ker_pool_extend(net->waits.at, net->waits.bytes, &net->waits.room, &net->waits.free,
                                    &net->waits_range);
    for (uint32_t i = old; i < net->waits.room; i++)
        memset(net_waits_at(net, i)->first, 0xff, net->waits.row);
}

ker_time *net_since_of(struct net_switch *s, uint32_t request)
{
    struct net_switch_more *more = net_switch_more(s);
    KER_RESERVE(more->since, more->since_room, request + 1u);
    return &more->since[request];
}

/* ---- the switch ---- */

static void port_init(struct net_network *net, struct net_port *port, const struct part_layout *l,
                      const struct route_peer *peer)
{
    bool node = peer->kind == ROUTE_ENDPOINT;
    uint32_t host = node ? peer->id / net->adapters_each : 0;
    if (peer->kind == ROUTE_NOTHING)
        return;
    struct ker_address at = node ? net_node_at(net, l, host) : net_switch_at(net, l, peer->id);
    port->peer = at.index;
    port->upstream = at.rank == net->rank; /* it is found later */
    if (!port->upstream) {
        port->peer = (uint32_t)net->remote_count;
        *KER_PUSH(net->remote, net->remote_count, net->remote_room) = at;
    }
    port->due.used = true;
    port->peer_port = node ? (uint16_t)(peer->id % net->adapters_each) : peer->port;
    port->link = peer->link & (ROUTE_MAX_LINKS - 1);
    port->due.ends_at_adapter = node;
    port->due.to_adapter = node && !net->set.sinks;
    port->due.lands = node && net->lands && port->upstream;
    for (uint32_t c = 0; c < net->set.channels * net->set.classes; c++)
        port->credit[c] = port->due.to_adapter ? UINT32_MAX : net_buffer_behind(net, port);
}

static void more_init(struct net_network *net, struct net_switch *s, const struct part_layout *l)
{
    bool counts = net->congestion && net->congestion->counts;
    s->more = &net_switch_plain;
    if (!net_by_fifo(s) && !net->set.lanes && !counts && !net->away && !net->jobs && !net->maps &&
        !net->series)
        return;
    struct net_switch_more *m = net_switch_more(s);
    m->map = net_congestion_map_new(net, l, s->id);
    m->series = net_series_new(net, (uint64_t)s->id * route_summarise(net->topology)->max_ports, s->ports);
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
    m->lanes = (char *)net_port_at(s, s->ports);
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
    s->searched = ports > NET_VOQ_PORTS;
    more_init(net, s, l);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(net->topology, id, p, &peer);
        port_init(net, net_port_at(s, p), l, &peer);
        if (!net_port_at(s, p)->due.lands)
            net->landing &= ~(UINT64_C(1) << p % 64);
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
        free(s->more->carried);
        free(s->more->since);
        net_congestion_map_free(s->more->map);
        free((void *)(uintptr_t)s->more);
    }
}
