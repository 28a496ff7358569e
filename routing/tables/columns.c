/* columns.c - the columns of tables, many destinations at a time.
 *
 * A flood (flood.h) finds for every link which of up to 512 destinations it leads to. For a block of a row,
 * 64 endpoints, this is a short list of words, one for each link that leads to any of them: the key. Switches
 * with the same ports, blocks in which endpoints hang at switches in the same pattern, and equal words have
 * equal blocks, and in regular networks most have been met before. So the entries of a block are only made
 * for a new key; what it became is looked up for all others. A switch's own endpoints make a block special:
 * such a block is made without a key.
 *
 * Where one switch has more paths than a set can hold, those taken depend on the destination, and the block
 * is not remembered.
 *
 * With one path to every endpoint nothing else is done where no switch that packets pass has two to choose
 * from. Blocks with other destinations are made by one.c, and so are all where paths have layers.
 */
#include "routing/tables/maker.h"

#include <stdlib.h>
#include <string.h>

#define MEMORY_WORDS (1u << 22) /* of keys, 32 MiB; then all are forgotten */
#define TURNED 16               /* rows: a line of the cache of each column */
#define MOST_BLOCKS 4096        /* of one flood */

struct columns {
    struct route_maker *m;
    struct route_block *block; /* of the current flood */
    uint32_t blocks, block_room;
    uint32_t to[ROUTE_FLOOD_BITS], bits, floods; /* switches */
    struct ker_table patterns, ports;            /* numbers of patterns of blocks, of lists of ports */
    uint32_t *pattern, patterns_used, pattern_room, *port, ports_used, port_room;
    uint32_t *ports_of; /* per switch: number of its list */
    struct ker_table keys;
    uint64_t *memory; /* keys, each behind the place of its block in the trie */
    uint32_t memory_used, memory_room;
    route_wide *hop;        /* the links of the current switch that lead anywhere, */
    uint32_t *place, links; /* and which of its links they are */
    uint32_t *flooded;      /* per switch: the last flood that it is a destination of, from 1 on */
    route_wide several;     /* with one path: the destinations that some switch has several paths to */
    uint64_t *key, *last;   /* of the current block, and of the one before: often the same */
    uint32_t last_count, last_made;
};

/* ---- numbers for equal lists ---- */

static uint32_t number_of(struct ker_table *table, uint32_t **store, uint32_t *used, uint32_t *room,
                          const uint32_t *words, uint32_t count)
{
    bool is_new;
    KER_RESERVE(*store, *room, *used + 2 * (uint64_t)count + 1); /* compared in full, also at the very end */
    uint32_t *place = route_interned_add(table, *store, words, count, &is_new);
    if (is_new) {
        *place = 1 + *used;
        memcpy(*store + *used, words, count * sizeof *words);
        *used += count;
    }
    return *place - 1;
}

static void ports_number(struct columns *c)
{
    const struct route_wires *wires = c->m->wires;
    uint32_t *list = ker_alloc((wires->most + 1ull) * sizeof *list);
    for (uint32_t at = 0; at < wires->switches; at++) {
        uint32_t count = wires->begin[at + 1] - wires->begin[at];
        list[0] = count;
        for (uint32_t i = 0; i < count; i++)
            list[1 + i] = wires->port[wires->begin[at] + i];
        c->ports_of[at] = number_of(&c->ports, &c->port, &c->ports_used, &c->port_room, list, count + 1);
    }
    free(list);
}

/* ---- which endpoints ---- */

/* The switches of up to 64 endpoints, and which of them each is at. */
static void block_read(const struct columns *c, uint32_t first, struct route_block *b, uint32_t *to)
{
    const struct route_wires *wires = c->m->wires;
    uint32_t rest = c->m->last - first;
    *b = (struct route_block){.first = first, .count = rest < ROUTE_TRIE_BLOCK ? rest : ROUTE_TRIE_BLOCK};
    for (uint32_t i = 0; i < b->count; i++) {
        uint32_t at = wires->endpoint_switch[first + i], k = b->bits;
        while (k > 0 && to[k - 1] != at)
            k--;
        if (k == 0) {
            to[b->bits++] = at;
            k = b->bits;
        }
        b->place[i] = (uint8_t)(k - 1);
    }
}

static void pattern_number(struct columns *c, struct route_block *b)
{
    uint32_t list[2 + ROUTE_TRIE_BLOCK / 4] = {b->count, b->bits};
    memcpy(list + 2, b->place, sizeof b->place);
    b->pattern = number_of(&c->patterns, &c->pattern, &c->patterns_used, &c->pattern_room, list,
                           sizeof list / sizeof *list);
}

