/* test_routing_input.c - networks from a file, and what is refused with which words. */
#include "tests/route_walk.h"

#include "routing/topologies/graph.h"

#include <stdio.h>
#include <unistd.h>

#define FILE_TOPOLOGY "topology: { kind = \"file\"; file = \"%s\"; }; "

/* A topology from the text of a topology file; the file lives only while it is read. */
static enum ker_status file_try(struct route_topology **topology, const char *text, const char *more,
                                uint32_t channels, struct ker_error *error)
{
    char path[] = "/tmp/test_routing_XXXXXX", config[256];
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    snprintf(config, sizeof config, FILE_TOPOLOGY "%s", path, more);
    enum ker_status status = topology_try(topology, config, channels, error);
    unlink(path);
    return status;
}

/* Switches s0.. with one node each, and links as pairs of letters: "01 12" joins s0 to s1 and s1 to s2. */
static void write_graph(char *text, size_t room, int switches, const char *links, int count)
{
    size_t at = 0;
    for (int i = 0; i < switches; i++)
        at += (size_t)snprintf(text + at, room - at, "switch s%d\nnode n%d s%d 10ns 25GB/s\n", i, i, i);
    for (; links[0] && links[1]; links += links[2] ? 3 : 2)
        at += (size_t)snprintf(text + at, room - at, "link s%c s%c 100ns 200Gb/s %d\n", links[0], links[1],
                               count);
    assert_true(at < room);
}

struct network {
    int switches;
    const char *links;
    int count;
    uint32_t minimal, adaptive; /* channels */
};

static void check_network(const struct network *n, bool adaptive, uint32_t channels)
{
    char text[8192];
    struct route_topology *topology;
    struct ker_error error;
    bool complete = false;
    uint32_t random = 99;
    write_graph(text, sizeof text, n->switches, n->links, n->count);
    if (file_try(&topology, text, adaptive ? ADAPTIVE : "", channels, &error))
        fail_msg("%s: %s", n->links, error.text);
    const struct route_summary *summary = route_summarise(topology);
    assert_int_equal(summary->channels, adaptive ? n->adaptive : n->minimal);
    assert_int_equal(summary->switches, n->switches);
    assert_int_equal(summary->links, n->switches + (int)(strlen(n->links) + 1) / 3 * n->count);
    for (uint32_t a = 0; a < summary->endpoints; a++)
        for (uint32_t b = 0; b < summary->endpoints; b++)
            for (int i = 0; i < 5 && a != b; i++)
                assert_int_equal(walk_packet(topology, a, b, channels, &random),
                                 route_distance(topology, a, b));
    if (route_check_deadlock(topology, 10000000, &complete, &error))
        fail_msg("%s: %s", n->links, error.text);
    assert_true(complete);
    route_free(topology);
}

/* Trees and complete graphs cannot close a circle; a ring of 6 can, and its diameter is 3; so can a square
 * with two paths round (adaptive), whose diameter is 2. */
static void test_networks(void **state)
{
    static const struct network networks[] = {
        {1, "", 1, 1, 1},
        {2, "01", 4, 1, 1},
        {5, "01 02 13 14", 2, 1, 1},
        {4, "01 02 03 12 13 23", 1, 1, 1},
        {6, "01 12 23 34 45 50", 1, 3, 3},
        {6, "01 12 23 34 45 50", 3, 3, 3},
        {8, "01 12 23 30 45 56 67 74 04 15 26 37", 1, 3, 3},
    };
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++) {
        const struct network *n = &networks[i];
        if (i < 6) /* of the cube, whether the hash closes a circle is not derived here */
            check_network(n, false, n->minimal);
        check_network(n, true, n->adaptive);
        check_network(n, true, 2 * n->adaptive + 1);
    }
}

static void test_network_too_few_channels(void **state)
{
    char text[1024];
    struct route_topology *topology;
    struct ker_error error;
    write_graph(text, sizeof text, 6, "01 12 23 34 45 50", 1);
    assert_int_equal(file_try(&topology, text, "", 2, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "needs 3 virtual channels"));
}

/* With links in parallel, all are used: "minimal" deals them to the destination nodes, one each of four here.
 */
static void test_parallel_used(void **state)
{
    struct route_topology *topology;
    struct ker_error error;
    uint32_t used[5] = {0};
    assert_int_equal(
        file_try(&topology,
                 "switch a\nswitch b\nnode m a 1ns 1GB/s\nnode n b 1ns 1GB/s\nnode o b 1ns 1GB/s\n"
                 "node p b 1ns 1GB/s\nnode q b 1ns 1GB/s\nlink a b 1ns 1GB/s 4\n",
                 "", 1, &error),
        KER_OK);
    for (uint32_t i = 0; i < 400; i++) {
        struct route_packet packet = {.address = route_address(topology, 1 + i % 4),
                                      .destination = 1 + i % 4,
                                      .chance = ker_random_bits(5, 1, 1, i).word[0]};
        struct route_choice choice;
        route_function(topology)(topology, route_coordinate(topology, 0), 0, &packet, &choice);
        used[choice.port]++;
    }
    for (int port = 1; port < 5; port++)
        assert_int_equal(used[port], 100);
    route_free(topology);
}

