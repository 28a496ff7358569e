/* file.c - any network, from an edge list (docs/topology-file.md) or from the dump of an InfiniBand fabric (docs/fabric.md).
 *
 * Ports of a switch: its nodes in the order of the file, then its links, parallel ones side by side. In a fabric the
 * cables say which port is which; ports then have those numbers (port 0, the switch's management, leads nowhere), and two
 * arrays translate: everything in here counts places, in the order above, and only what leaves this file is a port.
 *
 * Distances of all pairs of switches come from a breadth-first search per switch; deterministic routing looks
 * up one of the minimal next hops, picked per (switch, destination) by a hash so that neither follows the
 * other, and one of the parallel links by the packet's draw. Both tables have switches^2 entries, which
 * bounds the size of such networks.
 *
 * Deadlock: when the dependencies between links, all in one channel, have no cycle (trees, for example), one
 * channel does. Otherwise the channel counts the hops: a packet with d hops to go travels in class diameter -
 * d, which grows with every hop, and `diameter` classes are needed.
 */
#include "routing/check.h"
#include "routing/fabric.h"
#include "routing/graph.h"
#include "routing/shape.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SWITCHES 4096
#define FAR UINT8_MAX
#define MAX_WAITS_WORK (1ull << 26) /* switches * ports */

struct file_shape {
    struct route_shape shape;
    uint32_t switches, diameter, classes, spread;
    uint64_t *first;         /* places of all switches in one row; switches + 1 */
    struct route_peer *peer; /* per place */
    uint16_t *lanes;    /* per place: parallel links from this place on, 0 when it is not the first of them */
    uint16_t *nodes_at; /* per switch: its first places */
    uint16_t *port_at;  /* per place: the port; NULL: ports are places */
    uint16_t *place_at; /* per port: 1 + the place, 0 with nothing in it */
    uint64_t *ports;    /* with port_at: where the ports of a switch begin in place_at; switches + 1 */
    struct route_graph_node *node;
    uint16_t *node_port;
    uint8_t *distance; /* [a * switches + b] */
    uint16_t *next;    /* [here * switches + destination]: the first of the parallel places */
    struct route_subnet subnet; /* of a fabric */
};

static inline const struct file_shape *file_of(const struct route_shape *shape)
{
    return (const struct file_shape *)shape;
}

/* The ports that are cabled; the caller fills in which is in which place. */
static void lay_cables(struct file_shape *file, const struct route_graph *graph)
{
    file->ports = ker_alloc((graph->switches + 1ull) * sizeof *file->ports);
    for (uint32_t i = 0; i < graph->switches; i++) {
        file->ports[i + 1] = file->ports[i] + graph->ports[i] + 1;
        if (graph->ports[i] + 1 > file->shape.summary.max_ports)
            file->shape.summary.max_ports = graph->ports[i] + 1;
    }
    file->place_at = ker_alloc(file->ports[graph->switches] * sizeof *file->place_at);
    file->port_at = ker_alloc(file->first[graph->switches] * sizeof *file->port_at);
}

static void lay_ports(struct file_shape *file, const struct route_graph *graph)
{
    uint64_t *first = ker_alloc((graph->switches + 1ull) * sizeof *first), ports = 0;
    file->nodes_at = ker_alloc(graph->switches * sizeof *file->nodes_at);
    for (uint32_t i = 0; i < graph->nodes; i++) {
        file->nodes_at[graph->node[i].switch_id]++;
        first[graph->node[i].switch_id + 1]++;
    }
    for (uint32_t i = 0; i < graph->edges; i++) {
        first[graph->edge[i].from + 1] += graph->edge[i].count;
        first[graph->edge[i].to + 1] += graph->edge[i].count;
    }
    for (uint32_t i = 0; i < graph->switches; i++) {
        ports = first[i + 1];
        if (ports > file->shape.summary.max_ports)
            file->shape.summary.max_ports = (uint32_t)ports;
        first[i + 1] += first[i];
    }
    ports = first[graph->switches];
    file->first = first;
    file->peer = ker_alloc(ports * sizeof *file->peer);
    file->lanes = ker_alloc(ports * sizeof *file->lanes);
    if (graph->ports) {
        file->shape.summary.max_ports = 0;
        lay_cables(file, graph);
    }
}

