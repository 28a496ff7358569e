/* hierarchical_routes.c - direct routes of the hierarchical topology, and the channels of all its routes.
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
 * links a route may change its mind on the path; only choices whose position exceeds that of the channel the
 * packet holds are taken, and the old choice always is one.
 *
 * `path` holds these bits. In place of the highest level's bit is a number, the stage: a detour has two
 * legs, and so crosses the highest level twice and has more than one before and after. Every leg has its own
 * classes:
 *
 *     leg                           via a group     via a switch     and the highest level's links
 *     undecided (progressive only)  0               0                as the final leg
 *     detour, before, after         0, -            0, 1             class 0
 *     final, before, after          1, 2            2, 3             class 1
 *
 * with 1 added to the later legs' stages when there is an undecided one. Where the highest level is joined by
 * switch a leg is a single hop of that level, and a class for each leg is all it takes.
 */
#include "routing/topologies/hierarchical.h"

/* ---- legs and channels ---- */

void hierarchy_legs_set(struct hierarchy *h, enum via via, bool progressive)
{
    uint32_t top = via != VIA_NONE, first = progressive;
    uint32_t final =
        via == VIA_NONE ? 0 : first + (via == VIA_GROUP ? 1 : 2); /* its stage before the crossing */
    h->via = via;
    h->via_mask = h->switch_mask & ~(via == VIA_GROUP ? (1ull << h->top->shift) - 1 : 0);
    h->tops = 1 + top;
    if (h->top->by_switch) {
        for (int leg = 0; leg < LEGS; leg++)
            h->leg[leg] = (struct leg){(1u << h->crossings) - 1, (uint8_t)(leg == LEG_DETOUR ? 0 : top)};
        return;
    }
    h->stages = final + 2;
    uint32_t shift = (uint32_t)h->crossings - 1, below = (1u << shift) - 1; /* the top is a crossing, too */
    h->leg[LEG_DETOUR] = (struct leg){(first + 1) << shift | below, 0};
    h->leg[LEG_FINAL] = (struct leg){(final + 1) << shift | below, (uint8_t)top};
    h->leg[LEG_UNDECIDED] = (struct leg){1u << shift | below, (uint8_t)top};
    h->top_path[0] = first << shift;
    h->top_path[top] = final << shift;
}

static uint32_t classes_of(const struct hierarchy *h, const struct level *l)
{
    if (l == h->top)
        return h->tops;
    return h->top->by_switch ? 1u << (h->crossings - l->crossed)
                             : h->stages << (h->crossings - 1 - l->crossed);
}

uint32_t hierarchy_channels(const struct route_topology *topology)
{
    const struct hierarchy *h = hierarchy_of(topology);
    uint32_t most = 1;
    for (int i = 0; i < h->levels; i++)
        if (h->level[i].groups > 1 && classes_of(h, &h->level[i]) > most)
            most = classes_of(h, &h->level[i]);
    return most;
}

enum ker_status hierarchy_direct_prepare(struct route_topology *topology, const struct ker_config *config,
                                         struct ker_error *error)
{
    hierarchy_legs_set((struct hierarchy *)topology, VIA_NONE, false);
    return KER_OK;
}

/* ---- distances ---- */

/* A row of l->lanes: for a switch of a group and a group this many places ahead, which lanes there have their
 * link 0, 1, ..., reach hops from the switch. Paths in are paths out, backwards. Tables above a megabyte or
 * so are not made; then the lanes are tried one by one. */
#define LANES_MOST (1u << 17)
#define STEPS_MOST (1u << 17)

static inline const uint64_t *lanes_row(const struct level *l, uint32_t ahead, uint64_t at)
{
    uint64_t inside = at & ((1ull << l->shift) - 1);
    return &l->lanes[(((uint64_t)ahead << l->shift) + inside) * (l->reach + 1)];
}

static void lanes_make(const struct hierarchy *h, struct level *l)
{
    uint64_t rows = (uint64_t)(l->groups - 1) << l->shift;
    if (l->links == 1 || rows * (l->reach + 1) > LANES_MOST)
        return;
    uint64_t *lanes = ker_alloc(rows * (l->reach + 1) * sizeof *lanes);
    for (uint32_t k = 0; k < l->gateways; k++)
        for (uint32_t index = 0; index < l->size; index++) {
            uint64_t at = hierarchy_pack(h, (int)(l - h->level), index),
                     row = ((uint64_t)(k / l->links) << l->shift) + at;
            lanes[row * (l->reach + 1) + hierarchy_steps(h, l, at, k)] |= 1ull << k % l->links;
        }
    l->lanes = lanes;
}

