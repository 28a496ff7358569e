/* reassembly.c - messages of several packets, counted until they are whole.
 *
 * One open-addressing table per rank, keyed by (receiver, sender, message number): removal closes the gap by shifting back, so that
 * there are no tombstones. Packets may come in any order; those ahead of a missing one are counted as out of order, and the
 * bytes that a resequencing adapter would hold are tracked. Iteration order is never observable.
 *
 * A packet costs one line of the table: the extension, a line elsewhere, is looked at with the first and the
 * last packet only.
 */
#include "net/network.h"

#include <stdlib.h>

struct partial {
    uint32_t node, source, message; /* node: component; UINT32_MAX: free slot */
    uint32_t extension;             /* NET_NONE until the first packet is here */
    uint64_t bytes;                 /* that are here, modulo 2^64 less the message's once its extension is */
    uint16_t expected; /* next index in order */
    uint64_t early;    /* which of those behind it are here already */
};

struct net_reassembly {
    struct partial *slot;
    uint32_t room, used;
};

struct net_reassembly *net_reassembly_new(void)
{
    return ker_alloc(sizeof(struct net_reassembly));
}

void net_reassembly_free(struct net_reassembly *r)
{
    if (r)
        free(r->slot);
    free(r);
}

size_t net_reassembly_count(const struct net_reassembly *r)
{
    return r->used;
}

static uint32_t partial_home(const struct net_reassembly *r, uint32_t node, uint32_t source, uint32_t message)
{
    uint64_t x = ((uint64_t)node << 32 | source) * 0x9e3779b97f4a7c15u + message;
    x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32) & (r->room - 1);
}

static uint32_t partial_find(const struct net_reassembly *r, uint32_t node, uint32_t source, uint32_t message)
{
    uint32_t i = partial_home(r, node, source, message);
    while (r->slot[i].node != NET_NONE &&
           (r->slot[i].node != node || r->slot[i].source != source || r->slot[i].message != message))
        i = (i + 1) & (r->room - 1);
    return i;
}

static void table_grow(struct net_reassembly *r)
{
    struct partial *old = r->slot;
    uint32_t old_room = r->room;
    r->room = old_room ? old_room * 2 : 64;
    r->slot = ker_alloc(sizeof *r->slot * r->room);
    for (uint32_t i = 0; i < r->room; i++)
        r->slot[i].node = NET_NONE;
    for (uint32_t i = 0; i < old_room; i++)
        if (old[i].node != NET_NONE)
            r->slot[partial_find(r, old[i].node, old[i].source, old[i].message)] = old[i];
    free(old);
}

static void partial_remove(struct net_reassembly *r, uint32_t hole)
{
    uint32_t mask = r->room - 1;
    for (uint32_t i = (hole + 1) & mask; r->slot[i].node != NET_NONE; i = (i + 1) & mask) {
        uint32_t home = partial_home(r, r->slot[i].node, r->slot[i].source, r->slot[i].message);
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            r->slot[hole] = r->slot[i];
            hole = i;
        }
    }
    r->slot[hole].node = NET_NONE;
    r->used--;
}

/* Which packets came ahead of a missing one: `early` has a bit for each of the 64 behind the next in order. */
static void order_follow(struct net_network *net, struct partial *m, const struct net_packet *p, uint64_t payload)
{
    uint16_t ahead = (uint16_t)(p->index - m->expected);
    if (ahead == 0) {
        bool follows = true;
        while (follows) {
            m->expected++;
            follows = m->early & 1;
            m->early >>= 1;
        }
        return;
    }
    net->count.out_of_order++;
    stats_quantity_add(net->extent, ahead);
    if (ahead <= 64)
        m->early |= 1ull << (ahead - 1);
    uint64_t held = (uint64_t)__builtin_popcountll(m->early) * payload;
    if (net->set.resequence && held > net->count.reorder_bytes_max)
        net->count.reorder_bytes_max = held;
}

bool net_reassembly_add(struct net_network *net, const struct net_node *n, const struct net_packet *p, uint64_t payload,
                        struct net_extension *whole)
{
    struct net_reassembly *r = net->reassembly;
    if (r->used * 5u >= r->room * 4u)
        table_grow(r);
    uint32_t i = partial_find(r, n->self, p->source, p->message);
    struct partial *m = &r->slot[i];
    if (m->node == NET_NONE) {
        *m = (struct partial){.node = n->self, .source = p->source, .message = p->message, .extension = NET_NONE};
        r->used++;
    }
    if (p->flags & KER_FLAG_EXTENSION) {
        m->extension = p->extension;
        m->bytes -= ((struct net_extension *)ker_extension(net->engine, m->extension))->bytes;
    }
    m->bytes += payload;
    order_follow(net, m, p, payload);
    if (m->extension == NET_NONE || m->bytes != 0)
        return false;
    *whole = *(struct net_extension *)ker_extension(net->engine, m->extension);
    ker_extension_free(net->engine, m->extension);
    partial_remove(r, i);
    return true;
}
