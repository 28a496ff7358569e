/* report.c - what jobs have done: which of them cannot continue, their results, and who waits for whom.
 *
 * All of it is summed or gathered over the ranks, in the order of jobs and tasks. Invariant: a job in which
 * nothing is open and tasks are unfinished stands still for ever.
 */
#include "run/tasks/system.h"

#include <stdlib.h>

#define WAITING_ROWS 40

/* Open, unfinished and aborted of every job, summed over the ranks; malloc'ed. */
enum { OPEN, UNFINISHED, ABORTED, COUNTS };
static uint64_t *jobs_counts(const struct task_system *system, struct ker_comm *comm)
{
    uint32_t jobs = task_jobs_count(system->jobs);
    uint64_t *v = ker_alloc(COUNTS * (size_t)jobs * sizeof *v);
    for (uint32_t job = 0; job < jobs; job++) {
        int64_t open;
        task_models_job(system, job, &open, &v[COUNTS * job + UNFINISHED]);
        v[COUNTS * job + OPEN] = (uint64_t)open; /* modulo 2^64 the sum is exact */
        v[COUNTS * job + ABORTED] = task_mpi_aborted(system->mpi, job);
    }
    ker_comm_sum_u64(comm, v, (int)(COUNTS * jobs));
    return v;
}

bool task_system_dependent(const struct task_system *system)
{
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        if (task_jobs_get(system->jobs, job)->held)
            return true;
    return false;
}

/* By job: are those ended that it waits for, and is its time near? Malloc'ed. */
static bool *jobs_ready(const struct task_system *system, struct ker_comm *comm, const uint64_t *waiting,
                        ker_time until)
{
    uint32_t jobs = task_jobs_count(system->jobs);
    uint64_t *counts = jobs_counts(system, comm);
    bool *ready = ker_alloc(jobs * sizeof *ready);
    for (uint32_t job = 0; job < jobs; job++) {
        const struct task_job *own = task_jobs_get(system->jobs, job);
        ready[job] = waiting[job] > 0 && own->start <= until;
        for (uint32_t i = 0; i < own->afters; i++)
            ready[job] &= counts[COUNTS * own->after[i] + UNFINISHED] == 0;
    }
    free(counts);
    return ready;
}

bool task_system_release(struct task_system *system, struct ker_comm *comm, ker_time at, ker_time until)
{
    uint32_t jobs = task_jobs_count(system->jobs);
    uint64_t *waiting = ker_alloc(jobs * sizeof *waiting), any = 0;
    for (uint32_t job = 0; job < jobs; job++)
        waiting[job] = task_mpi_dependent(system->mpi, job);
    ker_comm_sum_u64(comm, waiting, jobs);
    for (uint32_t job = 0; job < jobs; job++)
        any |= waiting[job];
    bool *ready = any ? jobs_ready(system, comm, waiting, until) : NULL, released = false;
    for (uint32_t job = 0; any && job < jobs; job++) {
        if (ready[job])
            task_mpi_release(system->mpi, job, at);
        released |= ready[job];
    }
    free(ready);
    free(waiting);
    return released;
}

/* Nothing moves, and tasks wait. */
static bool stands(const uint64_t *counts)
{
    return counts[OPEN] == 0 && counts[UNFINISHED] > 0;
}

static void aborted_end(struct task_system *system, const uint64_t *counts)
{
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        if (stands(&counts[COUNTS * job]) && counts[COUNTS * job + ABORTED]) {
            task_mpi_end(system->mpi, job);
            task_series_cut(system, job);
        }
}

void task_system_end_aborted(struct task_system *system, struct ker_comm *comm)
{
    if (!system->mpi)
        return;
    uint64_t *v = jobs_counts(system, comm);
    aborted_end(system, v);
    free(v);
}

