/* route.c - the table of topologies, the options, and how a topology with its algorithm is made.
 *
 * route_new picks the topology and lets it build itself, then picks the algorithm and checks the channels;
 * after that a topology never changes. Questions to it are answered in topology.c.
 */
#include "routing/faults/faults.h"
#include "routing/import/import.h"
#include "routing/paths.h"
#include "routing/rails.h"
#include "routing/tables/make.h"
#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

#define LIST KER_TYPE_LIST
#define LEAST_CHANNELS 4 /* unless switch.channels says so */

/* The table of topologies: one line each. */
#define TOPOLOGIES(KIND)                                                                                     \
    KIND(route_fat_tree)                                                                                     \
    KIND(route_rail_fat_tree)                                                                                \
    KIND(route_dragonfly)                                                                                    \
    KIND(route_hierarchical)                                                                                 \
    KIND(route_torus)                                                                                        \
    KIND(route_hyperx)                                                                                       \
    KIND(route_slim_fly)                                                                                     \
    KIND(route_polarfly)                                                                                     \
    KIND(route_dragonfly_plus)                                                                               \
    KIND(route_star)                                                                                         \
    KIND(route_file)                                                                                         \
    KIND(route_fabric)                                                                                       \
    KIND(route_none)
KER_KINDS_TABLE(topology_kinds, TOPOLOGIES);
static const struct ker_kinds topologies = {"topology.kind", "topologies", sizeof(struct route_kind),
                                            topology_kinds};

/* Of every topology, by tables; the others are with their topology. */
#define ALGORITHMS(KIND)                                                                                     \
    KIND(route_shortest)                                                                                     \
    KIND(route_updown)                                                                                       \
    KIND(route_layered)                                                                                      \
    KIND(route_by_table)
KER_KINDS_TABLE(table_algorithms, ALGORITHMS);
static const struct ker_kinds algorithms = {"routing.algorithm", "routing algorithms",
                                            sizeof(struct route_algorithm), table_algorithms};

const struct ker_option route_options[] = {
    {"topology.kind", KER_TYPE_CHOICE, "none", .kinds = &topologies,
     .meaning = "The network's shape; it may only be absent where network.nodes is given."},
    {"node.adapters", KER_TYPE_INT, "1", "1", "64", NULL,
     "Adapters of a node, each with a link of its own to the network. See topology.rails and node.rail."},
    {"topology.rails", KER_TYPE_CHOICE, "plane", NULL, NULL, "plane|spread|same",
     "Where the adapters of a node hang: each in a plane, a copy of the whole topology; at as many "
     "successive switches; all at the same switch.",
     "node.adapters!=1"},
    {"routing.algorithm", KER_TYPE_CHOICE, "minimal", .kinds = &algorithms,
     .meaning = "How a packet is routed; docs/routing.md explains each, and which topology has which. "
                "minimal: one shortest path per packet (torus: dimension order; fat tree: d-mod-k; "
                "hierarchical: direct). adaptive: among all shortest paths, by the state of the switch."},
    {"routing.check_work", KER_TYPE_INT, "20000000", "1", NULL, NULL,
     "--check: after how many questions to the algorithm (about 0.1 to 1 us each; with p million ports one "
     "counts as 1 + p) the proof of freedom "
     "from deadlock stops, and says how far it came; --check=full continues to the end.",
     .resume = KER_RESUME_FREE},
    {"faults.list[].link", KER_TYPE_INT | LIST, NULL, "0", NULL, NULL,
     "Two switches: all links between them fail. A member of faults.list names a link, a switch (with port: "
     "the link there), or a node."},
    {"faults.list[].enabled", KER_TYPE_BOOL, "true", NULL, NULL, NULL, "false: as if it were not there."},
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
     "When faults leave pairs of nodes without any path between them: refuse to run, or run and count what "
     "is lost.",
     "faults.link_rate or faults.switch_rate or faults.list"},
    {0},
};

static enum ker_status refuse_algorithm(const struct route_topology *topology,
                                        const struct ker_config *config, const char *name,
                                        struct ker_error *error)
{
    const char *kind = topology->summary.topology;
    const struct ker_kind *const *own = topology->kind->algorithms;
    char *possible = ker_registry_names(ker_config_registry(config), "routing.algorithm", own ? "" : kind);
    for (; own && *own; own++) {
        char *longer = ker_format("%s, %s", (*own)->name, possible);
        free(possible);
        possible = longer;
    }
    ker_config_fail(config, error, "routing.algorithm", "\"%s\" is not possible on a %s%s; possible are: %s",
                    name, kind, topology->kind->algorithms ? " of these keys" : "", possible);
    free(possible);
    return KER_BAD_INPUT;
}

static const struct ker_kind *algorithm_find(const struct route_topology *topology,
                                             const struct ker_registry *registry, const char *key,
                                             const char *name)
{
    const struct ker_kind *const *own = topology->kind->algorithms;
    if (!own)
        return ker_registry_find(registry, key, name, topology->summary.topology);
    while (*own && strcmp((*own)->name, name) != 0)
        own++;
    return *own ? *own : ker_registry_find(registry, key, name, ""); /* that is for all */
}

