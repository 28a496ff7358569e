/* run/report.c - what a run has to say: result files and terminal. */
#include "run/stages.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)u.ru_utime.tv_sec + (double)u.ru_stime.tv_sec +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double wall_seconds(const struct run *run)
{
    return 1e-9 * (double)(ker_clock_ns(CLOCK_MONOTONIC) - run->started_ns);
}

/* Collective: `run`, which may differ from run to run. */
json_t *run_speed_json(struct run *run)
{
    const struct ker_counts none = {0}, *c = run->engine ? ker_engine_counts(run->engine) : &none;
    uint64_t hops = run->network ? run_totals(run).packet_hops : 0;
    uint64_t v[] = {
        c->records, hops,     ker_peak_rss(), c->windows,       c->epochs,  (uint64_t)(cpu_seconds() * 1e6),
        c->wakes,   c->cells, c->sent.bytes,  c->sent.messages, c->critical};
    int64_t most[] = {(int64_t)c->records, run->simulated.wall, run->simulated.cpu};
    ker_comm_sum_u64(run->comm, v, sizeof v / sizeof *v);
    ker_comm_max_i64(run->comm, most, sizeof most / sizeof *most);
    if (!run->control)
        return NULL;
    ker_assert(run->engine); /* the control rank always works */
    double ranks = run->workers, wall = wall_seconds(run), cpu = (double)v[5] * 1e-6;
    return json_pack("{s:i, s:i, s:b, s:f, s:f, s:f, s:f, s:I, s:I, s:I, s:f, s:f, s:I, s:I, s:I, s:I, s:I, "
                     "s:I, s:I, s:o, s:f, s:I}",
                     "ranks", ker_comm_size(run->comm), "working_ranks", run->workers, "adapted", run->alone,
                     "wall_s", wall, "cpu_s", cpu, "engine_s", 1e-9 * (double)most[1], "engine_cpu_s",
                     1e-9 * (double)most[2], "events", (json_int_t)v[0], "wake_ups", (json_int_t)v[6],
                     "packet_hops", (json_int_t)v[1], "packet_hops_per_s", wall > 0 ? (double)v[1] / wall : 0,
                     "packet_hops_per_cpu_s", cpu > 0 ? (double)v[1] / cpu : 0, "peak_rss_bytes",
                     (json_int_t)v[2], "windows", (json_int_t)v[3], "active_cells", (json_int_t)v[7],
                     "epochs", (json_int_t)(v[4] / (uint64_t)run->workers), "sent_bytes", (json_int_t)v[8],
                     "sent_messages", (json_int_t)v[9], "window_ps",
                     (json_int_t)ker_engine_window(run->engine), "checkpoints", run_checkpoints_json(run),
                     "imbalance", v[0] ? (double)most[0] * ranks / (double)v[0] : 1, "critical_events",
                     (json_int_t)(v[10] / (uint64_t)run->workers));
}

/* What is learnt of the links while their rows are streamed, on rank 0. */
struct links {
    int class, busy_ps, packets, from, to, bytes;  /* columns */
    struct run_use use[ROUTE_MAX_LINKS], adapters; /* by class; those that adapters send on */
    struct run_use taken;                          /* bytes that adapters took off the network */
    struct stats_busiest *busiest;
    struct stats_growth *growth;
    struct stats_writer *writer; /* NULL: no file */
};

static void use_add(struct run_use *u, uint64_t busy, bool unused)
{
    u->directions++;
    u->unused += unused;
    u->busy += busy;
    u->most = busy > u->most ? busy : u->most;
}

static void link_show(void *context, const struct stats_table *table, size_t row)
{
    struct links *l = context;
    table = stats_growth_row(l->growth, table, &row);
    uint64_t busy = (uint64_t)stats_table_cell(table, row, l->busy_ps);
    bool unused = stats_table_cell(table, row, l->packets) == 0;
    use_add(&l->use[stats_table_cell(table, row, l->class)], busy, unused);
    if (stats_table_cell(table, row, l->from)) /* a node */
        use_add(&l->adapters, busy, unused);
    if (stats_table_cell(table, row, l->to))
        use_add(&l->taken, (uint64_t)stats_table_cell(table, row, l->bytes), unused);
    stats_busiest_add(l->busiest, table, row);
    stats_writer_row(l->writer, table, row);
}

/* The key that would ask for a table that is written by default. */
static const char *key_not_given(const struct run *run, const char *key)
{
    return ker_config_has(run->config, key) ? NULL : key;
}

