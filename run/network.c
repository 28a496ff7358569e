/* network.c - what the network is made of, for --check: ports, links with their lengths, bisection,
 * distances, bounds of throughput; as text and as JSON.
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
#define MOST_MEASURED 50000000 /* links that are looked at, some seconds */

const char *run_count_print(char text[32], uint64_t count)
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

/* ---- links ---- */

struct class_sum {
    uint64_t links;
    unsigned __int128 rate; /* bytes per second of all of them, one way */
    double length, longest; /* metres: of all together; of one */
};

/* Alive links of each class, and the least and most ports that are in use at a switch. */
static void links_sum(const struct run *run, const struct run_floor *floor, struct class_sum *sum,
                      uint32_t least_most[2])
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
                double length = run_floor_length(floor, i, peer.kind == ROUTE_SWITCH ? peer.id : i);
                sum[peer.link].length += length;
                sum[peer.link].longest = length > sum[peer.link].longest ? length : sum[peer.link].longest;
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
    printf("links      %-22s%12s%14s%14s%12s%9s%9s\n", "class", "links", "per direction", "in all", "latency",
           "length", "longest");
    for (int i = 0; i < all->link_count; i++)
        if (sum[i].links)
            printf("           %-22.22s%12s%14s%14s%12s%7.1f m%7.1f m\n", all->link[i].name,
                   run_count_print(a, sum[i].links), ker_print_rate(b, (double)all->link[i].rate),
                   ker_print_rate(c, (double)sum[i].rate), ker_print_time(d, all->link[i].latency),
                   sum[i].length / (double)sum[i].links, sum[i].longest);
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
    KER_FREE(g.first, g.weight, g.to, g.rate);
    return good;
}

/* ---- all of it ---- */

struct facts {
    struct class_sum sum[ROUTE_MAX_LINKS];
    uint32_t least_most[2]; /* ports in use at a switch */
    double bisection, half; /* bytes per second; what half of the nodes can inject. bisection 0: unknown */
    const char *how;        /* the formula; NULL: METIS found it, an upper bound */
    uint32_t nodes[2];      /* on the sides of that cut */
    struct route_measures m;
};

static void bisection_find(const struct run *run, struct facts *f)
{
    const struct route_summary *all = route_summarise(run->topology);
    uint8_t *side = ker_alloc(all->switches);
    uint32_t half_of = all->endpoints / all->adapters / 2 * all->adapters, where;
    uint16_t port;
    f->half = (double)all->link[all->endpoint_link].rate * half_of;
    if (strcmp(all->topology, "star") == 0) {
        f->bisection = f->half;
        f->how = "half of the nodes' links";
    } else if (strcmp(all->topology, "fat_tree") == 0 && (f->bisection = tree_cut(run, f->sum)) > 0) {
        f->how = "half of the narrowest level";
    } else if ((f->bisection = grid_cut(run, side)) > 0) {
        f->how = "across the middle of a dimension";
    } else if (all->switches > 1 && all->links <= MOST_CUT_LINKS && metis_halves(run, side)) {
        f->bisection = cut_rate(run, side);
        for (uint32_t n = 0; n < all->endpoints; n += all->adapters) { /* by its first adapter */
            route_attachment(run->topology, n, &where, &port);
            f->nodes[side[where]]++;
        }
    }
    free(side);
}

static void bisection_print(const struct facts *f)
{
    char a[32];
    if (f->bisection <= 0)
        return;
    printf("bisection  %s in each direction%s%s", ker_print_rate(a, f->bisection), f->how ? ", " : "",
           f->how ? f->how : "");
    if (f->half > 0)
        printf("; half of the nodes can inject %s", ker_print_rate(a, f->half));
    putchar('\n');
    if (!f->how)
        printf("           (an upper bound: the best cut METIS found, between %u and %u nodes)\n",
               f->nodes[0], f->nodes[1]);
}

static void bound_print(const char *traffic, double by_shortest, double by_any)
{
    printf("%s: ", traffic);
    if (by_shortest > 0)
        printf("%.1f %% of the nodes' links by shortest paths, ", 100 * by_shortest);
    printf("at most %.1f %% by any\n", 100 * by_any);
}

static void measures_print(const struct route_measures *m)
{
    if (m->sites < 2)
        return;
    printf("hops       %.3f links between two switches with nodes in the mean, %u at most", m->mean, m->most);
    if (m->sources < m->sites)
        printf(" (from %u of the %u)", m->sources, m->sites);
    printf("\nthroughput ");
    bound_print("every node to all alike", m->uniform, m->uniform_any);
    if (m->groups > 1) {
        printf("           ");
        bound_print("each group to the next", m->adverse, m->adverse_any);
    }
}

static void facts_find(const struct run *run, struct facts *f)
{
    struct run_floor *floor = run_floor_new(run);
    *f = (struct facts){0};
    links_sum(run, floor, f->sum, f->least_most);
    run_floor_free(floor);
    bisection_find(run, f);
    route_measure(run->topology, MOST_MEASURED, &f->m);
}

void run_network_print(const struct run *run)
{
    struct facts f;
    facts_find(run, &f);
    links_print(route_summarise(run->topology), f.sum, f.least_most);
    bisection_print(&f);
    measures_print(&f.m);
}

static json_t *classes_json(const struct route_summary *all, const struct class_sum *sum)
{
    json_t *classes = json_array();
    for (int i = 0; i < all->link_count; i++)
        if (sum[i].links)
            json_array_append_new(classes, json_pack("{s:s, s:I, s:I, s:I, s:f, s:f}", "class",
                                                     all->link[i].name, "links", (json_int_t)sum[i].links,
                                                     "bandwidth_bytes_per_s", (json_int_t)all->link[i].rate,
                                                     "latency_ps", (json_int_t)all->link[i].latency,
                                                     "mean_length_m", sum[i].length / (double)sum[i].links,
                                                     "longest_m", sum[i].longest));
    return classes;
}

json_t *run_network_json(const struct run *run)
{
    const struct route_summary *all = route_summarise(run->topology);
    struct facts f;
    facts_find(run, &f);
    json_t *proof = run->carrier->switch_at ? json_boolean(run->proof.complete) : json_null();
    return json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:[i,i], s:o, s:o, s:o, s:f, s:I, s:i, s:i, s:o, s:f, s:o, s:f, s:i, "
        "s:i, s:o}",
        "network", all->text, "routing", all->algorithm, "nodes", (json_int_t)route_hosts(all), "adapters",
        (json_int_t)all->endpoints, "switches", (json_int_t)all->switches, "links", (json_int_t)all->links,
        "ports", (int)f.least_most[0], (int)f.least_most[1], "link_classes", classes_json(all, f.sum),
        "bisection_bytes_per_s", f.bisection > 0 ? json_real(f.bisection) : json_null(), "bisection_by",
        f.bisection > 0 ? json_string(f.how ? f.how : "METIS, an upper bound") : json_null(), "mean_hops",
        f.m.mean, "most_hops", (json_int_t)f.m.most, "searched_from", (int)f.m.sources, "switches_with_nodes",
        (int)f.m.sites, "uniform_shortest", f.m.uniform > 0 ? json_real(f.m.uniform) : json_null(),
        "uniform_at_most", f.m.uniform_any, "next_group_shortest",
        f.m.adverse > 0 ? json_real(f.m.adverse) : json_null(), "next_group_at_most", f.m.adverse_any,
        "channels_needed", (int)all->channels, "channels", (int)all->configured, "deadlock_free", proof);
}
