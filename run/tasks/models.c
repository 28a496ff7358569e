/* models.c - the models that tasks of jobs run under: MPI, or message-driven; which of them, the job's
 * program says. What is asked of tasks is asked of both.
 *
 * The model of MPI is there whenever there are jobs, that of message-driven programs when a job needs it: so
 * runs without such jobs have no further service on their nodes.
 */
#include "run/tasks/system.h"

#include "tasks/loggops/loggops.h"

#include <stdlib.h>

/* What is reported of calls of MPI, where no job makes any. */
static enum ker_status calls_refuse(const struct ker_config *config, struct ker_error *error)
{
    static const char *const keys[] = {"output.waits", "output.calls"};
    const char *asked = task_calls_series(config);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ker_config_has(config, keys[i]) && ker_config_bool(config, keys[i]))
            asked = keys[i];
    if (!asked)
        return KER_OK;
    return ker_config_fail(config, error, asked,
                           "message-driven jobs make no calls of MPI: leave it out; driven_cores.csv and "
                           "driven_entries.csv say how long cores and blocks waited");
}

enum ker_status task_models_read(struct task_system *system, const struct ker_config *config,
                                 const struct node_model *model, const struct task_mpi_outside *outside,
                                 struct ker_error *error)
{
    bool driven = false, others = false;
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++) {
        driven |= task_jobs_get(system->jobs, job)->class->driven;
        others |= !task_jobs_get(system->jobs, job)->class->driven;
    }
    enum ker_status status = others ? KER_OK : calls_refuse(config, error);
    if (status)
        return status;
    if (driven && ker_config_has(config, "output.critical_path") &&
        ker_config_bytes(config, "output.critical_path") > 0)
        return ker_config_fail(config, error, "output.critical_path",
                               "a message-driven job has no critical path: leave it out");
    if (driven && model->sized)
        return ker_config_fail(config, error,
                               model->memory_sizes.count            ? "node.memory_overhead"
                               : ker_sizes_vary(&model->send_sizes) ? "node.send_overhead"
                                                                    : "node.receive_overhead",
                               "a message-driven job takes the same time for every message: give "
                               "node.send_overhead and node.receive_overhead one time each");
    if (driven)
        system->driven = task_driven_new(model, outside, task_jobs_count(system->jobs));
    status = task_mpi_new(&system->mpi, config, outside, error);
    if (system->driven)
        task_driven_counts(system->driven, system->mpi);
    return status;
}

void task_models_free(struct task_system *system)
{
    if (system->mpi)
        task_mpi_free(system->mpi);
    system->mpi = NULL;
    task_driven_free(system->driven);
    system->driven = NULL;
}

/* Does a program say when it computes? Adapters alone foresee. */
static bool foresees(const struct task_system *system)
{
    uint32_t jobs = task_jobs_count(system->jobs), says = 0;
    for (uint32_t job = 0; job < jobs; job++)
        says += task_jobs_get(system->jobs, job)->class->computes != NULL;
    return says > 0 && !task_jobs_each(system->jobs);
}

void task_models_serve(struct task_system *system, struct node_services *services)
{
    if (system->mpi) {
        const struct node_service *service = system->asks       ? &task_mpi_service_asking
                                             : foresees(system) ? &task_mpi_service_foreseeing
                                                                : &task_mpi_service;
        system->mpi_service = node_services_add(services, NULL, service, system->mpi);
        task_mpi_name(system->mpi, system->mpi_service);
    }
    if (system->driven) {
        system->driven_service = node_services_add(services, NULL, &task_driven_service, system->driven);
        task_driven_name(system->driven, system->driven_service);
    }
}

static bool is_driven(const struct task_system *system, uint32_t job)
{
    return system->driven && task_jobs_get(system->jobs, job)->class->driven;
}

void task_models_job(const struct task_system *system, uint32_t job, int64_t *open, uint64_t *unfinished)
{
    if (is_driven(system, job))
        task_driven_job(system->driven, job, open, unfinished);
    else
        task_mpi_job(system->mpi, job, open, unfinished);
}

struct stats_table *task_models_results(const struct task_system *system, const struct task_mpi_names *names,
                                        const bool *done, ker_time end)
{
    struct stats_table *table = task_mpi_results(system->mpi, names, end);
    if (system->driven)
        task_driven_results(system->driven, table, done, end);
    if (system->loggops)
        loggops_results(system->loggops, table, end);
    return table;
}

uint64_t task_models_waiting(const struct task_system *system, struct task_mpi_wait *rows, uint64_t room)
{
    uint64_t count = system->mpi ? task_mpi_waiting(system->mpi, system->stuck, rows, room) : 0;
    if (system->driven)
        count += task_driven_waiting(system->driven, system->stuck, rows ? rows + count : NULL,
                                     room > count ? room - count : 0);
    return count;
}

const char *task_system_waiter(const struct task_system *system)
{
    uint32_t jobs = task_jobs_count(system->jobs), driven = 0;
    for (uint32_t job = 0; job < jobs; job++)
        driven += is_driven(system, job);
    return driven == 0 ? "task" : driven == jobs ? "object" : "task or object";
}

/* ---- nodes ---- */

/* Copies those seats of a node whose jobs are message-driven, or those of the others. */
static uint32_t seats_of(const struct task_system *system, bool driven, const struct task_mpi_seat *seat,
                         uint32_t count, struct task_mpi_seat *to)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        if (is_driven(system, seat[i].job) == driven)
            to[found++] = seat[i];
    return found;
}

/* Nodes and tasks of a model. */
static void models_count(const struct task_system *system, bool driven, uint32_t count,
                         const struct task_mpi_seat *seat, const uint32_t *first, uint32_t *nodes,
                         uint32_t *tasks)
{
    *nodes = *tasks = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t there = 0;
        for (uint32_t s = first[i]; s < first[i + 1]; s++)
            there += is_driven(system, seat[s].job) == driven;
        *nodes += there > 0;
        *tasks += there;
    }
}

void task_models_attach(struct task_system *system, const uint32_t *nodes, uint32_t count,
                        const struct task_mpi_seat *seat, const uint32_t *first, void **state)
{
    uint32_t used, tasks;
    struct task_mpi_seat *own = ker_alloc((first[count] + 1) * sizeof *own);
    models_count(system, false, count, seat, first, &used, &tasks);
    task_mpi_reserve(system->mpi, used, tasks);
    if (system->driven) {
        models_count(system, true, count, seat, first, &used, &tasks);
        task_driven_reserve(system->driven, used, tasks);
    }
    for (uint32_t i = 0; i < count; i++) {
        void **at = state + (size_t)i * system->services->count;
        uint32_t all = first[i + 1] - first[i], there = seats_of(system, false, seat + first[i], all, own);
        if (there > 0)
            at[system->mpi_service] = task_mpi_node_new(system->mpi, nodes[i], own, there);
        there = all - there ? seats_of(system, true, seat + first[i], all, own) : 0;
        if (there > 0)
            at[system->driven_service] = task_driven_node_new(system->driven, nodes[i], own, there);
    }
    if (system->driven)
        task_driven_place(system->driven);
    free(own);
}

void task_system_expect(struct task_system *system, ker_time end, uint32_t part, uint32_t parts,
                        struct net_expected *sum)
{
    if (system->mpi)
        task_mpi_expect(system->mpi, sum);
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        if (is_driven(system, job))
            task_driven_expect(system->driven, job, part, parts, sum);
    sum->most |= end < KER_TIME_MAX && task_jobs_count(system->jobs); /* which it cuts off */
    if (system->traffic)
        task_traffic_expect(system->traffic, end, part, parts, sum);
}
