/* test_routing.c - every topology in small topologies, exhaustively: ports, distances, routes, freedom of
 * deadlock. */
#include "tests/route_walk.h"

#include "routing/topology.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

struct sample {
    const char *text;
    uint32_t minimal, adaptive; /* channels needed */
    bool shortest;              /* routes are shortest paths of the graph */
};

#define TORUS(more) TOPOLOGY("torus", LINKS more)
#define TREE(more) TOPOLOGY("fat_tree", LINKS more)
#define GROUPS(more) TOPOLOGY("hierarchical", LINKS more)

/* Channels of a torus: rings of 4 and more have paths of two links, so that a cycle can close, and need 2
 * classes; adaptive ones need another channel beside these. Of a hierarchy: 2 for every "group" level above a
 * level with links, as each splits the path into before and after. */
static const struct sample samples[] = {
    {TORUS("extents = [1];"), 1, 2, true},
    {TORUS("extents = [2]; nodes_per_switch = 2;"), 1, 2, true},
    {TORUS("extents = [3, 3]; parallel = 2;"), 1, 2, true},
    {TORUS("extents = [5];"), 2, 3, true},
    {TORUS("extents = [8]; parallel = 2;"), 2, 3, true},
    {TORUS("extents = [4, 1, 6];"), 2, 3, true},
    {TORUS("extents = [4, 5]; wrap = [true, false]; nodes_per_switch = 3;"), 2, 3, true},
    {TORUS("extents = [4, 3, 2]; wrap = false;"), 1, 2, true},
    {TORUS("extents = [2, 2, 2, 2, 2, 2];"), 1, 2, true},
    {TORUS("extents = [4, 8]; twist = true; nodes_per_switch = 2;"), 2, 4, true},
    {TORUS("extents = [3, 6, 1, 6]; twist = true; parallel = 2;"), 2, 4, true},
    {TORUS("extents = [8, 2, 4]; twist = true;"), 2, 5, true},
    {TREE("down = [4]; up = [1];"), 1, 1, true},
    {TREE("down = [3, 4]; up = [1, 2];"), 1, 1, true},
    {TREE("down = [2, 3, 4]; up = [1, 3, 2];"), 1, 1, true},
    {TREE("radix = 4; levels = 3;"), 1, 1, true},
    {TREE("radix = 6; levels = 2;"), 1, 1, true},
    {TREE("down = [2, 2, 2, 2]; up = [1, 2, 1, 2];"), 1, 1, true},
    {GROUPS("groups = [5]; nodes_per_switch = 2; links = 2;"), 1, 1, true},
    {GROUPS("groups = [3, 4];"), 2, 2, false},
    {GROUPS("groups = [4, 9]; nodes_per_switch = 2;"), 2, 2, false},
    {GROUPS("groups = [3, 4]; links = [1, 5];"), 2, 2, false},
    {GROUPS("groups = [3, 4]; links = [2, 3]; attach = \"switch\";"), 1, 1, true},
    {GROUPS("groups = [2, 3, 5]; attach = [\"switch\", \"group\"];"), 2, 2, false},
    {GROUPS("groups = [3, 2, 3]; attach = [\"group\", \"switch\"]; links = [1, 2, 1];"), 2, 2, false},
    {GROUPS("groups = [2, 3, 4];"), 4, 4, false},
    {GROUPS("groups = [3, 3, 3]; links = [1, 2, 4];"), 4, 4, false},
    {GROUPS("groups = [1, 3, 4];"), 2, 2, false},
    {GROUPS("groups = [2, 2, 2, 3]; links = [1, 2, 3, 2];"), 8, 8, false},
    {GROUPS("groups = [2, 2, 1, 5]; attach = [\"group\", \"group\", \"group\"];"), 4, 4, false},
    {TOPOLOGY("star", LINKS "nodes = 7;"), 1, 1, true},
};
#define SAMPLES (sizeof samples / sizeof *samples)

static void check_ports(const struct route_topology *topology)
{
    const struct route_summary *summary = route_summarise(topology);
    uint64_t ends = 0, nodes = 0;
    uint32_t most = 0;
    for (uint32_t s = 0; s < summary->switches; s++) {
        most = route_ports(topology, s) > most ? route_ports(topology, s) : most;
        assert_true(route_group(topology, s) < route_groups(topology));
        assert_true(route_load(topology, s) >= 1);
        for (uint32_t p = 0; p < route_ports(topology, s); p++) {
            struct route_peer peer, back;
            uint32_t at;
            uint16_t port;
            route_port(topology, s, p, &peer);
            if (peer.kind == ROUTE_NOTHING)
                continue;
            assert_true(peer.link < summary->link_count);
            if (peer.kind == ROUTE_ENDPOINT) {
                route_attachment(topology, peer.id, &at, &port);
                assert_true(at == s && port == p && peer.port == 0);
                nodes++;
                continue;
            }
            assert_true(peer.id < summary->switches && peer.id != s);
            route_port(topology, peer.id, peer.port, &back);
            assert_true(back.kind == ROUTE_SWITCH && back.id == s && back.port == p &&
                        back.link == peer.link);
            ends++;
        }
    }
    assert_int_equal(nodes, summary->endpoints);
    assert_int_equal(nodes + ends / 2, summary->links);
    assert_int_equal(most, summary->max_ports);
}

