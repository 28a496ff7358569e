/* run/run.c - one run: read, build, partition, run, report.
 *
 * Every rank reads the same configuration and builds its own part of the system; rank 0 partitions and
 * writes. After each step that can fail, all ranks agree on the worst status, one message is printed, and all
 * end alike.
 */
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define LATEST_END                                                                                           \
    (8000000 * KER_S) /* 92 days; behind it there is room for any single delay before 63 bits are full */
#define JOBS_PER_CHECK                                                                                       \
    64 /* with more jobs a deadlock is looked for at every second, third, ... check time only */
#define MOST_ROUNDS 100000000 /* rows of a table, looks at a condition */
#define LEAST_PORT_BYTES 100  /* of one end of a link, at least: 120 to 250 are usual */

const struct ker_option run_options[] = {
    {"run.seed", KER_TYPE_INT, "1", "0", NULL, NULL, "Seed of all random streams."},
    {"run.end", KER_TYPE_TIME, NULL, "1 ps", NULL, NULL,
     "Simulated time at which the run ends, whatever is still under way."},
    {"run.warmup", KER_TYPE_TIME, "0 ns", NULL, NULL, NULL,
     "Nothing is measured before this simulated time."},
    {"run.measure", KER_TYPE_TIME, NULL, "1 ps", NULL, NULL,
     "Length of the measured span; then synthetic sources stop. Absent: to the end of the run."},
    {"run.drain", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "With run.measure: go on until everything sent has arrived. false: end with the measured span.",
     "run.measure"},
    {"run.packets", KER_TYPE_INT, NULL, "1", NULL, NULL,
     "End after at least this many packets have been delivered."},
    {"run.confidence", KER_TYPE_REAL, NULL, "0.000001", "1", NULL,
     "End when the confidence interval of the mean packet latency is at most this fraction of it on either "
     "side (batch means)."},
    {"run.confidence_level", KER_TYPE_REAL, "0.95", "0.5", "0.9999", NULL, "Level of that interval.",
     "run.confidence"},
    {"run.batch", KER_TYPE_TIME, "10 us", "1 ps", "1000000 s", NULL, "Length of a batch for run.confidence.",
     "run.confidence"},
    {"run.check_interval", KER_TYPE_TIME, "1 us", "1 ps", "1000000 s", NULL,
     "Packet counts, finished jobs and signals are looked at only at multiples of this simulated time."},
    {"engine.cell_order", KER_TYPE_CHOICE, "forward", NULL, NULL, "forward|backward|shuffled",
     "Order in which cells are visited in a window. A debug option: results must not depend on it."},
    {"engine.cells", KER_TYPE_CHOICE, "single", NULL, NULL, "single|switch|group",
     "What is one cell: a component, a switch with its nodes, or a natural group of switches with theirs. "
     "Results do not depend on it."},
    {"engine.exchange", KER_TYPE_CHOICE, "auto", NULL, NULL, "auto|messages",
     "How ranks agree on time: through shared memory where all are on one host, or always by messages."},
    {0},
};

const struct ker_option **simulation_option_tables(void)
{
    int extra = 0;
    while (task_option_tables[extra])
        extra++;
    const struct ker_option **tables = ker_alloc(sizeof *tables * (size_t)(extra + 6));
    int n = 0;
    tables[n++] = run_options;
    tables[n++] = route_options;
    tables[n++] = net_options;
    for (int i = 0; i < extra; i++)
        tables[n++] = task_option_tables[i];
    tables[n++] = stats_options;
    tables[n++] = part_options;
    return tables;
}

/* ---- reading ---- */

static void phases_read(struct simulation *s)
{
    const struct ker_config *c = s->config;
    s->seed = (uint64_t)ker_config_int(c, "run.seed");
    s->warmup = ker_config_time(c, "run.warmup");
    s->end = ker_config_has(c, "run.end") ? ker_config_time(c, "run.end") : KER_TIME_MAX;
    s->measure_to = ker_config_has(c, "run.measure")
                        ? ker_time_later(s->warmup, ker_config_time(c, "run.measure"))
                        : KER_TIME_MAX;
    if (s->measure_to != KER_TIME_MAX && !ker_config_bool(c, "run.drain") && s->measure_to < s->end)
        s->end = s->measure_to;
    s->period = ker_config_time(c, "output.period");
    s->batch = ker_config_has(c, "run.confidence") ? ker_config_time(c, "run.batch") : 0;
    s->interval = ker_config_time(c, "run.check_interval");
}

