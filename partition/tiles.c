/* tiles.c - where natural groups (racks) are in memory, so that the engine can handle some of them by
 * themselves for several windows; see kernel/engine/tiles.h.
 *
 * Only of regular layouts: as many natural groups as fill most of one block of the engine, or of several,
 * begin at a block's beginning, and what follows them is in blocks of its own, too. Whether that is worth
 * the places left free is judged by the links of the first group; what a tile may do by itself is measured on
 * all (layout.c).
 *
 * Where no rack is far from others but links lead to near numbers only, as in tori, this many vertices as a
 * link leads on are a tile: then a tile is reached by its neighbours, and by others only at the ends of the
 * row.
 */
#include "partition/tiles.h"

#include <stdlib.h>

#define WASTED(places) ((places) / 4) /* at most this many are left free */
#define ROW_LEAST 8u                  /* tiles of a row: those at its ends gain nothing */

/* The group of all vertices; NULL: there are several. */
static const struct part_group *vertex_group(const struct part_groups *groups)
{
    const struct part_group *found = NULL;
    for (uint32_t g = 0; g < groups->count; g++) {
        if (part_groups_follows(groups, g) || groups->group[g].count == 0)
            continue;
        if (found)
            return NULL;
        found = &groups->group[g];
    }
    return found;
}

struct sample {
    const struct part_groups *groups;
    const struct part_group *vertices;
    struct part_link *link;
    ker_time within, across; /* smallest delays in the first natural group, and from it to others */
};

static void sample_links(struct sample *s, uint32_t natural, uint32_t links)
{
    for (uint32_t i = 0; i < links; i++) {
        uint32_t to = part_groups_vertex(s->groups, s->link[i].to);
        ker_time *least = s->vertices->natural(s->vertices->context, to) == natural ? &s->within : &s->across;
        *least = ker_time_min(*least, s->link[i].delay);
    }
}

static void sample_member(struct sample *s, const struct part_group *g, uint32_t number, uint32_t natural)
{
    sample_links(s, natural, g->links(g->context, number, s->link));
    if (g->sends)
        sample_links(s, natural, g->sends(g->context, number, s->link));
}

/* Do others reach the first `size` vertices, and what follows them, much later than these do each other? */
static bool far_apart(const struct part_layout *l, const struct part_group *vertices, uint32_t size)
{
    struct sample s = {l->groups, vertices, part_links_room(l->groups), KER_TIME_MAX, KER_TIME_MAX};
    uint32_t natural = vertices->natural(vertices->context, 0);
    for (uint32_t v = 0; v < size; v++)
        sample_member(&s, vertices, v, natural);
    const struct part_group *followers = &l->groups->group[l->follower_group];
    for (uint32_t n = 0; n < l->followers && n / l->each < size; n++)
        sample_member(&s, followers, n, natural);
    free(s.link);
    return s.across != KER_TIME_MAX && s.across / 2 >= s.within;
}

/* Vertices of each natural group, if all have as many and their numbers follow each other; 0: not so. */
static uint32_t natural_size(const struct part_group *vertices)
{
    uint32_t size = 1;
    while (size < vertices->count &&
           vertices->natural(vertices->context, size) == vertices->natural(vertices->context, size - 1))
        size++;
    for (uint32_t v = size; v < vertices->count && size < vertices->count; v++)
        if ((vertices->natural(vertices->context, v) == vertices->natural(vertices->context, v - 1)) !=
            (v % size != 0))
            return 0;
    return size;
}

void part_tiles_choose(struct part_layout *l)
{
    struct part_tiles *t = &l->tiles;
    const struct part_group *vertices = vertex_group(l->groups);
    if (!t->block || !vertices || vertices->count <= t->block)
        return;
    uint32_t size = natural_size(vertices);
    if (size == 0 || size > vertices->count / 2 || !far_apart(l, vertices, size)) {
        size = vertices->span;
        t->row = size && vertices->count / size >= ROW_LEAST;
        if (!t->row)
            return;
        while (t->block * 2 <= size && t->block < ker_engine_usual_block(l->groups->components))
            t->block *= 2;
    }
    do {
        t->pitch += t->block;
        t->run = t->pitch / size * size;
    } while (t->pitch - t->run > WASTED(t->pitch));
    if (t->run >= vertices->count)
        t->run = t->pitch = 0;
    t->row &= t->run != 0;
}

uint32_t *part_layout_tiles(const struct part_layout *l, uint32_t rank)
{
    if (l->tiles.count < 2)
        return NULL;
    uint32_t blocks = l->components / l->tiles.block + 1, *tile = ker_alloc(sizeof *tile * blocks);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t at = part_tiles_at(l, rank, b * l->tiles.block);
        tile[b] = at < l->tiles.count ? at : l->tiles.count - 1;
    }
    return tile;
}
