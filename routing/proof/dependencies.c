/* dependencies.c - a set of edges between channels, and whether they close a cycle.
 *
 * The edges are in one hash table. Only channels that have an edge take part in the search: they
 * get numbers without gaps (a bitmap and its running count), so that the memory follows the edges and not the
 * size of the network. Channels nobody points to are taken away until none is left (Kahn); what stays is on a
 * cycle or behind one. From any of these, going back over edges ends on a cycle; breadth-first searches from
 * there and from others, as many as a budget allows, make it a short one.
 */
#include "routing/proof/check.h"

#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX
#define SEARCH_STEPS 4000000u /* edges looked at for a shorter cycle */

struct edge {
    uint64_t ends; /* 1 + (from << 32 | to) */
    uint32_t example;
};

static const struct ker_table_kind edges = KER_TABLE_U64(struct edge);

static uint32_t edge_from(const struct edge *e)
{
    return (uint32_t)((e->ends - 1) >> 32);
}

static uint32_t edge_to(const struct edge *e)
{
    return (uint32_t)(e->ends - 1);
}

static struct edge edge_between(uint32_t from, uint32_t to)
{
    return (struct edge){((uint64_t)from << 32 | to) + 1, NONE};
}

bool route_dependencies_add_example(struct route_dependencies *set, uint32_t from, uint32_t to,
                                    uint32_t destination)
{
    struct edge edge = edge_between(from, to), *at;
    bool is_new;
    at = ker_table_add(&edges, &set->edges, &edge, &is_new);
    edge.example = destination;
    if (is_new)
        *at = edge;
    return is_new;
}

bool route_dependencies_add(struct route_dependencies *set, uint32_t from, uint32_t to)
{
    return route_dependencies_add_example(set, from, to, NONE);
}

uint32_t route_dependencies_example(const struct route_dependencies *set, uint32_t from, uint32_t to)
{
    struct edge edge = edge_between(from, to), *at = ker_table_find(&edges, &set->edges, &edge);
    ker_assert(at);
    return at->example;
}

void route_dependencies_release(struct route_dependencies *set)
{
    ker_table_release(&set->edges);
}

/* ---- channels that have an edge, numbered without gaps ---- */

struct numbers {
    uint64_t *there;  /* bitmap of channels */
    uint32_t *before; /* channels in earlier words of it */
    uint32_t count;
};

static void numbers_make(struct numbers *n, const struct route_dependencies *set, uint32_t channels)
{
    size_t words = (size_t)channels / 64 + 1;
    n->there = ker_alloc(words * sizeof *n->there);
    n->before = ker_alloc(words * sizeof *n->before);
    for (const struct edge *e = NULL; (e = ker_table_next(&edges, &set->edges, e));) {
        n->there[edge_from(e) / 64] |= 1ull << edge_from(e) % 64;
        n->there[edge_to(e) / 64] |= 1ull << edge_to(e) % 64;
    }
    n->count = 0;
    for (size_t w = 0; w < words; w++) {
        n->before[w] = n->count;
        n->count += (uint32_t)__builtin_popcountll(n->there[w]);
    }
}

static uint32_t number_of(const struct numbers *n, uint32_t channel)
{
    return n->before[channel / 64] +
           (uint32_t)__builtin_popcountll(n->there[channel / 64] & ((1ull << channel % 64) - 1));
}

/* ---- the graph in rows ---- */

struct graph {
    uint32_t vertices;
    uint64_t *first; /* vertices + 1 */
    uint32_t *to, *channel;
    uint32_t *pointed; /* edges that still point to each */
};

static struct graph graph_make(const struct route_dependencies *set, uint32_t channels)
{
    struct numbers n;
    numbers_make(&n, set, channels);
    struct graph g = {.vertices = n.count};
    g.first = ker_alloc((n.count + 2ull) * sizeof *g.first);
    g.to = ker_alloc((set->edges.count + 1ull) * sizeof *g.to);
    g.channel = ker_alloc((n.count + 1ull) * sizeof *g.channel);
    g.pointed = ker_alloc((n.count + 1ull) * sizeof *g.pointed);
    for (const struct edge *e = NULL; (e = ker_table_next(&edges, &set->edges, e));) {
        uint32_t a = number_of(&n, edge_from(e)), b = number_of(&n, edge_to(e));
        g.channel[a] = edge_from(e);
        g.channel[b] = edge_to(e);
        g.first[a + 2]++;
        g.pointed[b]++;
    }
    for (uint32_t i = 0; i < n.count; i++)
        g.first[i + 1] += g.first[i];
    /* first[i + 1] is where the next edge of i goes; in the end it is the end of i's edges */
    for (const struct edge *e = NULL; (e = ker_table_next(&edges, &set->edges, e));)
        g.to[g.first[number_of(&n, edge_from(e)) + 1]++] = number_of(&n, edge_to(e));
    for (uint32_t i = 0; i < n.count; i++) /* which cycle is found depends on no hash */
        if (g.first[i + 1] - g.first[i] > 1)
            qsort(g.to + g.first[i], g.first[i + 1] - g.first[i], sizeof *g.to, ker_order_u32);
    free(n.there);
    free(n.before);
    return g;
}

