/* torus.c - torus or mesh of 1..8 dimensions.
 *
 * Switch id = x0 + e0*(x1 + e1*(x2 + ...)); node id = switch * nodes_per_switch + slot. Ports: first the
 * nodes, then for every dimension of extent > 1 the `parallel` links forward (towards x+1), then those
 * backward. A ring of extent 2 has two links between the pair, one for each direction; a dimension of extent
 * 1 has none. At the rim of an open dimension the ports outward exist but lead nowhere.
 *
 * An address holds one field of just enough bits per coordinate, dimension 0 lowest, the slot on top (at most
 * 32 + 8 + 1 bits), so the lowest bit in which here and there differ names the dimension to go in, without a
 * loop over dimensions.
 *
 * Deadlock: dimensions are taken in order, so only dependencies inside a ring can close a cycle. A packet
 * that will still cross the wrap-around link travels in class 0, one that has crossed it in class 1; the
 * wrap-around link is only ever used in class 0, and class 1 is never left for class 0 inside a ring: both
 * classes are acyclic chains. A packet that need not cross may travel in either (drawn, then kept), which
 * balances them. Rings shorter than 4 have no path of two links and need one class, as have open dimensions.
 * Adaptive packets (Duato) use channels of their own and may at every switch fall back to this order, there
 * with class 1 for all that need not cross: a function of here and there only, and with minimal paths a
 * finished dimension is never entered again, so that the extended dependencies are acyclic, too.
 */
#include "routing/shape.h"

#define MAX_DIMENSIONS 8

struct dimension {
    uint32_t extent, mask, stride; /* stride: of the switch id */
    uint16_t first_port;           /* forward; backward ports follow */
    uint8_t shift, wrap, index;
    uint8_t classes; /* 1 or 2 */
    uint32_t spread; /* channels per class */
};

struct torus {
    struct route_shape shape;
    uint64_t coordinate_mask;
    uint32_t parallel, nodes_per_switch;
    uint32_t slot_shift;
    uint32_t escape_channels; /* adaptive: the channels from this on are free to use */
    int dimensions;
    struct dimension dimension[MAX_DIMENSIONS];
    uint8_t dimension_of_bit[64];
};

static inline const struct torus *torus_of(const struct route_shape *shape)
{
    return (const struct torus *)shape;
}

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
    struct route_summary *summary = &torus->shape.summary;
    summary->switches = (uint32_t)switches;
    summary->nodes = (uint32_t)switches * torus->nodes_per_switch;
    summary->max_ports = (uint32_t)ports;
    summary->links = summary->nodes;
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
    struct route_summary *summary = &torus->shape.summary;
    for (int i = 0; i < torus->dimensions; i++)
        route_link_add(summary, name[i], route_time_each(config, "topology.latency", i),
                       route_rate_each(config, "topology.bandwidth", i));
    route_node_link_add(summary, config, 0);
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

static enum ker_status torus_build(struct route_shape *shape, const struct ker_config *config,
                                   struct ker_error *error)
{
    struct torus *torus = (struct torus *)shape;
    enum ker_status status = torus_read(torus, config, error);
    if (status == KER_OK)
        status = torus_size(torus, config, error);
    if (status)
        return status;
    torus_pack(torus);
    torus_links(torus, config);
    struct route_summary *summary = &shape->summary;
    char size[96];
    uint32_t extents[MAX_DIMENSIONS];
    bool rings = false;
    for (int i = 0; i < torus->dimensions; i++) {
        extents[i] = torus->dimension[i].extent;
        rings |= torus->dimension[i].wrap;
    }
    route_extents_print(size, sizeof size, extents, torus->dimensions);
    snprintf(summary->text, sizeof summary->text, "%s %s, %u nodes, %u switches", rings ? "torus" : "mesh",
             size, summary->nodes, summary->switches);
    return KER_OK;
}

static uint32_t escape_classes(const struct torus *torus)
{
    uint32_t classes = 1;
    for (int i = 0; i < torus->dimensions; i++)
        if (torus->dimension[i].classes > classes)
            classes = torus->dimension[i].classes;
    return classes;
}

static uint32_t minimal_channels(const struct route_shape *shape)
{
    return escape_classes(torus_of(shape));
}

static uint32_t adaptive_channels(const struct route_shape *shape)
{
    return escape_classes(torus_of(shape)) + 1;
}

static void torus_tune(struct route_shape *shape)
{
    struct torus *torus = (struct torus *)shape;
    torus->escape_channels = escape_classes(torus);
    for (int i = 0; i < torus->dimensions; i++)
        torus->dimension[i].spread = shape->channels / torus->dimension[i].classes;
}

