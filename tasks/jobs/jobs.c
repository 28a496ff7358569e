/* The jobs of a run: their programs, where their tasks are, and that no two want the same core.
 *
 * Each job is placed by itself (placement.c). On a node the tasks take cores job after job, unless a file
 * names cores (seats.c), in the order of node.map_by. All work grows with the number of jobs and tasks, not
 * with their product.
 *
 * Invariant: after task_jobs_new no core holds two tasks and no task has a core that its node does not have.
 */
#include "tasks/jobs/jobs.h"

#include "tasks/graphs/graphs.h"
#include "tasks/jobs/after.h"
#include "tasks/jobs/allocation.h"
#include "tasks/jobs/factors.h"
#include "tasks/jobs/placement.h"
#include "tasks/jobs/seats.h"
#include "tasks/loggops/loggops.h"
#include "tasks/programs/programs.h"

#include <stdlib.h>
#include <string.h>

struct slot {
    struct task_job job;
    struct task_placement placement;
    uint32_t first; /* tasks of the jobs before it */
    char *name;
};

struct task_jobs {
    uint32_t count;
    uint32_t hosts;                 /* nodes that tasks are placed on; 0: there are none */
    bool each;                      /* for the MPI model each task is a node */
    const struct node_kinds *kinds; /* of the hosts; NULL: there are none */
    struct node_kinds *own_kinds;   /* those, if they are the jobs' own */
    uint32_t tasks;                 /* node.tasks; 0: as many as units */
    struct slot *slot;
    struct task_seat *seat; /* of all tasks (seats.h); NULL: one job in closed form */
    size_t seats;
};

#define KEY(job, word) KER_KEY("jobs[%u].%s", job, word)

/* Does the operating system serve calls by times of its own? A configuration for tests may be without node.
 */
static bool system_served(const struct ker_config *config)
{
    static const char *const keys[] = {"node.system_factor", "node.system_latency"};
    bool served = false;
    for (int i = 0; i < 2; i++)
        served |= ker_config_means_key(config, keys[i]) && ker_config_has(config, keys[i]);
    return served;
}

/* Is it to be noted when steps end? */
static bool steps_wanted(const struct ker_config *config)
{
    static const char key[] = "run.skip.enabled";
    return ker_config_means_key(config, key) && ker_config_bool(config, key);
}

/* What its computations take and move. */
static enum ker_status job_factors(struct slot *s, const struct ker_config *config, uint32_t job,
                                   const char *path, struct ker_error *error)
{
    s->job.compute_jitter = ker_config_time(config, KEY(job, "compute_jitter"));
    s->job.memory_rate = ker_config_rate(config, KEY(job, "memory_bandwidth"));
    s->job.processor_factor = ker_config_real(config, KEY(job, "processor_factor"));
    s->job.counted = ker_config_has(config, KEY(job, "memory_counters"));
    s->job.moves = s->job.memory_rate || s->job.counted;
    s->job.memory_factor = task_memory_factor(config, path, s->job.processor_factor);
    s->job.special = s->job.compute_jitter || s->job.memory_factor > 0 || system_served(config);
    if (s->job.counted && s->job.memory_rate)
        return ker_config_fail(config, error, KEY(job, "memory_bandwidth"),
                               "what computations move is counted (memory_counters): leave it out");
    if (s->job.schedule && ker_config_count(config, KEY(job, "task_factors")))
        return ker_config_fail(config, error, KEY(job, "task_factors"),
                               "are not possible with a schedule and network.model = \"loggops\"");
    if (s->job.class->driven && s->job.moves)
        return ker_config_fail(config, error, KEY(job, "memory_bandwidth"),
                               "a message-driven job has no memory part: leave it out");
    return KER_OK;
}

