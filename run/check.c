/* check.c - the stages in place of a run: --write-table and --write-links, and --check with the proof, sizes,
 * bandwidths, the bisection, memory.
 *
 * The bisection bandwidth is what the links between two halves of the nodes carry, in each direction, for the
 * worst two halves. Where a formula is known it is used: half of the nodes' links of a star; half of the
 * narrowest level of a fat tree whose top joins an even number of subtrees; the cut across the best even
 * dimension of a grid. Elsewhere METIS looks for the two halves, and what it finds is an upper bound. Halves
 * are of switches with all their nodes, so that none of this is more than half of the nodes' links.
 */
#include "run/stages.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CUT_LINKS 8000000 /* METIS needs some 50 bytes and a microsecond for each */

static const char *print_count(char text[32], uint64_t count)
{
    char *at = text + 31;
    *at = '\0';
    for (int digit = 0; digit == 0 || count > 0; digit++, count /= 10) {
        if (digit > 0 && digit % 3 == 0)
            *--at = ',';
        *--at = (char)('0' + count % 10);
    }
    return at;
}

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
               print_count(a, p->channels), print_count(b, p->dependencies));
    else
        printf("deadlock   not proved in full: %s of %s destination%s walked, no cycle among them "
               "(--check=full walks all)\n",
               print_count(a, p->walked), print_count(b, p->destinations), p->by_switch ? " switches" : "s");
}

/* ---- links ---- */

struct class_sum {
    uint64_t links;
    unsigned __int128 rate; /* bytes per second of all of them, one way */
};

/* Alive links of each class, and the least and most ports that are in use at a switch. */
static void links_sum(const struct run *run, struct class_sum *sum, uint32_t least_most[2])
{
    const struct route_summary *all = route_summarise(run->topology);
    struct route_peer peer;
    least_most[0] = UINT32_MAX;
    least_most[1] = 0;
    for (uint32_t i = 0; i < all->switches; i++) {
        uint32_t used = 0, ports = route_ports(run->topology, i);
        for (uint32_t p = 0; p < ports; p++) {
            route_port(run->topology, i, p, &peer);
            used += peer.kind != ROUTE_NOTHING;
            bool counts = peer.kind == ROUTE_ENDPOINT ||
                          (peer.kind == ROUTE_SWITCH && (peer.id > i || (peer.id == i && peer.port > p)));
            if (counts && route_port_down(run->topology, i, p) > 0) {
                sum[peer.link].links++;
                sum[peer.link].rate += all->link[peer.link].rate;
            }
        }
        least_most[0] = used < least_most[0] ? used : least_most[0];
        least_most[1] = used > least_most[1] ? used : least_most[1];
    }
}

static void links_print(const struct route_summary *all, const struct class_sum *sum,
                        const uint32_t least_most[2])
{
    char a[32], b[32], c[32], d[32];
    if (least_most[0] == least_most[1])
        printf("ports      %u in use at each switch\n", least_most[1]);
    else
        printf("ports      %u to %u in use at a switch\n", least_most[0], least_most[1]);
    printf("links      %-22s%12s%14s%14s%12s\n", "class", "links", "per direction", "in all", "latency");
    for (int i = 0; i < all->link_count; i++)
        if (sum[i].links)
            printf("           %-22.22s%12s%14s%14s%12s\n", all->link[i].name, print_count(a, sum[i].links),
                   ker_print_rate(b, (double)all->link[i].rate), ker_print_rate(c, (double)sum[i].rate),
                   ker_print_time(d, all->link[i].latency));
}

/* ---- bisection ---- */

/* What is between the switches of side 0 and side 1, one way. */
static double cut_rate(const struct run *run, const uint8_t *side)
{
    const struct route_summary *all = route_summarise(run->topology);
    double rate = 0;
    struct route_peer peer;
    for (uint32_t i = 0; i < all->switches; i++)
        for (uint32_t p = 0; side[i] == 0 && p < route_ports(run->topology, i); p++) {
            route_port(run->topology, i, p, &peer);
            if (peer.kind == ROUTE_SWITCH && side[peer.id] && route_port_down(run->topology, i, p) > 0)
                rate += (double)all->link[peer.link].rate;
        }
    return rate;
}

/* The best cut through the middle of a dimension with an even extent; 0: there is none. */
static double grid_cut(const struct run *run, uint8_t *side)
{
    uint32_t extent[8], at[8], where;
    uint16_t port;
    double best = 0;
    int dimensions = route_grid(run->topology, extent);
    for (int d = 0; d < dimensions; d++) {
        if (extent[d] % 2)
            continue;
        for (uint32_t n = 0; n < route_summarise(run->topology)->endpoints; n++) {
            route_attachment(run->topology, n, &where, &port);
            route_coordinates(run->topology, n, at);
            side[where] = at[d] >= extent[d] / 2;
        }
        double rate = cut_rate(run, side);
        best = best > 0 && best < rate ? best : rate;
    }
    return best;
}

