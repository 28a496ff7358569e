/* system.c - the jobs of a run under LogGOPS: which there are, and their graphs. */
#include "tasks/loggops/model.h"

#include "tasks/jobs/jobs.h"
#include "tasks/programs/programs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is read of a schedule for its way of running here: the job itself has been read with all others. */
static enum ker_status schedule_read(struct loggops_job *j, uint32_t number, const struct ker_config *config,
                                     struct ker_error *error)
{
    const char *path = KER_KEY("jobs[%u]", number);
    j->unit = (uint64_t)ker_config_time(config, TASK_KEY(path, "time_unit"));
    if (ker_config_is(config, TASK_KEY(path, "program"), "trace")) {
        j->file = ker_config_file(config, TASK_KEY(path, "trace"));
        return KER_OK;
    }
    uint64_t seed = (uint64_t)ker_config_int(config, "run.seed");
    return graph_pattern_open(&j->pattern, config, path, seed, true, error);
}

static enum ker_status jobs_read(struct loggops_system *s, const struct ker_config *config,
                                 struct ker_error *error)
{
    s->jobs = task_jobs_count(s->all);
    if (!s->jobs)
        return ker_config_fail(config, error, "jobs", "nobody sends anything: give jobs");
    s->job = ker_alloc(s->jobs * sizeof *s->job);
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < s->jobs && !status; i++) {
        const struct task_job *job = task_jobs_get(s->all, i);
        struct loggops_job *j = &s->job[i];
        *j = (struct loggops_job){.name = job->name,
                                  .first = task_jobs_first(s->all, i),
                                  .tasks = job->tasks,
                                  .start = job->start,
                                  .factor = job->processor_factor,
                                  .background = job->background,
                                  .mpi = !job->schedule};
        s->processes = j->first + j->tasks;
        s->halts |= j->background;
        if (j->mpi)
            s->programs = s->programs ? s->programs : ker_alloc(sizeof *s->programs);
        else
            status = schedule_read(j, i, config, error);
    }
    if (s->programs)
        s->programs->held.free = KER_NONE;
    return status;
}

unsigned task_loggops_kinds(const struct ker_config *config)
{
    unsigned kinds = 0;
    for (int i = 0; i < ker_config_count(config, "jobs"); i++) {
        const char *path = KER_KEY("jobs[%d]", i);
        const char *program = TASK_KEY(path, "program");
        bool schedule = task_trace_is_goal(config, path) ||
                        (ker_config_has(config, program) && ker_config_is(config, program, "schedule"));
        kinds |= schedule ? TASK_LOGGOPS_SCHEDULES : TASK_LOGGOPS_PROGRAMS;
    }
    return kinds;
}

enum ker_status task_loggops_new(struct loggops_system **made, const struct ker_config *config,
                                 const struct route_topology *topology, const struct task_jobs *jobs,
                                 bool forks, struct ker_error *error)
{
    struct loggops_system *s = *made = ker_alloc(sizeof *s);
    s->all = jobs;
    enum ker_status status = loggops_settings(&s->set, config, error);
    status = status ?: jobs_read(s, config, error);
    status = status ?: loggops_classes_read(s, config, topology, error);
    status = status ?: loggops_records_read(s, config, forks, error);
    if (status == KER_OK && s->set.faults && s->records)
        return ker_config_fail(config, error, "loggops.faults",
                               "lets times go backwards: output.critical_path, output.timeline, "
                               "output.matrix and series of jobs and tasks are not possible");
    return status ?: loggops_noise_read(&s->noise, config, error);
}

static void graphs_free(struct loggops_system *s)
{
    for (uint32_t i = 0; i < s->jobs; i++) {
        graph_free(s->job[i].graph);
        s->job[i].graph = NULL;
    }
}

static void jobs_free(struct loggops_system *s)
{
    graphs_free(s);
    for (uint32_t i = 0; i < s->jobs; i++)
        graph_pattern_close(s->job[i].pattern);
    free(s->job);
}