uint32_t task_system_stuck(struct task_system *system, struct ker_comm *comm)
{
    if (!system->mpi)
        return 0;
    uint32_t jobs = task_jobs_count(system->jobs), count = 0;
    uint64_t *v = jobs_counts(system, comm);
    bool *stuck = ker_alloc(jobs * sizeof *stuck);
    aborted_end(system, v);
    for (uint32_t job = 0; job < jobs; job++) {
        bool background = task_jobs_get(system->jobs, job)->background;
        stuck[job] = !background && stands(&v[COUNTS * job]) && v[COUNTS * job + ABORTED] == 0;
        count += stuck[job];
    }
    free(v);
    free(system->stuck);
    system->stuck = count ? stuck : NULL;
    if (!count)
        free(stuck);
    return count;
}

const char *task_system_conserved(const struct task_system *system, struct ker_comm *comm)
{
    if (!system->mpi)
        return NULL;
    uint64_t *v = jobs_counts(system, comm), open = 0;
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        open |= v[COUNTS * job + OPEN];
    free(v);
    return open ? "timers and messages of jobs that are still open" : NULL;
}

/* A deadlock in the background ends no run, but the traffic that was meant to be there has stopped. */
static void report_stopped(const struct task_system *system, const uint64_t *counts)
{
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        if (task_jobs_get(system->jobs, job)->background && stands(&counts[COUNTS * job]) &&
            counts[COUNTS * job + ABORTED] == 0)
            ker_warn("background job %s has deadlocked: %llu of its tasks wait for messages or partners that "
                     "never come",
                     task_jobs_get(system->jobs, job)->name,
                     (unsigned long long)counts[COUNTS * job + UNFINISHED]);
}

static ker_time times_add(ker_time a, ker_time b)
{
    return a < KER_TIME_MAX - b ? a + b : KER_TIME_MAX;
}

/* The columns of tasks.csv that jobs add up, from MESSAGES on as they are; those from STALLED on may be
 * absent. */
enum {
    JOB,
    TASK,
    FINISH,
    FINALIZE_GAP,
    POLL_GAP,
    PASSES,
    MESSAGES,
    BYTES,
    RECEIVED,
    COMPUTE,
    WAIT,
    SEND_WAIT,
    STALLED,
    OVERHEAD,
    AWAY,
    PREEMPTED,
    SYSTEM,
    COLUMNS
};
static const char *const column_names[COLUMNS] = {
    "job",           "task",        "finish_ps",         "finalize_gap_ps", "poll_gap_ps", "passes",
    "messages_sent", "bytes_sent",  "messages_received", "compute_ps",      "wait_ps",     "send_wait_ps",
    "stalled_ps",    "overhead_ps", "away_ps",           "preempted_ps",    "system_ps"};

struct job_sum {
    ker_time finish;
    ker_time poll_gap, finalize_gap, finalize_gap_max;
    uint64_t passes, lost; /* lost: messages that nobody has received, as simulated */
    unsigned __int128 of[COLUMNS];
    uint64_t compute_max;
    uint32_t compute_max_task; /* the first of them */
};

/* The columns, and the sums; on rank 0 also the file. */
struct tasks {
    int column[COLUMNS];
    struct job_sum *sum;
    struct stats_growth *growth;
    struct stats_writer *writer; /* NULL: no file */
};

