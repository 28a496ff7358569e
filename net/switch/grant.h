/* grant.h - when a switch may grant a packet, and what follows from the grant. Private to switch.c, and
 * inline, as every packet passes here.
 *
 * The grant rule: a packet is forwarded from its input to its output when the output's write port is free,
 * the output queue has room, the input's read port is free, and there are credits for the whole packet behind
 * the link. A packet that arrives alone is asked at once (grant_possible); of packets that wait the output
 * asks for the same parts one by one, so that it knows what it has to wait for (output_candidates).
 *
 * From the grant on all is closed form: the output queue is served in order, so the time the packet leaves is
 * known, and its arrival at the next component is posted at once. The input's credit is returned when the
 * tail has left the buffer.
 */
#pragma once

#include "net/adapter/adapter.h"
#include "net/channels.h"
#include "net/congestion/congestion.h"
#include "net/parts.h"
#include "net/switch/private.h"
#include "net/switch/requests.h"

#include <string.h>

/* ---- marks and wake-ups ---- */

static inline void output_mark(struct net_network *net, uint32_t port)
{
    net->dirty[port >> 6] |= 1ull << (port & 63);
}

/* Of an output where something waits. */
static inline void output_wake(struct net_switch *s, struct net_port *out, uint32_t port, ker_time when)
{
    struct net_waits *w = net_waits_of(s->net, out);
    if (when < w->wake) {
        struct ker_engine *e = s->net->engine;
        w->wake = when;
        ker_post_note(e, (struct ker_address){s->self, e->rank}, when, KER_WAKE, (uint16_t)port, 0, 0);
    }
}

/* ---- the grant rule ---- */

/* The earliest time at which the output may take another packet: its write port is free, and its queue has
 * room for a packet of any size. */
static inline ker_time output_ready(const struct net_network *net, const struct net_port *out)
{
    ker_time room = out->link_free - net->link[out->link].slack;
    return out->write_free > room ? out->write_free : room;
}

/* Are there credits for the whole packet, which takes this many? */
static inline __attribute__((always_inline)) bool credits_cover(const struct net_port *out, unsigned channel,
                                                                uint32_t taken, bool reserved)
{
    return (out->credit[channel] >= taken) | reserved;
}

/* May this packet be sent now? */
static inline bool grant_possible(const struct net_network *net, const struct grant *g, uint32_t taken,
                                  ker_time now)
{
    unsigned output_free = output_ready(net, g->out) <= now, input_free = g->in->read_free <= now,
             covered = credits_cover(g->out, g->channel, taken, g->reserved);
    return output_free & input_free & covered; /* no branches */
}

/* The packet of this grant, which is not possible now, waits for the output, whose credits are those of now:
 * what it has to wait for, as output_offer (switch.c) would find out. only: no other waits; what others have
 * to wait for is known. */
static inline void output_wait(struct net_switch *s, const struct grant *g, uint32_t taken, bool only,
                               ker_time now)
{
    struct net_port *out = g->out;
    ker_time ready = output_ready(s->net, out), when = g->in->read_free;
    if (!credits_cover(out, g->channel, taken, g->reserved)) {
        uint32_t lacking = ((1u << g->channel_count) - 1) << g->first_channel;
        credits_starve(&out->due,
                       lacking | (only ? 0 : out->due.starved)); /* even and odd are channels 0, 1 */
        when = credits_due_next(&out->due);
    } else if (only) {
        credits_starve(&out->due, 0);
    }
    output_wake(s, out, g->out_port,
                when > ready ? when : ready); /* KER_TIME_MAX: a credit comes as a record */
}

/* ---- the grant ---- */

/* Some of it lies outside, or may. Not inline, and by value but for the packet: what lies in memory for the
 * slow path would be written for the other, too. What leaves behind run.end is kept: a fork may move it
 * (nothing is final that lies behind it). */
