/* flow.c - network.model = "flow": messages are flows over the links of their routes, which they share.
 *
 * A message takes the route that routing.algorithm offers it first, without detours, and every link of it in
 * one direction. Where both directions round rings are equally short, each packet of 4 KiB draws one, unless
 * routing.pinning says otherwise: of a link that only some of them pass the flow takes as much less. Rates
 * are max-min fair over links (kernel/base/share.h); when a flow begins or ends, the flows that are joined to
 * it by links, through any number of other flows, get new ones. s bytes asked for at t have moved at F, when
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
#include "net/carriers/heap.h"
#include "net/carriers/messages.h"

#include <stdlib.h>
#include <string.h>

#define SHARES 4096u /* what flows take of links, and these have, is counted in parts of a byte */
#define TIES 4       /* directions that are drawn, at most */
#define TRIES 16u    /* packets that are asked, for each route */
#define PACKET 4096u /* bytes */

struct flow {
    ker_moved left; /* at `since` */
    ker_time since, ends, latency;
    uint64_t rate;
    uint32_t uses, mark, from, to;
    uint64_t least, most;      /* bandwidth of its route; what it has at most by itself */
    struct ker_share_use *use; /* the links; NULL: the place is free */
    bool alone;                /* shares nothing */
};

/* Of a node, while penalties are found. */
struct node_flows {
    uint32_t out;
    bool crowded; /* one of these goes where there are more than two */
};

struct pair {
    uint32_t to, from, flow;
};

struct link {
    uint32_t *flow, flows; /* on it */
    uint32_t mark;
};

struct flows {
    const struct route_topology *topology;
    uint64_t small, seed;
    uint64_t *first; /* of each switch: its first port's link; then one for each endpoint */
    uint32_t links, mark;
    struct link *link;
    struct ker_shared *shared; /* of each link */
    int dimensions; /* of the grid that the nodes are; 0: none, or packets of a message take one route */
    uint32_t extent[8];
    struct flow *flow; /* by the number that the coordinator gives */
    uint32_t flows;
    struct net_heap ending;                         /* of flows; what is no longer true is passed over */
    uint32_t *dirty, dirty_count, dirty_room;       /* links on which something has changed */
    uint32_t *reached, reached_count, reached_room; /* flows that this reaches, */
    uint32_t *over, over_count, over_room;          /* and links */
    struct ker_sharer *sharer, **order;             /* of these */
    struct node_flows *node;                        /* NULL: there are no penalties */
    struct pair *pair;                              /* of the flows that are reached */
    uint32_t sharer_room;
};

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
            f->shared[f->first[i] + port].capacity = SHARES * sum->link[peer.link].rate;
            if (peer.kind == ROUTE_ENDPOINT)
                f->shared[links + peer.id].capacity = SHARES * sum->link[peer.link].rate;
        }
}

/* ---- sharing ---- */

static void link_touch(struct flows *f, uint32_t link)
{
    *KER_PUSH(f->dirty, f->dirty_count, f->dirty_room) = link;
}

/* All flows and links that hang together with what has changed. */
static void reach(struct flows *f)
{
    f->mark++;
    f->reached_count = f->over_count = 0;
    for (uint32_t i = 0; i < f->dirty_count; i++)
        if (f->link[f->dirty[i]].mark != f->mark) {
            f->link[f->dirty[i]].mark = f->mark;
            *KER_PUSH(f->over, f->over_count, f->over_room) = f->dirty[i];
        }
    for (uint32_t i = 0; i < f->over_count; i++) {
        const struct link *l = &f->link[f->over[i]];
        for (uint32_t k = 0; k < l->flows; k++) {
            struct flow *flow = &f->flow[l->flow[k]];
            if (flow->mark == f->mark)
                continue;
            flow->mark = f->mark;
            *KER_PUSH(f->reached, f->reached_count, f->reached_room) = l->flow[k];
            for (uint32_t u = 0; u < flow->uses; u++)
                if (f->link[flow->use[u].resource].mark != f->mark) {
                    f->link[flow->use[u].resource].mark = f->mark;
                    *KER_PUSH(f->over, f->over_count, f->over_room) = flow->use[u].resource;
                }
        }
    }
}

#define PENALTY_ONE 1000000u /* the factors have three decimals each */
#define PENALTY_IN (965u * 1000u)
#define PENALTY_OUT 925u
#define PENALTY_CROWDED 1350u

static int pair_compare(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    return KER_ORDER(x, y, to, from);
}

/* Pairs of one destination, and of one source among them, lie side by side: how many there are from i on. */
static uint32_t run_of(const struct flows *f, uint32_t i, bool source)
{
    uint32_t end = i;
    while (end < f->reached_count && f->pair[end].to == f->pair[i].to &&
           (!source || f->pair[end].from == f->pair[i].from))
        end++;
    return end - i;
}

static void penalty_set(struct flows *f, const struct pair *p, uint32_t into, uint32_t same, uint32_t sources)
{
    const struct node_flows *n = &f->node[p->from];
    struct flow *flow = &f->flow[p->flow];
    uint64_t out = n->out == 1 ? PENALTY_ONE
                               : (uint64_t)n->out * PENALTY_OUT * (n->crowded ? PENALTY_CROWDED : 1000u),
             in = into == 1 ? PENALTY_ONE : (uint64_t)same * sources * PENALTY_IN;
    unsigned __int128 most = (unsigned __int128)flow->least * PENALTY_ONE / (out > in ? out : in);
    flow->most = most ? (uint64_t)most : 1;
}

