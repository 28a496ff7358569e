/* receive.c - a network adapter receives: packets become messages again.
 *
 * Packets are counted per message; the message is handed up with its last packet, or when its turn comes.
 * Where the sink is limited, a packet keeps its buffer until it has been worked off: it comes a second time
 * then. Where memory takes time it keeps its buffer until it has been written, too.
 *
 * Packets that complete no message are observed by nobody but the counters and the table of messages, so that
 * mostly they need no event (net->lands): the switch that they come from hands them over at the grant
 * (net_adapter_land). Grants of one output are in the order of arrivals, so the table sees the same order,
 * and the packet that completes a message is known there: it is an event, as if it were all of its message.
 * What arrives behind net->final could be cut off by an end: it is in the table, too, but counted by an event
 * (NET_LANDED). After a resume some that are in flight may not be in the table: then no others land. Where no
 * service does anything with messages that come (net->deaf: open-loop traffic), none needs an event.
 */
#include "net/adapter/adapter.h"
#include "net/congestion/congestion.h"
#include "net/credits.h"
#include "net/parts.h"

#include <string.h>

#define PORT_CONSUMED (NET_PORT_ADAPTER + 1) /* added to the port of an arrival that has been worked off */

/* Returns whether it is measured. */
static inline bool message_count(struct net_network *net, ker_time now, ker_time created, uint64_t bytes)
{
    net->count.messages_delivered++;
    if (!net_measures(net, created))
        return false;
    stats_quantity_add(net->message_latency, (uint64_t)(now - created));
    stats_quantity_add(net->message_size, bytes);
    return true;
}

void net_adapter_whole(struct net_adapter *a, ker_time now, const struct net_message *m)
{
    if (message_count(a->net, now, m->created, m->bytes) && __builtin_expect(m->parts != NULL, 0))
        net_parts_message(a->net, now, m);
}

static void message_hand_up(struct net_adapter *a, ker_time now, const struct net_message *m)
{
    if (m->part == NET_WHOLE)
        net_adapter_whole(a, now, m);
    a->net->host.arrived(net_node_of(a), now, m);
}

/* The message is whole. */
static void message_deliver(struct net_adapter *a, ker_time now, uint32_t number, struct net_message *m)
{
    if (__builtin_expect(a->net->set.resequence, 0)) {
        uint32_t source = m->source;
        if (net_resequencer_put(a, now, m, number))
            message_hand_up(a, now, m);
        while (net_resequencer_next(a, now, source, number, m))
            message_hand_up(a, now, m);
        return;
    }
    message_hand_up(a, now, m);
}

/* The same for one packet without an extension. */
static void packet_hand_up(struct net_adapter *a, ker_time now, const struct net_packet *p, uint64_t payload)
{
    struct net_message m = {.source = p->source,
                            .destination = a->id,
                            .bytes = payload,
                            .created = p->created,
                            .number = p->message,
                            .service = (uint8_t)p->index,
                            .part = (uint8_t)(p->index >> 8),
                            .parts = net_parts_now(a->net)};
    message_deliver(a, now, p->message, &m);
}

/* And for one with. */
static void extension_hand_up(struct net_adapter *a, ker_time now, const struct net_packet *p,
                              const struct net_extension *x)
{
    struct net_message m = {.source = p->source,
                            .destination = a->id,
                            .bytes = x->bytes,
                            .created = p->created,
                            .number = p->message,
                            .service = x->service,
                            .part = x->part,
                            .parts = net_parts_now(a->net)};
    memcpy(m.envelope.word, x->envelope, sizeof m.envelope.word);
    message_deliver(a, now, p->message, &m);
}

static void cnp_deliver(struct net_adapter *a, ker_time now, const struct net_packet *p)
{
    a->net->count.cnps_received++;
    ker_touch(a->net->engine, now);
    a->more->hold = 0;
    a->net->congestion->noticed(a, now, p);
}

/* What only some runs want. true: it was a CNP. */
__attribute__((noinline)) static bool packet_watch(struct net_adapter *a, ker_time now,
                                                   const struct net_packet *p, uint64_t sink)
{
    const struct net_network *net = a->net;
    if (p->flags & NET_NOTICE) {
        cnp_deliver(a, now, p);
        return true;
    }
    if (net->congestion)
        net->congestion->arrived(a, now, p);
    if (net->parts)
        net_parts_arrived(a, now, p, sink);
    if (p->flags & NET_DETOUR && net_measures(net, p->created))
        a->net->count.detours++;
    return false;
}

static inline uint64_t packet_payload(const struct net_network *net, const struct net_packet *p)
{
    return p->flags & NET_EMPTY ? 0 : p->bytes - (uint64_t)net_header(net, p->hops);
}

