/* hierarchical.c - fully connected groups of fully connected groups (PERCS, dragonfly), 1..4 levels:
 * the topology.
 *
 * A group of level l consists of groups[l] groups of level l-1; groups of level 0 are the switches, so at
 * level 1 all switches of a board are joined to each other. At the levels above, `attach` says what a pair of
 * groups is joined by: "switch"  links[l] links between every switch of one and every switch of the other
 * (PERCS); "group"   links[l] links in all (dragonfly). Link number k = links[l] * d + j of a group is its
 * j-th link to the group d+1 places further round. They are dealt like cards: the first to the first group of
 * level l-2, the second to the next, and inside each likewise, so that two switches, or two subgroups, of a
 * group never differ by more than one in the links of a level. Both ends follow from d and j alone. Ports:
 * the endpoints, then level by level. With "group", every switch has ports for the largest share; those left
 * over lead nowhere.
 */
#include "routing/topologies/hierarchical.h"
#include "routing/paths.h"

#include <stdlib.h>
#include <string.h>

/* The switch within a group of level `level` (0: the lowest groups' level) that the k-th card goes to. */
static uint32_t deal(const struct hierarchy *h, int level, uint32_t k)
{
    uint32_t index = 0;
    for (int i = level - 1; i >= 0; i--) {
        index += k % h->level[i].groups * h->level[i].size;
        k /= h->level[i].groups;
    }
    return index;
}

/* The first card that this switch of a group gets. */
static uint32_t undeal(const struct hierarchy *h, int level, uint32_t index)
{
    uint32_t k = 0, worth = 1;
    for (int i = level - 1; i >= 0; i--) {
        k += index / h->level[i].size * worth;
        index %= h->level[i].size;
        worth *= h->level[i].groups;
    }
    return k;
}

static enum ker_status read_attach(struct hierarchy *h, const struct ker_config *config,
                                   struct ker_error *error)
{
    static const char key[] = "topology.attach";
    enum ker_status status = KER_OK;
    if (h->levels > 1)
        status = route_list_check(config, key, h->levels - 1, "levels above the first", error);
    if (status)
        return status;
    h->level[0].by_switch = true;
    for (int i = 1; i < h->levels; i++) {
        const char *how = ker_config_string_at(config, key, ker_config_count(config, key) == 1 ? 0 : i - 1);
        h->level[i].by_switch = strcmp(how, "switch") == 0 || h->level[i].groups == 1;
    }
    return KER_OK;
}

static enum ker_status read_levels(struct hierarchy *h, const struct ker_config *config,
                                   struct ker_error *error)
{
    static const char *const list[] = {"topology.links", "topology.bandwidth", "topology.latency"};
    uint32_t groups[MAX_LEVELS];
    enum ker_status status =
        route_extents_read(config, "topology.groups", groups, MAX_LEVELS, &h->levels, error);
    for (int i = 0; i < 3 && status == KER_OK; i++)
        status = route_list_check(config, list[i], h->levels, "levels", error);
    if (status)
        return status;
    h->nodes_per_switch = (uint32_t)ker_config_int(config, "topology.nodes_per_switch");
    for (int i = 0; i < h->levels; i++) {
        h->level[i].groups = groups[i];
        h->level[i].links = (uint32_t)route_int_each(config, "topology.links", i);
        if (h->level[i].links < 1 || h->level[i].links > MAX_PARALLEL)
            return ker_config_fail(config, error, "topology.links", "is %u at level %d; 1 to %d are possible",
                                   h->level[i].links, i + 1, MAX_PARALLEL);
    }
    return read_attach(h, config, error);
}

static enum ker_status count_ports(struct hierarchy *h, const struct ker_config *config,
                                   struct ker_error *error)
{
    uint64_t ports = h->nodes_per_switch;
    for (int i = 0; i < h->levels; i++) {
        struct level *l = &h->level[i];
        uint64_t links = (uint64_t)(l->groups - 1) * l->links;
        if (links > UINT32_MAX / 2)
            return ker_config_fail(config, error, "topology.groups", "makes too many links at level %d",
                                   i + 1);
        uint64_t share = l->by_switch ? links * l->size : (links + l->size - 1) / l->size;
        l->first_port = (uint32_t)ports;
        ports += share;
        if (ports > ROUTE_MAX_PORTS)
            return ker_config_fail(config, error, "topology.groups",
                                   "makes switches of more than %d ports at level %d; use smaller groups",
                                   ROUTE_MAX_PORTS, i + 1);
        l->share = (uint32_t)share;
        l->gateways = l->by_switch ? 0 : (uint32_t)links;
    }
    h->topology.summary.max_ports = (uint32_t)ports;
    return KER_OK;
}

