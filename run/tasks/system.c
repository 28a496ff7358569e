/* What runs on the simulated nodes: jobs under the MPI model, and synthetic traffic, each a service.
 *
 * Jobs and traffic are read on every rank alike. Attaching gives every own node of this rank its states: the
 * MPI model's where tasks run, the traffic's where traffic is.
 *
 * Invariant: the tasks that live on this rank are handed to their programs in increasing order, job by job;
 * the number of a task in that order is how the MPI model names it to the program.
 */
#include "run/tasks/system.h"

#include "tasks/loggops/loggops.h"
#include "tasks/programs/programs.h"

#include <stdlib.h>

const struct ker_option *const task_option_tables[] = {
    task_job_options,
    task_traffic_options,
    mpi_options,
    node_options,
    node_structure_options,
    node_kind_options,
    node_rate_options,
    node_noise_options,
    loggops_options,
    loggops_class_options,
    loggops_noise_options,
    trace_two_phase_options,
    NULL,
};

/* The seats of this rank's nodes, node after node; first[i] .. first[i + 1] - 1 are those of node i. */
struct seating {
    struct task_mpi_seat *seat;
    uint32_t *first;
    uint32_t count;
};

static void seating_free(struct seating *s)
{
    if (s) {
        free(s->seat);
        free(s->first);
    }
    free(s);
}

static void system_serve(struct task_system *system, struct node_services *services)
{
    system->services = services;
    task_models_serve(system, services);
    if (system->traffic)
        system->traffic->service =
            node_services_add(services, NULL, task_traffic_service(system->traffic), system->traffic);
}

static uint64_t tasks_count(const struct task_jobs *jobs)
{
    uint64_t tasks = 0;
    for (uint32_t job = 0; job < task_jobs_count(jobs); job++)
        tasks += task_jobs_get(jobs, job)->tasks;
    return tasks;
}

/* All but the jobs, which have been read. */
static enum ker_status system_fill(struct task_system *system, const struct ker_config *config,
                                   const struct node_model *model, struct node_services *services,
                                   uint64_t seed, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (task_jobs_programs(system->jobs) > 0) {
        struct task_mpi_outside outside = task_mpi_outside_make(system->jobs);
        outside.seed = seed;
        outside.kinds = model->kinds;
        if (task_jobs_each(system->jobs))
            loggops_outside(&outside);
        else if (model->works) {
            task_mpi_outside_works(&outside);
            system->asks = true;
        }
        status = task_call_series_check(config, error);
        status = status ?: task_models_read(system, config, model, &outside, error);
        status = status ?: task_mpi_curves_check(system->mpi, system->jobs, config, error);
        status = status ?: task_mpi_path_read(system->mpi, config, tasks_count(system->jobs), error);
    }
    status = status ?: task_traffic_new(&system->traffic, config, system->topology, model, seed, error);
    status = status ?: task_matrix_read(system, config, error);
    if (!status)
        system_serve(system, services);
    return status;
}

enum ker_status task_system_new(struct task_system **out, const struct ker_config *config,
                                const struct route_topology *topology, const struct node_model *model,
                                struct node_services *services, struct ker_comm *comm, uint64_t seed,
                                struct ker_error *error)
{
    struct task_system *system = ker_alloc(sizeof *system);
    system->topology = topology;
    *out = NULL;
    enum ker_status status = task_jobs_new(&system->jobs, config, topology, model->kinds, comm, seed, error);
    status = status ?: system_fill(system, config, model, services, seed, error);
    if (status) {
        task_system_free(system);
        return status;
    }
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        system->foreground += !task_jobs_get(system->jobs, job)->background;
    *out = system;
    return KER_OK;
}

/* All but the jobs. */
static void system_empty(struct task_system *system)
{
    task_models_free(system);
    task_traffic_free(system->traffic);
    system->traffic = NULL;
    ker_release(system->traffic_nodes, system->traffic_bytes);
    system->traffic_nodes = NULL;
    system->traffic_bytes = 0;
    seating_free(system->seating);
    system->seating = NULL;
    free(system->stuck);
    task_traced_free(system);
    task_matrix_free(system->matrix);
    system->matrix = NULL;
    task_series_free(system->series);
    system->series = NULL;
    task_call_series_free(system->calls);
    system->calls = NULL;
    system->stuck = NULL;
}

