/* adapter.c - a network adapter sends: messages become packets; receive.c has the other direction.
 *
 * Messages are in flows, one per destination (or one in all); the flows take turns packet by
 * packet. One packet leaves per act at most; the next act comes when the link is free. An open-loop source
 * has one offered message at a time and is asked for the next when that one has been injected: its queue
 * needs no memory however long it grows. With congestion control flows that may not send yet are passed over.
 * While none may, an open-loop source is asked for further messages, up to congestion.window, so that one to
 * a crowded destination does not hold up those to others. CNPs are sent first. With adapter.injection_rate a
 * packet is sent when the link is free and the one before has had its time at the rate of its message. Where
 * nodes send nothing but what such a source offers, messages of one packet never join a flow.
 * Invariant: while anything can be sent, either a wake-up is scheduled, or the next credit is a record
 * (credits_starved).
 */
#include "net/adapter/adapter.h"
#include "net/adapter/flows.h"
#include "net/channels.h"
#include "net/congestion/congestion.h"
#include "net/credits.h"
#include "net/network.h"
#include "net/switch/switch.h"

#include <string.h>

/* ---- sending ---- */

static void adapter_wake(struct net_adapter *a, ker_time when)
{
    if (when < a->wake) {
        a->wake = when;
        ker_post_note(a->net->engine, net_adapter_self(a), when, KER_WAKE, a->port, 0, 0);
    }
}

/* Only a message of several packets or with an envelope needs one. */
static void extension_make(struct net_network *net, struct net_outgoing *o,
                           const struct net_envelope *envelope)
{
    if (!envelope && o->left <= net->set.payload)
        return;
    struct net_extension x = {.bytes = o->left, .service = o->service, .part = o->part};
    if (envelope)
        memcpy(x.envelope, envelope->word, sizeof x.envelope);
    o->place = ker_extension_new(net->engine, &x);
}

/* Unique among a source's messages to the destination. */
static inline uint32_t message_number(struct net_adapter *a, uint32_t destination, uint32_t class,
                                      enum net_queue queue, uint32_t number)
{
    if (__builtin_expect(a->net->set.resequence, 0))
        return net_resequencer_number(a, destination, class, queue, number);
    return number;
}

/* Returns its record. */
static inline uint32_t message_put(struct net_adapter *a, ker_time now, const struct net_send *m)
{
    struct net_network *net = a->net;
    ker_assert(m->destination != a->id && m->priority < net->set.classes);
    if (net_measures(net, now))
        net->count.measured_handed += m->bytes;
    uint32_t index = net_outgoing_take(a);
    struct net_outgoing *o = &net->outgoing.at[index];
    bool control = m->queue == NET_QUEUE_CONTROL, own = !control || net->set.control != NET_CONTROL_IN_ORDER;
    *o = (struct net_outgoing){.left = m->bytes,
                               .place = NET_NONE,
                               .cookie = m->cookie,
                               .created = now,
                               .destination = m->destination,
                               .priority = m->priority,
                               .queue = own ? m->queue : NET_QUEUE_SEND,
                               .service = m->service,
                               .part = m->part,
                               .control = control};
    o->message = message_number(a, o->destination, o->priority, o->queue, m->number);
    extension_make(net, o, m->envelope);
    flow_append(a, index);
    return index;
}

void net_send(struct net_adapter *a, ker_time now, const struct net_send *m)
{
    message_put(a, now, m);
}

void net_send_from(struct net_adapter *a, ker_time now, const struct net_send *m, uint32_t memory)
{
    net_dma_set(a->net, message_put(a, now, m), memory);
}

static inline struct net_offer *offer_of(const struct net_adapter *a)
{
    return &a->net->offered.at[a->offered];
}

/* Asks the open-loop source for its next message, in the place of the last; false: there are no more. */
static inline bool offer_ask(struct net_adapter *a)
{
    const struct net_network *net = a->net;
    struct net_offer *offer = offer_of(a);
    offer->priority = 0;
    offer->none = false;
    if (!net->host.offer(net_node_of(a), a->port, offer) || offer->created >= net->set.stop) {
        a->exhausted = true;
        return false;
    }
    if (!offer->none)
        offer->number = message_number(a, offer->destination, offer->priority, NET_QUEUE_SEND, offer->number);
    return true;
}

