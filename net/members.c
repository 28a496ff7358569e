/* members.c - switches and nodes as members of their component groups, and where those live. */
#include "net/network.h"

uint32_t net_plane_switches(const struct net_network *net)
{
    const struct route_summary *sum = route_summarise(net->topology);
    return sum->switches / sum->planes;
}

struct part_member net_member_switch(const struct net_network *net, uint32_t id)
{
    uint32_t first = net_plane_switches(net);
    return id < first ? (struct part_member){net->switch_group, id}
                      : (struct part_member){net->switch_group + 1, id - first};
}

struct part_member net_member_node(const struct net_network *net, uint32_t id)
{
    return (struct part_member){net->node_group, id};
}

struct ker_address net_switch_at(const struct net_network *net, const struct part_layout *l, uint32_t id)
{
    return part_layout_at(l, net_member_switch(net, id));
}

struct ker_address net_node_at(const struct net_network *net, const struct part_layout *l, uint32_t id)
{
    return part_layout_at(l, net_member_node(net, id));
}

const struct net_switch *net_switch_made(const struct net_network *net, uint32_t i)
{
    return !net->made || net->made[i / 64] >> (i % 64) & 1 ? net_switch_nth(net, i) : NULL;
}
