/* encode.c - makes a block of an open one: shapes, their order with repetitions folded, and times.
 *
 * The order is a row of shape numbers. Like LZ77, but on whole calls: a table remembers where each run of
 * three numbers was last seen, and as many calls as equal those from there on become one "repeat" (distance,
 * count). A loop's second and later passes are so one repeat whose count is larger than its distance.
 */
#include "traces/mars/open.h"

#include "traces/mars/times.h"
#include "traces/mars/varint.h"

#include <stdlib.h>
#include <string.h>

#define RUN 3 /* calls that must be equal before a repeat is looked for */
#define HASH_BITS 13
#define ORDER_MOST                                                                                           \
    (MARS_ROWS * 3 + 64) /* bytes: a shape number takes at most 2, a repeat of at least RUN at most 5 */

static uint32_t run_hash(const struct mars_row *row)
{
    return ((row[0].shape * 0x9e3779b1u ^ row[1].shape) * 0x85ebca6bu ^ row[2].shape) * 0xc2b2ae35u >>
           (32 - HASH_BITS);
}

static uint32_t equal_calls(const struct mars_row *old, const struct mars_row *row, uint32_t most)
{
    uint32_t count = 0;
    while (count < most && old[count].shape == row[count].shape)
        count++;
    return count;
}

/* The order's bytes: 0 is the next new shape, 1 a repeat, n the shape n - 2. */
static size_t order_encode(const struct mars_row *row, uint32_t records, uint8_t *to)
{
    uint16_t seen[1 << HASH_BITS]; /* 1 + where */
    uint32_t known = 0;
    uint8_t *at = to;
    memset(seen, 0, sizeof seen);
    for (uint32_t i = 0; i < records;) {
        uint32_t count = 0, distance = 0;
        if (i + RUN <= records) {
            uint16_t *last = &seen[run_hash(row + i)];
            distance = *last ? i - (*last - 1u) : 0;
            count = distance ? equal_calls(row + i - distance, row + i, records - i) : 0;
            *last = (uint16_t)(i + 1);
        }
        if (count >= RUN) {
            at = mars_put(mars_put(mars_put(at, 1), distance), count);
            i += count;
            continue;
        }
        at = mars_put(at, row[i].shape == known ? 0 : row[i].shape + 2);
        known += row[i].shape == known;
        i++;
    }
    return (size_t)(at - to);
}

/* Lengths and bytes of the shapes. */
static size_t shapes_encode(const struct mars_open *open, uint8_t *to)
{
    uint32_t start = 0;
    uint8_t *at = to;
    for (uint32_t i = 0; i < open->shapes; start = open->end[i++]) {
        at = mars_put(at, open->end[i] - start);
        memcpy(at, open->data + start, open->end[i] - start);
        at += open->end[i] - start;
    }
    return (size_t)(at - to);
}

/* One time of each row (its place in the row), as classes and bits. */
static void time_encode(const struct mars_open *open, struct mars_payload *payload, size_t place,
                        uint8_t *room, enum mars_section_kind classes, enum mars_section_kind further)
{
    struct mars_bits bits = {.data = room + MARS_ROWS};
    uint64_t any = 0;
    memset(bits.data, 0, MARS_ROWS * 8 + 16);
    for (uint32_t i = 0; i < open->records; i++) {
        uint64_t time;
        memcpy(&time, (const char *)&open->row[i] + place, sizeof time);
        unsigned class = mars_time_class(time);
        room[i] = (uint8_t) class;
        mars_bits_put(&bits, time, mars_time_bits(class));
        any |= time;
    }
    if (!any)
        return;
    mars_payload_section(payload, classes, room, open->records);
    mars_payload_section(payload, further, bits.data, (size_t)(bits.at + 7) / 8);
}

static void times_encode(const struct mars_open *open, struct mars_payload *payload, uint8_t *room)
{
    time_encode(open, payload, offsetof(struct mars_row, gap), room, MARS_SECTION_GAP, MARS_SECTION_GAP_BITS);
    time_encode(open, payload, offsetof(struct mars_row, away), room, MARS_SECTION_AWAY,
                MARS_SECTION_AWAY_BITS);
    time_encode(open, payload, offsetof(struct mars_row, duration), room, MARS_SECTION_DURATION,
                MARS_SECTION_DURATION_BITS);
    uint8_t *at = room;
    for (uint32_t i = 0; i < open->polled; i++)
        at = mars_put(mars_put(at, open->poll[i].count), open->poll[i].rest);
    mars_payload_section(payload, MARS_SECTION_POLLS, room, (size_t)(at - room));
    at = room;
    for (uint32_t i = 0; i < open->records; i++)
        for (uint32_t j = 0; j < open->counters; j++)
            at = mars_put(at, open->counted[i][j]);
    mars_payload_section(payload, MARS_SECTION_COUNTERS, room, (size_t)(at - room));
    at = room;
    for (uint32_t i = 0; i < open->records && open->owns; i++)
        at = mars_put(at, i + 1 < open->owns ? 0 : open->own[i]);
    mars_payload_section(payload, MARS_SECTION_OWN, room, (size_t)(at - room));
}

bool mars_open_block(const struct mars_open *open, struct mars_payload *payload)
{
    struct mars_block block = {.kind = (uint8_t)open->kind,
                               .task = open->task,
                               .thread = (uint16_t)open->thread,
                               .sequence = open->sequence,
                               .records = open->records,
                               .start_ns = open->start_ns,
                               .before = open->before,
                               .elapsed = open->elapsed,
                               .calls = open->calls};
    size_t most = (size_t)MARS_ROWS * MARS_COUNTERS * MARS_VARINT_MOST;
    size_t shapes = open->bytes + MARS_SHAPES * 5;
    uint8_t *room = malloc(most > shapes ? most : shapes);
    if (!room)
        return false;
    mars_payload_begin(payload);
    if (open->kind == MARS_BLOCK_DEFINITIONS) {
        mars_payload_section(payload, MARS_SECTION_DEFINITIONS, open->data, open->bytes);
    } else {
        mars_payload_section(payload, MARS_SECTION_SHAPES, room, shapes_encode(open, room));
        mars_payload_section(payload, MARS_SECTION_ORDER, room, order_encode(open->row, open->records, room));
        times_encode(open, payload, room);
    }
    free(room);
    return mars_payload_end(payload, &block);
}

static bool sound(const struct mars_open *open, size_t bytes)
{
    if (bytes < sizeof *open || memcmp(open->magic, MARS_OPEN_MAGIC, sizeof open->magic) != 0)
        return false;
    if (open->records == 0 || open->records > MARS_ROWS || open->shapes > MARS_SHAPES ||
        open->polled > MARS_POLLED || open->counters > MARS_COUNTERS || open->bytes > bytes - sizeof *open)
        return false;
    if (open->kind == MARS_BLOCK_DEFINITIONS)
        return true;
    for (uint32_t i = 0; i < open->shapes; i++)
        if (open->end[i] > open->bytes || open->end[i] < (i ? open->end[i - 1] : 0))
            return false;
    uint32_t known = 0;
    for (uint32_t i = 0; i < open->records; i++) {
        if (open->row[i].shape > known || open->row[i].shape >= open->shapes ||
            open->row[i].polls > open->polled)
            return false;
        known += open->row[i].shape == known;
    }
    return open->kind == MARS_BLOCK_CALLS;
}

bool mars_open_encode(const void *map, size_t bytes, struct mars_payload *payload)
{
    const struct mars_open *open = map;
    if (!sound(open, bytes))
        return false;
    return mars_open_block(open, payload);
}
