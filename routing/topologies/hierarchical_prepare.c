/* hierarchical_prepare.c - what the routes over third groups are asked to be: the settings of valiant,
 * indirect, ugal, par and ugal_piggyback.
 *
 * All that the next hop needs is divided up here, once: how the state is laid out, which legs there are, how
 * paths are weighed, which racks may be used.
 */
#include "routing/paths.h"
#include "routing/topologies/hierarchical.h"

#include <stdlib.h>
#include <string.h>

/* How the state is divided, and whether it is large enough. */
static enum ker_status divide_state(struct hierarchy *h, const struct ker_config *config,
                                    struct ker_error *error)
{
    h->lane_bits = (uint8_t)(h->top->by_switch ? 0 : route_bits(h->top->links));
    h->via_bits = (uint8_t)(hierarchy_via_is_group(h) ? route_bits(h->top->groups) : h->slot_shift);
    if (2 + h->lane_bits + h->via_bits > 24)
        return ker_config_fail(
            config, error, "routing.algorithm",
            "\"%s\" keeps the intermediate %s in the packet, which takes %d bits here; there are 22%s",
            ker_config_string(config, "routing.algorithm"),
            hierarchy_via_is_group(h) ? "group and link" : "switch and link", h->lane_bits + h->via_bits,
            hierarchy_via_is_group(h) ? "" : "; routing.valiant = \"group\" takes fewer");
    return KER_OK;
}

static enum ker_status detours_prepare(struct hierarchy *h, enum via via, bool progressive,
                                       const struct ker_config *config, struct ker_error *error)
{
    if (h->top->groups < 3)
        return ker_config_fail(
            config, error, "routing.algorithm",
            "\"%s\" needs a third group, but topology.groups has only %u at its highest level",
            ker_config_string(config, "routing.algorithm"), h->top->groups);
    if (h->top->by_switch && via == VIA_GROUP)
        via = VIA_SWITCH; /* every switch of the group is a first one that can be reached */
    hierarchy_legs_set(h, via, progressive && !h->top->by_switch);
    return divide_state(h, config, error);
}

static enum via via_asked(const struct ker_config *config)
{
    static const struct ker_word words[] = {
        {"group", VIA_GROUP}, {"switch", VIA_SWITCH}, {"any", VIA_ANY}, {NULL, 0}};
    return (enum via)ker_config_number(config, "routing.valiant", words);
}

enum ker_status hierarchy_valiant_prepare(struct route_topology *topology, const struct ker_config *config,
                                          struct ker_error *error)
{
    return detours_prepare((struct hierarchy *)topology, via_asked(config), false, config, error);
}

static enum ker_status racks_read(struct hierarchy *h, const struct ker_config *config,
                                  struct ker_error *error)
{
    static const char key[] = "routing.via";
    if (!ker_config_has(config, key))
        return KER_OK;
    h->racks = (uint32_t)ker_config_count(config, key);
    h->rack = ker_alloc(h->racks * sizeof *h->rack);
    for (uint32_t i = 0; i < h->racks; i++) {
        int64_t rack = ker_config_int_at(config, key, (int)i);
        if (rack >= h->top->groups)
            return ker_config_fail(config, error, key, "names rack %lld; they are 0 to %u", (long long)rack,
                                   h->top->groups - 1);
        h->rack[i] = (uint32_t)rack;
    }
    qsort(h->rack, h->racks, sizeof *h->rack, ker_order_u32);
    for (uint32_t i = 1; i < h->racks; i++)
        if (h->rack[i] == h->rack[i - 1])
            return ker_config_fail(config, error, key, "names rack %u twice", h->rack[i]);
    return KER_OK;
}

enum ker_status hierarchy_indirect_prepare(struct route_topology *topology, const struct ker_config *config,
                                           struct ker_error *error)
{
    struct hierarchy *h = (struct hierarchy *)topology;
    enum ker_status status =
        detours_prepare(h, via_asked(config) == VIA_GROUP ? VIA_GROUP : VIA_SWITCH, false, config, error);
    status = status ?: racks_read(h, config, error);
    if (status != KER_OK)
        return status;
    h->detours = (uint32_t)ker_config_int(config, "routing.detours");
    uint32_t most = h->racks ? h->racks : h->top->groups - 2;
    if (h->detours > most)
        return ker_config_fail(
            config, error, "routing.detours", "is %u, but %s only %u", h->detours,
            h->racks ? "routing.via names" : "the groups beside source and destination are", most);
    route_weights_ask(config, false, &h->weighted, &h->doubled);
    topology->summary.adaptive = ker_config_is(config, "routing.indirect", "adaptive");
    return KER_OK;
}

static enum ker_status ugal_prepare(struct hierarchy *h, bool progressive, const struct ker_config *config,
                                    struct ker_error *error)
{
    route_bias_propose(&h->topology.summary);
    h->candidates = (uint32_t)ker_config_int(config, "routing.candidates");
    route_weights_ask(config, true, &h->weighted, &h->doubled);
    enum ker_status status = detours_prepare(h, via_asked(config), progressive, config, error);
    h->open[PHASE_UNDECIDED] = h->switch_mask;
    h->open[PHASE_START] = h->switch_mask >> h->top->shift << h->top->shift;
    h->common = h->steps && h->top->links == 1 && h->via != VIA_ANY;
    return status;
}

enum ker_status hierarchy_ugal_prepare(struct route_topology *topology, const struct ker_config *config,
                                       struct ker_error *error)
{
    return ugal_prepare((struct hierarchy *)topology, false, config, error);
}

enum ker_status hierarchy_par_prepare(struct route_topology *topology, const struct ker_config *config,
                                      struct ker_error *error)
{
    return ugal_prepare((struct hierarchy *)topology, true, config, error);
}

enum ker_status hierarchy_piggyback_prepare(struct route_topology *topology, const struct ker_config *config,
                                            struct ker_error *error)
{
    struct hierarchy *h = (struct hierarchy *)topology;
    if (h->top->by_switch)
        return ker_config_fail(
            config, error, "routing.algorithm",
            "\"ugal_piggyback\" is for groups joined by links that their switches "
            "share; here every switch has links of its own to all other groups: \"ugal\" knows them all");
    h->watches = true;
    return ugal_prepare(h, false, config, error);
}
