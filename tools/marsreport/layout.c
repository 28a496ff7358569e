/* layout.c - where the switches and nodes of a machine lie in the drawing: a layout for each kind of
 * topology, and one for any other network.
 */
#include "tools/marsreport/scene.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 10000.0f
#define LEVEL_HEIGHT 1400.0f /* from row to row of a tree */
#define LAYER_HEIGHT 1600.0f /* and of a graph */
#define BESIDE 1300.0f       /* room for what a row is */

static uint32_t place_add(struct rep_scene *s, float x, float y, float size, uint32_t count, bool node,
                          char *label)
{
    *KER_PUSH(s->place, s->places, s->place_room) =
        (struct rep_place){.x = x, .y = y, .size = size, .count = count, .node = node, .label = label};
    return s->places - 1;
}

static void frame_add(struct rep_scene *s, float x, float y, float w, float h, char *label)
{
    *KER_PUSH(s->frame, s->frames, s->frame_room) =
        (struct rep_frame){.x = x, .y = y, .w = w, .h = h, .label = label};
}

static void nodes_at_switches(struct rep_scene *s, const struct rep_links *l)
{
    s->nodes_hidden = true;
    for (size_t i = 0; i < l->count; i++)
        if (l->link[i].from_node && !l->link[i].to_node)
            s->of_node[l->link[i].from] = s->of_switch[l->link[i].to];
}

static const char *name_of(const struct rep_links *l, bool node, uint32_t id)
{
    char **names = node ? l->node_name : l->switch_name;
    return names && id < (node ? l->node_names : l->switch_names) ? names[id] : NULL;
}

static char *switch_label(const struct rep_links *l, uint32_t id, const uint32_t *coordinate, int dimensions)
{
    char at[128] = "";
    size_t used = 0;
    for (int i = 0; i < dimensions; i++)
        used += (size_t)snprintf(at + used, sizeof at - used, "%s%u", i ? "," : " (", coordinate[i]);
    if (used)
        snprintf(at + used, sizeof at - used, ")");
    const char *name = name_of(l, false, id);
    return name ? ker_format("%s%s", name, at) : ker_format("switch %u%s", id, at);
}

static char *range_label(const struct rep_links *l, bool node, uint32_t first, uint32_t count)
{
    const char *name = count == 1 ? name_of(l, node, first) : NULL;
    if (name)
        return ker_format("%s", name);
    if (count == 1)
        return ker_format("%s %u", node ? "node" : "switch", first);
    return ker_format("%s %u to %u", node ? "nodes" : "switches", first, first + count - 1);
}

/* ---- a fat tree in levels, the nodes at the bottom; and a star ----
 *
 * Ids of switches run level by level from the leaves, within a level by subtree
 * (routing/topologies/fat_tree.c), so that neighbours in a row belong together. Where a row would have more
 * than `side` places, as many switches as divide the row share one.
 */

/* The least divisor of `count` that leaves at most `most` parts. */
static uint32_t share_of(uint32_t count, uint32_t most)
{
    uint32_t share = count > most ? (count + most - 1) / most : 1;
    while (count % share)
        share++;
    return share;
}

static void level_add(struct rep_scene *s, const struct rep_links *l, bool node, uint32_t first,
                      uint32_t count, float y, uint32_t side)
{
    uint32_t share = share_of(count, side), places = count / share, *of = node ? s->of_node : s->of_switch;
    float step = WIDTH / (float)places, size = fminf(step * 0.7f, node ? 90.0f : 220.0f);
    for (uint32_t i = 0; i < places; i++) {
        uint32_t at = first + i * share, place = place_add(s, BESIDE + step * ((float)i + 0.5f), y, size,
                                                           share, node, range_label(l, node, at, share));
        for (uint32_t k = 0; k < share; k++)
            of[at + k] = place;
    }
}

