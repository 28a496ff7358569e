/* adapter.c - a node's network adapter: messages into packets and back.
 *
 * Sending: messages stand in flows, one per destination (or one in all); the flows take turns packet by
 * packet. One packet leaves per act at most; the next act comes when the link is free. An open-loop source
 * has one offered message at a time and is asked for the next when that one has been injected: its queue
 * needs no memory however long it grows. With congestion control flows that may not send yet are passed over.
 * While none may, an open-loop source is asked for further messages, up to congestion.window, so that one to
 * a crowded destination does not hold up those to others. Notices go first. Receiving: packets are counted
 * per message; the message is handed up with its last packet. Invariant: while anything can be sent, either a
 * wake-up is on its way, or `blocked` says that a credit will bring one.
 */
#include "net/adapter/flows.h"
#include "net/congestion/congestion.h"

#include <string.h>

/* Timer notes: what their channel says. */
enum { TIMER_CLIENT, TIMER_SENT, TIMER_START };
#define PORT_CONSUMED 1 /* an arrival a limited sink has worked off */

/* ---- sending ---- */

static inline struct ker_address node_self(const struct net_node *n)
{
    return (struct ker_address){n->self, n->net->engine->rank};
}

static void node_wake(struct net_node *n, ker_time when)
{
    if (when < n->wake) {
        n->wake = when;
        ker_post_note(n->net->engine, node_self(n), when, KER_WAKE, 0, 0, 0);
    }
}

static void extension_make(struct net_network *net, struct net_outgoing *o,
                           const struct net_envelope *envelope)
{
    o->extension = NET_NONE;
    if (!envelope && o->bytes <= net->set.payload)
        return;
    o->extension = ker_extension_new(net->engine);
    struct net_extension *x = ker_extension(net->engine, o->extension);
    *x = (struct net_extension){.bytes = o->bytes, .created = o->created};
    if (envelope)
        memcpy(x->envelope, envelope->word, sizeof x->envelope);
}

/* Unique among a source's messages to the destination. */
static inline uint32_t message_number(struct net_node *n, const struct net_outgoing *o)
{
    return __builtin_expect(n->net->set.resequence, 0) ? net_resequencer_number(n, o) : n->messages++;
}

void net_send(struct net_node *n, ker_time now, uint32_t destination, uint64_t bytes,
              const struct net_envelope *envelope, uint64_t cookie, unsigned priority, enum net_queue queue)
{
    struct net_network *net = n->net;
    ker_assert(destination != n->id && priority < net->set.classes);
    if (net_measures(net, now))
        net->count.measured_handed += bytes;
    uint32_t index = outgoing_new(net);
    struct net_outgoing *o = &net->outgoing[index];
    bool control = queue == NET_QUEUE_CONTROL, own = !control || net->set.control != NET_CONTROL_IN_ORDER;
    *o = (struct net_outgoing){.left = bytes,
                               .bytes = bytes,
                               .cookie = cookie,
                               .created = now,
                               .destination = destination,
                               .priority = (uint8_t)priority,
                               .queue = (uint8_t)(own ? queue : NET_QUEUE_SEND),
                               .control = control};
    o->message = message_number(n, o);
    extension_make(net, o, envelope);
    flow_append(n, index);
    if (!n->acting && !n->blocked)
        node_wake(n, n->link_free > now ? n->link_free : now + 1);
}

/* Asks an open-loop client for its next message, unless there are `most` among the flows. */
static void offer_fetch(struct net_node *n, uint32_t most)
{
    struct net_network *net = n->net;
    struct net_offer offer;
    if (n->exhausted || n->offers >= most)
        return;
    offer.priority = 0;
    if (!n->client->offer(n, &offer) || offer.created >= net->set.stop) {
        n->exhausted = true;
        return;
    }
    n->offered = outgoing_new(net);
    struct net_outgoing *o = &net->outgoing[n->offered];
    *o = (struct net_outgoing){.left = offer.bytes,
                               .bytes = offer.bytes,
                               .created = offer.created,
                               .destination = offer.destination,
                               .priority = (uint8_t)offer.priority,
                               .from_offer = true};
    o->message = message_number(n, o);
}

