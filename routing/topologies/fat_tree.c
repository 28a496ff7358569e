/* fat_tree.c - extended generalised fat tree XGFT(h; m1..mh; w1..wh) (Oehring et al., 1995).
 *
 * Endpoints are level 0, switches levels 1..h. A switch of level l has m_l children and w_(l+1) parents; w_1
 * = 1. An endpoint is named by its digits x_h..x_1 (x_i < m_i), a switch of level l by x_h..x_(l+1), y_l..y_1
 * (y_i < w_i): it keeps its x from above and has a y for every level climbed. Child x_l and parent y_(l+1) of
 * a switch hang on ports x_l and m_l + y_(l+1). Ids run level by level from the leaves, within a level as (x
 * digits) * (w_1*..*w_l) + (y digits), so the switches of one subtree and level are consecutive.
 * Paths: fat_tree_routes.c.
 */
#include "routing/topologies/fat_tree.h"

/* radix and levels: every port used, half up and half down, all down at the top. */
static enum ker_status read_radix(struct fat_tree *tree, const struct ker_config *config, uint32_t *down,
                                  uint32_t *up, struct ker_error *error)
{
    enum ker_status status = route_key_require(config, "topology.radix", error);
    status = status ?: route_key_require(config, "topology.levels", error);
    if (status)
        return status;
    if (ker_config_has(config, "topology.down") || ker_config_has(config, "topology.up"))
        return ker_config_fail(config, error, "topology.radix",
                               "is beside topology.down or topology.up; give "
                               "either radix and levels, or down and up");
    int64_t radix = ker_config_int(config, "topology.radix");
    tree->levels = (int)ker_config_int(config, "topology.levels");
    if (radix % 2 || radix > ROUTE_MAX_PORTS)
        return ker_config_fail(config, error, "topology.radix",
                               "is %lld; it must be even (half of the ports go up) and at most %d",
                               (long long)radix, ROUTE_MAX_PORTS - 1);
    for (int i = 0; i < tree->levels; i++) {
        down[i] = (uint32_t)(i + 1 == tree->levels ? radix : radix / 2);
        up[i] = (uint32_t)(i == 0 ? 1 : radix / 2);
    }
    return KER_OK;
}

static enum ker_status read_down_up(struct fat_tree *tree, const struct ker_config *config, uint32_t *down,
                                    uint32_t *up, struct ker_error *error)
{
    int ups = 0;
    enum ker_status status =
        route_extents_read(config, "topology.down", down, ROUTE_MAX_LEVELS, &tree->levels, error);
    status = status ?: route_extents_read(config, "topology.up", up, ROUTE_MAX_LEVELS, &ups, error);
    if (status)
        return status;
    if (ups != tree->levels)
        return ker_config_fail(config, error, "topology.up",
                               "has %d value%s but topology.down has %d; the tree does "
                               "not close: give both for every level",
                               ups, ups == 1 ? "" : "s", tree->levels);
    if (up[0] != 1)
        return ker_config_fail(config, error, "topology.up",
                               "begins with %u: a node on %u switches; only 1 is possible for level 1", up[0],
                               up[0]);
    return KER_OK;
}

static enum ker_status tree_size(struct fat_tree *tree, const struct ker_config *config, const uint32_t *down,
                                 const uint32_t *up, struct ker_error *error)
{
    const char *key = ker_config_has(config, "topology.radix") ? "topology.radix" : "topology.down";
    uint64_t endpoints = 1, switches = 0, ys = 1, xs_below = 1;
    for (int i = 0; i < tree->levels; i++)
        if ((endpoints *= down[i]) > UINT32_MAX)
            return ker_config_fail(config, error, key, "makes more than 2^32 - 1 nodes; use smaller numbers");
    struct route_summary *summary = &tree->topology.summary;
    summary->links = endpoints;
    for (int i = 0; i < tree->levels; i++) {
        struct level *l = &tree->level[i];
        uint32_t parents = i + 1 < tree->levels ? up[i + 1] : 0;
        ker_assert(down[i] > 0);
        xs_below *= down[i];
        ys *= up[i];
        uint64_t count = ys > UINT32_MAX ? ys : endpoints / xs_below * ys;
        if (switches + count > UINT32_MAX)
            return ker_config_fail(config, error, key,
                                   "makes more than 2^32 - 1 switches; use smaller numbers");
        if ((uint64_t)down[i] + parents > ROUTE_MAX_PORTS)
            return ker_config_fail(config, error, key,
                                   "makes switches of %llu ports at level %d; %d are possible",
                                   (unsigned long long)down[i] + parents, i + 1, ROUTE_MAX_PORTS);
        l->down = (uint16_t)down[i];
        l->up = (uint16_t)parents;
        l->first = (uint32_t)switches;
        l->count = (uint32_t)count;
        l->ys = (uint32_t)ys;
        switches += count;
        summary->links += count * parents;
        if (down[i] + parents > summary->max_ports)
            summary->max_ports = down[i] + parents;
    }
    summary->endpoints = (uint32_t)endpoints;
    summary->switches = (uint32_t)switches;
    return KER_OK;
}

