/* series.c - jobs and tasks in periods: job_series.csv, task_series.csv and traffic_series.csv.
 *
 * A row is the difference of what tasks.csv would say at the two ends of the period; of a job, the sum over
 * its tasks. What a task had at the end of the last period is kept by job and task.
 */
#include "run/tasks/system.h"

#include <stdlib.h>

enum { COMPUTE, WAIT, SEND_WAIT, MESSAGES_SENT, BYTES_SENT, MESSAGES_RECEIVED, BYTES_RECEIVED, COUNTS };

static const char *const count_names[COUNTS] = {"compute_ps",    "wait_ps",    "send_wait_ps",
                                                "messages_sent", "bytes_sent", "messages_received",
                                                "bytes_received"};

/* Totals of a task at the end of the last period. */
struct last {
    uint64_t key; /* 1 + (job << 32 | task): 0 is free */
    uint64_t count[COUNTS];
};

struct task_series {
    struct stats_series *jobs, *tasks, *traffic; /* NULL: not wanted */
    struct ker_table last;
};

struct row {
    const struct task_system *system;
    ker_time at;
    uint32_t job, task;
    uint64_t count[COUNTS];
};

static const struct ker_table_kind last_kind = KER_TABLE_U64(struct last);

static struct last *last_get(struct task_series *s, uint64_t key)
{
    bool is_new;
    struct last wanted = {.key = key + 1}, *l = ker_table_add(&last_kind, &s->last, &wanted, &is_new);
    l->key = wanted.key;
    return l;
}

/* ---- columns ---- */

static const char *job_text(const void *system, uint32_t job)
{
    return task_jobs_get(((const struct task_system *)system)->jobs, job)->name;
}

/* clang-format off */
#define COUNT_COLUMNS(COLUMN) \
    COLUMN(compute_ps, "ps", U64, SUM, row->count[COMPUTE], "time spent computing in the period") \
    COLUMN(wait_ps, "ps", U64, SUM, row->count[WAIT], "time blocked in all MPI calls but blocking sends") \
    COLUMN(send_wait_ps, "ps", U64, SUM, row->count[SEND_WAIT], "time blocked in blocking sends") \
    COLUMN(messages_sent, "messages", U64, SUM, row->count[MESSAGES_SENT], \
           "messages of the application sent, those inside collectives included") \
    COLUMN(bytes_sent, "bytes", U64, SUM, row->count[BYTES_SENT], "their payload") \
    COLUMN(messages_received, "messages", U64, SUM, row->count[MESSAGES_RECEIVED], "the same, received") \
    COLUMN(bytes_received, "bytes", U64, SUM, row->count[BYTES_RECEIVED], "their payload")
#define JOB_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period") \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COUNT_COLUMNS(COLUMN)
#define TASK_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period") \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(task, "", U32, SAME, row->task, "the task's number in it (its rank in MPI_COMM_WORLD)") \
    COUNT_COLUMNS(COLUMN)
/* clang-format on */

static uint64_t row_key_task(const void *from)
{
    const struct row *row = from;
    return (uint64_t)row->job << 32 | row->task;
}

static uint64_t job_key(const void *row)
{
    return ((const struct row *)row)->job;
}

STATS_SCHEMA(task_job_series_schema, struct row, JOB_COLUMNS, job_key, "job_series",
             "One row for each job and period in which its tasks have done something: the sums over them.")
STATS_SCHEMA(task_task_series_schema, struct row, TASK_COLUMNS, row_key_task, "task_series",
             "One row for each task and period in which it has done something, by period, job and task.")

/* ---- messages by kind ---- */

struct sent_row {
    ker_time at;
    uint32_t job, place; /* of struct task_mpi_sent; from TASK_SENT on: point to point and collectives */
    struct task_mpi_sent sent;
};

static const char *kind_text(const void *system, uint32_t kind)
{
    static const char *const names[] = {"point_to_point", "collective", "one_sided", "balancing", "both"};
    return names[kind];
}

