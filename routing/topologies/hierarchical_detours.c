/* hierarchical_detours.c - routes via third groups: Valiant, indirect over a few racks, UGAL-L and -PB,
 * PAR.
 *
 * "Group" is the highest level's. A detour is two direct routes one after the other: to an intermediate group
 * (or to a switch in it), then to the destination. Which one is decided at the source's switch, or with PAR
 * at one of the source's group, and travels in the packet's state; all else follows from where the packet is.
 * Inside one group all go direct.
 *
 * Paths are weighed by the links they have, as in UGAL (Singh 2005; Kim, Dally, Scott and Abts 2008); PAR is
 * Jiang, Kim and Dally's (2009). The few racks of "indirect" are MARS's. Channels: see hierarchical_routes.c.
 */
#include "routing/topologies/hierarchical_plan.h"

#include <stdlib.h>
#include <string.h>

/* What route_pick draws: one purpose, one salt. */
enum { SALT_FINAL_LANE = 3, SALT_SPREAD = 4, SALT_PATHS = 16 };
#define SALTS_PER_WAY 3 /* group, switch, lane */

/* ---- lanes: which of the parallel links between two groups ---- */

/* The lane with the nth of the bits. */
static uint32_t lane_of(uint64_t lanes, uint32_t nth)
{
    while (nth-- > 0)
        lanes &= lanes - 1;
    return (uint32_t)__builtin_ctzll(lanes);
}

/* One of the shortest paths' to a switch in another group, or to the group itself, where it matters: links by
 * switch are one hop, and chosen there. */
static uint32_t lane_pick(const struct hierarchy *h, uint64_t coordinate, uint64_t target, bool to_group,
                          const struct route_packet *packet, uint32_t salt)
{
    uint32_t hops;
    if (h->top->by_switch || h->top->links == 1)
        return 0;
    uint64_t lanes = hierarchy_lanes(h, h->top, coordinate, target, to_group, &hops);
    return lane_of(lanes, route_pick(packet, salt, (uint32_t)__builtin_popcountll(lanes)));
}

/* ---- the next hop of a path that is decided ---- */

static inline uint64_t group_fields(const struct hierarchy *h, uint32_t group)
{
    return (uint64_t)group << h->top->shift;
}

/* The packet is (or was just now) at the end of a leg: from here on direct. */
static struct plan plan_final(const struct hierarchy *h, uint64_t coordinate,
                              const struct route_packet *packet)
{
    struct plan plan = {PHASE_FINAL, 0, 0};
    if (field(h->top, coordinate) != field(h->top, packet->address))
        plan.lane =
            lane_pick(h, coordinate, packet->address & h->switch_mask, false, packet, SALT_FINAL_LANE);
    return plan;
}

static inline int eject(const struct hierarchy *h, const struct route_packet *packet,
                        struct route_choice *choice)
{
    return route_eject(&h->topology, packet, (uint32_t)(packet->address >> h->slot_shift), choice);
}

static inline bool arrived(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet)
{
    return ((coordinate ^ packet->address) & h->switch_mask) == 0;
}

static int plan_follow(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                       struct plan plan, struct route_choice *choice)
{
    if (plan.phase == PHASE_DETOUR &&
        plan.via == (hierarchy_via_is_group(h) ? field(h->top, coordinate) : coordinate & h->switch_mask)) {
        plan = plan_final(h, coordinate, packet);
        if (arrived(h, coordinate, packet))
            return eject(h, packet, choice);
    }
    plan_hop(h, coordinate, packet, plan, choice);
    return 1;
}

bool hierarchy_away(const struct route_topology *topology, uint64_t coordinate,
                    const struct route_packet *packet)
{
    const struct hierarchy *h = hierarchy_of(topology);
    struct plan plan = plan_unpack(h, packet->state);
    return plan.phase == PHASE_DETOUR &&
           plan.via != (hierarchy_via_is_group(h) ? field(h->top, coordinate) : coordinate & h->switch_mask);
}

/* ---- paths by a third group ---- */

