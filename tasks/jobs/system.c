/* What runs on the simulated nodes: jobs under the MPI model, and synthetic traffic, each a service.
 *
 * Jobs and traffic are read on every rank alike. Attaching gives every own node of this rank its states: the
 * MPI model's where tasks run, the traffic's where traffic is.
 *
 * Invariant: the tasks that live on this rank are handed to their programs in increasing order, job by job;
 * the number of a task in that order is how the MPI model names it to the program.
 */
#include "tasks/tasks.h"

#include "tasks/mpi/mpi.h"
#include "tasks/traffic/traffic.h"

#include <stdlib.h>

#define WAITING_ROWS 40

struct task_system {
    const struct route_topology *topology;
    struct task_jobs *jobs;
    const struct node_services *services;
    struct task_mpi *mpi; /* NULL without jobs */
    uint32_t mpi_service;
    struct task_traffic *traffic; /* NULL: none */
    struct task_traffic_node *traffic_nodes;
    size_t traffic_bytes;
    uint32_t foreground; /* jobs */
    bool *stuck;         /* jobs that task_system_stuck has found, on every rank alike; NULL: none */
};

const struct ker_option *const task_option_tables[] = {
    task_job_options, task_traffic_options, mpi_options, node_options, NULL,
};

static void system_serve(struct task_system *system, struct node_services *services)
{
    system->services = services;
    if (system->mpi) {
        system->mpi_service = node_services_add(services, NULL, &task_mpi_service, system->mpi);
        task_mpi_name(system->mpi, system->mpi_service);
    }
    if (system->traffic)
        system->traffic->service =
            node_services_add(services, NULL, task_traffic_service(system->traffic), system->traffic);
}

enum ker_status task_system_new(struct task_system **out, const struct ker_config *config,
                                const struct route_topology *topology, const struct node_model *model,
                                struct node_services *services, struct ker_comm *comm, uint64_t seed,
                                struct ker_error *error)
{
    struct task_system *system = ker_alloc(sizeof *system);
    system->topology = topology;
    *out = NULL;
    enum ker_status status = task_jobs_new(&system->jobs, config, topology, comm, seed, error);
    if (!status && task_jobs_count(system->jobs) > 0) {
        struct task_mpi_outside outside = task_mpi_outside_make(system->jobs);
        outside.seed = seed;
        status = task_mpi_new(&system->mpi, config, &outside, error);
    }
    if (!status)
        status = task_traffic_new(&system->traffic, config, topology, model->cores, seed, error);
    if (status) {
        task_system_free(system);
        return status;
    }
    system_serve(system, services);
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        system->foreground += !task_jobs_get(system->jobs, job)->background;
    *out = system;
    return KER_OK;
}

void task_system_free(struct task_system *system)
{
    if (!system)
        return;
    if (system->mpi)
        task_mpi_free(system->mpi);
    task_jobs_free(system->jobs);
    task_traffic_free(system->traffic);
    ker_release(system->traffic_nodes, system->traffic_bytes);
    free(system->stuck);
    free(system);
}

/* The seats of this rank's nodes, node after node; first[i] .. first[i + 1] - 1 are those of node i. */
struct seating {
    struct task_mpi_seat *seat;
    uint32_t *first;
    uint32_t count;
};

static void seating_fill(struct seating *s, const struct task_jobs *jobs, const uint32_t *nodes,
                         uint32_t count)
{
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
}

static int seat_compare(const void *a, const void *b)
{
    const struct task_mpi_seat *x = *(struct task_mpi_seat *const *)a, *y = *(struct task_mpi_seat *const *)b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* Numbers the seats within their jobs and hands every program its tasks. */
static enum ker_status system_prepare(struct task_system *system, struct seating *s, struct ker_error *error)
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
        enum ker_status prepared = j->class->prepare(j->program, own_tasks + begin, next - begin, error);
        status = status ? status : prepared;
    }
    free(own_tasks);
    free(order);
    return status;
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

enum ker_status task_system_attach(struct task_system *system, const uint32_t *nodes, uint32_t count,
                                   void **state, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    if (system->mpi) {
        struct seating seats = {0};
        seating_fill(&seats, system->jobs, nodes, count);
        status = system_prepare(system, &seats, error);
        uint32_t used = 0;
        for (uint32_t i = 0; i < count; i++)
            used += seats.first[i + 1] > seats.first[i];
        task_mpi_reserve(system->mpi, used, seats.count);
        for (uint32_t i = 0; !status && i < count; i++) {
            uint32_t there = seats.first[i + 1] - seats.first[i];
            if (there == 0)
                continue;
            state[(size_t)i * system->services->count + system->mpi_service] =
                task_mpi_node_new(system->mpi, nodes[i], seats.seat + seats.first[i], there);
        }
        free(seats.seat);
        free(seats.first);
    }
    if (!status && system->traffic)
        system_attach_traffic(system, nodes, count, state);
    return status;
}

