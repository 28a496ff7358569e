/* dragonfly.c - the dragonfly (Kim, Dally, Scott and Abts 2008): the hierarchical topology under the names
 * that are usual for it.
 *
 * p nodes at each of the a switches of a group, which are all joined to each other, and h global links at
 * each switch. The a h global links of a group are dealt to the other groups evenly, as hierarchical.c says:
 * with a h + 1 groups, one to each. Everything but the names is that of groups = [a, groups].
 */
#include "routing/topologies/dragonfly_groups.h"

static const struct ker_option dragonfly_options[] = {
    {"topology.p", KER_TYPE_INT, NULL, "1", "65535", NULL, "Nodes at each switch."},
    {"topology.a", KER_TYPE_INT, NULL, "1", "65535", NULL, "Switches of a group, all joined to each other."},
    {"topology.local_bandwidth", KER_TYPE_RATE, NULL, "1 kB/s", NULL, NULL,
     "Bandwidth of the links within groups (with rows: of rows); absent: topology.bandwidth."},
    {"topology.local_latency", KER_TYPE_TIME, NULL, "1 ps", "1 s", NULL,
     "Latency of the links within groups (with rows: of rows); absent: topology.latency."},
    {"topology.column_bandwidth", KER_TYPE_RATE, NULL, "1 kB/s", NULL, NULL,
     "With rows: bandwidth of the links of columns; absent: topology.bandwidth.", "topology.rows!=1"},
    {"topology.column_latency", KER_TYPE_TIME, NULL, "1 ps", "1 s", NULL,
     "With rows: latency of the links of columns; absent: topology.latency.", "topology.rows!=1"},
    {"topology.global_bandwidth", KER_TYPE_RATE, NULL, "1 kB/s", NULL, NULL,
     "Bandwidth of the links between groups; absent: topology.bandwidth."},
    {"topology.global_latency", KER_TYPE_TIME, NULL, "1 ps", "1 s", NULL,
     "Latency of the links between groups; absent: topology.latency."},
    {0},
};

static const struct {
    const char *name, *latency, *bandwidth;
} classes[] = {{"local", "topology.local_latency", "topology.local_bandwidth"},
               {"column", "topology.column_latency", "topology.column_bandwidth"},
               {"global", "topology.global_latency", "topology.global_bandwidth"}};

/* Switches of a group, then groups, and the links in parallel between two of them. */
static enum ker_status levels_read(struct hierarchy *h, const struct ker_config *config,
                                   struct ker_error *error)
{
    static const char groups_key[] = "topology.groups";
    uint64_t a = (uint64_t)ker_config_int(config, "topology.a"),
             links = a * (uint64_t)ker_config_int(config, "topology.h"), groups = links + 1;
    if (ker_config_count(config, groups_key) > 1)
        return ker_config_fail(config, error, groups_key, "is one number for a dragonfly: how many groups");
    if (ker_config_has(config, groups_key))
        groups = (uint64_t)ker_config_int_at(config, groups_key, 0);
    if (groups < 2 || groups > links + 1 || links % (groups - 1) || links / (groups - 1) > MAX_PARALLEL)
        return ker_config_fail(
            config, error, groups_key,
            "of %llu does not divide the a h = %llu global links of a group evenly among the "
            "others, at least 1 and at most %d to each; %llu is possible",
            (unsigned long long)groups, (unsigned long long)links, MAX_PARALLEL,
            (unsigned long long)links + 1);
    h->levels = 2;
    h->nodes_per_switch = (uint32_t)ker_config_int(config, "topology.p");
    h->level[0] = (struct level){.groups = (uint32_t)a, .links = 1, .by_switch = true};
    h->level[1] = (struct level){.groups = (uint32_t)groups, .links = (uint32_t)(links / (groups - 1))};
    return KER_OK;
}

/* Is there a value: of its own key, or of that for all links, of `count` classes? */
static enum ker_status value_check(const struct ker_config *config, const char *own, const char *all,
                                   int count, struct ker_error *error)
{
    if (ker_config_has(config, own))
        return KER_OK;
    if (!ker_config_has(config, all))
        return ker_config_fail(config, error, own, "is missing; give it, or %s for all links", all);
    return route_list_check(
        config, all, count,
        count == 2 ? "classes of links (local, global)" : "classes of links (local, column, global)", error);
}

/* The nth of `count` classes; columns are a class of groups with rows. */
static enum ker_status class_add(struct route_summary *summary, int nth, int count,
                                 const struct ker_config *config, struct ker_error *error)
{
    static const char latency[] = "topology.latency", bandwidth[] = "topology.bandwidth";
    int i = count == 2 && nth == 1 ? 2 : nth;
    if (value_check(config, classes[i].latency, latency, count, error) ||
        value_check(config, classes[i].bandwidth, bandwidth, count, error))
        return KER_BAD_INPUT;
    route_link_add(summary, classes[i].name,
                   ker_config_has(config, classes[i].latency) ? ker_config_time(config, classes[i].latency)
                                                              : route_time_each(config, latency, nth),
                   ker_config_has(config, classes[i].bandwidth)
                       ? ker_config_rate(config, classes[i].bandwidth)
                       : route_rate_each(config, bandwidth, nth));
    return KER_OK;
}

static enum ker_status hierarchy_of_two(struct hierarchy *h, const struct ker_config *config,
                                        struct ker_error *error)
{
    struct route_summary *summary = &h->topology.summary;
    enum ker_status status = levels_read(h, config, error);
    status = status ?: hierarchy_make(h, config, error);
    if (status == KER_OK)
        snprintf(summary->text, sizeof summary->text,
                 "dragonfly p = %u, a = %u, h = %u, %u groups, %u nodes, %u switches", h->nodes_per_switch,
                 h->level[0].groups, h->level[1].share, h->level[1].groups, summary->endpoints,
                 summary->switches);
    return status;
}

static enum ker_status dragonfly_build(struct route_topology *topology, const struct ker_config *config,
                                       struct ker_error *error)
{
    static const char *const needed[] = {"topology.p", "topology.a", "topology.h"};
    struct route_summary *summary = &topology->summary;
    for (int i = 0; i < 3; i++)
        if (route_key_require(config, needed[i], error))
            return KER_BAD_INPUT;
    enum ker_status status = dragonfly_is_grouped(config)
                                 ? dragonfly_groups_build(topology, config, error)
                                 : hierarchy_of_two((struct hierarchy *)topology, config, error);
    int count = ker_config_int(config, "topology.rows") > 1 ? 3 : 2;
    for (int i = 0; i < count && status == KER_OK; i++)
        status = class_add(summary, i, count, config, error);
    if (status == KER_OK)
        route_endpoint_link_add(summary, config, 0);
    return status;
}

const struct ker_kind route_dragonfly = {
    .name = "dragonfly",
    .meaning = "groups of switches, each joined to each, by topology.p, a and h",
    .operations = &(const struct route_kind){HIERARCHY_OPERATIONS, .build = dragonfly_build},
    .options = KER_OPTIONS(dragonfly_options, dragonfly_group_options, arrangement_options,
                           hierarchy_groups_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, hierarchy_algorithms),
};
