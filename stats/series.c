/* series.c - rows of each period, written as they come; see series.h.
 *
 * A file is written in place, in whole periods: a reader of a run that was killed finds all of the last
 * period that was flushed, and at most a part of the next. Beyond `most` bytes a series writes no further
 * period.
 */
#include "stats/series.h"

#include "stats/file.h"
#include "stats/hdf5.h"
#include "stats/lines.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct stats_series {
    struct stats_series_files *files;
    const struct stats_schema *schema;
    const void *context;
    struct stats_table *rows; /* of this rank, while a period ends */
    char *path;
    FILE *stream;                   /* NULL: not on this rank, or in results.h5 */
    struct stats_lines lines;       /* before it */
    struct stats_hdf5_table *group; /* there */
    uint64_t bytes;                 /* of the file, or of the rows, at the end of the last period */
    bool full;                      /* nothing is written any more */
};

struct stats_series_files {
    struct stats_series_costs costs;
    struct ker_comm *comm; /* NULL: not open */
    char *folder;
    struct stats_hdf5 *hdf5; /* NULL: CSV, or another rank */
    uint64_t most;
    bool skips;
    struct stats_series series[STATS_SERIES_MOST];
    int count;
    ker_time last; /* end of the last period */
    int why;       /* errno of the first failed write */
    char *where;   /* and of which file */
};

enum stats_collect stats_collect_of(const struct ker_config *config, const char *key)
{
    static const struct ker_word words[] = {{"off", STATS_COLLECT_OFF},
                                            {"total", STATS_COLLECT_TOTAL},
                                            {"periods", STATS_COLLECT_PERIODS},
                                            {NULL, 0}};
    return (enum stats_collect)ker_config_number(config, key, words);
}

const struct stats_column stats_skipped_column = {
    "skipped_ps", "ps", STATS_U64, STATS_MOST,
    "time that was skipped in the period, of steps that lie between its events (run.skip); 0: none"};

struct stats_series_files *stats_series_new(bool skips)
{
    struct stats_series_files *f = ker_alloc(sizeof *f);
    f->skips = skips;
    return f;
}

#define CELL_BYTES 6 /* of a cell and its comma, as they are usual */

struct stats_series *stats_series_want(struct stats_series_files *f, const struct stats_schema *schema,
                                       const void *context, uint64_t rows)
{
    ker_assert(f->count < STATS_SERIES_MOST);
    struct stats_series_costs *costs = &f->costs;
    costs->series[costs->count].file = schema->name;
    costs->series[costs->count].rows = rows;
    costs->series[costs->count++].row_bytes = schema->columns * CELL_BYTES;
    costs->memory += rows * (schema->columns + 1) * sizeof(uint64_t);
    f->series[f->count] = (struct stats_series){.files = f, .schema = schema, .context = context};
    return &f->series[f->count++];
}

void stats_series_memory(struct stats_series_files *f, uint64_t bytes)
{
    f->costs.memory += bytes;
}

const struct stats_series_costs *stats_series_costs(const struct stats_series_files *f)
{
    return &f->costs;
}

static void failed(struct stats_series *s, int why)
{
    if (s->files->why)
        return;
    s->files->why = why ? why : EIO;
    s->files->where = ker_format("%s", s->path);
}

static void csv_begin(struct stats_series *s, const struct stats_table *head, struct ker_error *error)
{
    s->path = ker_format("%s/%s.csv", s->files->folder, s->schema->name);
    s->stream = fopen(s->path, "w");
    if (!s->stream) {
        stats_file_fail(s->path, errno, error);
        return;
    }
    stats_table_head_csv(head, s->stream);
    stats_lines_init(&s->lines, s->stream);
    if (fflush(s->stream))
        failed(s, errno);
}

static struct stats_table *rows_new(const struct stats_series *s, uint64_t span, ker_time skipped)
{
    struct stats_table *rows = stats_table_new(s->schema, s->context, span);
    if (s->files->skips)
        stats_table_extend(rows, &stats_skipped_column, (uint64_t)skipped);
    return rows;
}

static void series_open(struct stats_series *s, struct ker_error *error)
{
    struct stats_table *head = rows_new(s, 0, 0);
    if (s->files->hdf5) {
        s->path = ker_format("%s/" STATS_HDF5_NAME ": %s", s->files->folder, s->schema->name);
        s->group = stats_hdf5_add(s->files->hdf5, head);
    } else {
        csv_begin(s, head, error);
    }
    stats_table_free(head);
}

void stats_series_open(struct stats_series_files *f, struct ker_comm *comm, const char *folder,
                       struct stats_hdf5 *hdf5, uint64_t most_bytes, struct ker_error *error)
{
    f->comm = comm;
    f->folder = ker_format("%s", folder);
    f->most = most_bytes;
    f->hdf5 = hdf5;
    for (int i = 0; i < f->count && ker_comm_rank(comm) == 0; i++)
        series_open(&f->series[i], error);
}

