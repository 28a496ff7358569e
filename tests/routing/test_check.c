/* test_check.c - the proof of freedom from deadlock: cycles are found and told, their absence is proved, on
 * hand-made routes whose answer is known and on random ones against a brute force that follows every single
 * packet. */
#include "tests/route_walk.h"

#include "routing/proof/check.h"
#include "routing/tables/make.h"

#include <stdio.h>
#include <time.h>

#define TORUS(more) TOPOLOGY("torus", LINKS more)

/* Random routes on a network: for each switch, destination and class a few paths, drawn from a seed. They
 * need not lead anywhere in few hops: a dependency graph does not mind. */
static struct {
    uint32_t seed, classes, hops;
    bool escapes, by_source, by_hops;
} fake;

static uint32_t fake_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    return route_mix(route_mix(route_mix(route_mix(fake.seed, a + 1), b + 1), c + 1), d + 1);
}

/* Closer by one link of a shortest path, in a class that is a function of here, there, the state, and what
 * else is asked for. */
static int fake_next(const struct route_topology *topology, uint64_t here, uint32_t switch_id,
                     const struct route_packet *packet, struct route_choice *choices)
{
    uint32_t to;
    uint16_t port;
    int count = 0;
    route_attachment(topology, packet->destination, &to, &port);
    if (to == switch_id) {
        *choices = (struct route_choice){.port = port};
        return 1;
    }
    uint32_t extra = (fake.by_source ? packet->source * 7 : 0) + (fake.by_hops ? packet->hops * 131u : 0);
    uint32_t left =
        topology->kind->hops(topology, topology->summary.endpoints > 0 ? switch_id : 0, packet->destination);
    for (uint32_t p = 0; p < route_ports(topology, switch_id) && count < (int)fake.hops; p++) {
        struct route_peer peer;
        route_port(topology, switch_id, p, &peer);
        if (peer.kind != ROUTE_SWITCH ||
            (peer.id != to && topology->kind->hops(topology, peer.id, packet->destination) + 1 != left))
            continue;
        uint32_t bits = fake_bits(switch_id, to + extra, p, packet->state);
        choices[count++] = (struct route_choice){
            .port = (uint16_t)p, .channel = (uint8_t)(bits % fake.classes), .state = bits >> 20 & 1};
    }
    if (fake.escapes)
        choices[count - 1].flags = ROUTE_ESCAPE;
    return count;
}

/* ---- brute force: every packet from every source by every choice, recursively; edges in a matrix, closed
 * transitively ---- */

static struct {
    const struct route_topology *topology;
    uint32_t first[64], channels, count;
    bool *edge;
} brute;

static void brute_packet(uint32_t at, struct route_packet packet, uint32_t held)
{
    struct route_choice choices[ROUTE_MAX_CHOICES];
    int count = brute.topology->algorithm->next(brute.topology, route_coordinate(brute.topology, at), at,
                                                &packet, choices);
    bool escape = false;
    for (int i = 0; i < count; i++)
        escape |= choices[i].flags & ROUTE_ESCAPE;
    for (int i = 0; i < count; i++) {
        struct route_peer peer;
        route_port(brute.topology, at, choices[i].port, &peer);
        if (peer.kind == ROUTE_ENDPOINT)
            continue;
        uint32_t channel = (brute.first[peer.id] + peer.port) * brute.channels + choices[i].channel;
        if (held != UINT32_MAX && (!escape || choices[i].flags & ROUTE_ESCAPE))
            brute.edge[held * brute.count + channel] = true;
        struct route_packet next = packet;
        next.in_port = peer.port;
        next.in_channel = choices[i].channel;
        next.state = choices[i].state;
        next.hops++;
        brute_packet(peer.id, next, channel);
    }
}

