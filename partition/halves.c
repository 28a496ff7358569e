/* halves.c - two halves of a network with little between them, by METIS.
 *
 * METIS wants integer costs of edges whose sum fits 31 bits, and each pair of neighbours once: edges are
 * joined, and costs are scaled so that the sum of all fits and none is 0.
 */
#include "partition/partition.h"

#include <metis.h>
#include <stdlib.h>

struct edge {
    uint32_t to;
    double rate;
};

KER_ORDER_BY(edge_compare, struct edge, to)

/* The edges of one vertex, each neighbour once, behind `end`; returns the new end. */
static idx_t edges_join(const struct part_halves *g, uint32_t vertex, struct edge *edge, idx_t *to,
                        double *rate, idx_t end)
{
    size_t count = 0;
    for (uint64_t i = g->first[vertex]; i < g->first[vertex + 1]; i++)
        edge[count++] = (struct edge){g->to[i], g->rate[i]};
    qsort(edge, count, sizeof *edge, edge_compare);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && edge[i].to == edge[i - 1].to) {
            rate[end - 1] += edge[i].rate;
            continue;
        }
        to[end] = (idx_t)edge[i].to;
        rate[end++] = edge[i].rate;
    }
    return end;
}

bool part_halve(const struct part_halves *g, uint8_t *side)
{
    uint64_t edges = g->first[g->vertices];
    if (g->vertices < 2 || edges == 0 || edges > INT32_MAX / 2)
        return false;
    idx_t *first = ker_alloc((g->vertices + 1ull) * sizeof *first), *to = ker_alloc(edges * sizeof *to);
    idx_t *cost = ker_alloc(edges * sizeof *cost), *weight = ker_alloc(g->vertices * sizeof *weight);
    idx_t *part = ker_alloc(g->vertices * sizeof *part), vertices = (idx_t)g->vertices, ncon = 1, parts = 2,
          cut;
    double *rate = ker_alloc(edges * sizeof *rate), sum = 0;
    struct edge *edge = ker_alloc(edges * sizeof *edge);
    for (uint32_t v = 0; v < g->vertices; v++) {
        first[v + 1] = edges_join(g, v, edge, to, rate, first[v]);
        weight[v] = (idx_t)g->weight[v];
    }
    for (idx_t i = 0; i < first[vertices]; i++)
        sum += rate[i];
    double room = 1e9 - (double)first[vertices];
    for (idx_t i = 0; i < first[vertices]; i++)
        cost[i] = 1 + (idx_t)(rate[i] / sum * (room > 0 ? room : 0));
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_UFACTOR] = 1; /* halves as equal as can be */
    options[METIS_OPTION_NCUTS] = 8;
    int result = METIS_PartGraphRecursive(&vertices, &ncon, first, to, weight, NULL, cost, &parts, NULL, NULL,
                                          options, &cut, part);
    for (uint32_t v = 0; v < g->vertices; v++)
        side[v] = (uint8_t)part[v];
    free(first);
    free(to);
    free(cost);
    free(weight);
    free(part);
    free(rate);
    free(edge);
    return result == METIS_OK;
}