static void task_show(void *context, const struct stats_table *table, size_t row)
{
    const struct tasks *t = context;
    uint64_t lost = (uint64_t)stats_table_cell(table, row, t->column[MESSAGES]) -
                    (uint64_t)stats_table_cell(table, row, t->column[RECEIVED]);
    table = stats_growth_row(t->growth, table, &row);
    uint64_t cell[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        cell[i] = t->column[i] < 0 ? 0 : (uint64_t)stats_table_cell(table, row, t->column[i]);
    struct job_sum *s = &t->sum[cell[JOB]];
    ker_time finish = (ker_time)cell[FINISH], finalize = (ker_time)cell[FINALIZE_GAP];
    for (int i = MESSAGES; i < COLUMNS; i++)
        s->of[i] += cell[i];
    s->finish = finish > s->finish ? finish : s->finish;
    s->lost += lost;
    if (cell[COMPUTE] > s->compute_max) {
        s->compute_max = cell[COMPUTE];
        s->compute_max_task = (uint32_t)cell[TASK];
    }
    s->poll_gap = times_add(s->poll_gap, (ker_time)cell[POLL_GAP]);
    s->finalize_gap = times_add(s->finalize_gap, finalize);
    s->finalize_gap_max = finalize > s->finalize_gap_max ? finalize : s->finalize_gap_max;
    s->passes = cell[PASSES] < s->passes || cell[TASK] == 0 ? cell[PASSES] : s->passes;
    stats_writer_row(t->writer, table, row);
}

/* Collective: who has ended each job, on rank 0; malloc'ed. */
static struct task_mpi_abort *aborts_gather(const struct task_system *system, struct ker_comm *comm)
{
    uint32_t jobs = task_jobs_count(system->jobs);
    struct task_mpi_abort *first = ker_alloc(jobs * sizeof *first);
    void *all;
    size_t *offset;
    task_mpi_aborts(system->mpi, first);
    ker_comm_gather(comm, first, jobs * sizeof *first, &all, &offset);
    for (int rank = 1; ker_comm_rank(comm) == 0 && rank < ker_comm_size(comm); rank++)
        for (uint32_t job = 0; job < jobs; job++)
            task_mpi_abort_join(&first[job], (const struct task_mpi_abort *)all + (size_t)rank * jobs + job);
    free(all);
    free(offset);
    return first;
}

static void report_abort(json_t *object, const struct task_job *job, const struct task_mpi_abort *abort)
{
    char when[32];
    if (!abort->there)
        return;
    ker_print_time(when, abort->time);
    json_object_set_new(object, "aborted",
                        json_pack("{s:I, s:o, s:I}", "task", (json_int_t)abort->task, "code",
                                  abort->called ? json_integer(abort->code) : json_null(), "time_ps",
                                  (json_int_t)abort->time));
    if (abort->called)
        ker_warn("job %s: task %u called MPI_Abort with %d at %s, which ended the job", job->name,
                 abort->task, (int)abort->code, when);
    else
        ker_warn("job %s: the traces of tasks end before MPI_Finalize, first that of task %u at %s",
                 job->name, abort->task, when);
}

/* Of computation over the tasks: all of them wait for the one that computes longest, in the end. */
static json_t *imbalance_json(const struct job_sum *sum, uint32_t tasks)
{
    uint64_t mean = (uint64_t)(sum->of[COMPUTE] / tasks);
    return json_pack("{s:I, s:I, s:I, s:f}", "compute_max_ps", (json_int_t)sum->compute_max,
                     "compute_max_task", (json_int_t)sum->compute_max_task, "compute_mean_ps",
                     (json_int_t)mean, "max_over_mean",
                     (double)sum->compute_max * tasks / (double)sum->of[COMPUTE]);
}

/* Of all tasks: computation, what holds it up on nodes of more than the simple model, and waiting. */
static uint64_t time_of(const struct job_sum *sum)
{
    uint64_t time = 0;
    for (int i = COMPUTE; i < COLUMNS; i++)
        time += i == OVERHEAD ? 0 : (uint64_t)sum->of[i];
    return time;
}

/* What the tasks' time is, in shares of its sum. */
static json_t *time_json(const struct job_sum *sum, bool system)
{
    static const struct {
        const char *name;
        int column;
    } part[] = {{"compute", COMPUTE},     {"stalled", STALLED}, {"overhead", OVERHEAD},   {"away", AWAY},
                {"preempted", PREEMPTED}, {"wait", WAIT},       {"send_wait", SEND_WAIT}, {"system", SYSTEM}};
    double all = (double)(time_of(sum) + sum->of[OVERHEAD]);
    json_t *shares = json_object();
    for (size_t i = 0; i < sizeof part / sizeof *part - !system; i++)
        json_object_set_new(shares, part[i].name, json_real((double)sum->of[part[i].column] / all));
    return shares;
}

/* One object per job. finish_ps is null for a job that has not finished. */
static json_t *report_jobs(const struct task_system *system, const struct job_sum *sum,
                           const struct task_mpi_abort *aborts, const uint64_t *file_times)
{
    json_t *jobs = json_array();
    for (uint32_t i = 0; i < task_jobs_count(system->jobs); i++) {
        const struct task_job *job = task_jobs_get(system->jobs, i);
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(job->name));
        json_object_set_new(object, "tasks", json_integer(job->tasks));
        json_object_set_new(object, "finish_ps",
                            sum[i].finish == KER_TIME_MAX ? json_null() : json_integer(sum[i].finish));
        json_object_set_new(object, "messages", json_integer((json_int_t)sum[i].of[MESSAGES]));
        json_object_set_new(object, "bytes", json_integer((json_int_t)sum[i].of[BYTES]));
        uint64_t time = time_of(&sum[i]);
        if (time)
            json_object_set_new(object, "wait_share",
                                json_real((double)(sum[i].of[WAIT] + sum[i].of[SEND_WAIT]) / (double)time));
        if (task_mpi_works(system->mpi) && time + sum[i].of[OVERHEAD])
            json_object_set_new(object, "time_shares",
                                time_json(&sum[i], task_mpi_system_measured(system->mpi)));
        if (sum[i].of[COMPUTE])
            json_object_set_new(object, "imbalance", imbalance_json(&sum[i], job->tasks));
        if (job->restart || job->repetitions > 1)
            json_object_set_new(object, "passes", json_integer((json_int_t)sum[i].passes));
        if (job->class->taken) {
            json_object_set_new(object, "poll_gap_ps", json_integer(sum[i].poll_gap));
            json_object_set_new(object, "finalize_gap_ps", json_integer(sum[i].finalize_gap));
            json_object_set_new(object, "finalize_gap_max_ps", json_integer(sum[i].finalize_gap_max));
            json_object_set_new(object, "file_time_ps", json_integer((json_int_t)file_times[i]));
        }
        uint64_t lost = sum[i].lost;
        json_object_set_new(object, "unreceived", json_integer((json_int_t)lost));
        report_abort(object, job, &aborts[i]);
        if (lost && sum[i].finish != KER_TIME_MAX && !job->restart && !aborts[i].there)
            ker_warn("job %s ended, but %llu of its messages were never received", job->name,
                     (unsigned long long)lost);
        json_array_append_new(jobs, object);
    }
    return jobs;
}

