/* star.c - one switch with all endpoints on it: port i is endpoint i, so address and output port are the same
 * number.
 */
#include "routing/topology.h"

static enum ker_status star_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct route_summary *summary = &topology->summary;
    enum ker_status status = route_key_require(config, "topology.nodes", error);
    if (status == KER_OK)
        status = route_list_check(config, "topology.bandwidth", 1, "links", error);
    if (status == KER_OK)
        status = route_list_check(config, "topology.latency", 1, "links", error);
    if (status)
        return status;
    int64_t endpoints = ker_config_int(config, "topology.nodes");
    if (endpoints < 1 || endpoints > ROUTE_MAX_PORTS)
        return ker_config_fail(config, error, "topology.nodes", "is %lld; a star has 1 to %d nodes",
                               (long long)endpoints, ROUTE_MAX_PORTS);
    int like = route_link_add(summary, "node", route_time_each(config, "topology.latency", 0),
                              route_rate_each(config, "topology.bandwidth", 0));
    route_endpoint_link_add(summary, config, like);
    summary->link[0] = summary->link[1]; /* the endpoint links are the only ones */
    summary->link_count = 1;
    summary->endpoint_link = 0;
    summary->endpoints = summary->max_ports = (uint32_t)endpoints;
    summary->links = (uint64_t)endpoints;
    summary->switches = 1;
    snprintf(summary->text, sizeof summary->text, "star, %u nodes, 1 switch", summary->endpoints);
    return KER_OK;
}

static uint32_t star_ports(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->summary.endpoints;
}

static void star_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    *peer = (struct route_peer){.kind = ROUTE_ENDPOINT, .id = port};
}

static void star_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                            uint16_t *port)
{
    *switch_id = 0;
    *port = (uint16_t)endpoint;
}

static uint64_t star_address(const struct route_topology *topology, uint32_t endpoint)
{
    return endpoint;
}

static uint64_t star_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    return 0;
}

static uint32_t star_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    return 0;
}

static uint32_t star_group(const struct route_topology *topology, uint32_t switch_id)
{
    return 0;
}

static uint32_t star_groups(const struct route_topology *topology)
{
    return 1;
}

static int star_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                     const struct route_packet *packet, struct route_choice *choices)
{
    return route_eject(topology, packet, (uint32_t)packet->address, choices);
}

static uint32_t star_channels(const struct route_topology *topology)
{
    return 1;
}

static const struct ker_option star_options[] = {
    {"topology.nodes", KER_TYPE_INT, NULL, "1", "65535", NULL, "Star: nodes on the one switch."},
    {0},
};

static const struct ker_kind *const star_algorithms[] = {
    ROUTE_ALGORITHM("minimal", "the only path", NULL, NULL, .by_switch = true, .next = star_next,
                    .channels = star_channels),
    ROUTE_ALGORITHM("adaptive", "the only path", "selects", NULL, .by_switch = true, .next = star_next,
                    .channels = star_channels),
    NULL,
};

const struct ker_kind route_star = {
    .name = "star",
    .meaning = "one switch with all nodes on it",
    .operations =
        &(const struct route_kind){
            .size = sizeof(struct route_topology),
            .build = star_build,
            .ports = star_ports,
            .port = star_port,
            .attachment = star_attachment,
            .address = star_address,
            .coordinate = star_coordinate,
            .hops = star_hops,
            .group = star_group,
            .groups = star_groups,
        },
    .options = KER_OPTIONS(star_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, star_algorithms),
};