struct task_files run_task_files(const struct run *run)
{
    return (struct task_files){.folder = &run->folder,
                               .tasks = ker_config_bool(run->config, "output.tasks"),
                               .tasks_key = key_not_given(run, "output.tasks"),
                               .matching = ker_config_bool(run->config, "output.matching"),
                               .matching_key = key_not_given(run, "output.matching"),
                               .measured = ker_config_bool(run->config, "output.collectives"),
                               .calls_key = key_not_given(run, "output.calls")};
}

/* Collective: the rows of links.csv, and what they say. */
static void links_report(struct run *run, struct links *l, ker_time span)
{
    *l = (struct links){0};
    if (!run_links(run))
        return;
    struct stats_table *table = run_links(run)->table(run->network, span);
    *l = (struct links){.class = stats_table_find(table, "class", false),
                        .busy_ps = stats_table_find(table, "busy_ps", false),
                        .packets = stats_table_find(table, "packets", false),
                        .from = stats_table_find(table, "from_kind", false),
                        .to = stats_table_find(table, "to_kind", false),
                        .bytes = stats_table_find(table, "bytes", false),
                        .growth = run->folder.growth,
                        .busiest = stats_busiest_new(table)};
    if (run->control && ker_config_bool(run->config, "output.links"))
        l->writer = stats_writer_open(table, &run->folder, key_not_given(run, "output.links"), &run->error);
    run_links(run)->show(run->network, table, run->comm, &(struct stats_visitor){link_show, l});
    stats_writer_close(l->writer, &run->error);
    stats_table_free(table);
}

/* Utilisation by class of link, of those classes that have links. */
static json_t *classes_json(const struct route_summary *sum, const struct links *l, ker_time span)
{
    json_t *classes = json_array();
    for (int i = 0; i < sum->link_count; i++) {
        const struct run_use *u = &l->use[i];
        if (!u->directions)
            continue;
        json_array_append_new(
            classes, json_pack("{s:s, s:I, s:o, s:o}", "class", sum->link[i].name, "directions",
                               (json_int_t)u->directions, "mean_utilisation",
                               stats_ratio_json((double)u->busy, (double)span * (double)u->directions),
                               "max_utilisation", stats_ratio_json((double)u->most, (double)span)));
    }
    return classes;
}

/* How busy adapters of a limited rate are with what comes. */
static json_t *ejection_json(const struct run *run, const struct run_use *taken, ker_time span)
{
    double could = (double)ker_config_rate(run->config, "adapter.ejection_rate") * (double)span / 1e12;
    return json_pack("{s:I, s:o, s:o}", "adapters", (json_int_t)taken->directions, "mean_utilisation",
                     stats_ratio_json((double)taken->busy, could * (double)taken->directions),
                     "max_utilisation", stats_ratio_json((double)taken->most, could));
}

static void links_add(const struct run *run, json_t *result, const struct links *links, ker_time span)
{
    json_object_set_new(result, "link_classes", classes_json(route_summarise(run->topology), links, span));
    if (ker_config_has(run->config, "adapter.ejection_rate"))
        json_object_set_new(result, "ejection", ejection_json(run, &links->taken, span));
}

static void result_add(struct run *run, json_t *r, ker_time at, json_t *jobs, json_t *services,
                       json_t *inside, json_t *power)
{
    const struct route_summary *sum = route_summarise(run->topology);
    double offered = task_system_offered(run->tasks, sum->adapters * sum->link[sum->endpoint_link].rate);
    json_object_set_new(r, "simulated_time_ps", json_integer((json_int_t)at));
    json_object_set_new(r, "end_reason", json_string(run_end_reason(run)));
    run_network_tell(run, r);
    if (offered > 0 || json_is_number(json_object_get(r, "offered_load")))
        json_object_set_new(r, "offered_load",
                            json_real(offered + json_number_value(json_object_get(r, "offered_load"))));
    if (run->batch)
        json_object_set_new(r, "confidence", run_batches_json(run));
    json_object_set_new(r, "jobs", jobs ? jobs : json_array());
    if (task_system_costless(run->tasks))
        json_object_set_new(r, "mpi_overheads", json_false());
    if (run->listed)
        json_object_set_new(r, "services", services);
    else
        json_decref(services);
    if (power)
        json_object_set_new(r, "power", power);
    if (inside)
        json_object_set_new(r, "node", inside);
}

/* Collective: what is said of the traffic. */
static void traffic_add(struct run *run, json_t *result)
{
    const struct route_summary *sum = route_summarise(run->topology);
    const json_t *accepted = json_object_get(result, "accepted_load");
    double all = (double)sum->link[sum->endpoint_link].rate * (double)sum->endpoints;
    if (task_system_load(run->tasks) > 0)
        task_system_look(run->tasks, ker_time_min(run->ended_at, run->measure_to));
    json_t *traffic = task_system_traffic(run->tasks, run->comm, run->warmup,
                                          json_is_number(accepted) ? json_number_value(accepted) * all : NAN);
    if (traffic)
        json_object_set_new(result, "traffic", traffic);
}

