/* resequence.c - a resequencing adapter (adapter.resequence): hands up the messages of each source in the
 * order in which that source sent them.
 *
 * With it, messages are numbered per pair of nodes, priority class and queue (enum net_queue): what the
 * adapter may send before other messages is not held back behind them. A number is a count, and in its low
 * bits the class and queue, so that it is unique for the pair. A destination knows the number that is next; a
 * message that is whole before its turn is kept, in a list sorted by number, until those before it have been
 * handed up. Invariant: the head of a list is never the next in order.
 */
#include "net/adapter/adapter.h"
#include "net/network.h"
#include "net/parts.h"
#include "net/state.h"

#include <stdlib.h>

#define LANES 64u /* classes x queues, a power of two */

/* From a number of a lane to the next; a number without what it says of a job, in its lowest bits. */
static uint32_t step_of(const struct net_network *net)
{
    return LANES << net_number_shift(net);
}
static uint32_t number_alone(const struct net_network *net, uint32_t number)
{
    return number >> net_number_shift(net) << net_number_shift(net);
}

/* Messages sent to another node in one class and queue. */
struct sent {
    struct net_pair pair;
    uint32_t next; /* number */
};

/* Messages of a source in one class and queue. */
struct order {
    struct net_pair pair;
    uint32_t next, held; /* number in order; list, NET_NONE: none */
    uint64_t bytes;      /* kept back */
};

struct held {
    struct net_message message; /* without `parts`: */
    struct net_parts parts;
    uint32_t number, next;
    ker_time since;
};

struct net_resequencer {
    struct net_pairs sent[LANES], order[LANES];
    KER_POOL(struct held) held;
    uint32_t count; /* of held */
};

/* Counting continues for ever. */
static bool never(const void *context, const struct net_pair *pair)
{
    return false;
}

struct net_resequencer *net_resequencer_new(void)
{
    struct net_resequencer *r = ker_alloc(sizeof *r);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        net_pairs_init(&r->sent[lane], sizeof(struct sent), never);
        net_pairs_init(&r->order[lane], sizeof(struct order), never);
    }
    r->held.free = KER_NONE;
    return r;
}

void net_resequencer_free(struct net_resequencer *r)
{
    if (!r)
        return;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        net_pairs_release(&r->sent[lane]);
        net_pairs_release(&r->order[lane]);
    }
    KER_POOL_RELEASE(&r->held);
    free(r);
}

uint32_t net_resequencer_count(const struct net_resequencer *r)
{
    return r ? r->count : 0;
}

uint32_t net_resequencer_number(struct net_adapter *a, uint32_t destination, uint32_t class,
                                enum net_queue queue, uint32_t number)
{
    uint32_t lane = class * 4 + queue;
    struct net_pairs *sent = &a->net->resequencer->sent[lane];
    struct sent *s = net_pairs_find(sent, a->id, destination);
    if (!s) {
        s = net_pairs_add(sent, NULL, a->id, destination);
        s->next = lane << net_number_shift(a->net);
    }
    uint32_t next = s->next;
    s->next += step_of(a->net);
    return next + (number - number_alone(a->net, number));
}

static struct order *order_of(const struct net_adapter *a, uint32_t source, uint32_t number)
{
    uint32_t lane = (number >> net_number_shift(a->net)) % LANES;
    struct net_pairs *order = &a->net->resequencer->order[lane];
    struct order *o = net_pairs_find(order, a->id, source);
    if (o)
        return o;
    o = net_pairs_add(order, NULL, a->id, source);
    o->next = lane << net_number_shift(a->net);
    o->held = NET_NONE;
    return o;
}

static uint32_t held_new(struct net_resequencer *r)
{
    r->count++;
    return KER_POOL_TAKE(&r->held, NULL);
}

bool net_resequencer_put(struct net_adapter *a, ker_time now, const struct net_message *m, uint32_t number)
{
    struct net_network *net = a->net;
    struct net_resequencer *r = net->resequencer;
    struct order *o = order_of(a, m->source, number);
    number = number_alone(net, number);
    if (number == o->next) {
        o->next += step_of(net);
        return true;
    }
    uint32_t index = held_new(r), *link = &o->held;
    while (*link != NET_NONE && (int32_t)(r->held.at[*link].number - number) < 0)
        link = &r->held.at[*link].next;
    r->held.at[index] = (struct held){.message = *m, .number = number, .next = *link, .since = now};
    r->held.at[index].message.parts = NULL;
    if (m->parts)
        r->held.at[index].parts = *m->parts;
    *link = index;
    o->bytes += m->bytes;
    net->count.messages_early++;
    if (o->bytes > net->count.early_bytes_max)
        net->count.early_bytes_max = o->bytes;
    return false;
}