static void offer_drop(struct net_adapter *a)
{
    KER_POOL_GIVE(&a->net->offered, a->offered);
    a->offered = NET_NONE;
}

/* The same for the first, unless there are `most` among the flows. */
static void offer_fetch(struct net_adapter *a, uint32_t most)
{
    if (a->exhausted || a->offers >= most)
        return;
    a->offered = KER_POOL_TAKE(&a->net->offered, NULL);
    if (!offer_ask(a))
        offer_drop(a);
}

/* The next offered message joins the flows, if its time has come and there are fewer than `most`. Returns
 * whether it did. */
__attribute__((noinline)) static bool offer_join(struct net_adapter *a, ker_time now, uint32_t most)
{
    for (;;) {
        if (a->offered == NET_NONE)
            offer_fetch(a, most);
        if (a->offered == NET_NONE || offer_of(a)->created > now)
            return false;
        if (__builtin_expect(!offer_of(a)->none, 1))
            break;
        offer_drop(a);
    }
    uint32_t index = net_outgoing_take(a);
    a->net->outgoing.at[index] = net_outgoing_offered(offer_of(a));
    extension_make(a->net, &a->net->outgoing.at[index], NULL);
    flow_append(a, index);
    offer_drop(a);
    a->offers++;
    return true;
}

/* The channel of the class with most credits; none has more than a buffer. */
static inline unsigned channel_best(const struct net_adapter *a, unsigned priority)
{
    const struct net_settings *set = &a->net->set;
    unsigned first = priority * set->channels, end = first + set->entrances, best = first;
    for (unsigned c = first + 1; c < end && a->credit[best] < set->buffer; c++)
        if (a->credit[c] > a->credit[best])
            best = c;
    return best;
}

/* That one (with routing.pinning: the one of the packet's message or flow), if its credits are enough for the
 * packet; -1: wait. */
static inline int channel_find(const struct net_adapter *a, unsigned priority, unsigned best,
                               const struct net_packet *p)
{
    const struct net_settings *set = &a->net->set;
    if (__builtin_expect(set->pinning != NET_PIN_PACKET, 0))
        best =
            priority * set->channels + ker_random_below(ker_mix(net_packet_draw(a->net, p)), set->entrances);
    return credits_enough(set, a->credit, best, p->bytes) ? (int)best : -1;
}

/* Could a packet of this payload be sent on the channel? */
static inline bool channel_open(const struct net_adapter *a, unsigned channel, uint64_t payload)
{
    uint64_t least = payload + a->net->set.header;
    return credits_enough(&a->net->set, a->credit, channel, (uint32_t)(least + !least));
}

static inline __attribute__((always_inline)) void
packet_post(struct net_adapter *a, const struct net_packet *packet, int channel, ker_time now)
{
    struct net_network *net = a->net;
    const struct net_link_class *link = &net->link[a->link];
    ker_time wire = net_times_of(net, a->link, packet->bytes).wire;
    ker_time arrive = now + link->latency + net->onward[0].delay + (wire & net->onward[0].tail);
    struct net_packet *p =
        (struct net_packet *)ker_post_event(net->engine, a->peer, arrive, a->peer_port, (uint8_t)channel);
    p->flags = packet->flags;
    memcpy((char *)p + 16, (const char *)packet + 16, sizeof *p - 16);
    ker_check(packet->bytes >= net->set.least);
    a->credit[channel] -= credits_of(&net->set, packet->bytes);
    a->link_free = now + wire;
    a->wire = (uint32_t)wire;
    if (__builtin_expect(net->set.lanes != NULL, 0))
        net->set.lanes->sent(net->set.lanes_shared, net_lanes_of(a), (unsigned)channel, packet->bytes);
    net->count.packet_hops++;
    if (net_measures(net, now)) {
        a->packets++;
        a->bytes += packet->bytes;
        a->wait += (uint64_t)(now - packet->created);
    }
    if (__builtin_expect(a->more->series != NULL, 0))
        net_injection_note(a, packet, (unsigned)channel, now);
    if (__builtin_expect(net->jobs != 0, 0))
        net_job_inject(a, packet, now, wire);
    a->busy += net_measured_part(net, now, wire);
}