static void tree_layout(struct rep_scene *s, const struct rep_layout_input *in)
{
    const struct rep_shape *shape = in->shape;
    int levels = shape->dimensions;
    uint32_t first = 0;
    float bottom = LEVEL_HEIGHT * (float)levels + 300;
    for (int level = 0; level < levels; level++) {
        uint32_t count = 1;
        for (int i = 0; i < levels; i++)
            count *= i <= level ? shape->up[i] : shape->extent[i];
        float y = bottom - LEVEL_HEIGHT * (float)(level + 1);
        level_add(s, in->links, false, first, count, y, in->side / 8);
        frame_add(s, 0, y, 0, 0, ker_format("level %d\n%u switches", level + 1, count));
        first += count;
    }
    level_add(s, in->links, true, 0, in->links->nodes, bottom, in->side / 2);
    frame_add(s, 0, bottom, 0, 0, ker_format("%u nodes", in->links->nodes));
    s->shape = "fat tree";
    s->no_lines = !in->lines;
    s->text = ker_format("Switches level by level, the nodes at the bottom.");
}

static void star_layout(struct rep_scene *s, const struct rep_layout_input *in)
{
    uint32_t nodes = in->links->nodes, share = share_of(nodes, in->side), places = nodes / share;
    const float radius = 3000, middle = 3300;
    s->of_switch[0] = place_add(s, middle, middle, 320, 1, false, range_label(in->links, false, 0, 1));
    for (uint32_t i = 0; i < places; i++) {
        float angle = 6.2831853f * (float)i / (float)places - 1.5707963f;
        uint32_t place = place_add(s, middle + radius * cosf(angle), middle + radius * sinf(angle),
                                   fminf(150, 12000.0f / (float)places), share, true,
                                   range_label(in->links, true, i * share, share));
        for (uint32_t k = 0; k < share; k++)
            s->of_node[i * share + k] = place;
    }
    s->shape = "star";
    s->text = ker_format("The switch in the middle, the nodes around it.");
}

/* ---- a torus or mesh as slices: the first two dimensions span a slice, the others count slices ----
 *
 * Links inside a slice are lines; those that leave it, and those to nodes, colour the switch. A ring of one
 * dimension is a circle. Where there are more switches than places, blocks of 2 x 2, 4 x 4, ... share one.
 */

#define STEP 100.0f

struct slices {
    uint32_t x, y, count, block, across, down; /* block: switches of a side that share a place */
    uint32_t columns;
};

static struct slices slices_of(const struct rep_shape *shape, uint32_t most)
{
    struct slices s = {
        .x = shape->extent[0], .y = shape->dimensions > 1 ? shape->extent[1] : 1, .count = 1, .block = 1};
    for (int i = 2; i < shape->dimensions; i++)
        s.count *= shape->extent[i];
    for (;; s.block *= 2) {
        s.across = (s.x + s.block - 1) / s.block;
        s.down = (s.y + s.block - 1) / s.block;
        if ((uint64_t)s.across * s.down * s.count <= most || (s.across == 1 && s.down == 1))
            break;
    }
    /* About twice as wide as high. */
    s.columns = (uint32_t)ceil(sqrt(2.0 * s.count * s.down / (double)s.across));
    if (s.columns > s.count)
        s.columns = s.count;
    if (shape->dimensions == 4 && shape->extent[2] <= 16)
        s.columns = shape->extent[2];
    return s;
}

static char *slice_label(const struct rep_shape *shape, uint32_t slice)
{
    static const char letters[] = "xyzwvuts";
    char text[128] = "";
    size_t used = 0;
    for (int i = 2; i < shape->dimensions; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%c = %u", i > 2 ? ", " : "", letters[i],
                                 slice % shape->extent[i]);
        slice /= shape->extent[i];
    }
    return ker_format("%s", text);
}