const struct stats_schema *const task_tables[] = {&task_mpi_schema,
                                                  &task_calls_schema,
                                                  &task_functions_schema,
                                                  &task_matching_schema,
                                                  &task_measured_schema,
                                                  &task_job_series_schema,
                                                  &task_task_series_schema,
                                                  &task_traffic_series_schema,
                                                  &task_function_series_schema,
                                                  &task_communicator_series_schema,
                                                  &stats_matrix_task_schema,
                                                  &stats_matrix_task_series_schema,
                                                  &task_waits_schema,
                                                  &task_wait_functions_schema,
                                                  &task_rates_schema,
                                                  &task_path_schema,
                                                  &task_path_pairs_schema,
                                                  &task_path_links_schema,
                                                  &task_path_steps_schema,
                                                  &task_driven_cores_schema,
                                                  &task_driven_entries_schema,
                                                  NULL};

/* By job: has all of it finished? malloc'ed. */
static bool *jobs_done(const struct task_system *system, const uint64_t *counts)
{
    uint32_t jobs = task_jobs_count(system->jobs);
    bool *done = ker_alloc((jobs + 1) * sizeof *done);
    for (uint32_t job = 0; job < jobs; job++)
        done[job] = counts[COUNTS * job + UNFINISHED] == 0;
    return done;
}

