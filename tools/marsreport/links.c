/* links.c - links.csv: who is joined to whom, and how busy each direction was.
 *
 * A run that has not ended has no links.csv yet. Then system.cfg says who is joined to whom, and
 * link_series.csv, if it is there, how busy the links were in the periods so far.
 */
#include "tools/marsreport/scene.h"

#include <stdlib.h>

struct columns {
    int from_kind, from, from_port, to_kind, to, class, utilisation, from_name, to_name;
};

static bool columns_find(struct rep_table *t, struct columns *c)
{
    *c = (struct columns){.from_kind = rep_table_need(t, "from_kind"),
                          .from = rep_table_need(t, "from"),
                          .from_port = rep_table_need(t, "from_port"),
                          .to_kind = rep_table_need(t, "to_kind"),
                          .to = rep_table_need(t, "to"),
                          .class = rep_table_need(t, "class"),
                          .utilisation = rep_table_need(t, "utilisation"),
                          .from_name = rep_table_column(t, "from_name"),
                          .to_name = rep_table_column(t, "to_name")};
    return c->from_kind >= 0 && c->from >= 0 && c->from_port >= 0 && c->to_kind >= 0 && c->to >= 0 &&
           c->class >= 0 && c->utilisation >= 0;
}

/* More classes than there is room for share the last one. */
static uint8_t class_of(struct rep_links *l, const char *name)
{
    unsigned i = 0;
    while (i < l->classes && strcmp(l->class[i], name) != 0)
        i++;
    if (i == REP_MOST_CLASSES)
        return REP_MOST_CLASSES - 1;
    if (i == l->classes)
        l->class[l->classes++] = ker_format("%s", name);
    return (uint8_t)i;
}

/* The end of a link, whose id is to be sound. */
static bool end_take(const struct rep_table *t, int kind, int id, bool *node, uint32_t *to, uint32_t *most[2])
{
    int64_t number = rep_cell_integer(t, id);
    *node = strcmp(rep_cell_text(t, kind), "node") == 0;
    if (number < 0 || number >= REP_MOST_IDS)
        return false;
    *to = (uint32_t)number;
    if (*to >= *most[*node])
        *most[*node] = *to + 1;
    return true;
}

static void name_keep(char ***names, uint32_t *room, uint32_t id, const char *name)
{
    if (!*name)
        return;
    uint32_t old = *room;
    KER_RESERVE(*names, *room, id + 1);
    memset(*names + old, 0, (*room - old) * sizeof **names);
    if (!(*names)[id])
        (*names)[id] = ker_format("%s", name);
}

static bool row_take(struct rep_links *l, const struct rep_table *t, const struct columns *c)
{
    uint32_t *most[2] = {&l->switches, &l->nodes};
    struct rep_link link = {.from_port = (uint16_t)rep_cell_integer(t, c->from_port),
                            .class = class_of(l, rep_cell_text(t, c->class)),
                            .utilisation = (float)rep_cell_real(t, c->utilisation)};
    if (!end_take(t, c->from_kind, c->from, &link.from_node, &link.from, most) ||
        !end_take(t, c->to_kind, c->to, &link.to_node, &link.to, most))
        return false;
    *KER_PUSH(l->link, l->count, l->room) = link;
    name_keep(link.from_node ? &l->node_name : &l->switch_name,
              link.from_node ? &l->node_names : &l->switch_names, link.from, rep_cell_text(t, c->from_name));
    return true;
}

static uint64_t end_key(const struct rep_link *l)
{
    return (uint64_t)l->from_node << 48 | (uint64_t)l->from << 16 | l->from_port;
}

static const struct rep_link *sorted_links; /* for qsort */

static int by_end(const void *a, const void *b)
{
    uint64_t x = end_key(&sorted_links[*(const size_t *)a]), y = end_key(&sorted_links[*(const size_t *)b]);
    return x < y ? -1 : x > y;
}

