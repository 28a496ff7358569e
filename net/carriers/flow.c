/* flow.c - network.model = "flow": messages are flows over the links of their routes, which they share.
 *
 * A message takes the route that routing.algorithm offers it first, without detours, and every link of it in
 * one direction. Where both directions round rings are equally short, each packet of 4 KiB draws one, unless
 * routing.pinning says otherwise: of a link that only some of them pass the flow takes as much less. Rates
 * are max-min fair over links (flow_share.c). s bytes asked for at t have moved at F, when
 * the sum of rate x time since t is s; the message has left at F + l/2 and is there at F + l, with l the
 * latencies of its route. Up to network.flow_size it takes l + s over the least bandwidth of its route
 * instead and takes nothing from others.
 *
 * network.flow_penalty = "infiniband": a flow has at most its route's least bandwidth divided by a penalty,
 * the larger of two: of the source n_s B_s, and g_s times that where any of its n_s > 1 flows goes to a node
 * with more than two; of the destination, with more than one flow, B_e times the flows from this source times
 * the sources there. B_e, B_s, g_s = 0.965, 0.925, 1.35 are SimGrid's (option smpi/IB-penalty-factors), the
 * model is that of J. Vienne (Prediction de performances d'applications de calcul haute performance sur
 * reseau InfiniBand, thesis, Grenoble 2010).
 *
 * Invariant between two instants: all rates are those of the flows there are (`dirty` is empty).
 */
#include "net/carriers/flow.h"

#include <stdlib.h>
#include <string.h>

#define SHARES 4096u /* what flows take of links, and these have, is counted in parts of a byte */
#define TIES 4       /* directions that are drawn, at most */
#define TRIES 16u    /* packets that are asked, for each route */
#define PACKET 4096u /* bytes */

static const struct ker_option options[] = {
    {"network.flow_size", KER_TYPE_BYTES, "0 B", NULL, NULL, NULL,
     "Messages up to this size share nothing: they take the latencies of their route and their bytes over "
     "its least bandwidth."},
    {"network.flow_penalty", KER_TYPE_CHOICE, "none", NULL, NULL, "none|infiniband",
     "What flows of one source, or to one destination, lose beyond their shares: nothing; or as InfiniBand's "
     "adapters do, with SimGrid's factors 0.965, 0.925 and 1.35. See docs/network-model.md."},
    {0},
};

/* ---- routes ---- */

/* Routes that were found, one behind the other. */
struct walk {
    const struct flows *f;
    uint32_t from, *link, links, room;
    ker_time latency;
};

static void link_add(void *context, uint32_t switch_id, uint16_t port, const struct route_link *class)
{
    struct walk *w = context;
    *KER_PUSH(w->link, w->links, w->room) =
        (uint32_t)(switch_id == KER_NONE ? w->f->first[route_summarise(w->f->topology)->switches] + w->from
                                         : w->f->first[switch_id] + port);
    w->latency = ker_time_later(w->latency, class->latency);
}

/* In how many dimensions both directions are equally far. */
static uint32_t ties_count(const struct flows *f, const struct net_asked *m)
{
    uint32_t from[8], to[8], ties = 0;
    if (f->dimensions == 0)
        return 0;
    route_coordinates(f->topology, m->source, from);
    route_coordinates(f->topology, m->destination, to);
    for (int d = 0; d < f->dimensions; d++)
        ties += from[d] != to[d] && 2 * (to[d] > from[d] ? to[d] - from[d] : from[d] - to[d]) == f->extent[d];
    return ties <= TIES ? ties : 0;
}

static uint64_t chance_of(const struct flows *f, const struct net_asked *m)
{
    return m->number * 0x9e3779b97f4a7c15u + ((uint64_t)m->source << 32) + f->seed;
}

/* Finds the routes of the message's packets by what these draw, all equally long: 1 << ties, or the first
 * alone where they are not that many. Returns how many; the walk has them. */
static uint32_t routes_find(struct walk *w, const struct net_asked *m, uint32_t ties)
{
    const struct net_walker walker = {link_add, w};
    uint64_t chance = chance_of(w->f, m);
    uint32_t routes = 1;
    net_walk(w->f->topology, m->source, m->destination, chance, &walker);
    uint32_t length = w->links;
    ker_time latency = w->latency;
    for (uint32_t i = 1; ties && i < TRIES << ties && w->links == length * routes; i++) {
        uint32_t begin = w->links, k = 0;
        net_walk(w->f->topology, m->source, m->destination, chance + i * 0xd1342543de82ef95u, &walker);
        while (k < routes && memcmp(w->link + k * length, w->link + begin, length * sizeof *w->link) != 0)
            k++;
        if (k < routes)
            w->links -= length;
        else
            routes++;
    }
    bool all = routes == 1u << ties && w->links == length * routes;
    w->latency = latency;
    w->links = all ? w->links : length;
    return all ? routes : 1;
}