static void ring(struct rep_scene *s, const struct rep_layout_input *in)
{
    const uint32_t count = in->shape->extent[0];
    const float radius = fmaxf(400, STEP * (float)count / 6.2f);
    for (uint32_t i = 0; i < count; i++) {
        float angle = 6.2831853f * (float)i / (float)count - 1.5707963f;
        s->of_switch[i] = place_add(s, radius * (1.1f + cosf(angle)), radius * (1.1f + sinf(angle)),
                                    STEP * 0.5f, 1, false, switch_label(in->links, i, &i, 1));
    }
}

/* Where the slice begins. */
static void slice_corner(const struct slices *sl, uint32_t slice, float *x, float *y)
{
    *x = (float)(slice % sl->columns) * STEP * ((float)sl->across + 1.2f) + STEP;
    *y = (float)(slice / sl->columns) * STEP * ((float)sl->down + 1.8f) + 1.5f * STEP;
}

/* All switches of the block of a place, whose first one is `id`. */
static uint32_t block_fill(struct rep_scene *s, const struct slices *sl, uint32_t x, uint32_t y,
                           uint32_t base, uint32_t place)
{
    uint32_t count = 0;
    for (uint32_t j = y; j < y + sl->block && j < sl->y; j++)
        for (uint32_t i = x; i < x + sl->block && i < sl->x; i++, count++)
            s->of_switch[base + j * sl->x + i] = place;
    return count;
}

static void slice_fill(struct rep_scene *s, const struct rep_layout_input *in, const struct slices *sl,
                       uint32_t slice)
{
    float x, y;
    uint32_t base = slice * sl->x * sl->y;
    slice_corner(sl, slice, &x, &y);
    if (sl->count > 1)
        frame_add(s, x - 0.6f * STEP, y - 0.6f * STEP, STEP * ((float)sl->across + 0.2f),
                  STEP * ((float)sl->down + 0.2f), slice_label(in->shape, slice));
    for (uint32_t j = 0; j < sl->down; j++)
        for (uint32_t i = 0; i < sl->across; i++) {
            uint32_t at[REP_MOST_DIMENSIONS] = {i * sl->block, j * sl->block}, rest = slice,
                     id = base + at[1] * sl->x + at[0];
            for (int d = 2; d < in->shape->dimensions; rest /= in->shape->extent[d], d++)
                at[d] = rest % in->shape->extent[d];
            uint32_t place =
                place_add(s, x + STEP * (float)i, y + STEP * (float)j, STEP * (in->lines ? 0.46f : 0.9f), 1,
                          false, switch_label(in->links, id, at, in->shape->dimensions));
            s->place[place].count = block_fill(s, sl, at[0], at[1], base, place);
        }
}

static void torus_layout(struct rep_scene *s, const struct rep_layout_input *in)
{
    struct slices sl = slices_of(in->shape, in->lines ? REP_MOST_PLACES : in->side);
    s->shape = "torus";
    s->no_lines = !in->lines;
    if (in->shape->dimensions == 1 && in->lines) {
        ring(s, in);
    } else {
        for (uint32_t i = 0; i < sl.count; i++)
            slice_fill(s, in, &sl, i);
        s->slice = ker_alloc(sizeof *s->slice * (s->places + 1));
        for (uint32_t i = 0; i < s->places; i++)
            s->slice[i] = i / (sl.across * sl.down);
    }
    nodes_at_switches(s, in->links);
    if (!in->lines)
        s->text = ker_format(
            "A square is %s, coloured by the busiest link that it sends on; there are too many links to "
            "draw each.",
            sl.block > 1 ? "a block of switches" : "a switch");
    else
        s->text = ker_format(
            "Lines are the links inside a slice%s; a square is coloured by the busiest of the other links "
            "that it sends on (%sto nodes).",
            in->shape->dimensions == 1 ? " (here the ring)" : "", sl.count > 1 ? "to other slices, " : "");
}

/* ---- groups of groups: rings inside rings with all links as lines, or, where those would be too many,
 * blocks inside blocks in which a square is a switch ---- */

#define CELL 100.0f
#define MOST_IN_RINGS 1200