/* Notes what is in a place, in the port given where there is one; returns the port. */
static uint16_t put(struct file_shape *file, uint32_t switch_id, uint32_t place, uint16_t port, struct route_peer peer)
{
    uint64_t at = file->first[switch_id] + place;
    file->peer[at] = peer;
    if (!file->port_at)
        return (uint16_t)place;
    file->port_at[at] = port;
    file->place_at[file->ports[switch_id] + port] = (uint16_t)(place + 1);
    return port;
}

static void join_nodes(struct file_shape *file, const struct route_graph *graph, uint32_t *used)
{
    for (uint32_t i = 0; i < graph->nodes; i++) {
        const struct route_graph_node *node = &graph->node[i];
        file->node_port[i] = put(file, node->switch_id, used[node->switch_id]++, node->port,
                                 (struct route_peer){ROUTE_NODE, (uint8_t)node->class, 0, i});
    }
}

static void join_edge(struct file_shape *file, const struct route_graph_edge *e, uint32_t *used)
{
    for (uint32_t lane = 0; lane < e->count; lane++) {
        uint32_t from = used[e->from]++, to = used[e->to]++;
        uint16_t from_port = put(file, e->from, from, e->from_port, (struct route_peer){ROUTE_SWITCH, (uint8_t)e->class, 0, e->to});
        uint16_t to_port =
            put(file, e->to, to, e->to_port, (struct route_peer){ROUTE_SWITCH, (uint8_t)e->class, from_port, e->from});
        file->peer[file->first[e->from] + from].port = to_port;
    }
    file->shape.summary.links += e->count;
}

/* Edges are sorted by their ends: those of the same two switches follow each other. */
static void join_ports(struct file_shape *file, const struct route_graph *graph)
{
    uint32_t *used = ker_alloc(graph->switches * sizeof *used), last;
    join_nodes(file, graph, used);
    for (uint32_t i = 0; i < graph->edges; i = last) {
        const struct route_graph_edge *e = &graph->edge[i];
        uint16_t *from = &file->lanes[file->first[e->from] + used[e->from]], *to = &file->lanes[file->first[e->to] + used[e->to]];
        uint32_t lanes = 0;
        for (last = i; last < graph->edges && graph->edge[last].from == e->from && graph->edge[last].to == e->to; last++) {
            join_edge(file, &graph->edge[last], used);
            lanes += graph->edge[last].count;
        }
        *from = *to = (uint16_t)lanes;
    }
    free(used);
}

static inline uint16_t port_of(const struct file_shape *file, uint32_t switch_id, uint32_t place)
{
    return file->port_at ? file->port_at[file->first[switch_id] + place] : (uint16_t)place;
}

static inline bool is_bundle(const struct file_shape *file, uint32_t switch_id, uint32_t at)
{
    return file->first[switch_id] + at < file->first[switch_id + 1];
}

/* Goes through the bundles of a switch: for (p = first; is_bundle(); p = after()). */
static inline uint32_t bundle_first(const struct file_shape *file, uint32_t switch_id)
{
    return file->nodes_at[switch_id];
}

static inline uint32_t bundle_after(const struct file_shape *file, uint32_t switch_id, uint32_t at)
{
    return at + file->lanes[file->first[switch_id] + at];
}

static inline uint32_t bundle_peer(const struct file_shape *file, uint32_t switch_id, uint32_t at)
{
    return file->peer[file->first[switch_id] + at].id;
}

static inline uint8_t distance_of(const struct file_shape *file, uint32_t from, uint32_t to)
{
    return file->distance[(uint64_t)to * file->switches + from];
}

/* Distances to one switch; false when one is too far to be counted. */
static bool measure(struct file_shape *file, uint32_t to, uint32_t *queue)
{
    uint8_t *distance = &file->distance[(uint64_t)to * file->switches];
    uint32_t done = 0, found = 0;
    memset(distance, FAR, file->switches);
    distance[to] = 0;
    queue[found++] = to;
    for (; done < found; done++) {
        uint32_t at = queue[done];
        if (distance[at] > file->diameter)
            file->diameter = distance[at];
        if (file->diameter == FAR - 1)
            return false;
        for (uint32_t p = bundle_first(file, at); is_bundle(file, at, p); p = bundle_after(file, at, p)) {
            uint32_t peer = bundle_peer(file, at, p);
            if (distance[peer] == FAR) {
                distance[peer] = (uint8_t)(distance[at] + 1);
                queue[found++] = peer;
            }
        }
    }
    return true;
}

