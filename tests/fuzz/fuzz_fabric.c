/* fuzz_fabric.c - libFuzzer target for the reader of fabric dumps: whatever the bytes, it returns a graph
 * whose ends exist, with each port used once, or an error with a text. */
#include "routing/import/import.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_port(uint8_t *used, const struct route_graph *graph, uint32_t switch_id, uint32_t port)
{
    ker_assert(switch_id < graph->switches && port >= 1 && port <= graph->ports[switch_id]);
    ker_assert(used[switch_id * 256 + port]++ == 0);
}

static void check(const struct route_graph *graph, const struct route_subnet *subnet)
{
    uint8_t *used = ker_alloc(graph->switches * 256ull);
    ker_assert(graph->switches == subnet->switches && graph->endpoints == subnet->endpoints);
    for (uint32_t i = 0; i < graph->endpoints; i++) {
        ker_assert(graph->endpoint[i].class < graph->classes && subnet->endpoint[i].lid <= ROUTE_LID_MAX);
        use_port(used, graph, graph->endpoint[i].switch_id, graph->endpoint[i].port);
    }
    for (uint32_t i = 0; i < graph->edges; i++) {
        const struct route_graph_edge *e = &graph->edge[i];
        ker_assert(e->class < graph->classes && e->count == 1 && e->from < e->to);
        use_port(used, graph, e->from, e->from_port);
        use_port(used, graph, e->to, e->to_port);
    }
    free(used);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct route_fabric_defaults defaults = {
        .latency = 1, .node_latency = 2, .rate = 3, .node_rate = 4};
    struct route_graph graph;
    struct route_subnet subnet;
    struct ker_error error = {0};
    enum ker_status status =
        route_fabric_parse(&graph, &subnet, &defaults, "input", (const char *)data, size, &error);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
    if (status == KER_OK)
        check(&graph, &subnet);
    route_graph_release(&graph);
    route_subnet_release(&subnet);
    return 0;
}
