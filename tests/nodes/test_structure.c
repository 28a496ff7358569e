/* The structure of a node: who is where by default and by keys, and what is refused. */
#include "nodes/nodes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* node.cores and the structure alone: what the other keys belong to is not there. */
static enum ker_status parse(struct ker_config **config, const char *text, struct ker_error *error)
{
    static const struct ker_kind packet = {"packet", "x", .traits = "nodes links dma"},
                                 loggops = {"loggops", "x"};
    static const struct ker_kind *const kinds[] = {&packet, &loggops, NULL};
    static const struct ker_kinds models = {"network.model", "models", 0, kinds};
    static const struct ker_option others[] = {
        {.key = "jobs[].name", .type = KER_TYPE_STRING, .meaning = "x"},
        {.key = "traffic.outstanding", .type = KER_TYPE_INT, .fallback = "0", .meaning = "x"},
        {.key = "services[].name", .type = KER_TYPE_STRING, .meaning = "x"},
        {.key = "network.model",
         .type = KER_TYPE_CHOICE,
         .fallback = "packet",
         .kinds = &models,
         .meaning = "x"},
        {.key = "node.adapters", .type = KER_TYPE_INT, .fallback = "2", .meaning = "x"},
        {0}};
    const struct ker_option *const tables[] = {
        others, node_options, node_structure_options, node_kind_options, node_rate_options, NULL};
    char *whole = ker_format("jobs = ( { name = \"a\"; } );\n%s%s%s", strchr(text, '{') ? "" : "node: { ",
                             text, strchr(text, '{') ? "" : " };\n");
    *error = (struct ker_error){0};
    enum ker_status status = ker_config_parse(config, "test.cfg", whole, NULL, 0, tables, error);
    free(whole);
    return status;
}

static void make(struct node_structure *s, const char *text, uint32_t adapters)
{
    struct ker_config *config;
    struct ker_error error;
    if (parse(&config, text, &error) || node_structure_read(s, config, "node", adapters, &error))
        fail_msg("%s: %s", text, error.text);
    ker_config_free(config);
}

static void refused(const char *text, uint32_t adapters, const char *why)
{
    struct ker_config *config;
    struct ker_error error;
    struct node_structure s;
    enum ker_status status = parse(&config, text, &error);
    if (!status) {
        status = node_structure_read(&s, config, "node", adapters, &error);
        node_structure_release(&s);
        ker_config_free(config);
    }
    assert_int_equal(status, KER_BAD_INPUT);
    if (!strstr(error.text, why) || !strstr(error.text, "test.cfg:2"))
        fail_msg("%s", error.text);
}

static void test_plain(void **state)
{
    struct node_structure plain;
    make(&plain, "cores = 7;", 3);
    assert_int_equal(plain.units, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(plain.unit_core[i], i);
        assert_int_equal(node_unit_domain(&plain, i), 0);
        assert_int_equal(plain.core[i].speed, NODE_SPEED);
        assert_int_equal(node_thread_speed(&plain, i, 1), NODE_SPEED);
    }
    assert_int_equal(node_adapter_socket(&plain, 2), 0);
    node_structure_release(&plain);
}

/* 2 sockets of 2 domains of 3 cores of 2 threads, 2 buses a socket. Domain of core c: c x 4 / 12 = c / 3;
 * socket of domain d: d / 2. Unit 17 is the second thread of core 5, in domain 1. */
