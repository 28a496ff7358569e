/* layout.c - cells, indices, lookahead and channels, from the rank of every vertex.
 *
 * The order of a rank's components: where cells are components, its vertices, then what follows them, both
 * in the order of the vertices, so that what runs one after the other is of one class; else its vertices,
 * each followed by what follows it. Neighbours in the system are neighbours in memory. Every rank knows the
 * index of every component, its own and others', without asking. A cell is one component; or a vertex with
 * its followers; or several vertices, consecutive in number, of one group, one natural group and one rank. A
 * natural group may become several cells.
 *
 * Lookahead and channels come from what the rank's own components say of their links and of whom else they
 * send to.
 *
 * Regular is a layout whose cells are single components and in which follower n lives with vertex n / each,
 * as in nearly all networks: then a follower's place is computed from its vertex's, and only vertices are
 * listed; on one rank nothing is: vertex v has the index v, follower n is n behind the vertices. There an
 * index leads back to its component.
 */
#include "partition/tiles.h"

#include <stdlib.h>
#include <string.h>

struct maker {
    struct part_layout *l;
    const struct part_groups *groups;
    const uint32_t *vertex_rank;
    struct part_followers followers; /* where the layout is not regular */
    uint32_t *natural;               /* per vertex; only where cells are natural groups */
    uint32_t *next;                  /* per rank: the first index that is free */
    uint32_t block;
};

/* The component that is a vertex. */
static struct part_member vertex_member(const struct part_groups *groups, uint32_t vertex)
{
    uint32_t g = 0;
    while (g + 1 < groups->count && vertex >= groups->first_vertex[g + 1])
        g++;
    return (struct part_member){g, vertex - groups->first_vertex[g]};
}

static uint32_t component_of(const struct part_groups *groups, struct part_member m)
{
    return groups->first[m.group] + m.number;
}

/* ---- regular layouts ---- */

/* Does every follower live where its number says? */
static bool regular_find(struct part_layout *l)
{
    const struct part_groups *groups = l->groups;
    uint32_t g = 0, others = 0;
    for (uint32_t i = 0; i < groups->count; i++)
        if (part_groups_follows(groups, i) && groups->group[i].count) {
            others += l->followers > 0;
            l->followers = groups->group[g = i].count;
        }
    l->follower_group = g;
    while (l->each < l->followers && part_groups_vertex(groups, (struct part_member){g, l->each}) == 0)
        l->each++;
    for (uint32_t n = 0; !others && n < l->followers; n++)
        if (l->each == 0 || part_groups_vertex(groups, (struct part_member){g, n}) != n / l->each)
            return false;
    return !others;
}

static struct ker_address regular_vertex(const struct part_layout *l, uint32_t vertex)
{
    if (l->index)
        return (struct ker_address){l->index[vertex], l->rank[vertex]};
    return (struct ker_address){part_tiles_place(&l->tiles, vertex), 0};
}

struct ker_address part_layout_at(const struct part_layout *l, struct part_member m)
{
    if (!l->regular) {
        uint32_t c = component_of(l->groups, m);
        return (struct ker_address){l->index[c], l->rank[c]};
    }
    if (!part_groups_follows(l->groups, m.group))
        return regular_vertex(l, l->groups->first_vertex[m.group] + m.number);
    struct ker_address at = regular_vertex(l, m.number / l->each);
    at.index = part_layout_behind(l, at.rank) + at.index * l->each + m.number % l->each;
    return at;
}

/* This rank's n-th vertex, of a regular layout. */
static uint32_t own_vertex(const struct part_layout *l, uint32_t n)
{
    return l->own ? l->own[n] : n;
}

struct part_member part_layout_vertex(const struct part_layout *l, uint32_t n)
{
    return vertex_member(l->groups, own_vertex(l, n));
}

uint32_t part_layout_order(const struct part_layout *l, uint32_t index)
{
    ker_check(l->regular);
    return part_tiles_number(&l->tiles,
                             index < l->first_behind ? index : (index - l->first_behind) / l->each);
}

/* Behind the place of the last component that lives on this rank. */
static uint32_t regular_end(const struct part_layout *l, uint32_t rank)
{
    uint32_t end = part_layout_behind(l, rank);
    for (uint32_t n = l->followers; n-- > 0;) {
        struct ker_address at = part_layout_at(l, (struct part_member){l->follower_group, n});
        if (at.rank == rank)
            return at.index + 1;
    }
    return end;
}

static void own_list(struct part_layout *l, uint32_t rank, uint32_t vertices)
{
    uint32_t count = l->behind[rank];
    l->own = ker_alloc((count + 1) * sizeof *l->own);
    l->first_behind = part_tiles_end(&l->tiles, count);
    for (uint32_t v = 0, n = 0; n < count && v < vertices; v++)
        if (l->rank[v] == rank)
            l->own[n++] = v;
}

