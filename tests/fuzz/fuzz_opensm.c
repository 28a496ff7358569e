/* fuzz_opensm.c - libFuzzer target for the reader of forwarding tables, on a fabric of two switches and three
 * nodes with two LIDs each: whatever the bytes, every row has cabled ports for all LIDs, or there is an error
 * with a text. */
#include "routing/import/import.h"
#include "routing/topology.h"
#include "tests/fuzz/subnet.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
    const struct route_topology *topology;
    uint32_t rows, paths;
};

static void check_row(void *context, const struct route_opensm_row *row)
{
    struct seen *seen = context;
    struct route_peer peer;
    ker_assert(row->switch_id < 2 && row->line >= 1);
    for (uint32_t i = 0; i < 3 * seen->paths; i++) {
        ker_assert(row->port[i] <= 8);
        if (row->port[i] == 0)
            continue;
        route_port(seen->topology, row->switch_id, row->port[i], &peer);
        ker_assert(peer.kind == ROUTE_SWITCH || (peer.kind == ROUTE_ENDPOINT && peer.id == i / seen->paths));
    }
    seen->rows++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct route_topology *topology;
    if (!topology)
        topology = subnet_make();
    for (uint32_t paths = 1; paths <= 2; paths++) {
        struct seen seen = {topology, 0, paths};
        struct ker_error error = {0};
        const struct route_opensm_text of = {topology, topology->subnet,   paths, 1,
                                             "input",  (const char *)data, size};
        enum ker_status status = route_opensm_parse(&of, check_row, &seen, &error);
        ker_assert(status == error.status && (status == KER_OK) == (error.text[0] == 0));
        ker_assert(seen.rows <= 2);
        struct ker_error why = {0};
        ker_assert(status || route_opensm_explain(&of, 1, 0, 1, &why) == KER_BAD_INPUT);
    }
    return 0;
}
