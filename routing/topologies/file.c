/* file.c - any network, from an edge list (docs/topology-file.md) or from the dump of an InfiniBand fabric
 * (docs/fabric.md).
 *
 * Ports of a switch: its endpoints in the order of the file, then its links, parallel ones side by side. In a
 * fabric the cables say which port is which; ports then have those numbers (port 0, the switch's management,
 * leads nowhere), and two arrays translate: everything in here counts places, in the order above, and only
 * what leaves this file is a port.
 *
 * Routes are tables (table_make.c): "minimal" is one shortest path for each destination endpoint, dealt so
 * that the links share the endpoints evenly, "adaptive" all shortest paths. Nothing here grows with the
 * square of the switches.
 */
#include "routing/import/import.h"
#include "routing/paths.h"

#include "routing/tables/flood.h"
#include "routing/tables/make.h"
#include "routing/topologies/graph.h"

#include <stdlib.h>
#include <string.h>

#define MOST_LINKS 253 /* of a shortest path: packets count their switches in 8 bits */

struct file_topology {
    struct route_topology topology;
    uint32_t switches, diameter;
    uint64_t *first;         /* places of all switches in one row; switches + 1 */
    struct route_peer *peer; /* per place */
    uint16_t *endpoints_at;  /* per switch: its first places */
    uint16_t *port_at;       /* per place: the port; NULL: ports are places */
    uint16_t *place_at;      /* per port: 1 + the place, 0 with nothing in it */
    uint64_t *ports;         /* with port_at: where the ports of a switch begin in place_at; switches + 1 */
    struct route_graph_endpoint *endpoint;
    uint16_t *endpoint_port;
    struct route_subnet subnet; /* of a fabric */
    struct route_names names;   /* of an edge list */
};

static inline const struct file_topology *file_of(const struct route_topology *topology)
{
    return (const struct file_topology *)topology;
}

/* The ports that are cabled; the caller fills in which is in which place. */
static void lay_cables(struct file_topology *file, const struct route_graph *graph)
{
    file->ports = ker_alloc((graph->switches + 1ull) * sizeof *file->ports);
    for (uint32_t i = 0; i < graph->switches; i++) {
        file->ports[i + 1] = file->ports[i] + graph->ports[i] + 1;
        if (graph->ports[i] + 1 > file->topology.summary.max_ports)
            file->topology.summary.max_ports = graph->ports[i] + 1;
    }
    file->place_at = ker_alloc(file->ports[graph->switches] * sizeof *file->place_at);
    file->port_at = ker_alloc(file->first[graph->switches] * sizeof *file->port_at);
}

static void lay_ports(struct file_topology *file, const struct route_graph *graph)
{
    uint64_t *first = ker_alloc((graph->switches + 1ull) * sizeof *first), ports = 0;
    file->endpoints_at = ker_alloc(graph->switches * sizeof *file->endpoints_at);
    for (uint32_t i = 0; i < graph->endpoints; i++) {
        file->endpoints_at[graph->endpoint[i].switch_id]++;
        first[graph->endpoint[i].switch_id + 1]++;
    }
    for (uint32_t i = 0; i < graph->edges; i++) {
        first[graph->edge[i].from + 1] += graph->edge[i].count;
        first[graph->edge[i].to + 1] += graph->edge[i].count;
    }
    for (uint32_t i = 0; i < graph->switches; i++) {
        ports = first[i + 1];
        if (ports > file->topology.summary.max_ports)
            file->topology.summary.max_ports = (uint32_t)ports;
        first[i + 1] += first[i];
    }
    ports = first[graph->switches];
    file->first = first;
    file->peer = ker_alloc(ports * sizeof *file->peer);
    if (graph->ports) {
        file->topology.summary.max_ports = 0;
        lay_cables(file, graph);
    }
}

/* Notes what is in a place, in the port given where there is one; returns the port. */
static uint16_t put(struct file_topology *file, uint32_t switch_id, uint32_t place, uint16_t port,
                    struct route_peer peer)
{
    uint64_t at = file->first[switch_id] + place;
    file->peer[at] = peer;
    if (!file->port_at)
        return (uint16_t)place;
    file->port_at[at] = port;
    file->place_at[file->ports[switch_id] + port] = (uint16_t)(place + 1);
    return port;
}

