/* select.c - path selection: which of the paths that the algorithm offers a packet takes (routing.selection).
 *
 * Static: every path gets a number from what is asked for (the destination, the flow, the packet's draw, the
 * turn) and the smallest wins, so that the answer depends neither on the order of the choices nor, while a
 * path is there, on the others. Adaptive: the cost of a path is time: how long its output is busy with what
 * is scheduled and waiting, or how long the link would need for what is missing of the buffer behind it, or
 * both; times the path's weight, and routing.bias on top for a detour. The look begins at a choice of the
 * packet's own, so that equal paths are taken equally often. "two" looks at two drawn paths only
 * (Mitzenmacher, The power of two choices in randomized load balancing, 2001). Sticky: the packets of a
 * message or a flow after the first take its path; with routing.hysteresis a flow keeps its path unless
 * another is better by that much (path_pin.c remembers).
 *
 * A packet never waits for the credits of a choice that is not free of deadlock by itself.
 */
#include "net/switch/backlog.h"
#include "net/switch/private.h"

static inline uint64_t output_missing(const struct net_network *net, const struct net_port *out,
                                      unsigned channel)
{
    return out->due.to_adapter
               ? 0
               : net_output_time(net, out, net_buffer_behind(net, out) - out->credit[channel]);
}

static uint64_t output_missing_all(const struct net_network *net, const struct net_port *out,
                                   unsigned channels)
{
    uint64_t missing = 0;
    for (unsigned c = 0; c < channels && !out->due.to_adapter; c++)
        missing += net_buffer_behind(net, out) - out->credit[c];
    return net_output_time(net, out, missing);
}

/* What the comparison needs of the settings, in registers: a store into a choice may be a store into
 * anything. */
struct rule {
    uint64_t threshold, bias;
    bool queue, credits;
    unsigned all; /* channels of the port whose missing credits count together; 0: the path's own channel's */
    unsigned base;
    ker_time now;
};

static inline struct rule rule_of(const struct net_settings *set, unsigned base, ker_time now)
{
    return (struct rule){set->threshold,
                         set->bias,
                         set->selection->queue,
                         set->selection->credits,
                         set->count_port ? set->channels * set->classes : 0,
                         base,
                         now};
}

/* A path over a link that is known to be congested is worse than any that is not. */
#define CONGESTED (1ull << 62)

static inline uint64_t output_cost(const struct net_network *net, const struct net_port *out,
                                   unsigned channel, struct rule rule)
{
    uint64_t cost = rule.queue ? net_output_backlog(net, out, rule.now) : 0;
    if (rule.credits)
        cost += __builtin_expect(rule.all, 0) ? output_missing_all(net, out, rule.all)
                                              : output_missing(net, out, channel);
    return cost <= rule.threshold ? 0 : cost;
}

/* Twice the cost, and 1 more for a detour: it is worse than a shortest path of equal cost. */
static inline uint64_t choice_cost(const struct net_switch *s, const struct net_port *out,
                                   const struct route_choice *c, unsigned channel, struct rule rule)
{
    uint64_t cost = output_cost(s->net, out, channel, rule);
    if (c->weight)
        cost *= c->weight;
    if (__builtin_expect(c->watch != 0, 0) && net_congestion_map_congested(s->more->map, c->watch))
        cost += CONGESTED;
    uint64_t detour = 0 - (uint64_t)((c->flags & ROUTE_DETOUR) != 0); /* no branch: the order is drawn */
    return 2 * cost + (detour & (2 * rule.bias + 1));
}

/* The number of a path that looks at the packet only; smaller is better. */
static inline uint64_t choice_fixed(const struct net_network *net, uint32_t switch_id,
                                    const struct route_choice *c, const struct net_packet *p, uint32_t draw)
{
    uint64_t asked = net->set.selection->asked(p, draw);
    return ker_mix(ker_mix(asked * 0x9e3779b97f4a7c15u + switch_id) +
                   ((uint64_t)c->port << 32 | c->state) * 0xd1342543de82ef95u);
}

/* The number of a path that does not look at the load of the switch. */
static uint64_t choice_number(const struct net_switch *s, const struct route_choice *c,
                              const struct net_packet *p, uint32_t draw)
{
    const struct net_selection *selection = s->net->set.selection;
    if (selection->number)
        return selection->number(s, c, p);
    return choice_fixed(s->net, s->id, c, p, draw);
}

