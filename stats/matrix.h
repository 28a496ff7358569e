/* matrix.h - who sends how much to whom: output.matrix and output.series.matrix, at the levels of
 * output.matrix_levels.
 *
 * A matrix is of senders and receivers with numbers: nodes, boards, racks (by the network), or tasks of jobs
 * (by the model of MPI). It is kept sparse, so that memory grows with the pairs that talk.
 */
#pragma once

#include "stats/series.h"

struct ker_config;

enum stats_matrix_level {
    STATS_MATRIX_NODE,
    STATS_MATRIX_BOARD,
    STATS_MATRIX_RACK,
    STATS_MATRIX_TASK,
    STATS_MATRIX_LEVELS
};
/* A bit for each level that is wanted, and how. */
unsigned stats_matrix_wanted(const struct ker_config *, bool *total, bool *periods);

struct stats_matrix_row {
    const void *context;
    ker_time at; /* series */
    uint32_t from, to;
    uint64_t messages, bytes;
};

/* Tables of rows above. */
struct stats_matrix_kind {
    const struct stats_schema *total, *series;
};
extern const struct stats_matrix_kind stats_matrix_kinds[STATS_MATRIX_TASK];

struct stats_matrix;
/* total: stats_matrix_write has something to write. context: of the tables; outlives it. */
struct stats_matrix *stats_matrix_new(const struct stats_matrix_kind *, const void *context, bool total,
                                      bool periods);
void stats_matrix_free(struct stats_matrix *); /* takes NULL */
void stats_matrix_add(struct stats_matrix *, uint32_t from, uint32_t to, uint64_t messages, uint64_t bytes);
/* Its series is wanted, when there are periods: so many pairs at most; the rows of the period that ends. */
void stats_matrix_want(struct stats_matrix *, struct stats_series_files *, uint64_t rows);
void stats_matrix_period(struct stats_matrix *, ker_time at);
/* Collective; rank 0 writes rows sorted by (from, to). */
enum ker_status stats_matrix_write(struct stats_matrix *, struct ker_comm *, const struct stats_folder *,
                                   struct ker_error *error);
/* Saved state: chunks of this name, whose id is a sender, and whose first byte the level. Loading, behind
 * that byte, adds. */
#define STATS_MATRIX_VERSION 2
void stats_matrix_save(const struct stats_matrix *, struct ker_state_writer *, const char *chunk,
                       uint8_t level);
void stats_matrix_load(struct stats_matrix *, struct ker_chunk *);

/* Columns and schemas of such tables, as list macros of table.h. */
#define STATS_MATRIX_TIME(COLUMN) COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period")
#define STATS_MATRIX_ENDS(COLUMN, level, name)                                                               \
    COLUMN(from_##level, "", U32, SAME, row->from, "the sending " name)                                      \
    COLUMN(to_##level, "", U32, SAME, row->to, "the receiving " name)
#define STATS_MATRIX_COUNTS(COLUMN)                                                                          \
    COLUMN(messages, "messages", U64, SUM, row->messages, "messages sent")                                   \
    COLUMN(bytes, "bytes", U64, SUM, row->bytes, "their payload")
#define STATS_MATRIX_SCHEMA(level, name, rows, LIST)                                                         \
    STATS_SCHEMA(stats_matrix_##level##_schema, struct stats_matrix_row, LIST, stats_matrix_row_key, name,   \
                 rows)
uint64_t stats_matrix_row_key(const void *row);
extern const struct stats_schema stats_matrix_node_schema, stats_matrix_node_series_schema,
    stats_matrix_board_schema, stats_matrix_board_series_schema, stats_matrix_rack_schema,
    stats_matrix_rack_series_schema;
