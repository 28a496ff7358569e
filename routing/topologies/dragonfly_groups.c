/* dragonfly_groups.c - the dragonfly with an arrangement of its global links, or with groups of two
 * dimensions (Cray Cascade: Faanes et al. 2012): each row and each column of a group's switches is fully
 * connected.
 *
 * Switch id = group a + row columns + column. Ports: nodes, the links of the row to the switch one place
 * further round, two places, ..., those of the column, the global ones. One row is the group that is fully
 * connected.
 *
 * Routes are direct: to a switch of the group with a link to the destination's group, over it, and on there;
 * of all such links those of the shortest such routes. Deadlock: in a group of the route, rows come before
 * columns. Of equally long routes those count whose global link is nearest: while a packet approaches it no
 * other one becomes as near, so that it never takes a row's link behind a column's before it leaves the
 * group. Before the global link and behind it are a class each.
 */
#include "routing/topologies/dragonfly_groups.h"
#include "routing/topologies/arrangement.h"

struct grouped {
    struct arranged all;
    uint32_t columns, rows, row_links, column_links;
};
_Static_assert(sizeof(struct grouped) <= sizeof(struct hierarchy), "dragonflies have room for either");

static const struct grouped *grouped_of(const struct route_topology *topology)
{
    return (const struct grouped *)topology;
}

static uint32_t first_column_port(const struct grouped *g)
{
    return g->all.closed.nodes + (g->columns - 1) * g->row_links;
}

static uint32_t first_global_port(const struct grouped *g)
{
    return first_column_port(g) + (g->rows - 1) * g->column_links;
}

/* To another place of a row or column of `extent` places, on the nth port of its links: where that is, and
 * which port leads back. */
static uint32_t place_ahead(uint32_t from, uint32_t extent, uint32_t links, uint32_t n, uint32_t *back)
{
    uint32_t ahead = n / links;
    *back = (extent - 2 - ahead) * links + n % links;
    return (from + ahead + 1) % extent;
}

static void grouped_port(const struct route_topology *topology, uint32_t switch_id, uint32_t port,
                         struct route_peer *peer)
{
    const struct grouped *g = grouped_of(topology);
    uint32_t group = switch_id / g->all.size, i = switch_id % g->all.size, row = i / g->columns,
             column = i % g->columns, back, rows = first_column_port(g), globals = first_global_port(g);
    if (closed_node_port(topology, switch_id, port, peer))
        return;
    if (port < rows) {
        column = place_ahead(column, g->columns, g->row_links, port - g->all.closed.nodes, &back);
        peer->port = (uint16_t)(g->all.closed.nodes + back);
    } else if (port < globals) {
        row = place_ahead(row, g->rows, g->column_links, port - rows, &back);
        peer->port = (uint16_t)(rows + back);
        peer->link = 1;
    } else {
        arranged_port(topology, switch_id, globals, port - globals, g->rows > 1 ? 2 : 1, peer);
        return;
    }
    peer->id = group * g->all.size + row * g->columns + column;
}

static uint32_t grouped_board(const struct route_topology *topology, uint32_t switch_id)
{
    return switch_id / grouped_of(topology)->columns;
}

/* ---- paths ---- */

/* Links between two switches of a group, by their numbers there. */
static uint32_t local_apart(const struct grouped *g, uint32_t i, uint32_t j)
{
    return (uint32_t)(i % g->columns != j % g->columns) + (i / g->columns != j / g->columns);
}

static uint32_t grouped_reach(const struct route_topology *topology)
{
    const struct grouped *g = grouped_of(topology);
    return 1 + 2 * ((uint32_t)(g->columns > 1) + (g->rows > 1));
}

/* Links of the route over the nth link between the groups, and those before it; UINT32_MAX: there is no such
 * link. */
static uint32_t lane_apart(const struct grouped *g, uint32_t from, uint32_t to, uint32_t n, uint32_t *near,
                           uint32_t *port)
{
    const struct arrangement *a = &g->all.arrangement;
    *port = arrangement_lane(a, from / g->all.size, to / g->all.size, n);
    if (*port == ARRANGEMENT_NONE)
        return UINT32_MAX;
    uint32_t there = a->peer[from / g->all.size * a->ports + *port] % a->ports / a->h;
    *near = local_apart(g, from % g->all.size, *port / a->h);
    return *near + 1 + local_apart(g, there, to % g->all.size);
}

static uint32_t grouped_apart(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct grouped *g = grouped_of(topology);
    uint32_t least = UINT32_MAX, links, near, port;
    if (from / g->all.size == to / g->all.size)
        return local_apart(g, from % g->all.size, to % g->all.size);
    for (uint32_t n = 0; (links = lane_apart(g, from, to, n, &near, &port)) != UINT32_MAX; n++)
        least = links < least ? links : least;
    return least;
}

static int ports_add(uint32_t first, uint32_t links, int count, uint16_t *port)
{
    for (int i = 0; i < count; i++)
        if (port[i] == first)
            return count;
    for (uint32_t n = 0; n < links && count < ROUTE_MAX_CHOICES; n++)
        port[count++] = (uint16_t)(first + n);
    return count;
}

static uint32_t ahead(uint32_t from, uint32_t to, uint32_t extent)
{
    return to - from - 1 + (to < from ? extent : 0);
}

