/* algorithms.c - the algorithms of any topology, which route by tables: how theirs are made, and the route
 * function of all. */
#include "routing/import/import.h"
#include "routing/tables/maker.h"
#include "routing/tables/share.h"

#include <string.h>

/* ---- weights ---- */

static enum ker_status weights_make(struct route_maker *m, const struct route_topology *topology,
                                    const struct ker_config *config, struct ker_error *error)
{
    const char *kind = ker_config_string(config, "routing.weights");
    const struct route_wires *wires = m->wires;
    if (strcmp(kind, "hops") == 0)
        return KER_OK;
    m->weight = ker_alloc((wires->links + (size_t)1) * sizeof *m->weight);
    if (strcmp(kind, "file") == 0)
        return route_weights_read(m->weight, topology, wires, config, error);
    for (uint32_t i = 0; i < wires->links; i++) {
        ker_time latency = topology->summary.link[wires->class[i]].latency;
        m->weight[i] = latency < UINT32_MAX ? (uint32_t)latency : UINT32_MAX;
    }
    return KER_OK;
}

/* ---- the algorithms ---- */

/* Paths by the packet's hops where links wait for each other in a circle. */
static void classes_set(struct route_table *table, const struct route_maker *m)
{
    table->classes = 1;
    if (!m->cyclic)
        return;
    table->classes = m->most_links;
    for (uint32_t at = 0; at < table->hop_used; at += 1u + table->hop[at].port)
        for (uint32_t i = 1; i <= table->hop[at].port; i++)
            if (table->hop[at + i].class == 0)
                table->hop[at + i].class = ROUTE_TABLE_HOPS;
}

/* m->weight and m->one are set, if that went well. */
static enum ker_status shortest_make(struct route_maker *m, struct route_topology *topology,
                                     const struct ker_config *config, enum ker_status status,
                                     struct ker_error *error)
{
    status = route_share_begin(m, topology->comm, status);
    if (status != KER_OK)
        return status;
    uint32_t extents[ROUTE_FACTORS];
    int dimensions = route_grid(topology, extents);
    if (!m->weight && !m->passed_by)
        m->factors = route_factors_new(m->wires, extents, dimensions);
    route_waits_init(&m->waits, m->wires);
    route_maker_fill(m);
    route_share_settle(m);
    if (m->cyclic && m->most_links >= ROUTE_TABLE_CLASSES)
        status = ker_config_fail(config, error, "routing.algorithm",
                                 "\"%s\" would need %u virtual channels on this %s: its longest path "
                                 "has this many links; use \"updown\"",
                                 ker_config_string(config, "routing.algorithm"), m->most_links,
                                 topology->summary.topology);
    classes_set(m->table, m);
    return status;
}

static enum ker_status table_make(struct route_topology *topology, const struct ker_config *config, bool one,
                                  bool weighted, struct ker_error *error)
{
    struct route_wires wires;
    struct route_maker m = {.one = one};
    route_wires_make(&wires, topology);
    route_maker_init(&m, &wires);
    enum ker_status status = weighted ? weights_make(&m, topology, config, error) : KER_OK;
    status = shortest_make(&m, topology, config, status, error);
    topology->table = m.table;
    route_maker_release(&m);
    route_wires_release(&wires);
    return status;
}

static enum ker_status shortest_prepare(struct route_topology *topology, const struct ker_config *config,
                                        struct ker_error *error)
{
    return table_make(topology, config, ker_config_is(config, "routing.paths", "one"), true, error);
}

enum ker_status route_shortest_prepare(struct route_topology *topology, const struct ker_config *config,
                                       bool one, struct ker_error *error)
{
    return table_make(topology, config, one, false, error);
}

static enum ker_status layered_prepare(struct route_topology *topology, const struct ker_config *config,
                                       struct ker_error *error)
{
    static const char key[] = "routing.algorithm";
    struct route_wires wires;
    struct route_maker m = {.one = true};
    route_wires_make(&wires, topology);
    route_maker_init(&m, &wires);
    m.layers = route_layers_new(&wires);
    enum ker_status status = weights_make(&m, topology, config, error);
    if (status == KER_OK && !m.layers)
        status = ker_config_fail(
            config, error, key,
            "\"layered\" is not possible on so large a network: its links have too many pairs "
            "that follow each other; use \"updown\"");
    status = route_share_begin(&m, topology->comm, status);
    if (status == KER_OK) {
        route_table_layers_begin(m.table);
        if (!route_share_in_turn(&m))
            status =
                ker_config_fail(config, error, key,
                                "\"layered\" finds no %d layers of channels that are free of deadlock; use "
                                "\"updown\"",
                                ROUTE_MAX_LAYERS);
    }
    topology->table = m.table;
    route_maker_release(&m);
    route_wires_release(&wires);
    return status;
}

uint32_t route_table_channels(const struct route_topology *topology)
{
    return topology->table->classes;
}

#define TABLE_PATH 40 /* what route_pick calls the choice of a destination's column */

