/* measure.c - what a network's graph can carry: distances, and the loads of its links when traffic is split
 * equally over all shortest paths.
 *
 * From every switch with nodes a search breadth first counts shortest paths; backwards along them goes what
 * is sent to each switch and beyond, in shares of these counts (Brandes 2001), for two patterns at once:
 * every node to all nodes alike, and every node to those of the next group of switches. Parallel links are
 * paths of their own. What no routing can exceed follows from the capacity of all links and the mean
 * distance, and from the links that leave a group.
 */
#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

enum { UNIFORM, ADVERSE, PATTERNS };

struct graph {
    const struct route_topology *topology;
    uint32_t switches, groups, nodes;
    uint32_t *first, *peer,
        *back;              /* a switch's ports in one row; the switch there (NONE), and its port's place */
    double *rate;           /* of the link, by port, in node links; 0: none */
    uint32_t *group, *next; /* of a switch; of a group, the next one with nodes */
    double *at, *of;        /* nodes of a switch; of a group */
    double *load[PATTERNS]; /* by port */
    /* of one search */
    uint32_t *apart, *order;
    double *paths, *through[PATTERNS];
};

#define NONE UINT32_MAX

static void graph_make(struct graph *g, const struct route_topology *topology)
{
    const struct route_summary *sum = &topology->summary;
    uint32_t n = sum->switches, switch_id;
    uint16_t port;
    *g = (struct graph){
        .topology = topology, .switches = n, .groups = route_groups(topology), .nodes = sum->endpoints};
    g->first = ker_alloc((n + 1ull) * sizeof *g->first);
    for (uint32_t s = 0; s < n; s++)
        g->first[s + 1] = g->first[s] + route_ports(topology, s);
    size_t ports = g->first[n] + 1ull;
    g->peer = ker_alloc(ports * sizeof *g->peer);
    g->back = ker_alloc(ports * sizeof *g->back);
    g->rate = ker_alloc(ports * sizeof *g->rate);
    g->group = ker_alloc(n * sizeof *g->group);
    g->next = ker_alloc(g->groups * sizeof *g->next);
    g->at = ker_alloc(n * sizeof *g->at);
    g->of = ker_alloc(g->groups * sizeof *g->of);
    g->apart = ker_alloc(n * sizeof *g->apart);
    g->order = ker_alloc(n * sizeof *g->order);
    g->paths = ker_alloc(n * sizeof *g->paths);
    for (int i = 0; i < PATTERNS; i++) {
        g->load[i] = ker_alloc(ports * sizeof *g->load[i]);
        g->through[i] = ker_alloc(n * sizeof *g->through[i]);
    }
    for (uint32_t s = 0; s < n; s++) {
        g->group[s] = route_group(topology, s);
        for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++) {
            struct route_peer peer;
            route_port(topology, s, i - g->first[s], &peer);
            bool link = peer.kind == ROUTE_SWITCH && route_port_down(topology, s, i - g->first[s]) > 0;
            g->peer[i] = link ? peer.id : NONE;
            g->back[i] = link ? g->first[peer.id] + peer.port : 0;
            g->rate[i] =
                link ? (double)sum->link[peer.link].rate / (double)sum->link[sum->endpoint_link].rate : 0;
        }
    }
    for (uint32_t e = 0; e < g->nodes; e++) {
        route_attachment(topology, e, &switch_id, &port);
        g->at[switch_id]++;
        g->of[g->group[switch_id]]++;
    }
    for (uint32_t i = 0; i < g->groups; i++) {
        uint32_t next = (i + 1) % g->groups;
        while (g->of[next] == 0)
            next = (next + 1) % g->groups;
        g->next[i] = next;
    }
}