enum ker_status task_system_again(struct task_system *system, const struct ker_config *config,
                                  const struct route_topology *topology, const struct node_model *model,
                                  struct node_services *services, struct ker_comm *comm, uint64_t seed,
                                  struct ker_error *error)
{
    system_empty(system);
    system->topology = topology;
    enum ker_status status = task_jobs_again(system->jobs, config, comm, error);
    return status ?: system_fill(system, config, model, services, seed, error);
}

enum ker_status task_system_services(struct task_system *system, const struct ker_config *config,
                                     const struct node_service_list *services, struct ker_error *error)
{
    return task_jobs_services(system->jobs, config, services, error);
}

void task_system_free(struct task_system *system)
{
    if (!system)
        return;
    system_empty(system);
    task_jobs_free(system->jobs);
    free(system);
}

void task_system_earlier(struct task_system *system, ker_time by)
{
    task_jobs_earlier(system->jobs, by);
}

const struct task_jobs *task_jobs_of(const struct task_system *system)
{
    return system->jobs;
}

void task_system_beside(struct task_system *system, struct loggops_system *loggops)
{
    system->loggops = loggops;
    task_matrix_beside(system->matrix, loggops);
}

void task_system_record(struct task_system *system, struct stats_timeline *timeline)
{
    if (system->mpi)
        task_mpi_record(system->mpi, timeline);
    if (system->driven)
        task_driven_record(system->driven, timeline);
    if (system->loggops)
        loggops_record_into(system->loggops, timeline);
}

void task_system_timeline_end(struct task_system *system, ker_time end)
{
    if (system->mpi)
        task_mpi_timeline_end(system->mpi, end);
    if (system->driven)
        task_driven_timeline_end(system->driven, end);
    if (system->loggops)
        loggops_timeline_end(system->loggops, end);
}

static struct seating *seating_new(const struct task_jobs *jobs, const uint32_t *nodes, uint32_t count)
{
    struct seating *s = ker_alloc(sizeof *s);
    s->first = ker_alloc(((size_t)count + 1) * sizeof *s->first);
    for (uint32_t i = 0; i < count; i++)
        s->first[i + 1] = s->first[i] + task_jobs_at(jobs, nodes[i], NULL, 0);
    s->count = s->first[count];
    s->seat = ker_alloc(s->count * sizeof *s->seat);
    struct task_seat *there = ker_alloc(s->count * sizeof *there);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t room = s->first[i + 1] - s->first[i];
        task_jobs_at(jobs, nodes[i], there, room);
        for (uint32_t k = 0; k < room; k++)
            s->seat[s->first[i] + k] = (struct task_mpi_seat){
                .job = there[k].job, .task = there[k].task, .core = (uint16_t)there[k].core};
    }
    free(there);
    return s;
}

KER_ORDER_AT(seat_compare, struct task_mpi_seat, job, task)

/* Numbers the seats within their jobs and hands every program its tasks. Whatever fails, the next job's
 * program is asked, too: others may wait for this rank. */
static enum ker_status seats_prepare(struct task_system *system, struct seating *s, struct ker_comm *comm,
                                     struct ker_error *error)
{
    struct task_mpi_seat **order = ker_alloc(s->count * sizeof *order);
    for (uint32_t i = 0; i < s->count; i++)
        order[i] = &s->seat[i];
    qsort(order, s->count, sizeof *order, seat_compare);
    uint32_t *own_tasks = ker_alloc(s->count * sizeof *own_tasks);
    enum ker_status status = KER_OK;
    for (uint32_t job = 0, next = 0; job < task_jobs_count(system->jobs); job++) {
        uint32_t begin = next;
        for (; next < s->count && order[next]->job == job; next++) {
            order[next]->own = next - begin;
            own_tasks[next] = order[next]->task;
        }
        const struct task_job *j = task_jobs_get(system->jobs, job);
        enum ker_status done = KER_OK;
        if (j->schedule)
            continue;
        if (j->repeated)
            task_steps_begin(j->repeated);
        if (j->class->hand)
            done = j->class->hand(j->program, own_tasks + begin, next - begin, comm, error);
        if (!done)
            done = j->class->prepare(j->program, own_tasks + begin, next - begin, error);
        if (!done && j->class->combines)
            done = task_mpi_combines(system->mpi, j->name, j->class->combines(j->program), error);
        status = status ?: done;
    }
    free(own_tasks);
    free(order);
    return status;
}

enum ker_status task_system_prepare(struct task_system *system, const uint32_t *nodes, uint32_t count,
                                    struct ker_comm *comm, struct ker_error *error)
{
    if (!system->mpi)
        return KER_OK;
    system->seating = seating_new(system->jobs, nodes, count);
    return ker_comm_worst(comm, seats_prepare(system, system->seating, comm, error));
}

