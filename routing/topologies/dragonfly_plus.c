/* dragonfly_plus.c - dragonfly+ (Shpiner et al. 2017; Megafly: Flajslik et al. 2018): groups of leaves, which
 * have the nodes, and spines, which have the global links; every leaf of a group is linked to every spine of
 * it.
 *
 * Switch id = group (leaves + spines) + number in the group, leaves first. Ports of a leaf: nodes, then its
 * spines; of a spine: its leaves, then its global links, which arrangement.c deals.
 *
 * Deadlock: a shortest path between leaves is up, down or up, global, down: no link is waited for by one of a
 * later sort, so one channel is enough for it.
 */
#include "routing/topologies/arrangement.h"
#include "routing/topologies/closed.h"
#include "routing/topologies/hierarchical.h"

struct dragonfly_plus {
    struct closed closed; /* block: switches of a group; leaves */
    uint32_t spines;
    struct arrangement arrangement;
};

static const struct dragonfly_plus *plus_of(const struct route_topology *topology)
{
    return (const struct dragonfly_plus *)topology;
}

static uint32_t plus_ports(const struct route_topology *topology, uint32_t switch_id)
{
    const struct dragonfly_plus *d = plus_of(topology);
    bool leaf = switch_id % d->closed.block < d->closed.leaves;
    return leaf ? d->closed.nodes + d->spines : d->closed.leaves + d->arrangement.h;
}

static void plus_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    const struct dragonfly_plus *d = plus_of(topology);
    const struct arrangement *a = &d->arrangement;
    uint32_t nodes = d->closed.nodes, leaves = d->closed.leaves, block = d->closed.block,
             group = switch_id / block, i = switch_id % block;
    if (closed_node_port(topology, switch_id, port, peer))
        return;
    if (i < leaves) {
        peer->id = group * block + leaves + port - nodes;
        peer->port = (uint16_t)i;
        return;
    }
    if (port < leaves) {
        peer->id = group * block + port;
        peer->port = (uint16_t)(nodes + i - leaves);
        return;
    }
    uint32_t other = a->peer[group * a->ports + (i - leaves) * a->h + port - leaves];
    if (other == ARRANGEMENT_NONE) {
        *peer = (struct route_peer){.kind = ROUTE_NOTHING};
        return;
    }
    peer->link = 1;
    peer->id = other / a->ports * block + leaves + other % a->ports / a->h;
    peer->port = (uint16_t)(leaves + other % a->h);
}

static uint32_t plus_group(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id / closed_of(topology)->block;
}

static uint32_t plus_groups(const struct route_topology *topology)
{
    return plus_of(topology)->arrangement.groups;
}

static uint32_t plus_reach(const struct route_topology *topology)
{
    return 3;
}

static uint32_t plus_apart(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    uint32_t block = closed_of(topology)->block, spine = from % block >= closed_of(topology)->leaves;
    return from == to ? 0 : (from / block == to / block ? 2 : 3) - spine;
}

static int plus_toward(const struct route_topology *topology, uint32_t from, uint32_t to, bool ordered,
                       uint16_t *port)
{
    const struct dragonfly_plus *d = plus_of(topology);
    const struct arrangement *a = &d->arrangement;
    uint32_t nodes = d->closed.nodes, leaves = d->closed.leaves, block = d->closed.block, i = from % block;
    uint32_t lane, spine = UINT32_MAX;
    int count = 0;
    if (from / block == to / block && i >= leaves) {
        port[count++] = (uint16_t)(to % block);
        return count;
    }
    if (from / block == to / block) {
        while (count < ROUTE_MAX_CHOICES && count < (int)d->spines) {
            port[count] = (uint16_t)(nodes + (uint32_t)count);
            count++;
        }
        return count;
    }
    for (uint32_t n = 0; count < ROUTE_MAX_CHOICES &&
                         (lane = arrangement_lane(a, from / block, to / block, n)) != ARRANGEMENT_NONE;
         n++) {
        if (i < leaves && lane / a->h != spine) /* several of a spine follow each other */
            port[count++] = (uint16_t)(nodes + lane / a->h);
        if (i >= leaves && lane / a->h == i - leaves)
            port[count++] = (uint16_t)(leaves + lane % a->h);
        spine = lane / a->h;
    }
    return count;
}

static uint32_t plus_order_classes(const struct route_topology *topology)
{
    return 1;
}

static const struct route_steps plus_steps = {.reach = plus_reach,
                                              .by_group = true,
                                              .apart = plus_apart,
                                              .toward = plus_toward,
                                              .order_classes = plus_order_classes,
                                              .all_ordered = true};

static const struct ker_option plus_options[] = {
    {"topology.leaves", KER_TYPE_INT, NULL, "1", "65535", NULL, "Dragonfly plus: leaves of a group."},
    {0},
};

static enum ker_status plus_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    static const char *const classes[] = {"local", "global", NULL};
    struct dragonfly_plus *d = (struct dragonfly_plus *)topology;
    struct closed *c = &d->closed;
    if (route_key_require(config, "topology.leaves", error) ||
        route_key_require(config, "topology.spines", error))
        return KER_BAD_INPUT;
    c->leaves = (uint32_t)ker_config_int(config, "topology.leaves");
    c->nodes = (uint32_t)ker_config_int(config, "topology.nodes_per_switch");
    d->spines = (uint32_t)ker_config_int(config, "topology.spines");
    c->block = c->leaves + d->spines;
    enum ker_status status = arrangement_read(&d->arrangement, config, d->spines, "absolute", error);
    if (status != KER_OK)
        return status;
    const struct arrangement *a = &d->arrangement;
    uint64_t up = c->nodes + d->spines, across = c->leaves + a->h;
    status =
        closed_make(c, config, classes, (uint64_t)a->groups * c->block,
                    a->links + (uint64_t)a->groups * c->leaves * d->spines, up > across ? up : across, error);
    snprintf(topology->summary.text, sizeof topology->summary.text,
             "dragonfly+ of %u groups, %u leaves, %u spines, %u per leaf, %u nodes, %u switches", a->groups,
             c->leaves, d->spines, c->nodes, topology->summary.endpoints, topology->summary.switches);
    return status;
}

static void plus_release(struct route_topology *topology)
{
    arrangement_release(&((struct dragonfly_plus *)topology)->arrangement);
}

const struct ker_kind route_dragonfly_plus = {
    .name = "dragonfly_plus",
    .meaning = "dragonfly+ (Megafly): groups of leaves and spines, whose spines are joined",
    .operations =
        &(const struct route_kind){CLOSED_OPERATIONS(&plus_steps), .size = sizeof(struct dragonfly_plus),
                                   .build = plus_build, .release = plus_release, .ports = plus_ports,
                                   .port = plus_port, .group = plus_group, .groups = plus_groups},
    .options = KER_OPTIONS(plus_options, route_spines_options, hierarchy_groups_options, arrangement_options,
                           route_nodes_per_switch_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, route_paths_algorithms),
};