/* faulty: the topology whose faults count, itself or the one around it. */
static enum ker_status choose_algorithm(struct route_topology *topology, const struct route_topology *faulty,
                                        const struct ker_config *config, uint32_t channels,
                                        struct ker_error *error)
{
    static const char key[] = "routing.algorithm";
    const char *name = ker_config_string(config, key);
    struct route_summary *summary = &topology->summary;
    const struct ker_kind *kind = algorithm_find(topology, ker_config_registry(config), key, name);
    if (!kind)
        return refuse_algorithm(topology, config, name, error);
    const struct route_algorithm *algorithm = kind->operations;
    enum ker_status status = algorithm->prepare ? algorithm->prepare(topology, config, error) : KER_OK;
    if (status != KER_OK)
        return status;
    summary->channels = algorithm->channels(topology);
    summary->adaptive |= algorithm->adaptive || (topology->table && topology->table->adaptive);
    snprintf(summary->algorithm, sizeof summary->algorithm, "%s", name);
    uint32_t repair = faulty->faults && (faulty != topology || route_faults_channels(topology, algorithm));
    if (channels == 0)
        channels = summary->channels + repair < LEAST_CHANNELS ? LEAST_CHANNELS : summary->channels + repair;
    if (channels < summary->channels + repair)
        return ker_config_fail(config, error, key,
                               "\"%s\" needs %u virtual channel%s on this %s to be free of "
                               "deadlock%s, but switch.channels is %u",
                               name, summary->channels, summary->channels == 1 ? "" : "s", summary->topology,
                               repair ? ", and paths around faults one more" : "", channels);
    if (channels > ROUTE_MAX_CHANNELS)
        return ker_config_fail(config, error, key,
                               "%u virtual channels are too many; switch.channels can be at most %d",
                               channels, ROUTE_MAX_CHANNELS);
    topology->algorithm = algorithm;
    topology->channels = channels - repair;
    if (topology->paths)
        route_paths_tune(topology);
    else if (topology->table)
        route_table_tune(topology->table, topology->channels);
    else if (topology->kind->tune)
        topology->kind->tune(topology);
    summary->channels += repair;
    summary->configured = channels;
    return KER_OK;
}

/* Both are one where a host has one adapter; else `whole` is the topology around `made`. */
static enum ker_status route_settle(struct route_topology *made, struct route_topology *whole,
                                    const struct ker_config *config, uint32_t channels,
                                    struct ker_error *error)
{
    enum ker_status status = choose_algorithm(made, whole, config, channels, error);
    if (status == KER_OK && whole != made)
        route_rails_adopt(whole);
    status = status ?: route_table_prove(made, config, error);
    status = status ?: route_faults_settle(whole, config, error);
    return status;
}

enum ker_status route_new(struct route_topology **topology, const struct ker_config *config,
                          uint32_t channels, struct ker_error *error)
{
    return route_new_shared(topology, config, channels, NULL, error);
}

enum ker_status route_new_shared(struct route_topology **topology, const struct ker_config *config,
                                 uint32_t channels, struct ker_comm *comm, struct ker_error *error)
{
    *topology = NULL;
    bool none = ker_config_means_key(config, "network.nodes") && ker_config_has(config, "network.nodes");
    if (!ker_config_has(config, "topology.kind") && !none) {
        char *names = ker_registry_names(ker_config_registry(config), "topology.kind", NULL);
        ker_config_fail(config, error, "topology.kind", "is missing; it is one of %s", names);
        free(names);
        return KER_BAD_INPUT;
    }
    const struct ker_kind *chosen = ker_config_kind(config, "topology.kind");
    const struct route_kind *kind = chosen->operations;
    struct route_topology *made = ker_alloc(kind->size);
    made->kind = kind;
    made->comm = comm;
    snprintf(made->summary.topology, sizeof made->summary.topology, "%s", chosen->name);
    made->summary.adapters = made->summary.planes = 1;
    enum ker_status status = kind->build(made, config, error);
    struct route_topology *whole = made;
    if (status == KER_OK && ker_config_int(config, "node.adapters") > 1)
        status = route_rails_new(&whole, made, config, error);
    status = status ?: route_faults_read(whole, config, error);
    if (comm) /* a rank that has failed is not waited for */
        status = ker_comm_worst(comm, status);
    status = status ?: route_settle(made, whole, config, channels, error);
    if (status)
        route_free(whole);
    else
        *topology = whole;
    return status;
}

void route_free(struct route_topology *topology)
{
    if (topology && topology->inner)
        route_free(topology->inner);
    if (topology && topology->kind->release)
        topology->kind->release(topology);
    if (topology)
        route_faults_free(topology->faults);
    if (topology)
        route_table_free(topology->table);
    if (topology)
        route_paths_free(topology->paths);
    free(topology);
}

bool route_shares(const struct route_topology *topology)
{
    return (topology->table && topology->table->shared) || (topology->inner && route_shares(topology->inner));
}

void route_own(struct route_topology *topology, const uint32_t *switch_rank, uint32_t rank)
{
    if (topology->inner) {
        uint32_t *inner_rank = route_rails_ranks(topology, switch_rank, rank);
        route_own(topology->inner, inner_rank, rank);
        free(inner_rank);
    }
    if (topology->table && topology->table->shared)
        route_share_end(topology->table, switch_rank, rank);
    else if (topology->table)
        route_table_keep(topology->table, switch_rank, rank);
    if (topology->table && topology->table->lanes)
        route_lanes_keep(topology->table->lanes, topology, switch_rank, rank);
}

uint64_t route_bytes(const struct route_topology *topology)
{
    if (topology->inner)
        return route_bytes(topology->inner);
    return topology->table ? route_table_bytes(topology->table) : 0;
}
