/* Packed classes of times: what is packed is read again, and what was damaged is refused or read, never
 * worse.
 *
 * Blocks are made of random shapes, orders with repetitions, and columns of several laws, from all classes
 * alike to one class only; they are packed as --merge does it and read as a trace is.
 */
#include "traces/mars/classes.h"
#include "traces/mars/varint.h"
#include "traces/mars/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct made {
    uint32_t records, shapes, functions;
    uint8_t shape[3 * 512], order[8 * MARS_ROWS], *column[MARS_TIMES];
    size_t shape_bytes, order_bytes;
};

static uint64_t seed = 1;
static uint32_t any(uint32_t below)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((seed >> 33) % below);
}

/* Every shape's first use by a 0; then numbers, and repetitions that reach into themselves. */
static void order_make(struct made *made)
{
    uint8_t *at = made->order;
    uint32_t i = 0;
    for (; i < made->shapes; i++)
        at = mars_put(at, 0);
    while (i < made->records) {
        uint32_t left = made->records - i, count = any(4) ? 1 + any(left) : 0;
        if (count)
            at = mars_put(mars_put(mars_put(at, 1), 1 + any(i)), count);
        else
            at = mars_put(at, 2 + any(made->shapes));
        i += count ? count : 1;
    }
    made->order_bytes = (size_t)(at - made->order);
}

/* Law 0: all classes alike; 1: one class; 2: about twenty, most of them low; 3: each of its own half. */
static uint8_t class_make(unsigned law, uint32_t record)
{
    if (law == 0)
        return (uint8_t)any(MARS_CLASS_MOST + 1);
    if (law == 1)
        return 251;
    return law == 2 ? (uint8_t)(any(20) * any(20) / 20) : (uint8_t)(record & 1 ? any(2) : 100 + any(30));
}

static struct made make(uint32_t records, uint32_t shapes, uint32_t functions, unsigned law)
{
    struct made made = {.records = records, .shapes = shapes, .functions = functions};
    uint8_t *at = made.shape;
    for (uint32_t i = 0; i < shapes; i++) /* one or two bytes of function, no fields */
    {
        uint64_t function = 2 * (uint64_t)any(functions) + any(2);
        at = mars_put(mars_put(at, function < 128 ? 1 : 2), function);
    }
    made.shape_bytes = (size_t)(at - made.shape);
    order_make(&made);
    for (unsigned kind = 0; kind < MARS_TIMES; kind++) {
        made.column[kind] = malloc(records + (size_t)1);
        for (uint32_t i = 0; i < records; i++)
            made.column[kind][i] = class_make((law + kind) % 4, i);
    }
    return made;
}

static void release(struct made *made)
{
    for (unsigned kind = 0; kind < MARS_TIMES; kind++)
        free(made->column[kind]);
}

static void begin(const struct made *made, struct mars_payload *payload)
{
    mars_payload_begin(payload);
    mars_payload_section(payload, MARS_SECTION_SHAPES, made->shape, made->shape_bytes);
    mars_payload_section(payload, MARS_SECTION_ORDER, made->order, made->order_bytes);
}

static void get(struct mars_sections *sections, struct mars_payload *payload)
{
    struct mars_error error = {0};
    struct mars_block block = {.kind = MARS_BLOCK_CALLS};
    assert_true(mars_payload_end(payload, &block));
    assert_true(mars_sections_get(sections, payload->data + MARS_BLOCK_BYTES,
                                  payload->bytes - MARS_BLOCK_BYTES, &error));
}

/* Packs the block; returns how many of its times are packed. `absent` is a kind that is left out. */
static unsigned pack(const struct made *made, struct mars_sections *packed, struct mars_packer *packer,
                     unsigned absent)
{
    struct mars_payload payload;
    struct mars_sections sections = {0};
    unsigned count = 0;
    mars_payload_init(&payload, 3);
    begin(made, &payload);
    for (unsigned kind = 0; kind < MARS_TIMES; kind++)
        if (kind != absent)
            mars_payload_section(&payload, mars_time_sections[kind].plain, made->column[kind], made->records);
    get(&sections, &payload);
    mars_payload_begin(&payload);
    mars_classes_pack(packer, &sections, made->records, &payload);
    get(packed, &payload);
    for (unsigned kind = 0; kind < MARS_TIMES; kind++) {
        size_t bytes;
        mars_section(packed, mars_time_sections[kind].packed, &bytes);
        count += bytes > 0;
    }
    mars_sections_release(&sections);
    mars_payload_release(&payload);
    return count;
}