static void join_endpoints(struct file_topology *file, const struct route_graph *graph, uint32_t *used)
{
    for (uint32_t i = 0; i < graph->endpoints; i++) {
        const struct route_graph_endpoint *endpoint = &graph->endpoint[i];
        file->endpoint_port[i] = put(file, endpoint->switch_id, used[endpoint->switch_id]++, endpoint->port,
                                     (struct route_peer){ROUTE_ENDPOINT, (uint8_t)endpoint->class, 0, i});
    }
}

static void join_edge(struct file_topology *file, const struct route_graph_edge *e, uint32_t *used)
{
    for (uint32_t lane = 0; lane < e->count; lane++) {
        uint32_t from = used[e->from]++, to = used[e->to]++;
        uint16_t from_port = put(file, e->from, from, e->from_port,
                                 (struct route_peer){ROUTE_SWITCH, (uint8_t)e->class, 0, e->to});
        uint16_t to_port = put(file, e->to, to, e->to_port,
                               (struct route_peer){ROUTE_SWITCH, (uint8_t)e->class, from_port, e->from});
        file->peer[file->first[e->from] + from].port = to_port;
    }
    file->topology.summary.links += e->count;
}

/* Edges are sorted by their ends: those of the same two switches follow each other. */
static void join_ports(struct file_topology *file, const struct route_graph *graph)
{
    uint32_t *used = ker_alloc(graph->switches * sizeof *used);
    join_endpoints(file, graph, used);
    for (uint32_t i = 0; i < graph->edges; i++)
        join_edge(file, &graph->edge[i], used);
    free(used);
}

static bool farther(void *context, const struct route_flood *flood, uint32_t distance, uint32_t active)
{
    uint32_t *most = context;
    *most = distance > *most ? distance : *most;
    return distance <= MOST_LINKS;
}

/* Links between the two switches that are farthest apart; no more than MOST_LINKS + 1. */
static uint32_t find_diameter(const struct route_topology *topology)
{
    struct route_wires wires;
    struct route_flood flood;
    uint32_t most = 0, to[ROUTE_FLOOD_BITS];
    route_wires_make(&wires, topology);
    route_flood_init(&flood, &wires, NULL, NULL, NULL);
    flood.look = farther;
    flood.context = &most;
    for (uint32_t first = 0, count; first < wires.switches && most <= MOST_LINKS; first += count) {
        for (count = 0; count < ROUTE_FLOOD_BITS && first + count < wires.switches; count++)
            to[count] = first + count;
        route_flood_search(&flood, to, count);
    }
    route_flood_release(&flood);
    route_wires_release(&wires);
    return most;
}

static void name_links(struct route_summary *summary, const struct route_graph *graph)
{
    for (uint32_t i = 0; i < graph->classes; i++) {
        char rate[32], latency[32], name[72];
        snprintf(name, sizeof name, "%s %s", ker_print_rate(rate, (double)graph->class[i].rate),
                 ker_print_time(latency, graph->class[i].latency));
        route_link_add(summary, name, graph->class[i].latency, graph->class[i].rate);
    }
}

static enum ker_status topology_build(struct route_topology *topology, const struct ker_config *config,
                                      struct route_graph *graph, struct ker_error *error)
{
    struct file_topology *file = (struct file_topology *)topology;
    struct route_summary *summary = &topology->summary;
    file->switches = summary->switches = graph->switches;
    summary->endpoints = graph->endpoints;
    summary->links = graph->endpoints;
    summary->endpoint_link = (int)graph->endpoint[0].class;
    file->endpoint_port = ker_alloc(graph->endpoints * sizeof *file->endpoint_port);
    lay_ports(file, graph);
    join_ports(file, graph);
    name_links(summary, graph);
    file->endpoint = graph->endpoint;
    graph->endpoint = NULL;
    file->diameter = find_diameter(topology);
    if (file->diameter > MOST_LINKS)
        return ker_config_fail(config, error, "topology.file", "has switches more than %d links apart",
                               MOST_LINKS);
    return KER_OK;
}