/* What happens again and again until the run ends, when that is known, must not happen too often. */
static enum ker_status rounds_check(struct simulation *s)
{
    const struct {
        const char *key;
        ker_time every;
    } again[] = {{"output.period", s->period},
                 {"run.batch", s->batch},
                 {"run.check_interval", ker_config_has(s->config, "run.packets") ? s->interval : 0}};
    ker_time end = s->end < s->measure_to ? s->end : s->measure_to;
    char least[32];
    for (size_t i = 0; i < sizeof again / sizeof *again && end != KER_TIME_MAX; i++)
        if (again[i].every && end / again[i].every > MOST_ROUNDS)
            return ker_config_fail(s->config, &s->error, again[i].key,
                                   "would be done %lld times before the run ends; at most %lld times are "
                                   "possible: give %s or more",
                                   (long long)(end / again[i].every), (long long)MOST_ROUNDS,
                                   ker_print_time(least, end / MOST_ROUNDS + 1));
    return KER_OK;
}

/* Times that contradict each other. */
static enum ker_status phases_check(struct simulation *s)
{
    const struct ker_config *c = s->config;
    if (s->warmup >= s->end)
        return ker_config_fail(c, &s->error, "run.warmup",
                               "the run ends before anything is measured: shorten it or move run.end");
    if (ker_config_has(c, "run.measure") && s->end < s->measure_to)
        return ker_config_fail(c, &s->error, "run.end",
                               "comes before the measured span (run.warmup + run.measure) is over: "
                               "move it or shorten run.measure");
    return rounds_check(s);
}

static enum ker_status ends_check(struct simulation *s)
{
    const struct ker_config *c = s->config;
    if (!s->args->check && !ker_config_has(c, "traffic.pattern") && ker_config_count(c, "jobs") == 0)
        return ker_config_fail(c, &s->error, "jobs",
                               "nobody sends anything: give jobs, or synthetic traffic by traffic.pattern");
    enum ker_status status = phases_check(s);
    if (status != KER_OK)
        return status;
    s->open_ended = task_system_endless(s->tasks);
    uint32_t foreground = task_system_foreground(s->tasks),
             background = task_system_jobs(s->tasks) - foreground;
    s->watch = foreground > 0 && (s->open_ended || background > 0);
    if (foreground > 0 || s->end != KER_TIME_MAX || ker_config_has(c, "run.packets") ||
        ker_config_has(c, "run.confidence"))
        return KER_OK;
    if (background > 0)
        return ker_config_fail(
            c, &s->error, "jobs",
            "all jobs are in the background, and a run does not wait for those: give run.end%s, "
            "run.packets or run.confidence",
            s->measure_to != KER_TIME_MAX ? ", run.drain = false" : "");
    if (s->open_ended && s->measure_to == KER_TIME_MAX)
        return ker_config_fail(c, &s->error, "run.end",
                               "the traffic never ends: give one of run.end, run.measure, run.packets, "
                               "run.confidence, or traffic.messages");
    return KER_OK;
}

/* What cannot fit is refused before it is tried: a machine that begins to swap is of no use to anybody. */
static enum ker_status memory_check(struct simulation *s)
{
    const struct route_summary *sum = route_summarise(s->topology);
    int ranks = ker_comm_size(s->comm), on_host = ker_comm_host_size(s->comm),
        hosts = (ranks + on_host - 1) / on_host;
    double least = (2.0 * (double)sum->links + sum->nodes + sum->switches) * LEAST_PORT_BYTES;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) * hosts;
    char a[32], b[32];
    if (least <= have)
        return KER_OK;
    return ker_config_fail(s->config, &s->error, "topology.kind",
                           "%u nodes, %u switches and %llu links need more than %s of memory; %s "
                           "%s: make the system smaller, or use more hosts",
                           sum->nodes, sum->switches, (unsigned long long)sum->links,
                           ker_print_bytes(a, least), hosts > 1 ? "these hosts have" : "this host has",
                           ker_print_bytes(b, have));
}

