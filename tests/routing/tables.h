/* tables.h - what the tests of routing tables share: networks of all kinds, and walks over them. */
#pragma once

#include "routing/tables/make.h"
#include "tests/route_walk.h"

#include <unistd.h>

#define TORUS TOPOLOGY("torus", "extents = [4, 3, 5]; nodes_per_switch = 2; " LINKS)
#define MESH TOPOLOGY("torus", "extents = [5, 4]; wrap = false; " LINKS)
#define TREE TOPOLOGY("fat_tree", "down = [4, 4, 3]; up = [1, 2, 4]; " LINKS)
#define DRAGONFLY TOPOLOGY("hierarchical", "groups = [4, 9]; links = 2; nodes_per_switch = 2; " LINKS)
#define PERCS TOPOLOGY("hierarchical", "groups = [4, 3, 2]; attach = [\"switch\", \"group\"]; " LINKS)
#define STAR TOPOLOGY("star", "nodes = 5; " LINKS)
#define GRAPH(name) TOPOLOGY("file", "file = \"" name "\"; ")

static const char *const systems[] = {TORUS,
                                      MESH,
                                      TREE,
                                      DRAGONFLY,
                                      PERCS,
                                      STAR,
                                      GRAPH("marssim-table-1"),
                                      GRAPH("marssim-table-2"),
                                      GRAPH("marssim-table-3")};

#define SYSTEMS ((int)(sizeof systems / sizeof *systems))

/* Random connected graphs: a tree, and some links more, some of them parallel; nodes everywhere, and not in
 * the order of switches. */
static inline void graph_write(int number)
{
    uint32_t random = 99u * (uint32_t)number, switches = 10u + 15u * (uint32_t)number,
             more = 5u + 20u * (uint32_t)number;
    char *name = ker_format("marssim-table-%d", number), *seen = ker_alloc(switches * switches);
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    for (uint32_t i = 0; i < switches; i++)
        fprintf(out, "switch s%u\n", i);
    for (uint32_t i = 0; i < 2 * switches; i++)
        fprintf(out, "node n%u s%u 10ns 25GB/s\n", i, i < switches ? i : test_random(&random) % switches);
    for (uint32_t i = 1; i < switches + more; i++) {
        uint32_t a = i < switches ? i : test_random(&random) % switches,
                 b = test_random(&random) % (i < switches ? i : switches);
        if (a == b || seen[a * switches + b])
            continue;
        seen[a * switches + b] = seen[b * switches + a] = 1;
        fprintf(out, "link s%u s%u %uns 25GB/s %u\n", a, b, 10 + 10 * (test_random(&random) % 4),
                1 + test_random(&random) % 2);
    }
    assert_int_equal(fclose(out), 0);
    free(seen);
    free(name);
}

/* The files of this test, in a folder of its own: others may run the same test at the same time. */
static inline int graphs_write(void **state)
{
    static char folder[] = "/tmp/marssim-table-XXXXXX";
    *state = mkdtemp(folder);
    if (!*state || chdir(*state) != 0)
        return -1;
    for (int i = 1; i <= 3; i++)
        graph_write(i);
    return 0;
}

static inline int graphs_remove(void **state)
{
    for (int i = 1; i <= 3; i++) {
        char *name = ker_format("marssim-table-%d", i);
        remove(name);
        free(name);
    }
    return rmdir(*state);
}

#define CHANNELS 24

static inline void every_pair_reached(const struct route_topology *topology)
{
    uint32_t nodes = route_summarise(topology)->endpoints, random = 4712;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++)
            if (a != b)
                walk_packet(topology, a, b, CHANNELS, &random);
}
