/* trie.c - a value for every row and column, in blocks of which equal ones are stored once.
 *
 * Blocks are made from the lowest level up, by rows or by columns, and interned: a block is looked up by its
 * contents among those of its level before it is stored. So equal subtrees are stored once, and the order in
 * which a trie is filled does not change what it answers. A top block has only as many entries as the columns
 * need; it is interned, too.
 *
 * route_trie_keep marks what the rows kept still reach, gives the blocks that stay new places in their old
 * order, and moves them down. Rows that are dropped become one row of zeros.
 */
#include "routing/tables/trie.h"

#include <stdlib.h>
#include <string.h>

/* ---- interning ---- */

/* What is interned lies in a store of words; an entry of the table says where. A key has all of it. */
struct interned {
    uint32_t place, hash; /* 1 + where it begins in the store */
};
struct wanted {
    struct interned entry;
    const char *store, *words;
    size_t bytes;
};

static uint64_t interned_hash(const void *key)
{
    return (uint64_t)((const struct interned *)key)->hash << 32;
}

static bool interned_same(const void *entry, const void *key)
{
    const struct interned *at = entry;
    const struct wanted *wanted = key;
    return at->hash == wanted->entry.hash &&
           memcmp(wanted->store + (at->place - 1) * sizeof(uint32_t), wanted->words, wanted->bytes) == 0;
}

static const struct ker_table_kind interned_kind = {sizeof(struct interned), interned_hash, interned_same};

uint32_t *route_interned_add(struct ker_table *in, const void *store, const void *words, uint32_t count,
                             bool *is_new)
{
    size_t bytes = count * sizeof(uint32_t);
    struct wanted wanted = {{0, (uint32_t)(ker_hash_bytes(words, bytes) >> 32)}, store, words, bytes};
    struct interned *entry = ker_table_add(&interned_kind, in, &wanted, is_new);
    if (*is_new)
        entry->hash = wanted.entry.hash;
    return &entry->place;
}

/* ---- tries ---- */

void route_trie_init(struct route_trie *trie, uint32_t rows, uint32_t columns)
{
    *trie = (struct route_trie){.switches = rows, .endpoints = columns, .levels = 1};
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
    ker_table_release(&trie->tops);
    for (int i = 0; i < ROUTE_TRIE_LEVELS; i++) {
        ker_table_release(&trie->blocks[i]);
        free(trie->pending[i]);
        trie->pending[i] = NULL;
    }
}

void route_trie_release(struct route_trie *trie)
{
    filling_release(trie);
    KER_FREE(trie->root, trie->top, trie->block, trie->level);
    *trie = (struct route_trie){0};
}

static uint32_t top_add(struct route_trie *trie, const uint32_t *entry)
{
    uint32_t at = trie->top_used;
    KER_RESERVE(trie->top, trie->top_room, (uint64_t)at + trie->top_size);
    memcpy(trie->top + at, entry, trie->top_size * sizeof(uint32_t));
    trie->top_used += trie->top_size;
    return at;
}

static uint32_t block_add(struct route_trie *trie, int level, const uint32_t *entry)
{
    uint32_t at = trie->block_used, room = trie->block_room;
    KER_RESERVE(trie->block, trie->block_room, (uint64_t)at + ROUTE_TRIE_BLOCK);
    if (trie->block_room != room)
        trie->level = ker_realloc(trie->level, trie->block_room / ROUTE_TRIE_BLOCK + 1);
    memcpy(trie->block + at, entry, ROUTE_TRIE_BLOCK * sizeof(uint32_t));
    trie->level[at / ROUTE_TRIE_BLOCK] = (uint8_t)level;
    trie->block_used += ROUTE_TRIE_BLOCK;
    return at;
}

/* Where the block of a level with these entries begins. */
static uint32_t block_intern(struct route_trie *trie, int level, const uint32_t *entry)
{
    bool top = level == trie->levels - 1;
    bool is_new;
    uint32_t *place =
        route_interned_add(top ? &trie->tops : &trie->blocks[level], top ? trie->top : trie->block, entry,
                           top ? trie->top_size : ROUTE_TRIE_BLOCK, &is_new);
    if (is_new)
        *place = 1 + (top ? top_add(trie, entry) : block_add(trie, level, entry));
    return *place - 1;
}

