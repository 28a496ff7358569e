/* jobs.c - where the jobs are: of each place of the drawing how many of its nodes have tasks of which job. */
#include "tools/marsreport/scene.h"

#include <stdlib.h>

struct seat {
    uint32_t place, job, node;
};

static int by_place(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    return KER_ORDER(x, y, place, job, node);
}

/* The number of a job in the list of names, where the last one found is likely the next. */
static uint32_t job_of(json_t *names, const char *name, uint32_t last)
{
    size_t count = json_array_size(names);
    for (size_t i = 0; i < count; i++) {
        uint32_t at = (uint32_t)((last + i) % count);
        if (strcmp(json_string_value(json_array_get(names, at)), name) == 0)
            return at;
    }
    json_array_append_new(names, rep_text_json(name));
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
