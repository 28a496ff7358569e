/* switch.c - a combined input- and output-queued switch with virtual channels and credits.
 *
 * A packet arrives as one event when its head has passed the pipeline. It is routed once, waits (if it must)
 * in the virtual output queue of its input, output and channel, and is granted when the input's read port,
 * the output's write port, room in the output queue, and credits for the buffer behind the link are there
 * together. From the grant on all is closed form: the output queue is served in order, so the time the packet
 * leaves is known, and its arrival at the next component is posted at once. The input's credit is returned
 * when the tail has left the buffer.
 *
 * Invariant: an output with requests has either a wake-up scheduled, or waits for a credit (bit in
 * credits_starved), whose arrival marks it. A wake-up only makes an output look again; looking twice
 * changes nothing.
 */
#include "net/channels.h"
#include "net/switch/decision.h"
#include "net/switch/life.h"

/* ---- arbitration ---- */

struct candidates {
    uint32_t chosen, before; /* request, and its predecessor in the ring */
    uint32_t count;
    uint8_t channel;
    ker_time read_free; /* earliest time a request that lacks only its input could be sent */
};

static inline bool request_older(const struct net_switch *s, uint32_t a, uint32_t b)
{
    const struct net_packet *p = &s->net->packet.at[s->request.at[a].head],
                            *q = &s->net->packet.at[s->request.at[b].head];
    if (p->injected != q->injected)
        return p->injected < q->injected;
    return p->source < q->source;
}

/* Is request `index` to replace `chosen`, the best of `count` so far? Priority classes first, then the
 * arbiter's rule; round robin is the order of the ring. */
static bool candidate_better(struct net_switch *s, uint32_t index, uint32_t chosen, uint32_t count)
{
    const struct net_network *net = s->net;
    unsigned mine = s->request.at[index].first_channel / net->set.channels,
             other = s->request.at[chosen].first_channel / net->set.channels;
    if (mine != other)
        return mine > other;
    switch (net->set.arbitration) {
    case NET_ARBITER_OLDEST:
        return request_older(s, index, chosen);
    case NET_ARBITER_RANDOM:
        return ker_random_bits(net->set.seed, KER_PURPOSE_ARBITRATION, s->id,
                               (uint64_t)s->draws << 16 | count)
                       .word[0] %
                   (count + 1) ==
               0;
    case NET_ARBITER_OWN:
        return net->set.arbiter->better(s, index, chosen, count);
    default:
        return false;
    }
}

/* Separable matching: was the input of this request free when the instant began, and has been granted to
 * another output since? What came up from behind in a FIFO since then did not compete yet. */
__attribute__((noinline)) static bool input_just_taken(const struct net_switch *s,
                                                       const struct net_request *r, ker_time now)
{
    const struct net_granted *granted = &s->net->granted[r->input];
    if (granted->by != s || granted->when != now)
        return false;
    return !net_by_fifo(s) ||
           s->more->input_fifo[r->input * NET_MAX_CHANNELS + s->net->packet.at[r->head].channel].advanced !=
               now;
}

/* Separable matching: the output has chosen an input that another was faster to take. It idles for as long as
 * the packet would have taken. */
static void slot_lose(struct net_switch *s, struct net_port *out, uint32_t port, uint32_t bytes, ker_time now)
{
    out->write_free = now + net_times_of(s->net, out->link, bytes).crossbar;
    output_wake(s, out, port, out->write_free);
}

/* Looks through the requests of an output for those that could be granted now, and takes the arbiter's
 * choice; by lanes (a constant) that of the channel whose turn it is. */
