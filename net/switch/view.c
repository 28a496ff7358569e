/* view.c - what the rest of net/ sees of a switch. */
#include "net/switch/private.h"

const struct net_switch_more net_switch_plain;

uint32_t net_switch_number(const struct net_network *net, uint32_t i)
{
    if (!net->made)
        return net_switch_nth(net, i)->id;
    struct part_member m = part_layout_vertex(&net->layout, i);
    return m.number + (m.group == net->switch_group ? 0 : net_plane_switches(net));
}

struct net_switch_view net_switch_view(const struct net_switch *s)
{
    return (struct net_switch_view){s->id,           s->self,          s->ports,
                                    s->more->series, s->more->detours, s->more->jobs};
}

struct net_port *net_switch_port(const struct net_switch *s, uint32_t port)
{
    return net_port_at(s, port);
}
