/* report.c - what cores and memory of the nodes did: two tables, and their sums.
 *
 * Sums are of integers in 128 bits, so that they do not depend on which rank has which node. What a resource
 * has moved, over its capacity, is the time for which it would have been busy at its full rate.
 */
#include "nodes/cores/rows.h"

#include <stdlib.h>

enum memory_kind { CONTROLLER, OUTWARDS, INWARDS, BUS_OUT, BUS_IN };

const char *node_resource_text(const void *context, uint32_t kind)
{
    static const char *const names[] = {"controller", "link out", "link in", "bus out", "bus in"};
    return names[kind];
}

struct node_resource_name node_resource_name(const struct node_memory *memory, uint32_t resource)
{
    if (resource < memory->domains)
        return (struct node_resource_name){CONTROLLER, resource};
    if (resource >= memory->buses) {
        uint32_t bus = resource - memory->buses;
        return (struct node_resource_name){bus % 2 ? BUS_IN : BUS_OUT, bus / 2};
    }
    uint32_t link = resource - memory->domains;
    return (struct node_resource_name){link % 2 ? INWARDS : OUTWARDS, link / 2};
}

/* clang-format off */
#define CORE_COLUMNS(COLUMN) \
    COLUMN(node, "", U32, SAME, row->node, "the node") \
    COLUMN(core, "", U32, SAME, row->core, "its core, or hardware thread, as in tasks.csv") \
    COLUMN(computing_ps, "ps", U64, SUM, row->unit.computing, \
           "compute parts of work went on (of several threads of a task at a time each counts)") \
    COLUMN(stalled_ps, "ps", U64, SUM, row->unit.stalled, "they had ended, and memory parts had not") \
    COLUMN(away_ps, "ps", U64, SUM, row->unit.away, "noise had taken it away from work") \
    COLUMN(preempted_ps, "ps", U64, SUM, row->unit.preempted, \
           "works of its tasks waited for a core, or for one that turned to them") \
    COLUMN(busy_ps, "ps", U64, SUM, row->unit.busy, "there was work, however much") \
    COLUMN(idle_ps, "ps", U64, SUM, row->at - row->unit.busy, "there was none, until the end of the run") \
    COLUMN(copying_ps, "ps", U64, SUM, row->unit.copying, \
           "messages inside the node were copied by it, beside that; each counts") \
    COLUMN(system_ps, "ps", U64, SUM, row->unit.system, \
           "of `computing_ps`, for works of its tasks: in calls that the operating system serves; only " \
           "with `node.system_factor` or `node.system_latency`", .wanted = system_measured) \
    COLUMN(spinning_ps, "ps", U64, SUM, row->unit.spinning, \
           "of `busy_ps`: tasks that wait kept it; only with `node.waiting = \"spin\"`", \
           .wanted = spins_measured)

#define MEMORY_COLUMNS(COLUMN) \
    COLUMN(node, "", U32, SAME, row->node, "the node") \
    COLUMN(kind, "", TEXT, SAME, row->name.kind, \
           "controller: of a domain; link out, link in: of a socket, to and from the others; bus out, bus " \
           "in: of a bus, to and from adapters", \
           .text = node_resource_text) \
    COLUMN(number, "", U32, SAME, row->name.number, "of the domain, socket, or bus") \
    COLUMN(bytes, "bytes", U64, SUM, row->moved / NODE_BYTE, "moved through it, rounded down") \
    COLUMN(utilisation, "", SHARE, SUM, row->busy, \
           "over what it could have moved in all of the run; 0 where it has no bandwidth of its own")
/* clang-format on */

STATS_SCHEMA(node_cores_table, struct core_row, CORE_COLUMNS, core_key, "cores",
             "One row per core, by node and core.")
STATS_SCHEMA(
    node_memory_table, struct memory_row, MEMORY_COLUMNS, memory_key, "memory",
    "One row per memory controller, link between sockets, and bus with node.lane_bandwidth, by node, "
    "kind and number.")

/* ---- rows ---- */

static struct memory_row memory_row(const struct node *n, uint32_t resource)
{
    node_bytes moved = node_cores(n)->moved[resource];
    return (struct memory_row){.node = n->id,
                               .name = node_resource_name(n->system->memory, resource),
                               .moved = moved,
                               .busy = memory_busy(n, resource, moved)};
}

/* Other kinds of nodes may have more domains and sockets. */
static bool is_there(const struct node *n, const struct memory_row *row)
{
    const struct node_structure *s = node_structure_of(n);
    if (row->name.kind == CONTROLLER)
        return row->name.number < s->domains;
    if (row->name.kind >= BUS_OUT)
        return row->name.number < s->buses;
    return s->sockets > 1 && row->name.number < s->sockets;
}

static void tables_write(const struct node_system *system, const struct node_model *model,
                         struct ker_comm *comm, ker_time at, const struct stats_folder *folder,
                         const char *key, struct ker_error *error)
{
    struct stats_table *cores = stats_table_new(&node_cores_table, model, 0),
                       *memory = stats_table_new(&node_memory_table, NULL, (uint64_t)at);
    for (uint32_t i = 0; system && i < system->nodes; i++) {
        const struct node *n = node_of(system, i);
        for (uint32_t u = 0; u < node_structure_of(n)->units; u++)
            stats_table_add(cores, &(struct core_row){n->id, u, node_cores(n)->unit[u], at});
        for (uint32_t r = 0; r < system->memory->resources; r++) {
            struct memory_row row = memory_row(n, r);
            if (is_there(n, &row))
                stats_table_add(memory, &row);
        }
    }
    stats_table_show_file(cores, comm, folder, key, error);
    stats_table_show_file(memory, comm, folder, key, error);
    stats_table_free(cores);
    stats_table_free(memory);
}