static inline void payload_count(struct net_network *net, uint64_t payload, ker_time now)
{
    net->count.injected++;
    net->count.bytes_injected += payload;
    if (net_measures(net, now))
        net->count.measured_injected += payload;
}

/* The message's last packet is in transit. Whoever wants to know is notified when its last byte has left: the
 * record stays until then, in the order in which packets leave. */
static inline __attribute__((always_inline)) void message_sent(struct net_adapter *a, uint32_t index,
                                                               uint64_t bytes)
{
    struct net_network *net = a->net;
    struct net_outgoing *o = &net->outgoing.at[index];
    if (__builtin_expect(net->matrices != NULL, 0))
        net_matrices_add(net, a->id, o->destination, o->part != NET_FURTHER_PART, bytes);
    if (o->from_offer)
        a->offers--;
    if (o->cookie == 0) {
        net_outgoing_give(a, index);
        return;
    }
    if (net->host.leaves && a->link_free < net->final && !net->set.throttled && !a->more->series &&
        net->host.leaves(net_node_of(a), a->link_free, o->service, o->part, o->cookie)) {
        net_outgoing_give(a, index);
        return;
    }
    o->next = index;
    if (a->leaving_last != NET_NONE) {
        o->next = net->outgoing.at[a->leaving_last].next;
        net->outgoing.at[a->leaving_last].next = index;
    }
    a->leaving_last = index;
    uint32_t timer = net->host.timer + a->port;
    ker_post_note(net->engine, net_adapter_self(a), a->link_free, KER_TIMER, (uint16_t)(timer >> 8),
                  (uint8_t)timer, 0);
}

/* Payload of the next packet of a message of which this is left. */
static inline uint64_t packet_payload(const struct net_network *net, uint64_t left)
{
    return left < net->set.payload ? left : net->set.payload;
}

/* With routing.hop_bytes its header depends on its path. */
static inline void packet_head(const struct net_adapter *a, uint64_t payload, struct net_packet *p)
{
    const struct net_network *net = a->net;
    uint64_t bytes = payload + net->set.header;
    if (__builtin_expect(net->set.hop_bytes, 0))
        bytes = payload + net_header(net, net_source_switches(a, p));
    p->bytes = (uint16_t)(bytes ? bytes : 1);
    if (payload == 0)
        p->flags |= NET_EMPTY;
}

static inline __attribute__((always_inline)) void
packet_make(const struct net_adapter *a, const struct net_outgoing *o, ker_time now, struct net_packet *p)
{
    const struct net_network *net = a->net;
    uint64_t payload = packet_payload(net, o->left);
    *p = (struct net_packet){.source = a->id,
                             .destination = o->destination,
                             .created = o->created,
                             .injected = now,
                             .address = route_address(net->topology, o->destination),
                             .index = (uint16_t)o->place,
                             .extension = (uint32_t)(o->place >> 16),
                             .message = o->message};
    if (!o->begun) {
        bool extended = o->place != NET_NONE;
        p->flags |= NET_FIRST | (extended ? KER_FLAG_EXTENSION : 0);
        p->index = (uint16_t)(o->part << 8 | o->service);
        p->extension = extended ? (uint32_t)o->place : 0;
    }
    if (o->left == payload)
        p->flags |= NET_LAST;
    packet_head(a, payload, p);
}

