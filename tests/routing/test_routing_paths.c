/* test_routing_paths.c - every routing algorithm on every topology, in small systems: all paths between all
 * pairs, over everything that may be drawn and every choice that may be made.
 *
 * A path is found by walking a packet; whatever is drawn or chosen on the walk is asked of an oracle that
 * gives one combination of answers after the other, so that each pair's paths are all seen, and each with its
 * probability when only draws decide. That makes exact loads of links out of it, too. Large systems, where
 * all paths are too many, are sampled.
 */
#include "tests/route_walk.h"

#include "routing/proof/check.h"
#include "routing/topology.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdio.h>

#define TORUS(more) TOPOLOGY("torus", LINKS more)
#define TREE(more) TOPOLOGY("fat_tree", LINKS more)
#define GROUPS(more) TOPOLOGY("hierarchical", LINKS more)

#define HYPERX(more) TOPOLOGY("hyperx", LINKS more)
#define SLIM(more) TOPOLOGY("slim_fly", LINKS more)
#define FLY(more) TOPOLOGY("polarfly", LINKS more)
#define PLUS(more) TOPOLOGY("dragonfly_plus", LINKS more)
#define GROUPED(more) TOPOLOGY("dragonfly", LINKS more) /* with rows, or an arrangement */
#define BY_HOP "routing: { channel_order = \"hop\"; }; "

#define PORTS_MOST 64   /* per switch, of the systems whose loads are counted */
#define WAYS_MOST 40000 /* of one pair */

/* ---- all paths of a pair ---- */

/* Of all paths that were walked. Loads are expected packets per link and direction: [switch][port]. */
struct seen {
    uint32_t shortest, longest, channels; /* links; bits: channels between switches */
    double *load;
};

static struct route_choice hop_choose(const struct route_choice *choices, int count,
                                      struct route_oracle *oracle, uint32_t links)
{
    if (count == 1)
        return choices[0];
    assert_true(oracle->picks < ROUTE_ORACLE_PICKS);
    return choices[route_oracle_pick(oracle, 1u << 20 | links, (uint32_t)count)];
}

/* One path: as walk_packet, but the oracle draws and chooses. Lists the outputs taken. */
static uint32_t hop_walk(const struct route_topology *topology, uint32_t source, uint32_t destination,
                         struct route_oracle *oracle, struct seen *seen, uint32_t *taken)
{
    struct route_packet packet = {.address = route_address(topology, destination),
                                  .source = source,
                                  .destination = destination,
                                  .oracle = oracle};
    uint32_t at, links = 1, channels = topology->channels;
    struct route_peer peer;
    route_attachment(topology, source, &at, &packet.in_port);
    for (;; packet.hops++) {
        struct route_choice choices[ROUTE_MAX_CHOICES];
        int count = route_function(topology)(topology, route_coordinate(topology, at), at, &packet, choices);
        assert_in_range(count, 1, ROUTE_MAX_CHOICES);
        struct route_choice c = hop_choose(choices, count, oracle, links);
        assert_true(c.port < route_ports(topology, at) && c.channel < channels && c.state < 1u << 24);
        assert_true(c.channel_count == 0 ||
                    (c.first_channel <= c.channel && c.channel < c.first_channel + c.channel_count &&
                     c.first_channel + c.channel_count <= (int)channels));
        taken[links++ - 1] = at * PORTS_MOST + c.port;
        route_port(topology, at, c.port, &peer);
        if (peer.kind == ROUTE_ENDPOINT)
            break;
        assert_int_equal(peer.kind, ROUTE_SWITCH);
        assert_true(links < 64);
        for (uint32_t i = 0; i < (c.channel_count ? c.channel_count : 1u); i++)
            seen->channels |= 1u << (c.channel_count ? c.first_channel + i : c.channel);
        at = peer.id;
        packet.in_port = peer.port;
        packet.in_channel = c.channel;
        packet.state = c.state;
    }
    assert_int_equal(peer.id, destination);
    return links;
}