void route_trie_row(struct route_trie *trie, uint32_t row, const uint32_t *value)
{
    uint32_t count = trie->endpoints;
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
    if (above && (++trie->pended[level + 1] == ROUTE_TRIE_BLOCK || trie->done == trie->endpoints))
        columns_close(trie, level + 1);
}

uint32_t route_trie_block(struct route_trie *trie, const uint32_t *value)
{
    return block_intern(trie, 0, value);
}

uint32_t route_trie_blocks_room(const struct route_trie *trie)
{
    return ROUTE_TRIE_BLOCK - trie->pended[1];
}

uint32_t *route_trie_blocks(struct route_trie *trie)
{
    for (int i = 1; i < trie->levels || i == 1; i++)
        if (!trie->pending[i])
            trie->pending[i] = ker_alloc((size_t)trie->switches * ROUTE_TRIE_BLOCK * sizeof **trie->pending);
    return trie->pending[1] + trie->pended[1];
}

void route_trie_blocks_advance(struct route_trie *trie, uint32_t count)
{
    uint32_t rest = trie->endpoints - trie->done;
    trie->done += rest < count * ROUTE_TRIE_BLOCK ? rest : count * ROUTE_TRIE_BLOCK;
    trie->pended[1] += count;
    for (uint32_t i = 0; trie->levels == 1 && i < trie->switches; i++)
        trie->root[i] = trie->pending[1][(size_t)i * ROUTE_TRIE_BLOCK];
    if (trie->levels > 1 && (trie->pended[1] == ROUTE_TRIE_BLOCK || trie->done == trie->endpoints))
        columns_close(trie, 1);
}

void route_trie_advance(struct route_trie *trie)
{
    uint32_t rest = trie->endpoints - trie->done;
    ker_assert(rest > 0);
    trie->done += rest < ROUTE_TRIE_BLOCK ? rest : ROUTE_TRIE_BLOCK;
    columns_close(trie, 0);
}

/* ---- closing ---- */

/* Where the row without paths begins; it is made if there is none. */
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
    trie->top = ker_realloc(trie->top, trie->top_used * sizeof(uint32_t));
    trie->top_room = trie->top_used;
    if (trie->block_used) {
        trie->block = ker_realloc(trie->block, trie->block_used * sizeof(uint32_t));
        trie->block_room = trie->block_used;
    }
}

uint64_t route_trie_bytes(const struct route_trie *trie)
{
    if (!trie->root)
        return 0;
    return ((uint64_t)trie->switches + trie->top_room + trie->block_room) * sizeof(uint32_t) +
           trie->block_room / ROUTE_TRIE_BLOCK;
}

/* ---- by blocks ---- */

uint32_t route_trie_blocks_count(const struct route_trie *trie)
{
    return trie->levels == 1 ? trie->top_used / trie->top_size : trie->block_used / ROUTE_TRIE_BLOCK;
}

uint32_t route_trie_block_of(const struct route_trie *trie, uint32_t row, uint32_t block)
{
    uint32_t column = block * ROUTE_TRIE_BLOCK;
    if (trie->levels == 1)
        return trie->root[row] / trie->top_size;
    uint32_t at = trie->top[trie->root[row] + (column >> trie->shift)];
    for (unsigned shift = trie->shift; shift > ROUTE_TRIE_BITS;
         at = trie->block[at + (column >> shift & (ROUTE_TRIE_BLOCK - 1))])
        shift -= ROUTE_TRIE_BITS;
    return at / ROUTE_TRIE_BLOCK;
}

void route_trie_block_values(const struct route_trie *trie, uint32_t number, uint32_t *value)
{
    if (trie->levels > 1) {
        memcpy(value, trie->block + (size_t)number * ROUTE_TRIE_BLOCK, ROUTE_TRIE_BLOCK * sizeof *value);
        return;
    }
    memset(value, 0, ROUTE_TRIE_BLOCK * sizeof *value);
    memcpy(value, trie->top + (size_t)number * trie->top_size, trie->top_size * sizeof *value);
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
    trie->block = ker_realloc(trie->block, trie->block_used * sizeof(uint32_t));
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
                    trie->top_size * sizeof(uint32_t));
            place[i] = used++ * trie->top_size;
        }
    for (uint32_t i = 0; i < trie->switches; i++)
        trie->root[i] = place[trie->root[i] / trie->top_size];
    free(place);
    trie->top_used = trie->top_room = used * trie->top_size;
    trie->top = ker_realloc(trie->top, trie->top_used * sizeof(uint32_t));
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
