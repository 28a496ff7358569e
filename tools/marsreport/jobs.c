/* jobs.c - where the jobs are: of each place of the drawing how many of its nodes have tasks of which job;
 * and what the links carry of each.
 */
#include "tools/marsreport/scene.h"

#include <math.h>
#include <stdlib.h>

struct seat {
    uint32_t place, job, node;
};

KER_ORDER_BY(by_place, struct seat, place, job, node)

/* The number of a job in the list of names, where the last one found is likely the next. */
static uint32_t job_of(json_t *names, const char *name, uint32_t last)
{
    size_t count = json_array_size(names);
    for (size_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)((last + i) % count);
        if (strcmp(json_string_value(json_array_get(names, at)), name) == 0)
            return at;
    }
    json_array_append_new(names, stats_text_json(name));
    return (uint32_t)count;
}

json_t *rep_jobs_json(struct rep_folder *f, const struct rep_scene *s, const struct rep_links *l)
{
    struct rep_table *t = rep_table_open(f, "tasks");
    int job = t ? rep_table_column(t, "job") : -1, node = t ? rep_table_column(t, "node") : -1;
    json_t *names = json_array(), *place = json_array(), *of = json_array(), *nodes = json_array();
    struct seat *seat = NULL;
    size_t seats = 0, room = 0;
    uint32_t last = 0;
    while (job >= 0 && node >= 0 && rep_table_next(t)) {
        int64_t at = rep_cell_integer(t, node);
        if (at < 0 || at >= l->nodes || s->of_node[at] == REP_NOWHERE)
            continue;
        last = job_of(names, rep_cell_text(t, job), last);
        *KER_PUSH(seat, seats, room) = (struct seat){s->of_node[at], last, (uint32_t)at};
    }
    rep_table_close(t);
    if (seats)
        qsort(seat, seats, sizeof *seat, by_place);
    for (size_t i = 0, count = 0; i < seats; i++) {
        bool ends = i + 1 == seats || seat[i + 1].place != seat[i].place || seat[i + 1].job != seat[i].job;
        count += ends || seat[i + 1].node != seat[i].node;
        if (!ends)
            continue;
        json_array_append_new(place, json_integer(seat[i].place));
        json_array_append_new(of, json_integer(seat[i].job));
        json_array_append_new(nodes, json_integer((json_int_t)count));
        count = 0;
    }
    free(seat);
    json_t *all =
        json_pack("{s:o, s:o, s:o, s:o}", "names", names, "place", place, "job", of, "nodes", nodes);
    if (seats)
        return all;
    json_decref(all);
    return NULL;
}

/* ---- loads of links by job ---- */

enum { MOST_CARRIED = 16 }; /* jobs; the table has no more */

struct carried {
    json_t *names;
    float *load[MOST_CARRIED];      /* by element */
    double busy[MOST_CARRIED], all; /* of the link that is read */
};

/* A link's rows are one behind the other; together they are as busy as the link. */
static void link_close(struct carried *c, const struct rep_link *link)
{
    for (int job = 0; job < MOST_CARRIED; job++) {
        if (link && c->load[job] && c->all > 0) {
            float *load = &c->load[job][link->element];
            *load = fmaxf(*load, link->utilisation * (float)(c->busy[job] / c->all));
        }
        c->busy[job] = 0;
    }
    c->all = 0;
}

static void carried_read(struct carried *c, struct rep_table *t, const struct rep_links *l, size_t elements)
{
    int kind = rep_table_need(t, "from_kind"), from = rep_table_need(t, "from"),
        port = rep_table_need(t, "from_port"), name = rep_table_need(t, "job"),
        busy = rep_table_need(t, "busy_ps");
    const struct rep_link *last = NULL;
    if (kind < 0 || from < 0 || port < 0 || name < 0 || busy < 0)
        return;
    for (uint32_t job = 0; rep_table_next(t);) {
        const struct rep_link *link =
            rep_links_find(l, strcmp(rep_cell_text(t, kind), "node") == 0,
                           (uint32_t)rep_cell_integer(t, from), (uint16_t)rep_cell_integer(t, port));
        if (link != last)
            link_close(c, last);
        last = link;
        job = job_of(c->names, rep_cell_text(t, name), job);
        if (job >= MOST_CARRIED)
            break;
        if (!c->load[job])
            c->load[job] = ker_alloc(sizeof **c->load * elements);
        c->busy[job] += rep_cell_real(t, busy);
        c->all += rep_cell_real(t, busy);
    }
    link_close(c, last);
}

json_t *rep_carried_json(struct rep_folder *f, const struct rep_scene *s, const struct rep_links *l)
{
    struct rep_table *t = rep_table_open(f, "links_by_job");
    struct carried c = {.names = json_array()};
    size_t elements = rep_scene_elements(s);
    json_t *all = json_array();
    if (t)
        carried_read(&c, t, l, elements);
    rep_table_close(t);
    for (size_t job = 0; job < MOST_CARRIED && c.load[job]; job++) {
        json_t *load = json_array();
        for (size_t i = 0; i < elements; i++)
            json_array_append_new(load, json_integer(lround(1e4 * (double)c.load[job][i])));
        json_array_append_new(all,
                              json_pack("{s:O, s:o}", "job", json_array_get(c.names, job), "load", load));
        free(c.load[job]);
    }
    json_decref(c.names);
    if (json_array_size(all))
        return all;
    json_decref(all);
    return NULL;
}