static uint16_t pick_next(const struct file_shape *file, uint32_t here, uint32_t to)
{
    uint32_t count = 0, wanted = distance_of(file, here, to) - 1u;
    for (uint32_t p = bundle_first(file, here); is_bundle(file, here, p); p = bundle_after(file, here, p))
        count += distance_of(file, bundle_peer(file, here, p), to) == wanted;
    uint32_t pick = ker_random_below(route_mix(to, here), count);
    for (uint32_t p = bundle_first(file, here); is_bundle(file, here, p); p = bundle_after(file, here, p))
        if (distance_of(file, bundle_peer(file, here, p), to) == wanted && pick-- == 0)
            return (uint16_t)p;
    ker_assert(!"a minimal next hop");
    return 0;
}

static bool make_tables(struct file_shape *file)
{
    uint64_t pairs = (uint64_t)file->switches * file->switches;
    uint32_t *queue = ker_alloc(file->switches * sizeof *queue);
    bool near = true;
    file->distance = ker_alloc(pairs * sizeof *file->distance);
    file->next = ker_alloc(pairs * sizeof *file->next);
    for (uint32_t to = 0; to < file->switches && near; to++)
        near = measure(file, to, queue);
    for (uint32_t here = 0; here < file->switches && near; here++)
        for (uint32_t to = 0; to < file->switches; to++)
            if (to != here)
                file->next[(uint64_t)here * file->switches + to] = pick_next(file, here, to);
    free(queue);
    return near;
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

static enum ker_status shape_build(struct route_shape *shape, const struct ker_config *config, struct route_graph *graph,
                                   struct ker_error *error)
{
    struct file_shape *file = (struct file_shape *)shape;
    struct route_summary *summary = &shape->summary;
    if (graph->switches > MAX_SWITCHES)
        return ker_config_fail(config, error, "topology.file",
                               "has %u switches; networks from a file may have at "
                               "most %d, as their tables grow with the square",
                               graph->switches, MAX_SWITCHES);
    file->switches = summary->switches = graph->switches;
    summary->nodes = graph->nodes;
    summary->links = graph->nodes;
    summary->node_link = (int)graph->node[0].class;
    file->node_port = ker_alloc(graph->nodes * sizeof *file->node_port);
    lay_ports(file, graph);
    join_ports(file, graph);
    name_links(summary, graph);
    file->node = graph->node;
    graph->node = NULL;
    if (!make_tables(file))
        return ker_config_fail(config, error, "topology.file", "has switches more than %d links apart", FAR - 2);
    return KER_OK;
}

static enum ker_status file_build(struct route_shape *shape, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct route_graph graph;
    enum ker_status status = route_key_require(config, "topology.file", error);
    if (status)
        return status;
    status = route_graph_read(&graph, ker_config_file(config, "topology.file"), error);
    if (status == KER_OK)
        status = shape_build(shape, config, &graph, error);
    if (status == KER_OK)
        snprintf(shape->summary.text, sizeof shape->summary.text, "network from a file, %u nodes, %u switches, diameter %u",
                 shape->summary.nodes, shape->summary.switches, ((struct file_shape *)shape)->diameter);
    route_graph_release(&graph);
    return status;
}

static enum ker_status read_defaults(struct route_fabric_defaults *defaults, const struct ker_config *config, struct ker_error *error)
{
    enum ker_status status = route_key_require(config, "topology.file", error);
    if (status == KER_OK)
        status = route_key_require(config, "topology.latency", error);
    if (status == KER_OK)
        status = route_list_check(config, "topology.latency", 1, "links", error);
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
        used = snprintf(summary->warning, sizeof summary->warning, "%s:%u: %u line%s of no dump passed over", path,
                        subnet->passed_line, subnet->passed, subnet->passed > 1 ? "s" : "");
    if (subnet->loops && used < (int)sizeof summary->warning)
        snprintf(summary->warning + used, sizeof summary->warning - (size_t)used,
                 "%s%s:%u: %u port%s cabled to the same device left out", used ? "; " : "", path, subnet->loop_line,
                 subnet->loops, subnet->loops > 1 ? "s" : "");
}

static enum ker_status fabric_build(struct route_shape *shape, const struct ker_config *config, struct ker_error *error)
{
    struct file_shape *file = (struct file_shape *)shape;
    struct route_fabric_defaults defaults = {0};
    struct route_graph graph;
    size_t length = 0;
    enum ker_status status = read_defaults(&defaults, config, error);
    if (status)
        return status;
    const char *path = ker_config_file(config, "topology.file");
    char *text = route_text_read(path, &length, error);
    if (!text)
        return KER_BAD_INPUT;
    status = route_fabric_parse(&graph, &file->subnet, &defaults, path, text, length, error);
    free(text);
    if (status == KER_OK)
        status = shape_build(shape, config, &graph, error);
    shape->subnet = &file->subnet;
    if (status == KER_OK) {
        struct route_summary *summary = &shape->summary;
        fabric_warn(summary, &file->subnet, path);
        int used = snprintf(summary->text, sizeof summary->text, "InfiniBand fabric, %u nodes, %u switches, diameter %u",
                            summary->nodes, summary->switches, file->diameter);
        if (file->subnet.left_out)
            snprintf(summary->text + used, sizeof summary->text - (size_t)used, ", %u routers and aggregation nodes left out",
                     file->subnet.left_out);
    }
    route_graph_release(&graph);
    return status;
}

static void file_release(struct route_shape *shape)
{
    struct file_shape *file = (struct file_shape *)shape;
    free(file->first);
    free(file->peer);
    free(file->lanes);
    free(file->port_at);
    free(file->place_at);
    free(file->ports);
    route_subnet_release(&file->subnet);
    free(file->nodes_at);
    free(file->node);
    free(file->node_port);
    free(file->distance);
    free(file->next);
}

/* Dependencies are edges between bundles, each named by its sending end's place in the row of all ports. */
static void add_table_waits(const struct file_shape *file, uint32_t here, uint32_t to,
                            struct route_dependencies *waits)
{
    uint32_t port = file->next[(uint64_t)here * file->switches + to], on = bundle_peer(file, here, port);
    if (on != to)
        route_dependencies_add(waits, (uint32_t)(file->first[here] + port),
                               (uint32_t)(file->first[on] + file->next[(uint64_t)on * file->switches + to]));
}

static void add_minimal_waits(const struct file_shape *file, uint32_t here, uint32_t to,
                              struct route_dependencies *waits)
{
    uint32_t distance = distance_of(file, here, to);
    for (uint32_t p = bundle_first(file, here); is_bundle(file, here, p); p = bundle_after(file, here, p)) {
        uint32_t on = bundle_peer(file, here, p);
        if (distance_of(file, on, to) + 1u != distance)
            continue;
        for (uint32_t q = bundle_first(file, on); is_bundle(file, on, q); q = bundle_after(file, on, q))
            if (distance_of(file, bundle_peer(file, on, q), to) + 2u == distance)
                route_dependencies_add(waits, (uint32_t)(file->first[here] + p),
                                       (uint32_t)(file->first[on] + q));
    }
}

static uint32_t count_channels(const struct file_shape *file,
                               void (*add_waits)(const struct file_shape *, uint32_t here, uint32_t to,
                                                 struct route_dependencies *))
{
    struct route_dependencies waits = {0};
    uint32_t channel;
    for (uint32_t to = 0; to < file->switches; to++)
        for (uint32_t here = 0; here < file->switches; here++)
            if (here != to && file->nodes_at[to]) /* nobody goes to a spine: a tree must not be charged for ways down and up */
                add_waits(file, here, to, &waits);
    bool cyclic = route_dependencies_cyclic(&waits, (uint32_t)file->first[file->switches], &channel);
    route_dependencies_release(&waits);
    return cyclic ? file->diameter : 1;
}

static uint32_t minimal_channels(const struct route_shape *shape)
{
    return count_channels(file_of(shape), add_table_waits);
}

static uint32_t adaptive_channels(const struct route_shape *shape)
{
    const struct file_shape *file = file_of(shape);
    if (file->switches * file->first[file->switches] > MAX_WAITS_WORK)
        return file->diameter ? file->diameter : 1; /* not worth the search */
    return count_channels(file, add_minimal_waits);
}

static void file_tune(struct route_shape *shape)
{
    struct file_shape *file = (struct file_shape *)shape;
    file->classes = shape->summary.channels;
    file->spread = shape->channels / file->classes;
}

static uint32_t file_ports(const struct route_shape *shape, uint32_t switch_id)
{
    const struct file_shape *file = file_of(shape);
    const uint64_t *first = file->ports ? file->ports : file->first;
    return (uint32_t)(first[switch_id + 1] - first[switch_id]);
}

static void file_port(const struct route_shape *shape, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    const struct file_shape *file = file_of(shape);
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

static void file_attachment(const struct route_shape *shape, uint32_t node, uint32_t *switch_id,
                            uint16_t *port)
{
    *switch_id = file_of(shape)->node[node].switch_id;
    *port = file_of(shape)->node_port[node];
}

static uint64_t file_address(const struct route_shape *shape, uint32_t node)
{
    return file_of(shape)->node[node].switch_id | (uint64_t)file_of(shape)->node_port[node] << 32;
}

static uint64_t file_here(const struct route_shape *shape, uint32_t switch_id)
{
    return switch_id;
}

static uint32_t file_hops(const struct route_shape *shape, uint32_t from, uint32_t to)
{
    const struct file_shape *file = file_of(shape);
    return distance_of(file, file->node[from].switch_id, file->node[to].switch_id);
}

static uint32_t file_group(const struct route_shape *shape, uint32_t switch_id)
{
    return switch_id;
}

static uint32_t file_groups(const struct route_shape *shape)
{
    return shape->summary.switches;
}

static inline void channel_choose(struct route_choice *choice, const struct file_shape *file, uint32_t distance,
                                  uint32_t draw)
{
    uint32_t class = file->classes == 1 ? 0 : file->diameter - distance;
    route_channel(choice, class * file->spread, file->spread, draw);
}

static int minimal_next(const struct route_shape *shape, uint64_t here, uint32_t switch_id,
                        const struct route_packet *packet, struct route_choice *choice)
{
    const struct file_shape *file = file_of(shape);
    uint32_t to = (uint32_t)packet->address;
    if (to == switch_id)
        return route_eject(shape, packet, (uint32_t)(packet->address >> 32), choice);
    uint32_t place = file->next[(uint64_t)switch_id * file->switches + to];
    uint32_t lanes = file->lanes[file->first[switch_id] + place];
    if (lanes > 1)
        place += route_pick(packet, 2, lanes);
    *choice = (struct route_choice){.port = port_of(file, switch_id, place)};
    channel_choose(choice, file, distance_of(file, switch_id, to), packet->draw);
    return 1;
}

static int adaptive_next(const struct route_shape *shape, uint64_t here, uint32_t switch_id,
                         const struct route_packet *packet, struct route_choice *choices)
{
    const struct file_shape *file = file_of(shape);
    uint32_t to = (uint32_t)packet->address, distance = distance_of(file, switch_id, to);
    if (to == switch_id)
        return route_eject(shape, packet, (uint32_t)(packet->address >> 32), choices);
    struct route_choice choice = {0};
    channel_choose(&choice, file, distance, packet->draw);
    const struct route_peer *peer = &file->peer[file->first[switch_id]];
    uint32_t places = (uint32_t)(file->first[switch_id + 1] - file->first[switch_id]), links = places - file->nodes_at[switch_id];
    uint32_t place = file->nodes_at[switch_id] + route_pick(packet, 3, links);
    int count = 0;
    for (uint32_t i = 0; i < links && count < ROUTE_MAX_CHOICES; i++) {
        choice.port = port_of(file, switch_id, place);
        if (distance_of(file, peer[place].id, to) + 1u == distance)
            choices[count++] = choice;
        place = place + 1 == places ? file->nodes_at[switch_id] : place + 1;
    }
    return count;
}

static const struct route_algorithm file_algorithms[] = {
    {.name = "minimal", .meaning = "one shortest way per destination", .by_switch = true, .next = minimal_next, .channels = minimal_channels},
    {.name = "adaptive", .meaning = "all shortest ways, by the state of the switch", .adaptive = true, .by_switch = true,
     .next = adaptive_next, .channels = adaptive_channels},
    {0},
};

const struct route_kind route_file = {
    .name = "file",
    .meaning = "any network from an edge list (docs/topology-file.md)",
    .size = sizeof(struct file_shape),
    .algorithms = file_algorithms,
    .build = file_build,
    .tune = file_tune,
    .release = file_release,
    .ports = file_ports,
    .port = file_port,
    .attachment = file_attachment,
    .address = file_address,
    .here = file_here,
    .hops = file_hops,
    .group = file_group,
    .groups = file_groups,
};

const struct route_kind route_fabric = {
    .name = "fabric",
    .meaning = "an InfiniBand cluster from the output of ibnetdiscover (docs/fabric.md)",
    .size = sizeof(struct file_shape),
    .algorithms = file_algorithms,
    .build = fabric_build,
    .tune = file_tune,
    .release = file_release,
    .ports = file_ports,
    .port = file_port,
    .attachment = file_attachment,
    .address = file_address,
    .here = file_here,
    .hops = file_hops,
    .group = file_group,
    .groups = file_groups,
};