/* Collective: tasks.csv, and on rank 0 what its rows say of the jobs. */
static enum ker_status tasks_report(const struct task_system *system, struct ker_comm *comm, ker_time end,
                                    const struct task_mpi_names *names, const bool *done,
                                    const struct task_files *files, json_t **jobs, struct ker_error *error)
{
    struct stats_table *table = task_models_results(system, names, done, end);
    bool control = ker_comm_rank(comm) == 0;
    enum ker_status status = KER_OK;
    struct task_mpi_abort *aborts = aborts_gather(system, comm);
    uint32_t jobs_count = task_jobs_count(system->jobs);
    uint64_t *file_times = ker_alloc(jobs_count * sizeof *file_times);
    task_mpi_files(system->mpi, file_times);
    ker_comm_sum_u64(comm, file_times, jobs_count);
    struct tasks tasks = {.sum = ker_alloc(jobs_count * sizeof *tasks.sum), .growth = files->folder->growth};
    stats_table_find_all(table, column_names, COLUMNS, tasks.column);
    if (control && files->tasks &&
        !(tasks.writer = stats_writer_open(table, files->folder, files->tasks_key, error)))
        status = KER_RUN_FAILED;
    stats_table_show(table, comm, &(struct stats_visitor){task_show, &tasks});
    enum ker_status closed = stats_writer_close(tasks.writer, error);
    if (control)
        *jobs = report_jobs(system, tasks.sum, aborts, file_times);
    free(tasks.sum);
    free(file_times);
    free(aborts);
    stats_table_free(table);
    return status ?: closed;
}

/* Each job's of an array, on rank 0, which is taken. */
static void jobs_add(json_t *jobs, const char *key, json_t *of)
{
    for (size_t job = 0; of && job < json_array_size(of); job++)
        json_object_set(json_array_get(jobs, job), key, json_array_get(of, job));
    json_decref(of);
}

static bool calls_counted(const struct task_jobs *jobs)
{
    for (uint32_t job = 0; job < task_jobs_count(jobs); job++)
        if (task_jobs_get(jobs, job)->counts_calls)
            return true;
    return false;
}

static void keep(enum ker_status *first, enum ker_status status)
{
    *first = *first ? *first : status;
}

/* Collective: what is told of calls of MPI. */
static enum ker_status mpi_report(const struct task_system *system, struct ker_comm *comm, ker_time end,
                                  const struct task_mpi_names *names, const struct task_files *files,
                                  json_t *jobs, struct ker_error *error)
{
    uint32_t count = task_jobs_count(system->jobs);
    enum ker_status status = KER_OK;
    json_t *waits = NULL, *paths = NULL;
    struct stats_folder seen = *files->folder;
    seen.growth = NULL; /* a path is one through what was simulated */
    if (task_mpi_waits_split(system->mpi))
        keep(&status, task_mpi_waits(system->mpi, names, count, comm, end, files->folder, &waits, error));
    if (task_mpi_path_room(system->mpi))
        keep(&status, task_mpi_path(system->mpi, names, count, comm, end, &seen, &paths, error));
    if (calls_counted(system->jobs))
        keep(&status, task_mpi_calls(system->mpi, count, comm, end, files->folder, files->calls_key, error));
    if (files->matching)
        keep(&status, task_mpi_matching(system->mpi, names, comm, files->folder, files->matching_key, error));
    jobs_add(jobs, "waits", waits);
    jobs_add(jobs, "critical_path", paths);
    return status;
}

