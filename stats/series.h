/* series.h - what happened to many objects (links, switches, jobs) in each period: rows that are written
 * during the run.
 *
 * A series is a table of which a batch of rows is added at the end of each period, on every rank those of the
 * rank's own objects. Whoever has the objects says before the run that the series is wanted, and how many
 * rows it may have (stats_series_want); from then on it only puts rows into stats_series_rows of each period.
 * Rank 0 writes them by the order of their keys, into NAME.csv or, with output.hdf5, into the group NAME of
 * results.h5. No rank holds more than its own rows of one period. What is written is flushed at the end of
 * each period, so that it can be watched, and is there whatever ends the run.
 */
#pragma once

#include "kernel/state/state.h"
#include "stats/hdf5.h"
#include "stats/table.h"

struct ker_config;

#define STATS_SERIES_MOST 32 /* series of a run */

struct stats_series_files;
struct stats_series;

/* What of a kind of objects is collected: output.series.KIND. */
enum stats_collect { STATS_COLLECT_OFF, STATS_COLLECT_TOTAL, STATS_COLLECT_PERIODS };
enum stats_collect stats_collect_of(const struct ker_config *, const char *key);
static inline bool stats_collects_periods(const struct ker_config *config, const char *key)
{
    return stats_collect_of(config, key) == STATS_COLLECT_PERIODS;
}

/* All series of a run. skips: rows have this column, of what stats_series_begin is given. */
extern const struct stats_column stats_skipped_column;
struct stats_series_files *stats_series_new(bool skips);
/* One that is wanted, of so many rows of all ranks in a period at most: all ranks alike, before the files are
 * opened. context: of its tables. */
struct stats_series *stats_series_want(struct stats_series_files *, const struct stats_schema *,
                                       const void *context, uint64_t rows);
/* Memory of all ranks that collecting takes besides. */
void stats_series_memory(struct stats_series_files *, uint64_t bytes);
/* What those wanted so far cost: for each so many rows at most in a period, each of about so many bytes in
 * the file; and bytes of memory of all ranks, rows of one period included. */
struct stats_series_costs {
    struct {
        const char *file; /* without .csv */
        uint64_t rows, row_bytes;
    } series[STATS_SERIES_MOST];
    int count;
    uint64_t memory;
};
const struct stats_series_costs *stats_series_costs(const struct stats_series_files *);

/* Opens the files: the ranks that add rows. results.h5: NULL for CSV, and on other ranks; its owner flushes
 * it. most_bytes: of each file, or of the rows in results.h5; beyond, its series ends, and a warning says
 * when. Only rank 0 opens and writes; only its status can be bad. */
void stats_series_open(struct stats_series_files *, struct ker_comm *, const char *folder,
                       struct stats_hdf5 *, uint64_t most_bytes, struct ker_error *);
/* A period ends at this time: rows may be added; and, collective, are written. skipped: ps, in this period.
 */
void stats_series_begin(struct stats_series_files *, ker_time at, ker_time skipped);
void stats_series_flush(struct stats_series_files *, ker_time at);
/* Between these: the rows of this rank; NULL of NULL. Shares are of the period. */
struct stats_table *stats_series_rows(struct stats_series *);
struct ker_comm *stats_series_comm(const struct stats_series *); /* of the ranks that add rows */
ker_time stats_series_time(const struct stats_series_files *);   /* of the last flush; 0: none yet */
/* A failed write is reported here. Frees; takes NULL. */
enum ker_status stats_series_close(struct stats_series_files *, struct ker_error *);

/* A row says what has come since the last period. `row` are totals at the end of this one, and become the
 * differences to `last`, the totals before, which become those of now; a total that has fallen ends the run
 * rather than to be written as a wrong row. Who keeps `last` saves it. name: of the series. */
_Noreturn void stats_series_fell(const char *name);
static inline void stats_series_since(const char *name, uint64_t *row, uint64_t *last, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t total = row[i];
        row[i] = total - last[i]; /* either may be below 0 while it is taken apart */
        if (__builtin_expect((int64_t)row[i] < 0, 0))
            stats_series_fell(name);
        last[i] = total;
    }
}

/* What was counted until the last period has been taken back, on purpose: what rows have said of it stays. */
static inline void stats_series_cut(uint64_t *last, const uint64_t *total, size_t count)
{
    for (size_t i = 0; i < count; i++)
        last[i] = last[i] < total[i] ? last[i] : total[i];
}

/* Saved state, on rank 0, in chunks "series": the time of the last period, and all rows so far. Loading, in
 * the order of saving, when all files are open: they get these rows. */
void stats_series_save(struct stats_series_files *, struct ker_state_writer *);
void stats_series_load(struct stats_series_files *, struct ker_chunk *);

/* pieces.c: a file that is being written, as it is on the disk (NULL: it has nothing), in chunks of this
 * name, each behind what `head` puts there; numbers them. */
void stats_file_save(const char *path, struct ker_state_writer *, const char *chunk, uint64_t *number,
                     void (*head)(void *context, struct ker_chunk *, bool begins), void *context);