static inline __attribute__((always_inline)) struct candidates
output_candidates(struct net_switch *s, struct net_port *out, uint32_t port, ker_time now, bool by_lanes)
{
    const struct net_settings *set = &s->net->set;
    struct candidates c = {NET_NONE, NET_NONE, 0, 0, KER_TIME_MAX}, lane[NET_MAX_CHANNELS];
    credits_take(s, out, now);
    bool first_wins = !by_lanes && set->classes == 1 && set->arbitration == NET_ARBITER_ROUND_ROBIN;
    uint32_t last = net_waits_of(s->net, out)->queue, before = last, starved = 0, ready = 0;
    do {
        uint32_t i = s->request.at[before].next, previous = before;
        const struct net_request *r = &s->request.at[i];
        before = i;
        uint8_t channel = net_channel_best(out, r->first_channel, r->channel_count);
        if (!credits_cover(out, channel, r->taken, r->reserved)) {
            starved |= ((1u << r->channel_count) - 1) << r->first_channel;
            continue;
        }
        const struct net_port *in = net_port_at(s, r->input);
        if (in->read_free > now && !(s->net->granted && input_just_taken(s, r, now))) {
            if (in->read_free < c.read_free)
                c.read_free = in->read_free;
            continue;
        }
        struct candidates *of = by_lanes ? &lane[channel] : &c;
        if (by_lanes && !(ready >> channel & 1))
            *of = c;
        if (of->chosen == NET_NONE || candidate_better(s, i, of->chosen, of->count)) {
            of->chosen = i;
            of->before = previous;
            of->channel = channel;
        }
        of->count++;
        ready |= 1u << channel;
        if (first_wins)
            break;
    } while (before != last);
    credits_starve(&out->due, starved);
    return by_lanes && ready ? lane[set->lanes->choose(set->lanes_shared, net_lanes_at(s, port), ready)] : c;
}

static bool packet_route(struct net_switch *s, const struct net_packet *p, ker_time now);

/* FIFO switches: the next packet of this input channel may compete now. */
static void input_fifo_advance(struct net_switch *s, uint16_t port, uint8_t channel, ker_time now)
{
    struct net_input_fifo *g = &s->more->input_fifo[port * NET_MAX_CHANNELS + channel];
    while (g->head != NET_NONE) {
        struct net_packet p = s->net->packet.at[g->head];
        KER_POOL_GIVE(&s->net->packet, g->head);
        g->head = p.next;
        g->advanced = now;
        if (packet_route(s, &p, now))
            return;
    }
    g->taken = false;
}

/* After a grant that has left few credits: the next is not before its requests have some. */
__attribute__((noinline)) static void output_await(struct net_switch *s, struct net_port *out, uint32_t port)
{
    ker_time when = output_ready(s->net, out);
    uint32_t last = net_waits_of(s->net, out)->queue, i = last, starved = 0;
    do {
        const struct net_request *r = &s->request.at[i];
        if (credits_cover(out, net_channel_best(out, r->first_channel, r->channel_count), r->taken,
                          r->reserved)) {
            output_wake(s, out, port, when);
            return;
        }
        starved |= ((1u << r->channel_count) - 1) << r->first_channel;
        i = r->next;
    } while (i != last);
    credits_starve(&out->due, starved);
    ker_time due = credits_due_next(&out->due);
    output_wake(s, out, port, due > when ? due : when);
}

static inline __attribute__((always_inline)) void output_offer(struct net_switch *s, uint32_t port,
                                                               ker_time now, bool by_lanes)
{
    struct net_network *net = s->net;
    struct net_port *out = net_port_at(s, port);
    if (!out->waits)
        return;
    if (output_ready(net, out) > now) {
        output_wake(s, out, port, output_ready(net, out));
        return;
    }
    struct candidates c = output_candidates(s, out, port, now, by_lanes);
    if (__builtin_expect(s->net->series != NULL, 0))
        net_stall_note(net, &s->more->series[port], c.chosen == NET_NONE && credits_lacking(&out->due),
                       out->link_free, now);
    if (c.chosen == NET_NONE) {
        ker_time when = ker_time_min(c.read_free, credits_due_next(&out->due));
        if (when != KER_TIME_MAX)
            output_wake(s, out, port, when);
        return;
    }
    const struct net_request *r = &s->request.at[c.chosen];
    struct grant g = {net_port_at(s, r->input), out,       port,       r->first_channel,
                      r->channel_count,         c.channel, r->reserved};
    s->draws++;
    if (__builtin_expect(net->granted != NULL, 0)) {
        if (g.in->read_free > now) {
            slot_lose(s, out, port, s->net->packet.at[r->head].bytes, now);
            return;
        }
        net->granted[r->input] = (struct net_granted){s, now};
    }
    uint32_t taken = r->taken, index = request_take(s, port, c.before, c.chosen);
    packet_forward(s, &g, &s->net->packet.at[index], taken, now);
    uint16_t in_port = s->net->packet.at[index].port;
    uint8_t in_channel = s->net->packet.at[index].channel;
    KER_POOL_GIVE(&s->net->packet, index);
    if (net_by_fifo(s))
        input_fifo_advance(s, in_port, in_channel, now);
    if (out->waits && out->credit[g.channel] < taken && net->known)
        output_await(s, out, port);
    else if (out->waits)
        output_wake(s, out, port, output_ready(net, out));
}