static enum ker_status file_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct route_graph graph;
    enum ker_status status = route_key_require(config, "topology.file", error);
    if (status)
        return status;
    status =
        route_graph_read(&graph, ker_config_inputs(config), ker_config_file(config, "topology.file"), error);
    status = status ?: topology_build(topology, config, &graph, error);
    if (status == KER_OK)
        snprintf(topology->summary.text, sizeof topology->summary.text,
                 "network from a file, %u nodes, %u switches, diameter %u", topology->summary.endpoints,
                 topology->summary.switches, ((struct file_topology *)topology)->diameter);
    if (status == KER_OK) {
        ((struct file_topology *)topology)->names = graph.names;
        graph.names = (struct route_names){0};
        topology->names = &((struct file_topology *)topology)->names;
    }
    route_graph_release(&graph);
    return status;
}

static enum ker_status read_defaults(struct route_fabric_defaults *defaults, const struct ker_config *config,
                                     struct ker_error *error)
{
    enum ker_status status = route_key_require(config, "topology.file", error);
    status = status ?: route_key_require(config, "topology.latency", error);
    status = status ?: route_list_check(config, "topology.latency", 1, "links", error);
    if (status == KER_OK && ker_config_has(config, "topology.bandwidth"))
        status = route_list_check(config, "topology.bandwidth", 1, "links", error);
    if (status)
        return status;
    defaults->latency = defaults->node_latency = route_time_each(config, "topology.latency", 0);
    if (ker_config_has(config, "topology.bandwidth"))
        defaults->rate = defaults->node_rate = route_rate_each(config, "topology.bandwidth", 0);
    if (ker_config_has(config, "topology.node_latency"))
        defaults->node_latency = ker_config_time(config, "topology.node_latency");
    if (ker_config_has(config, "topology.node_bandwidth"))
        defaults->node_rate = ker_config_rate(config, "topology.node_bandwidth");
    return KER_OK;
}

/* What was passed over, that the user may want to look at. */
static void fabric_warn(struct route_summary *summary, const struct route_subnet *subnet, const char *path)
{
    int used = 0;
    if (subnet->passed)
        used = snprintf(summary->warning, sizeof summary->warning, "%s:%u: %u line%s of no dump passed over",
                        path, subnet->passed_line, subnet->passed, subnet->passed > 1 ? "s" : "");
    if (subnet->loops && used < (int)sizeof summary->warning)
        snprintf(summary->warning + used, sizeof summary->warning - (size_t)used,
                 "%s%s:%u: %u port%s cabled to the same device left out", used ? "; " : "", path,
                 subnet->loop_line, subnet->loops, subnet->loops > 1 ? "s" : "");
}

static enum ker_status fabric_build(struct route_topology *topology, const struct ker_config *config,
                                    struct ker_error *error)
{
    struct file_topology *file = (struct file_topology *)topology;
    struct route_fabric_defaults defaults = {0};
    struct route_graph graph;
    size_t length = 0;
    enum ker_status status = read_defaults(&defaults, config, error);
    if (status)
        return status;
    const char *path = ker_config_file(config, "topology.file");
    char *text;
    status = ker_input_read(ker_config_inputs(config), path, &text, &length, error);
    if (status != KER_OK)
        return status;
    status = route_fabric_parse(&graph, &file->subnet, &defaults, path, text, length, error);
    free(text);
    status = status ?: topology_build(topology, config, &graph, error);
    topology->subnet = &file->subnet;
    if (status == KER_OK) {
        struct route_summary *summary = &topology->summary;
        fabric_warn(summary, &file->subnet, path);
        int used = snprintf(summary->text, sizeof summary->text,
                            "InfiniBand fabric, %u nodes, %u switches, diameter %u", summary->endpoints,
                            summary->switches, file->diameter);
        if (file->subnet.left_out)
            snprintf(summary->text + used, sizeof summary->text - (size_t)used,
                     ", %u routers and aggregation nodes left out", file->subnet.left_out);
    }
    route_graph_release(&graph);
    return status;
}

static void file_release(struct route_topology *topology)
{
    struct file_topology *file = (struct file_topology *)topology;
    KER_FREE(file->first, file->peer, file->port_at, file->place_at, file->ports);
    route_subnet_release(&file->subnet);
    route_names_release(&file->names);
    free(file->endpoints_at);
    free(file->endpoint);
    free(file->endpoint_port);
}

static uint32_t file_ports(const struct route_topology *topology, uint32_t switch_id)
{
    const struct file_topology *file = file_of(topology);
    const uint64_t *first = file->ports ? file->ports : file->first;
    return (uint32_t)(first[switch_id + 1] - first[switch_id]);
}

