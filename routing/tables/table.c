/* table.c - the compressed store of routing tables.
 *
 * Blocks are made from the lowest level up, by rows or by columns, and interned: a block is looked up by its
 * contents among those of its level before it is stored. So equal subtrees are stored once, and the order in
 * which a table is filled does not change what it answers. A top block has only as many entries as the nodes
 * need; it is interned, too.
 *
 * route_table_keep marks what the rows kept still reach, gives the blocks that stay new places in their old
 * order, and moves them down. Sets are few and stay. Rows that are dropped become one row without ways.
 */
#include "routing/import/lanes.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

/* ---- interning ---- */

#define WORD sizeof(uint32_t)

static uint32_t hash_of(const char *words, uint32_t count)
{
    uint64_t a = 0x9e3779b97f4a7c15u ^ count, b = 0xc2b2ae3d27d4eb4fu, two[2];
    for (; count >= 4; count -= 4, words += sizeof two) { /* two independent chains */
        memcpy(two, words, sizeof two);
        a = (a ^ two[0]) * 0x9fb21c651e98df25u;
        b = (b ^ two[1]) * 0xd6e8feb86659fd93u;
        a ^= a >> 29;
        b ^= b >> 31;
    }
    for (uint32_t word; count > 0; count--, words += WORD) {
        memcpy(&word, words, WORD);
        a = (a ^ word) * 0x9fb21c651e98df25u;
        a ^= a >> 29;
    }
    a ^= b ^ a >> 32;
    a *= 0xd6e8feb86659fd93u;
    return (uint32_t)(a >> 32);
}

/* The slot of `count` words, free when they are not among those interned. */
static uint32_t *interned_find(const struct route_interned *in, const void *store, const void *words,
                               uint32_t count)
{
    size_t mask = in->size - 1, at = hash_of(words, count) & mask;
    while (in->slot[at] && memcmp((const char *)store + (in->slot[at] - 1) * WORD, words, count * WORD) != 0)
        at = (at + 1) & mask;
    return &in->slot[at];
}

/* Makes room for one more. All have `count` words; 0: they are sets of ways, which say so themselves. */
static void interned_grow(struct route_interned *in, const void *store, uint32_t count)
{
    if (2 * (in->count + 1) <= in->size)
        return;
    struct route_interned old = *in;
    in->size = old.size ? 2 * old.size : 256;
    in->slot = ker_alloc(in->size * sizeof *in->slot);
    for (size_t i = 0; i < old.size; i++)
        if (old.slot[i]) {
            const char *words = (const char *)store + (old.slot[i] - 1) * WORD;
            struct route_way head;
            memcpy(&head, words, sizeof head);
            size_t at = hash_of(words, count ? count : 1u + head.port) & (in->size - 1);
            while (in->slot[at])
                at = (at + 1) & (in->size - 1);
            in->slot[at] = old.slot[i];
        }
    free(old.slot);
}

static void interned_release(struct route_interned *in)
{
    free(in->slot);
    *in = (struct route_interned){0};
}

/* ---- tries ---- */

void route_trie_init(struct route_trie *trie, uint32_t rows, uint32_t columns)
{
    *trie = (struct route_trie){.switches = rows, .nodes = columns, .levels = 1};
    while ((columns - 1) >> trie->shift >= ROUTE_TRIE_BLOCK) {
        trie->shift += ROUTE_TRIE_BITS;
        trie->levels++;
    }
    trie->top_size = ((columns - 1) >> trie->shift) + 1;
    trie->root = ker_alloc(rows * sizeof *trie->root);
    memset(trie->root, 0xff, rows * sizeof *trie->root);
}

static void filling_release(struct route_trie *trie)
{
    interned_release(&trie->tops);
    for (int i = 0; i < ROUTE_TRIE_LEVELS; i++) {
        interned_release(&trie->blocks[i]);
        free(trie->pending[i]);
        trie->pending[i] = NULL;
    }
}

void route_trie_release(struct route_trie *trie)
{
    filling_release(trie);
    free(trie->root);
    free(trie->top);
    free(trie->block);
    free(trie->level);
    *trie = (struct route_trie){0};
}