/* Which channels lack credits: of a grant, and where there is none, with what came. */
__attribute__((noinline)) static void output_look(struct net_switch *s, uint32_t port, ker_time now)
{
    ker_time when = net_channels_look(s, port, now);
    if (when != KER_TIME_MAX)
        output_wake(s, net_port_at(s, port), port, when);
}

__attribute__((noinline)) static void lanes_offer(struct net_switch *s, uint32_t port, ker_time now)
{
    output_offer(s, port, now, true);
}

/* Nothing waits any more. */
static void output_rest(struct net_switch *s, uint32_t port, ker_time now)
{
    credits_starve(&net_port_at(s, port)->due, 0);
    if (s->net->series) {
        net_stall_note(s->net, &s->more->series[port], false, net_port_at(s, port)->link_free, now);
        net_channels_look(s, port, now);
    }
}

/* Drops what has waited too long, and asks to be woken when that is so of what is left. */
__attribute__((noinline)) static void output_age(struct net_switch *s, uint32_t port, ker_time now)
{
    struct net_port *out = net_port_at(s, port);
    struct net_dying d;
    while ((d = net_life_look(s, out, now)).when <= now) {
        const struct net_request r = s->request.at[d.request];
        uint32_t index = request_take(s, port, d.before, d.request);
        const struct net_packet p = s->net->packet.at[index];
        KER_POOL_GIVE(&s->net->packet, index);
        if (r.reserved)
            out->credit[r.first_channel] += r.taken;
        net_packet_drop(s, &p, now,
                        d.of_head ? &s->net->count.lost_head_life : &s->net->count.lost_packet_life);
        if (__builtin_expect(s->net->maps, 0))
            net_congestion_map_look(s, port, now);
        if (net_by_fifo(s))
            input_fifo_advance(s, p.port, p.channel, now);
    }
    if (!out->waits)
        output_rest(s, port, now);
    else
        output_wake(s, out, port, d.when);
}

static void output_serve(struct net_switch *s, uint32_t port, ker_time now)
{
    if (__builtin_expect(s->net->lives, 0))
        output_age(s, port, now);
    if (__builtin_expect(s->net->set.lanes != NULL, 0))
        lanes_offer(s, port, now);
    else
        output_offer(s, port, now, false);
    if (__builtin_expect(s->net->series != NULL, 0))
        output_look(s, port, now);
    if (__builtin_expect(s->net->lives, 0))
        output_age(s, port, now); /* others are heads now */
}

void net_switch_prepare_hop(void *self, struct ker_event *event)
{
    struct net_switch *s = self;
    struct net_network *net = s->net;
    struct net_packet *p = (struct net_packet *)event;
    unsigned base = channel_base(net, p);
    __builtin_prefetch(credits_upstream(net, net_port_at(s, p->port)), 1);
    uint64_t hop = net->hop(net->topology, s->coordinate, p->address,
                            (uint64_t)p->state << 24 | (uint32_t)p->port << 8 | (p->channel - base),
                            net_chance(net, p->source, (uint64_t)p->injected)); /* nothing is pinned */
    if (!hop)
        return;
    packet_prepared(s, p, (uint32_t)hop + (base << 8), (uint32_t)(hop >> 32));
    if (net->landing >> (p->next >> 16) % 64 & 1 && !net_packet_alone(p))
        net_reassembly_fetch(net, p);
}