/* How many of SHARES each route has, as the message's packets draw it. */
static void parts_draw(const struct flows *f, const struct net_asked *m, uint32_t routes, uint32_t *part)
{
    uint32_t draws = 1, draw = ker_mix(chance_of(f, m));
    while (routes > 1 && draws < SHARES && (uint64_t)draws * PACKET < m->bytes)
        draws *= 2;
    for (uint32_t i = 0; i < draws; i++)
        part[route_mix(draw, i) >> 16 & (routes - 1)] += SHARES / draws;
}

/* Of each link the flow takes the part of its packets that pass it. */
static void flow_route(const struct flows *f, struct flow *flow, const struct net_asked *m)
{
    struct walk w = {.f = f, .from = m->source};
    uint32_t routes = routes_find(&w, m, flow->alone ? 0 : ties_count(f, m)), length = w.links / routes,
             part[1u << TIES] = {0};
    parts_draw(f, m, routes, part);
    flow->use = ker_alloc(w.links * sizeof *flow->use);
    for (uint32_t i = 0; i < w.links; i++) {
        uint32_t k = 0;
        while (k < flow->uses && flow->use[k].resource != w.link[i])
            k++;
        if (k == flow->uses && part[i / length])
            flow->use[flow->uses++] = (struct ker_share_use){.resource = w.link[i]};
        if (part[i / length])
            flow->use[k].times = (uint16_t)(flow->use[k].times + part[i / length]);
    }
    flow->latency = w.latency;
    free(w.link);
}

static void links_make(struct flows *f)
{
    const struct route_summary *sum = route_summarise(f->topology);
    uint64_t links = 0;
    f->first = ker_alloc((sum->switches + 1u) * sizeof *f->first);
    for (uint32_t i = 0; i < sum->switches; links += route_ports(f->topology, i++))
        f->first[i] = links;
    f->first[sum->switches] = links;
    f->links = (uint32_t)(links + sum->endpoints);
    f->link = ker_alloc(f->links * sizeof *f->link);
    f->shared = ker_alloc(f->links * sizeof *f->shared);
    for (uint32_t i = 0; i < sum->switches; i++)
        for (uint32_t port = 0; port < route_ports(f->topology, i); port++) {
            struct route_peer peer;
            route_port(f->topology, i, port, &peer);
            if (peer.kind == ROUTE_NOTHING)
                continue;
            f->link[f->first[i] + port].capacity = SHARES * sum->link[peer.link].rate;
            if (peer.kind == ROUTE_ENDPOINT)
                f->link[links + peer.id].capacity = SHARES * sum->link[peer.link].rate;
            if (peer.kind == ROUTE_ENDPOINT && f->node) {
                f->node[peer.id].out_link = (uint32_t)(links + peer.id);
                f->node[peer.id].into_link = (uint32_t)(f->first[i] + port);
            }
        }
}

/* ---- what the coordinator asks ---- */

static void link_touch(struct flows *f, uint32_t link)
{
    *KER_PUSH(f->dirty, f->dirty_count, f->dirty_room) = link;
}

static void nodes_touch(struct flows *f, const struct flow *flow)
{
    if (!f->node)
        return;
    net_flow_touch(f, flow->from);
    net_flow_touch(f, flow->to);
}

static void flow_begin(void *context, const struct net_asked *m, uint32_t id)
{
    struct flows *f = context;
    while (f->flows <= id)
        *KER_APPEND(f->flow, f->flows) = (struct flow){0};
    struct flow *flow = &f->flow[id];
    *flow = (struct flow){.left = m->bytes * KER_MOVED_BYTE,
                          .since = m->now,
                          .from = m->source,
                          .to = m->destination,
                          .most = UINT64_MAX,
                          .bound = KER_NONE,
                          .alone = m->bytes <= f->small};
    flow_route(f, flow, m);
    uint64_t least = UINT64_MAX;
    for (uint32_t u = 0; u < flow->uses; u++) {
        uint64_t most = f->link[flow->use[u].resource].capacity / flow->use[u].times;
        least = most < least ? most : least;
    }
    flow->least = least;
    if (flow->alone || m->bytes == 0) {
        flow->alone = true;
        net_flow_rate(f, id, m->now, least);
        return;
    }
    nodes_touch(f, flow);
    for (uint32_t u = 0; u < flow->uses; u++) {
        struct link *l = &f->link[flow->use[u].resource];
        *KER_APPEND(l->on, l->flows) = (struct on_link){id, flow->use[u].times};
        link_touch(f, flow->use[u].resource);
    }
}