/* The end of a step: all ranks learn whether it has failed on one of them, and whether they have read the
 * same files in it. */
static enum ker_status step_agree(struct simulation *s)
{
    ker_inputs_agree(ker_config_inputs(s->config), s->comm, &s->error);
    return ker_comm_agree(s->comm, &s->error);
}

static enum ker_status config_read(struct simulation *s)
{
    const struct ker_option **tables = simulation_option_tables();
    ker_config_load_all(&s->config, s->comm, s->args->file, s->args->overrides, s->args->override_count,
                        tables, &s->error);
    free(tables);
    enum ker_status status = ker_comm_agree(s->comm, &s->error);
    if (status == KER_OK && s->args->control)
        ker_config_warn(s->config);
    return status;
}

static enum ker_status system_read(struct simulation *s)
{
    phases_read(s);
    enum ker_status status = route_new(&s->topology, s->config, net_channels(s->config), &s->error);
    if (status == KER_OK && ker_comm_rank(s->comm) == 0 && *route_summarise(s->topology)->warning)
        ker_warn("%s", route_summarise(s->topology)->warning);
    return status == KER_OK ? memory_check(s) : status;
}

static enum ker_status network_read(struct simulation *s)
{
    enum ker_status status = ends_check(s);
    struct net_phases phases = {s->warmup, s->measure_to < s->end ? s->measure_to : s->end, s->measure_to,
                                task_system_least_payload(s->tasks)};
    if (status == KER_OK)
        status = net_network_new(&s->network, s->config, s->topology, s->seed, phases, &s->error);
    if (!ker_config_has(s->config, "run.packets") && !s->watch)
        s->interval = 0; /* nothing to look at */
    task_system_stop(s->tasks, s->measure_to);
    return status;
}

/* ---- partition ---- */

/* Vertices are switches; with few switches per rank the nodes are vertices, too. */
static bool nodes_apart(const struct simulation *s)
{
    const struct route_summary *sum = route_summarise(s->topology);
    return s->workers > 1 && sum->switches < 4u * (uint32_t)s->workers;
}

/* Rank 0 partitions; all get the ranks of the vertices. */
static enum ker_status system_partition(struct simulation *s)
{
    const struct route_summary *sum = route_summarise(s->topology);
    bool apart = nodes_apart(s);
    uint32_t vertices = sum->switches + (apart ? sum->nodes : 0), ranks = (uint32_t)s->workers;
    if (ranks == 1 && part_check(s->config, &s->error) == KER_OK) {
        s->parts = (struct part_result){1, ker_alloc(sizeof(uint32_t) * vertices), KER_TIME_MAX, 0, 1.0};
    } else if (ranks > 1 && ker_comm_rank(s->comm) == 0) {
        struct part_graph graph = {0};
        net_graph_make(&graph, s->network, apart);
        enum ker_status status = part_graph_split(&s->parts, &graph, ranks, s->config, &s->error);
        part_graph_release(&graph);
        if (status == KER_OK && s->parts.ranks < ranks)
            ker_warn("%u of %u ranks have nothing to simulate and idle", ranks - s->parts.ranks, ranks);
    }
    enum ker_status status = ker_comm_agree(s->comm, &s->error);
    if (status != KER_OK)
        return status;
    if (ker_comm_size(s->comm) > 1) {
        uint32_t *rank = s->parts.rank ? s->parts.rank : ker_alloc(sizeof *rank * vertices);
        ker_comm_broadcast(s->comm, &s->parts, sizeof s->parts);
        s->parts.rank = rank;
        ker_comm_broadcast(s->comm, rank, sizeof *rank * vertices);
    }
    net_layout_make(&s->layout, s->network, s->parts.rank, apart ? s->parts.rank + sum->switches : NULL,
                    (enum net_cells)ker_config_choice(s->config, "engine.cells"), ker_comm_rank(s->comm),
                    ker_comm_size(s->comm));
    bool walks = ker_config_bytes(s->config, "routing.hop_bytes") >
                 0; /* adapters follow whole ways, through others' switches */
    if (!s->args->check && !walks && ker_comm_size(s->comm) > 1)
        route_own(s->topology, s->parts.rank, (uint32_t)ker_comm_rank(s->comm));
    return KER_OK;
}