void net_switch_prepare_straight(void *self, struct ker_event *event)
{
    struct net_switch *s = self;
    const struct net_network *net = s->net;
    struct net_packet *p = (struct net_packet *)event;
    const struct route_straight *on = &net->straight[p->port];
    if (!((s->coordinate ^ p->address) & on->mask)) {
        net_switch_prepare_hop(self, event);
        return;
    }
    uint32_t hop = route_straight_hop(on, p->channel);
    if (__builtin_expect(net->set.classes > 1, 0)) {
        unsigned base = channel_base(net, p);
        hop = route_straight_hop(on, p->channel - base) + (base << 8);
    }
    __builtin_prefetch(credits_upstream(net, net_port_at(s, p->port)), 1);
    hop_prepared(s, p, hop);
}

static void switch_prepare(void *self, struct ker_event *event)
{
    struct net_switch *s = self;
    struct net_network *net = s->net;
    struct net_packet *p = (struct net_packet *)event;
    struct route_choice c;
    unsigned base = channel_base(net, p);
    const struct route_packet r = route_question(net, p, base);
    __builtin_prefetch(credits_upstream(net, net_port_at(s, p->port)), 1);
    if (!net->route_ahead(net->topology, s->coordinate, s->id, &r, &c))
        return;
    channel_pin(net, &r, &c, 1);
    packet_prepared(s, p, choice_hop(&c, base), c.state & 0xffffffu);
}

/* Has the packet, which is to wait, come behind others, as congestion control counts them? */
__attribute__((noinline)) static void packet_look(struct net_switch *s, const struct grant *g,
                                                  struct net_packet *p)
{
    const struct net_at_grant at = {.of = s, .out = g->out, .packet = p, .lane = g->first_channel};
    if (s->net->congestion->comes(s->net, &at))
        p->flags |= NET_BEHIND;
}

/* Puts the packet into its queue; false: it had no route and is lost. */
static bool packet_route(struct net_switch *s, const struct net_packet *p, ker_time now)
{
    uint32_t state;
    struct grant g = route_choose(s, p, now, &state);
    if (__builtin_expect(!g.out, 0)) {
        net_packet_lose(s, p, now);
        return false;
    }
    if (__builtin_expect(s->net->looks, 0))
        packet_look(s, &g, (struct net_packet *)p); /* nobody needs it behind this */
    request_put(s, &g, p, state);
    if (__builtin_expect(s->net->maps, 0))
        net_congestion_map_look(s, g.out_port, now);
    output_mark(s->net, g.out_port);
    return true;
}

static inline bool packet_put(struct net_switch *s, const struct net_packet *p, const struct grant *g,
                              ker_time now)
{
    bool begins = request_put(s, g, p, p->state);
    if (__builtin_expect(s->net->maps, 0))
        net_congestion_map_look(s, g->out_port, now);
    return begins;
}

/* Past others that wait for the output, or nobody knows what these wait for. */
__attribute__((noinline)) static void packet_compete(struct net_switch *s, const struct net_packet *p,
                                                     struct grant *g, uint32_t taken, ker_time now)
{
    if (s->net->known && !s->net->maps && request_find(s, g, p->port) == NET_NONE) {
        s->draws++;
        packet_forward(s, g, p, taken, now);
        output_wake(s, g->out, g->out_port, output_ready(s->net, g->out));
        return;
    }
    packet_put(s, p, g, now);
    output_serve(s, g->out_port, now);
}

/* The only packet of a quiet instant goes straight through when nothing is in its way: the same grant that
 * the queues would give, without touching them. What waits for the output meanwhile has been looked at, and
 * something else must happen before it can be granted. */
static inline __attribute__((always_inline)) void packet_pass_to(struct net_switch *s, struct net_packet *p,
                                                                 struct grant g, ker_time now)
{
    struct net_port *out = g.out;
    uint32_t taken = credits_of(&s->net->set, p->bytes);
    bool possible = grant_possible(s->net, &g, taken, now), only = !out->waits;
    if (only & possible) {
        s->draws++;
        packet_forward(s, &g, p, taken, now);
        return;
    }
    struct grant waits = g; /* in memory on this path only */
    if (possible | !s->net->known)
        packet_compete(s, p, &waits, taken, now);
    else if (packet_put(s, p, &waits, now))
        output_wait(s, &waits, taken, only, now);
}

