/* torus.c - torus or mesh of 1..8 dimensions.
 *
 * Switch id = x0 + e0*(x1 + e1*(x2 + ...)); endpoint id = switch * nodes_per_switch + slot. Ports: first the
 * endpoints, then for every dimension of extent > 1 the `parallel` links forward (towards x+1), then those
 * backward. A ring of extent 2 has two links between the pair, one for each direction; a dimension of extent
 * 1 has none. At the rim of an open dimension the ports outward exist but lead nowhere.
 *
 * An address holds one field of just enough bits per coordinate, dimension 0 lowest, the slot on top (at most
 * 32 + 8 + 1 bits), so the lowest bit in which here and there differ names the dimension to go in, without a
 * loop over dimensions.
 */
#include "routing/topologies/torus.h"

#include "routing/paths.h"

static enum ker_status torus_size(struct torus *torus, const struct ker_config *config,
                                  struct ker_error *error)
{
    uint64_t switches = 1, ports = torus->nodes_per_switch;
    for (int i = 0; i < torus->dimensions; i++) {
        struct dimension *d = &torus->dimension[i];
        d->stride = (uint32_t)switches;
        switches *= d->extent;
        if (switches * torus->nodes_per_switch > UINT32_MAX)
            return ker_config_fail(config, error, "topology.extents",
                                   "make more than 2^32 - 1 nodes; use smaller extents");
        d->first_port = (uint16_t)ports;
        ports += d->extent > 1 ? 2 * (uint64_t)torus->parallel : 0;
        if (ports > ROUTE_MAX_PORTS)
            return ker_config_fail(config, error, "topology.parallel", "makes more than %d ports per switch",
                                   ROUTE_MAX_PORTS);
    }
    struct route_summary *summary = &torus->topology.summary;
    summary->switches = (uint32_t)switches;
    summary->endpoints = (uint32_t)switches * torus->nodes_per_switch;
    summary->max_ports = (uint32_t)ports;
    summary->links = summary->endpoints;
    for (int i = 0; i < torus->dimensions; i++) {
        const struct dimension *d = &torus->dimension[i];
        uint64_t in_line = d->wrap && d->extent > 1 ? d->extent : d->extent - 1;
        summary->links += switches / d->extent * in_line * torus->parallel;
    }
    return KER_OK;
}

static void torus_pack(struct torus *torus)
{
    unsigned shift = 0;
    for (int i = 0; i < torus->dimensions; i++) {
        struct dimension *d = &torus->dimension[i];
        unsigned bits = route_bits(d->extent);
        d->index = (uint8_t)i;
        d->shift = (uint8_t)shift;
        d->mask = (uint32_t)((1ull << bits) - 1);
        d->classes = d->wrap && d->extent > 3 ? 2 : 1;
        for (unsigned bit = shift; bit < shift + bits; bit++)
            torus->dimension_of_bit[bit] = (uint8_t)i;
        shift += bits;
    }
    torus->slot_shift = shift;
    torus->coordinate_mask = (1ull << shift) - 1;
}

static void torus_links(struct torus *torus, const struct ker_config *config)
{
    static const char *const name[MAX_DIMENSIONS] = {"x", "y", "z", "dim4", "dim5", "dim6", "dim7", "dim8"};
    struct route_summary *summary = &torus->topology.summary;
    for (int i = 0; i < torus->dimensions; i++)
        route_link_add(summary, name[i], route_time_each(config, "topology.latency", i),
                       route_rate_each(config, "topology.bandwidth", i));
    route_endpoint_link_add(summary, config, 0);
}

static enum ker_status torus_read(struct torus *torus, const struct ker_config *config,
                                  struct ker_error *error)
{
    uint32_t extents[MAX_DIMENSIONS];
    enum ker_status status =
        route_extents_read(config, "topology.extents", extents, MAX_DIMENSIONS, &torus->dimensions, error);
    static const char *const list[] = {"topology.wrap", "topology.bandwidth", "topology.latency"};
    for (int i = 0; i < 3 && status == KER_OK; i++)
        status = route_list_check(config, list[i], torus->dimensions, "dimensions", error);
    if (status)
        return status;
    torus->parallel = (uint32_t)ker_config_int(config, "topology.parallel");
    torus->nodes_per_switch = (uint32_t)ker_config_int(config, "topology.nodes_per_switch");
    for (int i = 0; i < torus->dimensions; i++) {
        torus->dimension[i].extent = extents[i];
        torus->dimension[i].wrap = (uint8_t)route_bool_each(config, "topology.wrap", i);
    }
    return KER_OK;
}

static const struct route_kind twisted_kind;

static enum ker_status torus_build(struct route_topology *topology, const struct ker_config *config,
                                   struct ker_error *error)
{
    struct torus *torus = (struct torus *)topology;
    enum ker_status status = torus_read(torus, config, error);
    status = status ?: torus_size(torus, config, error);
    bool twisted = status == KER_OK && ker_config_bool(config, "topology.twist");
    if (twisted)
        status = route_torus_twist_check(torus, config, error);
    if (status)
        return status;
    if (twisted)
        topology->kind = &twisted_kind;
    torus_pack(torus);
    torus_links(torus, config);
    struct route_summary *summary = &topology->summary;
    char size[96];
    uint32_t extents[MAX_DIMENSIONS];
    bool rings = false;
    for (int i = 0; i < torus->dimensions; i++) {
        extents[i] = torus->dimension[i].extent;
        rings |= torus->dimension[i].wrap;
    }
    route_extents_print(size, sizeof size, extents, torus->dimensions);
    snprintf(summary->text, sizeof summary->text, "%s%s %s, %u nodes, %u switches", twisted ? "twisted " : "",
             rings ? "torus" : "mesh", size, summary->endpoints, summary->switches);
    return KER_OK;
}