static bool brute_cyclic(const struct route_topology *topology)
{
    uint32_t rows = 0, nodes = topology->summary.endpoints;
    brute.topology = topology;
    brute.channels = topology->channels;
    for (uint32_t s = 0; s < topology->summary.switches; s++) {
        brute.first[s] = rows;
        rows += route_ports(topology, s);
    }
    brute.count = rows * topology->channels;
    brute.edge = calloc((size_t)brute.count * brute.count, sizeof *brute.edge);
    for (uint32_t a = 0; a < nodes; a++)
        for (uint32_t b = 0; b < nodes; b++) {
            struct route_packet packet = {
                .address = route_address(topology, b), .source = a, .destination = b};
            uint32_t at;
            route_attachment(topology, a, &at, &packet.in_port);
            if (a != b)
                brute_packet(at, packet, UINT32_MAX);
        }
    bool cyclic = false;
    for (uint32_t k = 0; k < brute.count; k++)
        for (uint32_t i = 0; i < brute.count; i++)
            for (uint32_t j = 0; brute.edge[i * brute.count + k] && j < brute.count; j++)
                brute.edge[i * brute.count + j] |= brute.edge[k * brute.count + j];
    for (uint32_t i = 0; i < brute.count; i++)
        cyclic |= brute.edge[i * brute.count + i];
    free(brute.edge);
    return cyclic;
}

/* The algorithm does not say that it looks at source or hops: the check has to find out. */
static void test_against_brute_force(void **state)
{
    static const char *const text[] = {TORUS("extents = [5];"), TORUS("extents = [3, 4];"),
                                       TORUS("extents = [3, 3]; wrap = false;"),
                                       TORUS("extents = [4]; parallel = 2;"), TORUS("extents = [2, 2, 2];")};
    uint32_t random = 4711, found[2] = {0};
    for (int i = 0; i < 400; i++) {
        struct route_topology *topology = topology_make(text[i % 5], 3);
        struct route_algorithm algorithm = {.next = fake_next};
        struct route_proof proof;
        struct ker_error error = {0};
        topology->algorithm = &algorithm;
        fake.seed = test_random(&random);
        fake.classes = 1 + test_random(&random) % 3;
        fake.hops = 1 + test_random(&random) % 2;
        fake.escapes = test_random(&random) % 2;
        fake.by_source = test_random(&random) % 4 == 0;
        fake.by_hops = test_random(&random) % 4 == 0;
        algorithm.by_source = fake.by_source && test_random(&random) % 2;
        algorithm.by_hops = fake.by_hops && test_random(&random) % 2;
        bool cyclic = brute_cyclic(topology);
        enum ker_status status = route_prove(topology, UINT64_MAX, &proof, &error);
        if (status != (cyclic ? KER_BAD_INPUT : KER_OK))
            fail_msg("case %d: status %d, the brute force says %s\n%s", i, status, cyclic ? "cyclic" : "free",
                     error.text);
        assert_true(cyclic ? proof.cycle > 0 : proof.complete && proof.walked == proof.destinations);
        found[cyclic]++;
        route_free(topology);
    }
    assert_true(found[0] > 40 && found[1] > 40); /* both kinds came up */
}

/* ---- the text ---- */

/* A ring of 5 where all go forward in one class: the cycle is the ring. With the escape one path and adaptive
 * channels beside it the same. */
static int forward_next(const struct route_topology *topology, uint64_t here, uint32_t switch_id,
                        const struct route_packet *packet, struct route_choice *choices)
{
    if (switch_id == packet->destination)
        return route_eject(topology, packet, 0, choices);
    choices[0] = (struct route_choice){.port = 1, .channel = 1};
    choices[1] = (struct route_choice){.port = 1, .channel = 0, .flags = ROUTE_ESCAPE};
    return 2;
}