static void hops_walk(const struct route_topology *topology, uint32_t source, uint32_t destination,
                      struct seen *seen)
{
    struct route_oracle oracle = {0};
    uint32_t hops = 0, taken[64];
    do {
        uint32_t links = hop_walk(topology, source, destination, &oracle, seen, taken);
        double share = 1;
        for (int i = 0; i < oracle.picks; i++)
            share /= oracle.count[i];
        for (uint32_t i = 0; seen->load && i + 1 < links; i++)
            seen->load[taken[i]] += share;
        seen->shortest = links < seen->shortest ? links : seen->shortest;
        seen->longest = links > seen->longest ? links : seen->longest;
        assert_true(++hops < WAYS_MOST);
    } while (route_oracle_advance(&oracle));
}

/* ---- every algorithm, every topology ---- */

#define AT_MOST 0x10000u /* added to longest: a bound that need not be reached */

struct proof {
    const char *algorithm, *text;
    uint32_t channels; /* needed */
    uint32_t longest;  /* links of the longest path of all pairs; 0: every way has route_distance() links */
};

/* Minimal, in links: route_distance(). Torus, Valiant: twice the diameter D between switches and two node
 * links, where some pair has an intermediate at distance D from both: rings of odd extent, but not of even
 * extent, where only one place is at distance D: one less. Hierarchical: via a group, at most one link
 * of the highest level from group to group and the path inside each of the three groups; progressive, one
 * more link inside the first. */
