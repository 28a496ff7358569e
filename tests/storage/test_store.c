/* test_store.c - devices, queues and layouts of file servers against what is computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "storage/private.h"

extern const struct ker_kind store_device_disk, store_cache_none, store_cache_aggregate,
    store_cache_aggregate_reorder, store_layout_simple;

#define KB ((uint64_t)1000)
#define MB ((uint64_t)1000000)

/* 7,200 rpm: half a turn is 4,166,666,667 ps; 9 ms and 1 ms; 100 MB/s; below 1 MB is close. */
static struct store_device disk(void)
{
    return (struct store_device){.kind = store_device_disk.operations,
                                 .rate = 100 * MB,
                                 .close = MB,
                                 .seek = 9 * KER_MS,
                                 .track_seek = KER_MS,
                                 .half_turn = (30 * KER_S + 3600) / 7200,
                                 .channels = 1};
}

struct step {
    uint32_t file;
    uint64_t offset, bytes;
};

static ker_time operations(const struct step *step, size_t count)
{
    struct store_device d = disk();
    struct store_head head = {0};
    enum store_seek seek;
    ker_time all = 0;
    for (size_t i = 0; i < count; i++)
        all += d.kind->time(&d, &head, step[i].file, step[i].offset, step[i].bytes, &seek);
    return all;
}

#define FULL (4166666667 + 9 * KER_MS)
#define TRACK (4166666667 + KER_MS)

static void disk_times(void **state)
{
    struct step step[10];
    (void)state;
    step[0] = (struct step){0, 0, MB};
    assert_int_equal(operations(step, 1), FULL + 10 * KER_MS); /* 23.166667 ms */
    for (uint32_t i = 0; i < 10; i++)
        step[i] = (struct step){0, i * MB, MB};
    assert_int_equal(operations(step, 10), FULL + 100 * KER_MS); /* 113.166667 */
    for (uint32_t i = 0; i < 10; i++)
        step[i] = (struct step){0, i * 500 * KB, 100 * KB};
    assert_int_equal(operations(step, 10), FULL + 9 * TRACK + 10 * KER_MS); /* 69.666667 */
    for (uint32_t i = 0; i < 10; i++)
        step[i] = (struct step){0, i * 5100 * KB, 100 * KB};
    assert_int_equal(operations(step, 10), 10 * FULL + 10 * KER_MS); /* 141.666667 */
    for (uint32_t i = 0; i < 10; i++)
        step[i] = (struct step){i % 2, i / 2 * MB, MB};
    assert_int_equal(operations(step, 10), 10 * FULL + 100 * KER_MS); /* 231.666667 */
}

/* All wait at once, and the device takes them as the policy says. */
static ker_time queued(const struct ker_kind *kind, uint32_t *device_operations)
{
    static const uint64_t offset[] = {0, 5 * MB, 100 * KB, 5100 * KB, 200 * KB, 5200 * KB};
    const struct store_policy *policy = kind->operations;
    struct store_queue queue = {0}, part = {0};
    struct store_device d = disk();
    struct store_head head = {0};
    struct store_pick pick;
    ker_time all = 0;
    enum store_seek seek;
    for (uint32_t i = 0; i < 6; i++)
        store_queue_add(
            &queue, policy,
            &(struct store_io){.number = i, .offset = offset[i], .bytes = 100 * KB, .writes = true});
    for (*device_operations = 0; store_queue_pick(&queue, policy, &head, MB, &part, &pick);
         ++*device_operations)
        all += d.kind->time(&d, &head, pick.file, pick.offset, pick.bytes, &seek);
    assert_int_equal(part.count, 6);
    free(queue.io);
    free(part.io);
    return all;
}

static void queue_orders(void **state)
{
    static const struct store_policy sorts = {.caches = true, .reads_first = true, .sorts = true};
    const struct ker_kind sorted = {.operations = &sorts};
    uint32_t count;
    (void)state;
    assert_int_equal(queued(&store_cache_none, &count), 6 * FULL + 6 * KER_MS); /* 85.0 ms */
    assert_int_equal(count, 6);
    assert_int_equal(queued(&sorted, &count), 2 * FULL + 6 * KER_MS); /* 32.333333 */
    assert_int_equal(count, 6);
    assert_int_equal(queued(&store_cache_aggregate_reorder, &count), 2 * FULL + 6 * KER_MS);
    assert_int_equal(count, 2);
    assert_int_equal(queued(&store_cache_aggregate, &count), 2 * FULL + 6 * KER_MS);
    assert_int_equal(count, 2);
}

