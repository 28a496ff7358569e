/* fuzz_topology_file.c - libFuzzer target for the reader of edge lists: whatever the bytes, it returns a
 * graph whose ends exist, or an error with a text. */
#include "routing/topologies/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct route_graph graph;
    struct ker_error error = {0};
    enum ker_status status = route_graph_parse(&graph, "input", (const char *)data, size, &error);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
    for (uint32_t i = 0; status == KER_OK && i < graph.endpoints; i++)
        ker_assert(graph.endpoint[i].switch_id < graph.switches && graph.endpoint[i].class < graph.classes);
    for (uint32_t i = 0; status == KER_OK && i < graph.edges; i++)
        ker_assert(graph.edge[i].from < graph.switches && graph.edge[i].to < graph.switches &&
                   graph.edge[i].class < graph.classes && graph.edge[i].count > 0);
    route_graph_release(&graph);
    return 0;
}
