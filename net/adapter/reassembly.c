/* reassembly.c - messages of several packets, counted until they are whole.
 *
 * A hash table for each few hundred receivers with neighbouring numbers, keyed by (receiver, sender, message
 * number): what happens together on a large machine (waves, tiles) is together in a cache, which one table
 * for all would spread over hundreds of megabytes. Packets may come in any order; those ahead of a missing
 * one are counted as out of order, and the bytes that a resequencing adapter would hold are tracked. Which
 * they are is kept in a ring of bits by packet number: one word in the entry, or as many elsewhere as the
 * packet furthest ahead needs. Iteration order is never observable.
 *
 * A message is whole when the next packet in order would be behind its last. A packet costs one line of
 * the table: the extension, a line elsewhere, is looked at only when the last packet came early.
 */
#include "kernel/engine/post.h"
#include "net/adapter/adapter.h"
#include "net/network.h"
#include "net/state.h"

#include <stdlib.h>

#define WORD_BITS 64u

/* Of packets that are here before their turn. */
struct ring {
    uint64_t held; /* with resequencing: bytes of payload */
    uint64_t word[];
};

struct partial {
    uint64_t ends; /* 1 + the receiving endpoint, the sender: one word, so that it is compared as one */
    uint32_t message;
    uint32_t extension;     /* NET_NONE until the first packet is here */
    uint64_t expected : 48, /* next index in order */
        ring_log : 8,       /* words of the ring, as a power of two; 0: `early` is the ring */
        last_early : 1;     /* the last packet is here before its turn */
    union {
        uint64_t early; /* which of those behind `expected` are here already */
        struct ring *ring;
    };
};
_Static_assert(sizeof(struct partial) == 32, "two in a cache line");

#define GROUP_SHIFT 9 /* receivers of a table: 512 */

struct net_reassembly {
    struct ker_table *partials; /* by group */
    uint32_t groups;
};

/* That of the receiver's group. */
static struct ker_table *table_of(struct net_reassembly *r, uint32_t receiver)
{
    uint32_t group = receiver >> GROUP_SHIFT;
    if (__builtin_expect(group >= r->groups, 0)) {
        r->partials = ker_realloc(r->partials, (group + (size_t)1) * sizeof *r->partials);
        memset(r->partials + r->groups, 0, (group + 1 - r->groups) * sizeof *r->partials);
        r->groups = group + 1;
    }
    return &r->partials[group];
}

static uint64_t partial_hash(const void *key)
{
    const struct partial *m = key;
    return ker_hash(m->ends * 0x9e3779b97f4a7c15u + m->message);
}

static bool partial_same(const void *entry, const void *key)
{
    const struct partial *a = entry, *b = key;
    return a->ends == b->ends && a->message == b->message;
}

static inline struct partial partial_begin(uint32_t receiver, uint32_t source, uint32_t message)
{
    return (struct partial){
        .ends = ((uint64_t)receiver + 1) << 32 | source, .message = message, .extension = NET_NONE};
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
    for (uint32_t i = 0; i < r->groups; i++) {
        for (const struct partial *m = NULL; (m = ker_table_next(&partial_kind, &r->partials[i], m));)
            if (m->ring_log)
                free(m->ring);
        ker_table_release(&r->partials[i]);
    }
    free(r->partials);
    free(r);
}

size_t net_reassembly_count(const struct net_reassembly *r)
{
    size_t count = 0;
    for (uint32_t i = 0; i < r->groups; i++)
        count += r->partials[i].count;
    return count;
}

static void partial_remove(struct ker_table *t, struct partial *m)
{
    if (m->ring_log)
        free(m->ring);
    ker_table_drop(&partial_kind, t, m);
}

/* ---- order ---- */

static inline uint64_t *early_word(struct partial *m, uint64_t index)
{
    return m->ring_log ? &m->ring->word[index / WORD_BITS & ((1ull << m->ring_log) - 1)] : &m->early;
}

static inline uint64_t early_bit(uint64_t index)
{
    return 1ull << (index % WORD_BITS);
}

static size_t ring_bytes(const struct partial *m)
{
    return sizeof *m->ring + (sizeof *m->ring->word << m->ring_log);
}

/* A ring with room for packets up to this many ahead. */
static void early_grow(struct partial *m, uint64_t ahead)
{
    struct partial wider = *m;
    wider.ring_log += wider.ring_log == 0;
    while (WORD_BITS << wider.ring_log <= ahead)
        wider.ring_log++;
    wider.ring = ker_alloc(ring_bytes(&wider));
    wider.ring->held = m->ring_log ? m->ring->held : 0;
    for (uint64_t i = m->expected + 1; i < m->expected + (WORD_BITS << m->ring_log); i++)
        if (*early_word(m, i) & early_bit(i))
            *early_word(&wider, i) |= early_bit(i);
    if (m->ring_log)
        free(m->ring);
    *m = wider;
}

/* The next in order is here: those behind it that were early are in order now, too. */
static void order_advance(const struct net_network *net, struct partial *m)
{
    for (;;) {
        uint64_t *word = early_word(m, ++m->expected), bit = early_bit(m->expected);
        if (!(*word & bit))
            return;
        *word &= ~bit;
        if (m->ring_log) /* full: behind the last packet nothing is held any more */
            m->ring->held -= net->set.payload;
    }
}

