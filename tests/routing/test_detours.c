/* test_detours.c - routes of the hierarchical topology over third groups, exhaustively on small systems:
 * every pair is reached within the links a detour may have, the channels are those of the textbook, and no
 * cycle of waiting can close. */
#include "tests/refusal.h"
#include "tests/route_walk.h"

#include <stdio.h>

#define GROUPS(more) TOPOLOGY("hierarchical", LINKS more)

struct sample {
    const char *text;
    uint32_t group, by_switch, par, par_by_switch; /* channels needed: via a group, of a switch; PAR */
    uint32_t direct; /* links of the longest direct route, without injection and ejection */
};

/* Dragonfly: a detour by a group has 3 stages (before the first global link, between, after the second), by a
 * switch 4 (it splits "between"), PAR has one more. With 3 "group" levels each stage has the 2 classes of the
 * level below. A level by switch at the top takes one class for each of the two legs. */
static const struct sample samples[] = {
    {GROUPS("groups = [5]; nodes_per_switch = 2;"), 2, 2, 2, 2, 1},
    {GROUPS("groups = [5]; links = 3;"), 2, 2, 2, 2, 1},
    {GROUPS("groups = [1, 4];"), 2, 2, 2, 2, 1}, /* groups of one switch: global links only */
    {GROUPS("groups = [3, 4];"), 3, 4, 4, 5, 3},
    {GROUPS("groups = [4, 9]; nodes_per_switch = 2;"), 3, 4, 4, 5, 3},
    {GROUPS("groups = [3, 4]; links = [1, 5];"), 3, 4, 4, 5, 3},
    {GROUPS("groups = [3, 3]; links = [2, 2];"), 3, 4, 4, 5, 3},
    {GROUPS("groups = [3, 4]; links = [2, 3]; attach = \"switch\";"), 2, 2, 2, 2, 1},
    {GROUPS("groups = [2, 3, 4]; attach = [\"switch\", \"group\"];"), 3, 4, 4, 5, 3},
    {GROUPS("groups = [3, 2, 3]; attach = [\"group\", \"switch\"]; links = [1, 2, 1];"), 2, 2, 2, 2, 3},
    {GROUPS("groups = [2, 3, 4];"), 6, 8, 8, 10, 7},
    {GROUPS("groups = [2, 2, 3]; links = [1, 2, 4];"), 6, 8, 8, 10, 7},
    {GROUPS("groups = [3, 2, 3]; links = [1, 1, 2];"), 6, 8, 8, 10, 7},
};
#define SAMPLES (sizeof samples / sizeof *samples)

static void check(const char *keys, const char *routing, uint32_t needed, uint32_t channels, uint32_t direct,
                  uint32_t most)
{
    static uint32_t random = 4711;
    char text[1024];
    struct ker_error error = {0};
    bool complete = false;
    snprintf(text, sizeof text, "%srouting: { %s };", keys, routing);
    struct route_topology *topology = topology_make(text, channels);
    assert_int_equal(route_summarise(topology)->channels, needed);
    uint32_t nodes = route_summarise(topology)->endpoints;
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++)
            for (int i = 0; i < 8 && a != b; i++)
                assert_in_range(walk_packet(topology, a, b, channels, &random),
                                direct ? route_distance(topology, a, b) : 2, 2 + most);
    if (route_check_deadlock(topology, 100000000, &complete, &error))
        fail_msg("%s\n%s", text, error.text);
    assert_true(complete);
    if (needed > 1) { /* one less is refused */
        struct route_topology *none;
        assert_int_equal(topology_try(&none, text, needed - 1, &error), KER_BAD_INPUT);
        assert_non_null(strstr(error.text, "virtual channels"));
    }
    route_free(topology);
}

/* With just enough channels, and with more that do not divide evenly. A detour is two direct routes at most;
 * PAR may have gone all but one link of a third. */
static void check_both(const struct sample *s, const char *routing, uint32_t needed, uint32_t most)
{
    check(s->text, routing, needed, needed, 0, most);
    check(s->text, routing, needed, 2 * needed + 1, 0, most);
}

static void test_valiant(void **state)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        check_both(s, "algorithm = \"valiant\"; valiant = \"group\";", s->group, 2 * s->direct);
        check_both(s, "algorithm = \"valiant\";", s->by_switch, 2 * s->direct);
        check_both(s, "algorithm = \"valiant\"; valiant = \"any\";", s->by_switch, 2 * s->direct);
    }
}

static void test_indirect(void **state)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        check_both(s, "algorithm = \"indirect\"; valiant = \"group\";", s->group, 2 * s->direct);
        check_both(s, "algorithm = \"indirect\"; via = [1]; indirect = \"adaptive\"; valiant = \"group\";",
                   s->group, 2 * s->direct);
        check_both(
            s, "algorithm = \"indirect\"; indirect = \"adaptive\"; weight = \"links\"; valiant = \"switch\";",
            s->by_switch, 2 * s->direct);
    }
}

