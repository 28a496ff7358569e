/* groups.c - component groups as vertices: who is divided among the ranks, who follows, and the graph.
 *
 * Of very many vertices the graph is one of blocks of neighbours, in closed form: METIS never sees, and no
 * rank ever holds, more than some hundred thousand. All links between blocks are there, so that cuts, loads
 * and delays are those of the vertices.
 *
 * A group's members are all vertices, or all follow a vertex of another group. Vertices are numbered group by
 * group in the order of the list. A vertex has the links of its own and those of what follows it; links
 * inside a vertex cut nothing and are left out.
 */
#include "partition/parts.h"

#include <stdlib.h>

#define LEAST_VERTICES 4 /* per rank: with fewer, what follows is divided too */

uint32_t part_groups_add(struct part_groups *groups, const struct part_group *group)
{
    ker_assert(groups->count < PART_MAX_GROUPS);
    groups->group[groups->count] = *group;
    return groups->count++;
}

bool part_groups_follows(const struct part_groups *groups, uint32_t group)
{
    return !groups->apart && groups->group[group].home != NULL;
}

void part_groups_divide(struct part_groups *groups, uint32_t ranks)
{
    uint64_t vertices = 0;
    for (uint32_t g = 0; g < groups->count; g++)
        vertices += groups->group[g].home ? 0 : groups->group[g].count;
    groups->apart = ranks > 1 && vertices < LEAST_VERTICES * (uint64_t)ranks;
    groups->vertices = groups->components = 0;
    for (uint32_t g = 0; g < groups->count; g++) {
        groups->first[g] = groups->components;
        groups->components += groups->group[g].count;
        groups->first_vertex[g] = groups->vertices;
        groups->vertices += part_groups_follows(groups, g) ? 0 : groups->group[g].count;
    }
}

uint32_t part_groups_vertex(const struct part_groups *groups, struct part_member m)
{
    if (part_groups_follows(groups, m.group)) {
        const struct part_group *g = &groups->group[m.group];
        m = g->home(g->context, m.number);
        ker_check(!part_groups_follows(groups, m.group));
    }
    return groups->first_vertex[m.group] + m.number;
}

static void followers_visit(const struct part_groups *groups,
                            void (*visit)(struct part_followers *, uint32_t vertex, struct part_member),
                            struct part_followers *f)
{
    for (uint32_t g = 0; g < groups->count; g++)
        for (uint32_t i = 0; part_groups_follows(groups, g) && i < groups->group[g].count; i++) {
            struct part_member m = {g, i};
            visit(f, part_groups_vertex(groups, m), m);
        }
}

static void follower_count(struct part_followers *f, uint32_t vertex, struct part_member m)
{
    f->first[vertex + 2]++;
}

static void follower_put(struct part_followers *f, uint32_t vertex, struct part_member m)
{
    f->member[f->first[vertex + 1]++] = m;
}

/* By counting: first[v + 1] is where the followers of v begin until they are put, and where they end then. */
void part_followers_init(struct part_followers *f, const struct part_groups *groups)
{
    f->first = ker_alloc((groups->vertices + 2ull) * sizeof *f->first);
    f->member = ker_alloc((groups->components - groups->vertices) * sizeof *f->member);
    followers_visit(groups, follower_count, f);
    for (uint32_t v = 0; v < groups->vertices; v++)
        f->first[v + 2] += f->first[v + 1];
    followers_visit(groups, follower_put, f);
}

void part_followers_release(struct part_followers *f)
{
    free(f->first);
    free(f->member);
}

/* ---- the graph ---- */

struct part_link *part_links_room(const struct part_groups *groups)
{
    uint32_t most = 1;
    for (uint32_t g = 0; g < groups->count; g++) {
        uint32_t links = groups->group[g].most_links, sends = groups->group[g].most_sends;
        most = links > most ? links : most;
        most = sends > most ? sends : most;
    }
    return ker_alloc(most * sizeof(struct part_link));
}

struct graph_maker {
    const struct part_groups *groups;
    struct part_graph *graph;
    const uint32_t *block;  /* of each vertex; NULL: each is one */
    struct part_link *link; /* of one member */
    uint64_t *end;          /* of each row: behind what has been put */
};

static uint32_t block_of(const struct graph_maker *m, struct part_member member)
{
    uint32_t vertex = part_groups_vertex(m->groups, member);
    return m->block ? m->block[vertex] : vertex;
}