static void file_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    const struct file_topology *file = file_of(topology);
    if (file->place_at) {
        uint32_t place = file->place_at[file->ports[switch_id] + port];
        if (place == 0) {
            *peer = (struct route_peer){.kind = ROUTE_NOTHING};
            return;
        }
        port = place - 1;
    }
    *peer = file->peer[file->first[switch_id] + port];
}

static void file_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                            uint16_t *port)
{
    *switch_id = file_of(topology)->endpoint[endpoint].switch_id;
    *port = file_of(topology)->endpoint_port[endpoint];
}

static uint64_t file_address(const struct route_topology *topology, uint32_t endpoint)
{
    return file_of(topology)->endpoint[endpoint].switch_id |
           (uint64_t)file_of(topology)->endpoint_port[endpoint] << 32;
}

static uint64_t file_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id;
}

/* Breadth first; for tests and settings, not for every packet. */
static uint32_t file_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct file_topology *file = file_of(topology);
    uint32_t start = file->endpoint[from].switch_id, wanted = file->endpoint[to].switch_id, done = 0,
             found = 1;
    uint32_t *queue = ker_alloc(file->switches * sizeof *queue),
             *hops = ker_alloc(file->switches * sizeof *hops);
    queue[0] = start;
    hops[start] = 1; /* 0: not found yet */
    for (; hops[wanted] == 0 && done < found; done++)
        for (uint64_t i = file->first[queue[done]]; i < file->first[queue[done] + 1]; i++) {
            const struct route_peer *peer = &file->peer[i];
            if (peer->kind != ROUTE_SWITCH || hops[peer->id])
                continue;
            hops[peer->id] = hops[queue[done]] + 1;
            queue[found++] = peer->id;
        }
    uint32_t links = hops[wanted] - 1;
    free(queue);
    free(hops);
    return links;
}

static uint32_t file_group(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id;
}

static uint32_t file_groups(const struct route_topology *topology)
{
    return topology->summary.switches;
}

static enum ker_status minimal_prepare(struct route_topology *topology, const struct ker_config *config,
                                       struct ker_error *error)
{
    return route_shortest_prepare(topology, config, true, error);
}

static enum ker_status adaptive_prepare(struct route_topology *topology, const struct ker_config *config,
                                        struct ker_error *error)
{
    return route_shortest_prepare(topology, config, false, error);
}

static const struct ker_option file_options[] = {
    {"topology.file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "File: the edge list, see docs/topology-file.md. Fabric: the output of ibnetdiscover, see "
     "docs/fabric.md."},
    {0},
};

static const struct ker_kind *const file_algorithms[] = {
    ROUTE_ALGORITHM("minimal", "one shortest path per destination node", NULL, NULL, .avoids = true,
                    .by_table = true, .next = route_table_next, .prepare = minimal_prepare,
                    .channels = route_table_channels),
    ROUTE_ALGORITHM("adaptive", "all shortest paths, by the state of the switch", "selects", NULL,
                    .adaptive = true, .avoids = true, .by_switch = true, .by_table = true,
                    .next = route_table_next, .prepare = adaptive_prepare, .channels = route_table_channels),
    &route_paths_valiant,
    &route_paths_ugal,
    &route_paths_par,
    NULL,
};

/* Only how it comes to be differs between the two. */
#define OPERATIONS(how)                                                                                      \
    &(const struct route_kind)                                                                               \
    {                                                                                                        \
        .size = sizeof(struct file_topology), .build = how, .release = file_release, .ports = file_ports,    \
        .port = file_port, .attachment = file_attachment, .address = file_address,                           \
        .coordinate = file_coordinate, .hops = file_hops, .group = file_group, .groups = file_groups         \
    }

const struct ker_kind route_file = {
    .name = "file",
    .meaning = "any network from an edge list (docs/topology-file.md)",
    .operations = OPERATIONS(file_build),
    .options = KER_OPTIONS(file_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, file_algorithms),
};

const struct ker_kind route_fabric = {
    .name = "fabric",
    .meaning = "an InfiniBand cluster from the output of ibnetdiscover (docs/fabric.md)",
    .operations = OPERATIONS(fabric_build),
    .options = KER_OPTIONS(file_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, file_algorithms),
};
