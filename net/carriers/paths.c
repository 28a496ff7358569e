/* paths.c - latency and bandwidth of messages by how far their nodes are apart; links of nodes. */
#include "net/carriers/paths.h"

#include <stdlib.h>
#include <string.h>

const struct ker_option net_path_options[] = {
    {"network.latency", KER_TYPE_TIME, "1 us", "1 ps", "1000 s", NULL,
     "Time of an empty message from node to node."},
    {"network.bandwidth", KER_TYPE_RATE, "10 GB/s", "1 kB/s", NULL, NULL, "Bandwidth of a message."},
    {"network.nodes", KER_TYPE_INT, NULL, "1", "2147483647", NULL,
     "In the place of a topology: how many nodes there are. Beside one it is a check: any other number is "
     "refused."},
    {"network.classes[].within", KER_TYPE_CHOICE, NULL, NULL, NULL, "board|rack",
     "Messages between nodes of the same board or rack have latency and bandwidth of this group; the smaller "
     "one that has both counts. Inside a node there is node.memory_latency."},
    {"network.classes[].nodes", KER_TYPE_INT, NULL, "1", "2147483647", NULL,
     "How many nodes a board or rack holds: nodes are in blocks of this many. Absent: as the topology has "
     "them, boards and racks of a hierarchical one, switches and natural groups (pods, slabs) of others."},
    {"network.classes[].latency", KER_TYPE_TIME, NULL, "1 ps", "1000 s", NULL,
     "As network.latency, which it is when absent."},
    {"network.classes[].bandwidth", KER_TYPE_RATE, NULL, "1 kB/s", NULL, NULL,
     "As network.bandwidth, which it is when absent."},
    {0},
};

const struct ker_option net_node_link_options[] = {
    {"network.out_links", KER_TYPE_INT, "1", "0", "64", NULL,
     "Links out of a node, each with network.bandwidth, of which a message holds one (links), or messages of "
     "a source that have all of the bandwidth (pmac). 0: any number."},
    {"network.in_links", KER_TYPE_INT, "1", "0", "64", NULL,
     "The same for links into a node, and messages to one destination. 0: any number."},
    {"nodes[].out_links", KER_TYPE_INT, NULL, "0", "64", NULL,
     "Of nodes of this kind; absent: network.out_links."},
    {"nodes[].in_links", KER_TYPE_INT, NULL, "0", "64", NULL,
     "Of nodes of this kind; absent: network.in_links."},
    {0},
};

#define KEY(number, word) KER_KEY("network.classes[%u].%s", number, word)

static enum ker_status class_read(struct net_paths *p, uint32_t number, const struct ker_config *config,
                                  const struct route_topology *topology, struct ker_error *error)
{
    struct net_path_class *c = &p->class[number];
    const struct net_path_class *smaller = number ? c - 1 : NULL;
    const char *within = KEY(number, "within"), *nodes = KEY(number, "nodes");
    if (!ker_config_has(config, within))
        return ker_config_fail(config, error, within, "is missing: board or rack");
    bool board = ker_config_is(config, within, "board");
    if (number && (board || ker_config_is(config, KEY(number - 1, "within"), "rack")))
        return ker_config_fail(config, error, within,
                               "is behind one that is not smaller; board, rack is the order");
    c->path = p->usual;
    if (ker_config_has(config, KEY(number, "latency")))
        c->path.latency = ker_config_time(config, KEY(number, "latency"));
    if (ker_config_has(config, KEY(number, "bandwidth")))
        c->path.rate = ker_config_rate(config, KEY(number, "bandwidth"));
    p->least = ker_time_min(p->least, c->path.latency);
    if (!ker_config_has(config, nodes)) {
        c->group = route_groups_of_nodes(topology, board);
        return KER_OK;
    }
    c->size = (uint32_t)ker_config_int(config, nodes);
    if (smaller && smaller->size && (c->size % smaller->size || c->size == smaller->size))
        return ker_config_fail(config, error, nodes, "is no multiple of %u, which the one before holds",
                               smaller->size);
    return KER_OK;
}

enum ker_status net_paths_read(struct net_paths *p, const struct ker_config *config,
                               const struct route_topology *topology, struct ker_error *error)
{
    uint32_t count = (uint32_t)ker_config_count(config, "network.classes");
    enum ker_status status = KER_OK;
    *p = (struct net_paths){
        .usual = {ker_config_time(config, "network.latency"), ker_config_rate(config, "network.bandwidth")}};
    p->least = p->usual.latency;
    p->class = ker_alloc((count + 1u) * sizeof *p->class);
    while (!status && p->classes < count)
        status = class_read(p, p->classes++, config, topology, error);
    return status;
}

void net_paths_release(struct net_paths *p)
{
    for (uint32_t i = 0; i < p->classes; i++)
        free(p->class[i].group);
    free(p->class);
}

const struct net_path *net_paths_class(const struct net_paths *p, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < p->classes; i++) {
        const struct net_path_class *c = &p->class[i];
        if (c->group ? c->group[a] == c->group[b] : a / c->size == b / c->size)
            return &c->path;
    }
    return &p->usual;
}

/* Of the kind that the node is of, or of all. */
static uint8_t links_of(const struct ker_config *config, const char *group, const char *word)
{
    const char *key = KER_KEY("%s.%s", group, word);
    bool own = strncmp(group, "nodes[", 6) == 0 && ker_config_has(config, key);
    return (uint8_t)ker_config_int(config, own ? key : KER_KEY("network.%s", word));
}

void net_node_links_read(uint8_t **out, uint8_t **in, const struct ker_config *config, uint32_t nodes,
                         const struct net_phases *phases)
{
    const char *before = NULL;
    *out = ker_alloc(nodes + 1u);
    *in = ker_alloc(nodes + 1u);
    for (uint32_t node = 0; node < nodes; node++) {
        const char *group = phases->keys_of ? phases->keys_of(phases->kinds, node) : "network";
        bool same = node && group == before;
        (*out)[node] = same ? (*out)[node - 1] : links_of(config, group, "out_links");
        (*in)[node] = same ? (*in)[node - 1] : links_of(config, group, "in_links");
        before = group;
    }
}