/* Links from one switch to all others, by breadth-first search over the ports alone. */
static void search(const struct route_topology *topology, uint32_t from, uint32_t *distance)
{
    uint32_t switches = route_summarise(topology)->switches, done = 0, found = 1;
    uint32_t *queue = malloc(switches * sizeof *queue);
    memset(distance, 0xff, switches * sizeof *distance);
    distance[from] = 0;
    queue[0] = from;
    for (; done < found; done++)
        for (uint32_t p = 0; p < route_ports(topology, queue[done]); p++) {
            struct route_peer peer;
            route_port(topology, queue[done], p, &peer);
            if (peer.kind == ROUTE_SWITCH && distance[peer.id] == UINT32_MAX) {
                distance[peer.id] = distance[queue[done]] + 1;
                queue[found++] = peer.id;
            }
        }
    free(queue);
}

static void check_routes(const struct route_topology *topology, uint32_t channels, bool shortest,
                         uint32_t *random)
{
    const struct route_summary *summary = route_summarise(topology);
    uint32_t *distance = malloc(summary->switches * sizeof *distance);
    for (uint32_t a = 0; a < summary->endpoints; a++) {
        uint32_t from, to;
        uint16_t port;
        route_attachment(topology, a, &from, &port);
        search(topology, from, distance);
        for (uint32_t b = 0; b < summary->endpoints; b++) {
            route_attachment(topology, b, &to, &port);
            uint32_t links = route_distance(topology, a, b);
            /* injection, the path between the switches, ejection */
            if (a == b)
                assert_int_equal(links, 0);
            else if (shortest)
                assert_int_equal(links, distance[to] + 2);
            else
                assert_true(links >= distance[to] + 2);
            for (int i = 0; i < 4 && a != b; i++)
                assert_int_equal(walk_packet(topology, a, b, channels, random), links);
        }
    }
    free(distance);
}

static void check_sample(const char *text, uint32_t needed, uint32_t channels, bool shortest)
{
    static uint32_t random = 12345;
    struct ker_error error = {0};
    bool complete = false;
    struct route_topology *topology = topology_make(text, channels);
    assert_int_equal(route_summarise(topology)->channels, needed);
    check_ports(topology);
    check_routes(topology, channels, shortest, &random);
    if (route_check_deadlock(topology, 100000000, &complete, &error))
        fail_msg("%s\n%s", text, error.text);
    assert_true(complete);
    route_free(topology);
}

static void check_too_few(const char *text, uint32_t needed)
{
    struct route_topology *topology;
    struct ker_error error;
    if (needed == 1)
        return;
    assert_int_equal(topology_try(&topology, text, needed - 1, &error), KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "virtual channels"));
}

static void test_samples(void **state)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        char text[1024];
        snprintf(text, sizeof text, "%s" ADAPTIVE, s->text);
        check_too_few(s->text, s->minimal);
        check_too_few(text, s->adaptive);
        /* just enough, and more that do not divide evenly */
        check_sample(s->text, s->minimal, s->minimal, s->shortest);
        check_sample(s->text, s->minimal, 2 * s->minimal + 1, s->shortest);
        check_sample(text, s->adaptive, s->adaptive, s->shortest);
        check_sample(text, s->adaptive, 2 * s->adaptive + 1, s->shortest);
    }
}

static route_next_function *real_next;

static int one_channel_next(const struct route_topology *topology, uint64_t here, uint32_t switch_id,
                            const struct route_packet *packet, struct route_choice *choices)
{
    int count = real_next(topology, here, switch_id, packet, choices);
    choices[count - 1].channel = choices[count - 1].first_channel = 0; /* escape, when adaptive, comes last */
    return count;
}

/* A ring in which all wait in one class is the textbook deadlock: the checker must see it, also behind
 * adaptive choices; without, its silence elsewhere would mean nothing. */
