/* slim_fly.c - slim fly (Besta and Hoefler 2014): the graphs of McKay, Miller and Siran (1998), 2 q^2
 * switches of degree (3 q - d) / 2, diameter 2, q = 4 w + d a prime power, d one of -1, 0, 1.
 *
 * Switches are (0, x, y), number x q + y, and (1, m, c), number q^2 + m q + c. (0, x, y) and (0, x, z) are
 * linked when z - y is in the set X, (1, m, c) and (1, m, e) when e - c is in Y, (0, x, y) and (1, m, c) when
 * y = m x + c. With the powers of a primitive element, even exponents are in X and odd ones in Y; for d = -1,
 * where -1 is an odd power, the even ones below q / 2 and the odd ones from there on in X, and in Y the
 * others, so that both sets are those of their negatives. Ports: nodes, the links of the set by its elements'
 * order, then those to the other half, by m or x.
 *
 * Two switches of one half but not of one x (or m) have one neighbour in common; of one x, as many as there
 * are sums of two elements of the set that give the difference; of different halves one or two, as the
 * difference is in the sets.
 */
#include "routing/topologies/closed.h"
#include "routing/topologies/field.h"

#include <stdlib.h>

struct slim_fly {
    struct closed closed;
    struct route_field field;
    uint32_t elements;    /* of a set */
    uint16_t *element[2]; /* X, Y */
    uint16_t *place[2];   /* of a number: 1 + which element it is; 0: none */
};

/* half 0: (x, y), 1: (m, c). */
struct at {
    uint32_t half, x, y;
};

static const struct slim_fly *slim_of(const struct route_topology *topology)
{
    return (const struct slim_fly *)topology;
}

static struct at at_of(const struct slim_fly *s, uint32_t id)
{
    uint32_t q = s->field.q, half = id >= q * q;
    id -= half ? q * q : 0;
    return (struct at){half, id / q, id % q};
}

static uint32_t id_of(const struct slim_fly *s, const struct at *at)
{
    return (at->half * s->field.q + at->x) * s->field.q + at->y;
}

/* Of the link of `from` to the other half's x: the y there. */
static uint32_t across(const struct slim_fly *s, const struct at *from, uint32_t x)
{
    uint32_t product = route_field_mul(&s->field, from->x, x);
    return from->half ? route_field_add(&s->field, from->y, product)
                      : route_field_sub(&s->field, from->y, product);
}

static void slim_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                      struct route_peer *peer)
{
    const struct slim_fly *s = slim_of(topology);
    if (closed_node_port(topology, switch_id, port, peer))
        return;
    uint32_t nodes = s->closed.nodes, n = port - nodes;
    struct at from = at_of(s, switch_id), to = from;
    if (n < s->elements) {
        uint32_t element = s->element[from.half][n];
        to.y = route_field_add(&s->field, from.y, element);
        n = s->place[from.half][route_field_sub(&s->field, 0, element)] - 1u;
    } else {
        to = (struct at){!from.half, n - s->elements, across(s, &from, n - s->elements)};
        n = s->elements + from.x;
        peer->link = 1;
    }
    peer->id = id_of(s, &to);
    peer->port = (uint16_t)(nodes + n);
}

/* Racks have the switches of an x and those of the m that is the same number. */
static uint32_t slim_group(const struct route_topology *topology, uint32_t switch_id)
{
    return at_of(slim_of(topology), switch_id).x;
}

static uint32_t slim_groups(const struct route_topology *topology)
{
    return slim_of(topology)->field.q;
}

static uint32_t slim_reach(const struct route_topology *topology)
{
    return 2;
}

/* The port to a neighbour; 0: it is none. */
static uint32_t port_to(const struct slim_fly *s, const struct at *from, const struct at *to)
{
    if (from->half != to->half)
        return across(s, from, to->x) == to->y ? s->closed.nodes + s->elements + to->x : 0;
    uint32_t place = from->x == to->x ? s->place[from->half][route_field_sub(&s->field, to->y, from->y)] : 0;
    return place ? s->closed.nodes + place - 1 : 0;
}

static uint32_t slim_apart(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct slim_fly *s = slim_of(topology);
    struct at a = at_of(s, from), b = at_of(s, to);
    return from == to ? 0 : port_to(s, &a, &b) ? 1 : 2;
}

