/* hierarchical.c - fully connected groups of fully connected groups (PERCS, dragonfly), 1..4 levels, direct
 * routes.
 *
 * A group of level l consists of groups[l] groups of level l-1; groups of level 0 are the switches, so at
 * level 1 all switches of a board are joined to each other. At the levels above, `attach` says what a pair of
 * groups is joined by: "switch"  links[l] links between every switch of one and every switch of the other
 * (PERCS); "group"   links[l] links in all (dragonfly). Link number k = links[l] * d + j of a group is its
 * j-th link to the group d+1 places further round. They are dealt like cards: the first to the first group of
 * level l-2, the second to the next, and inside each likewise, so that two switches, or two subgroups, of a
 * group never differ by more than one in the links of a level. Both ends follow from d and j alone. Ports:
 * the nodes, then level by level. With "group", every switch has ports for the largest share; those left over
 * lead nowhere.
 *
 * A direct route looks for the highest level in which here and there differ. With "switch" that link leads to
 * the target itself. With "group" the route goes (directly, at lower levels) to the switch that holds the
 * link, over it, and directly on; hence l1 l2 l1 l3 l1 l2 l1 at most. Of parallel links only those with the
 * shortest whole route count.
 *
 * Deadlock: for every "group" level a hop lies before its crossing, is it, or lies after it (also when no
 * crossing is needed). Read from the highest level down these digits give each hop a position which grows
 * strictly along any route; position is a property of link level and channel class (the class is the
 * before/after bits of the "group" levels above the link's), so no cycle of waiting can close. With parallel
 * links a route may change its mind on the way; only choices whose position exceeds that of the channel the
 * packet holds are taken, and the old choice always is one.
 */
#include "routing/shape.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LEVELS 4
#define MAX_PARALLEL 64

struct gate {      /* one link of a group to another group of the level, seen from this side */
    uint64_t at;   /* the switch: address fields below the level */
    uint16_t port; /* there */
};

struct level {
    uint32_t groups; /* joined by this level's links */
    uint32_t size;   /* switches in each */
    uint32_t links;  /* parallel ones */
    uint32_t gates;  /* links of one group, "group" only */
    uint32_t share;  /* ports per switch */
    uint32_t first_port;
    uint32_t mask; /* the field of the address */
    uint8_t shift;
    bool by_switch;    /* also where there is but one group: no crossing, no class */
    uint8_t crossed;   /* "group" levels below and including this one: the class is path >> crossed */
    uint32_t spread;   /* channels per class */
    struct gate *gate; /* by link number */
};

struct hierarchy {
    struct route_shape shape;
    int levels, crossings; /* crossings: "group" levels */
    bool parallel;         /* a "group" level has parallel links: routes have alternatives */
    uint32_t nodes_per_switch, slot_shift;
    uint64_t switch_mask;
    struct level level[MAX_LEVELS];
    uint8_t level_of_bit[64];
};

static inline const struct hierarchy *hierarchy_of(const struct route_shape *shape)
{
    return (const struct hierarchy *)shape;
}

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

/* Address fields of a switch, or of the lower levels of a switch within its group. */
static uint64_t pack(const struct hierarchy *h, int levels, uint32_t index)
{
    uint64_t fields = 0;
    for (int i = levels - 1; i >= 0; i--) {
        fields |= (uint64_t)(index / h->level[i].size) << h->level[i].shift;
        index %= h->level[i].size;
    }
    return fields;
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
                                   "makes switches of more than %d ports at level "
                                   "%d; use smaller groups",
                                   ROUTE_MAX_PORTS, i + 1);
        l->share = (uint32_t)share;
        l->gates = l->by_switch ? 0 : (uint32_t)links;
    }
    h->shape.summary.max_ports = (uint32_t)ports;
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
    struct route_summary *summary = &h->shape.summary;
    summary->switches = (uint32_t)switches;
    summary->nodes = (uint32_t)switches * h->nodes_per_switch;
    summary->links = summary->nodes;
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
    h->slot_shift = shift;
    h->switch_mask = (1ull << shift) - 1;
    for (int i = 0; i < h->levels; i++) {
        struct level *l = &h->level[i];
        l->gate = ker_alloc(l->gates * sizeof *l->gate);
        for (uint32_t k = 0; k < l->gates; k++) {
            l->gate[k].at = pack(h, i, deal(h, i, k % l->size));
            l->gate[k].port = (uint16_t)(l->first_port + k / l->size);
        }
    }
}