/* ---- conditions while running ---- */

static bool batches_tight(struct simulation *s, ker_time at)
{
    struct net_totals t = net_network_totals(s->network);
    uint64_t v[2] = {t.measured_packets, t.latency_sum};
    ker_comm_sum_u64(s->working, v, 2);
    if (at > s->warmup && v[0] > s->batch_count) {
        s->batch_mean = ker_realloc(s->batch_mean, sizeof *s->batch_mean * (size_t)(s->batches + 1));
        s->batch_mean[s->batches++] = (double)(v[1] - s->batch_sum) / (double)(v[0] - s->batch_count);
    }
    s->batch_count = v[0];
    s->batch_sum = v[1];
    return s->batches >= 10 && stats_batch_halfwidth(s->batch_mean, s->batches,
                                                     ker_config_real(s->config, "run.confidence_level")) <=
                                   ker_config_real(s->config, "run.confidence");
}

static void period_add(struct simulation *s, ker_time at)
{
    struct net_totals t = net_network_totals(s->network);
    struct stats_period p = {at, t.packets_injected, t.packets_delivered, t.bytes_delivered, t.latency_sum};
    stats_periods_add(s->periods, &p);
}

static bool conditions_check(void *context, ker_time at)
{
    struct simulation *s = context;
    if (s->period && at % s->period == 0)
        period_add(s, at);
    if (s->batch && at % s->batch == 0 && batches_tight(s, at)) {
        s->end_reason = "confidence";
        return true;
    }
    if (s->interval == 0 || at % s->interval)
        return false;
    uint64_t v[2] = {net_network_totals(s->network).packets_delivered, task_system_unfinished(s->tasks)};
    ker_comm_sum_u64(s->working, v, 2);
    if (ker_config_has(s->config, "run.packets") &&
        v[0] >= (uint64_t)ker_config_int(s->config, "run.packets")) {
        s->end_reason = "packets";
        return true;
    }
    if (s->watch && v[1] == 0) {
        s->end_reason = "jobs done";
        return true;
    }
    if (s->watch && at / s->interval % (1 + task_system_jobs(s->tasks) / JOBS_PER_CHECK) == 0)
        s->stuck = task_system_stuck(s->tasks, s->working);
    return s->stuck > 0;
}

static void progress_show(void *context, ker_time at, uint64_t records)
{
    struct simulation *s = context;
    stats_progress_show(s->progress, at, records);
    if (ker_comm_rank(s->comm) == 0 && s->workers < ker_comm_size(s->comm))
        ker_request_hear(s->comm);
}

static void settle(void *context, ker_time until)
{
    struct simulation *s = context;
    net_network_settle(s->network, until);
}

/* Signals that ask for the end of the run. */
static bool requested(void *context, unsigned bits, ker_time at)
{
    struct simulation *s = context;
    s->end_reason = "interrupted";
    s->interrupted = bits;
    return true;
}

/* ---- building and running ---- */

static enum ker_status system_build(struct simulation *s)
{
    struct ker_engine_setup setup = {
        .comm = s->working,
        .components = s->layout.components ? s->layout.components : 1,
        .largest_cell = s->layout.largest_cell,
        .lookahead = s->layout.lookahead,
        .epoch = s->workers > 1 ? s->layout.epoch : KER_TIME_MAX,
        .reach = net_reach(s->network),
        .end = s->end < LATEST_END ? s->end : LATEST_END,
        .check_interval = {s->interval, s->period, s->batch},
        .check_every = s->period || s->batch,
        .order = (enum ker_cell_order)ker_config_choice(s->config, "engine.cell_order"),
        .seed = s->seed,
        .messages_only = ker_config_choice(s->config, "engine.exchange") == 1,
        .yield = s->yield,
        .check = conditions_check,
        .settle = settle,
        .request_interval = ker_config_time(s->config, "run.check_interval"),
        .requested = requested,
        .progress = progress_show,
        .context = s,
    };
    int rank = ker_comm_rank(s->comm);
    if (!s->working)
        return KER_OK;
    s->engine = ker_engine_new(&setup);
    net_network_build(s->network, s->engine, &s->layout, rank);
    uint32_t count;
    uint32_t *nodes = net_own_nodes(&s->layout, s->network, rank, &count);
    net_layout_release(&s->layout);
    part_result_release(&s->parts);
    const struct net_client **client = ker_alloc(sizeof *client * (count + 1u));
    void **state = ker_alloc(sizeof *state * (count + 1u));
    enum ker_status status = task_system_attach(s->tasks, nodes, count, client, state, &s->error);
    if (status == KER_OK)
        net_network_attach(s->network, client, state);
    net_network_on_lost(s->network, task_system_lost, s->tasks);
    free(nodes);
    free(client);
    free(state);
    return status;
}

