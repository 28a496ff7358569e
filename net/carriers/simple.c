/* simple.c - network.model = "simple": a message takes latency and bytes / bandwidth, however many there are.
 *
 * s bytes asked for at t have left at t + s/B and are there at t + L + s/B: PSINS's simplest model.
 */
#include "net/carriers/messages.h"
#include "net/carriers/paths.h"

#include <stdlib.h>

static void simple_carry(void *context, const struct net_asked *m, ker_time *left, ker_time *there)
{
    const struct net_path *path = net_path_of(context, m->source, m->destination);
    *left = ker_time_later(m->now, ker_serialisation(m->bytes, path->rate));
    *there = ker_time_later(*left, path->latency);
}

static void simple_release(void *context)
{
    net_paths_release(context);
    free(context);
}

static enum ker_status simple_new(struct net_network **net, const struct ker_config *config,
                                  const struct route_topology *topology, uint64_t seed,
                                  struct net_phases phases, struct ker_error *error)
{
    struct net_paths *paths = ker_alloc(sizeof *paths);
    enum ker_status status = net_paths_read(paths, config, topology, error);
    struct net_law law = {.failed = status,
                          .latency = paths->least,
                          .rate = paths->usual.rate,
                          .carry = simple_carry,
                          .context = paths,
                          .release = simple_release};
    return net_messages_new(net, config, topology, phases, &law, error);
}

NET_MESSAGES_MODEL(simple, simple_new, "latency and bandwidth, however many messages there are",
                   net_path_options);