static void links_sort(struct rep_links *l)
{
    l->by_end = ker_alloc(sizeof *l->by_end * l->count);
    for (size_t i = 0; i < l->count; i++)
        l->by_end[i] = i;
    sorted_links = l->link;
    qsort(l->by_end, l->count, sizeof *l->by_end, by_end);
}

/* ---- of a run that has not ended ---- */

static void machine_take(void *links, const struct rep_link *link, const char *class, const char *name)
{
    struct rep_links *l = links;
    uint32_t *most_from = link->from_node ? &l->nodes : &l->switches,
             *most_to = link->to_node ? &l->nodes : &l->switches;
    struct rep_link one = *link;
    one.class = class_of(l, class);
    *most_from = one.from >= *most_from ? one.from + 1 : *most_from;
    *most_to = one.to >= *most_to ? one.to + 1 : *most_to;
    *KER_PUSH(l->link, l->count, l->room) = one;
    if (name)
        name_keep(link->from_node ? &l->node_name : &l->switch_name,
                  link->from_node ? &l->node_names : &l->switch_names, link->from, name);
}

/* The share of the measured time so far; false: there are no series of links. */
static bool series_take(struct rep_folder *f, struct rep_links *l, ker_time measured_from)
{
    struct rep_table *t = rep_table_open(f, "link_series");
    int time = t ? rep_table_column(t, "time_ps") : -1, kind = t ? rep_table_column(t, "from_kind") : -1,
        from = t ? rep_table_column(t, "from") : -1, port = t ? rep_table_column(t, "from_port") : -1,
        busy = t ? rep_table_column(t, "busy_ps") : -1;
    ker_time last = 0;
    while (time >= 0 && kind >= 0 && from >= 0 && port >= 0 && busy >= 0 && rep_table_next(t)) {
        int64_t id = rep_cell_integer(t, from);
        bool node = strcmp(rep_cell_text(t, kind), "node") == 0;
        struct rep_link *k = id < 0 || id >= REP_MOST_IDS || rep_cell_integer(t, time) > f->to
                                 ? NULL
                                 : rep_links_find(l, node, (uint32_t)id, (uint16_t)rep_cell_integer(t, port));
        if (!k)
            continue;
        k->utilisation += (float)rep_cell_real(t, busy);
        last = rep_cell_integer(t, time) > last ? rep_cell_integer(t, time) : last;
    }
    rep_table_close(t);
    for (size_t i = 0; i < l->count && last > measured_from; i++)
        l->link[i].utilisation /= (float)(last - measured_from);
    return last > 0;
}

static bool partial_read(struct rep_folder *f, struct rep_links *l)
{
    ker_time measured_from = 0;
    if (f->summary || !rep_machine_each(f, machine_take, l, &measured_from))
        return false;
    links_sort(l);
    if (series_take(f, l, measured_from))
        rep_note(f, false,
                 "The machine is drawn as system.cfg describes it, with what its links carried in "
                 "the periods that were written.");
    else
        rep_note(f, false,
                 "The machine is drawn as system.cfg describes it. How busy its links were is not "
                 "known: links.csv is written when a run ends, and link_series.csv, which is written "
                 "in transit (output.period and output.series.links = \"periods\"), is not there.");
    return true;
}

bool rep_links_read(struct rep_folder *f, struct rep_links *l)
{
    struct rep_table *t = rep_table_open(f, "links");
    struct columns c = {0};
    bool there = t != NULL, sound = there && columns_find(t, &c);
    *l = (struct rep_links){.link = NULL};
    while (sound && rep_table_next(t))
        if (!row_take(l, t, &c)) {
            rep_note(f, true, "links.csv: names a switch or node beyond %u; what follows is left out",
                     REP_MOST_IDS);
            break;
        }
    rep_table_close(t);
    if (l->count > 0)
        links_sort(l);
    else if (there || !partial_read(f, l))
        rep_links_release(l);
    return l->count > 0;
}

