/* growth.c - what was counted of some steps, as that of all of them (run.skip).
 *
 * Every sum of a row grows by one factor, of the job that the row names or else of the whole: so what is a
 * quotient or a mean of two sums stays what it was. A further column says so in the file itself. Invariant:
 * integers only, rounded once.
 */
#include "stats/columns.h"

#include <stdlib.h>

void stats_growth_forget(struct stats_growth *g)
{
    if (!g)
        return;
    stats_table_free(g->table);
    g->table = NULL;
}

void stats_growth_release(struct stats_growth *g)
{
    free(g->job);
    stats_growth_forget(g);
}

stats_cell stats_grown(stats_cell value, const struct stats_part *part)
{
    stats_cell seen = part->seen, rest = value % seen;
    return value / seen * part->all + (rest * part->all + seen / 2) / seen;
}

/* Series have rows by time: what was skipped is a gap in them. */
static bool by_time(const struct stats_table *t)
{
    int time = stats_table_find(t, "time_ps", true);
    return time >= 0 && t->place[time].column->merge == STATS_SAME;
}

static const struct stats_part *part_of(const struct stats_growth *g, const struct stats_table *t, size_t row)
{
    uint64_t id = t->job < 0 ? g->jobs : (uint64_t)stats_table_cell(t, row, t->job);
    return id < g->jobs ? &g->job[id] : &g->whole;
}

/* Is the sum already that of all steps? */
static bool whole(const struct stats_table *t, size_t row, const struct stats_column *c)
{
    if (!c->fixed_by)
        return false;
    int by = stats_table_find(t, c->fixed_by, false);
    return stats_table_cell(t, row, by) != (stats_cell)KER_TIME_MAX;
}

static bool grows(const struct stats_column *c)
{
    return c->type == STATS_SHARE || (c->merge == STATS_SUM && !c->fixed);
}

const struct stats_table *stats_growth_head(struct stats_growth *g, const struct stats_table *t)
{
    static const struct stats_column estimated = {"estimated", "", STATS_U8, STATS_MOST,
                                                  "1: sums are estimated, of all steps (run.skip); 0: exact"};
    bool any = false;
    for (size_t i = 0; g && i < t->columns; i++)
        any |= t->place[i].column->ends || grows(t->place[i].column);
    if (!any || t == g->table || by_time(t))
        return t;
    if (!g->table || g->table->schema != t->schema || g->table->context != t->context) {
        stats_growth_forget(g);
        g->table = stats_table_like(t);
        stats_table_extend(g->table, &estimated, 0);
    }
    return g->table;
}

const struct stats_table *stats_growth_row(struct stats_growth *g, const struct stats_table *t, size_t *row)
{
    if (stats_growth_head(g, t) == t)
        return t;
    struct stats_table *grown = g->table;
    const struct stats_part *part = part_of(g, t, *row);
    stats_table_clear(grown);
    stats_table_copy(grown, t, *row);
    grown->divisor = t->divisor ? t->divisor + g->later : 0;
    for (size_t i = 0; i < t->columns; i++) {
        const struct stats_column *c = t->place[i].column;
        stats_cell value = stats_table_cell(t, *row, (int)i);
        if (c->ends && value != (stats_cell)KER_TIME_MAX)
            table_cell_put(grown->row, &grown->place[i], value + part->later);
        else if (grows(c) && !whole(t, *row, c))
            table_cell_put(grown->row, &grown->place[i], stats_grown(value, part));
    }
    table_cell_put(grown->row, &grown->place[t->columns], part->all > part->seen || part->later > 0);
    *row = 0;
    return grown;
}
