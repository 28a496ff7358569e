/* matrix.c - messages and bytes per pair of nodes, kept sparse.
 *
 * One hash table per rank on (from, to) packed in 64 bits; no memory before the first message. Ranks' pairs
 * become one table of results, sorted by pair, equal pairs added up: the file does not depend on which rank
 * counted what, nor on the order inside. (There are less than 2^32 - 1 nodes, so that 1 + the pair is
 * never 0.)
 */
#include "stats/file.h"
#include "stats/stats.h"

#include <stdlib.h>

struct pair {
    uint64_t key; /* 1 + (from << 32 | to): 0 is free */
    uint64_t messages, bytes;
};

struct stats_matrix {
    struct ker_table pairs;
};

static uint64_t pair_hash(const void *key)
{
    return ker_hash(((const struct pair *)key)->key);
}

static bool pair_same(const void *entry, const void *key)
{
    return ((const struct pair *)entry)->key == ((const struct pair *)key)->key;
}

static const struct ker_table_kind pair_kind = {sizeof(struct pair), pair_hash, pair_same};

struct stats_matrix *stats_matrix_new(void)
{
    return ker_alloc(sizeof(struct stats_matrix));
}

void stats_matrix_free(struct stats_matrix *matrix)
{
    if (matrix)
        ker_table_release(&matrix->pairs);
    free(matrix);
}

void stats_matrix_add(struct stats_matrix *matrix, uint32_t from, uint32_t to, uint64_t messages,
                      uint64_t bytes)
{
    bool is_new;
    struct pair key = {.key = ((uint64_t)from << 32 | to) + 1};
    struct pair *pair = ker_table_add(&pair_kind, &matrix->pairs, &key, &is_new);
    pair->key = key.key;
    pair->messages += messages;
    pair->bytes += bytes;
}

/* A copy of the pairs, in no particular order; their keys are (from << 32 | to). */
static struct pair *matrix_pairs(const struct stats_matrix *matrix)
{
    struct pair *pairs = ker_alloc(matrix->pairs.count * sizeof *pairs), *to = pairs;
    for (const struct pair *pair = NULL; (pair = ker_table_next(&pair_kind, &matrix->pairs, pair));)
        *to++ = (struct pair){pair->key - 1, pair->messages, pair->bytes};
    return pairs;
}

static int pair_compare(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

/* clang-format off */
#define MATRIX_COLUMNS(COLUMN) \
    COLUMN(from_node, "", U32, SAME, (row->key - 1) >> 32, "the sending node") \
    COLUMN(to_node, "", U32, SAME, (uint32_t)(row->key - 1), "the receiving node") \
    COLUMN(messages, "messages", U64, SUM, row->messages, "messages sent") \
    COLUMN(bytes, "bytes", U64, SUM, row->bytes, "their payload")

#define VALUE(name, unit, type, merge, value, ...) STATS_VALUE(struct pair, name, value)
MATRIX_COLUMNS(VALUE)
static const struct stats_column columns[] = {MATRIX_COLUMNS(STATS_COLUMN)};
/* clang-format on */

static uint64_t row_key(const void *row)
{
    return ((const struct pair *)row)->key;
}

const struct stats_schema stats_matrix_schema = {"matrix", "One row per pair of nodes that talked, sorted.",
                                                 columns, sizeof columns / sizeof *columns, row_key};

static void row_put(void *writer, const struct stats_table *table, size_t row)
{
    stats_writer_row(writer, table, row);
}

enum ker_status stats_matrix_write(struct stats_matrix *matrix, struct ker_comm *comm,
                                   const struct stats_folder *folder, struct ker_error *error)
{
    struct stats_table *table = stats_table_new(&stats_matrix_schema, NULL, 0);
    bool control = ker_comm_rank(comm) == 0;
    struct stats_writer *writer = control ? stats_writer_open(table, folder, NULL, error) : NULL;
    enum ker_status status = control && !writer ? KER_RUN_FAILED : KER_OK;
    stats_table_reserve(table, matrix->pairs.count);
    for (const struct pair *pair = NULL; (pair = ker_table_next(&pair_kind, &matrix->pairs, pair));)
        stats_table_add(table, pair);
    stats_table_show(table, comm, &(struct stats_visitor){row_put, writer});
    stats_table_free(table);
    enum ker_status closed = stats_writer_close(writer, error);
    return status ? status : closed;
}

/* A chunk for each source, with all its destinations. */
void stats_matrix_save(const struct stats_matrix *matrix, struct ker_state_writer *writer)
{
    struct pair *pairs = matrix_pairs(matrix);
    if (matrix->pairs.count)
        qsort(pairs, matrix->pairs.count, sizeof *pairs, pair_compare);
    for (size_t i = 0; i < matrix->pairs.count;) {
        uint64_t from = pairs[i].key >> 32;
        struct ker_chunk *c = ker_state_begin(writer, "matrix", 1, from);
        for (; i < matrix->pairs.count && pairs[i].key >> 32 == from; i++) {
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