static void test_checker_sees_deadlock(void **state)
{
    static const char *const text[] = {TORUS("extents = [5];"), TORUS("extents = [4, 5];") ADAPTIVE};
    for (int i = 0; i < 2; i++) {
        struct route_topology *topology = topology_make(text[i], 3);
        struct route_algorithm broken = *topology->algorithm;
        struct ker_error error = {0};
        bool complete;
        real_next = broken.next;
        broken.next = one_channel_next;
        topology->algorithm = &broken;
        assert_int_equal(route_check_deadlock(topology, 100000000, &complete, &error), KER_BAD_INPUT);
        assert_non_null(strstr(error.text, "can deadlock"));
        route_free(topology);
    }
}

/* d-mod-k: in a tree of 4 nodes per leaf, 4 leaves per pod, 8 pods, with 2 then 4 parents, each of the 2 up
 * ports of a leaf takes half of the 128 - 4 destinations elsewhere, and each of the 4 up ports of a level-2
 * switch a quarter of the 112 in other pods that reach it: 112 / 2 / 4 = 14. */
static void test_d_mod_k_even(void **state)
{
    struct route_topology *topology = topology_make(TREE("down = [4, 4, 8]; up = [1, 2, 4];"), 1);
    static const struct {
        uint32_t switch_id, down, up, each;
    } expected[] = {{0, 4, 2, 62}, {31, 4, 2, 62}, {32, 4, 4, 14}, {33, 4, 4, 14}, {47, 4, 4, 14}};
    for (int i = 0; i < 5; i++) {
        uint32_t at = expected[i].switch_id, count[8] = {0};
        for (uint32_t node = 0; node < 128; node++) {
            struct route_packet packet = {.address = route_address(topology, node), .destination = node};
            struct route_choice choice;
            route_function(topology)(topology, route_coordinate(topology, at), at, &packet, &choice);
            /* a level-2 switch sees only the destinations its y digit, node mod 2, stands for */
            if (choice.port >= expected[i].down && (at < 32 || node % 2 == (at - 32) % 2))
                count[choice.port - expected[i].down]++;
        }
        for (uint32_t up = 0; up < expected[i].up; up++)
            assert_int_equal(count[up], expected[i].each);
    }
    route_free(topology);
}

/* At every level, switches and subgroups of a group differ by at most one link. */
static void check_even(const char *text, int levels, const uint32_t *groups)
{
    struct route_topology *topology = topology_make(text, 8);
    uint32_t switches = route_summarise(topology)->switches;
    for (int level = 0; level < levels; level++) {
        uint32_t *links = calloc(switches, sizeof *links), size = 1;
        for (uint32_t s = 0; s < switches; s++)
            for (uint32_t p = 0; p < route_ports(topology, s); p++) {
                struct route_peer peer;
                route_port(topology, s, p, &peer);
                links[s] += peer.kind == ROUTE_SWITCH && peer.link == level;
            }
        /* switches, boards, ... inside each group that this level joins; sums grow in place */
        for (int inner = 0; inner < level; size *= groups[inner++]) {
            uint32_t members = 1;
            for (int i = inner; i < level; i++)
                members *= groups[i];
            for (uint32_t first = 0; first < switches; first += members * size) {
                uint32_t low = UINT32_MAX, high = 0;
                for (uint32_t m = 0; m < members; m++) {
                    uint32_t sum = 0;
                    for (uint32_t s = 0; s < size; s++)
                        sum += links[first + m * size + s];
                    low = sum < low ? sum : low;
                    high = sum > high ? sum : high;
                }
                assert_true(high - low <= 1);
            }
        }
        free(links);
    }
    route_free(topology);
}

static void test_links_even(void **state)
{
    check_even(GROUPS("groups = [4, 7];"), 2, (uint32_t[]){4, 7});
    check_even(GROUPS("groups = [3, 4, 9]; links = [1, 2, 5];"), 3, (uint32_t[]){3, 4, 9});
    check_even(GROUPS("groups = [2, 3, 2, 6]; links = [1, 1, 3, 2];"), 4, (uint32_t[]){2, 3, 2, 6});
}

struct large {
    const char *text;
    uint32_t nodes, switches, max_ports;
    uint64_t links;
};

/* The sizes of the issue. Hierarchy: 16,384 switches; links: 65,536 of nodes, 2,048 boards * 28 pairs of
 * switches, 512 racks * 6 pairs of boards * 64 pairs of switches, 512 * 511 / 2 pairs of racks. Ports: 4 + 7
 * + 24 + ceil(511 / 32). Fat tree of 64 ports in 3 levels: 2 * 32^3 nodes, 2048 + 2048 + 1024 switches,
 * 65,536 links a level. Tori: 3 links per switch. */