static void graph_release(struct graph *g)
{
    void *all[] = {g->first, g->peer,  g->back,  g->rate,    g->group,   g->next,       g->at,        g->of,
                   g->apart, g->order, g->paths, g->load[0], g->load[1], g->through[0], g->through[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Returns how many switches are reached. */
static uint32_t search(struct graph *g, uint32_t from)
{
    uint32_t found = 1;
    memset(g->apart, UINT8_MAX, g->switches * sizeof *g->apart);
    memset(g->paths, 0, g->switches * sizeof *g->paths);
    g->order[0] = from;
    g->apart[from] = 0;
    g->paths[from] = 1;
    for (uint32_t done = 0; done < found; done++) {
        uint32_t s = g->order[done];
        for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++) {
            uint32_t to = g->peer[i];
            if (to == NONE)
                continue;
            if (g->apart[to] == NONE) {
                g->apart[to] = g->apart[s] + 1;
                g->order[found++] = to;
            }
            g->paths[to] += g->apart[to] == g->apart[s] + 1 ? g->paths[s] : 0;
        }
    }
    return found;
}

/* What the nodes of `from` send to all others, over the links that lead there. */
static void loads_add(struct graph *g, uint32_t from, uint32_t found)
{
    uint32_t to = g->next[g->group[from]];
    for (uint32_t k = 0; k < found; k++) {
        uint32_t s = g->order[k];
        g->through[UNIFORM][s] = g->at[from] * g->at[s] / g->nodes;
        g->through[ADVERSE][s] =
            g->group[s] == to && to != g->group[from] ? g->at[from] * g->at[s] / g->of[to] : 0;
    }
    for (uint32_t k = found - 1; k > 0; k--) {
        uint32_t s = g->order[k];
        for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++) {
            uint32_t before = g->peer[i];
            if (before == NONE || g->apart[before] + 1 != g->apart[s])
                continue;
            double share = g->paths[before] / g->paths[s];
            for (int p = 0; p < PATTERNS; p++) {
                g->load[p][g->back[i]] += g->through[p][s] * share;
                g->through[p][before] += g->through[p][s] * share;
            }
        }
    }
}

/* The load of the busiest link, of its rate. */
static double busiest(const struct graph *g, int pattern)
{
    double most = 0;
    for (uint32_t i = 0; i < g->first[g->switches]; i++)
        if (g->rate[i] > 0 && g->load[pattern][i] / g->rate[i] > most)
            most = g->load[pattern][i] / g->rate[i];
    return most;
}

static double groups_leave(const struct graph *g)
{
    double least = 1, *out = ker_alloc(g->groups * sizeof *out);
    for (uint32_t s = 0; s < g->switches; s++)
        for (uint32_t i = g->first[s]; i < g->first[s + 1]; i++)
            out[g->group[s]] += g->peer[i] != NONE && g->group[g->peer[i]] != g->group[s] ? g->rate[i] : 0;
    for (uint32_t i = 0; i < g->groups; i++)
        if (g->of[i] > 0 && out[i] / g->of[i] < least)
            least = out[i] / g->of[i];
    free(out);
    return least;
}

static double bound(double load)
{
    return load > 1 ? 1 / load : 1;
}

void route_measure(const struct route_topology *topology, uint64_t max_work, struct route_measures *m)
{
    struct graph g;
    *m = (struct route_measures){0};
    if (topology->inner) /* of a plane; where adapters of a node hang makes no difference to a graph */
        return route_measure(topology->inner, max_work, m);
    graph_make(&g, topology);
    double pairs = 0, links = 0, weighted = 0, sent = 0, rate = 0;
    for (uint32_t s = 0; s < g.switches; s++)
        m->sites += g.at[s] > 0;
    uint64_t most = max_work / (g.first[g.switches] + 1ull) + 1, step = most < m->sites ? m->sites / most : 1,
             nth = 0;
    for (uint32_t s = 0; s < g.switches; s++) {
        if (g.at[s] == 0 || nth++ % step)
            continue;
        uint32_t found = search(&g, s);
        m->sources++;
        sent += g.at[s];
        for (uint32_t k = 1; k < found; k++) {
            uint32_t to = g.order[k], apart = g.apart[to];
            if (g.at[to] == 0)
                continue;
            pairs++;
            links += apart;
            weighted += apart * g.at[s] * g.at[to] / g.nodes;
            m->most = apart > m->most ? apart : m->most;
        }
        loads_add(&g, s, found);
    }
    for (uint32_t i = 0; i < g.first[g.switches]; i++)
        rate += g.rate[i];
    m->mean = pairs > 0 ? links / pairs : 0;
    m->uniform_any = bound(sent > 0 ? weighted * g.nodes / sent / rate : 0);
    m->groups = 0;
    for (uint32_t i = 0; i < g.groups; i++)
        m->groups += g.of[i] > 0;
    m->adverse_any = groups_leave(&g);
    if (m->sources == m->sites) {
        m->uniform = bound(busiest(&g, UNIFORM));
        m->adverse = bound(busiest(&g, ADVERSE));
    }
    graph_release(&g);
}
