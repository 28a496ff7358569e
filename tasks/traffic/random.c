/* Destinations without geometry: uniform, hotspot, permutation, incast, phases of an all-to-all.
 *
 * A draw maps 32 random bits to 0..n-2 and steps over the node itself, so that no draw is ever repeated:
 * message number k always uses block k. The bias of the mapping is below n / 2^32.
 */
#include "tasks/traffic/traffic.h"

#include <stdlib.h>
#include <string.h>

static uint32_t task_traffic_uniform(const struct task_traffic *t, uint32_t node, const struct ker_bits *bits,
                                     uint64_t number)
{
    if (t->self)
        return ker_random_below(bits->word[2], t->nodes);
    uint32_t to = ker_random_below(bits->word[2], t->nodes - 1);
    return to + (to >= node);
}

static enum ker_status random_member(const struct task_traffic *t, const struct ker_config *config,
                                     const char *key, int64_t given, uint32_t *node, struct ker_error *error)
{
    if (given < t->first || given >= (int64_t)t->first + t->nodes)
        return ker_config_fail(config, error, key,
                               "node %lld is not among the nodes of the traffic, %u to %u", (long long)given,
                               t->first, t->first + t->nodes - 1);
    *node = (uint32_t)(given - t->first);
    return KER_OK;
}

/* The others are numbered 0..m-1 from the target on; sender i of s has the number floor(i m / s). So number j
 * sends when i = ceil(j s / m) leads back to it. */
static bool random_sends(const struct task_traffic *t, uint32_t node, uint32_t target)
{
    uint64_t others = t->nodes - 1, senders = t->where.senders;
    uint64_t j = ((uint64_t)node + t->nodes - target - 1) % t->nodes;
    uint64_t i = (j * senders + others - 1) / others;
    return node != target && i < senders && i * others / senders == j;
}

/* traffic.hotspot_senders. */
static enum ker_status random_senders(struct task_traffic *t, const struct ker_config *config,
                                      struct ker_error *error)
{
    int64_t senders = ker_config_int(config, "traffic.hotspot_senders");
    uint32_t count = t->where.hot_count, *sorted;
    if (senders == 0)
        return KER_OK;
    if (senders >= t->nodes)
        return ker_config_fail(config, error, "traffic.hotspot_senders",
                               "only %u other nodes can send to a hot one", t->nodes - 1);
    t->where.senders = (uint32_t)senders;
    t->where.sorted = sorted = ker_alloc(count * sizeof *sorted);
    memcpy(sorted, t->where.hot, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, ker_order_u32);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || sorted[i] != sorted[i - 1])
            sorted[t->where.sorted_count++] = sorted[i];
    if (t->where.sorted_count + 2 > t->nodes)
        return ker_config_fail(config, error, "traffic.hotspots",
                               "with traffic.hotspot_senders two nodes or more must not be hot");
    return KER_OK;
}

static enum ker_status task_traffic_hotspot_read(struct task_traffic *t, const struct ker_config *config,
                                                 const struct route_topology *topology,
                                                 struct ker_error *error)
{
    /* The default, node 0, may lie outside the group: then the first of the group is meant. */
    bool given = ker_config_has(config, "traffic.hotspots");
    int count = given ? ker_config_count(config, "traffic.hotspots") : 1;
    if (count < 1)
        return ker_config_fail(config, error, "traffic.hotspots", "name at least one node");
    t->where.hot = ker_alloc((size_t)count * sizeof *t->where.hot);
    t->where.hot_count = (uint32_t)count;
    t->where.hot_threshold = (uint64_t)(ker_config_real(config, "traffic.hotspot_fraction") * 0x1p32);
    for (int i = 0; i < count; i++) {
        int64_t node = given ? ker_config_int_at(config, "traffic.hotspots", i) : t->first;
        enum ker_status status = random_member(t, config, "traffic.hotspots", node, &t->where.hot[i], error);
        if (status)
            return status;
    }
    return random_senders(t, config, error);
}

/* Any node but the hot ones and itself: steps over each of them. */
static uint32_t random_cold(const struct task_traffic *t, uint32_t node, const struct ker_bits *bits)
{
    const uint32_t *sorted = t->where.sorted;
    uint32_t count = t->where.sorted_count, others = t->nodes - count - 1;
    for (uint32_t i = 0; i < count; i++)
        others += sorted[i] == node; /* counted twice */
    uint32_t to = ker_random_below(bits->word[2], others);
    bool self = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!self && node <= sorted[i]) {
            self = true;
            to += to >= node;
            if (node == sorted[i])
                continue;
        }
        to += to >= sorted[i];
    }
    return to + (!self && to >= node);
}

/* A hot node that draws itself sends a uniform message instead. */
static uint32_t task_traffic_hotspot(const struct task_traffic *t, uint32_t node, const struct ker_bits *bits,
                                     uint64_t number)
{
    if (t->where.sorted && !random_sends(t, node, t->where.hot[0]))
        return random_cold(t, node, bits);
    if (bits->word[3] < t->where.hot_threshold) {
        uint32_t to = t->where.hot[ker_random_below(bits->word[2], t->where.hot_count)];
        if (to != node)
            return to;
    }
    return t->where.sorted ? random_cold(t, node, bits) : task_traffic_uniform(t, node, bits, number);
}