static void test_large(void **state)
{
    static const struct large large[] = {
        {GROUPS("groups = [8, 4, 512]; nodes_per_switch = 4; attach = [\"switch\", \"group\"];"), 65536,
         16384, 51, 65536 + 57344 + 196608 + 130816},
        {TREE("radix = 64; levels = 3;"), 65536, 5120, 64, 3 * 65536},
        {TORUS("extents = [64, 32, 32];"), 65536, 65536, 7, 4 * 65536},
        {TORUS("extents = [128, 64, 128];"), 1048576, 1048576, 7, 4 * 1048576},
        {TORUS("extents = [4, 4, 4, 4, 4, 4, 4, 4]; nodes_per_switch = 4;"), 262144, 65536, 20, 12 * 65536},
    };
    uint32_t random = 777;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        clock_t start = clock();
        struct route_topology *topology = topology_make(large[i].text, 4);
        assert_true(clock() - start < CLOCKS_PER_SEC / 4); /* closed forms: far below a quarter of a second */
        const struct route_summary *summary = route_summarise(topology);
        assert_int_equal(summary->endpoints, large[i].nodes);
        assert_int_equal(summary->switches, large[i].switches);
        assert_int_equal(summary->max_ports, large[i].max_ports);
        assert_int_equal(summary->links, large[i].links);
        for (int k = 0; k < 20000; k++) {
            uint32_t a = test_random(&random) % summary->endpoints,
                     b = test_random(&random) % summary->endpoints;
            if (a != b)
                assert_int_equal(walk_packet(topology, a, b, 4, &random), route_distance(topology, a, b));
        }
        route_free(topology);
    }
}

static void test_torus_grid(void **state)
{
    struct route_topology *topology = topology_make(TORUS("extents = [4, 3, 2]; nodes_per_switch = 2;"), 2);
    uint32_t extents[8], at[8];
    assert_int_equal(route_grid(topology, extents), 3);
    assert_true(extents[0] == 4 && extents[1] == 3 && extents[2] == 2);
    /* node 45 is on switch 22 = 2 + 4 * (2 + 3 * 1) */
    route_coordinates(topology, 45, at);
    assert_true(at[0] == 2 && at[1] == 2 && at[2] == 1);
    route_free(topology);
}

/* Level 1 is the node links; level 3 keeps 0.5 * 0.25 of its 40 GB/s. */
static void test_tree_taper(void **state)
{
    struct route_topology *topology = topology_make(
        TOPOLOGY("fat_tree", "down = [2, 2, 2]; up = [1, 2, 2]; taper = [0.5, 0.25]; latency = \"5 ns\"; "
                             "bandwidth = [\"10 GB/s\", \"20 GB/s\", \"40 GB/s\"]; "
                             "node_latency = \"7 ns\";"),
        1);
    const struct route_summary *summary = route_summarise(topology);
    assert_int_equal(summary->link_count, 3);
    assert_int_equal(summary->endpoint_link, 0);
    assert_true(summary->link[0].rate == 10000000000u && summary->link[0].latency == 7 * KER_NS);
    assert_true(summary->link[1].rate == 10000000000u && summary->link[1].latency == 5 * KER_NS);
    assert_true(summary->link[2].rate == 5000000000u);
    route_free(topology);
}

/* Draws must break the tie round an even ring both directions, and spread over all channels of a class. */
static void test_draws_spread(void **state)
{
    struct route_topology *topology = topology_make(TORUS("extents = [8];"), 8);
    uint32_t port[3] = {0}, channel[8] = {0};
    for (uint32_t i = 0; i < 8000; i++) {
        struct route_packet packet = {.address = route_address(topology, 4),
                                      .chance = ker_random_bits(1, 2, 3, i).word[0]};
        struct route_choice choice;
        route_function(topology)(topology, route_coordinate(topology, 0), 0, &packet, &choice);
        route_channel_draw(&choice, &packet);
        assert_true(choice.port < 3 && choice.channel < 8);
        port[choice.port]++;
        channel[choice.channel]++;
    }
    /* forward from 0 to 4 crosses nothing, class 1; backward crosses, class 0: half of the packets go each
     * path, and each of the four channels of a class gets 1/8 of all; five standard deviations are below 200
     */
    assert_in_range(port[1], 3800, 4200);
    for (int i = 0; i < 8; i++)
        assert_in_range(channel[i], 800, 1200);
    route_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples),      cmocka_unit_test(test_checker_sees_deadlock),
        cmocka_unit_test(test_d_mod_k_even), cmocka_unit_test(test_links_even),
        cmocka_unit_test(test_large),        cmocka_unit_test(test_torus_grid),
        cmocka_unit_test(test_tree_taper),   cmocka_unit_test(test_draws_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