static void vertices_list(struct maker *m, int rank, int ranks)
{
    struct part_layout *l = m->l;
    uint32_t vertices = m->groups->vertices;
    l->rank = ker_alloc(vertices * sizeof *l->rank);
    l->index = ker_alloc(vertices * sizeof *l->index);
    l->behind = ker_alloc((size_t)ranks * sizeof *l->behind);
    for (uint32_t v = 0; v < vertices; v++) {
        l->rank[v] = m->vertex_rank[v];
        l->index[v] = part_tiles_place(&l->tiles, l->behind[l->rank[v]]++);
    }
    if (rank < ranks)
        own_list(l, (uint32_t)rank, vertices);
    for (int r = 0; r < ranks; r++)
        l->behind[r] = part_tiles_end(&l->tiles, l->behind[r]);
}

/* One rank's are not listed. */
static void regular_place(struct maker *m, int rank, int ranks)
{
    struct part_layout *l = m->l;
    l->largest_cell = 1;
    part_tiles_choose(l);
    l->first_behind = part_tiles_end(&l->tiles, m->groups->vertices);
    if (ranks > 1)
        vertices_list(m, rank, ranks);
    if (rank >= ranks)
        return;
    l->components = regular_end(l, (uint32_t)rank);
    l->tiles.count = l->tiles.run ? part_layout_behind(l, (uint32_t)rank) / l->tiles.pitch : 0;
    if (l->tiles.row)
        l->tiles.open = ker_alloc(l->tiles.count + 1);
}

/* ---- cells ---- */

static uint32_t rank_of(const struct maker *m, uint32_t vertex)
{
    return m->vertex_rank ? m->vertex_rank[vertex] : 0;
}

static bool continues_cell(const struct maker *m, uint32_t vertex)
{
    return rank_of(m, vertex) == rank_of(m, vertex - 1) && m->natural[vertex] == m->natural[vertex - 1] &&
           vertex_member(m->groups, vertex).group == vertex_member(m->groups, vertex - 1).group;
}

static void cells_find(struct maker *m, enum part_cell_size size)
{
    struct part_layout *l = m->l;
    l->largest_cell = 1;
    for (uint32_t v = 0, components = 0; v < m->groups->vertices; v++) {
        bool continues = v > 0 && size == PART_CELLS_NATURAL && continues_cell(m, v);
        uint32_t here = 1 + m->followers.first[v + 1] - m->followers.first[v];
        l->cell[v] = continues ? l->cell[v - 1] : v;
        components = continues ? components + here : here;
        if (!l->single && components > l->largest_cell)
            l->largest_cell = components;
    }
}

static uint32_t cell_components(const struct maker *m, uint32_t vertex)
{
    uint32_t end = vertex;
    while (end < m->groups->vertices && m->l->cell[end] == vertex)
        end++;
    return end - vertex + m->followers.first[end] - m->followers.first[vertex];
}

/* ---- indices ---- */

static void component_place(struct maker *m, struct part_member member, uint32_t rank)
{
    uint32_t c = component_of(m->groups, member);
    m->l->rank[c] = rank;
    m->l->index[c] = m->next[rank]++;
}

static void followers_place(struct maker *m, uint32_t vertex)
{
    for (uint32_t f = m->followers.first[vertex]; f < m->followers.first[vertex + 1]; f++)
        component_place(m, m->followers.member[f], rank_of(m, vertex));
}

static void components_place(struct maker *m)
{
    for (uint32_t v = 0; v < m->groups->vertices; v++) {
        uint32_t rank = rank_of(m, v), *next = &m->next[rank];
        if (m->l->cell[v] == v && !m->l->single)
            *next = ker_engine_place(*next, cell_components(m, v), m->block);
        component_place(m, vertex_member(m->groups, v), rank);
        if (!m->l->single)
            followers_place(m, v);
    }
    for (uint32_t v = 0; v < m->groups->vertices && m->l->single; v++)
        followers_place(m, v);
}

/* ---- lookahead and channels ---- */

struct looker {
    struct part_layout *l;
    uint32_t rank;
    bool alone;             /* all is on this rank */
    struct part_link *link; /* of one component */
    ker_time *to;           /* smallest delay by rank */
};

static uint32_t tile_of(const struct looker *k, struct part_member member)
{
    return part_tiles_at(k->l, k->rank, part_layout_at(k->l, member).index);
}

/* A link from this tile; here: it does not leave the rank. */
static void tile_look(struct looker *k, uint32_t from, const struct part_link *link, bool here)
{
    struct part_layout *l = k->l;
    uint32_t to = here ? tile_of(k, link->to) : UINT32_MAX;
    if (here && from != to)
        l->tiles.delay = ker_time_min(l->tiles.delay, link->delay);
    if (l->tiles.row && (to > from + 1 || from > to + 1)) {
        l->tiles.open[from] = true;
        if (here)
            l->tiles.open[to] = true;
    }
}