int net_choice_fixed(const struct net_network *net, uint32_t switch_id, const struct route_choice *choice,
                     int count, const struct net_packet *p, uint32_t draw)
{
    int best = 0;
    uint64_t least = choice_fixed(net, switch_id, &choice[0], p, draw);
    for (int i = 1; i < count; i++) {
        uint64_t number = choice_fixed(net, switch_id, &choice[i], p, draw);
        best = number < least ? i : best;
        least = number < least ? number : least;
    }
    return best;
}

/* The output of a choice, with the credits of now where anybody asks for them. */
static inline const struct net_port *choice_output(const struct net_switch *s, const struct route_choice *c,
                                                   bool escape, struct rule rule)
{
    struct net_port *out = net_port_at(s, c->port);
    if (escape || rule.credits || c->channel_count > 1)
        credits_look(s, out, rule.now);
    return out;
}

/* The channel a choice would take now, priority class included. */
static inline unsigned choice_channel(const struct net_port *out, const struct route_choice *c, unsigned base)
{
    return c->channel_count > 1 ? net_channel_best(out, base + c->first_channel, c->channel_count)
                                : base + c->channel;
}

struct best {
    uint64_t cost;
    int choice; /* -1: none is open: beside an escape, only what has the credits at once is */
    unsigned channel;
};

static struct best choice_static(const struct net_switch *s, const struct route_choice *choice, int count,
                                 bool escape, const struct net_packet *p, uint32_t draw, struct rule rule)
{
    struct best best = {UINT64_MAX, -1, 0};
    for (int i = 0; i < count; i++) {
        const struct net_port *out = choice_output(s, &choice[i], escape, rule);
        unsigned channel = choice_channel(out, &choice[i], rule.base);
        if (escape && !credits_enough(&s->net->set, out->credit, channel, p->bytes))
            continue;
        uint64_t number = choice_number(s, &choice[i], p, draw);
        if (best.choice < 0 || number < best.cost)
            best = (struct best){number, i, channel};
    }
    return best;
}

/* `n` steps round behind `at`. */
static inline uint32_t round_of(uint32_t at, uint32_t n, uint32_t count)
{
    return at + n - (count & (0 - (uint32_t)(at + n >= count))); /* no branch: the draws are random */
}

static inline struct best choice_adaptive(const struct net_switch *s, const struct route_choice *choice,
                                          int count, bool escape, uint32_t bytes, uint32_t draw,
                                          struct rule rule)
{
    struct best best = {UINT64_MAX, -1, 0};
    uint32_t first = ker_random_below(draw, (uint32_t)count);
    for (uint32_t k = 0; k < (uint32_t)count; k++) {
        int i = (int)round_of(first, k, (uint32_t)count);
        const struct net_port *out = choice_output(s, &choice[i], escape, rule);
        unsigned channel = choice_channel(out, &choice[i], rule.base);
        if (escape && !credits_enough(&s->net->set, out->credit, channel, bytes))
            continue;
        uint64_t cost = choice_cost(s, out, &choice[i], channel, rule);
        bool better = cost < best.cost; /* costs are below UINT64_MAX, so the first is better than none */
        best.choice = better ? i : best.choice;
        best.channel = better ? channel : best.channel;
        best.cost = better ? cost : best.cost;
        if (cost == 0)
            break; /* none is better */
    }
    return best;
}

/* The better of two drawn at every switch. */
static struct best choice_two(const struct net_switch *s, const struct route_choice *choice, int count,
                              bool escape, uint32_t bytes, uint32_t draw, struct rule rule)
{
    uint32_t bits = ker_mix((uint64_t)draw << 32 | s->id), other = ker_mix((uint64_t)bits << 32 | draw);
    int a = (int)ker_random_below(bits, (uint32_t)count),
        b = (int)ker_random_below(other, (uint32_t)count - 1);
    b += b >= a;
    const struct route_choice pair[2] = {choice[a], choice[b]};
    struct best best = choice_adaptive(s, pair, 2, escape, bytes, ker_mix(other), rule);
    if (best.choice >= 0)
        best.choice = best.choice ? b : a;
    return best;
}

/* What the packet's message or flow took before, when that is offered, open and, with hysteresis, not much
 * worse; else `best`. */
static struct best choice_kept(const struct net_switch *s, const struct route_choice *choice, int count,
                               bool escape, const struct net_packet *p, struct rule rule, struct best best)
{
    const struct net_pinned *pinned = net_pins_find(s, p);
    for (int i = 0; pinned && i < count; i++) {
        const struct route_choice *c = &choice[i];
        const struct net_port *out = choice_output(s, c, escape, rule);
        unsigned channel = choice_channel(out, c, rule.base);
        if (c->port != pinned->port || c->state != pinned->state ||
            (escape && !credits_enough(&s->net->set, out->credit, channel, p->bytes)))
            continue;
        uint64_t cost = choice_cost(s, out, c, channel, rule);
        bool much_worse = s->net->set.pinning == NET_PIN_PACKET && cost > best.cost &&
                          cost - best.cost > 2 * s->net->set.hysteresis + 1;
        return much_worse ? best : (struct best){cost, i, channel};
    }
    return best;
}

