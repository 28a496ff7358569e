/* groups.c - the network as groups of components: switches, and nodes that live with their switch.
 *
 * Of planes the first is divided among the ranks, and a switch of the others lives with the one that it is a
 * copy of: all adapters of a node then have their switches on one rank.
 */
#include "net/network.h"
#include "net/switch/switch.h"

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

/* Boxes of a grid, 3 x size bits of coordinates shared out among its dimensions; elsewhere runs of numbers.
 */
static uint32_t switch_block(const void *context, uint32_t id, uint32_t size)
{
    const struct net_network *net = context;
    const struct route_summary *sum = route_summarise(net->topology);
    uint32_t extent[8], at[8], block = 0, stride = 1;
    int dimensions = sum->planes > 1 || sum->adapters > 1 ? 0 : route_grid(net->topology, extent);
    if (dimensions == 0 || sum->endpoints % sum->switches)
        return id >> (3 * size);
    route_coordinates(net->topology, id * (sum->endpoints / sum->switches), at);
    for (int i = 0; i < dimensions; i++) {
        uint32_t bits = (3 * size + (uint32_t)(dimensions - 1 - i)) / (uint32_t)dimensions;
        block += (at[i] >> bits) * stride;
        stride *= ((extent[i] - 1) >> bits) + 1;
    }
    return block;
}

/* Switches are numbered along the grid, the last dimension slowest. */
static uint32_t switch_span(const struct net_network *net)
{
    uint32_t extent[8];
    int dimensions = route_grid(net->topology, extent);
    uint64_t switches = net_plane_switches(net);
    while (dimensions > 0 && extent[dimensions - 1] == 1)
        dimensions--;
    return dimensions > 0 && !route_watched(net->topology) ? (uint32_t)(switches / extent[dimensions - 1])
                                                           : 0; /* those send news without links, too */
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
        bool node = peer.kind == ROUTE_ENDPOINT;
        link[count++] = (struct part_link){node ? net_member_node(net, peer.id / net->adapters_each)
                                                : net_member_switch(net, peer.id),
                                           net_link_delay(net, peer.link, node)};
    }
    return count;
}

static struct part_member node_home(const void *context, uint32_t id)
{
    const struct net_network *net = context;
    uint32_t at;
    uint16_t port;
    route_attachment(net->topology, id * net->adapters_each, &at, &port);
    return net_member_switch(net, at);
}

/* The switches of the planes behind the first. */
static struct part_member copy_home(const void *context, uint32_t id)
{
    const struct net_network *net = context;
    return (struct part_member){net->switch_group, id % net_plane_switches(net)};
}

static uint32_t copy_load(const void *context, uint32_t id)
{
    return switch_load(context, net_plane_switches(context) + id);
}

static uint32_t copy_natural(const void *context, uint32_t id)
{
    return switch_natural(context, net_plane_switches(context) + id);
}

static uint32_t copy_links(const void *context, uint32_t id, struct part_link *link)
{
    return switch_links(context, net_plane_switches(context) + id, link);
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
    for (uint32_t i = 0; i < net->adapters_each; i++) {
        struct route_peer peer;
        uint32_t at;
        uint16_t port;
        route_attachment(net->topology, id * net->adapters_each + i, &at, &port);
        route_port(net->topology, at, port, &peer);
        link[i] = (struct part_link){net_member_switch(net, at), net_link_delay(net, peer.link, true)};
    }
    return net->adapters_each;
}

/* The switches of a group have consecutive numbers. */
static uint32_t largest_group(const struct route_topology *topology, uint32_t switches)
{
    uint32_t largest = 0;
    for (uint32_t i = 0, here = 0; i < switches; i++) {
        here = i && route_group(topology, i) == route_group(topology, i - 1) ? here + 1 : 1;
        largest = here > largest ? here : largest;
    }
    return largest;
}

static uint32_t switch_sends(const void *context, uint32_t id, struct part_link *link)
{
    uint32_t count = net_congestion_map_sends(context, id, link);
    for (uint32_t i = 0; i < count; i++)
        link[i].to = net_member_switch(context, link[i].to.number);
    return count;
}

static uint32_t copy_sends(const void *context, uint32_t id, struct part_link *link)
{
    return switch_sends(context, net_plane_switches(context) + id, link);
}

void net_groups_add(struct net_network *net, struct part_groups *groups, ker_time direct)
{
    const struct route_summary *sum = route_summarise(net->topology);
    net->direct = direct > 0;
    struct part_group switches = {.name = "switches",
                                  .count = net_plane_switches(net),
                                  .context = net,
                                  .load = switch_load,
                                  .natural = switch_natural,
                                  .links = switch_links,
                                  .block = switch_block,
                                  .most_links = sum->max_ports,
                                  .span = switch_span(net)};
    struct part_group copies = {.name = "switches of further planes",
                                .count = sum->switches - net_plane_switches(net),
                                .context = net,
                                .home = copy_home,
                                .load = copy_load,
                                .natural = copy_natural,
                                .links = copy_links,
                                .most_links = sum->max_ports};
    struct part_group nodes = {.name = "nodes",
                               .count = route_hosts(sum),
                               .context = net,
                               .home = node_home,
                               .load = node_load,
                               .natural = node_natural,
                               .links = node_links,
                               .most_links = net->adapters_each,
                               .everywhere = direct};
    if (route_watched(net->topology)) {
        switches.sends = switch_sends;
        copies.sends = copy_sends;
        switches.most_sends = copies.most_sends = largest_group(net->topology, sum->switches);
    }
    net->switch_group = part_groups_add(groups, &switches);
    if (copies.count) /* right behind: their numbers continue */
        part_groups_add(groups, &copies);
    net->node_group = part_groups_add(groups, &nodes);
}