/* The nth of the groups other than two that differ. */
static uint32_t third_group(uint32_t nth, uint32_t a, uint32_t b)
{
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    nth += nth >= low;
    return nth + (nth >= high);
}

/* By a group: the path to it, or to a switch there which is drawn. */
static struct plan plan_by(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                           uint32_t group, uint32_t salt)
{
    struct plan plan = {PHASE_DETOUR, 0, group};
    uint64_t target = group_fields(h, group);
    if (!hierarchy_via_is_group(h)) {
        target |= hierarchy_pack(h, h->levels - 1, route_pick(packet, salt + 1, h->top->size));
        plan.via = (uint32_t)target;
    }
    plan.lane = lane_pick(h, coordinate, target, hierarchy_via_is_group(h), packet, salt + 2);
    return plan;
}

/* At random: Valiant. By any switch it may turn out that the path is direct. */
static struct plan plan_random(const struct hierarchy *h, uint64_t coordinate,
                               const struct route_packet *packet, uint32_t salt)
{
    uint32_t from = field(h->top, coordinate), to = field(h->top, packet->address);
    if (h->via != VIA_ANY)
        return plan_by(h, coordinate, packet,
                       third_group(route_pick(packet, salt, h->top->groups - 2), from, to), salt);
    uint32_t group = route_pick(packet, salt, h->top->groups);
    return group == from ? plan_final(h, coordinate, packet) : plan_by(h, coordinate, packet, group, salt);
}

int hierarchy_valiant_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                           const struct route_packet *packet, struct route_choice *choice)
{
    const struct hierarchy *h = hierarchy_of(topology);
    struct plan plan = plan_unpack(h, packet->state);
    if (plan.phase == PHASE_START) {
        if (arrived(h, coordinate, packet))
            return eject(h, packet, choice);
        bool inside = field(h->top, coordinate) == field(h->top, packet->address);
        plan = inside ? plan_final(h, coordinate, packet) : plan_random(h, coordinate, packet, SALT_PATHS);
    } else if (plan.phase == PHASE_FINAL && arrived(h, coordinate, packet)) {
        return eject(h, packet, choice);
    }
    return plan_follow(h, coordinate, packet, plan, choice);
}

/* ---- choices at the source ---- */

/* Links of a detour from here to the destination. */
static uint32_t detour_hops(const struct hierarchy *h, uint64_t coordinate, uint64_t target, struct plan plan)
{
    if (!hierarchy_via_is_group(h))
        return hierarchy_direct_hops(h, coordinate, plan.via) + hierarchy_direct_hops(h, plan.via, target);
    const struct level *l = h->top;
    uint32_t ahead = places_between(l, field(l, coordinate), plan.via);
    uint32_t in = (l->groups - 2 - ahead) * l->links + plan.lane;
    return hierarchy_steps(h, l, coordinate, ahead * l->links + plan.lane) + 1 +
           hierarchy_direct_hops(h, with_gateway(l, group_fields(h, plan.via), &l->gateway[in]), target);
}

/* The link by which a path leaves the group, see route_watch. */
static uint32_t watch_of(const struct hierarchy *h, uint64_t coordinate, uint32_t to, uint32_t lane)
{
    return h->watches ? 1 + places_between(h->top, field(h->top, coordinate), to) * h->top->links + lane : 0;
}

/* Room for each of the paths that are offered by switch: the direct one and this many detours. */
static int room_each(uint32_t detours)
{
    return ROUTE_MAX_CHOICES / (int)(detours + 1);
}

/* By switch, every hop from here to another group may take any of the links in parallel to the one that was
 * drawn: all that there is room for, beginning with that one. */
static int offer_parallel(const struct hierarchy *h, uint64_t coordinate, uint64_t target, int room,
                          struct route_choice *choices)
{
    if (!h->top->by_switch || h->top->links == 1 || field(h->top, coordinate) == field(h->top, target))
        return 1;
    uint32_t links = h->top->links, first = hierarchy_straight_port(h, h->top, coordinate, target),
             drawn = choices->port - first;
    int count = room < (int)links ? room : (int)links;
    for (int i = 1; i < count; i++) {
        choices[i] = choices[0];
        choices[i].port = (uint16_t)(first + (drawn + (uint32_t)i) % links);
    }
    return count;
}