static void test_cycle_in_words(void **state)
{
    struct route_topology *topology = topology_make(TORUS("extents = [5];"), 2);
    struct route_algorithm algorithm = {.next = forward_next, .by_switch = true};
    struct route_proof proof;
    struct ker_error error = {0};
    topology->algorithm = &algorithm;
    assert_int_equal(route_prove(topology, UINT64_MAX, &proof, &error), KER_BAD_INPUT);
    assert_int_equal(proof.cycle, 5);
    assert_non_null(
        strstr(error.text, "\"minimal\" routing on this torus can deadlock: packets in 5 channels"));
    for (int i = 0; i < 5; i++) {
        char part[80];
        snprintf(part, sizeof part, "switch %d port 1 (x link to switch %d) channel 0, in transit to node", i,
                 (i + 1) % 5);
        assert_non_null(strstr(error.text, part));
    }
    assert_null(strstr(error.text, "channel 1"));
    route_free(topology);
}

/* Random graphs of edges: a shortest cycle is found when there is one, and each of its edges is there. */
static void test_cycles(void **state)
{
    uint32_t random = 99, cyclic = 0;
    for (int i = 0; i < 500; i++) {
        struct route_dependencies set = {0};
        uint32_t nodes = 3 + test_random(&random) % 20, edges = test_random(&random) % (2 * nodes);
        bool there[32][32] = {{false}};
        uint32_t far[32][32];
        for (uint32_t e = 0; e < edges; e++) {
            uint32_t a = test_random(&random) % nodes, b = test_random(&random) % nodes;
            there[a][b] = true;
            route_dependencies_add_example(&set, a * 1000, b * 1000, a + b);
        }
        for (uint32_t a = 0; a < nodes; a++)
            for (uint32_t b = 0; b < nodes; b++)
                far[a][b] = there[a][b] ? 1 : 1000;
        for (uint32_t k = 0; k < nodes; k++)
            for (uint32_t a = 0; a < nodes; a++)
                for (uint32_t b = 0; b < nodes; b++)
                    if (far[a][k] + far[k][b] < far[a][b])
                        far[a][b] = far[a][k] + far[k][b];
        uint32_t shortest = 1000;
        for (uint32_t a = 0; a < nodes; a++)
            shortest = far[a][a] < shortest ? far[a][a] : shortest;
        struct route_cycle cycle = route_dependencies_cycle(&set, nodes * 1000);
        assert_int_equal(cycle.length, shortest == 1000 ? 0 : shortest);
        for (uint32_t k = 0; k < cycle.length; k++) {
            uint32_t a = cycle.channel[k] / 1000, b = cycle.channel[(k + 1) % cycle.length] / 1000;
            assert_true(there[a][b]);
            assert_int_equal(route_dependencies_example(&set, a * 1000, b * 1000), a + b);
        }
        cyclic += cycle.length > 0;
        free(cycle.channel);
        route_dependencies_release(&set);
    }
    assert_in_range(cyclic, 100, 450);
}

/* ---- what algorithms say of themselves, and budgets ---- */

