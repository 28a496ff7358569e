/* test_flows.c - the rates of flows over shared resources, derived by hand, and against what max-min fairness
 * means, for random ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "nodes/cores/flow.h"

#define MOST 12
static struct node_flow flow[MOST];
static uint32_t flows;
static struct ker_shared resource[MOST];

static struct node_flow *add(uint64_t most)
{
    flow[flows] = (struct node_flow){.left = NODE_BYTE, .most = most};
    return &flow[flows++];
}

static void share(uint32_t resources)
{
    struct node_flow *order[MOST];
    for (uint32_t i = 0; i < flows; i++)
        order[i] = &flow[i];
    node_flows_share(order, flows, resource, resources);
}

static int empty(void **state)
{
    flows = 0;
    memset(resource, 0, sizeof resource);
    return 0;
}

/* 100 B/s for those that want 10, 60 and 80: 10 has what it wants, the others 45 each. With 20, 30, 40 all
 * have what they want. 100 for three that want all of it: 33 each, rounded down. */
static void one_resource(void **state)
{
    static const uint64_t most[3][3] = {{60, 10, 80}, {20, 30, 40}, {1000, 1000, 1000}},
                          rate[3][3] = {{45, 10, 45}, {20, 30, 40}, {33, 33, 33}};
    resource[0].capacity = 100;
    for (int i = 0; i < 3; i++) {
        flows = 0;
        for (int j = 0; j < 3; j++)
            node_flow_through(add(most[i][j]), 0, 1);
        share(1);
        for (int j = 0; j < 3; j++)
            assert_int_equal(flow[j].rate, rate[i][j]);
    }
}

/* The classic: a long flow over two links, and one over each of them. Links of 10 and 30: the long one and
 * the first get 5 each, the other has the 25 that are left. */
static void two_resources(void **state)
{
    resource[0].capacity = 10;
    resource[1].capacity = 30;
    struct node_flow *both = add(UINT64_MAX), *first = add(UINT64_MAX), *second = add(UINT64_MAX);
    node_flow_through(both, 0, 1);
    node_flow_through(both, 1, 1);
    node_flow_through(first, 0, 1);
    node_flow_through(second, 1, 1);
    share(2);
    assert_int_equal(both->rate, 5);
    assert_int_equal(first->rate, 5);
    assert_int_equal(second->rate, 25);
}

/* A copy that reads and writes in one domain of 90 takes twice its rate: beside a computation both get 30.
 * Through no resource a flow has what it has by itself. With less than 1 B/s for each they have 1. */
static void twice_and_none(void **state)
{
    resource[0].capacity = 90;
    struct node_flow *copy = add(UINT64_MAX), *computes = add(UINT64_MAX), *free_one = add(12345);
    node_flow_through(copy, 0, 1);
    node_flow_through(copy, 0, 1);
    assert_int_equal(copy->uses, 1);
    node_flow_through(computes, 0, 1);
    share(1);
    assert_int_equal(copy->rate, 30);
    assert_int_equal(computes->rate, 30);
    assert_int_equal(free_one->rate, 12345);
    resource[0].capacity = 2;
    share(1);
    assert_int_equal(copy->rate, 1);
    assert_int_equal(computes->rate, 1);
}

/* 10 B/s: 25 B take 2.5 s; 3 B/s: 10 B take 3.33... s, rounded up to a ps, and at that time nothing is left.
 * Every byte is counted, however the time is cut. */
static void time_and_bytes(void **state)
{
    struct node_flow f = {.left = 25 * NODE_BYTE, .most = 10, .rate = 10};
    assert_int_equal(node_flow_takes(&f), 2500 * KER_MS);
    f = (struct node_flow){.left = 10 * NODE_BYTE, .most = 3, .rate = 3};
    assert_int_equal(node_flow_takes(&f), 3333333333334);
    node_bytes moved = node_flow_advance(&f, 1111111111111);
    assert_true(moved == (node_bytes)3 * 1111111111111);
    assert_int_equal(node_flow_takes(&f), 3333333333334 - 1111111111111);
    moved += node_flow_advance(&f, node_flow_takes(&f));
    assert_true(moved == 10 * NODE_BYTE && f.left == 0);
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
    *seed = ker_hash(*seed + 1);
    return *seed % below;
}

/* The definition: no resource gives more than it has (but for the least rate of 1), and each flow has what it
 * wants, or goes through a resource that is full (but for what rounding left: less than its flows' times)
 * where none has a higher rate. The order of the flows changes nothing. */
static void any(void **state)
{
    uint64_t seed = 7;
    for (int round = 0; round < 20000; round++) {
        uint32_t resources = 1 + (uint32_t)draw(&seed, 5), count = 1 + (uint32_t)draw(&seed, MOST);
        struct node_flow before[MOST], *order[MOST];
        flows = 0;
        for (uint32_t r = 0; r < resources; r++)
            resource[r].capacity = 1000 + draw(&seed, round % 3 ? 3000 : 4000000000000);
        for (uint32_t i = 0; i < count; i++) {
            struct node_flow *f = add(1 + draw(&seed, round % 2 ? 2000 : UINT64_MAX));
            for (uint32_t r = 0; r < resources; r++)
                if (draw(&seed, 2))
                    node_flow_through(f, r, 1 + (uint32_t)draw(&seed, 2));
        }
        share(resources);
        memcpy(before, flow, sizeof before);
        for (uint32_t i = 0; i < count; i++)
            order[i] = &flow[(i * 5 + 3) % count];
        if (count % 5) {
            node_flows_share(order, count, resource, resources);
            assert_memory_equal(before, flow, sizeof before);
        }
        for (uint32_t i = 0; i < count; i++) {
            bool content = flow[i].rate == flow[i].most;
            for (uint32_t u = 0; u < flow[i].uses; u++) {
                uint32_t r = flow[i].use[u].resource;
                uint64_t taken = 0, times = 0, highest = 0;
                for (uint32_t j = 0; j < count; j++)
                    for (uint32_t v = 0; v < flow[j].uses; v++)
                        if (flow[j].use[v].resource == r) {
                            taken += flow[j].rate * flow[j].use[v].times;
                            times += flow[j].use[v].times;
                            highest = flow[j].rate > highest ? flow[j].rate : highest;
                        }
                assert_true(taken <= resource[r].capacity);
                content |= taken + times > resource[r].capacity && highest <= flow[i].rate + 1;
            }
            assert_true(content);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(one_resource, empty),
        cmocka_unit_test_setup(two_resources, empty),
        cmocka_unit_test_setup(twice_and_none, empty),
        cmocka_unit_test_setup(time_and_bytes, empty),
        cmocka_unit_test_setup(any, empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
