/* matrix.c - matrix.csv: who talked to whom, as a square of at most REP_MATRIX_SIDE rows, and over how many
 * links.
 *
 * Where there are more nodes, as many with successive numbers share a row as need be. Distances are those of
 * shortest paths, by a breadth-first search from the switch of each node that sent; of very large systems
 * from so many of them that the work stays bounded, evenly spread: then the counts are those of these senders
 * alone.
 */
#include "tools/marsreport/scene.h"

#include <stdlib.h>

struct pairs {
    struct rep_table *table;
    int from, to, messages, bytes;
};

static bool pairs_open(struct rep_folder *f, struct pairs *p)
{
    p->table = rep_table_open(f, "matrix");
    if (!p->table)
        return false;
    p->from = rep_table_need(p->table, "from_node");
    p->to = rep_table_need(p->table, "to_node");
    p->messages = rep_table_need(p->table, "messages");
    p->bytes = rep_table_need(p->table, "bytes");
    if (p->from >= 0 && p->to >= 0 && p->messages >= 0 && p->bytes >= 0)
        return true;
    rep_table_close(p->table);
    return false;
}

static json_t *cells_json(const uint64_t *messages, const uint64_t *bytes, uint32_t side)
{
    json_t *cells = json_array();
    for (uint32_t i = 0; i < side * side; i++)
        if (messages[i])
            json_array_append_new(cells,
                                  json_pack("[I, I, I, I]", (json_int_t)(i / side), (json_int_t)(i % side),
                                            (json_int_t)messages[i], (json_int_t)bytes[i]));
    return cells;
}

json_t *rep_matrix_json(struct rep_folder *f, uint32_t nodes)
{
    struct pairs p;
    if (nodes == 0 || !pairs_open(f, &p))
        return NULL;
    uint32_t together = (nodes + REP_MATRIX_SIDE - 1) / REP_MATRIX_SIDE,
             side = (nodes + together - 1) / together;
    uint64_t *messages = ker_alloc(sizeof *messages * side * side),
             *bytes = ker_alloc(sizeof *bytes * side * side);
    while (rep_table_next(p.table)) {
        uint64_t from = (uint64_t)rep_cell_integer(p.table, p.from),
                 to = (uint64_t)rep_cell_integer(p.table, p.to);
        if (from >= nodes || to >= nodes) {
            rep_note(f, true,
                     "matrix.csv: names a node beyond the %u of this system; what follows is left out",
                     nodes);
            break;
        }
        uint64_t at = from / together * side + to / together;
        messages[at] += (uint64_t)rep_cell_integer(p.table, p.messages);
        bytes[at] += (uint64_t)rep_cell_integer(p.table, p.bytes);
    }
    json_t *matrix =
        json_pack("{s:I, s:I, s:I, s:o}", "nodes", (json_int_t)nodes, "together", (json_int_t)together,
                  "side", (json_int_t)side, "cells", cells_json(messages, bytes, side));
    rep_table_close(p.table);
    free(messages);
    free(bytes);
    return matrix;
}

/* ---- by distance ---- */

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
static void row_count(struct distances *d, const struct pairs *p, uint64_t from, uint64_t to)
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
    struct pairs p;
    if (!pairs_open(f, &p))
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
            break; /* told by rep_matrix_json */
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
