/* path_links.c - the links that messages on the critical path have certainly passed: see path_links.h. */
#include "tasks/mpi/path_links.h"

#define CHANCES 8u /* draws of a packet that are tried; where one leads elsewhere, nothing is certain */

/* The only port that a packet may take, whatever it draws; false: there is none. */
static bool port_certain(const struct route_topology *topology, uint32_t at,
                         const struct route_packet *packet, struct route_choice *taken)
{
    struct route_choice choice[ROUTE_MAX_CHOICES];
    for (uint32_t i = 0; i < CHANCES; i++) {
        struct route_packet p = *packet;
        p.chance = ker_hash(i);
        if (route_function(topology)(topology, route_coordinate(topology, at), at, &p, choice) != 1 ||
            (i && choice[0].port != taken->port))
            return false;
        if (i == 0)
            *taken = choice[0];
    }
    return true;
}

/* From the switch of one endpoint to that of the other; false: from some switch on it is not certain. */
static bool switches_visit(const struct route_topology *topology, uint32_t from, uint32_t to,
                           const struct task_path_link_visitor *v)
{
    struct route_packet p = {.address = route_address(topology, to), .source = from, .destination = to};
    uint32_t at;
    route_attachment(topology, from, &at, &p.in_port);
    for (; p.hops < UINT8_MAX; p.hops++) {
        struct route_choice taken = {0};
        struct route_peer peer;
        if (!port_certain(topology, at, &p, &taken))
            return false;
        route_port(topology, at, taken.port, &peer);
        struct task_path_link link = {
            {false, at, taken.port}, {peer.kind == ROUTE_ENDPOINT, peer.id, 0}, peer.link};
        v->link(v->context, &link);
        if (peer.kind == ROUTE_ENDPOINT)
            return true;
        at = peer.id;
        p.in_port = peer.port;
        p.in_channel = taken.channel;
        p.state = taken.state;
    }
    return false;
}

/* Links of nodes may be of several classes. */
static uint8_t class_of(const struct route_topology *topology, uint32_t at, uint16_t port)
{
    struct route_peer peer;
    route_port(topology, at, port, &peer);
    return peer.link;
}

void task_path_links(const struct route_topology *topology, uint32_t from, uint32_t to,
                     const struct task_path_link_visitor *visitor)
{
    const struct route_summary *summary = route_summarise(topology);
    uint16_t port;
    uint32_t at;
    if (from == to || summary->adapters != 1)
        return;
    route_attachment(topology, from, &at, &port);
    visitor->link(visitor->context,
                  &(struct task_path_link){{true, from, 0}, {false, at, 0}, class_of(topology, at, port)});
    /* tables are not whole on every rank, and what has failed is avoided by other paths */
    if (!route_bytes(topology) && !route_fault_summarise(topology) &&
        switches_visit(topology, from, to, visitor))
        return;
    route_attachment(topology, to, &at, &port);
    visitor->link(visitor->context,
                  &(struct task_path_link){{false, at, port}, {true, to, 0}, class_of(topology, at, port)});
}