/* A packet came ahead of a missing one. */
static void order_early(struct net_network *net, struct partial *m, const struct net_packet *p,
                        uint64_t ahead, uint64_t payload)
{
    uint64_t index = m->expected + ahead;
    if (ahead >= WORD_BITS << m->ring_log || (net->set.resequence && m->ring_log == 0))
        early_grow(m, ahead);
    *early_word(m, index) |= early_bit(index);
    m->last_early |= (p->flags & NET_LAST) != 0;
    if (net->set.resequence) {
        m->ring->held += payload;
        if (m->ring->held > net->count.reorder_bytes_max)
            net->count.reorder_bytes_max = m->ring->held;
    }
}

/* Are all packets before this one all there are? */
static bool is_behind_last(struct net_network *net, const struct partial *m)
{
    const struct net_extension *x = ker_extension_head(net->engine, m->extension);
    return m->expected * net->set.payload >= x->bytes;
}

/* ---- messages ---- */

uint64_t net_reassembly_add(struct net_network *net, const struct net_packet *p, uint64_t payload,
                            uint32_t *whole)
{
    struct ker_table *t = table_of(net->reassembly, p->destination);
    bool is_new;
    const struct partial key = partial_begin(p->destination, p->source, p->message);
    struct partial *m = ker_table_add(&partial_kind, t, &key, &is_new);
    if (is_new)
        *m = key;
    if (p->flags & KER_FLAG_EXTENSION)
        m->extension = p->extension;
    uint64_t ahead = net_packet_index(p) - m->expected;
    *whole = NET_NONE;
    if (ahead) {
        order_early(net, m, p, ahead, payload);
        return ahead;
    }
    order_advance(net, m);
    if (p->flags & NET_LAST || (m->last_early && is_behind_last(net, m))) {
        *whole = m->extension;
        partial_remove(t, m);
    }
    return 0;
}

void net_reassembly_fetch(const struct net_network *net, const struct net_packet *p)
{
    const struct net_reassembly *r = net->reassembly;
    uint32_t group = p->destination >> GROUP_SHIFT;
    if (group >= r->groups || !r->partials[group].slot)
        return;
    const struct partial key = partial_begin(p->destination, p->source, p->message);
    __builtin_prefetch(ker_table_slot(&partial_kind, &r->partials[group],
                                      ker_table_home(&partial_kind, &r->partials[group], &key)),
                       1);
}

bool net_reassembly_extension(const struct net_network *net, const struct net_adapter *a,
                              const struct net_packet *p, struct net_extension *x)
{
    const struct partial key = partial_begin(a->id, p->source, p->message),
                         *m = ker_table_find(&partial_kind, table_of(net->reassembly, a->id), &key);
    if (!m || m->extension == NET_NONE)
        return false;
    ker_extension_read(net->engine, m->extension, x);
    return true;
}

/* ---- saved state ---- */

static void early_state(struct ker_chunk *c, struct partial *m, uint8_t ring_log)
{
    if (!ring_log) {
        KER_CHUNK(c, m->early);
        return;
    }
    if (c->loads) {
        if (ring_log > 40 || sizeof *m->ring->word << ring_log > c->bytes - c->at) {
            c->bad = true;
            return;
        }
        m->ring_log = ring_log;
        m->ring = ker_alloc(ring_bytes(m));
    }
    ker_chunk_bytes(c, m->ring, ring_bytes(m));
}

static void partial_state(struct net_network *net, struct ker_chunk *c, struct partial *m)
{
    uint64_t expected = ker_chunk_u64(c, m->expected);
    uint32_t source = (uint32_t)m->ends;
    KER_CHUNK(c, source, m->message);
    bool last_early = ker_chunk_bool(c, m->last_early),
         extended = ker_chunk_bool(c, m->extension != NET_NONE);
    if (c->loads) {
        m->ends |= source;
        m->expected = expected & ((1ull << 48) - 1);
        m->last_early = last_early;
        m->extension = NET_NONE;
        c->bad |= extended != (m->expected > 0); /* the first packet has it */
    }
    if (extended)
        net_extension_state(net, c, &m->extension);
    early_state(c, m, ker_chunk_u8(c, (uint8_t)m->ring_log));
}

void net_reassembly_save(struct net_network *net, struct ker_state_writer *writer)
{
    const struct net_reassembly *r = net->reassembly;
    for (uint32_t i = 0; i < r->groups; i++)
        for (struct partial *m = NULL; (m = ker_table_next(&partial_kind, &r->partials[i], m));) {
            struct ker_chunk *c =
                ker_state_begin(writer, "reassembly", NET_REASSEMBLY_VERSION, (uint32_t)(m->ends >> 32) - 1);
            partial_state(net, c, m);
            ker_state_end(writer);
        }
}

void net_reassembly_load(struct net_loading *l, struct ker_chunk *c)
{
    const struct net_adapter *n = net_loading_adapter(l, c);
    if (!n)
        return;
    struct partial m = partial_begin(n->id, 0, 0);
    partial_state(l->net, c, &m);
    struct ker_table *t = table_of(l->net->reassembly, n->id);
    c->bad |= ker_table_find(&partial_kind, t, &m) != NULL;
    if (c->bad) {
        if (m.ring_log)
            free(m.ring);
        return;
    }
    bool is_new;
    *(struct partial *)ker_table_add(&partial_kind, t, &m, &is_new) = m;
}
