/* profile.c - the tables of calls: traced and simulated time side by side, of each function that a
 * task has called (calls.csv), and of each function over the tasks of a job (functions.csv).
 *
 * What was traced is known to the program, what was simulated to the model; they meet by the name of
 * the function. Functions are numbered in the order of their names over all ranks, so that rows have
 * the same order everywhere. Rows are made task after task and nobody holds them all; the sums of a
 * job are shown when its last row has passed.
 */
#include "tasks/mpi/state.h"

#include <stdlib.h>
#include <string.h>

struct names {
    struct task_names of;
    uint32_t jobs;
    uint64_t *first; /* tasks of the jobs before each */
    const struct task_mpi_outside *outside;
};

struct row {
    uint64_t key;
    uint32_t job, task, function;
    uint64_t tasks; /* of a job that have called it */
    uint64_t calls, bytes;
    ker_time time_ns; /* KER_TIME_MAX: nothing was traced */
    ker_time simulated, wait;
};

static uint64_t nanoseconds(ker_time time)
{
    return ((uint64_t)time + 500) / 1000;
}

static const char *function_text(const void *context, uint32_t function)
{
    return ((const struct names *)context)->of.name[function];
}

static const char *job_text(const void *context, uint32_t job)
{
    const struct task_mpi_outside *outside = ((const struct names *)context)->outside;
    return outside->job(outside->jobs, job)->name;
}

static bool several_jobs(const void *context)
{
    return ((const struct names *)context)->jobs > 1;
}

/* clang-format off */
#define COUNTED_COLUMNS(COLUMN) \
    COLUMN(calls, "", U64, SUM, row->calls, \
           "how often it has been called; of traces calls that are no operations of the model, too", \
           .fixed_by = "time_ns") \
    COLUMN(bytes, "bytes", U64, SUM, row->bytes, \
           "their payload: of the send side, and where a call has none, of the receive side", \
           .fixed_by = "time_ns") \
    COLUMN(time_ns, "ns", TIME, SAME, row->time_ns, \
           "time in them on the traced machine; empty for generators") \
    COLUMN(simulated_ns, "ns", U64, SUM, nanoseconds(row->simulated), \
           "time in them in the simulation, overheads included") \
    COLUMN(wait_ns, "ns", U64, SUM, nanoseconds(row->wait), "of that, time in which the task was blocked") \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name; only where there are several jobs", \
           .text = job_text, .wanted = several_jobs)
#define CALL_COLUMNS(COLUMN) \
    COLUMN(task, "", U32, SAME, row->task, "the task's number (its rank in MPI_COMM_WORLD)") \
    COLUMN(function, "", TEXT, SAME, row->function, "the MPI function", .text = function_text) \
    COUNTED_COLUMNS(COLUMN)
#define FUNCTION_COLUMNS(COLUMN) \
    COLUMN(function, "", TEXT, SAME, row->function, "the MPI function", .text = function_text) \
    COLUMN(tasks, "", U64, SUM, row->tasks, "how many tasks have called it", .fixed = true) \
    COUNTED_COLUMNS(COLUMN)
/* clang-format on */

static uint64_t row_key(const void *row)
{
    return ((const struct row *)row)->key;
}

STATS_SCHEMA(task_calls_schema, struct row, CALL_COLUMNS, row_key, "calls",
             "One row per function that a task has called, by job, task and function.")
STATS_SCHEMA(
    task_functions_schema, struct row, FUNCTION_COLUMNS, row_key, "functions",
    "One row per function that tasks of a job have called: the sums over the tasks, by job and function.")

/* ---- names ---- */

static bool traced_call(const struct task_job *job, const struct task_state *task, uint32_t index,
                        struct task_call *call)
{
    return job->class->call && job->class->call(job->program, task->own, index, call);
}

static void names_of_task(struct names *names, const struct task_mpi *mpi, const struct task_state *task)
{
    uint32_t count;
    struct task_counted *own = task_calls_sorted(task, 0, &count);
    struct task_call call;
    for (uint32_t i = 0; i < count; i++)
        task_names_add(&names->of, own[i].function);
    for (uint32_t i = 0; traced_call(task_job_of(mpi, task), task, i, &call); i++)
        task_names_add(&names->of, call.function);
    free(own);
}