/* Returns 0 for a destination without paths: a pair that faults have separated. */
int route_table_next(const struct route_topology *topology, uint64_t coordinate, uint32_t switch_id,
                     const struct route_packet *packet, struct route_choice *choices)
{
    const struct route_table *table = topology->table;
    const struct route_hop *hop;
    uint32_t column = packet->destination, state = packet->state;
    if (table->paths > 1)
        column = column * table->paths + route_pick(packet, TABLE_PATH, table->paths);
    uint32_t count = route_table_hops(table, switch_id, column, &hop);
    if (table->layers.root && packet->hops == 0)
        state = route_table_layer(table, switch_id, packet->destination);
    if (table->lanes && packet->hops == 0)
        state = route_lanes_level(table->lanes, packet->source, column);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t class = hop[i].class;
        choices[i] = (struct route_choice){.port = hop[i].port, .state = state};
        if (class == ROUTE_TABLE_ANY) {
            route_channel(&choices[i], 0, topology->channels);
            continue;
        }
        if (class == ROUTE_TABLE_LAYER)
            class = state;
        else if (class == ROUTE_TABLE_HOPS)
            class = packet->hops;
        else if (class == ROUTE_TABLE_LANE && table->lanes)
            class = route_lanes_class(table->lanes, switch_id, packet->in_port, hop[i].port, state);
        ker_check(class < table->classes || packet->oracle); /* the proof asks for hops no packet has, too */
        route_channel(&choices[i], class * table->spread, table->spread);
    }
    return (int)count;
}

static bool table_alike(const struct route_topology *topology, uint32_t a, uint32_t b)
{
    const struct route_table *table = topology->table;
    uint32_t own, paths = table->paths > 1 ? table->paths : 1;
    uint16_t port;
    if (table->lanes || table->shared)
        return false;
    if (a == b || table->by_switch)
        return true;
    route_attachment(topology, a, &own, &port);
    for (uint32_t s = 0; s < table->switches; s++) {
        if (route_table_layer(table, s, a) != route_table_layer(table, s, b))
            return false;
        for (uint32_t i = 0; i < paths && s != own; i++)
            if (route_table_set(table, s, a * paths + i) != route_table_set(table, s, b * paths + i))
                return false;
    }
    return true;
}

static enum ker_status table_prepare(struct route_topology *topology, const struct ker_config *config,
                                     struct ker_error *error)
{
    bool taken;
    enum ker_status status = route_opensm_read(topology, config, &taken, error);
    return status || taken ? status : route_table_read(topology, config, error);
}

static const struct ker_option weights_options[] = {
    {"routing.weights", KER_TYPE_CHOICE, "hops", NULL, NULL, "hops|latency|file",
     "Shortest, layered: what makes a path short: few links, little latency of links, or weights of links as "
     "routing.weight_file says."},
    {"routing.weight_file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "With weights = \"file\": a weight per link, see docs/routing-tables.md.", "routing.weights=file"},
    {0},
};

static const struct ker_option paths_options[] = {
    {"routing.paths", KER_TYPE_CHOICE, "all", NULL, NULL, "all|one",
     "Shortest, updown: a switch has all paths to a destination to choose from by routing.selection, or just "
     "one, spread over the destinations (on a fat tree: d-mod-k).",
     .formerly = "routing.ways"},
    {0},
};

static const struct ker_option updown_options[] = {
    {"routing.root", KER_TYPE_INT | KER_TYPE_LIST, NULL, "0", NULL, NULL,
     "Updown: the switch or switches at the top. Absent: those farthest from any node; where all switches "
     "have nodes, that with the least distance to the farthest other."},
    {0},
};

static const struct ker_option table_options[] = {
    {"routing.table", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "With algorithm = \"table\": the file, see docs/routing-tables.md."},
    {"routing.lmc_path", KER_TYPE_INT, "0", "-1", "127", NULL,
     "With a table of OpenSM's: which of the 2^lmc LIDs of a node packets are sent to, counted from 0 and "
     "modulo how many it has; -1: each packet (message or flow, as routing.pinning says) draws one."},
    {"routing.path_sl", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "With a table of OpenSM's: the service level of every pair of nodes, as opensm-path-records.dump or "
     "saquery PR give it. Packets then travel on the virtual lanes that routing.sl2vl gives."},
    {"routing.sl2vl", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "With routing.path_sl: the virtual lane of a service level from port to port of every switch, "
     "opensm-sl2vl.dump; absent: lane n for service level n.",
     "routing.path_sl"},
    {"routing.allow_deadlock", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "With algorithm = \"table\": run also with a table that can deadlock."},
    {0},
};

const struct ker_kind route_shortest = {
    .name = "shortest",
    .meaning = "all shortest paths, by number of links, latency or weights",
    .traits = "selects",
    .options = KER_OPTIONS(weights_options, paths_options),
    .operations = &(const struct route_algorithm){.avoids = true,
                                                  .by_table = true,
                                                  .next = route_table_next,
                                                  .alike = table_alike,
                                                  .prepare = shortest_prepare,
                                                  .channels = route_table_channels}};

const struct ker_kind route_updown = {.name = "updown",
                                      .meaning = "up*/down*: any network, one channel",
                                      .traits = "selects",
                                      .options = KER_OPTIONS(paths_options, updown_options),
                                      .operations =
                                          &(const struct route_algorithm){.avoids = true,
                                                                          .by_table = true,
                                                                          .next = route_table_next,
                                                                          .alike = table_alike,
                                                                          .prepare = route_updown_prepare,
                                                                          .channels = route_table_channels}};

const struct ker_kind route_layered = {
    .name = "layered",
    .meaning = "one shortest path each, in layers of channels without circles",
    .options = KER_OPTIONS(weights_options),
    .operations = &(const struct route_algorithm){.avoids = true,
                                                  .by_table = true,
                                                  .next = route_table_next,
                                                  .alike = table_alike,
                                                  .prepare = layered_prepare,
                                                  .channels = route_table_channels}};

const struct ker_kind route_by_table = {
    .name = "table",
    .meaning = "as a file says (docs/routing-tables.md)",
    .traits = "selects",
    .options = KER_OPTIONS(table_options),
    .operations = &(const struct route_algorithm){.by_table = true,
                                                  .next = route_table_next,
                                                  .alike = table_alike,
                                                  .prepare = table_prepare,
                                                  .channels = route_table_channels}};
