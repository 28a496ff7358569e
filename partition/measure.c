/* measure.c - what methods share: cutting an order into runs of equal load, and how good a partition is.
 *
 * Lookahead, cut and imbalance are measured on the graph itself, never on a contracted one, so that they hold
 * for whatever method made the partition.
 */
#include "partition/parts.h"

#include <stdlib.h>

void part_split_in_order(const struct part_graph *graph, const uint32_t *order, uint32_t ranks,
                         uint32_t *rank)
{
    uint64_t total = 0, before = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        total += graph->load[v];
    /* A vertex belongs to the rank in whose share of the total its middle lies. */
    for (uint32_t i = 0; i < graph->vertices; i++) {
        uint32_t v = order ? order[i] : i;
        unsigned __int128 middle = 2 * (unsigned __int128)before + graph->load[v];
        rank[v] = (uint32_t)(middle * ranks / (2 * (unsigned __int128)total));
        before += graph->load[v];
    }
}

void part_result_measure(struct part_result *result, const struct part_graph *graph)
{
    uint64_t *load = ker_alloc(result->ranks * sizeof *load);
    uint64_t cut = 0, total = 0, largest = 0;
    result->lookahead = KER_TIME_MAX;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        load[result->rank[v]] += graph->load[v];
        total += graph->load[v];
        for (uint64_t e = graph->first[v]; e < graph->first[v + 1]; e++) {
            if (result->rank[graph->to[e]] == result->rank[v])
                continue;
            cut++;
            if (graph->delay[e] < result->lookahead)
                result->lookahead = graph->delay[e];
        }
    }
    for (uint32_t r = 0; r < result->ranks; r++)
        if (load[r] > largest)
            largest = load[r];
    result->cut_edges = cut / 2;
    result->imbalance = total ? (double)largest * result->ranks / (double)total : 1.0;
    free(load);
}