static const char *const samples[] = {
    TORUS("extents = [4, 5]; nodes_per_switch = 2;"),
    TORUS("extents = [4, 5]; nodes_per_switch = 3;") "routing: {algorithm = \"adaptive\";};",
    TORUS("extents = [3, 4]; nodes_per_switch = 2;") "routing: {algorithm = \"valiant\";};",
    TOPOLOGY("fat_tree", LINKS "down = [3, 4, 3]; up = [1, 3, 2];"),
    TOPOLOGY("fat_tree", LINKS "down = [3, 4, 3]; up = [1, 3, 2];") "routing: {algorithm = \"s_mod_k\";};",
    TOPOLOGY("fat_tree", LINKS "down = [3, 4, 3]; up = [1, 3, 2];") "routing: {algorithm = \"random\";};",
    TOPOLOGY("fat_tree", LINKS "down = [3, 4, 3]; up = [1, 3, 2];") "routing: {algorithm = \"adaptive\";};",
    TOPOLOGY("hierarchical", LINKS "groups = [4, 5]; nodes_per_switch = 2;"),
    TOPOLOGY("hierarchical",
             LINKS "groups = [4, 5]; nodes_per_switch = 2;") "routing: {algorithm = \"valiant\";};",
    TOPOLOGY("hierarchical", LINKS
             "groups = [2, 2, 4];") "routing: {algorithm = \"indirect\"; detours = 2; valiant = \"group\";};",
    TOPOLOGY("hierarchical", LINKS
             "groups = [4, 5]; links = [1, 2];") "routing: {algorithm = \"ugal\"; valiant = \"switch\";};",
    TOPOLOGY("hierarchical",
             LINKS "groups = [4, 5]; nodes_per_switch = 2;") "routing: {algorithm = \"par\";};",
    TOPOLOGY("star", LINKS "nodes = 5;"),
    TORUS("extents = [4, 5]; nodes_per_switch = 3;") "routing: {algorithm = \"shortest\";};",
    TORUS("extents = [4, 5]; nodes_per_switch = 3;") "routing: {algorithm = \"shortest\"; paths = \"one\";};",
    TORUS("extents = [4, 5]; nodes_per_switch = 3;") "routing: {algorithm = \"layered\";};",
    TOPOLOGY("fat_tree",
             LINKS "down = [3,4,3]; up = [1,3,2];") "routing: {algorithm = \"updown\"; paths = \"one\";};",
    TOPOLOGY("hierarchical",
             LINKS "groups = [4, 5]; nodes_per_switch = 2;") "routing: {algorithm = \"updown\";};",
    /* more than 2 MiB of dependencies */
    TOPOLOGY("hierarchical", LINKS "groups = [90];") "routing: {algorithm = \"layered\";};",
};
#define SAMPLES (sizeof samples / sizeof *samples)

/* Shortcuts (by_switch, away, alike) change the work: without them the same dependencies come out, but that
 * away may add some that no packet has, and never loses any. */
static void test_shortcuts(void **state)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        struct route_topology *topology = topology_make(samples[i], 12);
        struct route_algorithm plain = *topology->algorithm;
        bool away = plain.away != NULL;
        struct route_proof quick, slow;
        struct ker_error error = {0};
        if (route_prove(topology, UINT64_MAX, &quick, &error))
            fail_msg("%s\n%s", samples[i], error.text);
        plain.by_switch = false;
        plain.away = NULL;
        plain.alike = NULL;
        plain.by_source = plain.by_hops = true;
        topology->algorithm = &plain;
        if (route_prove(topology, UINT64_MAX, &slow, &error))
            fail_msg("%s\n%s", samples[i], error.text);
        assert_true(quick.complete && slow.complete && quick.work <= slow.work);
        if (quick.channels != slow.channels || quick.dependencies < slow.dependencies ||
            (!away && quick.dependencies != slow.dependencies))
            fail_msg("%s\n%lu dependencies of %lu channels, without shortcuts %lu of %lu", samples[i],
                     quick.dependencies, quick.channels, slow.dependencies, slow.channels);
        route_free(topology);
    }
}

/* Tables at random: of the ports that lead nearer any, all in class 0, or in layers drawn for every pair, or
 * in classes that count hops; some of the first two circle. */
static struct route_table *table_draw(const struct route_topology *topology, uint8_t class, uint32_t most,
                                      uint32_t *random)
{
    const struct route_summary *sum = route_summarise(topology);
    struct route_table *table = route_table_new(sum->switches, sum->endpoints);
    uint32_t *set = ker_alloc(sum->endpoints * sizeof *set),
             *layer = ker_alloc(sum->endpoints * sizeof *layer);
    for (uint32_t at = 0; at < sum->switches; at++) {
        for (uint32_t to = 0; to < sum->endpoints; to++) {
            struct route_hop hop[ROUTE_MAX_CHOICES];
            uint32_t own, count = 0, left = topology->kind->hops(topology, at, to);
            uint16_t port;
            route_attachment(topology, to, &own, &port);
            if (own == at)
                hop[count++] = (struct route_hop){port, ROUTE_TABLE_ANY, 0};
            for (uint32_t p = 0; own != at && p < route_ports(topology, at) && count < most; p++) {
                struct route_peer peer;
                route_port(topology, at, p, &peer);
                if (peer.kind == ROUTE_SWITCH && topology->kind->hops(topology, peer.id, to) < left &&
                    test_random(random) % 2)
                    hop[count++] = (struct route_hop){(uint16_t)p, class, 0};
            }
            set[to] = route_table_set_of(table, hop, count);
            layer[to] = test_random(random) % 3;
        }
        route_table_row(table, at, set);
        if (class == ROUTE_TABLE_LAYER)
            route_table_layer_row(table, at, layer);
    }
    free(set);
    free(layer);
    table->classes = class == ROUTE_TABLE_LAYER ? 3 : class == ROUTE_TABLE_HOPS ? 12 : 1;
    route_table_finish(table);
    route_table_tune(table, topology->channels);
    return table;
}