/* The next offered message joins the flows, if its time has come and there are fewer than `most`. Returns
 * whether it did. */
__attribute__((noinline)) static bool offer_join(struct net_node *n, ker_time now, uint32_t most)
{
    if (n->offered == NET_NONE)
        offer_fetch(n, most);
    if (n->offered == NET_NONE || n->net->outgoing[n->offered].created > now)
        return false;
    extension_make(n->net, &n->net->outgoing[n->offered], NULL);
    flow_append(n, n->offered);
    n->offered = NET_NONE;
    n->offers++;
    return true;
}

/* The channel of the class with most credits (with routing.sticky: the one of its message or flow), if they
 * are enough for the packet; -1: wait. */
static int channel_find(const struct net_node *n, unsigned priority, const struct net_packet *p)
{
    unsigned first = priority * n->net->set.channels, best = first, bytes = p->bytes,
             entrances = n->net->set.entrances;
    bool pinned = n->net->set.pinning != NET_PIN_PACKET;
    if (__builtin_expect(pinned, 0))
        best = first + ker_random_below(net_mix(net_packet_draw(n->net, p)), entrances);
    for (unsigned c = first + 1; c < first + entrances && !pinned; c++)
        if (n->credit[c] > n->credit[best])
            best = c;
    return n->credit[best] >= bytes ? (int)best : -1;
}

static void packet_post(struct net_node *n, const struct net_packet *packet, int channel, ker_time now)
{
    struct net_network *net = n->net;
    const struct net_link_class *link = &net->link[n->link];
    ker_time wire = net_times_of(net, n->link, packet->bytes).wire;
    ker_time arrive =
        now + link->latency + net->set.delay + (net->set.forwarding == NET_STORE_AND_FORWARD ? wire : 0);
    struct net_packet *p =
        (struct net_packet *)ker_post_event(net->engine, n->peer, arrive, n->peer_port, (uint8_t)channel);
    p->flags = packet->flags;
    memcpy((char *)p + 16, (const char *)packet + 16, sizeof *p - 16);
    ker_check(packet->bytes >= net->set.least);
    n->credit[channel] -= packet->bytes;
    n->link_free = now + wire;
    n->wire = (uint32_t)wire;
    net->count.packet_hops++;
    if (net_measures(net, now)) {
        n->packets++;
        n->bytes += packet->bytes;
        n->wait += (uint64_t)(now - packet->created);
    }
    n->busy += net_measured_part(net, now, wire);
}

/* The message's last packet is on its way: tell the client when its last byte has left, and drop the record.
 */
static void message_sent(struct net_node *n, uint32_t flow_index)
{
    struct net_network *net = n->net;
    struct net_flow *f = &net->flow[flow_index];
    uint32_t index = f->head;
    struct net_outgoing *o = &net->outgoing[index];
    f->head = o->next;
    if (net->matrix)
        stats_matrix_add(net->matrix, n->id, o->destination, 1, o->bytes);
    if (o->from_offer)
        n->offers--;
    if (!o->from_offer && n->client->sent) {
        /* the record stays until the timer has been delivered */
        ker_post_note(net->engine, node_self(n), n->link_free, KER_TIMER, 0, TIMER_SENT, index);
        return;
    }
    outgoing_free(net, index);
}

/* Payload of the message's next packet. */
static inline uint64_t packet_payload(const struct net_network *net, const struct net_outgoing *o)
{
    return o->left < net->set.payload ? o->left : net->set.payload;
}

