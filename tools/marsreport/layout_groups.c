/* layout_groups.c - groups of groups: rings inside rings with all links as lines, or, where those would be
 * too many, blocks inside blocks in which a square is a switch.
 */
#include "tools/marsreport/scene.h"

#include <math.h>
#include <stdlib.h>

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

static char *label(const struct nest *n, uint32_t first)
{
    uint32_t at[REP_MOST_DIMENSIONS];
    const struct rep_shape *shape = n->in->shape;
    for (int i = 0; i < shape->dimensions; i++)
        at[i] = first / n->size[i] % shape->extent[i];
    if (n->bottom == 0)
        return rep_switch_label(n->in->links, first, at, shape->dimensions);
    return rep_range_label(n->in->links, false, first, n->size[n->bottom]);
}

static void place(struct nest *n, uint32_t first, float x, float y, float size)
{
    uint32_t count = n->size[n->bottom],
             at = rep_place_add(n->scene, x, y, size, count, false, label(n, first));
    for (uint32_t i = 0; i < count; i++)
        n->scene->of_switch[first + i] = at;
}

/* ---- rings ---- */

/* The radius that a group of a level takes. */
static float ring_radius(const struct nest *n, int level)
{
    if (level == n->bottom)
        return CELL * 0.45f;
    uint32_t members = n->in->shape->extent[level - 1];
    float inner = ring_radius(n, level - 1);
    return members == 1 ? inner : 1.12f * inner / sinf(3.1415927f / fmaxf((float)members, 2)) + 1.15f * inner;
}

static void rings(struct nest *n, int level, uint32_t first, float x, float y)
{
    if (level == n->bottom) {
        place(n, first, x, y, CELL * 0.5f);
        return;
    }
    uint32_t members = n->in->shape->extent[level - 1];
    float radius = members == 1 ? 0 : ring_radius(n, level) - 1.15f * ring_radius(n, level - 1);
    for (uint32_t i = 0; i < members; i++) {
        float angle = 6.2831853f * (float)i / (float)members - 1.5707963f;
        rings(n, level - 1, first + i * n->size[level - 1], x + radius * cosf(angle),
              y + radius * sinf(angle));
    }
}

/* ---- blocks ---- */

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
    if (level == n->bottom) {
        place(n, first, x + CELL / 2, y + CELL / 2, CELL * 0.86f);
        return;
    }
    float gap = CELL * 0.25f * (float)(level - n->bottom);
    if (level < n->in->shape->dimensions)
        rep_frame_add(n->scene, x + gap / 2, y + gap / 2, n->w[level] - gap, n->h[level] - gap,
                      ker_format("%s", ""));
    for (uint32_t i = 0; i < n->in->shape->extent[level - 1]; i++)
        blocks(n, level - 1, first + i * n->size[level - 1],
               x + gap + (float)(i % n->columns[level]) * n->w[level - 1],
               y + gap + (float)(i / n->columns[level]) * n->h[level - 1]);
}

void rep_layout_groups(struct rep_scene *s, const struct rep_layout_input *in)
{
    struct nest n = {.scene = s, .in = in, .size = {1}};
    int levels = in->shape->dimensions;
    for (int i = 0; i < levels; i++)
        n.size[i + 1] = n.size[i] * in->shape->extent[i];
    uint32_t most = in->lines ? MOST_IN_RINGS : in->side;
    bool drawn = in->lines && in->shape->switches <= most;
    while (!drawn && n.bottom < levels - 1 && in->shape->switches / n.size[n.bottom] > most && !in->lines)
        n.bottom++;
    s->shape = "groups of groups";
    s->no_lines = !drawn;
    if (drawn) {
        float radius = ring_radius(&n, levels);
        rings(&n, levels, 0, radius, radius);
        s->text = ker_format(
            "Rings inside rings; lines are links between switches, a square is coloured by the busiest link "
            "to its nodes.");
    } else {
        block_sizes(&n);
        blocks(&n, levels, 0, 0, 0);
        s->text = ker_format(
            "Blocks inside blocks: a square is %s, coloured by the busiest link that it sends on; there are "
            "too many links to draw each.",
            n.bottom ? "a group of switches" : "a switch");
    }
    rep_nodes_at_switches(s, in->links);
}