/* whole (a constant): its message is counted, too. */
static inline __attribute__((always_inline)) void
packet_count(struct net_network *net, ker_time now, const struct net_packet *p, uint64_t payload, bool whole)
{
    net->count.messages_delivered += whole;
    net->count.delivered++;
    net->count.bytes_delivered += payload;
    net->count.hops_sum += p->hops + 1u;
    if (p->hops + 1u > net->count.hops_max)
        net->count.hops_max = p->hops + 1u;
    if (net_measures(net, now))
        net->count.measured_bytes += payload;
    if (net_measures(net, p->created)) {
        uint64_t total = (uint64_t)(now - p->created);
        unsigned bin = stats_bin(total);
        stats_quantity_add(net->latency, (uint64_t)(now - p->injected));
        stats_quantity_put(net->total_latency, total, bin);
        if (whole) {
            stats_quantity_put(net->message_latency, total, bin);
            stats_quantity_add(net->message_size, payload);
        }
    }
    ker_touch(net->engine, now);
}

static inline void packet_early(struct net_network *net, uint64_t ahead)
{
    net->count.out_of_order++;
    stats_quantity_add(net->extent, ahead);
}

/* A packet of several has been counted. true: its message is whole, with this extension. */
static inline bool packet_join(struct net_network *net, const struct net_packet *p, uint64_t payload,
                               uint32_t *whole)
{
    *whole = NET_NONE;
    uint64_t ahead = p->flags & NET_LANDED ? net_packet_index(p) : net_reassembly_add(net, p, payload, whole);
    if (ahead)
        packet_early(net, ahead);
    return *whole != NET_NONE;
}

/* sink: how long it was kept by a limited sink, and by memory. */
static inline void packet_deliver(struct net_adapter *a, ker_time now, const struct net_packet *p,
                                  uint64_t sink)
{
    struct net_network *net = a->net;
    uint64_t payload = packet_payload(net, p);
    uint32_t extension = p->extension;
    ker_check(p->destination == a->id);
    if (__builtin_expect(net->watched, 0) && packet_watch(a, now, p, sink))
        return;
    packet_count(net, now, p, payload, false);
    if (!net_packet_alone(p)) {
        if (!packet_join(net, p, payload, &extension))
            return;
    } else if (!(p->flags & KER_FLAG_EXTENSION)) {
        packet_hand_up(a, now, p, payload);
        return;
    }
    struct net_extension x;
    ker_extension_read(net->engine, extension, &x);
    ker_extension_free(net->engine, extension);
    extension_hand_up(a, now, p, &x);
}

/* A message of several packets, or with an extension, is whole that its receiver does nothing with. */
static void message_land(struct net_network *net, const struct net_packet *p, uint32_t extension,
                         ker_time when)
{
    struct net_extension x;
    ker_extension_read(net->engine, extension, &x);
    ker_extension_free(net->engine, extension);
    message_count(net, when, p->created, x.bytes);
}

/* Of a packet that has landed: what its event has to say. */
static void land_later(struct net_packet *p, uint64_t ahead, uint32_t whole, uint8_t *flags)
{
    if (whole != NET_NONE) {
        p->extension = whole;
        *flags |= NET_FIRST | NET_LAST | KER_FLAG_EXTENSION;
        return;
    }
    p->index = (uint16_t)ahead;
    p->extension = (uint32_t)(ahead >> 16);
    *flags = (*flags & (uint8_t) ~(NET_FIRST | KER_FLAG_EXTENSION)) | NET_LANDED;
}

/* One of several of its message, or with an extension; false: it is to be posted. */
static inline bool part_land(struct net_network *net, struct net_packet *p, const struct net_packet *here,
                             ker_time when, uint64_t payload, uint8_t *flags)
{
    bool alone = net_packet_alone(p), certain = when < net->final;
    uint32_t whole = p->flags & KER_FLAG_EXTENSION ? p->extension : NET_NONE;
    uint64_t ahead = alone ? 0 : net_reassembly_add(net, p, payload, &whole);
    if (!certain || (!net->deaf && whole != NET_NONE)) {
        land_later(p, ahead, whole, flags);
        return false;
    }
    packet_count(net, when, here, payload, false);
    if (ahead)
        packet_early(net, ahead);
    if (whole != NET_NONE)
        message_land(net, p, whole, when);
    return true;
}

bool net_adapter_land(struct net_network *net, struct net_packet *p, ker_time when, uint8_t *flags)
{
    bool alone = net_packet_alone(p);
    if (!net->lands || (alone && when >= net->final)) /* an end at `when` comes first */
        return false;
    struct net_packet here = *p;
    here.hops += here.hops < NET_MAX_SWITCHES;
    uint64_t payload = packet_payload(net, &here);
    if (alone & !(p->flags & KER_FLAG_EXTENSION))
        packet_count(net, when, &here, payload, true);
    else if (!part_land(net, p, &here, when, payload, flags))
        return false;
    if (p->flags & NET_DETOUR && net_measures(net, p->created))
        net->count.detours++;
    net->engine->counts.records++; /* for the event that it would have been */
    ker_hold(net->engine, when);
    return true;
}

