/* none.c - nodes and no network: below models that know latency and bandwidth alone (network.model =
 * "simple", "links", "bus", "pmac"), for which network.nodes says how many nodes there are.
 *
 * The nodes hang at switches, so many at each, between which there are no links: what places tasks or divides
 * the system among ranks has something to count by, and no message ever takes a route.
 */
#include "routing/topology.h"

#define EACH 1024u /* nodes of a switch */

static enum ker_status none_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct route_summary *summary = &topology->summary;
    if (!ker_config_means_key(config, "network.nodes"))
        return ker_config_fail(config, error, "topology.kind",
                               "\"none\" is for network.model = \"simple\", \"links\", \"bus\" or \"pmac\"");
    enum ker_status status = route_key_require(config, "network.nodes", error);
    if (status)
        return status;
    uint32_t nodes = (uint32_t)ker_config_int(config, "network.nodes");
    int like = route_link_add(summary, "node", ker_config_time(config, "network.latency"),
                              ker_config_rate(config, "network.bandwidth"));
    route_endpoint_link_add(summary, config, like);
    summary->link[0] = summary->link[1];
    summary->link_count = 1;
    summary->endpoint_link = 0;
    summary->endpoints = nodes;
    summary->max_ports = nodes < EACH ? nodes : EACH;
    summary->links = nodes;
    summary->switches = (nodes + EACH - 1) / EACH;
    snprintf(summary->text, sizeof summary->text, "no topology, %u nodes", nodes);
    return KER_OK;
}

static uint32_t none_ports(const struct route_topology *topology, uint32_t switch_id)
{
    uint32_t rest = topology->summary.endpoints - switch_id * EACH;
    return rest < EACH ? rest : EACH;
}

static void none_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    *peer = (struct route_peer){.kind = ROUTE_ENDPOINT, .id = switch_id * EACH + port};
}

static void none_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                            uint16_t *port)
{
    *switch_id = endpoint / EACH;
    *port = (uint16_t)(endpoint % EACH);
}

static uint64_t none_address(const struct route_topology *topology, uint32_t endpoint)
{
    return endpoint;
}

static uint64_t none_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id;
}

static uint32_t none_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    return 0;
}

static uint32_t none_group(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id;
}

static uint32_t none_groups(const struct route_topology *topology)
{
    return topology->summary.switches;
}

static int none_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                     const struct route_packet *packet, struct route_choice *choices)
{
    return route_eject(topology, packet, (uint32_t)packet->address % EACH, choices);
}

static uint32_t none_channels(const struct route_topology *topology)
{
    return 1;
}

static const struct ker_kind *const none_algorithms[] = {
    ROUTE_ALGORITHM("minimal", "no message takes a route", NULL, NULL, .by_switch = true, .next = none_next,
                    .channels = none_channels),
    NULL,
};

const struct ker_kind route_none = {
    .name = "none",
    .meaning = "no network: nodes below network.model = \"simple\", \"links\", \"bus\", \"pmac\"",
    .operations =
        &(const struct route_kind){
            .size = sizeof(struct route_topology),
            .build = none_build,
            .ports = none_ports,
            .port = none_port,
            .attachment = none_attachment,
            .address = none_address,
            .coordinate = none_coordinate,
            .hops = none_hops,
            .group = none_group,
            .groups = none_groups,
        },
    .options = KER_OPTIONS(route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, none_algorithms),
};
