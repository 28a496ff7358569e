/* pmac.c - network.model = "pmac": a message's bandwidth falls with the messages that are in flight.
 *
 * s bytes asked for at t begin at t + L and are there, and have left, s x d / B later. d is the largest of
 * outstanding / buses, outstanding of the source / its out links, outstanding to the destination / its in
 * links, and 1; outstanding are the messages asked for and not yet there, this one included, counted once, in
 * the order (t, source, number). PSINS has a model of this name and prints no formula: this one is ours.
 */
#include "net/carriers/heap.h"
#include "net/carriers/messages.h"
#include "net/carriers/paths.h"

#include <stdlib.h>

struct pmac {
    struct net_paths paths;
    uint32_t buses, nodes;
    uint8_t *out, *in;           /* links of each node */
    struct net_heap outstanding; /* when each is there, its source and destination */
    uint32_t *from, *to;         /* of each node: how many of these */
};

static void outstanding_put(struct pmac *p, struct net_timed message)
{
    net_heap_put(&p->outstanding, message);
    p->from[message.what]++;
    p->to[message.whom]++;
}

static void outstanding_take(struct pmac *p)
{
    struct net_timed first = net_heap_take(&p->outstanding);
    p->from[first.what]--;
    p->to[first.whom]--;
}

/* num / den, if a / b is not more. */
static void largest(uint64_t *num, uint64_t *den, uint64_t a, uint64_t b)
{
    if (b && a * *den > *num * b) {
        *num = a;
        *den = b;
    }
}

static void pmac_decide(void *context, const struct net_asked *m, ker_time *left, ker_time *there)
{
    struct pmac *p = context;
    const struct net_path *path = net_path_of(&p->paths, m->source, m->destination);
    uint64_t num = 1, den = 1;
    while (p->outstanding.count && p->outstanding.at[0].when <= m->now)
        outstanding_take(p);
    largest(&num, &den, p->outstanding.count + 1u, p->buses);
    largest(&num, &den, p->from[m->source] + 1u, p->out[m->source]);
    largest(&num, &den, p->to[m->destination] + 1u, p->in[m->destination]);
    unsigned __int128 twice = (unsigned __int128)m->bytes * num * 2 * 1000000000000u, by = path->rate * den;
    *left = *there =
        ker_time_later(ker_time_later(m->now, path->latency), (ker_time)((twice + by) / (by * 2)));
    outstanding_put(p, (struct net_timed){*there, m->source, m->destination});
}

static void pmac_state(void *context, uint32_t node, struct ker_chunk *c)
{
    struct pmac *p = context;
    if (node != KER_NONE)
        return;
    uint32_t count = ker_chunk_count(c, p->outstanding.count, sizeof(ker_time));
    for (uint32_t i = 0; i < count; i++) {
        struct net_timed message = {0};
        if (!c->loads)
            message = p->outstanding.at[i];
        KER_CHUNK(c, message.when, message.what, message.whom);
        c->bad |= message.what >= p->nodes || message.whom >= p->nodes;
        if (c->loads && !c->bad)
            outstanding_put(p, message);
    }
}

static void pmac_release(void *context)
{
    struct pmac *p = context;
    net_paths_release(&p->paths);
    free(p->out);
    free(p->in);
    free(p->outstanding.at);
    free(p->from);
    free(p->to);
    free(p);
}

static enum ker_status pmac_new(struct net_network **net, const struct ker_config *config,
                                const struct route_topology *topology, uint64_t seed,
                                struct net_phases phases, struct ker_error *error)
{
    struct pmac *p = ker_alloc(sizeof *p);
    enum ker_status status = net_paths_read(&p->paths, config, topology, error);
    status = status ?: net_buses_check(config, error);
    p->nodes = route_hosts(route_summarise(topology));
    p->buses = status ? 1 : (uint32_t)ker_config_int(config, "network.buses");
    net_node_links_read(&p->out, &p->in, config, p->nodes, &phases);
    p->from = ker_alloc(p->nodes * sizeof *p->from);
    p->to = ker_alloc(p->nodes * sizeof *p->to);
    struct net_law law = {.failed = status,
                          .latency = p->paths.least,
                          .rate = p->paths.usual.rate,
                          .decide = pmac_decide,
                          .state = pmac_state,
                          .context = p,
                          .release = pmac_release};
    return net_messages_new(net, config, topology, phases, &law, error);
}

NET_MESSAGES_MODEL(pmac, pmac_new, "latency, and a bandwidth that all messages share that are in flight",
                   net_path_options, net_bus_options, net_node_link_options);