static enum ker_status tree_pack(struct fat_tree *tree, const struct ker_config *config,
                                 struct ker_error *error)
{
    unsigned shift = 0;
    for (int i = 0; i < tree->levels; i++) {
        struct level *l = &tree->level[i];
        unsigned bits = route_bits(l->down);
        l->down_shift = (uint8_t)shift;
        l->down_mask = (uint32_t)((1ull << bits) - 1);
        shift += bits;
    }
    uint64_t all = (1ull << shift) - 1; /* at most 32 + 8 bits */
    for (int i = 0; i < tree->levels; i++) {
        struct level *l = &tree->level[i];
        unsigned bits = route_bits(l->up);
        l->above_mask = i + 1 < tree->levels ? all & ~((1ull << tree->level[i + 1].down_shift) - 1) : 0;
        l->up_shift = (uint8_t)shift;
        l->up_mask = (uint32_t)((1ull << bits) - 1);
        shift += bits;
        if (shift > LEVEL_SHIFT)
            return ker_config_fail(config, error, "topology.up",
                                   "makes addresses of more than %d bits; use fewer parents", LEVEL_SHIFT);
    }
    return KER_OK;
}

/* Level l's links: bandwidth[l] * taper[2] * ... * taper[l]; level 1 is the endpoint links. */
static enum ker_status tree_links(struct fat_tree *tree, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct route_summary *summary = &tree->topology.summary;
    enum ker_status status = route_list_check(config, "topology.bandwidth", tree->levels, "levels", error);
    status = status ?: route_list_check(config, "topology.latency", tree->levels, "levels", error);
    if (status == KER_OK && tree->levels > 1)
        status =
            route_list_check(config, "topology.taper", tree->levels - 1, "levels above the first", error);
    if (status)
        return status;
    struct route_summary scratch = {.link_count = 0};
    route_link_add(&scratch, "node", route_time_each(config, "topology.latency", 0),
                   route_rate_each(config, "topology.bandwidth", 0));
    route_endpoint_link_add(&scratch, config, 0);
    summary->endpoint_link = route_link_add(summary, "node", scratch.link[1].latency, scratch.link[1].rate);
    double kept = 1;
    for (int i = 1; i < tree->levels; i++) {
        char name[24];
        double taper = route_real_each(config, "topology.taper", i - 1);
        if (!(taper > 0 && taper <= 1))
            return ker_config_fail(config, error, "topology.taper",
                                   "is %g for level %d; it must be above 0 and at most 1", taper, i + 1);
        kept *= taper;
        uint64_t rate = (uint64_t)((double)route_rate_each(config, "topology.bandwidth", i) * kept);
        if (rate == 0)
            return ker_config_fail(config, error, "topology.taper", "leaves no bandwidth at level %d", i + 1);
        snprintf(name, sizeof name, "level %d", i + 1);
        route_link_add(summary, name, route_time_each(config, "topology.latency", i), rate);
    }
    return KER_OK;
}

static enum ker_status tree_finish(struct fat_tree *tree, const struct ker_config *config,
                                   const uint32_t *down, const uint32_t *up, struct ker_error *error)
{
    enum ker_status status = tree_size(tree, config, down, up, error);
    status = status ?: tree_pack(tree, config, error);
    return status ?: tree_links(tree, config, error);
}

static enum ker_status tree_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    struct fat_tree *tree = (struct fat_tree *)topology;
    uint32_t down[ROUTE_MAX_LEVELS] = {0}, up[ROUTE_MAX_LEVELS] = {0};
    bool by_radix = ker_config_has(config, "topology.radix") || ker_config_has(config, "topology.levels");
    enum ker_status status =
        by_radix ? read_radix(tree, config, down, up, error) : read_down_up(tree, config, down, up, error);
    status = status ?: tree_finish(tree, config, down, up, error);
    if (status)
        return status;
    char downs[48], ups[48];
    route_extents_print(downs, sizeof downs, down, tree->levels);
    route_extents_print(ups, sizeof ups, up, tree->levels);
    snprintf(topology->summary.text, sizeof topology->summary.text,
             "fat tree %s down, %s up, %u nodes, %u switches", downs, ups, topology->summary.endpoints,
             topology->summary.switches);
    return KER_OK;
}

