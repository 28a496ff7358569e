/* simple.c - network.model = "simple": a message takes latency and bytes / bandwidth, however many there are.
 *
 * s bytes asked for at t have left at t + s/B and are there at t + L + s/B: PSINS's simplest model.
 */
#include "net/carriers/messages.h"

struct simple {
    ker_time latency;
    uint64_t rate;
};

const struct ker_option net_message_options[] = {
    {"network.latency", KER_TYPE_TIME, "1 us", "1 ps", "1000 s", NULL,
     "Time of an empty message from node to node."},
    {"network.bandwidth", KER_TYPE_RATE, "10 GB/s", "1 kB/s", NULL, NULL, "Bandwidth of a message."},
    {0},
};

static void simple_carry(void *context, const struct net_asked *m, ker_time *left, ker_time *there)
{
    const struct simple *s = context;
    *left = ker_time_later(m->now, ker_serialisation(m->bytes, s->rate));
    *there = ker_time_later(*left, s->latency);
}

static enum ker_status simple_new(struct net_network **net, const struct ker_config *config,
                                  const struct route_topology *topology, uint64_t seed,
                                  struct net_phases phases, struct ker_error *error)
{
    struct simple *s = ker_alloc(sizeof *s);
    *s = (struct simple){ker_config_time(config, "network.latency"),
                         ker_config_rate(config, "network.bandwidth")};
    struct net_law law = {.latency = s->latency, .carry = simple_carry, .context = s};
    return net_messages_new(net, config, topology, phases, &law, error);
}

static const struct net_carrier simple = {NET_MESSAGES_CARRIER, .new = simple_new};

const struct ker_kind net_simple_model = {
    .name = "simple",
    .meaning = "latency and bandwidth, however many messages there are",
    .traits = "nodes",
    .operations = &simple,
    .options = KER_OPTIONS(net_message_options),
};
