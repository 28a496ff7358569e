/* counts.c - what a port has counted: the halves in it, and what is carried over.
 *
 * A port has 32 bits for each count. What goes beyond them lies with the switch, by port, in 64 bits, and
 * is added to what the port has counted since. Hardly any port of a short run needs that: it takes 4 GB, 4.29
 * ms of transmissions, or a wait of 4.29 ms.
 */
#include "net/channels.h"
#include "net/switch/private.h"

/* Switches lie in memory in the order of the list. */
struct net_switch *net_switch_of(const struct net_network *net, const struct net_port *port)
{
    uint32_t word = (uint32_t)((size_t)((const char *)port - net->dues) / 8);
    return net_switch_nth(net, KER_BISECT(i, 1, net->switch_count, net_switch_word(net, i) <= word) - 1);
}

static struct net_port_counts counts_sum(struct net_port_counts a, struct net_port_counts b)
{
    uint64_t most = a.queue_max > b.queue_max ? a.queue_max : b.queue_max;
    return (struct net_port_counts){
        a.packets + b.packets,       a.bytes + b.bytes,          a.busy + b.busy, most,
        a.queue_time + b.queue_time, a.input_time + b.input_time};
}

struct net_port_counts net_port_counts(const struct net_network *net, const struct net_port *port)
{
    struct net_port_counts n = {port->packets,   port->bytes,      port->busy,
                                port->queue_max, port->queue_time, port->input_time};
    if (!net->carried || !port->due.used)
        return n;
    const struct net_switch *s = net_switch_of(net, port);
    if (!s->more->carried)
        return n;
    return counts_sum(n, s->more->carried[net_port_number(s, port)]);
}

void net_port_counts_set(struct net_network *net, struct net_port *port, struct net_port_counts n)
{
    bool fits = (n.packets | n.bytes | n.busy | n.queue_max | n.queue_time | n.input_time) >> 32 == 0;
    const struct net_port_counts here = fits ? n : (struct net_port_counts){0};
    port->packets = (uint32_t)here.packets;
    port->bytes = (uint32_t)here.bytes;
    port->busy = (uint32_t)here.busy;
    port->queue_max = (uint32_t)here.queue_max;
    port->queue_time = (uint32_t)here.queue_time;
    port->input_time = (uint32_t)here.input_time;
    struct net_switch *s = fits && !net->carried ? NULL : net_switch_of(net, port);
    if (!s || (fits && !s->more->carried))
        return;
    struct net_switch_more *more = net_switch_more(s);
    if (!more->carried)
        more->carried = ker_alloc(sizeof *more->carried * s->ports);
    more->carried[net_port_number(s, port)] = fits ? (struct net_port_counts){0} : n;
    net->carried = true;
}

static void counts_add(struct net_network *net, struct net_port *port, struct net_port_counts more)
{
    net_port_counts_set(net, port, counts_sum(net_port_counts(net, port), more));
}

void net_port_counts_carry(struct net_network *net, struct net_port *out, uint64_t bytes, uint64_t busy)
{
    counts_add(net, out, (struct net_port_counts){.bytes = bytes, .busy = busy});
}

void net_port_times_carry(struct net_network *net, struct net_port *out, struct net_port *in,
                          uint64_t queue_time, uint64_t input_time, uint64_t waited)
{
    counts_add(
        net, out,
        (struct net_port_counts){.queue_max = waited, .queue_time = queue_time / NET_CARRY * NET_CARRY});
    counts_add(net, in, (struct net_port_counts){.input_time = input_time / NET_CARRY * NET_CARRY});
}