/* Of parallel links further down the first is here: their paths go by search(). */
static struct step step_find(const struct hierarchy *h, const struct level *l, uint64_t at,
                             const struct gateway *gateway)
{
    struct step step = {gateway->port, (uint8_t)hierarchy_direct_hops(h, at, gateway->at),
                        (uint8_t)(l - h->level), 1u << (l->crossed - 1)};
    uint64_t target = gateway->at;
    while (at != target) {
        l = level_between(h, at, target);
        step.level = (uint8_t)(l - h->level);
        if (l->by_switch) {
            step.port = (uint16_t)hierarchy_straight_port(h, l, at, target);
            break;
        }
        gateway = &l->gateway[places_ahead(l, at, target) * l->links];
        target = with_gateway(l, at, gateway);
        step.port = gateway->port;
        step.below += 1u << (l->crossed - 1);
    }
    return step;
}

static void steps_make(const struct hierarchy *h, struct level *l)
{
    if (((uint64_t)l->gateways << l->shift) > STEPS_MOST)
        return;
    struct step *step = ker_alloc(((uint64_t)l->gateways << l->shift) * sizeof *step);
    for (uint32_t k = 0; k < l->gateways; k++)
        for (uint32_t index = 0; index < l->size; index++) {
            uint64_t at = hierarchy_pack(h, (int)(l - h->level), index);
            step[((uint64_t)k << l->shift) + at] = step_find(h, l, at, &l->gateway[k]);
        }
    l->step = step;
}

void hierarchy_tables_make(struct hierarchy *h)
{
    uint32_t reach = 0;
    for (struct level *l = h->level; l < h->level + h->levels; l++) {
        l->reach = reach;
        reach = !l->by_switch ? 2 * reach + 1 : l->groups > 1 && reach == 0 ? 1 : reach;
        if (l->by_switch)
            continue;
        steps_make(h, l);
        lanes_make(h, l);
    }
    h->steps = h->top->step != NULL;
    for (const struct level *l = h->level; l < h->top; l++)
        h->steps &= l->links == 1 || l->groups == 1;
}

uint32_t hierarchy_lane_hops(const struct hierarchy *h, const struct level *l, uint64_t coordinate,
                             uint64_t target, uint32_t lane)
{
    uint32_t ahead = places_ahead(l, coordinate, target);
    return hierarchy_steps(h, l, coordinate, ahead * l->links + lane) + 1 +
           hierarchy_steps(h, l, target, (l->groups - 2 - ahead) * l->links + lane);
}

static uint64_t lanes_tried(const struct hierarchy *h, const struct level *l, uint64_t coordinate,
                            uint64_t target, bool to_group, uint32_t *hops)
{
    uint32_t first = places_ahead(l, coordinate, target) * l->links;
    uint64_t lanes = 0;
    *hops = UINT32_MAX;
    for (uint32_t i = 0; i < l->links; i++) {
        uint32_t far = to_group ? hierarchy_steps(h, l, coordinate, first + i) + 1
                                : hierarchy_lane_hops(h, l, coordinate, target, i);
        if (far < *hops)
            lanes = 0;
        if (far <= *hops) {
            *hops = far;
            lanes |= 1ull << i;
        }
    }
    return lanes;
}

static uint64_t lanes_looked_up(const struct level *l, uint64_t coordinate, uint64_t target, bool to_group,
                                uint32_t *hops)
{
    uint32_t ahead = places_ahead(l, coordinate, target);
    const uint64_t *out = lanes_row(l, ahead, coordinate), *in = lanes_row(l, l->groups - 2 - ahead, target);
    uint64_t lanes = 0;
    uint32_t sum = 0;
    for (;; sum++) {
        if (to_group)
            lanes = out[sum];
        else
            for (uint32_t i = sum > l->reach ? sum - l->reach : 0; i <= l->reach && i <= sum; i++)
                lanes |= out[i] & in[sum - i];
        if (lanes)
            break;
    }
    *hops = sum + 1;
    return lanes;
}

uint64_t hierarchy_lanes(const struct hierarchy *h, const struct level *l, uint64_t coordinate,
                         uint64_t target, bool to_group, uint32_t *hops)
{
    if (!l->lanes)
        return lanes_tried(h, l, coordinate, target, to_group, hops);
    uint64_t lanes = lanes_looked_up(l, coordinate, target, to_group, hops);
#ifdef KER_DEBUG
    uint32_t tried;
    ker_check(lanes == lanes_tried(h, l, coordinate, target, to_group, &tried) && *hops == tried);
#endif
    return lanes;
}

