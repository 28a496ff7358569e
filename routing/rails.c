/* rails.c - hosts with several adapters (node.adapters): a topology around another one.
 *
 * Host h has the endpoints h x k ... h x k + k - 1. Where they hang is a closed form of the inner topology's
 * endpoints (topology.rails):
 *
 *   plane    k copies of the inner topology: adapter a hangs at copy a, where inner endpoint h hangs
 *   same     all at one switch: endpoint e is inner endpoint e
 *   spread   at k successive switches that have endpoints: with p endpoints at each, host j of the switches g
 * x k ... g x k + k - 1 has its adapter a at the j-th endpoint of the (g x k + a)-th of them
 *
 * Switch s of plane a is number a x S + s. Every question is translated and asked of the inner topology,
 * which knows nothing of hosts, so that all topologies and algorithms work alike. Invariant: adapter a of a
 * host sends to adapter a of another one only; endpoints of two planes never meet.
 */
#include "routing/rails.h"

#include <stdlib.h>

enum rails { RAILS_PLANE, RAILS_SPREAD, RAILS_SAME };

static const struct ker_word rails_words[] = {
    {"plane", RAILS_PLANE}, {"spread", RAILS_SPREAD}, {"same", RAILS_SAME}, {0}};

struct route_rails {
    struct route_topology topology;
    struct route_algorithm algorithm;
    enum rails rails;
    uint32_t adapters, planes;
    uint32_t switches, groups; /* of the inner topology */
    uint32_t per_switch;       /* spread: inner endpoints at each switch that has any */
};

static const struct route_rails *rails_of(const struct route_topology *topology)
{
    return (const struct route_rails *)topology;
}

/* ---- translation ---- */

static uint32_t inner_switch(const struct route_rails *r, uint32_t switch_id)
{
    ker_assert(r->switches > 0);
    return switch_id % r->switches;
}

static uint32_t inner_endpoint(const struct route_rails *r, uint32_t endpoint)
{
    uint32_t host = endpoint / r->adapters, adapter = endpoint % r->adapters, p = r->per_switch;
    if (r->rails == RAILS_PLANE)
        return host;
    if (r->rails == RAILS_SAME)
        return endpoint;
    return (host / p * r->adapters + adapter) * p + host % p;
}

static uint32_t plane_of(const struct route_rails *r, uint32_t endpoint)
{
    return r->rails == RAILS_PLANE ? endpoint % r->adapters : 0;
}

static uint32_t endpoint_of(const struct route_rails *r, uint32_t plane, uint32_t endpoint)
{
    uint32_t k = r->adapters, p = r->per_switch;
    if (r->rails == RAILS_PLANE)
        return endpoint * k + plane;
    if (r->rails == RAILS_SAME)
        return endpoint;
    uint32_t at = endpoint / p;
    return (at / k * p + endpoint % p) * k + at % k;
}

uint32_t route_rails_node(const struct route_topology *topology, uint32_t host)
{
    const struct route_rails *r = rails_of(topology);
    return inner_endpoint(r, host * r->adapters);
}

uint32_t *route_rails_ranks(const struct route_topology *topology, const uint32_t *switch_rank, uint32_t rank)
{
    const struct route_rails *r = rails_of(topology);
    uint32_t *inner_rank = ker_alloc(r->switches * sizeof *inner_rank);
    for (uint32_t s = 0; s < r->switches; s++)
        inner_rank[s] = UINT32_MAX;
    for (uint32_t s = 0; s < topology->summary.switches; s++)
        if (switch_rank[s] == rank)
            inner_rank[inner_switch(r, s)] = rank;
    return inner_rank;
}

/* ---- the topology ---- */

static uint32_t rails_ports(const struct route_topology *t, uint32_t switch_id)
{
    return route_ports(t->inner, inner_switch(rails_of(t), switch_id));
}