/* What of a component leaves its cell shortens the lookahead, what leaves its rank is a channel. */
static void delays_look(struct looker *k, struct part_member member, uint32_t links)
{
    struct part_layout *l = k->l;
    uint32_t own = component_of(l->groups, member), tile = l->tiles.count ? tile_of(k, member) : 0,
             cell = l->single ? 0 : l->cell[part_groups_vertex(l->groups, member)];
    for (uint32_t i = 0; i < links; i++) {
        const struct part_link *link = &k->link[i];
        uint32_t rank = k->alone ? k->rank : part_layout_at(l, link->to).rank;
        bool same = component_of(l->groups, link->to) == own ||
                    (!l->single && l->cell[part_groups_vertex(l->groups, link->to)] == cell);
        if (!same)
            l->lookahead = ker_time_min(l->lookahead, link->delay);
        if (l->tiles.count)
            tile_look(k, tile, link, rank == k->rank);
        if (rank != k->rank)
            k->to[rank] = ker_time_min(k->to[rank], link->delay);
    }
}

/* From every member of the group to every other, wherever they live. */
static void everywhere_look(struct looker *k, const struct part_group *g, int ranks)
{
    struct part_tiles *tiles = &k->l->tiles;
    k->l->lookahead = ker_time_min(k->l->lookahead, g->everywhere);
    tiles->delay = ker_time_min(tiles->delay, g->everywhere);
    if (tiles->row)
        memset(tiles->open, true, tiles->count);
    for (int r = 0; r < ranks; r++)
        if ((uint32_t)r != k->rank)
            k->to[r] = ker_time_min(k->to[r], g->everywhere);
}

static void group_look(struct looker *k, uint32_t number)
{
    const struct part_group *g = &k->l->groups->group[number];
    for (uint32_t i = 0; i < g->count; i++) {
        struct part_member member = {number, i};
        if (!k->alone && part_layout_at(k->l, member).rank != k->rank)
            continue;
        delays_look(k, member, g->links(g->context, i, k->link));
        if (g->sends)
            delays_look(k, member, g->sends(g->context, i, k->link));
    }
}

static void delays_find(struct part_layout *l, int rank, int ranks)
{
    struct looker k = {l, (uint32_t)rank, ranks == 1 && rank == 0, part_links_room(l->groups),
                       ker_alloc((size_t)ranks * sizeof *k.to)};
    for (int r = 0; r < ranks; r++)
        k.to[r] = KER_TIME_MAX;
    for (uint32_t g = 0; g < l->groups->count; g++)
        group_look(&k, g);
    for (uint32_t g = 0; g < l->groups->count; g++)
        if (l->groups->group[g].everywhere)
            everywhere_look(&k, &l->groups->group[g], ranks);
    for (int r = 0; r < ranks; r++)
        if (k.to[r] != KER_TIME_MAX)
            *KER_APPEND(l->channel, l->channels) = (struct ker_channel){(uint32_t)r, k.to[r]};
    free(k.link);
    free(k.to);
}

static uint32_t *naturals(const struct part_groups *groups)
{
    uint32_t *natural = ker_alloc(groups->vertices * sizeof *natural);
    for (uint32_t v = 0; v < groups->vertices; v++) {
        struct part_member m = vertex_member(groups, v);
        natural[v] = groups->group[m.group].natural(groups->group[m.group].context, m.number);
    }
    return natural;
}

static void listed_place(struct maker *m, enum part_cell_size size, int rank, int ranks)
{
    struct part_layout *l = m->l;
    const struct part_groups *groups = m->groups;
    l->rank = ker_alloc(groups->components * sizeof *l->rank);
    l->index = ker_alloc(groups->components * sizeof *l->index);
    l->cell = ker_alloc(groups->vertices * sizeof *l->cell);
    part_followers_init(&m->followers, groups);
    if (!l->single && size == PART_CELLS_NATURAL)
        m->natural = naturals(groups);
    cells_find(m, l->single ? PART_CELLS_SINGLE : size);
    m->block = ker_engine_block(l->largest_cell);
    components_place(m);
    l->components = rank < ranks ? m->next[rank] : 0;
    part_followers_release(&m->followers);
    free(m->natural);
}

void part_layout_make(struct part_layout *l, const struct part_groups *groups, const uint32_t *vertex_rank,
                      enum part_cell_size size, uint32_t block, int rank, int ranks)
{
    struct maker m = {l, groups, vertex_rank, .next = ker_alloc(sizeof *m.next * (size_t)ranks)};
    *l = (struct part_layout){
        .groups = groups, .lookahead = KER_TIME_MAX, .tiles = {.block = block, .delay = KER_TIME_MAX}};
    l->single = size == PART_CELLS_SINGLE || groups->apart;
    l->regular = l->single && regular_find(l);
    if (l->regular)
        regular_place(&m, rank, ranks);
    else
        listed_place(&m, size, rank, ranks);
    delays_find(l, rank, ranks);
    free(m.next);
}

void part_layout_release(struct part_layout *l)
{
    free(l->rank);
    free(l->index);
    free(l->cell);
    free(l->behind);
    free(l->tiles.open);
    free(l->own);
    free(l->channel);
    *l = (struct part_layout){0};
}

bool part_layout_begins(const struct part_layout *l, struct part_member m)
{
    if (l->single)
        return true;
    if (part_groups_follows(l->groups, m.group))
        return false;
    uint32_t vertex = part_groups_vertex(l->groups, m);
    return l->cell[vertex] == vertex;
}