static int offer_detour(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                        struct plan plan, int room, struct route_choice *choice)
{
    plan_hop(h, coordinate, packet, plan, choice);
    choice->flags = ROUTE_DETOUR;
    choice->watch =
        watch_of(h, coordinate, hierarchy_via_is_group(h) ? plan.via : field(h->top, plan.via), plan.lane);
    if (h->weighted)
        choice->weight =
            (uint8_t)(h->doubled ? 2 : detour_hops(h, coordinate, packet->address & h->switch_mask, plan));
    return offer_parallel(h, coordinate, plan.via, room, choice);
}

/* The direct paths over each of the shortest lanes, in an order of the packet's own; room for `room` of them.
 */
static int offer_direct(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                        enum phase phase, int room, struct route_choice *choices)
{
    uint64_t target = packet->address & h->switch_mask, lanes = 1;
    uint32_t count = 1, hops = 0, from = 0;
    if (!h->top->by_switch && h->top->links > 1) {
        lanes = hierarchy_lanes(h, h->top, coordinate, target, false, &hops);
        count = (uint32_t)__builtin_popcountll(lanes);
        from = route_pick(packet, SALT_FINAL_LANE, count);
    } else if (h->weighted && !h->doubled) {
        hops = hierarchy_direct_hops(h, coordinate, target);
    }
    int offered = 0;
    for (uint32_t i = 0; i < count && offered < room; i++, offered++) {
        struct plan plan = {phase, lane_of(lanes, (from + i) % count), 0};
        plan_hop(h, coordinate, packet, plan, &choices[offered]);
        choices[offered].watch = watch_of(h, coordinate, field(h->top, target), plan.lane);
        choices[offered].weight = (uint8_t)(!h->weighted ? 0 : h->doubled ? 1 : hops);
    }
    return offered > 1 ? offered : offer_parallel(h, coordinate, target, room, choices);
}

/* ---- indirect: a few racks that belong to the pair ---- */

/* The nth rack round after the destination that is neither it nor the source. */
static uint32_t nth_rack(const struct hierarchy *h, uint32_t from, uint32_t to, uint32_t nth)
{
    uint32_t groups = h->top->groups, before_source = places_between(h->top, to, from);
    uint32_t places = nth + (nth >= before_source);
    return (uint32_t)(((uint64_t)to + 1 + places) % groups);
}

/* The same among those of routing.via; false: there are fewer. */
static bool nth_listed_rack(const struct hierarchy *h, uint32_t from, uint32_t to, uint32_t nth,
                            uint32_t *rack)
{
    uint32_t first = 0;
    while (first < h->racks && h->rack[first] <= to)
        first++;
    for (uint32_t i = 0; i < h->racks; i++) {
        uint32_t at = h->rack[(first + i) % h->racks];
        if (at == from || at == to)
            continue;
        *rack = at;
        if (nth-- == 0)
            return true;
    }
    return false;
}

static bool detour_rack(const struct hierarchy *h, uint32_t from, uint32_t to, uint32_t nth, uint32_t *rack)
{
    if (h->racks)
        return nth_listed_rack(h, from, to, nth, rack);
    *rack = nth_rack(h, from, to, nth);
    return true;
}

