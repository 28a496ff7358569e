/* matrix.c - messages and bytes per pair of senders and receivers, kept sparse.
 *
 * A hash table per rank on (from, to) packed in 64 bits; no memory before the first message. Ranks' pairs
 * become one table of results, sorted by pair, equal pairs added up: the file does not depend on which rank
 * counted what, nor on the order inside. With periods the pairs of this one have a table of their own, which
 * joins that of all at its end. (There are less than 2^32 - 1 senders, so that 1 + the pair is never 0.)
 */
#include "stats/matrix.h"

#include "stats/stats.h"

#include <stdlib.h>

struct pair {
    uint64_t key; /* 1 + (from << 32 | to): 0 is free */
    uint64_t messages, bytes;
};

struct stats_matrix {
    const struct stats_matrix_kind *kind;
    const void *context;
    bool total, periods;
    struct ker_table all, now; /* now: of this period, which `all` does not have yet; without periods empty */
    struct stats_series *series; /* NULL: not wanted */
};

static const struct ker_table_kind pair_kind = KER_TABLE_U64(struct pair);

struct stats_matrix *stats_matrix_new(const struct stats_matrix_kind *kind, const void *context, bool total,
                                      bool periods)
{
    struct stats_matrix *m = ker_alloc(sizeof *m);
    m->kind = kind;
    m->context = context;
    m->total = total;
    m->periods = periods;
    return m;
}

void stats_matrix_free(struct stats_matrix *m)
{
    if (!m)
        return;
    ker_table_release(&m->all);
    ker_table_release(&m->now);
    free(m);
}

static void pair_add(struct ker_table *pairs, uint64_t key, uint64_t messages, uint64_t bytes)
{
    bool is_new;
    struct pair wanted = {.key = key}, *pair = ker_table_add(&pair_kind, pairs, &wanted, &is_new);
    pair->key = key;
    pair->messages += messages;
    pair->bytes += bytes;
}

void stats_matrix_add(struct stats_matrix *m, uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes)
{
    pair_add(m->periods ? &m->now : &m->all, ((uint64_t)from << 32 | to) + 1, messages, bytes);
}

/* ---- rows ---- */

static void rows_add(const struct stats_matrix *m, struct stats_table *table, const struct ker_table *pairs,
                     ker_time at)
{
    stats_table_reserve(table, pairs->count);
    for (const struct pair *p = NULL; (p = ker_table_next(&pair_kind, pairs, p));)
        stats_table_add(table, &(struct stats_matrix_row){m->context, at, (uint32_t)((p->key - 1) >> 32),
                                                          (uint32_t)(p->key - 1), p->messages, p->bytes});
}

/* The period is over, or the run is. */
static void now_join(struct stats_matrix *m)
{
    for (const struct pair *p = NULL; m->total && (p = ker_table_next(&pair_kind, &m->now, p));)
        pair_add(&m->all, p->key, p->messages, p->bytes);
    ker_table_release(&m->now);
    m->now = (struct ker_table){0};
}

void stats_matrix_want(struct stats_matrix *m, struct stats_series_files *files, uint64_t rows)
{
    if (m->periods)
        m->series = stats_series_want(files, m->kind->series, m->context, rows);
}

void stats_matrix_period(struct stats_matrix *m, ker_time at)
{
    if (!m->series)
        return;
    rows_add(m, stats_series_rows(m->series), &m->now, at);
    now_join(m);
}

enum ker_status stats_matrix_write(struct stats_matrix *m, struct ker_comm *comm,
                                   const struct stats_folder *folder, struct ker_error *error)
{
    if (!m->total)
        return KER_OK;
    now_join(m);
    struct stats_table *table = stats_table_new(m->kind->total, m->context, 0);
    rows_add(m, table, &m->all, 0);
    enum ker_status status = stats_table_show_file(table, comm, folder, NULL, error);
    stats_table_free(table);
    return status;
}

uint64_t stats_matrix_row_key(const void *row)
{
    const struct stats_matrix_row *r = row;
    return (uint64_t)r->from << 32 | r->to;
}

/* ---- saved state ---- */

KER_ORDER_BY(pair_compare, struct pair, key)

/* A chunk for each sender, with all its receivers. */
static void pairs_save(const struct ker_table *from, struct ker_state_writer *writer, const char *chunk,
                       uint8_t level, bool now)
{
    struct pair *pairs = ker_alloc(from->count * sizeof *pairs), *to = pairs;
    for (const struct pair *p = NULL; (p = ker_table_next(&pair_kind, from, p));)
        *to++ = (struct pair){p->key - 1, p->messages, p->bytes};
    size_t count = from->count;
    if (count)
        qsort(pairs, count, sizeof *pairs, pair_compare);
    for (size_t i = 0; i < count;) {
        uint64_t sender = pairs[i].key >> 32;
        struct ker_chunk *c = ker_state_begin(writer, chunk, STATS_MATRIX_VERSION, sender);
        KER_CHUNK(c, level);
        ker_chunk_bool(c, now);
        for (; i < count && pairs[i].key >> 32 == sender; i++) {
            ker_chunk_u32(c, (uint32_t)pairs[i].key);
            KER_CHUNK(c, pairs[i].messages, pairs[i].bytes);
        }
        ker_state_end(writer);
    }
    free(pairs);
}

