/* check.c - the stages in place of a run: --write-table and --write-links, and --check with the proof, what
 * the network is made of (network.c), partition, memory.
 */
#include "run/stages.h"

#include <stdlib.h>
#include <string.h>

static void faults_report(const struct route_topology *topology)
{
    const struct route_fault_summary *f = route_fault_summarise(topology);
    const struct route_summary *sum = route_summarise(topology);
    char a[32];
    if (!f)
        return;
    printf("faults     %llu link%s and %u switch%s go down", (unsigned long long)f->links,
           f->links == 1 ? "" : "s", f->switches, f->switches == 1 ? "" : "es");
    printf(", %llu and %u of them from the start", (unsigned long long)f->links_start, f->switches_start);
    if (f->last > 0)
        printf(", the last at %s", ker_print_time(a, f->last));
    if (f->apart == 0)
        puts("; every node can reach every other");
    else
        printf("\n           no path for %llu of %llu pairs of nodes, for %llu from the start; for example "
               "from node %u to node %u\n",
               (unsigned long long)f->apart, (unsigned long long)sum->endpoints * (route_hosts(sum) - 1ull),
               (unsigned long long)f->apart_start, f->example[0], f->example[1]);
}

static void proof_print(const struct route_proof *p)
{
    char a[32], b[32];
    if (p->complete)
        printf("deadlock   none: %s channels, %s dependencies between them, no cycle\n",
               run_count_print(a, p->channels), run_count_print(b, p->dependencies));
    else
        printf("deadlock   not proved in full: %s of %s destination%s walked, no cycle among them "
               "(--check=full walks all)\n",
               run_count_print(a, p->walked), run_count_print(b, p->destinations),
               p->by_switch ? " switches" : "s");
}

static void bias_print(const struct run *run)
{
    ker_time bias;
    char text[32];
    if (!run->carrier->bias || !ker_config_means_key(run->config, "routing.bias"))
        return;
    double packets = run->carrier->bias(run->network, &bias);
    printf(
        "bias       a detour is taken when its cost is less by %s, the time of %.1f largest packets on the "
        "slowest link\n",
        ker_print_time(text, bias), packets);
}

void run_table_write(struct run *run)
{
    enum ker_status status = KER_OK;
    if (run->control && run->args->links)
        status = route_links_write(run->topology, run->args->links, &run->error);
    if (run->control && run->args->table && status == KER_OK)
        route_table_write(run->topology, run->args->table, &run->error);
}

/* --check: the control rank proves freedom from deadlock while the others wait. */
void run_proof_make(struct run *run)
{
    uint64_t work =
        run->args->check_full ? UINT64_MAX : (uint64_t)ker_config_int(run->config, "routing.check_work");
    if (run->control && run->carrier->switch_at) /* nothing else waits for channels */
        route_prove(run->topology, work, &run->proof, &run->error);
}

static void waits_print(struct task_waits_cost cost)
{
    char a[32], b[32], c[32], d[32];
    if (cost.tasks)
        printf("waits      %s of memory for %llu tasks; of each %s more for each function in which it waits, "
               "%s for "
               "each octave of sizes; %s for each outstanding request\n",
               ker_print_bytes(a, (double)(cost.tasks * cost.task)), (unsigned long long)cost.tasks,
               ker_print_bytes(b, (double)cost.function), ker_print_bytes(c, (double)cost.octave),
               ker_print_bytes(d, (double)cost.request));
}

/* What output.preset has brought, or is given beside it. */
static void preset_print(const struct run *run)
{
    const struct ker_kind *preset = ker_config_kind(run->config, "output.preset");
    const char *const *word = preset->operations;
    if (!word)
        return;
    char *text = ker_format("output.preset = \"%s\":", preset->name);
    for (; *word; word++) {
        const char *key = strchr(*word, '?') ? strchr(*word, '?') + 1 : *word;
        char *name = ker_format("%.*s", (int)strcspn(key, "="), key), *before = text;
        if (ker_config_has(run->config, name)) {
            text = ker_format("%s %s", before, name + strlen("output"));
            free(before);
        }
        free(name);
    }
    char *all = ker_format("%s; measured: 3 to 5 %% more instructions where tasks compute, 2.8 times as many "
                           "where they do nothing but exchange short messages",
                           text);
    stats_wrapped_write(stdout, "preset", 11, all);
    free(all);
    free(text);
}

static void path_print(const struct run *run)
{
    uint32_t room = task_system_path_room(run->tasks);
    char a[32];
    if (room)
        printf(
            "path       %s of memory at most, for the last %u computations, calls and waits of each task\n",
            ker_print_bytes(a, (double)ker_config_bytes(run->config, "output.critical_path")), room);
}

static void sizes_print(struct run *run)
{
    const struct route_summary *sum = route_summarise(run->topology);
    uint64_t memory = run->carrier->bytes(run->network), rss = ker_peak_rss();
    char a[32], b[32], c[32];
    ker_comm_sum_u64(run->comm, &memory, 1);
    ker_comm_sum_u64(run->comm, &rss, 1);
    if (!run->control)
        return;
    printf("network    %s\n", sum->text);
    printf("           %u nodes, %u switches, %llu links, routing %s\n", route_hosts(sum), sum->switches,
           (unsigned long long)sum->links, sum->algorithm);
    run_network_print(run);
    faults_report(run->topology);
    bias_print(run);
    if (run->carrier->switch_at) {
        printf("channels   %u needed, %u configured (virtual channels of each link)\n", sum->channels,
               sum->configured);
        proof_print(&run->proof);
    } else {
        printf("model      %s: a message of any size is one event, and waits for no channels\n",
               ker_config_string(run->config, "network.model"));
    }
    printf("partition  %u rank%s, imbalance %.3f, %llu links cut\n", run->parts.ranks,
           run->parts.ranks == 1 ? "" : "s", run->parts.imbalance, (unsigned long long)run->parts.cut_edges);
    printf("lookahead  %s inside a rank", ker_print_time(a, ker_engine_window(run->engine)));
    if (ker_comm_size(run->comm) > 1)
        printf(", %s between ranks", ker_print_time(b, run->parts.lookahead));
    uint32_t windows, tiles = ker_engine_tiles(run->engine, &windows);
    if (tiles)
        printf("; %u tiles, each handled for %u windows at a time", tiles, windows);
    printf("\nmemory     %s of %s, %s of the whole process\n", ker_print_bytes(a, (double)memory),
           run->carrier->switch_at ? "switches and adapters" : "nodes", ker_print_bytes(c, (double)rss));
    if (task_system_costless(run->tasks))
        stats_wrapped_write(stdout, "mpi", 11, STATS_MPI_FREE);
    preset_print(run);
    run_skip_print(run);
    run_series_print(run);
    run_timeline_print(run);
    waits_print(task_system_waits_cost(run->tasks));
    path_print(run);
}

/* --check: what would be run. */
void run_sizes_print(struct run *run)
{
    if (!run->args->check_json)
        sizes_print(run);
    run_network_expect(run);
}
