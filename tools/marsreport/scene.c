/* scene.c - puts the links into a layout, and makes JSON of it.
 *
 * A layout is tried with as much detail as may be, then with half of it, until the lines between its places
 * are no more than REP_MOST_LINES. Loads are whole numbers of 1/10000.
 */
#include "tools/marsreport/scene.h"

#include <math.h>
#include <stdlib.h>

/* ---- links ---- */

struct ends {
    uint32_t from, to; /* places; REP_NOWHERE in `to`: it colours its sender's place */
};

static struct ends ends_of(const struct rep_scene *s, const struct rep_link *k)
{
    struct ends e = {k->from_node ? s->of_node[k->from] : s->of_switch[k->from],
                     k->to_node ? s->of_node[k->to] : s->of_switch[k->to]};
    if (s->nodes_hidden && k->from_node && !k->to_node)
        e.from = e.to;
    else if (s->nodes_hidden && k->to_node && !k->from_node)
        e.to = e.from;
    bool line = !s->no_lines && e.from != e.to && e.from != REP_NOWHERE && e.to != REP_NOWHERE &&
                (!s->slice || s->slice[e.from] == s->slice[e.to]);
    if (!line)
        e = (struct ends){e.from == REP_NOWHERE ? e.to : e.from, REP_NOWHERE};
    return e;
}

struct pair {
    uint64_t key; /* the lower place, the higher one */
    uint8_t class;
    size_t link;
};

KER_ORDER_BY(by_pair, struct pair, key, class, link)

static void line_load(struct rep_scene *s, struct rep_link *k, uint32_t line, bool back)
{
    struct rep_line *at = &s->line[line];
    if (at->count[back]++ == 0 || k->utilisation > at->load[back]) {
        at->load[back] = k->utilisation;
        at->from[back] = k->from;
        at->port[back] = k->from_port;
    }
    k->element = 2 * line + back;
}

static void lines_make(struct rep_scene *s, struct rep_links *l)
{
    struct pair *pair = NULL;
    size_t pairs = 0, room = 0;
    for (size_t i = 0; i < l->count; i++) {
        struct ends e = ends_of(s, &l->link[i]);
        uint32_t low = e.from < e.to ? e.from : e.to, high = e.from < e.to ? e.to : e.from;
        if (e.to != REP_NOWHERE)
            *KER_PUSH(pair, pairs, room) = (struct pair){(uint64_t)low << 32 | high, l->link[i].class, i};
    }
    if (pairs)
        qsort(pair, pairs, sizeof *pair, by_pair);
    for (size_t i = 0; i < pairs; i++) {
        struct rep_link *k = &l->link[pair[i].link];
        if (i == 0 || pair[i].key != pair[i - 1].key || pair[i].class != pair[i - 1].class)
            *KER_PUSH(s->line, s->lines, s->line_room) = (struct rep_line){
                .a = (uint32_t)(pair[i].key >> 32), .b = (uint32_t)pair[i].key, .class = k->class};
        line_load(s, k, s->lines - 1, ends_of(s, k).from != s->line[s->lines - 1].a);
    }
    free(pair);
}

static void hidden_make(struct rep_scene *s, struct rep_links *l)
{
    s->classes = l->classes;
    s->hidden = ker_alloc(sizeof *s->hidden * s->classes * (s->places + 1));
    for (size_t i = 0; i < (size_t)s->classes * s->places; i++)
        s->hidden[i] = -1; /* none of this class */
    for (size_t i = 0; i < l->count; i++) {
        struct rep_link *k = &l->link[i];
        struct ends e = ends_of(s, k);
        if (e.to != REP_NOWHERE || e.from == REP_NOWHERE)
            continue;
        float *load = &s->hidden[(size_t)k->class * s->places + e.from];
        *load = fmaxf(*load, k->utilisation);
        k->element = 2 * s->lines + k->class * s->places + e.from;
    }
}

/* ---- tries ---- */

static struct rep_scene *scene_try(struct rep_links *l, const struct rep_layout_input *in)
{
    struct rep_scene *s = ker_alloc(sizeof *s);
    s->of_switch = ker_alloc(sizeof *s->of_switch * ((size_t)l->switches + 1));
    s->of_node = ker_alloc(sizeof *s->of_node * ((size_t)l->nodes + 1));
    memset(s->of_switch, 0xff, sizeof *s->of_switch * l->switches);
    memset(s->of_node, 0xff, sizeof *s->of_node * l->nodes);
    rep_layout(s, in);
    lines_make(s, l);
    if (s->lines <= REP_MOST_LINES && s->places <= REP_MOST_PLACES) {
        hidden_make(s, l);
        return s;
    }
    rep_scene_free(s);
    return NULL;
}

