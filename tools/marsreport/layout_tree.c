/* layout_tree.c - a fat tree in levels, the nodes at the bottom; and a star.
 *
 * Ids of switches run level by level from the leaves, within a level by subtree
 * (routing/topologies/fat_tree.c), so that neighbours in a row belong together. Where a row would have more
 * than `side` places, as many switches as divide the row share one.
 */
#include "tools/marsreport/scene.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 10000.0f
#define LEVEL 1400.0f  /* from row to row */
#define BESIDE 1300.0f /* room for what a row is */

/* The least divisor of `count` that leaves at most `most` parts. */
static uint32_t share_of(uint32_t count, uint32_t most)
{
    uint32_t share = count > most ? (count + most - 1) / most : 1;
    while (count % share)
        share++;
    return share;
}

static void row_add(struct rep_scene *s, const struct rep_links *l, bool node, uint32_t first, uint32_t count,
                    float y, uint32_t side)
{
    uint32_t share = share_of(count, side), places = count / share, *of = node ? s->of_node : s->of_switch;
    float step = WIDTH / (float)places, size = fminf(step * 0.7f, node ? 90.0f : 220.0f);
    for (uint32_t i = 0; i < places; i++) {
        uint32_t at = first + i * share,
                 place = rep_place_add(s, BESIDE + step * ((float)i + 0.5f), y, size, share, node,
                                       rep_range_label(l, node, at, share));
        for (uint32_t k = 0; k < share; k++)
            of[at + k] = place;
    }
}

void rep_layout_tree(struct rep_scene *s, const struct rep_layout_input *in)
{
    const struct rep_shape *shape = in->shape;
    int levels = shape->dimensions;
    uint32_t first = 0;
    float bottom = LEVEL * (float)levels + 300;
    for (int level = 0; level < levels; level++) {
        uint32_t count = 1;
        for (int i = 0; i < levels; i++)
            count *= i <= level ? shape->up[i] : shape->extent[i];
        float y = bottom - LEVEL * (float)(level + 1);
        row_add(s, in->links, false, first, count, y, in->side / 8);
        rep_frame_add(s, 0, y, 0, 0, ker_format("level %d\n%u switches", level + 1, count));
        first += count;
    }
    row_add(s, in->links, true, 0, in->links->nodes, bottom, in->side / 2);
    rep_frame_add(s, 0, bottom, 0, 0, ker_format("%u nodes", in->links->nodes));
    s->shape = "fat tree";
    s->no_lines = !in->lines;
    s->text = ker_format("Switches level by level, the nodes at the bottom.");
}

void rep_layout_star(struct rep_scene *s, const struct rep_layout_input *in)
{
    uint32_t nodes = in->links->nodes, share = share_of(nodes, in->side), places = nodes / share;
    const float radius = 3000, middle = 3300;
    s->of_switch[0] =
        rep_place_add(s, middle, middle, 320, 1, false, rep_range_label(in->links, false, 0, 1));
    for (uint32_t i = 0; i < places; i++) {
        float angle = 6.2831853f * (float)i / (float)places - 1.5707963f;
        uint32_t place = rep_place_add(s, middle + radius * cosf(angle), middle + radius * sinf(angle),
                                       fminf(150, 12000.0f / (float)places), share, true,
                                       rep_range_label(in->links, true, i * share, share));
        for (uint32_t k = 0; k < share; k++)
            s->of_node[i * share + k] = place;
    }
    s->shape = "star";
    s->text = ker_format("The switch in the middle, the nodes around it.");
}