static const struct proof proofs[] = {
    {"minimal", TORUS("extents = [5];"), 2, 0},
    {"minimal", TORUS("extents = [3, 3]; parallel = 2;"), 1, 0},
    {"minimal", TORUS("extents = [4, 1, 6];"), 2, 0},
    {"minimal", TORUS("extents = [4, 5]; wrap = [true, false]; nodes_per_switch = 3;"), 2, 0},
    {"minimal", TORUS("extents = [4, 3, 2]; wrap = false;"), 1, 0},
    {"minimal", TORUS("extents = [2, 2, 2, 2, 2, 2];"), 1, 0},
    {"adaptive", TORUS("extents = [7];"), 3, 0},
    {"adaptive", TORUS("extents = [4, 4];"), 3, 0},
    {"adaptive", TORUS("extents = [3, 3]; parallel = 2;"), 2, 0},
    {"adaptive", TORUS("extents = [4, 5]; wrap = [true, false]; nodes_per_switch = 2;"), 3, 0},
    {"adaptive", TORUS("extents = [3, 3, 2]; wrap = false;"), 2, 0},
    {"valiant", TORUS("extents = [1]; nodes_per_switch = 3;"), 2, 2},
    {"valiant", TORUS("extents = [5]; nodes_per_switch = 2;"), 4, 2 + 2 * 2},
    {"valiant", TORUS("extents = [6];"), 4, 2 + 2 * 3 - 1},
    {"valiant", TORUS("extents = [3, 3]; parallel = 2;"), 2, 2 + 2 * 2},
    {"valiant", TORUS("extents = [4, 4];"), 4, 2 + 2 * 4 - 1},
    {"valiant", TORUS("extents = [4, 1, 5];"), 4, 2 + 2 * 4},
    {"valiant", TORUS("extents = [4, 3]; wrap = [true, false];"), 4, 2 + 2 * 4 - 1},
    {"valiant", TORUS("extents = [3, 4, 2]; wrap = false;"), 2, 2 + 2 * 6 - 1},
    {"inner_outer_inner", TORUS("extents = [3, 2, 2, 3, 2]; wrap = [true, false, false, true, false];"), 2,
     AT_MOST + 2 + 3 + 2 + 3},
    {"inner_outer_inner", TORUS("extents = [5, 2, 4, 2]; wrap = [true, false, true, false];"), 4,
     AT_MOST + 2 + 4 + 2 + 4},
    {"minimal", TORUS("extents = [4, 8]; twist = true; nodes_per_switch = 2;"), 2, 0},
    {"minimal", TORUS("extents = [4, 4, 2]; twist = true; parallel = 2;"), 2, 0},
    {"adaptive", TORUS("extents = [3, 6]; twist = true;"), 3, 0},
    {"valiant", TORUS("extents = [2, 4]; twist = true;"), 4, AT_MOST + 2 + 2 * 2},
    {"par", TORUS("extents = [2, 4]; twist = true;"), 5, AT_MOST + 2 + 1 + 2 * 2},
    {"minimal", TREE("down = [4]; up = [1];"), 1, 0},
    {"d_mod_k", TREE("down = [3, 4]; up = [1, 2];"), 1, 0},
    {"d_mod_k", TREE("radix = 6; levels = 2;"), 1, 0},
    {"d_mod_k", TREE("down = [2, 2, 2, 2]; up = [1, 2, 1, 2];"), 1, 0},
    {"s_mod_k", TREE("down = [4]; up = [1];"), 1, 0},
    {"s_mod_k", TREE("down = [3, 4]; up = [1, 2];"), 1, 0},
    {"s_mod_k", TREE("down = [2, 3, 4]; up = [1, 3, 2];"), 1, 0},
    {"s_mod_k", TREE("down = [2, 2, 2, 2]; up = [1, 2, 1, 2];"), 1, 0},
    {"random", TREE("down = [3, 4]; up = [1, 2];"), 1, 0},
    {"random", TREE("radix = 4; levels = 3;"), 1, 0},
    {"random", TREE("down = [2, 3, 4]; up = [1, 3, 2];"), 1, 0},
    {"random", TREE("down = [2, 2, 2, 2]; up = [1, 2, 1, 2];"), 1, 0},
    {"adaptive", TREE("down = [2, 3, 4]; up = [1, 3, 2];"), 1, 0},
    {"adaptive", TREE("radix = 6; levels = 2;"), 1, 0},
    {"minimal", GROUPS("groups = [4, 9]; nodes_per_switch = 2;"), 2, 0},
    {"minimal", GROUPS("groups = [3, 4]; links = [2, 3]; attach = \"switch\";"), 1, 0},
    {"minimal", GROUPS("groups = [2, 3, 4];"), 4, 0},
    {"adaptive", GROUPS("groups = [3, 4]; links = [1, 5];"), 2, 0},
    {"valiant", GROUPS("groups = [4, 5];"), 4, 2 + 3 + 3},
    {"valiant", GROUPS("groups = [3, 4]; links = [2, 3]; attach = \"switch\";"), 2, 2 + 2},
    {"valiant", GROUPS("groups = [2, 2, 5];"), 8, AT_MOST + 2 + 2 * 7},
    {"indirect", GROUPS("groups = [4, 5];"), 4, 2 + 3 + 3},
    {"ugal", GROUPS("groups = [4, 5];"), 4, 2 + 3 + 3},
    {"par", GROUPS("groups = [4, 5];"), 5, 2 + 3 + 3 + 1},
    {"minimal", TOPOLOGY("star", LINKS "nodes = 7;"), 1, 0},
    {"ugal", TORUS("extents = [3, 3];"), 4, 2 + 2 * 2},
    {"par", TORUS("extents = [4];"), 5, AT_MOST + 2 + 1 + 2 * 2},
    {"valiant", TREE("down = [2, 3]; up = [1, 2];"), 4, 2 + 2 * 2},
    {"ugal", TREE("down = [2, 3]; up = [1, 2];"), 4, 2 + 2 * 2},
    {"minimal", HYPERX("extents = [3, 4]; links = [2, 1]; nodes_per_switch = 2;"), 1, 0},
    {"minimal", HYPERX("extents = [2, 1, 3];"), 1, 0},
    {"adaptive", HYPERX("extents = [3, 2, 3];"), 3, 0},
    {"valiant", HYPERX("extents = [3, 3]; links = [1, 2];"), 2, 2 + 2 * 2},
    {"valiant", HYPERX("extents = [3, 3];") BY_HOP, 4, 2 + 2 * 2},
    {"ugal", HYPERX("extents = [3, 3];"), 2, 2 + 2 * 2},
    {"par", HYPERX("extents = [3, 3];"), 3, 2 + 1 + 2 * 2},
    {"dal", HYPERX("extents = [3, 4]; links = [1, 2];"), 2, 2 + 2 * 2},
    {"dal", HYPERX("extents = [3, 3, 3];"), 2, 2 + 2 * 3},
    {"minimal", SLIM("q = 3; nodes_per_switch = 2;"), 2, 0},
    {"minimal", SLIM("q = 5;"), 2, 0},
    {"adaptive", SLIM("q = 4;"), 2, 0},
    {"valiant", SLIM("q = 4;"), 4, 2 + 2 * 2},
    {"valiant", SLIM("q = 5;") BY_HOP, 4, 2 + 2 * 2},
    {"ugal", SLIM("q = 3;"), 4, 2 + 2 * 2},
    {"par", SLIM("q = 3;"), 5, 2 + 1 + 2 * 2},
    {"par", SLIM("q = 3;") BY_HOP, 5, 2 + 1 + 2 * 2},
    {"minimal", FLY("q = 2; nodes_per_switch = 2;"), 2, 0},
    {"minimal", FLY("q = 9;"), 2, 0},
    {"adaptive", FLY("q = 4;"), 2, 0},
    {"valiant", FLY("q = 4;"), 4, 2 + 2 * 2},
    {"ugal", FLY("q = 3;"), 4, 2 + 2 * 2},
    {"ugal", FLY("q = 3;") BY_HOP, 4, 2 + 2 * 2},
    {"par", FLY("q = 3;"), 5, 2 + 1 + 2 * 2},
    {"minimal", PLUS("leaves = 2; spines = 3; h = 2; nodes_per_switch = 2;"), 1, 0},
    {"adaptive", PLUS("leaves = 3; spines = 2; h = 3; groups = 4; arrangement = \"relative\";"), 1, 0},
    {"adaptive", PLUS("leaves = 2; spines = 2; h = 3; group_links = 2; arrangement = \"circulant\";"), 1, 0},
    {"valiant", PLUS("leaves = 2; spines = 2; h = 2;"), 2, 2 + 2 * 3},
    {"ugal", PLUS("leaves = 2; spines = 2; h = 2;"), 2, 2 + 2 * 3},
    {"ugal", PLUS("leaves = 2; spines = 2; h = 2;") BY_HOP, 6, 2 + 2 * 3},
    {"par", PLUS("leaves = 2; spines = 2; h = 2;"), 3,
     2 + 2 * 3}, /* spines have no nodes: no second thought */
    {"minimal", GROUPED("p = 2; a = 4; h = 2; arrangement = \"absolute\";"), 2, 0},
    {"minimal", GROUPED("p = 1; a = 3; h = 2; groups = 4; arrangement = \"circulant\";"), 2, 0},
    {"minimal", GROUPED("p = 1; a = 6; rows = 2; h = 2; groups = 4; column_links = 2; row_links = 2;"), 2, 0},
    {"adaptive", GROUPED("p = 1; a = 4; h = 2; group_links = 2; arrangement = \"relative\";"), 3, 0},
    {"adaptive", GROUPED("p = 1; a = 6; rows = 2; h = 1; groups = 7;"), 5, 0},
    {"valiant", GROUPED("p = 1; a = 4; h = 1; arrangement = \"absolute\";"), 4, 2 + 2 * 3},
    {"ugal", GROUPED("p = 1; a = 4; rows = 2; h = 1; groups = 3;"), 4, AT_MOST + 2 + 2 * 5},
    {"par", GROUPED("p = 1; a = 4; h = 1; arrangement = \"relative\";"), 5, AT_MOST + 2 + 1 + 2 * 3},
};
#define PROOFS (sizeof proofs / sizeof *proofs)

