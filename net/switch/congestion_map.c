/* congestion_map.c - news of congested links for the switches of a group (piggybacked UGAL; Jiang, Kim and
 * Dally 2009).
 *
 * The algorithm says which links are watched (route_watch): those that leave the group. A watched link is
 * congested from when its output's backlog reaches routing.watch_high until it has fallen to
 * routing.watch_low. When that changes, the output's switch knows at once, and a notice goes to each other
 * switch of the group, with the delay of the direct route there: the bit that a switch piggybacks on what it
 * sends anyway, without its cost in bytes. There are no periodic messages.
 *
 * Backlog grows with packets only, and falls while packets wait only when one of them is granted: both are
 * looked at. What is scheduled drains without an event, so while a link is congested and nothing waits, a
 * note to itself is in transit for when it will have drained. A look that comes too early, or twice, changes
 * nothing.
 *
 * A notice turns one bit over. Two of one instant may therefore come in any order.
 */
#include "kernel/engine/post.h"
#include "net/state.h"
#include "net/switch/backlog.h"

#include <stdlib.h>

#define TO_ITSELF 1 /* channel of a note: look at this port; 0: news of the link `amount` */

struct member { /* another switch of the group */
    struct ker_address address;
    ker_time delay;
};

struct watched {
    uint32_t link;           /* 1 + its number in the group; 0: not watched */
    bool congested, pending; /* pending: a note to itself is in transit */
};

struct net_congestion_map {
    struct member *member;
    uint32_t members;
    uint64_t *congested; /* bitmap, by number of the link in the group */
    struct watched port[];
};

bool net_congestion_map_congested(const struct net_congestion_map *n, uint32_t watch)
{
    return n->congested[(watch - 1) / 64] >> ((watch - 1) % 64) & 1;
}

static void turn(struct net_congestion_map *n, uint32_t watch)
{
    n->congested[(watch - 1) / 64] ^= 1ull << ((watch - 1) % 64);
}

static void broadcast(struct net_switch *s, uint32_t watch, ker_time now)
{
    const struct net_congestion_map *n = s->more->map;
    for (uint32_t i = 0; i < n->members; i++)
        ker_post_note(s->net->engine, n->member[i].address, now + n->member[i].delay, KER_NOTICE, 0, 0,
                      watch);
}

void net_congestion_map_look(struct net_switch *s, uint32_t port, ker_time now)
{
    struct net_network *net = s->net;
    struct net_congestion_map *n = s->more->map;
    struct watched *w = &n->port[port];
    if (w->link == 0)
        return;
    const struct net_port *out = net_port_at(s, port);
    const struct net_link_class *class = &net->link[out->link];
    uint64_t backlog = net_output_backlog(net, out, now);
    if (w->congested ? backlog <= (uint64_t) class->watch_low : backlog >= (uint64_t) class->watch_high) {
        w->congested = !w->congested;
        turn(n, w->link);
        broadcast(s, w->link, now);
    }
    if (w->congested && !w->pending && net_waits_of(net, out)->waiting == 0) {
        w->pending = true;
        ker_post_note(net->engine, (struct ker_address){s->self, net->rank},
                      out->link_free - class->watch_low, KER_NOTICE, (uint16_t)port, TO_ITSELF, 0);
    }
}

void net_congestion_map_take(struct net_switch *s, ker_time now, uint16_t port, uint8_t channel,
                             uint32_t amount)
{
    if (channel != TO_ITSELF) {
        turn(s->more->map, amount);
        return;
    }
    s->more->map->port[port].pending = false;
    net_congestion_map_look(s, port, now);
}

void net_congestion_map_state(struct net_switch *s, struct ker_chunk *c)
{
    struct net_congestion_map *n = s->more->map;
    uint32_t links = n ? route_watched(s->net->topology) : 0;
    ker_chunk_same(c, links);
    ker_chunk_bytes(c, n ? n->congested : NULL, (links + 63) / 64 * sizeof *n->congested);
    for (uint32_t port = 0; n && port < s->ports; port++) {
        n->port[port].congested = ker_chunk_bool(c, n->port[port].congested);
        n->port[port].pending = ker_chunk_bool(c, n->port[port].pending);
    }
}

/* ---- building ---- */

/* Along the direct route from one switch to another of its group, which the algorithm takes inside groups. */
static ker_time direct_delay(const struct net_network *net, uint32_t from, uint32_t to)
{
    struct route_packet packet = {0};
    uint16_t slot = 0;
    ker_time delay = 0;
    uint32_t at = from;
    struct route_peer peer = {0};
    for (uint32_t port = 0; peer.kind != ROUTE_ENDPOINT; port++) /* any node there */
        route_port(net->topology, to, port, &peer);
    packet.destination = peer.id;
    packet.address = route_address(net->topology, peer.id);
    for (uint32_t port = 0; port < route_ports(net->topology, from); port++) { /* and any here */
        route_port(net->topology, from, port, &peer);
        if (peer.kind == ROUTE_ENDPOINT) {
            packet.source = peer.id;
            slot = (uint16_t)port;
        }
    }
    packet.in_port = slot;
    for (; at != to; packet.hops++) {
        struct route_choice choice[ROUTE_MAX_CHOICES];
        net->route(net->topology, route_coordinate(net->topology, at), at, &packet, choice);
        route_port(net->topology, at, choice[0].port, &peer);
        ker_check(peer.kind == ROUTE_SWITCH);
        delay += net_link_delay(net, peer.link, false);
        at = peer.id;
        packet.in_port = peer.port;
        packet.in_channel = choice[0].channel;
        packet.state = choice[0].state;
    }
    return delay;
}

/* The switches of a group have consecutive numbers. */
static void group_range(const struct net_network *net, uint32_t id, uint32_t *first, uint32_t *end)
{
    uint32_t group = route_group(net->topology, id), switches = route_summarise(net->topology)->switches;
    *first = id;
    *end = id + 1;
    while (*first > 0 && route_group(net->topology, *first - 1) == group)
        --*first;
    while (*end < switches && route_group(net->topology, *end) == group)
        ++*end;
}

uint32_t net_congestion_map_sends(const struct net_network *net, uint32_t id, struct part_link *link)
{
    uint32_t first, end, count = 0;
    group_range(net, id, &first, &end);
    for (uint32_t i = first; i < end; i++)
        if (i != id)
            link[count++] = (struct part_link){{.number = i}, direct_delay(net, id, i)};
    return count;
}

struct net_congestion_map *net_congestion_map_new(const struct net_network *net, const struct part_layout *l,
                                                  uint32_t id)
{
    uint32_t links = route_watched(net->topology), ports = route_ports(net->topology, id), first, end;
    if (links == 0)
        return NULL;
    group_range(net, id, &first, &end);
    struct net_congestion_map *n = ker_alloc(sizeof *n + ports * sizeof *n->port);
    n->congested = ker_alloc((links + 63) / 64 * sizeof *n->congested);
    n->member = ker_alloc((end - first) * sizeof *n->member);
    for (uint32_t i = first; i < end; i++)
        if (i != id)
            n->member[n->members++] = (struct member){net_switch_at(net, l, i), direct_delay(net, id, i)};
    for (uint32_t port = 0; port < ports; port++)
        n->port[port].link = route_watch(net->topology, id, port);
    return n;
}

void net_congestion_map_free(struct net_congestion_map *n)
{
    if (!n)
        return;
    free(n->congested);
    free(n->member);
    free(n);
}
