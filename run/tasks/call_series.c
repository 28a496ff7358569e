/* call_series.c - MPI functions and communicators in periods: function_series.csv, communicator_series.csv.
 *
 * A row is the difference of what functions.csv would say at the two ends of the period, summed over the
 * tasks of a job. Tasks keep what they had at the end of the last one. Functions are numbered again for each
 * period, in the order of their names over all ranks.
 */
#include "run/tasks/system.h"
#include "traces/traces.h"

#include <stdlib.h>

#define FUNCTIONS_MOST 128 /* of a job, as costs are reckoned: more than programs call */

struct task_call_series {
    const struct task_system *system;
    struct stats_series *functions, *communicators; /* NULL: not wanted */
    struct task_names names;                        /* of the period's functions */
    struct called {
        struct task_mpi_called *all;
        size_t count, room;
    } called;
};

struct row {
    ker_time at;
    uint32_t function;
    struct task_mpi_called called;
};

static const char *job_text(const void *context, uint32_t job)
{
    return task_jobs_get(((const struct task_call_series *)context)->system->jobs, job)->name;
}

static const char *function_text(const void *context, uint32_t function)
{
    return ((const struct task_call_series *)context)->names.name[function];
}

/* clang-format off */
#define COUNT_COLUMNS(COLUMN) \
    COLUMN(calls, "calls", U64, SUM, row->called.calls, "calls that began in the period") \
    COLUMN(bytes, "bytes", U64, SUM, row->called.bytes, "their arguments' bytes, as in functions.csv") \
    COLUMN(simulated_ps, "ps", U64, SUM, (uint64_t)row->called.simulated, \
           "time that tasks spent in calls, those that went on before and behind included") \
    COLUMN(wait_ps, "ps", U64, SUM, (uint64_t)row->called.wait, "of that: blocked")
#define FUNCTION_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, (uint64_t)row->at, "end of the period") \
    COLUMN(job, "", TEXT, SAME, row->called.job, "the job's name", .text = job_text) \
    COLUMN(function, "", TEXT, SAME, row->function, "the MPI function", .text = function_text) \
    COUNT_COLUMNS(COLUMN)
#define COMMUNICATOR_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, (uint64_t)row->at, "end of the period") \
    COLUMN(job, "", TEXT, SAME, row->called.job, "the job's name", .text = job_text) \
    COLUMN(communicator, "", U32, SAME, (uint32_t)row->called.comm, \
           "its number in the job: 0 is MPI_COMM_WORLD, the others in the order of the trace") \
    COUNT_COLUMNS(COLUMN)
/* clang-format on */

static uint64_t function_key(const void *from)
{
    const struct row *row = from;
    return (uint64_t)row->called.job << 32 | row->function;
}

static uint64_t communicator_key(const void *from)
{
    const struct row *row = from;
    return (uint64_t)row->called.job << 32 | (uint32_t)row->called.comm;
}

STATS_SCHEMA(task_function_series_schema, struct row, FUNCTION_COLUMNS, function_key, "function_series",
             "One row for each job, MPI function and period in which tasks have called it, or were in it.")
STATS_SCHEMA(task_communicator_series_schema, struct row, COMMUNICATOR_COLUMNS, communicator_key,
             "communicator_series",
             "One row for each job, communicator and period in which tasks have called a function that names "
             "it, or were in one.")

/* ---- */

enum ker_status task_call_series_check(const struct ker_config *config, struct ker_error *error)
{
    const char *key = task_calls_series(config);
    if (!key || task_calls_wanted(config, true))
        return KER_OK;
    return ker_config_fail(config, error, key,
                           "is \"periods\", but output.calls is false: calls are not counted");
}

static uint64_t communicators(const struct task_job *job)
{
    int32_t count = 1;
    if (job->program && job->class->comms)
        job->class->comms(job->program, &count);
    return (uint64_t)count;
}

struct task_call_series *task_call_series_want(const struct task_system *system,
                                               const struct ker_config *config,
                                               struct stats_series_files *files)
{
    uint64_t jobs = task_jobs_count(system->jobs), comms = 0;
    if (!task_calls_series(config))
        return NULL;
    struct task_call_series *s = ker_alloc(sizeof *s);
    s->system = system;
    for (uint32_t i = 0; i < jobs; i++)
        comms += communicators(task_jobs_get(system->jobs, i));
    if (stats_collects_periods(config, "output.series.functions"))
        s->functions = stats_series_want(files, &task_function_series_schema, s, jobs * FUNCTIONS_MOST);
    if (stats_collects_periods(config, "output.series.communicators"))
        s->communicators = stats_series_want(files, &task_communicator_series_schema, s, comms);
    return s;
}

void task_call_series_free(struct task_call_series *s)
{
    if (!s)
        return;
    free(s->called.all);
    task_names_release(&s->names);
    free(s);
}

static void called_add(void *context, const struct task_mpi_called *called)
{
    struct task_call_series *s = context;
    if (!called->calls && !called->simulated && !called->wait)
        return;
    *KER_PUSH(s->called.all, s->called.count, s->called.room) = *called;
    task_names_add(&s->names, called->function);
}

static void rows_add(const struct task_call_series *s, struct stats_series *series, bool by_comm, ker_time at)
{
    struct stats_table *table = stats_series_rows(series);
    for (size_t i = 0; table && i < s->called.count; i++) {
        struct row row = {.at = at, .called = s->called.all[i]};
        row.function = task_names_place(&s->names, row.called.function);
        if (!by_comm || row.called.comm >= 0)
            stats_table_add(table, &row);
    }
}

void task_call_series_add(struct task_call_series *s, ker_time at)
{
    if (!s)
        return;
    s->called.count = 0;
    task_names_release(&s->names);
    s->names = (struct task_names){0};
    task_mpi_called(s->system->mpi, at, called_add, s);
    task_names_share(&s->names, stats_series_comm(s->functions ? s->functions : s->communicators));
    rows_add(s, s->functions, false, at);
    rows_add(s, s->communicators, true, at);
}