static enum ker_status count_switches(struct hierarchy *h, const struct ker_config *config,
                                      struct ker_error *error)
{
    uint64_t switches = 1;
    for (int i = 0; i < h->levels; i++) {
        h->level[i].size = (uint32_t)switches;
        switches *= h->level[i].groups;
        if (switches * h->nodes_per_switch > UINT32_MAX)
            return ker_config_fail(config, error, "topology.groups",
                                   "make more than 2^32 - 1 nodes; use smaller numbers");
    }
    struct route_summary *summary = &h->topology.summary;
    summary->switches = (uint32_t)switches;
    summary->endpoints = (uint32_t)switches * h->nodes_per_switch;
    summary->links = summary->endpoints;
    for (int i = 0; i < h->levels; i++) {
        const struct level *l = &h->level[i];
        uint64_t pairs = (uint64_t)l->groups * (l->groups - 1) / 2, per_pair = l->links;
        if (l->by_switch)
            per_pair *= (uint64_t)l->size * l->size;
        summary->links += switches / l->size / l->groups * pairs * per_pair;
    }
    return KER_OK;
}

static void lay_out(struct hierarchy *h)
{
    unsigned shift = 0;
    for (int i = 0; i < h->levels; i++) {
        struct level *l = &h->level[i];
        unsigned bits = route_bits(l->groups);
        l->shift = (uint8_t)shift;
        l->mask = (uint32_t)((1ull << bits) - 1);
        for (unsigned bit = shift; bit < shift + bits; bit++)
            h->level_of_bit[bit] = (uint8_t)i;
        shift += bits;
        h->crossings += !l->by_switch;
        h->parallel |= !l->by_switch && l->links > 1;
        l->crossed = (uint8_t)h->crossings;
    }
    h->top = &h->level[h->levels - 1];
    for (const struct level *l = h->level; l < h->top; l++)
        h->parallel_below |= !l->by_switch && l->links > 1;
    h->slot_shift = shift;
    h->switch_mask = (1ull << shift) - 1;
    for (int i = 0; i < h->levels; i++) {
        struct level *l = &h->level[i];
        l->gateway = ker_alloc(l->gateways * sizeof *l->gateway);
        for (uint32_t k = 0; k < l->gateways; k++) {
            l->gateway[k].at = hierarchy_pack(h, i, deal(h, i, k % l->size));
            l->gateway[k].port = (uint16_t)(l->first_port + k / l->size);
        }
    }
    hierarchy_tables_make(h);
}

enum ker_status hierarchy_make(struct hierarchy *h, const struct ker_config *config, struct ker_error *error)
{
    enum ker_status status = count_switches(h, config, error);
    status = status ?: count_ports(h, config, error);
    if (status == KER_OK)
        lay_out(h);
    return status;
}

static enum ker_status hierarchy_build(struct route_topology *topology, const struct ker_config *config,
                                       struct ker_error *error)
{
    struct hierarchy *h = (struct hierarchy *)topology;
    struct route_summary *summary = &topology->summary;
    enum ker_status status = read_levels(h, config, error);
    status = status ?: hierarchy_make(h, config, error);
    if (status)
        return status;
    uint32_t groups[MAX_LEVELS];
    char size[48], name[24];
    for (int i = 0; i < h->levels; i++) {
        groups[i] = h->level[i].groups;
        snprintf(name, sizeof name, "level %d", i + 1);
        route_link_add(summary, name, route_time_each(config, "topology.latency", i),
                       route_rate_each(config, "topology.bandwidth", i));
    }
    route_endpoint_link_add(summary, config, 0);
    route_extents_print(size, sizeof size, groups, h->levels);
    snprintf(summary->text, sizeof summary->text, "hierarchical %s, %u per switch, %u nodes, %u switches",
             size, h->nodes_per_switch, summary->endpoints, summary->switches);
    return KER_OK;
}

