/* METIS: few links cut, long links rather than short ones, equal loads.
 *
 * The epoch between ranks is the smallest delay that is cut, so one short link cut costs as much as all of
 * them. Therefore links are contracted first, class by class from the shortest, as far as the cells still
 * balance (part_cells_fit): firm  - up to the last class that is less than 1/4 of the next one; wide  - up to
 * the last but one class, whatever the ratios; taken instead of firm when it brings a longer lookahead
 *           without worse balance and without more new cuts than it brings lookahead.
 * The longest class is never contracted. In what is left an edge weighs (longest delay / its delay)^2.
 *
 * Invariant: the graph METIS gets is symmetric, without loops and parallel edges (their weights are summed),
 * and all its sums fit 31 bits. METIS draws from a seed of ours: equal input, equal partition.
 */
#include "partition/parts.h"

#include <metis.h>
#include <stdlib.h>
#include <string.h>

#define SUM_LIMIT (1 << 30)

/* METIS needs some room to balance: with fewer cells a rank than this it leaves ranks empty. */
#define CELLS_PER_RANK 4

struct coarse {
    idx_t cells;
    idx_t *first, *to, *weight; /* compressed rows */
    idx_t *load;
};

static void coarse_release(struct coarse *coarse)
{
    free(coarse->first);
    free(coarse->to);
    free(coarse->weight);
    free(coarse->load);
}

/* The vertices ordered by cell: those of cell c are at start[c]..start[c+1]-1. */
static uint32_t *vertices_by_cell(const struct part_cells *cells, uint32_t vertices, uint32_t *start)
{
    uint32_t *order = ker_alloc(vertices * sizeof *order);
    for (uint32_t v = 0; v < vertices; v++)
        start[cells->cell[v] + 1]++;
    for (uint32_t c = 0; c < cells->count; c++)
        start[c + 1] += start[c];
    for (uint32_t v = 0; v < vertices; v++)
        order[start[cells->cell[v]]++] = v;
    /* Filling moved every start to the next cell's. */
    memmove(start + 1, start, cells->count * sizeof *start);
    start[0] = 0;
    return order;
}

/* What an edge weighs; the cap keeps the sum of all inside 31 bits. */
static uint32_t edge_weight(ker_time delay, ker_time longest, uint32_t cap)
{
    double ratio = (double)longest / (double)(delay > 0 ? delay : 1);
    double weight = ratio * ratio + 0.5;
    return weight >= cap ? cap : (uint32_t)weight;
}

static ker_time longest_delay(const struct part_graph *graph)
{
    ker_time longest = 1;
    for (uint64_t e = 0; e < graph->first[graph->vertices]; e++)
        if (graph->delay[e] > longest)
            longest = graph->delay[e];
    return longest;
}

/* Adds the edges of one vertex to the row of its cell; place[c] is where cell c is in this row (or before
 * it). */
static idx_t add_edges(struct coarse *coarse, const struct part_graph *graph, const struct part_cells *cells,
                       uint32_t vertex, idx_t row, idx_t end, idx_t *place, ker_time longest, uint32_t cap)
{
    uint32_t own = cells->cell[vertex];
    for (uint64_t e = graph->first[vertex]; e < graph->first[vertex + 1]; e++) {
        uint32_t other = cells->cell[graph->to[e]];
        if (other == own)
            continue;
        idx_t weight = (idx_t)edge_weight(graph->delay[e], longest, cap);
        if (place[other] >= row && place[other] < end) {
            coarse->weight[place[other]] += weight;
            continue;
        }
        place[other] = end;
        coarse->to[end] = (idx_t)other;
        coarse->weight[end++] = weight;
    }
    return end;
}

static void coarse_edges(struct coarse *coarse, const struct part_graph *graph,
                         const struct part_cells *cells)
{
    uint64_t edges = graph->first[graph->vertices];
    uint32_t cap = (uint32_t)(SUM_LIMIT / (edges + 1));
    if (cap < 1)
        cap = 1;
    uint32_t *start = ker_alloc(((size_t)cells->count + 1) * sizeof *start);
    uint32_t *order = vertices_by_cell(cells, graph->vertices, start);
    idx_t *place = ker_alloc(cells->count * sizeof *place);
    for (uint32_t c = 0; c < cells->count; c++)
        place[c] = -1;
    ker_time longest = longest_delay(graph);
    idx_t end = 0;
    for (uint32_t c = 0; c < cells->count; c++) {
        idx_t row = end;
        coarse->first[c] = row;
        for (uint32_t i = start[c]; i < start[c + 1]; i++)
            end = add_edges(coarse, graph, cells, order[i], row, end, place, longest, cap);
    }
    coarse->first[cells->count] = end;
    free(place);
    free(order);
    free(start);
}

/* Loads per cell, scaled down so that their sum fits 31 bits; at least 1. */
static void coarse_loads(struct coarse *coarse, const struct part_graph *graph,
                         const struct part_cells *cells)
{
    uint64_t *load = ker_alloc(cells->count * sizeof *load), sum = 0;
    for (uint32_t v = 0; v < graph->vertices; v++) {
        load[cells->cell[v]] += graph->load[v];
        sum += graph->load[v];
    }
    uint64_t divisor = sum / SUM_LIMIT + 1;
    for (uint32_t c = 0; c < cells->count; c++)
        coarse->load[c] = load[c] < divisor ? 1 : (idx_t)(load[c] / divisor);
    free(load);
}