enum ker_status task_system_report(struct task_system *system, struct ker_comm *comm, ker_time end,
                                   const struct task_files *files, json_t **jobs, struct ker_error *error)
{
    *jobs = NULL;
    if (!system->mpi)
        return task_matrix_write(system->matrix, comm, files->folder, error);
    struct task_mpi_outside outside = task_mpi_outside_make(system->jobs);
    struct task_mpi_names names = {&outside, system->topology, task_mpi_works(system->mpi),
                                   task_mpi_system_measured(system->mpi),
                                   task_jobs_call_services(system->jobs)};
    uint64_t *counts = jobs_counts(system, comm);
    if (ker_comm_rank(comm) == 0)
        report_stopped(system, counts);
    bool *done = jobs_done(system, counts);
    enum ker_status status = tasks_report(system, comm, end, &names, done, files, jobs, error);
    free(counts);
    free(done);
    if (system->driven)
        keep(&status, task_driven_report(system->driven, comm, end, files->folder, files->tasks,
                                         files->tasks_key, error));
    keep(&status, task_matrix_write(system->matrix, comm, files->folder, error));
    keep(&status, task_measured_report(system, comm, files, *jobs, error));
    task_io_report(system, comm, *jobs);
    keep(&status, mpi_report(system, comm, end, &names, files, *jobs, error));
    return status;
}

KER_ORDER_BY(wait_compare, struct task_mpi_wait, job, task, stream, number)

static void waiting_row(const struct task_system *system, FILE *out, const struct task_mpi_wait *row)
{
    char since[32], line[16] = "-", task[24];
    snprintf(task, sizeof task, "%u", row->task);
    if (row->streams > 1) /* and which of its threads */
        snprintf(task, sizeof task, "%u.%u", row->task, row->stream);
    if (row->line)
        snprintf(line, sizeof line, "%u", row->line);
    fprintf(out, "  %-12.12s %7s %7u  %-18.18s %8s  %-10s %s\n", task_jobs_get(system->jobs, row->job)->name,
            task, row->node, row->call, line, ker_print_time(since, row->since), row->awaited);
}

/* A row has the awaited and at most 90 bytes before it; the message above the table and its head are short.
 */
_Static_assert((WAITING_ROWS + 4) * (sizeof((struct task_mpi_wait *)0)->awaited + 90) <
                   sizeof((struct ker_error *)0)->text,
               "the table fits into an error's text");

static char *waiting_text(const struct task_system *system, const struct task_mpi_wait *rows, size_t count,
                          uint64_t total)
{
    char *text = NULL;
    size_t bytes = 0, shown = count < WAITING_ROWS ? count : WAITING_ROWS;
    FILE *out = open_memstream(&text, &bytes);
    ker_assert(out != NULL);
    fprintf(out, "  %-12s %7s %7s  %-18s %8s  %-10s %s\n", "job", "task", "node", "call", "line", "since",
            "waits for");
    for (size_t i = 0; i < shown; i++)
        waiting_row(system, out, &rows[i]);
    if (total > shown)
        fprintf(out, "  ... and %llu more\n", (unsigned long long)(total - shown));
    fclose(out);
    return text;
}

/* The first rows by (job, task) are among the first rows of each rank, so that the table is the same on any
 * number of ranks. */
char *task_system_waiting(struct task_system *system, struct ker_comm *comm)
{
    uint64_t own = task_models_waiting(system, NULL, 0), total = own;
    struct task_mpi_wait *rows = ker_alloc(own * sizeof *rows);
    if (own)
        task_models_waiting(system, rows, own);
    qsort(rows, own, sizeof *rows, wait_compare);
    ker_comm_sum_u64(comm, &total, 1);

    void *gathered;
    size_t *offset;
    ker_comm_gather(comm, rows, (own < WAITING_ROWS ? own : WAITING_ROWS) * sizeof *rows, &gathered, &offset);
    char *text = NULL;
    if (ker_comm_rank(comm) == 0) {
        struct task_mpi_wait *all = gathered;
        size_t count = offset[ker_comm_size(comm)] / sizeof *all;
        qsort(all, count, sizeof *all, wait_compare);
        text = waiting_text(system, all, count, total);
    }
    free(rows);
    free(gathered);
    free(offset);
    return text;
}
