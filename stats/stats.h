/* stats.h - counters, histograms, their merging, and the result files.
 *
 * Every rank counts for itself; sums are integers, so merging is exact and free of order. The control rank
 * writes.
 */
#pragma once

#include "stats/matrix.h"
#include "stats/series.h"
#include "stats/steady.h"
#include "stats/table.h"
#include "stats/timelines/timeline.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Logarithmic histogram of non-negative integers: exact below 128, then 64 bins per octave. */
#define STATS_BINS (64 * 58 + 128)
static inline unsigned stats_bin(uint64_t value)
{
    unsigned coarse = 57u - (unsigned)__builtin_clzll(value | 64); /* 0 below 128 */
    return coarse * 64 + (unsigned)(value >> coarse);
}
uint64_t stats_bin_low(unsigned bin); /* smallest value of the bin */

/* Count, sum, sum of squares, extremes and histogram of one quantity. 30 KiB: a few per rank, never one per
 * component. */
struct stats_quantity {
    uint64_t count;
    unsigned __int128 sum, squares;
    uint64_t minimum, maximum;
    uint64_t bin[STATS_BINS];
};
/* Any memory; pages of a zeroed block (ker_alloc) that nobody adds to are never touched. */
void stats_quantity_init(struct stats_quantity *);
/* bin: stats_bin(value), for who adds one value to several. */
static inline void stats_quantity_put(struct stats_quantity *q, uint64_t value, unsigned bin)
{
    q->count++;
    q->sum += value;
    q->squares += (unsigned __int128)value * value;
    if (value < q->minimum)
        q->minimum = value;
    if (value > q->maximum)
        q->maximum = value;
    q->bin[bin]++;
}
static inline void stats_quantity_add(struct stats_quantity *q, uint64_t value)
{
    stats_quantity_put(q, value, stats_bin(value));
}
/* What was counted in `other` counts in `q`, too: exact, in any order. */
void stats_quantity_join(struct stats_quantity *q, const struct stats_quantity *other);
/* Collective: rank 0's becomes the sum of all; the others keep their own. */
void stats_quantity_merge(struct stats_quantity *, struct ker_comm *);
/* Saved state; loading joins what was saved. */
void stats_quantity_state(struct ker_chunk *, struct stats_quantity *);
double stats_quantity_deviation(const struct stats_quantity *); /* of the population */
/* The same of `count` values with this sum and this sum of squares. */
double stats_deviation(unsigned __int128 sum, unsigned __int128 squares, uint64_t count);
/* The value at a fraction (0.99, taken to the millionth): the ceil(fraction x count)-th smallest, linear
 * inside its bin, clamped to minimum and maximum; all in integers, so that it is the same bits everywhere. 0
 * when nothing was counted. */
uint64_t stats_quantity_percentile(const struct stats_quantity *, double fraction);
/* {count, mean, deviation, min, max, p50, p90, p99, p999}; all but the count null when nothing was counted */
json_t *stats_quantity_json(const struct stats_quantity *);
/* A mean, or a share; null: of nothing. */
json_t *stats_ratio_json(double part, double of);
/* A text that need not be UTF-8: then what is not ASCII is a question mark. */
json_t *stats_text_json(const char *);

/* Batch means: is the confidence interval of the mean of these equal batches tight enough? GSL's Student t.
 * Returns the half-width of the interval relative to the mean, INFINITY for fewer than two batches. */
double stats_batch_halfwidth(const double *batch_mean, int batches, double confidence);

/* Files of the result folder. All on rank 0, all return a status with the path in the error. The folder is
 * created, with parents; stats_folder_open fails when it cannot be written. It removes the files of an
 * earlier run, its tables (NULL at the end) and the others that a run may write, and nothing else; it refuses
 * to when one of them is an input of this run (NULL: none). */
enum ker_status stats_folder_open(const char *folder, const struct stats_schema *const *tables,
                                  const struct ker_inputs *inputs, struct ker_error *error);
/* Makes it, and keeps all other runs from locking it until the handle that is returned is closed. -1: it
 * cannot be made or written, which stats_folder_open says, or locked, which *error says when another run has
 * it, and how another folder is named (key); where its file system has no locks, a warning says so. */
int stats_folder_lock(const char *folder, const char *key, struct ker_error *error);
bool stats_folder_locked(const char *folder); /* some run has it */
/* Whose name says how the run is: it has begun, and, if no process has the lock, was killed; it has failed.
 * Neither: it has ended as it should. */
#define STATS_STARTED "started.json"
#define STATS_FAILED "failed.json"
/* Of all tables, series and timelines that lie in the folder: {NAME: {bytes, cksum}}. */
json_t *stats_folder_tables(const char *folder, const struct stats_schema *const *tables);
/* checksum.c: {bytes, cksum} of a file, the numbers that the command cksum prints (POSIX). NULL: there is no
 * such regular file, or it cannot be read. */
