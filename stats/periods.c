/* periods.c - snapshots of the whole system at regular simulated times.
 *
 * Every rank hands over its totals so far; they are summed over the ranks, and rank 0 writes the difference
 * to the row before. Summing totals rather than differences keeps the ranks free of any memory of earlier
 * rows. Unlike the other files this one is written in place and flushed row by row: it can be watched, and
 * survives whatever ends the run.
 */
#include "stats/file.h"
#include "stats/lines.h"
#include "stats/series.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* A row: the totals at its end, and at that of the row before. */
struct row {
    struct stats_period now, last;
};

static uint64_t delivered(const struct row *row)
{
    return row->now.packets_delivered - row->last.packets_delivered;
}

/* clang-format off */
#define PERIOD_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->now.time, "end of the period") \
    COLUMN(packets_injected, "packets", U64, SUM, row->now.packets_injected - row->last.packets_injected, \
           "packets that have left an adapter in this period") \
    COLUMN(packets_delivered, "packets", U64, SUM, delivered(row), "packets that have reached one in it") \
    COLUMN(packets_in_flight, "packets", U64, SUM, row->now.packets_injected - row->now.packets_delivered, \
           "inside the network at the end of the period") \
    COLUMN(bytes_delivered, "bytes", U64, SUM, row->now.bytes_delivered - row->last.bytes_delivered, \
           "payload of the packets delivered in it") \
    COLUMN(packets_measured, "packets", U64, SUM, row->now.packets_measured - row->last.packets_measured, \
           "those of the packets delivered that are measured: created in the measured span") \
    COLUMN(packet_latency_mean_ps, "ps", MEAN, SUM, row->now.latency_ps - row->last.latency_ps, \
           "mean network latency of the measured packets delivered in the period, rounded; empty when " \
           "there were none", .by = "packets_measured")
/* clang-format on */

static uint64_t row_key(const void *row)
{
    return (uint64_t)((const struct row *)row)->now.time;
}

STATS_SCHEMA(stats_periods_schema, struct row, PERIOD_COLUMNS, row_key, "periods",
             "One row each time `output.period` of simulated time has passed.")

#define LIMBS 4 /* of 32 bits: see quantity.c */

struct stats_periods {
    struct ker_comm *comm;
    FILE *stream;                  /* NULL on other ranks */
    struct stats_lines lines;      /* before it */
    struct stats_table *table;     /* the row that is written */
    struct stats_hdf5_table *hdf5; /* NULL: it is not wanted */
    char *path;
    struct stats_period last; /* of all ranks, on rank 0 */
    int why;                  /* errno of the first failed write */
};

enum ker_status stats_periods_open(struct stats_periods **periods, struct ker_comm *comm, const char *folder,
                                   struct stats_hdf5 *hdf5, bool skips, struct ker_error *error)
{
    struct stats_periods *p = *periods = ker_alloc(sizeof *p);
    p->comm = comm;
    if (ker_comm_rank(comm) != 0)
        return KER_OK;
    p->path = ker_format("%s/periods.csv", folder);
    p->stream = fopen(p->path, "w");
    if (!p->stream)
        return stats_file_fail(p->path, errno, error);
    p->table = stats_table_new(&stats_periods_schema, NULL, 0);
    if (skips)
        stats_table_extend(p->table, &stats_skipped_column, 0);
    p->hdf5 = hdf5 ? stats_hdf5_add(hdf5, p->table) : NULL;
    stats_table_head_csv(p->table, p->stream);
    stats_lines_init(&p->lines, p->stream);
    if (fflush(p->stream))
        p->why = errno;
    return KER_OK;
}

/* Of all ranks. */
static struct stats_period sum(struct stats_periods *periods, const struct stats_period *totals)
{
    uint64_t word[4 + LIMBS] = {totals->packets_injected, totals->packets_delivered, totals->bytes_delivered,
                                totals->packets_measured};
    for (int i = 0; i < LIMBS; i++)
        word[4 + i] = (uint32_t)(totals->latency_ps >> (32 * i));
    ker_comm_sum_u64(periods->comm, word, 4 + LIMBS);
    struct stats_period now = {totals->time, word[0], word[1], word[2], 0, word[3]};
    for (int i = 0; i < LIMBS; i++)
        now.latency_ps += (unsigned __int128)word[4 + i] << (32 * i);
    return now;
}

void stats_periods_begin(struct stats_periods *periods, const struct stats_period *totals)
{
    periods->last = sum(periods, totals);
}

void stats_periods_add(struct stats_periods *periods, const struct stats_period *totals)
{
    struct stats_period now = sum(periods, totals);
    if (!periods->stream)
        return;
    const struct stats_period *last = &periods->last;
    if (now.packets_injected < last->packets_injected || now.packets_delivered < last->packets_delivered ||
        now.bytes_delivered < last->bytes_delivered || now.packets_measured < last->packets_measured ||
        now.latency_ps < last->latency_ps)
        stats_series_fell("periods");
    stats_table_clear(periods->table);
    stats_table_mark(periods->table, (uint64_t)totals->skipped);
    stats_table_add(periods->table, &(struct row){now, periods->last});
    stats_table_row_csv(periods->table, 0, &periods->lines);
    stats_lines_flush(&periods->lines);
    if (periods->hdf5)
        stats_hdf5_row(periods->hdf5, periods->table, 0);
    periods->last = now;
    if (fflush(periods->stream) && !periods->why)
        periods->why = errno;
}

/* ---- saved state ---- */

static void totals_state(struct ker_chunk *c, struct stats_period *t)
{
    KER_CHUNK(c, t->time, t->packets_injected, t->packets_delivered, t->bytes_delivered, t->latency_ps,
              t->packets_measured);
}

static void head_save(void *last, struct ker_chunk *c, bool begins)
{
    totals_state(c, last);
}

/* The file is there to be read: rows are flushed one by one. */
void stats_periods_save(struct stats_periods *periods, struct ker_state_writer *writer)
{
    uint64_t number = 0;
    stats_file_save(periods->stream ? periods->path : NULL, writer, "periods", &number, head_save,
                    &periods->last);
}

void stats_periods_load(struct stats_periods *periods, struct ker_chunk *c)
{
    totals_state(c, &periods->last);
    if (periods->stream && c->id == 0 && ftruncate(fileno(periods->stream), 0) == 0)
        rewind(periods->stream);
    if (periods->stream && fwrite(c->data + c->at, 1, c->bytes - c->at, periods->stream) != c->bytes - c->at)
        periods->why = errno;
    if (periods->stream && fflush(periods->stream) && !periods->why)
        periods->why = errno;
    c->at = c->bytes;
}

enum ker_status stats_periods_close(struct stats_periods *periods, struct ker_error *error)
{
    if (!periods)
        return KER_OK;
    enum ker_status status = KER_OK;
    if (periods->stream && fclose(periods->stream) && !periods->why)
        periods->why = errno;
    if (periods->why)
        status = stats_file_fail(periods->path, periods->why, error);
    stats_table_free(periods->table);
    stats_lines_release(&periods->lines);
    free(periods->path);
    free(periods);
    return status;
}