static uint32_t top_add(struct route_trie *trie, const uint32_t *entry)
{
    uint32_t at = trie->top_used;
    KER_RESERVE(trie->top, trie->top_room, (uint64_t)at + trie->top_size);
    memcpy(trie->top + at, entry, trie->top_size * WORD);
    trie->top_used += trie->top_size;
    return at;
}

static uint32_t block_add(struct route_trie *trie, int level, const uint32_t *entry)
{
    uint32_t at = trie->block_used, room = trie->block_room;
    KER_RESERVE(trie->block, trie->block_room, (uint64_t)at + ROUTE_TRIE_BLOCK);
    if (trie->block_room != room)
        trie->level = ker_realloc(trie->level, trie->block_room / ROUTE_TRIE_BLOCK + 1);
    memcpy(trie->block + at, entry, ROUTE_TRIE_BLOCK * WORD);
    trie->level[at / ROUTE_TRIE_BLOCK] = (uint8_t)level;
    trie->block_used += ROUTE_TRIE_BLOCK;
    return at;
}

/* Where the block of a level with these entries begins. */
static uint32_t block_intern(struct route_trie *trie, int level, const uint32_t *entry)
{
    bool top = level == trie->levels - 1;
    struct route_interned *in = top ? &trie->tops : &trie->blocks[level];
    uint32_t count = top ? trie->top_size : ROUTE_TRIE_BLOCK;
    interned_grow(in, top ? trie->top : trie->block, count);
    uint32_t *slot = interned_find(in, top ? trie->top : trie->block, entry, count);
    if (*slot == 0) {
        *slot = 1 + (top ? top_add(trie, entry) : block_add(trie, level, entry));
        in->count++;
    }
    return *slot - 1;
}

void route_trie_row(struct route_trie *trie, uint32_t row, const uint32_t *value)
{
    uint32_t count = trie->nodes;
    uint32_t *made = ker_alloc((count / ROUTE_TRIE_BLOCK + 1) * sizeof *made);
    const uint32_t *from = value;
    for (int level = 0; level < trie->levels - 1; level++) {
        uint32_t blocks = (count + ROUTE_TRIE_BLOCK - 1) / ROUTE_TRIE_BLOCK, entry[ROUTE_TRIE_BLOCK];
        for (uint32_t i = 0; i < blocks; i++) {
            uint32_t rest = count - i * ROUTE_TRIE_BLOCK,
                     some = rest < ROUTE_TRIE_BLOCK ? rest : ROUTE_TRIE_BLOCK;
            memset(entry, 0, sizeof entry);
            memcpy(entry, from + (size_t)i * ROUTE_TRIE_BLOCK, some * sizeof *entry);
            made[i] = block_intern(trie, level, entry);
        }
        from = made; /* what is read lies behind what is written */
        count = blocks;
    }
    trie->root[row] = block_intern(trie, trie->levels - 1, from);
    free(made);
}

uint32_t *route_trie_columns(struct route_trie *trie)
{
    for (int i = 0; i < trie->levels && !trie->pending[i]; i++)
        trie->pending[i] = ker_alloc((size_t)trie->switches * ROUTE_TRIE_BLOCK * sizeof **trie->pending);
    return trie->pending[0];
}

/* The pending blocks of a level are complete. */
static void columns_close(struct route_trie *trie, int level)
{
    uint32_t *pending = trie->pending[level],
             *above = level + 1 < trie->levels ? trie->pending[level + 1] : NULL;
    for (uint32_t i = 0; i < trie->switches; i++) {
        uint32_t at = block_intern(trie, level, pending + (size_t)i * ROUTE_TRIE_BLOCK);
        if (above)
            above[(size_t)i * ROUTE_TRIE_BLOCK + trie->pended[level + 1]] = at;
        else
            trie->root[i] = at;
    }
    memset(pending, 0, (size_t)trie->switches * ROUTE_TRIE_BLOCK * sizeof *pending);
    trie->pended[level] = 0;
    if (above && (++trie->pended[level + 1] == ROUTE_TRIE_BLOCK || trie->done == trie->nodes))
        columns_close(trie, level + 1);
}

void route_trie_advance(struct route_trie *trie)
{
    uint32_t rest = trie->nodes - trie->done;
    ker_assert(rest > 0);
    trie->done += rest < ROUTE_TRIE_BLOCK ? rest : ROUTE_TRIE_BLOCK;
    columns_close(trie, 0);
}