static void test_sockets(void **state)
{
    struct node_structure s;
    make(&s, "sockets = 2; domains = 4; cores = 12; threads = 2; buses = 2;", 6);
    assert_int_equal(s.units, 24);
    for (uint32_t u = 0; u < 24; u++) {
        assert_int_equal(s.unit_core[u], u % 12);
        assert_int_equal(node_unit_domain(&s, u), u % 12 / 3);
        assert_int_equal(node_unit_socket(&s, u), u % 12 / 6);
    }
    assert_int_equal(node_domain_distance(&s, 2, 2), NODE_SAME_DOMAIN);
    assert_int_equal(node_domain_distance(&s, 2, 3), NODE_SAME_SOCKET);
    assert_int_equal(node_domain_distance(&s, 1, 2), NODE_OTHER_SOCKET);
    /* Adapters 0 to 2 on socket 0, with its buses 0, 1 in turn; 3 to 5 on socket 1, with 2 and 3. */
    static const uint16_t bus[] = {0, 1, 0, 2, 3, 2};
    assert_memory_equal(s.adapter_bus, bus, sizeof bus);
    assert_int_equal(node_adapter_socket(&s, 2), 0);
    assert_int_equal(node_adapter_socket(&s, 3), 1);
    node_structure_release(&s);
    make(&s, "sockets = 3; cores = 5; adapter_sockets = [2, 0];", 2);
    assert_int_equal(s.domains, 3); /* one for each socket; cores 0, 1 on it, 2, 3 on the next: c x 3 / 5 */
    assert_int_equal(s.core[1].domain, 0);
    assert_int_equal(s.core[2].domain, 1);
    assert_int_equal(s.core[4].domain, 2);
    assert_int_equal(node_adapter_socket(&s, 0), 2);
    assert_int_equal(node_adapter_socket(&s, 1), 0);
    node_structure_release(&s);
}

/* 4 threads that do 1.6 together: two do 1 + 0.6 / 3 = 1.2, three 1.4. On a core of half the speed half of
 * it. */
static void test_speeds(void **state)
{
    struct node_structure s;
    make(&s, "cores = 4; threads = 4; thread_throughput = 1.6; core_speeds = [1.0, 0.5];", 1);
    assert_int_equal(s.core[1].speed, 1000000);
    assert_int_equal(s.core[2].speed, 500000);
    assert_int_equal(node_thread_speed(&s, 0, 1), 1000000);
    assert_int_equal(node_thread_speed(&s, 0, 2), 600000);
    assert_int_equal(node_thread_speed(&s, 0, 3), 466666);
    assert_int_equal(node_thread_speed(&s, 0, 4), 400000);
    assert_int_equal(node_thread_speed(&s, 3, 4), 200000);
    node_structure_release(&s);
    make(&s, "cores = 3; core_speeds = [0.001, 1.5, 1000.0]; threads = 2; thread_throughput = 0.001;", 1);
    assert_int_equal(s.core[0].speed, 1000);
    assert_int_equal(s.core[2].speed, 1000000000);
    assert_int_equal(node_thread_speed(&s, 0, 2), 1); /* never 0 */
    node_structure_release(&s);
}

static void test_limits(void **state)
{
    struct node_structure s;
    make(&s, "sockets = 1024; cores = 65000; adapter_sockets = [1023];", 1);
    assert_int_equal(s.core[64999].domain, 1023);
    assert_int_equal(node_adapter_socket(&s, 0), 1023);
    node_structure_release(&s);
    refused("cores = 65000; threads = 2;", 1,
            "node.threads: 65000 cores of 2 threads: at most 65000 threads");
    refused("cores = 4; sockets = 1025;", 1, "node.sockets");
    refused("cores = 4; sockets = 1024; domains = 1024; buses = 2;", 1,
            "node.cores: 4 cores in 1024 NUMA domains: each domain has one at least");
    refused("cores = 2000; sockets = 1024; buses = 2;", 1, "node.buses: makes 2048 buses; at most 1024");
    refused("cores = 4; sockets = 2; domains = 1;", 1,
            "node.domains: 1 NUMA domains on 2 sockets: each socket has one at least");
    refused("cores = 4; sockets = 2; adapter_sockets = [0, 2];", 2,
            "node.adapter_sockets: adapter 1 on socket 2: the node has the sockets 0 to 1");
    refused("cores = 4; adapter_sockets = [0];", 2,
            "node.adapter_sockets: 1 value, but such a node has 2 adapters: give the socket of each");
    refused("cores = 4; core_speeds = [1.0, 1.0, 1.0];", 1, "node.core_speeds: 3 values for 4 cores");
    refused("cores = 4; core_speeds = [0.0];", 1, "node.core_speeds");
}

/* In which order tasks take units, and the nearest adapters. 2 sockets of 2 domains of 2 cores of 2 threads.
 */