static void test_link_classes(void **state)
{
    struct route_topology *topology;
    struct ker_error error;
    assert_int_equal(file_try(&topology,
                              "link b a 2us 8Gb/s\nnode n a 1ns 5GB/s # the node\n\n  switch a\r\nswitch b",
                              "", 1, &error),
                     KER_OK);
    const struct route_summary *summary = route_summarise(topology);
    assert_int_equal(summary->link_count, 2);
    assert_true(summary->link[summary->endpoint_link].rate == 5000000000u);
    /* 8 Gb/s = 1 GB/s */
    assert_true(summary->link[!summary->endpoint_link].rate == 1000000000u);
    assert_true(summary->link[!summary->endpoint_link].latency == 2 * KER_US);
    route_free(topology);
}

struct refusal {
    const char *text, *says;
};

/* Lines are counted from 1. */
static void test_bad_files(void **state)
{
    static const struct refusal bad[] = {
        {"", ":1: there are 0 switches and 0 nodes"},
        {"switch a\n", ":1: there are 1 switches and 0 nodes"},
        {"switch a b\n", ":1: a switch line reads"},
        {"# one\nnode n a\n", ":2: a node line reads"},
        {"link a b 1ns 1GB/s 2 3\n", ":1: a link line reads"},
        {"router a\n", ":1: a line begins with switch, node or link, not router"},
        {"switch a\nswitch a\n", ":2: the name a was already given in line 1"},
        {"switch a\nnode a a 1ns 1GB/s\n", ":2: the name a was already given in line 1"},
        {"switch a\nnode n b 1ns 1GB/s\n", ":2: there is no switch b"},
        {"switch a\nnode n a 1ns 1GB/s\nlink a n 1ns 1GB/s\n", ":3: n is a node (line 2)"},
        {"switch a\nnode n a 1ns 1GB/s\nlink a b 1ns 1GB/s\n", ":3: there is no switch b"},
        {"switch a\nnode n a 1ns 1GB/s\nlink a a 1ns 1GB/s\n", ":3: a link from a switch to itself"},
        {"switch a\nnode n a 1parsec 1GB/s\n", ":2: latency 1parsec: "},
        {"switch a\nnode n a 1ns 1GB\n", ":2: bandwidth 1GB: "},
        {"switch a\nnode n a 0ns 1GB/s\n", ":2: the latency must be at least 1ps"},
        {"switch a\nnode n a 1ns 0GB/s\n", ":2: the bandwidth must not be zero"},
        {"switch a\nswitch b\nnode n a 1ns 1GB/s\nlink a b 1ns 1GB/s 0\n",
         ":4: the number of parallel links is 0"},
        {"switch a\nswitch b\nnode n a 1ns 1GB/s\nlink a b 1ns 1GB/s 99999999999\n",
         ":4: the number of parallel"},
        {"switch a\nswitch b\nnode n a 1ns 1GB/s\nlink a b 1ns 1GB/s -1\n",
         ":4: the number of parallel links is -1"},
        {"switch a\nswitch b\nnode n a 1ns 1GB/s\nlink a b 1ns 1GB/s 65535\n",
         ":4: a switch has more than 65535"},
        {"switch a\nswitch b\nnode n a 1ns 1GB/s\nlink a b 1ns 1GB/s\nlink b a 2ns 1GB/s\n",
         ":5: these switches are already linked in line 4"},
        {"switch a\nswitch b\nnode n a 1ns 1GB/s\n", ":2: no links lead from the first switch (line 1)"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct route_topology *topology;
        struct ker_error error;
        assert_int_equal(file_try(&topology, bad[i].text, "", 1, &error), KER_BAD_INPUT);
        assert_null(topology);
        if (!strstr(error.text, bad[i].says))
            fail_msg("%s\nsays \"%s\", not \"%s\"", bad[i].text, error.text, bad[i].says);
    }
}

static void test_binary_file(void **state)
{
    struct route_graph graph;
    struct ker_error error = {0};
    assert_int_equal(route_graph_parse(&graph, "x", "switch\0a", 8, &error), KER_BAD_INPUT);
    assert_string_equal(error.text, "x:1: this is no text file: it holds a zero byte");
    route_graph_release(&graph);
    struct ker_error missing = {0};
    assert_int_equal(route_graph_read(&graph, NULL, "/nowhere/at/all", &missing), KER_BAD_INPUT);
    assert_non_null(strstr(missing.text, "/nowhere/at/all: cannot be read"));
    route_graph_release(&graph);
}

static void test_bad_keys(void **state)
{
    static const struct refusal bad[] = {
        {"", "topology.kind: is missing"},
        {TOPOLOGY("torus", LINKS), "topology.extents: is missing; a torus topology needs it"},
        {TOPOLOGY("torus", "extents = [4]; latency = \"1 ns\";"), "topology.bandwidth: is missing"},
        {TOPOLOGY("torus", "extents = [4]; bandwidth = \"1 GB/s\";"), "topology.latency: is missing"},
        {TOPOLOGY("torus", LINKS "extents = [4, 0];"), "topology.extents"},
        {TOPOLOGY("torus", LINKS "extents = [1, 1, 1, 1, 1, 1, 1, 1, 1];"), "has 9 values; between 1 and 8"},
        {TOPOLOGY("torus", LINKS "extents = [4, 4, 4]; wrap = [true, true];"),
         "topology.wrap: has 2 values, but there are 3 dimensions"},
        {TOPOLOGY("torus", LINKS "extents = [65536, 65536];"), "more than 2^32 - 1 nodes"},
        {TOPOLOGY("torus", LINKS "extents = [4]; radix = 4;"),
         "topology.radix: means nothing with topology.kind"},
        {TOPOLOGY("torus", "extents = [4]; latency = \"0 ns\"; bandwidth = \"1 GB/s\";"), "topology.latency"},
        {TOPOLOGY("torus", "extents = [4]; latency = \"1 ns\"; bandwidth = \"0 GB/s\";"),
         "topology.bandwidth"},
        {TOPOLOGY("torus", LINKS "extents = [4]; node_latency = \"0 ns\";"), "topology.node_latency"},
        {TOPOLOGY("fat_tree", LINKS), "topology.down: is missing"},
        {TOPOLOGY("fat_tree", LINKS "down = [4, 4]; up = [1];"),
         "topology.up: has 1 value but topology.down has 2"},
        {TOPOLOGY("fat_tree", LINKS "down = [4, 4]; up = [2, 2];"), "topology.up: begins with 2"},
        {TOPOLOGY("fat_tree", LINKS "radix = 5; levels = 2;"), "topology.radix: is 5; it must be even"},
        {TOPOLOGY("fat_tree", LINKS "radix = 4;"), "topology.levels: is missing"},
        {TOPOLOGY("fat_tree", LINKS "radix = 4; levels = 2; down = [4];"), "is beside"},
        {TOPOLOGY("fat_tree", LINKS "radix = 4; levels = 2; taper = 0.0;"),
         "topology.taper: is 0 for level 2"},
        {TOPOLOGY("fat_tree", LINKS "radix = 4; levels = 2; taper = 1.5;"),
         "topology.taper: is 1.5 for level 2"},
        {TOPOLOGY("fat_tree", LINKS "radix = 4; levels = 3; taper = [0.5, 0.5, 0.5];"),
         "has 3 values, but there are 2 levels above the first"},
        {TOPOLOGY("fat_tree", LINKS "radix = 64; levels = 8;"), "more than 2^32 - 1 nodes"},
        {TOPOLOGY("fat_tree", LINKS "down = [2, 2, 2]; up = [1, 70000, 2];"),
         "switches of 70002 ports at level 1"},
        {TOPOLOGY("hierarchical", LINKS), "topology.groups: is missing"},
        {TOPOLOGY("hierarchical", LINKS "groups = [2, 2, 2, 2, 2];"), "has 5 values; between 1 and 4"},
        {TOPOLOGY("hierarchical", LINKS "groups = [4, 4]; attach = \"pair\";"), "topology.attach"},
        {TOPOLOGY("hierarchical", LINKS "groups = [4, 4, 4]; attach = [\"group\", \"group\", \"group\"];"),
         "topology.attach: has 3 values, but there are 2 levels above the first"},
        {TOPOLOGY("hierarchical", LINKS "groups = [300, 300]; attach = \"switch\";"),
         "more than 65535 ports"},
        {TOPOLOGY("star", LINKS), "topology.nodes: is missing"},
        {TOPOLOGY("file", ""), "topology.file: is missing"},
        {TOPOLOGY("file", "file = \"x\"; latency = \"1 ns\";"), "topology.latency: means nothing"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct route_topology *topology;
        struct ker_error error;
        if (topology_try(&topology, bad[i].text, 8, &error) != KER_BAD_INPUT)
            fail_msg("%s is not refused", bad[i].text);
        assert_null(topology);
        if (!strstr(error.text, bad[i].says))
            fail_msg("%s\nsays \"%s\", not \"%s\"", bad[i].text, error.text, bad[i].says);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_networks),      cmocka_unit_test(test_network_too_few_channels),
        cmocka_unit_test(test_parallel_used), cmocka_unit_test(test_link_classes),
        cmocka_unit_test(test_bad_files),     cmocka_unit_test(test_binary_file),
        cmocka_unit_test(test_bad_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