/* ---- the table ---- */

struct route_table *route_table_new(uint32_t switches, uint32_t nodes)
{
    ker_assert(switches > 0 && nodes > 0);
    struct route_table *table = ker_alloc(sizeof *table);
    table->switches = switches;
    table->nodes = nodes;
    table->spread = table->classes = 1;
    route_trie_init(&table->ways, switches, nodes);
    route_table_set_of(table, NULL, 0); /* has number 0 */
    return table;
}

void route_table_free(struct route_table *table)
{
    if (!table)
        return;
    route_trie_release(&table->ways);
    route_trie_release(&table->layers);
    interned_release(&table->sets);
    route_lanes_free(table->lanes);
    free(table->way);
    free(table);
}

static void ways_reserve(struct route_table *table)
{
    /* when a set is looked up, as many words are compared as it has, also with shorter ones at the very end
     */
    uint32_t old = table->way_room;
    KER_RESERVE(table->way, table->way_room, table->way_used + 2 * (size_t)(ROUTE_MAX_CHOICES + 1));
    memset(table->way + old, 0, (table->way_room - old) * sizeof *table->way);
}

uint32_t route_table_set_of(struct route_table *table, const struct route_way *ways, uint32_t count)
{
    _Static_assert(sizeof(struct route_way) == WORD, "sets are interned as words");
    struct route_way set[1 + ROUTE_MAX_CHOICES];
    ker_assert(count <= ROUTE_MAX_CHOICES && !table->finished);
    set[0] = (struct route_way){.port = (uint16_t)count};
    for (uint32_t i = 0; i < count; i++)
        set[1 + i] = (struct route_way){ways[i].port, ways[i].class, 0};
    ways_reserve(table);
    interned_grow(&table->sets, table->way, 0);
    uint32_t *slot = interned_find(&table->sets, table->way, set, count + 1);
    if (*slot == 0) {
        *slot = 1 + table->way_used;
        memcpy(table->way + table->way_used, set, (count + 1) * sizeof *set);
        table->way_used += count + 1;
        table->sets.count++;
        table->adaptive |= count > 1;
    }
    return *slot - 1;
}

void route_table_row(struct route_table *table, uint32_t switch_id, const uint32_t *set_by_node)
{
    route_trie_row(&table->ways, switch_id, set_by_node);
}

void route_table_layers_begin(struct route_table *table)
{
    if (!table->layers.root)
        route_trie_init(&table->layers, table->switches, table->nodes);
}

void route_table_layer_row(struct route_table *table, uint32_t switch_id, const uint32_t *layer_by_node)
{
    route_table_layers_begin(table);
    route_trie_row(&table->layers, switch_id, layer_by_node);
}

/* ---- closing ---- */

/* Where the row without ways begins; it is made if there is none. */
static uint32_t empty_row(struct route_trie *trie)
{
    uint32_t *row = ker_alloc(ROUTE_TRIE_BLOCK * sizeof *row), at = 0;
    for (int level = 0; level < trie->levels; level++) {
        for (uint32_t i = 0; i < ROUTE_TRIE_BLOCK; i++)
            row[i] = at;
        at = block_intern(trie, level, row);
    }
    free(row);
    return at;
}

void route_trie_finish(struct route_trie *trie)
{
    uint32_t empty = UINT32_MAX;
    for (uint32_t i = 0; i < trie->switches; i++)
        if (trie->root[i] == UINT32_MAX)
            trie->root[i] = empty = empty == UINT32_MAX ? empty_row(trie) : empty;
    filling_release(trie);
    trie->top = ker_realloc(trie->top, trie->top_used * WORD);
    trie->top_room = trie->top_used;
    if (trie->block_used) {
        trie->block = ker_realloc(trie->block, trie->block_used * WORD);
        trie->block_room = trie->block_used;
    }
}

void route_table_finish(struct route_table *table)
{
    route_trie_finish(&table->ways);
    if (table->layers.root)
        route_trie_finish(&table->layers);
    interned_release(&table->sets);
    table->finished = true;
}

void route_table_tune(struct route_table *table, uint32_t channels)
{
    table->spread = channels / table->classes;
}