/* All of a message, which has no extension. */
static inline void packet_make_alone(const struct net_adapter *a, const struct net_offer *o, ker_time now,
                                     struct net_packet *p)
{
    *p = (struct net_packet){.flags = NET_FIRST | NET_LAST,
                             .source = a->id,
                             .destination = o->destination,
                             .created = o->created,
                             .injected = now,
                             .address = route_address(a->net->topology, o->destination),
                             .index = (uint16_t)(o->part << 8 | o->service),
                             .message = o->number};
    packet_head(a, o->bytes, p);
}

/* To those who say when the next packet may leave. All packets of a message before this one were full. */
__attribute__((noinline)) static void packet_notify(struct net_adapter *a, ker_time now, uint32_t index,
                                                    const struct net_packet *p, uint64_t payload)
{
    const struct net_network *net = a->net;
    if (net->set.injection.count) {
        const struct net_outgoing *o = &net->outgoing.at[index];
        uint64_t bytes = o->left + (o->begun ? o->place * net->set.payload : 0);
        a->more->paced = now + ker_serialisation(payload, (uint64_t)ker_sizes_of(&net->set.injection, bytes));
    }
    if (net->congestion && (net->outgoing.at[index].queue != NET_QUEUE_CONTROL || net->congestion->control))
        net->congestion->sent(a, now, p, net->outgoing.at[index].priority, a->link_free - now);
    if (!net->dma || !payload)
        return;
    net_dma_of(a)->reads = true;
    net->host.read(net_node_of(a), now, a->port, net_dma_memory(net, index), payload,
                   net_adapter_alone(a, payload));
}

/* Sends the next packet of the flow behind `previous` in its level's ring, of which `last` is kept, if there
 * are credits for it. Returns whether it did. */
static inline __attribute__((always_inline)) bool flow_inject(struct net_adapter *a, unsigned level,
                                                              uint32_t *last, uint32_t previous, ker_time now)
{
    struct net_network *net = a->net;
    uint32_t turn = net->outgoing.at[previous].turn, index = flow_first(net, turn);
    struct net_outgoing *o = &net->outgoing.at[index];
    uint64_t payload = packet_payload(net, o->left);
    unsigned best = channel_best(a, o->priority);
    if (!channel_open(a, best, payload) && !net->faulty)
        return false; /* most often when it is asked, as it is at every instant of the node */
    struct net_packet p;
    packet_make(a, o, now, &p);
    if (__builtin_expect(net->faulty, 0) && !route_reachable(net->topology, now, a->id, o->destination)) {
        net_packet_withhold(a, &p, now);
    } else {
        int channel = channel_find(a, o->priority, best, &p);
        if (channel < 0)
            return false;
        packet_post(a, &p, channel, now);
        payload_count(net, payload, now);
        if (__builtin_expect(net->set.throttled, 0))
            packet_notify(a, now, index, &p, payload);
        if (o->control && net_measures(net, o->created))
            stats_quantity_add(net->control_wait, (uint64_t)(now - o->created));
    }
    a->backlog -= payload;
    if (p.flags & NET_LAST) {
        *last = flow_advance(a, level, previous, turn) ? turn : previous;
        if (!(net->sole || level & 1))
            *flow_upcoming(a) = net->outgoing.at[*last].turn;
        message_sent(a, index, net_packet_index(&p) * net->set.payload + payload); /* all before were full */
        return true;
    }
    o->left -= payload;
    o->place = o->begun ? o->place + 1u : 1u;
    o->begun = true;
    *last = net->set.fifo_order ? previous : turn;
    if (!net->sole)
        *flow_upcoming(a) = o->turn;
    return true;
}

/* With congestion control, or at an injection rate: the first flow of a level that may send now, by the one
 * before it in the ring; false: none may, and a->more->hold is at most when one will. */
static bool flow_ready(struct net_adapter *a, unsigned level, ker_time now, uint32_t *previous)
{
    const struct net_network *net = a->net;
    uint32_t last = *flow_last(a, level), before = last;
    do {
        uint32_t f = net->outgoing.at[before].turn;
        const struct net_outgoing *o = &net->outgoing.at[flow_first(net, f)];
        ker_time when = now;
        if (o->queue != NET_QUEUE_CONTROL) {
            when = net->congestion ? net->congestion->ready(a, o->destination, o->priority, now) : now;
            when = when > a->more->paced ? when : a->more->paced;
        }
        if (when <= now) {
            *previous = before;
            return true;
        }
        a->more->hold = ker_time_min(a->more->hold, when);
        before = f;
    } while (before != last);
    return false;
}