static struct net_packet packet_make(const struct net_node *n, const struct net_outgoing *o, ker_time now)
{
    const struct net_network *net = n->net;
    uint64_t payload = packet_payload(net, o);
    uint64_t bytes = payload + net->set.header;
    struct net_packet p = {.source = n->id,
                           .destination = o->destination,
                           .created = o->created,
                           .injected = now,
                           .address = route_address(net->topology, o->destination),
                           .bytes = (uint16_t)(bytes ? bytes : 1),
                           .index = (uint16_t)o->index,
                           .extension = (uint32_t)(o->index >> 16),
                           .message = o->message};
    if (o->left == o->bytes) {
        p.flags |= NET_FIRST;
        if (o->extension != NET_NONE) {
            p.flags |= KER_FLAG_EXTENSION;
            p.extension = o->extension;
        }
    }
    if (o->left == payload)
        p.flags |= NET_LAST;
    if (payload == 0)
        p.flags |= NET_EMPTY;
    if (__builtin_expect(net->set.hop_bytes, 0)) {
        bytes = payload + net_header(net, net_source_switches(n, &p));
        p.bytes = (uint16_t)(bytes ? bytes : 1);
    }
    return p;
}

/* Sends the next packet of the flow behind `previous` in its level's ring, of which `last` is kept, if there
 * are credits for it. Returns whether it did. */
static inline bool flow_inject(struct net_node *n, unsigned level, uint32_t *last, uint32_t previous,
                               ker_time now)
{
    struct net_network *net = n->net;
    uint32_t turn = net->flow[previous].next;
    struct net_outgoing *o = &net->outgoing[net->flow[turn].head];
    struct net_packet p = packet_make(n, o, now);
    uint64_t payload = packet_payload(net, o);
    if (__builtin_expect(net->faulty, 0) && !route_reachable(net->topology, now, n->id, o->destination)) {
        net_packet_withhold(n, &p, now);
    } else {
        int channel = channel_find(n, o->priority, &p);
        if (channel < 0)
            return false;
        packet_post(n, &p, channel, now);
        if (__builtin_expect(net->congestion != NULL, 0) && o->queue != NET_QUEUE_CONTROL)
            net->congestion->sent(n, now, &p, n->link_free - now);
        net->count.injected++;
        net->count.bytes_injected += payload;
        if (net_measures(net, now))
            net->count.measured_injected += payload;
        if (o->control && net_measures(net, o->created))
            stats_quantity_add(net->control_wait, (uint64_t)(now - o->created));
    }
    o->left -= payload;
    o->index++;
    if (p.flags & NET_LAST) {
        message_sent(n, turn);
        if (net->flow[turn].head == NET_NONE) {
            flow_remove(n, level, previous, turn);
            return true;
        }
    }
    *last = !net->set.fifo_order || (p.flags & NET_LAST) ? turn : previous;
    return true;
}

/* With congestion control: the first flow of a level that may send now, by the one before it in the ring;
 * false: none may, and n->hold is at most when one will. */
static bool flow_ready(struct net_node *n, unsigned level, ker_time now, uint32_t *previous)
{
    const struct net_network *net = n->net;
    uint32_t last = *flow_last(n, level), before = last;
    do {
        uint32_t f = net->flow[before].next;
        const struct net_outgoing *o = &net->outgoing[net->flow[f].head];
        ker_time when = o->queue == NET_QUEUE_CONTROL ? now : net->congestion->ready(n, o->destination, now);
        if (when <= now) {
            *previous = before;
            return true;
        }
        n->hold = ker_time_min(n->hold, when);
        before = f;
    } while (before != last);
    return false;
}

enum injection {
    INJECT_NOTHING, /* no flow may send */
    INJECT_BLOCKED, /* credits are missing for all that may */
    INJECT_SENT,
};