bool net_resequencer_next(struct net_adapter *a, ker_time now, uint32_t source, uint32_t number,
                          struct net_message *m)
{
    struct net_network *net = a->net;
    struct net_resequencer *r = net->resequencer;
    struct order *o = order_of(a, source, number);
    uint32_t index = o->held;
    if (index == NET_NONE || r->held.at[index].number != o->next)
        return false;
    struct held *h = &r->held.at[index];
    *m = h->message;
    if (net->parts) {
        net->parts->packet = h->parts;
        m->parts = net->part_now;
    }
    if (net_measures(net, m->created))
        stats_quantity_add(net->early_wait, (uint64_t)(now - h->since));
    o->next += step_of(net);
    o->bytes -= m->bytes;
    o->held = h->next;
    KER_POOL_GIVE(&r->held, index);
    r->count--;
    return true;
}

/* ---- saved state ---- */

static void sent_state(struct ker_chunk *c, struct sent *s)
{
    KER_CHUNK(c, s->pair.other, s->next);
}

static void held_state(struct ker_chunk *c, struct held *h)
{
    KER_CHUNK(c, h->message, h->parts, h->number, h->since);
}

static void order_save(struct net_resequencer *r, struct ker_chunk *c, struct order *o)
{
    uint32_t count = 0;
    for (uint32_t i = o->held; i != NET_NONE; i = r->held.at[i].next)
        count++;
    KER_CHUNK(c, o->pair.other, o->next, o->bytes);
    ker_chunk_count(c, count, sizeof(struct net_message));
    for (uint32_t i = o->held; i != NET_NONE; i = r->held.at[i].next)
        held_state(c, &r->held.at[i]);
}

/* A chunk for each entry: its adapter and lane. */
static uint64_t lane_id(const struct net_pair *pair, uint32_t lane)
{
    return (uint64_t)lane << 32 | net_pair_endpoint(pair);
}

static void lane_save(struct net_network *net, uint32_t lane, struct ker_state_writer *writer)
{
    struct net_resequencer *r = net->resequencer;
    for (struct net_pair *pair = NULL; (pair = net_pairs_next(&r->sent[lane], pair)) != NULL;) {
        struct ker_chunk *c = ker_state_begin(writer, "sent", 1, lane_id(pair, lane));
        sent_state(c, (struct sent *)pair);
        ker_state_end(writer);
    }
    for (struct net_pair *pair = NULL; (pair = net_pairs_next(&r->order[lane], pair)) != NULL;) {
        struct ker_chunk *c = ker_state_begin(writer, "order", NET_ORDER_VERSION, lane_id(pair, lane));
        order_save(r, c, (struct order *)pair);
        ker_state_end(writer);
    }
}

void net_resequencer_save(struct net_network *net, struct ker_state_writer *writer)
{
    for (uint32_t lane = 0; net->resequencer && lane < LANES; lane++)
        lane_save(net, lane, writer);
}

/* The table of a chunk's lane; NULL: there is none, or the adapter lives elsewhere. */
static struct net_pairs *lane_find(struct net_loading *l, struct ker_chunk *c, bool sent, uint32_t *endpoint)
{
    struct net_resequencer *r = l->net->resequencer;
    uint64_t lane = c->id >> 32;
    c->bad |= !r || lane >= LANES;
    const struct net_adapter *n = c->bad ? NULL : net_loading_adapter(l, c);
    if (!n)
        return NULL;
    *endpoint = n->id;
    return sent ? &r->sent[lane] : &r->order[lane];
}

void net_sent_load(struct net_loading *l, struct ker_chunk *c)
{
    uint32_t endpoint;
    struct net_pairs *table = lane_find(l, c, true, &endpoint);
    struct sent one = {0};
    if (!table)
        return;
    sent_state(c, &one);
    c->bad |= net_pairs_find(table, endpoint, one.pair.other) != NULL;
    if (!c->bad)
        ((struct sent *)net_pairs_add(table, NULL, endpoint, one.pair.other))->next = one.next;
}

void net_order_load(struct net_loading *l, struct ker_chunk *c)
{
    uint32_t endpoint, other = 0;
    struct net_pairs *table = lane_find(l, c, false, &endpoint);
    struct net_resequencer *r = l->net->resequencer;
    if (!table)
        return;
    KER_CHUNK(c, other);
    c->bad |= net_pairs_find(table, endpoint, other) != NULL;
    if (c->bad)
        return;
    struct order *o = net_pairs_add(table, NULL, endpoint, other);
    KER_CHUNK(c, o->next, o->bytes);
    uint32_t last = o->held = NET_NONE; /* by its index: held_new moves the pool */
    for (uint32_t count = ker_chunk_count(c, 0, sizeof(struct net_message)); count; count--) {
        uint32_t index = held_new(r);
        held_state(c, &r->held.at[index]);
        r->held.at[index].next = NET_NONE;
        *(last == NET_NONE ? &o->held : &r->held.at[last].next) = index;
        last = index;
    }
}
