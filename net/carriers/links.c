/* links.c - network.model = "links": messages wait for a link out of their node and for one into the other.
 *
 * s bytes asked for at t hold the out link that is free first from a = max(t, free) for s/B, and the in link
 * that is free first from max(a + L, free) for s/B; they have left at a + s/B and are there when the in link
 * is free again. First come, first served: PSINS's model of links. 0 links: any number.
 */
#include "net/carriers/messages.h"
#include "net/carriers/paths.h"

#include <stdlib.h>

struct links {
    struct net_paths paths;
    uint8_t *out, *in; /* of each node */
    ker_time *free;    /* when its out links, then its in links are free: from `first` of the node on */
    uint64_t *first;
    struct net_phases phases;
    struct net_used *used; /* of each node: out, in */
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

static void links_carry(void *context, const struct net_asked *m, ker_time *left, ker_time *there)
{
    const struct links *l = context;
    const struct net_path *path = net_path_of(&l->paths, m->source, m->destination);
    ker_time length = ker_serialisation(m->bytes, path->rate);
    ker_time begin = link_hold(l->free + l->first[m->source], l->out[m->source], m->now, length);
    net_used_add(&l->used[2 * (size_t)m->source], &l->phases, m->now, begin, length, m->bytes);
    *left = ker_time_later(begin, length);
    *there = ker_time_later(l->in[m->destination] ? begin : *left, path->latency);
}

/* Where there is any number of links in it has come when all of it has. */
static ker_time links_receive(void *context, const struct net_asked *m)
{
    const struct links *l = context;
    uint32_t to = m->destination;
    if (!l->in[to])
        return m->now;
    ker_time length = ker_serialisation(m->bytes, net_path_of(&l->paths, m->source, to)->rate);
    ker_time begin = link_hold(l->free + l->first[to] + l->out[to], l->in[to], m->now, length);
    net_used_add(&l->used[2 * (size_t)to + 1], &l->phases, m->now, begin, length, m->bytes);
    return ker_time_later(begin, length);
}

static void links_state(void *context, uint32_t node, struct ker_chunk *c)
{
    const struct links *l = context;
    if (node == KER_NONE)
        return;
    ker_chunk_bytes(c, l->free + l->first[node], (size_t)(l->out[node] + l->in[node]) * sizeof *l->free);
    net_used_state(c, &l->used[2 * (size_t)node]);
    net_used_state(c, &l->used[2 * (size_t)node + 1]);
}

static void links_used(void *context, uint32_t node, struct stats_table *table)
{
    const struct links *l = context;
    if (node != KER_NONE && l->out[node])
        net_used_row(table, NET_USED_OUT, node, l->out[node], &l->used[2 * (size_t)node]);
    if (node != KER_NONE && l->in[node])
        net_used_row(table, NET_USED_IN, node, l->in[node], &l->used[2 * (size_t)node + 1]);
}

static void links_release(void *context)
{
    struct links *l = context;
    net_paths_release(&l->paths);
    free(l->out);
    free(l->in);
    free(l->free);
    free(l->first);
    free(l->used);
    free(l);
}

static enum ker_status links_new(struct net_network **net, const struct ker_config *config,
                                 const struct route_topology *topology, uint64_t seed,
                                 struct net_phases phases, struct ker_error *error)
{
    struct links *l = ker_alloc(sizeof *l);
    uint32_t nodes = route_hosts(route_summarise(topology));
    enum ker_status status = net_paths_read(&l->paths, config, topology, error);
    net_node_links_read(&l->out, &l->in, config, nodes, &phases);
    l->first = ker_alloc((nodes + 1u) * sizeof *l->first);
    bool some = false; /* links in */
    for (uint32_t node = 0; node < nodes; node++) {
        l->first[node + 1] = l->first[node] + l->out[node] + l->in[node];
        some |= l->in[node] > 0;
    }
    l->free = ker_alloc((l->first[nodes] + 1) * sizeof *l->free);
    l->used = ker_alloc(2 * (size_t)nodes * sizeof *l->used);
    l->phases = phases;
    struct net_law law = {.failed = status,
                          .latency = l->paths.least,
                          .rate = l->paths.usual.rate,
                          .carry = links_carry,
                          .receive = some ? links_receive : NULL,
                          .state = links_state,
                          .used = links_used,
                          .context = l,
                          .release = links_release};
    return net_messages_new(net, config, topology, phases, &law, error);
}

NET_MESSAGES_MODEL(
    links, links_new,
    "latency and bandwidth, and messages wait for a link out of a node and for one into the other",
    net_path_options, net_node_link_options);
