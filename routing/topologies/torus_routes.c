/* torus_routes.c - the paths through a torus or mesh, and why they are free of deadlock.
 *
 * Dimension order: dimensions are taken in order, so only dependencies inside a ring can close a cycle. A
 * packet has one class for all of its path along a ring: 0 when it crosses the wrap-around link, 1 when it
 * does not. Class 1 never uses that link. A path is at most half a ring long, so a packet that crosses
 * forward begins at place k/2 or later and ends before k/2: the link from there to the next is never used in
 * class 0. Each class misses a link, and both are acyclic chains. Rings shorter than 4 have no path of two
 * links and need one class, as have open dimensions.
 *
 * Adaptive (Duato, 1993): channels of their own, and at every switch the packet may fall back to dimension
 * order, there with class 1 for all that need not cross: a function of here and there only, and with minimal
 * paths a finished dimension is never entered again, so that the extended dependencies are acyclic, too.
 *
 * Valiant (1981): to a switch drawn at the source and from there to the destination, both in dimension order.
 * The second path has classes of its own, which are never left for those of the first. The state is the place
 * the packet is in transit to now: 24 bits of coordinates.
 *
 * Inner, outer, inner (Ajima et al., Tofu, 2009): the last dimensions, a b c, to places drawn at the source,
 * then the others, x y z, then a b c again to the destination's; packets that differ in a b c alone take
 * these once. The links of a b c have classes of their own for the last of these three legs, so that no link
 * waits for one of an earlier leg. The state is the places that were drawn.
 */
#include "routing/topologies/torus.h"

#include "routing/paths.h"

#define STATE_BITS 24 /* of struct route_packet */

static uint32_t escape_classes(const struct torus *torus)
{
    uint32_t classes = 1;
    for (int i = 0; i < torus->dimensions; i++)
        if (torus->dimension[i].classes > classes)
            classes = torus->dimension[i].classes;
    return classes;
}

static uint32_t minimal_channels(const struct route_topology *topology)
{
    return escape_classes(torus_of(topology));
}

static uint32_t adaptive_channels(const struct route_topology *topology)
{
    return escape_classes(torus_of(topology)) + 1;
}

static uint32_t valiant_channels(const struct route_topology *topology)
{
    return 2 * escape_classes(torus_of(topology));
}

/* The next two decide without branches what is close to random: a mispredicted branch costs more than all of
 * this. from != to. */

/* Is it shorter (or drawn, where equal, which is rare) to be sent backward? */
static inline bool goes_backward(const struct dimension *d, uint32_t from, uint32_t to,
                                 const struct route_packet *packet)
{
    bool behind = to < from;
    if (!d->wrap)
        return behind;
    uint32_t twice = 2 * (to - from + (behind ? d->extent : 0));
    if (__builtin_expect(twice == d->extent, 0))
        return route_pick_bit(packet, d->index, true);
    return twice > d->extent;
}

/* The class inside a ring, 0 or 1: 0 for packets that will cross the wrap-around link or have just done so;
 * behind that it is kept. `base`: the first channel of the packet's phase; one that came in by the phase
 * before begins again. */
static inline uint32_t ring_class(const struct torus *torus, const struct dimension *d, uint32_t from,
                                  uint32_t to, bool backward, const struct route_packet *packet,
                                  uint32_t base)
{
    uint32_t back = backward, crosses = (to > from) == back;
    /* packets that are sent forward come in by the ports backward, and vice versa */
    uint32_t in_first = d->first_port + (torus->parallel & (back - 1));
    uint32_t came_along = (packet->in_port - in_first < torus->parallel) & (packet->in_channel >= base);
    uint32_t just_crossed = from == ((d->extent - 1) & (0 - back));
    uint32_t kept = (packet->in_channel >= base + d->spread) & ~just_crossed;
    return (kept | ~came_along) & (crosses ^ 1);
}

static inline uint32_t lane_of(const struct torus *torus, const struct route_packet *packet)
{
    return torus->parallel == 1 ? 0 : route_pick(packet, 2, torus->parallel);
}

/* The next link of dimension order to place `target`, which is not here. begins: known to be the first one of
 * its dimension. */