static struct route_topology *proof_topology(const char *text, const char *algorithm, uint32_t channels)
{
    char all[1024];
    const char *group = strstr(text, "routing: { "); /* it has keys of routing */
    snprintf(all, sizeof all, "%.*srouting: { algorithm = \"%s\"; %s",
             (int)(group ? group - text : (long)strlen(text)), text, algorithm,
             group ? group + strlen("routing: { ") : "};");
    return topology_make(all, channels);
}

static void proof_paths(const struct route_topology *topology, const struct proof *p, struct seen *all)
{
    uint32_t nodes = route_summarise(topology)->endpoints;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++) {
            struct seen seen = {.shortest = UINT32_MAX};
            if (a == b)
                continue;
            hops_walk(topology, a, b, &seen);
            if (!p->longest) {
                assert_int_equal(seen.shortest, route_distance(topology, a, b));
                assert_int_equal(seen.longest, route_distance(topology, a, b));
            }
            all->longest = seen.longest > all->longest ? seen.longest : all->longest;
            all->channels |= seen.channels;
        }
}

/* With as many channels as needed all are used, or fewer would do; with more than that, that do not divide
 * evenly, none is above what there is (way_walk). */
static void test_every_path(void **state)
{
    for (size_t i = 0; i < PROOFS; i++) {
        const struct proof *p = &proofs[i];
        for (int more = 0; more < 2; more++) {
            struct route_topology *topology =
                proof_topology(p->text, p->algorithm, more ? 2 * p->channels + 1 : p->channels);
            struct ker_error error = {0};
            struct seen all = {0};
            bool complete = false, one_switch = route_summarise(topology)->switches == 1;
            if (route_summarise(topology)->channels != p->channels)
                fail_msg("%s %s needs %u channels", p->algorithm, p->text,
                         route_summarise(topology)->channels);
            proof_paths(topology, p, &all);
            uint32_t bound = p->longest & ~AT_MOST;
            if (bound && (p->longest & AT_MOST ? all.longest > bound : all.longest != bound))
                fail_msg("%s %s: the longest path has %u links", p->algorithm, p->text, all.longest);
            if (!more && !one_switch && all.channels != (1u << p->channels) - 1)
                fail_msg("%s %s uses channels %x of %u", p->algorithm, p->text, all.channels, p->channels);
            if (route_check_deadlock(topology, 100000000, &complete, &error))
                fail_msg("%s %s\n%s", p->algorithm, p->text, error.text);
            assert_true(complete);
            route_free(topology);
        }
    }
}