/* All flows of a node hang together: those that are reached are all there are at their ends. */
static void penalties_find(struct flows *f)
{
    for (uint32_t i = 0; i < f->reached_count; i++) {
        const struct flow *flow = &f->flow[f->reached[i]];
        f->node[flow->from] = (struct node_flows){0};
        f->pair[i] = (struct pair){flow->to, flow->from, f->reached[i]};
    }
    if (f->reached_count)
        qsort(f->pair, f->reached_count, sizeof *f->pair, pair_compare);
    for (uint32_t i = 0, into; i < f->reached_count; i += into) {
        into = run_of(f, i, false);
        for (uint32_t k = i; k < i + into; k++) {
            f->node[f->pair[k].from].out++;
            f->node[f->pair[k].from].crowded |= into > 2;
        }
    }
    for (uint32_t i = 0, into; i < f->reached_count; i += into) {
        uint32_t sources = 0;
        into = run_of(f, i, false);
        for (uint32_t k = i; k < i + into; k += run_of(f, k, true))
            sources++;
        for (uint32_t k = i, same; k < i + into; k += same) {
            same = run_of(f, k, true);
            for (uint32_t j = k; j < k + same; j++)
                penalty_set(f, &f->pair[j], into, same, sources);
        }
    }
}

/* A flow whose rate is as it was ends when it would have. No flow has ended: those that end now have been
 * taken out. */
static void flow_rate(struct flows *f, uint32_t id, ker_time now, uint64_t rate)
{
    struct flow *flow = &f->flow[id];
    if (rate == flow->rate)
        return;
    flow->left -= (ker_moved)flow->rate * (uint64_t)(now - flow->since);
    flow->since = now;
    flow->rate = rate;
    flow->ends = ker_time_later(now, ker_moved_takes(flow->left, rate));
    net_heap_put(&f->ending, (struct net_timed){flow->ends, id});
}

static void flows_share(struct flows *f, ker_time now)
{
    if (f->dirty_count == 0)
        return;
    reach(f);
    f->dirty_count = 0;
    if (f->reached_count > f->sharer_room) {
        f->sharer_room = 2 * f->reached_count;
        f->sharer = ker_realloc(f->sharer, f->sharer_room * sizeof *f->sharer);
        f->order = ker_realloc(f->order, f->sharer_room * sizeof *f->order);
        if (f->node)
            f->pair = ker_realloc(f->pair, f->sharer_room * sizeof *f->pair);
    }
    if (f->node)
        penalties_find(f);
    for (uint32_t i = 0; i < f->reached_count; i++) {
        const struct flow *flow = &f->flow[f->reached[i]];
        f->sharer[i] = (struct ker_sharer){flow->most, 0, flow->uses, flow->use};
        f->order[i] = &f->sharer[i];
    }
    ker_share(f->order, f->reached_count, f->shared, f->over, f->over_count);
    for (uint32_t i = 0; i < f->reached_count; i++)
        flow_rate(f, f->reached[i], now, f->sharer[i].rate);
}

/* ---- what the coordinator asks ---- */

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
                          .alone = m->bytes <= f->small};
    flow_route(f, flow, m);
    uint64_t least = UINT64_MAX;
    for (uint32_t u = 0; u < flow->uses; u++) {
        uint64_t most = f->shared[flow->use[u].resource].capacity / flow->use[u].times;
        least = most < least ? most : least;
    }
    flow->least = least;
    if (flow->alone || m->bytes == 0) {
        flow->alone = true;
        flow_rate(f, id, m->now, least);
        return;
    }
    for (uint32_t u = 0; u < flow->uses; u++) {
        struct link *l = &f->link[flow->use[u].resource];
        *KER_APPEND(l->flow, l->flows) = id;
        link_touch(f, flow->use[u].resource);
    }
}

static void flow_remove(struct flows *f, uint32_t id)
{
    struct flow *flow = &f->flow[id];
    for (uint32_t u = 0; u < flow->uses && !flow->alone; u++) {
        struct link *l = &f->link[flow->use[u].resource];
        uint32_t k = 0;
        while (l->flow[k] != id)
            k++;
        l->flow[k] = l->flow[--l->flows];
        link_touch(f, flow->use[u].resource);
    }
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
    flows_share(f, now);
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
    KER_CHUNK(c, flow->left, flow->since, flow->rate);
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
        free(f->link[i].flow);
    free(f->first);
    free(f->link);
    free(f->shared);
    free(f->flow);
    free(f->ending.at);
    free(f->dirty);
    free(f->reached);
    free(f->over);
    free(f->node);
    free(f->pair);
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
    links_make(f);
    if (!ker_config_means_key(config, "routing.pinning") ||
        ker_config_is(config, "routing.pinning", "packet"))
        f->dimensions = route_grid(topology, f->extent);
    if (ker_config_is(config, "network.flow_penalty", "infiniband"))
        f->node = ker_alloc(route_hosts(sum) * sizeof *f->node);
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
