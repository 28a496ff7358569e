/* busiest.c - of rows that are shown one after the other, those that the summary prints.
 *
 * Of each of two columns the ten rows with the highest values are kept, the earlier row before the later one
 * of the same value. What is kept is a row's copy, in a table of two times ten.
 */
#include "stats/columns.h"
#include "stats/stats.h"

#include <stdlib.h>

struct ranking {
    int column, used;
    stats_cell best[STATS_BUSIEST];
    size_t row[STATS_BUSIEST]; /* in the table of what is kept */
};

struct stats_busiest {
    struct ranking ranking[2];
    struct stats_table *kept;
};

struct stats_busiest *stats_busiest_new(const struct stats_table *links)
{
    struct stats_busiest *b = ker_alloc(sizeof *b);
    b->ranking[0].column = stats_table_find(links, "busy_ps", false);
    b->ranking[1].column = stats_table_find(links, "queue_mean_packets", false);
    b->kept = stats_table_like(links);
    return b;
}

void stats_busiest_free(struct stats_busiest *b)
{
    if (b)
        stats_table_free(b->kept);
    free(b);
}

/* By insertion: nearly all of what may be millions of rows are no better than the last. */
static void ranking_add(struct ranking *r, struct stats_table *kept, const struct stats_table *t, size_t row)
{
    stats_cell value = stats_table_cell(t, row, r->column);
    int place = r->used;
    if (!value || (place == STATS_BUSIEST && value <= r->best[place - 1]))
        return;
    size_t at = kept->rows; /* where the copy goes: a place of its own, or that of the row that leaves */
    if (r->used == STATS_BUSIEST) {
        at = r->row[--place];
        memcpy(kept->row + at * kept->row_bytes, t->row + row * t->row_bytes, t->row_bytes);
    } else {
        stats_table_copy(kept, t, row);
        r->used++;
    }
    for (; place > 0 && value > r->best[place - 1]; place--) {
        r->best[place] = r->best[place - 1];
        r->row[place] = r->row[place - 1];
    }
    r->best[place] = value;
    r->row[place] = at;
}

void stats_busiest_add(struct stats_busiest *b, const struct stats_table *links, size_t row)
{
    for (int i = 0; i < 2; i++)
        ranking_add(&b->ranking[i], b->kept, links, row);
}

const struct stats_table *stats_busiest_rows(const struct stats_busiest *b, bool queued, const size_t **row,
                                             int *count)
{
    *row = b->ranking[queued].row;
    *count = b->ranking[queued].used;
    return b->kept;
}