/* clang-format off */
#define SENT_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period") \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = job_text) \
    COLUMN(kind, "", TEXT, SAME, row->place / 2, \
           "`point_to_point`, `collective`, `one_sided`, or `balancing` of message-driven programs; " \
           "`both`: point to point and collectives together, which the other rows have, too", \
           .text = kind_text, .text_bytes = 16) \
    COLUMN(leaves_node, "", U8, SAME, row->place % 2, "1: to another node, 0: inside a node") \
    COLUMN(messages, "messages", U64, SUM, row->sent.messages, \
           "messages of the application that were sent in the period, those of its collectives included") \
    COLUMN(bytes, "bytes", U64, SUM, row->sent.bytes, "their payload") \
    COLUMN(size_mean_bytes, "bytes", MEAN, SUM, row->sent.bytes, "their mean size, rounded", \
           .by = "messages") \
    COLUMN(size_square_mean, "bytes^2", MEAN, SUM, row->sent.squares, \
           "mean of the squares of their sizes, rounded: for the deviation of several rows together", \
           .by = "messages") \
    COLUMN(size_deviation_bytes, "bytes", DEVIATION, SUM, row->sent.squares, \
           "the deviation of their sizes, of the population, rounded", .by = "messages", .of = "bytes")
/* clang-format on */

static uint64_t sent_key(const void *from)
{
    const struct sent_row *row = from;
    return (uint64_t)row->job << 32 | row->place;
}

STATS_SCHEMA(task_traffic_series_schema, struct sent_row, SENT_COLUMNS, sent_key, "traffic_series",
             "One row for each job, kind of message and period in which there were such messages.")

/* What a reader of rounded deviations could not make of them. */
static void both_add(struct stats_table *table, ker_time at, uint32_t job, const struct task_mpi_sent *sent)
{
    for (uint32_t leaves = 0; leaves < 2; leaves++) {
        const struct task_mpi_sent *a = &sent[2 * TASK_SENT_POINT_TO_POINT + leaves],
                                   *b = &sent[2 * TASK_SENT_COLLECTIVE + leaves];
        struct task_mpi_sent both = {a->messages + b->messages, a->bytes + b->bytes, a->squares + b->squares};
        if (both.messages)
            stats_table_add(table, &(struct sent_row){at, job, TASK_SENT + leaves, both});
    }
}

static void sent_add(struct task_system *system, ker_time at)
{
    struct stats_table *table = system->series ? stats_series_rows(system->series->traffic) : NULL;
    for (uint32_t job = 0; table && job < task_jobs_count(system->jobs); job++) {
        struct task_mpi_sent *sent = task_mpi_sent(system->mpi, job);
        both_add(table, at, job, sent);
        for (uint32_t i = 0; i < TASK_SENT; i++) {
            if (sent[i].messages)
                stats_table_add(table, &(struct sent_row){at, job, i, sent[i]});
            sent[i] = (struct task_mpi_sent){0};
        }
    }
}

/* Of the period that has begun. Loading adds. */
void task_sent_state(void *context, struct ker_chunk *c)
{
    struct task_system *system = context;
    uint32_t jobs = task_jobs_count(system->jobs);
    bool there = ker_chunk_bool(c, system->mpi && task_mpi_sent(system->mpi, 0));
    c->bad |= there && !system->mpi;
    if (!there || c->bad)
        return;
    task_mpi_sent_collect(system->mpi, jobs);
    ker_chunk_same(c, jobs);
    for (uint32_t i = 0; i < jobs * TASK_SENT && !c->bad; i++) {
        struct task_mpi_sent *sent = &task_mpi_sent(system->mpi, 0)[i], one = *sent;
        KER_CHUNK(c, one);
        if (!c->loads)
            continue;
        sent->messages += one.messages;
        sent->bytes += one.bytes;
        sent->squares += one.squares;
    }
}

/* ---- periods ---- */

static struct task_series *series_get(struct task_system *system)
{
    if (!system->series)
        system->series = ker_alloc(sizeof *system->series);
    return system->series;
}

void task_series_free(struct task_series *s)
{
    if (s)
        ker_table_release(&s->last);
    free(s);
}

struct task_waits_cost task_system_waits_cost(const struct task_system *system)
{
    struct task_waits_cost cost = {0};
    if (!system->mpi || !task_mpi_waits_split(system->mpi))
        return cost;
    for (uint32_t i = 0; i < task_jobs_count(system->jobs); i++)
        cost.tasks += task_jobs_get(system->jobs, i)->tasks;
    task_mpi_waits_bytes(&cost.task, &cost.function, &cost.octave, &cost.request);
    return cost;
}