/* A packet has been worked off: its buffer is free again. sink: how long that took. */
static void packet_consume(struct net_adapter *a, ker_time now, const struct net_packet *p, uint64_t sink)
{
    struct net_network *net = a->net;
    ker_time when = credits_known(&net->set, now + net->link[a->link].latency + net->set.credit_delay);
    ker_post_note(net->engine, a->peer, when, KER_CREDIT, a->peer_port, p->channel,
                  credits_of(&net->set, p->bytes));
    packet_deliver(a, now, p, sink);
}

/* ---- into memory ---- */

/* What its receiver is notified of the packet's message, as far as that is here. */
static bool envelope_find(const struct net_adapter *a, const struct net_packet *p, struct net_extension *x)
{
    if (!(p->flags & NET_FIRST))
        return net_reassembly_extension(a->net, a, p, x);
    if (p->flags & KER_FLAG_EXTENSION)
        ker_extension_read(a->net->engine, p->extension, x);
    return p->flags & KER_FLAG_EXTENSION;
}

/* The first packet has been written. */
static void written(struct net_adapter *a, ker_time now)
{
    struct net_adapter_dma *dma = net_dma_of(a);
    struct net_dma_packet first = a->net->dma->packets.at[dma->first];
    KER_POOL_GIVE(&a->net->dma->packets, dma->first);
    dma->first = first.next;
    packet_consume(a, now, &first.packet, first.sink + (uint64_t)(now - first.packet.time));
}

/* Begins to write the first packet that has anything to write. Something waits for the last packet of a
 * message, and for one that others are behind; what else there is takes no more of memory than its link
 * brings. */
static void write_next(struct net_adapter *a, ker_time now)
{
    const struct net_adapter_dma *dma = net_dma_of(a);
    while (dma->first != NET_NONE) {
        struct net_packet p = a->net->dma->packets.at[dma->first].packet;
        uint64_t payload = packet_payload(a->net, &p);
        if (payload) {
            struct net_extension x = {0};
            struct net_envelope envelope = {0};
            bool found = envelope_find(a, &p, &x), hurries = p.flags & NET_LAST || dma->first != dma->last;
            if (found)
                memcpy(envelope.word, x.envelope, sizeof envelope.word);
            a->net->host.write(net_node_of(a), now, a->port, found ? x.service : 0, found ? &envelope : NULL,
                               payload, hurries ? 0 : net_adapter_alone(a, payload));
            return;
        }
        written(a, now);
    }
}

void net_adapter_written(struct net_adapter *a, ker_time now)
{
    written(a, now);
    write_next(a, now);
}

/* Whole, and through the sink. */
static void packet_keep(struct net_adapter *a, ker_time now, const struct net_packet *p, uint64_t sink)
{
    struct net_dma *all = a->net->dma;
    if (!all || p->flags & NET_NOTICE) {
        packet_consume(a, now, p, sink);
        return;
    }
    struct net_adapter_dma *dma = net_dma_of(a);
    uint32_t index = KER_POOL_TAKE(&all->packets, NULL);
    all->packets.at[index] = (struct net_dma_packet){.packet = *p, .sink = sink, .next = NET_NONE};
    all->packets.at[index].packet.time = now;
    bool idle = dma->first == NET_NONE;
    *(idle ? &dma->first : &all->packets.at[dma->last].next) = index;
    dma->last = index;
    if (idle)
        write_next(a, now);
}

/* ---- a limited sink ---- */

static void packet_consume_later(struct net_adapter *a, const struct net_packet *p)
{
    struct net_packet copy = *p;
    uint64_t sink = a->net->parts ? net_parts_sink_take(&copy, a->id) : 0;
    packet_keep(a, p->time, &copy, sink);
}

/* A limited sink begins with a packet's head, when it is free, and is not done before the tail is here. */
static void packet_sink(struct net_adapter *a, const struct net_packet *p)
{
    struct net_network *net = a->net;
    if (!net->set.ejection_rate) {
        packet_keep(a, p->time, p, 0);
        return;
    }
    ker_time tail = p->time, head = tail - net_times_of(net, a->link, p->bytes).wire,
             took = ker_serialisation(p->bytes, net->set.ejection_rate);
    took += took == 0; /* no two packets leave it at once: their order would be none */
    ker_time done = (a->more->sink_free > head ? a->more->sink_free : head) + took;
    a->more->sink_free = done > tail ? done : tail;
    if (a->more->sink_free == tail) {
        packet_keep(a, tail, p, 0);
        return;
    }
    struct net_packet *later = (struct net_packet *)ker_post_event(
        net->engine, net_adapter_self(a), a->more->sink_free, PORT_CONSUMED | a->port, p->channel);
    later->flags = p->flags;
    memcpy((char *)later + 16, (const char *)p + 16, sizeof *p - 16);
    if (net->parts)
        net_parts_sink_put(later, (uint64_t)(a->more->sink_free - tail));
}

void net_adapter_arrival(struct net_adapter *a, const struct ker_event *event)
{
    const struct net_packet *p = (const struct net_packet *)event;
    if (p->port & PORT_CONSUMED)
        packet_consume_later(a, p);
    else if (a->net->set.sinks)
        packet_sink(a, p);
    else
        packet_deliver(a, p->time, p, 0);
}