uint32_t hierarchy_direct_hops(const struct hierarchy *h, uint64_t coordinate, uint64_t target)
{
    uint64_t difference = (coordinate ^ target) & h->switch_mask;
    if (difference == 0)
        return 0;
    const struct level *l = &h->level[h->level_of_bit[63 - __builtin_clzll(difference)]];
    uint32_t hops = 1;
    if (l->by_switch)
        return hops;
    if (l->links == 1)
        return hierarchy_lane_hops(h, l, coordinate, target, 0);
    hierarchy_lanes(h, l, coordinate, target, false, &hops);
    return hops;
}

struct search { /* for all shortest direct routes */
    const struct hierarchy *h;
    const struct leg *leg;
    struct route_choice *choices;
    uint32_t held; /* position of the channel the packet is in, 0 at injection */
    int count;
};

static void search(struct search *s, uint64_t coordinate, uint64_t target, uint32_t path);
static uint32_t position_held(const struct hierarchy *h, const struct route_packet *packet);

void hierarchy_hop_searched(const struct hierarchy *h, uint64_t coordinate, uint64_t target, uint32_t path,
                            const struct leg *leg, const struct route_packet *packet,
                            struct route_choice *choice)
{
    struct route_choice all[ROUTE_MAX_CHOICES];
    struct search s = {h, leg, all, position_held(h, packet), 0};
    search(&s, coordinate, target, path);
    ker_check(s.count > 0);
    *choice = all[route_pick(packet, 2, (uint32_t)s.count)];
}

void hierarchy_hop_to_group(const struct hierarchy *h, uint64_t coordinate, uint32_t to,
                            const struct leg *leg, uint32_t lane, const struct route_packet *packet,
                            struct route_choice *choice)
{
    const struct level *l = h->top;
    uint32_t k = places_between(l, field(l, coordinate), to) * l->links + lane;
    if (h->steps) {
        hierarchy_leave(h, coordinate, k, choice, leg);
        return;
    }
    const struct gateway *gateway = &l->gateway[k];
    uint64_t target = with_gateway(l, coordinate, gateway);
    uint32_t path = leg->path - (1u << (l->crossed - 1));
    if (((target ^ coordinate) & h->switch_mask) != 0) {
        hierarchy_hop_inside(h, coordinate, target, path, leg, 0, packet, choice, true);
        return;
    }
    *choice = (struct route_choice){.port = gateway->port};
    hierarchy_channel(choice, h, l, path, leg);
}

/* ---- next hops in short form ---- */

#define INSIDE_MOST (1u << 14)

static struct hops hops_make(const struct hierarchy *h, const struct leg *leg)
{
    const struct level *l = h->top;
    struct hops hops = {ker_alloc(sizeof *hops.out * ((uint64_t)(l->groups - 1) << l->shift)),
                        ker_alloc(sizeof *hops.inside << 2 * l->shift)};
    for (uint32_t index = 0; index < l->size; index++) {
        struct route_choice c;
        uint64_t at = hierarchy_pack(h, h->levels - 1, index);
        for (uint64_t k = 0; k + 1 < l->groups; k++) {
            hierarchy_leave(h, at, (uint32_t)k, &c, leg);
            hops.out[(k << l->shift) + at] = hierarchy_short(&c);
        }
        for (uint32_t other = 0; other < l->size; other++) {
            uint64_t to = hierarchy_pack(h, h->levels - 1, other);
            if (to == at)
                continue;
            hierarchy_hop_inside(h, at, to, leg->path, leg, 0, NULL, &c, false);
            hops.inside[(at << l->shift) + to] = hierarchy_short(&c);
        }
    }
    return hops;
}

void hierarchy_tune(struct route_topology *topology)
{
    struct hierarchy *h = (struct hierarchy *)topology;
    for (int i = 0; i < h->levels; i++)
        h->level[i].spread = topology->channels / classes_of(h, &h->level[i]);
    if (!h->steps || h->top->links > 1 || 1ull << 2 * h->top->shift > INSIDE_MOST)
        return;
    for (int leg = h->via == VIA_NONE ? LEG_FINAL : LEG_DETOUR;
         leg < (h->via == VIA_NONE ? LEG_UNDECIDED : LEGS); leg++)
        h->hops[leg] = hops_make(h, &h->leg[leg]);
    h->pairs = h->common && h->candidates == 1 && !h->watches;
}

/* Without alternatives. */
static inline __attribute__((always_inline)) int single_next(const struct route_topology *topology,
                                                             uint64_t coordinate, uint32_t switch_id,
                                                             const struct route_packet *packet,
                                                             struct route_choice *choice)
{
    const struct hierarchy *h = hierarchy_of(topology);
    if (((coordinate ^ packet->address) & h->switch_mask) == 0)
        return route_eject(topology, packet, (uint32_t)(packet->address >> h->slot_shift), choice);
    hierarchy_hop(h, coordinate, packet->address, &h->leg[LEG_FINAL], 0, packet, choice, false);
    return 1;
}

