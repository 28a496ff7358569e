/* turns.c - among lanes: by weights (switch.weights), each lane sends so many packets in its turn, as long as
 * it has any that can go. */
#include "net/switch/private.h"

#include <stdlib.h>

struct turns {
    uint32_t weight[NET_MAX_CHANNELS];
};

struct turn {
    uint32_t lane, left; /* whose turn it is, and for how many packets more */
};

static const struct ker_option options[] = {
    {"switch.weights", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", "1000", NULL, "Turns: packets of each lane."},
    {0}};

static enum ker_status turns_read(void **shared, const struct ker_config *config,
                                  const struct route_topology *topology, uint32_t channels,
                                  struct ker_error *error)
{
    struct turns *t = *shared = ker_alloc(sizeof *t);
    for (uint32_t c = 0; c < channels; c++)
        t->weight[c] = (int)c < ker_config_count(config, "switch.weights")
                           ? (uint32_t)ker_config_int_at(config, "switch.weights", (int)c)
                           : 1;
    return KER_OK;
}

static unsigned turns_choose(const void *shared, void *state, uint32_t ready)
{
    const struct turns *t = shared;
    struct turn *turn = state;
    while (!turn->left || !(ready >> turn->lane & 1)) {
        turn->lane = (turn->lane + 1) % NET_MAX_CHANNELS;
        turn->left = t->weight[turn->lane];
    }
    return turn->lane;
}

static void turns_sent(const void *shared, void *state, unsigned channel, uint32_t bytes)
{
    const struct turns *t = shared;
    struct turn *turn = state;
    if (turn->lane != channel || !turn->left) /* it was alone, out of turn */
        *turn = (struct turn){channel, t->weight[channel]};
    turn->left--;
}

const struct ker_kind net_lanes_turns = {.name = "turns",
                                         .meaning = "each lane in turn, by weights",
                                         .operations = &(const struct net_lanes){.bytes = sizeof(struct turn),
                                                                                 .read = turns_read,
                                                                                 .choose = turns_choose,
                                                                                 .sent = turns_sent},
                                         .options = KER_OPTIONS(options)};