/* ---- large systems, sampled ---- */

/* 65,536 nodes; Valiant also where coordinates fill the state to its last bit, and on the 64^3 torus. */
static const struct proof large[] = {
    {"minimal", TORUS("extents = [64, 32, 32];"), 2, 0},
    {"adaptive", TORUS("extents = [64, 32, 32];"), 3, 0},
    {"valiant", TORUS("extents = [64, 32, 32];"), 4, 2 + 2 * (32 + 16 + 16)},
    {"valiant", TORUS("extents = [64, 64, 64];"), 4, 2 + 2 * 96},
    {"valiant", TORUS("extents = [5, 5, 5, 5, 5, 5, 5, 5];"), 4, 2 + 2 * 16},
    {"valiant", TORUS("extents = [256, 256]; wrap = false;"), 2, 2 + 4 * 255},
    {"d_mod_k", TREE("radix = 64; levels = 3;"), 1, 0},
    {"s_mod_k", TREE("radix = 64; levels = 3;"), 1, 0},
    {"random", TREE("radix = 64; levels = 3;"), 1, 0},
    {"adaptive", TREE("radix = 64; levels = 3;"), 1, 0},
    {"adaptive", TREE("down = [128, 512]; up = [1, 128];"), 1, 0}, /* more parents than choices */
    {"random", TREE("down = [128, 512]; up = [1, 128];"), 1, 0},
    {"minimal", SLIM("q = 43; nodes_per_switch = 33;"), 2, 0}, /* 122,034 nodes */
    {"valiant", SLIM("q = 64; nodes_per_switch = 20;"), 4, 2 + 2 * 2},
    {"minimal", FLY("q = 49; nodes_per_switch = 50;"), 2, 0},
    {"ugal", FLY("q = 64; nodes_per_switch = 30;"), 4, 2 + 2 * 2},
    {"adaptive", HYPERX("extents = [32, 32, 16]; nodes_per_switch = 8;"), 3, 0},
    {"dal", HYPERX("extents = [32, 32, 16]; links = [1, 2, 1]; nodes_per_switch = 8;"), 2, 2 + 2 * 3},
    {"minimal", PLUS("leaves = 32; spines = 32; h = 32; groups = 129; nodes_per_switch = 32;"), 1, 0},
    {"par", PLUS("leaves = 18; spines = 18; h = 22; groups = 23; nodes_per_switch = 32;"), 3, 2 + 2 * 3},
    {"minimal", GROUPED("p = 4; a = 96; rows = 6; column_links = 3; h = 10; groups = 241;"), 2, 0},
    {"ugal", GROUPED("p = 16; a = 32; h = 16; arrangement = \"absolute\";"), 4, 2 + 2 * 3},
    {"minimal", GROUPS("groups = [8, 4, 512]; nodes_per_switch = 4; attach = [\"switch\", \"group\"];"), 2,
     0},
    {"adaptive", GROUPS("groups = [8, 4, 512]; nodes_per_switch = 4; attach = [\"switch\", \"group\"];"), 2,
     0},
};