void hierarchy_release(struct route_topology *topology)
{
    struct hierarchy *h = (struct hierarchy *)topology;
    for (int i = 0; i < h->levels; i++) {
        free(h->level[i].gateway);
        free(h->level[i].lanes);
        free(h->level[i].step);
    }
    for (int leg = 0; leg < LEGS; leg++) {
        free(h->hops[leg].out);
        free(h->hops[leg].inside);
    }
    free(h->rack);
}

uint32_t hierarchy_ports(const struct route_topology *topology, uint32_t switch_id)
{
    return topology->summary.max_ports;
}

/* The port is the nth of level i. */
static void level_port(const struct hierarchy *h, int i, uint32_t switch_id, uint32_t nth,
                       struct route_peer *peer)
{
    const struct level *l = &h->level[i];
    uint32_t index = switch_id % l->size, group = switch_id / l->size % l->groups;
    uint32_t number = nth, ahead, there; /* of the link among those of the switch, or of the group */
    if (!l->by_switch) {
        number = nth * l->size + undeal(h, i, index);
        if (number >= l->gateways)
            return;
    }
    uint32_t per_group = l->by_switch ? l->links * l->size : l->links;
    ahead = number / per_group;
    uint32_t back = (l->groups - 2 - ahead) * per_group;
    if (l->by_switch) {
        there = number % per_group / l->links;
        back += index * l->links + number % l->links;
    } else {
        back += number % per_group;
        there = deal(h, i, back % l->size);
        back /= l->size;
    }
    uint32_t to = group + ahead + 1 < l->groups ? group + ahead + 1 : group + ahead + 1 - l->groups;
    peer->kind = ROUTE_SWITCH;
    peer->link = (uint8_t)i;
    peer->port = (uint16_t)(l->first_port + back);
    peer->id = switch_id - index - group * l->size + to * l->size + there;
}

void hierarchy_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                    struct route_peer *peer)
{
    const struct hierarchy *h = hierarchy_of(topology);
    *peer = (struct route_peer){.kind = ROUTE_NOTHING};
    if (port < h->nodes_per_switch) {
        *peer = (struct route_peer){ROUTE_ENDPOINT, (uint8_t)topology->summary.endpoint_link, 0,
                                    switch_id * h->nodes_per_switch + port};
        return;
    }
    int i = h->levels - 1;
    while (h->level[i].share == 0 || h->level[i].first_port > port)
        i--;
    level_port(h, i, switch_id, port - h->level[i].first_port, peer);
}

void hierarchy_attachment(const struct route_topology *topology, uint32_t endpoint, uint32_t *switch_id,
                          uint16_t *port)
{
    const struct hierarchy *h = hierarchy_of(topology);
    *switch_id = endpoint / h->nodes_per_switch;
    *port = (uint16_t)(endpoint % h->nodes_per_switch);
}

uint64_t hierarchy_coordinate(const struct route_topology *topology, uint32_t switch_id)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return hierarchy_pack(h, h->levels, switch_id);
}

uint64_t hierarchy_address(const struct route_topology *topology, uint32_t endpoint)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return hierarchy_pack(h, h->levels, endpoint / h->nodes_per_switch) |
           (uint64_t)(endpoint % h->nodes_per_switch) << h->slot_shift;
}

uint32_t hierarchy_hops(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return hierarchy_direct_hops(h, hierarchy_address(topology, from), hierarchy_address(topology, to));
}

uint32_t hierarchy_group(const struct route_topology *topology, uint32_t switch_id)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return switch_id / h->level[h->levels - 1].size;
}

uint32_t hierarchy_groups(const struct route_topology *topology)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return h->level[h->levels - 1].groups;
}

uint32_t hierarchy_board(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id / hierarchy_of(topology)->level[0].groups;
}

uint32_t hierarchy_watched(const struct route_topology *topology)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return h->watches ? h->top->gateways : 0;
}

uint32_t hierarchy_watch(const struct route_topology *topology, uint32_t switch_id, uint32_t port)
{
    const struct hierarchy *h = hierarchy_of(topology);
    const struct level *l = h->top;
    if (!h->watches || port < l->first_port)
        return 0;
    uint32_t number = (port - l->first_port) * l->size + undeal(h, h->levels - 1, switch_id % l->size);
    return number < l->gateways ? 1 + number : 0;
}

const struct ker_option hierarchy_groups_options[] = {
    {"topology.groups", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", NULL, NULL,
     "Hierarchical: switches per board, boards per rack, racks, ...: 1 to 4 levels. Dragonfly: how many "
     "groups; absent: a h + 1, with one link between each two."},
    {0},
};

