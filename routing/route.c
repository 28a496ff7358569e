/* route.c - the table of topologies, the options, and how a topology with its algorithm is made.
 *
 * route_new picks the topology and lets it build itself, then picks the algorithm and checks the channels;
 * after that a topology never changes. Questions to it are answered in topology.c.
 */
#include "routing/faults/faults.h"
#include "routing/import/lanes.h"
#include "routing/tables/make.h"
#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

#define LIST KER_TYPE_LIST
#define LEAST_CHANNELS 4 /* unless switch.channels says so */

const struct ker_option route_options[] = {
    {"topology.kind", KER_TYPE_CHOICE, NULL, NULL, NULL, "fat_tree|hierarchical|torus|star|file|fabric",
     "The network's shape."},
    {"topology.extents", KER_TYPE_INT | LIST, NULL, "1", NULL, NULL,
     "Torus: switches in each of 1 to 8 dimensions.", "topology.kind=torus"},
    {"topology.wrap", KER_TYPE_BOOL | LIST, "true", NULL, NULL, NULL,
     "Torus: is the dimension a ring (true) or open (false, a mesh)? One value for all dimensions or "
     "one for each. A ring of extent 2 has two links between its two switches; extent 1 has none.",
     "topology.kind=torus"},
    {"topology.parallel", KER_TYPE_INT, "1", "1", "1024", NULL,
     "Torus: links in parallel in every direction.", "topology.kind=torus"},
    {"topology.nodes_per_switch", KER_TYPE_INT, "1", "1", "65535", NULL,
     "Torus, hierarchical: nodes on every switch.", "topology.kind=torus|hierarchical"},
    {"topology.down", KER_TYPE_INT | LIST, NULL, "1", NULL, NULL,
     "Fat tree: children of a switch at levels 1, 2, ..., h (m1..mh of an XGFT); those of level 1 are "
     "nodes.",
     "topology.kind=fat_tree"},
    {"topology.up", KER_TYPE_INT | LIST, NULL, "1", NULL, NULL,
     "Fat tree: parents of whatever is below levels 1, 2, ..., h (w1..wh of an XGFT); the first, "
     "switches per node, must be 1.",
     "topology.kind=fat_tree"},
    {"topology.radix", KER_TYPE_INT, NULL, "2", "65534", NULL,
     "Fat tree, instead of down and up: ports of every switch, half of them up, at the top all down.",
     "topology.kind=fat_tree"},
    {"topology.levels", KER_TYPE_INT, NULL, "1", "8", NULL, "Fat tree, with radix: levels of switches.",
     "topology.radix"},
    {"topology.taper", KER_TYPE_REAL | LIST, "1.0", NULL, NULL, NULL,
     "Fat tree: fraction of the bandwidth that is kept from the level below, above 0, at most 1, for "
     "levels 2, 3, ..., h, or one value for all. Links of level l run at bandwidth[l] * taper[2] * ..."
     " * taper[l].",
     "topology.kind=fat_tree"},
    {"topology.groups", KER_TYPE_INT | LIST, NULL, "1", NULL, NULL,
     "Hierarchical: switches per board, boards per rack, racks, ...: 1 to 4 levels.",
     "topology.kind=hierarchical"},
    {"topology.links", KER_TYPE_INT | LIST, "1", "1", "64", NULL,
     "Hierarchical: links in parallel between each pair (see attach), one value for all levels or one "
     "for each.",
     "topology.kind=hierarchical"},
    {"topology.attach", KER_TYPE_CHOICE | LIST, "group", NULL, NULL, "group|switch",
     "Hierarchical, for levels 2, 3, ...: is there a link between each pair of groups (\"group\", "
     "dragonfly) or between each two switches of different groups (\"switch\", PERCS)?",
     "topology.kind=hierarchical"},
    {"topology.nodes", KER_TYPE_INT, NULL, "1", "65535", NULL, "Star: nodes on the one switch.",
     "topology.kind=star"},
    {"topology.file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "File: the edge list, see docs/topology-file.md. Fabric: the output of ibnetdiscover, see "
     "docs/fabric.md.",
     "topology.kind=file|fabric"},
    {"topology.bandwidth", KER_TYPE_RATE | LIST, NULL, "1 kB/s", NULL, NULL,
     "Bandwidth of the links per direction, one value for all or one for each dimension (torus) or "
     "level (fat tree, where level 1 is the node links; hierarchical). Fabric: of the links whose width and "
     "speed the dump does not "
     "tell.",
     "topology.kind!=file"},
    {"topology.latency", KER_TYPE_TIME | LIST, NULL, "1 ps", "1 s", NULL,
     "Latency of the links, one value for all or one for each dimension or level.", "topology.kind!=file"},
    {"topology.node_bandwidth", KER_TYPE_RATE, NULL, "1 kB/s", NULL, NULL,
     "Bandwidth of the links between node and switch; by default that of the first dimension or level.",
     "topology.kind!=file"},
    {"topology.node_latency", KER_TYPE_TIME, NULL, "1 ps", "1 s", NULL,
     "Latency of the links between node and switch; by default that of the first dimension or level.",
     "topology.kind!=file"},
    {"routing.algorithm", KER_TYPE_CHOICE, "minimal", NULL, NULL,
     "minimal|adaptive|d_mod_k|s_mod_k|random|valiant|indirect|ugal|par|ugal_piggyback|shortest|updown|"
     "layered|table",
     "How a packet finds its way; docs/routing.md explains each, and which topology has which. minimal: one "
     "shortest path per "
     "packet (torus: dimension order; fat tree: d-mod-k; hierarchical: direct). adaptive: among all shortest "
     "paths, by the state "
     "of the switch."},
    {"routing.check_work", KER_TYPE_INT, "20000000", "1", NULL, NULL,
     "--check: after how many questions to the algorithm (about 0.1 to 1 us each; with p million ports one "
     "counts as 1 + p) the proof of freedom "
     "from deadlock stops, and says how far it came; --check=full goes on to the end."},
    {"routing.valiant", KER_TYPE_CHOICE, "switch", NULL, NULL, "group|switch|any",
     "Hierarchical: what a detour leads to: the first switch reached in a third group, a switch drawn there, "
     "or a switch drawn "
     "anywhere (in the source's group: no detour).",
     "topology.kind=hierarchical & routing.algorithm=valiant|indirect|ugal|par|ugal_piggyback"},
    {"routing.detours", KER_TYPE_INT, "1", "1", "62", NULL,
     "Hierarchical, indirect: how many third groups each pair of groups may use beside the direct way.",
     "routing.algorithm=indirect"},
    {"routing.indirect", KER_TYPE_CHOICE, "static", NULL, NULL, "static|adaptive",
     "Hierarchical, indirect: packets are spread evenly over the direct way and the detours, or go by "
     "routing.selection.",
     "routing.algorithm=indirect"},
    {"routing.via", KER_TYPE_INT | LIST, NULL, "0", NULL, NULL,
     "Hierarchical, indirect: the groups that detours may lead through; absent: all.",
     "routing.algorithm=indirect"},
    {"routing.candidates", KER_TYPE_INT, "1", "1", "8", NULL,
     "Hierarchical, ugal and par: random detours that are compared with the direct way.",
     "routing.algorithm=ugal|par|ugal_piggyback"},
    {"routing.weight", KER_TYPE_CHOICE, "auto", NULL, NULL, "auto|even|links|double",
     "Hierarchical: what the cost of a way is multiplied by: nothing, its links to go, or 2 for detours. "
     "auto: even for indirect, links "
     "for the others.",
     "routing.algorithm=indirect|ugal|par|ugal_piggyback"},
    {"routing.weights", KER_TYPE_CHOICE, "hops", NULL, NULL, "hops|latency|file",
     "Shortest, layered: what makes a way short: few links, little latency of links, or weights of links as "
     "routing.weight_file says.",
     "routing.algorithm=shortest|layered"},
    {"routing.weight_file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "With weights = \"file\": a weight per link, see docs/routing-tables.md.", "routing.weights=file"},
    {"routing.ways", KER_TYPE_CHOICE, "all", NULL, NULL, "all|one",
     "Shortest, updown: a switch has all ways to a destination to choose from by routing.selection, or just "
     "one, spread over the destinations "
     "(on a fat tree: d-mod-k).",
     "routing.algorithm=shortest|updown"},
    {"routing.root", KER_TYPE_INT | LIST, NULL, "0", NULL, NULL,
     "Updown: the switch or switches at the top. Absent: those farthest from any node; where all switches "
     "have nodes, that with the least "
     "distance to the farthest other.",
     "routing.algorithm=updown"},
    {"routing.table", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "With algorithm = \"table\": the file, see docs/routing-tables.md.", "routing.algorithm=table"},
    {"routing.lmc_path", KER_TYPE_INT, "0", "-1", "127", NULL,
     "With a table of OpenSM's: which of the 2^lmc LIDs of a node packets are sent to, counted from 0 and "
     "modulo how many it has; -1: "
     "each packet (message or flow, as routing.sticky says) draws one.",
     "routing.algorithm=table"},
    {"routing.path_sl", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "With a table of OpenSM's: the service level of every pair of nodes, as opensm-path-records.dump or "
     "saquery PR tell it. Packets then "
     "travel on the virtual lanes that routing.sl2vl gives.",
     "routing.algorithm=table"},
    {"routing.sl2vl", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "With routing.path_sl: the virtual lane of a service level from port to port of every switch, "
     "opensm-sl2vl.dump; absent: lane n for "
     "service level n.",
     "routing.path_sl"},
    {"routing.allow_deadlock", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "With algorithm = \"table\": run also with a table that can deadlock.", "routing.algorithm=table"},
    {"faults.list[].link", KER_TYPE_INT | LIST, NULL, "0", NULL, NULL,
     "Two switches: all links between them fail. A member of faults.list names a link, a switch (with port: "
     "the link there), or a node."},
    {"faults.list[].switch", KER_TYPE_INT, NULL, "0", NULL, NULL,
     "This switch fails, or with port the link at that port of it."},
    {"faults.list[].port", KER_TYPE_INT, NULL, "0", NULL, NULL, "Port of the switch whose link fails.",
     "faults.list[].switch"},
    {"faults.list[].node", KER_TYPE_INT, NULL, "0", NULL, NULL,
     "The link between this node and its switch fails."},
    {"faults.list[].at", KER_TYPE_TIME, "0 ns", NULL, NULL, NULL, "When; 0: it is down from the start."},
    {"faults.link_rate", KER_TYPE_REAL, NULL, "0", "1", NULL,
     "Fraction of the links between switches that fail, drawn for each link; a higher rate fails all links "
     "that a lower one does."},
    {"faults.switch_rate", KER_TYPE_REAL, NULL, "0", "1", NULL,
     "Fraction of the switches that fail, drawn for each in the same manner."},
    {"faults.seed", KER_TYPE_INT, "1", "0", NULL, NULL,
     "Seed of these draws; run.seed has no influence on them.", "faults.link_rate or faults.switch_rate"},
    {"faults.at", KER_TYPE_TIME, "0 ns", NULL, NULL, NULL,
     "When what is drawn fails; 0: it is down from the start.", "faults.link_rate or faults.switch_rate"},
    {"faults.spread", KER_TYPE_TIME, "0 ns", NULL, NULL, NULL,
     "What is drawn fails at a random time of its own between faults.at and this much later.",
     "faults.link_rate or faults.switch_rate"},
    {"faults.unreachable", KER_TYPE_CHOICE, "refuse", NULL, NULL, "refuse|drop",
     "When faults leave pairs of nodes without any way between them: refuse to run, or run and count what is "
     "lost.",
     "faults.link_rate or faults.switch_rate or faults.list"},
    {0},
};