/* Sends a packet of the highest level that can. */
static enum injection levels_inject(struct net_node *n, ker_time now)
{
    enum injection result = INJECT_NOTHING;
    uint32_t left = n->waiting;
    do {
        unsigned level = level_highest(left);
        uint32_t *last = flow_last(n, level), previous = *last;
        left &= ~(1u << level);
        if (__builtin_expect(n->net->congestion != NULL, 0) && !flow_ready(n, level, now, &previous))
            continue;
        if (flow_inject(n, level, last, previous, now))
            return INJECT_SENT;
        result = INJECT_BLOCKED;
    } while (__builtin_expect(left != 0, 0));
    return result;
}

/* The same with congestion control, asking an open-loop source for more while all it has given is held back;
 * when none may go, sets a wake-up. */
static bool throttled_inject(struct net_node *n, ker_time now)
{
    enum injection result = INJECT_NOTHING;
    do {
        if (n->hold > now)
            continue;
        n->hold = KER_TIME_MAX;
        result = levels_inject(n, now);
    } while (result == INJECT_NOTHING && offer_join(n, now, n->net->set.offers));
    n->blocked = result == INJECT_BLOCKED;
    if (result != INJECT_SENT) {
        ker_time created =
            n->blocked || n->offered == NET_NONE ? KER_TIME_MAX : n->net->outgoing[n->offered].created;
        node_wake(n, ker_time_min(n->hold, created));
    }
    if (result != INJECT_NOTHING)
        n->hold = 0; /* there is more to try when the link is free or a credit comes */
    return result == INJECT_SENT;
}

/* Sends the next packet, if there is one that may go and credits for it. Returns whether it did. */
static bool packet_inject(struct net_node *n, ker_time now)
{
    if (__builtin_expect(n->net->congestion != NULL, 0))
        return throttled_inject(n, now);
    bool sent = levels_inject(n, now) == INJECT_SENT;
    n->blocked = !sent;
    return sent;
}

/* ---- cnps of congestion ---- */

void net_cnp_send(struct net_node *n, ker_time now, uint32_t destination, uint16_t word)
{
    struct net_network *net = n->net;
    uint32_t index = outgoing_new(net);
    net->outgoing[index] =
        (struct net_outgoing){.created = now, .destination = destination, .index = word, .next = NET_NONE};
    if (n->cnp == NET_NONE)
        n->cnp = index;
    else
        net->outgoing[n->cnp_last].next = index;
    n->cnp_last = index;
}

/* Sends the next cnp, if there are credits for it; drops those that cannot arrive. The data's turn comes
 * again when the link is free. */
static bool cnp_inject(struct net_node *n, ker_time now)
{
    struct net_network *net = n->net;
    const struct net_outgoing *o = &net->outgoing[n->cnp];
    struct net_packet p = {.flags = NET_FIRST | NET_LAST | NET_EMPTY | NET_NOTICE,
                           .source = n->id,
                           .destination = o->destination,
                           .created = o->created,
                           .injected = now,
                           .address = route_address(net->topology, o->destination),
                           .bytes = (uint16_t)net->set.cnp,
                           .index = (uint16_t)o->index,
                           .message = UINT32_MAX};
    bool reachable = !net->faulty || route_reachable(net->topology, now, n->id, p.destination);
    int channel = channel_find(n, net->set.classes - 1, &p);
    if (reachable && channel < 0)
        return false;
    uint32_t next = o->next;
    outgoing_free(net, n->cnp);
    n->cnp = next;
    if (!reachable)
        return next != NET_NONE && cnp_inject(n, now);
    packet_post(n, &p, channel, now);
    net->count.cnps_sent++;
    n->blocked = false;
    return true;
}

/* Sends one packet, if there is one that can go. */
static bool node_inject(struct net_node *n, ker_time now)
{
    if (__builtin_expect(n->cnp != NET_NONE, 0) && cnp_inject(n, now))
        return true;
    return n->waiting && packet_inject(n, now);
}