static void test_ugal(void **state)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        const struct sample *s = &samples[i];
        check_both(s, "algorithm = \"ugal\"; valiant = \"group\";", s->group, 2 * s->direct);
        check_both(s, "algorithm = \"ugal\"; valiant = \"switch\"; candidates = 3;", s->by_switch,
                   2 * s->direct);
        check_both(s, "algorithm = \"par\"; candidates = 2; valiant = \"group\";", s->par, 3 * s->direct - 1);
        check_both(s, "algorithm = \"par\"; valiant = \"any\"; weight = \"double\";", s->par_by_switch,
                   3 * s->direct - 1);
    }
}

/* Follows a packet with this draw; marks the groups it passes through. Of several choices takes number
 * `choice`. */
static uint64_t groups_passed(const struct route_topology *topology, uint32_t source, uint32_t destination,
                              uint32_t draw, int choice)
{
    struct route_packet packet = {.address = route_address(topology, destination),
                                  .source = source,
                                  .destination = destination,
                                  .chance = draw};
    struct route_peer peer;
    uint32_t at;
    uint64_t passed = 0;
    route_attachment(topology, source, &at, &packet.in_port);
    for (;; packet.hops++) {
        struct route_choice choices[ROUTE_MAX_CHOICES];
        int count = route_function(topology)(topology, route_coordinate(topology, at), at, &packet, choices);
        const struct route_choice *c = &choices[choice < count ? choice : 0];
        passed |= 1ull << route_group(topology, at);
        route_port(topology, at, c->port, &peer);
        if (peer.kind == ROUTE_ENDPOINT)
            return passed;
        at = peer.id;
        packet.in_port = peer.port;
        packet.in_channel = c->channel;
        packet.state = c->state;
    }
}

/* Of the five racks of the MARS study, the racks round after the destination serve as detours; the direct
 * path and each of them carry the same share: of 8,000 packets 8000 / (1 + detours) each, standard deviation
 * below 45. */
