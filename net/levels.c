/* levels.c - the classes of service levels: what jobs[].priority and the like say, and adapters are given.
 *
 * A level is the class of its number, unless the arbitration among lanes has a map (struct net_lanes.levels).
 */
#include "net/network.h"

enum ker_status net_levels_read(struct net_levels *levels, const struct ker_config *config,
                                struct ker_error *error)
{
    *levels = (struct net_levels){0};
    for (uint8_t i = 0; i < NET_LEVELS; i++)
        levels->lane[0][i] = levels->lane[1][i] = i;
    if (!ker_config_means_key(config, "switch.lanes")) /* no switches; or a part of the tables, as in tests */
        return KER_OK;
    const struct net_lanes *lanes = ker_config_operations(config, "switch.lanes");
    return lanes->levels ? lanes->levels(levels, config, error) : KER_OK;
}

enum ker_status net_levels_class(const struct net_levels *levels, uint8_t *class,
                                 const struct ker_config *config, const char *key, struct ker_error *error)
{
    unsigned level = (unsigned)ker_config_int(config, key), lane = levels->lane[0][level],
             classes = (unsigned)ker_config_int(config, "switch.classes");
    *class = (uint8_t)lane;
    if (lane != levels->lane[1][level])
        return ker_config_fail(
            config, error, key,
            "service level %u has lane %u at switches and lane %u at adapters (switch.vl_file: "
            "qos_swe_sl2vl, qos_ca_sl2vl, qos_sl2vl): here a packet keeps its lane, so both must be the same",
            level, lane, levels->lane[1][level]);
    if (lane < classes)
        return KER_OK;
    if (!levels->mapped)
        return ker_config_fail(config, error, key,
                               "class %u of %u: classes count from 0; more of them by switch.classes", level,
                               classes);
    if (lane == NET_NO_LANE)
        return ker_config_fail(config, error, key,
                               "service level %u has no lane (switch.sl2vl, switch.vl_file)", level);
    return ker_config_fail(config, error, key,
                           "service level %u has lane %u (switch.sl2vl, switch.vl_file), and switch.classes "
                           "makes %u, from 0 on",
                           level, lane, classes);
}

enum ker_status net_class_read(uint8_t *class, const struct ker_config *config, const char *key,
                               struct ker_error *error)
{
    struct net_levels levels;
    enum ker_status status = net_levels_read(&levels, config, error);
    return status == KER_OK ? net_levels_class(&levels, class, config, key, error) : status;
}