uint64_t task_system_unfinished(const struct task_system *system)
{
    return system->mpi ? task_mpi_unfinished(system->mpi) : 0;
}

uint32_t task_system_jobs(const struct task_system *system)
{
    return task_jobs_count(system->jobs);
}

uint32_t task_system_foreground(const struct task_system *system)
{
    return system->foreground;
}

/* Open and unfinished of every job, summed over the ranks; malloc'ed. */
static uint64_t *jobs_counts(const struct task_system *system, struct ker_comm *comm)
{
    uint32_t jobs = task_jobs_count(system->jobs);
    uint64_t *v = ker_alloc(2 * (size_t)jobs * sizeof *v);
    for (uint32_t job = 0; job < jobs; job++) {
        int64_t open;
        task_mpi_job(system->mpi, job, &open, &v[2 * job + 1]);
        v[2 * job] = (uint64_t)open; /* modulo 2^64 the sum is exact */
    }
    ker_comm_sum_u64(comm, v, (int)(2 * jobs));
    return v;
}

uint32_t task_system_stuck(struct task_system *system, struct ker_comm *comm)
{
    uint32_t jobs = task_jobs_count(system->jobs), count = 0;
    uint64_t *v = jobs_counts(system, comm);
    bool *stuck = ker_alloc(jobs * sizeof *stuck);
    for (uint32_t job = 0; job < jobs; job++) {
        stuck[job] = !task_jobs_get(system->jobs, job)->background && v[2 * job] == 0 && v[2 * job + 1] > 0;
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
        open |= v[2 * job];
    free(v);
    return open ? "timers and messages of jobs that are still open" : NULL;
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

/* A deadlock in the background ends no run, but the traffic that was meant to be there has stopped. */
static void report_stopped(const struct task_system *system, const uint64_t *counts)
{
    for (uint32_t job = 0; job < task_jobs_count(system->jobs); job++)
        if (task_jobs_get(system->jobs, job)->background && counts[2 * job] == 0 && counts[2 * job + 1] > 0)
            ker_warn("background job %s has deadlocked: %llu of its tasks wait for messages or partners that "
                     "never come",
                     task_jobs_get(system->jobs, job)->name, (unsigned long long)counts[2 * job + 1]);
}

static ker_time times_add(ker_time a, ker_time b)
{
    return a < KER_TIME_MAX - b ? a + b : KER_TIME_MAX;
}

struct job_sum {
    ker_time finish;
    ker_time poll_gap, finalize_gap, finalize_gap_max;
    uint64_t messages, bytes, received, passes;
};

static uint64_t cell(const struct stats_table *tasks, size_t row, const char *column)
{
    return (uint64_t)stats_table_cell(tasks, row, stats_table_find(tasks, column, false));
}

/* Of each job, malloc'ed. */
static struct job_sum *jobs_sum(const struct task_system *system, const struct stats_table *tasks)
{
    struct job_sum *sum = ker_alloc(task_jobs_count(system->jobs) * sizeof *sum);
    for (size_t i = 0; tasks && i < stats_table_rows(tasks); i++) {
        struct job_sum *s = &sum[cell(tasks, i, "job")];
        ker_time finish = (ker_time)cell(tasks, i, "finish_ps"),
                 finalize = (ker_time)cell(tasks, i, "finalize_gap_ps");
        uint64_t passes = cell(tasks, i, "passes");
        s->finish = finish > s->finish ? finish : s->finish;
        s->messages += cell(tasks, i, "messages_sent");
        s->bytes += cell(tasks, i, "bytes_sent");
        s->received += cell(tasks, i, "messages_received");
        s->poll_gap = times_add(s->poll_gap, (ker_time)cell(tasks, i, "poll_gap_ps"));
        s->finalize_gap = times_add(s->finalize_gap, finalize);
        s->finalize_gap_max = finalize > s->finalize_gap_max ? finalize : s->finalize_gap_max;
        s->passes = passes < s->passes || cell(tasks, i, "task") == 0 ? passes : s->passes;
    }
    return sum;
}

/* One object per job. finish_ps is null for a job that has not finished. */
static json_t *report_jobs(const struct task_system *system, const struct stats_table *tasks)
{
    struct job_sum *sum = jobs_sum(system, tasks);
    json_t *jobs = json_array();
    for (uint32_t i = 0; i < task_jobs_count(system->jobs); i++) {
        const struct task_job *job = task_jobs_get(system->jobs, i);
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(job->name));
        json_object_set_new(object, "tasks", json_integer(job->tasks));
        json_object_set_new(object, "finish_ps",
                            sum[i].finish == KER_TIME_MAX ? json_null() : json_integer(sum[i].finish));
        json_object_set_new(object, "messages", json_integer((json_int_t)sum[i].messages));
        json_object_set_new(object, "bytes", json_integer((json_int_t)sum[i].bytes));
        if (job->restart)
            json_object_set_new(object, "passes", json_integer((json_int_t)sum[i].passes));
        if (job->class->taken) {
            json_object_set_new(object, "poll_gap_ps", json_integer(sum[i].poll_gap));
            json_object_set_new(object, "finalize_gap_ps", json_integer(sum[i].finalize_gap));
            json_object_set_new(object, "finalize_gap_max_ps", json_integer(sum[i].finalize_gap_max));
        }
        uint64_t lost = sum[i].messages - sum[i].received;
        json_object_set_new(object, "unreceived", json_integer((json_int_t)lost));
        if (lost && sum[i].finish != KER_TIME_MAX && !job->restart)
            ker_warn("job %s ended, but %llu of its messages were never received", job->name,
                     (unsigned long long)lost);
        json_array_append_new(jobs, object);
    }
    free(sum);
    return jobs;
}

const struct stats_schema *const task_tables[] = {&task_mpi_schema, NULL};

enum ker_status task_system_report(struct task_system *system, struct ker_comm *comm, ker_time end,
                                   const struct stats_folder *folder, json_t **jobs, struct ker_error *error)
{
    enum ker_status status = KER_OK;
    struct task_mpi_outside outside = task_mpi_outside_make(system->jobs);
    struct task_mpi_names names = {&outside, system->topology};
    struct stats_table *tasks = NULL;
    *jobs = NULL;
    if (system->mpi) {
        uint64_t *counts = jobs_counts(system, comm);
        if (ker_comm_rank(comm) == 0)
            report_stopped(system, counts);
        free(counts);
        tasks = task_mpi_results(system->mpi, &names, end);
        stats_table_gather(tasks, comm);
    }
    if (ker_comm_rank(comm) == 0) {
        *jobs = report_jobs(system, tasks);
        if (folder && tasks)
            status = stats_table_write(tasks, folder, error);
    }
    stats_table_free(tasks);
    return status;
}

static int wait_compare(const void *a, const void *b)
{
    const struct task_mpi_wait *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static void waiting_row(const struct task_system *system, FILE *out, const struct task_mpi_wait *row)
{
    char since[32], line[16] = "-";
    if (row->line)
        snprintf(line, sizeof line, "%u", row->line);
    fprintf(out, "  %-12.12s %7u %7u  %-18.18s %8s  %-10s %s\n", task_jobs_get(system->jobs, row->job)->name,
            row->task, row->node, row->call, line, ker_print_time(since, row->since), row->awaited);
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
    uint64_t own = system->mpi ? task_mpi_waiting(system->mpi, system->stuck, NULL, 0) : 0, total = own;
    struct task_mpi_wait *rows = ker_alloc(own * sizeof *rows);
    if (own)
        task_mpi_waiting(system->mpi, system->stuck, rows, own);
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

/* ---- saved state ---- */

#define VERSION 2

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

static void system_state(struct task_system *system, struct ker_chunk *c)
{
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

void task_system_save(struct task_system *system, struct ker_state_writer *writer)
{
    system_state(system, ker_state_begin(writer, "jobs", VERSION, 0));
    ker_state_end(writer);
}

static void system_load(void *context, struct ker_chunk *c)
{
    system_state(context, c);
}

static void system_pass(void *context, struct ker_chunk *c)
{
    c->at = c->bytes;
}

void task_loaders(struct task_system *system, bool sums, struct ker_state_loader loaders[TASK_STATES])
{
    loaders[0] = (struct ker_state_loader){"jobs", VERSION, sums ? system_load : system_pass, system};
}
