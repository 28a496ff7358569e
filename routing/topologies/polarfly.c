/* polarfly.c - PolarFly (Lakhotia et al., 2022): the polarity graph of the projective plane over GF(q) (Erdos
 * and Renyi 1962, Brown 1966). q^2 + q + 1 switches, diameter 2, every shortest path the only one.
 *
 * A switch is a point: (1, a, b) is number a q + b, (0, 1, a) is q^2 + a, (0, 0, 1) is q^2 + q. Two are
 * linked when their product u0 v0 + u1 v1 + u2 v2 is 0. Those that are so with themselves have one neighbour
 * fewer: a port of theirs leads nowhere.
 *
 * The neighbours of u are the points of a line, which the ports number: the last one is the line's point (0,
 * 0, 1), or else the one (0, 1, c), of which there is but one if u2 is not 0; the others are numbered by a
 * coordinate that is free. The neighbour that two points have in common is their vector product.
 */
#include "routing/topologies/closed.h"
#include "routing/topologies/field.h"

struct polarfly {
    struct closed closed;
    struct route_field field;
};

struct point {
    uint32_t x[3];
};

static const struct polarfly *polarfly_of(const struct route_topology *topology)
{
    return (const struct polarfly *)topology;
}

static struct point point_of(uint32_t q, uint32_t id)
{
    if (id < q * q)
        return (struct point){{1, id / q, id % q}};
    return id < q * q + q ? (struct point){{0, 1, id - q * q}} : (struct point){{0, 0, 1}};
}

/* Of a point whose first coordinate that is not 0 may be any. */
static uint32_t id_of(const struct route_field *f, const struct point *u)
{
    uint32_t q = f->q;
    if (u->x[0])
        return route_field_div(f, u->x[1], u->x[0]) * q + route_field_div(f, u->x[2], u->x[0]);
    return q * q + (u->x[1] ? route_field_div(f, u->x[2], u->x[1]) : q);
}

static uint32_t product(const struct route_field *f, const struct point *u, const struct point *v)
{
    uint32_t sum = 0;
    for (int i = 0; i < 3; i++)
        sum = route_field_add(f, sum, route_field_mul(f, u->x[i], v->x[i]));
    return sum;
}

/* Which of u's neighbours v is. */
static uint32_t place_of(uint32_t q, const struct point *u, const struct point *v)
{
    if (v->x[0])
        return u->x[2] ? v->x[1] : v->x[2];
    return v->x[1] && !u->x[2] ? v->x[2] : q;
}

static struct point neighbour(const struct route_field *f, const struct point *u, uint32_t place)
{
    uint32_t minus =
        place < f->q ? route_field_sub(f, 0, route_field_add(f, u->x[0], route_field_mul(f, u->x[1], place)))
                     : 0;
    if (u->x[2] && place < f->q)
        return (struct point){{1, place, route_field_div(f, minus, u->x[2])}};
    if (u->x[2])
        return (struct point){{0, 1, route_field_div(f, route_field_sub(f, 0, u->x[1]), u->x[2])}};
    if (place == f->q)
        return (struct point){{0, 0, 1}};
    if (u->x[1])
        return (struct point){{1, route_field_div(f, route_field_sub(f, 0, u->x[0]), u->x[1]), place}};
    return (struct point){{0, 1, place}};
}

static void polarfly_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                          struct route_peer *peer)
{
    const struct route_field *f = &polarfly_of(topology)->field;
    if (closed_node_port(topology, switch_id, port, peer))
        return;
    uint32_t nodes = closed_of(topology)->nodes;
    struct point u = point_of(f->q, switch_id), v = neighbour(f, &u, port - nodes);
    peer->id = id_of(f, &v);
    peer->port = (uint16_t)(nodes + place_of(f->q, &v, &u));
    if (peer->id == switch_id)
        *peer = (struct route_peer){.kind = ROUTE_NOTHING};
}

/* Racks of q switches, and one of the last q + 1. */
static uint32_t polarfly_group(const struct route_topology *topology, uint32_t switch_id)
{
    uint32_t q = polarfly_of(topology)->field.q, rack = switch_id / q;
    return rack < q ? rack : q;
}

static uint32_t polarfly_groups(const struct route_topology *topology)
{
    return polarfly_of(topology)->field.q + 1;
}

static uint32_t polarfly_reach(const struct route_topology *topology)
{
    return 2;
}

static uint32_t polarfly_apart(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct route_field *f = &polarfly_of(topology)->field;
    struct point u = point_of(f->q, from), v = point_of(f->q, to);
    return from == to ? 0 : product(f, &u, &v) ? 2 : 1;
}

static int polarfly_toward(const struct route_topology *topology, uint32_t from, uint32_t to, bool ordered,
                           uint16_t *port)
{
    const struct route_field *f = &polarfly_of(topology)->field;
    struct point u = point_of(f->q, from), v = point_of(f->q, to);
    if (product(f, &u, &v)) { /* to the neighbour of both */
        struct point w;
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            w.x[i] =
                route_field_sub(f, route_field_mul(f, u.x[j], v.x[k]), route_field_mul(f, u.x[k], v.x[j]));
        }
        v = point_of(f->q, id_of(f, &w));
    }
    port[0] = (uint16_t)(closed_of(topology)->nodes + place_of(f->q, &u, &v));
    return 1;
}

static const struct route_steps polarfly_steps = {
    .reach = polarfly_reach, .apart = polarfly_apart, .toward = polarfly_toward};

static enum ker_status polarfly_build(struct route_topology *topology, const struct ker_config *config,
                                      struct ker_error *error)
{
    static const char *const classes[] = {"link", NULL};
    struct polarfly *polarfly = (struct polarfly *)topology;
    struct closed *c = &polarfly->closed;
    uint32_t q;
    enum ker_status status = route_prime_power_read(config, false, &q, error);
    if (status != KER_OK)
        return status;
    uint64_t switches = (uint64_t)q * q + q + 1;
    c->nodes = (uint32_t)ker_config_int(config, "topology.nodes_per_switch");
    c->block = c->leaves = 1;
    /* q + 1 switches have a link fewer */
    status = closed_make(c, config, classes, switches, (uint64_t)q * (q + 1) * (q + 1) / 2,
                         c->nodes + q + 1ull, error);
    if (status != KER_OK)
        return status;
    route_field_make(&polarfly->field, q);
    snprintf(topology->summary.text, sizeof topology->summary.text,
             "PolarFly q = %u, %u per switch, %u nodes, %u switches", q, c->nodes,
             topology->summary.endpoints, topology->summary.switches);
    return KER_OK;
}

static void polarfly_release(struct route_topology *topology)
{
    route_field_release(&((struct polarfly *)topology)->field);
}

const struct ker_kind route_polarfly = {
    .name = "polarfly",
    .meaning = "PolarFly: the polarity graph of a projective plane, diameter 2",
    .operations =
        &(const struct route_kind){CLOSED_OPERATIONS(&polarfly_steps, closed_hops),
                                   .size = sizeof(struct polarfly), .build = polarfly_build,
                                   .release = polarfly_release, .ports = closed_ports, .port = polarfly_port,
                                   .group = polarfly_group, .groups = polarfly_groups},
    .options = KER_OPTIONS(route_prime_power_options, route_nodes_per_switch_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, route_paths_algorithms),
};
