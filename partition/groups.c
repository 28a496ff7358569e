/* groups.c - component groups as vertices: who is divided among the ranks, who follows, and the graph.
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

struct graph_maker {
    const struct part_groups *groups;
    struct part_graph *graph;
    uint64_t edges, to_room, delay_room;
    struct part_link *link; /* of one member */
};

static void edges_add(struct graph_maker *m, uint32_t vertex, struct part_member member)
{
    const struct part_group *group = &m->groups->group[member.group];
    uint32_t count = group->links(group->context, member.number, m->link);
    KER_RESERVE(m->graph->to, m->to_room, m->edges + count);
    KER_RESERVE(m->graph->delay, m->delay_room, m->edges + count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t to = part_groups_vertex(m->groups, m->link[i].to);
        if (to == vertex)
            continue;
        m->graph->to[m->edges] = to;
        m->graph->delay[m->edges++] = m->link[i].delay;
    }
}

uint32_t part_groups_most_links(const struct part_groups *groups)
{
    uint32_t most = 1;
    for (uint32_t g = 0; g < groups->count; g++)
        most = groups->group[g].most_links > most ? groups->group[g].most_links : most;
    return most;
}

void part_graph_make(struct part_graph *graph, const struct part_groups *groups)
{
    struct part_followers followers;
    struct graph_maker maker = {.groups = groups,
                                .graph = graph,
                                .link = ker_alloc(part_groups_most_links(groups) * sizeof *maker.link)};
    *graph = (struct part_graph){.vertices = groups->vertices,
                                 .first = ker_alloc((groups->vertices + 1ull) * sizeof *graph->first),
                                 .load = ker_alloc(groups->vertices * sizeof *graph->load),
                                 .group = ker_alloc(groups->vertices * sizeof *graph->group)};
    part_followers_init(&followers, groups);
    uint32_t v = 0;
    for (uint32_t g = 0; g < groups->count; g++)
        for (uint32_t i = 0; !part_groups_follows(groups, g) && i < groups->group[g].count; i++, v++) {
            const struct part_group *group = &groups->group[g];
            graph->load[v] = group->load(group->context, i);
            graph->group[v] = group->natural(group->context, i);
            edges_add(&maker, v, (struct part_member){g, i});
            for (uint32_t f = followers.first[v]; f < followers.first[v + 1]; f++)
                edges_add(&maker, v, followers.member[f]);
            graph->first[v + 1] = maker.edges;
        }
    part_followers_release(&followers);
    free(maker.link);
}
