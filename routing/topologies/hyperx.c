/* hyperx.c - HyperX (Ahn et al. 2009): a grid whose switches are linked to all others of each of their rows;
 * flattened butterflies (Kim et al. 2007) are those with one link per pair, Hamming graphs those of equal
 * extents.
 *
 * Switch id = x0 + e0 (x1 + e1 (x2 + ...)). Ports: nodes, then for every dimension the links to the switch
 * one place further round, two places, ..., parallel ones side by side.
 *
 * Deadlock: "minimal" goes by dimension order, in which no link of a dimension waits for one of a lower
 * dimension: one channel. DAL (the same paper) takes any dimension in which the packet is not where it is to
 * be, either straight to the right place or, once in each dimension, to a drawn one; where none of these has
 * room at once it waits for dimension order on a channel of its own (Duato 1993), on which packets wait for
 * higher dimensions only. The state is which dimensions have had their detour.
 */
#include "routing/topologies/closed.h"

#define MOST_DIMENSIONS 8
#define SALT_DAL 40 /* and one for each dimension */

struct dimension {
    uint32_t extent, stride, first_port, links; /* links: parallel ones */
};

struct hyperx {
    struct closed closed;
    int dimensions;
    struct dimension dimension[MOST_DIMENSIONS];
    uint32_t escapes; /* DAL: channels of the escape */
};

static const struct hyperx *hyperx_of(const struct route_topology *topology)
{
    return (const struct hyperx *)topology;
}

static uint32_t place(const struct dimension *d, uint32_t switch_id)
{
    return switch_id / d->stride % d->extent;
}

/* The first port from place to place of a dimension; they differ. */
static uint32_t port_between(const struct dimension *d, uint32_t from, uint32_t to)
{
    return d->first_port + (to - from - 1 + (to < from ? d->extent : 0)) * d->links;
}

static void hyperx_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                        struct route_peer *peer)
{
    const struct hyperx *h = hyperx_of(topology);
    if (closed_node_port(topology, switch_id, port, peer))
        return;
    int i = h->dimensions - 1; /* a dimension of extent 1 has no ports and begins where its successor does */
    while (h->dimension[i].extent == 1 || h->dimension[i].first_port > port)
        i--;
    const struct dimension *d = &h->dimension[i];
    uint32_t ahead = (port - d->first_port) / d->links, lane = (port - d->first_port) % d->links;
    uint32_t from = place(d, switch_id), to = (from + ahead + 1) % d->extent;
    peer->link = (uint8_t)i;
    peer->id = switch_id - from * d->stride + to * d->stride;
    peer->port = (uint16_t)(port_between(d, to, from) + lane);
}

static uint32_t hyperx_reach(const struct route_topology *topology)
{
    const struct hyperx *h = hyperx_of(topology);
    uint32_t reach = 0;
    for (int i = 0; i < h->dimensions; i++)
        reach += h->dimension[i].extent > 1;
    return reach;
}

static uint32_t hyperx_apart(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct hyperx *h = hyperx_of(topology);
    uint32_t apart = 0;
    for (const struct dimension *d = h->dimension; d < h->dimension + h->dimensions; d++)
        apart += place(d, from) != place(d, to);
    return apart;
}

static int hyperx_toward(const struct route_topology *topology, uint32_t from, uint32_t to, bool ordered,
                         uint16_t *port)
{
    const struct hyperx *h = hyperx_of(topology);
    int count = 0;
    for (const struct dimension *d = h->dimension; d < h->dimension + h->dimensions; d++) {
        uint32_t a = place(d, from), b = place(d, to);
        if (a == b)
            continue;
        for (uint32_t lane = 0; lane < d->links && count < ROUTE_MAX_CHOICES; lane++)
            port[count++] = (uint16_t)(port_between(d, a, b) + lane);
        if (ordered)
            break;
    }
    return count;
}

static const struct route_steps hyperx_steps = {
    .reach = hyperx_reach, .apart = hyperx_apart, .toward = hyperx_toward, .order_classes = 1};

/* ---- groups and places ---- */

/* Groups differ in the last dimension. */
static uint32_t hyperx_group(const struct route_topology *topology, uint32_t switch_id)
{
    const struct hyperx *h = hyperx_of(topology);
    return switch_id / h->dimension[h->dimensions - 1].stride;
}

static uint32_t hyperx_groups(const struct route_topology *topology)
{
    const struct hyperx *h = hyperx_of(topology);
    return h->dimension[h->dimensions - 1].extent;
}

/* ---- DAL ---- */

/* One of the other places of a dimension but `from` and `to`, drawn; extent > 2. */
static uint32_t place_draw(const struct dimension *d, uint32_t from, uint32_t to,
                           const struct route_packet *packet, uint32_t salt)
{
    uint32_t low = from < to ? from : to, high = from < to ? to : from,
             other = route_pick(packet, salt, d->extent - 2);
    other += other >= low;
    return other + (other >= high);
}