__attribute__((noinline)) static void output_count_rare(struct net_network *net, struct net_port *out,
                                                        struct net_port *in, const struct net_packet *p,
                                                        ker_time leave, ker_time wire, uint64_t waited,
                                                        uint64_t in_buffer, uint32_t channel)
{
    const struct net_ahead t = {.out = out,
                                .in = in,
                                .leave = leave,
                                .wire = wire,
                                .waited = waited,
                                .in_buffer = in_buffer,
                                .bytes = p->bytes,
                                .channel = channel,
                                .detour = (p->flags & NET_DETOUR) != 0,
                                .job = p->message % (1u << NET_JOB_BITS)};
    if (leave + wire <= net->set.measure_from || leave >= net->set.stop)
        return;
    if (leave + wire > net->final)
        net_ahead_keep(net, &t);
    else
        net_ahead_count_now(net, &t);
}

static inline void output_count(struct net_network *net, const struct net_switch *s, const struct grant *g,
                                const struct net_packet *p, ker_time now, ker_time leave, ker_time wire,
                                ker_time read_end)
{
    const struct net_ahead t = {
        g->out,   g->in,     leave, wire, (uint64_t)(leave - now), (uint64_t)(read_end - p->time),
        p->bytes, g->channel};
    if (__builtin_expect(leave >= net->set.measure_from && leave + wire <= net->whole_until, 1)) {
        net_ahead_count(net, &t, (uint32_t)wire);
    } else if (leave >= net->set.measure_from && leave + wire <= net->shares_until) {
        net_ahead_count(net, &t, (uint32_t)wire);
        if (p->flags & NET_DETOUR)
            s->more->detours[g->out_port]++;
        if (net->jobs)
            net_job_count(net_job_use(net, net_jobs_at(s, g->out_port), p->message), t.bytes, (uint64_t)wire);
    } else {
        output_count_rare(net, t.out, t.in, p, leave, wire, t.waited, t.in_buffer, t.channel);
    }
}

/* NET_MARKED when congestion control wants it; a packet counts once, wherever it is marked. `left`: credits
 * of its channel when it has taken its own; first: of the channels that would do. */
static uint8_t congestion_mark(struct net_switch *s, struct net_port *out, unsigned first, uint32_t left,
                               const struct net_packet *p, ker_time now)
{
    uint32_t port = net_port_number(s, out);
    struct net_at_grant at = {.of = s,
                              .switch_id = s->id,
                              .out = out,
                              .packet = p,
                              .port = port,
                              .lane = (uint8_t)first,
                              .left = out->due.to_adapter ? UINT32_MAX : left};
    if (s->more->granted)
        at.number = s->more->granted[port]++;
    if (p->flags & (NET_NOTICE | NET_MARKED) || !s->net->congestion->marks(s->net, &at, now))
        return 0;
    s->net->count.marked++;
    return NET_MARKED;
}

/* It leaves as packet_forward says. */
static void link_busy(struct net_switch *s, const struct net_port *out, uint32_t bytes, ker_time tail,
                      ker_time now)
{
    uint32_t track = s->more->series[net_port_number(s, out)].track;
    ker_time wire = net_times_of(s->net, out->link, bytes).wire,
             leave = now > out->link_free ? now : out->link_free;
    if (tail - wire > leave)
        leave = tail - wire;
    if (track)
        net_link_busy(s->net, track, leave, leave + wire);
}

/* May it? */
static inline bool detour_perhaps(const struct net_network *net, const struct net_packet *p)
{
    return !(p->flags & NET_DETOUR) & ((p->state & net->away_states.mask) == net->away_states.bits);
}

/* Does the packet, with its state as of now, begin a detour here? On a channel around faults the state is not
 * the algorithm's. */
static bool detour_begins(const struct net_switch *s, const struct net_port *out, const struct net_packet *p,
                          unsigned channel)
{
    const struct net_network *net = s->net;
    const struct route_packet r = {
        .address = net_packet_address(net, p), .state = p->state, .in_port = UINT16_MAX};
    return !out->due.ends_at_adapter && channel % net->set.channels < net->set.entrances &&
           net->away(net->topology, s->coordinate, &r);
}

