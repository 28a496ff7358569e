/* fat_tree_routes.c - the paths through a fat tree.
 *
 * Routing is up to the nearest common ancestor, then down: free of deadlock with one channel, as no packet
 * ever turns from down to up. Deterministic routing is d-mod-k: destination d climbs through parent floor(d /
 * (w_1*..*w_l)) mod w_(l+1), so all packets for one destination meet early and the destinations are spread
 * evenly over the parents. An address holds the x digits and these parent digits, each in a field of just
 * enough bits. S-mod-k is the mirror image: the parent digits of the source, so all packets of one source
 * part late. Random draws a parent at every level, adaptive offers all of them. The path down is always the
 * only one.
 */
#include "routing/topologies/fat_tree.h"

#include "routing/paths.h"

/* Salts of draws. */
#define PARENT_FIRST_SALT 3
#define PARENT_SALT 16 /* one for each level from here on */

static bool up_from(const struct level *l, uint64_t coordinate, uint64_t address)
{
    return ((coordinate ^ address) & l->above_mask) != 0;
}

static int up_or_down(const struct fat_tree *tree, uint64_t coordinate, const struct route_packet *packet,
                      const struct level **at)
{
    *at = &tree->level[coordinate >> LEVEL_SHIFT];
    return up_from(*at, coordinate, packet->address);
}

static inline __attribute__((always_inline)) int minimal_next(const struct route_topology *topology,
                                                              uint64_t coordinate, uint32_t switch_id,
                                                              const struct route_packet *packet,
                                                              struct route_choice *choice)
{
    const struct fat_tree *tree = tree_of(topology);
    const struct level *l;
    uint32_t port;
    if (up_or_down(tree, coordinate, packet, &l))
        port = l->down + ((uint32_t)(packet->address >> l->up_shift) & l->up_mask);
    else
        port = (uint32_t)(packet->address >> l->down_shift) & l->down_mask;
    *choice = (struct route_choice){.port = (uint16_t)port};
    route_channel(choice, 0, topology->channels);
    return 1;
}

static int up_choice(const struct route_topology *topology, const struct level *l,
                     const struct route_packet *packet, struct route_choice *choice, uint32_t parent)
{
    *choice = (struct route_choice){.port = (uint16_t)(l->down + parent)};
    route_channel(choice, 0, topology->channels);
    return 1;
}

static int s_mod_k_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                        const struct route_packet *packet, struct route_choice *choice)
{
    const struct level *l;
    if (!up_or_down(tree_of(topology), coordinate, packet, &l))
        return minimal_next(topology, coordinate, switch_id, packet, choice);
    return up_choice(topology, l, packet, choice, packet->source / l->ys % l->up);
}

static int random_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                       const struct route_packet *packet, struct route_choice *choice)
{
    const struct level *l;
    if (!up_or_down(tree_of(topology), coordinate, packet, &l))
        return minimal_next(topology, coordinate, switch_id, packet, choice);
    uint32_t level = (uint32_t)(coordinate >> LEVEL_SHIFT);
    return up_choice(topology, l, packet, choice, route_pick(packet, PARENT_SALT + level, l->up));
}

static inline __attribute__((always_inline)) int adaptive_decided(const struct route_topology *topology,
                                                                  uint64_t coordinate, uint32_t switch_id,
                                                                  const struct route_packet *packet,
                                                                  struct route_choice *choice)
{
    const struct level *l;
    if (up_or_down(tree_of(topology), coordinate, packet, &l))
        return 0;
    return minimal_next(topology, coordinate, switch_id, packet, choice);
}

static uint64_t minimal_hop(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                            uint64_t in, uint64_t chance)
{
    return route_hop_by(minimal_next, topology, coordinate, address, in, chance);
}

static uint64_t adaptive_hop(const struct route_topology *topology, uint64_t coordinate, uint64_t address,
                             uint64_t in, uint64_t chance)
{
    return route_hop_by(adaptive_decided, topology, coordinate, address, in, chance);
}

static struct route_range adaptive_range(const struct route_topology *topology, uint64_t coordinate,
                                         uint64_t address, uint32_t draw)
{
    const struct level *l = &tree_of(topology)->level[coordinate >> LEVEL_SHIFT];
    if (!up_from(l, coordinate, address) || l->up > ROUTE_MAX_CHOICES)
        return (struct route_range){0};
    return (struct route_range){l->down, l->up, (uint16_t)route_picked(draw, PARENT_FIRST_SALT, l->up), 0,
                                (uint8_t)topology->channels};
}

static int adaptive_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                         const struct route_packet *packet, struct route_choice *choices)
{
    const struct fat_tree *tree = tree_of(topology);
    const struct level *l;
    if (!up_or_down(tree, coordinate, packet, &l))
        return minimal_next(topology, coordinate, switch_id, packet, choices);
    struct route_choice choice = {0};
    route_channel(&choice, 0, topology->channels);
    uint32_t up = route_pick(packet, PARENT_FIRST_SALT, l->up);
    int count = l->up < ROUTE_MAX_CHOICES ? l->up : ROUTE_MAX_CHOICES;
    for (int i = 0; i < count; i++) {
        choices[i] = choice;
        choices[i].port = (uint16_t)(l->down + up);
        up = up + 1 == l->up ? 0 : up + 1;
    }
    return count;
}

static uint32_t tree_channels(const struct route_topology *topology)
{
    return 1;
}

const struct ker_kind *const route_tree_algorithms[] = {
    ROUTE_ALGORITHM("minimal", "the same as d_mod_k", NULL, NULL, .next = minimal_next, .hop = minimal_hop,
                    .channels = tree_channels),
    ROUTE_ALGORITHM("d_mod_k", "up by the destination's number", NULL, NULL, .next = minimal_next,
                    .hop = minimal_hop, .channels = tree_channels),
    ROUTE_ALGORITHM("s_mod_k", "up by the source's number", NULL, NULL, .by_source = true,
                    .next = s_mod_k_next, .channels = tree_channels),
    ROUTE_ALGORITHM("random", "up through a parent drawn for each packet and level", NULL, NULL,
                    .by_switch = true, .next = random_next, .channels = tree_channels),
    ROUTE_ALGORITHM("adaptive", "up by the state of the switch", "selects", NULL, .adaptive = true,
                    .by_switch = true, .next = adaptive_next, .decided = adaptive_decided,
                    .hop = adaptive_hop, .range = adaptive_range, .channels = tree_channels),
    &route_paths_valiant,
    &route_paths_ugal,
    &route_paths_par,
    NULL,
};