__attribute__((noinline)) static void packet_decide(struct net_switch *s, struct net_packet *p, ker_time now)
{
    bool reserve = false;
    uint64_t decided = route_decide(s, p, now, &reserve);
    if (__builtin_expect(!decided, 0)) {
        net_packet_lose(s, p, now);
        return;
    }
    p->state = (uint32_t)(decided >> 32) & 0xffffffu;
    packet_pass_to(s, p, decided_grant(s, p, (uint32_t)decided, reserve), now);
}

static inline void packet_pass(struct net_switch *s, struct net_packet *p, ker_time now)
{
    if (__builtin_expect(p->flags & NET_ROUTED, 1))
        packet_pass_to(s, p, hop_grant(s, p, p->next, now), now);
    else
        packet_decide(s, p, now);
}

/* ---- faults ---- */

/* All that waits for an output, in the order of its ring, as a list of packets. */
static uint32_t output_empty(struct net_switch *s, uint32_t port, ker_time now)
{
    struct net_port *out = net_port_at(s, port);
    uint32_t first = NET_NONE, last = NET_NONE;
    while (out->waits) {
        uint32_t before = net_waits_of(s->net, out)->queue, index = s->request.at[before].next;
        const struct net_request r = s->request.at[index];
        uint32_t packet = request_take(s, port, before, index);
        if (r.reserved)
            out->credit[r.first_channel] += r.taken;
        s->net->packet.at[packet].next = NET_NONE;
        if (first == NET_NONE)
            first = packet;
        else
            s->net->packet.at[last].next = packet;
        last = packet;
    }
    output_rest(s, port, now);
    return first;
}

/* The link at this port has gone down: what waits for it is routed around the faults. The algorithm is not
 * asked again: what it has written into the packet is for the next switch. */
static void output_fail(struct net_switch *s, uint32_t port, ker_time now)
{
    struct net_network *net = s->net;
    uint32_t i = output_empty(s, port, now);
    while (i != NET_NONE) {
        const struct net_packet p = s->net->packet.at[i];
        struct route_choice c;
        unsigned base = channel_base(net, &p);
        struct route_packet r = route_question(net, &p, base);
        r.address = net_packet_address(net, &p);
        KER_POOL_GIVE(&s->net->packet, i);
        i = p.next;
        if (!net->set.at_source && route_next_repair(net->topology, now, s->id, &r, &c)) {
            struct grant g = hop_grant(s, &p, choice_hop(&c, base), now);
            request_put(s, &g, &p, c.state);
            output_mark(net, g.out_port);
            continue;
        }
        net_packet_lose(s, &p, now);
        if (net_by_fifo(s))
            input_fifo_advance(s, p.port, p.channel, now);
    }
}

/* ---- the component ---- */

static void switch_arrival(void *self, struct ker_engine *e, const struct ker_event *event)
{
    struct net_network *net = ((struct net_switch *)self)->net;
    *KER_PUSH(net->fresh, net->fresh_count, net->fresh_room) = event;
}

static void wake_come(struct net_switch *s, const struct net_port *out, ker_time now)
{
    struct net_waits *w = net_waits_of(s->net, out);
    if (w->wake <= now)
        w->wake = KER_TIME_MAX;
}

static void switch_note(void *self, struct ker_engine *e, ker_time now, enum ker_record_kind kind,
                        uint16_t port, uint8_t channel, uint32_t amount)
{
    struct net_switch *s = self;
    struct net_port *out = net_port_at(s, port);
    if (kind == KER_CREDIT) {
        credits_add(out->credit, channel, amount, credits_most(s->net, out));
        if (credits_starved(&out->due, channel))
            output_mark(s->net, port);
        return;
    }
    if (__builtin_expect(kind == KER_TIMER, 0)) {
        output_fail(s, port, now);
        return;
    }
    if (__builtin_expect(kind == KER_NOTICE, 0)) {
        net_congestion_map_take(s, now, port, channel, amount);
        return;
    }
    wake_come(s, out, now);
    output_mark(s->net, port);
}