static inline __attribute__((always_inline)) int
order_choice_from(const struct torus *torus, uint64_t coordinate, uint64_t target,
                  const struct route_packet *packet, uint32_t base, bool begins, struct route_choice *choice)
{
    const struct dimension *d =
        &torus->dimension[torus->dimension_of_bit[__builtin_ctzll(coordinate ^ target)]];
    uint32_t from = (uint32_t)(coordinate >> d->shift) & d->mask;
    uint32_t to = (uint32_t)(target >> d->shift) & d->mask;
    bool backward = goes_backward(d, from, to, packet);
    uint32_t class = d->classes == 1 ? 0
                     : begins        ? (to > from) != backward
                                     : ring_class(torus, d, from, to, backward, packet, base);
    *choice = (struct route_choice){
        .port = (uint16_t)(d->first_port + (backward ? torus->parallel : 0) + lane_of(torus, packet))};
    route_channel(choice, base + class * d->spread, d->spread);
    return 1;
}

static inline int order_choice(const struct torus *torus, uint64_t coordinate, uint64_t target,
                               const struct route_packet *packet, uint32_t base, struct route_choice *choice)
{
    return order_choice_from(torus, coordinate, target, packet, base, false, choice);
}

static inline __attribute__((always_inline)) int minimal_from(const struct route_topology *topology,
                                                              uint64_t coordinate,
                                                              const struct route_packet *packet, bool begins,
                                                              struct route_choice *choice)
{
    const struct torus *torus = torus_of(topology);
    uint64_t target = packet->address & torus->coordinate_mask;
    if (coordinate == target)
        return route_eject(topology, packet, (uint32_t)(packet->address >> torus->slot_shift), choice);
    return order_choice_from(torus, coordinate, target, packet, 0, begins, choice);
}

static int minimal_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                        const struct route_packet *packet, struct route_choice *choice)
{
    return minimal_from(topology, coordinate, packet, false, choice);
}

static inline __attribute__((always_inline)) int minimal_begins(const struct route_topology *topology,
                                                                uint64_t coordinate, uint32_t switch_id,
                                                                const struct route_packet *packet,
                                                                struct route_choice *choice)
{
    return minimal_from(topology, coordinate, packet, true, choice);
}

__attribute__((noinline)) static uint64_t parallel_hop(const struct route_topology *topology,
                                                       uint64_t coordinate, uint64_t address, uint64_t in,
                                                       uint64_t chance)
{
    return route_hop_by(minimal_next, topology, coordinate, address, in, chance);
}

/* Who has links to go in the dimension that it came along goes straight on (minimal_straight). */
static uint64_t minimal_hop(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                            uint64_t in, uint64_t chance)
{
    if (__builtin_expect(torus_of(topology)->parallel > 1, 0))
        return parallel_hop(topology, coordinate, address, in, chance);
    return route_hop_by(minimal_begins, topology, coordinate, address, in, chance);
}

/* A dimension that is not done is gone through in the direction that was taken where it began, in the class
 * that the packet came in. Who has just crossed is in class 0, and who is in class 1 never crosses. */
static struct route_straight minimal_straight(const struct route_topology *topology, uint32_t port)
{
    const struct torus *torus = torus_of(topology);
    for (int i = 0; i < torus->dimensions && torus->parallel == 1; i++) {
        const struct dimension *d = &torus->dimension[i];
        uint32_t back = port - d->first_port; /* 0: it goes backward, as it came in by the port forward */
        if (d->extent > 1 && back < 2)
            return (struct route_straight){(uint64_t)d->mask << d->shift,
                                           (d->first_port + 1u - back) << 16 | d->spread, d->spread};
    }
    return (struct route_straight){0};
}

/* Offers the lanes from `port` on that lead in one direction. */
static inline void lanes_offer(const struct torus *torus, struct route_choice *choices,
                               struct route_choice choice, uint32_t port, uint32_t first_lane)
{
    uint32_t lane = first_lane;
    for (uint32_t i = 0; i < torus->lanes_offered; i++) {
        choice.port = (uint16_t)(port + lane);
        choices[i] = choice;
        lane = lane + 1 == torus->parallel ? 0 : lane + 1;
    }
}

/* All links that bring the packet nearer in any dimension, and at the end dimension order on the escape
 * channels. Of a ring both directions count when they are equally long. Without branches on where the packet
 * is: every path is written, and counted only if it is one. */