static void round_trip(uint32_t records, uint32_t shapes, uint32_t functions, unsigned law, unsigned least)
{
    struct made made = make(records, shapes, functions, law);
    struct mars_packer *packer = mars_packer_new();
    for (unsigned absent = 0; absent <= MARS_TIMES; absent++) {
        struct mars_sections sections = {0};
        struct mars_error error = {0};
        unsigned count = pack(&made, &sections, packer, absent);
        assert_true(count >= (absent == MARS_TIMES ? least : 0));
        assert_true(mars_classes_unpack(&sections, records, &error));
        for (unsigned kind = 0; kind < MARS_TIMES; kind++) {
            size_t bytes;
            const uint8_t *column = mars_section(&sections, mars_time_sections[kind].plain, &bytes);
            assert_int_equal(bytes, kind == absent ? 0 : records);
            assert_memory_equal(column, made.column[kind], bytes);
        }
        mars_sections_release(&sections);
    }
    mars_packer_free(packer);
    release(&made);
}

static void read_again(void **state)
{
    for (unsigned law = 0; law < 4; law++) {
        round_trip(1, 1, 1, law, 0);
        round_trip(3, 2, 1, law, 0);
        round_trip(997, 40, 7, law, 1);
        round_trip(MARS_ROWS, 1, 1, law, 2);
        round_trip(MARS_ROWS, 511, 200, law, 1);
        round_trip(MARS_ROWS, 60, 4096, law, 1);
    }
}

/* Bytes of the packed sections are changed, left out or added; what comes out is a right number of classes
 * or an error with a text. */
static void damaged(void **state)
{
    struct made made = make(3000, 30, 9, 2);
    struct mars_packer *packer = mars_packer_new();
    struct mars_sections packed = {0};
    unsigned refused = 0;
    assert_true(pack(&made, &packed, packer, MARS_TIMES) >= 2);
    for (unsigned round = 0; round < 3000; round++) {
        struct mars_sections sections = {0};
        struct mars_error error = {0};
        uint32_t victim = any(packed.count);
        for (uint32_t i = 0; i < packed.count; i++) {
            size_t bytes = packed.section[i].bytes,
                   keep = i == victim && round % 3 == 0 ? any((uint32_t)bytes) : bytes;
            uint8_t *to = mars_sections_add(&sections, packed.section[i].kind, keep);
            memcpy(to, packed.data + packed.section[i].at, keep);
            if (i == victim && keep && round % 3)
                to[any(round % 3 == 1 ? (uint32_t)keep : (keep < 40 ? (uint32_t)keep : 40))] ^=
                    (uint8_t)(1 + any(255));
        }
        bool fine = mars_classes_unpack(&sections, made.records, &error);
        assert_true(fine == !error.text[0]);
        refused += !fine;
        for (unsigned kind = 0; fine && kind < MARS_TIMES; kind++) {
            size_t bytes;
            const uint8_t *column = mars_section(&sections, mars_time_sections[kind].plain, &bytes);
            size_t unpacked;
            mars_section(&sections, mars_time_sections[kind].packed, &unpacked);
            for (size_t i = 0; unpacked && i < bytes; i++)
                assert_true(column[i] <= MARS_CLASS_MOST);
        }
        mars_sections_release(&sections);
    }
    assert_true(refused > 2000);
    mars_sections_release(&packed);
    mars_packer_free(packer);
    release(&made);
}

/* Loops whose calls take their own times: a quarter off what zstd makes of the classes. */
static void shorter(void **state)
{
    struct made made = make(MARS_ROWS, 8, 8, 1);
    struct mars_payload plain, packed;
    struct mars_sections sections = {0};
    struct mars_packer *packer = mars_packer_new();
    mars_payload_init(&plain, 15);
    mars_payload_init(&packed, 15);
    uint8_t *at = made.order;
    for (unsigned i = 0; i < 8; i++)
        at = mars_put(at, 0);
    made.order_bytes = (size_t)(mars_put(mars_put(mars_put(at, 1), 8), MARS_ROWS - 8) - made.order);
    for (uint32_t i = 0; i < MARS_ROWS; i++)
        made.column[MARS_TIME_DURATION][i] = (uint8_t)(i % 8 * 10 + any(3));
    begin(&made, &plain);
    mars_payload_section(&plain, MARS_SECTION_DURATION, made.column[MARS_TIME_DURATION], MARS_ROWS);
    get(&sections, &plain);
    mars_payload_begin(&packed);
    mars_classes_pack(packer, &sections, MARS_ROWS, &packed);
    print_message("%zu bytes by zstd, %zu packed; 3^%u need %.0f\n", plain.bytes, packed.bytes, MARS_ROWS,
                  MARS_ROWS * 1.585 / 8);
    assert_true(packed.bytes < plain.bytes * 3 / 4 && packed.bytes < MARS_ROWS * 1.585 / 8 * 1.1 + 100);
    mars_packer_free(packer);
    mars_sections_release(&sections);
    mars_payload_release(&plain);
    mars_payload_release(&packed);
    release(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(read_again),
        cmocka_unit_test(damaged),
        cmocka_unit_test(shorter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