static void test_indirect_racks(void **state)
{
    static const struct {
        uint32_t from, to;
        const char *more;
        int detours;
        uint64_t by[3]; /* group number of each detour */
    } cases[] = {
        {0, 1, "detours = 1;", 1, {2}},     {0, 1, "detours = 3;", 3, {2, 3, 4}},
        {1, 0, "detours = 2;", 2, {2, 3}},  {2, 4, "detours = 2;", 2, {0, 1}},
        {0, 4, "detours = 2;", 2, {1, 2}},  {4, 2, "detours = 3;", 3, {3, 0, 1}},
        {0, 1, "via = [4, 1, 3];", 1, {3}}, {0, 3, "via = [4, 1, 3]; detours = 3;", 2, {4, 1}},
        {3, 4, "via = [3, 4];", 0, {0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        uint32_t seen[32] = {0}, random = 99;
        snprintf(text, sizeof text,
                 GROUPS("groups = [2, 4, 5];") "routing: { algorithm = \"indirect\"; %s };", cases[i].more);
        struct route_topology *topology = topology_make(text, 8);
        for (int k = 0; k < 8000; k++) {
            uint64_t passed =
                groups_passed(topology, cases[i].from * 8 + 1, cases[i].to * 8 + 6, test_random(&random), 0);
            seen[passed]++;
        }
        uint64_t direct = 1ull << cases[i].from | 1ull << cases[i].to;
        int share = 8000 / (1 + cases[i].detours);
        assert_in_range(seen[direct], share - 200, share + 200);
        for (int k = 0; k < cases[i].detours; k++)
            assert_in_range(seen[direct | 1ull << cases[i].by[k]], share - 200, share + 200);
        route_free(topology);
    }
}

/* Choice 0 of UGAL is the direct path, the others go by third groups, each as often: 9 groups, 7 third ones,
 * 7,000 packets, 1,000 each, standard deviation 29. */
static void test_third_groups_even(void **state)
{
    struct route_topology *topology =
        topology_make(GROUPS("groups = [4, 9];") "routing: { algorithm = \"ugal\"; candidates = 2; };", 4);
    uint32_t random = 5, seen[9] = {0};
    for (int k = 0; k < 7000; k++) {
        uint32_t draw = test_random(&random);
        uint64_t ends = 1ull << 2 | 1ull << 7;
        assert_int_equal(groups_passed(topology, 2 * 4 + 3, 7 * 4, draw, 0), ends);
        uint64_t passed = groups_passed(topology, 2 * 4 + 3, 7 * 4, draw, 1 + k % 2);
        assert_int_equal(__builtin_popcountll(passed), 3);
        assert_int_equal(passed & ends, ends);
        seen[__builtin_ctzll(passed & ~ends)]++;
    }
    for (uint32_t g = 0; g < 9; g++)
        if (g != 2 && g != 7)
            assert_in_range(seen[g], 850, 1150);
    route_free(topology);
}

/* The weights are the links to go. On 4 switches per group and 9 groups with links dealt to switch (d mod 4)
 * for the group d + 1 places on, the path from switch s to switch t in that group is [s is not d mod 4] + 1 +
 * [t is not (7 - d) mod 4]. */
static void test_weights(void **state)
{
    struct route_topology *topology = topology_make(
        GROUPS("groups = [4, 9];") "routing: { algorithm = \"ugal\"; valiant = \"group\"; };", 3);
    for (uint32_t a = 0; a < 36; a++)
        for (uint32_t b = 0; b < 36; b++) {
            struct route_packet packet = {.address = route_address(topology, b),
                                          .source = a,
                                          .destination = b,
                                          .chance = a * 1000003u + b};
            struct route_choice choices[ROUTE_MAX_CHOICES];
            if (a / 4 == b / 4)
                continue;
            uint32_t ahead = (b / 4 + 9 - a / 4) % 9 - 1;
            int count =
                route_function(topology)(topology, route_coordinate(topology, a), a, &packet, choices);
            assert_int_equal(count, 2);
            assert_int_equal(choices[0].weight, (a % 4 != ahead % 4) + 1 + (b % 4 != (7 - ahead) % 4));
            assert_int_equal(choices[0].flags, 0);
            assert_int_equal(choices[1].flags, ROUTE_DETOUR);
            assert_in_range(choices[1].weight, 2, 5); /* local, global, local, global, local */
        }
    route_free(topology);
}

static void test_bad_input(void **state)
{
    static const char *const bad[][3] = {
        {GROUPS("groups = [4, 2];"), "algorithm = \"valiant\";", "needs a third group"},
        {GROUPS("groups = [4, 5];"), "algorithm = \"indirect\"; detours = 4;",
         "source and destination are only 3"},
        {GROUPS("groups = [4, 5];"), "algorithm = \"indirect\"; via = [1, 5];",
         "names rack 5; they are 0 to 4"},
        {GROUPS("groups = [4, 5];"), "algorithm = \"indirect\"; via = [1, 3, 1];", "names rack 1 twice"},
        {GROUPS("groups = [4, 5];"), "algorithm = \"indirect\"; via = [1]; detours = 2;",
         "routing.via names only 1"},
        {GROUPS("groups = [64, 64, 512]; attach = [\"group\", \"group\"]; links = [1, 1, 64];"),
         "algorithm = \"ugal\"; valiant = \"switch\";", "takes fewer"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[512];
        struct route_topology *topology;
        struct ker_error error;
        snprintf(text, sizeof text, "%srouting: { %s };", bad[i][0], bad[i][1]);
        assert_refused(topology_try(&topology, text, 8, &error), &error, bad[i][2]);
    }
}

/* By switch every way is offered over all links in parallel, as far as there is room: each choice a port of
 * its own, to the same switch as its neighbours of the same way. */
static void test_parallel_by_switch(void **state)
{
    static const struct {
        const char *links, *candidates;
        int hops, each;
    } cases[] = {{"links = 3;", "candidates = 1;", 2, 3},
                 {"links = 40;", "candidates = 2;", 3, 21},
                 {"links = 5;", "candidates = 8;", 9, 5}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        snprintf(text, sizeof text, GROUPS("groups = [200]; %s") "routing: { algorithm = \"ugal\"; %s };",
                 cases[i].links, cases[i].candidates);
        struct route_topology *topology = topology_make(text, 2);
        struct route_packet packet = {
            .address = route_address(topology, 7), .source = 2, .destination = 7, .chance = 12345};
        struct route_choice c[ROUTE_MAX_CHOICES];
        assert_int_equal(route_function(topology)(topology, route_coordinate(topology, 2), 2, &packet, c),
                         cases[i].hops * cases[i].each);
        for (int k = 0; k < cases[i].hops * cases[i].each; k++) {
            struct route_peer peer, first;
            route_port(topology, 2, c[k].port, &peer);
            route_port(topology, 2, c[k - k % cases[i].each].port, &first);
            assert_int_equal(peer.id, first.id);
            assert_int_equal(peer.id == 7, k < cases[i].each);
            assert_int_equal(c[k].flags, k < cases[i].each ? 0 : ROUTE_DETOUR);
            for (int other = k - k % cases[i].each; other < k; other++)
                assert_int_not_equal(c[k].port, c[other].port);
        }
        route_free(topology);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valiant),
        cmocka_unit_test(test_indirect),
        cmocka_unit_test(test_ugal),
        cmocka_unit_test(test_indirect_racks),
        cmocka_unit_test(test_third_groups_even),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_parallel_by_switch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
