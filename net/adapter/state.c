/* state.c - an adapter, saved and loaded.
 *
 * Order that is state: the flows of a level in the order in which they take turns, the messages of each, and
 * the CNPs to be sent. The extension of a message is its own until its first packet has left.
 */
#include "net/state.h"
#include "net/adapter/adapter.h"
#include "net/adapter/flows.h"
#include "net/channels.h"
#include "net/network.h"

/* ---- messages ---- */

static void outgoing_state(struct net_network *net, struct ker_chunk *c, struct net_outgoing *o)
{
    o->left = ker_chunk_u64(c, o->left);
    KER_CHUNK(c, o->cookie, o->created, o->destination, o->message);
    uint64_t index = ker_chunk_u64(c, o->begun ? o->place : 0);
    uint8_t priority = ker_chunk_u8(c, o->priority), queue = ker_chunk_u8(c, o->queue);
    o->service = ker_chunk_u8(c, o->service);
    o->part = ker_chunk_u8(c, o->part);
    o->from_offer = ker_chunk_bool(c, o->from_offer);
    o->control = ker_chunk_bool(c, o->control);
    bool extended = ker_chunk_bool(c, !o->begun && o->place != NET_NONE);
    uint32_t extension = (uint32_t)o->place;
    if (extended && !c->bad)
        net_extension_state(net, c, &extension);
    c->bad |= priority >= net->set.classes || queue > NET_QUEUE_READ || (extended && index);
    if (!c->loads || c->bad)
        return;
    o->priority = priority;
    o->queue = queue;
    o->begun = index > 0;
    o->place = index ? index : extended ? extension : NET_NONE;
}

static void outgoing_save(struct net_network *net, struct ker_chunk *c, uint32_t index)
{
    outgoing_state(net, c, &net->outgoing.at[index]);
    if (net->dma)
        ker_chunk_u32(c, net_dma_memory(net, index));
}

/* Makes a record and reads it. */
static uint32_t outgoing_load(const struct net_adapter *n, struct ker_chunk *c)
{
    struct net_network *net = n->net;
    uint32_t index = net_outgoing_take(n);
    net->outgoing.at[index] = (struct net_outgoing){.next = NET_NONE, .place = NET_NONE};
    outgoing_state(net, c, &net->outgoing.at[index]);
    if (net->dma)
        net_dma_set(net, index, ker_chunk_u32(c, 0));
    return index;
}

/* The message that the client has offered and that has not joined the flows. */
static void offered_state(struct net_adapter *n, struct ker_chunk *c)
{
    struct net_network *net = n->net;
    if (!ker_chunk_bool(c, n->offered != NET_NONE))
        return;
    if (c->loads) {
        n->offered = KER_POOL_TAKE(&net->offered, NULL);
        net->offered.at[n->offered] = (struct net_offer){0};
    }
    struct net_offer *offer = &net->offered.at[n->offered];
    net_offer_state(c, offer);
    offer->none = ker_chunk_bool(c, offer->none);
    c->bad |= offer->priority >= net->set.classes;
}

static uint32_t list_count(const struct net_network *net, uint32_t head)
{
    uint32_t count = 0;
    for (uint32_t i = head; i != NET_NONE; i = net->outgoing.at[i].next)
        count++;
    return count;
}

/* CNPs to be sent, or, as a list, messages whose last byte is leaving: of those the cookie is what is left.
 */
static void short_list_state(const struct net_adapter *n, uint32_t *head, uint32_t *last, struct ker_chunk *c)
{
    struct net_network *net = n->net;
    uint32_t at = *head, count = ker_chunk_count(c, list_count(net, *head), 30);
    for (; count; count--) {
        uint32_t index = c->loads ? net_outgoing_take(n) : at;
        struct net_outgoing *o = &net->outgoing.at[index];
        if (c->loads)
            *o = (struct net_outgoing){.next = NET_NONE, .place = NET_NONE};
        KER_CHUNK(c, o->created, o->destination);
        o->place = ker_chunk_u64(c, o->place);
        KER_CHUNK(c, o->cookie);
        o->service = ker_chunk_u8(c, o->service);
        o->part = ker_chunk_u8(c, o->part);
        o->priority = ker_chunk_u8(c, o->priority);
        c->bad |= o->priority >= net->set.classes;
        at = o->next;
        if (!c->loads)
            continue;
        if (*head == NET_NONE)
            *head = index;
        else
            net->outgoing.at[*last].next = index;
        *last = index;
    }
}

static void leaving_state(struct net_adapter *n, struct ker_chunk *c)
{
    struct net_network *net = n->net;
    uint32_t first = NET_NONE;
    if (n->leaving_last != NET_NONE) {
        first = net->outgoing.at[n->leaving_last].next;
        net->outgoing.at[n->leaving_last].next = NET_NONE;
    }
    short_list_state(n, &first, &n->leaving_last, c);
    if (first != NET_NONE)
        net->outgoing.at[n->leaving_last].next = first;
}

/* ---- flows ---- */

static uint32_t flow_length(const struct net_network *net, uint32_t flow)
{
    uint32_t count = 1;
    for (uint32_t i = flow_first(net, flow); i != flow; i = net->outgoing.at[i].next)
        count++;
    return count;
}