static enum ker_status task_traffic_permutation_read(struct task_traffic *t, const struct ker_config *config,
                                                     const struct route_topology *topology,
                                                     struct ker_error *error)
{
    if (ker_config_has(config, "traffic.permutation_file"))
        return task_traffic_file_read(t, config, error);
    task_permutation_init(&t->where.permutation, t->seed, KER_PURPOSE_TRAFFIC_WHERE, 0, t->nodes);
    return KER_OK;
}

/* What the file says, or: all nodes are on a ring in random order, and each sends to the next: one cycle,
 * hence without fixed points. */
static uint32_t task_traffic_permutation(const struct task_traffic *t, uint32_t node)
{
    if (t->where.partner)
        return t->where.partner[node];
    uint32_t place = task_permutation_find(&t->where.permutation, node) + 1;
    return task_permutation_at(&t->where.permutation, place == t->nodes ? 0 : place);
}

static enum ker_status task_traffic_incast_read(struct task_traffic *t, const struct ker_config *config,
                                                const struct route_topology *topology,
                                                struct ker_error *error)
{
    int64_t target =
        ker_config_has(config, "traffic.target") ? ker_config_int(config, "traffic.target") : t->first;
    enum ker_status status = random_member(t, config, "traffic.target", target, &t->where.target, error);
    if (status)
        return status;
    int64_t senders = ker_config_int(config, "traffic.senders");
    if (senders >= t->nodes)
        return ker_config_fail(config, error, "traffic.senders", "only %u other nodes can send to the target",
                               t->nodes - 1);
    t->where.senders = senders ? (uint32_t)senders : t->nodes - 1;
    return KER_OK;
}

static uint32_t task_traffic_incast(const struct task_traffic *t, uint32_t node)
{
    return random_sends(t, node, t->where.target) ? t->where.target : TASK_NOBODY;
}

/* Phase k = 1 .. n-1, and again from 1. */
static uint32_t task_traffic_next_phase(const struct task_traffic *t, uint32_t node,
                                        const struct ker_bits *bits, uint64_t number)
{
    uint64_t phase = 1 + number % (t->nodes - 1);
    return (uint32_t)((node + phase) % t->nodes);
}

const struct ker_option task_traffic_self_options[] = {
    {"traffic.self", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "Random destinations may be the node itself; such a message is created, counts in the load, and is done "
     "at once without entering the network."},
    {0},
};

static const struct ker_option hotspot_options[] = {
    {"traffic.hotspots", KER_TYPE_INT | KER_TYPE_LIST, "0", "0", NULL, NULL, "Nodes that are hot."},
    {"traffic.hotspot_fraction", KER_TYPE_REAL, "0.1", "0", "1", NULL,
     "Fraction of the messages that is sent to a hot node."},
    {"traffic.hotspot_senders", KER_TYPE_INT, "0", "0", NULL, NULL,
     "How many nodes send to the hot ones, evenly spread over the group; all other messages are sent to "
     "nodes that are not hot. 0: all nodes, and uniform messages may be sent to hot ones, too."},
    {0},
};

static const struct ker_option incast_options[] = {
    {"traffic.target", KER_TYPE_INT, NULL, "0", NULL, NULL,
     "Incast: the node that receives; absent: the first of the group."},
    {"traffic.senders", KER_TYPE_INT, "0", "0", NULL, NULL,
     "Incast: how many nodes send, evenly spread over the group; 0: all others."},
    {0},
};

static const struct ker_option permutation_options[] = {
    {"traffic.permutation_file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "Permutation: a file with one line per node, in order: the node it sends to, or - when it does not "
     "send. Absent: drawn."},
    {0},
};

TASK_TRAFFIC_PATTERN(uniform, "to any other node, all alike", KER_OPTIONS(task_traffic_self_options),
                     .draw = task_traffic_uniform);
TASK_TRAFFIC_PATTERN(gups, "small updates to random nodes (RandomAccess)",
                     KER_OPTIONS(task_traffic_self_options), .bytes = 8, .updates = true,
                     .draw = task_traffic_uniform);
TASK_TRAFFIC_PATTERN(hotspot, "a fraction to a few hot nodes, the rest uniform",
                     KER_OPTIONS(task_traffic_self_options, hotspot_options),
                     .read = task_traffic_hotspot_read, .draw = task_traffic_hotspot);
TASK_TRAFFIC_PATTERN(permutation, "each node to one other, drawn once, no node to itself; or as a file says",
                     KER_OPTIONS(permutation_options), .read = task_traffic_permutation_read,
                     .partner = task_traffic_permutation);

TASK_TRAFFIC_PATTERN(incast, "many nodes to one", KER_OPTIONS(incast_options),
                     .read = task_traffic_incast_read, .partner = task_traffic_incast);

const struct ker_kind task_pattern_all_to_all = {
    .name = "all_to_all",
    .meaning = "phases k = 1 .. n-1: node i to node i + k, closed loop",
    .traits = "phases",
    .operations = &(const struct task_traffic_pattern){.phases = true, .draw = task_traffic_next_phase}};