static int adaptive_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                         const struct route_packet *packet, struct route_choice *restrict choices)
{
    const struct torus *torus = torus_of(topology);
    uint64_t difference = (coordinate ^ packet->address) & torus->coordinate_mask;
    if (difference == 0)
        return route_eject(topology, packet, (uint32_t)(packet->address >> torus->slot_shift), choices);
    struct route_choice choice = {0}, escape = {.flags = ROUTE_ESCAPE};
    route_channel(&choice, torus->escape_channels, topology->channels - torus->escape_channels);
    uint32_t first_lane = lane_of(torus, packet), lanes = torus->lanes_offered, parallel = torus->parallel,
             count = 0;
    for (const struct dimension *d = torus->dimension; d < torus->dimension + torus->dimensions; d++) {
        uint32_t from = (uint32_t)(coordinate >> d->shift) & d->mask,
                 to = (uint32_t)(packet->address >> d->shift) & d->mask;
        bool behind = to < from, differs = to != from;
        uint32_t twice = 2 * (to - from + (behind ? d->extent : 0));
        bool tie = differs & d->wrap & (twice == d->extent), backward = d->wrap ? twice > d->extent : behind;
        if (__builtin_expect(tie, 0))
            backward = route_pick_bit(packet, d->index, true);
        lanes_offer(torus, choices + count, choice, d->first_port + (backward ? parallel : 0), first_lane);
        bool is_first = differs & (count == 0); /* in order: where the escape goes */
        escape.port = is_first ? choices[0].port : escape.port;
        escape.channel = is_first ? (d->classes == 2) & ((to > from) != backward) : escape.channel;
        count += differs ? lanes : 0;
        if (__builtin_expect(tie, 0)) {
            lanes_offer(torus, choices + count, choice, d->first_port + (backward ? 0 : parallel),
                        first_lane);
            count += lanes;
        }
    }
    choices[count] = escape;
    return (int)count + 1;
}

/* An intermediate switch that is the source's or the destination's is none. The source's switch is recognised
 * by the port: hops wrap around on very long paths. */
static int valiant_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                        const struct route_packet *packet, struct route_choice *choice)
{
    const struct torus *torus = torus_of(topology);
    uint64_t end = packet->address & torus->coordinate_mask, target = packet->state;
    if (coordinate == end && (target == end || packet->in_port < torus->nodes_per_switch))
        return route_eject(topology, packet, (uint32_t)(packet->address >> torus->slot_shift), choice);
    if (packet->in_port < torus->nodes_per_switch)
        target = torus_place(torus, route_pick(packet, 4, topology->summary.switches));
    if (coordinate == target)
        target = end;
    int count =
        order_choice(torus, coordinate, target, packet, target == end ? torus->second_phase : 0, choice);
    choice->state = (uint32_t)target;
    return count;
}

/* Before the intermediate switch. */
static bool valiant_away(const struct route_topology *topology, uint64_t coordinate,
                         const struct route_packet *packet)
{
    const struct torus *torus = torus_of(topology);
    return packet->in_port >= torus->nodes_per_switch && packet->state != coordinate &&
           packet->state != (packet->address & torus->coordinate_mask);
}

static enum ker_status valiant_prepare(struct route_topology *topology, const struct ker_config *config,
                                       struct ker_error *error)
{
    const struct torus *torus = torus_of(topology);
    if (torus->slot_shift <= STATE_BITS)
        return KER_OK;
    return ker_config_fail(config, error, "routing.algorithm",
                           "\"valiant\" keeps a switch's coordinates in %d bits of a packet, but those of "
                           "this torus need %u; use smaller extents, or another algorithm",
                           STATE_BITS, torus->slot_shift);
}

/* ---- inner dimensions first and last (Tofu) ---- */

/* As long as an outer coordinate has to change, the inner ones have to be those that were drawn at the
 * source's switch: the state holds them. */