json_t *stats_checksum_json(const char *folder, const char *name);
/* mkdir -p: 0, or errno. */
int stats_folder_make(const char *folder);
void stats_folder_remove(const char *folder); /* rm -rf */
enum ker_status stats_json_write(const char *folder, const char *name, const json_t *object,
                                 struct ker_error *error);
enum ker_status stats_text_write(const char *folder, const char *name, const char *text,
                                 struct ker_error *error);
/* The schema: one of the two below. */
enum ker_status stats_histogram_write(const struct stats_folder *, const struct stats_schema *,
                                      const struct stats_quantity *, struct ker_error *error);
extern const struct stats_schema stats_packet_latency_schema, stats_message_size_schema,
    stats_bandwidth_schema, stats_periods_schema;
extern const struct stats_schema *const stats_tables[]; /* these and those of matrix.h, NULL at the end */

/* Snapshots at the multiples of output.period, one row of periods.csv each. The caller hands over this rank's
 * totals since the start; a row holds what happened since the row before. The file is written row by row: a
 * run that ends early keeps what it measured. */
struct stats_period {
    ker_time time; /* end of the period, the same on all ranks */
    uint64_t packets_injected, packets_delivered, bytes_delivered;
    unsigned __int128 latency_ps; /* sum over the measured packets delivered: stats_quantity.sum */
    uint64_t packets_measured;    /* of those delivered */
    ker_time skipped;             /* in this period; the same on all ranks */
};
struct stats_periods;
/* Collective, all three. Only rank 0 opens and writes; only its status can be bad (agree on it). A failed
 * write is reported by close, which frees in any case and takes NULL. skips: rows have the column skipped_ps.
 */
enum ker_status stats_periods_open(struct stats_periods **, struct ker_comm *, const char *folder,
                                   struct stats_hdf5 *, bool skips, struct ker_error *);
void stats_periods_add(struct stats_periods *, const struct stats_period *totals);
/* The first row covers what comes behind these totals, not behind time 0. */
void stats_periods_begin(struct stats_periods *, const struct stats_period *totals);
/* Saved state, on rank 0: the totals of the last row, and all rows so far, in chunks "periods". Loading, in
 * the order of saving: the file, newly opened, gets these rows. */
void stats_periods_save(struct stats_periods *, struct ker_state_writer *);
void stats_periods_load(struct stats_periods *, struct ker_chunk *);
enum ker_status stats_periods_close(struct stats_periods *, struct ker_error *);

/* Progress on a terminal: one line, rewritten at most five times a second; nothing when standard error is no
 * tty or `quiet`. */
struct stats_progress;
/* end: KER_TIME_MAX when unknown; done(context): of what has to be done, below 0: unknown. */
struct stats_progress *stats_progress_new(bool quiet, ker_time end, double (*done)(const void *),
                                          const void *context);
void stats_progress_show(struct stats_progress *, ker_time now, uint64_t events);
void stats_progress_free(struct stats_progress *); /* clears the line */

/* Of the rows of the table of links those that are busiest, and those with the longest queues. */
#define STATS_BUSIEST 10
struct stats_busiest;
struct stats_busiest *stats_busiest_new(const struct stats_table *links);
void stats_busiest_free(struct stats_busiest *); /* takes NULL */
void stats_busiest_add(struct stats_busiest *, const struct stats_table *links, size_t row);
/* A table, and where in it these rows are, the first one first: at most STATS_BUSIEST. */
const struct stats_table *stats_busiest_rows(const struct stats_busiest *, bool queued, const size_t **row,
                                             int *count);

/* The summary people read at the end, from the same JSON that is written: result and run objects, the ten
 * busiest links. Returns a malloc'ed text. Everything printed is in `summary` or in the table of links; span:
 * measured time. */
char *stats_summary_text(const json_t *summary, const struct stats_busiest *, ker_time span);

/* Do the queues of open-loop sources grow? result: of summary.json. */
bool stats_saturated(const json_t *result);
/* Does less arrive than is sent, so that buffers fill, before any source queue grows? */
bool stats_fills(const json_t *result);
/* What limited the run, malloc'ed; NULL: there are neither links nor jobs whose tasks' time is known. */
char *stats_bottleneck_text(const json_t *result);
/* What a job's critical path is made of, in a sentence (malloc'ed); NULL: it has none. */
char *stats_path_text(const json_t *job);
/* A text under a head of this many columns, wrapped to 80. */
void stats_wrapped_write(FILE *, const char *head, int columns, const char *text);
#define STATS_MPI_FREE                                                                                       \
    "calls take no processor time (node.send_overhead, node.receive_overhead; or mpi.overheads = "           \
    "\"loggops\"), nor do reductions: small messages are 5 to 15 times faster than on any machine"
/* Both, as they are in the summary. */
void stats_verdict_write(FILE *, const json_t *result);
/* A row of the table of links: "s12.3 > s13" and the class, 30 columns. */
char *stats_link_text(char *text, size_t room, const struct stats_table *links, size_t row);

extern const struct ker_option stats_options[]; /* output.* */

/* A row of a table as an object: those of its columns that merge, under their names. */
json_t *stats_table_row_json(const struct stats_table *, size_t row);