static void test_large(void **state)
{
    uint32_t random = 4242;
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        struct route_topology *topology =
            proof_topology(large[i].text, large[i].algorithm, large[i].channels);
        assert_int_equal(route_summarise(topology)->channels, large[i].channels);
        uint32_t nodes = route_summarise(topology)->endpoints;
        for (int k = 0; k < 20000; k++) {
            uint32_t a = test_random(&random) % nodes, b = test_random(&random) % nodes;
            if (a == b)
                continue;
            uint32_t links = walk_packet(topology, a, b, large[i].channels, &random),
                     distance = route_distance(topology, a, b);
            if (large[i].longest)
                assert_in_range(links, distance, large[i].longest);
            else
                assert_int_equal(links, distance);
        }
        route_free(topology);
    }
}

/* A coordinate more than 24 bits hold is refused, and named. */
static void test_valiant_too_large(void **state)
{
    struct route_topology *topology;
    struct ker_error error;
    assert_int_equal(topology_try(&topology,
                                  TORUS("extents = [512, 512, 65];") "routing: { algorithm = \"valiant\"; };",
                                  4, &error),
                     KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "need 25"));
    assert_int_equal(
        topology_try(&topology, TORUS("extents = [5];") "routing: { algorithm = \"valiant\"; };", 3, &error),
        KER_BAD_INPUT);
    assert_non_null(strstr(error.text, "needs 4 virtual channels"));
}

/* ---- loads of links: fat tree ---- */

static double *loads_new(const struct route_topology *topology)
{
    assert_true(route_summarise(topology)->max_ports <= PORTS_MOST);
    return ker_alloc((size_t)route_summarise(topology)->switches * PORTS_MOST * sizeof(double));
}

/* Zahavi (2012): on a full tree d-mod-k sends a shift of all nodes, i to i + s, without two packets on any
 * link; s-mod-k is the same with the directions turned round. A tree of uneven, but full levels, too. */
static void test_shifts_without_contention(void **state)
{
    static const char *const trees[] = {TREE("radix = 8; levels = 3;"),
                                        TREE("down = [2, 3, 4]; up = [1, 2, 3];")};
    static const char *const algorithms[] = {"d_mod_k", "s_mod_k"};
    for (int i = 0; i < 4; i++) {
        struct route_topology *topology = proof_topology(trees[i / 2], algorithms[i % 2], 1);
        uint32_t nodes = route_summarise(topology)->endpoints,
                 places = route_summarise(topology)->switches * PORTS_MOST;
        for (uint32_t shift = 1; shift < nodes; shift++) {
            struct seen seen = {.load = loads_new(topology)};
            for (uint32_t node = 0; node < nodes; node++)
                hops_walk(topology, node, (node + shift) % nodes, &seen);
            for (uint32_t k = 0; k < places; k++)
                if (seen.load[k] > 1)
                    fail_msg("%s, shift %u: %g packets at switch %u, port %u", algorithms[i % 2], shift,
                             seen.load[k], k / PORTS_MOST, k % PORTS_MOST);
            free(seen.load);
        }
        route_free(topology);
    }
}

/* The chance that numbers as uneven as these come from equal shares. */
static double chance_of(const uint32_t *count, uint32_t cells, uint32_t total)
{
    double chi = 0, expected = (double)total / cells;
    for (uint32_t i = 0; i < cells; i++)
        chi += (count[i] - expected) * (count[i] - expected) / expected;
    return gsl_cdf_chisq_Q(chi, cells - 1);
}

/* The draws of 200,000 packets of one flow, as the net makes them: the paths up from a leaf through both
 * levels, 4 x 4 of them, are taken equally often (all of them, so that the levels are independent, too).
 * Fixed draws: 1 in 1000 is no matter of luck. */