static void fresh_route(struct net_switch *s, ker_time now)
{
    struct net_network *net = s->net;
    for (uint32_t i = 0; i < net->fresh_count; i++) {
        const struct net_packet *p = (const struct net_packet *)net->fresh[i];
        struct net_input_fifo *g =
            net_by_fifo(s) ? &s->more->input_fifo[p->port * NET_MAX_CHANNELS + p->channel] : NULL;
        if (g && g->taken) { /* are behind */
            uint32_t index = KER_POOL_TAKE_LARGE(&s->net->packet, &s->net->packets);
            s->net->packet.at[index] = *p;
            s->net->packet.at[index].next = NET_NONE;
            s->net->packet.at[index].flags &= (uint8_t)~NET_ROUTED; /* `next` is the queue's now */
            if (g->head == NET_NONE)
                g->head = index;
            else
                s->net->packet.at[g->tail].next = index;
            g->tail = index;
            continue;
        }
        if (g)
            g->taken = true;
        if (!packet_route(s, p, now) && g)
            g->taken = false; /* nobody is behind it yet */
    }
    net->fresh_count = 0;
}

static inline uint32_t turn_of(const struct net_switch *s)
{
    return s->turn < s->ports ? s->turn : 0;
}

/* Serves the marked outputs, beginning with a different one each time so that no output always comes first at
 * a common input. Serving may mark more (FIFO switches): continues until none is marked. */
static void marked_serve(struct net_switch *s, ker_time now)
{
    struct net_network *net = s->net;
    uint32_t words = (s->ports + 63u) / 64, first = turn_of(s) / 64 % words;
    bool any = true;
    while (any) {
        any = false;
        for (uint32_t k = 0; k <= words; k++) {
            uint32_t word = (first + k) % words;
            uint64_t keep = 0;
            if (k == 0) /* the outputs before the turn come last */
                keep = (1ull << (turn_of(s) & 63)) - 1;
            uint64_t bits = net->dirty[word] & ~keep;
            net->dirty[word] &= keep;
            while (bits) {
                uint32_t port = word * 64 + (uint32_t)__builtin_ctzll(bits);
                bits &= bits - 1;
                output_serve(s, port, now);
                any = true;
            }
        }
    }
}

static void switch_act(void *self, struct ker_engine *e, ker_time now)
{
    struct net_switch *s = self;
    fresh_route(s, now);
    marked_serve(s, now);
}

/* ---- an instant with one record: the same, without lists and marks ---- */

void net_switch_arrival_queued(void *self, struct ker_engine *e, const struct ker_event *event)
{
    switch_arrival(self, e, event);
    switch_act(self, e, event->time);
}

static void switch_arrival_alone(void *self, struct ker_engine *e, const struct ker_event *event)
{
    packet_pass(self, (struct net_packet *)event, event->time); /* nobody else reads it any more */
}

static void switch_note_alone(void *self, struct ker_engine *e, ker_time now, enum ker_record_kind kind,
                              uint16_t port, uint8_t channel, uint32_t amount)
{
    struct net_switch *s = self;
    struct net_port *out = net_port_at(s, port);
    if (kind == KER_CREDIT) {
        credits_add(out->credit, channel, amount, credits_most(s->net, out));
        if (!credits_starved(&out->due, channel))
            return;
    } else if (__builtin_expect(kind == KER_TIMER, 0)) {
        output_fail(s, port, now);
        marked_serve(s, now);
        return;
    } else if (__builtin_expect(kind == KER_NOTICE, 0)) {
        net_congestion_map_take(s, now, port, channel, amount);
        return;
    } else {
        wake_come(s, out, now);
    }
    if (net_by_fifo(s)) { /* serving may bring up further packets */
        output_mark(s->net, port);
        marked_serve(s, now);
    } else {
        output_serve(s, port, now);
    }
}

static uint32_t switch_id(const void *self)
{
    return ((const struct net_switch *)self)->id;
}

const struct ker_class net_switch_class = {
    .name = "switch",
    .arrival = switch_arrival,
    .note = switch_note,
    .act = switch_act,
    .arrival_alone = switch_arrival_alone,
    .note_alone = switch_note_alone,
    .prepare = switch_prepare,
    .head_bytes = sizeof(struct net_switch),
    .id = switch_id,
};
