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
    static const struct ker_option others[] = {
        {.key = "jobs[].name", .type = KER_TYPE_STRING, .meaning = "x"},
        {.key = "traffic.outstanding", .type = KER_TYPE_INT, .fallback = "0", .meaning = "x"},
        {.key = "services[].name", .type = KER_TYPE_STRING, .meaning = "x"},
        {.key = "network.model",
         .type = KER_TYPE_CHOICE,
         .fallback = "packet",
         .choices = "packet|loggops",
         .meaning = "x"},
        {.key = "node.adapters", .type = KER_TYPE_INT, .fallback = "1", .meaning = "x"},
        {0}};
    const struct ker_option *const tables[] = {others, node_options, node_structure_options, NULL};
    char *whole = ker_format("jobs = ( { name = \"a\"; } );\nnode: { %s };\n", text);
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
        ker_config_free(config);
    }
    assert_int_equal(status, KER_BAD_INPUT);
    if (!strstr(error.text, why) || !strstr(error.text, "test.cfg:2"))
        fail_msg("%s", error.text);
}

static void same(const struct node_structure *a, const struct node_structure *b)
{
    assert_int_equal(a->sockets, b->sockets);
    assert_int_equal(a->domains, b->domains);
    assert_int_equal(a->cores, b->cores);
    assert_int_equal(a->units, b->units);
    assert_int_equal(a->buses, b->buses);
    assert_int_equal(a->adapters, b->adapters);
    assert_int_equal(a->throughput, b->throughput);
    assert_memory_equal(a->domain_socket, b->domain_socket, a->domains * sizeof *a->domain_socket);
    assert_memory_equal(a->core, b->core, a->cores * sizeof *a->core);
    assert_memory_equal(a->unit_core, b->unit_core, a->units * sizeof *a->unit_core);
    assert_memory_equal(a->bus_socket, b->bus_socket, a->buses * sizeof *a->bus_socket);
    assert_memory_equal(a->adapter_bus, b->adapter_bus, a->adapters * sizeof *a->adapter_bus);
}

static void test_plain(void **state)
{
    struct node_structure plain, read;
    node_structure_plain(&plain, 7, 3);
    make(&read, "cores = 7;", 3);
    same(&plain, &read);
    assert_int_equal(plain.units, 7);
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(plain.unit_core[i], i);
        assert_int_equal(node_unit_domain(&plain, i), 0);
        assert_int_equal(plain.core[i].speed, NODE_SPEED);
        assert_int_equal(node_thread_speed(&plain, i, 1), NODE_SPEED);
    }
    assert_int_equal(node_adapter_socket(&plain, 2), 0);
    node_structure_release(&plain);
    node_structure_release(&read);
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
            "node.adapter_sockets: 1 values, but node.adapters is 2: give the socket of each");
    refused("cores = 4; core_speeds = [1.0, 1.0, 1.0];", 1, "node.core_speeds: 3 values for 4 cores");
    refused("cores = 4; core_speeds = [0.0];", 1, "node.core_speeds");
    refused("cores = 4; thread_throughput = 1.2;", 1, "node.thread_throughput");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain), cmocka_unit_test(test_sockets),
                                       cmocka_unit_test(test_speeds), cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