/* What overlaps is one; reads go first; none is larger than it may be; another file is another one. */
static void queue_joins(void **state)
{
    const struct store_policy *policy = store_cache_aggregate.operations;
    static const struct store_io io[] = {{.number = 0, .offset = 0, .bytes = 60, .writes = true},
                                         {.number = 1, .offset = 50, .bytes = 40, .writes = true},
                                         {.number = 2, .offset = 90, .bytes = 20, .writes = true},
                                         {.number = 3, .offset = 0, .bytes = 10, .file = 1, .writes = true},
                                         {.number = 4, .offset = 500, .bytes = 5}};
    struct store_queue queue = {0}, part = {0};
    struct store_head head = {0};
    struct store_pick pick;
    (void)state;
    for (size_t i = 0; i < sizeof io / sizeof *io; i++)
        store_queue_add(&queue, policy, &io[i]);
    assert_true(store_queue_pick(&queue, policy, &head, 100, &part, &pick));
    assert_true(!pick.writes && pick.offset == 500 && pick.bytes == 5 && pick.taken == 1);
    assert_true(store_queue_pick(&queue, policy, &head, 100, &part, &pick));
    assert_true(pick.writes && pick.offset == 0 && pick.bytes == 90 && pick.taken == 2 && pick.file == 0);
    assert_true(store_queue_pick(&queue, policy, &head, 100, &part, &pick));
    assert_true(pick.offset == 90 && pick.bytes == 20);
    assert_true(store_queue_pick(&queue, policy, &head, 100, &part, &pick));
    assert_true(pick.file == 1 && pick.bytes == 10);
    assert_false(store_queue_pick(&queue, policy, &head, 100, &part, &pick));
    free(queue.io);
    free(part.io);
}

/* 1,000,000 B at 100,000, 64 KiB over 4 servers. */
static void stripes(void **state)
{
    static const uint64_t wanted[4][2] = {{65536, 248032}, {34464, 227680}, {0, 262144}, {0, 262144}};
    struct store_layout layout = {store_layout_simple.operations, 65536, 4, 4};
    (void)state;
    for (uint32_t place = 0; place < 4; place++) {
        struct store_extents at = {&layout, {100000, 1000000, 0, 1}, place, 0};
        uint64_t offset, bytes;
        assert_true(store_extents_next(&at, &offset, &bytes));
        assert_int_equal(offset, wanted[place][0]);
        assert_int_equal(bytes, wanted[place][1]);
        assert_false(store_extents_next(&at, &offset, &bytes));
    }
    /* File 5 begins on server 1, and with two servers has nothing on servers 0 and 3. */
    layout.stripe_count = 2;
    assert_int_equal(store_layout_server(&layout, 5, 1), 2);
    assert_int_equal(store_layout_place(&layout, 5, 1), 0);
    assert_int_equal(store_layout_place(&layout, 5, 0), 2);
}

/* Any run: each byte is on one server, in one extent, where a walk byte by byte finds it. */
static void runs(void **state)
{
    (void)state;
    srand(1);
    for (int round = 0; round < 500; round++) {
        uint32_t servers = 1 + (uint32_t)rand() % 5;
        struct store_layout layout = {store_layout_simple.operations, 1 + (uint64_t)rand() % 20, servers,
                                      1 + (uint32_t)rand() % servers};
        struct store_run run = {(uint64_t)rand() % 100, 1 + (uint64_t)rand() % 30, 0,
                                1 + (uint32_t)rand() % 6};
        run.stride = run.bytes + (uint64_t)rand() % 40;
        uint64_t all = 0;
        for (uint32_t place = 0; place < layout.stripe_count; place++) {
            struct store_extents at = {&layout, run, place, 0};
            uint64_t offset = 0, bytes = 0;
            for (uint32_t piece = 0; piece < run.count; piece++)
                for (uint64_t x = run.offset + piece * run.stride, end = x + run.bytes; x < end; x++) {
                    uint64_t stripe = x / layout.stripe_size;
                    if (stripe % layout.stripe_count != place)
                        continue;
                    if (bytes == 0)
                        assert_true(store_extents_next(&at, &offset, &bytes));
                    assert_int_equal(offset, stripe / layout.stripe_count * layout.stripe_size +
                                                 x % layout.stripe_size);
                    offset++;
                    bytes--;
                    all++;
                }
            assert_int_equal(bytes, 0);
            assert_false(store_extents_next(&at, &offset, &bytes));
        }
        assert_int_equal(all, run.count * run.bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(disk_times), cmocka_unit_test(queue_orders),
                                       cmocka_unit_test(queue_joins), cmocka_unit_test(stripes),
                                       cmocka_unit_test(runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
