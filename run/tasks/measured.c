/* measured.c - what programs have timed of themselves (struct task_measured): jobs[].measured of
 * summary.json, and collectives.csv.
 *
 * Each rank has an entry for every iteration, of its own tasks; they are joined on rank 0 by maximum, minimum
 * and sum. An iteration counts when all tasks of the job have done it. Percentiles are interpolated between
 * the two nearest iterations.
 */
#include "run/tasks/system.h"

#include <stdlib.h>
#include <string.h>

struct row {
    uint32_t job;
    uint64_t bytes, iteration; /* iteration: of all sizes */
    uint32_t number;           /* of this size */
    const struct task_measured_time *time;
};

static uint64_t row_key(const void *row_)
{
    const struct row *row = row_;
    return (uint64_t)row->job << 32 | row->iteration;
}

/* clang-format off */
#define COLUMNS(COLUMN) \
    COLUMN(job, "", TEXT, SAME, row->job, "the job's name", .text = task_jobs_text) \
    COLUMN(bytes, "B", U64, SAME, row->bytes, "the size, of jobs[].bytes") \
    COLUMN(iteration, "", U32, SAME, row->number, "which one of this size, from 0 on") \
    COLUMN(first_ps, "ps", TIME, SAME, row->time->first, "when the first task began the call") \
    COLUMN(last_ps, "ps", TIME, SAME, row->time->last, "when the last task ended it") \
    COLUMN(own_ps, "ps", TIME, SAME, row->time->longest, "the largest of the tasks' own times in it")
STATS_SCHEMA(task_measured_schema, struct row, COLUMNS, row_key, "collectives",
             "One row per iteration that all tasks of a job with jobs[].program = \"collective\" have done.")
/* clang-format on */

static size_t times_count(const struct task_measured *m)
{
    return m->time ? (size_t)m->sizes * m->iterations : 0;
}

static struct task_measured *measured_of(const struct task_system *system, uint32_t job)
{
    const struct task_job *j = task_jobs_get(system->jobs, job);
    return j->class->measured ? j->class->measured(j->program) : NULL;
}

static void time_join(struct task_measured_time *to, const struct task_measured_time *from)
{
    to->longest = from->longest > to->longest ? from->longest : to->longest;
    to->first = from->first < to->first ? from->first : to->first;
    to->last = from->last > to->last ? from->last : to->last;
    to->tasks += from->tasks;
}

/* ---- the report ---- */

/* Of n sorted times, at percent of the way from the first to the last. */
static json_int_t percentile(const ker_time *sorted, size_t n, unsigned percent)
{
    size_t at = (n - 1) * percent, low = at / 100;
    ker_time step = low + 1 < n ? sorted[low + 1] - sorted[low] : 0;
    return sorted[low] + (ker_time)(((unsigned __int128)step * (at % 100) + 50) / 100);
}