/* Counts the edges of a member, or puts them. */
static void edges_visit(struct graph_maker *m, struct part_member member, bool put)
{
    const struct part_group *group = &m->groups->group[member.group];
    uint32_t count = group->links(group->context, member.number, m->link), own = block_of(m, member);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = block_of(m, m->link[i].to);
        if (to == own)
            continue;
        uint64_t at = m->end[own]++;
        if (put) {
            m->graph->to[at] = to;
            m->graph->delay[at] = m->link[i].delay;
        }
    }
}

static void members_visit(struct graph_maker *m, bool put)
{
    for (uint32_t g = 0; g < m->groups->count; g++)
        for (uint32_t i = 0; i < m->groups->group[g].count; i++)
            edges_visit(m, (struct part_member){g, i}, put);
}

static void vertices_add(struct graph_maker *m)
{
    for (uint32_t g = 0; g < m->groups->count; g++)
        for (uint32_t i = 0; !part_groups_follows(m->groups, g) && i < m->groups->group[g].count; i++) {
            const struct part_group *group = &m->groups->group[g];
            uint32_t v = block_of(m, (struct part_member){g, i});
            m->graph->load[v] += group->load(group->context, i);
            m->graph->group[v] = group->natural(group->context, i);
        }
}

/* By counting: a row's edges are in the order of its members, vertices before what follows them. */
void part_graph_make(struct part_graph *graph, const struct part_groups *groups, const uint32_t *block,
                     uint32_t blocks)
{
    uint32_t rows = block ? blocks : groups->vertices;
    struct graph_maker maker = {
        .groups = groups, .graph = graph, .block = block, .link = part_links_room(groups)};
    *graph = (struct part_graph){.vertices = rows,
                                 .first = ker_alloc((rows + 2ull) * sizeof *graph->first),
                                 .load = ker_alloc(rows * sizeof *graph->load),
                                 .group = ker_alloc(rows * sizeof *graph->group)};
    vertices_add(&maker);
    maker.end = graph->first + 2;
    members_visit(&maker, false);
    for (uint32_t v = 0; v < rows; v++) /* now first[v + 1] is where row v begins */
        graph->first[v + 2] += graph->first[v + 1];
    graph->to = ker_alloc(graph->first[rows + 1] * sizeof *graph->to);
    graph->delay = ker_alloc(graph->first[rows + 1] * sizeof *graph->delay);
    maker.end = graph->first + 1;
    members_visit(&maker, true); /* and then where it ends */
    free(maker.link);
}

/* ---- blocks ---- */

#define MOST_BLOCKS 262144 /* METIS takes about 400 bytes for each */
#define LEAST_BLOCKS 256   /* per rank: METIS balances ranks to one percent */

/* Blocks of the smallest size that makes them few enough. */
static uint32_t block_size(uint32_t vertices, uint32_t ranks)
{
    uint32_t size = 0;
    while (size < 10 && vertices >> (3 * size) > MOST_BLOCKS &&
           vertices >> (3 * (size + 1)) >= LEAST_BLOCKS * (uint64_t)ranks)
        size++;
    return size;
}

uint32_t *part_blocks_make(const struct part_groups *groups, uint32_t size, uint32_t *blocks)
{
    uint32_t *block = ker_alloc(groups->vertices * sizeof *block), v = 0;
    *blocks = 0;
    for (uint32_t g = 0; g < groups->count; g++) {
        const struct part_group *group = &groups->group[g];
        uint32_t before = *blocks;
        for (uint32_t i = 0; !part_groups_follows(groups, g) && i < group->count; i++, v++) {
            block[v] = before + (group->block ? group->block(group->context, i, size) : i);
            *blocks = block[v] >= *blocks ? block[v] + 1 : *blocks;
        }
    }
    return block;
}

/* The rank of each vertex is that of its block. */
static void blocks_expand(struct part_result *result, const uint32_t *block, uint32_t vertices)
{
    uint32_t *rank = ker_alloc(vertices * sizeof *rank);
    for (uint32_t v = 0; v < vertices; v++)
        rank[v] = result->rank[block[v]];
    free(result->rank);
    result->rank = rank;
}

enum ker_status part_groups_split(struct part_result *result, const struct part_groups *groups,
                                  uint32_t ranks, const struct ker_config *config, struct ker_error *error)
{
    uint32_t blocks = 0, *block = NULL;
    uint32_t size = part_takes_blocks(config) ? block_size(groups->vertices, ranks) : 0;
    struct part_graph graph = {0};
    if (size)
        block = part_blocks_make(groups, size, &blocks);
    part_graph_make(&graph, groups, block, blocks);
    enum ker_status status = part_graph_split(result, &graph, ranks, config, error);
    part_graph_release(&graph);
    if (status == KER_OK && block)
        blocks_expand(result, block, groups->vertices);
    free(block);
    return status;
}