/* Pods with a leaf for each adapter of a node: leaf a of a pod has the adapters a of its nodes (rails.c:
 * spread). */
static enum ker_status rail_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    static const char *const needed[] = {"topology.pods", "topology.pod_nodes", "topology.spines"};
    struct fat_tree *tree = (struct fat_tree *)topology;
    for (int i = 0; i < 3; i++)
        if (route_key_require(config, needed[i], error))
            return KER_BAD_INPUT;
    uint32_t pods = (uint32_t)ker_config_int(config, needed[0]),
             nodes = (uint32_t)ker_config_int(config, needed[1]),
             spines = (uint32_t)ker_config_int(config, needed[2]),
             rails = (uint32_t)ker_config_int(config, "node.adapters");
    if (ker_config_has(config, "topology.rails") && !ker_config_is(config, "topology.rails", "spread"))
        return ker_config_fail(config, error, "topology.rails",
                               "is \"%s\"; the adapters of a node are at the leaves of its rails here",
                               ker_config_string(config, "topology.rails"));
    tree->levels = 2;
    enum ker_status status = tree_finish(tree, config, (const uint32_t[]){nodes, pods * rails},
                                         (const uint32_t[]){1, spines}, error);
    snprintf(topology->summary.text, sizeof topology->summary.text,
             "rails: %u pods of %u nodes, %u leaves each, %u spines, %u adapters, %u switches", pods, nodes,
             rails, spines, topology->summary.endpoints, topology->summary.switches);
    return status;
}

static int level_of(const struct fat_tree *tree, uint32_t switch_id)
{
    int i = tree->levels - 1;
    while (tree->level[i].first > switch_id)
        i--;
    return i;
}

static uint32_t tree_ports(const struct route_topology *topology, uint32_t switch_id)
{
    const struct fat_tree *tree = tree_of(topology);
    const struct level *l = &tree->level[level_of(tree, switch_id)];
    return (uint32_t)l->down + l->up;
}

static void tree_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    const struct fat_tree *tree = tree_of(topology);
    int i = level_of(tree, switch_id);
    const struct level *l = &tree->level[i];
    uint32_t x = (switch_id - l->first) / l->ys, y = (switch_id - l->first) % l->ys;
    peer->kind = ROUTE_SWITCH;
    if (port >= l->down) { /* this switch's x_(l+1) is its port at the parent */
        const struct level *above = l + 1;
        peer->link = (uint8_t)(i + 1);
        peer->port = (uint16_t)(x % above->down);
        peer->id = above->first + x / above->down * above->ys + (port - l->down) * l->ys + y;
    } else if (i > 0) { /* this switch's y_l is its number among the child's parents */
        const struct level *below = l - 1;
        peer->link = (uint8_t)i;
        peer->port = (uint16_t)(below->down + y / below->ys);
        peer->id = below->first + (x * l->down + port) * below->ys + y % below->ys;
    } else {
        *peer = (struct route_peer){ROUTE_ENDPOINT, 0, 0, x * l->down + port};
    }
}

static void tree_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                            uint16_t *port)
{
    const struct fat_tree *tree = tree_of(topology);
    *switch_id = endpoint / tree->level[0].down;
    *port = (uint16_t)(endpoint % tree->level[0].down);
}

static uint64_t tree_address(const struct route_topology *topology, uint32_t endpoint)
{
    const struct fat_tree *tree = tree_of(topology);
    uint64_t address = 0;
    uint32_t x = endpoint;
    for (int i = 0; i < tree->levels; i++) {
        const struct level *l = &tree->level[i];
        address |= (uint64_t)(x % l->down) << l->down_shift;
        x /= l->down;
        if (l->up)
            address |= (uint64_t)(endpoint / l->ys % l->up) << l->up_shift;
    }
    return address;
}

static uint64_t tree_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    const struct fat_tree *tree = tree_of(topology);
    int i = level_of(tree, switch_id);
    uint64_t coordinate = (uint64_t)i << LEVEL_SHIFT;
    uint32_t x = (switch_id - tree->level[i].first) / tree->level[i].ys;
    for (int j = i + 1; j < tree->levels; j++) {
        coordinate |= (uint64_t)(x % tree->level[j].down) << tree->level[j].down_shift;
        x /= tree->level[j].down;
    }
    return coordinate;
}

