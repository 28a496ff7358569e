/* share.c - destinations shared between ranks.
 *
 * A share is a run of blocks of 64 endpoints; its table is one of fewer columns. At the end the shares are
 * sent to the owners of the rows one after the other, in chunks of at most 64 blocks, so that what travels at
 * one time is small. A chunk has for each rank every block that its rows hold, once, and for each row and
 * block which of them it is; the first chunk of a share lists all its sets. The owner enters them into a
 * table of its own. So the table of a rank does not depend on who made what.
 */
#include "routing/tables/share.h"

#include <stdlib.h>
#include <string.h>

/* ---- who makes what ---- */

static uint32_t blocks_of(uint32_t endpoints)
{
    return (endpoints + ROUTE_TRIE_BLOCK - 1) / ROUTE_TRIE_BLOCK;
}

/* The first block of a rank's share. */
static uint32_t share_first(uint32_t endpoints, int size, int rank)
{
    return (uint32_t)((uint64_t)blocks_of(endpoints) * (uint32_t)rank / (uint32_t)size);
}

/* Files may differ between ranks; that is found out later, and must do no harm here. */
static bool all_see_the_same(const struct route_maker *m, struct ker_comm *comm)
{
    const struct route_wires *w = m->wires;
    size_t links = w->links;
    uint64_t hash[] = {w->switches,
                       w->endpoints,
                       ker_hash_bytes(w->begin, (w->switches + 1ull) * sizeof *w->begin),
                       ker_hash_bytes(w->to, links * sizeof *w->to),
                       ker_hash_bytes(w->port, links * sizeof *w->port),
                       ker_hash_bytes(w->endpoint_switch, w->endpoints * sizeof *w->endpoint_switch),
                       ker_hash_bytes(w->endpoint_port, w->endpoints * sizeof *w->endpoint_port),
                       m->weight ? ker_hash_bytes(m->weight, links * sizeof *m->weight) : 0};
    int64_t both[2] = {(int64_t)(ker_hash_bytes(hash, sizeof hash) >> 1)};
    both[1] = -both[0];
    ker_comm_max_i64(comm, both, 2);
    return both[0] == -both[1];
}

enum ker_status route_share_begin(struct route_maker *m, struct ker_comm *comm, enum ker_status status)
{
    int size = comm ? ker_comm_size(comm) : 1, rank = comm ? ker_comm_rank(comm) : 0;
    uint32_t endpoints = m->wires->endpoints, blocks = blocks_of(endpoints);
    if (size == 1)
        return status;
    status = ker_comm_worst(comm, status);
    if (status != KER_OK || !all_see_the_same(m, comm) || blocks < (uint32_t)size)
        return status;
    uint32_t last = ROUTE_TRIE_BLOCK * share_first(endpoints, size, rank + 1);
    m->comm = comm;
    m->first = ROUTE_TRIE_BLOCK * share_first(endpoints, size, rank);
    m->last = last < endpoints ? last : endpoints;
    route_table_free(m->table);
    m->table = route_table_new(m->wires->switches, m->last - m->first);
    m->table->shared = comm;
    m->table->whole = endpoints;
    return KER_OK;
}

void route_share_settle(struct route_maker *m)
{
    if (!m->comm)
        return;
    int64_t most[] = {m->cyclic, m->most_links, m->table->adaptive};
    ker_comm_max_i64(m->comm, most, 3);
    m->cyclic = most[0];
    m->most_links = (uint32_t)most[1];
    m->table->adaptive = most[2];
    if (!m->waits.bit || m->cyclic)
        return;
    ker_comm_or_u64(m->comm, m->waits.bit, (size_t)m->wires->links * m->waits.words);
    m->cyclic = route_waits_cyclic(&m->waits);
}

bool route_share_in_turn(struct route_maker *m)
{
    int ranks = m->comm ? ker_comm_size(m->comm) : 1, rank = m->comm ? ker_comm_rank(m->comm) : 0;
    int64_t most[] = {false, 0}; /* it is impossible; layers */
    for (int turn = 0; turn < ranks && !most[0]; turn++) {
        if (turn == rank) {
            most[0] = !route_maker_fill(m);
            most[1] = route_layers_count(m->layers);
        }
        if (m->comm)
            ker_comm_max_i64(m->comm, most, 2);
        if (turn + 1 < ranks && !most[0])
            route_layers_pass(m->layers, m->comm, turn);
    }
    m->table->classes = (uint32_t)most[1];
    return !most[0];
}