enum injection {
    INJECT_NOTHING, /* no flow may send */
    INJECT_BLOCKED, /* credits are missing for all that may */
    INJECT_SENT,
};

/* By lanes: of each channel the highest level's next packet that has credits there, and of these the
 * channel's turn. */
__attribute__((noinline)) static enum injection lanes_inject(struct net_adapter *a, ker_time now)
{
    const struct net_network *net = a->net;
    struct {
        unsigned level;
        uint32_t previous;
    } of[NET_MAX_CHANNELS];
    enum injection result = INJECT_NOTHING;
    uint32_t ready = 0;
    for (uint32_t left = a->waiting, level; left; left &= ~(1u << level)) {
        level = level_highest(left);
        uint32_t previous = *flow_last(a, level);
        if (net->set.holds && !flow_ready(a, level, now, &previous))
            continue;
        const struct net_outgoing *o = &net->outgoing.at[flow_first(net, net->outgoing.at[previous].turn)];
        struct net_packet p;
        packet_make(a, o, now, &p);
        bool lost = net->faulty && !route_reachable(net->topology, now, a->id, o->destination);
        int channel = lost ? (int)(o->priority * net->set.channels)
                           : channel_find(a, o->priority, channel_best(a, o->priority), &p);
        result = INJECT_BLOCKED;
        if (channel < 0 || ready >> channel & 1)
            continue;
        of[channel].level = level;
        of[channel].previous = previous;
        ready |= 1u << channel;
    }
    if (!ready)
        return result;
    unsigned channel = net->set.lanes->choose(net->set.lanes_shared, net_lanes_of(a), ready);
    flow_inject(a, of[channel].level, flow_last(a, of[channel].level), of[channel].previous, now);
    return INJECT_SENT;
}

/* Sends a packet of the highest level that can. */
static enum injection levels_inject(struct net_adapter *a, ker_time now)
{
    enum injection result = INJECT_NOTHING;
    uint32_t left = a->waiting;
    if (__builtin_expect(a->net->set.lanes != NULL, 0))
        return lanes_inject(a, now);
    do {
        unsigned level = level_highest(left);
        uint32_t *last = flow_last(a, level), previous = *last;
        left &= ~(1u << level);
        if (__builtin_expect(a->net->set.holds, 0) && !flow_ready(a, level, now, &previous))
            continue;
        if (flow_inject(a, level, last, previous, now))
            return INJECT_SENT;
        result = INJECT_BLOCKED;
    } while (__builtin_expect(left != 0, 0));
    return result;
}

/* The same where flows are held back; with congestion control an open-loop source is asked for more while all
 * it has given is. When none may be sent, sets a wake-up. */
static bool throttled_inject(struct net_adapter *a, ker_time now)
{
    enum injection result = INJECT_NOTHING;
    do {
        if (a->more->hold > now)
            continue;
        a->more->hold = KER_TIME_MAX;
        result = levels_inject(a, now);
    } while (result == INJECT_NOTHING && offer_join(a, now, a->net->set.offers));
    a->blocked = result == INJECT_BLOCKED;
    if (result != INJECT_SENT) {
        ker_time created = a->blocked || a->offered == NET_NONE ? KER_TIME_MAX : offer_of(a)->created;
        adapter_wake(a, ker_time_min(a->more->hold, created));
    }
    if (result != INJECT_NOTHING)
        a->more->hold = 0; /* there is more to try when the link is free or a credit comes */
    return result == INJECT_SENT;
}