static const struct ker_option hierarchy_options[] = {
    {"topology.attach", KER_TYPE_CHOICE | KER_TYPE_LIST, "group", NULL, NULL, "group|switch",
     "Hierarchical, for levels 2, 3, ...: is there a link between each pair of groups (\"group\", "
     "dragonfly) or between each two switches of different groups (\"switch\", PERCS)?"},
    {0},
};

static const struct ker_option indirect_options[] = {
    {"routing.detours", KER_TYPE_INT, "1", "1", "62", NULL,
     "Hierarchical, indirect: how many third groups each pair of groups may use beside the direct path."},
    {"routing.indirect", KER_TYPE_CHOICE, "static", NULL, NULL, "static|adaptive",
     "Hierarchical, indirect: packets are spread evenly over the direct path and the detours, or are chosen "
     "by routing.selection."},
    {"routing.via", KER_TYPE_INT | KER_TYPE_LIST, NULL, "0", NULL, NULL,
     "Hierarchical, indirect: the groups that detours may lead through; absent: all."},
    {0},
};

#define UGAL(word, text, traits, choose, both, made_ready)                                                   \
    ROUTE_ALGORITHM(word, text, traits,                                                                      \
                    KER_OPTIONS(route_valiant_options, route_candidate_options, route_weight_options),       \
                    .adaptive = true, .by_switch = true, .next = (choose),                                   \
                    .decided = hierarchy_ugal_decided, .hop = hierarchy_ugal_hop, .pair = (both),            \
                    .prepare = (made_ready), .channels = hierarchy_channels, .away = hierarchy_away,         \
                    .away_states = {HIERARCHY_PHASES, PHASE_DETOUR})

const struct ker_kind *const hierarchy_algorithms[] = {
    ROUTE_ALGORITHM("minimal", "direct, over one of the parallel links", NULL, NULL, .by_switch = true,
                    .next = hierarchy_minimal_next, .hop = hierarchy_minimal_hop,
                    .prepare = hierarchy_direct_prepare, .channels = hierarchy_channels),
    ROUTE_ALGORITHM("adaptive", "direct, over the parallel links by the state of the switch", "selects", NULL,
                    .adaptive = true, .by_switch = true, .next = hierarchy_adaptive_next,
                    .prepare = hierarchy_direct_prepare, .channels = hierarchy_channels),
    ROUTE_ALGORITHM("valiant", "via a random third group (routing.valiant)", NULL,
                    KER_OPTIONS(route_valiant_options), .by_switch = true, .next = hierarchy_valiant_next,
                    .prepare = hierarchy_valiant_prepare, .channels = hierarchy_channels,
                    .away = hierarchy_away),
    ROUTE_ALGORITHM(
        "indirect", "direct, or via a few other groups of the pair's own (routing.detours, routing.indirect)",
        "selects detours", KER_OPTIONS(route_valiant_options, indirect_options, route_weight_options),
        .by_switch = true, .next = hierarchy_indirect_next, .prepare = hierarchy_indirect_prepare,
        .channels = hierarchy_channels, .away = hierarchy_away),
    UGAL("ugal", "direct or via a random group, by the state of the source's switch (UGAL-L)",
         "selects detours", hierarchy_ugal_next, hierarchy_ugal_pair, hierarchy_ugal_prepare),
    UGAL("par", "like ugal, and may change its mind in the source's group (PAR)", "selects detours",
         hierarchy_par_next, hierarchy_par_pair, hierarchy_par_prepare),
    UGAL("ugal_piggyback",
         "like ugal, and the switches of a group know which of its links are congested (PB)",
         "selects detours watches", hierarchy_ugal_next, hierarchy_ugal_pair, hierarchy_piggyback_prepare),
    NULL,
};

const struct ker_kind route_hierarchical = {
    .name = "hierarchical",
    .meaning = "fully connected groups of fully connected groups, 1 to 4 levels (PERCS, dragonfly)",
    .operations = &(const struct route_kind){HIERARCHY_OPERATIONS, .build = hierarchy_build},
    .options = KER_OPTIONS(hierarchy_groups_options, route_parallel_options, hierarchy_options,
                           route_nodes_per_switch_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, hierarchy_algorithms),
};