/* The next block joins the flood, if there is room; what its first switches share with the last of the flood
 * is there already. */
static bool block_join(struct columns *c, uint32_t first)
{
    struct route_block b;
    uint32_t to[ROUTE_TRIE_BLOCK], shared;
    block_read(c, first, &b, to);
    shared = b.bits < c->bits ? b.bits : c->bits;
    while (shared > 0 && memcmp(c->to + c->bits - shared, to, shared * sizeof *to) != 0)
        shared--;
    if (c->bits + b.bits - shared > (c->m->orders ? ROUTE_TRIE_BLOCK : ROUTE_FLOOD_BITS))
        return false;
    b.first_bit = c->bits - shared;
    memcpy(c->to + b.first_bit, to, b.bits * sizeof *to);
    c->bits = b.first_bit + b.bits;
    pattern_number(c, &b);
    *KER_PUSH(c->block, c->blocks, c->block_room) = b;
    return true;
}

/* ---- which paths ---- */

static void weighted_search(struct columns *c)
{
    struct route_maker *m = c->m;
    route_flood_begin(&m->flood, c->bits);
    for (uint32_t i = 0; i < c->bits; i++) {
        route_search_weighted(m, c->to[i]);
        route_flood_take(&m->flood, i, m->distance, m->order, m->reached);
        if (m->orders) {
            memcpy(m->orders + (size_t)i * m->wires->switches, m->order, m->reached * sizeof *m->order);
            m->orders_reached[i] = m->reached;
        }
    }
}

static void flood_search(struct columns *c)
{
    struct route_maker *m = c->m;
    if (m->weight)
        weighted_search(c);
    else if (m->factors)
        route_factors_search(m->factors, &m->flood, c->to, c->bits);
    else
        route_flood_search(&m->flood, c->to, c->bits);
    route_passed_find(m);
    route_passed_longest(m, c->to);
}

/* The links of a switch that lead anywhere. */
static void hops_find(struct columns *c, uint32_t at)
{
    struct route_maker *m = c->m;
    const struct route_wires *wires = m->wires;
    uint64_t *bits = m->hop_bits + (size_t)at * m->words;
    c->links = 0;
    memset(bits, 0, m->words * sizeof *bits);
    for (uint32_t place = 0; place < wires->begin[at + 1] - wires->begin[at]; place++) {
        route_wide *hop = &c->hop[c->links];
        route_flood_hop(&m->flood, at, wires->begin[at] + place, hop);
        if (m->passed_by)
            *hop &= m->passed_by[at];
        bool any = route_wide_any(hop);
        c->place[c->links] = place;
        c->links += any;
        bits[place / 64] |= (uint64_t)any << place % 64;
    }
}

/* ---- blocks ---- */

/* The set of paths to the block's switch number k. Of more than a set can have, those from one of the
 * destination's own on; *own: it is such a set. */
static uint32_t set_make(struct columns *c, const struct route_block *b, uint32_t k, uint32_t at, bool *own)
{
    const struct route_wires *wires = c->m->wires;
    struct route_hop hop[ROUTE_MAX_CHOICES];
    uint32_t bit = b->first_bit + k, all = 0, count = 0, skip = 0, seen = 0;
    for (uint32_t i = 0; i < c->links; i++)
        all += (uint32_t)(c->hop[i][bit / 64] >> bit % 64 & 1);
    if (all > ROUTE_MAX_CHOICES) {
        skip = c->to[bit] % all;
        *own = true;
    }
    for (uint32_t i = 0; i < c->links; i++)
        if (c->hop[i][bit / 64] >> bit % 64 & 1 && (seen++ + all - skip) % all < ROUTE_MAX_CHOICES)
            hop[count++] = (struct route_hop){wires->port[wires->begin[at] + c->place[i]], 0, 0};
    return route_table_set_of(c->m->table, hop, count);
}

static uint32_t block_make(struct columns *c, const struct route_block *b, uint32_t at, bool *own)
{
    const struct route_wires *wires = c->m->wires;
    uint32_t set[ROUTE_TRIE_BLOCK] = {0}, value[ROUTE_TRIE_BLOCK] = {0};
    for (uint32_t k = 0; k < b->bits; k++)
        set[k] = set_make(c, b, k, at, own);
    for (uint32_t i = 0; i < b->count; i++) {
        value[i] = set[b->place[i]];
        if (c->to[b->first_bit + b->place[i]] != at)
            continue;
        struct route_hop eject = {wires->endpoint_port[b->first + i], ROUTE_TABLE_ANY, 0};
        value[i] = route_table_set_of(c->m->table, &eject, 1);
    }
    return route_trie_block(&c->m->table->hops, value);
}

