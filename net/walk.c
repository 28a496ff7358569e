/* walk.c - the route of a message, hop by hop, as a packet that met no other would take it. */
#include "net/net.h"

void net_walk(const struct route_topology *t, uint32_t from, uint32_t to, uint64_t chance,
              const struct net_walker *walker)
{
    const struct route_summary *sum = route_summarise(t);
    struct route_peer peer;
    uint32_t at;
    uint16_t port;
    route_attachment(t, from, &at, &port);
    route_port(t, at, port, &peer);
    walker->link(walker->context, KER_NONE, 0, &sum->link[peer.link]);
    struct route_packet p = {.address = route_address(t, to),
                             .source = from,
                             .destination = to,
                             .chance = chance,
                             .in_port = port};
    do {
        struct route_choice choice[ROUTE_MAX_CHOICES];
        int count = route_function(t)(t, route_coordinate(t, at), at, &p, choice), i = 0;
        while (i + 1 < count && choice[i].flags & ROUTE_DETOUR)
            i++;
        route_channel_draw(&choice[i], &p);
        route_port(t, at, choice[i].port, &peer);
        walker->link(walker->context, at, choice[i].port, &sum->link[peer.link]);
        at = peer.id;
        p.in_port = peer.port;
        p.in_channel = choice[i].channel;
        p.state = choice[i].state;
        p.hops++;
        ker_assert(p.hops < 255);
    } while (peer.kind == ROUTE_SWITCH);
}
