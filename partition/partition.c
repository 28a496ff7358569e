/* Which rank simulates what: the choice of the method, and the simple methods.
 *
 * After any method but "file", ranks that got nothing are given a vertex of the rank with the most load, so
 * that every rank below result.ranks owns at least one; a file is taken as it is.
 */
#include "partition/parts.h"

#include <stdlib.h>
#include <string.h>

static enum ker_status split_linear(const struct part_graph *graph, uint32_t ranks,
                                    const struct ker_config *config, uint32_t *rank, struct ker_error *error)
{
    part_split_in_order(graph, NULL, ranks, rank);
    return KER_OK;
}

static enum ker_status split_random(const struct part_graph *graph, uint32_t ranks,
                                    const struct ker_config *config, uint32_t *rank, struct ker_error *error)
{
    struct ker_stream stream;
    ker_stream_init(&stream, (uint64_t)ker_config_int(config, "partition.seed"), KER_PURPOSE_PARTITION, 0);
    uint32_t *order = ker_alloc(graph->vertices * sizeof *order);
    for (uint32_t v = 0; v < graph->vertices; v++) {
        uint32_t other = ker_stream_below(&stream, v + 1);
        order[v] = order[other];
        order[other] = v;
    }
    part_split_in_order(graph, order, ranks, rank);
    free(order);
    return KER_OK;
}

/* The vertices sorted by group, and by number inside a group. */
static uint32_t *order_by_group(const struct part_graph *graph, uint32_t groups)
{
    uint32_t *start = ker_alloc(((size_t)groups + 1) * sizeof *start);
    uint32_t *order = ker_alloc(graph->vertices * sizeof *order);
    for (uint32_t v = 0; v < graph->vertices; v++)
        start[graph->group[v] + 1]++;
    for (uint32_t g = 0; g < groups; g++)
        start[g + 1] += start[g];
    for (uint32_t v = 0; v < graph->vertices; v++)
        order[start[graph->group[v]]++] = v;
    free(start);
    return order;
}

/* Whole groups while there are enough of them: the groups are split as if each were one vertex. */
static void split_groups(const struct part_graph *graph, uint32_t groups, uint32_t ranks, uint32_t *rank)
{
    uint64_t *load = ker_alloc(groups * sizeof *load), largest = 0;
    for (uint32_t v = 0; v < graph->vertices; v++)
        if ((load[graph->group[v]] += graph->load[v]) > largest)
            largest = load[graph->group[v]];
    struct part_graph whole = {.vertices = groups, .load = ker_alloc(groups * sizeof(uint32_t))};
    for (uint32_t g = 0; g < groups; g++)
        whole.load[g] = (uint32_t)(load[g] / (largest / (1u << 31) + 1)) + (load[g] == 0);
    uint32_t *rank_of = ker_alloc(groups * sizeof *rank_of);
    part_split_in_order(&whole, NULL, ranks, rank_of);
    for (uint32_t v = 0; v < graph->vertices; v++)
        rank[v] = rank_of[graph->group[v]];
    free(rank_of);
    free(whole.load);
    free(load);
}

static enum ker_status split_natural(const struct part_graph *graph, uint32_t ranks,
                                     const struct ker_config *config, uint32_t *rank, struct ker_error *error)
{
    uint32_t groups = 0;
    for (uint32_t v = 0; graph->group && v < graph->vertices; v++)
        if (graph->group[v] >= groups)
            groups = graph->group[v] + 1;
    if (graph->group && groups >= ranks) {
        split_groups(graph, groups, ranks, rank);
        return KER_OK;
    }
    uint32_t *order = groups ? order_by_group(graph, groups) : NULL;
    part_split_in_order(graph, order, ranks, rank);
    free(order);
    return KER_OK;
}

static const struct ker_option file_options[] = {
    {"partition.file", KER_TYPE_FILE, NULL, NULL, NULL, NULL,
     "For method \"file\": one rank number a line for switch 0, 1, 2, ... (then for the nodes, when there "
     "are fewer than 4 switches a rank).",
     .resume = KER_RESUME_FREE},
    {0},
};

static const struct ker_option metis_options[] = {
    {"partition.contract", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "Method \"metis\": keep components together that are joined by links much shorter than the rest.",
     .resume = KER_RESUME_FREE},
    {0},
};

static const struct ker_option seed_options[] = {
    {"partition.seed", KER_TYPE_INT, "1", "0", "2147483647", NULL,
     "Seed of the methods \"metis\" and \"random\".", .resume = KER_RESUME_FREE},
    {0},
};

const struct ker_kind part_metis = {
    .name = "metis",
    .meaning = "METIS: equal loads, few links cut, long links rather than short ones",
    .operations = &(const struct part_method){part_split_metis, .fills = true, .blocks = true},
    .options = KER_OPTIONS(seed_options, metis_options)};
const struct ker_kind part_natural = {.name = "natural",
                                      .meaning = "whole racks, pods or slabs of the topology",
                                      .operations =
                                          &(const struct part_method){split_natural, .fills = true}};
const struct ker_kind part_linear = {.name = "linear",
                                     .meaning = "contiguous runs of switch numbers of equal load",
                                     .operations = &(const struct part_method){split_linear, .fills = true}};