static void node_act(void *self, struct ker_engine *e, ker_time now)
{
    struct net_node *n = self;
    if (n->link_free <= now) {
        if (!n->exhausted || n->offered != NET_NONE)
            offer_join(n, now, 1);
        if (!node_inject(n, now)) {
            if (!n->waiting && n->offered != NET_NONE)
                node_wake(n, n->net->outgoing[n->offered].created);
            n->acting = false;
            return;
        }
        if (!n->exhausted && n->offered == NET_NONE)
            offer_fetch(n, 1);
    }
    n->acting = false;
    if (n->waiting || n->cnp != NET_NONE) {
        if (!n->blocked || n->cnp != NET_NONE)
            node_wake(n, n->link_free);
    } else if (n->offered != NET_NONE) {
        ker_time created = n->net->outgoing[n->offered].created;
        node_wake(n, created > n->link_free ? created : n->link_free);
    }
}

/* ---- receiving ---- */

static void message_hand_up(struct net_node *n, ker_time now, const struct net_message *m)
{
    struct net_network *net = n->net;
    net->count.messages_delivered++;
    if (net_measures(net, m->created)) {
        stats_quantity_add(net->message_latency, (uint64_t)(now - m->created));
        stats_quantity_add(net->message_size, m->bytes);
    }
    if (n->client)
        n->client->arrived(n, now, m);
}

/* The message is whole. */
static void message_deliver(struct net_node *n, ker_time now, const struct net_packet *p, uint64_t bytes,
                            ker_time created, const uint64_t *envelope)
{
    struct net_network *net = n->net;
    struct net_message m = {p->source, n->id, bytes, created, {{0}}};
    if (envelope)
        memcpy(m.envelope.word, envelope, sizeof m.envelope.word);
    if (__builtin_expect(net->set.resequence, 0)) {
        if (net_resequencer_put(n, now, &m, p->message))
            message_hand_up(n, now, &m);
        while (net_resequencer_next(n, now, m.source, p->message, &m))
            message_hand_up(n, now, &m);
        return;
    }
    message_hand_up(n, now, &m);
}

static void cnp_deliver(struct net_node *n, ker_time now, const struct net_packet *p)
{
    n->net->count.cnps_received++;
    ker_touch(n->net->engine, now);
    n->hold = 0;
    n->net->congestion->noticed(n, now, p);
}

static void packet_deliver(struct net_node *n, ker_time now, const struct net_packet *p)
{
    struct net_network *net = n->net;
    uint64_t wire = p->bytes, payload = p->flags & NET_EMPTY ? 0 : wire - net_header(net, p->hops);
    struct net_extension x;
    if (__builtin_expect(net->congestion != NULL, 0)) {
        if (p->flags & NET_NOTICE) {
            cnp_deliver(n, now, p);
            return;
        }
        net->congestion->arrived(n, now, p);
    }
    net->count.delivered++;
    net->count.bytes_delivered += payload;
    net->count.hops_sum += p->hops + 1u;
    if (p->hops + 1u > net->count.hops_max)
        net->count.hops_max = p->hops + 1u;
    if (net_measures(net, now))
        net->count.measured_bytes += payload;
    if (net_measures(net, p->created)) {
        stats_quantity_add(net->latency, (uint64_t)(now - p->injected));
        stats_quantity_add(net->total_latency, (uint64_t)(now - p->created));
    }
    ker_touch(net->engine, now);
    if ((p->flags & NET_FIRST) && (p->flags & NET_LAST)) {
        if (!(p->flags & KER_FLAG_EXTENSION)) {
            message_deliver(n, now, p, payload, p->created, NULL);
            return;
        }
        x = *(struct net_extension *)ker_extension(net->engine, p->extension);
        ker_extension_free(net->engine, p->extension);
        message_deliver(n, now, p, x.bytes, x.created, x.envelope);
    } else if (net_reassembly_add(net, n, p, payload, &x)) {
        message_deliver(n, now, p, x.bytes, x.created, x.envelope);
    }
}

