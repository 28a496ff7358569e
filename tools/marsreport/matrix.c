/* matrix.c - who sent to whom: matrix.csv and its series, between nodes, boards, racks and tasks; and over
 * how many links.
 *
 * A matrix is a square of at most REP_MATRIX_SIDE rows, "cells": [[row, column, messages, bytes]]; where more
 * have sent, as many with successive numbers share a row as need be. With a series there are frames, squares
 * of at most FRAME_SIDE rows: {"side", "together", "time_ps", "cells": [[cell, messages, bytes, cell, ...]]},
 * a frame for as many successive periods as keep them within MOST_CELLS; `cell` is row * side + column.
 * Without the table of totals these are the sums of the series. The matrix of tasks is one for each job.
 */
#include "tools/marsreport/scene.h"

#include <stdlib.h>

#define MOST_STEPS 400000000.0 /* of all searches */
enum { FRAME_SIDE = 64, MOST_FRAMES = 500, MOST_CELLS = 200000, MOST_JOBS = 16, MOST_DISTANCE = 256 };

struct pairs {
    struct rep_table *table;
    int time, job, from, to, messages, bytes; /* time, job: -1: the table has none */
};

static const struct level {
    const char *name, *table, *series;
} levels[] = {
    {"node", "matrix", "matrix_series"},
    {"board", "board_matrix", "board_matrix_series"},
    {"rack", "rack_matrix", "rack_matrix_series"},
    {"task", "task_matrix", "task_matrix_series"},
};

/* "from_node", "to_rack", ...: the first column of such a name. */
static int end_find(struct rep_table *t, const char *side)
{
    for (int i = 0; i < rep_table_columns(t); i++)
        if (strncmp(rep_table_name(t, i), side, strlen(side)) == 0)
            return i;
    return rep_table_need(t, side);
}

/* NULL in `table` and false: there is no such table, or it is of no use. */
static bool pairs_open(struct rep_folder *f, struct pairs *p, const char *table)
{
    p->table = rep_table_open(f, table);
    if (!p->table)
        return false;
    p->time = rep_table_column(p->table, "time_ps");
    p->job = rep_table_column(p->table, "job");
    p->from = end_find(p->table, "from_");
    p->to = end_find(p->table, "to_");
    p->messages = rep_table_need(p->table, "messages");
    p->bytes = rep_table_need(p->table, "bytes");
    if (p->from >= 0 && p->to >= 0 && p->messages >= 0 && p->bytes >= 0)
        return true;
    rep_table_close(p->table);
    p->table = NULL;
    return false;
}

/* ---- squares ---- */

struct square {
    uint32_t side, together;
    uint64_t *messages, *bytes;
};

static void square_make(struct square *s, uint32_t count, uint32_t most)
{
    s->together = (count + most - 1) / most;
    s->side = (count + s->together - 1) / s->together;
    s->messages = ker_alloc(sizeof *s->messages * s->side * s->side);
    s->bytes = ker_alloc(sizeof *s->bytes * s->side * s->side);
}

static void square_release(struct square *s)
{
    free(s->messages);
    free(s->bytes);
}

static void square_add(struct square *s, const struct pairs *p)
{
    uint64_t from = (uint64_t)rep_cell_integer(p->table, p->from),
             to = (uint64_t)rep_cell_integer(p->table, p->to);
    uint64_t at = from / s->together * s->side + to / s->together;
    s->messages[at] += (uint64_t)rep_cell_integer(p->table, p->messages);
    s->bytes[at] += (uint64_t)rep_cell_integer(p->table, p->bytes);
}

static json_t *cells_json(const struct square *s)
{
    json_t *cells = json_array();
    for (uint32_t i = 0; i < s->side * s->side; i++)
        if (s->messages[i])
            json_array_append_new(cells, json_pack("[I, I, I, I]", (json_int_t)(i / s->side),
                                                   (json_int_t)(i % s->side), (json_int_t)s->messages[i],
                                                   (json_int_t)s->bytes[i]));
    return cells;
}

