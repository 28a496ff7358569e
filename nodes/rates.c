/* rates.c - the keys of how fast the parts of a node are, of node and of the members of nodes. */
#include "nodes/rates.h"
#include "nodes/structure.h"

#define SEVERAL_SOCKETS "jobs or services & node.sockets!=1 or node.hwloc or nodes & network.model=@nodes"
#define CALLS "jobs & network.model=@nodes"

/* Of node, with defaults and what they belong to; of nodes[], without, where node has the key. */
#define RATE_KEYS(GROUP, DEFAULT, BELONGS)                                                                   \
    {.key = GROUP ".lane_bandwidth",                                                                         \
     .type = KER_TYPE_RATE,                                                                                  \
     .minimum = "1 kB/s",                                                                                    \
     .meaning =                                                                                              \
         "Bandwidth of a lane of a bus (PCIe), in each direction, for payload. With it adapters read what "  \
         "they send from memory, and write what comes into it, over their bus and through memory "           \
         "controllers, which all that goes there shares. Absent: that takes bandwidth of nothing.",          \
     .belongs = BELONGS("network.model=@dma", "node.lane_bandwidth")},                                       \
        {.key = GROUP ".bus_lanes",                                                                          \
         .type = KER_TYPE_INT,                                                                               \
         .fallback = DEFAULT("16"),                                                                          \
         .minimum = "1",                                                                                     \
         .maximum = "1024",                                                                                  \
         .meaning = "Lanes of each bus, which all adapters on it share.",                                    \
         .belongs = "node.lane_bandwidth"},                                                                  \
        {.key = GROUP ".controller_bandwidth",                                                               \
         .type = KER_TYPE_RATE,                                                                              \
         .minimum = "1 kB/s",                                                                                \
         .meaning = "Bandwidth of the memory controller of a domain, which all that computes there shares "  \
                    "(jobs[].memory_bandwidth). Absent: nothing in a node slows anything else down.",        \
         .belongs = BELONGS(CALLS, "node.controller_bandwidth")},                                            \
        {.key = GROUP ".core_bandwidth",                                                                     \
         .type = KER_TYPE_RATE,                                                                              \
         .minimum = "1 kB/s",                                                                                \
         .meaning = "What one core draws from memory at most. Absent: what its computations need.",          \
         .belongs = BELONGS(CALLS, "node.core_bandwidth")},                                                  \
        {.key = GROUP ".socket_bandwidth",                                                                   \
         .type = KER_TYPE_RATE,                                                                              \
         .minimum = "1 kB/s",                                                                                \
         .meaning =                                                                                          \
             "Bandwidth of the link between a socket and the others, in each direction, which all copies "   \
             "between them share. Absent: as much as they draw.",                                            \
         .belongs = BELONGS(SEVERAL_SOCKETS, "node.socket_bandwidth")},                                      \
        {.key = GROUP ".system_factor",                                                                      \
         .type = KER_TYPE_REAL,                                                                              \
         .minimum = "0",                                                                                     \
         .meaning = "Calls of a trace that the operating system serves (files) take this many times as "     \
                    "long as on the traced machine, and are no computation. Absent: 1 with "                 \
                    "node.system_latency, otherwise they are computation.",                                  \
         .belongs = BELONGS(CALLS, "node.system_factor or node.system_latency")},                            \
    {                                                                                                        \
        .key = GROUP ".system_latency", .type = KER_TYPE_TIME, .maximum = "1 s",                             \
        .meaning = "How much longer each of these calls takes, whatever it took there. Absent: 0 ns with "   \
                   "node.system_factor.",                                                                    \
        .belongs = BELONGS(CALLS, "node.system_factor or node.system_latency")                               \
    }
#define OF_NODE(node, nodes) node
#define OF_NODES(node, nodes) nodes

const struct ker_option node_rate_options[] = {
    RATE_KEYS("node", NODE_KEY_GIVEN, OF_NODE),
    RATE_KEYS("nodes[]", NODE_KEY_ABSENT, OF_NODES),
    {0},
};

enum ker_status node_rates_read(struct node_rates *r, const struct ker_config *config, const char *group,
                                struct ker_error *error)
{
    struct {
        const char *word;
        uint64_t *rate;
    } rates[] = {{"controller_bandwidth", &r->controller},
                 {"core_bandwidth", &r->core},
                 {"socket_bandwidth", &r->socket},
                 {"lane_bandwidth", &r->bus}};
    char path[NODE_KEY_PATH];
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        *rates[i].rate = UINT64_MAX;
        if (!ker_config_has(config, node_kind_key(path, config, group, rates[i].word)))
            continue;
        *rates[i].rate = ker_config_rate(config, path);
        if (*rates[i].rate == 0)
            return ker_config_fail(config, error, path, "must be greater than 0");
    }
    uint64_t lanes = (uint64_t)ker_config_int(config, node_kind_key(path, config, group, "bus_lanes"));
    if (r->bus != UINT64_MAX)
        r->bus = r->bus < (UINT64_MAX - 1) / lanes ? r->bus * lanes : UINT64_MAX - 1;
    bool factor = ker_config_has(config, node_kind_key(path, config, group, "system_factor"));
    r->system_factor = factor ? ker_config_real(config, path) : 1;
    bool latency = ker_config_has(config, node_kind_key(path, config, group, "system_latency"));
    r->system_latency = latency ? ker_config_time(config, path) : 0;
    r->system = factor || latency;
    return KER_OK;
}

bool node_rates_ask(const struct node_rates *r)
{
    return r->system || r->controller != UINT64_MAX || r->core != UINT64_MAX || r->socket != UINT64_MAX ||
           r->bus != UINT64_MAX;
}