/* ---- sums ---- */

enum sum {
    COMPUTING,
    SYSTEM,
    SPINNING,
    STALLED,
    AWAY,
    PREEMPTED,
    BUSY,
    COPYING,
    CORES,       /* how many there are */
    CONTROLLERS, /* of each: how many there are, what they moved, how long they were busy */
    LINKS = CONTROLLERS + 3,
    BUSES = LINKS + 3,
    SUMS = BUSES + 3
};
#define RESOURCES 3

static void node_sum(const struct node *n, unsigned __int128 *sum, int64_t *most)
{
    uint32_t units = node_structure_of(n)->units;
    sum[CORES] += units;
    for (uint32_t u = 0; u < units; u++) {
        const struct node_unit *unit = &node_cores(n)->unit[u];
        sum[COMPUTING] += (uint64_t)unit->computing;
        sum[SYSTEM] += (uint64_t)unit->system;
        sum[SPINNING] += (uint64_t)unit->spinning;
        sum[STALLED] += (uint64_t)unit->stalled;
        sum[AWAY] += (uint64_t)unit->away;
        sum[PREEMPTED] += (uint64_t)unit->preempted;
        sum[BUSY] += (uint64_t)unit->busy;
        sum[COPYING] += (uint64_t)unit->copying;
    }
    for (uint32_t r = 0; r < n->system->memory->resources; r++) {
        struct memory_row row = memory_row(n, r);
        uint32_t of = row.name.kind == CONTROLLER ? 0 : row.name.kind < BUS_OUT ? 1 : 2;
        if (!is_there(n, &row))
            continue;
        sum[CONTROLLERS + 3 * of]++;
        sum[CONTROLLERS + 3 * of + 1] += row.moved;
        sum[CONTROLLERS + 3 * of + 2] += (uint64_t)row.busy;
        most[of] = row.busy > most[of] ? row.busy : most[of];
    }
}

/* Over the ranks, on all of them: quotients and remainders by themselves, as both fit 64 bits. */
static void sums_join(struct ker_comm *comm, unsigned __int128 *sum)
{
    uint64_t part[2 * SUMS];
    for (int i = 0; i < SUMS; i++) {
        part[2 * i] = (uint64_t)(sum[i] / NODE_BYTE);
        part[2 * i + 1] = (uint64_t)(sum[i] % NODE_BYTE);
    }
    ker_comm_sum_u64(comm, part, 2 * SUMS);
    for (int i = 0; i < SUMS; i++)
        sum[i] = part[2 * i] * NODE_BYTE + part[2 * i + 1];
}

static json_t *ratio(unsigned __int128 sum, unsigned __int128 of)
{
    return stats_ratio_json((double)sum, (double)of);
}

/* sum: of how many there are, what they moved, how long they were busy. */
static json_t *resources_json(const unsigned __int128 *sum, int64_t most, ker_time at)
{
    return json_pack("{s:I, s:I, s:o, s:o}", "count", (json_int_t)sum[0], "bytes",
                     (json_int_t)(sum[1] / NODE_BYTE), "mean_utilisation",
                     ratio(sum[2], sum[0] * (uint64_t)at), "max_utilisation",
                     ratio((uint64_t)most, (uint64_t)at));
}

json_t *node_system_report(struct node_system *system, const struct node_model *model, struct ker_comm *comm,
                           ker_time at, const struct stats_folder *folder, const char *key,
                           struct ker_error *error)
{
    unsigned __int128 sum[SUMS] = {0};
    int64_t most[RESOURCES] = {0};
    if (!model->works)
        return NULL;
    for (uint32_t i = 0; system && i < system->nodes; i++)
        node_sum(node_of(system, i), sum, most);
    sums_join(comm, sum);
    ker_comm_max_i64(comm, most, RESOURCES);
    if (folder)
        tables_write(system, model, comm, at, folder, key, error);
    if (ker_comm_rank(comm) != 0)
        return NULL;
    unsigned __int128 time = sum[CORES] * (uint64_t)at;
    json_t *report = json_pack("{s:{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}, s:o}", "cores", "count",
                               (json_int_t)sum[CORES], "computing", ratio(sum[COMPUTING], time), "stalled",
                               ratio(sum[STALLED], time), "away", ratio(sum[AWAY], time), "preempted",
                               ratio(sum[PREEMPTED], time), "busy", ratio(sum[BUSY], time), "idle",
                               ratio(time - sum[BUSY], time), "copying", ratio(sum[COPYING], time),
                               "controllers", resources_json(sum + CONTROLLERS, most[0], at));
    if (model->rates.system)
        json_object_set_new(json_object_get(report, "cores"), "system", ratio(sum[SYSTEM], time));
    if (model->spins)
        json_object_set_new(json_object_get(report, "cores"), "spinning", ratio(sum[SPINNING], time));
    if (sum[LINKS])
        json_object_set_new(report, "socket_links", resources_json(sum + LINKS, most[1], at));
    if (sum[BUSES])
        json_object_set_new(report, "buses", resources_json(sum + BUSES, most[2], at));
    return report;
}
