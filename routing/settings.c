/* settings.c - reading the topology.* keys that all topologies share.
 *
 * Most settings are lists with one value for each level or dimension; a single value stands for all.
 * route_list_check reports to the user when a list has any other length; after it the ..._each getters cannot
 * fail. The smallest and largest values allowed are in the option table and are checked when the
 * configuration is loaded.
 */
#include "routing/topology.h"

#include <string.h>

const struct ker_option route_nodes_per_switch_options[] = {
    {"topology.nodes_per_switch", KER_TYPE_INT, "1", "1", "65535", NULL,
     "Nodes on every switch; dragonfly plus: on every leaf."},
    {0},
};

const struct ker_option route_extents_options[] = {
    {"topology.extents", KER_TYPE_INT | KER_TYPE_LIST, NULL, "1", NULL, NULL,
     "Torus, hyperx: switches in each of 1 to 8 dimensions."},
    {0},
};

const struct ker_option route_spines_options[] = {
    {"topology.spines", KER_TYPE_INT, NULL, "1", "65535", NULL,
     "Dragonfly plus: spines of a group, each linked to each leaf of it. Rail fat tree: spines, each linked "
     "to each leaf."},
    {0},
};

const struct ker_option route_parallel_options[] = {
    {"topology.links", KER_TYPE_INT | KER_TYPE_LIST, "1", "1", "64", NULL,
     "Hierarchical, hyperx: links in parallel between each pair (see attach), one value for all levels or "
     "dimensions or one for each."},
    {0},
};

const struct ker_option route_link_options[] = {
    {"topology.bandwidth", KER_TYPE_RATE | KER_TYPE_LIST, NULL, "1 kB/s", NULL, NULL,
     "Bandwidth of the links per direction, one value for all or one for each dimension (torus) or level "
     "(fat tree, where level 1 is the node links; hierarchical). Fabric: of the links whose width and speed "
     "the dump does not say."},
    {"topology.latency", KER_TYPE_TIME | KER_TYPE_LIST, NULL, "1 ps", "1 s", NULL,
     "Latency of the links, one value for all or one for each dimension or level."},
    {"topology.node_bandwidth", KER_TYPE_RATE, NULL, "1 kB/s", NULL, NULL,
     "Bandwidth of the links between node and switch; by default that of the first dimension or level."},
    {"topology.node_latency", KER_TYPE_TIME, NULL, "1 ps", "1 s", NULL,
     "Latency of the links between node and switch; by default that of the first dimension or level."},
    {0},
};

enum ker_status route_key_require(const struct ker_config *config, const char *key, struct ker_error *error)
{
    if (ker_config_has(config, key))
        return KER_OK;
    return ker_config_fail(config, error, key, "is missing; a %s topology needs it",
                           ker_config_string(config, "topology.kind"));
}

enum ker_status route_list_check(const struct ker_config *config, const char *key, int wanted,
                                 const char *each, struct ker_error *error)
{
    int count = ker_config_count(config, key);
    if (count == 1 || count == wanted)
        return KER_OK;
    if (count == 0)
        return ker_config_fail(config, error, key, "is missing; give one value for all %s or a list of %d",
                               each, wanted);
    return ker_config_fail(config, error, key,
                           "has %d values, but there are %d %s; give one value for all or %d", count, wanted,
                           each, wanted);
}

enum ker_status route_extents_read(const struct ker_config *config, const char *key, uint32_t *extent,
                                   int room, int *count, struct ker_error *error)
{
    enum ker_status status = route_key_require(config, key, error);
    if (status)
        return status;
    int values = ker_config_count(config, key);
    if (values < 1 || values > room)
        return ker_config_fail(config, error, key, "has %d values; between 1 and %d are possible", values,
                               room);
    for (int i = 0; i < values; i++) {
        int64_t value = ker_config_int_at(config, key, i);
        if (value < 1 || value > INT32_MAX)
            return ker_config_fail(config, error, key, "value %d is %lld; it must be 1 to 2147483647", i + 1,
                                   (long long)value);
        extent[i] = (uint32_t)value;
    }
    *count = values;
    return KER_OK;
}

static int index_each(const struct ker_config *config, const char *key, int index)
{
    return ker_config_count(config, key) == 1 ? 0 : index;
}

bool route_bool_each(const struct ker_config *config, const char *key, int index)
{
    return ker_config_bool_at(config, key, index_each(config, key, index));
}

int64_t route_int_each(const struct ker_config *config, const char *key, int index)
{
    return ker_config_int_at(config, key, index_each(config, key, index));
}

double route_real_each(const struct ker_config *config, const char *key, int index)
{
    return ker_config_real_at(config, key, index_each(config, key, index));
}

ker_time route_time_each(const struct ker_config *config, const char *key, int index)
{
    return ker_config_time_at(config, key, index_each(config, key, index));
}

uint64_t route_rate_each(const struct ker_config *config, const char *key, int index)
{
    return ker_config_rate_at(config, key, index_each(config, key, index));
}

void route_extents_print(char *text, size_t room, const uint32_t *extent, int count)
{
    size_t at = 0;
    text[0] = 0;
    for (int i = 0; i < count && at < room; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%u", i ? "x" : "", extent[i]);
}

int route_link_add(struct route_summary *summary, const char *name, ker_time latency, uint64_t rate)
{
    ker_assert(summary->link_count < ROUTE_MAX_LINKS && latency >= 1 && rate >= 1);
    struct route_link *link = &summary->link[summary->link_count];
    snprintf(link->name, sizeof link->name, "%s", name);
    link->latency = latency;
    link->rate = rate;
    return summary->link_count++;
}

void route_endpoint_link_add(struct route_summary *summary, const struct ker_config *config, int like)
{
    ker_time latency = summary->link[like].latency;
    uint64_t rate = summary->link[like].rate;
    if (ker_config_has(config, "topology.node_latency"))
        latency = ker_config_time(config, "topology.node_latency");
    if (ker_config_has(config, "topology.node_bandwidth"))
        rate = ker_config_rate(config, "topology.node_bandwidth");
    summary->endpoint_link = route_link_add(summary, "node", latency, rate);
}