void task_loggops_free(struct loggops_system *s)
{
    if (!s)
        return;
    if (s->job)
        jobs_free(s);
    if (s->programs) {
        free(s->programs->member);
        KER_POOL_RELEASE(&s->programs->held);
    }
    free(s->programs);
    KER_POOL_RELEASE(&s->events);
    KER_POOL_RELEASE(&s->left);
    loggops_match_free(s);
    loggops_classes_free(s);
    if (s->records)
        loggops_records_free(s);
    loggops_noise_free(&s->noise);
    KER_FREE(s->released[0].op, s->released[1].op, s->process, s->loaded, s->group, s->free_at, s->ready,
             s->blocked, s);
}

/* Calculations as the simulated processor takes them. */
static void job_scale(const struct loggops_job *j)
{
    if (j->factor == 1)
        return;
    for (uint32_t t = 0; t < j->graph->count; t++)
        for (uint32_t i = 0; i < j->graph->task[t].ops; i++) {
            struct graph_op *op = &j->graph->task[t].op[i];
            if (op->kind == GRAPH_CALCULATION)
                op->amount = (uint64_t)llround((double)op->amount * j->factor);
        }
}

/* Those of the job's tasks that live here. */
static enum ker_status graph_read(struct loggops_system *s, struct loggops_job *j, struct ker_inputs *inputs,
                                  struct ker_error *error)
{
    uint32_t from = s->first > j->first ? s->first : j->first, end = s->first + s->count,
             to = end < j->first + j->tasks ? end : j->first + j->tasks;
    struct graph_form form = {.inputs = inputs, .unit = j->unit};
    enum ker_status status = graph_goal_read(&j->graph, j->file, &form, from < to ? from - j->first : 0,
                                             from < to ? to - from : 0, error);
    if (status)
        return status;
    job_scale(j);
    s->cpus = j->graph->cpus > s->cpus ? j->graph->cpus : s->cpus;
    s->nics = j->graph->nics > s->nics ? j->graph->nics : s->nics;
    return KER_OK;
}

static enum ker_status graphs_read(struct loggops_system *s, struct ker_inputs *inputs,
                                   struct ker_error *error)
{
    uint64_t longest = 0;
    bool mpi = false;
    s->cpus = s->nics = 1;
    for (uint32_t i = 0; i < s->jobs; i++) {
        struct loggops_job *j = &s->job[i];
        if (j->mpi) {
            mpi |= !task_jobs_get(s->all, i)->class->driven;
            continue;
        }
        enum ker_status status = j->pattern ? KER_OK : graph_read(s, j, inputs, error);
        if (status)
            return status;
        uint64_t own = j->pattern ? j->pattern->longest : j->graph->longest;
        if (j->pattern && graph_pattern_cpus(j->pattern) > s->cpus)
            s->cpus = graph_pattern_cpus(j->pattern);
        longest = own > longest ? own : longest;
    }
    bool waits = longest > s->set.eager,
         latency = mpi || (waits && s->set.rendezvous == LOGGOPS_READ); /* some take nothing else */
    s->lookahead = loggops_least(s, !latency);
    if (s->direct)
        s->lookahead = ker_time_min(s->lookahead, s->direct);
    s->instant = waits && s->set.rendezvous == LOGGOPS_INSTANT;
    s->instant |= s->set.faults != 0;
    s->together = s->lookahead == 0 || s->instant;
    s->counted = s->together && !s->programs;
    s->lookahead = s->together ? KER_US : s->lookahead; /* nobody is to be waited for */
    return KER_OK;
}

enum ker_status task_loggops_read(struct loggops_system *s, uint32_t rank, uint32_t ranks,
                                  struct ker_inputs *inputs, struct ker_error *error)
{
    loggops_spread(s, rank, ranks);
    enum ker_status status = graphs_read(s, inputs, error);
    if (status || !s->together || ranks == 1)
        return status;
    if (rank == 0)
        ker_warn("one rank simulates all processes: %s",
                 s->instant ? "mpi.rendezvous = \"instant\" lets them touch each other without delay"
                            : "loggops.L and loggops.o leave no time between them");
    loggops_spread(s, rank, 1);
    graphs_free(s);
    return graphs_read(s, inputs, error);
}

void task_loggops_direct(struct loggops_system *s, ker_time least)
{
    s->direct = least;
}

bool task_loggops_alone(const struct loggops_system *s)
{
    return s->together;
}

uint32_t task_loggops_processes(const struct loggops_system *s)
{
    return s->processes;
}

uint64_t task_loggops_events(const struct loggops_system *s)
{
    return s->handled;
}