/* What only some runs want. The packet is left behind with the grant, so that it may be written. channels:
 * the one that is taken, and from bit 8 on the first of those that would do. */
__attribute__((noinline)) static uint8_t packet_watch(struct net_switch *s, struct net_port *out,
                                                      unsigned channels, uint32_t left,
                                                      const struct net_packet *p, ker_time tail, ker_time now)
{
    const struct net_network *net = s->net;
    unsigned channel = channels & 0xff;
    if (net->set.lanes)
        net->set.lanes->sent(net->set.lanes_shared, net_lanes_at(s, net_port_number(s, out)), channel,
                             p->bytes);
    if (net->away && detour_perhaps(net, p) && detour_begins(s, out, p, channel))
        ((struct net_packet *)p)->flags |= NET_DETOUR;
    if (net->parts && !out->due.ends_at_adapter)
        net_parts_link(
            (struct net_packet *)p, &net->link[out->link],
            net->set.forwarding == NET_STORE_AND_FORWARD ? net_times_of(net, out->link, p->bytes).wire : 0);
    if (net->states)
        link_busy(s, out, p->bytes, tail, now);
    return net->congestion ? congestion_mark(s, out, channels >> 8, left, p, now) : 0;
}

/* taken: credits_of the packet. */
static inline __attribute__((always_inline)) void packet_forward(struct net_switch *s, struct grant *g,
                                                                 const struct net_packet *p, uint32_t taken,
                                                                 ker_time now)
{
    struct net_network *net = s->net;
    struct net_port *in = g->in, *out = g->out;
    const struct net_link_class *link = &net->link[out->link];
    struct net_times t_out = net_times_of(net, out->link, p->bytes),
                     t_in = net_times_of(net, in->link, p->bytes);
    ker_time tail = p->time + (t_in.wire & net->head_first);

    ker_time read_end = now + t_in.crossbar;
    if (tail > read_end)
        read_end = tail;
    in->read_free = read_end;
    if (__builtin_expect(net->set.read_flits, 0))
        in->read_free = now + t_in.crossbar;
    out->write_free = now + t_out.crossbar;

    uint8_t mark = 0;
    if (__builtin_expect(net->watched, 0) && (net->watched_all || detour_perhaps(net, p)))
        mark = packet_watch(s, out, (unsigned)g->first_channel << 8 | g->channel,
                            out->credit[g->channel] - (g->reserved ? 0 : taken), p, tail, now);

    ker_time leave = now > out->link_free ? now : out->link_free;
    if (tail - t_out.wire > leave)
        leave = tail - t_out.wire;
    out->link_free = leave + t_out.wire;
    if (__builtin_expect(net->maps, 0))
        net_congestion_map_look(s, g->out_port, now);
    ker_check(credits_cover(out, g->channel, taken, g->reserved));
    out->credit[g->channel] -= (out->due.to_adapter | g->reserved) ? 0 : taken;
    output_count(net, s, g, p, now, leave, t_out.wire, read_end);

    const struct net_onward *onward = &net->onward[out->due.ends_at_adapter];
    ker_time arrive = leave + link->latency + onward->delay + (t_out.wire & onward->tail);
    uint8_t flags = (p->flags & (uint8_t)~NET_ROUTED) | mark;
    if ((__builtin_expect(!net->deaf, 1) && net_packet_alone(p)) || !out->due.lands ||
        !net_adapter_land(net, (struct net_packet *)p, arrive, &flags)) {
        struct net_packet *next = (struct net_packet *)ker_post_event(net->engine, net_peer_of(net, out),
                                                                      arrive, out->peer_port, g->channel);
        next->flags = flags;
        memcpy((char *)next + 16, (const char *)p + 16, sizeof *p - 16);
        next->hops = p->hops + (p->hops < NET_MAX_SWITCHES);
    }
    s->turn = g->out_port + 1u;
    net->count.packet_hops++;
    credit_return(net, in, p, taken, read_end);
}