static enum ker_status job_settings(struct slot *s, const struct ker_config *config, uint32_t job,
                                    struct ker_error *error)
{
    const char *name = ker_config_string(config, KEY(job, "name"));
    s->name = *name ? ker_format("%s", name) : ker_format("job%u", job);
    s->job.name = s->name;
    if (!ker_config_has(config, KEY(job, "program"))) {
        char *names = ker_registry_names(ker_config_registry(config), "jobs[].program", NULL);
        ker_config_fail(config, error, KEY(job, "program"), "is missing; it is one of %s", names);
        free(names);
        return KER_BAD_INPUT;
    }
    s->job.class = ker_config_operations(config, KEY(job, "program"));
    const char *path = KER_KEY("jobs[%u]", job);
    if (s->job.class->form) {
        s->job.class = s->job.class->form(config, path, error);
        if (!s->job.class)
            return KER_BAD_INPUT;
    }
    s->job.schedule = task_loggops_wanted(config) &&
                      (s->job.class == &task_goal_class || s->job.class == &task_schedule_class);
    s->job.background = ker_config_bool(config, KEY(job, "background"));
    s->job.counts_calls =
        task_calls_wanted(config, s->job.class->call != NULL) || task_calls_traced(config, KEY(job, "calls"));
    s->job.restart = ker_config_bool(config, KEY(job, "restart"));
    s->job.start = ker_config_time(config, KEY(job, "start"));
    s->job.held =
        ker_config_count(config, KEY(job, "after")) > 0 || (s->job.start > 0 && steps_wanted(config));
    s->job.repetitions = (uint64_t)ker_config_int(config, KEY(job, "repetitions"));
    if (s->job.repetitions > 1 && (s->job.schedule || s->job.class->driven))
        return ker_config_fail(config, error, KEY(job, "repetitions"), "are possible for programs of MPI");
    bool steps = steps_wanted(config);
    if (s->job.repetitions > 1 && steps) {
        s->job.repeated = ker_alloc(sizeof *s->job.repeated);
        *s->job.repeated = (struct task_steps){
            .count = (uint32_t)s->job.repetitions, .period = 1, .by = "repetitions of its program"};
    }
    s->job.timed =
        s->job.class->at && (!s->job.class->steps || s->job.class->measured || (steps && !s->job.repeated));
    if (s->job.schedule && s->job.restart)
        return ker_config_fail(config, error, KEY(job, "restart"),
                               "is not possible with a schedule and network.model = \"loggops\"");
    return job_factors(s, config, job, path, error);
}

/* Collective where the program's open is. */
static enum ker_status job_open(struct slot *s, const struct ker_config *config, uint32_t job,
                                struct ker_comm *comm, struct ker_error *error)
{
    const char *path = KER_KEY("jobs[%u]", job);
    enum ker_status status = s->job.class->open(&s->job.program, config, path, comm, error);
    if (status)
        return status;
    s->job.tasks = s->job.class->tasks(s->job.program);
    if (ker_config_has(config, KEY(job, "tasks")) &&
        ker_config_int(config, KEY(job, "tasks")) != s->job.tasks)
        return ker_config_fail(config, error, KEY(job, "tasks"), "the %s of job '%s' has %u tasks, not %lld",
                               ker_config_string(config, KEY(job, "program")), s->name, s->job.tasks,
                               (long long)ker_config_int(config, KEY(job, "tasks")));
    free(s->job.factors);
    s->job.factors = NULL;
    status = task_factors_read(&s->job, config, path, error);
    s->job.special |= s->job.factors != NULL;
    return status;
}

static uint32_t jobs_units(const struct task_jobs *jobs, uint32_t node)
{
    return jobs->kinds ? node_structure_at(jobs->kinds, node)->units : 1;
}

/* Cores have been counted: where they are. Behind the last the first ones come again. */
static uint16_t jobs_unit(const struct task_jobs *jobs, uint32_t node, uint32_t seat)
{
    const struct node_structure *s = jobs->kinds ? node_structure_at(jobs->kinds, node) : NULL;
    return s ? s->seat_unit[seat % s->units] : (uint16_t)seat;
}

/* "node.cores is 4", "kind 'thin' has 4 (nodes[0].cores)"; tasks: node.tasks, which says it instead; 0. */
struct holding {
    char text[160];
};
static struct holding jobs_holding(const struct task_jobs *jobs, uint32_t node, uint32_t tasks)
{
    const struct node_kind *kind = node_kinds_get(jobs->kinds, node_kinds_of(jobs->kinds, node));
    bool threads = kind->structure.units > kind->structure.cores;
    struct holding h;
    if (tasks)
        snprintf(h.text, sizeof h.text, "node.tasks is %u", tasks);
    else if (strcmp(kind->group, "node") == 0 && !threads)
        snprintf(h.text, sizeof h.text, "node.cores is %u", kind->structure.units);
    else
        snprintf(h.text, sizeof h.text, "kind '%.40s' has %u %s (%s.cores%s)", kind->name,
                 kind->structure.units, threads ? "hardware threads" : "cores", kind->group,
                 threads ? ", threads" : "");
    return h;
}