/* ---- a level: a matrix, or one for each job ---- */

struct matrix {
    char *job; /* "": of all */
    uint32_t count;
    struct square whole, frame;
    json_t *cells; /* of the frames */
};

struct matrices {
    struct rep_folder *folder;
    const struct level *level;
    struct matrix of[MOST_JOBS];
    int jobs;
    struct rep_ends ends;
    size_t together, period;
    json_t *times;
};

/* NULL: there is no room for another job. */
static struct matrix *matrix_of(struct matrices *m, const struct pairs *p)
{
    const char *job = rep_cell_text(p->table, p->job);
    for (int i = 0; i < m->jobs; i++)
        if (strcmp(m->of[i].job, job) == 0)
            return &m->of[i];
    if (m->jobs == MOST_JOBS)
        return NULL;
    m->of[m->jobs] = (struct matrix){.job = ker_format("%s", job)};
    return &m->of[m->jobs++];
}

static int64_t highest_of(const struct pairs *p)
{
    int64_t from = rep_cell_integer(p->table, p->from), to = rep_cell_integer(p->table, p->to);
    return from < 0 || to < 0 ? INT64_MAX : from > to ? from : to;
}

/* How many there are of each matrix, by the highest number; false: numbers are beyond what any system has. */
static bool counts_read(struct matrices *m, const char *table)
{
    struct pairs p;
    bool sound = true;
    if (!pairs_open(m->folder, &p, table))
        return false;
    while (sound && rep_table_next(p.table)) {
        struct matrix *of = matrix_of(m, &p);
        int64_t highest = highest_of(&p);
        sound = highest < REP_MOST_IDS;
        if (of && sound && highest >= of->count)
            of->count = (uint32_t)highest + 1;
    }
    if (!sound)
        rep_note(m->folder, true, "%s: names a sender or receiver beyond %d; it is left out", table,
                 REP_MOST_IDS);
    rep_table_close(p.table);
    return sound;
}

static void whole_read(struct matrices *m, const char *table)
{
    struct pairs p;
    if (!pairs_open(m->folder, &p, table))
        return;
    while (rep_table_next(p.table)) {
        struct matrix *of = matrix_of(m, &p);
        if (of && highest_of(&p) >= of->count) {
            rep_note(m->folder, true,
                     "%s: names a node beyond the %u of this system; what follows is left out", table,
                     of->count);
            break;
        }
        if (of)
            square_add(&of->whole, &p);
    }
    rep_table_close(p.table);
}

/* ---- frames ---- */

static void frame_close(struct matrices *m)
{
    json_array_append_new(m->times, json_integer(m->ends.at[m->period - 1]));
    for (int i = 0; i < m->jobs; i++) {
        struct square *s = &m->of[i].frame;
        json_t *cells = json_array();
        for (uint32_t c = 0; c < s->side * s->side; c++)
            if (s->messages[c]) {
                json_array_append_new(cells, json_integer(c));
                json_array_append_new(cells, json_integer((json_int_t)s->messages[c]));
                json_array_append_new(cells, json_integer((json_int_t)s->bytes[c]));
                s->messages[c] = s->bytes[c] = 0;
            }
        json_array_append_new(m->of[i].cells, cells);
    }
}

static void time_reach(struct matrices *m, ker_time time)
{
    if (time < KER_TIME_MAX)
        rep_ends_reach(&m->ends, time);
    while (m->period < m->ends.count && m->ends.at[m->period] < time)
        if (++m->period % m->together == 0)
            frame_close(m);
}

static void together_choose(struct matrices *m)
{
    size_t cells = 1;
    for (int i = 0; i < m->jobs; i++) {
        square_make(&m->of[i].frame, m->of[i].count, FRAME_SIDE);
        m->of[i].cells = json_array();
        cells += (size_t)m->of[i].frame.side * m->of[i].frame.side;
    }
    m->together = 1;
    while (m->ends.count / m->together > MOST_FRAMES || m->ends.count / m->together * cells > MOST_CELLS)
        m->together++;
}

