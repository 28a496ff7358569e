/* Patterns with geometry: tornado, transpose, neighbour; and on node numbers: bit complement, bit reverse,
 * shuffle, shift.
 *
 * When the topology is a grid and all its nodes take part, they use coordinates; otherwise node numbers. The
 * grid is kept as one stride per dimension, so that a step is a division and an addition. The strides are not
 * assumed but checked against route_coordinates() on a sample of nodes; if neither order fits, node numbers
 * are used.
 */
#include "tasks/traffic/traffic.h"

#define SAMPLES 97

static uint32_t grid_coordinate(const struct task_traffic_grid *g, uint32_t node, int dimension)
{
    return node / g->stride[dimension] % g->extent[dimension];
}

/* Moves a node to another coordinate in one dimension. */
static uint32_t grid_move(const struct task_traffic_grid *g, uint32_t node, int dimension, uint32_t to)
{
    return node + to * g->stride[dimension] - grid_coordinate(g, node, dimension) * g->stride[dimension];
}

static bool grid_fits(const struct task_traffic_grid *g, const struct route_topology *topology,
                      uint32_t nodes)
{
    for (uint64_t i = 0; i < SAMPLES; i++) {
        uint32_t node = (uint32_t)(i * (nodes - 1) / (SAMPLES - 1)), at[8];
        route_coordinates(topology, node * route_summarise(topology)->adapters, at);
        for (int d = 0; d < g->dimensions; d++)
            if (at[d] != grid_coordinate(g, node, d))
                return false;
    }
    return true;
}

static void grid_strides(struct task_traffic_grid *g, uint32_t per_switch, bool first_fastest)
{
    uint32_t stride = per_switch;
    for (int i = 0; i < g->dimensions; i++) {
        int d = first_fastest ? i : g->dimensions - 1 - i;
        g->stride[d] = stride;
        stride *= g->extent[d];
    }
}

void task_traffic_grid_init(struct task_traffic_grid *g, const struct route_topology *topology)
{
    uint32_t nodes = route_hosts(route_summarise(topology)), adapters = route_summarise(topology)->adapters;
    uint64_t places = 1;
    g->dimensions = route_grid(topology, g->extent);
    for (int d = 0; d < g->dimensions; d++)
        places *= g->extent[d];
    if (places <= 1 || nodes % places != 0) {
        g->dimensions = 0;
        return;
    }
    grid_strides(g, (uint32_t)(nodes / places), true);
    if (!grid_fits(g, topology, nodes)) {
        grid_strides(g, (uint32_t)(nodes / places), false);
        if (!grid_fits(g, topology, nodes)) {
            g->dimensions = 0;
            return;
        }
    }
    /* The two ends of a dimension are one link apart when it is closed to a ring: injection, link, ejection.
     */
    for (int d = 0; d < g->dimensions; d++)
        g->wrapped[d] = g->extent[d] > 2 &&
                        route_distance(topology, 0, (g->extent[d] - 1) * g->stride[d] * adapters) == 3;
}

/* Dally and Towles, Principles and Practices of Interconnection Networks, 2004, table 3.1: coordinate +
 * ceil(k/2) - 1. */
static uint32_t task_traffic_tornado(const struct task_traffic *t, uint32_t node)
{
    const struct task_traffic_grid *g = &t->grid;
    if (g->dimensions == 0)
        return (uint32_t)(((uint64_t)node + (t->nodes > 2 ? (t->nodes + 1) / 2 - 1 : 1)) % t->nodes);
    uint32_t to = node;
    for (int d = 0; d < g->dimensions; d++) {
        uint32_t k = g->extent[d];
        to = grid_move(g, to, d, (grid_coordinate(g, node, d) + (k + 1) / 2 - 1) % k);
    }
    return to;
}

static bool grid_palindromic(const struct task_traffic_grid *g)
{
    for (int d = 0; d < g->dimensions; d++)
        if (g->extent[d] != g->extent[g->dimensions - 1 - d])
            return false;
    return g->dimensions > 1;
}

static enum ker_status task_traffic_transpose_read(struct task_traffic *t, const struct ker_config *config,
                                                   const struct route_topology *topology,
                                                   struct ker_error *error)
{
    if (grid_palindromic(&t->grid))
        return KER_OK;
    t->grid.dimensions = 0;
    uint32_t root = 1;
    while ((uint64_t)(root + 1) * (root + 1) <= t->nodes)
        root++;
    if ((uint64_t)root * root != t->nodes)
        return ker_config_fail(
            config, error, "traffic.pattern",
            "transpose needs a grid whose extents read the same backwards, or a square number of nodes "
            "(%u is the nearest below %u)",
            root * root, t->nodes);
    t->where.root = root;
    return KER_OK;
}

static uint32_t task_traffic_transpose(const struct task_traffic *t, uint32_t node)
{
    const struct task_traffic_grid *g = &t->grid;
    if (g->dimensions == 0)
        return node % t->where.root * t->where.root + node / t->where.root;
    uint32_t to = node;
    for (int d = 0; d < g->dimensions; d++)
        to = grid_move(g, to, d, grid_coordinate(g, node, g->dimensions - 1 - d));
    return to;
}