static void test_random_parents_even(void **state)
{
    struct route_topology *topology = proof_topology(TREE("radix = 8; levels = 3;"), "random", 1);
    uint32_t hop[16] = {0}, total = 200000;
    for (uint32_t i = 0; i < total; i++) {
        struct route_packet packet = {.address = route_address(topology, 127),
                                      .destination = 127,
                                      .chance = ker_random_bits(1, 2, 3, i).word[0]};
        struct route_choice leaf, above;
        struct route_peer parent;
        route_function(topology)(topology, route_coordinate(topology, 0), 0, &packet, &leaf);
        route_port(topology, 0, leaf.port, &parent);
        packet.hops = 1;
        packet.in_port = parent.port;
        route_function(topology)(topology, route_coordinate(topology, parent.id), parent.id, &packet, &above);
        assert_true(leaf.port >= 4 && above.port >= 4);
        hop[(leaf.port - 4) * 4 + above.port - 4]++;
    }
    double chance = chance_of(hop, 16, total);
    if (chance < 0.001)
        fail_msg("paths as uneven as these have a chance of %g", chance);
    route_free(topology);
}

/* ---- loads of links: torus ---- */

/* Expected packets on every link when every node sends one to each node: in closed form for dimension order.
 * A path corrects the lower dimensions first, so a line of extent k is entered at the destination's place in
 * these, and the source's in the others: all pairs of places on the line occur N/k times on it. Of these a
 * ring's link carries k^2/8 (odd k: (k^2 - 1)/8) in each direction, an open line's link from i to i + 1 (i +
 * 1)(k - 1 - i). */
static void check_uniform(const char *text, int dimensions, const uint32_t *extent, const bool *wrap)
{
    struct route_topology *topology = proof_topology(text, "minimal", 2);
    uint32_t nodes = route_summarise(topology)->endpoints;
    struct seen seen = {.load = loads_new(topology)};
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++)
            if (a != b)
                hops_walk(topology, a, b, &seen);
    for (uint32_t s = 0; s < nodes; s++)
        for (int i = 0; i < dimensions; i++)
            for (uint32_t backward = 0; backward < 2; backward++) {
                uint32_t k = extent[i], at[8];
                route_coordinates(topology, s, at);
                uint32_t from = backward ? k - 1 - at[i] : at[i]; /* counted in the direction of the link */
                double pairs = wrap[i] ? (k * k - k % 2) / 8.0 : (from + 1.0) * (k - 1.0 - from);
                double load = seen.load[s * PORTS_MOST + 1 + 2 * (uint32_t)i + backward];
                if (fabs(load - pairs * nodes / k) > 1e-9 * nodes * nodes)
                    fail_msg("%s: switch %u, dimension %d: %g, not %g", text, s, i, load, pairs * nodes / k);
            }
    free(seen.load);
    route_free(topology);
}

static void test_dimension_order_uniform(void **state)
{
    check_uniform(TORUS("extents = [6, 4];"), 2, (uint32_t[]){6, 4}, (bool[]){true, true});
    check_uniform(TORUS("extents = [5, 3, 4];"), 3, (uint32_t[]){5, 3, 4}, (bool[]){true, true, true});
    check_uniform(TORUS("extents = [4, 5]; wrap = false;"), 2, (uint32_t[]){4, 5}, (bool[]){false, false});
    check_uniform(TORUS("extents = [5, 4, 3]; wrap = [false, true, false];"), 3, (uint32_t[]){5, 4, 3},
                  (bool[]){false, true, false});
}

/* Tornado on an 8x8 torus: everybody sends 3 places on in both dimensions. Dimension order puts 3 packets on
 * each link forward and none on those backward; Valiant two paths to and from a switch drawn evenly, each 8/8
 * = 1 packet on every link: 2, twice that of uniform traffic, whatever the pattern. Exact, by all draws. */