static enum ker_status jobs_too_many(const struct task_jobs *jobs, const struct ker_config *config,
                                     const struct task_seat *seat, struct ker_error *error)
{
    const struct slot *s = &jobs->slot[seat->job];
    uint32_t own = task_placement_count(&s->placement, seat->node);
    if (s->placement.has_cores)
        return ker_config_fail(config, error, KEY(seat->job, "placement_file"),
                               "job '%s': task %u is placed on core %u of node %u, but %s", s->name,
                               seat->task, seat->core, seat->node, jobs_holding(jobs, seat->node, 0).text);
    for (uint32_t other = 0; other < seat->job; other++) {
        uint32_t there = task_placement_count(&jobs->slot[other].placement, seat->node);
        if (there > 0)
            return ker_config_fail(config, error, KEY(seat->job, "placement"),
                                   "job '%s' wants %u of the cores of node %u, job '%s' has %u there, and "
                                   "%s: give the "
                                   "jobs nodes of their own (jobs[%u].first_node) or more cores to the node",
                                   s->name, own, seat->node, jobs->slot[other].name, there,
                                   jobs_holding(jobs, seat->node, jobs->tasks).text, seat->job);
    }
    return ker_config_fail(
        config, error,
        KEY(seat->job,
            ker_config_has(config, KEY(seat->job, "placement_file")) ? "placement_file" : "tasks_per_node"),
        "job '%s': %u tasks on node %u, but %s: spread them over more nodes, give it more cores, or let "
        "tasks take turns (node.tasks)",
        s->name, own, seat->node, jobs_holding(jobs, seat->node, jobs->tasks).text);
}

static enum ker_status jobs_twice(const struct task_jobs *jobs, const struct ker_config *config,
                                  const struct task_seat *first, const struct task_seat *second,
                                  struct ker_error *error)
{
    return ker_config_fail(
        config, error, KEY(second->job, "placement"),
        "core %u of node %u is taken twice: by task %u of job '%s' and task %u of job '%s'", second->core,
        second->node, first->task, jobs->slot[first->job].name, second->task, jobs->slot[second->job].name);
}

/* Seats of one node are together, and two that want the same core are next to each other once they are
 * ordered by core. */
static enum ker_status jobs_check_seats(const struct task_jobs *jobs, const struct ker_config *config,
                                        const struct task_seat *seat, size_t count, struct ker_error *error)
{
    for (size_t i = 0; i < count; i++) {
        bool turns = jobs->tasks && !jobs->slot[seat[i].job].placement.has_cores;
        if (seat[i].core >= (turns ? jobs->tasks : jobs_units(jobs, seat[i].node)))
            return jobs_too_many(jobs, config, &seat[i], error);
        if (i > 0 && seat[i - 1].node == seat[i].node && seat[i - 1].core == seat[i].core)
            return jobs_twice(jobs, config, &seat[i - 1], &seat[i], error);
    }
    return KER_OK;
}

static enum ker_status jobs_after(struct task_jobs *jobs, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct task_job **job = ker_alloc((jobs->count + 1ull) * sizeof *job);
    for (uint32_t i = 0; i < jobs->count; i++)
        job[i] = &jobs->slot[i].job;
    enum ker_status status = task_after_read(job, jobs->count, config, error);
    free(job);
    return status;
}

/* One job in closed form whose tasks all nodes can hold: it needs no table. */
static bool jobs_closed(const struct task_jobs *jobs)
{
    const struct task_placement *p = &jobs->slot[0].placement;
    bool closed = jobs->count == 1 && !p->table;
    for (uint32_t k = 0; jobs->kinds && k < node_kinds_count(jobs->kinds); k++)
        closed &=
            p->per_node <= (jobs->tasks ? jobs->tasks : node_kinds_get(jobs->kinds, k)->structure.units);
    return closed;
}

