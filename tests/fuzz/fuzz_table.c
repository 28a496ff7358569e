/* fuzz_table.c - libFuzzer target for the reader of routing tables: whatever the bytes, it returns a table
 * whose paths lead from every node to every other, or an error with a text. The network is a small torus,
 * whose every switch has a port that leads nowhere in one dimension's direction. */
#include "routing/tables/make.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char system_text[] = "topology: { kind = \"torus\"; extents = [3, 2]; wrap = [true, false]; "
                                  "bandwidth = \"1 GB/s\"; latency = \"1 ns\"; };";

static struct route_topology *topology_make(void)
{
    const struct ker_option *const tables[] = {route_options, NULL};
    struct ker_config *config;
    struct route_topology *topology;
    struct ker_error error = {0};
    ker_assert(ker_config_parse(&config, "fuzz", system_text, NULL, 0, tables, &error) == KER_OK);
    ker_assert(route_new(&topology, config, 4, &error) == KER_OK);
    ker_config_free(config);
    return topology;
}

/* From one node to another by the `pick`-th path everywhere. */
static void walk(const struct route_topology *topology, const struct route_table *table, uint32_t from,
                 uint32_t to, uint32_t pick)
{
    struct route_peer peer = {.kind = ROUTE_SWITCH};
    uint16_t port;
    route_attachment(topology, from, &peer.id, &port);
    for (uint32_t links = 0; peer.kind == ROUTE_SWITCH; links++) {
        const struct route_hop *hop;
        uint32_t count = route_table_hops(table, peer.id, to, &hop);
        ker_assert(count > 0 && links <= table->switches);
        ker_assert(hop[pick % count].class < table->classes ||
                   hop[pick % count].class >= ROUTE_TABLE_CLASSES);
        route_port(topology, peer.id, hop[pick % count].port, &peer);
    }
    ker_assert(peer.kind == ROUTE_ENDPOINT && peer.id == to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct route_topology *topology;
    struct route_table *table;
    struct ker_error error = {0};
    bool safe;
    if (!topology)
        topology = topology_make();
    enum ker_status status =
        route_table_parse(&table, topology, "input", (const char *)data, size, &safe, &error);
    ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0) &&
               (status == KER_OK) == (table != NULL));
    uint32_t nodes = route_summarise(topology)->endpoints;
    for (uint32_t from = 0; table && from < nodes; from++)
        for (uint32_t to = 0; to < nodes; to++)
            for (uint32_t pick = 0; pick < 3 && from != to; pick++) {
                ker_assert(route_table_layer(table, 0, to) < table->classes);
                walk(topology, table, from, to, pick);
            }
    route_table_free(table);
    return 0;
}