static void row_write(void *series, const struct stats_table *table, size_t row)
{
    struct stats_series *s = series;
    if (s->full)
        return;
    if (s->group) {
        stats_hdf5_row(s->group, table, row);
        s->bytes += stats_table_row_bytes(table);
    } else if (s->stream) {
        stats_table_row_csv(table, row, &s->lines);
    }
}

struct ker_comm *stats_series_comm(const struct stats_series *s)
{
    return s->files->comm;
}

void stats_series_begin(struct stats_series_files *f, ker_time at, ker_time skipped)
{
    for (int i = 0; i < f->count; i++)
        f->series[i].rows = rows_new(&f->series[i], (uint64_t)(at - f->last), skipped);
}

struct stats_table *stats_series_rows(struct stats_series *s)
{
    return s ? s->rows : NULL;
}

static void series_flush(struct stats_series *s, ker_time at)
{
    char time[32], size[32];
    if ((!s->stream && !s->group) || s->full)
        return;
    if (s->stream)
        stats_lines_flush(&s->lines);
    if (s->stream && fflush(s->stream))
        failed(s, errno);
    if (s->stream)
        s->bytes = (uint64_t)ftello(s->stream);
    s->full = s->bytes >= s->files->most;
    if (s->full)
        ker_warn("%s ends at %s of simulated time: it has %s; output.series.bytes allows more", s->path,
                 ker_print_time(time, at), ker_print_bytes(size, (double)s->bytes));
}

void stats_series_fell(const char *name)
{
    ker_give_up(
        "%s: a count that only grows has become smaller since the last period, and its next row would "
        "be wrong: this is a bug of marssim; the rows before are right, and the run can be made without "
        "this series (output.series)",
        name);
}

void stats_series_flush(struct stats_series_files *f, ker_time at)
{
    for (int i = 0; i < f->count; i++) {
        struct stats_series *s = &f->series[i];
        stats_table_show(s->rows, f->comm, &(struct stats_visitor){row_write, s});
        stats_table_free(s->rows);
        s->rows = NULL;
        series_flush(s, at);
    }
    f->last = at;
}

ker_time stats_series_time(const struct stats_series_files *f)
{
    return f->last;
}

enum ker_status stats_series_close(struct stats_series_files *f, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (int i = 0; f && i < f->count; i++) {
        struct stats_series *s = &f->series[i];
        if (s->stream && fclose(s->stream))
            failed(s, errno);
        stats_lines_release(&s->lines);
        free(s->path);
    }
    if (!f)
        return status;
    if (f->why)
        status = stats_file_fail(f->where, f->why, error);
    free(f->where);
    free(f->folder);
    free(f);
    return status;
}

/* ---- saved state ---- */

static void head_save(void *series, struct ker_chunk *c, bool begins)
{
    const struct stats_series *s = series;
    char name[KER_CHUNK_NAME];
    ker_time last = s->files->last;
    snprintf(name, sizeof name, "%s", s->schema->name);
    KER_CHUNK(c, last);
    ker_chunk_text(c, name);
    ker_chunk_bool(c, begins);
    ker_chunk_u64(c, s->bytes);
}

/* The files are there to be read: whole periods have been flushed. */
void stats_series_save(struct stats_series_files *f, struct ker_state_writer *writer)
{
    uint64_t number = 0;
    for (int i = 0; i < f->count; i++)
        stats_file_save(f->series[i].stream ? f->series[i].path : NULL, writer, "series", &number, head_save,
                        &f->series[i]);
}

void stats_series_load(struct stats_series_files *f, struct ker_chunk *c)
{
    char name[KER_CHUNK_NAME];
    KER_CHUNK(c, f->last);
    ker_chunk_text(c, name);
    bool begins = ker_chunk_bool(c, false);
    uint64_t rows_bytes = ker_chunk_u64(c, 0);
    size_t bytes = c->bytes - c->at;
    for (int i = 0; i < f->count && !c->bad; i++) {
        struct stats_series *s = &f->series[i];
        if (strcmp(s->schema->name, name) != 0)
            continue;
        s->bytes = rows_bytes;
        if (!s->stream)
            continue;
        if (begins && ftruncate(fileno(s->stream), 0) == 0)
            rewind(s->stream);
        if (fwrite(c->data + c->at, 1, bytes, s->stream) != bytes || fflush(s->stream))
            failed(s, errno);
        s->bytes = (uint64_t)ftello(s->stream);
    }
    for (int i = 0; i < f->count; i++)
        f->series[i].full = f->series[i].bytes >= f->most;
    c->at = c->bytes;
}