void stats_matrix_save(const struct stats_matrix *m, struct ker_state_writer *writer, const char *chunk,
                       uint8_t level)
{
    pairs_save(&m->all, writer, chunk, level, false);
    pairs_save(&m->now, writer, chunk, level, true);
}

void stats_matrix_load(struct stats_matrix *m, struct ker_chunk *c)
{
    bool now = ker_chunk_bool(c, false);
    while (c->at < c->bytes && !c->bad) {
        uint32_t to = ker_chunk_u32(c, 0);
        uint64_t messages = ker_chunk_u64(c, 0), bytes = ker_chunk_u64(c, 0);
        if (!c->bad)
            pair_add(now && m->periods ? &m->now : &m->all, (c->id << 32 | to) + 1, messages, bytes);
    }
}

/* ---- of the network ---- */

/* clang-format off */
#define NODE_COLUMNS(COLUMN) STATS_MATRIX_ENDS(COLUMN, node, "node") STATS_MATRIX_COUNTS(COLUMN)
#define BOARD_COLUMNS(COLUMN) STATS_MATRIX_ENDS(COLUMN, board, "board") STATS_MATRIX_COUNTS(COLUMN)
#define RACK_COLUMNS(COLUMN) STATS_MATRIX_ENDS(COLUMN, rack, "rack") STATS_MATRIX_COUNTS(COLUMN)
#define NODE_SERIES(COLUMN) STATS_MATRIX_TIME(COLUMN) NODE_COLUMNS(COLUMN)
#define BOARD_SERIES(COLUMN) STATS_MATRIX_TIME(COLUMN) BOARD_COLUMNS(COLUMN)
#define RACK_SERIES(COLUMN) STATS_MATRIX_TIME(COLUMN) RACK_COLUMNS(COLUMN)

STATS_MATRIX_SCHEMA(node, "matrix", "One row per pair of nodes that talked, sorted.", NODE_COLUMNS)
STATS_MATRIX_SCHEMA(node_series, "matrix_series",
                    "One row per period and pair of nodes of which messages left in it.", NODE_SERIES)
STATS_MATRIX_SCHEMA(board, "board_matrix",
                    "One row per pair of boards that talked, sorted; a board and itself, too.", BOARD_COLUMNS)
STATS_MATRIX_SCHEMA(board_series, "board_matrix_series",
                    "One row per period and pair of boards of which messages left in it.", BOARD_SERIES)
STATS_MATRIX_SCHEMA(rack, "rack_matrix",
                    "One row per pair of racks that talked, sorted; a rack and itself, too.", RACK_COLUMNS)
STATS_MATRIX_SCHEMA(rack_series, "rack_matrix_series",
                    "One row per period and pair of racks of which messages left in it.", RACK_SERIES)
/* clang-format on */

const struct stats_matrix_kind stats_matrix_kinds[STATS_MATRIX_TASK] = {
    [STATS_MATRIX_NODE] = {&stats_matrix_node_schema, &stats_matrix_node_series_schema},
    [STATS_MATRIX_BOARD] = {&stats_matrix_board_schema, &stats_matrix_board_series_schema},
    [STATS_MATRIX_RACK] = {&stats_matrix_rack_schema, &stats_matrix_rack_series_schema},
};

unsigned stats_matrix_wanted(const struct ker_config *config, bool *total, bool *periods)
{
    static const char *const names[STATS_MATRIX_LEVELS] = {"node", "board", "rack", "task"};
    unsigned levels = 0;
    *total = ker_config_bool(config, "output.matrix");
    *periods = stats_collects_periods(config, "output.series.matrix");
    if (!ker_config_has(config, "output.matrix_levels"))
        return !*total && !*periods                                  ? 0
               : ker_config_means_key(config, "output.series.links") ? 1u << STATS_MATRIX_NODE
                                                                     : 1u << STATS_MATRIX_TASK;
    for (int i = 0; (*total || *periods) && i < ker_config_count(config, "output.matrix_levels"); i++)
        for (unsigned level = 0; level < STATS_MATRIX_LEVELS; level++)
            if (strcmp(ker_config_string_at(config, "output.matrix_levels", i), names[level]) == 0)
                levels |= 1u << level;
    return levels;
}
