/* matrix.c - messages and bytes per pair of nodes, kept sparse.
 *
 * Open addressing with linear probing on (from, to) packed in 64 bits, doubled when three quarters full; 24
 * bytes a slot, and no memory before the first message. Ranks' tables are gathered, sorted by pair, and equal
 * pairs added up: the file does not depend on which rank counted what, nor on the order inside the tables.
 *
 * Invariant: a slot is empty if and only if its key is EMPTY, which no pair has (there are less than 2^32 - 1
 * nodes).
 */
#include "stats/file.h"
#include "stats/stats.h"

#include <stdlib.h>

#define EMPTY UINT64_MAX
#define FIRST_SIZE 1024u

struct pair {
    uint64_t key; /* from << 32 | to */
    uint64_t messages, bytes;
};

struct stats_matrix {
    size_t size, used; /* slots, a power of two or 0; pairs */
    struct pair *slot;
};

struct stats_matrix *stats_matrix_new(void)
{
    return ker_alloc(sizeof(struct stats_matrix));
}

void stats_matrix_free(struct stats_matrix *matrix)
{
    if (!matrix)
        return;
    free(matrix->slot);
    free(matrix);
}

/* The slot of the key, or the empty one where it belongs. The multiplier is 2^64 / the golden ratio:
 * neighbouring pairs spread over the table. */
static struct pair *slot_find(const struct stats_matrix *matrix, uint64_t key)
{
    uint64_t hash = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    size_t mask = matrix->size - 1;
    size_t i = (size_t)(hash >> 32) & mask;
    while (matrix->slot[i].key != EMPTY && matrix->slot[i].key != key)
        i = (i + 1) & mask;
    return &matrix->slot[i];
}

static void matrix_grow(struct stats_matrix *matrix)
{
    struct stats_matrix old = *matrix;
    matrix->size = old.size ? old.size * 2 : FIRST_SIZE;
    matrix->slot = ker_alloc(matrix->size * sizeof *matrix->slot);
    for (size_t i = 0; i < matrix->size; i++)
        matrix->slot[i].key = EMPTY;
    for (size_t i = 0; i < old.size; i++)
        if (old.slot[i].key != EMPTY)
            *slot_find(matrix, old.slot[i].key) = old.slot[i];
    free(old.slot);
}

void stats_matrix_add(struct stats_matrix *matrix, uint32_t from, uint32_t to, uint64_t messages,
                      uint64_t bytes)
{
    uint64_t key = (uint64_t)from << 32 | to;
    ker_check(key != EMPTY);
    if (matrix->used >= matrix->size / 4 * 3)
        matrix_grow(matrix);
    struct pair *pair = slot_find(matrix, key);
    if (pair->key == EMPTY) {
        pair->key = key;
        matrix->used++;
    }
    pair->messages += messages;
    pair->bytes += bytes;
}

/* A copy of the used slots, in no particular order. */
static struct pair *matrix_pairs(const struct stats_matrix *matrix)
{
    struct pair *pairs = ker_alloc(matrix->used * sizeof *pairs);
    size_t count = 0;
    for (size_t i = 0; i < matrix->size; i++)
        if (matrix->slot[i].key != EMPTY)
            pairs[count++] = matrix->slot[i];
    return pairs;
}

static int pair_compare(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

static enum ker_status pairs_write(struct pair *pairs, size_t count, const char *folder, const char *name,
                                   struct ker_error *error)
{
    struct stats_file file;
    enum ker_status status = stats_file_open(&file, folder, name, error);
    if (status)
        return status;
    if (count)
        qsort(pairs, count, sizeof *pairs, pair_compare);
    fputs("from_node,to_node,messages,bytes\n", file.stream);
    for (size_t i = 0; i < count;) {
        struct pair sum = pairs[i];
        while (++i < count && pairs[i].key == sum.key) {
            sum.messages += pairs[i].messages;
            sum.bytes += pairs[i].bytes;
        }
        stats_write_u64(file.stream, sum.key >> 32, ',');
        stats_write_u64(file.stream, (uint32_t)sum.key, ',');
        stats_write_u64(file.stream, sum.messages, ',');
        stats_write_u64(file.stream, sum.bytes, '\n');
    }
    return stats_file_commit(&file, error);
}

enum ker_status stats_matrix_write(struct stats_matrix *matrix, struct ker_comm *comm, const char *folder,
                                   const char *name, struct ker_error *error)
{
    struct pair *own = matrix_pairs(matrix);
    void *all = NULL;
    size_t *offset = NULL;
    ker_comm_gather(comm, own, matrix->used * sizeof *own, &all, &offset);
    free(own);
    enum ker_status status = KER_OK;
    if (ker_comm_rank(comm) == 0)
        status = pairs_write(all, offset[ker_comm_size(comm)] / sizeof(struct pair), folder, name, error);
    free(all);
    free(offset);
    return status;
}

/* A chunk for each source, with all its destinations. */
void stats_matrix_save(const struct stats_matrix *matrix, struct ker_state_writer *writer)
{
    struct pair *pairs = matrix_pairs(matrix);
    if (matrix->used)
        qsort(pairs, matrix->used, sizeof *pairs, pair_compare);
    for (size_t i = 0; i < matrix->used;) {
        uint64_t from = pairs[i].key >> 32;
        struct ker_chunk *c = ker_state_begin(writer, "matrix", 1, from);
        for (; i < matrix->used && pairs[i].key >> 32 == from; i++) {
            ker_chunk_u32(c, (uint32_t)pairs[i].key);
            KER_CHUNK(c, pairs[i].messages);
            KER_CHUNK(c, pairs[i].bytes);
        }
        ker_state_end(writer);
    }
    free(pairs);
}

void stats_matrix_load(struct stats_matrix *matrix, struct ker_chunk *c)
{
    while (c->at < c->bytes && !c->bad) {
        uint32_t to = ker_chunk_u32(c, 0);
        uint64_t messages = ker_chunk_u64(c, 0), bytes = ker_chunk_u64(c, 0);
        if (!c->bad)
            stats_matrix_add(matrix, (uint32_t)c->id, to, messages, bytes);
    }
}