static void frames_read(struct matrices *m, const char *table, bool whole)
{
    struct pairs p;
    if (!pairs_open(m->folder, &p, table))
        return;
    if (p.time < 0 || !rep_ends_find(m->folder, &m->ends, table)) {
        rep_table_close(p.table);
        return;
    }
    together_choose(m);
    while (rep_table_next(p.table)) {
        ker_time at = rep_cell_integer(p.table, p.time);
        struct matrix *of = matrix_of(m, &p);
        if (of && highest_of(&p) < of->count && whole)
            square_add(&of->whole, &p);
        if (!of || highest_of(&p) >= of->count || at < m->folder->from || at > m->folder->to)
            continue;
        time_reach(m, at);
        square_add(&of->frame, &p);
    }
    time_reach(m, KER_TIME_MAX);
    if (m->ends.count % m->together)
        frame_close(m);
    rep_table_close(p.table);
}

/* ---- all ---- */

static json_t *matrix_json(const struct matrices *m, const struct matrix *of)
{
    json_t *one = json_pack("{s:s, s:s, s:I, s:I, s:I, s:o}", "level", m->level->name, "job", of->job,
                            "count", (json_int_t)of->count, "together", (json_int_t)of->whole.together,
                            "side", (json_int_t)of->whole.side, "cells", cells_json(&of->whole));
    if (one && of->cells)
        json_object_set_new(one, "frames",
                            json_pack("{s:I, s:I, s:O, s:O, s:I}", "side", (json_int_t)of->frame.side,
                                      "together", (json_int_t)of->frame.together, "time_ps", m->times,
                                      "cells", of->cells, "begun_ps", (json_int_t)m->ends.begun));
    return one;
}

static void level_add(struct rep_folder *f, const struct level *level, uint32_t nodes, json_t *all)
{
    struct matrices m = {.folder = f, .level = level, .times = json_array()};
    struct pairs p = {.table = NULL};
    bool totals = pairs_open(f, &p, level->table);
    rep_table_close(p.table);
    bool known = true; /* of nodes it is known how many there are: their tables are the long ones */
    if (level == levels && nodes)
        m.of[m.jobs++] = (struct matrix){.job = ker_format("%s", ""), .count = nodes};
    else
        known = counts_read(&m, totals ? level->table : level->series);
    for (int i = 0; i < m.jobs && known; i++)
        square_make(&m.of[i].whole, m.of[i].count, REP_MATRIX_SIDE);
    if (known && totals)
        whole_read(&m, level->table);
    if (known)
        frames_read(&m, level->series, !totals);
    for (int i = 0; i < m.jobs; i++) {
        json_t *one = known && (totals || m.of[i].cells) ? matrix_json(&m, &m.of[i]) : NULL;
        if (one)
            json_array_append_new(all, one);
        square_release(&m.of[i].whole);
        square_release(&m.of[i].frame);
        json_decref(m.of[i].cells);
        free(m.of[i].job);
    }
    json_decref(m.times);
    free(m.ends.at);
}

json_t *rep_matrices_json(struct rep_folder *f, uint32_t nodes)
{
    json_t *all = json_array();
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        level_add(f, &levels[i], nodes, all);
    return all;
}

/* ---- over how many links nodes talked ----
 *
 * Distances are those of shortest paths, by a breadth-first search from the switch of each node that sent; of
 * very large systems from this many of them that the work stays bounded, evenly spread: then the counts are
 * those of these senders alone.
 */

struct distances {
    struct rep_neighbours near;
    uint32_t switches, source; /* source: the switch of the current distances */
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
    if (!pairs_open(f, &p, "matrix"))
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
            break; /* written by rep_matrices_json */
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
