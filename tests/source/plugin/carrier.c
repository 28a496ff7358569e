/* carrier.c - a model of the network as somebody outside the repository would write it: what carries messages
 * between nodes, by the distance in the topology. s bytes asked for at t have left at t + s/B and are there
 * at t + D x L + s/B, when it is D links to the receiver.
 */
#include <marssim/plugin.h>

struct by_distance {
    const struct route_topology *topology;
    ker_time latency;
    uint64_t rate;
};

static const struct ker_option options[] = {
    {"network.link_latency", KER_TYPE_TIME, "100 ns", "1 ps", "1 s", NULL, "By distance: latency of a link."},
    {"network.rate", KER_TYPE_RATE, "10 GB/s", "1 kB/s", NULL, NULL, "By distance: of a message."},
    {0}};

static void carry(void *context, const struct net_asked *m, ker_time *left, ker_time *there)
{
    const struct by_distance *d = context;
    *left = m->now + ker_serialisation(m->bytes, d->rate);
    *there = *left + d->latency * route_distance(d->topology, m->source, m->destination);
}

static enum ker_status new (struct net_network **net, const struct ker_config *config,
                            const struct route_topology *topology, uint64_t seed, struct net_phases phases,
                            struct ker_error *error) {
    struct by_distance *d = ker_alloc(sizeof *d);
    *d = (struct by_distance){topology, ker_config_time(config, "network.link_latency"),
                              ker_config_rate(config, "network.rate")};
    /* No two nodes are nearer than two links. */
    struct net_law law = {.latency = 2 * d->latency, .carry = carry, .context = d};
    return net_messages_new(net, config, topology, phases, &law, error);
}

static const struct net_carrier by_distance = {NET_MESSAGES_CARRIER, .new = new};
static const struct ker_kind kind = {.name = "by_distance",
                                     .meaning = "latency by the distance between nodes",
                                     .traits = "nodes",
                                     .operations = &by_distance,
                                     .options = KER_OPTIONS(options)};
static const struct ker_kind *const models[] = {&kind, NULL};
MARSSIM_PLUGIN(MARSSIM_BRINGS("network.model", struct net_carrier, models));