void run_files_close(struct run *run)
{
    stats_periods_close(run->periods, &run->error);
    run->periods = NULL;
    stats_series_close(run->series, &run->error);
    run->series = NULL;
    run_hdf5_close(run);
}

void run_summary_write(struct run *run, json_t *summary, char *text)
{
    stats_json_write(run->folder.path, "summary.json", summary, &run->error);
    stats_text_write(run->folder.path, "summary.txt", text, &run->error);
    if (!run->args->quiet)
        printf("%s\nresults     %s\n", text, run->folder.path);
    fflush(stdout); /* before the run is over, as far as signals are concerned */
    free(text);
    json_decref(summary);
}

/* Nothing is counted behind it. */
static void nodes_end(struct run *run, ker_time at)
{
    if (run->carrier->end)
        run->carrier->end(run->network, at);
    node_system_end(run->nodes, at);
}

/* On rank 0: what was measured is of all steps, where some were skipped; by how much that is longer. */
static ker_time sums_grow(const struct run *run, json_t *result, const json_t *inside, ker_time span)
{
    static const char *const loads[] = {"accepted_load", "injected_load", "offered_load"}, *const moved[] = {
                                                                                               "controllers",
                                                                                               "socket_links",
                                                                                               "buses"};
    const struct stats_growth *growth = run->folder.growth;
    if (!growth)
        return 0;
    double more = (double)growth->whole.all / (double)growth->whole.seen * (double)span /
                  (double)(span + (ker_time)growth->later);
    run_skip_sums(&growth->whole, result);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        json_t *load = json_object_get(result, loads[i]);
        json_real_set(load, json_real_value(load) * more); /* null remains */
    }
    for (size_t i = 0; i < sizeof moved / sizeof *moved; i++) {
        json_t *bytes = json_object_get(json_object_get(inside, moved[i]), "bytes");
        json_integer_set(bytes,
                         (json_int_t)stats_grown((stats_cell)json_integer_value(bytes), &growth->whole));
    }
    return (ker_time)growth->later;
}

/* Collective. Everything measured is written, also after a failed run. */
void run_report(struct run *run)
{
    ker_time at = run->ended_at;
    ker_time to = run->measure_to < at ? run->measure_to : at, span = to > run->warmup ? to - run->warmup : 0;
    if (at <= run->warmup && run->warmup > 0 && run->control)
        ker_warn("run.warmup: nothing was measured: the run ended before the warm-up was over");
    run_series_end(run, at);
    nodes_end(run, at);
    run_skip_measure(run);
    struct links links;
    struct task_files files = run_task_files(run);
    json_t *jobs = NULL, *speed = run_speed_json(run);
    task_system_report(run->tasks, run->comm, at, &files, &jobs, &run->error);
    json_t *result = run->carrier->report(run->network, run->comm, span);
    run_skip_whole(run, at, jobs, result);
    links_report(run, &links, span);
    traffic_add(run, result);
    bool services = ker_config_bool(run->config, "output.services");
    json_t *listed = node_service_list_report(run->listed, run->comm, span, &run->folder, services,
                                              key_not_given(run, "output.services"), &run->error);
    json_t *storage = node_service_list_report_own(run->listed, "storage", run->comm, span, &run->folder,
                                                   NULL, &run->error);
    json_t *inside = node_system_report(run->nodes, &run->model, run->comm, at,
                                        ker_config_bool(run->config, "output.cores") ? &run->folder : NULL,
                                        key_not_given(run, "output.cores"), &run->error);
    if (run->carrier->write)
        run->carrier->write(run->network, run->comm, &run->folder, &run->error);
    if (run_links(run))
        run_links(run)->series_write(run->network, run->comm, span, &run->folder, &run->error);
    json_t *skip = run_skip_report(run, jobs);
    json_t *timelines = run_timeline_write(run, at);
    run_files_close(run);
    if (run->control) {
        ker_time later = sums_grow(run, result, inside, span);
        span += later;
        result_add(run, result, at, jobs, listed, inside,
                   run_power_json(run, links.use, &links.adapters, inside, span, at + later));
        json_object_set_new(result, "timelines", timelines); /* NULL: nothing is set */
        json_object_set_new(result, "skip", skip);
        json_object_set_new(result, "storage", storage);
        if (run_links(run))
            links_add(run, result, &links, span);
        json_t *summary = run_summary_json(run, result, speed);
        run_summary_write(run, summary, stats_summary_text(summary, links.busiest, span));
    }
    if (links.busiest)
        stats_busiest_free(links.busiest);
}