static enum ker_status hierarchy_build(struct route_shape *shape, const struct ker_config *config,
                                       struct ker_error *error)
{
    struct hierarchy *h = (struct hierarchy *)shape;
    struct route_summary *summary = &shape->summary;
    enum ker_status status = read_levels(h, config, error);
    if (status == KER_OK)
        status = count_switches(h, config, error);
    if (status == KER_OK)
        status = count_ports(h, config, error);
    if (status)
        return status;
    lay_out(h);
    uint32_t groups[MAX_LEVELS];
    char size[48], name[24];
    for (int i = 0; i < h->levels; i++) {
        groups[i] = h->level[i].groups;
        snprintf(name, sizeof name, "level %d", i + 1);
        route_link_add(summary, name, route_time_each(config, "topology.latency", i),
                       route_rate_each(config, "topology.bandwidth", i));
    }
    route_node_link_add(summary, config, 0);
    route_extents_print(size, sizeof size, groups, h->levels);
    snprintf(summary->text, sizeof summary->text, "hierarchical %s, %u per switch, %u nodes, %u switches",
             size, h->nodes_per_switch, summary->nodes, summary->switches);
    return KER_OK;
}

static void hierarchy_release(struct route_shape *shape)
{
    struct hierarchy *h = (struct hierarchy *)shape;
    for (int i = 0; i < h->levels; i++)
        free(h->level[i].gate);
}

static uint32_t classes_of(const struct hierarchy *h, const struct level *l)
{
    return 1u << (h->crossings - l->crossed);
}

static uint32_t hierarchy_channels(const struct route_shape *shape)
{
    const struct hierarchy *h = hierarchy_of(shape);
    uint32_t most = 1;
    for (int i = 0; i < h->levels; i++)
        if (h->level[i].groups > 1 && classes_of(h, &h->level[i]) > most)
            most = classes_of(h, &h->level[i]);
    return most;
}

static void hierarchy_tune(struct route_shape *shape)
{
    struct hierarchy *h = (struct hierarchy *)shape;
    for (int i = 0; i < h->levels; i++)
        h->level[i].spread = shape->channels / classes_of(h, &h->level[i]);
}

