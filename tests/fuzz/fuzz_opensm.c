/* fuzz_opensm.c - libFuzzer target for the reader of forwarding tables, on a fabric of two switches and three
 * nodes with two LIDs each: whatever the bytes, every row has cabled ports for all LIDs, or there is an error
 * with a text. */
#include "routing/import/import.h"
#include "routing/topology.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char dump[] =
    "Switch 8 \"S-a0\" # \"left\" enhanced port 0 lid 1 lmc 0\n"
    "[1] \"H-10\"[1](11) # \"n1\" lid 4 4xQDR\n[2] \"H-20\"[1](21) # \"n2\" lid 6 4xQDR\n"
    "[7] \"S-b0\"[7] # \"right\" lid 2 4xQDR\n[8] \"S-b0\"[8] # \"right\" lid 2 4xQDR\n"
    "Switch 8 \"S-b0\" # \"right\" base port 0 lid 2 lmc 0\n[1] \"H-30\"[1](31) # \"n3\" lid 8 4xQDR\n"
    "[7] \"S-a0\"[7] # \"left\" lid 1 4xQDR\n[8] \"S-a0\"[8] # \"left\" lid 1 4xQDR\n"
    "Ca 1 \"H-10\" # \"n1\"\n[1](11) \"S-a0\"[1] # lid 4 lmc 1 \"left\" lid 1 4xQDR\n"
    "Ca 1 \"H-20\" # \"n2\"\n[1](21) \"S-a0\"[2] # lid 6 lmc 1 \"left\" lid 1 4xQDR\n"
    "Ca 1 \"H-30\" # \"n3\"\n[1](31) \"S-b0\"[1] # lid 8 lmc 1 \"right\" lid 2 4xQDR\n";

static struct route_topology *make_topology(void)
{
    const struct ker_option *const tables[] = {route_options, NULL};
    char path[] = "/tmp/fuzz_opensm_XXXXXX";
    struct ker_config *config = NULL;
    struct ker_error error = {0};
    struct route_topology *topology = NULL;
    int file = mkstemp(path);
    ker_assert(file >= 0 && write(file, dump, sizeof dump - 1) == sizeof dump - 1);
    close(file);
    char *text = ker_format("topology: { kind = \"fabric\"; file = \"%s\"; latency = \"1 ns\"; };", path);
    ker_assert(ker_config_parse(&config, "fuzz.cfg", text, NULL, 0, tables, &error) == KER_OK);
    ker_assert(route_new(&topology, config, 1, &error) == KER_OK);
    ker_config_free(config);
    free(text);
    unlink(path);
    return topology;
}

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
        topology = make_topology();
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