void task_system_series_want(struct task_system *system, const struct ker_config *config,
                             struct stats_series_files *files)
{
    uint64_t jobs = task_jobs_count(system->jobs), tasks = 0;
    if (jobs == 0)
        return;
    for (uint32_t i = 0; i < jobs; i++)
        tasks += task_jobs_get(system->jobs, i)->tasks;
    task_matrix_want(system->matrix, files);
    system->calls = task_call_series_want(system, config, files);
    struct task_series *s = series_get(system);
    if (stats_collects_periods(config, "output.series.jobs"))
        s->jobs = stats_series_want(files, &task_job_series_schema, system, jobs);
    if (stats_collects_periods(config, "output.series.tasks"))
        s->tasks = stats_series_want(files, &task_task_series_schema, system, tasks);
    if (s->jobs || s->tasks)
        stats_series_memory(files, 2 * tasks * sizeof(struct last)); /* a hash table is half empty */
    if (!stats_collects_periods(config, "output.series.traffic"))
        return;
    s->traffic = stats_series_want(files, &task_traffic_series_schema, system, jobs * (TASK_SENT + 2));
    task_mpi_sent_collect(system->mpi, task_jobs_count(system->jobs));
}

static void counts_take(struct row *row, const struct stats_table *totals, size_t at, const int *column)
{
    for (int i = 0; i < COUNTS; i++)
        row->count[i] = (uint64_t)stats_table_cell(totals, at, column[i]);
}

/* What the task has done since the last period; false: nothing. */
static bool row_make(struct task_series *s, struct row *row, const struct stats_table *totals, size_t at,
                     const int *column)
{
    uint64_t key = stats_table_key(totals, at), any = 0;
    struct last *last = last_get(s, key);
    row->job = (uint32_t)(key >> 32);
    row->task = (uint32_t)key;
    counts_take(row, totals, at, column);
    stats_series_since("task_series", row->count, last->count, COUNTS);
    for (int i = 0; i < COUNTS; i++)
        any |= row->count[i];
    return any != 0;
}

/* What the tasks that live here have done until `at` (0: of what is over). */
static struct stats_table *totals_make(const struct task_system *system, ker_time at, int column[COUNTS])
{
    struct task_mpi_outside outside = task_mpi_outside_make(system->jobs);
    struct task_mpi_names names = {&outside, NULL};
    bool *done = ker_alloc((task_jobs_count(system->jobs) + 1) * sizeof *done); /* finish is not looked at */
    struct stats_table *totals = task_models_results(system, &names, done, at);
    stats_table_find_all(totals, count_names, COUNTS, column);
    free(done);
    return totals;
}

static void rows_make(struct task_system *system, ker_time at, struct stats_table *jobs,
                      struct stats_table *tasks)
{
    int column[COUNTS];
    struct stats_table *totals = totals_make(system, at, column);
    struct row row = {.system = system, .at = at};
    for (size_t i = 0; i < stats_table_rows(totals); i++)
        if (row_make(system->series, &row, totals, i, column)) {
            if (jobs)
                stats_table_add(jobs, &row);
            if (tasks)
                stats_table_add(tasks, &row);
        }
    stats_table_free(totals);
}

void task_series_cut(struct task_system *system, uint32_t job)
{
    int column[COUNTS];
    struct row row;
    if (!system->series)
        return;
    struct stats_table *totals = totals_make(system, 0, column);
    for (size_t i = 0; i < stats_table_rows(totals); i++) {
        uint64_t key = stats_table_key(totals, i);
        counts_take(&row, totals, i, column);
        if (key >> 32 == job)
            stats_series_cut(last_get(system->series, key)->count, row.count, COUNTS);
    }
    stats_table_free(totals);
}

void task_system_series_add(struct task_system *system, ker_time at)
{
    const struct task_series *s = system->series;
    task_matrix_period(system->matrix, at);
    task_call_series_add(system->calls, at);
    sent_add(system, at);
    if (s && (s->jobs || s->tasks))
        rows_make(system, at, stats_series_rows(s->jobs), stats_series_rows(s->tasks));
}

/* ---- saved state ---- */

/* Of the tasks that live here: what has been loaded of others is out of date. */
void task_series_save(struct task_system *system, struct ker_state_writer *writer)
{
    struct ker_chunk *c = ker_state_begin(writer, "task_series", 1, 0);
    struct task_series *s = system->series;
    int column[COUNTS];
    struct stats_table *totals = s && (s->jobs || s->tasks) ? totals_make(system, 0, column) : NULL;
    for (size_t i = 0; totals && i < stats_table_rows(totals); i++)
        KER_CHUNK(c, *last_get(s, stats_table_key(totals, i)));
    stats_table_free(totals);
    ker_state_end(writer);
}

/* Of all tasks: those that live elsewhere are never asked for. */
void task_series_load(void *context, struct ker_chunk *c)
{
    struct task_system *system = context;
    struct last one = {0};
    while (c->at < c->bytes && !c->bad) {
        KER_CHUNK(c, one);
        c->bad |= one.key == 0;
        if (!c->bad)
            *last_get(series_get(system), one.key - 1) = one;
    }
}
