/* star.c - nodes at switches without links between them: a star, which is one switch with all nodes on it,
 * and no network at all.
 *
 * The latter is for nodes below models that know latency and bandwidth alone (network.model = "simple",
 * "links", "bus", "pmac"), for which network.nodes says how many there are: what places tasks or divides the
 * system among ranks has something to count by, and no message ever takes a route.
 */
#include "routing/topologies/closed.h"

#define EACH 1024u /* nodes of a switch, without a network */

/* All links are those of nodes, of the class that is given and then changed by what node links have of their
 * own. */
static void single_make(struct route_topology *topology, const struct ker_config *config, uint32_t endpoints,
                        uint32_t each, ker_time latency, uint64_t rate)
{
    struct route_summary *summary = &topology->summary;
    struct closed *c = (struct closed *)topology;
    c->nodes = each;
    c->block = c->leaves = 1;
    route_endpoint_link_add(summary, config, route_link_add(summary, "node", latency, rate));
    summary->link[0] = summary->link[1];
    summary->link_count = 1;
    summary->endpoint_link = 0;
    summary->endpoints = endpoints;
    summary->max_ports = endpoints < each ? endpoints : each;
    summary->links = endpoints;
    summary->switches = (endpoints + each - 1) / each;
}

static enum ker_status star_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    enum ker_status status = route_key_require(config, "topology.nodes", error);
    status = status ?: route_list_check(config, "topology.bandwidth", 1, "links", error);
    status = status ?: route_list_check(config, "topology.latency", 1, "links", error);
    if (status)
        return status;
    int64_t endpoints = ker_config_int(config, "topology.nodes");
    if (endpoints < 1 || endpoints > ROUTE_MAX_PORTS)
        return ker_config_fail(config, error, "topology.nodes", "is %lld; a star has 1 to %d nodes",
                               (long long)endpoints, ROUTE_MAX_PORTS);
    single_make(topology, config, (uint32_t)endpoints, (uint32_t)endpoints,
                route_time_each(config, "topology.latency", 0),
                route_rate_each(config, "topology.bandwidth", 0));
    snprintf(topology->summary.text, sizeof topology->summary.text, "star, %u nodes, 1 switch",
             (uint32_t)endpoints);
    return KER_OK;
}

static enum ker_status none_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    if (!ker_config_means_key(config, "network.nodes"))
        return ker_config_fail(config, error, "topology.kind",
                               "\"none\" is for network.model = \"simple\", \"links\", \"bus\" or \"pmac\"");
    enum ker_status status = route_key_require(config, "network.nodes", error);
    if (status)
        return status;
    uint32_t nodes = (uint32_t)ker_config_int(config, "network.nodes");
    single_make(topology, config, nodes, EACH, ker_config_time(config, "network.latency"),
                ker_config_rate(config, "network.bandwidth"));
    snprintf(topology->summary.text, sizeof topology->summary.text, "no topology, %u nodes", nodes);
    return KER_OK;
}

static uint32_t single_ports(const struct route_topology *topology, uint32_t switch_id)
{
    uint32_t each = closed_of(topology)->nodes, rest = topology->summary.endpoints - switch_id * each;
    return rest < each ? rest : each;
}

static void single_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                        struct route_peer *peer)
{
    closed_node_port(topology, switch_id, port, peer);
}

static uint32_t single_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    return 0;
}

static uint32_t single_group(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id;
}

static uint32_t single_groups(const struct route_topology *topology)
{
    return topology->summary.switches;
}

static int single_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                       const struct route_packet *packet, struct route_choice *choices)
{
    return route_eject(topology, packet, (uint32_t)(packet->address >> 32), choices);
}

static uint32_t single_channels(const struct route_topology *topology)
{
    return 1;
}

static const struct ker_option star_options[] = {
    {"topology.nodes", KER_TYPE_INT, NULL, "1", "65535", NULL, "Star: nodes on the one switch."},
    {0},
};

static const struct ker_kind *const star_algorithms[] = {
    ROUTE_ALGORITHM("minimal", "the only path", NULL, NULL, .by_switch = true, .next = single_next,
                    .channels = single_channels),
    ROUTE_ALGORITHM("adaptive", "the only path", "selects", NULL, .by_switch = true, .next = single_next,
                    .channels = single_channels),
    NULL,
};
static const struct ker_kind *const none_algorithms[] = {
    ROUTE_ALGORITHM("minimal", "no message takes a route", NULL, NULL, .by_switch = true, .next = single_next,
                    .channels = single_channels),
    NULL,
};

#define SINGLE_OPERATIONS(make)                                                                              \
    &(const struct route_kind)                                                                               \
    {                                                                                                        \
        CLOSED_OPERATIONS(NULL, single_hops), .size = sizeof(struct closed), .build = (make),                \
                                              .ports = single_ports, .port = single_port,                    \
                                              .group = single_group, .groups = single_groups                 \
    }

const struct ker_kind route_star = {
    .name = "star",
    .meaning = "one switch with all nodes on it",
    .operations = SINGLE_OPERATIONS(star_build),
    .options = KER_OPTIONS(star_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, star_algorithms),
};

const struct ker_kind route_none = {
    .name = "none",
    .meaning = "no network: nodes below network.model = \"simple\", \"links\", \"bus\", \"pmac\"",
    .operations = SINGLE_OPERATIONS(none_build),
    .options = KER_OPTIONS(route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, none_algorithms),
};