static void system_attach_traffic(struct task_system *system, const uint32_t *nodes, uint32_t count,
                                  void **state)
{
    uint32_t members = 0;
    for (uint32_t i = 0; i < count; i++)
        members += task_traffic_has(system->traffic, nodes[i]);
    if (members == 0)
        return;
    system->traffic_bytes = members * sizeof *system->traffic_nodes;
    system->traffic_nodes = ker_reserve(system->traffic_bytes);
    struct task_traffic_node *node = system->traffic_nodes;
    for (uint32_t i = 0; i < count; i++) {
        if (!task_traffic_has(system->traffic, nodes[i]))
            continue;
        task_traffic_node_init(system->traffic, node, nodes[i]);
        state[(size_t)i * system->services->count + system->traffic->service] = node++;
    }
}

void task_system_attach(struct task_system *system, const uint32_t *nodes, uint32_t count, void **state)
{
    const struct seating *seats = system->seating;
    if (system->mpi)
        task_models_attach(system, nodes, count, seats->seat, seats->first, state);
    seating_free(system->seating);
    system->seating = NULL;
    if (system->traffic)
        system_attach_traffic(system, nodes, count, state);
}

enum ker_status task_system_agree(struct task_system *system, struct ker_comm *comm, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (uint32_t job = 0; job < task_jobs_count(system->jobs) && !status; job++) {
        const struct task_job *j = task_jobs_get(system->jobs, job);
        if (j->class->agree && !j->schedule)
            status = j->class->agree(j->program, comm, error);
    }
    return status;
}

uint64_t task_system_unfinished(const struct task_system *system)
{
    uint64_t driven = system->driven ? task_driven_unfinished(system->driven) : 0;
    return driven + (system->mpi ? task_mpi_unfinished(system->mpi) : 0);
}

const char *task_system_job_name(const void *system, uint32_t job)
{
    return task_jobs_get(((const struct task_system *)system)->jobs, job)->name;
}

uint32_t task_system_jobs(const struct task_system *system)
{
    return task_jobs_count(system->jobs);
}

uint32_t task_system_foreground(const struct task_system *system)
{
    return system->foreground;
}

#define ASKED 32 /* tasks of a job: they are about equally far */

static double job_done(const struct task_job *job)
{
    double sum = 0;
    uint64_t so_far, all;
    uint32_t own = 0;
    for (; job->class->done && own < ASKED && job->class->done(job->program, own, &so_far, &all); own++)
        sum += all ? (double)so_far / (double)all : 1;
    return own ? sum / own : -1;
}

double task_system_done(const struct task_system *system)
{
    double least = -1;
    for (uint32_t i = 0; i < task_jobs_count(system->jobs); i++) {
        const struct task_job *job = task_jobs_get(system->jobs, i);
        double done = job->background ? -1 : job_done(job);
        if (!job->background && !job->class->done)
            return -1;
        if (done >= 0 && (least < 0 || done < least))
            least = done;
    }
    return least;
}

uint64_t task_system_tasks(const struct task_system *system)
{
    return system->traffic ? UINT64_MAX : tasks_count(system->jobs);
}

uint32_t task_system_path_room(const struct task_system *system)
{
    return system->mpi ? task_mpi_path_room(system->mpi) : 0;
}

bool task_system_endless(const struct task_system *system)
{
    const struct task_traffic *t = system->traffic;
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        if (task_jobs_get(system->jobs, job)->restart)
            return true;
    return t && t->messages == UINT64_MAX && t->stop == KER_TIME_MAX;
}

void task_system_stop(struct task_system *system, ker_time stop)
{
    if (system->traffic && stop < system->traffic->stop)
        system->traffic->stop = stop;
}

uint64_t task_system_least_payload(const struct task_system *system)
{
    const struct task_traffic *t = system->traffic;
    if (!t || !t->arrival || task_jobs_count(system->jobs) > 0 || t->size.minimum || t->law->draw)
        return 0; /* headers alone, or sizes that are drawn */
    uint64_t rest = t->size.bytes % t->size.packet_bytes;
    return rest || t->size.bytes == 0 ? rest : t->size.packet_bytes;
}

double task_system_offered(const struct task_system *system, uint64_t injection_rate)
{
    return system->traffic ? task_traffic_offered(system->traffic, injection_rate) : 0;
}

