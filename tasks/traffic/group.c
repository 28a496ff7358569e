/* Adversarial traffic: every node to a random node of another group of the topology (rack, pod, slab), a
 * fixed number of groups further on. All that a group sends takes one pair of groups: what is between the two
 * carries it all, unless routing spreads it.
 *
 * Nodes are listed by group, in order of their numbers; groups without nodes of the traffic are left out.
 */
#include "tasks/traffic/traffic.h"

#include <stdlib.h>

static uint32_t node_group(const struct task_traffic *t, const struct route_topology *topology, uint32_t node)
{
    uint32_t switch_id;
    uint16_t port;
    route_attachment(topology, (t->first + node) * route_summarise(topology)->adapters, &switch_id, &port);
    return route_group(topology, switch_id);
}

/* Numbers of the groups that have nodes, in place of their counts; returns how many there are. */
static uint32_t groups_number(uint32_t *count, uint32_t groups)
{
    uint32_t found = 0;
    for (uint32_t g = 0; g < groups; g++)
        if (count[g])
            count[g] = found++;
    return found;
}

static enum ker_status task_traffic_adversarial_read(struct task_traffic *t, const struct ker_config *config,
                                                     const struct route_topology *topology,
                                                     struct ker_error *error)
{
    static const char key[] = "traffic.shift";
    uint32_t all = route_groups(topology), *number = ker_alloc((all + 1) * sizeof *number);
    t->where.group = ker_alloc(t->nodes * sizeof *t->where.group);
    t->where.member = ker_alloc(t->nodes * sizeof *t->where.member);
    for (uint32_t node = 0; node < t->nodes; node++)
        number[node_group(t, topology, node)]++;
    t->where.groups = groups_number(number, all);
    t->where.group_first = ker_alloc((t->where.groups + 1) * sizeof *t->where.group_first);
    for (uint32_t node = 0; node < t->nodes; node++) {
        t->where.group[node] = number[node_group(t, topology, node)];
        t->where.group_first[t->where.group[node] + 1]++;
    }
    for (uint32_t g = 0; g < t->where.groups; g++)
        t->where.group_first[g + 1] += t->where.group_first[g];
    for (uint32_t node = t->nodes; node-- > 0;) /* from the back: the ends become the beginnings */
        t->where.member[--t->where.group_first[t->where.group[node] + 1]] = node;
    for (uint32_t g = 0; g < t->where.groups; g++)
        t->where.group_first[g] = t->where.group_first[g + 1];
    t->where.group_first[t->where.groups] = t->nodes;
    free(number);
    int64_t shift = ker_config_int(config, key);
    if (t->where.groups < 2)
        return ker_config_fail(config, error, "traffic.pattern",
                               "adversarial needs nodes in two groups of the %s or more; here all are in one",
                               route_summarise(topology)->topology);
    if (shift % t->where.groups == 0)
        return ker_config_fail(config, error, key, "of %lld leads back to the same of %u groups",
                               (long long)shift, t->where.groups);
    t->where.shift = (uint32_t)(shift % t->where.groups);
    return KER_OK;
}

static uint32_t task_traffic_adversarial(const struct task_traffic *t, uint32_t node,
                                         const struct ker_bits *bits, uint64_t number)
{
    uint32_t group = t->where.group[node] + t->where.shift;
    if (group >= t->where.groups)
        group -= t->where.groups;
    uint32_t first = t->where.group_first[group];
    return t->where.member[first + ker_random_below(bits->word[2], t->where.group_first[group + 1] - first)];
}

const struct ker_kind task_pattern_adversarial = {
    .name = "adversarial",
    .formerly = "next_group",
    .meaning = "to random nodes of the next group (dragonfly group, rack, pod), so that all share what joins "
               "two groups",
    .operations = &(const struct task_traffic_pattern){.read = task_traffic_adversarial_read,
                                                       .draw = task_traffic_adversarial},
    .options = KER_OPTIONS(task_traffic_shift_options)};
