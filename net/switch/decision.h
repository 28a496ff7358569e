/* decision.h - the route decision of a switch: through which output a packet leaves, and on which channels.
 * Private to switch.c, and inline, as every packet passes here.
 *
 * A decision is a struct grant that has not been granted yet. It is made once for each packet: ahead
 * (switch_prepare) where the algorithm depends on nothing but the packet, else when the packet is at the head
 * of its input.
 */
#pragma once

#include "net/parts.h"
#include "net/switch/grant.h"

/* The first channel of the packet's priority class. */
static inline unsigned channel_base(const struct net_network *net, const struct net_packet *p)
{
    if (__builtin_expect(net->set.classes == 1, 1))
        return 0;
    return p->channel / net->set.channels * net->set.channels;
}

static inline struct route_packet route_question(const struct net_network *net, const struct net_packet *p,
                                                 unsigned base)
{
    return (struct route_packet){p->address,
                                 p->source,
                                 p->destination,
                                 net_packet_chance(net, p),
                                 p->state,
                                 p->port,
                                 (uint8_t)(p->channel - base),
                                 p->hops,
                                 NULL};
}

/* Packets that are pinned to a path (routing.pinning) all take the same channel: over several they would
 * overtake each other. */
static inline void channel_pin(const struct net_network *net, const struct route_packet *r,
                               struct route_choice *choice, int count)
{
    if (__builtin_expect(net->set.pinning == NET_PIN_PACKET, 1))
        return;
    for (int i = 0; i < count; i++)
        route_channel_draw(&choice[i], r);
}

/* A hop: output << 16 | first channel << 8 | channels that are alike, as in a packet that NET_ROUTED is. */
static inline uint32_t hop_make(uint32_t port, unsigned first, unsigned count)
{
    return port << 16 | (uint32_t)first << 8 | count;
}

static inline uint32_t choice_hop(const struct route_choice *c, unsigned base)
{
    return hop_make(c->port, base + (c->channel_count ? c->first_channel : c->channel),
                    c->channel_count ? c->channel_count : 1);
}

/* The output's credits are those of now. */
static inline struct grant hop_known(const struct net_switch *s, const struct net_packet *p, uint32_t hop)
{
    uint32_t port = hop >> 16;
    unsigned first = hop >> 8 & 0xff, count = hop & 0xff;
    struct net_port *out = net_port_at(s, port);
    return (struct grant){net_port_at(s, p->port),
                          out,
                          port,
                          (uint8_t)first,
                          (uint8_t)count,
                          net_channel_best(out, first, count),
                          false};
}

static inline struct grant hop_grant(const struct net_switch *s, const struct net_packet *p, uint32_t hop,
                                     ker_time now)
{
    credits_take(s, net_port_at(s, hop >> 16), now);
    return hop_known(s, p, hop);
}

/* Asks the algorithm, and chooses among the next hops that it offers. */
__attribute__((noinline)) static uint64_t choice_decide(struct net_switch *s, const struct net_packet *p,
                                                        ker_time now, bool *reserve)
{
    struct net_network *net = s->net;
    struct route_choice choice[ROUTE_MAX_CHOICES];
    unsigned base = channel_base(net, p);
    struct route_packet r = route_question(net, p, base);
    if (__builtin_expect(net->faulty, 0))
        r.address = net_packet_address(net, p);
    ker_time known = net->set.at_source ? p->injected : now; /* what is down */
    int count = __builtin_expect(net->faulty, 0)
                    ? route_next_faulty(net->topology, known, s->coordinate, s->id, &r, choice)
                    : net->route(net->topology, s->coordinate, s->id, &r, choice);
    if (__builtin_expect(count == 0, 0))
        return 0;
    if (__builtin_expect(net->selects_time && count > 1 && !(choice[count - 1].flags & ROUTE_ESCAPE), 1)) {
        const struct route_choice *c = &choice[net_choice_least(s, choice, count, route_draw(&r), base, now)];
        return (uint64_t)c->state << 32 | choice_hop(c, base);
    }
    channel_pin(net, &r, choice, count);
    struct route_choice c =
        count == 1 ? choice[0] : net_choice_select(s, choice, count, p, route_draw(&r), base, now, reserve);
    if (__builtin_expect(known < now && net->faulty, 0) &&
        route_port_down(net->topology, s->id, c.port) <= now)
        return 0; /* decided at the source: no switch can change it */
    credits_take(s, net_port_at(s, c.port), now);
    if (*reserve)
        c.channel_count = 0;
    return (uint64_t)c.state << 32 | choice_hop(&c, base);
}

/* Where the algorithm offers a shortest path and a detour. */
__attribute__((noinline)) static uint64_t pair_decide(struct net_switch *s, const struct net_packet *p,
                                                      ker_time now, bool *reserve)
{
    const struct net_network *net = s->net;
    uint32_t base = channel_base(net, p);
    struct route_pair pair;
    if (net->pair(net->topology, s->coordinate, p->address, p->state, p->hops, net_packet_draw(net, p),
                  &pair))
        return net_pair_select(s, &pair, base, now) + (base << 8);
    return choice_decide(s, p, now, reserve);
}

/* The route decision: the algorithm's state << 32 | the hop, whose credits are those of now; 0: there is no
 * route. *reserve, which is false: it is to take its credits at once. */
static inline uint64_t route_decide(struct net_switch *s, const struct net_packet *p, ker_time now,
                                    bool *reserve)
{
    const struct net_network *net = s->net;
    if (net->range) {
        uint32_t draw = net_packet_draw(net, p), base = channel_base(net, p);
        const struct route_range range = net->range(net->topology, s->coordinate, p->address, draw);
        if (__builtin_expect(range.count, 1)) {
            uint32_t port = net_range_select(s, range, draw, base, now);
            return hop_make(port, base + range.first_channel, range.channel_count);
        }
    }
    return net->pair ? pair_decide(s, p, now, reserve) : choice_decide(s, p, now, reserve);
}

/* Routes that depend on nothing but the packet are found before the cell runs, and what they lead to is
 * fetched. */
static inline void hop_prepared(struct net_switch *s, struct net_packet *p, uint32_t hop)
{
    uint32_t port = hop >> 16;
    const char *out = (const char *)net_port_at(s, port);
    p->next = hop;
    p->flags |= NET_ROUTED;
    __builtin_prefetch(out, 1);
    __builtin_prefetch(out + 64, 1);
    __builtin_prefetch(out + 80, 1); /* it begins anywhere in a cache line */
}

static inline void packet_prepared(struct net_switch *s, struct net_packet *p, uint32_t hop, uint32_t state)
{
    p->state = state;
    hop_prepared(s, p, hop);
}

static inline struct grant decided_grant(const struct net_switch *s, const struct net_packet *p, uint32_t hop,
                                         bool reserve)
{
    struct grant g = hop_known(s, p, hop);
    if (__builtin_expect(reserve, 0))
        g.out->credit[g.channel] -= credits_of(&s->net->set, p->bytes);
    g.reserved = reserve;
    return g;
}

/* Where the packet goes. */
static inline struct grant route_choose(struct net_switch *s, const struct net_packet *p, ker_time now,
                                        uint32_t *state)
{
    bool reserve = false;
    *state = p->state;
    if (__builtin_expect(p->flags & NET_ROUTED, 1))
        return hop_grant(s, p, p->next, now);
    uint64_t decided = route_decide(s, p, now, &reserve);
    if (__builtin_expect(!decided, 0))
        return (struct grant){0};
    *state = (uint32_t)(decided >> 32);
    return decided_grant(s, p, (uint32_t)decided, reserve);
}