static void flow_remove(struct flows *f, uint32_t id)
{
    struct flow *flow = &f->flow[id];
    for (uint32_t u = 0; u < flow->uses && !flow->alone; u++) {
        struct link *l = &f->link[flow->use[u].resource];
        uint32_t k = 0;
        while (l->on[k].flow != id)
            k++;
        l->on[k] = l->on[--l->flows];
        link_touch(f, flow->use[u].resource);
    }
    if (!flow->alone)
        nodes_touch(f, flow);
    free(flow->use);
    *flow = (struct flow){0};
}

/* When the first flow ends, by the rates there are. */
static ker_time first_end(struct flows *f)
{
    while (f->ending.count) {
        const struct net_timed *first = &f->ending.at[0];
        if (f->flow[first->what].use && f->flow[first->what].ends == first->when)
            return first->when;
        net_heap_take(&f->ending);
    }
    return KER_TIME_MAX;
}

/* All that end at one time do so before what they have leave is shared: once, and not once for each. */
static ker_time flow_next(void *context, ker_time now)
{
    struct flows *f = context;
    ker_time first = first_end(f);
    if (first <= now)
        return first;
    net_flow_share(f, now);
    return first_end(f);
}

static uint32_t flow_end(void *context, ker_time *left, ker_time *there)
{
    struct flows *f = context;
    struct net_timed first = net_heap_take(&f->ending);
    *left = first.when + f->flow[first.what].latency / 2;
    *there = first.when + f->flow[first.what].latency;
    flow_remove(f, first.what);
    return first.what;
}

/* Routes and links follow from the message. */
static void flow_state(void *context, uint32_t id, struct ker_chunk *c)
{
    struct flows *f = context;
    struct flow *flow = &f->flow[id];
    KER_CHUNK(c, flow->left, flow->since, flow->rate, flow->bound, flow->most);
    if (c->loads) {
        flow->ends = ker_time_later(flow->since, flow->rate ? ker_moved_takes(flow->left, flow->rate) : 0);
        net_heap_put(&f->ending, (struct net_timed){flow->ends, id});
        f->dirty_count = 0;
    }
}

static void flows_release(void *context)
{
    struct flows *f = context;
    for (uint32_t i = 0; i < f->flows; i++)
        free(f->flow[i].use);
    for (uint32_t i = 0; i < f->links; i++)
        free(f->link[i].on);
    free(f->first);
    free(f->link);
    free(f->shared);
    free(f->flow);
    free(f->ending.at);
    free(f->dirty);
    free(f->reached);
    free(f->over);
    free(f->late);
    free(f->node);
    free(f->touched);
    free(f->sharer);
    free(f->order);
    free(f);
}

static const struct net_flow_law law = {flow_begin, flow_next, flow_end, flow_state};

static enum ker_status flow_new(struct net_network **net, const struct ker_config *config,
                                const struct route_topology *topology, uint64_t seed,
                                struct net_phases phases, struct ker_error *error)
{
    const struct route_summary *sum = route_summarise(topology);
    struct flows *f = ker_alloc(sizeof *f);
    ker_time least = KER_TIME_MAX;
    *f = (struct flows){
        .topology = topology, .seed = seed, .small = (uint64_t)ker_config_bytes(config, "network.flow_size")};
    if (ker_config_is(config, "network.flow_penalty", "infiniband"))
        f->node = ker_alloc(sum->endpoints * sizeof *f->node);
    links_make(f);
    if (!ker_config_means_key(config, "routing.pinning") ||
        ker_config_is(config, "routing.pinning", "packet"))
        f->dimensions = route_grid(topology, f->extent);
    for (int i = 0; i < sum->link_count; i++)
        if (sum->link[i].latency < least)
            least = sum->link[i].latency;
    /* No route has fewer than two links. */
    struct net_law of = {.latency = 2 * least,
                         .rate = sum->link[sum->endpoint_link].rate,
                         .flows = &law,
                         .context = f,
                         .release = flows_release};
    return net_messages_new(net, config, topology, phases, &of, error);
}

NET_MESSAGES_MODEL(flow, flow_new,
                   "messages are flows over the links of their routes, which share them max-min fairly",
                   options);