/* A packet has been worked off: its buffer is free again. */
static void packet_consume(struct net_node *n, ker_time now, const struct net_packet *p)
{
    struct net_network *net = n->net;
    ker_time when = now + net->link[n->link].latency + net->set.credit_delay;
    ker_post_note(net->engine, n->peer, when, KER_CREDIT, n->peer_port, p->channel, p->bytes);
    packet_deliver(n, now, p);
}

/* A limited sink begins with a packet's head, when it is free, and is not done before the tail is here. */
static void packet_sink(struct net_node *n, const struct net_packet *p)
{
    struct net_network *net = n->net;
    ker_time tail = p->time, head = tail - net_times_of(net, n->link, p->bytes).wire;
    ker_time done =
        (n->sink_free > head ? n->sink_free : head) + ker_serialisation(p->bytes, net->set.ejection_rate);
    n->sink_free = done > tail ? done : tail;
    if (n->sink_free == tail) {
        packet_consume(n, tail, p);
        return;
    }
    struct net_packet *later = (struct net_packet *)ker_post_event(net->engine, node_self(n), n->sink_free,
                                                                   PORT_CONSUMED, p->channel);
    later->flags = p->flags;
    memcpy((char *)later + 16, (const char *)p + 16, sizeof *p - 16);
}

static void node_arrival(void *self, struct ker_engine *e, const struct ker_event *event)
{
    struct net_node *n = self;
    const struct net_packet *p = (const struct net_packet *)event;
    n->acting = true;
    if (p->port == PORT_CONSUMED)
        packet_consume(n, p->time, p);
    else if (n->net->set.ejection_rate)
        packet_sink(n, p);
    else
        packet_deliver(n, p->time, p);
}

static void node_note(void *self, struct ker_engine *e, ker_time now, enum ker_kind kind, uint16_t port,
                      uint8_t channel, uint32_t amount)
{
    struct net_node *n = self;
    n->acting = true;
    if (kind == KER_CREDIT) {
        n->credit[channel] += amount;
        ker_check(n->credit[channel] <= n->net->set.buffer);
        return;
    }
    if (kind == KER_WAKE) {
        if (n->wake <= now)
            n->wake = KER_TIME_MAX;
        return;
    }
    if (channel == TIMER_SENT) {
        uint64_t cookie = n->net->outgoing[amount].cookie;
        outgoing_free(n->net, amount);
        n->client->sent(n, now, cookie);
    } else if (channel == TIMER_START) {
        if (n->client->start)
            n->client->start(n, now);
    } else if (n->client->timer) {
        n->client->timer(n, now, port);
    }
}

/* ---- for clients ---- */

void net_timer(struct net_node *n, ker_time when, uint32_t timer)
{
    ker_assert(timer <= UINT16_MAX);
    ker_post_note(n->net->engine, node_self(n), when, KER_TIMER, (uint16_t)timer, TIMER_CLIENT, 0);
}

void net_node_start(struct net_node *n)
{
    ker_post_note(n->net->engine, node_self(n), 0, KER_TIMER, 0, TIMER_START, 0);
}

void *net_node_client(const struct net_node *n)
{
    return n->state;
}

void net_node_touch(struct net_node *n, ker_time when)
{
    ker_touch(n->net->engine, when);
}

/* An instant with one record takes the same way: a node's work is in act(). */
static void node_arrival_alone(void *self, struct ker_engine *e, const struct ker_event *event)
{
    ker_time now = event->time;
    node_arrival(self, e, event);
    node_act(self, e, now);
}

static void node_note_alone(void *self, struct ker_engine *e, ker_time now, enum ker_kind kind, uint16_t port,
                            uint8_t channel, uint32_t amount)
{
    node_note(self, e, now, kind, port, channel, amount);
    node_act(self, e, now);
}

const struct ker_class net_node_class = {
    .name = "node",
    .arrival = node_arrival,
    .note = node_note,
    .act = node_act,
    .arrival_alone = node_arrival_alone,
    .note_alone = node_note_alone,
    .head_bytes = sizeof(struct net_node) + 16,
};
