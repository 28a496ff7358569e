/* state.c - a switch, saved and loaded.
 *
 * Order that is state: the requests of an output in the order of its ring, from the one that is served next;
 * the packets of each, first in, first out; and what is in the FIFO of an input. Where they lie in the
 * pools is not, nor is the order in which the matrix `voq` finds them: loading puts packets into the queues
 * as their arrival did.
 */
#include "net/state.h"
#include "net/channels.h"
#include "net/switch/private.h"
#include "net/switch/requests.h"

static void port_state(struct net_switch *s, struct net_port *p, ker_time *wake, struct ker_chunk *c)
{
    struct net_port_counts n = net_port_counts(s->net, p);
    KER_CHUNK(c, p->link_free, p->write_free, p->read_free, *wake, n.queue_max, n.packets, n.bytes, n.busy,
              n.queue_time, n.input_time);
    if (c->loads)
        net_port_counts_set(s->net, p, n);
    ker_chunk_bytes(c, p->credit, sizeof *p->credit * s->net->set.channels * s->net->set.classes);
    if (s->more->lanes)
        ker_chunk_bytes(c, net_lanes_at(s, net_port_number(s, p)), s->net->set.lanes->bytes);
}

/* ---- requests ---- */

static uint32_t ring_count(const struct net_switch *s, uint32_t last)
{
    uint32_t count = 0;
    for (uint32_t i = last; i != NET_NONE;
         i = s->request.at[i].next != last ? s->request.at[i].next : NET_NONE)
        count++;
    return count;
}

static uint32_t list_count(const struct net_switch *s, uint32_t head)
{
    uint32_t count = 0;
    for (uint32_t i = head; i != NET_NONE; i = s->net->packet.at[i].next)
        count++;
    return count;
}

static void list_save(struct net_switch *s, uint32_t head, struct ker_chunk *c)
{
    ker_chunk_count(c, list_count(s, head), sizeof(struct net_packet));
    for (uint32_t i = head; i != NET_NONE; i = s->net->packet.at[i].next)
        net_packet_state(s->net, c, &s->net->packet.at[i]);
}

static void ring_save(struct net_switch *s, const struct net_port *out, struct ker_chunk *c)
{
    uint32_t i = net_waits_of(s->net, out)->queue, count = ker_chunk_count(c, ring_count(s, i), 8);
    for (; count; count--) {
        i = s->request.at[i].next;
        struct net_request *r = &s->request.at[i];
        KER_CHUNK(c, r->first_channel, r->channel_count);
        ker_chunk_bool(c, r->reserved);
        ker_time since = r->seen ? *net_since_of(s, i) : KER_TIME_MAX;
        KER_CHUNK(c, since);
        list_save(s, r->head, c);
    }
}

/* Channels that there are, and at least one of them. */
static bool channels_good(const struct net_switch *s, const struct grant *g)
{
    return g->channel_count > 0 &&
           g->first_channel + g->channel_count <= s->net->set.channels * s->net->set.classes;
}

static void ring_load(struct net_switch *s, uint32_t port, struct ker_chunk *c)
{
    struct grant g = {.out = net_port_at(s, port), .out_port = port};
    for (uint32_t requests = ker_chunk_count(c, 0, 8); requests; requests--) {
        KER_CHUNK(c, g.first_channel, g.channel_count);
        g.reserved = ker_chunk_bool(c, false);
        ker_time since = 0;
        KER_CHUNK(c, since);
        for (uint32_t packets = ker_chunk_count(c, 0, sizeof(struct net_packet)); packets; packets--) {
            struct net_packet p = {0};
            net_packet_state(s->net, c, &p);
            if (c->bad || p.port >= s->ports || !channels_good(s, &g)) {
                c->bad = true;
                return;
            }
            request_put(s, &g, &p, p.state);
            uint32_t last = net_waits_of(s->net, g.out)->queue; /* that has begun */
            s->request.at[last].seen = since != KER_TIME_MAX;
            if (s->request.at[last].seen)
                *net_since_of(s, last) = since;
        }
    }
}

/* ---- input FIFOs ---- */

static void input_fifo_state(struct net_switch *s, struct net_input_fifo *f, struct ker_chunk *c)
{
    f->taken = ker_chunk_bool(c, f->taken);
    if (!c->loads) {
        list_save(s, f->head, c);
        return;
    }
    for (uint32_t packets = ker_chunk_count(c, 0, sizeof(struct net_packet)); packets; packets--) {
        uint32_t index = KER_POOL_TAKE_LARGE(&s->net->packet, &s->net->packets);
        struct net_packet p = {0};
        net_packet_state(s->net, c, &p);
        c->bad |= p.port >= s->ports;
        p.next = NET_NONE;
        s->net->packet.at[index] = p;
        if (f->head == NET_NONE)
            f->head = index;
        else
            s->net->packet.at[f->tail].next = index;
        f->tail = index;
    }
}

/* ---- all ---- */

void net_switch_state(struct net_switch *s, struct ker_chunk *c)
{
    ker_chunk_same(c, s->ports);
    KER_CHUNK(c, s->turn, s->draws, s->rotor);
    for (uint32_t p = 0; p < s->ports && !c->bad; p++) {
        struct net_port *port = net_port_at(s, p);
        ker_time wake = net_waits_of(s->net, port)->wake;
        port_state(s, port, &wake, c);
        net_credits_state(s->net, &port->due, c);
        if (c->loads)
            ring_load(s, p, c);
        else
            ring_save(s, port, c);
        if (port->waits)
            net_waits_of(s->net, port)->wake = wake;
    }
    ker_chunk_same(c, net_by_fifo(s));
    for (uint32_t i = 0; net_by_fifo(s) && i < s->ports * NET_MAX_CHANNELS; i++)
        input_fifo_state(s, &s->more->input_fifo[i], c);
    ker_chunk_same(c, s->more->detours != NULL);
    if (s->more->detours)
        ker_chunk_bytes(c, s->more->detours, sizeof *s->more->detours * s->ports);
    ker_chunk_same(c, s->more->granted != NULL);
    if (s->more->granted)
        ker_chunk_bytes(c, s->more->granted, sizeof *s->more->granted * s->ports);
    net_series_state(s->net, s->more->series, s->ports, c);
    net_jobs_state(s->net, s->more->jobs, s->ports, c);
    net_pins_state(s, c);
    net_congestion_map_state(s, c);
}