static enum ker_status jobs_seat(struct task_jobs *jobs, const struct ker_config *config,
                                 struct ker_error *error)
{
    if (jobs->count == 0 || jobs_closed(jobs))
        return KER_OK;
    const struct task_placement **placement = ker_alloc(jobs->count * sizeof(const struct task_placement *));
    for (uint32_t job = 0; job < jobs->count; job++)
        placement[job] = &jobs->slot[job].placement;
    jobs->seats = task_seats_make(placement, jobs->count, &jobs->seat);
    free(placement);
    for (size_t i = 0; i < jobs->seats; i++)
        if (!jobs->slot[jobs->seat[i].job].placement.has_cores &&
            jobs->seat[i].core < jobs_units(jobs, jobs->seat[i].node))
            jobs->seat[i].core = jobs_unit(jobs, jobs->seat[i].node, jobs->seat[i].core);
    struct task_seat *by_core = task_seats_by_core(jobs->seat, jobs->seats);
    enum ker_status status = jobs_check_seats(jobs, config, by_core, jobs->seats, error);
    free(by_core);
    for (size_t i = 0; jobs->tasks && i < jobs->seats; i++)
        if (jobs->seat[i].core >= jobs_units(jobs, jobs->seat[i].node))
            jobs->seat[i].core = jobs_unit(jobs, jobs->seat[i].node, jobs->seat[i].core);
    return status;
}

static uint32_t hosts_of(const struct task_jobs *jobs, const struct ker_config *config,
                         const struct route_topology *topology)
{
    if (topology)
        return route_hosts(route_summarise(topology));
    return jobs->each && ker_config_has(config, "loggops.nodes")
               ? (uint32_t)ker_config_int(config, "loggops.nodes")
               : 0;
}

/* Jobs that name their nodes have them, whoever comes first; the others take what is free, one after the
 * other. */
static enum ker_status jobs_place(struct task_jobs *jobs, const struct ker_config *config,
                                  const struct route_topology *topology, uint64_t seed,
                                  struct ker_error *error)
{
    enum ker_status status = KER_OK;
    struct task_allocation allocation;
    if (!jobs->hosts) {
        for (uint32_t job = 0; job < jobs->count; job++)
            task_placement_each(&jobs->slot[job].placement, jobs->slot[job].first, jobs->slot[job].job.tasks);
        return KER_OK;
    }
    task_allocation_init(&allocation, topology, jobs->kinds, jobs->hosts, jobs->count);
    for (uint32_t job = 0; job < jobs->count; job++) {
        allocation.name[job] = jobs->slot[job].name;
        if (jobs->count > 1 && !allocation.holder && !task_placement_named(config, job))
            allocation.holder = ker_alloc(jobs->hosts * sizeof *allocation.holder);
    }
    for (int named = 1; named >= 0; named--)
        for (uint32_t job = 0; job < jobs->count && !status; job++) {
            struct slot *s = &jobs->slot[job];
            if (task_placement_named(config, job) != named)
                continue;
            status = task_placement_init(&s->placement, config, job, s->job.tasks, &allocation, seed, error);
            if (!status)
                task_allocation_hold(&allocation, &s->placement, job);
        }
    task_allocation_release(&allocation);
    return status;
}

/* Files may differ from host to host, so that a job may fail on some ranks only. They all learn of it before
 * the next job whose open is collective, and at the end; not at every job, of which there may be many. */
static enum ker_status jobs_read(struct task_jobs *jobs, const struct ker_config *config,
                                 const struct route_topology *topology, struct ker_comm *comm, uint64_t seed,
                                 struct ker_error *error)
{
    jobs->tasks = ker_config_has(config, "node.tasks") ? (uint32_t)ker_config_int(config, "node.tasks") : 0;
    jobs->each = task_loggops_wanted(config);
    jobs->hosts = hosts_of(jobs, config, topology);
    struct net_levels levels;
    enum ker_status status = net_levels_read(&levels, config, error);
    if (!status && jobs->hosts && !jobs->kinds) {
        status = node_kinds_new(&jobs->own_kinds, config, jobs->hosts,
                                topology ? route_summarise(topology)->adapters : 1, error);
        jobs->kinds = jobs->own_kinds;
    }
    uint32_t count = (uint32_t)ker_config_count(config, "jobs");
    uint64_t tasks = 0;
    jobs->slot = ker_alloc((count ? count : 1) * sizeof *jobs->slot);
    for (uint32_t job = 0; job < count && !status; job++) {
        struct slot *s = &jobs->slot[jobs->count++];
        status = job_settings(s, config, job, error);
        status = status ?: net_levels_class(&levels, &s->job.priority, config, KEY(job, "priority"), error);
        if (!status && s->job.class->collective && (status = ker_comm_worst(comm, status)) != KER_OK)
            return status;
        status = status ?: job_open(s, config, job, comm, error);
        if (status)
            break;
        s->first = (uint32_t)tasks;
        tasks += s->job.tasks;
        if (tasks > INT32_MAX)
            status = ker_config_fail(config, error, "jobs", "have more than %d tasks together", INT32_MAX);
    }
    status = status ?: jobs_after(jobs, config, error);
    status = status ?: jobs_place(jobs, config, topology, seed, error);
    status = ker_comm_worst(comm, status);
    return status || !jobs->hosts ? status : jobs_seat(jobs, config, error);
}