/* For a power of two all bits of the number are complemented; on a grid every coordinate is mirrored. */
static uint32_t task_traffic_bit_complement(const struct task_traffic *t, uint32_t node)
{
    return t->nodes - 1 - node;
}

static bool power_of_two(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static enum ker_status task_traffic_bit_reverse_read(struct task_traffic *t, const struct ker_config *config,
                                                     const struct route_topology *topology,
                                                     struct ker_error *error)
{
    if (power_of_two(t->nodes))
        return KER_OK;
    return ker_config_fail(config, error, "traffic.pattern",
                           "bit_reverse needs a power of two of nodes, not %u; with traffic.last_node "
                           "= %u the first %u take part",
                           t->nodes, t->first + (1u << (31 - __builtin_clz(t->nodes))) - 1,
                           1u << (31 - __builtin_clz(t->nodes)));
}

static uint32_t task_traffic_bit_reverse(const struct task_traffic *t, uint32_t node)
{
    uint32_t to = 0;
    for (uint32_t bit = 1; bit < t->nodes; bit <<= 1) {
        to = to << 1 | (node & 1);
        node >>= 1;
    }
    return to;
}

/* Of a power of two the rotation of the number's bits; of any even number the perfect shuffle of a deck of
 * this many cards. */
static enum ker_status task_traffic_shuffle_read(struct task_traffic *t, const struct ker_config *config,
                                                 const struct route_topology *topology,
                                                 struct ker_error *error)
{
    if (t->nodes % 2 == 0)
        return KER_OK;
    return ker_config_fail(config, error, "traffic.pattern",
                           "shuffle needs an even number of nodes, not %u; choose another traffic.last_node",
                           t->nodes);
}

static uint32_t task_traffic_shuffle(const struct task_traffic *t, uint32_t node)
{
    return node == t->nodes - 1 ? node : (uint32_t)(2 * (uint64_t)node % (t->nodes - 1));
}

static enum ker_status task_traffic_shift_read(struct task_traffic *t, const struct ker_config *config,
                                               const struct route_topology *topology, struct ker_error *error)
{
    int64_t shift = ker_config_int(config, "traffic.shift");
    t->where.shift = (uint32_t)(shift % t->nodes);
    if (t->where.shift == 0)
        return ker_config_fail(config, error, "traffic.shift", "of %lld leads back to the same of %u nodes",
                               (long long)shift, t->nodes);
    return KER_OK;
}

static uint32_t task_traffic_shift(const struct task_traffic *t, uint32_t node)
{
    return (uint32_t)(((uint64_t)node + t->where.shift) % t->nodes);
}

/* Steps 2d and 2d + 1 lead forward and back in dimension d; a step over the edge of an open dimension, or one
 * that a ring of two makes twice, is left out: the next one is taken. */
static uint32_t task_traffic_neighbour(const struct task_traffic *t, uint32_t node,
                                       const struct ker_bits *bits, uint64_t number)
{
    const struct task_traffic_grid *g = &t->grid;
    if (g->dimensions == 0)
        return number % 2 == 0 ? (node + 1 == t->nodes ? 0 : node + 1) : (node ? node : t->nodes) - 1;
    uint32_t steps = 2 * (uint32_t)g->dimensions;
    for (uint64_t i = number; i < number + steps; i++) {
        int d = (int)(i % steps / 2);
        uint32_t at = grid_coordinate(g, node, d), k = g->extent[d];
        bool forward = i % 2 == 0, edge = forward ? at + 1 == k : at == 0;
        if (edge && !g->wrapped[d])
            continue;
        return grid_move(g, node, d, forward ? (edge ? 0 : at + 1) : (edge ? k : at) - 1);
    }
    ker_broken("a grid has an extent above 1", __FILE__, __LINE__);
}

const struct ker_option task_traffic_shift_options[] = {
    {"traffic.shift", KER_TYPE_INT, "1", "1", NULL, NULL,
     "How much further on the destinations are: adversarial counts groups, shift counts nodes."},
    {0},
};

TASK_TRAFFIC_PATTERN(tornado, "nearly half around every dimension", NULL, .partner = task_traffic_tornado);
TASK_TRAFFIC_PATTERN(transpose, "coordinates in reverse order, or row and column swapped", NULL,
                     .read = task_traffic_transpose_read, .partner = task_traffic_transpose);
TASK_TRAFFIC_PATTERN(bit_complement, "node i to node n - 1 - i", NULL,
                     .partner = task_traffic_bit_complement);
TASK_TRAFFIC_PATTERN(bit_reverse, "the bits of the node's number in reverse order", NULL,
                     .read = task_traffic_bit_reverse_read, .partner = task_traffic_bit_reverse);
TASK_TRAFFIC_PATTERN(shuffle, "the bits of the node's number rotated: node i to node 2 i", NULL,
                     .read = task_traffic_shuffle_read, .partner = task_traffic_shuffle);
TASK_TRAFFIC_PATTERN(shift, "node i to node i + traffic.shift", KER_OPTIONS(task_traffic_shift_options),
                     .read = task_traffic_shift_read, .partner = task_traffic_shift);
TASK_TRAFFIC_PATTERN(neighbour, "to the nearest nodes of the grid in turn", NULL,
                     .draw = task_traffic_neighbour);
