/* links.c - network.model = "links": messages wait for a link out of their node and for one into the other.
 *
 * s bytes asked for at t hold the out link that is free first from a = max(t, free) for s/B, and the in link
 * that is free first from max(a + L, free) for s/B; they have left at a + s/B and are there when the in link
 * is free again. First come, first served: PSINS's model of links. 0 links: any number.
 */
#include "net/carriers/messages.h"

#include <stdlib.h>

struct links {
    ker_time latency;
    uint64_t rate;
    uint32_t out, in; /* of a node */
    ker_time *free;   /* of each node: when its out links, then its in links are free */
    struct net_phases phases;
    struct net_used *used; /* of each node: out, in */
};

const struct ker_option net_node_link_options[] = {
    {"network.out_links", KER_TYPE_INT, "1", "0", "64", NULL,
     "Links out of a node, each with network.bandwidth, of which a message holds one (links), or messages of "
     "a source that have all of the bandwidth (pmac). 0: any number."},
    {"network.in_links", KER_TYPE_INT, "1", "0", "64", NULL,
     "The same for links into a node, and messages to one destination. 0: any number."},
    {0},
};

/* Takes the one that is free first, from `from` on, for so long; returns when it begins. */
static ker_time link_hold(ker_time *free, uint32_t count, ker_time from, ker_time length)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        if (free[i] < free[first])
            first = i;
    if (count && free[first] > from)
        from = free[first];
    if (count)
        free[first] = ker_time_later(from, length);
    return from;
}

static ker_time *links_of(const struct links *l, uint32_t node)
{
    return l->free + (size_t)node * (l->out + l->in);
}

static void links_carry(void *context, const struct net_asked *m, ker_time *left, ker_time *there)
{
    const struct links *l = context;
    ker_time length = ker_serialisation(m->bytes, l->rate);
    ker_time begin = link_hold(links_of(l, m->source), l->out, m->now, length);
    net_used_add(&l->used[2 * (size_t)m->source], &l->phases, m->now, begin, length, m->bytes);
    *left = ker_time_later(begin, length);
    *there = ker_time_later(l->in ? begin : *left, l->latency);
}

static ker_time links_receive(void *context, const struct net_asked *m)
{
    const struct links *l = context;
    ker_time length = ker_serialisation(m->bytes, l->rate);
    ker_time begin = link_hold(links_of(l, m->destination) + l->out, l->in, m->now, length);
    net_used_add(&l->used[2 * (size_t)m->destination + 1], &l->phases, m->now, begin, length, m->bytes);
    return ker_time_later(begin, length);
}

static void links_state(void *context, uint32_t node, struct ker_chunk *c)
{
    const struct links *l = context;
    if (node == KER_NONE)
        return;
    ker_chunk_bytes(c, links_of(l, node), (l->out + l->in) * sizeof *l->free);
    net_used_state(c, &l->used[2 * (size_t)node]);
    net_used_state(c, &l->used[2 * (size_t)node + 1]);
}

static void links_used(void *context, uint32_t node, struct stats_table *table)
{
    const struct links *l = context;
    if (node != KER_NONE && l->out)
        net_used_row(table, NET_USED_OUT, node, l->out, &l->used[2 * (size_t)node]);
    if (node != KER_NONE && l->in)
        net_used_row(table, NET_USED_IN, node, l->in, &l->used[2 * (size_t)node + 1]);
}

static void links_release(void *context)
{
    free(((struct links *)context)->used);
    free(((struct links *)context)->free);
    free(context);
}

static enum ker_status links_new(struct net_network **net, const struct ker_config *config,
                                 const struct route_topology *topology, uint64_t seed,
                                 struct net_phases phases, struct ker_error *error)
{
    struct links *l = ker_alloc(sizeof *l);
    *l = (struct links){.latency = ker_config_time(config, "network.latency"),
                        .rate = ker_config_rate(config, "network.bandwidth"),
                        .out = (uint32_t)ker_config_int(config, "network.out_links"),
                        .in = (uint32_t)ker_config_int(config, "network.in_links")};
    l->free = ker_alloc((size_t)route_hosts(route_summarise(topology)) * (l->out + l->in) * sizeof *l->free);
    l->used = ker_alloc(2 * (size_t)route_hosts(route_summarise(topology)) * sizeof *l->used);
    l->phases = phases;
    struct net_law law = {.latency = l->latency,
                          .carry = links_carry,
                          .receive = l->in ? links_receive : NULL,
                          .state = links_state,
                          .used = links_used,
                          .context = l,
                          .release = links_release};
    return net_messages_new(net, config, topology, phases, &law, error);
}

static const struct net_carrier links = {NET_MESSAGES_CARRIER, .new = links_new};

const struct ker_kind net_links_model = {
    .name = "links",
    .meaning = "latency and bandwidth, and messages wait for a link out of a node and for one into the other",
    .traits = "nodes",
    .operations = &links,
    .options = KER_OPTIONS(net_message_options, net_node_link_options),
};
