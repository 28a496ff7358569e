/* subnet.h - a fabric of two switches and three nodes with two LIDs each, for fuzzers of what is read beside
 * it. */
#pragma once

#include "routing/topology.h"

#include <stdlib.h>
#include <unistd.h>

static const char dump[] =
    "Switch 8 \"S-a0\" # \"left\" enhanced port 0 lid 1 lmc 0\n"
    "[1] \"H-10\"[1](11) # \"n1\" lid 4 4xQDR\n[2] \"H-20\"[1](21) # \"n2\" lid 6 4xQDR\n"
    "[7] \"S-b0\"[7] # \"right\" lid 2 4xQDR\n[8] \"S-b0\"[8] # \"right\" lid 2 4xQDR\n"
    "Switch 8 \"S-b0\" # \"right\" base port 0 lid 2 lmc 0\n[1] \"H-30\"[1](31) # \"n3\" lid 8 4xQDR\n"
    "[7] \"S-a0\"[7] # \"left\" lid 1 4xQDR\n[8] \"S-a0\"[8] # \"left\" lid 1 4xQDR\n"
    "Ca 1 \"H-10\" # \"n1\"\n[1](11) \"S-a0\"[1] # lid 4 lmc 1 \"left\" lid 1 4xQDR\n"
    "Ca 1 \"H-20\" # \"n2\"\n[1](21) \"S-a0\"[2] # lid 6 lmc 1 \"left\" lid 1 4xQDR\n"
    "Ca 1 \"H-30\" # \"n3\"\n[1](31) \"S-b0\"[1] # lid 8 lmc 1 \"right\" lid 2 4xQDR\n";

static inline struct route_topology *subnet_make(void)
{
    const struct ker_option *const tables[] = {route_options, NULL};
    char path[] = "/tmp/fuzz_subnet_XXXXXX";
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