enum ker_status task_jobs_new(struct task_jobs **out, const struct ker_config *config,
                              const struct route_topology *topology, const struct node_kinds *kinds,
                              struct ker_comm *comm, uint64_t seed, struct ker_error *error)
{
    struct task_jobs *jobs = ker_alloc(sizeof *jobs);
    jobs->kinds = kinds;
    enum ker_status status = jobs_read(jobs, config, topology, comm, seed, error);
    if (status) {
        task_jobs_free(jobs);
        *out = NULL;
        return status;
    }
    *out = jobs;
    return KER_OK;
}

enum ker_status task_jobs_again(struct task_jobs *jobs, const struct ker_config *config,
                                struct ker_comm *comm, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (uint32_t job = 0; job < jobs->count && !status; job++) {
        struct slot *s = &jobs->slot[job];
        if (s->job.class->hand)
            continue;
        s->job.class->close(s->job.program);
        s->job.program = NULL;
        status = job_open(s, config, job, comm, error);
    }
    return ker_comm_worst(comm, status);
}

/* A service that tasks call has to run on the nodes of all of them. */
static enum ker_status service_find(const struct task_jobs *jobs, const struct ker_config *config,
                                    uint32_t job, const struct node_service_list *services,
                                    const struct task_called *called, uint32_t *number,
                                    struct ker_error *error)
{
    const char *key = KEY(job, called->word);
    const struct node_service_setup *service;
    if (jobs->each)
        return ker_config_fail(config, error, key,
                               "tasks cannot call the service \"%.60s\" with network.model = \"loggops\", "
                               "where nodes have no services",
                               called->name);
    enum ker_status status = node_service_named(&service, services, config, key, called->name, error);
    if (!status && !node_service_answers(service))
        return ker_config_fail(config, error, key, "the service \"%s\" answers no calls of tasks",
                               service->name);
    for (uint32_t task = 0; task < jobs->slot[job].job.tasks && !status; task++) {
        uint32_t node = task_jobs_node(jobs, job, task);
        if (node_service_member(service, node) == service->members)
            status =
                ker_config_fail(config, error, key,
                                "task %u of job '%s' runs on node %u, where the service \"%s\" does not: "
                                "%s has %u node%s",
                                task, jobs->slot[job].name, node, service->name, service->key,
                                service->members, service->members == 1 ? "" : "s");
    }
    if (!status)
        *number = service->service;
    return status;
}

enum ker_status task_jobs_services(struct task_jobs *jobs, const struct ker_config *config,
                                   const struct node_service_list *services, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    for (uint32_t i = 0; i < jobs->count; i++) {
        struct task_job *job = &jobs->slot[i].job;
        struct task_called called;
        free(job->service);
        job->service = NULL;
        uint32_t count = 0;
        while (!status && job->class->service && job->class->service(job->program, count, &called))
            status = service_find(jobs, config, i, services, &called, KER_APPEND(job->service, count), error);
    }
    return status;
}

bool task_jobs_call_services(const struct task_jobs *jobs)
{
    bool call = false;
    for (uint32_t i = 0; i < jobs->count; i++)
        call |= jobs->slot[i].job.service != NULL;
    return call;
}

void task_jobs_free(struct task_jobs *jobs)
{
    if (!jobs)
        return;
    for (uint32_t job = 0; job < jobs->count; job++) {
        struct slot *s = &jobs->slot[job];
        if (s->job.program)
            s->job.class->close(s->job.program);
        task_placement_release(&s->placement);
        if (s->job.repeated)
            task_steps_release(s->job.repeated);
        KER_FREE(s->job.repeated, s->job.factors, s->job.service, s->job.after, s->name);
    }
    free(jobs->slot);
    free(jobs->seat);
    node_kinds_free(jobs->own_kinds);
    free(jobs);
}