static void test_valiant_tornado(void **state)
{
    static const struct {
        const char *algorithm;
        double forward, backward;
    } expected[] = {{"minimal", 3, 0}, {"valiant", 2, 2}};
    for (int i = 0; i < 2; i++) {
        struct route_topology *topology =
            proof_topology(TORUS("extents = [8, 8];"), expected[i].algorithm, 4);
        struct seen seen = {.load = loads_new(topology)};
        for (uint32_t s = 0; s < 64; s++)
            hops_walk(topology, s, (s + 3) % 8 + (s / 8 + 3) % 8 * 8, &seen);
        for (uint32_t s = 0; s < 64; s++)
            for (uint32_t port = 1; port < 5; port++)
                assert_true(fabs(seen.load[s * PORTS_MOST + port] -
                                 (port % 2 ? expected[i].forward : expected[i].backward)) < 1e-9);
        free(seen.load);
        route_free(topology);
    }
}

/* Uniform traffic, each node sending one packet in all, shared among all nodes, its own one included: how
 * many links between switches carry what, when the load is split equally over the shortest paths. By
 * independent code. */
static void test_uniform_loads(void **state)
{
    static const struct {
        const char *text;
        struct {
            double load;
            uint32_t links;
        } expected[3];
    } graphs[] = {
        {SLIM("q = 5; nodes_per_switch = 4;"), {{26.0 / 25, 350}}},
        {HYPERX("extents = [4, 4]; nodes_per_switch = 4;"), {{1, 96}}},
        {SLIM("q = 4; nodes_per_switch = 3;"), {{9.0 / 16, 32}, {15.0 / 16, 160}}},
        {FLY("q = 5; nodes_per_switch = 3;"), {{27.0 / 31, 120}, {30.0 / 31, 60}}},
    };
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        struct route_topology *topology = proof_topology(graphs[i].text, "adaptive", 4);
        uint32_t nodes = route_summarise(topology)->endpoints, found[3] = {0}, links = 0, expected = 0;
        struct seen seen = {.load = loads_new(topology)};
        for (uint32_t a = 0; a < nodes; a++)
            for (uint32_t b = 0; b < nodes; b++)
                if (a != b)
                    hops_walk(topology, a, b, &seen);
        for (uint32_t s = 0; s < route_summarise(topology)->switches; s++)
            for (uint32_t port = 0; port < route_ports(topology, s); port++) {
                struct route_peer peer;
                route_port(topology, s, port, &peer);
                for (int k = 0; k < 3 && peer.kind == ROUTE_SWITCH; k++)
                    found[k] +=
                        fabs(seen.load[s * PORTS_MOST + port] / nodes - graphs[i].expected[k].load) < 1e-9;
                links += peer.kind == ROUTE_SWITCH;
            }
        for (int k = 0; k < 3; k++) {
            assert_int_equal(found[k], graphs[i].expected[k].links);
            expected += graphs[i].expected[k].links;
        }
        assert_int_equal(links, expected);
        free(seen.load);
        route_free(topology);
    }
}

/* The same with drawn packets: the intermediates are even. 100,000 packets of one flow; chi squared over the
 * 64 switches. */
static void test_valiant_draws_even(void **state)
{
    struct route_topology *topology = proof_topology(TORUS("extents = [8, 8];"), "valiant", 4);
    uint32_t count[64] = {0}, total = 100000;
    for (uint32_t i = 0; i < total; i++) {
        struct route_packet packet = {.address = route_address(topology, 27),
                                      .destination = 27,
                                      .chance = ker_random_bits(1, 2, 3, i).word[0]};
        struct route_choice choice;
        route_function(topology)(topology, route_coordinate(topology, 0), 0, &packet, &choice);
        count[choice.state]++;
    }
    /* intermediate 0 is the source: straight on, as with the destination 27 itself, which counts both */
    assert_int_equal(count[0], 0);
    uint32_t both = count[27];
    count[0] = both / 2;
    count[27] = both - both / 2;
    double chance = chance_of(count, 64, total);
    if (chance < 0.001)
        fail_msg("intermediates as uneven as these have a chance of %g", chance);
    route_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_path),          cmocka_unit_test(test_large),
        cmocka_unit_test(test_valiant_too_large),   cmocka_unit_test(test_shifts_without_contention),
        cmocka_unit_test(test_random_parents_even), cmocka_unit_test(test_dimension_order_uniform),
        cmocka_unit_test(test_uniform_loads),       cmocka_unit_test(test_valiant_tornado),
        cmocka_unit_test(test_valiant_draws_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