/* Sends the next packet, if there is one that may be sent and credits for it. Returns whether it did. */
static bool packet_inject(struct net_adapter *a, ker_time now)
{
    if (__builtin_expect(a->net->set.throttled, 0)) {
        a->blocked = false;
        if (a->net->dma && net_dma_of(a)->reads)
            return false;
        if (a->net->set.holds)
            return throttled_inject(a, now);
    }
    bool sent = levels_inject(a, now) == INJECT_SENT;
    a->blocked = !sent;
    return sent;
}

/* ---- CNPs ---- */

void net_cnp_send(struct net_adapter *a, ker_time now, const struct net_cnp *cnp)
{
    struct net_network *net = a->net;
    uint32_t index = net_outgoing_take(a);
    net->outgoing.at[index] = (struct net_outgoing){.created = now,
                                                    .destination = cnp->destination,
                                                    .place = cnp->word,
                                                    .cookie = cnp->echo,
                                                    .priority = cnp->class,
                                                    .next = NET_NONE};
    if (a->more->cnp == NET_NONE)
        a->more->cnp = index;
    else
        net->outgoing.at[a->more->cnp_last].next = index;
    a->more->cnp_last = index;
}

/* Sends the next CNP, if there are credits for it; drops those that cannot arrive. The data's turn comes
 * again when the link is free. */
static bool cnp_inject(struct net_adapter *a, ker_time now)
{
    struct net_network *net = a->net;
    const struct net_outgoing *o = &net->outgoing.at[a->more->cnp];
    struct net_packet p = {.flags = NET_FIRST | NET_LAST | NET_EMPTY | NET_NOTICE,
                           .source = a->id,
                           .destination = o->destination,
                           .created = o->created,
                           .injected = now,
                           .address = route_address(net->topology, o->destination),
                           .bytes = (uint16_t)net->set.cnp,
                           .index = (uint16_t)o->place,
                           .extension = (uint32_t)o->cookie,
                           .message = UINT32_MAX};
    bool reachable = !net->faulty || route_reachable(net->topology, now, a->id, p.destination);
    int channel = channel_find(a, o->priority, channel_best(a, o->priority), &p);
    if (reachable && channel < 0)
        return false;
    uint32_t next = o->next;
    net_outgoing_give(a, a->more->cnp);
    a->more->cnp = next;
    if (!reachable)
        return next != NET_NONE && cnp_inject(a, now);
    packet_post(a, &p, channel, now);
    net->count.cnps_sent++;
    a->blocked = false;
    return true;
}

/* Sends one packet, if there is one that can be sent. What lacks credits waits for those of any channel. */
static bool adapter_inject(struct net_adapter *a, ker_time now)
{
    struct net_credits_due *due = net_due_of(a);
    credits_book(due, a->credit, a->net->set.buffer, now);
    credits_starve(due, 0);
    if (__builtin_expect(a->more->cnp != NET_NONE, 0) && cnp_inject(a, now))
        return true;
    if (a->waiting && packet_inject(a, now))
        return true;
    if ((a->waiting && a->blocked) || a->more->cnp != NET_NONE) {
        credits_starve(due, UINT16_MAX);
        adapter_wake(a, credits_due_next(due));
        if (__builtin_expect(a->net->faulty,
                             0)) /* what has lost its path is withheld then, not when others act */
            adapter_wake(a, route_faults_next(a->net->topology, now));
    }
    return false;
}

static __attribute__((noinline)) void adapter_act(struct net_adapter *a, ker_time now)
{
    if (a->link_free <= now) {
        if (!a->exhausted || a->offered != NET_NONE)
            offer_join(a, now, 1);
        bool sent = adapter_inject(a, now);
        if (__builtin_expect(a->more->series != NULL, 0))
            net_injection_look(a, credits_lacking(net_due_of(a)), now);
        if (!sent) {
            if (!a->waiting && a->offered != NET_NONE)
                adapter_wake(a, offer_of(a)->created);
            return;
        }
        if (!a->exhausted && a->offered == NET_NONE)
            offer_fetch(a, 1);
    }
    if (a->waiting || a->more->cnp != NET_NONE) {
        if (!a->blocked || a->more->cnp != NET_NONE)
            adapter_wake(a, a->link_free);
    } else if (a->offered != NET_NONE) {
        ker_time created = offer_of(a)->created;
        adapter_wake(a, created > a->link_free ? created : a->link_free);
    }
}