static int indirect_start(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                          struct route_choice *choices)
{
    uint32_t from = field(h->top, coordinate), to = field(h->top, packet->address), rack[ROUTE_MAX_CHOICES],
             count = 0;
    while (count < h->detours && detour_rack(h, from, to, count, &rack[count]))
        count++;
    if (!h->topology.summary.adaptive) {
        uint32_t which = route_pick(packet, SALT_SPREAD, 1 + count);
        struct plan plan = which == 0 ? plan_final(h, coordinate, packet)
                                      : plan_by(h, coordinate, packet, rack[which - 1], SALT_PATHS);
        return plan_follow(h, coordinate, packet, plan, choices);
    }
    int room = room_each(count);
    int offered = offer_direct(h, coordinate, packet, PHASE_FINAL,
                               h->top->by_switch ? room : ROUTE_MAX_CHOICES - (int)count, choices);
    for (uint32_t i = 0; i < count; i++)
        offered += offer_detour(h, coordinate, packet,
                                plan_by(h, coordinate, packet, rack[i], SALT_PATHS + SALTS_PER_WAY * i), room,
                                &choices[offered]);
    return offered;
}

int hierarchy_indirect_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                            const struct route_packet *packet, struct route_choice *choices)
{
    const struct hierarchy *h = hierarchy_of(topology);
    struct plan plan = plan_unpack(h, packet->state);
    if (plan.phase != PHASE_DETOUR && arrived(h, coordinate, packet))
        return eject(h, packet, choices);
    if (plan.phase == PHASE_START) {
        if (field(h->top, coordinate) != field(h->top, packet->address))
            return indirect_start(h, coordinate, packet, choices);
        plan = plan_final(h, coordinate, packet);
    }
    return plan_follow(h, coordinate, packet, plan, choices);
}

/* ---- UGAL-L and PAR ---- */

/* Detours drawn at this switch beside the `offered` direct paths. To a proof one is like the other, and it
 * sees all that one may draw. */
static int offer_random(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                        int offered, struct route_choice *choices)
{
    uint32_t candidates = packet->oracle ? 1 : h->candidates;
    uint32_t salt = SALT_PATHS + SALTS_PER_WAY * h->candidates * packet->hops;
    for (uint32_t i = 0; i < candidates; i++, salt += SALTS_PER_WAY) {
        struct plan plan = plan_random(h, coordinate, packet, salt);
        if (plan.phase == PHASE_DETOUR)
            offered += offer_detour(h, coordinate, packet, plan, room_each(h->candidates), &choices[offered]);
    }
    return offered;
}

/* general_paths() at a fraction of its cost, in the common case: via a group or of a switch drawn
 * there, without parallel links. */

struct way {
    uint32_t ahead, hop, state; /* places of the group that it leaves for; in short form */
    uint8_t weight;
};

static inline uint32_t way_hop(const struct hierarchy *h, uint64_t coordinate, enum leg_kind leg,
                               uint32_t ahead)
{
    const struct level *l = h->top;
    if (__builtin_expect(h->hops[leg].out != NULL, 1))
        return h->hops[leg].out[((uint64_t)ahead << l->shift) + (coordinate & ((1ull << l->shift) - 1))];
    struct route_choice choice;
    hierarchy_leave(h, coordinate, ahead, &choice, &h->leg[leg]);
    return hierarchy_short(&choice);
}

/* Links of a direct path to the switch `target` of the group this many places ahead, whose own fields do not
 * matter. */
static inline uint32_t way_hops(const struct level *l, uint64_t coordinate, uint64_t target, uint32_t ahead)
{
    return hierarchy_step(l, coordinate, ahead)->hops + 1u +
           hierarchy_step(l, target, l->groups - 2 - ahead)->hops;
}

static inline struct way way_direct(const struct hierarchy *h, uint64_t coordinate, uint64_t target,
                                    enum phase direct)
{
    const struct level *l = h->top;
    uint32_t ahead = places_ahead(l, coordinate, target),
             hop = way_hop(h, coordinate, direct == PHASE_FINAL ? LEG_FINAL : LEG_UNDECIDED, ahead);
    bool by_links = h->weighted && !h->doubled;
    return (struct way){ahead, hop, hop >> 16 >= l->first_port ? PHASE_FINAL : direct,
                        (uint8_t)(by_links ? way_hops(l, coordinate, target, ahead) : h->weighted)};
}