const struct ker_kind part_random = {.name = "random",
                                     .meaning = "at random, equal loads: the worst case, for tests",
                                     .operations = &(const struct part_method){split_random, .fills = true},
                                     .options = KER_OPTIONS(seed_options)};
const struct ker_kind part_by_file = {
    .name = "file",
    .meaning = "as partition.file says",
    .operations = &(const struct part_method){part_split_file, .check = part_file_check},
    .options = KER_OPTIONS(file_options)};

/* The table of methods: one line each. */
#define METHODS(KIND)                                                                                        \
    KIND(part_metis)                                                                                         \
    KIND(part_natural)                                                                                       \
    KIND(part_linear)                                                                                        \
    KIND(part_random)                                                                                        \
    KIND(part_by_file)
KER_KINDS_TABLE(method_kinds, METHODS);
static const struct ker_kinds methods = {"partition.method", "partition methods", sizeof(struct part_method),
                                         method_kinds};

const struct ker_option part_options[] = {
    {"partition.method", KER_TYPE_CHOICE, "metis", .kinds = &methods,
     .meaning = "How components are divided among ranks; no method changes the result, only the speed. "
                "--list describes them.",
     .resume = KER_RESUME_FREE},
    {"partition.bind", KER_TYPE_CHOICE, "auto", NULL, NULL, "auto|yes|no",
     "Bind each rank to a core: \"auto\" when the ranks on a host have a core each and the launcher has not "
     "bound them, \"yes\" also against the launcher, \"no\" never (for several runs side by side).",
     .resume = KER_RESUME_FREE},
    {"partition.oversubscribe", KER_TYPE_BOOL, "false", NULL, NULL, NULL,
     "With more ranks than cores on one host: let all of them simulate. Otherwise as many as there are cores "
     "do, and the others sleep.",
     .resume = KER_RESUME_FREE},
    {"partition.adapt", KER_TYPE_BOOL, "true", NULL, NULL, NULL,
     "One rank simulates where several are slower: from the beginning where there are at most 32 tasks and "
     "no synthetic traffic; else one continues where several turn out to be slower, or begins again "
     "(looked at after every 1,000 epochs, if there is next to nothing to do in them, and after 2, 8, 32 "
     "and 128 ms). Results are the same. Not with partition.oversubscribe, nor on several hosts with "
     "100,000 switches and nodes or more.",
     .resume = KER_RESUME_FREE},
    {0},
};

enum ker_status part_check(const struct ker_config *config, struct ker_error *error)
{
    const struct part_method *method = ker_config_operations(config, "partition.method");
    return method->check ? method->check(config, error) : KER_OK;
}

bool part_takes_blocks(const struct ker_config *config)
{
    const struct part_method *method = ker_config_operations(config, "partition.method");
    return method->blocks;
}

/* Gives every rank without a vertex the last vertex of the rank with the most load that has two or more. */
static void fill_empty_ranks(const struct part_graph *graph, uint32_t ranks, uint32_t *rank)
{
    uint64_t *load = ker_alloc(ranks * sizeof *load);
    uint32_t *count = ker_alloc(ranks * sizeof *count);
    for (uint32_t v = 0; v < graph->vertices; v++) {
        load[rank[v]] += graph->load[v];
        count[rank[v]]++;
    }
    for (uint32_t empty = 0; empty < ranks; empty++) {
        if (count[empty] > 0)
            continue;
        uint32_t donor = empty;
        for (uint32_t r = 0; r < ranks; r++)
            if (count[r] >= 2 && (donor == empty || load[r] > load[donor]))
                donor = r;
        uint32_t v = graph->vertices - 1;
        while (rank[v] != donor)
            v--;
        rank[v] = empty;
        count[donor]--;
        count[empty]++;
        load[donor] -= graph->load[v];
        load[empty] += graph->load[v];
    }
    free(count);
    free(load);
}

enum ker_status part_graph_split(struct part_result *result, const struct part_graph *graph, uint32_t ranks,
                                 const struct ker_config *config, struct ker_error *error)
{
    ker_assert(graph->vertices > 0 && ranks > 0);
    memset(result, 0, sizeof *result);
    result->ranks = ranks < graph->vertices ? ranks : graph->vertices;
    result->rank = ker_alloc(graph->vertices * sizeof *result->rank);
    const struct part_method *method = ker_config_operations(config, "partition.method");
    if (result->ranks > 1) {
        enum ker_status status = method->split(graph, result->ranks, config, result->rank, error);
        if (status != KER_OK) {
            part_result_release(result);
            return status;
        }
        if (method->fills)
            fill_empty_ranks(graph, result->ranks, result->rank);
    }
    part_result_measure(result, graph);
    return KER_OK;
}

void part_result_release(struct part_result *result)
{
    free(result->rank);
    memset(result, 0, sizeof *result);
}

void part_graph_release(struct part_graph *graph)
{
    free(graph->first);
    free(graph->to);
    free(graph->delay);
    free(graph->load);
    free(graph->group);
    memset(graph, 0, sizeof *graph);
}