struct route_choice net_choice_select(struct net_switch *s, const struct route_choice *choice, int count,
                                      const struct net_packet *p, uint32_t draw, unsigned base, ker_time now,
                                      bool *reserve)
{
    const struct net_settings *set = &s->net->set;
    bool escape = choice[count - 1].flags & ROUTE_ESCAPE;
    int paths = count - escape;
    struct rule rule = rule_of(set, base, now);
    struct best best;
    if (__builtin_expect(set->selection->two, 0) && paths > 2)
        best = choice_two(s, choice, paths, escape, p->bytes, draw, rule);
    else
        best = set->adapts ? choice_adaptive(s, choice, paths, escape, p->bytes, draw, rule)
                           : choice_static(s, choice, paths, escape, p, draw, rule);
    if (set->remembers)
        best = choice_kept(s, choice, paths, escape, p, rule, best);
    *reserve = escape && best.choice >= 0;
    struct route_choice c = choice[best.choice >= 0 ? best.choice : paths];
    if (best.choice >= 0)
        c.channel = (uint8_t)(best.channel - base);
    if (set->remembers)
        net_pins_keep(s, p, (struct net_pinned){c.state, c.port});
    if (set->selection->turns)
        s->rotor = (uint16_t)(c.port + 1u < s->ports ? c.port + 1u : 0);
    return c;
}

/* ---- the usual settings: nothing is asked for but the time of queue and credits ---- */

bool net_selects_time(const struct net_network *net)
{
    const struct net_settings *set = &net->set;
    return set->selection->queue && set->selection->credits && !set->selection->two && !set->count_port &&
           !set->remembers && set->pinning == NET_PIN_PACKET && !net->faulty;
}

/* In the order in which they are offered, without branches: which is the least is close to random, and so is
 * at which one the look would begin. Of equal costs the first from `first` on wins, as above. */
int net_choice_least(const struct net_switch *s, const struct route_choice *choice, int count, uint32_t draw,
                     unsigned base, ker_time now)
{
    const struct rule rule = {.threshold = s->net->set.threshold,
                              .bias = s->net->set.bias,
                              .queue = true,
                              .credits = true,
                              .now = now};
    uint32_t first = ker_random_below(draw, (uint32_t)count), best = 0, best_turn = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < (uint32_t)count; i++) {
        struct net_port *out = net_port_at(s, choice[i].port);
        credits_take(s, out, now);
        uint64_t cost = choice_cost(s, out, &choice[i], choice_channel(out, &choice[i], base), rule);
        uint32_t turn = i - first; /* those behind `first` come before those ahead of it */
        bool better = (cost < least) | ((cost == least) & (turn < best_turn));
        best = better ? i : best;
        best_turn = better ? turn : best_turn;
        least = better ? cost : least;
    }
    return (int)best;
}

/* ---- a pair ---- */

/* As choice_cost of a path to another switch. */
static inline uint64_t pair_cost(const struct net_switch *s, uint32_t hop, uint32_t weight, unsigned base,
                                 ker_time now)
{
    const struct net_network *net = s->net;
    struct net_port *out = net_port_at(s, hop >> 16);
    credits_take(s, out, now);
    unsigned channel = net_channel_best(out, base + (hop >> 8 & 0xff), hop & 0xff);
    uint64_t cost =
        net_output_backlog(net, out, now) + net_output_time(net, out, net->set.buffer - out->credit[channel]);
    return cost <= net->set.threshold ? 0 : cost * (weight + !weight);
}

/* As net_choice_least, where the cost of a detour is odd, that of a shortest path is not: none are equal. */
uint64_t net_pair_select(const struct net_switch *s, const struct route_pair *pair, unsigned base,
                         ker_time now)
{
    uint64_t direct = pair_cost(s, (uint32_t)pair->hop[0], pair->weight[0], base, now),
             detour = pair_cost(s, (uint32_t)pair->hop[1], pair->weight[1], base, now);
    return pair->hop[detour + s->net->set.bias < direct];
}

/* ---- a range of ports ---- */

/* What the links of a range have in common. */
struct range_links {
    uint64_t byte_time, threshold;
    uint32_t buffer; /* behind each */
};

