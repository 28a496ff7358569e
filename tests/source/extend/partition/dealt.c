/* dealt.c - a partition: vertices are dealt out to the ranks one by one, like cards. */
#include "partition/parts.h"

static enum ker_status dealt_split(const struct part_graph *graph, uint32_t ranks,
                                   const struct ker_config *config, uint32_t *rank, struct ker_error *error)
{
    for (uint32_t v = 0; v < graph->vertices; v++)
        rank[v] = v % ranks;
    return KER_OK;
}

const struct ker_kind part_dealt = {.name = "dealt",
                                    .meaning = "one by one, like cards",
                                    .operations = &(const struct part_method){dealt_split}};