static inline struct way way_detour(const struct hierarchy *h, uint64_t coordinate, uint64_t target,
                                    uint32_t draw, uint32_t salt)
{
    const struct level *l = h->top;
    uint32_t from = field(l, coordinate), to = field(l, target),
             via = third_group(route_picked(draw, salt, l->groups - 2), from, to), group = via,
             ahead = places_between(l, from, group), weight = 2u * h->weighted;
    uint64_t by = l->gateway[l->groups - 2 - ahead].at;
    if (!hierarchy_via_is_group(h)) {
        by = hierarchy_pack(h, h->levels - 1, route_picked(draw, salt + 1, l->size));
        via = (uint32_t)(group_fields(h, group) | by);
    }
    if (h->weighted && !h->doubled)
        weight = way_hops(l, coordinate, by, ahead) + way_hops(l, by, target, places_between(l, group, to));
    return (struct way){ahead, way_hop(h, coordinate, LEG_DETOUR, ahead), PHASE_DETOUR | via << 2,
                        (uint8_t)weight};
}

static inline void way_offer(const struct hierarchy *h, struct way way, struct route_choice *choice)
{
    *choice = (struct route_choice){.port = (uint16_t)(way.hop >> 16),
                                    .weight = way.weight,
                                    .watch = h->watches ? 1 + way.ahead : 0,
                                    .state = way.state};
    route_channel(choice, way.hop >> 8 & 0xff, way.hop & 0xff);
}

static int common_paths(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                        enum phase direct, struct route_choice *choices)
{
    uint64_t target = packet->address & h->switch_mask;
    way_offer(h, way_direct(h, coordinate, target, direct), choices);
    uint32_t salt = SALT_PATHS + SALTS_PER_WAY * h->candidates * packet->hops;
    for (uint32_t i = 1; i <= h->candidates; i++, salt += SALTS_PER_WAY) {
        way_offer(h, way_detour(h, coordinate, target, route_draw(packet), salt), &choices[i]);
        choices[i].flags = ROUTE_DETOUR;
    }
    return (int)h->candidates + 1;
}

/* The direct paths from here out of the group, as far as they are open yet, and detours. */
static int general_paths(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                         struct plan plan, enum phase direct, struct route_choice *choices)
{
    int offered = 1;
    if (plan.phase == PHASE_START) {
        int room = h->top->by_switch ? room_each(h->candidates) : ROUTE_MAX_CHOICES - (int)h->candidates;
        offered = offer_direct(h, coordinate, packet, direct, room, choices);
    } else {
        plan_hop(h, coordinate, packet, plan, choices);
        if (h->weighted)
            choices->weight =
                (uint8_t)(h->doubled ? 1
                                     : hierarchy_lane_hops(h, h->top, coordinate,
                                                           packet->address & h->switch_mask, plan.lane));
    }
    return offer_random(h, coordinate, packet, offered, choices);
}

static int paths(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                 struct plan plan, enum phase direct, struct route_choice *choices)
{
    if (!h->common || packet->oracle) /* draws of the check have an order */
        return general_paths(h, coordinate, packet, plan, direct, choices);
    int count = common_paths(h, coordinate, packet, direct, choices);
#ifdef KER_DEBUG
    struct route_choice other[ROUTE_MAX_CHOICES];
    ker_check(general_paths(h, coordinate, packet, plan, direct, other) == count);
    ker_check(memcmp(choices, other, (size_t)count * sizeof *choices) == 0);
#endif
    return count;
}

/* Is there a path to choose? One branch: the phases of the packets that come here are close to random. */
static inline bool undecided(const struct hierarchy *h, uint64_t coordinate,
                             const struct route_packet *packet)
{
    return ((coordinate ^ packet->address) & h->open[packet->state & 3]) != 0;
}

/* Otherwise. */
static int decided_next(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                        struct route_choice *choice)
{
    struct plan plan = plan_unpack(h, packet->state);
    uint64_t between = (coordinate ^ packet->address) & h->switch_mask;
    if ((between | (plan.phase == PHASE_DETOUR)) == 0)
        return eject(h, packet, choice);
    if (plan.phase == PHASE_START)
        plan = plan_final(h, coordinate, packet);
    return plan_follow(h, coordinate, packet, plan, choice);
}