static char *folder_choose(const struct arguments *a)
{
    if (a->folder)
        return ker_format("%s", a->folder);
    const char *name = strrchr(a->file, '/') ? strrchr(a->file, '/') + 1 : a->file;
    const char *dot = strrchr(name, '.');
    return ker_format("results/%.*s", dot && dot != name ? (int)(dot - name) : (int)strlen(name), name);
}

static enum ker_status folder_open(struct simulation *s)
{
    if (ker_comm_rank(s->comm) == 0)
        stats_folder_open(s->folder, ker_config_inputs(s->config), &s->error);
    enum ker_status status = ker_comm_agree(s->comm, &s->error);
    if (status == KER_OK && s->period) {
        if (s->working)
            stats_periods_open(&s->periods, s->working, s->folder, &s->error);
        status = ker_comm_agree(s->comm, &s->error);
    }
    return status;
}

/* ---- the end ---- */

/* Foreground jobs that were found to have deadlocked at a check time. */
static void stuck_report(struct simulation *s)
{
    s->end_reason = "deadlock";
    char *table = task_system_waiting(s->tasks, s->comm);
    ker_fail(&s->error, KER_RUN_FAILED,
             "%lld job%s deadlocked: these tasks wait for messages or partners that never come\n%s",
             (long long)s->stuck, s->stuck == 1 ? " has" : "s have", table ? table : "");
    free(table);
}

/* A run that drained with work left has deadlocked: says who waits for whom. Returns whether packets were
 * lost. */
static bool deadlock_check(struct simulation *s)
{
    struct net_totals t = net_network_totals(s->network);
    uint64_t v[] = {task_system_unfinished(s->tasks),
                    t.packets_injected - t.packets_delivered - t.packets_lost + t.cnps_under_way,
                    t.packets_lost + t.packets_withheld};
    ker_comm_sum_u64(s->comm, v, 3);
    if (v[0] == 0 && v[1] == 0)
        return v[2] > 0;
    char lost[96] = "";
    if (v[2])
        snprintf(lost, sizeof lost, " (%llu packet%s lost by faults)", (unsigned long long)v[2],
                 v[2] == 1 ? " was" : "s were");
    s->end_reason = "deadlock";
    char *table = v[0] ? task_system_waiting(s->tasks, s->comm) : NULL;
    if (v[1])
        ker_fail(&s->error, KER_RUN_FAILED, "the network has deadlocked: %llu packets cannot move on",
                 (unsigned long long)v[1]);
    else
        ker_fail(&s->error, KER_RUN_FAILED, "%llu task%s for messages or partners that never come%s\n%s",
                 (unsigned long long)v[0], v[0] == 1 ? " waits" : "s wait", lost, table ? table : "");
    free(table);
    return v[2] > 0;
}