/* The cost of a path over `out`, as output_cost has it, where so much of the buffer is missing. */
static inline uint64_t range_cost(const struct net_network *net, const struct net_port *out,
                                  struct range_links links, uint32_t missing, ker_time now)
{
    uint64_t cost = (uint64_t)(out->link_free > now ? out->link_free - now : 0) +
                    net_bytes_time(net_waits_of(net, out)->waiting, links.byte_time) +
                    net_bytes_time(missing, links.byte_time);
    return cost <= links.threshold ? 0 : cost;
}

/* single: the network has one channel. Its credits that have come are counted then without being added: most
 * outputs are only looked at. */
static inline __attribute__((always_inline)) uint32_t range_least(const struct net_switch *s,
                                                                  struct route_range range, uint32_t first,
                                                                  unsigned channel, ker_time now, bool single)
{
    const struct net_network *net = s->net;
    const struct net_port *lowest = net_port_at(s, range.low);
    const struct range_links links = {net->link[lowest->link].byte_time, net->set.threshold,
                                      net_buffer_behind(net, lowest)};
    uint32_t end = range.low + (uint32_t)range.count, port = range.low + first, best = port;
    uint64_t least = UINT64_MAX;
    for (uint32_t k = 0; k < range.count && least > 0; k++) { /* none is better than 0 */
        struct net_port *out = net_port_at(s, port);
        uint32_t credit;
        if (single) {
            credit = out->credit[0] + credits_come(&out->due, now);
        } else {
            credits_look(s, out, now);
            credit = out->credit[net_channel_best(out, channel, range.channel_count)];
        }
        uint64_t cost = range_cost(net, out, links, links.buffer - credit, now);
        best = cost < least ? port : best;
        least = cost < least ? cost : least;
        port = port + 1 == end ? range.low : port + 1;
    }
    return best;
}

uint32_t net_range_select(const struct net_switch *s, struct route_range range, uint32_t draw, unsigned base,
                          ker_time now)
{
    const struct net_network *net = s->net;
    uint32_t count = range.count, first = round_of(range.first, ker_random_below(draw, count), count);
    unsigned channel = base + range.first_channel;
    if (net->set.channels * net->set.classes > 1)
        return range_least(s, range, first, channel, now, false);
    uint32_t port = range_least(s, range, first, channel, now, true);
    credits_take(s, net_port_at(s, port), now);
    return port;
}

/* ---- the kinds ---- */

static uint64_t asked_draw(const struct net_packet *p, uint32_t draw)
{
    return draw;
}

static uint64_t asked_destination(const struct net_packet *p, uint32_t draw)
{
    return p->destination;
}

static uint64_t asked_flow(const struct net_packet *p, uint32_t draw)
{
    return (uint64_t)p->source << 32 | p->destination;
}

static uint64_t number_turn(const struct net_switch *s, const struct route_choice *c,
                            const struct net_packet *p)
{
    return (uint64_t)c->port + (c->port < s->rotor ? s->ports : 0) - s->rotor;
}

#define SELECTION(...)                                                                                       \
    &(const struct net_selection)                                                                            \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }

const struct ker_kind net_select_queue = {.name = "queue",
                                          .meaning = "the shortest backlog of the output",
                                          .traits = "adaptive",
                                          .operations = SELECTION(.adapts = true, .queue = true)};
const struct ker_kind net_select_credits = {.name = "credits",
                                            .meaning = "the most free buffer behind the link",
                                            .traits = "adaptive credits",
                                            .operations = SELECTION(.adapts = true, .credits = true)};
const struct ker_kind net_select_both = {.name = "both",
                                         .meaning = "the least of queue and credits added",
                                         .traits = "adaptive credits",
                                         .operations =
                                             SELECTION(.adapts = true, .queue = true, .credits = true)};
const struct ker_kind net_select_two = {
    .name = "two",
    .meaning = "the better of two drawn paths, by both",
    .traits = "adaptive credits",
    .operations = SELECTION(.adapts = true, .queue = true, .credits = true, .two = true)};
const struct ker_kind net_select_random = {
    .name = "random", .meaning = "drawn for every packet", .operations = SELECTION(.asked = asked_draw)};
const struct ker_kind net_select_destination = {.name = "destination",
                                                .meaning = "by the destination",
                                                .operations = SELECTION(.asked = asked_destination)};
const struct ker_kind net_select_flow = {.name = "flow",
                                         .meaning = "by the flow: source and destination",
                                         .operations = SELECTION(.asked = asked_flow)};
const struct ker_kind net_select_round_robin = {.name = "round_robin",
                                                .meaning = "the ports in turn",
                                                .operations =
                                                    SELECTION(.number = number_turn, .turns = true)};