static void test_order(void **state)
{
    static const uint16_t by_core[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                          by_domain[] = {0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15},
                          by_socket[] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
    struct node_structure s;
    make(&s, "cores = 8; sockets = 2; domains = 4; threads = 2;", 1);
    assert_memory_equal(s.seat_unit, by_core, sizeof by_core);
    node_structure_release(&s);
    make(&s, "cores = 8; sockets = 2; domains = 4; threads = 2; map_by = \"domain\";", 1);
    assert_memory_equal(s.seat_unit, by_domain, sizeof by_domain);
    node_structure_release(&s);
    make(&s, "cores = 8; sockets = 2; domains = 4; threads = 2; map_by = \"socket\";", 1);
    assert_memory_equal(s.seat_unit, by_socket, sizeof by_socket);
    node_structure_release(&s);
    /* 5 cores on 2 sockets: 0 to 2, then 3 and 4; socket 1 runs out first. */
    static const uint16_t odd[] = {0, 3, 1, 4, 2};
    make(&s, "cores = 5; sockets = 2; map_by = \"socket\";", 1);
    assert_memory_equal(s.seat_unit, odd, sizeof odd);
    node_structure_release(&s);
}

static void near(const char *text, uint32_t adapters, const uint16_t *adapter, uint64_t nearest)
{
    struct node_structure s;
    make(&s, text, adapters);
    for (uint32_t i = 0; i < s.cores; i++)
        assert_int_equal(s.core[i].adapter, adapter[i]);
    assert_int_equal(s.nearest, nearest);
    node_structure_release(&s);
}

static void test_nearest(void **state)
{
    static const uint16_t one[] = {0, 0, 0, 0}, two[] = {0, 0, 1, 1}, crossed[] = {1, 1, 0, 0},
                          few[] = {0, 2};
    near("cores = 4;", 1, one, 1);
    near("cores = 4;", 2, two, 3); /* one socket: both are near, and each has half of the cores */
    near("cores = 4; sockets = 2;", 2, two, 3);
    near("cores = 4; sockets = 2; adapter_sockets = [1, 0];", 2, crossed, 3);
    /* Sockets 0 and 1 have no adapters: their four cores are dealt to all three; socket 2 has them all.
     * Of cores 0 to 3: i x 3 / 4 = 0, 0, 1, 2; of 4 and 5: i x 3 / 2 = 0, 1. */
    static const uint16_t far[] = {0, 0, 1, 2, 0, 1};
    near("cores = 6; sockets = 3; adapter_sockets = [2, 2, 2];", 3, far, 7);
    /* Adapters 0 and 1 on socket 0, adapter 2 on socket 1, of two cores each, socket 2 has none: i x 3 / 2.
     */
    static const uint16_t mixed[] = {0, 1, 2, 2, 0, 1};
    near("cores = 6; sockets = 3; adapter_sockets = [0, 0, 1];", 3, mixed, 7);
    near("cores = 2; sockets = 2; adapter_sockets = [0, 0, 1, 1];", 4, few, 5); /* 1 and 3 are nobody's */
}

/* ---- kinds ---- */

static void kinds_make(struct node_kinds **kinds, const char *text, uint32_t nodes, uint32_t adapters)
{
    struct ker_config *config;
    struct ker_error error;
    if (parse(&config, text, &error) || node_kinds_new(kinds, config, nodes, adapters, &error))
        fail_msg("%s: %s", text, error.text);
    ker_config_free(config);
}

static void kinds_refused(const char *text, const char *why)
{
    struct ker_config *config;
    struct ker_error error;
    struct node_kinds *kinds;
    if (parse(&config, text, &error) == KER_OK) {
        assert_int_equal(node_kinds_new(&kinds, config, 10, 2, &error), KER_BAD_INPUT);
        assert_null(kinds);
        ker_config_free(config);
    }
    if (!strstr(error.text, why) || !strstr(error.text, "test.cfg:"))
        fail_msg("%s", error.text);
}

/* Every node is found, in both directions. */
static void kinds_agree(const struct node_kinds *kinds, const uint16_t *of, uint32_t nodes)
{
    uint32_t seen[8] = {0};
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t k = node_kinds_of(kinds, node);
        assert_int_equal(k, of[node]);
        assert_int_equal(node_kinds_rank(kinds, node), seen[k]);
        assert_int_equal(node_kinds_node(kinds, k, seen[k]++), node);
    }
    for (uint32_t k = 0; k < node_kinds_count(kinds); k++)
        assert_int_equal(node_kinds_get(kinds, k)->nodes, seen[k]);
}

