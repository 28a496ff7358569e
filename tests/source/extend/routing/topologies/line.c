/* line.c - switches 0 .. n-1 in a row, a node on each: port 0 is the node, 1 the left neighbour, 2 the right
 * one.
 */
#include "routing/topology.h"

static const struct ker_option line_options[] = {{.key = "topology.length",
                                                  .type = KER_TYPE_INT,
                                                  .minimum = "2",
                                                  .maximum = "60000",
                                                  .meaning = "Line: switches."},
                                                 {0}};

static enum ker_status line_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct route_summary *summary = &topology->summary;
    enum ker_status status = route_key_require(config, "topology.length", error);
    if (status == KER_OK)
        status = route_list_check(config, "topology.bandwidth", 1, "links", error);
    if (status == KER_OK)
        status = route_list_check(config, "topology.latency", 1, "links", error);
    if (status)
        return status;
    int like = route_link_add(summary, "line", route_time_each(config, "topology.latency", 0),
                              route_rate_each(config, "topology.bandwidth", 0));
    route_endpoint_link_add(summary, config, like);
    summary->endpoints = summary->switches = (uint32_t)ker_config_int(config, "topology.length");
    summary->links = 2 * (uint64_t)summary->endpoints - 1;
    summary->max_ports = 3;
    snprintf(summary->text, sizeof summary->text, "line of %u switches", summary->switches);
    return KER_OK;
}

static uint32_t line_ports(const struct route_topology *topology, uint32_t switch_id)
{
    return 3;
}

static void line_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    *peer = (struct route_peer){.kind = ROUTE_NOTHING};
    if (port == 0)
        *peer = (struct route_peer){
            .kind = ROUTE_ENDPOINT, .id = switch_id, .link = (uint8_t)topology->summary.endpoint_link};
    else if (port == 1 && switch_id > 0)
        *peer = (struct route_peer){.kind = ROUTE_SWITCH, .id = switch_id - 1, .port = 2};
    else if (port == 2 && switch_id + 1 < topology->summary.switches)
        *peer = (struct route_peer){.kind = ROUTE_SWITCH, .id = switch_id + 1, .port = 1};
}

static void line_attachment(const struct route_topology *topology, uint32_t node, uint32_t *switch_id,
                            uint16_t *port)
{
    *switch_id = node;
    *port = 0;
}

static uint64_t line_address(const struct route_topology *topology, uint32_t node)
{
    return node;
}

static uint64_t line_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id;
}

static uint32_t line_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    return from < to ? to - from : from - to;
}

static uint32_t line_group(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id / 4;
}

static uint32_t line_groups(const struct route_topology *topology)
{
    return (topology->summary.switches + 3) / 4;
}

/* Free of deadlock: packets to the left and to the right never wait for each other. */
static int line_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                     const struct route_packet *packet, struct route_choice *choices)
{
    if (packet->address == coordinate)
        return route_eject(topology, packet, 0, choices);
    *choices = (struct route_choice){.port = packet->address < coordinate ? 1 : 2};
    route_channel(choices, 0, topology->channels);
    return 1;
}

static uint32_t one_channel(const struct route_topology *topology)
{
    return 1;
}

static const struct ker_kind line_minimal = {
    .name = "minimal",
    .meaning = "straight on",
    .operations =
        &(const struct route_algorithm){.by_switch = true, .next = line_next, .channels = one_channel}};
static const struct ker_kind *const line_algorithms[] = {&line_minimal, NULL};
const struct ker_kind route_line = {
    .name = "line",
    .meaning = "switches in a row, a node on each",
    .operations =
        &(const struct route_kind){
            .size = sizeof(struct route_topology),
            .build = line_build,
            .ports = line_ports,
            .port = line_port,
            .attachment = line_attachment,
            .address = line_address,
            .coordinate = line_coordinate,
            .hops = line_hops,
            .group = line_group,
            .groups = line_groups,
        },
    .options = KER_OPTIONS(line_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, line_algorithms)};