static uint32_t hierarchy_ports(const struct route_shape *shape, uint32_t switch_id)
{
    return shape->summary.max_ports;
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
        if (number >= l->gates)
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

static void hierarchy_port(const struct route_shape *shape, uint32_t switch_id, uint32_t port,
                           struct route_peer *peer)
{
    const struct hierarchy *h = hierarchy_of(shape);
    *peer = (struct route_peer){.kind = ROUTE_NOTHING};
    if (port < h->nodes_per_switch) {
        *peer = (struct route_peer){ROUTE_NODE, (uint8_t)shape->summary.node_link, 0,
                                    switch_id * h->nodes_per_switch + port};
        return;
    }
    int i = h->levels - 1;
    while (h->level[i].share == 0 || h->level[i].first_port > port)
        i--;
    level_port(h, i, switch_id, port - h->level[i].first_port, peer);
}

static void hierarchy_attachment(const struct route_shape *shape, uint32_t node, uint32_t *switch_id,
                                 uint16_t *port)
{
    const struct hierarchy *h = hierarchy_of(shape);
    *switch_id = node / h->nodes_per_switch;
    *port = (uint16_t)(node % h->nodes_per_switch);
}

static uint64_t hierarchy_here(const struct route_shape *shape, uint32_t switch_id)
{
    const struct hierarchy *h = hierarchy_of(shape);
    return pack(h, h->levels, switch_id);
}

static uint64_t hierarchy_address(const struct route_shape *shape, uint32_t node)
{
    const struct hierarchy *h = hierarchy_of(shape);
    return pack(h, h->levels, node / h->nodes_per_switch) | (uint64_t)(node % h->nodes_per_switch)
                                                                << h->slot_shift;
}

static inline uint32_t field(const struct level *l, uint64_t address)
{
    return (uint32_t)(address >> l->shift) & l->mask;
}

/* The fields below the level, as they are in `here` but for these. */
static inline uint64_t with_gate(const struct level *l, uint64_t here, const struct gate *gate)
{
    return (here & ~((1ull << l->shift) - 1)) | gate->at;
}

/* How many places further round the target's group is, less one. */
static inline uint32_t places_ahead(const struct level *l, uint64_t here, uint64_t target)
{
    uint32_t from = field(l, here), to = field(l, target);
    return to > from ? to - from - 1 : to + l->groups - from - 1;
}

static uint32_t direct_hops(const struct hierarchy *h, uint64_t here, uint64_t target);

/* Over the lane-th of the parallel links between two groups. */
static uint32_t lane_hops(const struct hierarchy *h, const struct level *l, uint64_t here, uint64_t target,
                          uint32_t lane)
{
    uint32_t ahead = places_ahead(l, here, target);
    const struct gate *out = &l->gate[ahead * l->links + lane];
    const struct gate *in = &l->gate[(l->groups - 2 - ahead) * l->links + lane];
    return direct_hops(h, here, with_gate(l, here, out)) + 1 +
           direct_hops(h, with_gate(l, target, in), target);
}

static uint32_t direct_hops(const struct hierarchy *h, uint64_t here, uint64_t target)
{
    uint64_t difference = (here ^ target) & h->switch_mask;
    if (difference == 0)
        return 0;
    const struct level *l = &h->level[h->level_of_bit[63 - __builtin_clzll(difference)]];
    if (l->by_switch)
        return 1;
    uint32_t best = UINT32_MAX;
    for (uint32_t lane = 0; lane < l->links; lane++) {
        uint32_t hops = lane_hops(h, l, here, target, lane);
        best = hops < best ? hops : best;
    }
    return best;
}

static uint32_t hierarchy_hops(const struct route_shape *shape, uint32_t from, uint32_t to)
{
    const struct hierarchy *h = hierarchy_of(shape);
    return direct_hops(h, hierarchy_address(shape, from), hierarchy_address(shape, to));
}

static uint32_t hierarchy_group(const struct route_shape *shape, uint32_t switch_id)
{
    const struct hierarchy *h = hierarchy_of(shape);
    return switch_id / h->level[h->levels - 1].size;
}

static uint32_t hierarchy_groups(const struct route_shape *shape)
{
    const struct hierarchy *h = hierarchy_of(shape);
    return h->level[h->levels - 1].groups;
}

/* First of the parallel links from here straight to the target switch, level l being by switch. */
static inline uint32_t straight_port(const struct hierarchy *h, const struct level *l, uint64_t here,
                                     uint64_t target)
{
    uint32_t place = places_ahead(l, here, target) * l->size;
    for (const struct level *below = h->level; below < l; below++)
        place += field(below, target) * below->size;
    return l->first_port + place * l->links;
}

static inline void channel_choose(struct route_choice *choice, const struct level *l, uint32_t path, uint32_t draw)
{
    route_channel(choice, (path >> l->crossed) * l->spread, l->spread, draw);
}

/* Without alternatives. path has a bit for every "group" level: 0 before its crossing, 1 after. */
static int single_next(const struct route_shape *shape, uint64_t here, uint32_t switch_id,
                       const struct route_packet *packet, struct route_choice *choice)
{
    const struct hierarchy *h = hierarchy_of(shape);
    uint64_t target = packet->address, difference = (here ^ target) & h->switch_mask;
    if (difference == 0)
        return route_eject(shape, packet, (uint32_t)(target >> h->slot_shift), choice);
    uint32_t path = (1u << h->crossings) - 1, port;
    const struct level *l;
    for (;;) {
        l = &h->level[h->level_of_bit[63 - __builtin_clzll(difference)]];
        if (l->by_switch) {
            port = straight_port(h, l, here, target);
            if (l->links > 1)
                port += route_pick(packet, 2, l->links);
            break;
        }
        const struct gate *gate = &l->gate[places_ahead(l, here, target)];
        target = with_gate(l, here, gate);
        if (target == here) {
            port = gate->port;
            break;
        }
        path &= ~(1u << (l->crossed - 1));
        difference = here ^ target;
    }
    *choice = (struct route_choice){.port = (uint16_t)port};
    channel_choose(choice, l, path, packet->draw);
    return 1;
}

struct search { /* for all shortest direct routes */
    const struct hierarchy *h;
    struct route_choice *choices;
    uint32_t draw, held; /* held: position of the channel the packet is in, 0 at injection */
    int count;
};

/* Position of a hop along any route: per "group" level two bits, highest level first: 0 before, 1 crossing, 2
 * after. */
static uint32_t position(const struct hierarchy *h, const struct level *l, uint32_t path)
{
    uint32_t value = 0;
    for (int bit = h->crossings - 1; bit >= l->crossed; bit--)
        value |= (path >> bit & 1) << (2 * bit + 1);
    if (!l->by_switch)
        value |= 1u << 2 * (l->crossed - 1);
    return value + 1;
}

static uint32_t position_held(const struct hierarchy *h, const struct route_packet *packet)
{
    if (packet->in_port < h->nodes_per_switch)
        return 0;
    int i = h->levels - 1;
    while (h->level[i].share == 0 || h->level[i].first_port > packet->in_port)
        i--;
    const struct level *l = &h->level[i];
    return position(h, l, packet->in_channel / l->spread << l->crossed);
}

static void offer(struct search *s, const struct level *l, uint32_t port, uint32_t path)
{
    if (s->count == ROUTE_MAX_CHOICES || position(s->h, l, path) <= s->held)
        return;
    struct route_choice choice = {.port = (uint16_t)port};
    channel_choose(&choice, l, path, s->draw);
    for (int i = 0; i < s->count; i++)
        if (s->choices[i].port == port && s->choices[i].channel == choice.channel)
            return;
    s->choices[s->count++] = choice;
}

static void search(struct search *s, uint64_t here, uint64_t target, uint32_t path)
{
    const struct hierarchy *h = s->h;
    const struct level *l =
        &h->level[h->level_of_bit[63 - __builtin_clzll((here ^ target) & h->switch_mask)]];
    if (l->by_switch) {
        uint32_t port = straight_port(h, l, here, target);
        for (uint32_t lane = 0; lane < l->links; lane++)
            offer(s, l, port + lane, path);
        return;
    }
    uint32_t hops[MAX_PARALLEL], best = UINT32_MAX;
    for (uint32_t lane = 0; lane < l->links; lane++) {
        hops[lane] = l->links > 1 ? lane_hops(h, l, here, target, lane) : 0;
        best = hops[lane] < best ? hops[lane] : best;
    }
    for (uint32_t lane = 0; lane < l->links; lane++) {
        if (hops[lane] > best)
            continue;
        const struct gate *gate = &l->gate[places_ahead(l, here, target) * l->links + lane];
        uint64_t at = with_gate(l, here, gate);
        if (at == here)
            offer(s, l, gate->port, path);
        else
            search(s, here, at, path & ~(1u << (l->crossed - 1)));
    }
}

static int search_all(const struct route_shape *shape, uint64_t here, const struct route_packet *packet,
                      struct route_choice *choices)
{
    const struct hierarchy *h = hierarchy_of(shape);
    struct search s = {h, choices, packet->draw, position_held(h, packet), 0};
    search(&s, here, packet->address & h->switch_mask, (1u << h->crossings) - 1);
    ker_check(s.count > 0);
    return s.count;
}

static int minimal_next(const struct route_shape *shape, uint64_t here, uint32_t switch_id,
                        const struct route_packet *packet, struct route_choice *choice)
{
    const struct hierarchy *h = hierarchy_of(shape);
    if (!h->parallel || ((here ^ packet->address) & h->switch_mask) == 0)
        return single_next(shape, here, switch_id, packet, choice);
    struct route_choice all[ROUTE_MAX_CHOICES];
    int count = search_all(shape, here, packet, all);
    *choice = all[route_pick(packet, 2, (uint32_t)count)];
    return 1;
}

static int adaptive_next(const struct route_shape *shape, uint64_t here, uint32_t switch_id,
                         const struct route_packet *packet, struct route_choice *choices)
{
    const struct hierarchy *h = hierarchy_of(shape);
    if (((here ^ packet->address) & h->switch_mask) == 0)
        return single_next(shape, here, switch_id, packet, choices);
    struct route_choice all[ROUTE_MAX_CHOICES];
    int count = search_all(shape, here, packet, all);
    int from = (int)route_pick(packet, 2, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        choices[i] = all[from];
        from = from + 1 == count ? 0 : from + 1;
    }
    return count;
}

static const char *const hierarchy_keys[] = {"topology.groups",
                                             "topology.links",
                                             "topology.attach",
                                             "topology.bandwidth",
                                             "topology.latency",
                                             "topology.nodes_per_switch",
                                             NULL};

static const struct route_algorithm hierarchy_algorithms[] = {
    {.name = "minimal", .meaning = "direct, over one of the parallel links", .next = minimal_next, .channels = hierarchy_channels},
    {.name = "adaptive", .meaning = "direct, over the parallel links by the state of the switch", .adaptive = true,
     .next = adaptive_next, .channels = hierarchy_channels},
    {0},
};

const struct route_kind route_hierarchical = {
    .name = "hierarchical",
    .meaning = "fully connected groups of fully connected groups, 1 to 4 levels (PERCS, dragonfly)",
    .size = sizeof(struct hierarchy),
    .keys = hierarchy_keys,
    .algorithms = hierarchy_algorithms,
    .build = hierarchy_build,
    .tune = hierarchy_tune,
    .release = hierarchy_release,
    .ports = hierarchy_ports,
    .port = hierarchy_port,
    .attachment = hierarchy_attachment,
    .address = hierarchy_address,
    .here = hierarchy_here,
    .hops = hierarchy_hops,
    .group = hierarchy_group,
    .groups = hierarchy_groups,
};
