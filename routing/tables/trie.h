/* trie.h - private to routing/: a value for every row and column, compressed.
 *
 * A row is a trie over the columns, 64 entries to a block, and equal blocks are stored once for all rows: in
 * a regular network most of a row is shared with other rows. A trie is filled by rows or by columns, and
 * closed by route_trie_finish. What is never set is 0.
 */
#pragma once

#include "kernel/base/base.h"

#define ROUTE_TRIE_BITS 6
#define ROUTE_TRIE_BLOCK 64 /* entries */
#define ROUTE_TRIE_LEVELS 6 /* enough for 2^32 endpoints */

struct route_trie {
    uint32_t switches, endpoints;
    int levels;        /* the lowest is 0 */
    unsigned shift;    /* of the top level */
    uint32_t top_size; /* entries of a top block */
    uint32_t *root;    /* per switch: where its top block begins in `top` */
    uint32_t *top;     /* entries: where a block begins, or with one level the values themselves */
    uint32_t *block;   /* entries: where a block begins, in the lowest level the values */
    uint8_t *level;    /* of each block */
    uint32_t top_used, top_room, block_used, block_room; /* entries */
    struct ker_table tops, blocks[ROUTE_TRIE_LEVELS];    /* while it is filled: where what is interned lies */
    uint32_t *pending[ROUTE_TRIE_LEVELS]; /* filling by columns: [switch * 64 + entry] of each level's
                                             unfinished blocks */
    uint32_t pended[ROUTE_TRIE_LEVELS];   /* entries of each */
    uint32_t done;                        /* endpoints */
};

/* A value for every row and column; what is never set is 0. After route_trie_finish nothing
 * more is set; keep drops the rows of other ranks. */
void route_trie_init(struct route_trie *, uint32_t rows, uint32_t columns);
void route_trie_row(struct route_trie *, uint32_t row, const uint32_t *value);
void route_trie_finish(struct route_trie *);
void route_trie_keep(struct route_trie *, const uint32_t *row_rank, uint32_t rank);
void route_trie_release(struct route_trie *);
uint64_t route_trie_bytes(const struct route_trie *);

/* The next ROUTE_TRIE_BLOCK destinations (or what is left of them) of all switches: fill in [switch *
 * ROUTE_TRIE_BLOCK + i] of what route_trie_columns returns, then route_trie_advance. Rows and columns are not
 * to be mixed in one trie. */
uint32_t *route_trie_columns(struct route_trie *);
void route_trie_advance(struct route_trie *);
/* The same by whole blocks: the place of one with these values; where the places of the next blocks (at most
 * this many) are to be written, [switch * ROUTE_TRIE_BLOCK + i]; and that `count` of them are there now. */
uint32_t route_trie_block(struct route_trie *, const uint32_t *value);
uint32_t route_trie_blocks_room(const struct route_trie *);
uint32_t *route_trie_blocks(struct route_trie *);
void route_trie_blocks_advance(struct route_trie *, uint32_t count);
/* After route_trie_finish: how many blocks may be named, the one of a row for the columns from 64 x `block`
 * on, and what is in it. */
uint32_t route_trie_blocks_count(const struct route_trie *);
uint32_t route_trie_block_of(const struct route_trie *, uint32_t row, uint32_t block);
void route_trie_block_values(const struct route_trie *, uint32_t number, uint32_t *value);
/* Where these words lie in a store of interned ones: 1 + the place of the first; where there are none yet
 * (*is_new), the caller puts them into the store and writes the place. */
uint32_t *route_interned_add(struct ker_table *, const void *store, const void *words, uint32_t count,
                             bool *is_new);

static inline uint32_t route_trie_get(const struct route_trie *trie, uint32_t switch_id, uint32_t endpoint)
{
    uint32_t at = trie->top[trie->root[switch_id] + (endpoint >> trie->shift)];
    for (unsigned shift = trie->shift; shift;
         at = trie->block[at + (endpoint >> shift & (ROUTE_TRIE_BLOCK - 1))])
        shift -= ROUTE_TRIE_BITS;
    return at;
}