struct nest {
    struct rep_scene *scene;
    const struct rep_layout_input *in;
    uint32_t size[REP_MOST_DIMENSIONS + 1]; /* switches of a group of level l; 0: a switch */
    float w[REP_MOST_DIMENSIONS + 1], h[REP_MOST_DIMENSIONS + 1]; /* of its block */
    uint32_t columns[REP_MOST_DIMENSIONS + 1];
    int bottom; /* the level of what is a place */
};

static char *group_label(const struct nest *n, uint32_t first)
{
    uint32_t at[REP_MOST_DIMENSIONS];
    const struct rep_shape *shape = n->in->shape;
    for (int i = 0; i < shape->dimensions; i++)
        at[i] = first / n->size[i] % shape->extent[i];
    if (n->bottom == 0)
        return switch_label(n->in->links, first, at, shape->dimensions);
    return range_label(n->in->links, false, first, n->size[n->bottom]);
}

static void group_place(struct nest *n, uint32_t first, float x, float y, float size)
{
    uint32_t count = n->size[n->bottom],
             at = place_add(n->scene, x, y, size, count, false, group_label(n, first));
    for (uint32_t i = 0; i < count && first + i < n->in->shape->switches; i++)
        n->scene->of_switch[first + i] = at;
}

/* rings */

/* The radius that a group of a level takes. */
static float ring_radius(const struct nest *n, int level)
{
    if (level == n->bottom)
        return CELL * 0.45f;
    uint32_t members = n->in->shape->extent[level - 1];
    float inner = ring_radius(n, level - 1);
    return members == 1 ? inner : 1.12f * inner / sinf(3.1415927f / fmaxf((float)members, 2)) + 1.15f * inner;
}

/* outward: the angle at which the ring lies on the one around it. The first switches of a dragonfly+'s group,
 * its leaves, are outside, the spines inside. */
static void rings(struct nest *n, int level, uint32_t first, float x, float y, float outward)
{
    if (first >= n->in->shape->switches) /* the last group is not full */
        return;
    if (level == n->bottom) {
        group_place(n, first, x, y, CELL * 0.5f);
        return;
    }
    uint32_t members = n->in->shape->extent[level - 1];
    float radius = members == 1 ? 0 : ring_radius(n, level) - 1.15f * ring_radius(n, level - 1);
    uint32_t leaves = level == 1 ? n->in->shape->leaves : 0;
    float begin = leaves ? outward - 3.1415927f * (float)(leaves - 1) / (float)members : -1.5707963f;
    for (uint32_t i = 0; i < members; i++) {
        float angle = 6.2831853f * (float)i / (float)members + begin;
        rings(n, level - 1, first + i * n->size[level - 1], x + radius * cosf(angle),
              y + radius * sinf(angle), angle);
    }
}

/* blocks */

static void block_sizes(struct nest *n)
{
    n->w[n->bottom] = n->h[n->bottom] = CELL;
    for (int level = n->bottom + 1; level <= n->in->shape->dimensions; level++) {
        uint32_t members = n->in->shape->extent[level - 1];
        bool top = level == n->in->shape->dimensions;
        float gap = CELL * 0.25f * (float)(level - n->bottom);
        n->columns[level] =
            (uint32_t)ceil(sqrt((top ? 2.2 : 1.0) * members * (double)(n->h[level - 1] / n->w[level - 1])));
        n->columns[level] = n->columns[level] > members ? members
                            : n->columns[level] < 1     ? 1
                                                        : n->columns[level];
        uint32_t rows = (members + n->columns[level] - 1) / n->columns[level];
        n->w[level] = (float)n->columns[level] * n->w[level - 1] + 2 * gap;
        n->h[level] = (float)rows * n->h[level - 1] + 2 * gap;
    }
}

