/* layout_torus.c - a torus or mesh as slices: the first two dimensions span a slice, the others count slices.
 *
 * Links inside a slice are lines; those that leave it, and those to nodes, colour the switch. A ring of one
 * dimension is a circle. Where there are more switches than places, blocks of 2 x 2, 4 x 4, ... share one.
 */
#include "tools/marsreport/scene.h"

#include <math.h>
#include <stdlib.h>

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
        s->of_switch[i] = rep_place_add(s, radius * (1.1f + cosf(angle)), radius * (1.1f + sinf(angle)),
                                        STEP * 0.5f, 1, false, rep_switch_label(in->links, i, &i, 1));
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
        rep_frame_add(s, x - 0.6f * STEP, y - 0.6f * STEP, STEP * ((float)sl->across + 0.2f),
                      STEP * ((float)sl->down + 0.2f), slice_label(in->shape, slice));
    for (uint32_t j = 0; j < sl->down; j++)
        for (uint32_t i = 0; i < sl->across; i++) {
            uint32_t at[REP_MOST_DIMENSIONS] = {i * sl->block, j * sl->block}, rest = slice,
                     id = base + at[1] * sl->x + at[0];
            for (int d = 2; d < in->shape->dimensions; rest /= in->shape->extent[d], d++)
                at[d] = rest % in->shape->extent[d];
            uint32_t place =
                rep_place_add(s, x + STEP * (float)i, y + STEP * (float)j, STEP * (in->lines ? 0.46f : 0.9f),
                              1, false, rep_switch_label(in->links, id, at, in->shape->dimensions));
            s->place[place].count = block_fill(s, sl, at[0], at[1], base, place);
        }
}

void rep_layout_torus(struct rep_scene *s, const struct rep_layout_input *in)
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
    rep_nodes_at_switches(s, in->links);
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