static uint32_t tree_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct fat_tree *tree = tree_of(topology);
    uint32_t hops = 0;
    from /= tree->level[0].down;
    to /= tree->level[0].down;
    for (int i = 1; from != to; i++, hops += 2) {
        from /= tree->level[i].down;
        to /= tree->level[i].down;
    }
    return hops;
}

/* Groups are the subtrees of the top switches; these are dealt out among the groups. */
static uint32_t tree_group(const struct route_topology *topology, uint32_t switch_id)
{
    const struct fat_tree *tree = tree_of(topology);
    int i = level_of(tree, switch_id);
    const struct level *l = &tree->level[i], *top = &tree->level[tree->levels - 1];
    if (tree->levels == 1)
        return 0;
    if (l == top)
        return (switch_id - l->first) % top->down;
    return (switch_id - l->first) / (l->count / top->down);
}

static uint32_t tree_groups(const struct route_topology *topology)
{
    const struct fat_tree *tree = tree_of(topology);
    return tree->levels == 1 ? 1 : tree->level[tree->levels - 1].down;
}

/* In units of 1/16 packet per endpoint: a packet that climbs above level l passes that level twice, one that
 * turns there once. Of all destinations, reach/endpoints lie below a switch of level l. */
static uint32_t tree_load(const struct route_topology *topology, uint32_t switch_id)
{
    const struct fat_tree *tree = tree_of(topology);
    int level = level_of(tree, switch_id);
    double endpoints = topology->summary.endpoints, reach = 1, below = 1;
    for (int i = 0; i <= level; i++) {
        below = i ? reach : 0;
        reach *= tree->level[i].down;
    }
    double passes = endpoints * (2 * (endpoints - reach) + (reach - below)) / endpoints;
    uint32_t load = (uint32_t)(16 * passes / tree->level[level].count);
    return load ? load : 1;
}

static const struct ker_option tree_options[] = {
    {"topology.down", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", NULL, NULL,
     "Fat tree: children of a switch at levels 1, 2, ..., h (m1..mh of an XGFT); those of level 1 are "
     "nodes."},
    {"topology.up", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", NULL, NULL,
     "Fat tree: parents of whatever is below levels 1, 2, ..., h (w1..wh of an XGFT); the first, "
     "switches per node, must be 1."},
    {"topology.radix", KER_TYPE_INT, NULL, "2", "65534", NULL,
     "Fat tree, instead of down and up: ports of every switch, half of them up, at the top all down."},
    {"topology.levels", KER_TYPE_INT, NULL, "1", "8", NULL, "Fat tree, with radix: levels of switches.",
     "topology.radix"},
    {0},
};

static const struct ker_option taper_options[] = {
    {"topology.taper", KER_TYPE_REAL | KER_TYPE_LIST, "1.0", NULL, NULL, NULL,
     "Fat tree: fraction of the bandwidth that is kept from the level below, above 0, at most 1, for levels "
     "2, 3, ..., h, or one value for all. Links of level l run at bandwidth[l] * taper[2] * ... * taper[l]."},
    {0},
};

static const struct ker_option rail_options[] = {
    {"topology.pods", KER_TYPE_INT, NULL, "1", "65535", NULL, "Rail fat tree: pods of nodes."},
    {"topology.pod_nodes", KER_TYPE_INT, NULL, "1", "65535", NULL,
     "Rail fat tree: nodes of a pod, each with an adapter at every leaf of it."},
    {0},
};

#define TREE_OPERATIONS(made)                                                                                \
    .size = sizeof(struct fat_tree), .build = (made), .ports = tree_ports, .port = tree_port,                \
    .attachment = tree_attachment, .address = tree_address, .coordinate = tree_coordinate,                   \
    .hops = tree_hops, .group = tree_group, .groups = tree_groups, .load = tree_load

const struct ker_kind route_fat_tree = {
    .name = "fat_tree",
    .meaning = "extended generalised fat tree, tapered or not",
    .operations = &(const struct route_kind){TREE_OPERATIONS(tree_build)},
    .options = KER_OPTIONS(tree_options, taper_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, route_tree_algorithms),
};

const struct ker_kind route_rail_fat_tree = {
    .name = "rail_fat_tree",
    .meaning = "pods of nodes with a leaf for each of their adapters (rail), joined by spines",
    .operations = &(const struct route_kind){TREE_OPERATIONS(rail_build), .spread = true},
    .options = KER_OPTIONS(rail_options, route_spines_options, taper_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, route_tree_algorithms),
};