static json_t *size_json(const struct task_measured *m, const struct task_measured_time *time, uint64_t bytes,
                         uint64_t tasks)
{
    ker_time *took = ker_alloc(m->iterations * sizeof *took);
    size_t n = 0;
    for (uint32_t i = 0; i < m->iterations; i++)
        if (time[i].tasks == tasks)
            took[n++] = m->span ? time[i].last - time[i].first : time[i].longest;
    qsort(took, n, sizeof *took, ker_order_i64);
    json_t *object = json_pack("{s:I, s:I}", "bytes", (json_int_t)bytes, "iterations", (json_int_t)n);
    static const struct {
        const char *name;
        unsigned percent;
    } of[] = {{"min_ps", 0}, {"p10_ps", 10}, {"median_ps", 50}, {"p90_ps", 90}, {"max_ps", 100}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        json_object_set_new(object, of[i].name,
                            n ? json_integer(percentile(took, n, of[i].percent)) : json_null());
    free(took);
    return object;
}

/* On rank 0: of a job, joined; rows for the table, where there is one. */
static json_t *job_json(const struct task_measured *m, const struct task_measured_time *time, uint32_t job,
                        uint64_t tasks, struct stats_table *table)
{
    json_t *sizes = json_array();
    for (uint32_t size = 0; size < m->sizes; size++) {
        const struct task_measured_time *of = time + (size_t)size * m->iterations;
        json_t *object = size_json(m, of, m->bytes[size], tasks);
        if (m->label)
            json_object_set_new(object, "operation", json_string(m->label[size]));
        json_array_append_new(sizes, object);
        for (uint32_t i = 0; table && i < m->iterations; i++)
            if (of[i].tasks == tasks)
                stats_table_add(
                    table, &(struct row){job, m->bytes[size], (uint64_t)size * m->iterations + i, i, &of[i]});
    }
    return json_pack("{s:s, s:s, s:o}", "collective", m->name, "measure", m->span ? "span" : "own", "sizes",
                     sizes);
}

enum ker_status task_measured_report(const struct task_system *system, struct ker_comm *comm,
                                     const struct task_files *files, json_t *jobs, struct ker_error *error)
{
    bool control = ker_comm_rank(comm) == 0, any = false;
    struct stats_table *table = stats_table_new(&task_measured_schema, system->jobs, 0);
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++) {
        const struct task_measured *m = measured_of(system, job);
        void *all;
        size_t *offset;
        if (!m)
            continue;
        any = true;
        ker_comm_gather(comm, m->time, times_count(m) * sizeof *m->time, &all, &offset);
        struct task_measured_time *time = all;
        size_t count = times_count(m);
        for (size_t i = count; count && control && i < offset[ker_comm_size(comm)] / sizeof *time; i++)
            time_join(&time[i % count], &time[i]);
        if (control)
            json_object_set_new(json_array_get(jobs, job), "measured",
                                job_json(m, time, job, task_jobs_get(system->jobs, job)->tasks,
                                         files->measured ? table : NULL));
        free(all);
        free(offset);
    }
    enum ker_status status =
        control && any && files->measured ? stats_table_write(table, files->folder, error) : KER_OK;
    stats_table_free(table);
    return status;
}

/* ---- steps ---- */

struct task_steps *task_system_steps(const struct task_system *system, uint32_t job)
{
    return task_job_steps(task_jobs_get(system->jobs, job));
}

void task_system_find_steps(struct task_system *system, struct ker_comm *comm)
{
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++) {
        const struct task_job *j = task_jobs_get(system->jobs, job);
        if (!j->timed || !j->class->find_steps)
            continue;
        double *factor = ker_alloc((j->tasks + 1ull) * sizeof *factor);
        for (uint32_t task = 0; task < j->tasks; task++)
            factor[task] = task_processor_factor(j, task);
        j->class->find_steps(j->program, factor, comm);
        free(factor);
    }
}

int64_t *task_system_ideal(struct task_system *system, uint32_t job, const struct task_gap *gap,
                           uint32_t gaps, uint32_t last, struct ker_comm *comm)
{
    const struct task_job *j = task_jobs_get(system->jobs, job);
    const struct task_steps *steps = task_job_steps(j);
    return steps && steps->known && j->class->ideal ? j->class->ideal(j->program, gap, gaps, last, comm)
                                                    : NULL;
}

/* ---- saved state ---- */

/* When steps ended (run.skip). */
static void steps_state(struct task_steps *steps, struct ker_chunk *c)
{
    uint32_t begun = ker_chunk_u32(c, steps->begun),
             count = ker_chunk_count(c, steps->ends, sizeof *steps->end);
    if (c->loads)
        task_steps_room(steps, count);
    for (uint32_t i = 0; i < count && !c->bad; i++) {
        struct task_step_end end = steps->end[i];
        KER_CHUNK(c, end);
        if (c->loads && !c->bad)
            task_steps_join(&steps->end[i], &end);
    }
    steps->begun = begun > steps->begun ? begun : steps->begun;
}

/* Jobs that come with a fork are behind those that there were. */
void task_measured_state(void *context, struct ker_chunk *c)
{
    struct task_system *system = context;
    uint32_t jobs = task_jobs_count(system->jobs);
    for (uint32_t job = 0; job < jobs && !c->bad && (!c->loads || c->at < c->bytes); job++) {
        struct task_measured *m = measured_of(system, job);
        size_t count = m ? times_count(m) : 0;
        ker_chunk_same(c, count);
        for (size_t i = 0; i < count && !c->bad; i++) {
            struct task_measured_time time = m->time[i];
            KER_CHUNK(c, time);
            if (c->loads && !c->bad)
                time_join(&m->time[i], &time);
        }
        const struct task_job *j = task_jobs_get(system->jobs, job);
        struct task_steps *steps = j->timed || j->repeated ? task_job_steps(j) : NULL;
        if (steps)
            steps_state(steps, c);
    }
}