/* Writes the key of a block; returns how many words: who the block and the switch are like, which links lead
 * to any of its endpoints, and for each of these to which. */
static uint32_t key_make(struct columns *c, const struct route_block *b, uint32_t at)
{
    uint64_t *key = c->key, present = 0, all = b->bits < 64 ? (1ull << b->bits) - 1 : UINT64_MAX;
    uint32_t links = c->m->wires->begin[at + 1] - c->m->wires->begin[at], group = 0;
    uint32_t count = 1 + (links + 63) / 64, shift = b->first_bit % 64;
    const uint64_t *word = (const uint64_t *)c->hop + b->first_bit / 64;
    key[0] = (uint64_t)c->ports_of[at] << 32 | b->pattern;
    for (uint32_t i = 0; i < c->links; i++, word += ROUTE_FLOOD_WORDS) {
        uint64_t bits = (word[0] >> shift | word[1] << 1 << (63 - shift)) & all;
        for (; group < c->place[i] / 64; present = 0)
            key[1 + group++] = present;
        present |= (uint64_t)(bits != 0) << c->place[i] % 64;
        key[count] = bits;
        count += bits != 0;
    }
    for (; group < (links + 63) / 64; present = 0)
        key[1 + group++] = present;
    return count;
}

static void forget(struct columns *c)
{
    ker_table_release(&c->keys);
    c->memory_used = 0;
}

/* The place of the block of this key, which is made if there is none. */
static uint32_t key_find(struct columns *c, const struct route_block *b, uint32_t at, uint32_t count)
{
    bool is_new, own = false;
    if (c->memory_used > MEMORY_WORDS)
        forget(c);
    KER_RESERVE(c->memory, c->memory_room, c->memory_used + 2 * (uint64_t)count + 1);
    uint32_t *place = route_interned_add(&c->keys, c->memory, c->key, 2 * count, &is_new);
    if (!is_new)
        return (uint32_t)c->memory[(*place - 1) / 2 - 1];
    *place = 1 + 2 * (c->memory_used + 1);
    uint32_t made = block_make(c, b, at, &own);
    c->memory[c->memory_used++] = made;
    memcpy(c->memory + c->memory_used, c->key, count * sizeof *c->key);
    if (own) /* nobody asks for such a key */
        c->memory[c->memory_used] = c->key[0] = UINT64_MAX;
    c->memory_used += count;
    return made;
}

static uint32_t block_find(struct columns *c, const struct route_block *b, uint32_t at)
{
    bool own = false;
    for (uint32_t k = 0; c->flooded[at] == c->floods && k < b->bits; k++)
        if (c->to[b->first_bit + k] == at)
            return block_make(c, b, at, &own);
    uint32_t count = key_make(c, b, at);
    if (count == c->last_count && memcmp(c->key, c->last, count * sizeof *c->key) == 0)
        return c->last_made;
    c->last_made = key_find(c, b, at, count);
    c->last_count = count;
    uint64_t *swap = c->key;
    c->key = c->last;
    c->last = swap;
    return c->last_made;
}

/* ---- the table ---- */

/* The next blocks of all rows. */
static void blocks_make(struct columns *c, const struct route_block *b, uint32_t count)
{
    struct route_trie *trie = &c->m->table->hops;
    uint32_t *place = route_trie_blocks(trie);
    for (uint32_t at = 0; at < c->m->wires->switches; at++) {
        hops_find(c, at);
        for (uint32_t i = 0; i < count; i++)
            place[(size_t)at * ROUTE_TRIE_BLOCK + i] = block_find(c, b + i, at);
    }
    route_trie_blocks_advance(trie, count);
}

/* A block of all rows from its values, which are by columns, and cleared. Some rows at a time are turned
 * round. */
static void values_store(const struct route_maker *m, struct route_trie *trie, uint32_t *value)
{
    uint32_t *place = route_trie_blocks(trie), row[TURNED][ROUTE_TRIE_BLOCK];
    size_t switches = m->wires->switches;
    for (size_t at = 0; at < switches; at += TURNED) {
        size_t rows = switches - at < TURNED ? switches - at : TURNED;
        for (uint32_t i = 0; i < ROUTE_TRIE_BLOCK; i++)
            for (size_t r = 0; r < rows; r++)
                row[r][i] = value[i * switches + at + r];
        for (size_t r = 0; r < rows; r++)
            place[(at + r) * ROUTE_TRIE_BLOCK] = route_trie_block(trie, row[r]);
    }
    memset(value, 0, switches * ROUTE_TRIE_BLOCK * sizeof *value);
    route_trie_blocks_advance(trie, 1);
}