void rep_links_release(struct rep_links *l)
{
    for (unsigned i = 0; i < l->classes; i++)
        free(l->class[i]);
    ker_free_all(l->switch_name, l->switch_names);
    ker_free_all(l->node_name, l->node_names);
    free(l->link);
    free(l->by_end);
    *l = (struct rep_links){.link = NULL};
}

struct rep_link *rep_links_find(const struct rep_links *l, bool from_node, uint32_t from, uint16_t port)
{
    struct rep_link wanted = {.from_node = from_node, .from = from, .from_port = port};
    uint64_t key = end_key(&wanted);
    size_t low = KER_BISECT(i, 0, l->count, end_key(&l->link[l->by_end[i]]) < key);
    return low < l->count && end_key(&l->link[l->by_end[low]]) == key ? &l->link[l->by_end[low]] : NULL;
}

/* ---- neighbours ---- */

void rep_neighbours_make(struct rep_neighbours *n, const struct rep_links *l)
{
    n->first = ker_alloc(sizeof *n->first * ((size_t)l->switches + 2));
    n->switch_of = ker_alloc(sizeof *n->switch_of * ((size_t)l->nodes + 1));
    for (size_t i = 0; i < l->count; i++) {
        const struct rep_link *k = &l->link[i];
        if (k->from_node && !k->to_node)
            n->switch_of[k->from] = k->to;
        else if (!k->from_node && !k->to_node)
            n->first[k->from + 2]++;
    }
    for (uint32_t s = 0; s < l->switches; s++)
        n->first[s + 2] += n->first[s + 1];
    n->to = ker_alloc(sizeof *n->to * (n->first[l->switches + 1] + 1));
    for (size_t i = 0; i < l->count; i++) {
        const struct rep_link *k = &l->link[l->by_end[i]];
        if (!k->from_node && !k->to_node)
            n->to[n->first[k->from + 1]++] = k->to;
    }
}

void rep_neighbours_release(struct rep_neighbours *n)
{
    free(n->first);
    free(n->to);
    free(n->switch_of);
}

/* ---- the busiest ---- */

/* The least busy of those kept is replaced; rows that come earlier stay before equal ones. */
static void hot_keep(json_t *rows, json_t *row, size_t column)
{
    double busy = json_number_value(json_array_get(row, column));
    size_t at = json_array_size(rows);
    while (at > 0 && json_number_value(json_array_get(json_array_get(rows, at - 1), column)) < busy)
        at--;
    json_array_insert(rows, at, row);
    if (json_array_size(rows) > REP_MOST_HOT)
        json_array_remove(rows, REP_MOST_HOT);
}

json_t *rep_hot_json(struct rep_folder *f)
{
    struct rep_table *t = rep_table_open(f, "links");
    int busy = t ? rep_table_column(t, "utilisation") : -1;
    if (busy < 0) {
        rep_table_close(t);
        return NULL;
    }
    json_t *columns = json_array(), *rows = json_array();
    size_t count = 0;
    double least = -1;
    for (int i = 0; i < rep_table_columns(t); i++)
        json_array_append_new(columns, json_string(rep_table_name(t, i)));
    for (; rep_table_next(t); count++) {
        if (rep_cell_real(t, busy) <= least)
            continue;
        json_t *row = json_array();
        for (int i = 0; i < rep_table_columns(t); i++)
            json_array_append_new(row, rep_cell_json(t, i));
        hot_keep(rows, row, (size_t)busy);
        json_decref(row);
        if (json_array_size(rows) == REP_MOST_HOT)
            least = json_number_value(json_array_get(json_array_get(rows, REP_MOST_HOT - 1), (size_t)busy));
    }
    rep_table_close(t);
    return json_pack("{s:o, s:o, s:I}", "columns", columns, "rows", rows, "left_out",
                     (json_int_t)(count - json_array_size(rows)));
}
