/* bus.c - network.model = "bus": messages wait for one of n buses that all nodes share.
 *
 * s bytes asked for at t take the bus that is free first, from max(t + L, free) on, for s/B; then they have
 * left and are there. In the order (t, source, number), which the coordinator has: PSINS's model of buses.
 */
#include "net/carriers/heap.h"
#include "net/carriers/messages.h"
#include "net/carriers/paths.h"

#include <stdlib.h>

struct bus {
    struct net_paths paths;
    struct net_heap free; /* of each bus: when it is */
    struct net_phases phases;
    struct net_used used;
};

const struct ker_option net_bus_options[] = {
    {"network.buses", KER_TYPE_INT, NULL, "1", "1000000000", NULL,
     "Buses that all nodes share: as many messages move at a time (bus), or have all of the bandwidth "
     "(pmac)."},
    {0},
};

static void bus_decide(void *context, const struct net_asked *m, ker_time *left, ker_time *there)
{
    struct bus *b = context;
    const struct net_path *path = net_path_of(&b->paths, m->source, m->destination);
    ker_time from = ker_time_later(m->now, path->latency), begin = from,
             length = ker_serialisation(m->bytes, path->rate);
    if (b->free.at[0].when > begin)
        begin = b->free.at[0].when;
    *left = *there = ker_time_later(begin, length);
    net_used_add(&b->used, &b->phases, from, begin, length, m->bytes);
    KER_HEAP_SINK(b->free.at, b->free.count, 0, ((struct net_timed){*there}), NET_EARLIER);
}

static void bus_state(void *context, uint32_t node, struct ker_chunk *c)
{
    struct bus *b = context;
    for (uint32_t i = 0; node == KER_NONE && i < b->free.count; i++)
        KER_CHUNK(c, b->free.at[i].when);
    if (node == KER_NONE)
        net_used_state(c, &b->used);
}

static void bus_used(void *context, uint32_t node, struct stats_table *table)
{
    const struct bus *b = context;
    if (node == KER_NONE)
        net_used_row(table, NET_USED_BUSES, node, b->free.count, &b->used);
}

static void bus_release(void *context)
{
    struct bus *b = context;
    net_paths_release(&b->paths);
    free(b->free.at);
    free(b);
}

enum ker_status net_buses_check(const struct ker_config *config, struct ker_error *error)
{
    if (ker_config_has(config, "network.buses"))
        return KER_OK;
    return ker_config_fail(config, error, "network.buses", "is missing: how many messages move at a time");
}

static enum ker_status bus_new(struct net_network **net, const struct ker_config *config,
                               const struct route_topology *topology, uint64_t seed, struct net_phases phases,
                               struct ker_error *error)
{
    struct bus *b = ker_alloc(sizeof *b);
    enum ker_status status = net_paths_read(&b->paths, config, topology, error);
    status = status ?: net_buses_check(config, error);
    b->phases = phases;
    b->free.count = status ? 1 : (uint32_t)ker_config_int(config, "network.buses");
    b->free.at = ker_alloc(b->free.count * sizeof *b->free.at);
    struct net_law law = {.failed = status,
                          .latency = b->paths.least,
                          .rate = b->paths.usual.rate,
                          .decide = bus_decide,
                          .state = bus_state,
                          .used = bus_used,
                          .context = b,
                          .release = bus_release};
    return net_messages_new(net, config, topology, phases, &law, error);
}

NET_MESSAGES_MODEL(bus, bus_new,
                   "latency and bandwidth, and messages wait for one of the buses that all nodes share",
                   net_path_options, net_bus_options);