static void rails_port(const struct route_topology *t, uint32_t switch_id, uint32_t port,
                       struct route_peer *peer)
{
    const struct route_rails *r = rails_of(t);
    uint32_t plane = switch_id / r->switches;
    route_port(t->inner, inner_switch(r, switch_id), port, peer);
    if (peer->kind == ROUTE_SWITCH)
        peer->id += plane * r->switches;
    else if (peer->kind == ROUTE_ENDPOINT)
        peer->id = endpoint_of(r, plane, peer->id);
}

static void rails_attachment(const struct route_topology *t, uint32_t endpoint, uint32_t *switch_id,
                             uint16_t *port)
{
    const struct route_rails *r = rails_of(t);
    route_attachment(t->inner, inner_endpoint(r, endpoint), switch_id, port);
    *switch_id += plane_of(r, endpoint) * r->switches;
}

static uint64_t rails_address(const struct route_topology *t, uint32_t endpoint)
{
    return route_address(t->inner, inner_endpoint(rails_of(t), endpoint));
}

static uint64_t rails_coordinate(const struct route_topology *t, uint32_t switch_id)
{
    return route_coordinate(t->inner, inner_switch(rails_of(t), switch_id));
}

static uint32_t rails_hops(const struct route_topology *t, uint32_t from, uint32_t to)
{
    const struct route_rails *r = rails_of(t);
    return t->inner->kind->hops(t->inner, inner_endpoint(r, from), inner_endpoint(r, to));
}

static uint32_t rails_group(const struct route_topology *t, uint32_t switch_id)
{
    const struct route_rails *r = rails_of(t);
    return switch_id / r->switches * r->groups + route_group(t->inner, inner_switch(r, switch_id));
}

static uint32_t rails_groups(const struct route_topology *t)
{
    const struct route_rails *r = rails_of(t);
    return r->planes * r->groups;
}

static uint32_t rails_board(const struct route_topology *t, uint32_t switch_id)
{
    const struct route_rails *r = rails_of(t);
    return switch_id / r->switches * r->switches + route_board(t->inner, inner_switch(r, switch_id));
}

static int rails_grid(const struct route_topology *t, uint32_t extents[8])
{
    return route_grid(t->inner, extents);
}

static void rails_coordinates(const struct route_topology *t, uint32_t endpoint, uint32_t at[8])
{
    route_coordinates(t->inner, inner_endpoint(rails_of(t), endpoint), at);
}

static uint32_t rails_watch(const struct route_topology *t, uint32_t switch_id, uint32_t port)
{
    return route_watch(t->inner, inner_switch(rails_of(t), switch_id), port);
}

static uint32_t rails_watched(const struct route_topology *t)
{
    return route_watched(t->inner);
}

static uint32_t rails_load(const struct route_topology *t, uint32_t switch_id)
{
    return route_load(t->inner, inner_switch(rails_of(t), switch_id));
}

static int rails_next(const struct route_topology *t, uint64_t coordinate, uint32_t switch_id,
                      const struct route_packet *packet, struct route_choice *choices)
{
    const struct route_rails *r = rails_of(t);
    struct route_packet inner = *packet;
    inner.source = inner_endpoint(r, packet->source);
    inner.destination = inner_endpoint(r, packet->destination);
    return t->inner->algorithm->next(t->inner, coordinate, inner_switch(r, switch_id), &inner, choices);
}

static bool rails_away(const struct route_topology *t, uint64_t coordinate, const struct route_packet *packet)
{
    return t->inner->algorithm->away(t->inner, coordinate, packet);
}

static const struct route_kind rails_kind = {
    .size = sizeof(struct route_rails),
    .ports = rails_ports,
    .port = rails_port,
    .attachment = rails_attachment,
    .address = rails_address,
    .coordinate = rails_coordinate,
    .hops = rails_hops,
    .group = rails_group,
    .groups = rails_groups,
    .board = rails_board,
    .grid = rails_grid,
    .coordinates = rails_coordinates,
    .watch = rails_watch,
    .watched = rails_watched,
    .load = rails_load,
};

/* ---- set-up ---- */

/* The inner endpoints are numbered switch by switch, as many at each switch that has any: how many; 0: they
 * are not. */