static void level_save(struct net_adapter *n, unsigned level, struct ker_chunk *c)
{
    struct net_network *net = n->net;
    uint32_t last = *flow_last(n, level), f = last, count = 0;
    do {
        f = net->outgoing.at[f].turn;
        count++;
    } while (f != last);
    ker_chunk_count(c, count, 8);
    for (; count; count--) {
        f = net->outgoing.at[f].turn;
        uint32_t length = flow_length(net, f), i = flow_first(net, f);
        for (ker_chunk_count(c, length, 40); length; length--, i = net->outgoing.at[i].next)
            outgoing_save(net, c, i);
    }
}

/* A flow gets its turn last. */
static void flow_load(struct net_adapter *n, unsigned level, struct ker_chunk *c)
{
    struct net_network *net = n->net;
    uint32_t *last = flow_last(n, level), first = NET_NONE, flow = NET_NONE;
    for (uint32_t count = ker_chunk_count(c, 0, 40); count; count--) {
        uint32_t index = outgoing_load(n, c);
        if (first == NET_NONE)
            first = index;
        else
            net->outgoing.at[flow].next = index;
        flow = index;
    }
    c->bad |= first == NET_NONE; /* a flow in a ring has a message */
    if (first == NET_NONE)
        return;
    net->outgoing.at[flow].next = first;
    net->outgoing.at[flow].turn = flow;
    if (n->waiting >> level & 1) {
        net->outgoing.at[flow].turn = net->outgoing.at[*last].turn;
        net->outgoing.at[*last].turn = flow;
    }
    *last = flow;
    n->waiting |= 1u << level;
}

static void flows_state(struct net_adapter *n, struct ker_chunk *c)
{
    uint32_t waiting = ker_chunk_u32(c, n->waiting), levels = net_ring_levels(n->net);
    if (c->bad || (levels < 32 && waiting >> levels)) {
        c->bad = true;
        return;
    }
    for (unsigned level = 0; level < levels; level++) {
        if (!(waiting >> level & 1))
            continue;
        if (!c->loads)
            level_save(n, level, c);
        else
            for (uint32_t count = ker_chunk_count(c, 0, 8); count; count--)
                flow_load(n, level, c);
    }
    c->bad |= n->waiting != waiting;
}

/* ---- all ---- */

/* As it was loaded. */
static void more_take(struct net_adapter *n, const struct net_adapter_more *more, struct ker_chunk *c)
{
    if (c->loads && n->net->more_each)
        *n->more = *more;
    else
        c->bad |= more->sink_free != n->more->sink_free || more->paced != n->more->paced ||
                  more->cnp != n->more->cnp;
}

static void link_state(struct net_adapter *n, struct ker_chunk *c)
{
    struct net_adapter_more more = *n->more;
    KER_CHUNK(c, n->link_free, n->wake, more.sink_free, more.hold, more.paced, n->backlog);
    n->offers = ker_chunk_u32(c, n->offers) & INT32_MAX >> 8;
    KER_CHUNK(c, n->wire, n->packets, n->bytes, n->busy, n->wait);
    more_take(n, &more, c);
    n->blocked = ker_chunk_bool(c, n->blocked);
    n->exhausted = ker_chunk_bool(c, n->exhausted);
    ker_chunk_bytes(c, n->credit, sizeof *n->credit * n->net->set.channels * n->net->set.classes);
    if (n->net->set.lanes)
        ker_chunk_bytes(c, net_lanes_of(n), n->net->set.lanes->bytes);
    net_credits_state(n->net, net_due_of(n), c);
    uint8_t job = ker_chunk_u8(c, n->more->job);
    if (c->loads && n->net->jobs)
        n->more->job = job;
    net_jobs_state(n->net, n->more->jobs, 1, c);
}

/* What is being read and written is the node's to know. */
static void dma_state(struct net_adapter *n, struct ker_chunk *c)
{
    struct net_adapter_dma *own = net_dma_of(n);
    struct net_dma *all = n->net->dma;
    uint32_t at = own->first, count = 0;
    own->reads = ker_chunk_bool(c, own->reads);
    own->leaves = ker_chunk_bool(c, own->leaves);
    for (uint32_t i = own->first; i != NET_NONE; i = all->packets.at[i].next)
        count++;
    for (count = ker_chunk_count(c, count, sizeof(struct net_packet)); count && !c->bad; count--) {
        uint32_t index = c->loads ? KER_POOL_TAKE(&all->packets, NULL) : at;
        struct net_dma_packet one = {.next = NET_NONE};
        if (!c->loads)
            one = all->packets.at[index];
        at = one.next;
        net_packet_state(n->net, c, &one.packet);
        KER_CHUNK(c, one.sink);
        if (!c->loads)
            continue;
        all->packets.at[index] = one;
        *(own->first == NET_NONE ? &own->first : &all->packets.at[own->last].next) = index;
        own->last = index;
    }
}

void net_adapter_state(struct net_adapter *n, struct ker_chunk *c)
{
    link_state(n, c);
    offered_state(n, c);
    struct net_adapter_more more = *n->more;
    short_list_state(n, &more.cnp, &more.cnp_last, c);
    more_take(n, &more, c);
    leaving_state(n, c);
    flows_state(n, c);
    ker_chunk_same(c, n->net->dma != NULL);
    if (n->net->dma && !c->bad)
        dma_state(n, c);
    net_series_state(n->net, n->more->series, 1, c);
}