static void test_kinds(void **state)
{
    struct node_kinds *kinds;
    static const uint16_t all[10] = {0};
    kinds_make(&kinds, "node: { cores = 3; };", 10, 1);
    kinds_agree(kinds, all, 10);
    assert_int_equal(node_kinds_count(kinds), 1);
    assert_int_equal(node_structure_at(kinds, 9)->cores, 3);
    node_kinds_free(kinds);
    /* The list takes 0, 5 and 8, thin the next three, and the rest has what is left. */
    static const uint16_t listed[] = {1, 0, 0, 0, 2, 1, 2, 2, 1, 2};
    kinds_make(&kinds,
               "node: { cores = 8; sockets = 2; };\n"
               "nodes = ( { name = \"thin\"; count = 3; sockets = 1; }, { list = \"0,5-8:3\"; cores = 64; "
               "threads = 2; },"
               " { name = \"rest\"; domains = 4; } );",
               10, 2);
    kinds_agree(kinds, listed, 10);
    assert_string_equal(node_kinds_get(kinds, 1)->name, "kind1");
    assert_int_equal(node_kinds_find(kinds, "rest"), 2);
    assert_int_equal(node_kinds_find(kinds, "none"), 3);
    assert_int_equal(node_structure_at(kinds, 1)->cores, 8);
    assert_int_equal(node_structure_at(kinds, 1)->sockets, 1);
    assert_int_equal(node_structure_at(kinds, 5)->units, 128);
    assert_int_equal(node_structure_at(kinds, 5)->sockets, 2);
    assert_int_equal(node_structure_at(kinds, 9)->domains, 4);
    node_kinds_free(kinds);
}

static void test_kinds_refused(void **state)
{
    kinds_refused("nodes = ( { count = 11; } );",
                  "nodes[0].count: 11 nodes, but only 10 of the system's 10 are left");
    kinds_refused("nodes = ( { count = 9; } );", "1 nodes of the system's 10 are of no kind, the first is 9");
    kinds_refused("nodes = ( { list = \"0-9\"; }, { } );", "no node is left for kind 'kind1'");
    kinds_refused("nodes = ( { }, { } );", "nodes[1].count: is missing, and so is nodes[1].list");
    kinds_refused("nodes = ( { list = \"0\"; count = 1; }, { } );",
                  "nodes[0].list or nodes[0].count, not both");
    kinds_refused("nodes = ( { list = \"0-3\"; }, { list = \"5,3\"; }, { } );",
                  "nodes[1].list: node 3 is of kind 'kind0' already");
    kinds_refused("nodes = ( { list = \"0-10\"; }, { } );", "\"0-10\": the system has the nodes 0 to 9");
    kinds_refused("nodes = ( { list = \"99999999999999999999\"; }, { } );",
                  "the system has the nodes 0 to 9");
    kinds_refused("nodes = ( { list = \"4-3\"; }, { } );", "nodes[0].list");
    kinds_refused("nodes = ( { list = \"\"; }, { } );", "\"\" is no node or range of nodes");
    kinds_refused("nodes = ( { list = \"1,\"; }, { } );", "\"1\" is no node or range");
    kinds_refused("nodes = ( { list = \"0-4:0\"; }, { } );", "\"0-4:0\" is no node or range");
    kinds_refused("nodes = ( { list = \"1 2\"; }, { } );", "\"1 2\" is no node or range");
    kinds_refused("nodes = ( { name = \"a\"; count = 1; }, { name = \"a\"; } );",
                  "nodes[1].name: nodes[0] has the name 'a' already");
    kinds_refused("nodes = ( { sockets = 2; cores = 1; } );", "nodes[0].cores: 1 cores in 2 NUMA domains");
    kinds_refused("nodes = ( { adapter_sockets = [0, 1]; } );",
                  "nodes[0].adapter_sockets: adapter 1 on socket 1");
    kinds_refused("nodes = ( { kores = 1; } );", "nodes[0].kores");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),  cmocka_unit_test(test_sockets),
                                       cmocka_unit_test(test_speeds), cmocka_unit_test(test_limits),
                                       cmocka_unit_test(test_order),  cmocka_unit_test(test_nearest),
                                       cmocka_unit_test(test_kinds),  cmocka_unit_test(test_kinds_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
