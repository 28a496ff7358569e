/* read.c - the stages that read: configuration, topology, jobs and traffic, network; and what contradicts
 * itself in them. Every rank reads all of it.
 */
#include "run/stages.h"

#include <stdlib.h>
#include <unistd.h>

#define MOST_ROUNDS 100000000 /* rows of a table, looks at a condition */
#define LEAST_PORT_BYTES 100  /* of one end of a link, at least: 120 to 250 are usual */

void run_phases_read(struct run *run)
{
    const struct ker_config *c = run->config;
    run->seed = (uint64_t)ker_config_int(c, "run.seed");
    run->warmup = ker_config_time(c, "run.warmup");
    run->end = ker_config_has(c, "run.end") ? ker_config_time(c, "run.end") : KER_TIME_MAX;
    run->measure_to = ker_config_has(c, "run.measure")
                          ? ker_time_later(run->warmup, ker_config_time(c, "run.measure"))
                          : KER_TIME_MAX;
    if (run->measure_to != KER_TIME_MAX && !ker_config_bool(c, "run.drain") && run->measure_to < run->end)
        run->end = run->measure_to;
    run->period = ker_config_time(c, "output.period");
    run->batch = ker_config_has(c, "run.confidence") ? ker_config_time(c, "run.batch") : 0;
    run->interval = ker_config_time(c, "run.check_interval");
}

/* What happens again and again until the run ends, when that is known, must not happen too often. */
static enum ker_status rounds_check(struct run *run)
{
    const struct {
        const char *key;
        ker_time every;
    } again[] = {{"output.period", run->period},
                 {"run.batch", run->batch},
                 {"run.check_interval", ker_config_has(run->config, "run.packets") ? run->interval : 0}};
    ker_time end = run->end < run->measure_to ? run->end : run->measure_to;
    char least[32];
    for (size_t i = 0; i < sizeof again / sizeof *again && end != KER_TIME_MAX; i++)
        if (again[i].every && end / again[i].every > MOST_ROUNDS)
            return ker_config_fail(run->config, &run->error, again[i].key,
                                   "would be done %lld times before the run ends; at most %lld times are "
                                   "possible: give %s or more",
                                   (long long)(end / again[i].every), (long long)MOST_ROUNDS,
                                   ker_print_time(least, end / MOST_ROUNDS + 1));
    return KER_OK;
}

/* Times that contradict each other. */
static enum ker_status phases_check(struct run *run)
{
    const struct ker_config *c = run->config;
    if (run->warmup >= run->end)
        return ker_config_fail(c, &run->error, "run.warmup",
                               "the run ends before anything is measured: shorten it or move run.end");
    if (ker_config_has(c, "run.measure") && run->end < run->measure_to)
        return ker_config_fail(c, &run->error, "run.end",
                               "comes before the measured span (run.warmup + run.measure) is over: "
                               "move it or shorten run.measure");
    return rounds_check(run);
}

enum ker_status run_ends_check(struct run *run)
{
    const struct ker_config *c = run->config;
    if (!run->args->check && !ker_config_has(c, "traffic.pattern") && ker_config_count(c, "jobs") == 0 &&
        !run->listed)
        return ker_config_fail(
            c, &run->error, "jobs",
            "nobody sends anything: give jobs, services, or synthetic traffic by traffic.pattern");
    enum ker_status status = phases_check(run);
    if (status != KER_OK)
        return status;
    run->open_ended = task_system_endless(run->tasks) || node_service_list_endless(run->listed);
    uint32_t foreground = task_system_foreground(run->tasks),
             background = task_system_jobs(run->tasks) - foreground;
    run->watch = foreground > 0 && (run->open_ended || background > 0 || task_system_dependent(run->tasks));
    if (foreground > 0 || run->end != KER_TIME_MAX || ker_config_has(c, "run.packets") ||
        ker_config_has(c, "run.confidence"))
        return KER_OK;
    if (background > 0)
        return ker_config_fail(
            c, &run->error, "jobs",
            "all jobs are in the background, and a run does not wait for those: give run.end%s, "
            "run.packets or run.confidence",
            run->measure_to != KER_TIME_MAX ? ", run.drain = false" : "");
    if (run->open_ended && run->measure_to == KER_TIME_MAX)
        return ker_config_fail(
            c, &run->error, "run.end", "%s: give one of run.end, run.measure, run.packets, run.confidence%s",
            task_system_endless(run->tasks) ? "the traffic never ends" : "services never end",
            task_system_endless(run->tasks) ? ", or traffic.messages" : "");
    return KER_OK;
}

/* What cannot fit is refused before it is tried: a machine that begins to swap is of no use to anybody. */
static enum ker_status memory_check(struct run *run)
{
    const struct route_summary *sum = route_summarise(run->topology);
    int ranks = ker_comm_size(run->comm), on_host = ker_comm_host_size(run->comm),
        hosts = (ranks + on_host - 1) / on_host;
    double least = (2.0 * (double)sum->links + sum->endpoints + sum->switches) * LEAST_PORT_BYTES;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * hosts;
    char a[32], b[32];
    if (least <= have)
        return KER_OK;
    return ker_config_fail(run->config, &run->error, "topology.kind",
                           "%u nodes, %u switches and %llu links need more than %s of memory; %s "
                           "%s: make the system smaller, or use more hosts",
                           route_hosts(sum), sum->switches, (unsigned long long)sum->links,
                           ker_print_bytes(a, least), hosts > 1 ? "these hosts have" : "this host has",
                           ker_print_bytes(b, have));
}