uint32_t task_jobs_count(const struct task_jobs *jobs)
{
    return jobs->count;
}

uint32_t task_jobs_programs(const struct task_jobs *jobs)
{
    uint32_t count = 0;
    for (uint32_t job = 0; job < jobs->count; job++)
        count += !jobs->slot[job].job.schedule;
    return count;
}

void task_jobs_earlier(struct task_jobs *jobs, ker_time by)
{
    for (uint32_t i = 0; i < jobs->count; i++)
        if (jobs->slot[i].job.held && jobs->slot[i].job.start > by)
            jobs->slot[i].job.start -= by;
}

const struct task_job *task_jobs_get(const struct task_jobs *jobs, uint32_t job)
{
    ker_assert(job < jobs->count);
    return &jobs->slot[job].job;
}

const char *task_jobs_text(const void *jobs, uint32_t job)
{
    return task_jobs_get(jobs, job)->name;
}

uint32_t task_jobs_hosts(const struct task_jobs *jobs)
{
    return jobs->hosts;
}

bool task_jobs_each(const struct task_jobs *jobs)
{
    return jobs->each;
}

uint32_t task_jobs_first(const struct task_jobs *jobs, uint32_t job)
{
    return jobs->slot[job].first;
}

uint32_t task_jobs_node(const struct task_jobs *jobs, uint32_t job, uint32_t task)
{
    if (jobs->each)
        return jobs->slot[job].first + task;
    const struct task_placement *p = &jobs->slot[job].placement;
    if (!p->table && !p->list && !p->kinds && p->per_node == 1 && p->law == &task_law_sequential)
        return p->first + task; /* as would be found: most often, and for each message */
    return task_placement_of(p, task).node;
}

struct task_place task_jobs_place(const struct task_jobs *jobs, uint32_t job, uint32_t task)
{
    struct task_place place = task_placement_of(&jobs->slot[job].placement, task);
    if (!jobs->seat) {
        place.core = jobs_unit(jobs, place.node, place.core);
        return place;
    }
    for (size_t i = task_seats_find(jobs->seat, jobs->seats, place.node, job); i < jobs->seats; i++)
        if (jobs->seat[i].task == task) {
            place.core = (uint16_t)jobs->seat[i].core;
            break;
        }
    return place;
}

/* Where each task is a node: the one that is this. */
static uint32_t jobs_at_each(const struct task_jobs *jobs, uint32_t node, struct task_seat *seats,
                             uint32_t room)
{
    uint32_t low = KER_BISECT(i, 1, jobs->count, jobs->slot[i].first <= node) - 1;
    if (jobs->count == 0 || node - jobs->slot[low].first >= jobs->slot[low].job.tasks)
        return 0;
    if (room > 0)
        seats[0] = (struct task_seat){node, 0, low, node - jobs->slot[low].first};
    return 1;
}

/* Without a table: of the only job. */
static uint32_t jobs_at_closed(const struct task_jobs *jobs, uint32_t node, struct task_seat *seats,
                               uint32_t room)
{
    const struct task_placement *p = &jobs->slot[0].placement;
    uint32_t count = jobs->count ? task_placement_count(p, node) : 0;
    for (uint32_t k = 0; k < count && k < room; k++) {
        uint32_t task = task_placement_task(p, node, k);
        seats[k] = (struct task_seat){node, jobs_unit(jobs, node, task_placement_of(p, task).core), 0, task};
    }
    return count;
}

uint32_t task_jobs_at(const struct task_jobs *jobs, uint32_t node, struct task_seat *seats, uint32_t room)
{
    if (jobs->each)
        return jobs_at_each(jobs, node, seats, room);
    if (!jobs->seat)
        return jobs_at_closed(jobs, node, seats, room);
    size_t first = task_seats_find(jobs->seat, jobs->seats, node, 0), i = first;
    for (; i < jobs->seats && jobs->seat[i].node == node; i++)
        if (i - first < room)
            seats[i - first] = jobs->seat[i];
    return (uint32_t)(i - first);
}