static void names_make(struct names *names, const struct task_mpi *mpi, uint32_t jobs, struct ker_comm *comm)
{
    *names = (struct names){.jobs = jobs, .outside = &mpi->outside};
    names->first = ker_alloc((size_t)jobs * sizeof *names->first);
    for (uint32_t job = 1; job < jobs; job++)
        names->first[job] = names->first[job - 1] + mpi->outside.job(mpi->outside.jobs, job - 1)->tasks;
    for (uint32_t i = 0; i < mpi->tasks; i++)
        if (mpi->task[i].calls)
            names_of_task(names, mpi, &mpi->task[i]);
    task_names_share(&names->of, comm);
}

static void names_release(struct names *names)
{
    task_names_release(&names->of);
    free(names->first);
}

/* ---- rows ---- */

struct maker {
    const struct task_mpi *mpi;
    const struct names *names;
    ker_time end;
    const struct task_state **task; /* whose calls are counted, by (job, task) */
    uint32_t tasks, at;
    struct row *row; /* by function */
};

static void task_rows_fill(struct maker *m, const struct task_state *task)
{
    const struct task_job *job = task_job_of(m->mpi, task);
    uint32_t count;
    struct task_counted *own = task_calls_sorted(task, m->end, &count);
    struct task_call call;
    uint64_t passes = job->restart || job->repetitions > 1 ? task_passes(job, task) + !task_is_done(task)
                                                           : 1; /* that have begun */
    memset(m->row, 0, m->names->of.count * sizeof *m->row);
    for (uint32_t i = 0; i < count; i++) {
        struct row *row = &m->row[task_names_place(&m->names->of, own[i].function)];
        *row = (struct row){.tasks = 1,
                            .calls = own[i].calls,
                            .bytes = own[i].bytes,
                            .time_ns = KER_TIME_MAX,
                            .simulated = own[i].simulated,
                            .wait = own[i].wait};
    }
    for (uint32_t i = 0; traced_call(job, task, i, &call); i++) {
        struct row *row = &m->row[task_names_place(&m->names->of, call.function)];
        row->tasks = 1;
        row->calls = passes * call.calls;
        row->bytes = passes * call.bytes;
        row->time_ns = (ker_time)(passes * call.time_ns);
    }
    free(own);
}

static bool rows_next(void *context, struct stats_table *table)
{
    struct maker *m = context;
    if (m->at == m->tasks)
        return false;
    const struct task_state *task = m->task[m->at++];
    task_rows_fill(m, task);
    for (uint32_t i = 0; i < m->names->of.count; i++) {
        struct row *row = &m->row[i];
        row->job = task->job;
        row->task = task->task;
        row->function = i;
        row->key = (m->names->first[task->job] + task->task) * m->names->of.count + i;
        if (row->tasks)
            stats_table_add(table, row);
    }
    return true;
}

KER_ORDER_AT(task_compare, struct task_state, job, task)

static void maker_init(struct maker *m, const struct task_mpi *mpi, const struct names *names, ker_time end)
{
    *m = (struct maker){.mpi = mpi, .names = names, .end = end};
    m->task = ker_alloc(((size_t)mpi->tasks + 1) * sizeof *m->task);
    m->row = ker_alloc(((size_t)names->of.count + 1) * sizeof *m->row);
    for (uint32_t i = 0; i < mpi->tasks; i++)
        if (mpi->task[i].calls)
            m->task[m->tasks++] = &mpi->task[i];
    if (m->tasks)
        qsort(m->task, m->tasks, sizeof *m->task, task_compare);
}

/* ---- rank 0 ---- */

struct shown {
    struct stats_writer *writer; /* of calls.csv; NULL: no file */
    struct stats_table *functions;
    const struct names *names;
    uint64_t tasks_before; /* of the job after the one that is summed up */
    struct row *sum;       /* by function */
    int column[5];
};

static void job_sums_show(struct shown *s)
{
    for (uint32_t i = 0; i < s->names->of.count; i++)
        if (s->sum[i].tasks)
            stats_table_add(s->functions, &s->sum[i]);
    memset(s->sum, 0, s->names->of.count * sizeof *s->sum);
}

