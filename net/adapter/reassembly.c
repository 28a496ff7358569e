/* reassembly.c - messages of several packets, counted until they are whole.
 *
 * One hash table per rank, keyed by (receiver, sender, message number). Packets may come in any order; those
 * ahead of a missing one are counted as out of order, and the bytes that a resequencing adapter would hold
 * are tracked. Which they are is kept in a ring of bits by packet number: one word in the entry, and as many
 * elsewhere as the packet furthest ahead needs. Iteration order is never observable.
 *
 * A packet costs one line of the table: the extension, a line elsewhere, is looked at with the first and the
 * last packet only.
 */
#include "net/adapter/receiving.h"
#include "net/network.h"
#include "net/state.h"

#include <stdlib.h>

#define WORD_BITS 64u

struct partial {
    uint32_t node, source, message; /* node: 1 + the receiving endpoint */
    uint32_t extension;             /* NET_NONE until the first packet is here */
    uint64_t bytes;                 /* that are here, modulo 2^64 less the message's once its extension is */
    uint64_t expected : 56,
        ring_log : 8; /* next index in order; words of the ring, as a power of two; 0: `early` is the ring */
    union {
        uint64_t early, *ring; /* which of those behind it are here already */
    };
};

struct net_reassembly {
    struct ker_table partials;
};

static uint64_t partial_hash(const void *key)
{
    const struct partial *m = key;
    return ker_hash(((uint64_t)m->node << 32 | m->source) * 0x9e3779b97f4a7c15u + m->message);
}

static bool partial_same(const void *entry, const void *key)
{
    const struct partial *a = entry, *b = key;
    return a->node == b->node && a->source == b->source && a->message == b->message;
}

static const struct ker_table_kind partial_kind = {sizeof(struct partial), partial_hash, partial_same};

struct net_reassembly *net_reassembly_new(void)
{
    return ker_alloc(sizeof(struct net_reassembly));
}

void net_reassembly_free(struct net_reassembly *r)
{
    if (!r)
        return;
    for (const struct partial *m = NULL; (m = ker_table_next(&partial_kind, &r->partials, m));)
        if (m->ring_log)
            free(m->ring);
    ker_table_release(&r->partials);
    free(r);
}

size_t net_reassembly_count(const struct net_reassembly *r)
{
    return r->partials.count;
}

static void partial_remove(struct net_reassembly *r, struct partial *m)
{
    if (m->ring_log)
        free(m->ring);
    ker_table_drop(&partial_kind, &r->partials, m);
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
    bool is_new;
    const struct partial key = {.node = a->id + 1, .source = p->source, .message = p->message};
    struct partial *m = ker_table_add(&partial_kind, &r->partials, &key, &is_new);
    if (is_new)
        *m = (struct partial){
            .node = key.node, .source = p->source, .message = p->message, .extension = NET_NONE};
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
    partial_remove(r, m);
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
    for (struct partial *m = NULL; (m = ker_table_next(&partial_kind, &r->partials, m));) {
        c = ker_state_begin(writer, "reassembly", 1, m->node - 1);
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
    m.node = n->id + 1;
    c->bad |= ker_table_find(&partial_kind, &r->partials, &m) != NULL;
    if (c->bad) {
        if (m.ring_log)
            free(m.ring);
        return;
    }
    bool is_new;
    *(struct partial *)ker_table_add(&partial_kind, &r->partials, &m, &is_new) = m;
}