static uint32_t torus_ports(const struct route_shape *shape, uint32_t switch_id)
{
    return shape->summary.max_ports;
}

static void torus_port(const struct route_shape *shape, uint32_t switch_id, uint32_t port,
                       struct route_peer *peer)
{
    const struct torus *torus = torus_of(shape);
    if (port < torus->nodes_per_switch) {
        *peer = (struct route_peer){ROUTE_NODE, (uint8_t)shape->summary.node_link, 0,
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
}

static void torus_attachment(const struct route_shape *shape, uint32_t node, uint32_t *switch_id,
                             uint16_t *port)
{
    const struct torus *torus = torus_of(shape);
    *switch_id = node / torus->nodes_per_switch;
    *port = (uint16_t)(node % torus->nodes_per_switch);
}

static uint64_t torus_here(const struct route_shape *shape, uint32_t switch_id)
{
    const struct torus *torus = torus_of(shape);
    uint64_t here = 0;
    for (int i = 0; i < torus->dimensions; i++) {
        const struct dimension *d = &torus->dimension[i];
        here |= (uint64_t)(switch_id / d->stride % d->extent) << d->shift;
    }
    return here;
}

static uint64_t torus_address(const struct route_shape *shape, uint32_t node)
{
    const struct torus *torus = torus_of(shape);
    return torus_here(shape, node / torus->nodes_per_switch) | (uint64_t)(node % torus->nodes_per_switch)
                                                                   << torus->slot_shift;
}

static uint32_t torus_hops(const struct route_shape *shape, uint32_t from, uint32_t to)
{
    const struct torus *torus = torus_of(shape);
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

static uint32_t torus_group(const struct route_shape *shape, uint32_t switch_id)
{
    const struct dimension *d = slab_dimension(torus_of(shape));
    return switch_id / d->stride % d->extent;
}

static uint32_t torus_groups(const struct route_shape *shape)
{
    return slab_dimension(torus_of(shape))->extent;
}

static int torus_grid(const struct route_shape *shape, uint32_t extents[8])
{
    const struct torus *torus = torus_of(shape);
    for (int i = 0; i < torus->dimensions; i++)
        extents[i] = torus->dimension[i].extent;
    return torus->dimensions;
}

static void torus_coordinates(const struct route_shape *shape, uint32_t node, uint32_t at[8])
{
    const struct torus *torus = torus_of(shape);
    for (int i = 0; i < torus->dimensions; i++) {
        const struct dimension *d = &torus->dimension[i];
        at[i] = node / torus->nodes_per_switch / d->stride % d->extent;
    }
}

/* The next two decide without branches: their outcomes are close to random, and a mispredicted branch costs
 * more than all of this. from != to. */

/* Is it shorter (or drawn, where equal) to go backward? */
static inline bool goes_backward(const struct dimension *d, uint32_t from, uint32_t to,
                                 const struct route_packet *packet)
{
    bool behind = to < from;
    if (!d->wrap)
        return behind;
    uint32_t twice = 2 * (to - from + (behind ? d->extent : 0));
    return (twice > d->extent) | ((twice == d->extent) & route_pick_bit(packet, d->index));
}

/* The class inside a ring, 0 or 1. */
static inline uint32_t ring_class(const struct torus *torus, const struct dimension *d, uint32_t from,
                                  uint32_t to, bool backward, const struct route_packet *packet)
{
    uint32_t back = backward, crosses = (to > from) == back;
    /* packets that go forward come in by the ports backward, and the other way round */
    uint32_t in_first = d->first_port + (torus->parallel & (back - 1));
    uint32_t came_along = packet->in_port - in_first < torus->parallel;
    uint32_t just_crossed = from == ((d->extent - 1) & (0 - back));
    uint32_t kept = just_crossed | (packet->in_channel >= d->spread);
    uint32_t drawn = route_pick_bit(packet, 8u + d->index);
    return ((kept & came_along) | (drawn & ~came_along)) & (crosses ^ 1);
}

static inline uint32_t lane_of(const struct torus *torus, const struct route_packet *packet)
{
    return torus->parallel == 1 ? 0 : route_pick(packet, 2, torus->parallel);
}

static int minimal_next(const struct route_shape *shape, uint64_t here, uint32_t switch_id,
                        const struct route_packet *packet, struct route_choice *choice)
{
    const struct torus *torus = torus_of(shape);
    uint64_t difference = (here ^ packet->address) & torus->coordinate_mask;
    if (difference == 0)
        return route_eject(shape, packet, (uint32_t)(packet->address >> torus->slot_shift), choice);
    const struct dimension *d = &torus->dimension[torus->dimension_of_bit[__builtin_ctzll(difference)]];
    uint32_t from = (uint32_t)(here >> d->shift) & d->mask;
    uint32_t to = (uint32_t)(packet->address >> d->shift) & d->mask;
    bool backward = goes_backward(d, from, to, packet);
    uint32_t class = d->classes == 1 ? 0 : ring_class(torus, d, from, to, backward, packet);
    *choice = (struct route_choice){
        .port = (uint16_t)(d->first_port + (backward ? torus->parallel : 0) + lane_of(torus, packet))};
    route_channel(choice, class * d->spread, d->spread, packet->draw);
    return 1;
}

/* The dimension-order choice on the escape channels. */
static void escape_choice(const struct torus *torus, uint64_t here, const struct route_packet *packet,
                          uint64_t difference, struct route_choice *choice)
{
    const struct dimension *d = &torus->dimension[torus->dimension_of_bit[__builtin_ctzll(difference)]];
    uint32_t from = (uint32_t)(here >> d->shift) & d->mask;
    uint32_t to = (uint32_t)(packet->address >> d->shift) & d->mask;
    bool backward = goes_backward(d, from, to, packet);
    bool crosses = backward ? to > from : to < from;
    *choice = (struct route_choice){
        .port = (uint16_t)(d->first_port + (backward ? torus->parallel : 0) + lane_of(torus, packet)),
        .channel = d->classes == 2 && !crosses,
        .flags = ROUTE_ESCAPE};
}

/* All links of one dimension that bring the packet nearer. */
static int productive_choices(const struct torus *torus, const struct dimension *d, uint64_t here,
                              const struct route_packet *packet, struct route_choice choice,
                              struct route_choice *choices, int count)
{
    uint32_t from = (uint32_t)(here >> d->shift) & d->mask;
    uint32_t to = (uint32_t)(packet->address >> d->shift) & d->mask;
    if (from == to)
        return count;
    bool tie = d->wrap && 2 * (to > from ? to - from : from - to) == d->extent;
    bool backward = goes_backward(d, from, to, packet);
    for (int way = 0; way < (tie ? 2 : 1); way++, backward = !backward) {
        uint32_t first = d->first_port + (backward ? torus->parallel : 0), lane = lane_of(torus, packet);
        for (uint32_t i = 0; i < torus->parallel && count < ROUTE_MAX_CHOICES - 1; i++) {
            choice.port = (uint16_t)(first + lane);
            choices[count++] = choice;
            lane = lane + 1 == torus->parallel ? 0 : lane + 1;
        }
    }
    return count;
}

static int adaptive_next(const struct route_shape *shape, uint64_t here, uint32_t switch_id,
                         const struct route_packet *packet, struct route_choice *choices)
{
    const struct torus *torus = torus_of(shape);
    uint64_t difference = (here ^ packet->address) & torus->coordinate_mask;
    if (difference == 0)
        return route_eject(shape, packet, (uint32_t)(packet->address >> torus->slot_shift), choices);
    struct route_choice choice = {0};
    route_channel(&choice, torus->escape_channels, shape->channels - torus->escape_channels, packet->draw);
    int count = 0, start = (int)route_pick(packet, 3, (uint32_t)torus->dimensions);
    for (int i = start; i < torus->dimensions; i++)
        count = productive_choices(torus, &torus->dimension[i], here, packet, choice, choices, count);
    for (int i = 0; i < start; i++)
        count = productive_choices(torus, &torus->dimension[i], here, packet, choice, choices, count);
    escape_choice(torus, here, packet, difference, &choices[count]);
    return count + 1;
}

static const char *const torus_keys[] = {"topology.extents",
                                         "topology.wrap",
                                         "topology.parallel",
                                         "topology.nodes_per_switch",
                                         "topology.bandwidth",
                                         "topology.latency",
                                         NULL};

static const struct route_algorithm torus_algorithms[] = {
    {.name = "minimal", .meaning = "dimension order", .next = minimal_next, .channels = minimal_channels},
    {.name = "adaptive", .meaning = "all shortest ways, by the state of the switch; dimension order as escape (Duato)",
     .adaptive = true, .next = adaptive_next, .channels = adaptive_channels},
    {0},
};

const struct route_kind route_torus = {
    .name = "torus",
    .meaning = "torus or mesh of 1 to 8 dimensions",
    .size = sizeof(struct torus),
    .keys = torus_keys,
    .algorithms = torus_algorithms,
    .build = torus_build,
    .tune = torus_tune,
    .ports = torus_ports,
    .port = torus_port,
    .attachment = torus_attachment,
    .address = torus_address,
    .here = torus_here,
    .hops = torus_hops,
    .group = torus_group,
    .groups = torus_groups,
    .grid = torus_grid,
    .coordinates = torus_coordinates,
};