/* ---- to the owners ---- */

struct chunk {
    uint32_t first, count; /* blocks of the share that is sent */
    bool begins;           /* the share */
};

struct giver {
    const struct route_table *table;
    const struct route_trie *trie; /* one of the table's */
    uint32_t sets;  /* words of the table's sets, which its values name; 0: they are values as they are */
    uint32_t *word; /* what is sent to all ranks, one after the other */
    size_t words, room;
    uint32_t *number, *stamp,
        stamps; /* per block of the table: its number in the current part, if stamped so */
};

static void put(struct giver *g, const void *words, size_t count)
{
    KER_RESERVE(g->word, g->room, g->words + count);
    memcpy(g->word + g->words, words, count * sizeof *g->word);
    g->words += count;
}

/* Which of the blocks of the current part this one is; it is put there if it is new. */
static uint32_t number_of(struct giver *g, uint32_t block, uint32_t *used)
{
    uint32_t value[ROUTE_TRIE_BLOCK];
    if (g->stamp[block] != g->stamps) {
        g->stamp[block] = g->stamps;
        g->number[block] = (*used)++;
        route_trie_block_values(g->trie, block, value);
        put(g, value, ROUTE_TRIE_BLOCK);
    }
    return g->number[block];
}

/* The part of a rank: how many words of sets and blocks there are, these, and the numbers. */
static void part_give(struct giver *g, const struct chunk *chunk, const uint8_t *wants)
{
    const struct route_table *table = g->table;
    uint32_t head[2] = {chunk->begins ? g->sets : 0, 0}, rows = 0;
    size_t at = g->words;
    uint32_t *number = ker_alloc(((size_t)table->switches * chunk->count + 1) * sizeof *number);
    put(g, head, 2);
    put(g, table->hop, head[0]);
    g->stamps++;
    for (uint32_t s = 0; s < table->switches; s++)
        if (wants[s / 8] >> s % 8 & 1) {
            for (uint32_t i = 0; i < chunk->count; i++)
                number[(size_t)rows * chunk->count + i] =
                    number_of(g, route_trie_block_of(g->trie, s, chunk->first + i), &head[1]);
            rows++;
        }
    memcpy(g->word + at, head, sizeof head);
    put(g, number, (size_t)rows * chunk->count);
    free(number);
}

struct taker {
    struct route_table *table; /* of all columns and the rows owned */
    struct route_trie *trie;   /* one of its */
    bool names_sets;           /* its values do */
    const uint8_t *wants;
    uint32_t *set, sets_room;     /* of the current share: per place in its store the set here */
    uint32_t *place, places_room; /* per block of the current part: its place here */
    uint32_t empty;               /* place of the block without paths */
};

static void sets_take(struct taker *t, const uint32_t *word, uint32_t used)
{
    if (used == 0)
        return;
    KER_RESERVE(t->set, t->sets_room, used);
    for (uint32_t at = 0; at < used;) {
        struct route_hop hop[1 + ROUTE_MAX_CHOICES];
        memcpy(hop, word + at, sizeof *hop);
        uint32_t count = hop->port;
        memcpy(hop + 1, word + at + 1, count * sizeof *hop);
        t->set[at] = route_table_set_of(t->table, hop + 1, count);
        at += 1 + count;
    }
}

static void part_take(struct taker *t, const struct chunk *chunk, const uint32_t *word)
{
    uint32_t sets = word[0], blocks = word[1], value[ROUTE_TRIE_BLOCK];
    struct route_trie *trie = t->trie;
    sets_take(t, word + 2, sets);
    word += 2 + sets;
    KER_RESERVE(t->place, t->places_room, blocks);
    ker_assert(((t->set || !t->names_sets) && t->place) || blocks == 0);
    for (uint32_t i = 0; i < blocks; i++, word += ROUTE_TRIE_BLOCK) {
        for (uint32_t k = 0; k < ROUTE_TRIE_BLOCK; k++)
            value[k] = t->names_sets ? t->set[word[k]] : word[k];
        t->place[i] = route_trie_block(trie, value);
    }
    uint32_t *place = route_trie_blocks(trie);
    for (uint32_t s = 0; s < t->table->switches; s++, place += ROUTE_TRIE_BLOCK) {
        bool own = t->wants[s / 8] >> s % 8 & 1;
        ker_assert(t->place || !own || chunk->count == 0); /* its blocks came with the part */
        for (uint32_t i = 0; i < chunk->count; i++)
            place[i] = own ? t->place[*word++] : t->empty;
    }
    route_trie_blocks_advance(trie, chunk->count);
}