static int dal_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                    const struct route_packet *packet, struct route_choice *choices)
{
    const struct hyperx *h = hyperx_of(topology);
    uint32_t to = (uint32_t)packet->address, apart = hyperx_apart(topology, switch_id, to);
    uint16_t order[ROUTE_MAX_CHOICES];
    int count = 0;
    if (apart == 0)
        return route_eject(topology, packet, (uint32_t)(packet->address >> 32), choices);
    for (int i = 0; i < h->dimensions; i++) {
        const struct dimension *d = &h->dimension[i];
        uint32_t a = place(d, switch_id), b = place(d, to), bit = 1u << i, salt = SALT_DAL + 3 * (uint32_t)i;
        if (a == b)
            continue;
        choices[count] = (struct route_choice){
            .port = (uint16_t)(port_between(d, a, b) + route_pick(packet, salt, d->links)),
            .weight = (uint8_t)apart,
            .state = packet->state};
        route_channel(&choices[count++], h->escapes, topology->channels - h->escapes);
        if (packet->state & bit || d->extent < 3)
            continue;
        uint32_t by = place_draw(d, a, b, packet, salt + 1);
        choices[count] = choices[count - 1];
        choices[count].port = (uint16_t)(port_between(d, a, by) + route_pick(packet, salt + 2, d->links));
        choices[count].weight++;
        choices[count].flags = ROUTE_DETOUR;
        choices[count++].state |= bit;
    }
    hyperx_toward(topology, switch_id, to, true, order);
    choices[count] = (struct route_choice){.port = order[0], .flags = ROUTE_ESCAPE, .state = packet->state};
    route_channel(&choices[count], 0, h->escapes);
    return count + 1;
}

static uint32_t dal_channels(const struct route_topology *topology)
{
    return 2;
}

static enum ker_status dal_prepare(struct route_topology *topology, const struct ker_config *config,
                                   struct ker_error *error)
{
    ((struct hyperx *)topology)->escapes = 1;
    route_bias_propose(&topology->summary);
    return KER_OK;
}

/* ---- set-up ---- */

static enum ker_status hyperx_links(struct hyperx *h, const struct ker_config *config, uint64_t *switches,
                                    uint64_t *ports, uint64_t *links, struct ker_error *error)
{
    uint64_t per_switch = 0;
    *switches = 1;
    *ports = h->closed.nodes;
    for (int i = 0; i < h->dimensions; i++) {
        struct dimension *d = &h->dimension[i];
        d->links = (uint32_t)route_int_each(config, "topology.links", i);
        d->stride = (uint32_t)*switches;
        d->first_port = (uint32_t)*ports;
        *switches *= d->extent;
        *ports += (uint64_t)(d->extent - 1) * d->links;
        per_switch += (uint64_t)(d->extent - 1) * d->links;
        if (*switches > UINT32_MAX || *ports > ROUTE_MAX_PORTS)
            return ker_config_fail(
                config, error, "topology.extents",
                "make %llu switches of %llu ports with dimension %d; 2^32 - 1 of %d are possible",
                (unsigned long long)*switches, (unsigned long long)*ports, i + 1, ROUTE_MAX_PORTS);
    }
    *links = *switches * per_switch / 2;
    return KER_OK;
}

static enum ker_status hyperx_build(struct route_topology *topology, const struct ker_config *config,
                                    struct ker_error *error)
{
    static const char *const names[] = {"x", "y", "z", "dim4", "dim5", "dim6", "dim7", "dim8"};
    struct hyperx *h = (struct hyperx *)topology;
    uint32_t extents[MOST_DIMENSIONS];
    uint64_t switches, ports, links = 0;
    enum ker_status status =
        route_extents_read(config, "topology.extents", extents, MOST_DIMENSIONS, &h->dimensions, error);
    status = status ?: route_list_check(config, "topology.links", h->dimensions, "dimensions", error);
    if (status != KER_OK)
        return status;
    const char *classes[MOST_DIMENSIONS + 1] = {NULL};
    for (int i = 0; i < h->dimensions; i++) {
        h->dimension[i].extent = extents[i];
        classes[i] = names[i];
    }
    h->closed.nodes = (uint32_t)ker_config_int(config, "topology.nodes_per_switch");
    h->closed.block = h->closed.leaves = 1;
    status = hyperx_links(h, config, &switches, &ports, &links, error);
    status = status ?: closed_make(&h->closed, config, classes, switches, links, ports, error);
    if (status != KER_OK)
        return status;
    char size[96];
    route_extents_print(size, sizeof size, extents, h->dimensions);
    snprintf(topology->summary.text, sizeof topology->summary.text,
             "HyperX %s, %u per switch, %u nodes, %u switches", size, h->closed.nodes,
             topology->summary.endpoints, topology->summary.switches);
    return KER_OK;
}

static const struct ker_kind *const hyperx_algorithms[] = {
    &route_paths_minimal,
    &route_paths_adaptive,
    &route_paths_valiant,
    &route_paths_ugal,
    &route_paths_par,
    ROUTE_ALGORITHM(
        "dal",
        "shortest, or by one detour in each dimension, by the state of each switch (DAL); dimension "
        "order as escape",
        "selects detours", NULL, .adaptive = true, .by_switch = true, .next = dal_next,
        .prepare = dal_prepare, .channels = dal_channels),
    NULL,
};

const struct ker_kind route_hyperx = {
    .name = "hyperx",
    .meaning = "HyperX, flattened butterfly: each row of a grid fully connected, 1 to 8 dimensions",
    .operations = &(const struct route_kind){CLOSED_OPERATIONS(&hyperx_steps, closed_hops),
                                             .size = sizeof(struct hyperx), .build = hyperx_build,
                                             .ports = closed_ports, .port = hyperx_port,
                                             .group = hyperx_group, .groups = hyperx_groups},
    .options = KER_OPTIONS(route_extents_options, route_parallel_options, route_nodes_per_switch_options,
                           route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, hyperx_algorithms),
};
