/* groups.c - the network as groups of components: switches, and nodes that live with their switch. */
#include "net/network.h"

enum { SWITCHES, NODES }; /* after net->switch_group */

static uint32_t switch_load(const void *context, uint32_t id)
{
    const struct net_network *net = context;
    return route_load(net->topology, id);
}

static uint32_t switch_natural(const void *context, uint32_t id)
{
    const struct net_network *net = context;
    return route_group(net->topology, id);
}

static uint32_t switch_links(const void *context, uint32_t id, struct part_link *link)
{
    const struct net_network *net = context;
    uint32_t count = 0, ports = route_ports(net->topology, id);
    for (uint32_t p = 0; p < ports; p++) {
        struct route_peer peer;
        route_port(net->topology, id, p, &peer);
        if (peer.kind == ROUTE_NOTHING)
            continue;
        bool node = peer.kind == ROUTE_NODE;
        link[count++] = (struct part_link){{net->switch_group + (node ? NODES : SWITCHES), peer.id},
                                           net_link_delay(net, peer.link, node)};
    }
    return count;
}

static struct part_member node_home(const void *context, uint32_t id)
{
    const struct net_network *net = context;
    uint32_t at;
    uint16_t port;
    route_attachment(net->topology, id, &at, &port);
    return (struct part_member){net->switch_group, at};
}

static uint32_t node_load(const void *context, uint32_t id)
{
    return 1;
}

static uint32_t node_natural(const void *context, uint32_t id)
{
    return switch_natural(context, node_home(context, id).number);
}

static uint32_t node_links(const void *context, uint32_t id, struct part_link *link)
{
    const struct net_network *net = context;
    struct route_peer peer;
    uint32_t at;
    uint16_t port;
    route_attachment(net->topology, id, &at, &port);
    route_port(net->topology, at, port, &peer);
    link[0] = (struct part_link){{net->switch_group, at}, net_link_delay(net, peer.link, true)};
    return 1;
}

void net_groups_add(struct net_network *net, struct part_groups *groups)
{
    const struct route_summary *sum = route_summarise(net->topology);
    struct part_group switches = {.name = "switches",
                                  .count = sum->switches,
                                  .context = net,
                                  .load = switch_load,
                                  .natural = switch_natural,
                                  .links = switch_links,
                                  .most_links = sum->max_ports};
    struct part_group nodes = {.name = "nodes",
                               .count = sum->nodes,
                               .context = net,
                               .home = node_home,
                               .load = node_load,
                               .natural = node_natural,
                               .links = node_links,
                               .most_links = 1};
    net->switch_group = part_groups_add(groups, &switches);
    part_groups_add(groups, &nodes);
}

struct net_layout net_layout_of(const struct net_network *net, const struct part_layout *all)
{
    uint32_t switches = all->groups->first[net->switch_group + SWITCHES],
             nodes = all->groups->first[net->switch_group + NODES];
    return (struct net_layout){all,
                               all->rank + switches,
                               all->index + switches,
                               all->rank + nodes,
                               all->index + nodes,
                               all->components};
}