/* ---- an open-loop source by itself ---- */

/* When the offered message may leave. */
static inline void offer_wake(struct net_adapter *a, ker_time created)
{
    adapter_wake(a, created > a->link_free ? created : a->link_free);
}

/* The same, or, where credits are missing even now, not before the next one comes. */
static __attribute__((noinline)) void offer_await(struct net_adapter *a, ker_time created)
{
    const struct net_offer *o = offer_of(a);
    if (!channel_open(a, channel_best(a, o->priority), packet_payload(a->net, o->bytes))) {
        credits_starve(net_due_of(a), UINT16_MAX);
        ker_time due = credits_due_next(net_due_of(a));
        created = due > created ? due : created;
    }
    offer_wake(a, created);
}

/* The offered message leaves. */
static inline void offer_inject(struct net_adapter *a, const struct net_packet *p, uint64_t payload,
                                int channel, ker_time now)
{
    struct net_network *net = a->net;
    packet_post(a, p, channel, now);
    payload_count(net, payload, now);
    if (__builtin_expect(net->matrices != NULL, 0))
        net_matrices_add(net, a->id, p->destination, true, payload);
    if (a->exhausted || !offer_ask(a))
        offer_drop(a);
    else if (__builtin_expect(a->credit[channel] < p->bytes, 0)) /* most likely too few for the next one */
        offer_await(a, offer_of(a)->created);
    else
        offer_wake(a, offer_of(a)->created);
}

/* As adapter_act where there is nothing but an offered message of one packet: it leaves from where it is, or
 * waits there, and never joins a flow. */
static __attribute__((noinline)) void offer_act(struct net_adapter *a, ker_time now)
{
    const struct net_offer *o = offer_of(a);
    if (a->link_free > now || o->created > now) {
        offer_wake(a, o->created);
        return;
    }
    struct net_credits_due *due = net_due_of(a);
    credits_book(due, a->credit, a->net->set.buffer, now);
    unsigned best = channel_best(a, o->priority);
    struct net_packet p;
    int channel = -1;
    if (channel_open(a, best, o->bytes)) {
        packet_make_alone(a, o, now, &p);
        channel = channel_find(a, o->priority, best, &p);
    }
    credits_starve(due, channel < 0 ? UINT16_MAX : 0);
    if (channel < 0)
        adapter_wake(a, credits_due_next(due));
    else
        offer_inject(a, &p, o->bytes, channel, now);
}

/* Nothing to send, and nobody who could have something: so at most instants of a node that runs tasks. */
static inline bool adapter_rests(const struct net_adapter *a)
{
    return !a->waiting && a->exhausted && (a->more->cnp & a->offered) == NET_NONE && !a->more->series;
}

void net_adapter_act(struct net_adapter *a, ker_time now)
{
    if (a->net->sole && !a->waiting && a->offered != NET_NONE && offer_of(a)->bytes <= a->net->set.payload)
        offer_act(a, now);
    else if (!adapter_rests(a))
        adapter_act(a, now);
}

void net_adapter_foresee(const struct ker_class *class, void *node)
{
    struct net_adapter *a = net_node_adapter(class, node);
    if (!a->waiting)
        return;
    unsigned level = level_highest(a->waiting);
    const struct net_outgoing *all = a->net->outgoing.at;
    __builtin_prefetch(&all[*flow_upcoming(a)], 1);
    __builtin_prefetch(&all[*flow_upcoming(a)].turn, 1); /* it begins anywhere in a cache line */
    __builtin_prefetch(&all[*flow_last(a, level)].turn);
}

/* ---- for the node ---- */

void net_adapter_renewed(struct net_adapter *a, ker_time at)
{
    if (a->offered != NET_NONE && (offer_of(a)->none || offer_of(a)->created == KER_TIME_MAX))
        offer_drop(a);
    a->exhausted = false;
    adapter_wake(a, at);
}