uint64_t route_trie_bytes(const struct route_trie *trie)
{
    if (!trie->root)
        return 0;
    return ((uint64_t)trie->switches + trie->top_room + trie->block_room) * WORD +
           trie->block_room / ROUTE_TRIE_BLOCK;
}

uint64_t route_table_bytes(const struct route_table *table)
{
    return sizeof *table + route_trie_bytes(&table->ways) + route_trie_bytes(&table->layers) +
           (uint64_t)table->way_room * sizeof *table->way +
           (table->lanes ? route_lanes_bytes(table->lanes) : 0);
}

/* ---- keeping one rank's rows ---- */

/* Marks the blocks below an entry of a level. */
static void block_mark(const struct route_trie *trie, int level, uint32_t at, bool *kept)
{
    if (kept[at / ROUTE_TRIE_BLOCK])
        return;
    kept[at / ROUTE_TRIE_BLOCK] = true;
    for (uint32_t i = 0; level > 0 && i < ROUTE_TRIE_BLOCK; i++)
        block_mark(trie, level - 1, trie->block[at + i], kept);
}

/* Moves the blocks kept down; the entries of upper levels and of the tops become those of the new places. */
static void blocks_pack(struct route_trie *trie, const bool *kept)
{
    uint32_t blocks = trie->block_used / ROUTE_TRIE_BLOCK, used = 0;
    uint32_t *place = ker_alloc(blocks * sizeof *place);
    for (uint32_t i = 0; i < blocks; i++)
        if (kept[i])
            place[i] = used++ * ROUTE_TRIE_BLOCK;
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t *from = trie->block + (size_t)i * ROUTE_TRIE_BLOCK, *to = trie->block + place[i];
        if (!kept[i])
            continue;
        for (uint32_t k = 0; k < ROUTE_TRIE_BLOCK; k++)
            to[k] = trie->level[i] ? place[from[k] / ROUTE_TRIE_BLOCK] : from[k];
        trie->level[place[i] / ROUTE_TRIE_BLOCK] = trie->level[i];
    }
    for (uint32_t i = 0; i < trie->top_used; i++)
        trie->top[i] = place[trie->top[i] / ROUTE_TRIE_BLOCK];
    free(place);
    trie->block_used = trie->block_room = used * ROUTE_TRIE_BLOCK;
    trie->block = ker_realloc(trie->block, trie->block_used * WORD);
    trie->level = ker_realloc(trie->level, used);
}

static void tops_pack(struct route_trie *trie, const uint32_t *switch_rank, uint32_t rank, uint32_t empty)
{
    uint32_t tops = trie->top_used / trie->top_size, used = 0;
    uint32_t *place = ker_alloc(tops * sizeof *place);
    for (uint32_t i = 0; i < trie->switches; i++)
        if (switch_rank[i] != rank)
            trie->root[i] = empty;
    for (uint32_t i = 0; i < trie->switches; i++)
        place[trie->root[i] / trie->top_size] = 1;
    for (uint32_t i = 0; i < tops; i++)
        if (place[i]) {
            memmove(trie->top + (size_t)used * trie->top_size, trie->top + (size_t)i * trie->top_size,
                    trie->top_size * WORD);
            place[i] = used++ * trie->top_size;
        }
    for (uint32_t i = 0; i < trie->switches; i++)
        trie->root[i] = place[trie->root[i] / trie->top_size];
    free(place);
    trie->top_used = trie->top_room = used * trie->top_size;
    trie->top = ker_realloc(trie->top, trie->top_used * WORD);
}

void route_trie_keep(struct route_trie *trie, const uint32_t *row_rank, uint32_t rank)
{
    uint32_t empty = empty_row(trie);
    filling_release(trie);
    tops_pack(trie, row_rank, rank, empty);
    if (trie->levels == 1)
        return;
    bool *kept = ker_alloc(trie->block_used / ROUTE_TRIE_BLOCK * sizeof *kept);
    for (uint32_t i = 0; i < trie->top_used; i++)
        block_mark(trie, trie->levels - 2, trie->top[i], kept);
    blocks_pack(trie, kept);
    free(kept);
}

void route_table_keep(struct route_table *table, const uint32_t *switch_rank, uint32_t rank)
{
    ker_assert(table->finished);
    route_trie_keep(&table->ways, switch_rank, rank);
    if (table->layers.root)
        route_trie_keep(&table->layers, switch_rank, rank);
}