static const struct route_kind *const kinds[] = {&route_fat_tree, &route_hierarchical, &route_torus,
                                                 &route_star,     &route_file,         &route_fabric};
#define KINDS (sizeof kinds / sizeof *kinds)

static const struct route_kind *find_kind(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    ker_assert(!"every choice of topology.kind has its entry in kinds");
    return NULL;
}

static const struct route_algorithm *find_algorithm(const struct route_algorithm *list, const char *name)
{
    for (; list->name; list++)
        if (strcmp(list->name, name) == 0)
            return list;
    return NULL;
}

static enum ker_status refuse_algorithm(const struct route_topology *topology,
                                        const struct ker_config *config, const char *name,
                                        struct ker_error *error)
{
    const struct route_algorithm *lists[] = {topology->kind->algorithms, route_table_algorithms};
    char possible[300] = "";
    for (size_t i = 0, used = 0; i < 2; i++)
        for (const struct route_algorithm *a = lists[i]; a->name && used < sizeof possible; a++)
            used +=
                (size_t)snprintf(possible + used, sizeof possible - used, "%s%s", used ? ", " : "", a->name);
    return ker_config_fail(config, error, "routing.algorithm",
                           "\"%s\" is not possible on a %s; possible are: %s", name, topology->kind->name,
                           possible);
}