static int inner_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                      const struct route_packet *packet, struct route_choice *choice)
{
    const struct torus *torus = torus_of(topology);
    uint64_t end = packet->address & torus->coordinate_mask, inner = torus->inner_mask, given = packet->state;
    if (coordinate == end)
        return route_eject(topology, packet, (uint32_t)(packet->address >> torus->slot_shift), choice);
    if (packet->in_port < torus->nodes_per_switch)
        given = torus_place(torus, route_pick(packet, 4, torus->inner_switches) * torus->inner_stride) >>
                torus->inner_shift;
    uint64_t here = coordinate & inner, by = given << torus->inner_shift, target = end;
    uint32_t base = torus->second_phase;
    if ((coordinate ^ end) & ~inner) {
        target = here == by ? (end & ~inner) | here : (coordinate & ~inner) | by;
        base = 0;
    }
    int count = order_choice(torus, coordinate, target, packet, base, choice);
    choice->state = (uint32_t)given;
    return count;
}

static enum ker_status inner_prepare(struct route_topology *topology, const struct ker_config *config,
                                     struct ker_error *error)
{
    static const char key[] = "routing.inner";
    struct torus *torus = (struct torus *)topology;
    int first = torus->dimensions - (int)ker_config_int(config, key);
    if (first < 1)
        return ker_config_fail(config, error, key, "is %d, but of %d dimensions at most %d can be inner ones",
                               torus->dimensions - first, torus->dimensions, torus->dimensions - 1);
    torus->inner = first;
    torus->inner_shift = torus->dimension[first].shift;
    torus->inner_stride = torus->dimension[first].stride;
    torus->inner_switches = topology->summary.switches / torus->inner_stride;
    torus->inner_mask = torus->coordinate_mask >> torus->inner_shift << torus->inner_shift;
    if (torus->slot_shift - torus->inner_shift > STATE_BITS)
        return ker_config_fail(
            config, error, key,
            "makes %u inner places, more than a packet can remember; give fewer dimensions",
            torus->inner_switches);
    return KER_OK;
}

/* Of inner dimensions twice what dimension order takes, of the others as much. */
static uint32_t inner_channels(const struct route_topology *topology)
{
    const struct torus *torus = torus_of(topology);
    uint32_t most = 1;
    for (int i = 0; i < torus->dimensions; i++) {
        uint32_t classes = torus->dimension[i].classes * (i < torus->inner ? 1u : 2u);
        most = classes > most ? classes : most;
    }
    return most;
}

void route_torus_tune(struct route_topology *topology)
{
    struct torus *torus = (struct torus *)topology;
    bool inner = topology->algorithm->next == inner_next;
    uint32_t phases = topology->algorithm->next == valiant_next ? 2 : 1;
    uint32_t lanes = (ROUTE_MAX_CHOICES - 1) / (2 * (uint32_t)torus->dimensions + 1);
    torus->lanes_offered = torus->parallel < lanes ? torus->parallel : lanes;
    torus->escape_channels = escape_classes(torus);
    torus->second_phase = topology->channels / 2;
    for (int i = 0; i < torus->dimensions; i++)
        torus->dimension[i].spread =
            topology->channels / (inner && i >= torus->inner ? 2 : phases) / torus->dimension[i].classes;
}

static const struct ker_option inner_options[] = {
    {"routing.inner", KER_TYPE_INT, "3", "1", "7", NULL,
     "Inner_outer_inner: how many of the last dimensions are taken first and last (Tofu: a, b, c)."},
    {0},
};

const struct ker_kind *const route_torus_algorithms[] = {
    ROUTE_ALGORITHM("minimal", "dimension order", NULL, NULL, .by_switch = true, .next = minimal_next,
                    .hop = minimal_hop, .straight = minimal_straight, .channels = minimal_channels),
    ROUTE_ALGORITHM("adaptive",
                    "all shortest paths, by the state of the switch; dimension order as escape (Duato)",
                    "selects", NULL, .adaptive = true, .by_switch = true, .next = adaptive_next,
                    .channels = adaptive_channels),
    ROUTE_ALGORITHM(
        "valiant",
        "to a switch drawn for each packet, from there to the destination; dimension order both times", NULL,
        NULL, .by_switch = true, .next = valiant_next, .prepare = valiant_prepare,
        .channels = valiant_channels, .away = valiant_away),
    ROUTE_ALGORITHM(
        "inner_outer_inner",
        "dimension order, but the last dimensions (routing.inner) first, to places drawn, and at the end "
        "(Tofu)",
        NULL, KER_OPTIONS(inner_options), .by_switch = true, .next = inner_next, .prepare = inner_prepare,
        .channels = inner_channels),
    &route_paths_ugal,
    &route_paths_par,
    NULL,
};