/* Moves all of it to the corner, and says how large it is. */
static void box_find(struct rep_scene *s)
{
    float left = INFINITY, top = INFINITY;
    for (uint32_t i = 0; i < s->places; i++) {
        left = fminf(left, s->place[i].x - s->place[i].size / 2);
        top = fminf(top, s->place[i].y - s->place[i].size / 2);
    }
    for (uint32_t i = 0; i < s->frames; i++) {
        left = fminf(left, s->frame[i].x);
        top = fminf(top, s->frame[i].y);
    }
    for (uint32_t i = 0; i < s->places; i++) {
        s->place[i].x -= left;
        s->place[i].y -= top;
        s->width = fmaxf(s->width, s->place[i].x + s->place[i].size / 2);
        s->height = fmaxf(s->height, s->place[i].y + s->place[i].size / 2);
    }
    for (uint32_t i = 0; i < s->frames; i++) {
        s->frame[i].x -= left;
        s->frame[i].y -= top;
        s->width = fmaxf(s->width, s->frame[i].x + s->frame[i].w);
        s->height = fmaxf(s->height, s->frame[i].y + s->frame[i].h);
    }
}

struct rep_scene *rep_scene_make(struct rep_folder *f, struct rep_links *l)
{
    struct rep_shape shape;
    rep_shape_read(f, &shape);
    struct rep_layout_input in = {.links = l, .shape = &shape, .lines = true};
    struct rep_scene *s = NULL;
    for (in.side = 512; !s && in.side >= 16; in.side /= 2)
        s = scene_try(l, &in);
    in.lines = false;
    for (in.side = REP_MOST_PLACES; !s && in.side > 1; in.side /= 2)
        s = scene_try(l, &in);
    if (s)
        box_find(s);
    return s;
}

void rep_scene_free(struct rep_scene *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->places; i++)
        free(s->place[i].label);
    for (uint32_t i = 0; i < s->frames; i++)
        free(s->frame[i].label);
    KER_FREE(s->text, s->place, s->frame, s->of_switch, s->of_node, s->slice, s->line, s->hidden, s);
}

/* ---- JSON ---- */

static json_t *whole(double value)
{
    return json_integer((json_int_t)lround(value));
}

static json_t *places_json(const struct rep_scene *s)
{
    json_t *x = json_array(), *y = json_array(), *size = json_array(), *count = json_array(),
           *node = json_array(), *label = json_array();
    for (uint32_t i = 0; i < s->places; i++) {
        const struct rep_place *p = &s->place[i];
        json_array_append_new(x, whole(p->x));
        json_array_append_new(y, whole(p->y));
        json_array_append_new(size, whole(p->size));
        json_array_append_new(count, json_integer(p->count));
        json_array_append_new(node, json_integer(p->node));
        json_array_append_new(label, stats_text_json(p->label));
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "x", x, "y", y, "size", size, "count", count, "node",
                     node, "label", label);
}

static json_t *lines_json(const struct rep_scene *s)
{
    json_t *a = json_array(), *b = json_array(), *class = json_array(), *count = json_array(),
           *forth = json_array(), *back = json_array(), *from = json_array(), *port = json_array();
    for (uint32_t i = 0; i < s->lines; i++) {
        const struct rep_line *line = &s->line[i];
        json_array_append_new(a, json_integer(line->a));
        json_array_append_new(b, json_integer(line->b));
        json_array_append_new(class, json_integer(line->class));
        json_array_append_new(
            count, json_integer(line->count[0] > line->count[1] ? line->count[0] : line->count[1]));
        json_array_append_new(forth, whole(1e4 * (double)line->load[0]));
        json_array_append_new(back, whole(1e4 * (double)line->load[1]));
        for (int half = 0; half < 2; half++) {
            json_array_append_new(from, json_integer(line->count[half] ? (json_int_t)line->from[half] : -1));
            json_array_append_new(port, json_integer(line->port[half]));
        }
    }
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "a", a, "b", b, "class", class, "count",
                     count, "forth", forth, "back", back, "from", from, "port", port);
}

/* Of each class the loads of the places, -1 where a place has no such link; [] when none has. */
static json_t *hidden_json(const struct rep_scene *s)
{
    json_t *all = json_array();
    for (unsigned c = 0; c < s->classes; c++) {
        json_t *one = json_array();
        const float *load = s->hidden + (size_t)c * s->places;
        bool any = false;
        for (uint32_t i = 0; i < s->places; i++)
            any |= load[i] >= 0;
        for (uint32_t i = 0; any && i < s->places; i++)
            json_array_append_new(one, load[i] < 0 ? json_integer(-1) : whole(1e4 * (double)load[i]));
        json_array_append_new(all, one);
    }
    return all;
}

json_t *rep_scene_json(const struct rep_scene *s, const struct rep_links *l)
{
    json_t *classes = json_array(), *frames = json_array();
    for (unsigned i = 0; i < l->classes; i++)
        json_array_append_new(classes, stats_text_json(l->class[i]));
    for (uint32_t i = 0; i < s->frames; i++) {
        const struct rep_frame *f = &s->frame[i];
        json_array_append_new(frames, json_pack("[o, o, o, o, o]", whole(f->x), whole(f->y), whole(f->w),
                                                whole(f->h), stats_text_json(f->label)));
    }
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "shape", s->shape, "text",
                     stats_text_json(s->text ? s->text : ""), "width", whole(s->width), "height",
                     whole(s->height), "classes", classes, "places", places_json(s), "frames", frames,
                     "lines", lines_json(s), "hidden", hidden_json(s));
}
