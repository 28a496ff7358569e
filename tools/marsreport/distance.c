/* distance.c - matrix.csv: over how many links nodes talked.
 *
 * Distances are those of shortest paths, by a breadth-first search from the switch of each node that sent; of
 * very large systems from so many of them that the work stays bounded, evenly spread: then the counts are
 * those of these senders alone.
 */
#include "tools/marsreport/scene.h"

#include <stdlib.h>

#define MOST_STEPS 400000000.0 /* of all searches */
enum { MOST_DISTANCE = 256 };

struct distances {
    struct rep_neighbours near;
    uint32_t switches, source; /* source: the switch of the distances at hand */
    uint16_t *hops;
    uint32_t *queue;
    uint64_t messages[MOST_DISTANCE], bytes[MOST_DISTANCE];
    uint32_t every; /* senders on switches whose number is a multiple of this */
};

static void search(struct distances *d, uint32_t from)
{
    uint32_t count = 0;
    memset(d->hops, 0xff, sizeof *d->hops * d->switches);
    d->source = from;
    d->hops[from] = 0;
    d->queue[count++] = from;
    for (uint32_t i = 0; i < count; i++)
        for (size_t k = d->near.first[d->queue[i]]; k < d->near.first[d->queue[i] + 1]; k++)
            if (d->hops[d->near.to[k]] == UINT16_MAX) {
                d->hops[d->near.to[k]] = (uint16_t)(d->hops[d->queue[i]] + 1);
                d->queue[count++] = d->near.to[k];
            }
}

/* Rows are sorted by sender, so that successive ones mostly have the same switch. */
static void row_count(struct distances *d, const struct rep_pairs *p, uint64_t from, uint64_t to)
{
    uint32_t source = d->near.switch_of[from];
    if (source % d->every)
        return;
    if (source != d->source)
        search(d, source);
    uint16_t hops = d->hops[d->near.switch_of[to]];
    uint32_t distance = from == to                                        ? 0
                        : hops == UINT16_MAX || hops + 2 >= MOST_DISTANCE ? MOST_DISTANCE - 1
                                                                          : hops + 2u;
    d->messages[distance] += (uint64_t)rep_cell_integer(p->table, p->messages);
    d->bytes[distance] += (uint64_t)rep_cell_integer(p->table, p->bytes);
}

static json_t *distances_json(const struct distances *d)
{
    json_t *rows = json_array();
    for (uint32_t i = 0; i < MOST_DISTANCE; i++)
        if (d->messages[i])
            json_array_append_new(rows, json_pack("[I, I, I]", (json_int_t)i, (json_int_t)d->messages[i],
                                                  (json_int_t)d->bytes[i]));
    return json_pack("{s:o, s:I}", "rows", rows, "every", (json_int_t)d->every);
}

json_t *rep_distance_json(struct rep_folder *f, const struct rep_links *l)
{
    struct rep_pairs p;
    if (!rep_pairs_open(f, &p, "matrix"))
        return NULL;
    struct distances *d = ker_alloc(sizeof *d);
    d->switches = l->switches;
    d->source = REP_NOWHERE;
    d->every = 1 + (uint32_t)((double)l->switches * (double)l->count / MOST_STEPS);
    rep_neighbours_make(&d->near, l);
    d->hops = ker_alloc(sizeof *d->hops * (l->switches + 1u));
    d->queue = ker_alloc(sizeof *d->queue * (l->switches + 1u));
    while (rep_table_next(p.table)) {
        uint64_t from = (uint64_t)rep_cell_integer(p.table, p.from),
                 to = (uint64_t)rep_cell_integer(p.table, p.to);
        if (from >= l->nodes || to >= l->nodes)
            break; /* told by rep_matrices_json */
        row_count(d, &p, from, to);
    }
    json_t *rows = distances_json(d);
    rep_table_close(p.table);
    rep_neighbours_release(&d->near);
    free(d->hops);
    free(d->queue);
    free(d);
    return rows;
}