/* Adds the ports that lead nearer to switch j of the group; ordered: in the row first. */
static int local_toward(const struct grouped *g, uint32_t i, uint32_t j, bool ordered, int count,
                        uint16_t *port)
{
    uint32_t column = i % g->columns, row = i / g->columns, to_column = j % g->columns,
             to_row = j / g->columns;
    if (column != to_column)
        count = ports_add(g->all.closed.nodes + ahead(column, to_column, g->columns) * g->row_links,
                          g->row_links, count, port);
    if (row != to_row && (column == to_column || !ordered))
        count = ports_add(first_column_port(g) + ahead(row, to_row, g->rows) * g->column_links,
                          g->column_links, count, port);
    return count;
}

static int grouped_toward(const struct route_topology *topology, uint32_t from, uint32_t to, bool ordered,
                          uint16_t *ports)
{
    const struct grouped *g = grouped_of(topology);
    const struct arrangement *a = &g->all.arrangement;
    uint32_t i = from % g->all.size, least = grouped_apart(topology, from, to), nearest = UINT32_MAX, near,
             port, links;
    int count = 0;
    if (from / g->all.size == to / g->all.size)
        return local_toward(g, i, to % g->all.size, ordered, 0, ports);
    for (uint32_t n = 0; (links = lane_apart(g, from, to, n, &near, &port)) != UINT32_MAX; n++)
        if (links == least && near < nearest)
            nearest = near;
    for (uint32_t n = 0; (links = lane_apart(g, from, to, n, &near, &port)) != UINT32_MAX; n++) {
        if (links != least || (ordered && near != nearest))
            continue;
        count = near ? local_toward(g, i, port / a->h, ordered, count, ports)
                     : ports_add(first_global_port(g) + port % a->h, 1, count, ports);
    }
    return count;
}

static uint32_t grouped_order_class(const struct route_topology *topology, uint32_t from, uint32_t to)
{
    const struct grouped *g = grouped_of(topology);
    return from / g->all.size == to / g->all.size;
}

static const struct route_steps grouped_steps = {.reach = grouped_reach,
                                                 .by_group = true,
                                                 .apart = grouped_apart,
                                                 .toward = grouped_toward,
                                                 .order_classes = 2,
                                                 .order_class = grouped_order_class};

static const struct route_kind grouped_kind = {CLOSED_OPERATIONS(&grouped_steps, closed_hops),
                                               .size = sizeof(struct grouped),
                                               .release = arranged_release,
                                               .ports = closed_ports,
                                               .port = grouped_port,
                                               .group = arranged_group,
                                               .groups = arranged_groups,
                                               .board = grouped_board,
                                               .algorithms = route_paths_algorithms};

/* ---- set-up ---- */

const struct ker_option dragonfly_group_options[] = {
    {"topology.rows", KER_TYPE_INT, "1", "1", "65535", NULL,
     "Dragonfly: rows of the a switches of a group, whose rows and columns are fully connected (Cray "
     "Cascade: a = 96, 6 rows, column_links = 3)."},
    {"topology.row_links", KER_TYPE_INT, "1", "1", "64", NULL,
     "Dragonfly, with rows or an arrangement: links in parallel between each two switches of a row."},
    {"topology.column_links", KER_TYPE_INT, "1", "1", "64", NULL, "The same of a column.",
     "topology.rows!=1"},
    {0},
};

bool dragonfly_is_grouped(const struct ker_config *config)
{
    static const char *const keys[] = {"topology.arrangement", "topology.arrangement_file",
                                       "topology.group_links"};
    bool grouped =
        ker_config_int(config, "topology.rows") > 1 || ker_config_int(config, "topology.row_links") > 1;
    for (int i = 0; i < 3; i++)
        grouped |= ker_config_has(config, keys[i]);
    return grouped;
}

enum ker_status dragonfly_groups_build(struct route_topology *topology, const struct ker_config *config,
                                       struct ker_error *error)
{
    struct grouped *g = (struct grouped *)topology;
    struct route_summary *summary = &topology->summary;
    topology->kind = &grouped_kind;
    g->all.closed.block = g->all.closed.leaves = 1;
    g->all.closed.nodes = (uint32_t)ker_config_int(config, "topology.p");
    g->all.size = (uint32_t)ker_config_int(config, "topology.a");
    g->rows = (uint32_t)ker_config_int(config, "topology.rows");
    g->row_links = (uint32_t)ker_config_int(config, "topology.row_links");
    g->column_links = (uint32_t)ker_config_int(config, "topology.column_links");
    if (g->all.size % g->rows)
        return ker_config_fail(config, error, "topology.rows",
                               "of %u do not divide the %u switches of a group evenly", g->rows, g->all.size);
    g->columns = g->all.size / g->rows;
    enum ker_status status = arrangement_read(&g->all.arrangement, config, g->all.size, "absolute", error);
    if (status != KER_OK)
        return status;
    uint64_t local = (uint64_t)(g->columns - 1) * g->row_links + (uint64_t)(g->rows - 1) * g->column_links,
             groups = g->all.arrangement.groups;
    status = closed_count(&g->all.closed, config, groups * g->all.size,
                          groups * g->all.size * local / 2 + g->all.arrangement.links,
                          g->all.closed.nodes + local + g->all.arrangement.h, error);
    snprintf(summary->text, sizeof summary->text,
             "dragonfly p = %u, a = %u in %u row%s, h = %u, %u groups, %u nodes, %u switches",
             g->all.closed.nodes, g->all.size, g->rows, g->rows > 1 ? "s" : "", g->all.arrangement.h,
             g->all.arrangement.groups, summary->endpoints, summary->switches);
    return status;
}