static uint32_t torus_ports(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->summary.max_ports;
}

static void torus_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                       struct route_peer *peer)
{
    const struct torus *torus = torus_of(topology);
    if (port < torus->nodes_per_switch) {
        *peer = (struct route_peer){ROUTE_ENDPOINT, (uint8_t)topology->summary.endpoint_link, 0,
                                    switch_id * torus->nodes_per_switch + port};
        return;
    }
    int i = torus->dimensions - 1; /* a dimension without ports begins where its successor does */
    while (torus->dimension[i].extent == 1 || torus->dimension[i].first_port > port)
        i--;
    const struct dimension *d = &torus->dimension[i];
    uint32_t lane = port - d->first_port;
    bool backward = lane >= torus->parallel;
    uint32_t at = switch_id / d->stride % d->extent;
    uint32_t rim = backward ? 0 : d->extent - 1;
    *peer = (struct route_peer){.kind = ROUTE_NOTHING};
    if (at == rim && !d->wrap)
        return;
    uint32_t to = at == rim ? d->extent - 1 - rim : backward ? at - 1 : at + 1;
    peer->kind = ROUTE_SWITCH;
    peer->link = (uint8_t)i;
    peer->port = (uint16_t)(backward ? port - torus->parallel : port + torus->parallel);
    peer->id = switch_id + to * d->stride - at * d->stride;
    if (at == rim && torus->longest > d->extent)
        peer->id = route_torus_twist(torus, peer->id);
}

static void torus_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                             uint16_t *port)
{
    const struct torus *torus = torus_of(topology);
    *switch_id = endpoint / torus->nodes_per_switch;
    *port = (uint16_t)(endpoint % torus->nodes_per_switch);
}

static uint64_t torus_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    return torus_place(torus_of(topology), switch_id);
}

static uint64_t torus_address(const struct route_topology *topology, uint32_t endpoint)
{
    const struct torus *torus = torus_of(topology);
    return torus_coordinate(topology, endpoint / torus->nodes_per_switch) |
           (uint64_t)(endpoint % torus->nodes_per_switch) << torus->slot_shift;
}

static uint32_t torus_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct torus *torus = torus_of(topology);
    uint32_t hops = 0;
    from /= torus->nodes_per_switch;
    to /= torus->nodes_per_switch;
    for (int i = 0; i < torus->dimensions; i++) {
        const struct dimension *d = &torus->dimension[i];
        uint32_t a = from / d->stride % d->extent, b = to / d->stride % d->extent;
        uint32_t apart = a > b ? a - b : b - a;
        hops += d->wrap && d->extent - apart < apart ? d->extent - apart : apart;
    }
    return hops;
}

/* Slabs across the longest dimension, of equal ones the last: its slabs are runs of consecutive switches. */
static const struct dimension *slab_dimension(const struct torus *torus)
{
    const struct dimension *longest = &torus->dimension[0];
    for (int i = 1; i < torus->dimensions; i++)
        if (torus->dimension[i].extent >= longest->extent)
            longest = &torus->dimension[i];
    return longest;
}

static uint32_t torus_group(const struct route_topology *topology, uint32_t switch_id)
{
    const struct dimension *d = slab_dimension(torus_of(topology));
    return switch_id / d->stride % d->extent;
}

static uint32_t torus_groups(const struct route_topology *topology)
{
    return slab_dimension(torus_of(topology))->extent;
}

static int torus_grid(const struct route_topology *topology, uint32_t extents[8])
{
    const struct torus *torus = torus_of(topology);
    for (int i = 0; i < torus->dimensions; i++)
        extents[i] = torus->dimension[i].extent;
    return torus->dimensions;
}

static void torus_coordinates(const struct route_topology *topology, uint32_t endpoint, uint32_t at[8])
{
    const struct torus *torus = torus_of(topology);
    for (int i = 0; i < torus->dimensions; i++) {
        const struct dimension *d = &torus->dimension[i];
        at[i] = endpoint / torus->nodes_per_switch / d->stride % d->extent;
    }
}

static const struct ker_option torus_options[] = {
    {"topology.wrap", KER_TYPE_BOOL | KER_TYPE_LIST, "true", NULL, NULL, NULL,
     "Torus: is the dimension a ring (true) or open (false, a mesh)? One value for all dimensions or "
     "one for each. A ring of extent 2 has two links between its two switches; extent 1 has none."},
    {"topology.parallel", KER_TYPE_INT, "1", "1", "1024", NULL,
     "Torus: links in parallel in every direction."},
    {"topology.twist", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Torus: rings of dimensions shorter than the longest are twisted: the links that close them end half "
     "way round the longest ones (TPU: n x n x 2n, n x 2n x 2n)."},
    {0},
};

#define TORUS_OPERATIONS                                                                                     \
    .size = sizeof(struct torus), .build = torus_build, .tune = route_torus_tune, .ports = torus_ports,      \
    .port = torus_port, .attachment = torus_attachment, .address = torus_address,                            \
    .coordinate = torus_coordinate, .group = torus_group, .groups = torus_groups, .grid = torus_grid,        \
    .coordinates = torus_coordinates

static const struct route_kind twisted_kind = {TORUS_OPERATIONS, .hops = route_torus_twisted_hops,
                                               .steps = &route_torus_twisted_steps,
                                               .algorithms = route_paths_algorithms};

const struct ker_kind route_torus = {
    .name = "torus",
    .meaning = "torus or mesh of 1 to 8 dimensions",
    .operations = &(const struct route_kind){TORUS_OPERATIONS, .hops = torus_hops},
    .options =
        KER_OPTIONS(route_extents_options, torus_options, route_nodes_per_switch_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, route_torus_algorithms),
};