/* ---- all shortest routes ---- */

/* Position of a hop along any route: per "group" level two bits, highest level first: 0 before, 1 crossing, 2
 * after; at the highest the stage makes that more. */
static uint32_t position(const struct hierarchy *h, const struct level *l, uint32_t path)
{
    int highest = h->crossings - 1;
    uint32_t value = highest >= 0 ? path >> highest << (2 * highest + 1) : 0;
    for (int bit = highest - 1; bit >= l->crossed; bit--)
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
    uint32_t class = packet->in_channel / l->spread;
    if (l == h->top)
        return l->by_switch ? 0
                            : position(h, l, h->top_path[class]); /* by switch: a leg of its own is done */
    return position(h, l, class << l->crossed);
}

static void offer(struct search *s, const struct level *l, uint32_t port, uint32_t path)
{
    if (s->count == ROUTE_MAX_CHOICES || (s->held && position(s->h, l, path) <= s->held))
        return;
    struct route_choice choice = {.port = (uint16_t)port};
    hierarchy_channel(&choice, s->h, l, path, s->leg);
    for (int i = 0; i < s->count; i++)
        if (s->choices[i].port == port && s->choices[i].channel == choice.channel)
            return;
    s->choices[s->count++] = choice;
}

static void search(struct search *s, uint64_t coordinate, uint64_t target, uint32_t path)
{
    const struct hierarchy *h = s->h;
    const struct level *l = level_between(h, coordinate, target);
    if (l->by_switch) {
        uint32_t port = hierarchy_straight_port(h, l, coordinate, target);
        for (uint32_t lane = 0; lane < l->links; lane++)
            offer(s, l, port + lane, path);
        return;
    }
    uint32_t hops;
    uint64_t lanes = l->links > 1 ? hierarchy_lanes(h, l, coordinate, target, false, &hops) : 1;
    uint32_t first = places_ahead(l, coordinate, target) * l->links;
    for (; lanes; lanes &= lanes - 1) {
        uint32_t k = first + (uint32_t)__builtin_ctzll(lanes);
        if (h->steps && l->step) { /* nothing is parallel further down */
            const struct step *step = hierarchy_step(l, coordinate, k);
            offer(s, &h->level[step->level], step->port, path - step->below);
            continue;
        }
        const struct gateway *gateway = &l->gateway[k];
        uint64_t at = with_gateway(l, coordinate, gateway);
        uint32_t before = path - (1u << (l->crossed - 1));
        if (at == coordinate)
            offer(s, l, gateway->port, before);
        else
            search(s, coordinate, at, before);
    }
}

static int search_all(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                      struct route_choice *choices)
{
    const struct leg *leg = &h->leg[LEG_FINAL];
    struct search s = {h, leg, choices, position_held(h, packet), 0};
    search(&s, coordinate, packet->address & h->switch_mask, leg->path);
    ker_check(s.count > 0);
    return s.count;
}

int hierarchy_minimal_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                           const struct route_packet *packet, struct route_choice *choice)
{
    const struct hierarchy *h = hierarchy_of(topology);
    if (!h->parallel || ((coordinate ^ packet->address) & h->switch_mask) == 0)
        return single_next(topology, coordinate, switch_id, packet, choice);
    struct route_choice all[ROUTE_MAX_CHOICES];
    int count = search_all(h, coordinate, packet, all);
    *choice = all[route_pick(packet, 2, (uint32_t)count)];
    return 1;
}

static uint64_t general_hop(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                            uint64_t in, uint64_t chance)
{
    return route_hop_by(hierarchy_minimal_next, topology, coordinate, address, in, chance);
}

uint64_t hierarchy_minimal_hop(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                               uint64_t in, uint64_t chance)
{
    const struct hierarchy *h = hierarchy_of(topology);
    if (__builtin_expect(!h->hops[LEG_FINAL].out, 0))
        return general_hop(topology, coordinate, address, in, chance);
    uint32_t hop = hierarchy_hop_known(h, LEG_FINAL, coordinate, address);
    return hop ? hop : hierarchy_eject_hop(h, address);
}

int hierarchy_adaptive_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                            const struct route_packet *packet, struct route_choice *choices)
{
    const struct hierarchy *h = hierarchy_of(topology);
    if (((coordinate ^ packet->address) & h->switch_mask) == 0)
        return single_next(topology, coordinate, switch_id, packet, choices);
    struct route_choice all[ROUTE_MAX_CHOICES];
    int count = search_all(h, coordinate, packet, all);
    int from = (int)route_pick(packet, 2, (uint32_t)count);
    for (int i = 0; i < count; i++) {
        choices[i] = all[from];
        from = from + 1 == count ? 0 : from + 1;
    }
    return count;
}