/* Tables are proved 64 destinations at a time; asked for every packet they have the same dependencies, or the
 * same cycle. */
static void test_tables(void **state)
{
    static const char *const text[] = {
        TORUS("extents = [5];"), TORUS("extents = [3, 4]; nodes_per_switch = 2;"),
        TORUS("extents = [3, 3]; wrap = false;"), TORUS("extents = [4]; parallel = 2;"),
        TORUS("extents = [5, 5, 3]; wrap = false; nodes_per_switch = 2;")};
    uint32_t random = 2027, found[2] = {0};
    for (int i = 0; i < 300; i++) {
        static const uint8_t classes[] = {0, ROUTE_TABLE_LAYER, ROUTE_TABLE_HOPS};
        struct route_topology *topology = topology_make(text[i % 5], 12);
        struct route_algorithm quick = {.by_table = true, .next = route_table_next}, slow = quick;
        struct route_proof proof[2];
        struct ker_error error[2] = {{0}};
        slow.by_source = slow.by_hops = true;
        topology->table = table_draw(topology, classes[i / 5 % 3], 1 + i / 15 % 2, &random);
        topology->algorithm = &quick;
        enum ker_status status = route_prove(topology, UINT64_MAX, &proof[0], &error[0]);
        topology->algorithm = &slow;
        assert_int_equal(route_prove(topology, UINT64_MAX, &proof[1], &error[1]), status);
        assert_string_equal(error[0].text, error[1].text);
        assert_true(status != KER_OK || (proof[0].complete && proof[0].work < proof[1].work));
        assert_int_equal(proof[0].channels, proof[1].channels);
        assert_int_equal(proof[0].dependencies, proof[1].dependencies);
        assert_int_equal(proof[0].cycle, proof[1].cycle);
        found[status != KER_OK]++;
        route_free(topology);
    }
    assert_true(found[0] > 40 && found[1] > 40);
}

/* What is not done is said. */
static void test_budget(void **state)
{
    struct route_topology *topology = topology_make(TORUS("extents = [16, 16];"), 4);
    struct route_proof proof;
    struct ker_error error = {0};
    assert_int_equal(route_prove(topology, 20000, &proof, &error), KER_OK);
    assert_true(!proof.complete && proof.walked > 0 && proof.walked < 256 && proof.destinations == 256 &&
                proof.work < 21000);
    assert_int_equal(route_prove(topology, 100, &proof, &error), KER_OK);
    assert_true(!proof.complete && proof.walked == 0);
    route_free(topology);
}

/* A thousand nodes take seconds; a million stop at the budget. */
static void test_speed(void **state)
{
    struct route_topology *topology = topology_make(TORUS("extents = [10, 10, 10];"), 4);
    struct route_proof proof;
    struct ker_error error = {0};
    clock_t began = clock();
    assert_int_equal(route_prove(topology, UINT64_MAX, &proof, &error), KER_OK);
    assert_true(proof.complete);
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 60); /* 0.6 s, and much more with sanitizers */
    route_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_cycle_in_words),
        cmocka_unit_test(test_cycles),
        cmocka_unit_test(test_shortcuts),
        cmocka_unit_test(test_tables),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