static void coarse_init(struct coarse *coarse, const struct part_graph *graph, const struct part_cells *cells)
{
    uint64_t edges = graph->first[graph->vertices];
    coarse->cells = (idx_t)cells->count;
    coarse->first = ker_alloc(((size_t)cells->count + 1) * sizeof(idx_t));
    coarse->to = ker_alloc(edges * sizeof(idx_t));
    coarse->weight = ker_alloc(edges * sizeof(idx_t));
    coarse->load = ker_alloc(cells->count * sizeof(idx_t));
    coarse_edges(coarse, graph, cells);
    coarse_loads(coarse, graph, cells);
}

static enum ker_status call_metis(struct coarse *coarse, uint32_t ranks, int64_t seed, idx_t *part,
                                  struct ker_error *error)
{
    idx_t options[METIS_NOPTIONS], constraints = 1, parts = (idx_t)ranks, cut;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = (idx_t)(seed & 0x7fffffff);
    options[METIS_OPTION_UFACTOR] = 10; /* 1 % of imbalance: it costs wall time in every epoch */
    /* Bisection cuts less with few parts; k-way is the faster one with many. */
    int status =
        ranks <= 8
            ? METIS_PartGraphRecursive(&coarse->cells, &constraints, coarse->first, coarse->to, coarse->load,
                                       NULL, coarse->weight, &parts, NULL, NULL, options, &cut, part)
            : METIS_PartGraphKway(&coarse->cells, &constraints, coarse->first, coarse->to, coarse->load, NULL,
                                  coarse->weight, &parts, NULL, NULL, options, &cut, part);
    if (status == METIS_OK)
        return KER_OK;
    return ker_fail(
        error, KER_RUN_FAILED,
        "METIS could not divide %u cells among %u ranks%s; partition.method = \"linear\" needs no METIS",
        (unsigned)coarse->cells, ranks, status == METIS_ERROR_MEMORY ? " (out of memory)" : "");
}

static enum ker_status split_cells(const struct part_graph *graph, const struct part_cells *cells,
                                   uint32_t ranks, int64_t seed, uint32_t *rank, struct ker_error *error)
{
    if (cells->count < CELLS_PER_RANK * (uint64_t)ranks) {
        part_split_in_order(graph, NULL, ranks, rank);
        return KER_OK;
    }
    struct coarse coarse;
    coarse_init(&coarse, graph, cells);
    idx_t *part = ker_alloc(cells->count * sizeof *part);
    enum ker_status status = call_metis(&coarse, ranks, seed, part, error);
    for (uint32_t v = 0; status == KER_OK && v < graph->vertices; v++)
        rank[v] = (uint32_t)part[cells->cell[v]];
    free(part);
    coarse_release(&coarse);
    return status;
}

/* Finds the two contractions described above; both may be none (limit 0), and they may be the same. */
static void choose_limits(const struct part_graph *graph, uint32_t ranks, ker_time *firm, ker_time *wide)
{
    ker_time delay[PART_MAX_DELAYS];
    int count = part_graph_delays(graph, delay);
    *firm = *wide = 0;
    for (int i = 0; i + 1 < count; i++) {
        struct part_cells cells;
        part_cells_init(&cells, graph, delay[i]);
        bool fit = part_cells_fit(&cells, graph, ranks);
        part_cells_release(&cells);
        if (!fit)
            break;
        *wide = delay[i];
        if (delay[i] < delay[i + 1] / 4)
            *firm = delay[i];
    }
}

static enum ker_status split_at(const struct part_graph *graph, ker_time limit, uint32_t ranks, int64_t seed,
                                uint32_t *rank, struct ker_error *error)
{
    struct part_cells cells;
    part_cells_init(&cells, graph, limit);
    enum ker_status status = split_cells(graph, &cells, ranks, seed, rank, error);
    part_cells_release(&cells);
    return status;
}

static bool is_better(const struct part_result *wide, const struct part_result *firm)
{
    double tolerated = firm->imbalance > 1.05 ? firm->imbalance : 1.05;
    /* As products, in doubles: a network in several pieces may have no cut and an endless lookahead. */
    double traffic = (double)wide->cut_edges * (double)firm->lookahead;
    double traffic_firm = (double)firm->cut_edges * (double)wide->lookahead;
    return wide->lookahead > firm->lookahead && wide->imbalance <= tolerated && traffic <= traffic_firm;
}

enum ker_status part_split_metis(const struct part_graph *graph, uint32_t ranks,
                                 const struct ker_config *config, uint32_t *rank, struct ker_error *error)
{
    if (graph->first[graph->vertices] >= SUM_LIMIT || graph->vertices >= SUM_LIMIT)
        return ker_config_fail(
            config, error, "partition.method",
            "a network of %u vertices is too large for METIS; use \"natural\" or \"linear\"",
            graph->vertices);
    int64_t seed = ker_config_int(config, "partition.seed");
    ker_time firm = 0, wide = 0;
    if (ker_config_bool(config, "partition.contract"))
        choose_limits(graph, ranks, &firm, &wide);
    enum ker_status status = split_at(graph, firm, ranks, seed, rank, error);
    if (status != KER_OK || wide == firm)
        return status;
    struct part_result one = {.ranks = ranks, .rank = rank};
    struct part_result two = {.ranks = ranks, .rank = ker_alloc(graph->vertices * sizeof *rank)};
    status = split_at(graph, wide, ranks, seed, two.rank, error);
    if (status == KER_OK) {
        part_result_measure(&one, graph);
        part_result_measure(&two, graph);
        if (is_better(&two, &one))
            memcpy(rank, two.rank, graph->vertices * sizeof *rank);
    }
    free(two.rank);
    return status;
}
