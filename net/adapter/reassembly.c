/* reassembly.c - messages of several packets, counted until they are whole.
 *
 * One open-addressing table per rank, keyed by (receiver, sender, message number): removal closes the gap by
 * shifting back, so that there are no tombstones. Packets may come in any order; those ahead of a missing one
 * are counted as out of order, and the bytes that a resequencing adapter would hold are tracked. Which they
 * are is kept in a ring of bits by packet number: one word in the entry, and as many elsewhere as the packet
 * furthest ahead needs. Iteration order is never observable.
 *
 * A packet costs one line of the table: the extension, a line elsewhere, is looked at with the first and the
 * last packet only.
 */
#include "net/network.h"
#include "net/state.h"

#include <stdlib.h>

#define WORD_BITS 64u

struct partial {
    uint32_t node, source, message; /* node: the receiving endpoint; UINT32_MAX: free slot */
    uint32_t extension;             /* NET_NONE until the first packet is here */
    uint64_t bytes;                 /* that are here, modulo 2^64 less the message's once its extension is */
    uint64_t expected : 56,
        ring_log : 8; /* next index in order; words of the ring, as a power of two; 0: `early` is the ring */
    union {
        uint64_t early, *ring; /* which of those behind it are here already */
    };
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
    for (uint32_t i = 0; r && i < r->room; i++)
        if (r->slot[i].node != NET_NONE && r->slot[i].ring_log)
            free(r->slot[i].ring);
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
    if (r->slot[hole].ring_log)
        free(r->slot[hole].ring);
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

/* ---- order ---- */

static inline uint64_t *early_word(struct partial *m, uint64_t index)
{
    return m->ring_log ? &m->ring[index / WORD_BITS & ((1ull << m->ring_log) - 1)] : &m->early;
}

static inline uint64_t early_bit(uint64_t index)
{
    return 1ull << (index % WORD_BITS);
}

/* Room for packets up to so many ahead. */
static void early_grow(struct partial *m, uint64_t ahead)
{
    struct partial wider = *m;
    while (WORD_BITS << wider.ring_log <= ahead)
        wider.ring_log++;
    wider.ring = ker_alloc(sizeof *wider.ring << wider.ring_log);
    for (uint64_t i = m->expected + 1; i < m->expected + (WORD_BITS << m->ring_log); i++)
        if (*early_word(m, i) & early_bit(i))
            *early_word(&wider, i) |= early_bit(i);
    if (m->ring_log)
        free(m->ring);
    *m = wider;
}

/* The next in order is here: those behind it that were early are in order now, too. */
static void order_advance(struct partial *m)
{
    uint64_t *word, bit, was;
    do {
        m->expected++;
        word = early_word(m, m->expected);
        bit = early_bit(m->expected);
        was = *word;
        *word &= ~bit;
    } while (was & bit);
}

/* What is here of the message, and is not in order. All packets before the last are full. */
static uint64_t bytes_held(struct net_network *net, const struct partial *m)
{
    uint64_t coordinate = m->bytes;
    if (m->extension != NET_NONE)
        coordinate += ((struct net_extension *)ker_extension(net->engine, m->extension))->bytes;
    return coordinate - m->expected * net->set.payload;
}

/* Which packets came ahead of a missing one. */
static void order_follow(struct net_network *net, struct partial *m, const struct net_packet *p)
{
    uint64_t index = net_packet_index(p), ahead = index - m->expected;
    if (ahead == 0) {
        order_advance(m);
        return;
    }
    net->count.out_of_order++;
    stats_quantity_add(net->extent, ahead);
    if (ahead >= WORD_BITS << m->ring_log)
        early_grow(m, ahead);
    *early_word(m, index) |= early_bit(index);
    if (net->set.resequence) {
        uint64_t held = bytes_held(net, m);
        if (held > net->count.reorder_bytes_max)
            net->count.reorder_bytes_max = held;
    }
}

/* ---- messages ---- */

bool net_reassembly_add(struct net_network *net, const struct net_adapter *a, const struct net_packet *p,
                        uint64_t payload, struct net_extension *whole)
{
    struct net_reassembly *r = net->reassembly;
    if (r->used * 5u >= r->room * 4u)
        table_grow(r);
    uint32_t i = partial_find(r, a->id, p->source, p->message);
    struct partial *m = &r->slot[i];
    if (m->node == NET_NONE) {
        *m = (struct partial){
            .node = a->id, .source = p->source, .message = p->message, .extension = NET_NONE};
        r->used++;
    }
    if (p->flags & KER_FLAG_EXTENSION) {
        m->extension = p->extension;
        m->bytes -= ((struct net_extension *)ker_extension(net->engine, m->extension))->bytes;
    }
    m->bytes += payload;
    order_follow(net, m, p);
    if (m->extension == NET_NONE || m->bytes != 0)
        return false;
    *whole = *(struct net_extension *)ker_extension(net->engine, m->extension);
    ker_extension_free(net->engine, m->extension);
    partial_remove(r, i);
    return true;
}

/* ---- saved state ---- */

static void partial_state(struct net_network *net, struct ker_chunk *c, struct partial *m)
{
    uint64_t expected = ker_chunk_u64(c, m->expected);
    uint8_t ring_log = ker_chunk_u8(c, (uint8_t)m->ring_log);
    KER_CHUNK(c, m->source);
    KER_CHUNK(c, m->message);
    KER_CHUNK(c, m->bytes);
    bool extended = ker_chunk_bool(c, m->extension != NET_NONE);
    if (c->loads) {
        m->expected = expected & ((1ull << 56) - 1);
        m->extension = NET_NONE;
        if (ring_log > 40 || sizeof *m->ring << ring_log > c->bytes - c->at) {
            c->bad = true;
            return;
        }
        m->ring_log = ring_log;
        if (ring_log)
            m->ring = ker_alloc(sizeof *m->ring << ring_log);
    }
    if (extended)
        net_extension_state(net, c, &m->extension);
    ker_chunk_bytes(c, m->ring_log ? m->ring : &m->early, sizeof *m->ring << m->ring_log);
}

void net_reassembly_save(struct net_network *net, struct ker_state_writer *writer)
{
    const struct net_reassembly *r = net->reassembly;
    struct ker_chunk *c = NULL;
    for (uint32_t i = 0; i < r->room; i++) {
        struct partial *m = &r->slot[i];
        if (m->node == NET_NONE)
            continue;
        c = ker_state_begin(writer, "reassembly", 1, m->node);
        partial_state(net, c, m);
        ker_state_end(writer);
    }
}

void net_reassembly_load(struct net_loading *l, struct ker_chunk *c)
{
    struct net_reassembly *r = l->net->reassembly;
    const struct net_adapter *n = net_loading_adapter(l, c);
    struct partial m = {0};
    if (!n)
        return;
    partial_state(l->net, c, &m);
    m.node = n->id;
    if (r->used * 5u >= r->room * 4u)
        table_grow(r);
    uint32_t i = partial_find(r, n->id, m.source, m.message);
    if (c->bad || r->slot[i].node != NET_NONE) {
        c->bad = true;
        if (m.ring_log)
            free(m.ring);
        return;
    }
    r->slot[i] = m;
    r->used++;
}