static void blocks(struct nest *n, int level, uint32_t first, float x, float y)
{
    if (first >= n->in->shape->switches)
        return;
    if (level == n->bottom) {
        group_place(n, first, x + CELL / 2, y + CELL / 2, CELL * 0.86f);
        return;
    }
    float gap = CELL * 0.25f * (float)(level - n->bottom);
    if (level < n->in->shape->dimensions)
        frame_add(n->scene, x + gap / 2, y + gap / 2, n->w[level] - gap, n->h[level] - gap,
                  ker_format("%s", ""));
    for (uint32_t i = 0; i < n->in->shape->extent[level - 1]; i++)
        blocks(n, level - 1, first + i * n->size[level - 1],
               x + gap + (float)(i % n->columns[level]) * n->w[level - 1],
               y + gap + (float)(i / n->columns[level]) * n->h[level - 1]);
}

static const char *shape_name(const char *kind)
{
    static const char *const names[][2] = {{"hyperx", "HyperX"},
                                           {"slim_fly", "slim fly"},
                                           {"polarfly", "PolarFly"},
                                           {"dragonfly_plus", "dragonfly+"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(kind, names[i][0]) == 0)
            return names[i][1];
    return "groups of groups";
}

static void groups_layout(struct rep_scene *s, const struct rep_layout_input *in)
{
    struct nest n = {.scene = s, .in = in, .size = {1}};
    int levels = in->shape->dimensions;
    for (int i = 0; i < levels; i++)
        n.size[i + 1] = n.size[i] * in->shape->extent[i];
    uint32_t most = in->lines ? MOST_IN_RINGS : in->side;
    bool drawn = in->lines && in->shape->switches <= most;
    while (!drawn && n.bottom < levels - 1 && in->shape->switches / n.size[n.bottom] > most && !in->lines)
        n.bottom++;
    s->shape = shape_name(in->shape->kind);
    s->no_lines = !drawn;
    if (drawn) {
        float radius = ring_radius(&n, levels);
        rings(&n, levels, 0, radius, radius, -1.5707963f);
        s->text = ker_format("Rings inside rings%s; lines are links between switches, a square is coloured "
                             "by the busiest link to its nodes.",
                             in->shape->leaves ? ", spines inside" : "");
    } else {
        block_sizes(&n);
        blocks(&n, levels, 0, 0, 0);
        s->text = ker_format(
            "Blocks inside blocks: a square is %s, coloured by the busiest link that it sends on; there are "
            "too many links to draw each.",
            n.bottom ? "a group of switches" : "a switch");
    }
    nodes_at_switches(s, in->links);
}

/* ---- any network: in layers, when it has some, else on circles ----
 *
 * The layer of a switch is its distance from the nearest switch with nodes. When at most a tenth of the links
 * stay inside a layer, layers are rows, and the order in a row is by the mean place of the neighbours below
 * (barycentres, eight times up and down): the same for the same network. Otherwise switches are on a circle
 * in the order of a breadth-first search, which keeps neighbours near. More switches than `side` in a row
 * share places.
 */

struct graph {
    struct rep_neighbours near;
    uint32_t switches;
    uint32_t *order; /* of the search */
    uint32_t *layer;
    uint32_t layers;
    double *at; /* place in the row, 0..1 */
};

/* From all `begin` at once; those that cannot be reached come last, each as a beginning of its own. */
static void search(struct graph *g, const bool *begin)
{
    uint32_t count = 0, done = 0;
    memset(g->layer, 0xff, sizeof *g->layer * g->switches);
    for (uint32_t i = 0; i < g->switches; i++)
        if (begin[i]) {
            g->layer[i] = 0;
            g->order[count++] = i;
        }
    for (uint32_t next = 0; count < g->switches || done < count;) {
        if (done == count) {
            while (g->layer[next] != REP_NOWHERE)
                next++;
            g->layer[next] = 0;
            g->order[count++] = next;
        }
        uint32_t at = g->order[done++];
        for (size_t k = g->near.first[at]; k < g->near.first[at + 1]; k++) {
            uint32_t to = g->near.to[k];
            if (g->layer[to] == REP_NOWHERE) {
                g->layer[to] = g->layer[at] + 1;
                g->order[count++] = to;
            }
        }
    }
    g->layers = 0;
    for (uint32_t i = 0; i < g->switches; i++)
        g->layers = g->layer[i] >= g->layers ? g->layer[i] + 1 : g->layers;
}

static bool in_layers(const struct graph *g)
{
    size_t inside = 0, all = g->near.first[g->switches];
    for (uint32_t i = 0; i < g->switches; i++)
        for (size_t k = g->near.first[i]; k < g->near.first[i + 1]; k++)
            inside += g->layer[i] == g->layer[g->near.to[k]];
    return g->layers > 1 && g->layers <= 12 && inside * 10 <= all;
}

static const double *sort_key; /* for qsort */

static int by_key(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (sort_key[x] != sort_key[y])
        return sort_key[x] < sort_key[y] ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Orders a row by the mean place of the neighbours in another one. */
static void layer_order(struct graph *g, uint32_t *row, uint32_t count, uint32_t other, double *mean)
{
    for (uint32_t i = 0; i < count; i++) {
        double sum = 0;
        uint32_t members = 0;
        for (size_t k = g->near.first[row[i]]; k < g->near.first[row[i] + 1]; k++)
            if (g->layer[g->near.to[k]] == other) {
                sum += g->at[g->near.to[k]];
                members++;
            }
        mean[row[i]] = members ? sum / members : g->at[row[i]];
    }
    sort_key = mean;
    qsort(row, count, sizeof *row, by_key);
    for (uint32_t i = 0; i < count; i++)
        g->at[row[i]] = (i + 0.5) / count;
}

static void layer_add(struct rep_scene *s, const struct rep_layout_input *in, const uint32_t *row,
                      uint32_t count, float y)
{
    uint32_t side = in->side / 4, share = (count + side - 1) / side, places = (count + share - 1) / share;
    float step = WIDTH / (float)places, size = fminf(0.7f * step, 220);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t p = i / share;
        if (i % share == 0)
            place_add(
                s, BESIDE + step * ((float)p + 0.5f), y, size, share < count - i ? share : count - i, false,
                share == 1 ? switch_label(in->links, row[i], NULL, 0) : ker_format("%u switches", share));
        s->of_switch[row[i]] = s->places - 1;
    }
}

static void layers_place(struct rep_scene *s, const struct rep_layout_input *in, struct graph *g)
{
    uint32_t **row = ker_alloc(sizeof *row * g->layers), *count = ker_alloc(sizeof *count * g->layers);
    double *mean = ker_alloc(sizeof *mean * (g->switches + 1u));
    for (uint32_t i = 0; i < g->switches; i++)
        *KER_APPEND(row[g->layer[g->order[i]]], count[g->layer[g->order[i]]]) = g->order[i];
    for (uint32_t layer = 0; layer < g->layers; layer++)
        for (uint32_t i = 0; i < count[layer]; i++)
            g->at[row[layer][i]] = (i + 0.5) / count[layer];
    for (int round = 0; round < 8; round++) {
        for (uint32_t layer = 1; layer < g->layers; layer++)
            layer_order(g, row[layer], count[layer], layer - 1, mean);
        for (uint32_t layer = g->layers - 1; layer-- > 0;)
            layer_order(g, row[layer], count[layer], layer + 1, mean);
    }
    for (uint32_t layer = 0; layer < g->layers; layer++) {
        float y = LAYER_HEIGHT * (float)(g->layers - 1 - layer) + 300;
        layer_add(s, in, row[layer], count[layer], y);
        frame_add(s, 0, y, 0, 0, ker_format("layer %u\n%u switches", layer, count[layer]));
        free(row[layer]);
    }
    free(row);
    free(count);
    free(mean);
}

static void circle_place(struct rep_scene *s, const struct rep_layout_input *in, const struct graph *g)
{
    uint32_t most = in->side * 2, share = (g->switches + most - 1) / most,
             places = (g->switches + share - 1) / share;
    float radius = 3500;
    for (uint32_t i = 0; i < g->switches; i++) {
        float angle = 6.2831853f * (float)(i / share) / (float)places - 1.5707963f;
        if (i % share == 0)
            place_add(s, radius * (1.1f + cosf(angle)), radius * (1.1f + sinf(angle)),
                      fminf(200, 14000.0f / (float)places), share < g->switches - i ? share : g->switches - i,
                      false,
                      share == 1 ? switch_label(in->links, g->order[i], NULL, 0)
                                 : ker_format("%u switches", share));
        s->of_switch[g->order[i]] = s->places - 1;
    }
}

/* Squares row by row, in the order of the search. */
static void squares_place(struct rep_scene *s, const struct rep_layout_input *in, const struct graph *g)
{
    uint32_t share = (g->switches + in->side - 1) / in->side, places = (g->switches + share - 1) / share,
             columns = (uint32_t)ceil(sqrt(2.0 * places));
    for (uint32_t i = 0; i < g->switches; i++) {
        uint32_t p = i / share;
        if (i % share == 0)
            place_add(s, 100 * (float)(p % columns) + 60, 100 * (float)(p / columns) + 60, 88,
                      share < g->switches - i ? share : g->switches - i, false,
                      share == 1 ? switch_label(in->links, g->order[i], NULL, 0)
                                 : ker_format("%u switches", share));
        s->of_switch[g->order[i]] = s->places - 1;
    }
}

static void graph_layout(struct rep_scene *s, const struct rep_layout_input *in)
{
    struct graph g = {.switches = in->links->switches};
    bool *begin = ker_alloc(g.switches + 1u);
    rep_neighbours_make(&g.near, in->links);
    for (size_t i = 0; i < in->links->count; i++) /* of each adapter of a node */
        if (in->links->link[i].from_node && !in->links->link[i].to_node)
            begin[in->links->link[i].to] = true;
    g.order = ker_alloc(sizeof *g.order * (g.switches + 1u));
    g.layer = ker_alloc(sizeof *g.layer * (g.switches + 1u));
    g.at = ker_alloc(sizeof *g.at * (g.switches + 1u));
    search(&g, begin);
    s->shape = "graph";
    s->no_lines = !in->lines;
    if (in->lines && in_layers(&g)) {
        layers_place(s, in, &g);
        s->text = ker_format(
            "Switches in layers by their distance from the nodes, which are at layer 0; the link to a node "
            "colours its switch.");
    } else {
        memset(begin, 0, g.switches);
        begin[0] = g.switches > 0;
        search(&g, begin);
        (in->lines ? circle_place : squares_place)(s, in, &g);
        s->text = ker_format(
            "Switches in the order of a search from the first one%s; the link to a node colours its switch.",
            in->lines ? ", on a circle" : "; there are too many links to draw each");
    }
    nodes_at_switches(s, in->links);
    rep_neighbours_release(&g.near);
    KER_FREE(begin, g.order, g.layer, g.at);
}

/* ---- which one ---- */

static const struct {
    const char *kind;
    void (*layout)(struct rep_scene *, const struct rep_layout_input *);
} layouts[] = {{"fat_tree", tree_layout},         {"rail_fat_tree", tree_layout},
               {"torus", torus_layout},           {"hierarchical", groups_layout},
               {"dragonfly", groups_layout},      {"hyperx", groups_layout},
               {"slim_fly", groups_layout},       {"polarfly", groups_layout},
               {"dragonfly_plus", groups_layout}, {"star", star_layout}};

void rep_layout(struct rep_scene *s, const struct rep_layout_input *in)
{
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (strcmp(in->shape->kind, layouts[i].kind) == 0 && in->shape->switches == in->links->switches) {
            layouts[i].layout(s, in);
            return;
        }
    graph_layout(s, in);
}
