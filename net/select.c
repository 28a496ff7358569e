/* select.c - path selection: which of the ways that the algorithm offers a packet takes (routing.selection).
 *
 * Static: every way gets a number from what is asked for (the destination, the flow, the packet's draw, the turn) and the
 * smallest wins, so that the answer depends neither on the order of the choices nor, while a way is there, on the others.
 * Adaptive: the cost of a way is time: how long its output is busy with what is scheduled and waiting, or how long the link would
 * need for what is missing of the buffer behind it, or both; times the way's weight, and routing.bias on top for a detour. The look
 * begins at a choice of the packet's own, so that equal ways are taken equally often.
 * Sticky: the packets of a message or a flow after the first take its way; with routing.hysteresis a flow keeps its way unless another
 * is better by that much (sticky.c remembers).
 *
 * A packet never waits for the credits of a choice that is not free of deadlock by itself.
 */
#include "net/network.h"

/* Time that `bytes` take on the output's link. */
static inline uint64_t output_time(const struct net_network *net, const struct net_port *out, uint64_t bytes)
{
    return (uint64_t)((unsigned __int128)bytes * net->link[out->link].byte_time >> NET_BYTE_TIME_BITS);
}

/* How busy an output is: what is scheduled and what waits for it, picoseconds. */
static inline uint64_t output_backlog(const struct net_network *net, const struct net_port *out, ker_time now)
{
    uint64_t scheduled = out->link_free > now ? (uint64_t)(out->link_free - now) : 0;
    return out->waiting ? scheduled + output_time(net, out, out->waiting) : scheduled;
}

static inline uint64_t output_missing(const struct net_network *net, const struct net_port *out, unsigned channel)
{
    return out->to_node ? 0 : output_time(net, out, net_buffer_behind(net, out) - out->credit[channel]);
}

/* Smaller is better. */
static uint64_t choice_cost(const struct net_switch *s, const struct route_choice *c, unsigned base, ker_time now)
{
    const struct net_network *net = s->net;
    const struct net_port *out = net_port_at(s, c->port);
    uint64_t cost = 0;
    if (net->set.selection != NET_SELECT_CREDITS)
        cost = output_backlog(net, out, now);
    if (net->set.selection != NET_SELECT_QUEUE)
        cost += output_missing(net, out, base + c->channel);
    if (cost <= net->set.threshold)
        cost = 0;
    if (c->weight)
        cost *= c->weight;
    return c->flags & ROUTE_DETOUR ? cost + net->set.bias : cost;
}

/* The number of a way that does not look at the switch's state; smaller is better. */
static uint64_t choice_number(const struct net_switch *s, const struct route_choice *c, const struct net_packet *p, uint32_t draw)
{
    uint64_t asked;
    switch (s->net->set.selection) {
    case NET_SELECT_DESTINATION:
        asked = p->destination;
        break;
    case NET_SELECT_FLOW:
        asked = (uint64_t)p->source << 32 | p->destination;
        break;
    case NET_SELECT_ROUND_ROBIN:
        return (uint64_t)c->port + (c->port < s->rotor ? s->ports : 0) - s->rotor;
    default:
        asked = draw;
    }
    return net_mix(net_mix(asked * 0x9e3779b97f4a7c15u + s->id) + ((uint64_t)c->port << 32 | c->state) * 0xd1342543de82ef95u);
}

/* May the packet go this way now? Beside an escape, only what has the credits at once. Settles the channel. */
static inline bool choice_open(const struct net_switch *s, struct route_choice *c, bool escape, unsigned base, uint32_t bytes)
{
    const struct net_port *out = net_port_at(s, c->port);
    if (c->same > 1)
        c->channel = (uint8_t)(net_channel_best(out, base + c->first, c->same) - base);
    return !escape || (!(c->flags & ROUTE_ESCAPE) && out->credit[base + c->channel] >= bytes);
}

struct best {
    uint64_t cost;
    int choice; /* -1: none is open */
};

static struct best choice_static(struct net_switch *s, struct route_choice *choice, int count, bool escape, const struct net_packet *p,
                                 uint32_t draw, unsigned base)
{
    struct best best = {UINT64_MAX, -1};
    for (int i = 0; i < count; i++) {
        if (!choice_open(s, &choice[i], escape, base, p->bytes))
            continue;
        uint64_t number = choice_number(s, &choice[i], p, draw);
        if (best.choice < 0 || number < best.cost)
            best = (struct best){number, i};
    }
    return best;
}

static struct best choice_adaptive(struct net_switch *s, struct route_choice *choice, int count, bool escape,
                                   const struct net_packet *p, uint32_t draw, unsigned base, ker_time now)
{
    struct best best = {UINT64_MAX, -1};
    int i = (int)ker_random_below(draw, (uint32_t)count);
    for (int k = 0; k < count; k++, i = i + 1 == count ? 0 : i + 1) {
        if (!choice_open(s, &choice[i], escape, base, p->bytes))
            continue;
        uint64_t cost = choice_cost(s, &choice[i], base, now);
        bool detour = choice[i].flags & ROUTE_DETOUR; /* no better than the direct way when they cost the same */
        if (best.choice < 0 || cost < best.cost || (cost == best.cost && !detour && choice[best.choice].flags & ROUTE_DETOUR))
            best = (struct best){cost, i};
        if (cost == 0 && !detour)
            break; /* none is better */
    }
    return best;
}

/* What the packet's message or flow took before, when that is offered, open and, with hysteresis, not much worse; else -1. */
static int choice_kept(struct net_switch *s, struct route_choice *choice, int count, bool escape, const struct net_packet *p,
                       unsigned base, ker_time now, struct best best)
{
    const struct net_way *way = net_sticky_find(s, p);
    for (int i = 0; way && i < count; i++) {
        struct route_choice *c = &choice[i];
        if (c->port != way->port || c->state != way->state || !choice_open(s, c, escape, base, p->bytes))
            continue;
        if (s->net->set.sticky != NET_STICKY_PACKET)
            return i;
        uint64_t cost = choice_cost(s, c, base, now);
        return cost <= best.cost || cost - best.cost <= s->net->set.hysteresis ? i : -1;
    }
    return -1;
}

struct route_choice net_choice_select(struct net_switch *s, struct route_choice *choice, int count, const struct net_packet *p,
                                      uint32_t draw, unsigned base, ker_time now, bool *reserve)
{
    const struct net_settings *set = &s->net->set;
    int escape = -1;
    for (int i = 0; i < count; i++)
        if (choice[i].flags & ROUTE_ESCAPE)
            escape = i;
    struct best best = set->adapts ? choice_adaptive(s, choice, count, escape >= 0, p, draw, base, now)
                                   : choice_static(s, choice, count, escape >= 0, p, draw, base);
    if (set->remembers) {
        int kept = choice_kept(s, choice, count, escape >= 0, p, base, now, best);
        if (kept >= 0)
            best.choice = kept;
    }
    *reserve = escape >= 0 && best.choice >= 0;
    struct route_choice *c = &choice[best.choice >= 0 ? best.choice : escape];
    if (set->remembers)
        net_sticky_keep(s, p, (struct net_way){c->state, c->port});
    if (set->selection == NET_SELECT_ROUND_ROBIN)
        s->rotor = (uint16_t)(c->port + 1u < s->ports ? c->port + 1u : 0);
    return *c;
}