/* Half of the narrowest level of a fat tree with an even top; 0: it has none. */
static double tree_cut(const struct run *run, const struct class_sum *sum)
{
    const struct route_summary *all = route_summarise(run->topology);
    int levels = ker_config_count(run->config, "topology.down");
    double narrowest = 0;
    if (levels > 0 ? levels < 2 || ker_config_int_at(run->config, "topology.down", levels - 1) % 2
                   : ker_config_int(run->config, "topology.levels") < 2)
        return 0; /* given by radix and levels, the top has `radix` subtrees: an even number */
    for (int i = 0; i < all->link_count; i++)
        if (i != all->endpoint_link && sum[i].links && (narrowest == 0 || (double)sum[i].rate < narrowest))
            narrowest = (double)sum[i].rate;
    return narrowest / 2;
}

/* Adds the links of switch `i` to its vertex; returns where the next ones go. */
static uint64_t halves_add(const struct run *run, struct part_halves *g, uint32_t i, uint64_t end)
{
    const struct route_summary *all = route_summarise(run->topology);
    uint32_t vertex = i % g->vertices;
    struct route_peer peer;
    for (uint32_t p = 0; p < route_ports(run->topology, i); p++) {
        route_port(run->topology, i, p, &peer);
        g->weight[vertex] += peer.kind == ROUTE_ENDPOINT;
        if (peer.kind != ROUTE_SWITCH || peer.id == i || route_port_down(run->topology, i, p) == 0)
            continue;
        g->to[end] = peer.id % g->vertices;
        g->rate[end++] = (double)all->link[peer.link].rate;
    }
    return end;
}

/* Switches as vertices that weigh as many as they have endpoints. The planes of a network are cut alike,
 * since a host has an adapter in each: a switch and its copies are one vertex. */
static bool metis_halves(const struct run *run, uint8_t *side)
{
    const struct route_summary *all = route_summarise(run->topology);
    uint32_t vertices = all->switches / all->planes;
    ker_assert(vertices > 0);
    struct part_halves g = {.vertices = vertices,
                            .first = ker_alloc((vertices + 1ull) * sizeof *g.first),
                            .weight = ker_alloc(vertices * sizeof *g.weight)};
    g.to = ker_alloc(2 * all->links * sizeof *g.to);
    g.rate = ker_alloc(2 * all->links * sizeof *g.rate);
    for (uint32_t i = 0; i < vertices; i++) {
        uint64_t end = g.first[i];
        for (uint32_t plane = 0; plane < all->planes; plane++)
            end = halves_add(run, &g, plane * vertices + i, end);
        g.first[i + 1] = end;
    }
    bool good = part_halve(&g, side);
    for (uint32_t i = vertices; i < all->switches; i++)
        side[i] = side[i % vertices];
    free(g.first);
    free(g.weight);
    free(g.to);
    free(g.rate);
    return good;
}

static void halves_print(const struct run *run, const uint8_t *side)
{
    const struct route_summary *all = route_summarise(run->topology);
    uint32_t nodes[2] = {0}, where;
    uint16_t port;
    for (uint32_t n = 0; n < all->endpoints; n += all->adapters) { /* by its first adapter */
        route_attachment(run->topology, n, &where, &port);
        nodes[side[where]]++;
    }
    printf("           (an upper bound: the best cut METIS found, between %u and %u nodes)\n", nodes[0],
           nodes[1]);
}

static void bisection_print(const struct run *run, const struct class_sum *sum)
{
    const struct route_summary *all = route_summarise(run->topology);
    const char *how = "";
    uint8_t *side = ker_alloc(all->switches);
    bool found = false;
    uint32_t half_of = all->endpoints / all->adapters / 2 * all->adapters;
    double half = (double)all->link[all->endpoint_link].rate * half_of, rate;
    char a[32];
    if (strcmp(all->topology, "star") == 0) {
        rate = half;
        how = "half of the nodes' links";
    } else if (strcmp(all->topology, "fat_tree") == 0 && (rate = tree_cut(run, sum)) > 0) {
        how = "half of the narrowest level";
    } else if ((rate = grid_cut(run, side)) > 0) {
        how = "across the middle of a dimension";
    } else if (all->switches > 1 && all->links <= MOST_CUT_LINKS && metis_halves(run, side)) {
        rate = cut_rate(run, side);
        found = true;
    }
    if (*how || found) {
        printf("bisection  %s in each direction%s%s", ker_print_rate(a, rate), *how ? ", " : "", how);
        if (half > 0)
            printf("; half of the nodes can inject %s", ker_print_rate(a, half));
        putchar('\n');
    }
    if (found)
        halves_print(run, side);
    free(side);
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

static void network_print(const struct run *run)
{
    struct class_sum sum[ROUTE_MAX_LINKS] = {0};
    uint32_t least_most[2];
    links_sum(run, sum, least_most);
    links_print(route_summarise(run->topology), sum, least_most);
    bisection_print(run, sum);
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
    network_print(run);
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