static void graph_release(struct graph *g)
{
    KER_FREE(g->first, g->to, g->channel, g->pointed);
}

/* Takes away what nobody points to; those that stay have pointed > 0. Returns how many. */
static uint32_t graph_strip(struct graph *g)
{
    uint32_t *bare = ker_alloc((g->vertices + 1ull) * sizeof *bare), done = 0, found = 0;
    for (uint32_t i = 0; i < g->vertices; i++)
        if (g->pointed[i] == 0)
            bare[found++] = i;
    for (; done < found; done++)
        for (uint64_t e = g->first[bare[done]]; e < g->first[bare[done] + 1]; e++)
            if (--g->pointed[g->to[e]] == 0)
                bare[found++] = g->to[e];
    free(bare);
    return g->vertices - found;
}

/* One that is on a cycle: all that stay are pointed to by another that stays. */
static uint32_t vertex_on_cycle(const struct graph *g)
{
    uint32_t *before = ker_alloc((g->vertices + 1ull) * sizeof *before), at = NONE;
    for (uint32_t i = 0; i < g->vertices; i++)
        if (g->pointed[i]) {
            at = i;
            for (uint64_t e = g->first[i]; e < g->first[i + 1]; e++)
                before[g->to[e]] = i;
        }
    for (uint32_t i = 0; i < g->vertices; i++)
        at = before[at];
    free(before);
    return at;
}

struct search {
    const struct graph *g;
    uint32_t *parent, *depth, *seen, *queue; /* of vertices; seen: by which search */
    uint32_t round;
    uint64_t steps;
};

/* The shortest cycle through `start` of fewer than `less` vertices; its last vertex, NONE: there is none.
 */
static uint32_t search_from(struct search *s, uint32_t start, uint32_t less)
{
    const struct graph *g = s->g;
    uint32_t done = 0, found = 1;
    s->round++;
    s->queue[0] = start;
    s->seen[start] = s->round;
    s->depth[start] = 1;
    for (; done < found; done++) {
        uint32_t at = s->queue[done];
        if (s->depth[at] >= less)
            return NONE;
        for (uint64_t e = g->first[at]; e < g->first[at + 1]; e++) {
            uint32_t to = g->to[e];
            s->steps++;
            if (to == start)
                return at;
            if (g->pointed[to] == 0 || s->seen[to] == s->round)
                continue;
            s->seen[to] = s->round;
            s->parent[to] = at;
            s->depth[to] = s->depth[at] + 1;
            s->queue[found++] = to;
        }
    }
    return NONE;
}

static void cycle_take(struct route_cycle *cycle, const struct search *s, uint32_t last)
{
    cycle->length = s->depth[last];
    cycle->channel = ker_realloc(cycle->channel, cycle->length * sizeof *cycle->channel);
    for (uint32_t i = cycle->length; i-- > 0; last = s->parent[last])
        cycle->channel[i] = s->g->channel[last];
}

static void cycle_find(struct route_cycle *cycle, const struct graph *g)
{
    size_t size = (g->vertices + 1ull) * sizeof(uint32_t);
    struct search s = {g, ker_alloc(size), ker_alloc(size), ker_alloc(size), ker_alloc(size), 0, 0};
    cycle_take(cycle, &s, search_from(&s, vertex_on_cycle(g), NONE));
    for (uint32_t i = 0; i < g->vertices && cycle->length > 1 && s.steps < SEARCH_STEPS; i++) {
        uint32_t last = g->pointed[i] ? search_from(&s, i, cycle->length) : NONE;
        if (last != NONE)
            cycle_take(cycle, &s, last);
    }
    KER_FREE(s.parent, s.depth, s.seen, s.queue);
}

struct route_cycle route_dependencies_cycle(const struct route_dependencies *set, uint32_t channels)
{
    struct graph g = graph_make(set, channels);
    struct route_cycle cycle = {.channels = g.vertices};
    if (graph_strip(&g) > 0)
        cycle_find(&cycle, &g);
    graph_release(&g);
    return cycle;
}