static enum ker_status choose_algorithm(struct route_topology *topology, const struct ker_config *config,
                                        uint32_t channels, struct ker_error *error)
{
    static const char key[] = "routing.algorithm";
    const char *name = ker_config_string(config, key);
    const struct route_algorithm *algorithm = find_algorithm(topology->kind->algorithms, name);
    if (!algorithm)
        algorithm = find_algorithm(route_table_algorithms, name);
    if (!algorithm)
        return refuse_algorithm(topology, config, name, error);
    struct route_summary *summary = &topology->summary;
    enum ker_status status = algorithm->prepare ? algorithm->prepare(topology, config, error) : KER_OK;
    if (status != KER_OK)
        return status;
    summary->channels = algorithm->channels(topology);
    summary->adaptive |= algorithm->adaptive || (topology->table && topology->table->adaptive);
    snprintf(summary->algorithm, sizeof summary->algorithm, "%s", name);
    uint32_t repair = route_faults_channels(topology, algorithm);
    if (channels == 0)
        channels = summary->channels + repair < LEAST_CHANNELS ? LEAST_CHANNELS : summary->channels + repair;
    if (channels < summary->channels + repair)
        return ker_config_fail(config, error, key,
                               "\"%s\" needs %u virtual channel%s on this %s to be free of "
                               "deadlock%s, but switch.channels is %u",
                               name, summary->channels, summary->channels == 1 ? "" : "s",
                               topology->kind->name, repair ? ", and ways around faults one more" : "",
                               channels);
    if (channels > ROUTE_MAX_CHANNELS)
        return ker_config_fail(config, error, key,
                               "%u virtual channels are too many; switch.channels can be at most "
                               "%d",
                               channels, ROUTE_MAX_CHANNELS);
    topology->algorithm = algorithm;
    topology->channels = channels - repair;
    if (topology->table)
        route_table_tune(topology->table, topology->channels);
    else if (topology->kind->tune)
        topology->kind->tune(topology);
    summary->channels += repair;
    summary->configured = channels;
    return KER_OK;
}