/* One block with one path for each endpoint. */
static bool block_pick(struct columns *c, const struct route_block *b)
{
    struct route_maker *m = c->m;
    if (b->first_bit < m->window || b->first_bit + b->bits > m->window + ROUTE_TRIE_BLOCK)
        route_one_window(m, b->first_bit);
    if (!route_one_block(m, b, c->to + b->first_bit))
        return false;
    if (b->first < m->first) { /* only its loads are asked for */
        memset(m->value, 0, m->wires->switches * ROUTE_TRIE_BLOCK * sizeof *m->value);
        return true;
    }
    values_store(m, &m->table->hops, m->value);
    if (m->layers)
        values_store(m, &m->table->layers, m->layer_value);
    return true;
}

/* With one path: which destinations have several to choose from? */
static void several_find(struct columns *c)
{
    const struct route_wires *wires = c->m->wires;
    c->several ^= c->several;
    for (uint32_t at = 0; at < wires->switches; at++) {
        route_wide some = {0};
        hops_find(c, at);
        for (uint32_t i = 0; i < c->links; i++) {
            c->several |= some & c->hop[i];
            some |= c->hop[i];
        }
    }
}

static bool is_picked(const struct columns *c, const struct route_block *b)
{
    bool several = c->m->layers != NULL;
    for (uint32_t bit = b->first_bit; c->m->one && bit < b->first_bit + b->bits; bit++)
        several |= c->several[bit / 64] >> bit % 64 & 1;
    return several;
}

/* All blocks of the flood. */
static bool flood_store(struct columns *c)
{
    struct route_maker *m = c->m;
    bool possible = true;
    m->window = UINT32_MAX;
    for (uint32_t done = 0, count; done < c->blocks && possible; done += count) {
        const struct route_block *b = c->block + done;
        uint32_t room = route_trie_blocks_room(&m->table->hops);
        bool picked = is_picked(c, b);
        for (count = 1; !picked && done + count < c->blocks && count < room && !is_picked(c, b + count);)
            count++;
        if (picked)
            possible = block_pick(c, b);
        else if (b->first < m->first)
            count = 1;
        else
            blocks_make(c, b, count);
    }
    return possible;
}

/* As many endpoints as one flood has room for; *at is the first that is left. */
static bool flood_make(struct columns *c, uint32_t *at)
{
    uint32_t endpoints = c->m->last, first = *at;
    c->bits = c->blocks = 0;
    while (first < endpoints && c->blocks < MOST_BLOCKS && block_join(c, first))
        first += c->block[c->blocks - 1].count;
    c->floods++;
    for (uint32_t i = 0; i < c->bits; i++)
        c->flooded[c->to[i]] = c->floods;
    flood_search(c);
    *at = first;
    if (c->m->one)
        several_find(c);
    if (!flood_store(c))
        return false;
    route_passed_waits(c->m);
    return true;
}

bool route_columns_fill(struct route_maker *m)
{
    const struct route_wires *wires = m->wires;
    struct columns c = {.m = m};
    route_flood_init(&m->flood, wires, m->weight, m->updown ? m->depth : NULL, m->by_depth);
    c.ports_of = ker_alloc(wires->switches * sizeof *c.ports_of);
    c.hop = ker_reserve((wires->most + 2ull) * sizeof *c.hop);
    c.place = ker_alloc((wires->most + 1ull) * sizeof *c.place);
    c.flooded = ker_alloc(wires->switches * sizeof *c.flooded);
    c.key = ker_alloc((3ull + wires->most + wires->most / 64) * sizeof *c.key);
    c.last = ker_alloc((3ull + wires->most + wires->most / 64) * sizeof *c.last);
    ports_number(&c);
    if (m->one)
        route_one_begin(m);
    bool possible = true;
    for (uint32_t first = m->one && !m->layers ? m->first / ROUTE_LOADS * ROUTE_LOADS : m->first;
         possible && first < m->last;)
        possible = flood_make(&c, &first);
    ker_table_release(&c.patterns);
    ker_table_release(&c.ports);
    ker_table_release(&c.keys);
    KER_FREE(c.block, c.pattern, c.port, c.ports_of, c.memory);
    ker_release(c.hop, (wires->most + 2ull) * sizeof *c.hop);
    KER_FREE(c.place, c.flooded, c.key, c.last);
    return possible;
}
