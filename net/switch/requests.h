/* requests.h - the virtual output queues of a switch: what waits at which output for which channels. Private
 * to switch.c, and inline, as every packet that waits passes here.
 *
 * A request is a queue that is not empty: the packets of one input for one output and one set of channels
 * (struct net_request). The requests of an output form a ring in the order in which they are served next; the
 * matrix `voq` finds one by output and input.
 */
#pragma once

#include "net/switch/private.h"

/* Where a packet is forwarded from an input: an output, and channels of it. */
struct grant {
    struct net_port *in, *out;
    uint32_t out_port;
    uint8_t first_channel, channel_count; /* channels that would do */
    uint8_t channel;                      /* the one that is taken, from the grant on */
    bool reserved;                        /* its credits are taken already */
};

static inline bool request_fits(const struct net_request *r, uint16_t input, const struct grant *g)
{
    return r->input == input && r->first_channel == g->first_channel &&
           r->channel_count == g->channel_count && r->reserved == g->reserved;
}

/* The request of this input, output and set of channels, NET_NONE: there is none yet. */
static inline uint32_t request_find(const struct net_switch *s, const struct grant *g, uint16_t input)
{
    if (!g->out->waits)
        return NET_NONE;
    const struct net_waits *w = net_waits_of(s->net, g->out);
    if (!s->searched) {
        uint16_t first = w->first[input];
        uint32_t i = first == NET_NO_VOQ ? NET_NONE : first;
        while (i != NET_NONE && !request_fits(&s->request.at[i], input, g))
            i = s->request.at[i].sibling;
        return i;
    }
    uint32_t last = w->queue, i = last;
    do {
        if (request_fits(&s->request.at[i], input, g))
            return i;
        i = s->request.at[i].next;
    } while (i != last);
    return NET_NONE;
}

static inline struct net_waits *waits_begin(struct net_network *net, struct net_port *out)
{
    if (__builtin_expect(net->waits.free == KER_NONE, 0))
        net_waits_extend(net);
    out->waits = net->waits.free;
    struct net_waits *w = net_waits_of(net, out);
    net->waits.free = w->queue;
    w->queue = NET_NONE;
    w->wake = KER_TIME_MAX;
    return w;
}

/* Nothing waits any more. A wake-up that is still to come finds nothing. */
static inline void waits_end(struct net_switch *s, struct net_port *out)
{
    struct net_network *net = s->net;
    struct net_waits *w = net_waits_of(net, out);
    if (__builtin_expect(s->searched && s->ports <= NET_VOQ_PORTS, 0)) /* the row may have been in use */
        memset(w->first, 0xff, net->waits.row);
    w->queue = net->waits.free;
    net->waits.free = out->waits;
    out->waits = 0;
}

/* A new request at the end of the output's ring. */
static inline void request_begin(struct net_switch *s, const struct grant *g, uint32_t packet,
                                 const struct net_packet *p)
{
    struct net_waits *w = g->out->waits ? net_waits_of(s->net, g->out) : waits_begin(s->net, g->out);
    uint32_t index = KER_POOL_TAKE(&s->request, &s->net->arena);
    struct net_request *r = &s->request.at[index];
    *r = (struct net_request){.head = packet,
                              .tail = packet,
                              .next = index,
                              .sibling = NET_NONE,
                              .input = p->port,
                              .taken = (uint16_t)credits_of(&s->net->set, p->bytes),
                              .first_channel = g->first_channel,
                              .channel_count = g->channel_count,
                              .reserved = g->reserved};
    if (w->queue != NET_NONE) {
        r->next = s->request.at[w->queue].next;
        s->request.at[w->queue].next = index;
    }
    w->queue = index;
    if (!s->searched) {
        uint16_t *first = &w->first[p->port];
        r->sibling = *first == NET_NO_VOQ ? NET_NONE : *first;
        *first = (uint16_t)index;
        if (__builtin_expect(index >= NET_NO_VOQ,
                             0)) /* more than it can name: from now on the rings are searched */
            s->searched = true;
    }
}

/* Returns whether nothing of its kind waited. */
static inline bool request_put(struct net_switch *s, const struct grant *g, const struct net_packet *p,
                               uint32_t state)
{
    uint32_t index = KER_POOL_TAKE_LARGE(&s->net->packet, &s->net->packets),
             request = request_find(s, g, p->port);
    s->net->packet.at[index] = *p;
    s->net->packet.at[index].next = NET_NONE;
    s->net->packet.at[index].state = state;
    if (request == NET_NONE) {
        request_begin(s, g, index, p);
        net_waits_of(s->net, g->out)->waiting += p->bytes;
        return true;
    }
    s->net->packet.at[s->request.at[request].tail].next = index;
    s->request.at[request].tail = index;
    net_waits_of(s->net, g->out)->waiting += p->bytes;
    return false;
}

static inline void voq_remove(struct net_switch *s, struct net_waits *w, uint32_t index)
{
    uint16_t *first = &w->first[s->request.at[index].input];
    if (*first == index) {
        uint32_t sibling = s->request.at[index].sibling;
        *first = sibling == NET_NONE ? NET_NO_VOQ : (uint16_t)sibling;
        return;
    }
    uint32_t i = *first;
    while (s->request.at[i].sibling != index)
        i = s->request.at[i].sibling;
    s->request.at[i].sibling = s->request.at[index].sibling;
}

/* Takes the head packet of a request, whose predecessor in the ring is `before`: the request becomes the last
 * to be served next, or leaves the ring with its last packet. */
static inline uint32_t request_take(struct net_switch *s, uint32_t out_port, uint32_t before, uint32_t index)
{
    struct net_port *out = net_port_at(s, out_port);
    struct net_waits *w = net_waits_of(s->net, out);
    struct net_request *r = &s->request.at[index];
    uint32_t packet = r->head, next = s->net->packet.at[packet].next;
    w->waiting -= s->net->packet.at[packet].bytes;
    if (next != NET_NONE) {
        r->head = next;
        r->seen = false;
        r->taken = (uint16_t)credits_of(&s->net->set, s->net->packet.at[next].bytes);
        if (w->queue == before) { /* the first becomes the last: the ring turns */
            w->queue = index;
        } else if (w->queue != index) {
            s->request.at[before].next = r->next;
            r->next = s->request.at[w->queue].next;
            s->request.at[w->queue].next = index;
            w->queue = index;
        }
        return packet;
    }
    if (!s->searched)
        voq_remove(s, w, index);
    if (before == index) {
        waits_end(s, out);
    } else {
        s->request.at[before].next = r->next;
        if (w->queue == index)
            w->queue = before;
    }
    KER_POOL_GIVE(&s->request, index);
    return packet;
}
