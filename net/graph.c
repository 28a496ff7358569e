/* graph.c - the network as the graph that is partitioned. */
#include "net/network.h"

static void graph_add_port(struct part_graph *g, uint64_t *edges, const struct net_network *net,
                           const struct route_peer *peer)
{
    const struct route_summary *sum = route_summarise(net->topology);
    bool node = peer->kind == ROUTE_NODE;
    g->to[*edges] = node ? sum->switches + peer->id : peer->id;
    g->delay[(*edges)++] = net_link_delay(net, peer->link, node);
}

void net_graph_make(struct part_graph *g, const struct net_network *net, bool apart)
{
    const struct route_summary *sum = route_summarise(net->topology);
    uint64_t most = 0, edges = 0;
    for (uint32_t v = 0; v < sum->switches; v++)
        most += route_ports(net->topology, v);
    g->vertices = sum->switches + (apart ? sum->nodes : 0);
    g->first = ker_alloc(sizeof *g->first * (g->vertices + 1u));
    g->to = ker_alloc(sizeof *g->to * (most + sum->nodes));
    g->delay = ker_alloc(sizeof *g->delay * (most + sum->nodes));
    g->load = ker_alloc(sizeof *g->load * g->vertices);
    g->group = ker_alloc(sizeof *g->group * g->vertices);
    for (uint32_t v = 0; v < sum->switches; v++) {
        uint32_t ports = route_ports(net->topology, v);
        g->load[v] = route_load(net->topology, v);
        g->group[v] = route_group(net->topology, v);
        for (uint32_t p = 0; p < ports; p++) {
            struct route_peer peer;
            route_port(net->topology, v, p, &peer);
            if (peer.kind == ROUTE_SWITCH || (peer.kind == ROUTE_NODE && apart))
                graph_add_port(g, &edges, net, &peer);
        }
        g->first[v + 1] = edges;
    }
    for (uint32_t n = 0; apart && n < sum->nodes; n++) {
        uint32_t sw;
        uint16_t port;
        route_attachment(net->topology, n, &sw, &port);
        g->to[edges] = sw;
        g->delay[edges++] = net_link_delay(net, sum->node_link, true);
        g->load[sum->switches + n] = 1;
        g->group[sum->switches + n] = route_group(net->topology, sw);
        g->first[sum->switches + n + 1] = edges;
    }
}