/* One chunk from its maker to all; only that has something to say. */
static void chunk_send(struct ker_comm *comm, int from, const struct chunk *chunk, struct giver *g,
                       struct taker *t, const uint8_t *wants, size_t bytes)
{
    int size = ker_comm_size(comm);
    size_t *offset = ker_alloc(((size_t)size + 1) * sizeof *offset), *at;
    void *all;
    g->words = 0;
    for (int r = 0; r < size; r++) {
        if (from == ker_comm_rank(comm))
            part_give(g, chunk, wants + (size_t)r * bytes);
        offset[r + 1] = g->words * sizeof *g->word;
    }
    ker_comm_exchange(comm, g->word, offset, &all, &at);
    part_take(t, chunk, (const uint32_t *)((const char *)all + at[from]));
    free(all);
    free(at);
    free(offset);
}

static void shares_send(struct ker_comm *comm, struct giver *g, struct taker *t, const uint8_t *wants,
                        size_t bytes)
{
    uint32_t endpoints = t->table->endpoints;
    int size = ker_comm_size(comm);
    for (int from = 0; from < size; from++) {
        uint32_t first = share_first(endpoints, size, from), last = share_first(endpoints, size, from + 1);
        struct chunk chunk = {0, 0, true};
        for (uint32_t at = first; at < last; at += chunk.count, chunk.begins = false) {
            uint32_t room = route_trie_blocks_room(t->trie);
            chunk.first = at - first;
            chunk.count = last - at < room ? last - at : room;
            chunk_send(comm, from, &chunk, g, t, wants, bytes);
        }
    }
}

/* One of the table's tries, for which `whole` has an empty one. */
static void trie_send(struct route_table *table, const struct route_trie *trie, struct route_table *whole,
                      struct route_trie *into, const uint8_t *wants, const uint8_t *own)
{
    static const uint32_t no_paths[ROUTE_TRIE_BLOCK];
    uint32_t blocks = route_trie_blocks_count(trie);
    bool hops = trie == &table->hops;
    struct giver g = {.table = table,
                      .trie = trie,
                      .sets = hops ? table->hop_used : 0,
                      .number = ker_alloc(blocks * sizeof *g.number),
                      .stamp = ker_alloc(blocks * sizeof *g.stamp)};
    struct taker t = {.table = whole, .trie = into, .names_sets = hops, .wants = own};
    t.empty = route_trie_block(into, no_paths);
    shares_send(table->shared, &g, &t, wants, (table->switches + 7ull) / 8);
    KER_FREE(g.word, g.number, g.stamp, t.set, t.place);
}

void route_share_end(struct route_table *table, const uint32_t *switch_rank, uint32_t rank)
{
    size_t bytes = (table->switches + 7ull) / 8, *offset;
    uint8_t *own = ker_alloc(bytes), *wants;
    for (uint32_t s = 0; s < table->switches; s++)
        own[s / 8] |= (uint8_t)((switch_rank[s] == rank) << s % 8);
    ker_comm_allgather(table->shared, own, bytes, (void **)&wants, &offset);
    struct route_table *whole = route_table_new(table->switches, table->whole);
    trie_send(table, &table->hops, whole, &whole->hops, wants, own);
    route_trie_release(&table->hops);
    if (table->layers.root) {
        route_table_layers_begin(whole);
        trie_send(table, &table->layers, whole, &whole->layers, wants, own);
    }
    route_table_finish(whole);
    whole->classes = table->classes;
    whole->spread = table->spread;
    whole->adaptive = table->adaptive;
    struct route_table share = *table;
    *table = *whole;
    *whole = share;
    route_table_free(whole);
    free(own);
    free(wants);
    free(offset);
}
