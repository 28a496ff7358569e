/* select.c - adaptive routes: which of the algorithm's choices a packet takes.
 *
 * The cost of a choice is time: how long the output is busy with what is scheduled and waiting, or how long the link would need
 * for what is missing of the buffer behind it, or both. The look begins at a choice of the packet's own, so that equal choices
 * are taken equally often. A packet never waits for the credits of a choice that is not free of deadlock by itself.
 */
#include "net/network.h"

/* How busy an output is, in picoseconds of backlog: what is scheduled and what waits for it. */
static uint64_t output_backlog(const struct net_network *net, const struct net_port *out, ker_time now)
{
    uint64_t scheduled = out->link_free > now ? (uint64_t)(out->link_free - now) : 0;
    return scheduled + (uint64_t)((unsigned __int128)out->waiting * 1000000000000u / net->link[out->link].rate);
}

/* Smaller is better. */
static uint64_t choice_cost(const struct net_switch *s, const struct route_choice *c, unsigned base, uint32_t draw,
                            ker_time now)
{
    const struct net_network *net = s->net;
    const struct net_port *out = net_port_at(s, c->port);
    if (net->set.selection == NET_SELECT_RANDOM)
        return net_mix(((uint64_t)draw << 32 | s->id) + (uint64_t)c->port * 0x9e3779b97f4a7c15u);
    uint64_t queue = output_backlog(net, out, now);
    uint64_t missing = out->to_node ? 0 : net_buffer_behind(net, out) - out->credit[base + c->channel];
    uint64_t missing_time = (uint64_t)((unsigned __int128)missing * 1000000000000u / net->link[out->link].rate);
    switch (net->set.selection) {
    case NET_SELECT_QUEUE:
        return queue;
    case NET_SELECT_CREDITS:
        return missing_time;
    default:
        return queue + missing_time;
    }
}

struct route_choice net_choice_select(const struct net_switch *s, struct route_choice *choice, int count,
                                         const struct net_packet *p, uint32_t draw, unsigned base, ker_time now,
                                         bool *reserve)
{
    bool escape = false;
    for (int i = 0; i < count; i++)
        escape |= (choice[i].flags & ROUTE_ESCAPE) != 0;
    uint64_t best_cost = UINT64_MAX;
    int best = -1;
    for (int k = 0; k < count; k++) {
        int i = (int)((draw + (uint32_t)k) % (uint32_t)count);
        struct route_choice *c = &choice[i];
        bool is_escape = c->flags & ROUTE_ESCAPE;
        const struct net_port *out = net_port_at(s, c->port);
        if (c->same > 1)
            c->channel = (uint8_t)(net_channel_best(out, base + c->first, c->same) - base);
        if (escape && (is_escape || out->credit[base + c->channel] < p->bytes))
            continue;
        uint64_t cost = choice_cost(s, c, base, draw, now);
        if (cost < best_cost) {
            best_cost = cost;
            best = i;
        }
    }
    *reserve = escape && best >= 0;
    for (int i = 0; best < 0; i++)
        if (choice[i].flags & ROUTE_ESCAPE)
            best = i;
    return choice[best];
}