static int slim_toward(const struct route_topology *topology, uint32_t from, uint32_t to, bool ordered,
                       uint16_t *port)
{
    const struct slim_fly *s = slim_of(topology);
    struct at a = at_of(s, from), b = at_of(s, to), via = a;
    int count = 0;
    if (from == to)
        return 0;
    if (port_to(s, &a, &b)) {
        *port = (uint16_t)port_to(s, &a, &b);
        return 1;
    }
    if (a.half != b.half) { /* first inside the half, or first across */
        via.y = across(s, &b, a.x);
        struct at other = {b.half, b.x, across(s, &a, b.x)};
        if (port_to(s, &a, &via))
            port[count++] = (uint16_t)port_to(s, &a, &via);
        if (port_to(s, &other, &b))
            port[count++] = (uint16_t)port_to(s, &a, &other);
        return count;
    }
    if (a.x != b.x) { /* the line through both, or the point of both lines */
        uint32_t rise = route_field_sub(&s->field, a.half ? b.y : a.y, a.half ? a.y : b.y);
        via.x = route_field_div(&s->field, rise, route_field_sub(&s->field, a.x, b.x));
        port[0] = (uint16_t)(s->closed.nodes + s->elements + via.x);
        return 1;
    }
    for (uint32_t i = 0; i < s->elements && count < ROUTE_MAX_CHOICES; i++) {
        via.y = route_field_add(&s->field, a.y, s->element[a.half][i]);
        if (port_to(s, &via, &b))
            port[count++] = (uint16_t)(s->closed.nodes + i);
    }
    return count;
}

static const struct route_steps slim_steps = {
    .reach = slim_reach, .apart = slim_apart, .toward = slim_toward};

static void sets_make(struct slim_fly *s)
{
    uint32_t q = s->field.q, count[2] = {0};
    s->elements = q % 4 == 3 ? (q + 1) / 2 : q / 2;
    for (int half = 0; half < 2; half++) {
        s->element[half] = ker_alloc(s->elements * sizeof *s->element[half]);
        s->place[half] = ker_alloc(q * sizeof *s->place[half]);
    }
    /* exponents: of X 0, 2, 4, ...; of Y 1, 3, 5, ..., which for even q ends with q - 1; with d = -1 the
     * parity changes behind the middle */
    for (uint32_t i = 0; i < 2 * s->elements; i++) {
        uint32_t half = i % 2, exponent = i;
        if (q % 4 == 3 && i >= s->elements)
            exponent = i - 1;
        uint32_t number = s->field.power[exponent % (q - 1)];
        s->element[half][count[half]++] = (uint16_t)number;
        s->place[half][number] = (uint16_t)count[half];
    }
}

static enum ker_status slim_build(struct route_topology *topology, const struct ker_config *config,
                                  struct ker_error *error)
{
    static const char *const classes[] = {"local", "global", NULL};
    struct slim_fly *s = (struct slim_fly *)topology;
    struct closed *c = &s->closed;
    uint32_t q;
    enum ker_status status = route_prime_power_read(config, true, &q, error);
    if (status != KER_OK)
        return status;
    uint64_t half = (uint64_t)q * q, degree = q + (q % 4 == 3 ? (q + 1) / 2 : q / 2);
    c->nodes = (uint32_t)ker_config_int(config, "topology.nodes_per_switch");
    c->block = c->leaves = 1;
    status = closed_make(c, config, classes, 2 * half, half * degree, c->nodes + degree, error);
    if (status != KER_OK)
        return status;
    route_field_make(&s->field, q);
    sets_make(s);
    snprintf(topology->summary.text, sizeof topology->summary.text,
             "slim fly q = %u, %u per switch, %u nodes, %u switches", q, c->nodes,
             topology->summary.endpoints, topology->summary.switches);
    return KER_OK;
}

static void slim_release(struct route_topology *topology)
{
    struct slim_fly *s = (struct slim_fly *)topology;
    route_field_release(&s->field);
    for (int half = 0; half < 2; half++) {
        free(s->element[half]);
        free(s->place[half]);
    }
}

const struct ker_kind route_slim_fly = {
    .name = "slim_fly",
    .meaning = "slim fly: the graphs of McKay, Miller and Siran, diameter 2",
    .operations = &(const struct route_kind){CLOSED_OPERATIONS(&slim_steps, closed_hops),
                                             .size = sizeof(struct slim_fly), .build = slim_build,
                                             .release = slim_release, .ports = closed_ports,
                                             .port = slim_port, .group = slim_group, .groups = slim_groups},
    .options = KER_OPTIONS(route_prime_power_options, route_nodes_per_switch_options, route_link_options),
    .brings = KER_BRINGS("routing.algorithm", struct route_algorithm, route_paths_algorithms),
};