/* Rows come job after job. Cells of the table hold nanoseconds, which are summed as such. */
static void call_show(void *context, const struct stats_table *table, size_t row)
{
    struct shown *s = context;
    uint64_t key = stats_table_key(table, row), task = key / s->names->of.count, cell[5];
    uint32_t function = (uint32_t)(key % s->names->of.count),
             job = KER_BISECT(i, 1, s->names->jobs, s->names->first[i] <= task) - 1;
    for (int i = 0; i < 5; i++)
        cell[i] = (uint64_t)stats_table_cell(table, row, s->column[i]);
    if (task >= s->tasks_before) {
        job_sums_show(s);
        s->tasks_before = job + 1 < s->names->jobs ? s->names->first[job + 1] : UINT64_MAX;
    }
    struct row *sum = &s->sum[function];
    if (sum->tasks == 0)
        *sum = (struct row){
            .key = (uint64_t)job * s->names->of.count + function, .job = job, .function = function};
    sum->tasks++;
    sum->calls += cell[0];
    sum->bytes += cell[1];
    sum->time_ns = (ker_time)cell[2] == KER_TIME_MAX ? KER_TIME_MAX : sum->time_ns + (ker_time)cell[2];
    sum->simulated += (ker_time)(cell[3] * 1000);
    sum->wait += (ker_time)(cell[4] * 1000);
    stats_writer_row(s->writer, table, row);
}

static enum ker_status shown_open(struct shown *s, const struct names *names, const struct stats_table *table,
                                  const struct stats_folder *folder, const char *key, struct ker_error *error)
{
    static const char *const columns[] = {"calls", "bytes", "time_ns", "simulated_ns", "wait_ns"};
    *s = (struct shown){.names = names};
    s->sum = ker_alloc(((size_t)names->of.count + 1) * sizeof *s->sum);
    s->functions = stats_table_new(&task_functions_schema, names, 0);
    for (int i = 0; i < 5; i++)
        s->column[i] = stats_table_find(table, columns[i], false);
    s->writer = stats_writer_open(table, folder, key, error);
    return s->writer ? KER_OK : KER_RUN_FAILED;
}

static enum ker_status shown_close(struct shown *s, const struct stats_folder *folder,
                                   struct ker_error *error)
{
    job_sums_show(s);
    enum ker_status status = stats_writer_close(s->writer, error),
                    written = stats_table_write(s->functions, folder, error);
    stats_table_free(s->functions);
    free(s->sum);
    return status ?: written;
}

enum ker_status task_mpi_calls(const struct task_mpi *mpi, uint32_t jobs, struct ker_comm *comm, ker_time end,
                               const struct stats_folder *folder, const char *key, struct ker_error *error)
{
    struct names names;
    struct maker maker;
    struct shown shown = {0};
    enum ker_status status = KER_OK;
    bool control = ker_comm_rank(comm) == 0;
    names_make(&names, mpi, jobs, comm);
    maker_init(&maker, mpi, &names, end);
    struct stats_table *table = stats_table_new(&task_calls_schema, &names, 0);
    if (control)
        status = shown_open(&shown, &names, table, folder, key, error);
    stats_table_stream(table, comm, &(struct stats_rows){rows_next, &maker},
                       &(struct stats_visitor){call_show, &shown});
    enum ker_status closed = control ? shown_close(&shown, folder, error) : KER_OK;
    stats_table_free(table);
    free(maker.task);
    free(maker.row);
    names_release(&names);
    return status ?: closed;
}

void task_mpi_called(struct task_mpi *mpi, ker_time at,
                     void (*each)(void *context, const struct task_mpi_called *), void *context)
{
    for (uint32_t i = 0; i < mpi->tasks; i++) {
        uint32_t count = 0;
        struct task_counted *all = mpi->task[i].calls ? task_calls_period(&mpi->task[i], at, &count) : NULL;
        for (uint32_t k = 0; k < count; k++)
            each(context, &(struct task_mpi_called){.job = mpi->task[i].job,
                                                    .comm = all[k].comm,
                                                    .function = all[k].function,
                                                    .calls = all[k].calls,
                                                    .bytes = all[k].bytes,
                                                    .simulated = all[k].simulated,
                                                    .wait = all[k].wait});
        free(all);
    }
}
