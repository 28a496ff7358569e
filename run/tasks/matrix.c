/* matrix.c - which tasks of a job send to which: task_matrix.csv and task_matrix_series.csv.
 *
 * Tasks of all jobs are numbered one job after the other, so that a matrix of one kind holds them all.
 */
#include "run/tasks/system.h"

#include "tasks/loggops/loggops.h"

#include <stdlib.h>

struct task_matrix {
    const struct task_jobs *jobs;
    uint32_t *first; /* number of each job's first task; behind the last job: of all tasks */
    struct stats_matrix *pairs;
};

/* ---- tables; the context is the matrix ---- */

static uint32_t job_of(const struct task_matrix *m, uint32_t number)
{
    return KER_BISECT(i, 1, task_jobs_count(m->jobs), m->first[i] <= number) - 1;
}

static const char *job_text(const void *matrix, uint32_t number)
{
    const struct task_matrix *m = matrix;
    return task_jobs_get(m->jobs, job_of(m, number))->name;
}

static uint32_t task_of(const void *matrix, uint32_t number)
{
    const struct task_matrix *m = matrix;
    return number - m->first[job_of(m, number)];
}

/* clang-format off */
#define TASK_COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->from, "the job's name", .text = job_text) \
    COLUMN(from_task, "", U32, SAME, task_of(row->context, row->from), "the sending task's number in it") \
    COLUMN(to_task, "", U32, SAME, task_of(row->context, row->to), "the receiving task's number in it") \
    STATS_MATRIX_COUNTS(COLUMN)
#define TASK_SERIES(COLUMN) STATS_MATRIX_TIME(COLUMN) TASK_COLUMNS(COLUMN)

STATS_MATRIX_SCHEMA(task, "task_matrix",
                    "One row per pair of tasks of a job that talked, sorted: messages of the application, "
                    "those of its collectives and inside a node included.", TASK_COLUMNS)
STATS_MATRIX_SCHEMA(task_series, "task_matrix_series",
                    "One row per period and pair of tasks of which messages were sent in it.", TASK_SERIES)
/* clang-format on */

static const struct stats_matrix_kind kind = {&stats_matrix_task_schema, &stats_matrix_task_series_schema};

/* ---- of the system ---- */

enum ker_status task_matrix_read(struct task_system *system, const struct ker_config *config,
                                 struct ker_error *error)
{
    bool total, periods;
    unsigned levels = stats_matrix_wanted(config, &total, &periods);
    if ((total || periods) && !levels)
        return ker_config_fail(config, error, "output.matrix_levels",
                               "is empty: name a level, or leave out output.matrix and output.series.matrix");
    if (!(levels >> STATS_MATRIX_TASK & 1))
        return KER_OK;
    if (task_jobs_count(system->jobs) == 0)
        return ker_config_fail(config, error, "output.matrix_levels", "has \"task\", but there are no jobs");
    uint32_t jobs = task_jobs_count(system->jobs);
    struct task_matrix *m = system->matrix = ker_alloc(sizeof *m);
    m->jobs = system->jobs;
    m->first = ker_alloc((jobs + 1u) * sizeof *m->first);
    for (uint32_t i = 0; i < jobs; i++)
        m->first[i + 1] = m->first[i] + task_jobs_get(system->jobs, i)->tasks;
    m->pairs = stats_matrix_new(&kind, m, total, periods);
    if (system->mpi)
        task_mpi_pairs_collect(system->mpi, m->pairs, m->first);
    return KER_OK;
}

void task_matrix_beside(struct task_matrix *m, struct loggops_system *loggops)
{
    if (m)
        loggops_pairs_into(loggops, m->pairs);
}

void task_matrix_free(struct task_matrix *m)
{
    if (!m)
        return;
    stats_matrix_free(m->pairs);
    free(m->first);
    free(m);
}

void task_matrix_want(struct task_matrix *m, struct stats_series_files *files)
{
    uint64_t rows = 0;
    if (!m)
        return;
    for (uint32_t i = 0; i < task_jobs_count(m->jobs); i++) {
        uint64_t tasks = task_jobs_get(m->jobs, i)->tasks;
        rows += tasks * tasks;
    }
    stats_matrix_want(m->pairs, files, rows);
}

void task_matrix_period(struct task_matrix *m, ker_time at)
{
    if (m)
        stats_matrix_period(m->pairs, at);
}

enum ker_status task_matrix_write(struct task_matrix *m, struct ker_comm *comm,
                                  const struct stats_folder *folder, struct ker_error *error)
{
    return m ? stats_matrix_write(m->pairs, comm, folder, error) : KER_OK;
}

/* ---- saved state ---- */

void task_matrix_save(const struct task_matrix *m, struct ker_state_writer *writer)
{
    if (m)
        stats_matrix_save(m->pairs, writer, "task_matrix", STATS_MATRIX_TASK);
}

void task_matrix_load(void *context, struct ker_chunk *c)
{
    struct task_system *system = context;
    uint8_t level = 0;
    KER_CHUNK(c, level);
    c->bad |= level != STATS_MATRIX_TASK;
    if (system->matrix && !c->bad) {
        c->bad |= c->id >= system->matrix->first[task_jobs_count(system->jobs)];
        if (!c->bad)
            stats_matrix_load(system->matrix->pairs, c);
    }
    c->at = c->bytes;
}