static void system_run(struct simulation *s)
{
    static const char *const reasons[] = {"drained", "end time", "condition", "interrupted", "out of memory"};
    int64_t at = 0;
    int end = 0;
    s->progress = stats_progress_new(s->args->quiet || ker_comm_rank(s->comm) != 0, s->end);
    ker_request_open();
    if (s->working)
        end = (int)ker_engine_run(s->engine, &at);
    if (ker_memory_lack())
        ker_fail(&s->error, KER_RUN_FAILED, "out of memory: %s; results are written up to about here",
                 ker_memory_lack());
    stats_progress_free(s->progress);
    ker_comm_meet(s->comm, s->working ? NULL : ker_request_pass);
    ker_request_settle(s->comm);
    ker_comm_broadcast(s->comm, &at, sizeof at);
    ker_comm_broadcast(s->comm, &end, sizeof end);
    ker_comm_broadcast(s->comm, &s->stuck, sizeof s->stuck);
    ker_comm_broadcast(s->comm, &s->interrupted, sizeof s->interrupted);
    if (!s->end_reason)
        s->end_reason = reasons[end];
    if (end == KER_END_DRAINED && task_system_jobs(s->tasks) > 0)
        s->end_reason = "jobs done";
    if (s->stuck)
        stuck_report(s);
    bool lost = end == KER_END_DRAINED && deadlock_check(s);
    if (end == KER_END_DRAINED && s->error.status == KER_OK) {
        const char *wrong = net_network_conserved(s->network, lost);
        ker_assert(wrong == NULL);
        wrong = lost ? NULL : task_system_conserved(s->tasks, s->comm);
        ker_assert(wrong == NULL);
    }
    simulation_report(s, at);
}

/* --check: the control rank proves freedom from deadlock while the others wait. */
static enum ker_status deadlock_prove(struct simulation *s)
{
    uint64_t work =
        s->args->check_full ? UINT64_MAX : (uint64_t)ker_config_int(s->config, "routing.check_work");
    if (s->args->check && ker_comm_rank(s->comm) == 0)
        route_prove(s->topology, work, &s->proof, &s->error);
    return ker_comm_agree(s->comm, &s->error);
}

/* "1,234,567" */
void simulation_free(struct simulation *s)
{
    task_system_free(s->tasks);
    net_network_free(s->network);
    if (s->engine)
        ker_engine_free(s->engine);
    if (s->topology)
        route_free(s->topology);
    if (s->config)
        ker_config_free(s->config);
    net_layout_release(&s->layout); /* left over where a rank sleeps, or nothing was built */
    part_result_release(&s->parts);
    ker_comm_release(s->working);
    free(s->folder);
    free(s->batch_mean);
    free(s);
}

/* Each step on all ranks; the first that fails ends the run. */
int simulation_run(struct simulation *s)
{
    enum ker_status status;
    if ((status = config_read(s)) != KER_OK)
        return status;
    system_read(s);
    if ((status = step_agree(s)) != KER_OK)
        return status;
    if (s->args->table) {
        if (s->args->control)
            route_table_write(s->topology, s->args->table, &s->error);
        return ker_comm_agree(s->comm, &s->error);
    }
    if ((status = deadlock_prove(s)) != KER_OK)
        return status;
    struct part_seats seats = part_bind(s->comm, s->config);
    s->yield = seats.yield;
    s->workers = seats.working;
    s->working = ker_comm_first(s->comm, s->workers);
    task_system_new(&s->tasks, s->config, s->topology, s->comm, s->seed, &s->error);
    if ((status = step_agree(s)) != KER_OK)
        return status;
    network_read(s);
    if ((status = ker_comm_agree(s->comm, &s->error)) != KER_OK)
        return status;
    if ((status = system_partition(s)) != KER_OK)
        return status;
    struct part_result parts = s->parts;
    system_build(s);
    if ((status = step_agree(s)) != KER_OK)
        return status;
    if (s->args->check) {
        parts.rank = s->parts.rank; /* still there where a rank sleeps */
        s->parts = parts;
        simulation_check_report(s);
        return KER_OK;
    }
    s->folder = folder_choose(s->args);
    if ((status = folder_open(s)) != KER_OK)
        return status;
    system_run(s);
    status = ker_comm_agree(s->comm, &s->error);
    int signal = ker_request_status(s->interrupted | ker_request_take()); /* or came when the run had ended */
    return status == KER_OK ? signal : (int)status;
}

struct simulation *simulation_new(const struct arguments *args, struct ker_comm *comm,
                                  struct timespec started)
{
    struct simulation *s = ker_alloc(sizeof *s);
    s->args = args;
    s->comm = comm;
    s->started = started;
    return s;
}
