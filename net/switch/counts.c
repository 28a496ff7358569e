/* counts.c - what an output has counted: the halves in its port, and what is carried over.
 *
 * A port has 32 bits for each count. What goes beyond them lies with the switch, by output, in 64 bits, and
 * is added to what the port has counted since. Hardly any port of a short run needs that: it takes 4 GB, 4.29
 * ms of transmissions, or a wait of 4.29 ms.
 */
#include "net/switch/private.h"

/* Switches lie in memory in the order of the list. */
struct net_switch *net_switch_of(const struct net_network *net, const struct net_port *port)
{
    return net
        ->switches[KER_BISECT(i, 1, net->switch_count, (const char *)net->switches[i] <= (const char *)port) -
                   1];
}

struct net_port_counts net_port_counts(const struct net_network *net, const struct net_port *port)
{
    struct net_port_counts n = {port->packets, port->bytes, port->busy, port->queue_max};
    if (!net->carried || !port->used)
        return n;
    const struct net_switch *s = net_switch_of(net, port);
    if (!s->more->carried)
        return n;
    const struct net_port_counts *more = &s->more->carried[net_port_number(s, port)];
    n.packets += more->packets;
    n.bytes += more->bytes;
    n.busy += more->busy;
    n.queue_max = more->queue_max > n.queue_max ? more->queue_max : n.queue_max;
    return n;
}

void net_port_counts_set(struct net_network *net, struct net_port *port, struct net_port_counts n)
{
    bool fits = (n.packets | n.bytes | n.busy | n.queue_max) >> 32 == 0;
    port->packets = fits ? (uint32_t)n.packets : 0;
    port->bytes = fits ? (uint32_t)n.bytes : 0;
    port->busy = fits ? (uint32_t)n.busy : 0;
    port->queue_max = fits ? (uint32_t)n.queue_max : 0;
    struct net_switch *s = fits && !net->carried ? NULL : net_switch_of(net, port);
    if (!s || (fits && !s->more->carried))
        return;
    struct net_switch_more *more = net_switch_more(s);
    if (!more->carried)
        more->carried = ker_alloc(sizeof *more->carried * s->ports);
    more->carried[net_port_number(s, port)] = fits ? (struct net_port_counts){0} : n;
    net->carried = true;
}

void net_port_counts_add(struct net_network *net, struct net_port *out, uint64_t bytes, uint64_t busy,
                         uint64_t queue_max)
{
    struct net_port_counts n = net_port_counts(net, out);
    n.bytes += bytes;
    n.busy += busy;
    n.queue_max = queue_max > n.queue_max ? queue_max : n.queue_max;
    net_port_counts_set(net, out, n);
}