enum ker_status route_new(struct route_topology **topology, const struct ker_config *config,
                          uint32_t channels, struct ker_error *error)
{
    *topology = NULL;
    if (!ker_config_has(config, "topology.kind"))
        return ker_config_fail(config, error, "topology.kind",
                               "is missing; it is one of fat_tree, hierarchical, "
                               "torus, star, file, fabric");
    const struct route_kind *kind = find_kind(ker_config_string(config, "topology.kind"));
    struct route_topology *made = ker_alloc(kind->size);
    made->kind = kind;
    snprintf(made->summary.topology, sizeof made->summary.topology, "%s", kind->name);
    enum ker_status status = kind->build(made, config, error);
    if (status == KER_OK)
        status = route_faults_read(made, config, error);
    if (status == KER_OK)
        status = choose_algorithm(made, config, channels, error);
    if (status == KER_OK)
        status = route_table_prove(made, config, error);
    if (status == KER_OK)
        status = route_faults_settle(made, config, error);
    if (status)
        route_free(made);
    else
        *topology = made;
    return status;
}

void route_free(struct route_topology *topology)
{
    if (topology && topology->kind->release)
        topology->kind->release(topology);
    if (topology)
        route_faults_free(topology->faults);
    if (topology)
        route_table_free(topology->table);
    free(topology);
}

void route_own(struct route_topology *topology, const uint32_t *switch_rank, uint32_t rank)
{
    if (topology->table)
        route_table_keep(topology->table, switch_rank, rank);
    if (topology->table && topology->table->lanes)
        route_lanes_keep(topology->table->lanes, topology, switch_rank, rank);
}

uint64_t route_bytes(const struct route_topology *topology)
{
    return topology->table ? route_table_bytes(topology->table) : 0;
}

void route_list(FILE *out)
{
    fprintf(out, "topologies (topology.kind):\n");
    for (size_t i = 0; i < KINDS; i++)
        fprintf(out, "  %-14s %s\n", kinds[i]->name, kinds[i]->meaning);
    for (size_t i = 0; i < KINDS; i++) {
        fprintf(out, "routing algorithms of %s (routing.algorithm):\n", kinds[i]->name);
        for (const struct route_algorithm *a = kinds[i]->algorithms; a->name; a++)
            fprintf(out, "  %-14s %s\n", a->name, a->meaning);
    }
    fprintf(out, "routing algorithms of every topology, by tables:\n");
    for (const struct route_algorithm *a = route_table_algorithms; a->name; a++)
        fprintf(out, "  %-14s %s\n", a->name, a->meaning);
}