static inline int ugal_next(const struct hierarchy *h, uint64_t coordinate, const struct route_packet *packet,
                            enum phase direct, struct route_choice *choices)
{
    if (!undecided(h, coordinate, packet))
        return decided_next(h, coordinate, packet, choices);
    return paths(h, coordinate, packet, plan_unpack(h, packet->state), direct, choices);
}

/* By switch, the first hop leaves the group: nothing is left to change one's mind about. */
static inline enum phase par_direct(const struct hierarchy *h)
{
    return h->top->by_switch ? PHASE_FINAL : PHASE_UNDECIDED;
}

static inline bool pair_of(const struct hierarchy *h, uint64_t coordinate, uint64_t address,
                           enum phase direct, uint32_t hops, uint32_t draw, struct route_pair *pair)
{
    uint64_t target = address & h->switch_mask;
    struct way way = way_direct(h, coordinate, target, direct),
               detour = way_detour(h, coordinate, target, draw, SALT_PATHS + SALTS_PER_WAY * hops);
    *pair =
        (struct route_pair){{(uint64_t)way.state << 32 | way.hop, (uint64_t)detour.state << 32 | detour.hop},
                            {way.weight, detour.weight}};
    return true;
}

bool hierarchy_ugal_pair(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                         uint32_t state, uint32_t hops, uint32_t draw, struct route_pair *pair)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return h->pairs && (coordinate ^ address) & h->open[state & HIERARCHY_PHASES] &&
           pair_of(h, coordinate, address, PHASE_FINAL, hops, draw, pair);
}

bool hierarchy_par_pair(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                        uint32_t state, uint32_t hops, uint32_t draw, struct route_pair *pair)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return h->pairs && (coordinate ^ address) & h->open[state & HIERARCHY_PHASES] &&
           pair_of(h, coordinate, address, par_direct(h), hops, draw, pair);
}

/* Once the path is chosen, or there is none to choose from. */
int hierarchy_ugal_decided(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                           const struct route_packet *packet, struct route_choice *choice)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return undecided(h, coordinate, packet) ? 0 : decided_next(h, coordinate, packet, choice);
}

static uint64_t general_hop(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                            uint64_t in, uint64_t chance)
{
    return route_hop_by(hierarchy_ugal_decided, topology, coordinate, address, in, chance);
}

/* The address of the intermediate group or switch. */
static inline uint64_t via_target(const struct hierarchy *h, uint32_t state)
{
    return (uint64_t)(state >> 2) << (hierarchy_via_is_group(h) ? h->top->shift : 0);
}

uint64_t hierarchy_ugal_hop(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                            uint64_t in, uint64_t chance)
{
    const struct hierarchy *h = hierarchy_of(topology);
    uint32_t state = (uint32_t)(in >> 24), hop;
    if (__builtin_expect(!h->hops[LEG_DETOUR].out, 0))
        return general_hop(topology, coordinate, address, in, chance);
    if ((coordinate ^ address) & h->open[state & HIERARCHY_PHASES])
        return 0;
    if ((state & HIERARCHY_PHASES) == PHASE_DETOUR) {
        uint64_t via = via_target(h, state);
        if ((coordinate ^ via) & h->via_mask)
            return (uint64_t)state << 32 | hierarchy_hop_known(h, LEG_DETOUR, coordinate, via);
    }
    hop = hierarchy_hop_known(h, LEG_FINAL, coordinate, address);
    return hop ? (uint64_t)PHASE_FINAL << 32 | hop : hierarchy_eject_hop(h, address);
}

int hierarchy_ugal_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                        const struct route_packet *packet, struct route_choice *choices)
{
    return ugal_next(hierarchy_of(topology), coordinate, packet, PHASE_FINAL, choices);
}

int hierarchy_par_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                       const struct route_packet *packet, struct route_choice *choices)
{
    const struct hierarchy *h = hierarchy_of(topology);
    return ugal_next(h, coordinate, packet, par_direct(h), choices);
}
