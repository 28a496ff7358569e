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
#include "routing/topologies/hierarchical.h"

static uint32_t plus_ports(const struct route_topology *topology, uint32_t switch_id)
{
    const struct arranged *d = arranged_of(topology);
    bool leaf = switch_id % d->closed.block < d->closed.leaves;
    return leaf ? d->closed.nodes + d->arrangement.switches : d->closed.leaves + d->arrangement.h;
}

static void plus_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    const struct arranged *d = arranged_of(topology);
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
    arranged_port(topology, switch_id, leaves, port - leaves, 1, peer);
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
    const struct arranged *d = arranged_of(topology);
    const struct arrangement *a = &d->arrangement;
    uint32_t nodes = d->closed.nodes, leaves = d->closed.leaves, block = d->closed.block, i = from % block;
    uint32_t lane, spine = UINT32_MAX;
    int count = 0;
    if (from / block == to / block && i >= leaves) {
        port[count++] = (uint16_t)(to % block);
        return count;
    }
    if (from / block == to / block) {
        while (count < ROUTE_MAX_CHOICES && count < (int)d->arrangement.switches) {
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

static const struct route_steps plus_steps = {.reach = plus_reach,
                                              .by_group = true,
                                              .apart = plus_apart,
                                              .toward = plus_toward,
                                              .order_classes = 1,
                                              .all_ordered = true};

static const struct ker_option plus_options[] = {
    {"topology.leaves", KER_TYPE_INT, NULL, "1", "65535", NULL, "Dragonfly plus: leaves of a group."},
    {0},
};

static enum ker_status plus_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    static const char *const classes[] = {"local", "global", NULL};
    struct arranged *d = (struct arranged *)topology;
    struct closed *c = &d->closed;
    if (route_key_require(config, "topology.leaves", error) ||
        route_key_require(config, "topology.spines", error))
        return KER_BAD_INPUT;
    c->leaves = (uint32_t)ker_config_int(config, "topology.leaves");
    c->nodes = (uint32_t)ker_config_int(config, "topology.nodes_per_switch");
    uint32_t spines = (uint32_t)ker_config_int(config, "topology.spines");
    c->block = d->size = c->leaves + spines;
    d->first = c->leaves;
    enum ker_status status = arrangement_read(&d->arrangement, config, spines, "absolute", error);
    if (status != KER_OK)
        return status;
    const struct arrangement *a = &d->arrangement;
    uint64_t up = c->nodes + spines, across = c->leaves + a->h;
    status =
        closed_make(c, config, classes, (uint64_t)a->groups * c->block,
                    a->links + (uint64_t)a->groups * c->leaves * spines, up > across ? up : across, error);
    snprintf(topology->summary.text, sizeof topology->summary.text,
             "dragonfly+ of %u groups, %u leaves, %u spines, %u per leaf, %u nodes, %u switches", a->groups,
             c->leaves, spines, c->nodes, topology->summary.endpoints, topology->summary.switches);
    return status;
}

const struct ker_kind route_dragonfly_plus = {
    .name = "dragonfly_plus",
    .meaning = "dragonfly+ (Megafly): groups of leaves and spines, whose spines are joined",
    .operations = &(
        const struct route_kind){CLOSED_OPERATIONS(&plus_steps, closed_hops), .size = sizeof(struct arranged),
                                 .build = plus_build, .release = arranged_release, .ports = plus_ports,
                                 .port = plus_port, .group = arranged_group, .groups = arranged_groups},
    .options = KER_OPTIONS(plus_options, route_spines_options, hierarchy_groups_options, arrangement_options,
                           route_nodes_per_switch_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, route_paths_algorithms),
};