static uint32_t nodes_per_switch(const struct route_topology *inner)
{
    uint32_t endpoints = inner->summary.endpoints, p = 0, last = 0;
    for (uint32_t n = 0; n < endpoints; n++) {
        uint32_t at;
        uint16_t port;
        route_attachment(inner, n, &at, &port);
        if (p == 0 && n > 0 && at != last)
            p = n;
        if (n > 0 && (p && n % p == 0 ? at <= last : at != last))
            return 0;
        last = at;
    }
    p = p ? p : endpoints;
    return p && endpoints % p == 0 ? p : 0;
}

static enum ker_status rails_check(struct route_rails *r, const struct route_topology *inner,
                                   const struct ker_config *config, struct ker_error *error)
{
    uint32_t endpoints = inner->summary.endpoints, k = r->adapters;
    if (r->rails == RAILS_PLANE) {
        if (inner->summary.switches > UINT32_MAX / 2 / k || endpoints > UINT32_MAX / 2 / k)
            return ker_config_fail(config, error, "node.adapters", "makes too many switches or adapters");
        return KER_OK;
    }
    uint32_t p = r->per_switch = nodes_per_switch(inner);
    if (p == 0)
        return ker_config_fail(config, error, "topology.rails",
                               "\"%s\" needs the same number of nodes at each switch that has any, numbered "
                               "switch by switch; \"plane\" works with any network",
                               ker_config_string(config, "topology.rails"));
    if (r->rails == RAILS_SAME && p % k != 0)
        return ker_config_fail(config, error, "node.adapters",
                               "%u adapters at one switch, which has %u: give a number that divides it", k,
                               p);
    if (r->rails == RAILS_SPREAD && endpoints / p % k != 0)
        return ker_config_fail(config, error, "node.adapters",
                               "%u adapters at successive switches, but %u switches have any: give a number "
                               "that divides it",
                               k, endpoints / p);
    return KER_OK;
}

static void rails_summarise(struct route_rails *r)
{
    struct route_summary *outer = &r->topology.summary;
    static const char *const how[] = {"planes of", "adapters a node, spread:", "adapters a node:"};
    *outer = r->topology.inner->summary;
    outer->adapters = r->adapters;
    outer->planes = r->planes;
    outer->endpoints *= r->planes;
    outer->switches *= r->planes;
    outer->links *= r->planes;
    snprintf(outer->text, sizeof outer->text, "%u %s %.120s", r->adapters, how[r->rails],
             r->topology.inner->summary.text);
}

enum ker_status route_rails_new(struct route_topology **outer, struct route_topology *inner,
                                const struct ker_config *config, struct ker_error *error)
{
    struct route_rails *r = ker_alloc(sizeof *r);
    r->topology.kind = &rails_kind;
    r->rails = inner->kind->spread ? RAILS_SPREAD
                                   : (enum rails)ker_config_number(config, "topology.rails", rails_words);
    r->adapters = (uint32_t)ker_config_int(config, "node.adapters");
    r->planes = r->rails == RAILS_PLANE ? r->adapters : 1;
    r->switches = inner->summary.switches;
    r->groups = inner->kind->groups(inner);
    enum ker_status status = rails_check(r, inner, config, error);
    if (status != KER_OK) {
        free(r);
        return status;
    }
    r->topology.inner = inner;
    rails_summarise(r);
    *outer = &r->topology;
    return KER_OK;
}

void route_rails_adopt(struct route_topology *outer)
{
    struct route_rails *r = (struct route_rails *)outer;
    const struct route_topology *inner = outer->inner;
    r->algorithm = *inner->algorithm;
    r->algorithm.next = rails_next;
    r->algorithm.decided = NULL;
    r->algorithm.hop = NULL;
    r->algorithm.straight = NULL;
    r->algorithm.range = NULL;
    r->algorithm.pair = NULL;
    r->algorithm.away = inner->algorithm->away ? rails_away : NULL;
    r->algorithm.avoids = false; /* the inner topology knows of no faults */
    r->algorithm.prepare = NULL;
    outer->algorithm = &r->algorithm;
    outer->channels = inner->channels;
    rails_summarise(r);
}