void run_config_read(struct run *run)
{
    if (run->config && run->args->resume) /* of the run that has moved here */
        run_resume_index(run);
    if (run->config) /* or has begun before */
        return;
    if (run->args->resume) {
        run_resume_config(run);
        return;
    }
    const struct ker_option **tables = run_option_tables();
    ker_config_load_all(&run->config, run->comm, run->args->file, run->args->overrides,
                        run->args->override_count, tables, run_plugin_sizes, &run->error);
    free(tables);
}

void run_topology_make(struct run *run)
{
    if (run->control)
        ker_config_warn(run->config);
    run_phases_read(run);
    run_checkpoints_read(run);
    run->carrier = ker_config_operations(run->config, "network.model");
    struct ker_comm *shares = run_routes_divided(run) ? run->comm : NULL;
    if (route_new_shared(&run->topology, run->config,
                         run->carrier->channels ? run->carrier->channels(run->config) : 0, shares,
                         &run->error) != KER_OK)
        return;
    uint32_t nodes = route_hosts(route_summarise(run->topology));
    if (ker_config_means_key(run->config, "network.nodes") && ker_config_has(run->config, "network.nodes") &&
        ker_config_int(run->config, "network.nodes") != nodes) {
        ker_config_fail(run->config, &run->error, "network.nodes",
                        "is beside a topology of %u nodes: give one of them", nodes);
        return;
    }
    if (run->control && *route_summarise(run->topology)->warning)
        ker_warn("%s", route_summarise(run->topology)->warning);
    memory_check(run);
}

/* What a job does after each so many steps, and never does since it has fewer. */
static void every_warn(const struct ker_config *c)
{
    static const char *const words[] = {"allreduce_every", "checkpoint_every"};
    for (int job = 0; job < ker_config_count(c, "jobs"); job++)
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            char *key = ker_format("jobs[%d].%s", job, words[i]), *steps = ker_format("jobs[%d].steps", job);
            struct ker_error never = {.status = KER_OK};
            if (ker_config_has(c, key) && ker_config_int(c, key) > ker_config_int(c, steps)) {
                ker_config_fail(c, &never, key, "never comes: the job has %lld steps",
                                (long long)ker_config_int(c, steps));
                ker_warn("%s", never.text);
            }
            free(key);
            free(steps);
        }
}

void run_tasks_read(struct run *run)
{
    const struct route_summary *sum = route_summarise(run->topology);
    enum ker_status status = node_model_init(&run->model, run->config, sum->adapters, &run->error);
    node_noise_release(&run->noise);
    if (!status && !run->kinds)
        status = node_kinds_new(&run->kinds, run->config, route_hosts(sum), sum->adapters, &run->error);
    status = status ?: node_noise_init(&run->noise, run->config, &run->error);
    status = ker_comm_worst(run->comm, status); /* files may differ from host to host */
    if (!status)
        node_model_kinds(&run->model, run->config, run->kinds);
    bool again = run->tasks != NULL;
    if (!status && again)
        status = task_system_again(run->tasks, run->config, run->topology, &run->model, &run->services,
                                   run->comm, run->seed, &run->error);
    else if (!status)
        status = task_system_new(&run->tasks, run->config, run->topology, &run->model, &run->services,
                                 run->comm, run->seed, &run->error);
    if (!status)
        run->model.direct = task_system_direct(run->tasks);
    if (!status)
        status =
            node_service_list_new(&run->listed, run->config, store_services(run->config), route_hosts(sum),
                                  run->seed, run->measure_to, &run->services, &run->error);
    status = status ?: task_system_services(run->tasks, run->config, run->listed, &run->error);
    if (!status && run->resumed)
        run_fork_tasks(run);
    if (!status && run->control && !again)
        every_warn(run->config);
    if (!status && run->control && !again && task_system_load(run->tasks) > 1 + 1e-9)
        ker_warn(
            "%s: the traffic is %g times what the injection links can carry, headers included: it will be "
            "saturated",
            ker_config_has(run->config, "traffic.load") ? "traffic.load" : "traffic.interval",
            task_system_load(run->tasks));
}

static const char *node_keys(const void *kinds, uint32_t node)
{
    return node_kinds_get(kinds, node_kinds_of(kinds, node))->group;
}

void run_network_read(struct run *run)
{
    bool by_job = ker_config_bool(run->config, "output.links_by_job");
    enum ker_status status = run_ends_check(run);
    struct net_phases phases = {run->warmup,
                                run->measure_to < run->end ? run->measure_to : run->end,
                                run->measure_to,
                                run->listed || run->model.rail == NODE_RAIL_STRIPE /* of any size */
                                    ? 0
                                    : task_system_least_payload(run->tasks),
                                run->kinds ? node_keys : NULL,
                                run->kinds,
                                by_job ? task_system_jobs(run->tasks) : 0,
                                task_system_job_name,
                                run->tasks};
    if (status == KER_OK)
        run->carrier->new (&run->network, run->config, run->topology, run->seed, phases, &run->error);
    bool warns = run->control && run->error.status == KER_OK && run->carrier->warning;
    char *warning = warns ? run->carrier->warning(run->network) : NULL;
    if (warning)
        ker_warn("%s", warning);
    free(warning);
    task_system_stop(run->tasks, run->measure_to);
    if (run->error.status == KER_OK)
        run_series_check(run);
}
