/* where.c - what joins the panels of a page: in which place of the drawing a switch or node lies, at which
 * switch a node is, what they are called, and where the links lead that panels name.
 */
#include "tools/marsreport/scene.h"

#include <stdlib.h>

/* Each less the one before it, which is short where neighbours are alike; -1 for nowhere. */
static json_t *steps_json(const uint32_t *of, size_t count)
{
    json_t *steps = json_array();
    int64_t last = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t value = of[i] == REP_NOWHERE ? -1 : (int64_t)of[i];
        json_array_append_new(steps, json_integer(value - last));
        last = value;
    }
    return steps;
}

static json_t *switches_json(const struct rep_links *l)
{
    uint32_t *at = ker_alloc(sizeof *at * ((size_t)l->nodes + 1));
    memset(at, 0xff, sizeof *at * l->nodes);
    for (size_t i = 0; i < l->count; i++) /* of several adapters the first */
        if (l->link[i].from_node && !l->link[i].to_node && at[l->link[i].from] == REP_NOWHERE)
            at[l->link[i].from] = l->link[i].to;
    json_t *steps = steps_json(at, l->nodes);
    free(at);
    return steps;
}

/* [names], null where there is none. */
static json_t *names_json(char *const *name, uint32_t count)
{
    json_t *names = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(names, name[i] ? stats_text_json(name[i]) : json_null());
    return names;
}

/* Of rows that begin with the kind and number of a link's sender, and its port:
 * {"switch 3 port 5": ["switch", 9, "level 1", line]}. */
static void links_name(json_t *named, const struct rep_links *l, const struct rep_scene *s,
                       const json_t *rows)
{
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *kind = json_string_value(json_array_get(row, 0));
        json_int_t from = json_integer_value(json_array_get(row, 1)),
                   port = json_integer_value(json_array_get(row, 2));
        if (!kind || from < 0 || from > UINT32_MAX || port < 0 || port > UINT16_MAX)
            continue;
        bool node = strcmp(kind, "node") == 0;
        const struct rep_link *k = rep_links_find(l, node, (uint32_t)from, (uint16_t)port);
        if (!k)
            continue;
        char *key = ker_format("%s %u port %u", node ? "node" : "switch", k->from, k->from_port);
        json_object_set_new(named, key,
                            json_pack("[s, I, o, I]", k->to_node ? "node" : "switch", (json_int_t)k->to,
                                      stats_text_json(l->class[k->class]),
                                      s && k->element < 2 * s->lines ? (json_int_t)k->element : -1));
        free(key);
    }
}

json_t *rep_where_json(const json_t *data, const struct rep_links *l, const struct rep_scene *s)
{
    json_t *where = json_object(), *named = json_object();
    static const char *const series[] = {"link_series", "channel_series"};
    links_name(named, l, s, json_object_get(json_object_get(data, "hot"), "rows"));
    for (int i = 0; i < 2; i++)
        links_name(named, l, s,
                   json_object_get(json_object_get(json_object_get(data, "series"), series[i]), "objects"));
    json_object_set_new(where, "links", named);
    json_object_set_new(where, "switch_of", switches_json(l));
    if (s) {
        json_object_set_new(where, "of_switch", steps_json(s->of_switch, l->switches));
        json_object_set_new(where, "of_node", steps_json(s->of_node, l->nodes));
    }
    if (l->switch_name || l->node_name)
        json_object_set_new(where, "names",
                            json_pack("{s:o, s:o}", "switch", names_json(l->switch_name, l->switch_names),
                                      "node", names_json(l->node_name, l->node_names)));
    return where;
}
