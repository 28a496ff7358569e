/* series.c - cores and memory in periods: core_series.csv and memory_series.csv.
 *
 * A row is the difference of what cores.csv and memory.csv would say at the two ends of the period. What is
 * in flight is counted up to there in a copy, so that asking changes nothing.
 */
#include "nodes/cores/rows.h"

#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define CORE_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period") \
    COLUMN(node, "", U32, SAME, row->node, "the node") \
    COLUMN(core, "", U32, SAME, row->core, "its core, or hardware thread, as in tasks.csv") \
    COLUMN(computing_ps, "ps", U64, SUM, row->unit.computing, "as in cores.csv, in the period") \
    COLUMN(stalled_ps, "ps", U64, SUM, row->unit.stalled, "likewise") \
    COLUMN(away_ps, "ps", U64, SUM, row->unit.away, "likewise") \
    COLUMN(preempted_ps, "ps", U64, SUM, row->unit.preempted, "likewise") \
    COLUMN(busy_ps, "ps", U64, SUM, row->unit.busy, "likewise") \
    COLUMN(copying_ps, "ps", U64, SUM, row->unit.copying, "likewise") \
    COLUMN(system_ps, "ps", U64, SUM, row->unit.system, "likewise", .wanted = system_measured) \
    COLUMN(spinning_ps, "ps", U64, SUM, row->unit.spinning, "likewise", .wanted = spins_measured)
#define MEMORY_COLUMNS(COLUMN) \
    COLUMN(time_ps, "ps", U64, SAME, row->at, "end of the period") \
    COLUMN(node, "", U32, SAME, row->node, "the node") \
    COLUMN(kind, "", TEXT, SAME, row->name.kind, "as in memory.csv", .text = node_resource_text, \
           .text_bytes = 12) \
    COLUMN(number, "", U32, SAME, row->name.number, "of the domain, socket or bus") \
    COLUMN(bytes, "bytes", U64, SUM, row->moved / NODE_BYTE, "moved through it in the period, rounded down") \
    COLUMN(busy_ps, "ps", U64, SUM, row->busy, \
           "how long that takes at its full rate; 0 where it has no bandwidth of its own")
/* clang-format on */

STATS_SCHEMA(node_core_series_table, struct core_row, CORE_COLUMNS, core_key, "core_series",
             "One row for each core and period in which it has done something, by period, node and core.")
STATS_SCHEMA(node_memory_series_table, struct memory_row, MEMORY_COLUMNS, memory_key, "memory_series",
             "One row for each memory controller, link between sockets, bus, and period in which it moved "
             "something.")

/* ---- rows ---- */

static struct node_unit difference(const struct node_unit *now, struct node_unit *last)
{
    struct node_unit unit = *now;
    unit.counted = last->counted = 0; /* a time, not a total */
    stats_series_since("core_series", (uint64_t *)&unit, (uint64_t *)last, sizeof unit / sizeof(uint64_t));
    return unit;
}

static bool does_something(const struct node_unit *u)
{
    return u->computing || u->stalled || u->away || u->preempted || u->copying || u->busy;
}

static void node_rows(const struct node *n, ker_time at, struct stats_table *cores,
                      struct stats_table *memory)
{
    struct node_last *last = node_cores(n)->last;
    uint32_t units = node_structure_of(n)->units;
    const struct node_cores *copy = node_cores_at(n, at);
    for (uint32_t u = 0; u < units; u++) {
        struct core_row row = {n->id, u, difference(&copy->unit[u], &last->unit[u]), at};
        if (does_something(&row.unit))
            stats_table_add(cores, &row);
    }
    for (uint32_t r = 0; r < n->system->memory->resources; r++) {
        struct memory_row row = {.node = n->id,
                                 .name = node_resource_name(n->system->memory, r),
                                 .moved = copy->moved[r] - last->moved[r],
                                 .at = at};
        if (copy->moved[r] < last->moved[r])
            stats_series_fell("memory_series");
        row.busy = memory_busy(n, r, row.moved);
        last->moved[r] = copy->moved[r];
        if (row.moved)
            stats_table_add(memory, &row);
    }
}

void node_series_add(const struct node_system *system, ker_time at)
{
    if (!system || !system->model.series)
        return;
    struct stats_table *cores = stats_series_rows(system->model.core_series),
                       *memory = stats_series_rows(system->model.memory_series);
    for (uint32_t i = 0; i < system->nodes; i++)
        node_rows(node_of(system, i), at, cores, memory);
}

void node_series_want(struct node_model *model, struct stats_series_files *files)
{
    uint64_t units = 0, resources = 0;
    if (!model->series)
        return;
    for (uint32_t k = 0; k < node_kinds_count(model->kinds); k++) {
        const struct node_kind *kind = node_kinds_get(model->kinds, k);
        const struct node_structure *s = &kind->structure;
        units += (uint64_t)kind->nodes * s->units;
        resources +=
            (uint64_t)kind->nodes * (s->domains + (s->sockets > 1 ? 2 * s->sockets : 0) + 2 * s->buses);
    }
    stats_series_memory(files, units * sizeof(struct node_unit) + resources * sizeof(node_bytes));
    model->core_series = stats_series_want(files, &node_core_series_table, model, units);
    model->memory_series = stats_series_want(files, &node_memory_series_table, NULL, resources);
}
