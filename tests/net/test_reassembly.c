/* test_reassembly.c - messages of many packets: which came out of order, how far ahead, and what a
 * resequencing adapter holds, against a count that remembers every packet. Longer than 2^16 packets, and
 * further ahead than a word has bits.
 */
#include "kernel/engine/post.h"
#include "net/adapter/adapter.h"
#include "net/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PAYLOAD 100u
#define LAST_PAYLOAD 7u

static struct net_network *network_make(void)
{
    struct net_network *net = ker_alloc(sizeof *net);
    const struct ker_engine_setup setup = {.comm = ker_comm_alone(),
                                           .components = 1,
                                           .largest_cell = 1,
                                           .lookahead = 1000,
                                           .reach = 1000,
                                           .end = KER_TIME_MAX};
    net->engine = ker_engine_new(&setup);
    ker_comm_release(setup.comm);
    net->reassembly = net_reassembly_new();
    net->extent = ker_alloc(sizeof *net->extent);
    stats_quantity_init(net->extent);
    net->set.payload = PAYLOAD;
    net->set.resequence = true;
    return net;
}

static void network_free(struct net_network *net)
{
    net_reassembly_free(net->reassembly);
    ker_engine_free(net->engine);
    free(net->extent);
    free(net);
}

/* Packet `index` of a message of `packets` arrives; true: the message is whole. */
static bool arrive(struct net_network *net, uint64_t index, uint64_t packets)
{
    uint32_t whole;
    struct net_packet p = {.destination = 3,
                           .source = 5,
                           .message = 9,
                           .index = (uint16_t)index,
                           .extension = (uint32_t)(index >> 16)};
    if (index == packets - 1)
        p.flags |= NET_LAST;
    if (index == 0) {
        p.flags |= NET_FIRST | KER_FLAG_EXTENSION;
        const struct net_extension x = {.bytes = (packets - 1) * PAYLOAD + LAST_PAYLOAD};
        p.extension = ker_extension_new(net->engine, &x);
    }
    uint64_t ahead = net_reassembly_add(net, &p, index == packets - 1 ? LAST_PAYLOAD : PAYLOAD, &whole);
    if (ahead) {
        net->count.out_of_order++;
        stats_quantity_add(net->extent, ahead);
    }
    if (whole != NET_NONE)
        ker_extension_free(net->engine, whole);
    return whole != NET_NONE;
}

/* All packets in this order. */
static void check_order(const uint64_t *order, uint64_t packets)
{
    struct net_network *net = network_make();
    bool *here = ker_alloc(packets + 1);
    uint64_t next = 0, early = 0, furthest = 0, held = 0, most = 0;
    for (uint64_t i = 0; i < packets; i++) {
        bool in_order = order[i] == next;
        here[order[i]] = true;
        if (!in_order) {
            held += order[i] == packets - 1 ? LAST_PAYLOAD : PAYLOAD;
            early++;
            furthest = order[i] - next > furthest ? order[i] - next : furthest;
            most = held > most ? held : most;
        }
        for (; in_order && here[next]; next++)
            held -= next == order[i] ? 0 : next == packets - 1 ? LAST_PAYLOAD : PAYLOAD;
        assert_int_equal(arrive(net, order[i], packets), i == packets - 1);
    }
    assert_int_equal(net->count.out_of_order, early);
    assert_int_equal(net->extent->count, early);
    assert_int_equal(early ? net->extent->maximum : 0, furthest);
    assert_int_equal(net->count.reorder_bytes_max, most);
    assert_int_equal(net_reassembly_count(net->reassembly), 0);
    free(here);
    network_free(net);
}

/* Blocks of this many packets, each from its last to its first. */
static void check_blocks(uint64_t packets, uint64_t block)
{
    uint64_t *order = ker_alloc(sizeof *order * packets);
    for (uint64_t i = 0; i < packets; i++) {
        uint64_t first = i / block * block, length = packets - first < block ? packets - first : block;
        order[i] = first + length - 1 - (i - first);
    }
    check_order(order, packets);
    free(order);
}

static void test_blocks(void **state)
{
    static const uint64_t blocks[] = {1, 2, 63, 64, 65, 66, 127, 129, 1000, 65535, 65536, 65537, 200000};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        check_blocks(200000, blocks[i]);
    for (uint64_t packets = 2; packets < 200; packets++)
        check_blocks(packets, 70);
}

/* The first packet, or another, last. */
static void test_one_late(void **state)
{
    static const uint64_t lates[] = {0, 1, 70, 149999};
    uint64_t packets = 150000, *order = ker_alloc(sizeof *order * packets);
    for (size_t k = 0; k < sizeof lates / sizeof *lates; k++) {
        for (uint64_t i = 0, n = 0; i < packets; i++)
            if (i != lates[k])
                order[n++] = i;
        order[packets - 1] = lates[k];
        check_order(order, packets);
    }
    free(order);
}

static void test_random(void **state)
{
    struct ker_stream stream;
    ker_stream_init(&stream, 1, KER_PURPOSE_TEST, 0);
    for (int round = 0; round < 40; round++) {
        uint64_t packets = 2 + ker_stream_below(&stream, 3000), *order = ker_alloc(sizeof *order * packets);
        uint32_t reach = 1 + ker_stream_below(&stream, round < 20 ? 10 : 3000);
        for (uint64_t i = 0; i < packets; i++)
            order[i] = i;
        for (uint64_t i = 0; i < packets; i++) {
            uint64_t k = i + ker_stream_below(&stream, reach), t = order[i];
            if (k < packets) {
                order[i] = order[k];
                order[k] = t;
            }
        }
        check_order(order, packets);
        free(order);
    }
}

/* A message that is never whole leaves nothing behind. */
static void test_unfinished(void **state)
{
    struct net_network *net = network_make();
    for (uint64_t i = 1; i < 70000; i++)
        assert_false(arrive(net, i, 70000));
    assert_int_equal(net_reassembly_count(net->reassembly), 1);
    assert_int_equal(net->count.out_of_order, 69999);
    network_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks), cmocka_unit_test(test_one_late),
                                       cmocka_unit_test(test_random), cmocka_unit_test(test_unfinished)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