ker_time task_system_direct(const struct task_system *system)
{
    return system->mpi ? task_mpi_direct(system->mpi) : 0;
}

bool task_system_costless(const struct task_system *system)
{
    for (uint32_t i = 0; system->mpi && task_mpi_costless(system->mpi) && i < task_jobs_count(system->jobs);
         i++) {
        const struct task_program_class *class = task_jobs_get(system->jobs, i)->class;
        if (!class->driven && !class->unfinished)
            return true;
    }
    return false;
}

double task_system_load(const struct task_system *system)
{
    return system->traffic ? system->traffic->load : 0;
}

void task_system_look(struct task_system *system, ker_time at)
{
    if (system->traffic->look[0].at < at)
        task_traffic_look(system->traffic, system->traffic_nodes,
                          system->traffic_bytes / sizeof *system->traffic_nodes, at);
}

json_t *task_system_traffic(struct task_system *system, struct ker_comm *comm, ker_time warmup,
                            double bytes_per_s)
{
    return system->traffic ? task_traffic_report(system->traffic, comm, warmup, bytes_per_s) : NULL;
}

/* ---- saved state ---- */

#define VERSION 4

enum ker_status task_system_former(struct task_system *system, const struct ker_config *former,
                                   ker_time until, struct ker_error *error)
{
    const struct route_summary *sum = route_summarise(system->topology);
    if (!system->traffic)
        return KER_OK;
    return task_traffic_former(system->traffic, former, sum->adapters * sum->link[sum->endpoint_link].rate,
                               until, error);
}

bool task_system_formers_end(struct task_system *system, ker_time fork)
{
    const struct task_traffic *t = system->traffic;
    if (t)
        task_traffic_formers_end(system->traffic);
    return t && t->formers && t->former[t->formers - 1]->until == fork;
}

static void system_state(void *context, struct ker_chunk *c)
{
    struct task_system *system = context;
    if (ker_chunk_bool(c, system->mpi != NULL)) {
        c->bad |= !system->mpi;
        if (system->mpi)
            task_mpi_counts_state(system->mpi, task_jobs_count(system->jobs), c);
    }
    if (!system->traffic)
        return;
    uint64_t dropped = ker_chunk_u64(c, system->traffic->dropped);
    if (c->loads)
        system->traffic->dropped += dropped;
}

static void looks_state(struct task_system *system, struct ker_chunk *c, bool sums)
{
    if (ker_chunk_bool(c, system->traffic != NULL) && system->traffic)
        task_traffic_looks_state(system->traffic, c, sums);
    else
        c->at = c->loads ? c->bytes : c->at;
}

void task_system_save(struct task_system *system, struct ker_state_writer *writer)
{
    system_state(system, ker_state_begin(writer, "jobs", VERSION, 0));
    ker_state_end(writer);
    looks_state(system, ker_state_begin(writer, "traffic_looks", 1, 0), true);
    ker_state_end(writer);
    task_series_save(system, writer);
    task_sent_state(system, ker_state_begin(writer, "task_sent", 2, 0));
    ker_state_end(writer);
    task_matrix_save(system->matrix, writer);
    task_measured_state(system, ker_state_begin(writer, "task_measured", 2, 0));
    ker_state_end(writer);
    task_driven_save(system->driven, writer);
}

static void looks_load(void *context, struct ker_chunk *c)
{
    looks_state(context, c, true);
}

/* Another rank has what was counted; when it was all know. */
static void looks_when(void *context, struct ker_chunk *c)
{
    looks_state(context, c, false);
}

static void system_pass(void *context, struct ker_chunk *c)
{
    c->at = c->bytes;
}

void task_loaders(struct task_system *system, bool sums, struct ker_state_loader loaders[TASK_STATES])
{
    loaders[0] = (struct ker_state_loader){"jobs", VERSION, sums ? system_state : system_pass, system};
    loaders[2] = (struct ker_state_loader){"task_sent", 2, sums ? task_sent_state : system_pass, system};
    loaders[3] = (struct ker_state_loader){"task_matrix", STATS_MATRIX_VERSION,
                                           sums ? task_matrix_load : system_pass, system};
    task_driven_loaders(system->driven, sums, &loaders[4]);
    loaders[1] = (struct ker_state_loader){"task_series", 1, task_series_load, system};
    loaders[5] = (struct ker_state_loader){"traffic_looks", 1, sums ? looks_load : looks_when, system};
    loaders[6] =
        (struct ker_state_loader){"task_measured", 2, sums ? task_measured_state : system_pass, system};
}
